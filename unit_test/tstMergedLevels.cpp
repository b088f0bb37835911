// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <analysis/merging/MergedLevels.hpp>
#include <analysis/packing/MakeRowChunks.hpp>
#include <core/device/NotReady.hpp>
#include <core/scalar/Modulus.hpp>
#include <kernels/triangular/sync_free/SyncFreeSolve.hpp>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "Pairwise.hpp"
#include "TestGraphs.hpp"
#include "TriangularPatterns.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Detail::RowStatus;
using TestGraphs::Graph;
using TestGraphs::num_values;

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Coefficients and dependencies of a row, by replacing whatever may be
/// replaced.
struct Lists {
  std::set<int> coefficients, dependencies;
};
template <class RowStatuses>
Lists replace_all(const Graph& graph, const std::vector<int>& level, int k,
                  const RowStatuses& row_status, int row) {
  Lists lists;
  std::vector<int> next{row};
  while (!next.empty()) {
    const int v = next.back();
    next.pop_back();
    for (auto e = graph.row_map(v); e < graph.row_map(v + 1); ++e) {
      const int from = graph.entries(e);
      if (level[from] / k != level[row] / k ||
          row_status(from) == RowStatus::stays)
        lists.dependencies.insert(from);
      else if (lists.coefficients.insert(from).second)
        next.push_back(from);
    }
  }
  return lists;
}

template <class From>
MergedRows<Kokkos::HostSpace> rows_on_host(const MergedRows<From>& rows) {
  MergedRows<Kokkos::HostSpace> host;
  host.recipe_of = on_host(rows.recipe_of);
  host.recipe = on_host(rows.recipe);
  host.begin_of = on_host(rows.begin_of);
  host.value_index.narrow = on_host(rows.value_index.narrow);
  host.values_in_order = rows.values_in_order;
  host.reversed = rows.reversed;
  host.unit = rows.unit;
  host.last_value = rows.last_value;
  return host;
}

/// What a row's program makes of small integers, all diagonals being one,
/// against coefficients replaced one by one.
void expect_program(const Graph& graph, const unsigned char* program,
                    const unsigned char* end, const Lists& lists, int row) {
  const auto number = [](std::int64_t edge) { return double(edge % 5 - 2); };
  ASSERT_EQ(std::size_t(program[0]), lists.coefficients.size());
  ASSERT_EQ(std::size_t(program[1]), lists.dependencies.size());
  int operations = 0;
  std::map<int, double> sums;
  std::vector<double> slot(
      lists.coefficients.size() + lists.dependencies.size(), 0.);
  const int expected = MergedRows<Kokkos::HostSpace>::operations(program);
  const unsigned char* length = program + MergedRows<Kokkos::HostSpace>::head;
  program = length + lists.coefficients.size();
  const auto replace = [&](int v, double by) {
    for (auto e = graph.row_map(v); e < graph.row_map(v + 1); ++e) {
      const int from = graph.entries(e);
      const double sign = lists.coefficients.count(from) > 0 ? -1 : 1;
      sums[from] += sign * by * number(e);
      ASSERT_LT(program, end);
      ASSERT_LT(*program, slot.size());
      slot[*program++] += sign * by * number(e);
      ++operations;
    }
  };
  replace(row, 1);
  for (auto t = lists.coefficients.rbegin(); t != lists.coefficients.rend();
       ++t) {
    EXPECT_EQ(*length++, graph.row_map(*t + 1) - graph.row_map(*t));
    replace(*t, sums[*t]);
  }
  EXPECT_EQ(operations, expected);
  std::size_t next = 0;
  for (const auto* list : {&lists.coefficients, &lists.dependencies})
    for (const int v : *list) EXPECT_EQ(slot[next++], sums[v]) << "row " << row;
}

/// @returns merged rows
int expect_merged(const Graph& graph, int k) {
  const Space exec;
  const auto device = mirror_graph(exec, graph);
  const auto sets = find_level_sets(graph);
  const auto order = order_by_level(exec, device, WithinLevel::ascending);
  Detail::WorkPool<Space> pool(exec, 0);
  const auto made = merge_levels(exec, device, order, k, num_values(graph), 8,
                                 WithinLevel::ascending, pool);
  exec.fence();
  if (!made.exist()) return 0;
  const auto row_map = on_host(made.graph.row_map);
  const auto entries = on_host(made.graph.entries);
  const auto coefficient_map = on_host(made.coefficient_map);
  const auto coefficient = on_host(made.coefficient);
  const auto row_status = on_host(made.row_status);
  const auto permuted_row = on_host(made.order.permuted_row);
  const auto level = on_host(made.order.level_of);
  const auto vertex = on_host(made.order.vertex);
  const auto rows = rows_on_host(made.rows);
  const auto recipe_bytes =
      on_host(Kokkos::View<const std::int64_t*, Space::memory_space>(
          made.recipe_bytes, 1))(0);
  EXPECT_EQ(rows.value_index.size(),
            graph.values_in_order ? 0 : graph.num_edges() + graph.num_vertices);
  int merged = 0;
  std::map<std::string, unsigned> place_of;  // of programs
  for (int v = 0; v < graph.num_vertices; ++v) {
    EXPECT_EQ(vertex(permuted_row(v)), v);
    const int p = permuted_row(v);
    const auto row = rows.row(graph.row_of(v));
    EXPECT_EQ(row.diagonal < 0 ? -1 : rows(row.diagonal),
              graph.diagonal_value_index(v));
    int at = row.first;
    for (auto e = graph.row_map(v); e < graph.row_map(v + 1); ++e)
      EXPECT_EQ(rows(at++), graph.value_index(e));
    const int following =
        p + 1 < graph.num_vertices ? graph.row_of(vertex(p + 1)) : -1;
    EXPECT_EQ(at, rows.end(graph.row_of(v), following));
    Lists found;
    int last = -1;
    for (auto e = row_map(v); e < row_map(v + 1); ++e) {
      const int j = entries(e);
      EXPECT_LT(last, j) << "ascending";
      last = j;
      found.dependencies.insert(j);
      EXPECT_LT(level(j), level(v)) << "of vertex " << v;
      EXPECT_LT(permuted_row(j), permuted_row(v));
    }
    last = -1;
    for (auto t = coefficient_map(v); t < coefficient_map(v + 1); ++t) {
      EXPECT_LT(last, coefficient(t)) << "ascending";
      last = coefficient(t);
      found.coefficients.insert(last);
    }
    const auto status_of = [&](int u) { return row_status(u); };
    const auto all = replace_all(graph, sets.level_of, k, status_of, v);
    if (row_status(v) == RowStatus::merged) {
      ++merged;
      EXPECT_EQ(found.coefficients, all.coefficients) << "of vertex " << v;
      EXPECT_EQ(found.dependencies, all.dependencies) << "of vertex " << v;
      EXPECT_NE(rows.recipe_at(p), nullptr);
      if (!rows.recipe_at(p)) return merged;
      expect_program(graph, rows.recipe_at(p),
                     rows.recipe.data() + recipe_bytes, found, v);
      const std::string program(
          reinterpret_cast<const char*>(rows.recipe_at(p)),
          rows.head + found.coefficients.size() +
              static_cast<std::size_t>(rows.operations(rows.recipe_at(p))));
      EXPECT_EQ(place_of.emplace(program, rows.recipe_of(p)).first->second,
                rows.recipe_of(p))
          << "the program of row " << v << " is there twice";
    } else {
      EXPECT_EQ(rows.recipe_at(p), nullptr);
      EXPECT_TRUE(found.coefficients.empty());
      EXPECT_EQ(found.dependencies,
                std::set<int>(graph.entries.data() + graph.row_map(v),
                              graph.entries.data() + graph.row_map(v + 1)));
      EXPECT_EQ(row_status(v) == RowStatus::as_it_was,
                all.coefficients.empty());
    }
  }
  EXPECT_LE(made.order.num_levels(), sets.num_levels);
  return merged;
}

TEST(MergedLevels, HoldWhatReplacingGives) {
  auto graphs = TestGraphs::all_graphs();
  graphs.erase(
      std::remove_if(graphs.begin(), graphs.end(),
                     [](const auto& g) { return g.second.num_vertices == 0; }),
      graphs.end());
  const int levels[] = {2, 3, 5, 16};
  enum { shuffled, in_order, in_order_of_unit };
  int merged[] = {0, 0, 0};
  for (const auto& one : Test::pairwise_cases({int(graphs.size()), 4, 3, 2})) {
    const auto& [name, given] = graphs[one[0]];
    const int k = levels[one[1]];
    const int values = one[2];
    const bool reversed = one[3] == 1;
    SCOPED_TRACE(name + ", " + std::to_string(k) + " at a time");
    merged[values] += expect_merged(
        values == shuffled
            ? TestGraphs::with_value_indices(given, reversed)
            : TestGraphs::in_order(given, reversed, values == in_order_of_unit),
        k);
    if (testing::Test::HasFailure()) return;
  }
  for (const int rows : merged) EXPECT_GT(rows, 1000);
}

/// Chunks hold rows of lists of about one length.
TEST(MergedLevels, RanksAskForTheLanesOfTheLongerList) {
  for (const int max_steps : {4, 8}) {
    const Detail::ListsRank rank{max_steps};
    int before = 0;
    for (const int dependencies :
         {0, 1, 3, 8, 9, 16, 17, 40, 128, 255, 256, 70000})
      for (const int coefficients : {0, 1, 5, 8, 9, 20, 33, 60}) {
        const int longer = std::max(coefficients, dependencies);
        const int made = rank(coefficients, dependencies);
        EXPECT_GE(rank.counted_length(made), longer);
        EXPECT_EQ(rank.log_lanes(rank.counted_length(made)),
                  rank.log_lanes(longer));
        for (const int longest : {longer, longer + 1, 2 * longer, 300})
          if (longest >= longer) {
            EXPECT_LE(made, rank.at_most(longest))
                << coefficients << ' ' << dependencies;
          }
        if (coefficients == 0) {
          EXPECT_GE(made, before);
          before = made;
        }
      }
    EXPECT_GT(rank(9, 5), rank(8, 5));
    EXPECT_GT(rank(0, max_steps + 1), rank(max_steps, max_steps));
  }
}

TEST(MergedLevels, ChainsHaveFewer) {
  const auto chain =
      TestGraphs::with_value_indices(TestGraphs::chain_graph(96), false);
  const Space exec;
  const auto graph = mirror_graph(exec, chain);
  const auto order = order_by_level(exec, graph, WithinLevel::ascending);
  for (const int k : {2, 4, 8}) {
    Detail::WorkPool<Space> pool(exec, 0);
    const auto made = merge_levels(exec, graph, order, k, num_values(chain), 8,
                                   WithinLevel::ascending, pool);
    exec.fence();
    EXPECT_EQ(made.order.num_levels(), 96 / k);
    EXPECT_EQ(expect_merged(chain, k), 96 - 96 / k);
  }
}

/// A row of few coefficients has more dependencies than a lane finds by itself.
TEST(MergedLevels, RowsFitHoweverTheyAreFound) {
  constexpr int rows = 6, roots = rows * rows;
  std::vector<std::set<int>> dependencies(2 * roots + rows + 1);
  for (int i = 0; i < roots; ++i) {
    dependencies[roots + i] = {i};
    dependencies[2 * roots + i / rows].insert(roots + i);
  }
  for (int i = 0; i < rows; ++i) dependencies.back().insert(2 * roots + i);
  const auto graph = TestGraphs::with_value_indices(
      TestGraphs::make_graph(dependencies), false);
  EXPECT_EQ(expect_merged(graph, 2), roots + 1);
}

}  // namespace

namespace SolverTest {
namespace {

TriangularOptions together(int levels) {
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free;
  options.merged_levels = levels;
  return options;
}

/// New values are those of a new solver, and solve as substitution does. As
/// many level sets as are asked for are merged.
template <class Scalar>
void expect_new_values(const Pattern& pattern, int levels, bool upper, Op op) {
  auto options = together(levels);
  options.op = op;
  const auto uplo = upper ? Uplo::upper : Uplo::lower;
  using Matrix = SolverMatrix<Scalar, Space>;
  const auto make = [&](const HostMatrix<Scalar>& A, TriangularOptions chosen) {
    return TriangularSolver<Scalar, Space>(
        Space(), A.template to_device<Matrix>(), uplo, Diag::non_unit, chosen);
  };
  const auto A = make_triangle<Scalar>(pattern, uplo);
  auto other = A;
  const auto factor = random_values<Scalar>(other.values.size(), 77);
  for (std::size_t k = 0; k < factor.size(); ++k)
    other.values[k] *= Scalar(1) + Scalar(0.25) * factor[k];
  auto solver = make(A, options);
  ASSERT_EQ(solver.report().merged_levels, levels)
      << to_string(solver.report());
  solver.update_values(Space(), other.template to_device<Matrix>());
  const auto b = random_values<Scalar>(A.rows, 6);
  const auto x = solve(solver, b);
  EXPECT_TRUE(same_bits(x, solve(make(other, options), b)));
  options.algorithm = Algorithm::substitution;
  const auto expected = solve(make(other, options), b);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    error = std::max(error, double(Detail::modulus(x[i] - expected[i])));
    size = std::max(size, double(Detail::modulus(expected[i])));
  }
  constexpr bool is_double = std::is_same<Scalar, double>::value;
  EXPECT_LE(error, (is_double ? 1e-11 : 1e-3) * size);
}

TEST(MergedLevelSolver, TakesNewValuesLikeANewSolver) {
  // Short rows, long ones that lanes share, and one that nearly all share.
  const Pattern patterns[] = {
      random_pattern(700, 2.5, 40, 3), random_pattern(400, 9., 25, 4),
      random_pattern(300, 40., 250, 5), chain_pattern(200)};
  const int numbers[] = {2, 3, 4, 8};
  for (const auto& one : Test::pairwise_cases({4, 4, 2, 2, 2})) {
    const auto& pattern = patterns[one[0]];
    const int levels = numbers[one[1]];
    const bool upper = one[2] == 1;
    const Op op = one[3] ? Op::conjugate_transpose : Op::none;
    SCOPED_TRACE(pattern.name + ", " + std::to_string(levels));
    if (one[4])
      expect_new_values<Kokkos::complex<float>>(pattern, levels, upper, op);
    else
      expect_new_values<double>(pattern, levels, upper, op);
  }
}

/// The chunks of a plan of merged level sets: how many have dependencies and
/// coefficients stored as distances, and how many as they are.
struct ChunkCounts {
  int near = 0, far = 0;
};
ChunkCounts count_chunks(const Pattern& pattern, int levels, bool upper) {
  std::vector<std::set<int>> dependencies;
  for (const auto& row : pattern.rows)
    dependencies.emplace_back(row.begin(), row.end());
  const auto host =
      TestGraphs::in_order(TestGraphs::make_graph(dependencies), upper, false);
  const Space exec;
  using Memory = Space::memory_space;
  constexpr int width = Detail::lane_width<Space>;
  constexpr int max_steps = Detail::SyncFreeAlgorithm<double, Space>::max_steps;
  const auto within =
      width > 1 ? WithinLevel::longest_rows_first : WithinLevel::ascending;
  const auto graph = mirror_graph(exec, host);
  const auto order = order_by_level(exec, graph, within);
  Detail::WorkPool<Space> pool(exec, 0);
  const auto made = merge_levels(exec, graph, order, levels, num_values(host),
                                 max_steps, within, pool);
  EXPECT_EQ(made.levels, levels);
  if (!made.exist()) return {};
  const auto plan = Detail::make_row_chunks_with(
      exec, made.graph, made.order, num_values(host), width, max_steps,
      DependencyNumbering::permuted_row, pool, [](auto&, auto&) {},
      RowCoefficients<Memory>{made.coefficient_map, made.coefficient,
                              made.recipe_bytes});
  exec.fence();
  const auto chunk = on_host(plan.chunk);
  ChunkCounts counts;
  for (int c = 0; c < plan.num_chunks(); ++c)
    ++(chunk(c).dependencies == RowChunk::whole ? counts.far : counts.near);
  return counts;
}

/// Dependencies and coefficients of many chunks are stored as distances, those
/// of others are too far away.
TEST(MergedLevelSolver, TakesNewValuesOfManyRowsThatReachNearAndFar) {
  const auto pattern = random_pattern(150000, 2., 120000, 11);
  const auto near = random_pattern(150000, 2., 30, 12);
  for (const bool upper : {false, true}) {
    for (const auto& counts :
         {count_chunks(pattern, 2, upper), count_chunks(near, 3, upper)}) {
      EXPECT_GT(counts.far, 100);
      EXPECT_GT(counts.near, 100);
    }
    expect_new_values<double>(pattern, 2, upper, Op::none);
    expect_new_values<double>(near, 3, upper, Op::transpose);
  }
}

/// Rows of so many entries that a warp has one are found where there are few of
/// a depth, and written where there are many: a lane's own lists are shorter
/// than theirs.
TEST(MergedLevelSolver, TakesNewValuesOfManyRowsWithLongOnesAmongThem) {
  auto pattern = random_pattern(150000, 1.5, 200, 13);
  for (int i = 1000; i < pattern.size(); i += 293) {
    pattern.rows[i].clear();
    for (int j = 0; j < 50; ++j) pattern.rows[i].push_back(i - 900 + 17 * j);
  }
  for (const int levels : {2, 3, 6})
    expect_new_values<double>(pattern, levels, levels == 3, Op::none);
}

HostMatrix<double> without_diagonal(const HostMatrix<double>& A) {
  HostMatrix<double> strict;
  strict.rows = A.rows;
  strict.columns = A.columns;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    for (std::int64_t k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] != i) {
        strict.entries.push_back(A.entries[k]);
        strict.values.push_back(A.values[k]);
      }
    strict.row_map.push_back(static_cast<std::int64_t>(strict.entries.size()));
  }
  return strict;
}

/// A unit diagonal that is not stored, one that is, and values that are not all
/// of the triangle.
TEST(MergedLevelSolver, TakesNewValuesWhereverTheDiagonalIs) {
  const auto pattern = random_pattern(600, 4., 30, 8);
  for (const bool upper : {false, true})
    for (const bool stored : {false, true}) {
      const auto uplo = upper ? Uplo::upper : Uplo::lower;
      auto A = make_triangle<double>(pattern, uplo);
      for (auto& value : A.values) value *= 0.1;
      if (!stored) A = without_diagonal(A);
      auto options = together(4);
      using Matrix = SolverMatrix<double, Space>;
      const auto make = [&] {
        return TriangularSolver<double, Space>(
            Space(), A.template to_device<Matrix>(), uplo, Diag::unit, options);
      };
      auto solver = make();
      ASSERT_EQ(solver.report().merged_levels, 4);
      for (auto& value : A.values) value *= 1.5;
      solver.update_values(Space(), A.template to_device<Matrix>());
      const auto b = random_values<double>(A.rows, 6);
      const auto x = solve(solver, b);
      EXPECT_TRUE(same_bits(x, solve(make(), b)));
      options.algorithm = Algorithm::substitution;
      options.merged_levels = 0;
      const auto expected = solve(make(), b);
      for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(x[i], expected[i], 1e-11 * (1 + std::abs(expected[i])));
    }
}

/// Rows read elements of b that belong to other rows.
TEST(MergedLevelSolver, MayOverwriteTheRightHandSide) {
  for (const int levels : {0, 2, 8}) {
    const auto A =
        make_triangle<double>(random_pattern(900, 2.5, 40, 3), Uplo::lower);
    const auto solver = make_solver(A, together(levels));
    const auto b = random_values<double>(3 * 900, 5);
    const auto x = solve(solver, b, 3);
    for (int turn = 0; turn < 3; ++turn) {
      const auto both = to_columns<double, Space>(b, 900, 3);
      solver.solve(Space(), both, both);
      EXPECT_TRUE(same_bits(to_vector(both), x));
    }
  }
}

TEST(MergedLevelSolver, LeavesBlocksThatWouldCostDigitsAlone) {
  const auto A = chain(200, 1e5);
  const auto solver = make_solver(A, together(8));
  EXPECT_GT(solver.report().unmerged_rows, 70) << to_string(solver.report());
  EXPECT_EQ(solver.report().algorithm, Algorithm::sync_free);
  // A product that vanishes is nothing beside the other terms.
  const auto small = make_solver(chain(200, 1e-200), together(8));
  EXPECT_EQ(small.report().reason.find("range of normal"), std::string::npos)
      << small.report().reason;
}

/// An entry over the diagonal of the row it needs leaves the range of numbers.
TEST(MergedLevelSolver, LeavesNumbersOutOfRangeAlone) {
  auto A = make_triangle<double>(chain_pattern(3), Uplo::lower);
  A.values = {1e-200, 1e200, 1e250, 1, 1};
  const auto solver = make_solver(A, together(2));
  EXPECT_NE(solver.report().reason.find("none are merged"), std::string::npos)
      << solver.report().reason;
  const auto x = solve(solver, std::vector<double>{1e-250, 0, 0});
  EXPECT_DOUBLE_EQ(x[0], 1e-50);
  EXPECT_DOUBLE_EQ(x[1], -1e-100);
  EXPECT_DOUBLE_EQ(x[2], 1e-100);
}

TEST(MergedLevelSolver, RefusesNewValuesThatWouldCostDigits) {
  const auto good = chain(100, -1), bad = chain(100, -1e5);
  auto solver = make_solver(good, together(8));
  const std::vector<double> b(100, 1);
  const auto x = solve(solver, b);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(x[i], i + 1.);
  EXPECT_THROW(solver.update_values(
                   Space(), bad.to_device<SolverMatrix<double, Space>>()),
               ScalingError);
  EXPECT_TRUE(same_bits(solve(solver, b), x)) << "it has its old values";
  const auto other = chain(100, -0.5, 2);
  solver.update_values(Space(), other.to_device<SolverMatrix<double, Space>>());
  EXPECT_TRUE(
      same_bits(solve(solver, b), solve(make_solver(other, together(8)), b)))
      << "as a new solver";
  auto plain = make_solver(good, together(1));
  plain.update_values(Space(), bad.to_device<SolverMatrix<double, Space>>());
}

/// A number that is none reaches what depends on it, and nothing else; one
/// whose bits are those of values still to come is a NaN like any other.
TEST(MergedLevelSolver, HandsNaNAndInfOn) {
  double not_ready;
  const auto bits = Detail::NotReadyBits<double>::not_ready;
  std::memcpy(&not_ready, &bits, sizeof(not_ready));
  for (const double special :
       {std::nan(""), std::numeric_limits<double>::infinity(), not_ready})
    for (const bool in_matrix : {false, true}) {
      auto A = chain(60, -0.5);
      std::vector<double> b(60, 1);
      (in_matrix ? A.values[A.row_map[31]] : b[31]) = special;
      const auto x = solve(make_solver(A, together(4)), b);
      for (int i = 0; i < 60; ++i)
        EXPECT_EQ(std::isfinite(x[i]), i < 31) << "row " << i;
    }
}

/// No group has more level sets than there are, however many are asked for.
TEST(MergedLevelSolver, MergesNoMoreLevelSetsThanThereAre) {
  const int n = 60, most = std::numeric_limits<int>::max();
  const auto A = chain(n, -0.5);
  const auto b = random_values<double>(n, 4);
  for (const auto algorithm :
       {Algorithm::sync_free, Algorithm::sync_free_subgraphs})
    for (const int lanes : {0, 1}) {
      SCOPED_TRACE(std::string(to_string(algorithm)) + ", lanes " +
                   std::to_string(lanes));
      auto options = together(n);
      options.algorithm = algorithm;
      options.lanes_per_row = lanes;
      const auto all = make_solver(A, options);
      EXPECT_EQ(all.report().algorithm, algorithm);
      EXPECT_EQ(all.report().merged_levels, n);
      options.merged_levels = most;
      const auto more = make_solver(A, options);
      EXPECT_EQ(more.report().algorithm, algorithm);
      EXPECT_EQ(more.report().merged_levels, n);
      EXPECT_TRUE(same_bits(solve(more, b), solve(all, b)));
    }
  // One level set leaves nothing to take together.
  const auto diagonal =
      make_triangle<double>(diagonal_pattern(50), Uplo::lower);
  for (const auto algorithm :
       {Algorithm::sync_free, Algorithm::sync_free_subgraphs}) {
    auto options = together(most);
    options.algorithm = algorithm;
    EXPECT_EQ(make_solver(diagonal, options).report().merged_levels, 1);
  }
}

/// Ill-conditioned systems are solved as well as by substitution: backward.
TEST(MergedLevelSolver, KeepsTheResidualSmall) {
  for (const int levels : {2, 3, 6, 12}) {
    const auto A =
        make_triangle<double>(random_pattern(2000, 3.0, 60, 17), Uplo::lower);
    const auto b = random_values<double>(2000, 8);
    const auto x = solve(make_solver(A, together(levels)), b);
    for (std::int64_t i = 0; i < A.rows; ++i) {
      double rest = b[i], size = std::abs(b[i]);
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
        rest -= A.values[k] * x[A.entries[k]];
        size += std::abs(A.values[k] * x[A.entries[k]]);
      }
      EXPECT_LE(std::abs(rest), 1e-12 * size) << "row " << i;
    }
  }
}

TEST(MergedLevelSolver, TakesTheMemoryItNeedsOrNone) {
  const auto A = chain(400, -0.5);
  auto options = together(8);
  const auto free = make_solver(A, options);
  options.max_plan_bytes = free.report().plan_bytes;
  EXPECT_EQ(make_solver(A, options).report().plan_bytes,
            free.report().plan_bytes);
  --options.max_plan_bytes;
  EXPECT_THROW(make_solver(A, options), PlanMemoryError);
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
