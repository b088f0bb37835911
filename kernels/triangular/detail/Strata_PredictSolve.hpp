// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PREDICT_SOLVE_HPP
#define STRATA_PREDICT_SOLVE_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelOrder.hpp>
#include <Strata_PerformanceModel.hpp>
#include <algorithm>
#include <vector>

namespace Strata {
namespace Detail {

/// Predicted microseconds of a solve with one right-hand side, from features
/// of the pattern and measured parameters. The factors that are not parameters
/// were fitted on an H200; see docs/performance.md for how well they do.
class SolvePrediction {
 public:
  /// `sizes` is referred to as long as predictions are made.
  SolvePrediction(const PerformanceParameters& parameters,
                  std::int64_t num_edges, const LevelSizes& sizes,
                  std::size_t scalar_bytes, int units, int width)
      : p_(parameters),
        sizes_(sizes),
        rows_(double(sizes.level_map.back())),
        edges_(double(num_edges)),
        units_(units),
        width_(width) {
    // Packed entries and rows: values, columns, b, x and two copies of x.
    bytes_us_ = (edges_ * double(scalar_bytes + 4) +
                 rows_ * double(4 * scalar_bytes + 8)) /
                p_.bytes_per_us;
  }

  double substitution() const { return serial(rows_, edges_); }

  /// `narrow_chunks` and `warps` as in LevelSetSolve.
  double level_sets(int narrow_chunks, int warps) const {
    double total = bytes_us_;
    bool open = false;
    for (int l = 0; l < sizes_.num_levels; ++l) {
      const int rows = sizes_.rows(l);
      const double entries = double(sizes_.edges[l]);
      const double chunks =
          width_ > 1 ? std::max(rows / double(width_), entries / (4. * width_))
                     : rows;
      const bool narrow = chunks <= narrow_chunks;
      if (!narrow || !open) total += p_.alpha;
      open = narrow;
      // Level order scatters what substitution reads in a row: twice the time.
      if (width_ == 1)
        total += 2 * serial(rows, entries) / (narrow ? 1 : units_);
      else
        total +=
            p_.narrow_level * (narrow ? std::max(1., chunks / warps) : 1.) +
            longest_row(l) / (4. * width_) * p_.narrow_level / 2;
    }
    return total;
  }

  double pipelined() const {
    if (width_ == 1) return 2 * p_.alpha + 4 * substitution();
    double total = p_.alpha + bytes_us_;
    for (int l = 0; l < sizes_.num_levels; ++l) {
      const int rows = sizes_.rows(l);
      const double batches = longest_row(l) / (4. * width_);
      // Wide level sets take more than a hand-over: teams come and go. A long
      // row is begun when its warp starts, and may be all there is to wait for.
      total += p_.handover * (1 + std::min(3.2, rows / 1000.) + batches / 2);
      total = std::max(total, 2.5 * p_.handover * batches);
    }
    return total;
  }

  /// @param graph, levels     the analysed ones
  /// @param chunk_of          sub-graph of each vertex
  /// @param max_row_externals as in ChunkShape
  double pipelined_subgraphs(const DependencyGraph<Kokkos::HostSpace>& graph,
                             const LevelSets& levels,
                             const std::vector<int>& chunk_of,
                             int max_row_externals) const {
    if (width_ == 1) return 2 * p_.alpha + 4 * substitution();
    const double lane_entries = width_ / 2 * 4;  // of a row in a pass
    std::vector<int> last_level;
    // Teams begin with a ticket and their rows of b.
    double total = p_.alpha + 2 * p_.handover + 2 * bytes_us_;
    for (int l = 0; l < levels.num_levels; ++l) {
      // A row that needs, from outside, a row of the level set just before
      // makes its level set wait for a hand-over. Outside values arrive at a
      // rate, four for every lane of the fetching warp in a hand-over; about a
      // third of the references repeat a value.
      std::int64_t handed = 0, outside = 0, parts = 0;
      double longest = 0;
      for (int q = levels.level_map[l]; q < levels.level_map[l + 1]; ++q) {
        const int i = levels.vertices[q];
        const int chunk = chunk_of[i];
        if (chunk >= static_cast<int>(last_level.size()))
          last_level.resize(chunk + 1, -1);
        parts += last_level[chunk] != l;
        last_level[chunk] = l;
        bool late = false;
        std::int64_t from_outside = 0;
        for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
          const int j = graph.entries(k);
          if (chunk_of[j] == chunk) continue;
          ++from_outside;
          late = late || levels.level_of[j] + 1 == l;
        }
        handed += late;
        const double passes =
            double(graph.row_map(i + 1) - graph.row_map(i)) / lane_entries;
        if (from_outside <= max_row_externals) {
          outside += from_outside;
          longest = std::max(longest, p_.pass * passes);
        } else {
          longest = std::max(longest, 1.5 * p_.handover * passes);
        }
      }
      const double rows = levels.level_map[l + 1] - levels.level_map[l];
      const double part =
          std::max(p_.pass, longest) +
          p_.handover * 2 / 3 * double(outside) / double(parts) / (4. * width_);
      // The path through the level sets, and the teams' work where there are
      // more than run at once (four a multiprocessor).
      total += part + p_.handover * double(handed) / rows +
               part * double(parts) / (4. * units_);
    }
    return total;
  }

  /// No partition can do better than this: a slot a level set.
  double subgraphs_at_least() const {
    return p_.alpha + sizes_.num_levels * p_.tau + bytes_us_;
  }

 private:
  double longest_row(int level) const {
    return double(sizes_.longest_row[level]);
  }
  double serial(double rows, double entries) const {
    return rows * p_.serial_row + entries * p_.serial_entry;
  }

  PerformanceParameters p_;
  const LevelSizes& sizes_;
  double rows_, edges_;
  int units_, width_;
  double bytes_us_ = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
