// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_PREDICTION_HPP

#include <algorithm>
#include <analysis/merging/MergedLevels.hpp>
#include <analysis/packing/RowChunk.hpp>
#include <cmath>
#include <kernels/triangular/selection/SolveFeatures.hpp>

namespace Strata {
namespace Detail {

/// @param in_blocks   one right-hand side, and see gains_by_blocks
/// @param neighbours  of the rows, where a sample says that
inline double predict_sync_free(const SolveFeatures& f, bool in_blocks,
                                const NeighbourShares& neighbours = {}) {
  const auto& p = f.p;
  // The latency of a dependency is longer for a tile of right-hand sides.
  const double of_block = f.columns > 1 ? 0.75 : 0.;
  double waits = 0;
  for (int l = 0; l < f.sizes.num_levels; ++l) {
    const double longest = f.longest_row(l);
    // The latency of a dependency; rows that lanes share take their sum as
    // well. A very long row may be all there is to wait for: the sums of its
    // pieces take further latencies, and with several right-hand sides it takes
    // a warp many turns.
    const double turns = 1.8 * std::max(0., longest - 2000) / (8. * f.width);
    waits += (f.columns > 1 ? 1. : 1.2) * p.handover *
             (1 + of_block + (longest > 8 ? 0.25 : 0.) +
              (f.columns > 1 ? turns : std::min(2., turns)));
  }
  // Dependencies, and b and x of rows, come in sectors of 32 bytes, which
  // neighbours share. Blocks keep sectors in the caches that neighbours come
  // back to.
  const double most = in_blocks ? 0.6 : 1.;
  const double sectors =
      sector_bytes *
      (std::min(most, neighbours.new_dependencies) * f.edges +
       2 * std::min(most, neighbours.new_rows) * f.rows) /
      p.bytes_per_us;
  const double bytes = f.bytes_us + sectors;
  return f.begin() + f.more_vectors(6) + waits +
         (f.columns > 1 ? bytes : f.beside_waits(bytes, waits));
}

/// With merged level sets, for one right-hand side: fewer dependencies to wait
/// for, each of them longer for longer lists, and more entries, whose
/// dependencies mostly lie in sectors that are read anyway. Coefficients count
/// less than dependencies, as they need no waiting. Rows that stay as they are
/// hold up others. The fewer rows level sets have, the fewer others poll.
inline double predict_merged_sync_free(const SolveFeatures& f,
                                       const LevelsCandidate& merged,
                                       const NeighbourShares& neighbours = {}) {
  const auto& p = f.p;
  const double k = merged.levels;
  const double waits = std::ceil(f.sizes.num_levels / k) *
                       (1 + (k - 1) * std::min(1., 2 * merged.stay));
  const double length = merged.dependencies + merged.coefficients;
  const double longer =
      0.014 * merged.dependencies + 0.005 * merged.coefficients +
      0.009 * std::min(length, 8.) + 0.001 * std::max(0., length - 24);
  const double of_level = std::max(1., k * f.rows / f.sizes.num_levels);
  const double polled = std::pow(std::min(1., of_level / 600), 0.07);
  const double more = std::max(0., f.rows * length - f.edges);
  // Where level sets are few, the b of neighbours' coefficients are no
  // neighbours in memory.
  const double scattered =
      f.sizes.num_levels < 32 ? f.rows * merged.coefficients : more / 8;
  const double latency =
      1.26 * p.handover * polled * (1 + std::min(0.8, longer)) * waits;
  const double bytes =
      f.bytes_us +
      (more * (f.scalar + 4) +
       sector_bytes * (neighbours.new_dependencies * f.edges +
                       2 * neighbours.new_rows * f.rows + scattered)) /
          p.bytes_per_us;
  return f.begin() + latency + f.beside_waits(bytes, latency);
}
/// What it takes to count the rows of one depth in an analysis: 5 to 25
/// microseconds on an H100, and up to 100 where rows have dozens of entries.
constexpr double counting_us = 15;

/// Bytes of that plan, to about a tenth: more slots are idle where level sets
/// are narrow, and dependencies that are near take half a word. The recipes of
/// new values have a byte for each entry of a merged row and of its
/// coefficients' rows, and rows share some of them.
/// @param in_order  see DependencyGraph::values_in_order
inline double merged_sync_free_bytes(const SolveFeatures& f,
                                     const LevelsCandidate& merged,
                                     bool in_order) {
  const double length = f.edges / f.rows;
  const double of_level = f.rows / std::max(1, f.sizes.num_levels);
  const double idle = 1.03 + 0.22 * std::min(1., 100 / of_level);
  const double reach = std::min(f.rows, 2 * merged.levels * of_level);
  const double dependency = reach <= RowChunk::most_distance ? 2.3 : 4;
  const double recipe = (1 - 1. / merged.levels) * (length + 2) +
                        merged.coefficients * (length + 1);
  return f.rows *
         (3 * f.scalar + 12 + (in_order ? 0 : 4 * (length + 1)) + recipe / 2 +
          idle * (f.scalar + dependency) *
              (merged.dependencies + merged.coefficients));
}

}  // namespace Detail
}  // namespace Strata

#endif
