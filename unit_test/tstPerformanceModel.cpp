// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_PerformanceModel.hpp>
#include <Strata_Subgraphs.hpp>
#include <limits>

#include "TestGraphs.hpp"

namespace {

using namespace Strata;

/// Binary numbers, so that sums are exact.
PerformanceParameters parameters() {
  PerformanceParameters p;
  p.alpha = 8;
  p.tau = 0.25;
  p.tau_external = 2;
  return p;
}

TEST(PerformanceModel, IsTheDocumentsFormula) {
  // Two chains of six in thirds, one edge into the second's middle from the
  // first's beginning: sub-graphs 0, 1 | 2, 3 | 4, 5.
  std::vector<std::set<int>> sources(12);
  for (int v = 2; v < 12; ++v) sources[v] = {v - 2};
  sources[7].insert(0);
  const auto graph = TestGraphs::make_graph(sources);
  const auto s =
      subgraphs_from_map(graph, {0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5});
  ASSERT_EQ(s.num_levels, 3);
  const auto slots = count_slots(graph, s);
  // One internal slot everywhere, one external one after the first level.
  const double level_1 = 0.25, level_2 = 0.25 + 2, level_3 = 0.25 + 2;
  EXPECT_EQ(predict_subgraphs(parameters(), s, slots),
            3 * 8 + level_1 + level_2 + level_3);
}

TEST(PerformanceModel, NothingTakesNoTime) {
  EXPECT_EQ(predict_subgraphs(parameters(), subgraphs_from_map({}, {}), {}), 0);
}

TEST(PerformanceModel, RefusesImpossibleParameters) {
  EXPECT_NO_THROW(check_parameters({}));
  const auto refused = [](auto&& spoil) {
    PerformanceParameters p;
    spoil(p);
    try {
      check_parameters(p);
    } catch (const OptionError& e) {
      return e.argument();
    }
    return std::string();
  };
  EXPECT_EQ(refused([](auto& p) { p.alpha = 0; }),
            "PerformanceParameters::alpha");
  EXPECT_EQ(refused([](auto& p) { p.tau = -1; }), "PerformanceParameters::tau");
  EXPECT_EQ(refused([](auto& p) {
              p.tau_external = std::numeric_limits<double>::infinity();
            }),
            "PerformanceParameters::tau_external");
}

}  // namespace
