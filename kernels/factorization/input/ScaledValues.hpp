// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INPUT_SCALED_VALUES_HPP
#define STRATA_KERNELS_FACTORIZATION_INPUT_SCALED_VALUES_HPP

#include <Strata_UpdateStatus.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <kernels/factorization/solve/FactorVectors.hpp>
#include <limits>

// Values of a permuted and scaled matrix, and the scalings of
// FactorScaling::equilibration.

namespace Strata {
namespace Detail {

/// Binary exponents of the largest parts of A's rows and columns; in a
/// symmetric scaling both are one array, of the diagonal.
template <class Scalar>
struct Exponents {
  static constexpr int none = std::numeric_limits<int>::min();
  static constexpr int most =
      std::numeric_limits<RealOf<Scalar>>::max_exponent - 2;
  int *row, *column;
  bool in_use, symmetric;

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

/// to(k) = Dr(i) a_ij Dc(j) for entry k of the permuted matrix.
template <class Scalar, class MemorySpace>
struct ScaledValues {
  CrsArrays<Scalar> A;  // the pattern
  ValueIndex<MemorySpace> source;
  const int *old_row, *old_column;
  const Scalar *row_scale, *column_scale;  // null: 1
  Exponents<Scalar> exponents;             // in use: in place of these
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
      if (exponents.in_use) {
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

/// Finds the exponents of the rows, or of the columns once the rows are scaled.
template <class Scalar, class MemorySpace>
struct FindExponents {
  ScaledValues<Scalar, MemorySpace> values;
  bool of_columns;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return values.length(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const Exponents<Scalar>& found = values.exponents;
    const int i = values.old_row[row];
    const std::int64_t end = values.A.row_map(row + 1);
    int largest = found.none;
    for (std::int64_t k = values.A.row_map(row) + lane; k < end; k += lanes) {
      const std::int64_t column = values.A.entries(k);
      const Scalar v = values.from[values.source(k)];
      const double size = larger_part(v);
      if (!(size > 0 && is_finite(size)) || (found.symmetric && column != row))
        continue;
      const int exponent = scaling_exponent(size);
      if (of_columns)
        Kokkos::atomic_fetch_max(found.column + values.old_column[column],
                                 exponent - found.of(found.row[i]));
      else if (exponent > largest)
        largest = exponent;
    }
    if (largest != found.none) Kokkos::atomic_fetch_max(found.row + i, largest);
  }
};

/// See ReorderedMatrix::finish.
template <class Scalar>
struct FinishScaling {
  Exponents<Scalar> exponents;
  UpdateStatus* status;  // null: good
  const int* old_row;
  Scalar *row_scale, *column_scale;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (status && status->fault != UpdateFault::none) {
      if (i == 0 && status->row >= 0) status->row = old_row[status->row];
    } else if (exponents.in_use) {
      row_scale[i] = Scalar(exponents.factor(exponents.row[i]));
      column_scale[i] = Scalar(exponents.factor(exponents.column[i]));
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
