// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_REGISTRATION_HPP
#define STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_REGISTRATION_HPP

#include <algorithm>
#include <kernels/triangular/level_sets/LevelSetSolve.hpp>
#include <kernels/triangular/level_sets/Prediction.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <kernels/triangular/selection/HostRule.hpp>
#include <memory>
#include <string>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
class LevelSetsRegistration
    : public AlgorithmRegistration<Scalar, ExecutionSpace> {
  using Base = AlgorithmRegistration<Scalar, ExecutionSpace>;
  using Solve = LevelSetSolve<Scalar, ExecutionSpace>;

 public:
  using typename Base::Candidate;
  using typename Base::Pointer;
  using typename Base::Selection;
  static constexpr Algorithm enumerator = Algorithm::level_sets;

  std::size_t least_bytes(const PlanSizes& sizes) const override {
    return sizes.of_rows() + sizes.of_entries() + sizes.of_chunks() +
           (sizes.levels + 1) * 4;
  }

  void consider(Selection& selection) override {
    const SolveFeatures features = selection.features();
    if constexpr (!is_gpu<ExecutionSpace>) {
      if (!HostRule::why_not_level_sets(
               features.rows, features.edges, features.sizes.num_levels,
               features.columns, Solve::team_warps(selection.exec))
               .empty())
        return;
    }
    selection.consider(*this,
                       predict_level_sets(features, Solve::narrow_chunks,
                                          Solve::team_warps(selection.exec)));
    if (!find_tiles(selection, features, selection.best()->predicted_us))
      return;
    tiles_place_ =
        selection
            .consider(*this,
                      predict_tiles(features, tiles_.predicted, tiles_.threads),
                      std::to_string(tiles_.blocks) + " blocks by " +
                          std::to_string(tiles_.bands) + " bands for " +
                          std::to_string(tiles_.threads) +
                          (tiles_.threads == 1 ? " thread" : " threads"))
            .place;
  }
  void consider_named(Selection& selection) override {
    SolveFeatures features = selection.features();
    // A limit on memory that one right-hand side keeps to is enough for more.
    const auto& options = selection.options;
    if (options.max_plan_bytes > 0 || options.max_plan_ratio > 0)
      features.columns = 1;
    if (Solve::team_warps(selection.exec) > 1 &&
        find_tiles(selection, features,
                   predict_level_sets(features, Solve::narrow_chunks,
                                      Solve::team_warps(selection.exec))))
      tiles_place_ = Candidate::not_reported;  // as of what is added
    selection.add(*this);
  }
  void forget(Selection&) override { tiles_ = {}; }

  Pointer make(Selection& selection, const Candidate& candidate) override {
    if constexpr (!is_gpu<ExecutionSpace>) {
      if (tiles_.blocks > 0 && candidate.place == tiles_place_)
        return std::make_shared<Solve>(selection.exec, selection.analysis,
                                       tiles_);
    }
    return std::make_shared<Solve>(selection.exec, selection.analysis);
  }

 private:
  /// Tiles that take less than so many microseconds.
  bool find_tiles(Selection& selection, const SolveFeatures& features,
                  double most_us) {
    (void)selection;
    (void)features;
    (void)most_us;
    if constexpr (!is_gpu<ExecutionSpace>) {
      if (features.edges == 0) return false;
      const TileCosts costs = tile_costs(features);
      using Planner = TilePlanner<ExecutionSpace>;
      const int threads = Solve::team_warps(selection.exec);
      double least = Planner::least(costs, features.rows, features.edges, 1);
      for (int some = threads; some > 1; some /= 2)
        least = std::min(
            least, Planner::least(costs, features.rows, features.edges, some));
      if (predict_tiles(features, least, threads) >= most_us) return false;
      const auto& analysis = selection.analysis;
      if (share_of_far_edges(analysis.graph,
                             threads * Planner::blocks_of_thread) > 0.5)
        return false;
      tiles_ = Planner(selection.exec, analysis.graph, analysis.order, threads,
                       costs)
                   .best();
      if (predict_tiles(features, tiles_.predicted, tiles_.threads) < most_us)
        return true;
      tiles_ = {};
    }
    return false;
  }

  TilePlan tiles_;  // of a host; without blocks: there are none
  std::size_t tiles_place_ = Candidate::not_reported;
};

}  // namespace Detail
}  // namespace Strata

#endif
