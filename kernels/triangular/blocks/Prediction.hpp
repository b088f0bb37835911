// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_PREDICTION_HPP

#include <algorithm>
#include <analysis/blocks/EllLayout.hpp>
#include <kernels/triangular/selection/PlanSizes.hpp>
#include <kernels/triangular/selection/SolveFeatures.hpp>

namespace Strata {
namespace Detail {

/// Bytes of a plan at least. There are as many blocks as level sets, where
/// those are known.
inline std::size_t least_bytes_of_blocks(const PlanSizes& sizes) {
  return sizes.of_rows() + sizes.of_entries() +
         std::max<std::size_t>(sizes.levels, sizes.rows > 0 ? 1 : 0) *
             sizeof(EllBlock);
}

/// Parts of the prediction for a block, or a run of blocks.
struct BlockCosts {
  const SolveFeatures& f;

  /// All teams wait for the block before: two dependencies and the last row.
  double multi_team() const { return 2.4 * f.p.handover; }
  /// Four teams of 512 threads, one a right-hand side, fill a multiprocessor.
  double single_team() const {
    return f.p.block * std::max(1., f.columns / (4. * f.processors));
  }
};

/// A single-team block takes as long as another one until it fills the team;
/// multi-team ones wait for each other. Later launches overlap with the end of
/// the one before. `slots` is what the storage holds, padding included.
/// Right-hand sides of single-team runs go to a team each, others to
/// teams that run side by side.
template <class Runs>
double predict_blocks(const SolveFeatures& f, const Runs& runs,
                      std::int64_t slots) {
  const auto& p = f.p;
  const BlockCosts block{f};
  const double padding =
      (double(slots) - f.edges) * (f.scalar + 4) / p.bytes_per_us;
  double total =
      f.bytes_us + std::max(0., padding) + f.more_vectors(4) + p.alpha / 2;
  // A team reads the longest row alone.
  total += p.handover * std::max(0., f.longest_row() - 2000) / 800;
  for (const auto& run : runs)
    total +=
        p.alpha / 2 +
        run.blocks() * (run.wide ? block.multi_team()
                                 : block.single_team() *
                                       std::max(1., run.mean_rows() / 400.));
  return total;
}
/// No blocks can do better than this.
inline double blocks_at_least(const SolveFeatures& f) {
  const auto& p = f.p;
  const BlockCosts block{f};
  return p.alpha + f.bytes_us + f.more_vectors(4) +
         f.sizes.least_blocks *
             std::min(block.single_team(), block.multi_team());
}

}  // namespace Detail
}  // namespace Strata

#endif
