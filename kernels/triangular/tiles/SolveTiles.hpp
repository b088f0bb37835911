// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_SOLVE_TILES_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_SOLVE_TILES_HPP

#include <analysis/tiles/MakeTilePlan.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <kernels/triangular/sync_free/SyncFreeKernel.hpp>

namespace Strata {
namespace Detail {

/// Right-hand sides in one launch, tile by tile.
///
/// A group of tiles gathers the products of all its outside entries at once,
/// which takes one trip through memory however many rows it has, as lanes poll
/// the unknowns that are missing together. Then it multiplies by the inverses
/// of the tiles' diagonal blocks, or goes through the tiles row by row where
/// InvertTiles has kept their entries. A row takes nothing from rows of its
/// tile that it does not depend on. Unless numbers overflow, x is finite where
/// substitution's is; NaN may stand for an infinity, and the reverse.
///
/// Teams draw tickets as those of SyncFreeKernel do, with two value buffers and
/// one counter used in the same way. A ticket is a group for each warp, or one
/// group that all warps share: they add up a part of the outside entries each,
/// and the first warp finishes the rows. No ticket is drawn ahead: its group
/// may have much to gather, and the team's own may have long to wait. Each
/// right-hand side has tickets and buffers of its own, and those of all are
/// handed out in turn: chains of few tiles leave room for each other.
///
/// Why it can't deadlock, however few teams run at once. A ticket is drawn by a
/// team that is already running and never suspended for good, and tickets are
/// handed out in the order of the groups. Consider the first group that is not
/// finished. The tickets before its own are finished, so its ticket has been
/// drawn, or will be by a team that has finished all it had. Unknowns that it
/// waits for are of tiles of lesser depth, which are in earlier groups of the
/// same right-hand side, so they are final. The warps of a team meet at
/// barriers between tickets, and inside of a group that they share. With one
/// group a warp there is no barrier between its beginning and its end, so a
/// warp may wait for another one's group, which is an earlier one. All warps of
/// a shared group come to its barriers: each waits for nothing but earlier
/// groups before.
template <class Scalar, class ExecutionSpace>
struct SolveTiles {
  using Memory = typename ExecutionSpace::memory_space;
  using Value = NotReady<Scalar>;
  static constexpr bool awaits_previous = true;
  static constexpr int width = lane_width<ExecutionSpace>;
  static_assert(width == 1 || width == most_tile_rows,
                "a lane for each row of a tile, or one for all");
  static constexpr int team_size = is_gpu<ExecutionSpace> ? 256 : 1;
  static constexpr int warps = team_size / width;
  static constexpr int teams_per_multiprocessor = 1;
  /// Entries that a lane keeps in registers together.
  static constexpr int batch = sizeof(Scalar) > 8 ? 4 : 8;
  /// Inner numbers of a row that a lane keeps, alone, and with a group that a
  /// team shares.
  static constexpr int most_columns = sizeof(Scalar) > 8 ? 16 : 32;
  static constexpr int shared_columns = most_tile_rows / warps;
  static constexpr int eager_turns = 32;

  TilePlan<Memory> plan;
  Kokkos::View<const Scalar*, Memory> value, inner;
  Kokkos::View<const int*, Memory> inverted;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  Scalar* buffers;    // 2 * num_rows for each column
  unsigned* counter;  // tickets drawn in two solves
  int columns;        // that there are buffers for
  int solved;         // of these; the others' buffers are kept in step

  struct Batch {
    int dependency[batch];
    Scalar value[batch];
  };
  /// Where a solve publishes, and what it makes not ready.
  struct Buffers {
    Scalar *current, *other;
    int column;
  };
  using Partial = Scalar[warps][most_tile_rows];

  KOKKOS_INLINE_FUNCTION void load(Batch& entry, std::int64_t slot, int left,
                                   int step) const {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      const bool in = u < left;
      entry.dependency[u] = in ? plan.dependency(slot) : -1;
      entry.value[u] = in ? value(slot) : Scalar(0);
      slot += step;
    }
  }
  KOKKOS_INLINE_FUNCTION static bool any_not_ready(const Scalar (&v)[batch]) {
    bool any = false;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) any = any || Value::is_not_ready(v[u]);
    return any;
  }
  /// Waits for the unknowns of a batch and adds the products.
  /// @param polls_one  of what is missing the warp asks for the last one only,
  ///                   until that is there: it has more to do before it is due
  KOKKOS_INLINE_FUNCTION static void add(const Batch& entry,
                                         const Scalar* current, int lane,
                                         bool polls_one, Scalar& sum) {
    Scalar v[batch];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      v[u] = entry.dependency[u] >= 0
                 ? Value::load(current + entry.dependency[u])
                 : Scalar(0);
    for (int turn = 0; lane_any(any_not_ready(v)); ++turn) {
      if (polls_one && turn == 0) {
        int last = -1;
        STRATA_IMPL_UNROLL
        for (int u = 0; u < batch; ++u)
          if (Value::is_not_ready(v[u]) && entry.dependency[u] > last)
            last = entry.dependency[u];
        wait_for(current + lane_max(static_cast<unsigned>(last + 1)) - 1, lane);
      } else if (turn > eager_turns) {
        pause_while_waiting(turn);
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (Value::is_not_ready(v[u]))
          v[u] = Value::load(current + entry.dependency[u]);
    }
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) sum += entry.value[u] * v[u];
  }
  KOKKOS_INLINE_FUNCTION static void wait_for(const Scalar* at, int lane) {
    for (int turn = 0;; ++turn) {
      const bool waits = lane == 0 && Value::is_not_ready(Value::load(at));
      if (!lane_any(waits)) break;
      if (turn > eager_turns) pause_while_waiting(turn);
    }
  }
  KOKKOS_INLINE_FUNCTION void publish(int place, std::int64_t row,
                                      const Scalar& result,
                                      const Buffers& to) const {
    Value::publish(to.current + place, result);
    x(row, to.column) = result;
    Value::reset(to.other + place);
  }

  /// The unknown of a lane's row, by substitution within its tile.
  /// @param rest  what is left of the right-hand side
  KOKKOS_INLINE_FUNCTION Scalar substitute(const TileGroup& g, int lane,
                                           int place, unsigned ancestors,
                                           Scalar rest) const {
    const int row = lane < g.rows ? lane : 0;
    const auto number = [&](int j) {
      return inner(g.first_inner + std::int64_t{j} * g.rows + row);
    };
    Scalar result(0);
    for (int j = 0; j < g.width; ++j) {
      if (j == place) result = rest / number(j);
      const Scalar known =
          lane_read(result, (lane - place + j) % most_tile_rows);
      if (j < place && (ancestors >> j & 1u)) rest -= number(j) * known;
    }
    return result;
  }

  /// A group of one warp, or the part of `warp` of a group that all share.
  /// @param begin  to be called when the loads of the plan are under way,
  ///               before any other
  template <bool shared, int columns, class Team, class Begin>
  KOKKOS_INLINE_FUNCTION void solve(const Team& team, const TileGroup& g,
                                    bool has_inverse, int warp, int lane,
                                    const Buffers& to, const Begin& begin,
                                    Partial* partial) const {
    const int lanes = 1 << g.log_lanes, in_use = g.rows << g.log_lanes;
    const int step = shared ? in_use * warps : in_use;
    std::int64_t slot = g.first_slot + lane + (shared ? warp * in_use : 0);
    int left = lane < in_use ? g.steps : 0;
    Batch entry;
    load(entry, slot, left, step);
    const bool has_row = lane < g.rows;
    const int p = g.first_row + lane;
    const int first_column = shared ? warp * columns : 0;
    int place = 0;
    unsigned ancestors = 0;
    std::int64_t row = 0;
    Scalar number[columns];
    if (has_row) {
      place = plan.place_in_tile(p);
      ancestors = plan.ancestors(p);
      row = plan.row(p);
    }
    STRATA_IMPL_UNROLL
    for (int u = 0; u < columns; ++u) {
      const int j = first_column + u;
      number[u] = has_row && j < g.width
                      ? inner(g.first_inner + std::int64_t{j} * g.rows + lane)
                      : Scalar(0);
    }
    begin();
    const Scalar right_hand_side = has_row ? b(row, to.column) : Scalar(0);
    Scalar sum(0);
    if constexpr (shared) {
      for (int done = batch; done < g.steps; done += batch) {
        Batch next;
        left -= batch;
        slot += std::int64_t{batch} * step;
        load(next, slot, left, step);
        add(entry, to.current, lane, true, sum);
        entry = next;
      }
    }
    if (g.throttle >= 0) wait_for(to.current + g.throttle, lane);
    add(entry, to.current, lane, false, sum);
    sum = lane_group_sum(sum, lanes);
    if constexpr (shared) {
      if (lane < in_use && lane % lanes == 0)
        partial[0][warp][lane / lanes] = sum;
      team.team_barrier();
      sum = Scalar(0);
      if (has_row) {
        STRATA_IMPL_UNROLL
        for (int w = 0; w < warps; ++w) sum += partial[0][w][lane];
      }
    } else {
      sum = lane_read(sum, (lane << g.log_lanes) % most_tile_rows);
    }
    const Scalar rest = right_hand_side - sum;
    if (!has_inverse) {
      if (shared && warp > 0) return;
      const Scalar result = substitute(g, lane, place, ancestors, rest);
      if (has_row) publish(p, row, result, to);
      return;
    }
    // Four sums, as an addition waits for the one before.
    Scalar sums[4] = {Scalar(0), Scalar(0), Scalar(0), Scalar(0)};
    const int base = lane - place + first_column;
    ancestors >>= first_column;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < columns; ++u) {
      const Scalar known = lane_read(rest, (base + u) % most_tile_rows);
      if (ancestors >> u & 1u) sums[u % 4] += number[u] * known;
    }
    Scalar result = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    if (shared && g.width > columns) {
      partial[1][warp][lane] = result;
      team.team_barrier();
      if (warp > 0) return;
      result = Scalar(0);
      STRATA_IMPL_UNROLL
      for (int w = 0; w < warps; ++w) result += partial[1][w][lane];
    }
    if (has_row && (!shared || warp == 0)) publish(p, row, result, to);
  }

  /// A group by a host's thread, one row after the other.
  KOKKOS_INLINE_FUNCTION void solve_on_host(const TileGroup& g,
                                            bool has_inverse,
                                            const Buffers& to) const {
    Scalar rest[most_tile_rows], result[most_tile_rows];
    for (int r = 0; r < g.rows; ++r) {
      const int p = g.first_row + r, place = plan.place_in_tile(p);
      Scalar sum(0);
      for (int e = 0; e < g.steps << g.log_lanes; ++e) {
        const std::int64_t slot = slot_of(g, r, e);
        const int q = plan.dependency(slot);
        if (q < 0) continue;
        wait_for(to.current + q, 0);
        sum += value(slot) * Value::load(to.current + q);
      }
      const std::int64_t row = plan.row(p);
      rest[r] = b(row, to.column) - sum;
      const Scalar* const known = has_inverse ? rest : result;
      const auto number = [&](int j) {
        return inner(g.first_inner + std::int64_t{j} * g.rows + r);
      };
      Scalar products(0);
      for (int j = 0; j < place; ++j)
        if (plan.ancestors(p) >> j & 1u)
          products += number(j) * known[r - place + j];
      result[r] = has_inverse ? products + number(place) * rest[r]
                              : (rest[r] - products) / number(place);
      publish(p, row, result[r], to);
    }
  }

  template <class Team, class Begin>
  KOKKOS_INLINE_FUNCTION void take(const Team& team, int ticket, int warp,
                                   int lane, const Buffers& to,
                                   const Begin& begin, Partial* partial) const {
    const int first = plan.ticket(ticket), end = plan.ticket(ticket + 1);
    if (to.column >= solved) {
      begin();
      for (int k = first + warp; k < end; k += warps) {
        const TileGroup g = plan.group(k);
        for (int r = lane; r < g.rows; r += width)
          Value::reset(to.other + g.first_row + r);
      }
      return;
    }
    if constexpr (width == 1) {
      begin();
      for (int k = first; k < end; ++k)
        solve_on_host(plan.group(k), inverted(k) != 0, to);
    } else {
      const bool is_shared = plan.group(first).of_team != 0;
      const int k = is_shared ? first : first + warp;
      if (k >= end) return;
      const TileGroup g = plan.group(k);
      const bool has_inverse = inverted(k) != 0;
      constexpr int few = 8;
      if (is_shared)
        solve<true, shared_columns>(team, g, has_inverse, warp, lane, to, begin,
                                    partial);
      else if (g.width <= few)
        solve<false, few>(team, g, has_inverse, warp, lane, to, begin, partial);
      else
        solve<false, most_columns>(team, g, has_inverse, warp, lane, to, begin,
                                   partial);
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int rank = team.team_rank(), warp = rank / width, lane = rank % width;
    const int tickets = (static_cast<int>(plan.ticket.extent(0)) - 1) * columns;
    const unsigned each = draws_of_solve(tickets, team.league_size());
    const bool draws_on = team.league_size() < tickets;
    // Two places, so that one barrier for each ticket is enough.
    STRATA_IMPL_TEAM_SHARED unsigned drawn[2];
    alignas(16) STRATA_IMPL_TEAM_SHARED typename ScalarWords<Scalar>::Word
        words[2 * sizeof(Partial) / sizeof(typename ScalarWords<Scalar>::Word)];
    auto* const partial = reinterpret_cast<Partial*>(words);
    for (int number = 0;; ++number) {
      if (rank == 0)
        drawn[number % 2] = fetch_increment_modulo(counter, 2 * each);
      team.team_barrier();
      unsigned ticket = drawn[number % 2];
      const bool odd = ticket >= each;
      if (odd) ticket -= each;
      if (ticket >= static_cast<unsigned>(tickets)) break;
      const int column = static_cast<int>(ticket % columns);
      Scalar* const of_column =
          buffers + std::int64_t{2} * column * plan.num_rows;
      const Buffers to{of_column + (odd ? plan.num_rows : 0),
                       of_column + (odd ? 0 : plan.num_rows), column};
      const auto begin = [&] {
        if (number > 0) return;
        await_previous(team);
        if (!draws_on && rank == 0) release_next(team);
      };
      take(team, static_cast<int>(ticket / columns), warp, lane, to, begin,
           partial);
      if (!draws_on) break;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
