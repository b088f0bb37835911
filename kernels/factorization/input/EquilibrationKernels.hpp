// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INPUT_EQUILIBRATION_KERNELS_HPP
#define STRATA_KERNELS_FACTORIZATION_INPUT_EQUILIBRATION_KERNELS_HPP

#include <Strata_UpdateStatus.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <kernels/factorization/solve/FactorVectors.hpp>
#include <limits>

// Values of a permuted matrix, and scalings by powers of two, which round
// nothing, as of LAPACK's geequb: the largest part of each row is from 1 to 2,
// then that of each column; or, symmetrically, diagonal entries are from 1
// to 4. What has no such entry keeps its size.

namespace Strata {
namespace Detail {

/// Binary exponents of A's rows and columns.
template <class Scalar>
struct Exponents {
  static constexpr int none = std::numeric_limits<int>::min();
  static constexpr int most =
      std::numeric_limits<RealOf<Scalar>>::max_exponent - 2;
  int *row, *column;  // null: scalings are given
  bool symmetric;

  KOKKOS_INLINE_FUNCTION int of(int exponent) const {
    if (exponent == none) return 0;
    if (symmetric) exponent >>= 1;
    return exponent < -most ? -most : exponent > most ? most : exponent;
  }
  KOKKOS_INLINE_FUNCTION RealOf<Scalar> factor(int exponent) const {
    return static_cast<RealOf<Scalar>>(power_of_two(-of(exponent)));
  }
};

template <class Scalar>
struct ResetExponents {
  Exponents<Scalar> exponents;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    exponents.row[i] = exponents.column[i] = exponents.none;
  }
};
template <class Scalar>
ResetExponents(Exponents<Scalar>) -> ResetExponents<Scalar>;

/// to(k) = Dr(i) a_ij Dc(j) for entry k of the permuted matrix.
template <class Scalar, class MemorySpace>
struct ScaledValues {
  CrsArrays<Scalar> A;  // the pattern
  ValueIndex<MemorySpace> source;
  const int *old_row, *old_column;
  const Scalar *row_scale, *column_scale;  // null: 1
  Exponents<Scalar> exponents;
  const Scalar* from;
  Scalar* to;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return A.row_map(row + 1) - A.row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const int i = old_row[row];
    const std::int64_t end = A.row_map(row + 1);
    for (std::int64_t k = A.row_map(row) + lane; k < end; k += lanes) {
      const int j = old_column[A.entries(k)];
      Scalar v = from[source(k)];
      if (exponents.row) {
        v = exponents.factor(exponents.row[i]) * v;
        v = exponents.factor(exponents.column[j]) * v;
      } else {
        if (row_scale) v = row_scale[i] * v;
        if (column_scale) v = v * column_scale[j];
      }
      to[k] = v;
    }
  }
};

/// Exponents of the rows; of the columns once the rows are scaled.
template <class Scalar, class MemorySpace>
struct FindExponents {
  ScaledValues<Scalar, MemorySpace> values;
  bool of_columns;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return values.length(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const Exponents<Scalar>& known = values.exponents;
    const int i = values.old_row[row];
    const std::int64_t end = values.A.row_map(row + 1);
    int largest = known.none;
    for (std::int64_t k = values.A.row_map(row) + lane; k < end; k += lanes) {
      const std::int64_t column = values.A.entries(k);
      const double size = part_size(values.from[values.source(k)]);
      if (!(size > 0 && is_finite(size)) || (known.symmetric && column != row))
        continue;
      const int exponent = scaling_exponent(size);
      if (of_columns)
        Kokkos::atomic_fetch_max(known.column + values.old_column[column],
                                 exponent - known.of(known.row[i]));
      else if (exponent > largest)
        largest = exponent;
    }
    if (largest != known.none) Kokkos::atomic_fetch_max(known.row + i, largest);
  }

 private:
  KOKKOS_INLINE_FUNCTION static double part_size(const Scalar& v) {
    const double real = RealPart<Scalar>::real(v),
                 imaginary = RealPart<Scalar>::imaginary(v);
    const double x = real < 0 ? -real : real,
                 y = imaginary < 0 ? -imaginary : imaginary;
    return x > y ? x : y;
  }
};

/// See ReorderedMatrix::finish.
template <class Scalar>
struct FinishScaling {
  std::int64_t rows;
  Exponents<Scalar> exponents;
  UpdateStatus* status;  // null: good
  const int* old_row;
  Scalar *row_scale, *column_scale;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (status && status->fault != UpdateFault::none) {
      if (i == 0 && status->row >= 0 && status->row < rows)
        status->row = old_row[status->row];
      return;
    }
    if (!exponents.row || i >= rows) return;
    row_scale[i] = Scalar(exponents.factor(exponents.row[i]));
    column_scale[i] = Scalar(exponents.factor(exponents.column[i]));
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
