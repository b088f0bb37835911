// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <kernels/triangular/selection/HostRows.hpp>
#include <random>
#include <set>
#include <vector>

#include "RandomSeed.hpp"
#include "TestGraphs.hpp"

namespace Strata {
namespace {

using TestGraphs::Graph;

/// Rows that need as many rows before them as `length` says, the nearest first.
template <class Length>
Graph rows_of(int n, const Length& length) {
  std::vector<std::set<int>> dependencies(n);
  for (int i = 0; i < n; ++i)
    for (int d = 1; d <= length(i) && d <= i; ++d)
      dependencies[i].insert(i - d);
  return TestGraphs::make_graph(dependencies);
}

TEST(HostRows, RowsThatNeedNothingAreInNoChain) {
  for (const int n : {0, 1, 1000}) {
    const auto rows =
        Detail::sample_host_rows(rows_of(n, [](int) { return 0; }));
    EXPECT_EQ(rows.in_chains, 0) << n;
    EXPECT_EQ(rows.unforeseen, 0) << n;
  }
}

TEST(HostRows, ChainsCountWhereTheyAreLong) {
  // Also where they are a sample of the rows.
  for (const int n : {2000, 300000}) {
    const auto chain = Detail::sample_host_rows(TestGraphs::chain_graph(n));
    EXPECT_GT(chain.in_chains, 0.99) << n;
    EXPECT_LE(chain.in_chains, 1) << n;
    EXPECT_LT(chain.unforeseen, 0.01) << n;
  }
  const auto of_length = [](int length) {
    return Detail::sample_host_rows(
        rows_of(40000, [length](int i) { return i % length ? 1 : 0; }));
  };
  EXPECT_EQ(of_length(16).in_chains, 0);
  EXPECT_NEAR(of_length(64).in_chains, 47. / 64, 0.01);
  // A dependency that is not the row before makes no chain.
  EXPECT_EQ(Detail::sample_host_rows(TestGraphs::star_graph(5000)).in_chains,
            0);
}

TEST(HostRows, PatternsAreForetoldAndRandomLengthsAreNot) {
  const auto periodic = rows_of(100000, [](int i) { return i % 5; });
  EXPECT_LT(Detail::sample_host_rows(periodic).unforeseen, 0.01);
  std::mt19937 random(random_seed());
  std::vector<int> length(100000);
  for (int& l : length) l = std::uniform_int_distribution<int>(1, 4)(random);
  const auto any = rows_of(100000, [&](int i) { return length[i]; });
  // Three of four guesses.
  EXPECT_NEAR(Detail::sample_host_rows(any).unforeseen, 0.75, 0.03);
  // So few that they are remembered from one solve to the next.
  const auto few = rows_of(500, [&](int i) { return length[i]; });
  EXPECT_LT(Detail::sample_host_rows(few).unforeseen, 0.15);
}

}  // namespace
}  // namespace Strata
