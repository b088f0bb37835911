// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_MERGING_CHOOSE_MERGED_LEVELS_HPP
#define STRATA_KERNELS_TRIANGULAR_MERGING_CHOOSE_MERGED_LEVELS_HPP

#include <algorithm>
#include <analysis/level_sets/CacheBlockOrder.hpp>
#include <analysis/merging/MergedLevels.hpp>
#include <analysis/merging/SampleMerging.hpp>
#include <analysis/packing/RowChunk.hpp>
#include <cmath>
#include <core/device/DeviceInfo.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <limits>
#include <vector>

namespace Strata {
namespace Detail {

/// What a solve by `sync_free` takes on a GPU, for one right-hand side, with
/// each number of merged level sets, in microseconds. Only what these times are
/// relative to each other counts, and for that the costs of an H100 or H200 do:
/// with them a sample merges as many level sets as with measured ones on 84 %
/// of the systems in the tables of docs/tables, and no other number by more
/// than a third in the mean.
class MergingModel {
 public:
  /// @param scalar_bytes  bytes of a scalar
  /// @param lanes         of a warp
  /// @param cache         bytes of the cache that all multiprocessors share
  MergingModel(std::int64_t num_edges, const LevelSizes& sizes,
               std::size_t scalar_bytes, int lanes, double cache)
      : sizes_(sizes),
        rows_(double(sizes.level_map.back())),
        edges_(double(num_edges)),
        scalar_(double(scalar_bytes)),
        lanes_(lanes),
        cache_(cache) {}

  /// A launch, and a dependency's latency through memory.
  static constexpr double launch_us = 5, latency_us = 0.5;
  static constexpr double bytes_per_us = 2.7e6;

  /// All level sets apart.
  /// @param in_blocks  see gains_by_cache_blocks
  double apart(bool in_blocks, const NeighbourShares& neighbours) const {
    double waits = 0;
    for (int l = 0; l < sizes_.num_levels; ++l) {
      // Rows that lanes share take their sum as well. A very long row may be
      // all there is to wait for, and the sums of its pieces take further
      // latencies.
      const double longest = double(sizes_.longest_row[l]);
      const double turns = 1.8 * std::max(0., longest - 2000) / (8. * lanes_);
      waits += 1.2 * latency_us *
               (1 + (longest > 8 ? 0.25 : 0.) + std::min(2., turns));
    }
    // Dependencies, and b and x of rows, come in sectors of 32 bytes, which
    // neighbours share. Blocks keep sectors in the caches that neighbours come
    // back to.
    const double most = in_blocks ? 0.6 : 1.;
    const double bytes =
        matrix_us() +
        sector_bytes *
            (std::min(most, neighbours.new_dependencies) * edges_ +
             2 * std::min(most, neighbours.new_rows) * rows_) /
            bytes_per_us;
    return begin() + waits + beside_waits(bytes, waits);
  }
  /// Fewer dependencies to wait for, each of them longer for longer lists, and
  /// more entries, whose dependencies mostly lie in sectors that are read
  /// anyway. Coefficients count less than dependencies, as they need no
  /// waiting. Rows that stay as they are hold up others. The fewer rows level
  /// sets have, the fewer others poll.
  double merged(const LevelsCandidate& rows,
                const NeighbourShares& neighbours) const {
    const double k = rows.levels;
    const double waits = std::ceil(sizes_.num_levels / k) *
                         (1 + (k - 1) * std::min(1., 2 * rows.stay));
    const double length = rows.dependencies + rows.coefficients;
    const double longer =
        0.014 * rows.dependencies + 0.005 * rows.coefficients +
        0.009 * std::min(length, 8.) + 0.001 * std::max(0., length - 24);
    const double of_level = std::max(1., k * rows_ / sizes_.num_levels);
    const double polled = std::pow(std::min(1., of_level / 600), 0.07);
    const double more = std::max(0., rows_ * length - edges_);
    // Where level sets are few, the b of neighbours' coefficients are no
    // neighbours in memory.
    const double scattered =
        sizes_.num_levels < 32 ? rows_ * rows.coefficients : more / 8;
    const double latency =
        1.26 * latency_us * polled * (1 + std::min(0.8, longer)) * waits;
    const double bytes =
        matrix_us() +
        (more * (scalar_ + 4) +
         sector_bytes * (neighbours.new_dependencies * edges_ +
                         2 * neighbours.new_rows * rows_ + scattered)) /
            bytes_per_us;
    return begin() + latency + beside_waits(bytes, latency);
  }
  /// Bytes of that plan, to about a tenth: more slots are idle where level sets
  /// are narrow, and dependencies that are near take half a word. The recipes
  /// of new values have a byte for each entry of a merged row and of its
  /// coefficients' rows, and rows share some of them.
  /// @param in_order  see DependencyGraph::values_in_order
  double plan_bytes(const LevelsCandidate& rows, bool in_order) const {
    const double length = edges_ / rows_;
    const double of_level = rows_ / std::max(1, sizes_.num_levels);
    const double idle = 1.03 + 0.22 * std::min(1., 100 / of_level);
    const double reach = std::min(rows_, 2 * rows.levels * of_level);
    const double dependency = reach <= RowChunk::most_distance ? 2.3 : 4;
    const double recipe = (1 - 1. / rows.levels) * (length + 2) +
                          rows.coefficients * (length + 1);
    return rows_ *
           (3 * scalar_ + 12 + (in_order ? 0 : 4 * (length + 1)) + recipe / 2 +
            idle * (scalar_ + dependency) *
                (rows.dependencies + rows.coefficients));
  }

 private:
  /// A launch that may begin while the one before it ends (see
  /// run_native_teams).
  static double begin() { return 0.45 * launch_us; }
  /// Packed entries and rows through memory: values, columns, b, x and two
  /// copies of x.
  double matrix_us() const {
    return (edges_ * (scalar_ + 4) + rows_ * (4 * scalar_ + 8)) / bytes_per_us;
  }
  /// What counts, beside waits of so many microseconds in all, of the time that
  /// bytes take. The rest passes during the waits: of bytes from memory as much
  /// at most as there is time in them for, where the rows of a few level sets
  /// load together what they need no waiting for. The last quarter of the cache
  /// is not counted on: lines are in it that lie in the other half's, too.
  double beside_waits(double of_bytes, double waits) const {
    const double hidden = 0.3 * of_bytes;
    constexpr double together = RowChunk::throttle_levels;
    const bool is_in_cache = matrix_us() * bytes_per_us <= 0.75 * cache_;
    return of_bytes -
           (is_in_cache ? hidden : std::min(hidden, together * waits));
  }

  const LevelSizes& sizes_;
  double rows_, edges_, scalar_;
  int lanes_;
  double cache_;
};

/// What a sample of the rows says.
struct MergeChoice {
  struct Number {
    int levels;
    double us;
  };
  int levels = 1;  ///< that become one
  /// All numbers of level sets that are worth to be merged.
  std::vector<Number> worthwhile;
  /// Numbers with which the sample has found rows that stay as they are.
  std::vector<int> staying;

  /// The best number up to `most`; one, if none is worthwhile.
  int fewer(int most) const {
    Number next{1, 0};
    for (const Number& other : worthwhile)
      if (other.levels <= most && (next.levels == 1 || other.us <= next.us))
        next = other;
    return next.levels;
  }
  bool some_stay(int number) const {
    return std::find(staying.begin(), staying.end(), number) != staying.end();
  }
};

/// Chooses the number of level sets that `sync_free` merges into one, from a
/// sample of a thousand rows. Cost: sample_merged_levels.
/// @param analysis   with level sets
/// @param asked      for that number, 0: for the best
/// @param crs_bytes  of the triangle
/// @param may_have   whether a plan may have so many bytes
template <class Scalar, class ExecutionSpace, class MayHave>
MergeChoice choose_merged_levels(
    const ExecutionSpace& exec,
    const TriangularAnalysis<ExecutionSpace>& analysis, int asked,
    double crs_bytes, const MayHave& may_have) {
  // A plan should not take over five times the matrix, never six; an analysis
  // is worth longer for so many solves.
  constexpr double most_size = 5.4, solves = 1000;
  // What it takes to count the rows of one depth: 5 to 25 microseconds on an
  // H100, and up to 100 where rows have dozens of entries.
  constexpr double counting_us = 15;
  MergeChoice found;
  found.levels = std::max(1, asked);
  const auto& sizes = analysis.order.sizes;
  if (asked > 0 || sizes.num_levels < 2) return found;
  MergeCandidates candidates{{2, 3, 4, 5, 6, 7, 8, 12, 16, 24}, 10};
  // A group has no more level sets than there are.
  while (candidates.count > 1 &&
         candidates.levels[candidates.count - 2] >= sizes.num_levels)
    --candidates.count;
  const SampledLevels sampled =
      sample_merged_levels(exec, analysis.graph, analysis.order, candidates,
                           sizeof(Scalar), analysis.work(exec));
  const MergingModel model(analysis.graph.num_edges(), sizes, sizeof(Scalar),
                           lane_width<ExecutionSpace>,
                           double(cache_bytes(exec)));
  const double apart = model.apart(
      gains_by_cache_blocks(exec, sizes, sizeof(Scalar)), sampled.neighbours);
  double least = std::numeric_limits<double>::max(), size = 0;
  for (const LevelsCandidate& c : sampled.candidates) {
    const double us = model.merged(c, sampled.neighbours);
    if (c.stay > 0) found.staying.push_back(c.levels);
    // Plans grow with the number of level sets, whatever the sample says: if
    // not, less memory allowed could make for the faster choice.
    size = std::max(
        size, model.plan_bytes(c, analysis.graph.values_in_order) / crs_bytes);
    if (!(us < 0.95 * apart && c.stay < 0.2)) continue;
    found.worthwhile.push_back({c.levels, us});
    // Memory counts, too, which is also what new values take longer for. No
    // host enqueues solves faster than launches begin, and solves share what
    // counts rows depth by depth.
    const double counting =
        counting_us / solves *
        counted_depths(c.levels, analysis.graph.num_vertices, c.stay > 0);
    const double cost = (std::max(us, MergingModel::launch_us) + counting) *
                        std::pow(size + 1.5, 1. / 8);
    if (size < most_size && cost < 0.995 * least &&
        may_have(static_cast<std::size_t>(size * crs_bytes))) {
      found.levels = c.levels;
      least = cost;
    }
  }
  return found;
}

}  // namespace Detail
}  // namespace Strata

#endif
