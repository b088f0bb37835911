// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SUBGRAPH_STREAM_HPP
#define STRATA_SUBGRAPH_STREAM_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_Subgraphs.hpp>
#include <cstdint>
#include <detail/Strata_OriginIndex.hpp>
#include <vector>

namespace Strata {

/// A pass: the entries of up to `width` lanes' worth of rows of one level set
/// within a sub-graph, at most `max_steps` a lane.
///
/// In the stream a pass is this header, the reciprocal diagonals of its rows,
/// its values and its sources, in this order, padded to 16 bytes. Row r of the
/// pass belongs to lanes r * 2^log_lanes and up; value and source of step s and
/// lane l are number s * (rows * 2^log_lanes) + l.
struct StreamPass {
  /// First row, counted within the sub-graph.
  std::uint16_t first_row;
  /// External values that must have arrived.
  std::uint16_t need;
  /// Size, in 16 bytes, of the pass `stream_ahead` passes on.
  std::uint16_t size_ahead;
  /// Number of the sub-graph's exports before this pass.
  std::uint16_t first_export;
  /// Rows of this pass (bit r) that other sub-graphs read.
  std::uint32_t export_mask;
  std::uint8_t rows, log_lanes, steps;
  std::uint8_t flags;
};
static_assert(sizeof(StreamPass) == 16, "the stream is made of 16-byte units");

enum : std::uint8_t {
  /// The rows' last pass: sum up and finish them.
  pass_finishes = 1,
  /// Sources are numbers of exports (32 bits), read where they are published;
  /// otherwise places in the sub-graph's scratch (16 bits).
  pass_reads_exports = 2
};

/// Passes that are on their way while one is worked on.
constexpr int stream_ahead = 7;

/// A sub-graph in the stream. Its scratch holds a zero, its rows in the order
/// of use, then its external values in the order of need.
struct StreamSubgraph {
  std::int64_t first_unit;  // 16-byte units from the start of the stream
  int first_position, rows;
  int first_external, externals;
  int first_export, passes;
  std::uint16_t first_sizes[stream_ahead + 1];
};

/// Where the values of a pass come from: for packing.
struct PassOrigin {
  std::int64_t first_unit, first_slot;
  int first_position;
};

/// Sub-graphs in the order and form in which one launch consumes them.
template <class MemorySpace>
struct SubgraphStream {
  int num_rows = 0, num_exports = 0;
  int max_local = 0;     // largest number of scalars in scratch
  int largest_pass = 0;  // units
  Kokkos::View<unsigned char*, MemorySpace> bytes;
  Kokkos::View<StreamSubgraph*, MemorySpace> subgraph;
  Kokkos::View<int*, MemorySpace> external;  // export numbers
  Kokkos::View<PassOrigin*, MemorySpace> pass;
  Kokkos::View<unsigned*, MemorySpace> row;  // position -> user's row
  Detail::OriginIndex<MemorySpace> diagonal_origin, origin;
};

}  // namespace Strata

#endif
