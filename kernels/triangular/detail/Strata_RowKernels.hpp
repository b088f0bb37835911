// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ROW_KERNELS_HPP
#define STRATA_ROW_KERNELS_HPP

#include <Strata_RowChunks.hpp>
#include <detail/Strata_MultiVectorRef.hpp>
#include <detail/Strata_Pending.hpp>
#include <detail/Strata_PipelineState.hpp>

namespace Strata {
namespace Detail {

/// Everything the row kernels read, as raw views.
template <class Scalar, class ExecutionSpace>
struct RowSystem {
  using Memory = typename ExecutionSpace::memory_space;
  Kokkos::View<const RowChunk*, Memory> chunk;
  Kokkos::View<const unsigned*, Memory> row;
  Kokkos::View<const int*, Memory> source;
  Kokkos::View<const Scalar*, Memory> value;
  Kokkos::View<const Scalar*, Memory> diagonal;
  bool divide;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;

  KOKKOS_INLINE_FUNCTION Scalar finish(const Scalar& sum, int position) const {
    return divide ? sum / diagonal(position) : sum * diagonal(position);
  }
};

/// Sum over the entries of one lane of l_ij x_j for `columns` right-hand
/// sides, with `read(source, column)` supplying x_j.
///
/// Entries are taken four at a time: their columns and values are loaded
/// together, then the four sources, so that a step costs one latency instead
/// of four.
template <int R, class System, class Read, class Scalar>
KOKKOS_INLINE_FUNCTION void accumulate_chunk(const System& system,
                                             const RowChunk& chunk, int lane,
                                             const Read& read, Scalar* sum) {
  const int active = chunk.rows << chunk.log_lanes;
  if (lane >= active) return;
  constexpr int batch = 4;
  std::int64_t slot = chunk.first_slot + lane;
  for (int s = 0; s < chunk.steps; s += batch) {
    int source[batch];
    Scalar value[batch];
    for (int u = 0; u < batch; ++u) {
      const bool in = s + u < chunk.steps;
      source[u] = in ? system.source(slot) : -1;
      value[u] = in ? system.value(slot) : Scalar(0);
      slot += active;
    }
    read.template add<R>(source, value, sum);
  }
}

/// Reads finished values of x: every source was written by an earlier launch
/// or before a barrier of this team.
template <class Scalar>
struct ReadFinished {
  MultiVectorRef<Scalar> x;
  template <int R, int batch>
  KOKKOS_INLINE_FUNCTION void add(const int (&source)[batch],
                                  const Scalar (&value)[batch],
                                  Scalar* sum) const {
    Scalar loaded[batch][R];
    for (int u = 0; u < batch; ++u)
      if (source[u] >= 0)
        for (int r = 0; r < R; ++r) loaded[u][r] = x(source[u], r);
    for (int u = 0; u < batch; ++u)
      if (source[u] >= 0)
        for (int r = 0; r < R; ++r) sum[r] += value[u] * loaded[u][r];
  }
};

/// Solves the chunks [first_chunk, last_chunk) that lie in the level sets
/// [first_level, last_level): one level spread over many teams, or several
/// narrow ones by one team with a barrier after each.
template <class Scalar, class ExecutionSpace, int R>
struct LevelSetRun {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int width = lane_width<ExecutionSpace>;

  RowSystem<Scalar, ExecutionSpace> system;
  Kokkos::View<const int*, Memory> level_chunk_map;
  int first_level, last_level;
  int teams;        // teams a block of right-hand sides is spread over
  int num_columns;  // right-hand sides

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int warps = team.team_size() / width;
    const int warp = team.team_rank() / width, lane = team.team_rank() % width;
    const int first_column = team.league_rank() / teams * R;
    const int rank = team.league_rank() % teams;
    const int stride = teams * warps;
    for (int level = first_level; level < last_level; ++level) {
      const int begin = level_chunk_map(level);
      const int end = level_chunk_map(level + 1);
      if constexpr (width == 1) {
        // A host's thread takes neighbours: they share cache lines.
        const std::int64_t count = end - begin;
        const int last = begin + static_cast<int>(count * (rank + 1) / teams);
        for (int c = begin + static_cast<int>(count * rank / teams); c < last;
             ++c)
          solve(system.chunk(c), lane, first_column);
      } else {
        for (int c = begin + rank * warps + warp; c < end; c += stride)
          solve(system.chunk(c), lane, first_column);
      }
      if (level + 1 < last_level) team.team_barrier();
    }
  }

  KOKKOS_INLINE_FUNCTION void solve(const RowChunk& chunk, int lane,
                                    int first_column) const {
    MultiVectorRef<Scalar> x = system.x;
    x.data += first_column * x.column_stride;
    Scalar sum[R];
    for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
    const int columns =
        num_columns - first_column < R ? num_columns - first_column : R;
    if (columns == R)
      accumulate_chunk<R>(system, chunk, lane, ReadFinished<Scalar>{x}, sum);
    else
      for (int r = 0; r < columns; ++r) {
        MultiVectorRef<Scalar> one = x;
        one.data += r * x.column_stride;
        accumulate_chunk<1>(system, chunk, lane, ReadFinished<Scalar>{one},
                            sum + r);
      }
    const int r0 = lane >> chunk.log_lanes;
    const bool leader = r0 < chunk.rows && lane == (r0 << chunk.log_lanes);
    const int position = chunk.first_position + r0;
    const std::int64_t row = leader ? system.row(position) : 0;
    for (int r = 0; r < columns; ++r) {
      const Scalar total = lane_group_sum(sum[r], 1 << chunk.log_lanes);
      if (leader)
        x(row, r) =
            system.finish(system.b(row, first_column + r) - total, position);
    }
  }
};

/// One right-hand side in one launch; values are their own flags.
///
/// Warps draw tickets until none is left; ticket t stands for the t-th group of
/// `chunks_per_ticket` chunks in level order, and chunks wait only for chunks
/// of smaller tickets or, on a host, for earlier ones of the same ticket.
///
/// What needs no waiting is loaded first. Then a lane polls all its sources of
/// a batch together, and again all that were not ready, so that the wait is as
/// long as the last one takes and not the sum.
///
/// Why it can't deadlock, however few teams run at once: a ticket is drawn by
/// a warp that is already running and that is never preempted for good. Among
/// the unfinished tickets drawn, the smallest waits for none that is
/// unfinished, as all smaller ones have been drawn (the counter hands them out
/// in order) and are finished. So it completes, and so on by induction; warps
/// not yet scheduled hold no ticket, hence nobody waits for them. Rows of one
/// chunk are of one level set, so the lanes of a warp never wait for each
/// other. NaN and Inf are values like any other: only the reserved bits of
/// `Pending` mean "not ready", and every row publishes exactly once.
///
/// There are two value buffers. A solve publishes into one and resets the
/// other; the last team swaps them for the next solve.
template <class Scalar, class ExecutionSpace, bool divide>
struct PipelinedSolve {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int width = lane_width<ExecutionSpace>;
  /// Entries that a lane keeps in registers at a time.
  static constexpr int batch = sizeof(Scalar) > 8 ? 4 : 8;
  /// Looks at sources that are not ready before a lane leaves the execution
  /// units to others: most wait less, and a pause would make them late.
  static constexpr int eager_turns = 32;

  RowSystem<Scalar, ExecutionSpace> system;
  Kokkos::View<Scalar*, Memory> buffers;  // 2 * rows
  Kokkos::View<unsigned*, Memory> state;
  int chunks_per_ticket;

  struct Batch {
    int source[batch];
    Scalar value[batch];
  };

  /// The next entries of a lane; `left` is the number of its steps to come.
  KOKKOS_INLINE_FUNCTION void load(Batch& entry, std::int64_t& slot, int left,
                                   int stride) const {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      const bool in = u < left;
      entry.source[u] = in ? system.source(slot) : -1;
      entry.value[u] = in ? system.value(slot) : Scalar(0);
      slot += stride;
    }
  }

  KOKKOS_INLINE_FUNCTION static void add(const Batch& entry,
                                         const Scalar* current, Scalar& sum) {
    using Value = Pending<Scalar>;
    Scalar loaded[batch];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      loaded[u] = entry.source[u] >= 0 ? Value::load(current + entry.source[u])
                                       : Scalar(0);
    for (int turn = 0;; ++turn) {
      bool waiting = false;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        waiting = waiting || Value::is_pending(loaded[u]);
      if (!waiting) break;
      if (turn > eager_turns) pause_while_waiting(turn);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (Value::is_pending(loaded[u]))
          loaded[u] = Value::load(current + entry.source[u]);
    }
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) sum += entry.value[u] * loaded[u];
  }

  KOKKOS_INLINE_FUNCTION void solve(const RowChunk chunk, int lane,
                                    Scalar* current, Scalar* next) const {
    const int stride = chunk.rows << chunk.log_lanes;
    const int r0 = lane >> chunk.log_lanes;
    const bool leader = r0 < chunk.rows && lane == (r0 << chunk.log_lanes);
    const int position = chunk.first_position + r0;
    // Everything that does not wait comes before what does.
    std::int64_t slot = chunk.first_slot + lane;
    int left = lane < stride ? chunk.steps : 0;
    Batch entry;
    load(entry, slot, left, stride);
    std::int64_t row = 0;
    Scalar right_hand_side(0), diagonal(0), sum(0);
    if (leader) {
      row = system.row(position);
      diagonal = system.diagonal(position);
      right_hand_side = system.b(row, 0);
    }
    add(entry, current, sum);
    for (left -= batch; left > 0; left -= batch) {
      load(entry, slot, left, stride);
      add(entry, current, sum);
    }
    sum = lane_group_sum(sum, 1 << chunk.log_lanes);
    if (leader) {
      const Scalar rest = right_hand_side - sum;
      const Scalar result = divide ? rest / diagonal : rest * diagonal;
      Pending<Scalar>::publish(current + position, result);
      system.x(row, 0) = result;
      Pending<Scalar>::reset(next + position);
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int lane = team.team_rank() % width;
    const int n = static_cast<int>(buffers.extent(0) / 2);
    const unsigned parity = state(PipelineState::epoch) & 1u;
    Scalar* const current = buffers.data() + (parity ? n : 0);
    Scalar* const next = buffers.data() + (parity ? 0 : n);
    const std::int64_t num_chunks =
        static_cast<std::int64_t>(system.chunk.extent(0));
    for (;;) {
      int ticket = 0;
      if (lane == 0)
        ticket = static_cast<int>(
            Kokkos::atomic_fetch_add(&state(PipelineState::ticket), 1u));
      ticket = lane_broadcast(ticket, 0);
      const std::int64_t first =
          static_cast<std::int64_t>(ticket) * chunks_per_ticket;
      if (first >= num_chunks) break;
      const std::int64_t end = first + chunks_per_ticket < num_chunks
                                   ? first + chunks_per_ticket
                                   : num_chunks;
      for (std::int64_t c = first; c < end; ++c)
        solve(system.chunk(c), lane, current, next);
    }

    team.team_barrier();
    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      const unsigned done =
          Kokkos::atomic_fetch_add(&state(PipelineState::finished), 1u);
      if (done + 1 == static_cast<unsigned>(team.league_size())) {
        state(PipelineState::ticket) = 0;
        state(PipelineState::finished) = 0;
        state(PipelineState::epoch) += 1;
      }
    });
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
