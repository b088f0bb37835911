// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows merged such that several level sets become one: the stream that comes
// of it, in exact integers, and the solver that uses it.
#include <cmath>

#include "PackedSubgraphsCheck.hpp"
#include "RowwiseAccuracy.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace MergedTest {
namespace {

using PackedSubgraphsTest::Graph;
using PackedSubgraphsTest::on_host;
using PackedSubgraphsTest::PackingShape;
struct Merge {
  int levels;
  PackingShape shape;
};

/// Solves in exact integers with the packed sub-graphs alone, and holds groups,
/// coefficients and dependencies against their definition. Returns how many
/// rows were merged.
int expect_merged(const Graph& graph, const Merge& merge) {
  PackingShape shape = merge.shape;
  shape.merged_levels = merge.levels;
  PackedSubgraphsTest::GraphSubgraphPacker builder(graph, shape, 32, 8);
  if (!builder.possible()) return 0;
  const auto stream = builder.finish(TestGraphs::num_values(graph));
  EXPECT_GE(builder.critical_steps(), 1);
  const auto& rows = stream.merged;
  if (!rows.exist()) return 0;
  EXPECT_EQ(rows.levels, builder.merged_levels());

  const auto host = on_host(stream);
  const auto row_map = on_host(rows.row_map),
             coefficient_map = on_host(rows.coefficient_map);
  const auto word_map = on_host(rows.word_map);
  const auto coefficient = on_host(rows.coefficient);
  const auto word = on_host(rows.word);
  const auto origin = on_host(rows.value_index);
  const int n = graph.num_vertices;
  EXPECT_EQ(coefficient_map(n), int(coefficient.extent(0)));
  EXPECT_EQ(word_map(n), int(word.extent(0)));
  EXPECT_EQ(row_map(n), graph.num_edges());

  std::vector<int> subgraph(n), vertex(n);
  for (int g = 0; g < host.num_subgraphs(); ++g)
    for (int i = 0; i < host.subgraph(g).rows; ++i)
      subgraph[host.subgraph(g).first_permuted_row + i] = g;
  for (int p = 0; p < n; ++p) vertex[p] = graph.row_of(int(host.row(p)));
  std::vector<int> permuted_row(n);
  for (int p = 0; p < n; ++p) permuted_row[vertex[p]] = p;
  const auto& level_of = builder.levels.level_of;
  // Groups: of one sub-graph, and of level sets that belong together.
  const auto same_group = [&](int u, int v) {
    return subgraph[permuted_row[u]] == subgraph[permuted_row[v]] &&
           level_of[u] / rows.levels == level_of[v] / rows.levels;
  };

  // The programs, in integers: numbers to their places in the stream.
  std::vector<unsigned char> bytes(host.bytes.data(),
                                   host.bytes.data() + host.bytes.extent(0));
  int put = 0;
  const auto put_at = [&](std::size_t byte, std::uint64_t number) {
    bytes.at(byte + 7);
    std::memcpy(&bytes.at(byte), &number, 8);
    ++put;
  };
  // A row of one coefficient stays as it is where it has a dependency of its
  // group that does not: others that need it wait for it.
  std::vector<bool> stays(n, false);
  for (int v = 0; v < n; ++v) {
    const int p = permuted_row[v];
    if (coefficient_map(p + 1) - coefficient_map(p) > 1) continue;
    for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k) {
      const int from = graph.entries(k);
      if (same_group(from, v) && !stays[from]) stays[v] = true;
    }
  }
  std::vector<std::uint64_t> coefficients(coefficient.extent(0), 1);
  int merged = 0, most_slots = 0;
  for (int p = 0; p < n; ++p) {
    const int v = vertex[p],
              length = int(PackedSubgraphsTest::edges_into(graph, v));
    EXPECT_EQ(row_map(p + 1) - row_map(p), length);
    for (int i = 0; i < length; ++i) {
      const int k = row_map(p) + i;
      EXPECT_EQ(rows.has_value_indices
                    ? std::int64_t{origin(k)}
                    : rows.value_index_of(k, row_map(p + 1),
                                          graph.diagonal_value_index(v)),
                graph.value_index(graph.row_map(v) + i));
    }
    const int first = coefficient_map(p),
              count = coefficient_map(p + 1) - first;
    const unsigned* const words = word.data() + word_map(p);
    const int num_words = word_map(p + 1) - word_map(p);
    EXPECT_GE(count, 1);
    EXPECT_LE(count, rows.max_coefficients);
    EXPECT_EQ(coefficient(first), 0) << "a row is its own newest coefficient";
    using Rows = std::decay_t<decltype(rows)>;
    if (count == 1) {
      // It has its own entries.
      const bool places = length > Rows::max_ranks;
      const int tasks = rows.tasks_of(length);
      EXPECT_EQ(num_words, places ? length : tasks + (length + 3) / 4);
      const auto* ranks = reinterpret_cast<const unsigned char*>(words + tasks);
      for (int i = 0; i < length; ++i) {
        const auto k = graph.row_map(v) + i;
        const unsigned noted = places ? words[i] : ranks[i];
        put_at(
            places ? 4 * std::size_t(noted) : rows.byte_of(words, int(noted)),
            PackedSubgraphsTest::number(graph.value_index(k)));
      }
      continue;
    }
    ++merged;
    const int dependencies = int(words[0]);
    most_slots = std::max(most_slots, count + dependencies);
    const auto* program = reinterpret_cast<const unsigned char*>(
        words + 1 + rows.tasks_of(dependencies));
    const auto* const begin = program;
    std::vector<std::uint64_t> slot(count + dependencies, 0);
    std::vector<int> vertex_of(count + dependencies, -1);
    slot[0] = 1;
    for (int t = 0; t < count; ++t)
      vertex_of[t] = vertex.at(p - coefficient(first + t));
    for (int t = 0; t < count; ++t) {
      const int j = vertex_of[t];
      EXPECT_TRUE(same_group(j, v));
      if (t > 0) {
        EXPECT_LT(j, vertex_of[t - 1]);
      }
      for (auto k = graph.row_map(j); k < graph.row_map(j + 1); ++k) {
        const int at = *program++, from = graph.entries(k);
        EXPECT_EQ(at < count, same_group(from, j) && !stays[from]);
        EXPECT_TRUE(at > t || at >= count);
        if (vertex_of.at(at) < 0) vertex_of[at] = from;
        EXPECT_EQ(vertex_of[at], from);
        const auto product =
            slot[t] * PackedSubgraphsTest::number(graph.value_index(k));
        slot[at] += at < count ? 0 - product : product;
      }
      coefficients[first + t] = slot[t];
    }
    const int used = int(program - begin);
    EXPECT_EQ(num_words, 1 + rows.tasks_of(dependencies) + (used + 3) / 4);
    for (int s = 0; s < dependencies; ++s)
      put_at(rows.byte_of(words + 1, s), slot[count + s]);
  }
  EXPECT_LE(most_slots, rows.max_slots);

  // A solve step by step. Records have no other entries than those put there.
  int used = 0;
  const PackedRecord record(8);
  std::vector<std::uint64_t> x(graph.num_vertices), exported(host.num_exports);
  for (int g = 0; g < host.num_subgraphs(); ++g) {
    const PackedSubgraph& mine = host.subgraph(g);
    std::vector<std::uint64_t> scratch(1 + mine.imports + mine.rows, 0);
    for (int i = 0; i < mine.imports; ++i)
      scratch[1 + i] = exported.at(host.import(mine.first_import + i));
    const int first_row = 1 + mine.imports;
    for (int i = 0; i < mine.rows; ++i) {
      const int p = mine.first_permuted_row + i;
      auto& begin = scratch[first_row + i];
      for (int t = coefficient_map(p); t < coefficient_map(p + 1); ++t)
        begin += coefficients[t] *
                 PackedSubgraphsTest::number(
                     -1 - std::int64_t(host.row(p - coefficient(t))));
    }
    for (const auto& step : PackedSubgraphsTest::decode(host, record, g)) {
      std::vector<std::uint64_t> result;
      for (std::size_t l = 0; l < step.size(); ++l) {
        result.push_back(scratch.at(step[l].out));
        for (int e = 0; e < record.entries; ++e)
          used += step[l].dependency[e] != 0;
        const std::size_t first = l - l % host.row_lanes;
        for (int other = 0; other < host.row_lanes; ++other) {
          const auto& lane = step.at(first + other);
          for (int e = 0; e < record.entries; ++e) {
            std::uint64_t number;
            std::memcpy(&number,
                        &bytes.at(PackedSubgraphsTest::byte_in_stage(
                            record, lane.record - lane.lane, mine.lanes,
                            lane.lane, record.value_at(e))),
                        8);
            result.back() -= number * scratch.at(lane.dependency[e]);
          }
        }
      }
      for (std::size_t l = 0; l < step.size(); ++l) {
        if (!step[l].idle) scratch[step[l].out] = result[l];
        if (step[l].publishes)
          exported.at(mine.first_export + step[l].out - first_row) = result[l];
      }
    }
    for (int i = 0; i < mine.rows; ++i)
      x[host.row(mine.first_permuted_row + i)] = scratch[first_row + i];
  }
  EXPECT_EQ(put, used);
  EXPECT_EQ(x, PackedSubgraphsTest::substitute(graph));
  return merged;
}

TEST(MergedSubgraphRows, AreTheSameSystem) {
  PackingShape one{0, 1024, 4096, 8}, chunks{0, 40, 4096, 8},
      bands{12, 64, 4096, 8}, shared{0, 100, 4096, 8};
  one.team[0] = chunks.team[0] = bands.team[0] = {1, 4};
  shared.team[0] = {4, 8};
  int merged = 0;
  for (auto& [name, given] : TestGraphs::all_graphs()) {
    if (given.num_vertices == 0) continue;
    for (const bool reversed : {false, true}) {
      const Graph graph = TestGraphs::with_value_indices(given, reversed);
      for (const int levels : {2, 3, 8, 16, 0})
        for (const PackingShape& shape : {one, chunks, bands, shared}) {
          SCOPED_TRACE(name + ", " + std::to_string(levels) + " levels of " +
                       std::to_string(shape.max_rows) + " rows");
          merged += expect_merged(graph, {levels, shape});
          if (testing::Test::HasFailure()) return;
        }
      for (const bool unit : {false, true})
        merged += expect_merged(TestGraphs::in_order(given, reversed, unit),
                                {3, chunks});
    }
  }
  EXPECT_GT(merged, 1000);
}

/// A chain's groups are its level sets, as many as asked for.
TEST(MergedSubgraphRows, ChainRowsHaveOneDependency) {
  const Graph graph =
      TestGraphs::with_value_indices(TestGraphs::chain_graph(96), false);
  PackingShape shape{0, 96, 4096, 8};
  shape.team[0] = {1, 4};
  for (const int levels : {2, 4, 8})
    EXPECT_EQ(expect_merged(graph, {levels, shape}), 96 - 96 / levels);
}

/// Rows of many new dependencies want four lanes each, whatever the number of
/// level sets at a time.
TEST(MergedSubgraphRows, ANamedNumberOfLevelSetsLeavesTheTeamToChoose) {
  for (const int levels : {5, 8, 11}) {
    for (const bool dense : {false, true}) {
      const Graph graph = TestGraphs::with_value_indices(
          dense ? TestGraphs::dense_graph(120) : TestGraphs::chain_graph(120),
          false);
      PackingShape shape{0, 1024, 4096, 8};
      shape.merged_levels = levels;
      shape.team[0] = {1, 4};
      shape.team[1] = {4, 8};
      shape.which_team = -1;
      const PackedSubgraphsTest::GraphSubgraphPacker builder(graph, shape, 32,
                                                             8);
      ASSERT_TRUE(builder.possible());
      EXPECT_EQ(builder.merged_levels(), levels);
      EXPECT_EQ(builder.team(), dense ? 1 : 0) << levels << " level sets";
    }
  }
}

}  // namespace
}  // namespace MergedTest

namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

TriangularOptions merging(int levels) {
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free_subgraphs;
  options.merged_levels = levels;
  return options;
}

/// b is read by all rows of a group before x is written.
TEST(MergedSubgraphSolver, MayOverwriteTheRightHandSide) {
  for (const int levels : {0, 2, 8})
    for (const int rows : {0, 40})
      for (const int lanes : {1, 4}) {
        const auto A =
            make_triangle<double>(random_pattern(900, 2.5, 40, 3), Uplo::lower);
        auto options = merging(levels);
        options.experimental.max_subgraph_rows = rows;
        options.experimental.lanes_per_row = lanes;
        const auto solver = make_solver(A, options);
        const auto b = random_values<double>(3 * 900, 5);
        const auto x = solve(solver, b, 3);
        const auto both = to_columns<double, Space>(b, 900, 3);
        solver.solve(Space(), both, both);
        EXPECT_TRUE(same_bits(to_vector(both), x));
      }
}

/// Wide level sets, whose steps a device finds with a row for each thread.
TEST(MergedSubgraphSolver, SolvesWideLevelSets) {
  for (const double density : {0.1, 0.25}) {
    const auto A =
        make_triangle<double>(block_pattern(5000, 16, density), Uplo::lower);
    const auto b = random_values<double>(A.rows, 5);
    TriangularOptions reference;
    reference.algorithm = Algorithm::substitution;
    const auto expected = solve(make_solver(A, reference), b);
    for (const int levels : {1, 2, 4}) {
      const auto solver = make_solver(A, merging(levels));
      const auto& report = solver.report();
      EXPECT_EQ(report.algorithm, Algorithm::sync_free_subgraphs);
      EXPECT_EQ(report.merged_levels, levels);
      EXPECT_GT(report.rows, 2000 * (report.levels / levels + 1));
      const auto x = solve(solver, b);
      for (std::int64_t i = 0; i < A.rows; ++i)
        ASSERT_NEAR(x[i], expected[i], 1e-11 * std::abs(expected[i]) + 1e-11);
    }
  }
}

/// Where the inverse of a block grows out of all bounds, rows stay as they are.
TEST(MergedSubgraphSolver, LeavesBlocksThatWouldCostDigitsAlone) {
  const auto solver = make_solver(chain(200, 1e5), merging(8));
  EXPECT_GT(solver.report().unmerged_rows, 70) << to_string(solver.report());
  // A product that vanishes is nothing beside the other terms.
  const auto small = make_solver(chain(200, 1e-200), merging(8));
  EXPECT_EQ(small.report().reason.find("range of normal"), std::string::npos)
      << small.report().reason;
  // The same with a diagonal whose reciprocal overflows.
  const auto A = chain(50, 1e-310, 1e-310);
  const auto tiny = make_solver(A, merging(8));
  const auto b = std::vector<double>(50, 1e-310);
  const auto x = solve(tiny, b);
  for (int i = 0; i < 50; ++i) EXPECT_DOUBLE_EQ(x[i], i % 2 ? 0. : 1.);
}

/// Neither level sets at a time nor entries over the diagonal: 1e200 / 1e-200.
TEST(MergedSubgraphSolver, LeavesRowsThatCannotBeScaledAlone) {
  auto A = make_triangle<double>(chain_pattern(2), Uplo::lower);
  A.values = {1, 1e200, 1e-200};
  for (const int levels : {0, 3}) {
    const auto solver = make_solver(A, merging(levels));
    EXPECT_NE(solver.report().algorithm, Algorithm::sync_free_subgraphs);
    const auto x = solve(solver, std::vector<double>{0, 1});
    EXPECT_EQ(x[0], 0);
    EXPECT_DOUBLE_EQ(x[1], 1e200);
  }
}

/// How rows are scaled against each other does not count.
TEST(MergedSubgraphSolver, MergesRowsOfAnyScale) {
  auto A = make_triangle<double>(chain_pattern(40), Uplo::lower);
  for (std::int64_t i = 0; i < 40; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      A.values[k] = A.entries[k] == i ? 1. : i % 2 ? 1e9 : -1e-9;
  const auto solver = make_solver(A, merging(4));
  EXPECT_EQ(solver.report().merged_levels, 4);
  EXPECT_EQ(solver.report().unmerged_rows, 0);
  expect_rowwise(A, random_values<double>(40, 3), solver);
}

TEST(MergedSubgraphSolver, RefusesNewValuesThatWouldCostDigits) {
  const auto good = chain(100, -1), bad = chain(100, -1e5);
  auto solver = make_solver(good, merging(8));
  const std::vector<double> b(100, 1);
  const auto x = solve(solver, b);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(x[i], i + 1.);
  EXPECT_THROW(solver.update_values(
                   Space(), bad.to_device<SolverMatrix<double, Space>>()),
               ScalingError);
  EXPECT_TRUE(same_bits(solve(solver, b), x)) << "it has its old values";
  // What was found then is not found again.
  const auto other = chain(100, -0.5);
  const auto other_x = solve(make_solver(other, merging(8)), b);
  for (int repeat = 0; repeat < 2; ++repeat) {
    solver.update_values(Space(),
                         other.to_device<SolverMatrix<double, Space>>());
    EXPECT_TRUE(same_bits(solve(solver, b), other_x));
    EXPECT_THROW(solver.update_values(
                     Space(), bad.to_device<SolverMatrix<double, Space>>()),
                 ScalingError);
    EXPECT_TRUE(same_bits(solve(solver, b), other_x));
  }
  // One by one nothing is lost.
  auto plain = make_solver(good, merging(1));
  plain.update_values(Space(), bad.to_device<SolverMatrix<double, Space>>());
}

/// The row is named whose numbers would be lost, and nothing is overwritten.
TEST(MergedSubgraphSolver, RefusesNewValuesOutOfRange) {
  const auto good = chain(60, -1);
  auto bad = good;
  bad.values[bad.row_map[42] - 1] = 1e-310;  // row 41's diagonal
  const std::vector<double> b(60, 1);
  for (const int levels : {2, 8}) {
    auto solver = make_solver(good, merging(levels));
    const auto x = solve(solver, b);
    for (int repeat = 0; repeat < 2; ++repeat) {
      try {
        solver.update_values(Space(),
                             bad.to_device<SolverMatrix<double, Space>>());
        ADD_FAILURE() << "no error";
      } catch (const ScalingError& error) {
        EXPECT_EQ(error.argument(), "values");
      }
      EXPECT_TRUE(same_bits(solve(solver, b), x));
      solver.update_values(Space(),
                           good.to_device<SolverMatrix<double, Space>>());
      EXPECT_TRUE(same_bits(solve(solver, b), x));
    }
  }
}

/// A number that is none reaches what depends on it, and nothing else.
TEST(MergedSubgraphSolver, HandsNaNAndInfOn) {
  for (const double special :
       {std::nan(""), std::numeric_limits<double>::infinity()})
    for (const bool in_matrix : {false, true}) {
      auto A = chain(60, -0.5);
      std::vector<double> b(60, 1);
      (in_matrix ? A.values[A.row_map[31]] : b[31]) = special;
      const auto x = solve(make_solver(A, merging(4)), b);
      for (int i = 0; i < 60; ++i)
        EXPECT_EQ(std::isfinite(x[i]), i < 31) << "row " << i;
    }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
