// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_SAMPLE_NEIGHBOURS_HPP
#define STRATA_ANALYSIS_MERGING_SAMPLE_NEIGHBOURS_HPP

#include <analysis/merging/SampleMerging.hpp>
#include <core/device/Warp.hpp>

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
  /// Dependencies that lead back to a row shortly before (near_row).
  double near = 0;
};

namespace Detail {

/// Bytes that memory gives out together.
constexpr int sector_bytes = 32;
/// A row that lies at most so many before another one is near to it: most such
/// rows are in one sub-graph.
constexpr int near_row = 256;

/// Sums for SampleMergedRows: what NeighbourShares are made from. The rows
/// themselves are looked at, so one candidate's turn is enough. Cost: some 64
/// dependencies of each row of the sample and of the row before, and the places
/// of their values.
struct CountNeighbours {
  enum : int {
    dependencies = MergeSample::size,  // those that are looked at
    new_dependencies,
    near,
    new_rows,
    end
  };
  static constexpr int size = end - MergeSample::size;
  /// Sums of one row's lanes fit in seven bits.
  static constexpr int most_dependencies = 64, bits = 8;

  const int *permuted_row, *vertex;  // of the LevelOrder
  int of_levels;                     // the candidate with so many level sets
  int a_sector;                      // scalars

  template <class Groups, class Eliminate>
  KOKKOS_FUNCTION void operator()(const Groups& groups, int v,
                                  const EliminatedRow&, int, int lane,
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
        counts += 1u + (is_new ? 1u << bits : 0u) +
                  (v - j <= near_row ? 1u << (2 * bits) : 0u);
      }
    }
    for (int mask = Eliminate::num_lanes / 2; mask > 0; mask /= 2)
      counts += lane_xor(counts, mask);
    if (!looks || lane != 0) return;
    const auto add = [&](int what, unsigned count) {
      if (count > 0)
        Kokkos::atomic_fetch_add(sums + (what - MergeSample::size),
                                 std::int64_t{count});
    };
    constexpr unsigned most = (1u << bits) - 1;
    add(dependencies, counts & most);
    add(new_dependencies, (counts >> bits) & most);
    add(near, counts >> (2 * bits));
    add(new_rows, new_row ? 1u : 0u);
  }

  /// @param found  the sums of the candidate with `of_levels`
  static NeighbourShares shares(const MergeSamples& found, int candidate) {
    NeighbourShares shares;
    shares.new_rows = found.mean(candidate, new_rows);
    const auto all = double(found.sum(candidate, dependencies));
    if (all == 0) return shares;
    shares.new_dependencies =
        double(found.sum(candidate, new_dependencies)) / all;
    shares.near = double(found.sum(candidate, near)) / all;
    return shares;
  }

 private:
  KOKKOS_FUNCTION int sector_of(int element) const {
    return element / a_sector;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
