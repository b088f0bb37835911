// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_SOLVE_TILES_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_SOLVE_TILES_HPP

#include <kernels/triangular/tiles/TileWarp.hpp>

namespace Strata {
namespace Detail {

/// Right-hand sides in one launch, tile by tile.
///
/// A group of tiles gathers the products of all its outside entries at once,
/// which takes one trip through memory however many rows it has, as lanes poll
/// the unknowns that are missing together. What is left of the right-hand sides
/// goes to the team's scratch, and is multiplied by the inverses of the tiles'
/// diagonal blocks; or the group goes through the tiles row by row where
/// InvertTiles has kept their entries. A row takes nothing from rows of its
/// tile that it does not depend on. Unless numbers overflow, x is finite where
/// substitution's is; NaN may stand for an infinity, and the reverse.
///
/// Teams draw tickets as those of SyncFreeKernel do, with two value buffers and
/// one counter used in the same way. A ticket is a group for each warp, or one
/// group that all warps share: they add up a part of the outside entries each,
/// and the first warp finishes the rows. No ticket is drawn ahead: its group
/// may have much to gather, and the team's own may have long to wait. Each
/// block of right-hand sides has tickets and buffers of its own, and those of
/// all are handed out in turn: chains of few tiles leave room for each other.
///
/// Chains of tiles are cut into runs (see join_tiles). Let u be the unknowns
/// from outside that the rows of a run depend on, A their entries, L the other
/// ones. As
///
///     x = L^-1 b - W u,  W = L^-1 A,
///
/// a warp solves L y = b tile by tile before u is there, and has one product to
/// do after. MakeWeights makes W, and says where that would cost accuracy: such
/// runs wait for u as other tiles do, and so do those in which a number is not
/// finite. This is the SPIKE algorithm for bands, on a graph of tiles.
///
/// The bits of a solution depend on `block`. If a right-hand side of a block
/// leads to infinities, the last bits of the others may differ, too.
///
/// @tparam block  right-hand sides that a warp solves together: with more it
///                reads the plan and the values less often, but each takes
///                longer
/// @tparam has_runs  a ticket is a run, not a group, for each warp
///
/// Why it can't deadlock, however few teams run at once. A ticket is drawn by a
/// team that is already running and never suspended for good, and tickets are
/// handed out in the order of the groups. Consider the first group that is not
/// finished. The tickets before its own are finished, so its ticket has been
/// drawn, or will be by a team that has finished all it had. Unknowns that it
/// waits for are of tiles of lesser depth, which are in earlier groups of the
/// same right-hand sides, so they are final. The warps of a team meet at
/// barriers between tickets, and inside of a group that they share. With one
/// group a warp there is no barrier between its beginning and its end, so a
/// warp may wait for another one's group, which is an earlier one. All warps of
/// a shared group come to its barriers: each waits for nothing but earlier
/// groups before. Runs are in the order of their depth, which is likewise more
/// than that of the runs they wait for; a warp that goes through a run group by
/// group waits for its own earlier groups and for earlier runs.
template <class Scalar, class ExecutionSpace, int block = 1,
          bool has_runs = false>
struct SolveTiles : TileWarp<Scalar, ExecutionSpace, block, has_runs> {
  using Base = TileWarp<Scalar, ExecutionSpace, block, has_runs>;
  using Base::b, Base::buffers, Base::columns, Base::counter, Base::growth,
      Base::inner, Base::inverted, Base::plan, Base::solved, Base::value,
      Base::weight;
  using Base::batch, Base::eager_turns, Base::most_columns,
      Base::shared_columns, Base::warps, Base::width;
  using Base::load, Base::publish, Base::substitute, Base::times_inverse,
      Base::wait_for;
  using typename Base::Batch, typename Base::Block, typename Base::Buffers,
      typename Base::Shared, typename Base::Value;

  /// The rows of a tile of a run, as if all unknowns outside of the run were 0:
  /// what was right-hand sides in `ahead` becomes these.
  /// @returns whether they are finite
  KOKKOS_INLINE_FUNCTION bool solve_ahead(const TileGroup& g, int k,
                                          int first_row, int lane,
                                          Scalar* ahead, Block* mine) const {
    const int in_use = g.rows << g.log_lanes;
    std::int64_t slot = g.first_slot + lane;
    int left = lane < in_use ? g.steps : 0;
    Batch entry;
    load(entry, slot, left, in_use);
    const bool has_row = lane < g.rows;
    const int p = g.first_row + lane;
    const int has_inverse = inverted(k);
    int place = 0;
    unsigned ancestors = 0;
    Scalar number[most_columns];
    if (has_row) {
      place = plan.place_in_tile(p);
      ancestors = plan.ancestors(p);
    }
    STRATA_IMPL_UNROLL
    for (int j = 0; j < most_columns; ++j)
      number[j] = has_row && j < g.width
                      ? inner(g.first_inner + std::int64_t{j} * g.rows + lane)
                      : Scalar(0);
    Scalar sum(0);
    for (int done = 0; done < g.steps; done += batch) {
      if (done > 0) {
        left -= batch;
        slot += std::int64_t{batch} * in_use;
        load(entry, slot, left, in_use);
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (entry.dependency[u] >= first_row)
          sum += entry.value[u] * ahead[entry.dependency[u] - first_row];
    }
    if (g.log_lanes > 0) {
      sum = lane_group_sum(sum, 1 << g.log_lanes);
      sum = lane_read(sum, (lane << g.log_lanes) % most_tile_rows);
    }
    Block rest;
    rest.clear();
    if (has_row) rest.of[0] = ahead[p - first_row] - sum;
    Block result;
    if (has_inverse == 0)
      result.of[0] = substitute(g, lane, place, ancestors, rest.of[0]);
    else
      result =
          times_inverse(number, 0, g.width, lane, place, ancestors, rest, mine);
    if (has_row) ahead[p - first_row] = result.of[0];
    lane_barrier();
    return !has_row || result.is_finite();
  }
  /// The weights of the row at `place` of a run, if there is such a row, and
  /// the row of the matrix.
  KOKKOS_INLINE_FUNCTION void load_weights(const TileRun& of, int place,
                                           Scalar (&number)[most_run_unknowns],
                                           std::int64_t& row) const {
    row = place >= 0 ? plan.row(of.first_row + place) : 0;
    const std::int64_t first = of.first_weight + place;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < most_run_unknowns; ++u)
      number[u] = place >= 0 && u < of.unknowns
                      ? weight(first + std::int64_t{u} * of.rows)
                      : Scalar(0);
  }
  template <class Team, class Begin>
  KOKKOS_INLINE_FUNCTION void solve_run(const Team& team, int r, int warp,
                                        int lane, const Buffers& to,
                                        const Begin& begin,
                                        Shared& scratch) const {
    const TileRun of = plan.run(r);
    TileGroup g = plan.group(of.first_group);
    // Not 0: W keeps the accuracy, see MakeWeights.
    if (growth(r) > 0) {
      const int unknown =
          lane < of.unknowns
              ? plan.unknown(std::int64_t{r} * most_run_unknowns + lane)
              : -1;
      Scalar* const ahead = scratch.ahead[warp];
      begin();
      for (int i = lane; i < of.rows; i += width)
        ahead[i] = b(plan.row(of.first_row + i), to.column);
      lane_barrier();
      bool finite = true;
      for (int k = of.first_group; k < of.end_group; ++k) {
        const TileGroup next = plan.group(k + 1 < of.end_group ? k + 1 : k);
        finite &=
            solve_ahead(g, k, of.first_row, lane, ahead, scratch.rest[warp]);
        g = next;
      }
      // From the last rows on, which others wait for.
      int place = of.rows - width + lane;
      Scalar number[most_run_unknowns];
      std::int64_t row;
      load_weights(of, place, number, row);
      Block u;
      u.clear();
      if (unknown >= 0) u = load(to.current, unknown);
      for (int turn = 0; lane_any(u.is_not_ready()); ++turn) {
        if (turn > eager_turns) pause_while_waiting(turn);
        if (u.is_not_ready()) u = load(to.current, unknown);
      }
      Block* const known = scratch.rest[warp];
      known[lane] = u;
      lane_barrier();
      if (!lane_any(!finite || !u.is_finite())) {
        while (true) {
          constexpr int sums = 4;
          Scalar sum[sums] = {};
          STRATA_IMPL_UNROLL
          for (int c = 0; c < most_run_unknowns; ++c)
            sum[c % sums] += number[c] * known[c].of[0];
          if (place >= 0) {
            const Scalar before = (sum[0] + sum[1]) + (sum[2] + sum[3]);
            publish(of.first_row + place, row, Block{{ahead[place] - before}},
                    to);
          }
          if (place - lane <= 0) break;
          place -= width;
          load_weights(of, place, number, row);
        }
        lane_barrier();
        return;
      }
      lane_barrier();
    }
    for (int k = of.first_group; k < of.end_group; ++k) {
      this->template solve<false, most_columns>(team, plan.group(k), k, warp,
                                                lane, to, begin, scratch);
      lane_barrier();
    }
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
        wait_for(to.current, q, 0);
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
      publish(p, row, Block{{result[r]}}, to);
    }
  }

  template <class Team, class Begin>
  KOKKOS_INLINE_FUNCTION void take(const Team& team, int ticket, int warp,
                                   int lane, const Buffers& to,
                                   const Begin& begin, Shared& scratch) const {
    const int first = plan.ticket(ticket), end = plan.ticket(ticket + 1);
    if (to.column >= solved) {
      begin();
      for (int k = first + warp; k < end; k += warps) {
        const int row =
            has_runs ? plan.run(k).first_row : plan.group(k).first_row;
        const int rows = has_runs ? plan.run(k).rows : plan.group(k).rows;
        for (int r = lane; r < rows * block; r += width)
          Value::reset(to.other + std::int64_t{row} * block + r);
      }
      return;
    }
    if constexpr (width == 1) {
      begin();
      for (int k = first; k < end; ++k)
        solve_on_host(plan.group(k), inverted(k) != 0, to);
    } else if constexpr (has_runs) {
      if (first + warp < end)
        solve_run(team, first + warp, warp, lane, to, begin, scratch);
    } else {
      const bool is_shared = plan.group(first).of_team != 0;
      const int k = is_shared ? first : first + warp;
      if (k >= end) return;
      const TileGroup g = plan.group(k);
      constexpr int few = 8;
      if (is_shared)
        this->template solve<true, shared_columns>(team, g, k, warp, lane, to,
                                                   begin, scratch);
      else if (g.width <= few)
        this->template solve<false, few>(team, g, k, warp, lane, to, begin,
                                         scratch);
      else
        this->template solve<false, most_columns>(team, g, k, warp, lane, to,
                                                  begin, scratch);
    }
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int rank = team.team_rank(), warp = rank / width, lane = rank % width;
    const int blocks = columns / block;
    const int tickets = (static_cast<int>(plan.ticket.extent(0)) - 1) * blocks;
    const unsigned each = draws_of_solve(tickets, team.league_size());
    const bool draws_on = team.league_size() < tickets;
    // Two places, so that one barrier for each ticket is enough.
    STRATA_IMPL_TEAM_SHARED unsigned drawn[2];
    alignas(16) STRATA_IMPL_TEAM_SHARED RealOf<Scalar>
        words[(width > 1 ? sizeof(Shared) : sizeof(Scalar)) /
              sizeof(RealOf<Scalar>)];
    auto& scratch = *reinterpret_cast<Shared*>(words);
    if constexpr (width > 1) {
      scratch.rest[warp][most_tile_rows + lane].clear();
    }
    for (int number = 0;; ++number) {
      if (rank == 0)
        drawn[number % 2] = fetch_increment_modulo(counter, 2 * each);
      team.team_barrier();
      unsigned ticket = drawn[number % 2];
      const bool odd = ticket >= each;
      if (odd) ticket -= each;
      if (ticket >= static_cast<unsigned>(tickets)) break;
      const int column = static_cast<int>(ticket % blocks) * block;
      const std::int64_t half = std::int64_t{block} * plan.num_rows;
      Scalar* const of_column =
          buffers + std::int64_t{2} * column * plan.num_rows;
      const Buffers to{of_column + (odd ? half : 0),
                       of_column + (odd ? 0 : half), column};
      const auto begin = [&] {
        if (number > 0) return;
        await_previous(team);
        if (!draws_on && rank == 0) release_next(team);
      };
      take(team, static_cast<int>(ticket / blocks), warp, lane, to, begin,
           scratch);
      if (!draws_on) break;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
