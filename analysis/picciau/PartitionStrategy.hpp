// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_PARTITION_STRATEGY_HPP
#define STRATA_ANALYSIS_PICCIAU_PARTITION_STRATEGY_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_PartitionMethod.hpp>
#include <Strata_SortCriterion.hpp>
#include <algorithm>
#include <analysis/picciau/LevelBands.hpp>
#include <analysis/picciau/SplitComponent.hpp>
#include <analysis/picciau/SplitOrder.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// A strategy that splits the large components.
struct Strategy {
  /// Levels a band, or 0 for Picciau et al.'s Algorithm 3.
  int band_height = 0;
  /// Bands: what part of max_rows a chunk may have, 1 / shrink.
  int shrink = 1;
  /// Algorithm 3: sub-graphs allowed, in percent of ceil(size / max_rows).
  int percent = 100;
  SortCriterion criterion = SortCriterion::natural;
  RootDeal deal = RootDeal::cyclic;
  /// Algorithm 3 as the authors print it: halving is never cut short.
  bool as_printed = false;

  std::string name() const {
    if (as_printed) return std::string("Picciau 2017, ") + to_string(criterion);
    if (band_height > 0)
      return "bands of " + std::to_string(band_height) + " levels" +
             (shrink > 1 ? ", rows / " + std::to_string(shrink) : "");
    return std::string("heuristic, ") + to_string(criterion) +
           (deal == RootDeal::cyclic ? ", cyclic, " : ", blocked, ") +
           std::to_string(percent) + "%";
  }
};

/// The components that are too large for one sub-graph.
class SplitProblem {
 public:
  /// `component_of`: number of each vertex's large component, -1 outside;
  /// `sizes`: vertices of each.
  SplitProblem(const DependencyGraph<Kokkos::HostSpace>& graph,
               const LevelSets& levels, const std::vector<int>& component_of,
               const std::vector<int>& sizes, int max_rows)
      : graph_(graph),
        levels_(levels),
        component_of_(component_of),
        sizes_(sizes),
        roots_(sizes.size(), 0),
        max_rows_(max_rows) {
    for (int v = 0; v < graph.num_vertices; ++v)
      if (component_of[v] >= 0 && levels.level_of[v] == 0)
        ++roots_[component_of[v]];
  }

  /// The strategies worth a try, those most likely to be good first: Algorithm
  /// 3 and bands in turn; for Picciau 2017 Algorithm 3 as printed, with each
  /// criterion.
  std::vector<Strategy> strategies(PartitionMethod method,
                                   SortCriterion criterion) const {
    const auto heuristics = heuristic_strategies(
        criterion, method == PartitionMethod::picciau_2017);
    const auto bands = band_strategies();
    if (method == PartitionMethod::heuristic ||
        method == PartitionMethod::picciau_2017)
      return heuristics;
    if (method == PartitionMethod::level_bands) return bands;
    std::vector<Strategy> all;
    for (std::size_t t = 0; t < std::max(heuristics.size(), bands.size());
         ++t) {
      if (t < heuristics.size()) all.push_back(heuristics[t]);
      if (t < bands.size()) all.push_back(bands[t]);
    }
    return all;
  }

  /// Numbers the sub-graphs of all large components from 0 and returns how
  /// many numbers that took.
  int split(const Strategy& strategy, std::vector<int>& subgraph_of,
            std::int64_t& work) {
    if (strategy.band_height > 0)
      return split_level_bands(
          levels_, component_of_, strategy.band_height,
          (max_rows_ + strategy.shrink - 1) / strategy.shrink, 0, subgraph_of);
    if (order_.empty() || strategy.criterion != ordered_by_) {
      order_ = split_order(graph_, levels_, component_of_, int(sizes_.size()),
                           strategy.criterion);
      ordered_by_ = strategy.criterion;
    }
    int base = 0;
    auto unlimited = std::numeric_limits<std::int64_t>::max();
    auto& allowed = strategy.as_printed ? unlimited : work;
    const int* vertices = order_.data();
    for (std::size_t c = 0; c < sizes_.size(); ++c) {
      const std::int64_t least =
          (sizes_[c] + std::int64_t(max_rows_) - 1) / max_rows_;
      const int num_split = int(std::min<std::int64_t>(
          sizes_[c], (least * strategy.percent + 99) / 100));
      split_component(graph_, {vertices, sizes_[c], roots_[c]}, num_split,
                      max_rows_, strategy.deal, base, subgraph_of, allowed);
      base += num_split;
      vertices += sizes_[c];
    }
    return base;
  }

 private:
  std::vector<Strategy> heuristic_strategies(SortCriterion criterion,
                                             bool as_printed) const {
    // There is one choice for a single starting vertex, and it starts one
    // sub-graph however many are allowed.
    const bool one_deal = *std::max_element(roots_.begin(), roots_.end()) == 1;
    std::vector<Strategy> list;
    for (const int percent : {100, 150})
      for (const auto each : sort_criteria)
        for (const auto deal : {RootDeal::cyclic, RootDeal::blocked}) {
          if ((criterion != SortCriterion::automatic && each != criterion) ||
              ((one_deal || as_printed) &&
               (deal == RootDeal::blocked || percent > 100)))
            continue;
          Strategy strategy;
          strategy.percent = percent;
          strategy.criterion = each;
          strategy.deal = deal;
          strategy.as_printed = as_printed;
          list.push_back(strategy);
        }
    return list;
  }

  /// With B bands of C chunks each, and every chunk waiting for its left
  /// neighbour as in a grid, there are about B + C sub-graph levels: least at
  /// B = C, the square root of the number of sub-graphs. Heights are tried from
  /// there outwards, by powers of two.
  std::vector<Strategy> band_strategies() const {
    std::int64_t vertices = 0;
    for (int size : sizes_) vertices += size;
    const double bands = std::sqrt(double(vertices) / max_rows_);
    int middle = 1;
    while (middle < levels_.num_levels / bands / std::sqrt(2.)) middle *= 2;

    std::vector<Strategy> list;
    const auto add = [&](double height, int shrink) {
      // A height of all levels or more makes one band; one such is enough.
      if (height < 1 || height >= 2. * levels_.num_levels) return;
      Strategy strategy;
      strategy.band_height = int(std::min<double>(height, levels_.num_levels));
      strategy.shrink = shrink;
      list.push_back(strategy);
    };
    for (int distance = 0; distance <= 4; ++distance)
      for (const int shrink : {1, 2, 4}) {
        add(std::ldexp(middle, -distance), shrink);
        if (distance > 0) add(std::ldexp(middle, distance), shrink);
      }
    return list;
  }

  const DependencyGraph<Kokkos::HostSpace>& graph_;
  const LevelSets& levels_;
  const std::vector<int>& component_of_;
  const std::vector<int>& sizes_;
  std::vector<int> roots_, order_;
  SortCriterion ordered_by_ = SortCriterion::automatic;
  int max_rows_;
};

}  // namespace Detail
}  // namespace Strata

#endif
