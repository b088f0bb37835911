// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <analysis/blocks/DiagonalBlockOrder.hpp>
#include <analysis/merging/MergedLevels.hpp>
#include <analysis/packing/MakeRowChunks.hpp>

#include <kernels/triangular/sync_free/SplitRows.hpp>
#include <vector>

#include "Pairwise.hpp"
#include "TestGraphs.hpp"

namespace Strata {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}

/// Chunks of rows that are not merged.
RowChunks<Space::memory_space> make_chunks(
    const Space& exec, const DependencyGraph<Space::memory_space>& graph,
    const LevelOrder<Space::memory_space>& order, std::int64_t num_values,
    int width, int max_steps, DependencyNumbering numbering) {
  Detail::WorkPool<Space> pool(exec, 0);
  const auto plan =
      Detail::make_row_chunks(exec, graph, order, num_values, width, max_steps,
                              numbering, pool, [](auto&, auto&) {});
  exec.fence();
  return plan;
}

/// Diagonal blocks in place of level sets.
LevelSets blocks_as_levels(const TestGraphs::Graph& host) {
  const auto start = TestGraphs::plain_blocks(host);
  std::vector<int> block_of(host.num_vertices);
  for (std::size_t b = 0; b + 1 < start.size(); ++b)
    std::fill(block_of.begin() + start[b], block_of.begin() + start[b + 1],
              static_cast<int>(b));
  return Detail::sort_by_level(block_of, static_cast<int>(start.size()) - 1);
}

void expect_chunks(const TestGraphs::Graph& host, int width, int max_steps,
                   DependencyNumbering numbering, bool by_blocks = false) {
  const Space exec;
  const auto levels =
      by_blocks ? blocks_as_levels(host) : find_level_sets(host);
  const auto graph = mirror_graph(exec, host);
  const std::int64_t num_values =
      3 * (host.num_edges() + host.num_vertices) + 1;
  const auto within =
      width > 1 ? WithinLevel::longest_rows_first : WithinLevel::ascending;
  Detail::WorkPool<Space> pool(exec, 0);
  const auto order =
      by_blocks ? Detail::order_by_diagonal_blocks(exec, graph, within, pool)
                : order_by_level(exec, graph, within);
  const auto plan =
      make_chunks(exec, graph, order, num_values, width, max_steps, numbering);
  const auto row = on_host(plan.row);
  const auto chunk = on_host(plan.chunk);
  const auto dependency = on_host(plan.dependency);
  const int n = host.num_vertices;
  ASSERT_EQ(plan.num_rows, n);
  ASSERT_EQ(static_cast<int>(row.extent(0)), n);
  ASSERT_EQ(plan.num_levels(), levels.num_levels);
  ASSERT_EQ(plan.level_chunk_map.back(), plan.num_chunks());
  ASSERT_EQ(static_cast<std::int64_t>(dependency.extent(0)), plan.num_slots);
  Detail::ValueIndex<Kokkos::HostSpace> origin, diagonal;
  origin.narrow = on_host(plan.value_index.narrow);
  diagonal.narrow = on_host(plan.diagonal_value_index.narrow);

  // Each row has one permuted row.
  std::vector<int> permuted_row(n, -1);
  for (int p = 0; p < n; ++p) {
    ASSERT_LT(row(p), static_cast<unsigned>(n));
    ASSERT_EQ(permuted_row[row(p)], -1) << "row " << row(p) << " twice";
    permuted_row[row(p)] = p;
    const int v = host.row_of(static_cast<int>(row(p)));
    ASSERT_EQ(diagonal(p), host.diagonal_value_index(v));
  }
  // Level sets begin where their first chunks do.
  std::vector<int> level_begin;
  for (int level = 0; level < levels.num_levels; ++level)
    level_begin.push_back(
        chunk(plan.level_chunk_map[level]).first_permuted_row);
  level_begin.push_back(n);

  std::int64_t next_slot = 0;
  int next_permuted_row = 0;
  for (int level = 0; level < levels.num_levels; ++level)
    for (int c = plan.level_chunk_map[level];
         c < plan.level_chunk_map[level + 1]; ++c) {
      const RowChunk& k = chunk(c);
      const int lanes = 1 << k.log_lanes;
      ASSERT_GE(k.rows, 1);
      ASSERT_LE(k.rows * lanes, width);
      ASSERT_EQ(k.first_permuted_row, next_permuted_row);
      ASSERT_EQ(k.first_slot, next_slot);
      next_permuted_row += k.rows;
      next_slot += std::int64_t(k.rows) * lanes * k.steps;
      std::int64_t longest = 0;
      for (int r = 0; r < k.rows; ++r) {
        const int p = k.first_permuted_row + r;
        const int v = host.row_of(static_cast<int>(row(p)));
        ASSERT_EQ(levels.level_of[v], level) << "vertex " << v;
        const auto begin = host.row_map(v), end = host.row_map(v + 1);
        longest = std::max(longest, end - begin);
        ASSERT_LE(end - begin, std::int64_t(lanes) * k.steps);
        for (std::int64_t e = 0; e < std::int64_t(lanes) * k.steps; ++e) {
          const auto slot =
              k.first_slot + e / lanes * k.rows * lanes + r * lanes + e % lanes;
          if (begin + e >= end) {
            ASSERT_EQ(dependency(slot), -1);
            ASSERT_EQ(origin(slot), -1);
            continue;
          }
          const int from = host.row_of(host.entries(begin + e));
          ASSERT_EQ(dependency(slot), numbering == DependencyNumbering::row
                                          ? from
                                          : permuted_row[from]);
          ASSERT_EQ(origin(slot), host.value_index(begin + e));
          ASSERT_LT(permuted_row[from], plan.num_rows);
          ASSERT_LT(permuted_row[from], p) << "a dependency comes later";
        }
      }
      // Nothing waits for what is not long before it, and the last chunk of a
      // level set for no less than the last row there.
      const int back = RowChunk::throttle_levels +
                       RowChunk::throttle_levels_more *
                           (std::max(0, k.steps - 1) / max_steps);
      if (width == 1 || k.steps == 0 || level < back) {
        ASSERT_EQ(k.throttle, -1);
      } else {
        ASSERT_GE(k.throttle, level_begin[level - back]);
        ASSERT_LT(k.throttle, level_begin[level - back + 1]);
        if (c + 1 == plan.level_chunk_map[level + 1])
          ASSERT_EQ(k.throttle, level_begin[level - back + 1] - 1);
      }
      // No step is spent on padding alone, and lanes stop long rows from
      // taking more than max_steps while there are lanes to have.
      ASSERT_EQ(k.steps, (longest + lanes - 1) / lanes);
      if (lanes * 2 <= width) ASSERT_LE(k.steps, max_steps);
      if (lanes > 1) ASSERT_GT(longest, std::int64_t(max_steps) * lanes / 2);
    }
  EXPECT_EQ(next_permuted_row, n);
  EXPECT_EQ(next_slot, plan.num_slots);
}

/// Chunks of merged rows hold their lists, as distances wherever these fit,
/// without gaps; pieces of a long row hold what it holds.
/// @returns chunks whose dependencies are stored as they are
int expect_lists(const TestGraphs::Graph& host, int levels, int max_steps,
                 int width) {
  const Space exec;
  using Memory = Space::memory_space;
  const auto graph = mirror_graph(exec, host);
  const auto within =
      width > 1 ? WithinLevel::longest_rows_first : WithinLevel::ascending;
  const auto by_level = order_by_level(exec, graph, within);
  const auto num_values = TestGraphs::num_values(host);
  Detail::WorkPool<Space> pool(exec, 0);
  const auto made = merge_levels(exec, graph, by_level, levels, num_values,
                                 max_steps, within, pool);
  if (!made.exist()) return 0;
  const auto plan = Detail::make_row_chunks(
      exec, made.graph, made.order, num_values, width, max_steps,
      DependencyNumbering::permuted_row, pool, [](auto&, auto&) {},
      RowCoefficients<Memory>{made.coefficient_map, made.coefficient,
                              made.recipe_bytes});
  const auto pieces = Detail::split_long_rows(
      exec, plan, width, width > 1 ? host.num_vertices : 0);
  exec.fence();
  const auto row_map = on_host(made.graph.row_map);
  const auto entries = on_host(made.graph.entries);
  const auto coefficient_map = on_host(made.coefficient_map);
  const auto coefficient = on_host(made.coefficient);
  const auto vertex = on_host(made.order.vertex);
  const auto permuted_row = on_host(made.order.permuted_row);
  const auto dependency = on_host(plan.dependency);
  const auto chunk = on_host(plan.chunk);
  const auto split = on_host(pieces.chunk);
  std::int64_t slot = 0;
  int next = 0, whole = 0;
  unsigned word = 0;
  std::size_t piece = 0;
  for (int c = 0; c < plan.num_chunks(); ++c) {
    const RowChunk& own = chunk(c);
    EXPECT_EQ(own.begin(), slot);
    EXPECT_EQ(own.first_permuted_row, next);
    EXPECT_EQ(own.dependency_begin, word);
    EXPECT_LT(own.throttle, own.first_permuted_row);
    const int lanes = 1 << own.log_lanes;
    bool far = false;
    for (int r = 0; r < own.rows; ++r) {
      const int v = vertex(own.first_permuted_row + r), row = host.row_of(v);
      std::vector<int> coefficients, dependencies, expected_coefficients,
          expected_dependencies;
      for (int i = r * lanes; i < own.num_slots(); ++i) {
        if (i % own.stride() / lanes != r) continue;
        const int stored = own.stored(dependency.data(), i);
        const bool is_coefficient = i < own.coefficient_steps * own.stride();
        const int found = is_coefficient ? own.coefficient_of(stored, row)
                                         : own.dependency_of(stored);
        if (found >= 0)
          (is_coefficient ? coefficients : dependencies).push_back(found);
      }
      for (auto t = coefficient_map(v); t < coefficient_map(v + 1); ++t) {
        expected_coefficients.push_back(host.row_of(coefficient(t)));
        far = far || v - 1 - coefficient(t) > RowChunk::most_distance;
      }
      for (auto e = row_map(v); e < row_map(v + 1); ++e) {
        expected_dependencies.push_back(permuted_row(entries(e)));
        far = far || own.first_permuted_row - 1 - permuted_row(entries(e)) >
                         RowChunk::most_distance;
      }
      EXPECT_EQ(coefficients, expected_coefficients) << "of row " << row;
      EXPECT_EQ(dependencies, expected_dependencies) << "of row " << row;
    }
    EXPECT_EQ(own.dependencies == RowChunk::whole, far) << "chunk " << c;
    whole += far;
    // A host's thread takes long rows whole.
    const int parts = width > 1 ? Detail::SplitRow::pieces(own) : 0;
    std::vector<int> all, of_parts;
    for (int i = 0; parts > 0 && i < own.num_slots(); ++i)
      all.push_back(own.dependency_of(own.stored(dependency.data(), i)));
    for (int p = 0; p < parts; ++p, ++piece)
      for (int i = 0; i < split(piece).num_slots(); ++i)
        of_parts.push_back(split(piece).dependency_of(
            split(piece).stored(dependency.data(), i)));
    EXPECT_EQ(of_parts, all);
    ++piece;
    next += own.rows;
    slot += own.num_slots();
    word += static_cast<unsigned>(far ? own.num_slots()
                                      : (own.num_slots() + 1) / 2);
    if (testing::Test::HasFailure()) return whole;
  }
  EXPECT_EQ(next, host.num_vertices);
  EXPECT_EQ(slot, plan.num_slots);
  EXPECT_EQ(std::size_t(word), dependency.extent(0));
  EXPECT_EQ(piece, split.extent(0));
  return whole;
}

TEST(RowChunks, HoldTheListsOfMergedRows) {
  using namespace TestGraphs;
  const Graph graphs[] = {random_graph(700, 2.5, 40, 3),
                          random_graph(900, 9., 25, 4),
                          random_graph(900, 40., 250, 5), arrow_graph(9000)};
  const int levels[] = {2, 3, 8}, max_steps[] = {4, 8}, widths[] = {1, 32};
  for (const auto& one : pairwise_cases({4, 3, 2, 2, 2})) {
    SCOPED_TRACE("graph " + std::to_string(one[0]));
    expect_lists(with_value_indices(graphs[one[0]], one[4] == 1),
                 levels[one[1]], max_steps[one[2]], widths[one[3]]);
    if (HasFailure()) return;
  }
}

TEST(RowChunks, HoldNearAndFarDependenciesOfMergedRows) {
  using namespace TestGraphs;
  const int sizes[] = {65534, 65535, 65536, 65537, 90000}, widths[] = {1, 32};
  for (const auto& one : pairwise_cases({5, 2, 2})) {
    const int n = sizes[one[0]];
    SCOPED_TRACE(n);
    const auto graph =
        with_value_indices(random_graph(n, 1.2, n, 6), one[2] == 1);
    const auto stored_whole = expect_lists(graph, 2, 8, widths[one[1]]);
    if (n == 90000) {
      EXPECT_GT(stored_whole, 0);
    } else {
      EXPECT_EQ(stored_whole, 0);
    }
  }
}

TEST(RowChunks, HoldEveryEntryOnceInLevelOrder) {
  const auto graphs = TestGraphs::all_graphs();
  const int widths[] = {1, 4, 32};
  const DependencyNumbering numberings[] = {DependencyNumbering::row,
                                            DependencyNumbering::permuted_row};
  for (const auto& one : pairwise_cases({int(graphs.size()), 3, 2, 2})) {
    const auto& [name, graph] = graphs[one[0]];
    const int width = widths[one[1]];
    const bool reversed = one[2] == 1;
    SCOPED_TRACE(name + ", width " + std::to_string(width) +
                 (reversed ? ", reversed" : ""));
    const auto with_values = TestGraphs::with_value_indices(graph, reversed);
    for (const bool by_blocks : {false, true})
      expect_chunks(with_values, width, 4, numberings[one[3]], by_blocks);
    if (HasFailure()) return;
  }
}

TEST(RowChunks, LongRowsGetLanes) {
  const auto graph =
      TestGraphs::with_value_indices(TestGraphs::arrow_graph(1000), false);
  for (const int max_steps : {1, 3, 100})
    expect_chunks(graph, 32, max_steps, DependencyNumbering::row);
  const auto device = mirror_graph(Space(), graph);
  const auto plan = make_chunks(
      Space(), device,
      order_by_level(Space(), device, WithinLevel::longest_rows_first), 4000,
      32, 4, DependencyNumbering::row);
  const auto chunk = on_host(plan.chunk);
  const RowChunk& last = chunk(plan.num_chunks() - 1);
  EXPECT_EQ(last.rows, 1);
  EXPECT_EQ(last.log_lanes, 5);
  EXPECT_EQ(last.steps, 32);
}

TEST(RowChunks, RowsOfALevelAreSortedByLength) {
  // Alternating rows of 1 and 9 entries behind a level of 20: sorted, chunks of
  // four short rows have one step.
  std::vector<std::set<int>> dependencies(20);
  for (int i = 0; i < 64; ++i) {
    std::set<int> row;
    for (int j = 0; j < (i % 2 ? 9 : 1); ++j) row.insert((i + j) % 20);
    dependencies.push_back(row);
  }
  const auto graph = TestGraphs::with_value_indices(
      TestGraphs::make_graph(dependencies), false);
  const auto device = mirror_graph(Space(), graph);
  const auto plan = make_chunks(
      Space(), device,
      order_by_level(Space(), device, WithinLevel::longest_rows_first), 4000, 4,
      9, DependencyNumbering::row);
  // 32 of each length: 8 chunks of each.
  const std::int64_t entries = graph.num_edges();
  EXPECT_EQ(plan.num_slots, entries);
}

}  // namespace
}  // namespace Strata
