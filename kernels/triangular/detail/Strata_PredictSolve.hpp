// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PREDICT_SOLVE_HPP
#define STRATA_PREDICT_SOLVE_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelOrder.hpp>
#include <Strata_PerformanceModel.hpp>
#include <algorithm>
#include <cmath>
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
        width_(width),
        slot_bytes_(double(scalar_bytes + 4)) {
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
            longest_row(l) / (4. * width_) * p_.narrow_level;
    }
    return total;
  }

  double pipelined() const {
    if (width_ == 1) return 2 * p_.alpha + 4 * substitution();
    double total = p_.alpha + bytes_us_;
    for (int l = 0; l < sizes_.num_levels; ++l) {
      const int rows = sizes_.rows(l);
      const double longest = longest_row(l);
      // Wide level sets and long rows take more than a hand-over. A very long
      // row may be all there is to wait for, and takes a warp many turns.
      total += p_.handover *
               (1.15 + std::min(1.5, rows / 7000.) +
                0.5 * std::min(2.2, std::log2(std::max(1., longest / 3))) +
                1.2 * std::max(0., longest - 2000) / (8. * width_));
    }
    return total;
  }

  /// @param critical_steps steps on the longest path, of which `hop` for each
  ///                       value from another sub-graph
  /// @param subgraphs, imports their number, and that of values they need from
  ///                       each other
  double pipelined_subgraphs(int critical_steps, int hop, int subgraphs,
                             std::int64_t imports) const {
    if (width_ == 1) return 2 * p_.alpha + 4 * substitution();
    // Teams begin with a ticket, their part of b, and outside values.
    const double begin = p_.alpha + 3 * p_.handover;
    // Outside values come 64 at a time; on the longest path some of that is
    // waited for once for each sub-graph passed.
    const double passed =
        std::max(0, critical_steps - sizes_.num_levels) / double(hop);
    const double fetch = double(imports) / subgraphs / 64 * p_.handover;
    return begin + p_.pass * critical_steps + passed * fetch / 4 +
           2 * bytes_us_;
  }

  /// A block of a narrow run takes as long as another one until it fills the
  /// team; wide ones wait for each other. Later launches overlap with the end
  /// of the one before. `slots` is what the storage holds, padding included.
  template <class Runs>
  double blocks(const Runs& runs, std::int64_t slots) const {
    if (width_ == 1) {
      double total = 0;
      for (const auto& run : runs) {
        const double share = rows_ > 0 ? run.rows / rows_ : 0;
        total += share * serial(rows_, edges_) / (run.wide ? units_ : 1) +
                 (run.wide ? p_.alpha * run.blocks() : 0);
      }
      return total;
    }
    const double padding =
        (double(slots) - edges_) * slot_bytes_ / p_.bytes_per_us;
    double total = bytes_us_ + std::max(0., padding) + p_.alpha / 2;
    for (const auto& run : runs)
      total += p_.alpha / 2 +
               run.blocks() *
                   (run.wide ? wide_block()
                             : p_.block * std::max(1., run.mean_rows() / 400.));
    return total;
  }
  double blocks_at_least() const {
    if (width_ == 1) {
      double total = 0;
      for (int l = 0; l < sizes_.num_levels; ++l) {
        const double alone = serial(sizes_.rows(l), double(sizes_.edges[l]));
        total += std::min(alone, p_.alpha + alone / units_);
      }
      return total;
    }
    return p_.alpha + bytes_us_ +
           sizes_.num_levels * std::min(p_.block, wide_block());
  }

  /// No partition can do better than this: a slot a level set.
  double subgraphs_at_least() const {
    return p_.alpha + sizes_.num_levels * p_.tau + bytes_us_;
  }

 private:
  /// All teams wait for the block before: two hand-overs and the last row.
  double wide_block() const { return 2.4 * p_.handover; }
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
  double bytes_us_ = 0, slot_bytes_;
};

}  // namespace Detail
}  // namespace Strata

#endif
