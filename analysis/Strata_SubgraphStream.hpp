// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SUBGRAPH_STREAM_HPP
#define STRATA_SUBGRAPH_STREAM_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <detail/Strata_OriginIndex.hpp>
#include <vector>

namespace Strata {

/// A pass: the entries of up to `width` lanes' worth of rows of one level set
/// within a sub-graph, at most `pass_steps` a lane.
///
/// In the stream a pass is this header; its values; its sources; the reciprocal
/// diagonals of its rows; and padding to 16 bytes. Row r of the pass belongs to
/// lanes r * 2^log_lanes and up; value and source of step s and lane l are
/// number s * active + l. Rows that other sub-graphs read come first.
///
/// Four words of bit fields rather than a struct of small members: taking a
/// word apart costs less than loading its bytes.
struct StreamPass {
  /// 16 bits: place of the first row in the sub-graph's scratch. 16 bits:
  /// number of outside values that must have arrived.
  std::uint32_t first_row_need;
  /// 16 bits each: bytes from the header to the sources, to the diagonals.
  std::uint32_t offsets;
  /// 16 bits: number of the sub-graph's exports before this pass. 12 bits: size
  /// of the pass in 16-byte units. 4 bits: level sets of the sub-graph between
  /// this pass and the one before it in the same warp's stream.
  std::uint32_t first_export_size;
  /// 8 bits: lanes in use. 4 bits: log2 of the lanes of a row. 4 bits: steps.
  /// 8 bits: exported rows. 8 bits: flags.
  std::uint32_t shape;

  KOKKOS_INLINE_FUNCTION int first_row() const {
    return first_row_need & 0xffffu;
  }
  KOKKOS_INLINE_FUNCTION unsigned need() const { return first_row_need >> 16; }
  KOKKOS_INLINE_FUNCTION int source_offset() const { return offsets & 0xffffu; }
  KOKKOS_INLINE_FUNCTION int diagonal_offset() const { return offsets >> 16; }
  KOKKOS_INLINE_FUNCTION int first_export() const {
    return first_export_size & 0xffffu;
  }
  KOKKOS_INLINE_FUNCTION int size() const {
    return first_export_size >> 16 & 0xfffu;
  }
  KOKKOS_INLINE_FUNCTION int levels_passed() const {
    return first_export_size >> 28;
  }
  KOKKOS_INLINE_FUNCTION int active() const { return shape & 0xffu; }
  KOKKOS_INLINE_FUNCTION int log_lanes() const { return shape >> 8 & 0xfu; }
  KOKKOS_INLINE_FUNCTION int steps() const { return shape >> 12 & 0xfu; }
  KOKKOS_INLINE_FUNCTION int exported() const { return shape >> 16 & 0xffu; }
  KOKKOS_INLINE_FUNCTION bool has(std::uint32_t flag) const {
    return shape & flag;
  }
};
static_assert(sizeof(StreamPass) == 16, "the stream is made of 16-byte units");

enum : std::uint32_t {
  /// The rows' last pass: sum up and finish them.
  pass_finishes = 1u << 24,
  /// Sources are numbers of exports (32 bits), read where they are published;
  /// otherwise places in the sub-graph's scratch (16 bits).
  pass_reads_exports = 2u << 24,
  /// The last pass of its stage.
  pass_ends_stage = 4u << 24
};

/// Steps of a pass at most: entries a lane holds in registers at once.
constexpr int pass_steps(std::size_t scalar_bytes) {
  return scalar_bytes > 8 ? 2 : 4;
}

/// Each warp's part of a sub-graph's stream is cut into stages of at most this
/// many 16-byte units, which no pass straddles; stages begin at multiples of it
/// and are copied to scratch as a whole.
constexpr int stage_units = 128;

/// Warps that solve a sub-graph together.
constexpr int max_solving_warps = 4;

/// A sub-graph in the stream. Its scratch holds a zero, its rows in the order
/// of use, then its external values in the order of need.
struct StreamSubgraph {
  /// Each warp's part: from which 16-byte unit of the stream on, how many.
  std::int64_t first_unit[max_solving_warps];
  int units[max_solving_warps];
  /// Level sets that have rows in this sub-graph.
  int levels;
  int first_position, rows;
  std::int64_t first_external;
  int externals, first_export, exports;
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
  int warps = 1;      // that solve a sub-graph
  Kokkos::View<unsigned char*, MemorySpace> bytes;
  Kokkos::View<StreamSubgraph*, MemorySpace> subgraph;
  Kokkos::View<int*, MemorySpace> external;  // export numbers
  Kokkos::View<PassOrigin*, MemorySpace> pass;
  Kokkos::View<unsigned*, MemorySpace> row;  // position -> user's row
  Detail::OriginIndex<MemorySpace> diagonal_origin, origin;
};

}  // namespace Strata

#endif
