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
/// within a sub-graph, at most `pass_steps` a lane.
///
/// In the stream a pass is this header; its values; its sources; the reciprocal
/// diagonals of its rows; where `pass_exports` is set, the 32-bit mask of rows
/// that are exported. It is padded to 16 bytes. Row r of the pass belongs to
/// lanes r * 2^log_lanes and up; value and source of step s and lane l are
/// number s * active + l.
struct StreamPass {
  /// First row: its place in the sub-graph's scratch.
  std::uint16_t first_row;
  /// External values that must have arrived.
  std::uint16_t need;
  /// Bytes from the header to the sources and to the diagonals.
  std::uint16_t source_offset, diagonal_offset;
  /// Number of the sub-graph's exports before this pass.
  std::uint16_t first_export;
  /// Size of the pass in 16-byte units.
  std::uint16_t size;
  /// Lanes in use: rows * 2^log_lanes.
  std::uint8_t active;
  std::uint8_t log_lanes, steps;
  std::uint8_t flags;
};
static_assert(sizeof(StreamPass) == 16, "the stream is made of 16-byte units");

enum : std::uint8_t {
  /// The rows' last pass: sum up and finish them.
  pass_finishes = 1,
  /// Sources are numbers of exports (32 bits), read where they are published;
  /// otherwise places in the sub-graph's scratch (16 bits).
  pass_reads_exports = 2,
  /// Some rows are read by other sub-graphs.
  pass_exports = 4,
  /// The last pass of its stage.
  pass_ends_stage = 8
};

/// Steps of a pass at most: entries a lane holds in registers at once.
constexpr int pass_steps = 4;

/// The stream of a sub-graph is cut into stages of at most this many 16-byte
/// units, which no pass straddles; stages begin at multiples of it from the
/// sub-graph's start and are copied to scratch as a whole.
constexpr int stage_units = 256;

/// A sub-graph in the stream. Its scratch holds a zero, its rows in the order
/// of use, then its external values in the order of need.
struct StreamSubgraph {
  std::int64_t first_unit;  // 16-byte units from the start of the stream
  int units, stages;
  int first_position, rows;
  int first_external, externals;
  int first_export;
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
  int max_local = 0;  // largest number of scalars in scratch
  Kokkos::View<unsigned char*, MemorySpace> bytes;
  Kokkos::View<StreamSubgraph*, MemorySpace> subgraph;
  Kokkos::View<int*, MemorySpace> external;  // export numbers
  Kokkos::View<PassOrigin*, MemorySpace> pass;
  Kokkos::View<unsigned*, MemorySpace> row;  // position -> user's row
  Detail::OriginIndex<MemorySpace> diagonal_origin, origin;
};

}  // namespace Strata

#endif
