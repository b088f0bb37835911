// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_GALLERY_BUILD_HPP
#define STRATA_GALLERY_GALLERY_BUILD_HPP

#include <core/device/SortRows.hpp>
#include <core/matrix/NewMatrix.hpp>
#include <core/scalar/CounterRandom.hpp>

namespace Strata {
namespace Detail {

template <class Scalar>
struct FromParts {
  static constexpr double off_diagonal_share = 1;
  KOKKOS_INLINE_FUNCTION static Scalar make(double real, double) {
    return static_cast<Scalar>(real);
  }
};
template <class Real>
struct FromParts<Kokkos::complex<Real>> {
  static constexpr double off_diagonal_share = 0.8;
  KOKKOS_INLINE_FUNCTION static Kokkos::complex<Real> make(double real,
                                                           double imaginary) {
    return {static_cast<Real>(real), static_cast<Real>(imaginary)};
  }
};

/// Values of the gallery, each a function of seed, row and column (and, on the
/// diagonal, of the row's length) alone.
///
/// Off-diagonal: -(1 - u/8), or +-(1 + u)/2 where `signs`, with u uniform in
/// [0, 1). Diagonal: max(degree, off-diagonal entries of the row) + 1/16 + u/4,
/// so rows are strictly dominant. In complex matrices an off-diagonal value's
/// real part is 0.8 of that, and imaginary parts are uniform in [-0.6, 0.6).
/// No product that rounds is followed by a sum, so fused multiply-adds change
/// no bit.
struct GalleryValues {
  std::uint64_t seed;
  int degree;
  bool signs;

  template <class Scalar>
  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t row,
                                           std::int64_t column,
                                           std::int64_t row_length) const {
    const std::uint64_t bits = random_bits(seed, row, column, 8);
    const double u = unit_interval(bits);
    const double imaginary =
        0.6 * (2 * unit_interval(random_bits(seed, row, column, 9)) - 1);
    if (row == column) {
      const std::int64_t others = row_length - 1;
      const double base =
          static_cast<double>(others > degree ? others : degree);
      return FromParts<Scalar>::make(base + 0.0625 + 0.25 * u, imaginary);
    }
    const double real =
        signs ? (bits & 1 ? 0.5 : -0.5) * (1 + u) : 0.125 * u - 1;
    return FromParts<Scalar>::make(FromParts<Scalar>::off_diagonal_share * real,
                                   imaginary);
  }
};

/// 6 on the diagonal and -1 beside it, in every row.
struct PoissonValues {
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t row,
                                           std::int64_t column,
                                           std::int64_t) const {
    return Scalar(row == column ? 6 : -1);
  }
};

template <class Pattern>
struct PatternRowLength {
  Pattern pattern;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    std::int64_t length = 0;
    pattern(row, [&](std::int64_t) { ++length; });
    return length;
  }
};

template <class Scalar, class Pattern, class Values>
struct FillPattern {
  Pattern pattern;
  Values value;
  IndexOutput row_map, entries;
  Scalar* values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t begin = row_map(row);
    const std::int64_t length = row_map(row + 1) - begin;
    std::int64_t k = begin;
    pattern(row, [&](std::int64_t column) {
      entries.set(k, column);
      values[k] = value.template operator()<Scalar>(row, column, length);
      ++k;
    });
  }
};

template <class ExecutionSpace>
using GalleryRows =
    Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

/// Matrix of a closed-form pattern: rows counted, summed up, filled, with a
/// thread a row.
template <class Scalar, class ExecutionSpace, class Pattern, class Values>
void build_from_pattern(const ExecutionSpace& exec, std::int64_t rows,
                        const Pattern& pattern, const Values& value,
                        NewMatrix<Scalar>& made) {
  const IndexOutput row_map =
      made.make_row_map("Strata::Gallery::row_map", rows);
  const std::int64_t stored =
      scan_row_lengths("Strata::Gallery::count::pattern", exec, rows,
                       PatternRowLength<Pattern>{pattern}, row_map);
  const IndexOutput entries =
      made.make_entries("Strata::Gallery::entries", stored);
  Scalar* const values = made.make_values("Strata::Gallery::values", stored);
  Kokkos::parallel_for("Strata::Gallery::fill::pattern",
                       GalleryRows<ExecutionSpace>(exec, 0, rows),
                       FillPattern<Scalar, Pattern, Values>{
                           pattern, value, row_map, entries, values});
  exec.fence();
}

/// Row starts of the arrow: two entries a row, the last row full.
struct ArrowRowMap {
  std::int64_t rows, stored;
  IndexOutput row_map;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    row_map.set(row, row == rows ? stored : 2 * row);
  }
};

/// One thread an entry: the last row is as long as all the others together.
template <class Scalar>
struct FillArrow {
  std::int64_t rows;
  GalleryValues value;
  IndexOutput entries;
  Scalar* values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    const std::int64_t last = rows - 1;
    const std::int64_t row = k < 2 * last ? k / 2 : last;
    const std::int64_t column =
        row == last ? k - 2 * last : (k % 2 == 0 ? row : last);
    entries.set(k, column);
    values[k] = value.operator()<Scalar>(row, column, row == last ? rows : 2);
  }
};

template <class Scalar, class ExecutionSpace>
void build_arrow(const ExecutionSpace& exec, std::int64_t rows,
                 const GalleryValues& value, NewMatrix<Scalar>& made) {
  const std::int64_t stored = 3 * rows - 2;
  const IndexOutput row_map =
      made.make_row_map("Strata::Gallery::row_map", rows);
  const IndexOutput entries =
      made.make_entries("Strata::Gallery::entries", stored);
  Scalar* const values = made.make_values("Strata::Gallery::values", stored);
  Kokkos::parallel_for("Strata::Gallery::row_map::arrow",
                       GalleryRows<ExecutionSpace>(exec, 0, rows + 1),
                       ArrowRowMap{rows, stored, row_map});
  Kokkos::parallel_for("Strata::Gallery::fill::arrow",
                       GalleryRows<ExecutionSpace>(exec, 0, stored),
                       FillArrow<Scalar>{rows, value, entries, values});
  exec.fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
