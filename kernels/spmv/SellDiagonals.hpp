// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_DIAGONALS_HPP
#define STRATA_KERNELS_SPMV_SELL_DIAGONALS_HPP

#include <core/device/Warp.hpp>
#include <core/matrix/IndexArray.hpp>
#include <kernels/spmv/SellShape.hpp>
#include <kernels/spmv/SellStorage.hpp>

namespace Strata {
namespace Detail {

/// Goes through the diagonals on which a chunk of up to 32 rows has entries,
/// from the lowest up, by merging its rows. Rows must ascend strictly.
template <class MemorySpace>
struct MergeDiagonals {
  static constexpr int no_entry = 0x7fffffff;
  IndexArray row_map, entries;
  Kokkos::View<const int*, MemorySpace> length;
  Kokkos::View<const int*, MemorySpace> order;  // may be empty
  SellShape shape;
  std::int64_t rows;

  KOKKOS_INLINE_FUNCTION void span(std::int64_t permuted_row, std::int64_t& row,
                                   std::int64_t& k, std::int64_t& end) const {
    row = k = end = 0;
    if (permuted_row >= rows) return;
    row = order.extent(0) ? order(permuted_row) : permuted_row;
    if (row < 0) return;
    if (length(row) > shape.long_row) return;
    k = row_map(row);
    end = k + length(row);
  }
  KOKKOS_INLINE_FUNCTION int offset(std::int64_t row, std::int64_t k,
                                    std::int64_t end) const {
    return k < end ? static_cast<int>(entries(k) - row) : no_entry;
  }

  /// Calls visit(step, DiagonalStep) for the first `limit` diagonals and
  /// returns their number, or limit + 1 if there are more. All lanes of a warp
  /// call it, each with its row; a host's thread goes through all rows.
  template <class ExecutionSpace, class Visit>
  KOKKOS_INLINE_FUNCTION int visit_steps(std::int64_t c, int lane, int limit,
                                         const Visit& visit) const {
    int steps = 0;
    if constexpr (is_gpu<ExecutionSpace>) {
      std::int64_t row, k, end;
      span(c * shape.chunk_rows + lane, row, k, end);
      for (;; ++steps) {
        const int own = offset(row, k, end);
        int least = own;
        for (int mask = gpu_lane_width / 2; mask > 0; mask >>= 1) {
          const int other = lane_xor(least, mask);
          least = other < least ? other : least;
        }
        if (least == no_entry) return steps;
        if (steps == limit) return limit + 1;
        const LaneMask having = lane_ballot(own == least);
        if (lane == 0) visit(steps, DiagonalStep{least, having});
        k += own == least;
      }
    } else {
      std::int64_t row[32], k[32], end[32];
      const int count = shape.chunk_rows;
      for (int r = 0; r < count; ++r) span(c * count + r, row[r], k[r], end[r]);
      for (;; ++steps) {
        int least = no_entry;
        for (int r = 0; r < count; ++r) {
          const int own = offset(row[r], k[r], end[r]);
          least = own < least ? own : least;
        }
        if (least == no_entry) return steps;
        if (steps == limit) return limit + 1;
        unsigned having = 0;
        for (int r = 0; r < count; ++r)
          if (offset(row[r], k[r], end[r]) == least) {
            having |= 1u << r;
            ++k[r];
          }
        visit(steps, DiagonalStep{least, having});
      }
    }
  }
};

/// Calls functor(c, lane) for every chunk, on CUDA by the 32 lanes of a warp.
template <class ExecutionSpace, class Functor>
struct ByChunks {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  Functor functor;
  std::int64_t chunks;
  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    constexpr int width = lane_width<ExecutionSpace>;
    const std::int64_t c = static_cast<std::int64_t>(team.league_rank()) *
                               (team.team_size() / width) +
                           team.team_rank() / width;
    if (c < chunks) functor(c, team.team_rank() % width);
  }
};
template <class ExecutionSpace, class Functor>
void for_each_chunk(const char* label, const ExecutionSpace& exec,
                    std::int64_t chunks, const Functor& functor) {
  if (chunks == 0) return;
  const int warps = is_gpu<ExecutionSpace> ? 4 : 1;
  Kokkos::parallel_for(label,
                       Kokkos::TeamPolicy<ExecutionSpace>(
                           exec, static_cast<int>((chunks + warps - 1) / warps),
                           warps * lane_width<ExecutionSpace>),
                       ByChunks<ExecutionSpace, Functor>{functor, chunks});
}

/// Finds for every chunk whether diagonals take fewer bytes than columns do.
template <class ExecutionSpace>
struct CountDiagonals {
  using Memory = typename ExecutionSpace::memory_space;
  MergeDiagonals<Memory> merge;
  SellChunkSteps<Memory> column_steps;
  Kokkos::View<SellChunk*, Memory> chunk;
  bool use_diagonals;
  int scalar_bytes;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t c, int lane) const {
    const std::int64_t lanes = std::int64_t{merge.shape.chunk_rows}
                               << merge.shape.log_lanes;
    SellChunk made{0, 0, column_steps(c), 0};
    if (use_diagonals && made.steps > 0) {
      // A step of diagonals takes the values of C rows and 8 bytes.
      const int limit =
          static_cast<int>((made.steps * lanes * (scalar_bytes + 4) - 1) /
                           (lanes * scalar_bytes + 8));
      const int steps = merge.template visit_steps<ExecutionSpace>(
          c, lane, limit, [](int, const DiagonalStep&) {});
      if (steps <= limit) {
        made.steps = steps;
        made.on_diagonals = 1;
      }
    }
    if (lane == 0) chunk(c) = made;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
