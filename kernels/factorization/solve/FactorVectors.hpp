// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_VECTORS_HPP
#define STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_VECTORS_HPP

#include <algorithm>
#include <core/device/Launch.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/scalar/Wide.hpp>
#include <cstring>
#include <type_traits>

// Vectors on their way to a pair of factors and back: permuted, scaled,
// conjugated and rounded in one pass.

namespace Strata {
namespace Detail {

/// Between a vector v of the system and its image w in the order of a factor:
/// w(place(i)) is what element i of v becomes, or comes from, and v(i) is
/// multiplied by scale(i) either way. Null pointers stand for i and 1.
template <class Scalar>
struct VectorMap {
  const int* place = nullptr;
  const Scalar* scale = nullptr;
  bool conjugates = false;

  bool changes() const { return place || scale || conjugates; }
  bool moves() const { return place != nullptr; }
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return place ? place[i] : i;
  }
  KOKKOS_INLINE_FUNCTION Scalar in(std::int64_t i, Scalar v) const {
    v = conjugated(v);
    return scale ? scale[i] * v : v;
  }
  KOKKOS_INLINE_FUNCTION Scalar out(std::int64_t i, Scalar v) const {
    return conjugated(scale ? scale[i] * v : v);
  }

 private:
  KOKKOS_INLINE_FUNCTION Scalar conjugated(const Scalar& v) const {
    if constexpr (!std::is_same<RealOf<Scalar>, Scalar>::value) {
      if (conjugates) return Kokkos::conj(v);
    }
    return v;
  }
};

/// 2^exponent, for -1022 <= exponent <= 1023.
KOKKOS_INLINE_FUNCTION double power_of_two(int exponent) {
  const auto bits = static_cast<unsigned long long>(1023 + exponent) << 52;
  double power;
  memcpy(&power, &bits, sizeof(power));
  return power;
}
/// The e with which 2^-e makes a finite v >= 0 at least 1 and less than 2, or
/// the nearest one for which both powers are normal numbers. 0 for 0.
KOKKOS_INLINE_FUNCTION int scaling_exponent(double v) {
  if (v == 0) return 0;
  unsigned long long bits;
  memcpy(&bits, &v, sizeof(v));
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  return exponent < -1022 ? -1022 : exponent > 1022 ? 1022 : exponent;
}

/// How the elements of some columns are dealt to teams: each team has some rows
/// of one column.
struct VectorTiles {
  /// Tiles of a column at most.
  static constexpr int most_of_column = 512;
  static constexpr int threads = 256;

  std::int64_t rows = 0, tile_rows = 1;
  int columns = 0, of_column = 0;  ///< tiles of a column
  /// Whether neighbouring teams have neighbouring columns.
  bool by_rows = false;

  VectorTiles() = default;
  VectorTiles(std::int64_t rows_, int columns_, bool by_rows_)
      : rows(rows_), columns(columns_), by_rows(by_rows_) {
    // Four rows a thread of a GPU.
    tile_rows = std::max<std::int64_t>(
        4 * threads, (rows + most_of_column - 1) / most_of_column);
    of_column = static_cast<int>((rows + tile_rows - 1) / tile_rows);
  }
  int count() const { return of_column * columns; }
  KOKKOS_INLINE_FUNCTION int column(int team) const {
    return by_rows ? team % columns : team / of_column;
  }
  KOKKOS_INLINE_FUNCTION int tile(int team) const {
    return by_rows ? team / columns : team % of_column;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t begin(int tile) const {
    return tile * tile_rows;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t end(int tile) const {
    const std::int64_t next = (tile + 1) * tile_rows;
    return next < rows ? next : rows;
  }
};

/// Where the largest elements of columns are left, and their exponents.
struct ColumnScales {
  double* part = nullptr;   ///< VectorTiles::most_of_column for each column
  int* exponent = nullptr;  ///< one for each column
  KOKKOS_INLINE_FUNCTION double* parts_of(int column) const {
    return part + column * VectorTiles::most_of_column;
  }
};

/// The largest finite part of an element that `map` makes of a tile.
template <class Scalar>
struct FindLargest {
  VectorTiles tiles;
  VectorMap<Scalar> map;
  MultiVectorRef<const Scalar> from;
  ColumnScales scales;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int column = tiles.column(team.league_rank()),
              tile = tiles.tile(team.league_rank());
    const std::int64_t end = tiles.end(tile);
    double largest = 0;
    for (std::int64_t i = tiles.begin(tile) + team.team_rank(); i < end;
         i += team.team_size()) {
      const Scalar v = map.in(i, from(i, column));
      take(largest, RealPart<Scalar>::real(v));
      take(largest, RealPart<Scalar>::imaginary(v));
    }
    largest = team_largest(team, largest);
    if (team.team_rank() == 0) scales.parts_of(column)[tile] = largest;
  }

 private:
  KOKKOS_INLINE_FUNCTION static void take(double& largest, double part) {
    const double size = part < 0 ? -part : part;
    if (size > largest && is_finite(size)) largest = size;
  }
};

/// to(map(i)) = 2^-e map.in(from(i)), in the precision of To. Without scales
/// e is 0, else what makes the largest elements of a column about 1.
template <class Scalar, class To>
struct TakeIn {
  VectorTiles tiles;
  VectorMap<Scalar> map;
  MultiVectorRef<const Scalar> from;
  MultiVectorRef<To> to;
  ColumnScales scales;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int column = tiles.column(team.league_rank()),
              tile = tiles.tile(team.league_rank());
    RealOf<Scalar> power = 1;
    if (scales.part) {
      double largest = 0;
      for (int t = team.team_rank(); t < tiles.of_column;
           t += team.team_size()) {
        const double part = scales.parts_of(column)[t];
        if (part > largest) largest = part;
      }
      const int exponent = scaling_exponent(team_largest(team, largest));
      power = static_cast<RealOf<Scalar>>(power_of_two(-exponent));
      if (tile == 0 && team.team_rank() == 0)
        scales.exponent[column] = exponent;
    }
    const std::int64_t end = tiles.end(tile);
    for (std::int64_t i = tiles.begin(tile) + team.team_rank(); i < end;
         i += team.team_size())
      to(map(i), column) = narrow<To>(power * map.in(i, from(i, column)));
  }
};

/// to(i) = map.out(2^e from(map(i))), with the exponents that TakeIn has left,
/// or 0.
template <class From, class Scalar>
struct BringOut {
  VectorTiles tiles;
  VectorMap<Scalar> map;
  MultiVectorRef<const From> from;
  MultiVectorRef<Scalar> to;
  const int* exponent;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int column = tiles.column(team.league_rank()),
              tile = tiles.tile(team.league_rank());
    const auto power = static_cast<RealOf<Scalar>>(
        exponent ? power_of_two(exponent[column]) : 1.);
    const std::int64_t end = tiles.end(tile);
    for (std::int64_t i = tiles.begin(tile) + team.team_rank(); i < end;
         i += team.team_size())
      to(i, column) = map.out(i, power * narrow<Scalar>(from(map(i), column)));
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
