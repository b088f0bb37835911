// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SPLIT_ROWS_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SPLIT_ROWS_HPP

#include <analysis/packing/RowChunks.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/AllocateView.hpp>

namespace Strata {
namespace Detail {

/// How a chunk of one long row becomes several: pieces of as many steps each,
/// for different warps, and one chunk after them that adds up their sums.
///
/// A piece has the slots of its steps in first_slot and steps, and in `part`
/// the place of its partial sum. What follows the pieces has the place of the
/// first sum in first_slot and their number in steps. Sums are numbered through
/// the whole system.
struct SplitRow {
  /// Steps of a whole warp (32 entries each) that a piece has at most, and from
  /// which on a row is split: what is read of one row in a few turns of a warp
  /// is not worth the latency of one more dependency.
  static constexpr int piece_steps = 32, split_above = 64;

  /// Pieces of a chunk; 0: stays as it is.
  KOKKOS_INLINE_FUNCTION static int pieces(const RowChunk& chunk) {
    return chunk.steps > split_above && chunk.rows == 1
               ? (chunk.steps + piece_steps - 1) / piece_steps
               : 0;
  }
};

template <class MemorySpace>
struct CountPieces {
  Kokkos::View<const RowChunk*, MemorySpace> chunk;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c, int& sum) const {
    sum += SplitRow::pieces(chunk(c));
  }
};

/// Each chunk of k pieces becomes k + 1: the sum over those before is the
/// number of sums before, and of chunks that there are more of.
template <class MemorySpace>
struct CutPieces {
  Kokkos::View<const RowChunk*, MemorySpace> chunk;
  Kokkos::View<RowChunk*, MemorySpace> split;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c, int& sum,
                                         bool final) const {
    RowChunk made = chunk(c);
    const int pieces = SplitRow::pieces(made);
    if (final) {
      const int steps = made.steps;
      for (int p = 0; p < pieces; ++p) {
        made.part = sum + p;
        made.steps = p + 1 < pieces ? SplitRow::piece_steps
                                    : steps - p * SplitRow::piece_steps;
        split(c + sum + p) = made;
        const unsigned slots = unsigned{SplitRow::piece_steps}
                               << made.log_lanes;
        made.first_slot += slots;
        // Rows that are split have no coefficients, and `slots` is even.
        made.dependency_begin +=
            made.dependencies == RowChunk::whole ? slots : slots / 2;
      }
      if (pieces > 0) {
        made.first_slot = sum;
        made.steps = pieces;
        made.part = RowChunk::adds_pieces;
      }
      split(c + sum + pieces) = made;
    }
    sum += pieces;
  }
};

/// Chunks of one right-hand side, those of very long rows split.
template <class MemorySpace>
struct SplitRows {
  Kokkos::View<RowChunk*, MemorySpace> chunk;
  int num_sums = 0;
};

/// @param width       of the chunks
/// @param longest_row entries of it, beside the diagonal
/// Cost: nothing where no row is long enough, else two passes over the chunks,
/// on the device; the host waits for the first.
template <class ExecutionSpace>
SplitRows<typename ExecutionSpace::memory_space> split_long_rows(
    const ExecutionSpace& exec,
    const RowChunks<typename ExecutionSpace::memory_space>& chunks, int width,
    std::int64_t longest_row) {
  using Memory = typename ExecutionSpace::memory_space;
  SplitRows<Memory> rows{chunks.chunk, 0};
  if (longest_row <= std::int64_t{SplitRow::split_above} * width) return rows;
  const RangeOf<ExecutionSpace> range(exec, 0, chunks.num_chunks());
  Kokkos::parallel_reduce("Strata::SyncFree::count_pieces", range,
                          CountPieces<Memory>{chunks.chunk}, rows.num_sums);
  if (rows.num_sums == 0) return rows;
  rows.chunk = make_unfilled<Kokkos::View<RowChunk*, Memory>>(
      exec, "Strata::SyncFree::chunk", chunks.num_chunks() + rows.num_sums);
  Kokkos::parallel_scan("Strata::SyncFree::cut_pieces", range,
                        CutPieces<Memory>{chunks.chunk, rows.chunk});
  return rows;
}

}  // namespace Detail
}  // namespace Strata

#endif
