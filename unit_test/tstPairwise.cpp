// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Pairwise.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace Strata {
namespace {

/// Pairs of values of two factors that are in no case.
int pairs_left_out(const std::vector<int>& sizes,
                   const std::vector<std::vector<int>>& cases) {
  std::set<std::tuple<int, int, int, int>> met;
  int pairs = 0;
  const int factors = static_cast<int>(sizes.size());
  for (int f = 0; f < factors; ++f)
    for (int g = f + 1; g < factors; ++g) {
      pairs += sizes[f] * sizes[g];
      for (const auto& one : cases) met.insert({f, one[f], g, one[g]});
    }
  return pairs - static_cast<int>(met.size());
}

TEST(Pairwise, CasesHaveEveryPairOfValues) {
  for (const std::vector<int>& sizes : {std::vector<int>{2, 3},
                                        {3, 2, 4},
                                        {1, 5, 1},
                                        {2, 2, 2, 2, 2, 2},
                                        {25, 11, 8},
                                        {7, 2, 9, 3, 2}}) {
    const auto cases = pairwise_cases(sizes);
    for (const auto& one : cases) {
      ASSERT_EQ(one.size(), sizes.size());
      for (std::size_t f = 0; f < sizes.size(); ++f) {
        EXPECT_GE(one[f], 0);
        EXPECT_LT(one[f], sizes[f]);
      }
    }
    EXPECT_EQ(pairs_left_out(sizes, cases), 0);
  }
}

TEST(Pairwise, CountOfPairsLeftOutNoticesAMissingCase) {
  auto cases = pairwise_cases({3, 4});
  EXPECT_EQ(cases.size(), 12u);  // two factors leave nothing to save
  cases.pop_back();
  EXPECT_EQ(pairs_left_out({3, 4}, cases), 1);
}

/// No covering has fewer cases than the two largest factors have pairs.
TEST(Pairwise, CasesAreFewMoreThanTheTwoLargestFactorsNeed) {
  const struct {
    std::vector<int> sizes;
    std::size_t least, product;
  } tables[] = {{{25, 11, 8}, 275, 2200},
                {{4, 4, 2, 2, 2}, 16, 128},
                {{2, 2, 2, 2, 2, 2}, 4, 64},
                {{7, 2, 9, 3, 2}, 63, 756}};
  for (const auto& table : tables) {
    const auto count = pairwise_cases(table.sizes).size();
    EXPECT_GE(count, table.least);
    EXPECT_LE(count, 2 * table.least);
    EXPECT_LT(count, table.product);
  }
}

TEST(Pairwise, OneFactorHasACaseForEachValue) {
  EXPECT_EQ(pairwise_cases({3}),
            (std::vector<std::vector<int>>{{0}, {1}, {2}}));
}

TEST(Pairwise, FactorsWithoutValuesHaveNoCase) {
  EXPECT_TRUE(pairwise_cases({}).empty());
  EXPECT_TRUE(pairwise_cases({0}).empty());
  EXPECT_TRUE(pairwise_cases({3, 0, 2}).empty());
}

TEST(Pairwise, SameSizesGiveTheSameCases) {
  EXPECT_EQ(pairwise_cases({5, 3, 4}), pairwise_cases({5, 3, 4}));
}

}  // namespace
}  // namespace Strata
