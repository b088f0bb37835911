// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_TILE_TASK_HPP
#define STRATA_KERNELS_BAND_TILE_TASK_HPP

#include <algorithm>
#include <core/device/Atomics.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Scratch.hpp>
#include <core/device/Warp.hpp>
#include <kernels/band/TileTeam.hpp>

namespace Strata {
namespace Detail {

/// What happens to a tile after its products were subtracted.
enum class TileFinish : int {
  none,
  invert,          // becomes its inverse
  multiply_left,   // factor * tile
  multiply_right,  // tile * factor
};

/// One tile of a factorisation, or B rows of some right-hand sides:
/// out = finish(start - sum of a b over the terms). Tiles come before the tiles
/// that use them.
template <class Scalar>
struct TileTask {
  Scalar* out = nullptr;  ///< B rows, contiguous columns; none: nothing to do
  /// Zero where null. Only `valid_rows` x `valid_columns` of it exist, the
  /// rest counts as zero.
  const Scalar* start = nullptr;
  std::int64_t start_row_stride = 1, start_column_stride = 0;
  bool start_is_solved_for = false;  ///< start is the result of another task
  std::int64_t start_flag = -1;
  /// A second place for the valid part of the result, where not null.
  Scalar* copy = nullptr;
  std::int64_t copy_row_stride = 1, copy_column_stride = 0;
  int valid_rows = 0, valid_columns = 0;
  int terms = 0;
  TileFinish finish = TileFinish::none;
  const Scalar* factor = nullptr;
  std::int64_t factor_flag = -1;
  std::int64_t flag = -1;  ///< the tile's own
  /// Of `invert`: number of the first pivot, system after system in the order
  /// of elimination, B for each block row.
  std::int64_t pivots = 0;
};

/// Counters of a launch whose teams take tasks by tickets, in device memory.
/// The last team puts them back, so that a recorded launch can be replayed.
struct TaskState {
  enum : int {
    ticket = 0,    // handed out
    finished = 1,  // teams done
    epoch = 2,     // launches done
    size = 3
  };
};

/// Takes tickets until there are none left and runs `execute(ticket, epoch)`
/// for each. Tickets are given out in the order of the tasks, to teams that are
/// running: a task waits for tasks with lower tickets only, and of the
/// unfinished ones the lowest waits for none. So nothing waits for ever,
/// however few teams run at once. (Every task has a tile of its own in
/// memory, so that 32 bits are enough to count them.)
template <class Team, class State, class Execute>
KOKKOS_INLINE_FUNCTION void run_tickets(const Team& team, const State& state,
                                        std::int64_t tasks,
                                        const Execute& execute) {
  const unsigned epoch = state(TaskState::epoch) + 1;
  for (;;) {
    unsigned ticket = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](unsigned& t) {
          t = Kokkos::atomic_fetch_add(&state(TaskState::ticket), 1u);
        },
        ticket);
    if (static_cast<std::int64_t>(ticket) >= tasks) break;
    execute(static_cast<std::int64_t>(ticket), epoch);
    team.team_barrier();
  }
  Kokkos::single(Kokkos::PerTeam(team), [&]() {
    const unsigned done =
        Kokkos::atomic_fetch_add(&state(TaskState::finished), 1u);
    if (done + 1 == static_cast<unsigned>(team.league_size())) {
      state(TaskState::ticket) = 0;
      state(TaskState::finished) = 0;
      state(TaskState::epoch) = epoch;
    }
  });
}

/// Runs the tasks of a plan on B x B tiles, each as soon as the tiles of its
/// products carry this launch's number in their flags. Why it can't deadlock:
/// see run_tickets; the flags are of tasks with smaller tickets.
///
/// Plan: tasks(), where(ticket), task(where) and term(where, t).
/// Pivots: operator()(number, value) with every pivot of an inversion.
template <class Scalar, class ExecutionSpace, int B, class Plan, class Pivots>
struct RunTileTasks {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Tile = TileTeam<Scalar, ExecutionSpace, B>;
  static constexpr int team_size = Tile::team_size;
  /// Terms that are looked at together, by a lane each.
  static constexpr int at_once = lane_width<ExecutionSpace>;
  struct Factors {
    const Scalar *a, *b;
  };
  static constexpr std::size_t scratch_bytes =
      Tile::scratch_bytes + 32 + at_once * sizeof(Factors);
  static_assert(scratch_bytes <= sure_scratch_bytes<ExecutionSpace>,
                "more than Kokkos gives a team");

  Plan plan;
  Pivots pivots;
  Kokkos::View<unsigned*, Memory> flag, state;

  KOKKOS_INLINE_FUNCTION bool is_final(std::int64_t f, unsigned epoch) const {
    return f < 0 || load_acquire(flag.data() + f) == epoch;
  }

  /// Waits for term t; the first lanes look at one of the next terms each, and
  /// leave its factors in `factors`.
  KOKKOS_INLINE_FUNCTION int wait(const Member& team,
                                  const typename Plan::Where& where, int t,
                                  int terms, unsigned epoch, int* shared,
                                  Factors* factors) const {
    if (team.team_rank() < at_once) {
      const int mine = t + team.team_rank();
      TileTerm<Scalar> term{nullptr, nullptr, -1, -1};
      if (mine < terms) {
        term = plan.term(where, mine);
        factors[team.team_rank()] = {term.a, term.b};
      }
      int found = 0;
      for (int turn = 0;; ++turn) {
        const bool final = mine < terms && is_final(term.flag_a, epoch) &&
                           is_final(term.flag_b, epoch);
        const LaneMask missing = ~lane_ballot(final);
        found = missing == 0 ? at_once : lowest_bit(missing);
        if (found > 0) break;
        pause_while_waiting(turn);
      }
      if (team.team_rank() == 0) *shared = t + found;
    }
    team.team_barrier();
    const int ready = *shared;
    team.team_barrier();
    return ready;
  }

  KOKKOS_INLINE_FUNCTION void execute(const Member& team, const Tile& tile,
                                      std::int64_t ticket, unsigned epoch,
                                      int* shared, Factors* factors) const {
    const typename Plan::Where where = plan.where(ticket);
    const TileTask<Scalar> task = plan.task(where);
    if (!task.out) return;
    // The sums are kept with the opposite sign.
    if (task.start_flag >= 0) {
      if (team.team_rank() == 0)
        for (int turn = 0; !is_final(task.start_flag, epoch); ++turn)
          pause_while_waiting(turn);
      team.team_barrier();
    }
    typename Tile::Elements c;
    tile.for_each(c, [&](Scalar& e, int row, int column) {
      e = task.start && row < task.valid_rows && column < task.valid_columns
              ? -task.start[row * task.start_row_stride +
                            column * task.start_column_stride]
              : Scalar(0);
    });
    int looked_at = 0;
    tile.add_products(
        team, c, task.terms, [&](int t) { return factors[t - looked_at]; },
        [&](int t) {
          looked_at = t;
          return wait(team, where, t, task.terms, epoch, shared, factors);
        });
    tile.for_each(c, [](Scalar& e, int, int) { e = -e; });
    if (task.finish == TileFinish::invert) {
      tile.invert(team, c);
    } else if (task.finish != TileFinish::none) {
      tile.for_each(c, [&](Scalar& e, int row, int column) {
        task.out[column * B + row] = e;
        e = Scalar(0);
      });
      const bool left = task.finish == TileFinish::multiply_left;
      // The barriers of the wait put the tile in memory before it is read.
      tile.add_products(
          team, c, 1,
          [&](int) {
            return Factors{left ? task.factor : task.out,
                           left ? task.out : task.factor};
          },
          [&](int) {
            if (team.team_rank() == 0)
              for (int turn = 0; !is_final(task.factor_flag, epoch); ++turn)
                pause_while_waiting(turn);
            team.team_barrier();
            return 1;
          });
    }
    tile.for_each(c, [&](Scalar& e, int row, int column) {
      task.out[column * B + row] = e;
      if (task.copy && row < task.valid_rows && column < task.valid_columns)
        task.copy[row * task.copy_row_stride +
                  column * task.copy_column_stride] = e;
    });
    team.team_barrier();
    if (team.team_rank() == 0 && task.flag >= 0)
      store_release(flag.data() + task.flag, epoch);
    // Others need not wait for the look at the pivots.
    if (task.finish == TileFinish::invert)
      tile.for_each_pivot(
          [&](int k, const Scalar& value) { pivots(task.pivots + k, value); });
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    char* const scratch = aligned_scratch<char>(team, scratch_bytes);
    int* const shared = reinterpret_cast<int*>(scratch + Tile::scratch_bytes);
    auto* const factors =
        reinterpret_cast<Factors*>(scratch + Tile::scratch_bytes + 16);
    const Tile tile(team.team_rank(), scratch);
    run_tickets(team, state, plan.tasks(),
                [&](std::int64_t ticket, unsigned epoch) {
                  execute(team, tile, ticket, epoch, shared, factors);
                });
  }
};

/// Launches as many teams as can run at once and find work.
/// @param useful tasks that can be under way at once, at most
template <int teams_per_multiprocessor, class ExecutionSpace, class Kernel>
void launch_tile_tasks(const ExecutionSpace& exec, const char* label,
                       const Kernel& kernel, std::int64_t useful,
                       int multiprocessors) {
  const auto teams = static_cast<int>(std::max<std::int64_t>(
      1, std::min<std::int64_t>(
             useful,
             std::int64_t{multiprocessors} *
                 (is_gpu<ExecutionSpace> ? teams_per_multiprocessor : 1))));
  WaitingTeams<ExecutionSpace, Kernel::team_size, teams_per_multiprocessor>
      policy(exec, teams, Kernel::team_size, vector_lanes<ExecutionSpace>);
  policy.set_scratch_size(
      0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes)));
  Kokkos::parallel_for(label, policy, waiting_kernel<ExecutionSpace>(kernel));
}

}  // namespace Detail
}  // namespace Strata

#endif
