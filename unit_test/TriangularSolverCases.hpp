// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_TRIANGULAR_SOLVER_CASES_HPP
#define STRATA_TEST_TRIANGULAR_SOLVER_CASES_HPP

#include <Strata_TriangularSolver.hpp>
#include <cstring>

#include "TriangularReference.hpp"

namespace Strata {
namespace SolverTest {

/// Options, with a name for messages.
struct Variant {
  std::string name;
  TriangularOptions options;
};

/// Every algorithm by its name.
inline std::vector<Variant> algorithms() {
  std::vector<Variant> all;
  for (const auto a : all_algorithms()) {
    if (a == Algorithm::automatic) continue;
    TriangularOptions options;
    options.algorithm = a;
    all.push_back({to_string(a), options});
  }
  return all;
}

/// Every algorithm, and those with sizes to choose once more with small ones.
inline std::vector<Variant> variants() {
  auto all = algorithms();
  TriangularOptions options;
  all.push_back({"automatic", options});
  options.max_right_hand_sides = 8;
  options.algorithm = Algorithm::sync_free;
  all.push_back({"sync_free 8", options});
  options.max_right_hand_sides = 40;
  all.push_back({"sync_free 40", options});
  options.max_right_hand_sides = 1;
  for (const int levels : {2, 5}) {
    options.merged_levels = levels;
    all.push_back(
        {"sync_free, " + std::to_string(levels) + " merged", options});
  }
  options = {};
  options.algorithm = Algorithm::subgraphs;
  options.experimental.max_subgraph_rows = 5;
  options.experimental.team_size = 1;
  all.push_back({"subgraphs of 5 rows", options});
  options.experimental.max_subgraph_rows = 24;
  options.experimental.team_size = 33;
  all.push_back({"subgraphs of 24 rows", options});
  options = {};
  options.algorithm = Algorithm::tiles;
  options.max_right_hand_sides = 8;
  all.push_back({"tiles 8", options});
  options.max_right_hand_sides = 40;
  all.push_back({"tiles 40", options});
  options = {};
  options.algorithm = Algorithm::sync_free;
  options.merged_levels = 8;
  all.push_back({"sync_free, 8 merged", options});
  return all;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  // Empty vectors may have no address, which memcmp does not take.
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class Scalar, class ExecutionSpace>
using SolverMatrix =
    KokkosSparse::CrsMatrix<Scalar, int, ExecutionSpace, void, int>;

/// Of a lower triangle with its diagonal.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
TriangularSolver<Scalar, ExecutionSpace> make_solver(
    const HostMatrix<Scalar>& A, const TriangularOptions& options) {
  return {ExecutionSpace(),
          A.template to_device<SolverMatrix<Scalar, ExecutionSpace>>(),
          Uplo::lower, Diag::non_unit, options};
}

/// diagonal x_i = b_i - factor x_(i-1).
inline HostMatrix<double> chain(int n, double factor, double diagonal = 1) {
  auto A = make_triangle<double>(chain_pattern(n), Uplo::lower);
  for (std::int64_t i = 0; i < n; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      A.values[k] = A.entries[k] == i ? diagonal : factor;
  return A;
}

template <class Scalar, class ExecutionSpace>
using Columns = Kokkos::View<Scalar**, Kokkos::LayoutLeft,
                             typename ExecutionSpace::memory_space>;

template <class Scalar, class ExecutionSpace>
Columns<Scalar, ExecutionSpace> to_columns(const std::vector<Scalar>& from,
                                           std::int64_t n, std::int64_t k) {
  Columns<Scalar, ExecutionSpace> to("columns", n, k);
  const auto host = Kokkos::create_mirror_view(to);
  std::copy(from.begin(), from.end(), host.data());
  Kokkos::deep_copy(to, host);
  return to;
}
template <class Scalar, class Memory>
std::vector<Scalar> to_vector(
    const Kokkos::View<Scalar**, Kokkos::LayoutLeft, Memory>& from) {
  Kokkos::fence();
  const auto host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
  return std::vector<Scalar>(host.data(), host.data() + host.size());
}

/// Solves for the n x k numbers of `b`, whose x starts as NaN.
template <class Scalar, class ExecutionSpace>
std::vector<Scalar> solve(
    const TriangularSolver<Scalar, ExecutionSpace>& solver,
    const std::vector<Scalar>& b, std::int64_t k = 1) {
  const auto n = solver.report().rows;
  const ExecutionSpace exec;
  const auto b_view = to_columns<Scalar, ExecutionSpace>(b, n, k);
  const auto x_view = to_columns<Scalar, ExecutionSpace>(
      std::vector<Scalar>(n * k, Scalar(std::nan(""))), n, k);
  if (k == 1)
    solver.solve(exec, Kokkos::subview(b_view, Kokkos::ALL(), 0),
                 Kokkos::subview(x_view, Kokkos::ALL(), 0));
  else
    solver.solve(exec, b_view, x_view);
  return to_vector(x_view);
}

/// Solves op(A) x = b with one and with nine right-hand sides, holds the
/// solutions against their residuals and against substitution, and expects the
/// same bits of a second solve.
template <class Scalar, class ExecutionSpace>
void expect_solver(const TriangularSolver<Scalar, ExecutionSpace>& solver,
                   const HostSystem<Scalar>& system) {
  const std::int64_t n = system.A.rows;
  for (const std::int64_t k : {1, 9}) {
    const auto b = random_values<Scalar>(n * k, 17);
    const auto x = solve(solver, b, k);
    for (std::int64_t c = 0; c < k; ++c) {
      SCOPED_TRACE("right-hand side " + std::to_string(c) + " of " +
                   std::to_string(k));
      system.expect_solution(b.data() + c * n, x.data() + c * n);
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_TRUE(same_bits(x, solve(solver, b, k))) << k << " columns";
  }
}

/// What a test iterates over.
struct Operation {
  Uplo uplo;
  Diag diag;
  Op op;
  StoredDiagonal stored;
  std::string name() const {
    return std::string(to_string(uplo)) + " " + to_string(diag) + " " +
           to_string(op) +
           (stored == StoredDiagonal::none ? " not stored" : "");
  }
};

/// Both triangles under every operation, with a stored diagonal, with one of
/// garbage to be taken for ones, and without one.
inline std::vector<Operation> operations() {
  std::vector<Operation> all;
  for (const auto uplo : {Uplo::lower, Uplo::upper})
    for (const auto op : {Op::none, Op::transpose, Op::conjugate_transpose}) {
      all.push_back({uplo, Diag::non_unit, op, StoredDiagonal::value});
      all.push_back({uplo, Diag::unit, op, StoredDiagonal::garbage});
      all.push_back({uplo, Diag::unit, op, StoredDiagonal::none});
    }
  return all;
}

template <class Scalar, class ExecutionSpace>
void expect_case(const Pattern& pattern, const Operation& operation,
                 const Variant& variant) {
  SCOPED_TRACE(pattern.name + ", " + operation.name() + ", " + variant.name);
  const auto A =
      make_triangle<Scalar>(pattern, operation.uplo, operation.stored);
  auto options = variant.options;
  options.op = operation.op;
  const TriangularSolver<Scalar, ExecutionSpace> solver(
      ExecutionSpace(),
      A.template to_device<SolverMatrix<Scalar, ExecutionSpace>>(),
      operation.uplo, operation.diag, options);
  // On chains and bands a GPU makes weights for `tiles`.
  using OnHost =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace,
                                 typename ExecutionSpace::memory_space>;
  const bool rowwise = !OnHost::accessible &&
                       solver.report().algorithm == Algorithm::tiles &&
                       options.accuracy == Accuracy::rowwise;
  expect_solver(solver, HostSystem<Scalar>{A, operation.uplo, operation.diag,
                                           operation.op, rowwise});
}

/// Every small pattern with every variant, the operations in turn.
template <class Scalar, class ExecutionSpace>
void expect_small_patterns() {
  const auto all = operations();
  std::size_t next = 0;
  for (const auto& pattern : small_patterns())
    for (const auto& variant : variants())
      for (int repeat = 0; repeat < 2; ++repeat) {
        expect_case<Scalar, ExecutionSpace>(pattern, all[next++ % all.size()],
                                            variant);
        if (testing::Test::HasFailure()) return;
      }
}

/// Every operation with every variant on two patterns.
template <class Scalar, class ExecutionSpace>
void expect_operations() {
  for (const auto& pattern :
       {random_pattern(150, 3.0, 60, 5), block_pattern(3, 30, 0.5)})
    for (const auto& operation : operations())
      for (const auto& variant : variants()) {
        expect_case<Scalar, ExecutionSpace>(pattern, operation, variant);
        if (testing::Test::HasFailure()) return;
      }
}

/// Every large pattern with every algorithm, the operations in turn.
template <class Scalar, class ExecutionSpace>
void expect_large_patterns() {
  const auto all = operations();
  std::size_t next = 0;
  for (const auto& pattern : large_patterns())
    for (const auto& variant : algorithms()) {
      expect_case<Scalar, ExecutionSpace>(pattern, all[next % all.size()],
                                          variant);
      next += 7;
      if (testing::Test::HasFailure()) return;
    }
}

}  // namespace SolverTest
}  // namespace Strata

#endif
