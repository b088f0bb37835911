// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_PAIRWISE_HPP
#define STRATA_TEST_PAIRWISE_HPP

#include <algorithm>
#include <cstddef>
#include <vector>

namespace Strata {

/// A pairwise covering (covering array of strength two): cases in which any two
/// values of two different factors meet, far fewer than the product of all
/// factors. It is for tests whose factors share their paths two by two. A path
/// that takes three factors to reach needs a test of its own.
///
/// Each case takes the first pair that is still missing, and gives the other
/// factors, one after the other, the value that meets most missing pairs; the
/// least used value where several do. The same sizes give the same cases.
///
/// @param sizes  how many values each factor has
/// @returns cases, each with an index in [0, size) for every factor; none where
///          there is no factor or one without values
inline std::vector<std::vector<int>> pairwise_cases(
    const std::vector<int>& sizes) {
  const int factors = static_cast<int>(sizes.size());
  std::vector<std::vector<int>> cases;
  if (sizes.empty() || *std::min_element(sizes.begin(), sizes.end()) < 1)
    return cases;
  if (factors == 1) {
    for (int value = 0; value < sizes[0]; ++value) cases.push_back({value});
    return cases;
  }
  std::vector<int> first(factors, 0);  // number of a factor's first value
  for (int f = 1; f < factors; ++f) first[f] = first[f - 1] + sizes[f - 1];
  const int values = first.back() + sizes.back();
  std::vector<char> missing(static_cast<std::size_t>(values) * values, 1);
  std::vector<int> uses(values, 0);
  const auto pair = [&](int f, int u, int g, int v) -> char& {
    if (f > g) {
      std::swap(f, g);
      std::swap(u, v);
    }
    return missing[static_cast<std::size_t>(first[f] + u) * values + first[g] +
                   v];
  };
  const auto complete = [&](std::vector<int> chosen) {
    for (int f = 0; f < factors; ++f) {
      if (chosen[f] >= 0) continue;
      int best = 0, most = -1;
      for (int value = 0; value < sizes[f]; ++value) {
        int met = 0;
        for (int g = 0; g < factors; ++g)
          if (chosen[g] >= 0) met += pair(f, value, g, chosen[g]);
        if (met > most ||
            (met == most && uses[first[f] + value] < uses[first[f] + best])) {
          best = value;
          most = met;
        }
      }
      chosen[f] = best;
    }
    for (int f = 0; f < factors; ++f) {
      ++uses[first[f] + chosen[f]];
      for (int g = f + 1; g < factors; ++g)
        pair(f, chosen[f], g, chosen[g]) = 0;
    }
    cases.push_back(chosen);
  };
  for (int f = 0; f < factors; ++f)
    for (int g = f + 1; g < factors; ++g)
      for (int u = 0; u < sizes[f]; ++u)
        for (int v = 0; v < sizes[g]; ++v)
          if (pair(f, u, g, v)) {
            std::vector<int> chosen(factors, -1);
            chosen[f] = u;
            chosen[g] = v;
            complete(chosen);
          }
  return cases;
}

}  // namespace Strata

#endif
