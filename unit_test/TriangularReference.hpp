// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_TRIANGULAR_REFERENCE_HPP
#define STRATA_TEST_TRIANGULAR_REFERENCE_HPP

#include <gtest/gtest.h>

#include "TriangularPatterns.hpp"

namespace Strata {
namespace SolverTest {

inline double magnitude(double v) { return std::abs(v); }
inline double magnitude(const Kokkos::complex<double>& v) {
  return std::hypot(v.real(), v.imag());
}
template <class Scalar>
auto widen(const Scalar& v) {
  return typename ScalarParts<Scalar>::Wide(v);
}
inline double conjugated(double v) { return v; }
inline Kokkos::complex<double> conjugated(const Kokkos::complex<double>& v) {
  return {v.real(), -v.imag()};
}

/// The triangle of a host matrix as op(A) x = b reads it. Entries on the other
/// side are passed over.
template <class Scalar>
struct HostSystem {
  using Wide = typename ScalarParts<Scalar>::Wide;
  const HostMatrix<Scalar>& A;
  Uplo uplo;
  Diag diag;
  Op op = Op::none;
  /// Residuals keep the contract of Accuracy::rowwise (docs/accuracy.md), and
  /// not a tighter one.
  bool rowwise = false;

  bool strict(std::int64_t i, std::int64_t j) const {
    return uplo == Uplo::lower ? j < i : j > i;
  }
  Wide apply(const Scalar& v) const {
    return op == Op::conjugate_transpose ? conjugated(widen(v)) : widen(v);
  }
  /// Calls f(row, column, value) for the strict entries of op(A).
  template <class F>
  void for_each_entry(const F& f) const {
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
        if (strict(i, A.entries[k])) {
          const auto j = A.entries[k];
          op == Op::none ? f(i, j, apply(A.values[k]))
                         : f(j, i, apply(A.values[k]));
        }
  }
  std::vector<Wide> diagonal() const {
    std::vector<Wide> d(A.rows, Wide(1));
    if (diag == Diag::unit) return d;
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
        if (A.entries[k] == i) d[i] = apply(A.values[k]);
    return d;
  }

  /// Substitution in double precision, by rows or, transposed, by columns.
  std::vector<Wide> solve(const Scalar* b) const {
    const std::int64_t n = A.rows;
    const auto d = diagonal();
    std::vector<Wide> x(b, b + n);
    const bool transposed = op != Op::none;
    const bool forward = (uplo == Uplo::lower) != transposed;
    for (std::int64_t v = 0; v < n; ++v) {
      const std::int64_t i = forward ? v : n - 1 - v;
      if (transposed) x[i] = x[i] / d[i];
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
        const auto j = A.entries[k];
        if (!strict(i, j)) continue;
        if (transposed)
          x[j] -= apply(A.values[k]) * x[i];
        else
          x[i] -= apply(A.values[k]) * x[j];
      }
      if (!transposed) x[i] = x[i] / d[i];
    }
    return x;
  }

  /// |b - op(A) x| <= c eps (|op(A)| |x| + |b|), with c the roundings that a
  /// row of that length may cost, whatever their order. With `rowwise`, c is
  /// 100 times the longest row, and the largest |x_j| stands for all. Also
  /// holds x against substitution.
  void expect_solution(const Scalar* b, const Scalar* x) const {
    using Parts = ScalarParts<Scalar>;
    const std::int64_t n = A.rows;
    const auto d = diagonal();
    std::vector<Wide> residual(n);
    std::vector<double> size(n);
    std::vector<int> length(n, 0);
    double largest = 0, largest_x = 0;
    int longest = 0;
    for (std::int64_t i = 0; i < n; ++i)
      largest_x = std::max(largest_x, magnitude(widen(x[i])));
    const auto size_of = [&](const Wide& a, const Scalar& of) {
      return rowwise ? magnitude(a) * largest_x : magnitude(a * widen(of));
    };
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_TRUE(Parts::finite(x[i])) << "row " << i;
      residual[i] = widen(b[i]) - d[i] * widen(x[i]);
      size[i] = magnitude(widen(b[i])) + size_of(d[i], x[i]);
    }
    for_each_entry([&](std::int64_t i, std::int64_t j, const Wide& a) {
      residual[i] -= a * widen(x[j]);
      size[i] += size_of(a, x[j]);
      longest = std::max(longest, ++length[i]);
    });
    const double eps = std::numeric_limits<typename Parts::Real>::epsilon() *
                       (Parts::is_complex ? 4 : 1);
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_LE(magnitude(residual[i]),
                (rowwise ? 100 * (longest + 1) : length[i] + 6) * eps * size[i])
          << "residual of row " << i;
    const auto reference = solve(b);
    for (const auto& r : reference) largest = std::max(largest, magnitude(r));
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_LE(magnitude(reference[i] - widen(x[i])),
                8 * (longest + 6) * eps * largest)
          << "row " << i;
  }
};

}  // namespace SolverTest
}  // namespace Strata

#endif
