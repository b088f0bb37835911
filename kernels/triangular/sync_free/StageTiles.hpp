// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_STAGE_TILES_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_STAGE_TILES_HPP

#include <Kokkos_Core.hpp>
#include <core/device/ActivePlan.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <kernels/triangular/sync_free/TileBuffers.hpp>

namespace Strata {
namespace Detail {

/// Moves right-hand sides between a tile of vectors whose neighbours in
/// memory are rows and the buffers, where they are right-hand sides of a row:
/// pieces of some rows through scratch, so that both sides are read and written
/// in whole lines. A team takes a piece of one tile.
///
/// Before a solve, b goes where that solve does not publish; it becomes not
/// ready again when it has been read. What else the solve before has left there
/// is made not ready here. After the solve, x comes from where it was
/// published.
template <class Scalar, class ExecutionSpace, bool before>
struct StageTiles {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Values = NotReadyPacket<Scalar>;
  static constexpr int scalars = Values::scalars;
  static constexpr int rows = 32, team_size = 256;

  TileBuffers<Scalar> buffers;
  const int* permuted_row;  // of each row
  MultiVectorRef<std::conditional_t<before, const Scalar, Scalar>> vectors;
  ActivePlan active_plan;

  std::size_t scratch_bytes() const {
    return std::size_t(rows) * (buffers.tile_columns() + 1) * sizeof(Scalar);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    if (active_plan.is_another()) return;
    const int columns = buffers.tile_columns(), pitch = columns + 1;
    const int tile = team.league_rank() % buffers.tiles;
    const int first_row = team.league_rank() / buffers.tiles * rows;
    const int first_column = tile * columns;
    const int rank = team.team_rank(), size = team.team_size();
    auto* const piece = static_cast<Scalar*>(
        team.team_scratch(0).get_shmem(rows * pitch * sizeof(Scalar)));
    // Before a solve, the buffer it does not publish in; after, the one where
    // it did.
    Packet* const buffer =
        buffers.buffer(buffers.state[TileState::solves] % 2 == 0) +
        tile * buffers.tile_packets();

    if (before) {
      for_each_element(rank, size, [&](int r, int c) {
        const bool in = first_row + r < buffers.num_rows &&
                        first_column + c < buffers.columns;
        piece[r * pitch + c] =
            in ? vectors(first_row + r, first_column + c) : Scalar(0);
      });
      team.team_barrier();
    }
    for (int i = rank; i < rows << buffers.log_packets; i += size) {
      const int r = i >> buffers.log_packets;
      const int k = i & ((1 << buffers.log_packets) - 1);
      if (first_row + r >= buffers.num_rows) continue;
      const std::int64_t at =
          (static_cast<std::int64_t>(permuted_row[first_row + r])
           << buffers.log_packets) +
          k;
      const bool on = first_column + k * scalars < buffers.columns;
      Scalar* const part = piece + r * pitch + k * scalars;
      Scalar values[scalars];
      if constexpr (before) {
        for (int v = 0; v < scalars; ++v) values[v] = part[v];
        Packet packet;
        memcpy(&packet, values, sizeof(Packet));
        buffer[at] = on ? packet : Values::not_ready();
      } else if (on) {
        const Packet packet = buffer[at];
        Values::unpack(packet, values);
        for (int v = 0; v < scalars; ++v) part[v] = values[v];
      }
    }
    if constexpr (before) {
      const std::int64_t used = buffers.used();
      const std::int64_t stride =
          static_cast<std::int64_t>(team.league_size()) * size;
      for (std::int64_t i =
               buffers.tiles * buffers.tile_packets() +
               static_cast<std::int64_t>(team.league_rank()) * size + rank;
           i < used; i += stride)
        buffers.buffer(buffers.state[TileState::solves] % 2 == 0)[i] =
            Values::not_ready();
    } else {
      team.team_barrier();
      for_each_element(rank, size, [&](int r, int c) {
        if (first_row + r < buffers.num_rows &&
            first_column + c < buffers.columns)
          vectors(first_row + r, first_column + c) = piece[r * pitch + c];
      });
    }
  }

 private:
  /// Elements of a piece, neighbouring threads taking neighbouring rows.
  template <class Move>
  KOKKOS_INLINE_FUNCTION void for_each_element(int rank, int size,
                                               const Move& move) const {
    for (int i = rank; i < rows * buffers.tile_columns(); i += size)
      move(i % rows, i / rows);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
