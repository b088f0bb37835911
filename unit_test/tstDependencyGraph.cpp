// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_DependencyGraph.hpp>

#include "TestGraphs.hpp"

namespace {

using namespace Strata;
using TestGraphs::Graph;

TEST(DependencyGraph, MirrorsWhatItIsGiven) {
  auto graph = TestGraphs::grid_graph(4, 4);
  graph.reversed = true;
  const auto same = mirror_graph(Kokkos::HostSpace{}, graph);
  EXPECT_EQ(same.entries.data(), graph.entries.data());
  const auto there = mirror_graph(Kokkos::DefaultExecutionSpace{}, graph);
  const auto back = mirror_graph(Kokkos::HostSpace{}, there);
  EXPECT_EQ(back.num_vertices, 16);
  EXPECT_TRUE(back.reversed);
  EXPECT_EQ(back.row_of(0), 15);
  EXPECT_EQ(same.num_edges(), 24);
  for (int v = 0; v <= 16; ++v) EXPECT_EQ(back.row_map(v), graph.row_map(v));
  for (int k = 0; k < 24; ++k) EXPECT_EQ(back.entries(k), graph.entries(k));
  EXPECT_EQ(mirror_graph(Kokkos::DefaultExecutionSpace{}, Graph{}).num_edges(),
            0);
}

}  // namespace
