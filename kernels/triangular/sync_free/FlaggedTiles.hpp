// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_FLAGGED_TILES_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_FLAGGED_TILES_HPP

#include <algorithm>
#include <analysis/packing/RowChunks.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Gate.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Warp.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/triangular/level_sets/RowKernels.hpp>
#include <kernels/triangular/sync_free/SyncFreeState.hpp>

namespace Strata {
namespace Detail {

/// Up to R right-hand sides a tile and several tiles in one launch; a flag
/// a row and tile, holding the number of the solve that finished it. For
/// hosts, where x stays where it is and a core has the right-hand sides of a
/// row in its registers.
///
/// The order of tickets and the argument against deadlock are those of
/// SyncFreeSolve. A flag equals the current number only if this solve set it:
/// numbers repeat after 2^32 solves.
template <class Scalar, class ExecutionSpace, int R>
struct FlaggedTileSolve {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int width = lane_width<ExecutionSpace>;

  RowSystem<Scalar, ExecutionSpace> system;
  Kokkos::View<unsigned*, Memory> flag;  // permuted row * capacity + tile
  Kokkos::View<unsigned*, Memory> state;
  int capacity;     // tiles a row has flags for
  int num_columns;  // right-hand sides of this launch
  int chunks_per_warp;
  Gate gate;

  struct ReadFlagged {
    MultiVectorRef<Scalar> x;
    const unsigned* row_of;
    const unsigned* flag;
    int capacity;
    unsigned epoch;
    int columns;
    template <int RR, int batch>
    KOKKOS_INLINE_FUNCTION void add(const int (&dependency)[batch],
                                    const Scalar (&value)[batch],
                                    Scalar* sum) const {
      for (int u = 0; u < batch; ++u) {
        if (dependency[u] < 0) continue;
        const std::int64_t row = row_of[dependency[u]];
        const unsigned* f =
            flag + static_cast<std::int64_t>(dependency[u]) * capacity;
        for (int turn = 0; load_acquire(f) != epoch; ++turn)
          pause_while_waiting(turn);
        for (int r = 0; r < RR; ++r)
          if (r < columns) sum[r] += value[u] * read(row, r);
      }
    }
    /// Past the first-level cache, which may hold the line as it was before.
    KOKKOS_INLINE_FUNCTION Scalar read(std::int64_t row, int r) const {
      using Word = typename ScalarWords<Scalar>::Word;
      Word words[ScalarWords<Scalar>::count];
      const Word* at = reinterpret_cast<const Word*>(&x(row, r));
      for (int i = 0; i < ScalarWords<Scalar>::count; ++i)
        words[i] = load_relaxed(at + i);
      Scalar value;
      memcpy(&value, words, sizeof(Scalar));
      return value;
    }
  };

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    if (gate.closed()) return;
    const int warps = team.team_size() / width;
    const int warp = team.team_rank() / width, lane = team.team_rank() % width;
    unsigned ticket = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](unsigned& t) {
          t = Kokkos::atomic_fetch_add(&state(SyncFreeState::ticket), 1u);
        },
        ticket);
    const unsigned epoch = state(SyncFreeState::epoch) + 1;
    const int tiles = (num_columns + R - 1) / R;
    const int tile = static_cast<int>(ticket % tiles);
    const int first_column = tile * R;
    const int columns =
        num_columns - first_column < R ? num_columns - first_column : R;
    MultiVectorRef<Scalar> x = system.x;
    x.data += first_column * x.column_stride;
    const ReadFlagged read{
        x, system.row.data(), flag.data() + tile, capacity, epoch, columns};

    const int num_chunks = static_cast<int>(system.chunk.extent(0));
    const std::int64_t first =
        static_cast<std::int64_t>(ticket / tiles) * warps * chunks_per_warp +
        warp;
    for (int i = 0; i < chunks_per_warp; ++i) {
      const std::int64_t c = first + static_cast<std::int64_t>(i) * warps;
      if (c >= num_chunks) break;
      const RowChunk chunk = system.chunk(c);
      Scalar sum[R];
      for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
      accumulate_chunk<R>(system, chunk, lane, read, sum);
      const int r0 = lane >> chunk.log_lanes;
      const bool leader = r0 < chunk.rows && lane == (r0 << chunk.log_lanes);
      const int permuted_row = chunk.first_permuted_row + r0;
      const std::int64_t row = leader ? system.row(permuted_row) : 0;
      for (int r = 0; r < R; ++r) {
        const Scalar total = lane_group_sum(sum[r], 1 << chunk.log_lanes);
        if (leader && r < columns)
          x(row, r) = system.finish(system.b(row, first_column + r) - total,
                                    permuted_row);
      }
      if (leader)
        store_release(flag.data() +
                          static_cast<std::int64_t>(permuted_row) * capacity +
                          tile,
                      epoch);
    }

    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      const unsigned done =
          Kokkos::atomic_fetch_add(&state(SyncFreeState::finished), 1u);
      if (done + 1 == static_cast<unsigned>(team.league_size())) {
        state(SyncFreeState::ticket) = 0;
        state(SyncFreeState::finished) = 0;
        state(SyncFreeState::epoch) = epoch;
      }
    });
  }
};

/// What SyncFreeTiles is on a host. Memory: 4 bytes for each row and eight
/// right-hand sides of the capacity.
template <class Scalar, class ExecutionSpace>
class FlaggedTiles {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using System = RowSystem<Scalar, ExecutionSpace>;

  FlaggedTiles(const ExecutionSpace& exec, const RowChunks<Memory>& chunks,
               int max_right_hand_sides)
      : tiles_(capacity_for(chunks.num_rows, max_right_hand_sides) / tile),
        flag_("Strata::SyncFreeTiles::flag",
              std::int64_t{chunks.num_rows} * tiles_),
        state_("Strata::SyncFreeTiles::state", SyncFreeState::size) {
    exec.fence();
  }

  void solve(const ExecutionSpace& exec, const System& system,
             std::int64_t columns, const Gate& gate = {}) const {
    const auto chunks = static_cast<int>(system.chunk.extent(0));
    const int teams = (chunks + chunks_per_team - 1) / chunks_per_team;
    if (teams == 0) return;
    for (std::int64_t first = 0; first < columns;) {
      const int now = static_cast<int>(std::min<std::int64_t>(
          {columns - first, capacity(),
           std::int64_t{std::max(1, (1 << 30) / teams)} * tile}));
      System part = system;
      part.b = system.b.from(first);
      part.x = system.x.from(first);
      Kokkos::parallel_for(
          "Strata::Triangular::solve::sync_free_tiles",
          Kokkos::TeamPolicy<ExecutionSpace>(
              exec, teams * ((now + tile - 1) / tile), 1),
          FlaggedTileSolve<Scalar, ExecutionSpace, tile>{
              part, flag_, state_, tiles_, now, chunks_per_team, gate});
      first += now;
    }
  }
  /// Of a copy: flags and counters of its own, as if there had been no solve.
  void take_workspace(const ExecutionSpace&) {
    flag_ = make_zeroed<decltype(flag_)>(
        "Strata::SyncFreeTiles::flag",
        static_cast<std::int64_t>(flag_.extent(0)));
    state_ = make_zeroed<decltype(state_)>("Strata::SyncFreeTiles::state",
                                           SyncFreeState::size);
  }
  std::size_t workspace_bytes() const { return bytes(); }
  int capacity() const { return tiles_ * tile; }
  /// The same of a plan not made yet, and the bytes that it holds at least.
  static int capacity_for(std::int64_t, int max_right_hand_sides) {
    return (std::min(max_right_hand_sides, 1024) + tile - 1) / tile * tile;
  }
  static std::size_t least_bytes(std::int64_t rows, int max_right_hand_sides) {
    return static_cast<std::size_t>(rows) *
           (capacity_for(rows, max_right_hand_sides) / tile) * sizeof(unsigned);
  }
  std::size_t bytes() const {
    return (flag_.extent(0) + state_.extent(0)) * sizeof(unsigned);
  }

 private:
  static constexpr int tile = 8;
  /// Rows that a thread takes with a ticket.
  static constexpr int chunks_per_team = 64;

  int tiles_;
  Kokkos::View<unsigned*, Memory> flag_, state_;
};

}  // namespace Detail
}  // namespace Strata

#endif
