// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_LevelSets.hpp>
#include <analysis/level_sets/CacheBlockOrder.hpp>
#include <analysis/level_sets/LevelOrder.hpp>

#include "PlanCheck.hpp"
#include "TestGraphs.hpp"

namespace {

using namespace Strata;
using TestGraphs::Graph;

TEST(LevelSets, AgreeWithRelaxation) {
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    SCOPED_TRACE(name);
    const auto sets = find_level_sets(graph);
    EXPECT_TRUE(are_level_sets(graph, sets));

    // Longest paths by raising levels until nothing changes.
    std::vector<int> level(graph.num_vertices, 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (int i = graph.num_vertices - 1; i >= 0; --i)
        for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
          if (level[i] <= level[graph.entries(k)]) {
            level[i] = level[graph.entries(k)] + 1;
            changed = true;
          }
    }
    EXPECT_EQ(level, sets.level_of);
  }
}

template <class View>
std::vector<typename View::non_const_value_type> to_vector(const View& view) {
  const auto host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {host.data(), host.data() + host.extent(0)};
}

/// The order on the device against the level sets found on the host.
void expect_order(const Graph& graph) {
  const Kokkos::DefaultExecutionSpace exec;
  const auto device = mirror_graph(exec, graph);
  const auto sets = find_level_sets(graph);
  const auto length = [&](int v) {
    return graph.row_map(v + 1) - graph.row_map(v);
  };
  for (const auto within :
       {WithinLevel::ascending, WithinLevel::longest_rows_first}) {
    // A host has levels of its own, and can find them a device's way as well.
    for (const bool as_device : {false, true}) {
      if (as_device && graph.num_vertices == 0) continue;
      Detail::WorkPool<Kokkos::DefaultExecutionSpace> pool(exec, 0);
      const auto order =
          as_device ? Detail::make_level_order(
                          exec, device, within, pool,
                          Detail::find_levels_on_device(exec, device, pool))
                    : order_by_level(exec, device, within);
      ASSERT_EQ(order.num_vertices(), graph.num_vertices);
      ASSERT_EQ(order.num_levels(), sets.num_levels);
      EXPECT_EQ(to_vector(order.level_of), sets.level_of);
      const std::vector<std::int64_t> level_map(sets.level_map.begin(),
                                                sets.level_map.end());
      EXPECT_EQ(order.sizes.level_map, level_map);
      if (sets.num_levels > 0) {
        EXPECT_EQ(to_vector(order.level_map), level_map);
      }
      auto vertices = sets.vertices;
      for (int l = 0; l < sets.num_levels; ++l) {
        const auto begin = vertices.begin() + sets.level_map[l];
        const auto end = vertices.begin() + sets.level_map[l + 1];
        if (within == WithinLevel::longest_rows_first)
          std::stable_sort(begin, end,
                           [&](int a, int b) { return length(a) > length(b); });
        std::int64_t longest = 0;
        for (auto v = begin; v != end; ++v)
          longest = std::max(longest, length(*v));
        EXPECT_EQ(order.sizes.rows(l), end - begin);
        EXPECT_EQ(order.sizes.longest_row[l], longest);
      }
      EXPECT_EQ(to_vector(order.vertex), vertices);
      const auto permuted_row = to_vector(order.permuted_row);
      const auto lengths = to_vector(order.length);
      for (int p = 0; p < graph.num_vertices; ++p) {
        EXPECT_EQ(permuted_row[vertices[p]], p);
        EXPECT_EQ(lengths[p], length(vertices[p]));
      }
    }
  }
}

TEST(LevelSets, DeviceOrderIsTheHosts) {
  for (const auto& [name, graph] : TestGraphs::all_graphs()) {
    SCOPED_TRACE(name);
    expect_order(graph);
    if (HasFailure()) return;
  }
}

TEST(LevelSets, DeviceOrderIsTheHostsForLargerGraphs) {
  // More vertices than a device has lanes under way, rows of all lengths, and
  // rows that a warp reads together with dependencies in and outside the warp.
  unsigned seed = 77;
  for (const auto& [degree, reach] :
       {std::pair{3.0, 30000}, std::pair{6.0, 12}, std::pair{40.0, 300},
        std::pair{150.0, 900}}) {
    SCOPED_TRACE(std::to_string(degree) + " within " + std::to_string(reach));
    expect_order(TestGraphs::random_graph(degree < 10 ? 60000 : 3000, degree,
                                          reach, ++seed));
    if (HasFailure()) return;
  }
  expect_order(TestGraphs::random_graph(70000, 3.0, 4000, ++seed));
  expect_order(TestGraphs::chain_graph(20000));
  expect_order(TestGraphs::dense_graph(700));
  expect_order(TestGraphs::arrow_graph(50000));
  expect_order(TestGraphs::grid_graph(61, 47, 13));
  expect_order(TestGraphs::interleaved_chains(33, 300, true));
}

/// Blocks one after the other, and in each its own level sets.
TEST(LevelSets, BlocksFollowEachOther) {
  const Kokkos::DefaultExecutionSpace exec;
  for (const auto& [name, graph] : TestGraphs::all_graphs())
    for (const int block : {1, 7, 64, 100000}) {
      if (graph.num_vertices == 0) continue;
      SCOPED_TRACE(name + ", blocks of " + std::to_string(block));
      Detail::WorkPool<Kokkos::DefaultExecutionSpace> pool(exec, 0);
      const auto device = mirror_graph(exec, graph);
      const auto whole = Detail::make_level_order(
          exec, device, WithinLevel::longest_rows_first, pool);
      const auto order = Detail::order_by_cache_blocks(
          exec, device, whole, block, WithinLevel::longest_rows_first, pool);
      const auto vertex = to_vector(order.vertex);
      const auto permuted_row = to_vector(order.permuted_row);
      const auto level = to_vector(order.level_of);
      const auto level_of_graph = to_vector(whole.level_of);
      ASSERT_EQ(order.sizes.level_map.size(),
                std::size_t(order.num_levels()) + 1);
      for (int p = 0; p < graph.num_vertices; ++p) {
        const int v = vertex[p];
        ASSERT_EQ(permuted_row[v], p);
        EXPECT_GE(p, order.sizes.level_map[level[v]]);
        EXPECT_LT(p, order.sizes.level_map[level[v] + 1]);
        for (auto e = graph.row_map(v); e < graph.row_map(v + 1); ++e)
          EXPECT_LT(level[graph.entries(e)], level[v]);
        if (p == 0) continue;
        const int before = vertex[p - 1];
        EXPECT_LE(before / block, v / block);
        const bool together = before / block == v / block &&
                              level_of_graph[before] == level_of_graph[v];
        EXPECT_EQ(level[v], level[before] + (together ? 0 : 1));
      }
      if (HasFailure()) return;
    }
}

TEST(LevelSets, SortByKeyIsStable) {
  const Kokkos::DefaultExecutionSpace exec;
  using Memory = Kokkos::DefaultExecutionSpace::memory_space;
  std::mt19937_64 random(5);
  for (const int count : {0, 1, 2, 1000, 70000})
    for (const int bits : {0, 1, 7, 9, 33, 64}) {
      SCOPED_TRACE(std::to_string(count) + " keys of " + std::to_string(bits) +
                   " bits");
      const Kokkos::View<std::uint64_t*, Memory> keys("keys", count);
      const Kokkos::View<int*, Memory> values("values", count);
      const auto keys_host = Kokkos::create_mirror_view(keys);
      const auto values_host = Kokkos::create_mirror_view(values);
      std::vector<std::pair<std::uint64_t, int>> expected(count);
      for (int i = 0; i < count; ++i) {
        keys_host(i) = bits == 0 ? 0 : random() >> (64 - bits);
        values_host(i) = i;
        expected[i] = {keys_host(i), i};
      }
      Kokkos::deep_copy(keys, keys_host);
      Kokkos::deep_copy(values, values_host);
      std::sort(expected.begin(), expected.end());
      Detail::sort_by_key(exec, keys, values, bits);
      exec.fence();
      const auto sorted_keys = to_vector(keys);
      const auto sorted_values = to_vector(values);
      for (int i = 0; i < count; ++i) {
        ASSERT_EQ(sorted_keys[i], expected[i].first);
        ASSERT_EQ(sorted_values[i], expected[i].second);
      }
    }
  EXPECT_EQ(Detail::bits_for(0), 0);
  EXPECT_EQ(Detail::bits_for(1), 1);
  EXPECT_EQ(Detail::bits_for(255), 8);
  EXPECT_EQ(Detail::bits_for(256), 9);
}

TEST(LevelSets, HaveTheKnownNumbers) {
  EXPECT_EQ(find_level_sets(Graph{}).num_levels, 0);
  EXPECT_EQ(find_level_sets(TestGraphs::make_graph({{}})).num_levels, 1);
  EXPECT_EQ(find_level_sets(TestGraphs::chain_graph(50)).num_levels, 50);
  EXPECT_EQ(find_level_sets(TestGraphs::arrow_graph(50)).num_levels, 2);
  EXPECT_EQ(find_level_sets(TestGraphs::grid_graph(10, 20)).num_levels, 29);
  EXPECT_EQ(find_level_sets(TestGraphs::grid_graph(5, 6, 7)).num_levels, 16);
}

TEST(LevelSets, CheckSeesEveryFault) {
  const auto graph = TestGraphs::grid_graph(6, 5);
  const auto good = find_level_sets(graph);
  ASSERT_TRUE(are_level_sets(graph, good));
  const auto broken = [&](auto&& spoil) {
    auto sets = good;
    spoil(sets);
    return !are_level_sets(graph, sets);
  };
  EXPECT_TRUE(broken([](LevelSets& s) { ++s.level_of[7]; }));
  EXPECT_TRUE(broken([](LevelSets& s) { s.level_of.pop_back(); }));
  EXPECT_TRUE(broken([](LevelSets& s) { s.vertices.pop_back(); }));
  EXPECT_TRUE(broken([](LevelSets& s) { s.vertices[3] = -1; }));
  EXPECT_TRUE(
      broken([](LevelSets& s) { std::swap(s.vertices[1], s.vertices[2]); }));
  EXPECT_TRUE(broken([](LevelSets& s) { s.vertices[2] = s.vertices[1]; }));
  EXPECT_TRUE(broken([](LevelSets& s) { ++s.level_map[2]; }));
  EXPECT_TRUE(broken([](LevelSets& s) { --s.level_map.back(); }));
  EXPECT_TRUE(broken([](LevelSets& s) { ++s.num_levels; }));
}

}  // namespace
