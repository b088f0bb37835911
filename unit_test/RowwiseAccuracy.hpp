// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contract of Accuracy::rowwise, held against residuals in long double.
#ifndef STRATA_TEST_ROWWISE_ACCURACY_HPP
#define STRATA_TEST_ROWWISE_ACCURACY_HPP

#include <complex>
#include <limits>

#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {

template <class Scalar>
struct Longer {
  using Real = Scalar;
  using Type = long double;
  static constexpr double eps = std::numeric_limits<Real>::epsilon();
  static Type of(const Scalar& v) { return v; }
  static Scalar round(const Type& v) { return static_cast<Scalar>(v); }
};
template <class R>
struct Longer<Kokkos::complex<R>> {
  using Real = R;
  using Type = std::complex<long double>;
  static constexpr double eps = 4 * std::numeric_limits<R>::epsilon();
  static Type of(const Kokkos::complex<R>& v) { return {v.real(), v.imag()}; }
  static Kokkos::complex<R> round(const Type& v) {
    return {static_cast<R>(v.real()), static_cast<R>(v.imag())};
  }
};

/// A x, each row added up in long double and rounded once.
template <class Scalar>
std::vector<Scalar> multiplied(const HostMatrix<Scalar>& A,
                               const std::vector<Scalar>& x) {
  using L = Longer<Scalar>;
  std::vector<Scalar> b(A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    typename L::Type sum = 0;
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      sum += L::of(A.values[k]) * L::of(x[A.entries[k]]);
    b[i] = L::round(sum);
  }
  return b;
}

/// The largest of |r_i| / (m eps (sum_j |a_ij| max|x| + |b_i|)), with m the
/// longest row of A, whose diagonal is stored; infinite where x is not finite.
template <class Scalar>
double rowwise_error(const HostMatrix<Scalar>& A, const std::vector<Scalar>& b,
                     const std::vector<Scalar>& x) {
  using L = Longer<Scalar>;
  long double largest = 0, worst = 0;
  std::int64_t longest = 1;
  for (const auto& value : x) {
    if (!(std::abs(L::of(value)) < std::numeric_limits<long double>::max()))
      return std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(L::of(value)));
  }
  for (std::int64_t i = 0; i < A.rows; ++i) {
    typename L::Type residual = L::of(b[i]);
    long double row = 0;
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      residual -= L::of(A.values[k]) * L::of(x[A.entries[k]]);
      row += std::abs(L::of(A.values[k]));
    }
    longest = std::max(longest, A.row_map[i + 1] - A.row_map[i]);
    const long double size = row * largest + std::abs(L::of(b[i]));
    if (size > 0) worst = std::max(worst, std::abs(residual) / size);
  }
  return static_cast<double>(worst / (L::eps * longest));
}

/// What `solver` makes of b keeps the contract, and the growth that its report
/// names bounds the error.
template <class Scalar, class ExecutionSpace>
void expect_rowwise(const HostMatrix<Scalar>& A, const std::vector<Scalar>& b,
                    const TriangularSolver<Scalar, ExecutionSpace>& solver) {
  const double error = rowwise_error(A, b, solve(solver, b));
  const auto& report = solver.report();
  EXPECT_LE(error, 100) << to_string(report);
  if (report.merged_levels > 1) {
    EXPECT_GT(report.growth, 0);
    EXPECT_LE(report.growth, 100);
    // Rows that are not merged are as accurate as substitution.
    EXPECT_LE(error, std::max(report.growth, 6.)) << to_string(report);
  }
}

}  // namespace SolverTest
}  // namespace Strata

#endif
