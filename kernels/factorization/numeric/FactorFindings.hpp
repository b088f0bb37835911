// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_FACTOR_FINDINGS_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_FACTOR_FINDINGS_HPP

#include <Strata_IncompleteFactorizationOptions.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/scalar/Modulus.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/factorization/numeric/PivotReplacement.hpp>

namespace Strata {
namespace Detail {

/// What a factorisation tells of itself beside its factors: see
/// IncompleteFactorizationReport.
struct FactorFindings {
  ReplacedPivots replaced;
  double shift = 0;
  int tries = 1;
  std::int64_t positive = 0, negative = 0;
  double lower_growth = 0, upper_growth = 0, smallest_pivot = 0;

  void report(IncompleteFactorizationReport& to) const {
    to.replaced_pivots = replaced.count;
    to.largest_pivot_change = replaced.largest_change;
    to.shift = shift;
    to.shift_tries = tries;
    to.positive_pivots = positive;
    to.negative_pivots = negative;
    to.lower_growth = lower_growth;
    to.upper_growth = upper_growth;
    to.smallest_pivot = smallest_pivot;
  }
};

template <class Scalar>
KOKKOS_INLINE_FUNCTION double largest_of_row(const CrsArrays<Scalar>& A,
                                             std::int64_t row) {
  double largest = 0;
  const std::int64_t end = A.row_map(row + 1);
  for (std::int64_t k = A.row_map(row); k < end; ++k) {
    const double size = modulus(A.values[k]);
    if (size > largest) largest = size;
  }
  return largest;
}
template <class Scalar>
struct FindLargest {
  CrsArrays<Scalar> A;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         double& largest) const {
    const double of_row = largest_of_row(A, row);
    if (of_row > largest) largest = of_row;
  }
};
/// A pivot over the largest modulus of its row.
template <class Scalar>
struct FindSmallestPivot {
  CrsArrays<Scalar> A, U;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         double& smallest) const {
    const double pivot = modulus(U.values[U.row_map(row)]);
    const double ratio = pivot / largest_of_row(A, row);
    if (ratio < smallest) smallest = ratio;
  }
};
template <class Scalar>
struct CountPivots {
  CrsArrays<Scalar> U;
  int sign;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& count) const {
    const double real = RealPart<Scalar>::real(U.values[U.row_map(row)]);
    count += sign * real > 0;
  }
};

/// Fills in the inertia. Waits for `exec`.
template <class Scalar, class ExecutionSpace>
void count_pivots(const ExecutionSpace& exec, const CrsArrays<Scalar>& U,
                  FactorFindings& found) {
  const auto count = [&](int sign) {
    std::int64_t sum = 0;
    Kokkos::parallel_reduce(
        "Strata::FactorFindings::inertia",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
            exec, 0, U.rows()),
        CountPivots<Scalar>{U, sign}, sum);
    exec.fence();
    return sum;
  };
  found.positive = count(1);
  found.negative = count(-1);
}

/// Fills in growth and the smallest pivot. Waits for `exec`.
/// @param A  what was factorised into L and U
/// Cost: two passes over A, one over each factor.
template <class Scalar, class ExecutionSpace>
void find_growth(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                 const CrsArrays<Scalar>& L, const CrsArrays<Scalar>& U,
                 FactorFindings& found) {
  if (A.rows() == 0) return;
  const Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>
      rows(exec, 0, A.rows());
  const auto largest = [&](const CrsArrays<Scalar>& of) {
    double value = 0;
    Kokkos::parallel_reduce("Strata::FactorFindings::growth", rows,
                            FindLargest<Scalar>{of},
                            Kokkos::Max<double>(value));
    exec.fence();
    return value;
  };
  const double of_a = largest(A);
  found.lower_growth = largest(L) / of_a;
  found.upper_growth = largest(U) / of_a;
  Kokkos::parallel_reduce("Strata::FactorFindings::smallest_pivot", rows,
                          FindSmallestPivot<Scalar>{A, U},
                          Kokkos::Min<double>(found.smallest_pivot));
  exec.fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
