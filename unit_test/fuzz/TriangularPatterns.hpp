// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_TRIANGULAR_PATTERNS_HPP
#define STRATA_FUZZ_TRIANGULAR_PATTERNS_HPP

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "Random.hpp"

namespace Strata {
namespace Fuzz {

/// Columns of each row of a strictly lower triangle, ascending.
using Pattern = std::vector<std::vector<int>>;

/// Collects entries in any order, more than once.
class PatternMaker {
 public:
  explicit PatternMaker(int n) : rows_(n) {}
  int size() const { return static_cast<int>(rows_.size()); }
  /// Ignores what is not in the triangle.
  void add(int row, int column) {
    if (column >= 0 && column < row && row < size()) rows_[row].insert(column);
  }
  Pattern pattern() const {
    Pattern made;
    for (const auto& row : rows_) made.emplace_back(row.begin(), row.end());
    return made;
  }

 private:
  std::vector<std::set<int>> rows_;
};

/// The rows of a pattern in the order of its level sets.
inline Pattern in_level_order(const Pattern& pattern) {
  const int n = static_cast<int>(pattern.size());
  std::vector<int> level(n, 0), order(n), place(n);
  for (int i = 0; i < n; ++i) {
    order[i] = i;
    for (const int j : pattern[i]) level[i] = std::max(level[i], level[j] + 1);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return level[a] < level[b]; });
  for (int k = 0; k < n; ++k) place[order[k]] = k;
  PatternMaker made(n);
  for (int i = 0; i < n; ++i)
    for (const int j : pattern[i]) made.add(place[i], place[j]);
  return made.pattern();
}

/// Kinds of patterns, each a function of size and random numbers.
namespace Patterns {

inline void diagonal(PatternMaker&, Random&) {}
inline void chain(PatternMaker& p, Random&) {
  for (int i = 1; i < p.size(); ++i) p.add(i, i - 1);
}
/// Row i needs row i - c.
inline void chains(PatternMaker& p, Random& random) {
  const int c = random.whole(1, 9);
  for (int i = c; i < p.size(); ++i) p.add(i, i - c);
}
inline void short_chains(PatternMaker& p, Random& random) {
  const int length = random.whole(2, 30);
  for (int i = 1; i < p.size(); ++i)
    if (i % length != 0) p.add(i, i - 1);
}
inline void chain_with_jumps(PatternMaker& p, Random& random) {
  for (int i = 1; i < p.size(); ++i) {
    p.add(i, i - 1);
    if (random.chance(0.3)) p.add(i, i / 2);
    if (random.chance(0.3)) p.add(i, random.whole(0, i - 1));
  }
}
inline void blocks(PatternMaker& p, Random& random) {
  const int size = random.whole(2, 40);
  const double density = random.real(0.2, 1);
  for (int i = 0; i < p.size(); ++i)
    for (int j = i / size * size; j < i; ++j)
      if (random.chance(density)) p.add(i, j);
}
/// First column and last row are full.
inline void arrow(PatternMaker& p, Random&) {
  for (int i = 1; i < p.size(); ++i) {
    p.add(i, 0);
    p.add(p.size() - 1, i);
  }
}
/// Every row needs one of a few centres.
inline void stars(PatternMaker& p, Random& random) {
  const int centres = random.whole(1, 5);
  for (int i = centres; i < p.size(); ++i)
    p.add(i, random.whole(0, centres - 1));
}
inline void sparse(PatternMaker& p, Random& random) {
  const double degree = random.real(0.2, 8);
  for (int i = 1; i < p.size(); ++i)
    for (int k = random.poisson(degree); k > 0; --k)
      p.add(i, random.whole(0, i - 1));
}
/// At most 300 rows of it.
inline void dense(PatternMaker& p, Random& random) {
  const double density = random.real(0.3, 1);
  const int first = std::max(0, p.size() - 300);
  for (int i = first; i < p.size(); ++i)
    for (int j = first; j < i; ++j)
      if (random.chance(density)) p.add(i, j);
}
/// Most rows have a few entries and some a large share of their row.
inline void power_law(PatternMaker& p, Random& random) {
  for (int i = 1; i < p.size(); ++i) {
    const double drawn = 0.8 / (random.real(0, 1) + 1.0 / p.size());
    for (int k = std::min(static_cast<int>(drawn), i); k > 0; --k)
      p.add(i, random.whole(0, i - 1));
  }
}
inline void band(PatternMaker& p, Random& random) {
  const int width = random.whole(1, 12);
  const double density = random.real(0.3, 1);
  for (int i = 0; i < p.size(); ++i)
    for (int j = i - width; j < i; ++j)
      if (random.chance(density)) p.add(i, j);
}
/// Level sets of one width, the rows in their order.
inline void waves(PatternMaker& p, Random& random) {
  const int width = random.whole(1, 30);
  for (int i = width; i < p.size(); ++i) {
    const int start = (i / width - 1) * width;
    for (int k = random.whole(1, 4); k > 0; --k)
      p.add(i, random.whole(start, start + width - 1));
  }
}
inline void grid(PatternMaker& p, Random& random) {
  const int side = random.whole(2, 14);
  const bool solid = random.chance(0.3), diagonals = random.chance(0.3);
  for (int i = 1; i < p.size(); ++i) {
    if (i % side != 0) p.add(i, i - 1);
    p.add(i, i - side);
    if (solid) p.add(i, i - side * side);
    if (diagonals) p.add(i, i - side - 1);
  }
}
/// Some rows at the end are dense.
inline void dense_rows(PatternMaker& p, Random& random) {
  const int count = random.whole(1, 4);
  for (int i = 1; i < p.size(); ++i)
    if (random.chance(0.5)) p.add(i, random.whole(0, i - 1));
  for (int i = std::max(1, p.size() - count); i < p.size(); ++i)
    for (int j = 0; j < i; ++j)
      if (random.chance(0.9)) p.add(i, j);
}
inline void few_entries(PatternMaker& p, Random& random) {
  for (int i = 1; i < p.size(); ++i)
    if (random.chance(0.1)) p.add(i, i - 1);
}

struct Kind {
  const char* name;
  void (*fill)(PatternMaker&, Random&);
};
inline const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {{"diagonal", diagonal},
                                        {"chain", chain},
                                        {"chains", chains},
                                        {"short chains", short_chains},
                                        {"chain with jumps", chain_with_jumps},
                                        {"blocks", blocks},
                                        {"arrow", arrow},
                                        {"stars", stars},
                                        {"sparse", sparse},
                                        {"dense", dense},
                                        {"power law", power_law},
                                        {"band", band},
                                        {"waves", waves},
                                        {"grid", grid},
                                        {"dense rows", dense_rows},
                                        {"few entries", few_entries}};
  return all;
}

}  // namespace Patterns

/// A pattern of n rows and its name.
inline std::pair<Pattern, std::string> random_pattern(Random& random, int n) {
  const auto& kind = random.pick(Patterns::kinds());
  PatternMaker maker(n);
  kind.fill(maker, random);
  std::string name = kind.name;
  Pattern pattern = maker.pattern();
  if (random.chance(0.2)) {
    pattern = in_level_order(pattern);
    name += " in level order";
  }
  return {pattern, name};
}

}  // namespace Fuzz
}  // namespace Strata

#endif
