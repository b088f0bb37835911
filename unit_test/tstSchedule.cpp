// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Partition.hpp>
#include <Strata_Schedule.hpp>
#include <algorithm>
#include <map>

#include "PlanCheck.hpp"
#include "TestGraphs.hpp"

namespace {

using namespace Strata;
using TestGraphs::Graph;

/// Every test graph under several partitions: cut by the library, a single
/// sub-graph, and runs of vertices.
template <class Check>
void for_each_case(const Check& check) {
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    for (const int max_rows : {1, 5, 50, 1000}) {
      SCOPED_TRACE(name + ", " + std::to_string(max_rows) + " rows");
      check(graph,
            partition(graph, find_level_sets(graph), max_rows).subgraphs);
    }
    SCOPED_TRACE(name + ", runs");
    std::vector<int> run_of(graph.num_vertices);
    for (int v = 0; v < graph.num_vertices; ++v) run_of[v] = v / 33;
    check(graph, subgraphs_from_map(graph, run_of));
  }
}

TEST(Schedule, KeepsItsPromises) {
  for_each_case([](const Graph& graph, const Subgraphs& s) {
    const auto schedule = make_schedule(graph, s);
    EXPECT_TRUE(check_schedule(graph, s, schedule));

    const auto counts = count_slots(graph, s);
    for (int g = 0; g < s.count; ++g) {
      const auto slots = [&](const SlotList& list) {
        return list.slot_map[g + 1] - list.slot_map[g];
      };
      EXPECT_EQ(counts.internal[g], slots(schedule.internal));
      EXPECT_EQ(counts.external[g], slots(schedule.external));
      EXPECT_LT(counts.internal[g], s.size(g));

      // As many external slots as the vertex with most such edges needs.
      std::int64_t most = 0;
      for (int p = s.vertex_map[g]; p < s.vertex_map[g + 1]; ++p) {
        const int i = s.vertices[p];
        std::int64_t external = 0;
        for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
          external += s.subgraph_of[graph.entries(k)] != g;
        most = std::max(most, external);
      }
      EXPECT_EQ(counts.external[g], most);
    }
  });
}

TEST(Schedule, KeepsItsPromisesWhenManyThreadsMakeIt) {
  const auto graph = TestGraphs::random_graph(30000, 4, 3000, 17);
  ASSERT_GT(graph.num_edges(), 100000);
  const auto s = partition(graph, find_level_sets(graph), 500).subgraphs;
  ASSERT_TRUE(is_feasible(graph, s, 500));
  const auto schedule = make_schedule(graph, s);
  EXPECT_TRUE(check_schedule(graph, s, schedule));
  const auto counts = count_slots(graph, s);
  for (int g = 0; g < s.count; ++g)
    EXPECT_EQ(counts.internal[g], schedule.internal.slot_map[g + 1] -
                                      schedule.internal.slot_map[g]);
}

TEST(Schedule, SlotsAreThoseOfTheDocument) {
  // Algorithms 4 and 5, mended as docs/algorithms/subgraphs.md says, with one
  // set a slot: every edge begins in the slot after its source's last, and
  // moves to the first free one.
  for_each_case([](const Graph& graph, const Subgraphs& s) {
    std::vector<int> expected(graph.num_edges(), 0), last(s.num_vertices, -1);
    for (int i = 0; i < s.num_vertices; ++i) {
      std::set<int> internal, external;
      for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
        const int j = graph.entries(k);
        const bool inside = s.subgraph_of[j] == s.subgraph_of[i];
        auto& taken = inside ? internal : external;
        int slot = inside ? last[j] + 1 : 0;
        while (!taken.insert(slot).second) ++slot;
        if (inside) last[i] = std::max(last[i], slot);
        expected[k] = slot;
      }
    }
    // Which of two edges moves is left open: compare, for each vertex, the
    // slots that its edges take.
    std::map<std::pair<int, bool>, std::multiset<int>> want, have;
    std::vector<int> target_of(graph.num_edges());
    for (int i = 0; i < s.num_vertices; ++i)
      for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
        const bool inside = s.subgraph_of[graph.entries(k)] == s.subgraph_of[i];
        want[{i, inside}].insert(expected[k]);
        target_of[k] = i;
      }
    const auto schedule = make_schedule(graph, s);
    for (const bool inside : {false, true}) {
      const auto& list = inside ? schedule.internal : schedule.external;
      for (int g = 0; g < s.count; ++g)
        for (auto q = list.slot_map[g]; q < list.slot_map[g + 1]; ++q)
          for (auto e = list.edge_map[q]; e < list.edge_map[q + 1]; ++e)
            have[{target_of[list.entry[e]], inside}].insert(
                int(q - list.slot_map[g]));
    }
    EXPECT_EQ(have, want);
  });
}

/// Algorithm 1 of Picciau et al. on the host, sub-graphs of a level in
/// descending order to show that their order does not matter.
std::vector<double> solve(const Graph& graph, const Subgraphs& s,
                          const Schedule& schedule,
                          const std::vector<double>& values,
                          const std::vector<double>& diagonal,
                          std::vector<double> x) {
  for (int v : s.isolated) x[v] /= diagonal[v];
  for (int p = 0; p < s.num_levels; ++p)
    for (int t = s.level_map[p + 1] - 1; t >= s.level_map[p]; --t) {
      const int g = s.order[t];
      const int* const vertices = s.vertices.data() + s.vertex_map[g];
      std::vector<double> local(s.size(g));
      for (int v = 0; v < s.size(g); ++v) local[v] = x[vertices[v]];
      // A vertex is divided by its diagonal when its edges are done, so that
      // its targets read its final value.
      std::vector<int> missing(s.size(g), 0);
      const auto note = [&](int v) {
        if (--missing[v] == 0) local[v] /= diagonal[vertices[v]];
      };
      for (int v = 0; v < s.size(g); ++v) {
        const int i = vertices[v];
        missing[v] = int(graph.row_map(i + 1) - graph.row_map(i)) + 1;
        note(v);
      }
      for (const bool inside : {false, true}) {
        const auto& list = inside ? schedule.internal : schedule.external;
        for (auto q = list.slot_map[g]; q < list.slot_map[g + 1]; ++q)
          for (auto e = list.edge_map[q + 1] - 1; e >= list.edge_map[q]; --e) {
            local[list.target[e]] -=
                values[list.entry[e]] *
                (inside ? local[list.source[e]] : x[list.source[e]]);
            note(list.target[e]);
          }
      }
      for (int v = 0; v < s.size(g); ++v) x[vertices[v]] = local[v];
    }
  return x;
}

TEST(Schedule, SolvesTheSystem) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> entry(-1, 1);
  for_each_case([&](const Graph& graph, const Subgraphs& s) {
    const int n = graph.num_vertices;
    std::vector<double> values(graph.num_edges()), diagonal(n), b(n);
    for (int i = 0; i < n; ++i) {
      const auto length = graph.row_map(i + 1) - graph.row_map(i);
      for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
        values[k] = entry(random);
      diagonal[i] = 1. + double(length) + entry(random) / 2;
      b[i] = entry(random);
    }
    auto reference = b;
    for (int i = 0; i < n; ++i) {
      for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
        reference[i] -= values[k] * reference[graph.entries(k)];
      reference[i] /= diagonal[i];
    }
    const auto x =
        solve(graph, s, make_schedule(graph, s), values, diagonal, b);
    for (int i = 0; i < n; ++i) ASSERT_NEAR(x[i], reference[i], 1e-13);
  });
}

TEST(Schedule, HasTheKnownNumbers) {
  const auto one = [](const Graph& graph) {
    return subgraphs_from_map(graph, std::vector<int>(graph.num_vertices, 0));
  };
  const auto slots = [&](const Graph& graph) {
    return count_slots(graph, one(graph)).internal[0];
  };
  EXPECT_EQ(slots(TestGraphs::chain_graph(30)), 29);
  EXPECT_EQ(slots(TestGraphs::arrow_graph(30)), 29);
  EXPECT_EQ(slots(TestGraphs::dense_graph(30)), 29);
  // From one vertex of the diagonal to the next: a slot for the vertex beside
  // it, then two for the next one, both of whose sources are ready at once.
  EXPECT_EQ(slots(TestGraphs::grid_graph(8, 8)), 3 * 7);
}

TEST(Schedule, CheckSeesEveryFault) {
  const auto graph = TestGraphs::random_graph(60, 3, 30, 8);
  const auto s = partition(graph, find_level_sets(graph), 20).subgraphs;
  const auto good = make_schedule(graph, s);
  ASSERT_TRUE(check_schedule(graph, s, good));
  ASSERT_GT(good.external.num_slots(), 1);
  const auto broken = [&](auto&& spoil) {
    auto schedule = good;
    spoil(schedule.external, schedule.internal);
    return !check_schedule(graph, s, schedule);
  };
  EXPECT_TRUE(broken([](auto& x, auto&) { x.entry[0] = x.entry[1]; }));
  EXPECT_TRUE(broken([](auto& x, auto&) { x.entry[0] = -1; }));
  EXPECT_TRUE(broken([](auto& x, auto&) { ++x.source[0]; }));
  EXPECT_TRUE(broken([](auto&, auto& i) { i.source[0] = -1; }));
  EXPECT_TRUE(broken([](auto& x, auto&) { x.target[0] = 60; }));
  EXPECT_TRUE(broken([](auto&, auto& i) { ++i.target[0]; }));
  EXPECT_TRUE(broken([](auto& x, auto&) { ++x.slot_map[1]; }));
  EXPECT_TRUE(broken([](auto& x, auto&) { --x.edge_map.back(); }));
  EXPECT_TRUE(broken([](auto&, auto& i) { i.source.pop_back(); }));
  EXPECT_TRUE(broken([](auto&, auto& i) { i.target.pop_back(); }));
  EXPECT_TRUE(broken([](auto& x, auto& i) { std::swap(x, i); }));
  // An edge moved into the slot before: into one with its source, or beside
  // another into the same vertex.
  int moved = 0;
  for (int g = 0; g < s.count; ++g)
    for (auto q = good.internal.slot_map[g] + 1;
         q < good.internal.slot_map[g + 1]; ++q, ++moved)
      EXPECT_TRUE(broken([q](auto&, auto& i) { ++i.edge_map[q]; }));
  EXPECT_GT(moved, 5);
}

}  // namespace
