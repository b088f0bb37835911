// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_ROW_GROUPS_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_ROW_GROUPS_HPP

#include <analysis/packing/RowChunks.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/AllocateView.hpp>

namespace Strata {
namespace Detail {

/// How the lanes of a warp are dealt to a few rows and right-hand sides, as
/// powers of two: a row takes `width` lanes for as many packets of right-hand
/// sides, times `split` lanes among which its entries are dealt. Where a row's
/// packets exceed `width`, warps solve `parts` of them.
struct TileShape {
  int log_width, log_split, log_parts;

  static constexpr int log_lanes = gpu_log_lanes;
  /// Entries that a lane has under way together.
  static constexpr int batch = 4;

  /// @param entries     of a row, padding included
  /// @param log_packets right-hand sides of a row, in packets of 16 bytes
  ///
  /// All entries of a row are under way together if possible: for rows of more
  /// entries than `batch`, warps take fewer right-hand sides and so can have
  /// more lanes for the entries. That reads the entries again for each part;
  /// below four packets a part (64 bytes of each dependency) only rows of
  /// hundreds of entries are worth it.
  KOKKOS_INLINE_FUNCTION static TileShape of(std::int64_t entries,
                                             int log_packets) {
    int width = log_packets, split = 0;
    const int least = entries > 1024 ? 0 : entries > 256 ? 1 : 2;
    while (width > least &&
           (std::int64_t{batch} << (log_lanes - width)) < entries)
      --width;
    while (split < log_lanes - width &&
           (std::int64_t{batch} << split) < entries)
      ++split;
    return {width, split, log_packets - width};
  }
  KOKKOS_INLINE_FUNCTION int rows() const {
    return 1 << (log_lanes - log_width - log_split);
  }
};

/// Rows of one chunk that a warp solves together, for all right-hand sides of a
/// tile or a part of them.
struct RowGroup {
  std::int64_t first_slot;  // of its first row
  int permuted_row;         // of its first row
  int steps;                // of the chunk
  unsigned bits;            // rows, lanes of the chunk and TileShape
  int throttle;             // of the chunk

  KOKKOS_INLINE_FUNCTION static unsigned pack(int rows, const RowChunk& chunk,
                                              const TileShape& shape,
                                              int part) {
    const int stride = chunk.rows << chunk.log_lanes;
    return static_cast<unsigned>(rows | stride << 6 | chunk.log_lanes << 12 |
                                 shape.log_width << 15 | shape.log_split << 18 |
                                 part << 21);
  }
  KOKKOS_INLINE_FUNCTION int rows() const { return bits & 63; }
  /// Slots between the steps of the chunk.
  KOKKOS_INLINE_FUNCTION int stride() const { return bits >> 6 & 63; }
  /// Neighbouring slots of a row, as a power of two.
  KOKKOS_INLINE_FUNCTION int log_lanes() const { return bits >> 12 & 7; }
  KOKKOS_INLINE_FUNCTION int log_width() const { return bits >> 15 & 7; }
  KOKKOS_INLINE_FUNCTION int log_split() const { return bits >> 18 & 7; }
  KOKKOS_INLINE_FUNCTION int part() const { return bits >> 21; }
  /// Entries of a row, padding included.
  KOKKOS_INLINE_FUNCTION int entries() const { return steps << log_lanes(); }
};

/// The shape of a chunk's row groups, for tiles of 2^log_packets packets.
KOKKOS_INLINE_FUNCTION TileShape tile_shape(const RowChunk& chunk,
                                            int log_packets) {
  return TileShape::of(
      static_cast<std::int64_t>(chunk.steps) << chunk.log_lanes, log_packets);
}
KOKKOS_INLINE_FUNCTION std::int64_t count_row_groups(const RowChunk& chunk,
                                                     const TileShape& shape) {
  return std::int64_t{(chunk.rows + shape.rows() - 1) / shape.rows()}
         << shape.log_parts;
}

template <class MemorySpace>
struct CountRowGroups {
  Kokkos::View<const RowChunk*, MemorySpace> chunk;
  int log_packets;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i,
                                         std::int64_t& sum) const {
    sum += count_row_groups(chunk(i), tile_shape(chunk(i), log_packets));
  }
};

template <class MemorySpace>
struct CutRowGroups {
  Kokkos::View<const RowChunk*, MemorySpace> chunk;
  Kokkos::View<RowGroup*, MemorySpace> row_group;
  int log_packets;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& sum,
                                         bool final) const {
    const RowChunk c = chunk(i);
    const TileShape shape = tile_shape(c, log_packets);
    if (final) {
      std::int64_t at = sum;
      for (int r = 0; r < c.rows; r += shape.rows()) {
        const int rows = c.rows - r < shape.rows() ? c.rows - r : shape.rows();
        for (int part = 0; part < 1 << shape.log_parts; ++part)
          row_group(at++) = {
              c.first_slot + (static_cast<std::int64_t>(r) << c.log_lanes),
              c.first_permuted_row + r, c.steps,
              RowGroup::pack(rows, c, shape, part), c.throttle};
      }
    }
    sum += count_row_groups(c, shape);
  }
};

/// The row groups of `chunks` in their order, for tiles of right-hand sides of
/// 2^log_packets packets (at most a warp's lanes). Cost: two passes over the
/// chunks on the device. Fences `exec`.
template <class ExecutionSpace>
Kokkos::View<RowGroup*, typename ExecutionSpace::memory_space> cut_row_groups(
    const ExecutionSpace& exec,
    const RowChunks<typename ExecutionSpace::memory_space>& chunks,
    int log_packets) {
  using Memory = typename ExecutionSpace::memory_space;
  const RangeOf<ExecutionSpace> range(exec, 0, chunks.num_chunks());
  std::int64_t count = 0;
  Kokkos::parallel_reduce("Strata::SyncFreeTiles::count_row_groups", range,
                          CountRowGroups<Memory>{chunks.chunk, log_packets},
                          count);
  const auto row_group = make_unfilled<Kokkos::View<RowGroup*, Memory>>(
      "Strata::SyncFreeTiles::row_group", count);
  Kokkos::parallel_scan(
      "Strata::SyncFreeTiles::cut_row_groups", range,
      CutRowGroups<Memory>{chunks.chunk, row_group, log_packets});
  exec.fence();
  return row_group;
}

}  // namespace Detail
}  // namespace Strata

#endif
