// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_FACTOR_FINDINGS_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_FACTOR_FINDINGS_HPP

#include <Strata_IncompleteFactorizationOptions.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <kernels/factorization/numeric/SmallPivots.hpp>

// Fill in a FactorizationFindings. All wait for `exec`.

namespace Strata {
namespace Detail {

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

/// The inertia.
template <class Scalar, class ExecutionSpace>
void count_pivots(const ExecutionSpace& exec, const CrsArrays<Scalar>& U,
                  FactorizationFindings& found) {
  const auto count = [&](int sign, std::int64_t& sum) {
    Kokkos::parallel_reduce("Strata::FactorFindings::inertia",
                            RangeOf<ExecutionSpace>(exec, 0, U.rows()),
                            CountPivots<Scalar>{U, sign}, sum);
  };
  count(1, found.positive_pivots);
  count(-1, found.negative_pivots);
  exec.fence();
}

/// The largest modulus of A, or if U has values, minus the least ratio of a
/// pivot to the largest modulus of its row.
template <class Scalar>
struct FindGrowth {
  CrsArrays<Scalar> A, U;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, double& most) const {
    double largest = largest_of_row(A, row);
    if (U.values) largest = -modulus(U.values[U.row_map(row)]) / largest;
    if (largest > most) most = largest;
  }
};

/// Growth and the smallest pivot.
/// @param A  what was factorised into L and U
/// Cost: two passes over A, one over each factor.
template <class Scalar, class ExecutionSpace>
void find_growth(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                 const CrsArrays<Scalar>& L, const CrsArrays<Scalar>& U,
                 FactorizationFindings& found) {
  if (A.rows() == 0) return;
  const auto largest = [&](const FindGrowth<Scalar>& of) {
    double most = 0;
    Kokkos::parallel_reduce("Strata::FactorFindings::growth",
                            RangeOf<ExecutionSpace>(exec, 0, A.rows()), of,
                            Kokkos::Max<double>(most));
    exec.fence();
    return most;
  };
  found.largest_multiplier = largest({L, {}});
  found.growth = largest({U, {}}) / largest({A, {}});
  found.smallest_pivot = -largest({A, U});
}

}  // namespace Detail
}  // namespace Strata

#endif
