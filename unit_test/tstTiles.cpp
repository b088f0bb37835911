// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How rows become tiles, and which tiles are inverted. All else that a solver
// does is in tstTriangularSolver*.
#include <gtest/gtest.h>

#include <analysis/tiles/JoinTiles.hpp>
#include <kernels/triangular/tiles/TilesAlgorithm.hpp>

#include <random>

#include "TestGraphs.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Detail::grow_tiles;
using Detail::join_tiles;
using Detail::most_tile_rows;
using Detail::order_runs;
using Detail::order_tiles;
using Detail::RunOrder;
using Detail::Tile;
using Detail::TileGroup;
using Detail::TileOrder;
using Detail::TileRun;
using Detail::TileRuns;
using Detail::Tiles;
using Detail::TileVertex;
using TestGraphs::Graph;

/// Tiles with the memory of their vertices.
struct Grown : Tiles {
  explicit Grown(const Graph& graph) : memory(graph.num_vertices) {
    static_cast<Tiles&>(*this) = grow_tiles(graph.num_vertices, graph.row_map,
                                            graph.entries, memory.data());
  }
  std::vector<TileVertex> memory;

  /// The vertex at each place.
  std::vector<int> in(const TileOrder& order) const {
    std::vector<int> made(memory.size(), -1);
    for (int v = 0; v < num_vertices; ++v)
      made.at(order.place_of[vertex[v].tile].first_row + vertex[v].place()) = v;
    return made;
  }
};

std::vector<std::pair<std::string, Graph>> graphs() {
  std::vector<std::pair<std::string, Graph>> all;
  for (unsigned seed = 1; seed <= 6; ++seed)
    all.push_back(
        {"random " + std::to_string(seed),
         TestGraphs::random_graph(700, 0.5 * seed * seed, 700, seed)});
  for (unsigned seed = 1; seed <= 3; ++seed)
    all.push_back({"band " + std::to_string(seed),
                   TestGraphs::random_graph(900, 6.0, 40, seed)});
  std::vector<std::set<int>> dense(130), star(300), none(70), path(600);
  for (int v = 1; v < 600; ++v) path[v].insert(v - 1);
  all.push_back({"path", TestGraphs::make_graph(path)});
  all.push_back({"narrow", TestGraphs::random_graph(800, 3.0, 9, 5)});
  for (int v = 0; v < 130; ++v)
    for (int u = 0; u < v; ++u) dense[v].insert(u);
  for (int u = 0; u < 299; ++u) star[299].insert(u);
  all.push_back({"dense", TestGraphs::make_graph(dense)});
  all.push_back({"star", TestGraphs::make_graph(star)});
  all.push_back({"no entries", TestGraphs::make_graph(none)});
  all.push_back({"empty", TestGraphs::make_graph({})});
  return all;
}

TEST(Tiles, DependenciesOutsideAreOfLesserDepth) {
  for (const auto& [name, graph] : graphs()) {
    SCOPED_TRACE(name);
    const Grown t(graph);
    std::vector<int> size(t.count(), 0);
    std::vector<std::vector<int>> rows(t.count());
    int depths = 0;
    for (int v = 0; v < graph.num_vertices; ++v) {
      const TileVertex& of = t.vertex[v];
      const Tile& tile = t.of(v);
      EXPECT_EQ(of.place(), size[of.tile]++) << v;
      EXPECT_EQ(of.depth, tile.depth) << v;
      rows[of.tile].push_back(v);
      depths = std::max(depths, tile.depth + 1);
      int outside = 0;
      unsigned ancestors = 1u << of.place();
      for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k) {
        const int u = graph.entries(k);
        if (t.vertex[u].tile == of.tile) {
          ancestors |= t.vertex[u].ancestors;
          continue;
        }
        ++outside;
        EXPECT_LT(t.of(u).depth, tile.depth) << u << " of " << v;
      }
      EXPECT_EQ(of.outside, outside) << v;
      EXPECT_EQ(of.ancestors, ancestors) << v;
      EXPECT_LE(outside, tile.longest);
    }
    EXPECT_EQ(t.depths, depths);
    for (int k = 0; k < t.count(); ++k) {
      EXPECT_EQ(t.tile[k].size, size[k]);
      EXPECT_LE(size[k], most_tile_rows);
    }
  }
}

/// A chain of tiles is at most as long as one of rows, and a 32nd of it (of as
/// many rows as a tile has) if all rows are one after the other.
TEST(Tiles, ChainsAreShort) {
  std::vector<std::set<int>> path(1000);
  for (int v = 1; v < 1000; ++v) path[v].insert(v - 1);
  EXPECT_EQ(Grown(TestGraphs::make_graph(path)).depths,
            999 / most_tile_rows + 1);
  for (const auto& [name, graph] : graphs()) {
    SCOPED_TRACE(name);
    std::vector<int> level(graph.num_vertices, 0);
    int levels = 0;
    for (int v = 0; v < graph.num_vertices; ++v) {
      for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k)
        level[v] = std::max(level[v], level[graph.entries(k)] + 1);
      levels = std::max(levels, level[v] + 1);
    }
    EXPECT_LE(Grown(graph).depths, levels);
  }
}

TEST(Tiles, GroupsHoldWholeTilesInOrderOfDepth) {
  for (const auto& [name, graph] : graphs())
    for (const int warps : {1, 4}) {
      SCOPED_TRACE(name + ", warps " + std::to_string(warps));
      const Grown t(graph);
      constexpr int most_steps = 8, most_width = 16;
      const TileOrder order = order_tiles(t, warps, most_steps, most_width);
      const auto vertex = t.in(order);
      auto sorted = vertex;
      std::sort(sorted.begin(), sorted.end());
      for (int v = 0; v < graph.num_vertices; ++v) ASSERT_EQ(sorted[v], v);
      int row = 0, depth = 0;
      std::int64_t slot = 0, inner = 0;
      for (const TileGroup& g : order.groups) {
        EXPECT_EQ(g.first_row, row);
        EXPECT_EQ(g.first_slot, slot);
        EXPECT_EQ(g.first_inner, inner);
        ASSERT_GT(g.rows, 0);
        ASSERT_LE(g.rows << g.log_lanes, most_tile_rows);
        const int share = (1 << g.log_lanes) * (g.of_team ? warps : 1);
        for (int r = 0; r < g.rows; ++r) {
          const int v = vertex[row + r], place = t.vertex[v].place();
          const Tile& tile = t.of(v);
          EXPECT_GE(tile.depth, depth);
          depth = tile.depth;
          EXPECT_LE(t.vertex[v].outside, g.steps * share);
          EXPECT_LE(tile.size, g.width);
          // All of the tile, row by row.
          EXPECT_EQ(&t.of(vertex[row + r - place]), &tile);
          EXPECT_LE(r - place + tile.size, g.rows);
          EXPECT_EQ(&order.groups[order.place_of[t.vertex[v].tile].group], &g);
        }
        if (g.throttle >= 0) {
          EXPECT_LT(t.of(vertex[g.throttle]).depth, depth);
        }
        if (!g.of_team && warps > 1) {
          EXPECT_LE(g.width, most_width);
        }
        row += g.rows;
        slot += std::int64_t{g.steps} * share * g.rows;
        inner += std::int64_t{g.width} * g.rows;
      }
      EXPECT_EQ(row, graph.num_vertices);
      EXPECT_EQ(slot, order.slots);
      EXPECT_EQ(inner, order.inner);
      // Padding takes no more than twice the entries, and some.
      EXPECT_LE(order.slots,
                2 * graph.num_edges() +
                    (256 + 32 * 4 * warps) * std::int64_t(order.groups.size()));
      // A ticket is one shared group, or one for each warp at most.
      ASSERT_EQ(order.tickets.back(), int(order.groups.size()));
      for (std::size_t k = 0; k + 1 < order.tickets.size(); ++k) {
        const int first = order.tickets[k], end = order.tickets[k + 1];
        ASSERT_LT(first, end);
        EXPECT_LE(end - first, warps);
        for (int g = first; g < end; ++g)
          EXPECT_TRUE(!order.groups[g].of_team || end - first == 1);
      }
    }
}

TEST(Tiles, RunsNeedFewUnknownsOfRunsOfLesserDepth) {
  constexpr int most_tiles = 5, most_unknowns = 20;
  int found = 0;
  for (const auto& [name, graph] : graphs()) {
    SCOPED_TRACE(name);
    const Grown t(graph);
    const TileRuns runs =
        join_tiles(t, graph.row_map, graph.entries, most_tiles, most_unknowns);
    if (runs.count() == 0) continue;
    ++found;
    std::vector<std::set<int>> unknowns(runs.count());
    int depths = 0;
    for (int v = 0; v < graph.num_vertices; ++v) {
      const int run = runs.run_of[t.vertex[v].tile];
      depths = std::max(depths, runs.depth[run] + 1);
      for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k) {
        const int u = graph.entries(k), other = runs.run_of[t.vertex[u].tile];
        if (other == run) continue;
        EXPECT_LT(runs.depth[other], runs.depth[run]) << u << " of " << v;
        unknowns[run].insert(u);
      }
    }
    EXPECT_EQ(runs.depths, depths);
    std::vector<int> tiles;
    for (int r = 0; r < runs.count(); ++r) {
      EXPECT_LE(int(runs.tiles[r].size()), most_tiles);
      EXPECT_LE(int(runs.unknowns[r].size()), most_unknowns);
      EXPECT_EQ(runs.unknowns[r],
                std::vector<int>(unknowns[r].begin(), unknowns[r].end()));
      int depth = 0;
      for (const int k : runs.tiles[r]) {
        EXPECT_EQ(runs.run_of[k], r);
        EXPECT_GE(t.tile[k].depth, depth);
        depth = t.tile[k].depth;
        tiles.push_back(k);
      }
    }
    std::sort(tiles.begin(), tiles.end());
    ASSERT_EQ(int(tiles.size()), t.count());
    for (int k = 0; k < t.count(); ++k) EXPECT_EQ(tiles[k], k);

    const RunOrder made = order_runs(t, runs, 4);
    const auto vertex = t.in(made.order);
    int row = 0, group = 0, depth = 0;
    std::int64_t weight = 0;
    ASSERT_EQ(int(made.runs.size()), runs.count());
    for (std::size_t r = 0; r < made.runs.size(); ++r) {
      const TileRun& run = made.runs[r];
      EXPECT_EQ(run.first_row, row);
      EXPECT_EQ(run.first_group, group);
      EXPECT_EQ(run.first_weight, weight);
      for (; group < run.end_group; ++group) {
        const TileGroup& g = made.order.groups[group];
        EXPECT_EQ(g.first_row, row);
        EXPECT_EQ(g.run, int(r));
        EXPECT_LE(g.rows << g.log_lanes, most_tile_rows);
        for (int i = 0; i < g.rows; ++i, ++row) {
          const TileVertex& v = t.vertex[vertex[row]];
          EXPECT_EQ(v.place(), i);
          EXPECT_LE(v.outside, g.steps << g.log_lanes);
          const int of = runs.run_of[v.tile];
          EXPECT_GE(runs.depth[of], depth);
          depth = runs.depth[of];
        }
      }
      EXPECT_EQ(run.rows, row - run.first_row);
      weight += std::int64_t{run.rows} * run.unknowns;
    }
    EXPECT_EQ(row, graph.num_vertices);
    EXPECT_EQ(group, int(made.order.groups.size()));
    EXPECT_EQ(made.weights, weight);
    EXPECT_EQ(made.order.tickets.back(), runs.count());
    for (std::size_t k = 0; k + 1 < made.order.tickets.size(); ++k)
      EXPECT_LE(made.order.tickets[k + 1] - made.order.tickets[k], 4);
  }
  EXPECT_GE(found, 4);
}

TEST(Tiles, RunsMakeChainsShorter) {
  std::vector<std::set<int>> band(6400);
  for (int v = 1; v < 6400; ++v)
    for (int u = std::max(0, v - 7); u < v; ++u) band[v].insert(u);
  const Graph graph = TestGraphs::make_graph(band);
  const Grown t(graph);
  ASSERT_EQ(t.depths, 6400 / most_tile_rows);
  const int tiles = Detail::tiles_of_run(t);
  EXPECT_EQ(tiles, most_tile_rows == 32 ? 8 : 11);
  const TileRuns runs = join_tiles(t, graph.row_map, graph.entries, tiles,
                                   Detail::most_run_unknowns);
  EXPECT_EQ(runs.depths, (t.depths - 1) / tiles + 1);
  EXPECT_EQ(join_tiles(t, graph.row_map, graph.entries, tiles, 6).count(), 0);
}

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Solve = Detail::TilesAlgorithm<double, Space>;

Detail::TilePartition<Space> partition_of(
    const Detail::TriangularAnalysis<Space>& analysis, bool may_invert) {
  return Detail::partition_tiles(
      Space(), analysis.graph,
      Detail::TileSizes<double, Space>::teams(may_invert));
}

/// Row after row of a lower triangle, diagonals last.
struct Triangle {
  std::vector<std::vector<double>> rows;  // of the columns before, dense

  /// Groups of tiles, and those of them that are inverted.
  std::pair<int, int> inverted(bool may_invert, bool divide) const {
    const Space exec;
    std::vector<std::set<int>> dependencies(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (rows[i][j] != 0) dependencies[i].insert(int(j));
    Graph host = TestGraphs::make_graph(dependencies);
    std::vector<double> values;
    host.value_index = decltype(host.value_index)("value", host.num_edges());
    host.diagonal_value_index =
        decltype(host.diagonal_value_index)("diagonal", rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      auto k = host.row_map(i);
      for (const int j : dependencies[i]) {
        host.value_index(k++) = std::int64_t(values.size());
        values.push_back(rows[i][std::size_t(j)]);
      }
      host.diagonal_value_index(i) = std::int64_t(values.size());
      values.push_back(rows[i][i]);
    }
    Detail::TriangularAnalysis<Space> analysis;
    analysis.graph = mirror_graph(Memory(), host);
    analysis.num_values = std::int64_t(values.size());
    Solve solve(exec, analysis, partition_of(analysis, may_invert),
                std::int64_t(rows.size()), may_invert);
    solve.make_workspace(exec, 1, std::size_t{1} << 30);
    const auto given = Detail::to_device<double, Memory>("values", values);
    solve.set_values(exec, given.data(), divide);
    exec.fence();
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                           solve.inverted());
    int count = 0;
    for (std::size_t g = 0; g < found.extent(0); ++g) count += found(g);
    return {int(found.extent(0)), count};
  }
};

/// A tile: all rows depend on all before.
Triangle full(int rows, double entry, double diagonal) {
  Triangle A;
  for (int i = 0; i < rows; ++i) {
    A.rows.emplace_back(i + 1, entry);
    A.rows.back().back() = diagonal;
  }
  return A;
}

TEST(Tiles, InversesThatKeepTheAccuracyAreUsed) {
  const auto tame = full(most_tile_rows - 2, -0.01, 1);
  EXPECT_EQ(tame.inverted(true, false), std::make_pair(1, 1));
  // Enqueued values come with divisions: inverses do as well.
  EXPECT_EQ(tame.inverted(true, true), std::make_pair(1, 1));
  EXPECT_EQ(tame.inverted(false, false), std::make_pair(1, 0));
}

TEST(Tiles, InversesThatWouldCostAccuracyAreNot) {
  // Its entries are powers of two up to 2^28.
  EXPECT_EQ(full(most_tile_rows - 2, -1, 1).inverted(true, false),
            std::make_pair(1, 0));
  // Underflow, overflow, and what is not a number.
  for (const double diagonal : {1e200, 1e-200, 0., std::nan("")}) {
    Triangle A = full(2, 1e-200, 1);
    A.rows[1] = {diagonal > 1 ? 1e-200 : 1e200, diagonal};
    EXPECT_EQ(A.inverted(true, false), std::make_pair(1, 0)) << diagonal;
  }
  // Of bounds that overflow nothing is known.
  EXPECT_EQ(full(most_tile_rows - 2, -1e305, 1e305).inverted(true, false),
            std::make_pair(1, 0));
  // Numbers that cancel are not lost.
  Triangle zero = full(3, 1, 1);
  EXPECT_EQ(zero.inverted(true, false), std::make_pair(1, 1));
}

/// `count` blocks of 64 rows; a row depends on half of those before it.
Graph blocks_of_64(int count) {
  std::mt19937 random(3);
  std::vector<std::set<int>> dependencies(64 * count);
  for (int v = 0; v < 64 * count; ++v)
    for (int u = v / 64 * 64; u < v; ++u)
      if (random() % 2) dependencies[v].insert(u);
  return TestGraphs::make_graph(dependencies);
}

TEST(Tiles, WarpsSolveRightHandSidesTogetherIfAllAreBusy) {
  const Space exec;
  const auto together = [&](int count, bool may_invert, int wanted,
                            std::size_t bytes = std::size_t{1} << 30) {
    const Graph host =
        TestGraphs::with_value_indices(blocks_of_64(count), false);
    Detail::TriangularAnalysis<Space> analysis;
    analysis.graph = mirror_graph(Memory(), host);
    analysis.num_values =
        3 * std::max<std::int64_t>(host.num_edges(), host.num_vertices) + 2;
    Solve solve(exec, analysis, partition_of(analysis, may_invert), 64,
                may_invert);
    const int columns = solve.make_workspace(exec, wanted, bytes);
    EXPECT_LE(columns, wanted);
    EXPECT_EQ(columns > 1, Detail::is_gpu<Space> && bytes > 0);
    return solve.columns_per_warp() > 1;
  };
  EXPECT_EQ(together(200, true, 32), Detail::is_gpu<Space>);
  EXPECT_EQ(together(40, true, 32), Detail::is_gpu<Space>) << "busy enough";
  EXPECT_FALSE(together(1, true, 32)) << "nobody is busy";
  EXPECT_FALSE(together(200, false, 32)) << "row by row";
  EXPECT_EQ(together(200, true, 8), Detail::is_gpu<Space>);
  EXPECT_FALSE(together(200, true, 2)) << "few";
  EXPECT_FALSE(together(200, true, 32, 0)) << "no memory";
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
