// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_SOLVE_FEATURES_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_SOLVE_FEATURES_HPP

#include <Strata_PerformanceModel.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/packing/RowChunk.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// A plan is expected to be solved with so many times: an analysis takes longer
/// for a faster plan if so many solves gain more.
constexpr double solves_of_a_plan = 1000;

/// What predictions of a solve of some right-hand sides are made from: features
/// of the pattern, parameters, and terms that several predictions share. Times
/// are in microseconds. Each algorithm's folder has its prediction
/// (Prediction.hpp), for a GPU, and those that HostRule chooses from for a
/// host. The factors that are not parameters were fitted on an H200 and on
/// hosts of two and sixteen cores; docs/benchmarks.md says how well they do.
struct SolveFeatures {
  /// `level_sizes` are referred to as long as predictions are made.
  /// @param num_processors  multiprocessors of a device, cores of a host
  /// @param lanes  lane_width: more than 1 on a GPU with warps
  /// @param shared_cache  bytes of the cache that all multiprocessors share
  SolveFeatures(const PerformanceParameters& parameters, std::int64_t num_edges,
                const LevelSizes& level_sizes, std::size_t scalar_bytes,
                int num_processors, int lanes, int right_hand_sides,
                double shared_cache = std::numeric_limits<double>::infinity())
      : p(parameters),
        sizes(level_sizes),
        rows(double(level_sizes.level_map.back())),
        edges(double(num_edges)),
        scalar(double(scalar_bytes)),
        processors(num_processors),
        width(lanes),
        columns(right_hand_sides),
        cache(shared_cache) {
    bytes_us =
        (edges * (scalar + 4) + rows * (4 * scalar + 8)) / p.bytes_per_us;
  }

  PerformanceParameters p;
  const LevelSizes& sizes;
  double rows, edges, scalar;  ///< counts, and bytes of a scalar
  int processors, width, columns;
  double cache;  ///< bytes
  /// Packed entries and rows through memory: values, columns, b, x and two
  /// copies of x.
  double bytes_us = 0;

  /// The share of the time for bytes that does not pass while others wait.
  static constexpr double beside_waiting = 0.7;

  /// Whether the packed system, b and x stay in the cache that multiprocessors
  /// share from one solve to the next. Its last quarter is not counted on:
  /// lines are in it that lie in the other half's, too.
  bool is_in_shared_cache() const {
    return bytes_us * p.bytes_per_us <= 0.75 * cache;
  }
  /// What counts, beside waits of so many microseconds in all, of the time that
  /// bytes take. The rest passes during the waits: of bytes from memory as much
  /// at most as there is time in them for, where the rows of a few level sets
  /// load together what they need no waiting for.
  double beside_waits(double of_bytes, double waits) const {
    const double hidden = (1 - beside_waiting) * of_bytes;
    constexpr double together = RowChunk::throttle_levels;
    return of_bytes -
           (is_in_shared_cache() ? hidden : std::min(hidden, together * waits));
  }

  /// A launch that may begin while the one before it ends (see run_teams).
  double begin() const { return (columns == 1 ? 0.45 : 1.) * p.alpha; }
  /// Time of so many rows and entries by one thread.
  double serial(double num_rows, double entries) const {
    return num_rows * p.serial_row + entries * p.serial_entry;
  }
  /// Time of so many vectors of each right-hand side but the first, through
  /// memory.
  double more_vectors(int vectors) const {
    return (columns - 1) * rows * vectors * scalar / p.bytes_per_us;
  }
  double longest_row(int level) const {
    return double(sizes.longest_row[level]);
  }
  double longest_row() const {
    std::int64_t longest = 0;
    for (const std::int64_t row : sizes.longest_row)
      longest = std::max(longest, row);
    return double(longest);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
