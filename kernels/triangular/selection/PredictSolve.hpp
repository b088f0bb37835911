// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_PREDICT_SOLVE_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_PREDICT_SOLVE_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_PerformanceModel.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/merging/MergedLevels.hpp>
#include <analysis/packing/RowChunks.hpp>
#include <cmath>
#include <core/device/Launch.hpp>
#include <kernels/triangular/level_sets/LevelTasks.hpp>
#include <kernels/triangular/selection/HostRows.hpp>
#include <vector>

namespace Strata {
namespace Detail {

/// Predicted microseconds of a solve of some right-hand sides, from features of
/// the pattern and measured parameters. The factors that are not parameters
/// were fitted on an H200 and on hosts of two and sixteen cores; see
/// docs/benchmarks.md for how well they do.
class SolvePrediction {
 public:
  /// `sizes` is referred to as long as predictions are made.
  /// @param in_blocks  see gains_by_blocks
  /// @param host_rows  of a host
  SolvePrediction(const PerformanceParameters& parameters,
                  std::int64_t num_edges, const LevelSizes& sizes,
                  std::size_t scalar_bytes, int units, int width, int columns,
                  bool in_blocks = false, const HostRows& host_rows = {})
      : p_(parameters),
        sizes_(sizes),
        rows_(double(sizes.level_map.back())),
        edges_(double(num_edges)),
        scalar_(double(scalar_bytes)),
        units_(units),
        width_(width),
        slot_bytes_(scalar_ + 4),
        columns_(columns),
        in_blocks_(in_blocks && columns == 1),
        host_rows_(host_rows) {
    // Packed entries and rows: values, columns, b, x and two copies of x.
    bytes_us_ =
        (edges_ * (scalar_ + 4) + rows_ * (4 * scalar_ + 8)) / p_.bytes_per_us;
  }

  double substitution() const {
    // A device has a thread for each; a host's threads share them.
    if (width_ > 1)
      return serial(rows_, edges_) * std::max(1., columns_ / (32. * units_));
    return substitution_on_host() *
           side_by_side((columns_ + units_ - 1) / units_);
  }

  /// `narrow_chunks` and `warps` as LevelSetSolve's narrow_chunks and
  /// team_warps().
  double level_sets(int narrow_chunks, int warps) const {
    if (width_ == 1) return shared_level_sets(warps);
    double total = bytes_us_ + more_vectors(4);
    if (edges_ == 0 && columns_ == 1) return begin() + total;
    // b and x of rows that are not neighbours come in sectors of 32 bytes.
    if (columns_ == 1) total += beside_waiting * 64 * rows_ / p_.bytes_per_us;
    // Right-hand sides in eights: a team has its registers full, and several
    // blocks go side by side.
    const double of_team = columns_ > 1 ? 2.6 : 1.;
    bool open = false;
    for (int l = 0; l < sizes_.num_levels; ++l) {
      const double entries = double(sizes_.edges[l]);
      const double chunks =
          std::max(sizes_.rows(l) / double(width_), entries / (4. * width_));
      const bool narrow = chunks <= narrow_chunks;
      if (!narrow || !open) total += p_.alpha;
      open = narrow;
      total += of_team * p_.narrow_level *
               ((narrow ? std::max(1., chunks / warps) : 1.) +
                longest_row(l) / (4. * width_));
    }
    return total;
  }

  double sync_free() const {
    if (width_ == 1)
      return 2 * p_.alpha +
             4 * std::max(1., 0.5 * columns_) * substitution_on_host();
    const double of_bytes = columns_ > 1 ? 1. : beside_waiting;
    double total = begin() + of_bytes * bytes_us_ + more_vectors(6);
    // A block of right-hand sides takes longer from hand to hand than one.
    const double of_block = columns_ > 1 ? 0.75 : 0.;
    for (int l = 0; l < sizes_.num_levels; ++l) {
      const double longest = longest_row(l);
      // A value handed on; rows that lanes share take their sum as well. A very
      // long row may be all there is to wait for: its pieces hand on their
      // sums, and with several right-hand sides it takes a warp many turns.
      const double turns = 1.8 * std::max(0., longest - 2000) / (8. * width_);
      total += (columns_ > 1 ? 1. : 1.2) * p_.handover *
               (1 + of_block + (longest > 8 ? 0.25 : 0.) +
                (columns_ > 1 ? turns : std::min(2., turns)));
      // Sources, and b and x of rows that are not neighbours, come in sectors
      // of 32 bytes.
      total += of_bytes * (in_blocks_ ? 0.6 : 1.) * 32 *
               (double(sizes_.edges[l]) + 2. * sizes_.rows(l)) /
               p_.bytes_per_us;
    }
    return total;
  }

  /// `sync_free` where level sets are taken several at a time, for one
  /// right-hand side: fewer hand-overs, each of them longer for longer lists,
  /// and more entries, whose sources mostly lie in sectors that are read
  /// anyway. Rows that stay as they are hold up others.
  double sync_free(const LevelsCandidate& several) const {
    const double k = several.levels;
    const double waits = std::ceil(sizes_.num_levels / k) *
                         (1 + (k - 1) * std::min(1., 2 * several.stay));
    const double length = several.sources + several.terms;
    const double longer = 0.01 * (length + std::min(length, 8.)) +
                          0.003 * std::max(0., length - 24);
    const double more = std::max(0., rows_ * length - edges_);
    // Where level sets are few, neighbours' terms are none in memory.
    const double scattered =
        sizes_.num_levels < 32 ? rows_ * several.terms : more / 8;
    return begin() + 1.2 * p_.handover * (1 + std::min(0.8, longer)) * waits +
           beside_waiting *
               (bytes_us_ +
                (more * (scalar_ + 4) + 32 * (edges_ + 2 * rows_ + scattered)) /
                    p_.bytes_per_us);
  }
  /// Bytes of that plan, to about a tenth: more slots are idle where level sets
  /// are narrow, and sources that are near take half a word. The recipes of
  /// new values have a byte for each entry of a merged row and of its terms'
  /// rows, and rows share some of them.
  /// @param in_order  see DependencyGraph::values_in_order
  double sync_free_bytes(const LevelsCandidate& several, bool in_order) const {
    const double length = edges_ / rows_;
    const double of_level = rows_ / std::max(1, sizes_.num_levels);
    const double idle = 1.03 + 0.22 * std::min(1., 100 / of_level);
    const double reach = std::min(rows_, 2 * several.levels * of_level);
    const double source = reach <= RowChunk::most_distance ? 2.3 : 4;
    const double recipe =
        (1 - 1. / several.levels) * (length + 2) + several.terms * (length + 1);
    return rows_ *
           (3 * scalar_ + 12 + (in_order ? 0 : 4 * (length + 1)) + recipe / 2 +
            idle * (scalar_ + source) * (several.sources + several.terms));
  }

  /// No sub-graphs without merged rows can do better than this.
  double sync_free_subgraphs_at_least() const {
    return begin() + 3 * p_.handover + p_.pass * sizes_.num_levels + bytes_us_;
  }

  /// @param critical_steps steps on the longest path, of which `latency` for
  /// each
  ///                       value from another sub-graph
  /// @param work_steps     steps full of work that sub-graphs have one after
  /// the
  ///                       other, beside those of the path; in bands of level
  ///                       sets, where that is not counted, two fifths of them
  /// @param step_cost      of a step, relative to the measured one
  /// @param subgraphs, imports their number, and that of values they need from
  ///                       each other
  double sync_free_subgraphs(int critical_steps, double work_steps,
                             double step_cost, int latency, int subgraphs,
                             std::int64_t imports) const {
    if (width_ == 1)
      return 2 * p_.alpha + 4. * columns_ * substitution_on_host();
    // Teams begin with a ticket, their part of b, and outside values.
    const double first = begin() + 3 * p_.handover;
    // Outside values come 64 at a time; on the longest path some of that is
    // waited for once for each sub-graph passed.
    const double passed =
        std::max(0, critical_steps - sizes_.num_levels) / double(latency);
    const double fetch = double(imports) / subgraphs / 64 * p_.handover;
    // The larger of path and work counts for more.
    const double steps = std::pow(
        std::pow(critical_steps, 1.5) + std::pow(work_steps, 1.5), 1 / 1.5);
    const double one = first + p_.pass * step_cost * steps +
                       passed * fetch / 4 + 2 * bytes_us_;
    // Others go side by side with the first, and hold up the teams: one lasts
    // about 35 hand-overs, most of it prologue and waiting, and four of them
    // run on a multiprocessor at once.
    return one + (columns_ - 1) * subgraphs * 35 * p_.handover / (4. * units_);
  }

  /// @param one prediction of Picciau et al.'s model, for one right-hand side
  double subgraphs(double one) const {
    return one * std::max(1., columns_ / (4. * units_)) + more_vectors(2);
  }

  /// A block of a narrow run takes as long as another one until it fills the
  /// team; wide ones wait for each other. Later launches overlap with the end
  /// of the one before. `slots` is what the storage holds, padding included.
  /// Right-hand sides of narrow runs go to a team each, those of wide ones to
  /// teams that run side by side.
  template <class Runs>
  double blocks(const Runs& runs, std::int64_t slots) const {
    if (width_ == 1) {
      double total = 0;
      for (const auto& run : runs) {
        const double alone =
            rows_ > 0 ? run.rows / rows_ * substitution_on_host() : 0.;
        total += run.wide ? p_.alpha * run.blocks() + wide_on_host(alone)
                          : narrow_on_host(alone);
      }
      // A thread reads the longest row alone.
      return total + 1.5 * p_.serial_entry * longest_row();
    }
    const double padding =
        (double(slots) - edges_) * slot_bytes_ / p_.bytes_per_us;
    double total =
        bytes_us_ + std::max(0., padding) + more_vectors(4) + p_.alpha / 2;
    // A team reads the longest row alone.
    total += p_.handover * std::max(0., longest_row() - 2000) / 800;
    for (const auto& run : runs)
      total +=
          p_.alpha / 2 +
          run.blocks() * (run.wide ? wide_block()
                                   : narrow_block() *
                                         std::max(1., run.mean_rows() / 400.));
    return total;
  }
  double blocks_at_least() const {
    if (width_ == 1) {
      double total = 0;
      const double longer = substitution_on_host() / serial(rows_, edges_);
      for (int l = 0; l < sizes_.num_levels; ++l) {
        const double alone =
            longer * serial(sizes_.rows(l), double(sizes_.edges[l]));
        total +=
            std::min(narrow_on_host(alone), p_.alpha + wide_on_host(alone));
      }
      return total;
    }
    return p_.alpha + bytes_us_ + more_vectors(4) +
           sizes_.least_blocks * std::min(narrow_block(), wide_block());
  }

  /// A row of a level set that `threads` of a host share. Rows are scattered;
  /// the more threads, the more sources come from another one's cache.
  static double shared_row(const PerformanceParameters& p, int threads,
                           double entries) {
    return 3.5 * p.serial_row + (2 + 0.45 * threads) * entries * p.serial_entry;
  }

  /// No partition can do better than this: a slot a level set.
  double subgraphs_at_least() const {
    return p_.alpha + sizes_.num_levels * p_.tau + bytes_us_;
  }

 private:
  /// One right-hand side by one thread of a host, in the order of the rows.
  double substitution_on_host() const {
    const double apart = serial(rows_, edges_);
    if (rows_ == 0) return apart;
    // What a row of a chain takes is how long it waits for the row before; to
    // recover from a wrong guess takes longer.
    const double longer = 0.8 * host_rows_.in_chains *
                              std::max(0., p_.narrow_level - apart / rows_) +
                          1.2 * host_rows_.unforeseen * p_.narrow_level;
    // Through memory, or a cache that cores share, one thread has its share of
    // the bandwidth.
    const double bytes = bytes_us_ * p_.bytes_per_us;
    const double through_memory =
        bytes > 2 * 1024 * 1024 ? bytes_us_ * std::min(units_, 16) : 0.;
    return std::max(apart + rows_ * longer, through_memory);
  }
  /// By `threads` of a host, which share level sets.
  double shared_level_sets(int threads) const {
    const double wrong = host_rows_.unforeseen * p_.narrow_level;
    const double alone_row = 3 * p_.serial_row + wrong;
    double waits = 0, work = 0;
    bool alone = true;
    for (int l = 0; l < sizes_.num_levels; ++l) {
      const double rows = sizes_.rows(l), entries = double(sizes_.edges[l]);
      const int parts = LevelShares::parts(rows, entries, threads);
      if (parts == 1) {
        waits += 0.7 * p_.narrow_level;
        work += rows * alone_row + 1.5 * entries * p_.serial_entry;
      } else {
        waits += p_.handover;
        work +=
            rows / parts * (shared_row(p_, threads, entries / rows) + wrong);
        alone = false;
      }
    }
    // A team takes longer to begin than one thread; and its slowest thread
    // counts, whatever slowed it down.
    return 1.1 * (std::max(waits + side_by_side(columns_) * work,
                           bytes_us_ + more_vectors(4)) +
                  (alone ? 1. : 1 + 0.1 * threads) * p_.alpha);
  }
  /// Right-hand sides that a host's thread takes four at a time, relative to
  /// one.
  static double side_by_side(int columns) {
    return columns / 4 * 2.2 + columns % 4;
  }
  /// The share of the time for bytes that does not pass while others wait.
  static constexpr double beside_waiting = 0.7;
  /// All teams wait for the block before: two hand-overs and the last row.
  double wide_block() const { return 2.4 * p_.handover; }
  /// Four teams of 512 threads, one a right-hand side, fill a multiprocessor.
  double narrow_block() const {
    return p_.block * std::max(1., columns_ / (4. * units_));
  }
  /// Of a host, whose threads share right-hand sides or rows. `alone`: one
  /// right-hand side by one thread in the order of a CRS matrix, which reads
  /// entries one after the other: columns of a block take 1.6 to 2.3 times as
  /// long where it is narrow, three times and more where it is wide.
  double narrow_on_host(double alone) const {
    return 2 * alone * ((columns_ + units_ - 1) / units_);
  }
  double wide_on_host(double alone) const {
    return 3.2 * alone * columns_ / units_;
  }
  double longest_row(int level) const {
    return double(sizes_.longest_row[level]);
  }
  double longest_row() const {
    std::int64_t longest = 0;
    for (const std::int64_t row : sizes_.longest_row)
      longest = std::max(longest, row);
    return double(longest);
  }
  /// A launch that may begin while the one before it ends (see run_teams).
  double begin() const { return (columns_ == 1 ? 0.45 : 1.) * p_.alpha; }
  double serial(double rows, double entries) const {
    return rows * p_.serial_row + entries * p_.serial_entry;
  }
  /// So many vectors of each right-hand side but the first through memory.
  double more_vectors(int vectors) const {
    return (columns_ - 1) * rows_ * vectors * scalar_ / p_.bytes_per_us;
  }

  PerformanceParameters p_;
  const LevelSizes& sizes_;
  double rows_, edges_, scalar_;
  int units_, width_;
  double slot_bytes_;
  int columns_;
  bool in_blocks_;
  HostRows host_rows_;
  double bytes_us_ = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
