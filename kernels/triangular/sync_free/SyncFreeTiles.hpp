// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SYNC_FREE_TILES_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SYNC_FREE_TILES_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <core/device/ActivePlan.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/triangular/row_chunks/RowSystem.hpp>
#include <kernels/triangular/sync_free/TileBuffers.hpp>
#include <kernels/triangular/sync_free/TileKernel.hpp>

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

template <class MemorySpace>
struct InvertPermutation {
  Kokkos::View<const unsigned*, MemorySpace> row;
  Kokkos::View<int*, MemorySpace> permuted_row;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    permuted_row(row(p)) = static_cast<int>(p);
  }
};

/// How far apart in the order of use rows are that lie next to each other.
template <class MemorySpace>
struct NeighbourDistance {
  Kokkos::View<const int*, MemorySpace> permuted_row;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, double& sum) const {
    const double d = double(permuted_row(i + 1)) - double(permuted_row(i));
    sum += d < 0 ? -d : d;
  }
};

/// Solves of several right-hand sides over the chunks of a `sync_free` plan on
/// a GPU: a launch of TileSolve for each `capacity()` of them. Tiles are blocks
/// of 8 or 32 right-hand sides here; those of the algorithm `tiles` are sets of
/// rows.
///
/// Chunks and values are the caller's: it passes them in a RowSystem whose
/// dependencies are permuted rows. Memory, beside 24 bytes for each row
/// group and 4 for each row: two buffers of one scalar for each row and
/// right-hand side of the capacity. That is the wanted number of right-hand
/// sides (a multiple of 8, or of 32 above 16) as far as it fits in
/// `max_workspace_bytes`, and 8 in any case; where there is not as much memory
/// now, as far as it fits in `sure_workspace_bytes`.
///
/// Solves share the workspace and must not overlap.
template <class Scalar, class ExecutionSpace>
class SyncFreeTiles {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using System = RowSystem<Scalar, ExecutionSpace>;
  static constexpr std::int64_t sure_workspace_bytes = std::int64_t{512} << 20;
  /// An eighth of the device's memory.
  static std::int64_t max_workspace_bytes() {
    static const std::int64_t share =
        static_cast<std::int64_t>(memory_info<Memory>().total / 8);
    return std::max(share, sure_workspace_bytes);
  }

  /// @param max_right_hand_sides of one launch, at least 1; 1024 at most count
  /// Cost: a few passes over the chunks and rows, on the device. Fences `exec`.
  SyncFreeTiles(const ExecutionSpace& exec, const RowChunks<Memory>& chunks,
                int max_right_hand_sides)
      : multiprocessors_(num_multiprocessors(exec)),
        num_rows_(chunks.num_rows),
        capacity_(capacity_for(chunks.num_rows, max_right_hand_sides)) {
    const int sure = columns_that_fit(chunks.num_rows, max_right_hand_sides,
                                      sure_workspace_bytes);
    if (capacity_ > sure)
      first_that_fits([&] { take_workspace(exec); },
                      [&] {
                        capacity_ = sure;
                        take_workspace(exec);
                      });
    else
      take_workspace(exec);
    few_ = cut_row_groups(exec, chunks, log_packets(few));
    if (capacity_ >= many)
      many_ = cut_row_groups(exec, chunks, log_packets(many));
    make_unfilled(permuted_row_, "Strata::SyncFreeTiles::permuted_row",
                  num_rows_);
    for_each_index("Strata::SyncFreeTiles::permuted_row", exec, num_rows_,
                   InvertPermutation<Memory>{chunks.row, permuted_row_});
    if (num_rows_ > 1) {
      Kokkos::parallel_reduce("Strata::SyncFreeTiles::distance",
                              RangeOf<ExecutionSpace>(exec, 0, num_rows_ - 1),
                              NeighbourDistance<Memory>{permuted_row_},
                              distance_);
      distance_ /= num_rows_ - 1;
    }
    exec.fence();
  }

  /// Enqueues the solve of system.b's `columns` right-hand sides into system.x,
  /// which may be b; nothing is done if another plan is active. No allocation,
  /// no wait.
  void solve(const ExecutionSpace& exec, const System& system,
             std::int64_t columns, const ActivePlan& active_plan = {}) const {
    for (std::int64_t first = 0; first < columns; first += capacity_) {
      System part = system;
      part.b = system.b.from(first);
      part.x = system.x.from(first);
      const int now =
          static_cast<int>(std::min<std::int64_t>(capacity_, columns - first));
      if (system.divide)
        launch<true>(exec, part, now, active_plan);
      else
        launch<false>(exec, part, now, active_plan);
    }
  }
  /// Of a copy: buffers and counters of its own, as if there had been no solve.
  void take_workspace(const ExecutionSpace& exec) {
    make_unfilled(buffers_, "Strata::SyncFreeTiles::buffers",
                  std::int64_t{2} * num_rows_ * capacity_);
    for_each_index("Strata::SyncFreeTiles::reset", exec, buffers_.extent(0),
                   ResetNotReady<Scalar, Memory>{buffers_});
    make_zeroed(state_, "Strata::SyncFreeTiles::state", TileState::size);
  }
  std::size_t workspace_bytes() const {
    return buffers_.extent(0) * sizeof(Scalar) +
           state_.extent(0) * sizeof(unsigned);
  }
  /// Right-hand sides of one launch.
  int capacity() const { return capacity_; }
  /// The same of a plan not made yet, and the bytes that it holds at least.
  static int capacity_for(std::int64_t rows, int max_right_hand_sides) {
    return columns_that_fit(rows, max_right_hand_sides, max_workspace_bytes());
  }
  static std::size_t least_bytes(std::int64_t rows, int max_right_hand_sides) {
    return static_cast<std::size_t>(rows) *
           (2 * sizeof(Scalar) * capacity_for(rows, max_right_hand_sides) +
            sizeof(int));
  }
  /// Bytes of device memory held.
  std::size_t bytes() const {
    return (few_.extent(0) + many_.extent(0)) * sizeof(RowGroup) +
           workspace_bytes() + permuted_row_.extent(0) * sizeof(int);
  }

 private:
  static constexpr int scalars = NotReadyPacket<Scalar>::scalars;
  /// Right-hand sides of a tile: whole sectors of 32 bytes of each dependency
  /// from float on, or whole lines of 128.
  static constexpr int few = 8, many = sizeof(Scalar) > 8 ? gpu_lane_width : 32;

  static constexpr int log_packets(int tile) {
    int log = 0;
    while (scalars << log < tile) ++log;
    return log;
  }
  static int columns_that_fit(std::int64_t rows, int wanted,
                              std::int64_t bytes) {
    const auto rounded = [](std::int64_t c) {
      return (c + few - 1) / few * few <= 2 * few
                 ? (c + few - 1) / few * few
                 : (c + many - 1) / many * many;
    };
    const std::int64_t fit =
        bytes /
        std::max<std::int64_t>(1, rows * 2 * std::int64_t{sizeof(Scalar)});
    std::int64_t columns = rounded(std::min(wanted, 1024));
    if (columns > fit)
      columns = fit >= many ? fit / many * many
                            : std::max<std::int64_t>(few, fit / few * few);
    return static_cast<int>(columns);
  }
  /// The size of tiles: what is padded costs as much as what is not, and each
  /// tile reads the entries, which is worth about six right-hand sides.
  bool in_large_tiles(int columns) const {
    const auto cost = [&](int tile) {
      return (columns + tile - 1) / tile * (tile + 6);
    };
    return (columns + many - 1) / many * many <= capacity_ &&
           cost(many) < cost(few);
  }
  /// Vectors that have rows for neighbours in memory go through the buffers in
  /// whole lines, at the price of reading and writing them once more, or are
  /// read and written where they are, 32 bytes for each scalar. The latter is
  /// better while the second-level cache keeps a sector until the last of its
  /// rows has been solved. It keeps up to some 11 MiB of sectors that are
  /// written, one scalar after the other, and up to some 64 MiB that are read.
  static constexpr int most_mib_of_b = 64, most_mib_of_x = 11;
  template <class Vectors>
  bool staged(const Vectors& vectors, int columns, int most_mib) const {
    const double rows_of_sector = 32. / sizeof(Scalar);
    const double sectors_in_use =
        std::min<double>(num_rows_ / rows_of_sector,
                         (rows_of_sector - 1) * distance_) *
        columns;
    return columns > 1 && vectors.row_stride < vectors.column_stride &&
           32 * sectors_in_use > most_mib * double(1 << 20);
  }
  template <class Vectors>
  static bool packed(const Vectors& vectors) {
    return vectors.column_stride == 1 && vectors.row_stride % scalars == 0 &&
           reinterpret_cast<std::uintptr_t>(vectors.data) % sizeof(Packet) == 0;
  }

  template <bool divide>
  void launch(const ExecutionSpace& exec, const System& system, int columns,
              const ActivePlan& active_plan) const {
    using Solve = TileSolve<Scalar, ExecutionSpace, divide>;
    const bool large = in_large_tiles(columns);
    const int tile = large ? many : few;
    const auto& row_groups = large ? many_ : few_;
    Solve solve;
    solve.buffers = {
        reinterpret_cast<Packet*>(buffers_.data()),
        static_cast<std::int64_t>(buffers_.extent(0)) / 2 / scalars,
        state_.data(),
        num_rows_,
        log_packets(tile),
        columns,
        (columns + tile - 1) / tile};
    solve.row_group = row_groups.data();
    solve.rows = system.row.data();
    solve.dependency = system.dependency.data();
    solve.value = system.value.data();
    solve.diagonal = system.diagonal.data();
    solve.b = system.b;
    solve.x = system.x;
    // Below 2^30 by the bound on the workspace, or one tile.
    solve.num_items =
        static_cast<unsigned>(row_groups.extent(0)) * solve.buffers.tiles;
    solve.row_bytes = static_cast<int>(sizeof(Packet)) << log_packets(tile);
    solve.tile_bytes = std::int64_t{num_rows_} * solve.row_bytes;
    solve.staged_b = staged(system.b, columns, most_mib_of_b);
    solve.staged_x = staged(system.x, columns, most_mib_of_x);
    solve.packed_b = packed(system.b);
    solve.packed_x = packed(system.x);
    solve.active_plan = active_plan;
    if (solve.num_items == 0) return;

    if (solve.staged_b)
      stage(exec,
            StageTiles<Scalar, ExecutionSpace, true>{
                solve.buffers, permuted_row_.data(), system.b, active_plan});
    WaitingTeams<ExecutionSpace, Solve::team_size, teams_per_multiprocessor>
        policy(exec, num_teams(solve.num_items), Solve::team_size,
               vector_lanes<ExecutionSpace>);
    policy.set_scratch_size(0, Kokkos::PerTeam(Solve::scratch_bytes));
    Kokkos::parallel_for("Strata::Triangular::solve::sync_free_tiles", policy,
                         waiting_kernel<ExecutionSpace>(solve));
    if (solve.staged_x)
      stage(exec,
            StageTiles<Scalar, ExecutionSpace, false>{
                solve.buffers, permuted_row_.data(), system.x, active_plan});
  }
  /// As many as registers allow: what is far from the front waits at its
  /// throttle and takes nothing from the others.
  static constexpr int teams_per_multiprocessor = 5;
  int num_teams(unsigned num_items) const {
    const std::int64_t most =
        std::int64_t{multiprocessors_} * teams_per_multiprocessor;
    const std::int64_t enough =
        (std::int64_t{num_items} + TileState::warps - 1) / TileState::warps;
    return static_cast<int>(std::min(most, enough));
  }
  template <class Stage>
  void stage(const ExecutionSpace& exec, const Stage& move) const {
    Kokkos::TeamPolicy<ExecutionSpace> policy(
        exec, (num_rows_ + Stage::rows - 1) / Stage::rows * move.buffers.tiles,
        Stage::team_size);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(static_cast<int>(move.scratch_bytes())));
    Kokkos::parallel_for("Strata::Triangular::solve::stage_tiles", policy,
                         move);
  }

  int multiprocessors_, num_rows_, capacity_;
  double distance_ = 0;
  Kokkos::View<RowGroup*, Memory> few_, many_;
  Kokkos::View<Scalar*, Memory> buffers_;
  Kokkos::View<unsigned*, Memory> state_;
  Kokkos::View<int*, Memory> permuted_row_;
};

}  // namespace Detail
}  // namespace Strata

#endif
