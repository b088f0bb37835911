// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_SAMPLE_MERGING_HPP
#define STRATA_ANALYSIS_MERGING_SAMPLE_MERGING_HPP

#include <algorithm>
#include <analysis/merging/MergeGroups.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <vector>

namespace Strata {
namespace Detail {

/// Numbers of level sets to choose from.
struct MergeCandidates {
  int levels[10] = {1, 2, 3, 4, 6, 8, 12, 16};
  int count = 8;
};

/// What a sample of rows says of a candidate, added up over the sample.
struct MergeSample {
  enum : int {
    dependencies,
    coefficients,  // without the row itself
    stay,          // rows that stay as they are
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

/// Rewrites a sample of the rows with every candidate.
///
/// @tparam More  sums beside MergeSample: `size` of them, and `more(groups, v,
///   row, status, lane, eliminate, sums)`, which all lanes of a warp call, with
///   v -1 where there is no row
template <class Groups, class More>
struct SampleMergedRows {
  static constexpr int size = MergeSample::size + More::size;
  Groups groups;
  MergeCandidates candidates;
  std::int64_t samples;
  std::int64_t* sums;  // of all candidates
  More more;

  template <class Eliminate>
  KOKKOS_FUNCTION void operator()(std::int64_t number, int lane,
                                  const Eliminate& eliminate) const {
    Groups of = groups;
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
    std::int64_t* const sum = sums + candidate * size;
    more(of, v, row, status, lane, eliminate, sum + MergeSample::size);
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

/// The sums of all candidates on the host.
struct MergeSamples {
  std::int64_t samples;
  int size;
  std::vector<std::int64_t> sums;

  std::int64_t sum(int candidate, int what) const {
    return sums[candidate * size + what];
  }
  double mean(int candidate, int what) const {
    return double(sum(candidate, what)) / double(samples);
  }
};

/// Cost: 1,024 eliminations for each candidate at most; the host waits once.
/// @param launch  eliminate_rows, or what does the same: launch(number of
///                eliminations, mean length of a row, task)
template <class ExecutionSpace, class Groups, class More, class Launch>
MergeSamples sample_merging(const ExecutionSpace& exec, const Groups& groups,
                            const MergeCandidates& candidates, const More& more,
                            WorkPool<ExecutionSpace>& pool,
                            const Launch& launch) {
  using Sample = SampleMergedRows<Groups, More>;
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = groups.graph.num_vertices;
  MergeSamples found{std::min<std::int64_t>(n, 1024), int{Sample::size}, {}};
  const int size = found.size * candidates.count;
  const Kokkos::View<std::int64_t*, Memory> sums(pool.zeros(size), size);
  launch(found.samples * candidates.count,
         double(groups.graph.num_edges()) / double(n),
         Sample{groups, candidates, found.samples, sums.data(), more});
  found.sums.resize(sums.extent(0));
  copy_to_host(exec, sums, found.sums.data());
  return found;
}

}  // namespace Detail
}  // namespace Strata

#endif
