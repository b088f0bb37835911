// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_PACKING_SHAPE_HPP
#define STRATA_ANALYSIS_PACKING_PACKING_SHAPE_HPP

#include <algorithm>
#include <analysis/merging/MergeSubgraphRows.hpp>
#include <analysis/merging/ReplaceBySets.hpp>
#include <analysis/packing/PackedSubgraphs.hpp>
#include <cmath>
#include <core/memory/WorkPool.hpp>

namespace Strata {
namespace Detail {

/// How to cut a graph into sub-graphs.
struct PackingShape {
  /// Bands of this many consecutive level sets; 0: one band.
  int band_levels = 0;
  /// Rows of a sub-graph at most.
  int max_rows = 1024;
  /// Rows, distinct outside dependencies and the scratch's zero together; a
  /// team may have less room.
  int max_local = 4096;
  /// Steps a value from another sub-graph is expected to take.
  int latency = 8;
  /// Level sets merged into one, see MergedSubgraphRows; 1: rows stay as they
  /// are, 0: as many as a sample of the rows says is best.
  int merged_levels = 1;
  /// Teams to choose from; with a second one where there is a choice, for rows
  /// of many entries. 0 or 1 for that team, -1: what the sample says is better.
  PackedTeam team[2] = {};
  int which_team = 0;
  /// By vertex, RowStatus::stays: the row is not merged with others, and others
  /// wait for it. Null: no row has to.
  const int* unmerged = nullptr;

  /// Bands of a graph with so many level sets. Chunks of one band are of rows
  /// in the order of substitution, those of several bands are of a band's rows.
  int num_bands(int num_levels) const {
    return band_levels > 0
               ? std::max(1, (num_levels + band_levels - 1) / band_levels)
               : 1;
  }
};
/// A step of the second team takes so much longer.
constexpr double second_team_cost = 1.35;
/// Level sets are merged in plans of so many times the bytes of the matrix at
/// most.
constexpr double max_merged_memory = 5.3;

/// Level sets merged, and which team.
struct PackingChoice {
  int merged_levels, team;
};

/// Chooses between numbers of level sets and teams.
template <class ExecutionSpace>
struct ChoosePacking {
  using Memory = typename ExecutionSpace::memory_space;
  SubgraphGroups<Memory> groups;  // of no number of level sets yet
  PackingShape shape;
  PackedRecord record;
  int num_levels, bands, width;
  /// Where there is a second team at all.
  bool two_teams;

  /// The number of level sets to merge, and the team, with which a sample of
  /// the rows takes the least time, counted in steps of the first team. In one
  /// band sub-graphs work one after the other: their steps full of work count
  /// beside those on the longest path. In several bands rows that stay as they
  /// are hold up others too much for many level sets to be merged. A plan's
  /// bytes count beside its time: half as many are worth 1.2 times as long.
  ///
  /// @param given  what is chosen already: 0 level sets and team -1 are not
  PackingChoice operator()(const ExecutionSpace& exec, PackingChoice given,
                           WorkPool<ExecutionSpace>& pool) const {
    const bool may_share =
        two_teams && bands == 1 && shape.team[1].max_local >= 512;
    if (given.team < 0 && !may_share) given.team = 0;
    if (given.merged_levels > 0 && given.team >= 0) return given;
    const MergeCandidates candidates = candidates_for(given.merged_levels);
    if (given.merged_levels == 0 && candidates.count == 1 && given.team >= 0)
      return {1, given.team};
    const SubgraphSteps steps{record.entries,
                              shape.team[1].row_lanes * record.entries};
    const MergeSamples found = sample_merging(
        exec, groups, candidates, steps, pool,
        [&](std::int64_t count, double length, const auto& task) {
          // As all rows are counted later.
          const char* const label =
              "Strata::SubgraphPacker::sample_merged_in_subgraph";
          if (groups.graph.num_vertices <= few_rows_to_replace)
            replace_rows(label, exec, count, length, task);
          else
            eliminate_rows(label, exec, count, length, task);
        });
    PackingChoice chosen = given;
    double best = 0;
    for (int c = 0; c < candidates.count; ++c)
      for (int t = 0; t < 2; ++t) {
        if (given.team >= 0 ? given.team != t : t == 1 && !may_share) continue;
        const int levels = candidates.levels[c];
        const double memory = memory_of(found, c, levels, t);
        if (levels > 1 && best > 0 && memory > max_merged_memory * crs_bytes())
          continue;
        const double score =
            time_of(found, c, levels, t) * std::pow(memory, 0.25);
        if (best == 0 || score < best) {
          best = score;
          chosen = {levels, t};
        }
      }
    return {std::max(chosen.merged_levels, 1), std::max(chosen.team, 0)};
  }

 private:
  MergeCandidates candidates_for(int merged_levels) const {
    MergeCandidates candidates;
    if (merged_levels > 0) {
      candidates.levels[0] = merged_levels;
      candidates.count = 1;
      return candidates;
    }
    // So many that the longest path would hardly have steps left gain nothing.
    const int most = std::min(num_levels / 32, bands > 1 ? 4 : 16);
    while (candidates.count > 1 &&
           candidates.levels[candidates.count - 1] > most)
      --candidates.count;
    return candidates;
  }
  double length() const {
    return double(groups.graph.num_edges()) / groups.graph.num_vertices;
  }
  /// Bytes a row of the matrix.
  double crs_bytes() const {
    const double scalar = record.scalar_bytes;
    return 4 + (scalar + 4) * (length() + 1);
  }
  /// Coefficients of b of a row, its own included.
  static double coefficients_of(const MergeSamples& found, int c) {
    return double(found.sum(c, MergeSample::coefficients) + found.samples) /
           double(found.samples);
  }
  /// Records of a row, times the lanes that share them.
  double tasks_of(const MergeSamples& found, int c, int t) const {
    return found.mean(
               c, t == 0 ? SubgraphSteps::tasks : SubgraphSteps::tasks_wide) *
           shape.team[t].row_lanes;
  }
  double time_of(const MergeSamples& found, int c, int levels, int t) const {
    const double n = groups.graph.num_vertices;
    const double late =
        found.mean(c, t == 0 ? SubgraphSteps::late : SubgraphSteps::late_wide);
    const double path =
        double(num_levels) / levels * late / SubgraphSteps::parts_of_step;
    const double work =
        bands > 1 ? 0
                  : n * tasks_of(found, c, t) / (width * shape.team[t].warps);
    // The larger of both counts for more. A solve begins with a launch, a band
    // with values of the one before, and teams with their
    // rows' sums over b.
    const double steps =
        std::pow(std::pow(path, 1.5) + std::pow(work, 1.5), 1 / 1.5);
    const double begin_bands = bands > 1 ? 40. * bands : 0;
    const double begin =
        68 + begin_bands +
        9 * (coefficients_of(found, c) - 1) * std::min<double>(n, 1024) / 1024;
    return steps * (t == 0 ? 1 : second_team_cost) + begin;
  }
  /// Bytes a row of a plan.
  double memory_of(const MergeSamples& found, int c, int levels, int t) const {
    const double scalar = record.scalar_bytes;
    // A quarter of the lanes of the first team are idle.
    const double records =
        (t == 0 ? 1.25 : 1.06) * tasks_of(found, c, t) * record.bytes;
    return levels == 1 ? 8 + scalar + 1.5 * records + 4 * length()
                       : 20 + records + 4 * length() +
                             (2 + scalar) * coefficients_of(found, c) +
                             4 * found.mean(c, MergeSample::dependencies) +
                             found.mean(c, SubgraphSteps::operations);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
