// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_PREDICTION_HPP
#define STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_PREDICTION_HPP

#include <algorithm>
#include <kernels/triangular/level_sets/LevelTasks.hpp>
#include <kernels/triangular/level_sets/LevelTiles.hpp>
#include <kernels/triangular/selection/HostRule.hpp>
#include <kernels/triangular/selection/SolveFeatures.hpp>

namespace Strata {
namespace Detail {

/// A row of a level set that `threads` of a host share. Rows are scattered; the
/// more threads, the more dependencies come from another one's cache.
inline double predict_shared_row(const PerformanceParameters& p, int threads,
                                 double entries) {
  return 3.5 * p.serial_row + (2 + 0.45 * threads) * entries * p.serial_entry;
}

/// By `threads` of a host, which share level sets.
inline double predict_shared_level_sets(const SolveFeatures& f, int threads) {
  const auto& p = f.p;
  double waits = 0, work = 0;
  bool alone = true;
  for (int l = 0; l < f.sizes.num_levels; ++l) {
    const double rows = f.sizes.rows(l), entries = double(f.sizes.edges[l]);
    const int parts = LevelShares::parts(rows, entries, threads);
    if (parts == 1) {
      waits += 0.7 * p.narrow_level;
      work += 3 * rows * p.serial_row + 1.5 * entries * p.serial_entry;
    } else {
      waits += p.handover;
      work += rows / parts * predict_shared_row(p, threads, entries / rows);
      alone = false;
    }
  }
  // Alone, a thread comes back to a line of b or x after a whole level set.
  constexpr double own_cache = 2 * 1024 * 1024;
  if (alone && f.bytes_us * p.bytes_per_us > own_cache)
    work += f.rows * p.narrow_level;
  // One thread is the caller's. A team's slowest thread counts, whatever slowed
  // it down.
  return 1.1 * (std::max(waits + HostRule::side_by_side(f.columns) * work,
                         f.bytes_us + f.more_vectors(4)) +
                (alone ? 0. : 1 + 0.1 * threads) * p.alpha);
}

/// What schedules of tiles are compared by. Within a tile a thread has rows
/// that do not need each other, in its own cache, and takes little longer than
/// substitution takes of rows that are no chain. docs/notes/hosts.md
/// has what the factors were fitted to.
inline TileCosts tile_costs(const SolveFeatures& f) {
  const auto& p = f.p;
  constexpr double ns = 1000;
  const double many = HostRule::side_by_side(f.columns);
  TileCosts costs;
  costs.row = costs.row_alone = ns * many * 1.6 * p.serial_row;
  // A thread then fetches b and x of a block's rows from memory, or from a
  // cache that cores share, at more places than it can fetch ahead.
  costs.row_beyond = ns * many * 0.3 * p.narrow_level;
  costs.bytes = f.bytes_us * p.bytes_per_us;
  costs.step = ns * many * p.narrow_level;
  costs.entry = ns * many * 1.9 * p.serial_entry;
  costs.handover = ns * 0.6 * p.handover;
  costs.line = 0.08 * costs.handover * f.columns;
  costs.launch = ns * p.alpha;
  return costs;
}

/// By tiles, of which a schedule has been made.
inline double predict_tiles(const SolveFeatures& f, double scheduled_ns,
                            int threads) {
  // A few threads have their share of the bandwidth.
  const double share =
      std::max(1., std::min(f.processors, 16) / double(threads));
  return 1.1 *
         std::max(scheduled_ns / 1000, share * f.bytes_us + f.more_vectors(4));
}

/// `narrow_chunks` and `warps` as LevelSetSolve's narrow_chunks and
/// team_warps().
inline double predict_level_sets(const SolveFeatures& f, int narrow_chunks,
                                 int warps) {
  if (f.width == 1) return predict_shared_level_sets(f, warps);
  const auto& p = f.p;
  double total = f.bytes_us + f.more_vectors(4);
  if (f.edges == 0 && f.columns == 1) return f.begin() + total;
  // b and x of rows that are not neighbours come in sectors of 32 bytes. With
  // several contiguous right-hand sides each has its own, as have dependencies,
  // which takes two to three times as long as the bytes.
  if (f.columns == 1)
    total += SolveFeatures::beside_waiting * 64 * f.rows / p.bytes_per_us;
  else if (f.edges > 0)
    total += 2 * f.columns * (64 * f.rows + 32 * f.edges) / p.bytes_per_us;
  // Right-hand sides in eights: a team has its registers full, and several
  // blocks go side by side.
  const double of_team = f.columns > 1 ? 2.6 : 1.;
  bool open = false;
  for (int l = 0; l < f.sizes.num_levels; ++l) {
    const double entries = double(f.sizes.edges[l]);
    const double chunks =
        std::max(f.sizes.rows(l) / double(f.width), entries / (4. * f.width));
    const bool narrow = chunks <= narrow_chunks;
    if (!narrow || !open) total += p.alpha;
    open = narrow;
    total += of_team * p.narrow_level *
             ((narrow ? std::max(1., chunks / warps) : 1.) +
              f.longest_row(l) / (4. * f.width));
  }
  return total;
}

}  // namespace Detail
}  // namespace Strata

#endif
