// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <analysis/dependency_graph/ComponentSizes.hpp>
#include <analysis/picciau/Components.hpp>
#include <analysis/picciau/PackComponents.hpp>
#include <numeric>
#include <random>

#include "TestGraphs.hpp"

namespace {

using namespace Strata;
using TestGraphs::Graph;
using Exec = Kokkos::DefaultExecutionSpace;

DependencyGraph<Exec::memory_space> on_device(const Graph& graph) {
  DependencyGraph<Exec::memory_space> copy;
  copy.num_vertices = graph.num_vertices;
  if (graph.row_map.extent(0) == 0) return copy;
  const Exec::memory_space memory;
  copy.row_map = Kokkos::create_mirror_view_and_copy(memory, graph.row_map);
  copy.entries = Kokkos::create_mirror_view_and_copy(memory, graph.entries);
  return copy;
}

TEST(ComponentSizes, AreThoseOfTheComponents) {
  auto graphs = TestGraphs::all_graphs();
  // Many threads merge into few representatives, and long paths.
  graphs.emplace_back("large", TestGraphs::random_graph(40000, 1.3, 300, 77));
  graphs.emplace_back("long", TestGraphs::interleaved_chains(2, 30000, false));
  for (const auto& [name, graph] : graphs) {
    SCOPED_TRACE(name);
    Detail::WorkPool<Exec> pool(Exec(), 0);
    const auto components = Detail::find_components(graph);
    int count = 0, largest = 0;
    for (int size : components.size) {
      count += size > 1;
      largest = std::max(largest, size);
    }
    const auto host =
        Detail::component_sizes_on_host(graph, graph.num_vertices);
    EXPECT_EQ(host.count, count);
    EXPECT_EQ(host.largest, largest);
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto parallel = Detail::component_sizes_in_parallel(
          Exec(), on_device(graph), largest, pool);
      EXPECT_EQ(parallel.count, count);
      EXPECT_EQ(parallel.largest, largest);
    }
    // Counting ends with a component beyond the limit, and not before.
    for (const int limit : {largest, largest - 1, largest / 2})
      for (const auto& found : {Detail::component_sizes_on_host(graph, limit),
                                Detail::component_sizes_in_parallel(
                                    Exec(), on_device(graph), limit, pool)}) {
        if (limit >= largest) {
          EXPECT_EQ(found.largest, largest);
        } else {
          EXPECT_GT(found.largest, limit);
        }
      }
  }
}

TEST(PackComponents, MakesRunsOfAboutTheSameWork) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    const int count = std::uniform_int_distribution<int>(1, 300)(random);
    const int max_rows = std::uniform_int_distribution<int>(20, 400)(random);
    const int concurrency = std::uniform_int_distribution<int>(2, 40)(random);
    std::vector<int> sizes(count);
    std::vector<std::int64_t> work(count);
    for (int c = 0; c < count; ++c) {
      sizes[c] = std::uniform_int_distribution<int>(2, 20)(random);
      work[c] = std::uniform_int_distribution<int>(1, 100)(random);
    }
    const auto run_of =
        Detail::pack_components(sizes, work, max_rows, concurrency);
    const int runs = *std::max_element(run_of.begin(), run_of.end()) + 1;
    std::vector<std::int64_t> rows(runs, 0), filled(runs, 0);
    for (int c = 0; c < count; ++c) {
      rows[run_of[c]] += sizes[c];
      filled[run_of[c]] += work[c];
    }
    EXPECT_LE(*std::max_element(rows.begin(), rows.end()), max_rows);
    if (count < concurrency || std::accumulate(sizes.begin(), sizes.end(), 0) >
                                   concurrency * (max_rows / 2))
      continue;
    // With room enough: neighbours stay together, and no run has more than its
    // share and one component.
    EXPECT_TRUE(std::is_sorted(run_of.begin(), run_of.end()));
    const double share =
        double(std::accumulate(work.begin(), work.end(), std::int64_t{0})) /
        concurrency;
    if (runs <= concurrency) {
      EXPECT_LE(double(*std::max_element(filled.begin(), filled.end())),
                share + double(*std::max_element(work.begin(), work.end())));
    }
  }
}

TEST(PackComponents, SharesSixteenEqualOnesEvenly) {
  const std::vector<int> sizes(16, 4000);
  const std::vector<std::int64_t> work(16, 12000);
  for (const int threads : {2, 4, 8, 16}) {
    const auto run_of = Detail::pack_components(sizes, work, 65535, threads);
    for (int c = 0; c < 16; ++c) EXPECT_EQ(run_of[c], c * threads / 16);
  }
  // Five rooms are needed: a multiple of two.
  const auto run_of = Detail::pack_components(sizes, work, 13000, 2);
  EXPECT_EQ(run_of.back() + 1, 6);
  // By first fit: three to a sub-graph.
  const auto tight = Detail::pack_components(sizes, work, 13000, 0);
  for (int c = 0; c < 16; ++c) EXPECT_EQ(tight[c], c / 3);
}

}  // namespace
