// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_COLOURS_TWO_COLOUR_KERNELS_HPP
#define STRATA_KERNELS_FACTORIZATION_COLOURS_TWO_COLOUR_KERNELS_HPP

#include <core/matrix/FindColumn.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <core/scalar/Modulus.hpp>
#include <core/scalar/RealPart.hpp>
#include <cstdint>
#include <kernels/factorization/colours/TwoColourFactor.hpp>
#include <kernels/spmv/SellKernel.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// The entries beside the diagonal of some rows of a TwoColourFactor: F, the
/// columns of the second colour in rows of the first one, or G, the columns of
/// the first in rows of the second.
template <class Matrix>
struct TakeOffDiagonalBlock {
  using Types = MatrixTypes<Matrix>;
  Matrix LU;
  /// The rows' first one, and what its columns are counted from.
  std::int64_t first_row;
  int first_column;
  /// 1 where the diagonal comes before the other entries, else 0.
  int skipped;
  typename Types::RowMap row_map;
  typename Types::Entries entries;
  typename Types::Values values;

  /// Each row before has an entry less than in LU.
  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t row) const {
    return static_cast<std::int64_t>(LU.graph.row_map(first_row + row)) -
           static_cast<std::int64_t>(LU.graph.row_map(first_row)) - row;
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t to = begin(row), count = begin(row + 1) - to;
    const std::int64_t from =
        static_cast<std::int64_t>(LU.graph.row_map(first_row + row)) + skipped;
    row_map(row) = to;
    if (row + 1 == static_cast<std::int64_t>(row_map.extent(0)) - 1)
      row_map(row + 1) = to + count;
    for (std::int64_t k = 0; k < count; ++k) {
      entries(to + k) = LU.graph.entries(from + k) - first_column;
      values(to + k) = LU.values(from + k);
    }
  }
};

/// The diagonal of A in the order of colours, and reciprocals of pivots.
template <class CrsMatrix>
struct TakeReducedDiagonals {
  using Types = MatrixTypes<CrsMatrix>;
  using Scalar = typename Types::Scalar;
  using Memory = typename Types::MemorySpace;
  CrsMatrix A;
  TwoColourRows<typename Types::Matrix> rows;
  Kokkos::View<const int*, Memory> old_row;
  Kokkos::View<Scalar*, Memory> diagonal, inverse_diagonal;
  Kokkos::View<RealOf<Scalar>*, Memory> inverse_pivot;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const int old = old_row(row);
    diagonal(row) = A.values(first_entry_from(A.graph, old, old));
    if (row < rows.first_rows)
      inverse_diagonal(row) = Scalar(1) / diagonal(row);
    else
      inverse_pivot(row - rows.first_rows) = static_cast<RealOf<Scalar>>(
          1 / RealPart<Scalar>::real(rows.LU.values(rows.diagonal(row))));
  }
};

/// Element `row` of a vector to multiply with, which looks random: in
/// [0.5, 1.5) or its negative, and exact in all scalars.
KOKKOS_INLINE_FUNCTION double probe_element(std::int64_t row) {
  const std::uint64_t bits =
      random_bits(1, static_cast<std::uint64_t>(row), 0, 0);
  const double size = 0.5 + static_cast<double>(bits >> 42) / 4194304;
  return bits & 1 ? -size : size;
}
template <class Scalar>
struct FillProbe {
  Scalar* v;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    v[row] = Scalar(static_cast<RealOf<Scalar>>(probe_element(row)));
  }
};

/// The probe, or the first colour's part of it times the diagonal, in the order
/// of colours.
template <class Scalar>
struct ProbeSource {
  const int* old_row;
  const Scalar* factor;  // null: 1
  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t row, int) const {
    const Scalar v(static_cast<RealOf<Scalar>>(probe_element(old_row[row])));
    return factor ? factor[row] * v : v;
  }
};
/// Counts the rows of a colour in which two products with the probe differ by
/// more than roundings.
template <class Scalar>
struct CompareProducts {
  static constexpr int block = 1;
  static constexpr bool reduces = true, late = false, heavy = true;
  ProbeSource<Scalar> source;
  const int* old_row;
  const Scalar *diagonal, *wanted;
  double* count;
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    constexpr double roundings =
        256 * std::numeric_limits<RealOf<Scalar>>::epsilon();
    const int old = old_row[row];
    const Scalar own =
        diagonal[row] * Scalar(static_cast<RealOf<Scalar>>(probe_element(old)));
    const Scalar product = wanted[old];
    const double size = static_cast<double>(modulus(own)) +
                        static_cast<double>(modulus(product));
    const auto difference =
        static_cast<double>(modulus(own + sum[0] - product));
    // Not so of a NaN either.
    return difference <= roundings * size ? 0.0 : 1.0;
  }
  KOKKOS_INLINE_FUNCTION void finish(double found) const { *count = found; }
};

/// The first colour's part of a vector in the given order.
template <class Scalar>
struct FirstColourSource {
  MultiVectorRef<const Scalar> v;
  const int* old_row;
  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t row, int) const {
    return v(old_row[row], 0);
  }
};

/// v2 - G v1 of a vector in the given order: a product with G for kernels that
/// store what they make of it.
template <class Scalar>
struct EliminatedVector {
  static constexpr int block = 1;
  static constexpr bool reduces = false, late = false, heavy = true;
  FirstColourSource<Scalar> source;  // v1
  const int* old_row;                // of the second colour
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION Scalar element(std::int64_t row,
                                        const Scalar (&sum)[1]) const {
    return source.v(old_row[row], 0) - sum[0];
  }
};

/// z2 = D^-1 (r2 - G r1), in the given order and, for the first colour's rows
/// to read, in the order of colours. z may be r.
template <class Scalar>
struct SolveSecondColour : EliminatedVector<Scalar> {
  const RealOf<Scalar>* inverse_pivot;
  MultiVectorRef<Scalar> z;
  Scalar* by_colour;
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    const Scalar value = inverse_pivot[row] * this->element(row, sum);
    by_colour[row] = value;
    z(this->old_row[row], 0) = value;
    return 0;
  }
};

/// b2 - G b1 and x2, of vectors in the given order.
template <class Scalar>
struct ReduceVectors : EliminatedVector<Scalar> {
  MultiVectorRef<const Scalar> x;
  Scalar *reduced_b, *reduced_x;
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    reduced_b[row] = this->element(row, sum);
    reduced_x[row] = x(this->old_row[row], 0);
    return 0;
  }
};

/// x1 = D1^-1 (b1 - F x2), in the given order.
template <class Scalar>
struct CompleteFirstColour {
  static constexpr int block = 1;
  static constexpr bool reduces = false, late = false, heavy = false;
  ContiguousSource<Scalar> source;  // x2
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  const int* old_row;
  const Scalar* inverse_diagonal;
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    const int old = old_row[row];
    x(old, 0) = inverse_diagonal[row] * (b(old, 0) - sum[0]);
    return 0;
  }
};
template <class Scalar>
struct CompleteSecondColour {
  const Scalar* reduced_x;
  const int* old_row;
  MultiVectorRef<Scalar> x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    x(old_row[row], 0) = reduced_x[row];
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
