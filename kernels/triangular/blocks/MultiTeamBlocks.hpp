// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_MULTI_TEAM_BLOCKS_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_MULTI_TEAM_BLOCKS_HPP

#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Warp.hpp>
#include <kernels/triangular/blocks/EllKernels.hpp>
#include <kernels/triangular/blocks/LongRows.hpp>

namespace Strata {
namespace Detail {

/// Places of the counters of a launch of multi-team blocks, in device memory;
/// from `done` on one for each block.
struct MultiTeamState {
  enum : int { ticket = 0, finished = 1, done = 2 };
};

/// Consecutive multi-team blocks in one launch, for tiles of `R` right-hand
/// sides.
///
/// Teams draw tickets; the tickets of a block stand for its rows, as many as
/// the team has lanes, times the groups of right-hand sides, and follow those
/// of the block before. What does not depend on x is fetched before the team
/// waits until all tickets of the block before are done.
///
/// Why it can't deadlock, however few teams run at once: a ticket is drawn by a
/// team that runs and is never preempted for good, and a team does its tickets
/// in the order in which it drew them. The smallest ticket that is not done
/// waits for smaller ones only, which are done, and its team has none before
/// it; so it is done in the end, and so on by induction. Nothing depends on the
/// numbers computed, so NaN and Inf are values like any other.
///
/// The last team sets the counters to 0 again, so a recorded launch can be
/// replayed. With one block there is nothing to wait for: teams stride over
/// its tickets.
template <class Scalar, class ExecutionSpace, int R>
struct MultiTeamBlocks {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int team_size = is_gpu<ExecutionSpace> ? 256 : 1;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int batch = EllShape::max_steps;
  using Long = LongRows<Scalar, ExecutionSpace, team_size, R>;
  struct Scratch {
    typename Long::Scratch rows;
    // Of two tickets in turn: what comes next, and rows for the whole team.
    unsigned next[2];
    int longer_ones[2];
  };
  static constexpr unsigned scratch_bytes = unsigned(sizeof(Scratch)) + 16;
  /// Blocks that a team may be ahead and look all the time.
  static constexpr int near = 2;

  EllSystem<Scalar> system;
  unsigned* state;
  int first_block, last_block;
  int num_columns, groups;

  KOKKOS_INLINE_FUNCTION bool alone() const {
    return last_block - first_block == 1;
  }
  KOKKOS_INLINE_FUNCTION unsigned tickets_of(const EllBlock& block) const {
    return static_cast<unsigned>((block.lanes() + team_size - 1) / team_size) *
           static_cast<unsigned>(groups);
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t slot, std::int64_t stride,
                                   int left, int (&dependency)[batch],
                                   Scalar (&value)[batch]) const {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      const bool in = u < left;
      dependency[u] = in ? system.dependency[slot] : ell_padding;
      value[u] = in ? system.value[slot] : Scalar(0);
      slot += stride;
    }
  }
  KOKKOS_INLINE_FUNCTION static void add(const MultiVectorRef<Scalar>& x,
                                         int columns,
                                         const int (&dependency)[batch],
                                         const Scalar (&value)[batch],
                                         Scalar (&sum)[R]) {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      if (dependency[u] >= 0) {
        STRATA_IMPL_UNROLL
        for (int r = 0; r < R; ++r)
          if (r < columns) sum[r] += value[u] * x(dependency[u], r);
      }
  }
  /// Waits until block `number`, of `tickets`, and so all before it are done.
  KOKKOS_INLINE_FUNCTION void wait_for(int number, unsigned tickets,
                                       bool far) const {
    const unsigned* const done =
        state + MultiTeamState::done + (number - first_block);
    for (int turn = 0; load_acquire(done) < tickets; ++turn)
      if (far) pause_while_waiting(turn + 9);
  }
  /// Waits for the block before `number`, of `tickets`; from far ahead with
  /// pauses, so that those next in turn have the counters to themselves.
  KOKKOS_INLINE_FUNCTION void wait_for_turn(int number,
                                            unsigned tickets) const {
    const int front = number - 1 - near;
    if (front >= first_block)
      wait_for(front, tickets_of(system.block[front]), true);
    wait_for(number - 1, tickets, false);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int rank = team.team_rank();
    auto* const scratch = static_cast<Scratch*>(
        team.team_scratch(0).get_shmem_aligned(scratch_bytes - 16, 16));
    const auto draw = [&]() {
      return Kokkos::atomic_fetch_add(&state[MultiTeamState::ticket], 1u);
    };
    unsigned ticket = static_cast<unsigned>(team.league_rank());
    if (!alone()) {
      if (rank == 0) ticket = draw();
      team.team_broadcast(ticket, 0);
    }
    unsigned first_ticket = 0, before = 0;  // of this block, of the one before
    int number = first_block;
    EllBlock block = system.block[number];
    unsigned tickets = tickets_of(block);
    for (int turn = 0;; turn ^= 1) {
      bool moved = false;
      while (number < last_block && ticket - first_ticket >= tickets) {
        first_ticket += tickets;
        before = tickets;
        moved = true;
        if (++number == last_block) break;
        block = system.block[number];
        tickets = tickets_of(block);
      }
      if (number == last_block) break;
      const unsigned at = ticket - first_ticket;
      const int first_column = static_cast<int>(at % groups) * R;
      const int columns =
          num_columns - first_column < R ? num_columns - first_column : R;
      MultiVectorRef<const Scalar> b = system.b;
      MultiVectorRef<Scalar> x = system.x;
      b.data += first_column * b.column_stride;
      x.data += first_column * x.column_stride;

      const int lane = static_cast<int>(at / groups) * team_size + rank;
      const int log = block.log_lanes();
      const bool active = lane < block.lanes();
      const bool leader = active && (lane & ((1 << log) - 1)) == 0;
      const std::int64_t v = std::int64_t{block.first_row} + (lane >> log);
      std::int64_t slot = block.first_slot + lane;
      int left = active ? block.steps() : 0;
      int dependency[batch];
      Scalar value[batch], right_hand_side[R], diagonal(0), sum[R];
      load(slot, block.stride, left, dependency, value);
      STRATA_IMPL_UNROLL
      for (int r = 0; r < R; ++r) {
        sum[r] = Scalar(0);
        right_hand_side[r] = leader && r < columns ? b(v, r) : Scalar(0);
      }
      if (leader) diagonal = system.diagonal[v];
      LongRow own;
      if (block.has_long_rows() && leader && dependency[0] == ell_long_row) {
        own.first = system.long_first[v];
        own.count = system.long_count[v];
      }
      if (rank == 0) {
        scratch->longer_ones[turn] = 0;
        if (alone()) {
          scratch->next[turn] =
              ticket + static_cast<unsigned>(team.league_size());
        } else {
          const unsigned drawn = draw();
          if (moved) wait_for_turn(number, before);
          scratch->next[turn] = drawn;
        }
      }
      // Also has all threads see what the first has waited for. No thread can
      // be here for the next ticket but one and still have to read this one's.
      team.team_barrier();
      ticket = scratch->next[turn];
      add(x, columns, dependency, value, sum);
      for (left -= batch; left > 0; left -= batch) {
        slot += std::int64_t{batch} * block.stride;
        load(slot, block.stride, left, dependency, value);
        add(x, columns, dependency, value, sum);
      }
      lane_barrier();
      if (log > 0) {
        STRATA_IMPL_UNROLL
        for (int r = 0; r < R; ++r) sum[r] = lane_group_sum(sum[r], 1 << log);
      }
      if (block.has_long_rows())
        Long::sum_rows(
            team, scratch->rows, scratch->longer_ones[turn], own,
            [&](const LongRow& row, int first, int lanes, Scalar(&mine)[R]) {
              long_row(row, first, lanes, x, columns, mine);
            },
            sum);
      if (leader) {
        STRATA_IMPL_UNROLL
        for (int r = 0; r < R; ++r)
          if (r < columns)
            x(v, r) = system.finish(right_hand_side[r] - sum[r], diagonal);
      }
      if (!alone() && number + 1 < last_block) {
        team.team_barrier();
        if (rank == 0)
          increment_release(state + MultiTeamState::done +
                            (number - first_block));
      }
    }
    if (!alone()) leave(team);
  }

  /// A lane's share of a row stored apart.
  KOKKOS_INLINE_FUNCTION void long_row(const LongRow& row, int first, int lanes,
                                       const MultiVectorRef<Scalar>& x,
                                       int columns, Scalar (&mine)[R]) const {
    for (int e = first; e < row.count; e += batch * lanes) {
      int dependency[batch];
      Scalar value[batch];
      load(row.first + e, lanes, (row.count - e + lanes - 1) / lanes,
           dependency, value);
      add(x, columns, dependency, value, mine);
    }
  }

  KOKKOS_INLINE_FUNCTION void leave(const Member& team) const {
    unsigned finished = 0;
    if (team.team_rank() == 0)
      finished = Kokkos::atomic_fetch_add(&state[MultiTeamState::finished], 1u);
    team.team_broadcast(finished, 0);
    if (finished + 1 != static_cast<unsigned>(team.league_size())) return;
    const int counters = MultiTeamState::done + last_block - first_block;
    for (int i = team.team_rank(); i < counters; i += team.team_size())
      state[i] = 0;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
