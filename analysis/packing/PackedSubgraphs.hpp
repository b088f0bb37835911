// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_PACKED_SUBGRAPHS_HPP
#define STRATA_ANALYSIS_PACKING_PACKED_SUBGRAPHS_HPP

#include <Kokkos_Core.hpp>
#include <analysis/merging/MergedSubgraphRows.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <cstdint>

namespace Strata {

/// What one lane does in one step: x_out -= sum of value * x_dependency over a
/// few entries of one row. Several neighbouring lanes may share a row.
///
/// A record holds its values, then its dependencies and `out` as 16-bit places
/// in the team's scratch, counted in bytes. Unused entries are zero times the
/// scratch's zero. The two lowest bits of `out`, free as scalars are aligned to
/// four bytes, are flags.
struct PackedRecord {
  int scalar_bytes, entries, bytes;

  explicit constexpr PackedRecord(std::size_t scalar)
      : scalar_bytes(static_cast<int>(scalar)),
        entries(scalar == 4   ? 5
                : scalar == 8 ? 3
                              : 2),
        bytes(scalar == 16 ? 48 : 32) {}
  KOKKOS_FUNCTION constexpr int packets() const { return bytes / 16; }
  /// Byte of value `e`, of dependency `e`, and of `out` within the record.
  KOKKOS_FUNCTION constexpr int value_at(int e) const {
    return e * scalar_bytes;
  }
  KOKKOS_FUNCTION constexpr int dependency_at(int e) const {
    return entries * scalar_bytes + 2 * e;
  }
  KOKKOS_FUNCTION constexpr int out_at() const {
    return dependency_at(entries);
  }
};

enum : unsigned {
  /// The row's last step, and other sub-graphs need it.
  record_publishes = 1,
  /// The lane stores nothing in this step: it has no work, or it just adds its
  /// products to those of the lane that does.
  record_idle = 2
};

/// Warps that solve a sub-graph together, at most.
constexpr int max_solving_warps = 8;

/// How a team's lanes share the work: neighbouring lanes that share a row in a
/// step, a power of two, and warps; and the scalars its scratch has room for.
struct PackedTeam {
  int row_lanes = 1, warps = 1, max_local = 65536;
};

/// A packed sub-graph. Its scratch holds a zero, the values of other
/// sub-graphs in the order of need, then its rows, exported ones first.
struct PackedSubgraph {
  /// Each warp's first record, and its number of stages: records of one step,
  /// lane by lane.
  std::int64_t first_record[max_solving_warps];
  int stages[max_solving_warps];
  std::int64_t first_import, first_step;
  /// Lanes of a warp that work, a power of two.
  int lanes;
  int steps;
  int first_permuted_row, rows;
  int first_export, exports, imports;
  int padding;  // 0: no byte of a plan is left as it was
};

/// Sub-graphs in the order and form in which one launch consumes them.
///
/// A warp has a stage for each step in which it has work: step k of a sub-graph
/// is one for the first step_warps(first_step + k) warps. A stage holds the
/// records of the sub-graph's `lanes` first lanes, and those of a warp follow
/// each other: stage s of warp w begins with record first_record[w] + s *
/// lanes. Packet u (16 bytes) of lane l's record is at byte
/// (first_record[w] + s * lanes) * record bytes + (u * lanes + l) * 16.
template <class MemorySpace>
struct PackedSubgraphs {
  int num_rows = 0, num_exports = 0;
  int width = 1, warps = 1, entries = 1;
  int row_lanes = 1;           // see PackedTeam
  int max_local = 0;           // largest number of scalars in scratch
  int max_steps = 0;           // largest number of steps of a sub-graph
  std::int64_t num_steps = 0;  // of all sub-graphs together
  std::int64_t num_records = 0;
  /// What the following arrays are part of, those of `merged` aside.
  typename Detail::PlanStorage<MemorySpace>::Block storage;
  Kokkos::View<unsigned char*, MemorySpace> bytes;
  Kokkos::View<PackedSubgraph*, MemorySpace> subgraph;
  Kokkos::View<int*, MemorySpace> import;  // export numbers
  /// Where level sets are merged; the next two and
  /// `value_index` have no elements then.
  MergedSubgraphRows<MemorySpace> merged;
  /// Of each record, for packing: its permuted row (-1: idle lane); the
  /// lane, and in the three upper bits the logarithm of the stage's lanes.
  Kokkos::View<int*, MemorySpace> record_row;
  Kokkos::View<unsigned char*, MemorySpace> record_lane;
  Kokkos::View<unsigned char*, MemorySpace> step_warps;
  Kokkos::View<unsigned*, MemorySpace> row;  // permuted row -> user's row
  /// Of each permuted row's diagonal; of entry e of a record, at
  /// number * entries + e.
  Detail::ValueIndex<MemorySpace> diagonal_value_index, value_index;

  int num_subgraphs() const { return static_cast<int>(subgraph.extent(0)); }
};

}  // namespace Strata

#endif
