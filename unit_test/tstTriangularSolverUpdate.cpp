// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Scalar = Kokkos::complex<double>;
using Solver = TriangularSolver<Scalar, Space>;
using Matrix = SolverMatrix<Scalar, Space>;

const Pattern& pattern() {
  static const Pattern p = random_pattern(300, 4.0, 120, 41);
  return p;
}

Solver make(const HostMatrix<Scalar>& A, const Operation& operation,
            const Variant& variant) {
  auto options = variant.options;
  options.op = operation.op;
  return Solver(Space(), A.to_device<Matrix>(), operation.uplo, operation.diag,
                options);
}

/// Fails unless f raises Fault.
template <class Fault, class F>
void expect_error(const F& f, const std::string& argument,
                  const std::string& problem) {
  try {
    f();
    ADD_FAILURE() << "no error: " << problem;
  } catch (const Fault& error) {
    EXPECT_EQ(error.argument(), argument);
    EXPECT_NE(error.problem().find(problem), std::string::npos) << error.what();
  }
}

TEST(TriangularSolver, NewValuesAreThoseOfAFreshSolver) {
  for (const auto& operation : operations())
    for (const auto& variant : variants()) {
      SCOPED_TRACE(operation.name() + ", " + variant.name);
      const auto old_A =
          make_triangle<Scalar>(pattern(), operation.uplo, operation.stored, 1);
      const auto new_A =
          make_triangle<Scalar>(pattern(), operation.uplo, operation.stored, 2);
      const auto b = random_values<Scalar>(new_A.rows, 3);
      auto solver = make(old_A, operation, variant);
      const auto old_x = solve(solver, b);
      const auto expected = solve(make(new_A, operation, variant), b);
      const auto analysis_us = solver.report().analysis_us;
      solver.update_values(Space(), new_A.to_device<Matrix>());
      EXPECT_TRUE(same_bits(solve(solver, b), expected)) << "matrix";
      const auto matrix = old_A.to_device<Matrix>();
      solver.update_values(Space(), matrix.graph.row_map, matrix.graph.entries,
                           matrix.values);
      EXPECT_TRUE(same_bits(solve(solver, b), old_x)) << "views";
      solver.update_values(Space(), new_A.to_device<Matrix>().values);
      EXPECT_TRUE(same_bits(solve(solver, b), expected)) << "values";
      EXPECT_EQ(solver.report().analysis_us, analysis_us);
      if (HasFailure()) return;
    }
}

TEST(TriangularSolver, TakesNewValuesOfUnsortedRows) {
  auto old_A = make_triangle<Scalar>(pattern(), Uplo::lower);
  auto new_A =
      make_triangle<Scalar>(pattern(), Uplo::lower, StoredDiagonal::value, 2);
  const auto sorted = new_A;
  for (auto* A : {&old_A, &new_A})
    for (std::int64_t i = 0; i < A->rows; ++i) {
      std::reverse(A->entries.begin() + A->row_map[i],
                   A->entries.begin() + A->row_map[i + 1]);
      std::reverse(A->values.begin() + A->row_map[i],
                   A->values.begin() + A->row_map[i + 1]);
    }
  for (const auto& variant : algorithms())
    for (const auto op : {Op::none, Op::conjugate_transpose}) {
      SCOPED_TRACE(variant.name);
      auto solver =
          make(old_A, {Uplo::lower, Diag::non_unit, op, StoredDiagonal::value},
               variant);
      solver.update_values(Space(), new_A.to_device<Matrix>());
      expect_solver(
          solver, HostSystem<Scalar>{sorted, Uplo::lower, Diag::non_unit, op});
    }
}

TEST(TriangularSolver, NewValuesNeedTheAnalysedPattern) {
  const auto A = make_triangle<Scalar>(pattern(), Uplo::lower);
  const auto b = random_values<Scalar>(A.rows, 3);
  for (const auto& variant : algorithms()) {
    SCOPED_TRACE(variant.name);
    auto solver =
        make(A, {Uplo::lower, Diag::non_unit, Op::none, StoredDiagonal::value},
             variant);
    const auto x = solve(solver, b);
    const auto refused = [&](const HostMatrix<Scalar>& other) {
      expect_error<PatternMismatchError>(
          [&] { solver.update_values(Space(), other.to_device<Matrix>()); },
          "matrix", "does not have the pattern that was analysed");
      EXPECT_TRUE(same_bits(solve(solver, b), x));
    };
    refused(
        make_triangle<Scalar>(random_pattern(300, 4.0, 120, 42), Uplo::lower));
    refused(
        make_triangle<Scalar>(random_pattern(299, 4.0, 120, 41), Uplo::lower));
    // Two columns of a row exchanged, and one entry handed to the next row.
    auto other = A;
    std::int64_t row = 5;
    while (A.row_map[row + 1] - A.row_map[row] < 3) ++row;
    std::swap(other.entries[A.row_map[row]], other.entries[A.row_map[row] + 1]);
    refused(other);
    other = A;
    --other.row_map[row + 1];
    refused(other);
    other = A;
    other.entries[A.row_map[row + 1] - 2] += 1;
    refused(other);

    const auto matrix = A.to_device<Matrix>();
    const Kokkos::View<Scalar*, Space::memory_space> values(
        "values", A.values.size() + 1);
    expect_error<SizeMismatchError>(
        [&] { solver.update_values(Space(), values); }, "values",
        "has " + std::to_string(A.values.size() + 1) + " elements");
    expect_error<SizeMismatchError>(
        [&] {
          solver.update_values(Space(), matrix.graph.row_map,
                               matrix.graph.entries, values);
        },
        "values", "elements");
    EXPECT_TRUE(same_bits(solve(solver, b), x));
  }
}

TEST(TriangularSolver, AZeroAmongNewValuesLeavesTheOldOnes) {
  for (const auto& operation : operations()) {
    if (operation.diag == Diag::unit) continue;
    const auto A = make_triangle<Scalar>(pattern(), operation.uplo);
    auto bad = make_triangle<Scalar>(pattern(), operation.uplo,
                                     StoredDiagonal::value, 2);
    const auto b = random_values<Scalar>(A.rows, 3);
    for (const std::int64_t row : {211, 137})
      for (auto k = bad.row_map[row]; k < bad.row_map[row + 1]; ++k)
        if (bad.entries[k] == row) bad.values[k] = Scalar(0);
    for (const auto& variant : variants()) {
      SCOPED_TRACE(operation.name() + ", " + variant.name);
      auto solver = make(A, operation, variant);
      const auto x = solve(solver, b);
      try {
        solver.update_values(Space(), bad.to_device<Matrix>());
        ADD_FAILURE() << "no error";
      } catch (const ZeroDiagonalError& error) {
        EXPECT_EQ(error.row(), 137);
        EXPECT_EQ(error.argument(), "values");
      }
      EXPECT_TRUE(same_bits(solve(solver, b), x));
    }
  }
}

/// A unit triangle's stored diagonal is never looked at.
TEST(TriangularSolver, ZerosOnAUnitDiagonalAreNoFault) {
  auto A =
      make_triangle<Scalar>(pattern(), Uplo::lower, StoredDiagonal::garbage);
  const Operation unit{Uplo::lower, Diag::unit, Op::none,
                       StoredDiagonal::garbage};
  for (const auto& variant : algorithms()) {
    auto solver = make(A, unit, variant);
    EXPECT_NO_THROW(solver.update_values(Space(), A.to_device<Matrix>()));
  }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
