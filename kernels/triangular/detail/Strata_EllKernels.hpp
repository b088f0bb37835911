// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ELL_KERNELS_HPP
#define STRATA_ELL_KERNELS_HPP

#include <detail/Strata_EllLayout.hpp>
#include <detail/Strata_MultiVectorRef.hpp>

namespace Strata {
namespace Detail {

/// Everything the kernels read. Rows of b and x are in the order of
/// substitution: for a backward one, their stride is negative.
template <class Scalar>
struct EllSystem {
  const EllBlock* block;
  const int* source;
  const Scalar* value;
  const Scalar* diagonal;
  const std::int64_t* long_first;
  const int* long_count;
  bool divide;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;

  KOKKOS_INLINE_FUNCTION Scalar finish(const Scalar& rest,
                                       const Scalar& d) const {
    return divide ? rest / d : rest * d;
  }
};

/// A host: rows one by one.
template <class Scalar>
struct EllRow {
  EllSystem<Scalar> system;

  KOKKOS_INLINE_FUNCTION void solve(const EllBlock& block, int r,
                                    std::int64_t column) const {
    const std::int64_t v = std::int64_t{block.first_row} + r;
    std::int64_t slot = block.first_slot + r;
    Scalar sum(0);
    if (block.steps() > 0 && system.source[slot] == ell_long_row) {
      slot = system.long_first[v];
      for (int e = 0; e < system.long_count[v]; ++e, ++slot)
        sum += system.value[slot] * system.x(system.source[slot], column);
    } else {
      for (int s = 0; s < block.steps(); ++s, slot += block.stride) {
        const int j = system.source[slot];
        if (j < 0) break;
        sum += system.value[slot] * system.x(j, column);
      }
    }
    system.x(v, column) =
        system.finish(system.b(v, column) - sum, system.diagonal[v]);
  }
};
/// Consecutive blocks by one thread a right-hand side.
template <class Scalar>
struct EllRun {
  EllRow<Scalar> row;
  int first_block, last_block;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t column) const {
    for (int b = first_block; b < last_block; ++b) {
      const EllBlock block = row.system.block[b];
      for (int r = 0; r < block.rows; ++r) row.solve(block, r, column);
    }
  }
};
/// One block by all threads.
template <class Scalar>
struct EllRows {
  EllRow<Scalar> row;
  int number, rows;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    row.solve(row.system.block[number], static_cast<int>(i % rows), i / rows);
  }
};

/// A run of narrow blocks by one team for each right-hand side, with a barrier
/// after each block.
///
/// What does not depend on x is fetched `depth` blocks ahead into registers.
/// The latest x are kept in scratch as well, so that between two barriers there
/// is a look into scratch, some multiplications and, where rows have several
/// lanes, their sum.
template <class Scalar, class ExecutionSpace, int threads, int depth>
struct NarrowBlocks {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int team_size = threads;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int batch = EllShape::max_steps;
  /// Values of x in scratch: row v is at v % window.
  static constexpr int window = 32 * 1024 / static_cast<int>(sizeof(Scalar));
  static_assert(window >= EllLimits::most_lanes,
                "rows of a block have places of their own");

  EllSystem<Scalar> system;
  int first_block, last_block;

  struct Stage {
    EllBlock block, next;
    int source[batch];
    Scalar value[batch];
    Scalar right_hand_side, diagonal;
  };
  struct Column {
    const Scalar* b;
    Scalar* x;
    Scalar* recent;
    int first_recent;  // row from which on `recent` is valid
  };

  KOKKOS_INLINE_FUNCTION void load(const EllBlock& block, int lane, int step,
                                   int (&source)[batch],
                                   Scalar (&value)[batch]) const {
    const int steps = lane < block.lanes() ? block.steps() : 0;
    std::int64_t slot =
        block.first_slot + std::int64_t{step} * block.stride + lane;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      const bool in = step + u < steps;
      source[u] = in ? system.source[slot] : ell_padding;
      value[u] = in ? system.value[slot] : Scalar(0);
      slot += block.stride;
    }
  }
  KOKKOS_INLINE_FUNCTION Scalar add(const Column& column, int first_recent,
                                    const int (&source)[batch],
                                    const Scalar (&value)[batch]) const {
    Scalar x[batch];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      const int j = source[u];
      const Scalar* const at = j >= first_recent
                                   ? column.recent + (j & (window - 1))
                                   : column.x + j * system.x.row_stride;
      x[u] = j >= 0 ? *at : Scalar(0);
    }
    Scalar sum(0);
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      if (source[u] >= 0) sum += value[u] * x[u];
    return sum;
  }
  /// Has the stage fetch what block `number` needs, and learn of block
  /// `number + depth`.
  KOKKOS_INLINE_FUNCTION void fetch(Stage& stage, int number, int rank,
                                    const Column& column) const {
    stage.block = stage.next;
    if (number >= last_block) return;
    if (number + depth < last_block) stage.next = system.block[number + depth];
    load(stage.block, rank, 0, stage.source, stage.value);
    const int log = stage.block.log_lanes();
    if (rank < stage.block.lanes() && (rank & ((1 << log) - 1)) == 0) {
      const std::int64_t v =
          std::int64_t{stage.block.first_row} + (rank >> log);
      stage.right_hand_side = column.b[v * system.b.row_stride];
      stage.diagonal = system.diagonal[v];
    }
  }
  /// The lane's row of a block, given the first entries. All lanes of the warp
  /// call this together.
  KOKKOS_INLINE_FUNCTION void finish(const EllBlock& block, int lane,
                                     const int (&source)[batch],
                                     const Scalar (&value)[batch],
                                     const Scalar& right_hand_side,
                                     const Scalar& diagonal,
                                     const Column& column) const {
    const int log = block.log_lanes();
    const bool leader = lane < block.lanes() && (lane & ((1 << log) - 1)) == 0;
    const std::int64_t v = std::int64_t{block.first_row} + (lane >> log);
    // Rows that this block writes would overwrite older ones.
    const int oldest = block.first_row + block.rows - window;
    const int first_recent =
        oldest > column.first_recent ? oldest : column.first_recent;
    Scalar sum = add(column, first_recent, source, value);
    for (int step = batch; step < block.steps(); step += batch) {
      int more[batch];
      Scalar values[batch];
      load(block, lane, step, more, values);
      sum += add(column, first_recent, more, values);
    }
    lane_barrier();
    if (log > 0) sum = lane_group_sum(sum, 1 << log);
    for (unsigned apart = lane_ballot(leader && source[0] == ell_long_row);
         apart; apart &= apart - 1) {
      const int owner = lowest_bit(apart);
      const std::int64_t row = lane_broadcast(v, owner);
      const Scalar total = lane_group_sum(
          long_row(row, lane % width, first_recent, column), width);
      if (lane % width == owner) sum = total;
    }
    if (leader) {
      const Scalar result = system.finish(right_hand_side - sum, diagonal);
      column.recent[v & (window - 1)] = result;
      column.x[v * system.x.row_stride] = result;
    }
  }
  KOKKOS_INLINE_FUNCTION Scalar long_row(std::int64_t row, int lane,
                                         int first_recent,
                                         const Column& column) const {
    Scalar sum(0);
    const std::int64_t first = system.long_first[row];
    const int count = system.long_count[row];
    for (int e = lane; e < count; e += batch * width) {
      int source[batch];
      Scalar value[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        const bool in = e + u * width < count;
        source[u] = in ? system.source[first + e + u * width] : ell_padding;
        value[u] = in ? system.value[first + e + u * width] : Scalar(0);
      }
      sum += add(column, first_recent, source, value);
    }
    lane_barrier();
    return sum;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int rank = team.team_rank();
    Column column;
    column.b = system.b.data + team.league_rank() * system.b.column_stride;
    column.x = system.x.data + team.league_rank() * system.x.column_stride;
    column.recent = static_cast<Scalar*>(
        team.team_scratch(0).get_shmem(window * sizeof(Scalar)));
    column.first_recent = system.block[first_block].first_row;
    Stage stage[depth];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < depth; ++u)
      if (first_block + u < last_block)
        stage[u].next = system.block[first_block + u];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < depth; ++u)
      fetch(stage[u], first_block + u, rank, column);
    for (int b = first_block; b < last_block; b += depth) {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < depth; ++u) {
        if (b + u < last_block) {
          const EllBlock block = stage[u].block;
          const int lanes = block.lanes();
          if (rank / width * width < lanes)
            finish(block, rank, stage[u].source, stage[u].value,
                   stage[u].right_hand_side, stage[u].diagonal, column);
          for (int lane = rank + threads; lane / width * width < lanes;
               lane += threads) {
            int source[batch];
            Scalar value[batch], right_hand_side(0), diagonal(0);
            load(block, lane, 0, source, value);
            if (lane < lanes) {
              const std::int64_t v =
                  std::int64_t{block.first_row} + (lane >> block.log_lanes());
              right_hand_side = column.b[v * system.b.row_stride];
              diagonal = system.diagonal[v];
            }
            finish(block, lane, source, value, right_hand_side, diagonal,
                   column);
          }
          fetch(stage[u], b + u + depth, rank, column);
          team.team_barrier();
        }
      }
    }
  }
};

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
struct WideBlocks {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int team_size = is_cuda<ExecutionSpace> ? 256 : 1;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int batch = EllShape::max_steps;

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
  KOKKOS_INLINE_FUNCTION static void add(const MultiVectorRef<Scalar>& x,
                                         int columns,
                                         const int (&source)[batch],
                                         const Scalar (&value)[batch],
                                         Scalar (&sum)[R]) {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      if (source[u] >= 0) {
        STRATA_IMPL_UNROLL
        for (int r = 0; r < R; ++r)
          if (r < columns) sum[r] += value[u] * x(source[u], r);
      }
  }
  KOKKOS_INLINE_FUNCTION void wait_for(unsigned* done, unsigned wanted) const {
    for (int turn = 0; load_acquire(done) < wanted; ++turn)
      if (turn > 4) pause_while_waiting(9);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int rank = team.team_rank();
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
    unsigned tickets = tickets_of(block);
    for (;;) {
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
      int source[batch];
      Scalar value[batch], right_hand_side[R], diagonal(0), sum[R];
      load(slot, block.stride, left, source, value);
      STRATA_IMPL_UNROLL
      for (int r = 0; r < R; ++r) {
        sum[r] = Scalar(0);
        right_hand_side[r] = leader && r < columns ? b(v, r) : Scalar(0);
      }
      if (leader) diagonal = system.diagonal[v];
      unsigned next = ticket + static_cast<unsigned>(team.league_size());
      if (!alone()) {
        if (rank == 0) {
          next = draw();
          if (moved)
            wait_for(state + WideState::done + (number - 1 - first_block),
                     before);
        }
        // Also has all threads see what the first has waited for.
        team.team_broadcast(next, 0);
      }
      const bool apart = source[0] == ell_long_row;
      add(x, columns, source, value, sum);
      for (left -= batch; left > 0; left -= batch) {
        slot += std::int64_t{batch} * block.stride;
        load(slot, block.stride, left, source, value);
        add(x, columns, source, value, sum);
      }
      lane_barrier();
      if (log > 0) {
        STRATA_IMPL_UNROLL
        for (int r = 0; r < R; ++r) sum[r] = lane_group_sum(sum[r], 1 << log);
      }
      for (unsigned rows = lane_ballot(leader && apart); rows;
           rows &= rows - 1) {
        const int owner = lowest_bit(rows);
        long_row(lane_broadcast(v, owner), rank % width, owner, x, columns,
                 sum);
      }
      if (leader) {
        STRATA_IMPL_UNROLL
        for (int r = 0; r < R; ++r)
          if (r < columns)
            x(v, r) = system.finish(right_hand_side[r] - sum[r], diagonal);
      }
      if (!alone() && number + 1 < last_block) {
        team.team_barrier();
        if (rank == 0) {
          Kokkos::memory_fence();
          Kokkos::atomic_add(state + WideState::done + (number - first_block),
                             1u);
        }
      }
      ticket = next;
    }
    if (!alone()) leave(team);
  }

  /// A row stored apart, by the whole warp, for lane `owner`.
  KOKKOS_INLINE_FUNCTION void long_row(std::int64_t row, int lane, int owner,
                                       const MultiVectorRef<Scalar>& x,
                                       int columns, Scalar (&sum)[R]) const {
    const std::int64_t first = system.long_first[row];
    const int count = system.long_count[row];
    Scalar mine[R];
    STRATA_IMPL_UNROLL
    for (int r = 0; r < R; ++r) mine[r] = Scalar(0);
    for (int e = lane; e < count; e += batch * width) {
      int source[batch];
      Scalar value[batch];
      load(first + e, width, (count - e + width - 1) / width, source, value);
      add(x, columns, source, value, mine);
    }
    lane_barrier();
    STRATA_IMPL_UNROLL
    for (int r = 0; r < R; ++r) {
      const Scalar total = lane_group_sum(mine[r], width);
      if (lane == owner) sum[r] = total;
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
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
