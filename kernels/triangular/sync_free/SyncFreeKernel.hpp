// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SYNC_FREE_KERNEL_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SYNC_FREE_KERNEL_HPP

#include <core/device/ActivePlan.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Warp.hpp>
#include <kernels/triangular/row_chunks/RowSystem.hpp>

namespace Strata {
namespace Detail {

/// Tickets that a SyncFreeKernel's teams draw: every one of them until it gets
/// a ticket that there is none for, unless there is a team for each.
KOKKOS_INLINE_FUNCTION unsigned draws_of_solve(int tickets, int teams) {
  return static_cast<unsigned>(tickets) +
         static_cast<unsigned>(teams < tickets ? teams : 0);
}

/// One right-hand side in one launch; values are their own flags.
///
/// Teams draw tickets until there are none left; ticket t stands for the t-th
/// group of `chunks_per_ticket` chunks in the order of level sets (those of the
/// matrix, or of its blocks: see order_by_cache_blocks), which the warps of the
/// team share out. The next ticket is drawn while this one is worked on.
///
/// A warp loads what needs no waiting. Then it waits for its chunk's throttle,
/// with one lane, so that only the rows close to those being solved ask for
/// their dependencies: what all the others' asking takes from the second-level
/// cache makes the ones that matter late. From there on a lane polls all its
/// dependencies of a batch together, and again all that were not ready, so that
/// the wait is as long as the last one takes and not the sum.
///
/// Why it can't deadlock, however few teams run at once. A ticket is drawn by a
/// team that is already running, is never suspended for good and takes the
/// tickets it has drawn in turn. Consider the smallest ticket that is not
/// finished, and in it the first chunk that is not. The counter hands tickets
/// out in order, so all smaller ones have been drawn and are finished; if this
/// one has not been drawn, some team has finished all it had and draws it. The
/// team that has it finished the tickets it drew before, so each of its warps
/// works on this one. Dependencies and throttle of a chunk lie in earlier level
/// sets, and the pieces whose sums it adds up right before it: in earlier
/// chunks, which are finished; so this one is finished, too, and so on. A
/// host's thread takes the chunks of a ticket in order. Warps of a team wait
/// for each other only between tickets, lanes of a warp only within a chunk,
/// whose rows are of one level set. Teams not yet started hold no tickets, and
/// no team waits for them. NaN and Inf are values like any other: only the
/// reserved bits of `NotReady` mean "not ready", and every row and every piece
/// of a row publishes exactly once.
///
/// There are two value buffers: a solve publishes into one and makes the other
/// not ready again. Each solve draws as many tickets, draws_of_solve(), so the
/// counter tells odd from even solves; it starts again after two. Nothing is
/// put back at the end of a solve, and a recorded launch can be replayed.
///
/// Solves overlap (see run_native_teams): a block that has drawn its last
/// ticket lets the next kernel begin. If that is a solve with this plan, it
/// draws tickets of its own, as all of this one's are drawn by then, and reads
/// of the plan what its first chunks need; b, both value buffers and x are left
/// alone until this kernel has ended. Blocks that wait so keep no other block
/// from running, as all blocks of this kernel run already. The kernel after the
/// next begins once the next one waits for none: blocks of many solves would
/// crowd each other.
///
/// @tparam coefficients  rows may have coefficients of b (see MergedLevels),
///                whose elements of b need no waiting; b and x must not overlap
///                then, and without x (a null pointer) results are left in the
///                value buffer
template <class Scalar, class ExecutionSpace, bool divide,
          bool coefficients = false>
struct SyncFreeKernel {
  using Value = NotReady<Scalar>;
  static constexpr bool awaits_previous = true;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int team_size = is_gpu<ExecutionSpace> ? 128 : 1;
  static constexpr int warps = team_size / width;
  /// A warp takes one chunk of a ticket, a host's thread many.
  static constexpr int chunks_per_ticket = is_gpu<ExecutionSpace> ? warps : 64;
  /// Teams of a multiprocessor that registers suffice for.
  static constexpr int most_teams_per_multiprocessor = 5;
  /// Entries that a lane keeps in registers together; half as many take fewer
  /// instructions for chunks of short rows.
  static constexpr int batch = sizeof(Scalar) > 8 ? 4 : 8;
  static constexpr int small_batch = batch / 2;
  /// Looks at dependencies that are not ready before a lane leaves the
  /// execution units to others: most wait less, and a pause would make them
  /// late.
  static constexpr int eager_turns = 32;

  RowSystem<Scalar, ExecutionSpace> system;
  Scalar* buffers;    // 2 * num_values
  unsigned* counter;  // tickets drawn in two solves
  int num_rows;
  int num_values;  // rows, and after them sums of pieces of long rows
  int num_tickets;
  ActivePlan active_plan = {};

  template <int count>
  struct Batch {
    int dependency[count];
    Scalar value[count];
  };
  /// Where a solve publishes, and what it makes not ready.
  struct Buffers {
    Scalar *current, *other;
  };

  /// What a block does beside its ticket's chunks.
  template <class Team>
  struct Turn {
    const Team& team;
    int number;       // of the tickets that the block has had before
    unsigned* place;  // of the next ticket
    unsigned next;    // of the thread of rank 0
    bool last;        // there is no next one; of that thread, too

    KOKKOS_INLINE_FUNCTION void begin() const {
      if (number == 0) await_previous(team);
    }
    /// The first warp has a chunk of every ticket, and so passes `next` on.
    KOKKOS_INLINE_FUNCTION void pass_on() const {
      if (team.team_rank() != 0) return;
      *place = next;
      if (last) release_next(team);
    }
  };

  /// The dependencies of a chunk, by slot, as RowChunk has them stored where
  /// rows have coefficients.
  template <bool near>
  struct Dependencies {
    using Stored = std::conditional_t<near, unsigned short, int>;
    const Stored* stored;
    std::int64_t begin;  // the slot of the first
    KOKKOS_INLINE_FUNCTION Dependencies(const int* words, const RowChunk& chunk)
        : stored(reinterpret_cast<const Stored*>(
              words + (coefficients ? chunk.dependency_begin : 0))),
          begin(coefficients ? chunk.begin() : 0) {}
    KOKKOS_INLINE_FUNCTION int operator()(std::int64_t slot) const {
      return stored[slot - begin];
    }
    static constexpr int none = near ? RowChunk::no_distance : -1;
  };

  /// The next entries of a lane; `left` is the number of its steps to come.
  /// @param dependency_of  what becomes of a dependency that is stored
  template <int count, bool near, class DependencyOf>
  KOKKOS_INLINE_FUNCTION void load(Batch<count>& entry,
                                   const Dependencies<near>& dependencies,
                                   std::int64_t& slot, int left, int stride,
                                   const DependencyOf& dependency_of) const {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < count; ++u) {
      const bool in = u < left;
      entry.dependency[u] = in ? dependencies(slot) : Dependencies<near>::none;
      entry.value[u] = in ? system.value(slot) : Scalar(0);
      slot += stride;
    }
    if constexpr (near) {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < count; ++u)
        entry.dependency[u] = entry.dependency[u] == Dependencies<near>::none
                                  ? -1
                                  : dependency_of(entry.dependency[u]);
    }
  }
  template <int count>
  KOKKOS_INLINE_FUNCTION static bool any_not_ready(const Scalar (&x)[count]) {
    bool any = false;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < count; ++u) any = any || Value::is_not_ready(x[u]);
    return any;
  }

  /// Waits for the dependencies of a batch and adds the products.
  ///
  /// @param together the warp goes on when all its lanes can. Else a lane's row
  ///                 is its own affair, and it goes on by itself.
  template <int count>
  KOKKOS_INLINE_FUNCTION static void add(const Batch<count>& entry,
                                         const Scalar* current, bool together,
                                         Scalar& sum) {
    Scalar x[count];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < count; ++u)
      x[u] = entry.dependency[u] >= 0
                 ? Value::load(current + entry.dependency[u])
                 : Scalar(0);
    const auto ask_again = [&](int turn) {
      if (turn > eager_turns) pause_while_waiting(turn);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < count; ++u)
        if (Value::is_not_ready(x[u]))
          x[u] = Value::load(current + entry.dependency[u]);
    };
    if (together)
      for (int turn = 0; lane_any(any_not_ready(x)); ++turn) ask_again(turn);
    else
      for (int turn = 0; any_not_ready(x); ++turn) ask_again(turn);
    STRATA_IMPL_UNROLL
    for (int u = 0; u < count; ++u) sum += entry.value[u] * x[u];
  }

  /// The elements of b that a lane has coefficients of: they are there. As all
  /// of `sum`, they are subtracted from the row's own element.
  template <bool near>
  KOKKOS_INLINE_FUNCTION void add_terms(const RowChunk& chunk,
                                        const Dependencies<near>& dependencies,
                                        int row, int lane, int stride,
                                        Scalar& sum) const {
    std::int64_t slot = chunk.begin() + lane;
    const int step = chunk.dependencies == RowChunk::near_above ? 1 : -1;
    for (int left = lane < stride ? chunk.coefficient_steps : 0; left > 0;
         left -= batch) {
      Batch<batch> entry;
      load(entry, dependencies, slot, left, stride,
           [&](int distance) { return row + step * (distance + 1); });
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (entry.dependency[u] >= 0)
          sum -= entry.value[u] * system.b(entry.dependency[u], 0);
    }
  }

  KOKKOS_INLINE_FUNCTION static void wait_for(const Scalar* at, int lane) {
    for (int turn = 0;; ++turn) {
      const bool waits = lane == 0 && Value::is_not_ready(Value::load(at));
      if (!lane_any(waits)) break;
      if (turn > eager_turns) pause_while_waiting(turn);
    }
  }

  /// @param turn  its `begin` is called when the loads of the plan are under
  ///              way, before any other; `pass_on` before the warp waits
  /// @tparam near  dependencies are stored as distances
  template <int count, bool near, class Turn>
  KOKKOS_INLINE_FUNCTION void solve(const RowChunk& chunk, int lane,
                                    const Buffers& x, const Turn& turn) const {
    const int stride = chunk.stride();
    const int r0 = lane >> chunk.log_lanes;
    const bool leader = r0 < chunk.rows && lane == (r0 << chunk.log_lanes);
    const int permuted_row = chunk.first_permuted_row + r0;
    const Dependencies<near> dependencies(system.dependency.data(), chunk);
    const auto dependency_of = [&](int distance) {
      return chunk.first_permuted_row - 1 - distance;
    };
    std::int64_t slot = chunk.first_slot + lane;
    int left = lane < stride ? chunk.steps : 0;
    Batch<count> entry;
    load(entry, dependencies, slot, left, stride, dependency_of);
    std::int64_t row = 0;
    Scalar right_hand_side(0), diagonal(0), sum(0);
    const bool finishes = leader && chunk.part < 0;
    if (near ? lane < stride : finishes) row = system.row(permuted_row);
    if (finishes) diagonal = system.diagonal(permuted_row);
    turn.begin();
    if (finishes) right_hand_side = system.b(row, 0);
    turn.pass_on();
    if constexpr (coefficients) {
      add_terms(chunk, dependencies, static_cast<int>(row), lane, stride, sum);
    }
    if (chunk.throttle >= 0) wait_for(x.current + chunk.throttle, lane);
    const bool together = count > 4 || chunk.log_lanes > 0;
    add(entry, x.current, together, sum);
    for (int step = count; step < chunk.steps; step += count) {
      left -= count;
      load(entry, dependencies, slot, left, stride, dependency_of);
      add(entry, x.current, together, sum);
    }
    sum = lane_group_sum(sum, 1 << chunk.log_lanes);
    if (finishes)
      finish(permuted_row, row, right_hand_side - sum, diagonal, x);
    else if (leader)
      publish_sum(num_rows + chunk.part, sum, x);
  }
  KOKKOS_INLINE_FUNCTION void finish(int permuted_row, std::int64_t row,
                                     const Scalar& rest, const Scalar& diagonal,
                                     const Buffers& x) const {
    const Scalar result = divide ? rest / diagonal : rest * diagonal;
    Value::publish(x.current + permuted_row, result);
    // Rows with coefficients read other rows' elements of b, which x may be
    // instead.
    if (!coefficients || system.x.data) system.x(row, 0) = result;
    Value::reset(x.other + permuted_row);
  }
  KOKKOS_INLINE_FUNCTION static void publish_sum(int at, const Scalar& sum,
                                                 const Buffers& x) {
    Value::publish(x.current + at, sum);
    Value::reset(x.other + at);
  }
  /// The row whose pieces the chunks before this one are: their sums are added
  /// in an order that depends on nothing but their number.
  KOKKOS_INLINE_FUNCTION void add_pieces(const RowChunk& chunk, int lane,
                                         const Buffers& x) const {
    const Scalar* const sums = x.current + num_rows + chunk.first_slot;
    const std::int64_t row = system.row(chunk.first_permuted_row);
    Scalar sum(0);
    for (int first = lane; first < chunk.steps; first += 4 * width) {
      Scalar part[4];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < 4; ++u) {
        const int k = first + u * width;
        part[u] = k < chunk.steps ? Value::load(sums + k) : Scalar(0);
      }
      for (int turn = 0; any_not_ready(part); ++turn) {
        if (turn > eager_turns) pause_while_waiting(turn);
        STRATA_IMPL_UNROLL
        for (int u = 0; u < 4; ++u)
          if (Value::is_not_ready(part[u]))
            part[u] = Value::load(sums + first + u * width);
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < 4; ++u) sum += part[u];
    }
    sum = lane_group_sum(sum, width);
    if (lane == 0)
      finish(chunk.first_permuted_row, row, system.b(row, 0) - sum,
             system.diagonal(chunk.first_permuted_row), x);
  }
  template <class Turn>
  KOKKOS_INLINE_FUNCTION void take(const RowChunk& chunk, int lane,
                                   const Buffers& x, const Turn& turn) const {
    if (chunk.part == RowChunk::adds_pieces) {
      turn.begin();
      turn.pass_on();
      return add_pieces(chunk, lane, x);
    }
    if constexpr (coefficients) {
      if (chunk.dependencies != RowChunk::whole)
        return chunk.steps <= small_batch
                   ? solve<small_batch, true>(chunk, lane, x, turn)
                   : solve<batch, true>(chunk, lane, x, turn);
    }
    return chunk.steps <= small_batch
               ? solve<small_batch, false>(chunk, lane, x, turn)
               : solve<batch, false>(chunk, lane, x, turn);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    // All blocks or none: tickets are then drawn as if this had not been
    // launched.
    if (ends_if_inactive(active_plan, team)) return;
    const int rank = team.team_rank(), warp = rank / width, lane = rank % width;
    const unsigned each = draws_of_solve(num_tickets, team.league_size());
    const bool draws_on = team.league_size() < num_tickets;
    const std::int64_t num_chunks =
        static_cast<std::int64_t>(system.chunk.extent(0));
    // Two places, so that one barrier a ticket is enough.
    STRATA_IMPL_TEAM_SHARED unsigned drawn[2];
    if (rank == 0) drawn[0] = fetch_increment_modulo(counter, 2 * each);
    for (int number = 0;; ++number) {
      team.team_barrier();
      unsigned ticket = drawn[number % 2];
      const bool odd = ticket >= each;
      if (odd) ticket -= each;
      if (ticket >= static_cast<unsigned>(num_tickets)) break;
      const Buffers x{buffers + (odd ? num_values : 0),
                      buffers + (odd ? 0 : num_values)};
      Turn<Team> turn{team, number, drawn + (number + 1) % 2, 0, !draws_on};
      if (rank == 0 && draws_on) {
        turn.next = fetch_increment_modulo(counter, 2 * each);
        turn.last =
            turn.next - (odd ? each : 0) >= static_cast<unsigned>(num_tickets);
      }
      const std::int64_t first =
          static_cast<std::int64_t>(ticket) * chunks_per_ticket;
      const std::int64_t end = first + chunks_per_ticket < num_chunks
                                   ? first + chunks_per_ticket
                                   : num_chunks;
      for (std::int64_t c = first + warp; c < end; c += warps) {
        // A copy: a reference would be read again after each wait.
        const RowChunk chunk = system.chunk(c);
        take(chunk, lane, x, turn);
      }
      if (!draws_on) break;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
