// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_SAMPLE_MERGING_HPP
#define STRATA_ANALYSIS_MERGING_SAMPLE_MERGING_HPP

#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/merging/MergeGroups.hpp>
#include <analysis/merging/ReplaceBySets.hpp>
#include <core/device/Warp.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <vector>

namespace Strata {

/// How much of what the rows of a level set read lies side by side in memory:
/// shares of a sample of the rows, and of their dependencies. Without a sample
/// nothing is known to lie so.
struct NeighbourShares {
  /// Rows whose element of b and x does not lie in the sector of that of the
  /// row before in the order of level sets, if that is of the same level set.
  double new_rows = 1;
  /// Dependencies that do not lie in the sector of the dependency of the same
  /// number of the row before.
  double new_dependencies = 1;
};

namespace Detail {

/// Bytes that memory gives out together.
constexpr int sector_bytes = 32;

/// Numbers of level sets to choose from.
struct MergeCandidates {
  int levels[10];
  int count;
};

/// What a sample of rows says of a candidate, added up over the sample.
struct MergeSample {
  enum : int {
    dependencies,
    coefficients,  // without the row itself
    stay,          // rows that stay as they are
    // Of CountNeighbours:
    dependencies_looked_at,
    new_dependencies,
    new_rows,
    size
  };
};

/// The i-th of a sample of rows: a random row of the i-th part of them, as rows
/// at equal distances are all alike on a grid.
KOKKOS_INLINE_FUNCTION std::int64_t sampled_row(std::int64_t i,
                                                std::int64_t samples,
                                                std::int64_t rows) {
  const std::int64_t first = i * rows / samples;
  const std::int64_t end = (i + 1) * rows / samples;
  return first + below(mix64(static_cast<std::uint64_t>(i)), end - first);
}

/// Sums for NeighbourShares. The rows themselves are looked at, so one
/// candidate's turn is enough. Cost: some 64 dependencies of each row of the
/// sample and of the row before, and the places of their values.
struct CountNeighbours {
  /// Sums of one row's lanes fit in seven bits.
  static constexpr int most_dependencies = 64, bits = 8;

  const int *permuted_row, *vertex;  // of the LevelOrder
  int of_levels;                     // the candidate with so many level sets
  int a_sector;                      // scalars

  /// All lanes of a warp call it, with v -1 where there is no row.
  template <class Groups, class Eliminate>
  KOKKOS_FUNCTION void operator()(const Groups& groups, int v, int lane,
                                  const Eliminate&, std::int64_t* sums) const {
    const bool looks = v >= 0 && groups.levels == of_levels;
    unsigned counts = 0;
    bool new_row = true;
    if (looks) {
      const int p = permuted_row[v];
      int before = p > 0 ? vertex[p - 1] : -1;
      if (before >= 0 && groups.level[before] != groups.level[v]) before = -1;
      new_row = before < 0 || sector_of(groups.graph.row_of(before)) !=
                                  sector_of(groups.graph.row_of(v));
      const int all = groups.length(v);
      const int looked_at = all < most_dependencies ? all : most_dependencies;
      const int theirs = before < 0 ? 0 : groups.length(before);
      for (int e = lane; e < looked_at; e += Eliminate::num_lanes) {
        const int j = groups.entry(groups.first(v) + e);
        const bool is_new =
            e >= theirs ||
            sector_of(permuted_row[j]) !=
                sector_of(permuted_row[groups.entry(groups.first(before) + e)]);
        counts += 1u + (is_new ? 1u << bits : 0u);
      }
    }
    for (int mask = Eliminate::num_lanes / 2; mask > 0; mask /= 2)
      counts += lane_xor(counts, mask);
    if (!looks || lane != 0) return;
    const auto add = [&](int what, unsigned count) {
      if (count > 0) Kokkos::atomic_fetch_add(sums + what, std::int64_t{count});
    };
    add(MergeSample::dependencies_looked_at, counts & ((1u << bits) - 1));
    add(MergeSample::new_dependencies, counts >> bits);
    add(MergeSample::new_rows, new_row ? 1u : 0u);
  }

 private:
  KOKKOS_FUNCTION int sector_of(int element) const {
    return element / a_sector;
  }
};

/// Rewrites a sample of the rows with every candidate.
template <class MemorySpace>
struct SampleMergedRows {
  MergeGroups<MemorySpace> groups;
  MergeCandidates candidates;
  std::int64_t samples;
  std::int64_t* sums;  // of all candidates
  CountNeighbours neighbours;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    MergeGroups<MemorySpace> of = groups;
    int v = -1, candidate = 0;
    if (number >= 0) {
      candidate = static_cast<int>(number / samples);
      v = static_cast<int>(
          sampled_row(number % samples, samples, groups.graph.num_vertices));
    }
    of.levels = candidates.levels[candidate];
    const EliminatedRow row = eliminate.run(v, of, NoNotes());
    const int status =
        v < 0 ? int{RowStatus::stays} : of.status_of(v, row, false);
    std::int64_t* const sum = sums + candidate * MergeSample::size;
    neighbours(of, v, lane, eliminate, sum);
    if (v < 0 || lane != 0) return;
    const bool stays = status == RowStatus::stays;
    Kokkos::atomic_fetch_add(
        sum + MergeSample::dependencies,
        stays ? of.end(v) - of.first(v) : std::int64_t{row.dependencies});
    Kokkos::atomic_fetch_add(sum + MergeSample::coefficients,
                             std::int64_t{stays ? 0 : row.coefficients - 1});
    Kokkos::atomic_fetch_add(sum + MergeSample::stay,
                             std::int64_t{stays ? 1 : 0});
  }
};

}  // namespace Detail

/// A candidate: a number of level sets to merge, and the rows that result.
struct LevelsCandidate {
  int levels = 1;
  /// Means over a sample of rows: dependencies and other rows' coefficients of
  /// a merged row, and the share of rows that stay as they are.
  double dependencies = 0, coefficients = 0, stay = 0;
};

/// What a sample of the rows says.
struct SampledLevels {
  std::vector<LevelsCandidate> candidates;
  NeighbourShares neighbours;
};

/// What a sample of the rows says of the candidates, and of the rows as they
/// are. Cost: 1,024 eliminations for each candidate at most; the host waits
/// once.
template <class ExecutionSpace>
SampledLevels sample_merged_levels(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order,
    const Detail::MergeCandidates& candidates, std::size_t scalar_bytes,
    Detail::WorkPool<ExecutionSpace>& pool) {
  using namespace Detail;
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = graph.num_vertices;
  const std::int64_t samples = std::min<std::int64_t>(n, 1024);
  const int size = MergeSample::size * candidates.count;
  const Kokkos::View<std::int64_t*, Memory> sums(pool.zeros(size), size);
  const CountNeighbours neighbours{
      order.permuted_row.data(), order.vertex.data(), candidates.levels[0],
      std::max(1, sector_bytes / static_cast<int>(scalar_bytes))};
  replace_rows(
      "Strata::MergedLevels::sample", exec, samples * candidates.count,
      double(graph.num_edges()) / double(n),
      SampleMergedRows<Memory>{{graph, order.level_of.data(), 1, nullptr},
                               candidates,
                               samples,
                               sums.data(),
                               neighbours});
  std::vector<std::int64_t> found(sums.extent(0));
  copy_to_host(exec, sums, found.data());
  const auto mean = [&](int candidate, int what) {
    return double(found[candidate * MergeSample::size + what]) /
           double(samples);
  };
  SampledLevels made;
  for (int c = 0; c < candidates.count; ++c)
    made.candidates.push_back(
        {levels_of_group(candidates.levels[c], order.num_levels()),
         mean(c, MergeSample::dependencies), mean(c, MergeSample::coefficients),
         mean(c, MergeSample::stay)});
  // CountNeighbours has looked at the first candidate.
  made.neighbours.new_rows = mean(0, MergeSample::new_rows);
  const auto looked_at = double(found[MergeSample::dependencies_looked_at]);
  if (looked_at > 0)
    made.neighbours.new_dependencies =
        double(found[MergeSample::new_dependencies]) / looked_at;
  return made;
}

}  // namespace Strata

#endif
