// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SCHEDULE_HPP
#define STRATA_SCHEDULE_HPP

#include <cstdint>
#include <vector>

namespace Strata {

/// The time slots of one kind of edge, of all sub-graphs one after the other.
struct SlotList {
  /// Sub-graph g has the slots slot_map[g] <= q < slot_map[g + 1].
  std::vector<std::int64_t> slot_map;
  /// Slot q has the edges edge_map[q] <= e < edge_map[q + 1], by ascending
  /// target.
  std::vector<std::int64_t> edge_map;
  /// Target of each edge: its index within the sub-graph.
  std::vector<int> target;
  /// Source of each edge: index within the sub-graph for an internal edge,
  /// vertex of the whole graph for an external one.
  std::vector<int> source;
  /// Index of each edge in DependencyGraph::entries.
  std::vector<std::int64_t> entry;

  std::int64_t num_slots() const {
    return slot_map.empty() ? 0 : slot_map.back();
  }
  std::int64_t num_edges() const {
    return static_cast<std::int64_t>(target.size());
  }
};

/// When every multiply-and-add x_i -= l_ij x_j of 004's Algorithm 1 happens:
/// the sets T'_gq (external) and T_gq (internal).
///
/// No slot has two edges into one vertex, so the edges of a slot can run at
/// once; an internal edge (j, i) comes in a later slot than every internal
/// edge into j, and all external slots of a sub-graph come before its internal
/// ones, so x_j is final when it is read.
struct Schedule {
  SlotList external, internal;
};

}  // namespace Strata

#endif
