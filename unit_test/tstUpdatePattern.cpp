// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solvers that are told of entries added and gone, beside new ones.
#include <gtest/gtest.h>

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>
#include <Strata_TriangularSolver.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "RandomSeed.hpp"

namespace {

using namespace Strata;
using Exec = Kokkos::DefaultExecutionSpace;
using Matrix =
    KokkosSparse::CrsMatrix<double, int, Exec::device_type, void, int>;
using Vector = Kokkos::View<double*, Exec>;

/// A triangle that is easy to edit: for each row its columns beside the
/// diagonal, with values whose sum the diagonal dominates.
class Triangle {
 public:
  Triangle(int n, Uplo uplo) : rows_(n), uplo_(uplo) {}

  int size() const { return int(rows_.size()); }
  std::int64_t entries() const {
    std::int64_t count = size();
    for (const auto& row : rows_) count += std::int64_t(row.size());
    return count;
  }
  /// i > j, whichever triangle it is.
  bool has(int i, int j) const { return at(i, j).first.count(at(i, j).second); }
  void add(int i, int j) {
    rows_[place(i, j).first][place(i, j).second] =
        0.1 + 0.01 * ((7 * i + 3 * j) % 10);
  }
  void remove(int i, int j) {
    rows_[place(i, j).first].erase(place(i, j).second);
  }
  void scale(double by) {
    for (auto& row : rows_)
      for (auto& entry : row) entry.second *= by;
  }
  /// Adds and removes about as many random entries that lie within `reach` of
  /// the diagonal and, with `block` > 0, in blocks of so many rows.
  void edit(std::mt19937& random, int count, int reach, int block = 0) {
    for (int k = 0; k < count; ++k) {
      const int i = std::uniform_int_distribution<int>(1, size() - 1)(random);
      const int first = std::max(block > 0 ? i / block * block : 0, i - reach);
      if (first >= i) continue;
      const int j = std::uniform_int_distribution<int>(first, i - 1)(random);
      if (has(i, j)) {
        remove(i, j);
      } else {
        add(i, j);
        if (k % 2) remove_one(random);
      }
    }
  }
  void remove_one(std::mt19937& random) {
    const int i = std::uniform_int_distribution<int>(0, size() - 1)(random);
    if (!rows_[i].empty()) rows_[i].erase(rows_[i].begin());
  }

  Matrix matrix() const {
    std::vector<int> map{0}, entries;
    std::vector<double> values;
    for (int i = 0; i < size(); ++i) {
      bool done = false;
      const auto diagonal = [&] {
        entries.push_back(i);
        values.push_back(2 + 0.3 * double(rows_[i].size()));
        done = true;
      };
      for (const auto& [j, value] : rows_[i]) {
        if (j > i && !done) diagonal();
        entries.push_back(j);
        values.push_back(value);
      }
      if (!done) diagonal();
      map.push_back(int(entries.size()));
    }
    return Matrix("A", size(), size(), int(entries.size()), values.data(),
                  map.data(), entries.data());
  }
  /// Of op(A).
  int levels(Op op) const {
    const bool forward = (uplo_ == Uplo::lower) == (op == Op::none);
    std::vector<int> level(size(), 1);
    int most = size() == 0 ? 0 : 1;
    for (int t = 0; t < size(); ++t) {
      const int v = forward ? t : size() - 1 - t;
      if (op == Op::none) {
        for (const auto& entry : rows_[v])
          level[v] = std::max(level[v], level[entry.first] + 1);
      } else {
        for (const auto& entry : rows_[v])
          level[entry.first] = std::max(level[entry.first], level[v] + 1);
      }
      most = std::max(most, level[v]);
    }
    return most;
  }

 private:
  std::pair<int, int> place(int i, int j) const {
    return uplo_ == Uplo::lower ? std::make_pair(i, j) : std::make_pair(j, i);
  }
  std::pair<const std::map<int, double>&, int> at(int i, int j) const {
    return {rows_[place(i, j).first], place(i, j).second};
  }
  std::vector<std::map<int, double>> rows_;
  Uplo uplo_;
};

std::vector<double> solution(const TriangularSolver<double, Exec>& solver,
                             int n) {
  const Vector b("b", n), x("x", n);
  const auto host_b = Kokkos::create_mirror_view(b);
  for (int i = 0; i < n; ++i) host_b(i) = 1 + i % 7;
  Kokkos::deep_copy(b, host_b);
  Kokkos::deep_copy(x, std::nan(""));
  solver.solve(Exec(), b, x);
  const auto host_x =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  return {host_x.data(), host_x.data() + n};
}

void expect_same(const std::vector<double>& x, const std::vector<double>& y) {
  ASSERT_EQ(x.size(), y.size());
  double largest = 0;
  for (double value : y) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < x.size(); ++i)
    ASSERT_NEAR(x[i], y[i], 1e-11 * largest) << "row " << i;
}

TEST(UpdatePattern, IsAsGoodAsANewSolverAfterRandomEdits) {
  std::mt19937 random(random_seed());
  const Exec exec;
  for (const Algorithm algorithm : all_algorithms())
    for (const Uplo uplo : {Uplo::lower, Uplo::upper})
      for (const Op op : {random() % 2 ? Op::none : Op::transpose}) {
        SCOPED_TRACE(std::string(to_string(algorithm)) + ", " +
                     to_string(uplo) + ", " + to_string(op));
        const int n = std::uniform_int_distribution<int>(2, 900)(random);
        Triangle triangle(n, uplo);
        triangle.edit(random, 2 * n, 1 + n / 9);
        TriangularOptions options;
        options.algorithm = algorithm;
        options.op = op;
        options.experimental.max_subgraph_rows =
            std::uniform_int_distribution<int>(0, 1)(random) * 64;
        TriangularSolver<double, Exec> solver(exec, triangle.matrix(), uplo,
                                              Diag::non_unit, options);
        for (const int edits : {1, 0, n / 8, 3 * n}) {
          triangle.edit(random, edits, 1 + n / 9);
          const auto A = triangle.matrix();
          solver.update_pattern(exec, A);
          const TriangularSolver<double, Exec> fresh(exec, A, uplo,
                                                     Diag::non_unit, options);
          expect_same(solution(solver, n), solution(fresh, n));
          EXPECT_EQ(solver.report().entries, triangle.entries());
          EXPECT_EQ(solver.report().entries, fresh.report().entries);
          if (solver.report().levels > 0) {
            EXPECT_EQ(solver.report().levels, triangle.levels(op));
          }
          if (algorithm != Algorithm::automatic) {
            EXPECT_EQ(solver.report().algorithm, fresh.report().algorithm);
            EXPECT_EQ(solver.report().levels, fresh.report().levels);
          }
          // The new pattern is the one that new values are for.
          triangle.scale(0.75);
          const auto B = triangle.matrix();
          solver.update_values(exec, B);
          expect_same(solution(solver, n),
                      solution({exec, B, uplo, Diag::non_unit, options}, n));
        }
        EXPECT_EQ(solver.report().pattern_updates, 4);
      }
}

/// Blocks of random entries, `count` of `rows` each.
Triangle blocks(std::mt19937& random, int count, int rows) {
  Triangle triangle(count * rows, Uplo::lower);
  for (int i = 0; i < count * rows; ++i)
    if (i % rows) triangle.add(i, i - 1);
  triangle.edit(random, 3 * count * rows, rows, rows);
  for (int i = 0; i < count * rows; ++i)
    if (i % rows) triangle.add(i, i - 1);
  return triangle;
}

TEST(UpdatePattern, SubgraphsKeepTheirPartitionWhereItIsFeasible) {
  std::mt19937 random(11);
  const Exec exec;
  Triangle triangle = blocks(random, 12, 40);
  TriangularOptions options;
  options.algorithm = Algorithm::subgraphs;
  options.experimental.max_subgraph_rows = 50;
  TriangularSolver<double, Exec> solver(exec, triangle.matrix(), Uplo::lower,
                                        Diag::non_unit, options);
  ASSERT_EQ(solver.report().subgraph_levels, 1);
  ASSERT_EQ(solver.report().subgraphs, 12);
  const std::string kept = "that of the pattern before";
  for (int turn = 0; turn < 3; ++turn) {
    triangle.edit(random, 20, 40, 40);
    solver.update_pattern(exec, triangle.matrix());
    EXPECT_EQ(solver.report().partition, kept);
    EXPECT_EQ(solver.report().subgraphs, 12);
    EXPECT_EQ(solver.report().subgraph_levels, 1);
  }
  // Rows that lose their last edges, and those that get their first ones: the
  // latter have no sub-graph.
  for (int i = 1; i < 40; ++i)
    for (int j = 0; j < i; ++j)
      if (triangle.has(i, j)) triangle.remove(i, j);
  solver.update_pattern(exec, triangle.matrix());
  EXPECT_EQ(solver.report().partition, kept);
  // An entry that joins two components needs a second level.
  triangle.add(400, 60);
  solver.update_pattern(exec, triangle.matrix());
  EXPECT_NE(solver.report().partition, kept);
  const TriangularSolver<double, Exec> fresh(
      exec, triangle.matrix(), Uplo::lower, Diag::non_unit, options);
  EXPECT_EQ(solver.report().subgraphs, fresh.report().subgraphs);
  EXPECT_EQ(solver.report().partition, fresh.report().partition);
  expect_same(solution(solver, triangle.size()),
              solution(fresh, triangle.size()));
}

TEST(UpdatePattern, KeepsAnAutomaticChoiceForSmallChangesOnly) {
  std::mt19937 random(12);
  const Exec exec;
  Triangle triangle = blocks(random, 5, 300);
  TriangularSolver<double, Exec> solver(exec, triangle.matrix(), Uplo::lower,
                                        Diag::non_unit);
  const Algorithm chosen = solver.report().algorithm;
  triangle.edit(random, 10, 300, 300);
  solver.update_pattern(exec, triangle.matrix());
  EXPECT_EQ(solver.report().algorithm, chosen);
  EXPECT_EQ(solver.report().reason, "chosen for the pattern before");
  // The algorithm may have candidates of its own, such as numbers of merged
  // level sets. The others have none.
  for (const auto& candidate : solver.report().candidates)
    EXPECT_EQ(candidate.algorithm, chosen);
  // Many small changes add up.
  const auto kept = [&] {
    return solver.report().reason.find("was not kept") == std::string::npos;
  };
  int turns = 0;
  while (kept() && turns < 100) {
    for (int k = 0; k < 120; ++k) {
      const int i = 1 + (turns * 120 + k) * 7 % (triangle.size() - 1);
      triangle.add(i, (i * 31 + k) % i);
    }
    solver.update_pattern(exec, triangle.matrix());
    ++turns;
  }
  EXPECT_GT(turns, 1);
  EXPECT_LT(turns, 100);
  EXPECT_FALSE(kept());
  EXPECT_EQ(solver.report().pattern_updates, turns + 1);
  EXPECT_NE(to_string(solver.report()).find("pattern updates: "),
            std::string::npos);
}

TEST(UpdatePattern, CopiesShareIt) {
  std::mt19937 random(13);
  const Exec exec;
  Triangle triangle = blocks(random, 3, 50);
  TriangularSolver<double, Exec> solver(exec, triangle.matrix(), Uplo::lower,
                                        Diag::non_unit);
  const auto copy = solver;
  triangle.scale(0.5);
  const auto A = triangle.matrix();
  solver.update_pattern(exec, A);
  EXPECT_EQ(copy.report().reason, "chosen for the pattern before");
  const TriangularSolver<double, Exec> fresh(exec, A, Uplo::lower,
                                             Diag::non_unit);
  expect_same(solution(solver, 150), solution(fresh, 150));
  expect_same(solution(copy, 150), solution(fresh, 150));
  triangle.edit(random, 30, 50, 50);
  const auto B = triangle.matrix();
  solver.update_pattern(exec, B.graph.row_map, B.graph.entries, B.values);
  expect_same(solution(copy, 150), solution(solver, 150));
}

TEST(UpdatePattern, LeavesTheSolverAsItWasWhereItThrows) {
  std::mt19937 random(14);
  const Exec exec;
  for (const Algorithm algorithm : all_algorithms()) {
    SCOPED_TRACE(to_string(algorithm));
    Triangle triangle = blocks(random, 4, 30);
    const int n = triangle.size();
    TriangularOptions options;
    options.algorithm = algorithm;
    TriangularSolver<double, Exec> solver(exec, triangle.matrix(), Uplo::lower,
                                          Diag::non_unit, options);
    const auto before = solution(solver, n);
    EXPECT_THROW(
        solver.update_pattern(exec, Triangle(n + 1, Uplo::lower).matrix()),
        SizeMismatchError);
    Triangle upper(n, Uplo::upper);
    upper.add(n - 1, 0);
    EXPECT_THROW(solver.update_pattern(exec, upper.matrix()), MatrixError);
    triangle.edit(random, 9, 30, 30);
    const auto zero = triangle.matrix();
    const auto values = Kokkos::create_mirror_view(zero.values);
    Kokkos::deep_copy(values, zero.values);
    values(0) = 0;  // row 0 has its diagonal alone
    Kokkos::deep_copy(zero.values, values);
    EXPECT_THROW(solver.update_pattern(exec, zero), ZeroDiagonalError);
    EXPECT_EQ(solution(solver, n), before);
    EXPECT_EQ(solver.report().pattern_updates, 0);
    solver.update_pattern(exec, triangle.matrix());
    EXPECT_EQ(solver.report().pattern_updates, 1);
  }
  TriangularSolver<double, Exec> empty;
  EXPECT_THROW(empty.update_pattern(exec, Triangle(3, Uplo::lower).matrix()),
               HandleError);
}

}  // namespace
