// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_FACTOR_CASES_HPP
#define STRATA_TEST_FACTOR_CASES_HPP

// Random factors with random transformations, and what solves with them are
// held to.
#include <gtest/gtest.h>

#include <Strata_FactorSolver.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "HermitianMatrix.hpp"

using Strata::Algorithm;
using Strata::Diag;
using Strata::Op;
using Options = Strata::FactorSolverOptions;
using Wide = std::complex<double>;

constexpr Op all_ops[] = {Op::none, Op::transpose, Op::conjugate_transpose};

template <class T>
Kokkos::View<T*, Device> on_device(const std::vector<T>& from) {
  const Kokkos::View<T*, Device> to("to", from.size());
  const auto host = Kokkos::create_mirror_view(to);
  std::copy(from.begin(), from.end(), host.data());
  Kokkos::deep_copy(to, host);
  return to;
}

template <class Scalar>
struct FactorCases : testing::Test {
  using Solver = Strata::FactorSolver<Scalar, Device>;
  using Transformation = Strata::FactorTransformation<Scalar, Device>;
  using Real = RealOf<Scalar>;
  using Host = HostMatrix<Scalar>;
  using One = Kokkos::View<Scalar*, Device>;
  using Left = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device>;
  using Right = Kokkos::View<Scalar**, Kokkos::LayoutRight, Device>;
  static constexpr double eps = std::numeric_limits<Real>::epsilon();
  static constexpr std::int64_t n = 43;

  /// A triangle with a random pattern, a few entries a row and a diagonal that
  /// dominates rows and columns; with ones, or anything, where it is unit.
  static Host triangle(Strata::Uplo uplo, Diag diag, bool stored = true) {
    Host made;
    made.rows = made.columns = n;
    std::uniform_int_distribution<int> some(0, 9);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const bool strict = uplo == Strata::Uplo::lower ? j < i : j > i;
        if (i == j ? !stored : !(strict && some(generator()) == 0)) continue;
        const Scalar v = random_number<Scalar>();
        made.entries.push_back(j);
        made.values.push_back(i != j               ? Real(0.125) * v
                              : diag == Diag::unit ? v
                                                   : v + Scalar(3));
      }
      made.row_map.push_back(static_cast<std::int64_t>(made.entries.size()));
    }
    return made;
  }
  static std::vector<int> random_permutation() {
    std::vector<int> made(n);
    std::iota(made.begin(), made.end(), 0);
    std::shuffle(made.begin(), made.end(), generator());
    return made;
  }
  template <class Factor>
  static std::vector<Factor> random_scaling() {
    std::vector<Factor> made(n);
    for (auto& factor : made) factor = Factor(2) + random_number<Factor>();
    return made;
  }

  /// What a solver is made of.
  struct Case {
    Host L, U;
    Options options;
    std::vector<int> rows, columns;  // empty: not permuted
    std::vector<Scalar> row_scaling, column_scaling;
    std::vector<Real> real_scaling;  // in place of row_scaling

    Transformation transformation() const {
      Transformation made;
      if (!rows.empty()) made.row_permutation(on_device(rows));
      if (!columns.empty()) {
        const std::vector<std::int64_t> wide_columns(columns.begin(),
                                                     columns.end());
        made.column_permutation(on_device(wide_columns));
      }
      if (!row_scaling.empty()) made.row_scaling(on_device(row_scaling));
      if (!real_scaling.empty()) made.row_scaling(on_device(real_scaling));
      if (!column_scaling.empty())
        made.column_scaling(on_device(column_scaling));
      return made;
    }
    Solver solver() const {
      return Solver(Device(), L.template to_device<Crs<Scalar>>(),
                    U.template to_device<Crs<Scalar>>(), transformation(),
                    options);
    }
    /// A with Pr Dr A Dc Pc = L U, dense.
    std::vector<Wide> matrix() const {
      const auto dense = [](const Host& factor, Diag diag) {
        std::vector<Wide> made(n * n);
        for (std::int64_t i = 0; i < n; ++i)
          for (auto k = factor.row_map[i]; k < factor.row_map[i + 1]; ++k)
            made[i * n + factor.entries[k]] = wide(factor.values[k]);
        for (std::int64_t i = 0; i < n && diag == Diag::unit; ++i)
          made[i * n + i] = 1;
        return made;
      };
      const auto lower = dense(L, options.lower_diag),
                 upper = dense(U, options.upper_diag);
      std::vector<Wide> A(n * n);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const auto p = rows.empty() ? i : rows[i],
                     q = columns.empty() ? j : columns[j];
          Wide sum = 0;
          for (std::int64_t k = 0; k <= std::min<std::int64_t>(p, q); ++k)
            sum += lower[p * n + k] * upper[k * n + q];
          if (!row_scaling.empty()) sum /= wide(row_scaling[i]);
          if (!real_scaling.empty()) sum /= Wide(real_scaling[i]);
          if (!column_scaling.empty()) sum /= wide(column_scaling[j]);
          A[i * n + j] = sum;
        }
      return A;
    }
  };
  static Case random_case(const Options& options = {}) {
    Case made;
    made.options = options;
    made.L = triangle(Strata::Uplo::lower, options.lower_diag);
    made.U = triangle(Strata::Uplo::upper, options.upper_diag);
    return made;
  }
  /// Which of the four parts a transformation has: bits of `parts`.
  static void transform(Case& made, int parts) {
    if (parts & 1) made.rows = random_permutation();
    if (parts & 2) made.columns = random_permutation();
    if (parts & 4) made.row_scaling = random_scaling<Scalar>();
    if (parts & 8) made.column_scaling = random_scaling<Scalar>();
  }

  template <class View>
  static auto& at(const View& view, std::size_t i, std::size_t c) {
    if constexpr (View::rank == 1) {
      return view(i + 0 * c);
    } else {
      return view(i, c);
    }
  }
  template <class View>
  static void fill(const View& view, const std::vector<Scalar>& from) {
    const auto host = Kokkos::create_mirror_view(view);
    for (std::size_t k = 0; k < from.size(); ++k)
      at(host, k % n, k / n) = from[k];
    Kokkos::deep_copy(view, host);
  }
  template <class View>
  static std::vector<Scalar> content(const View& view) {
    Kokkos::fence();
    const auto host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    std::vector<Scalar> made;
    const std::size_t columns = View::rank == 1 ? 1 : view.extent(1);
    for (std::size_t c = 0; c < columns; ++c)
      for (std::size_t i = 0; i < view.extent(0); ++i)
        made.push_back(at(host, i, c));
    return made;
  }
  static std::vector<Scalar> random_numbers(std::size_t columns) {
    std::vector<Scalar> made(n * columns);
    for (auto& v : made) v = random_number<Scalar>();
    return made;
  }

  /// op(A) x = b as far as rounding in units of `unit` goes.
  static void expect_solution(const std::vector<Wide>& A, Op op,
                              const std::vector<Scalar>& b,
                              const std::vector<Scalar>& x, double unit = eps) {
    ASSERT_EQ(b.size(), x.size());
    for (std::size_t column = 0; column < b.size(); column += n) {
      double largest = 0;
      for (std::int64_t i = 0; i < n; ++i)
        largest = std::max(largest, std::abs(wide(x[column + i])));
      for (std::int64_t i = 0; i < n; ++i) {
        Wide residual = -wide(b[column + i]);
        double size = std::abs(residual);
        for (std::int64_t j = 0; j < n; ++j) {
          Wide a = op == Op::none ? A[i * n + j] : A[j * n + i];
          if (op == Op::conjugate_transpose) a = std::conj(a);
          residual += a * wide(x[column + j]);
          size += std::abs(a) * largest;
        }
        ASSERT_LE(std::abs(residual), 1e3 * unit * size)
            << to_string(op) << ", row " << i << ", element " << column;
      }
    }
  }
  template <class B, class X>
  static void expect_applied(const Solver& solver, const std::vector<Wide>& A,
                             const B& b, const X& x, double unit = eps) {
    const auto given =
        random_numbers(B::rank == 1 ? 1 : static_cast<int>(b.extent(1)));
    for (const Op op : all_ops) {
      fill(b, given);
      solver.apply(Device(), b, x, op);
      const auto found = content(x);
      expect_solution(A, op, given, found, unit);
      EXPECT_EQ(content(b), given) << "b is written";
      // The same bits again, and in place.
      solver.apply(Device(), b, x, op);
      EXPECT_EQ(content(x), found);
      solver.apply(Device(), b, b, op);
      EXPECT_EQ(content(b), found);
    }
  }
  /// For ones.
  static std::vector<Scalar> applied(const Solver& solver, Op op = Op::none) {
    const One b("b", n), x("x", n);
    Kokkos::deep_copy(b, Scalar(1));
    solver.apply(Device(), b, x, op);
    return content(x);
  }
  static Options with_transposes() {
    Options options;
    options.transpose = true;
    options.triangular.max_right_hand_sides = 3;
    return options;
  }
  static Host scaled(Host matrix, Real factor) {
    for (auto& v : matrix.values) v *= factor;
    return matrix;
  }
};

/// That `call` throws an Error of that type, argument and row.
template <class Error, class Call>
void expect_error(const char* argument, std::int64_t row, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.argument(), argument) << error.what();
    if constexpr (std::is_base_of<Strata::MatrixError, Error>::value) {
      EXPECT_EQ(error.row(), row) << error.what();
    }
    EXPECT_FALSE(error.remedy().empty());
  }
}

#endif
