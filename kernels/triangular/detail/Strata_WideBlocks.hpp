// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_WIDE_BLOCKS_HPP
#define STRATA_WIDE_BLOCKS_HPP

#include <detail/Strata_EllKernels.hpp>
#include <detail/Strata_LongRows.hpp>
#include <detail/Strata_Pending.hpp>

namespace Strata {
namespace Detail {

/// Places of the counters of a launch of wide blocks, in device memory; from
/// `done` on one for each block.
struct WideState {
  enum : int { ticket = 0, finished = 1, done = 2 };
};

/// Consecutive wide blocks in one launch, `R` right-hand sides at a time.
///
/// Teams draw tickets; the tickets of a block stand for its rows, as many as
/// the team has lanes, times the groups of right-hand sides, and follow those
/// of the block before. What does not depend on x is fetched before the team
/// waits. For several right-hand sides it waits until all tickets of the block
/// before are done. For one, values are handed on as they come, each its own
/// flag (Pending), in two sets that take turns: a launch clears the other one.
/// Then counters only keep those who are far ahead from looking all the time.
///
/// Why it can't deadlock, however few teams run at once: a ticket is drawn by a
/// team that runs and is never preempted for good, and a team does its tickets
/// in the order in which it drew them. The smallest ticket that is not done
/// waits for smaller ones only, which are done, and its team has none before
/// it; so it is done in the end, and so on by induction. Nothing depends on the
/// numbers computed, so NaN and Inf are values like any other.
///
/// The last team sets the counters to 0 again and changes the set, so a
/// recorded launch can be replayed. With one block there is nothing to wait
/// for: teams stride over its tickets.
template <class Scalar, class ExecutionSpace, int R>
struct WideBlocks {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int team_size = is_cuda<ExecutionSpace> ? 256 : 1;
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
  /// Blocks that a team may be ahead and look all the time; more where values
  /// are handed on and there are long rows, whose early part it can add up.
  static constexpr int near = 2, near_long = 8;

  /// Whether values are handed on one by one.
  static constexpr bool by_value = R == 1;
  using Value = Pending<Scalar>;

  EllSystem<Scalar> system;
  unsigned* state;
  /// Which set of values is in use, and both sets; where launches have several
  /// blocks and one right-hand side.
  unsigned* set;
  Scalar* values;
  std::int64_t num_rows;
  int first_block, last_block;
  int num_columns, groups;

  /// Where values come from: of rows from first_row on out of `fresh`.
  struct Sources {
    MultiVectorRef<Scalar> x;
    int columns;
    int first_row;
    const Scalar* fresh;
  };

  KOKKOS_INLINE_FUNCTION bool alone() const {
    return last_block - first_block == 1;
  }
  KOKKOS_INLINE_FUNCTION unsigned tickets_of(const EllBlock& block) const {
    return static_cast<unsigned>((block.lanes() + team_size - 1) / team_size) *
           static_cast<unsigned>(groups);
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t slot, std::int64_t stride,
                                   int left, int (&source)[batch],
                                   Scalar (&value)[batch]) const {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      const bool in = u < left;
      source[u] = in ? system.source[slot] : ell_padding;
      value[u] = in ? system.value[slot] : Scalar(0);
      slot += stride;
    }
  }
  KOKKOS_INLINE_FUNCTION static void add(const Sources& from,
                                         const int (&source)[batch],
                                         const Scalar (&value)[batch],
                                         Scalar (&sum)[R]) {
    if constexpr (by_value)
      add_values(from, source, value, sum[0]);
    else
      add_columns(from, source, value, sum);
  }
  KOKKOS_INLINE_FUNCTION static void add_values(const Sources& from,
                                                const int (&source)[batch],
                                                const Scalar (&value)[batch],
                                                Scalar& sum) {
    Scalar taken[batch];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      taken[u] = source[u] < 0 ? Scalar(0)
                 : source[u] < from.first_row
                     ? from.x(source[u], 0)
                     : Value::load(from.fresh + source[u]);
    bool waiting = true;
    for (int turn = 6; waiting; ++turn) {
      waiting = false;
      pause_while_waiting(turn);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (source[u] >= from.first_row && Value::is_pending(taken[u])) {
          taken[u] = Value::load(from.fresh + source[u]);
          waiting = true;
        }
    }
    // Padding has a value of 0 as well.
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) sum += value[u] * taken[u];
  }
  KOKKOS_INLINE_FUNCTION static void add_columns(const Sources& from,
                                                 const int (&source)[batch],
                                                 const Scalar (&value)[batch],
                                                 Scalar (&sum)[R]) {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      if (source[u] >= 0) {
        STRATA_IMPL_UNROLL
        for (int r = 0; r < R; ++r)
          if (r < from.columns) sum[r] += value[u] * from.x(source[u], r);
      }
  }
  /// Waits until block `number`, of `tickets`, and so all before it are done.
  KOKKOS_INLINE_FUNCTION void wait_for(int number, unsigned tickets,
                                       bool far) const {
    const unsigned* const done =
        state + WideState::done + (number - first_block);
    for (int turn = 0; load_acquire(done) < tickets; ++turn)
      if (far) pause_while_waiting(turn + 9);
  }
  /// Waits for the block before `number`, of `tickets`, or until it is not far;
  /// from far ahead with pauses, so that those next in turn are not disturbed.
  KOKKOS_INLINE_FUNCTION void wait_for_turn(int number, unsigned tickets,
                                            bool long_rows) const {
    const int front = number - 1 - (by_value && long_rows ? near_long : near);
    if (front >= first_block)
      wait_for(front, tickets_of(system.block[front]), true);
    if (!by_value) wait_for(number - 1, tickets, false);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int rank = team.team_rank();
    auto* const scratch = static_cast<Scratch*>(
        team.team_scratch(0).get_shmem_aligned(scratch_bytes - 16, 16));
    const auto draw = [&]() {
      return Kokkos::atomic_fetch_add(&state[WideState::ticket], 1u);
    };
    unsigned ticket = static_cast<unsigned>(team.league_rank());
    if (!alone()) {
      if (rank == 0) ticket = draw();
      team.team_broadcast(ticket, 0);
    }
    unsigned first_ticket = 0, before = 0;  // of this block, of the one before
    int number = first_block;
    EllBlock block = system.block[number];
    const int first_row = block.first_row;
    Scalar *fresh = nullptr, *stale = nullptr;
    if (by_value && !alone()) {
      const std::int64_t now = *set;
      fresh = values + now * num_rows;
      stale = values + (1 - now) * num_rows;
    }
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
      const Sources from{x, columns, first_row, fresh};

      const int lane = static_cast<int>(at / groups) * team_size + rank;
      const int log = block.log_lanes();
      const bool active = lane < block.lanes();
      const bool leader = active && (lane & ((1 << log) - 1)) == 0;
      const std::int64_t v = std::int64_t{block.first_row} + (lane >> log);
      std::int64_t slot = block.first_slot + lane;
      int left = active ? block.steps() : 0;
      int source[batch];
      Scalar value[batch], right_hand_side[R], diagonal(0), sum[R];
      load(slot, block.stride, left, source, value);
      STRATA_IMPL_UNROLL
      for (int r = 0; r < R; ++r) {
        sum[r] = Scalar(0);
        right_hand_side[r] = leader && r < columns ? b(v, r) : Scalar(0);
      }
      if (leader) diagonal = system.diagonal[v];
      LongRow own;
      if (block.has_long_rows() && leader && source[0] == ell_long_row) {
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
          if (moved) wait_for_turn(number, before, block.has_long_rows());
          scratch->next[turn] = drawn;
        }
      }
      // Also has all threads see what the first has waited for. Nobody can be
      // here for the next ticket but one and still have to read this one's.
      team.team_barrier();
      ticket = scratch->next[turn];
      // Most of what a long row needs is there long before the rest.
      if (block.has_long_rows())
        Long::sum_rows(
            team, scratch->rows, scratch->longer_ones[turn], own,
            [&](const LongRow& row, int first, int lanes, Scalar(&mine)[R]) {
              long_row(row, first, lanes, from, mine);
            },
            sum);
      add(from, source, value, sum);
      for (left -= batch; left > 0; left -= batch) {
        slot += std::int64_t{batch} * block.stride;
        load(slot, block.stride, left, source, value);
        add(from, source, value, sum);
      }
      lane_barrier();
      if (log > 0) {
        STRATA_IMPL_UNROLL
        for (int r = 0; r < R; ++r) sum[r] = lane_group_sum(sum[r], 1 << log);
      }
      if (leader) {
        STRATA_IMPL_UNROLL
        for (int r = 0; r < R; ++r)
          if (r < columns) {
            const Scalar result =
                system.finish(right_hand_side[r] - sum[r], diagonal);
            if (by_value && !alone()) {
              Value::publish(fresh + v, result);
              Value::reset(stale + v);
            }
            x(v, r) = result;
          }
      }
      if (!alone() && number + 1 < last_block) {
        unsigned* const done = state + WideState::done + (number - first_block);
        if constexpr (by_value) {
          if (rank == 0) Kokkos::atomic_add(done, 1u);
        } else {
          team.team_barrier();
          if (rank == 0) increment_release(done);
        }
      }
    }
    if (!alone()) leave(team);
  }

  /// A lane's share of a row stored apart.
  KOKKOS_INLINE_FUNCTION void long_row(const LongRow& row, int first, int lanes,
                                       const Sources& from,
                                       Scalar (&mine)[R]) const {
    for (int e = first; e < row.count; e += batch * lanes) {
      int source[batch];
      Scalar value[batch];
      load(row.first + e, lanes, (row.count - e + lanes - 1) / lanes, source,
           value);
      add(from, source, value, mine);
    }
  }

  KOKKOS_INLINE_FUNCTION void leave(const Member& team) const {
    unsigned finished = 0;
    if (team.team_rank() == 0)
      finished = Kokkos::atomic_fetch_add(&state[WideState::finished], 1u);
    team.team_broadcast(finished, 0);
    if (finished + 1 != static_cast<unsigned>(team.league_size())) return;
    const int counters = WideState::done + last_block - first_block;
    for (int i = team.team_rank(); i < counters; i += team.team_size())
      state[i] = 0;
    if (by_value && team.team_rank() == 0) *set = 1 - *set;
  }
};

/// Sets counters to 0 and makes values pending.
template <class Scalar>
struct ResetWide {
  unsigned* counters;
  std::int64_t num_counters;
  Scalar* values;
  std::int64_t num_values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < num_counters) counters[i] = 0;
    if (i < num_values) Pending<Scalar>::reset(values + i);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
