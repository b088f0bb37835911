// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_SYNC_FREE_SUBGRAPH_KERNEL_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_SYNC_FREE_SUBGRAPH_KERNEL_HPP

#include <analysis/packing/PackedSubgraphs.hpp>
#include <core/device/ActivePlan.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Scratch.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <kernels/triangular/sync_free/SyncFreeState.hpp>
#include <kernels/triangular/sync_free_subgraphs/SolvingWarp.hpp>

namespace Strata {
namespace Detail {

/// All sub-graphs in one launch. A team takes a sub-graph and a right-hand
/// side: four warps solve in steps with a barrier after each, two fetch what
/// they will need from other sub-graphs.
///
/// Rows are scaled by their diagonals beforehand: x_i = b_i / l_ii - sum of
/// (l_ij / l_ii) x_j. Scratch holds a zero, the outside values, and the team's
/// part of x, which begins as b_i / l_ii. A step takes up to a few products of
/// one row a lane away from x_i; the analysis has spread a row's entries over
/// steps such that all dependencies within the sub-graph are final by then. So
/// a step is a few independent loads from scratch, as many multiply-adds, a
/// store and a barrier. Records reach scratch some steps ahead by asynchronous
/// copies that only the lane itself waits for.
///
/// Outside values are read once when the team starts, whether they are final or
/// not. Those that are not ready still are polled by the fetching warps, a
/// value by each of their lanes, in the order of need. A solving lane learns
/// that it took a not ready value from its result, which then is a NaN: it
/// looks at its dependencies again until all are final. A row that others need
/// is published as soon as it is known.
///
/// Why it can't deadlock, however few teams run at once: tickets are drawn in
/// the order of sub-graphs by teams that are already running. Edges never lead
/// to a smaller number, so a team waits only for rows of sub-graphs with
/// smaller tickets, all drawn; within a team, the solving warps wait for the
/// fetching ones, which wait for no warp of their team, and for each other at
/// barriers that all of them reach equally often. So of the unfinished
/// sub-graphs drawn, the smallest waits for none, finishes, and so on; teams
/// not yet scheduled hold no ticket, and no team waits for them. The warps of a
/// team make progress independently of each other; a host has one thread a
/// team, which waits for its outside values before it solves. NaN and Inf are
/// values like any other (see NotReady).
///
/// Exports have two buffers: a solve publishes in one and resets the other.
/// Where there is room for one right-hand side, as many tickets are drawn in
/// each solve, and the counter, which starts again after two, tells which; else
/// the last team swaps the buffers of the columns in use.
///
/// Solves overlap (see run_teams): all tickets have been drawn when the last
/// block lets the next kernel begin. With room for one right-hand side, a solve
/// with this plan draws its own then, and fetches its first records; it leaves
/// b, x and the exports alone until this kernel has ended. With room for
/// several, it draws then. The solve after that waits for its turn: blocks of
/// many solves would crowd each other.
///
/// @tparam team_kind  see SubgraphTeam
template <class Scalar, class ExecutionSpace, int team_kind,
          bool steps_in_scratch>
struct SyncFreeSubgraphKernel {
  using Memory = typename ExecutionSpace::memory_space;
  using Warp = SolvingWarp<Scalar, ExecutionSpace, team_kind, steps_in_scratch>;
  static constexpr bool awaits_previous = true;
  static constexpr int width = Warp::width;
  static constexpr bool fetches_apart = Warp::fetches_apart;
  static constexpr bool different = Warp::different;
  static constexpr int row_lanes = Warp::row_lanes, warps = Warp::warps;
  static constexpr int teams_a_multiprocessor = Warp::teams_a_multiprocessor;
  static constexpr int fetchers = Warp::fetchers, solvers = Warp::solvers;
  static constexpr int team_size = Warp::team_size;

  const unsigned char* bytes;
  const PackedSubgraph* subgraph;
  const unsigned char* step_warps;
  const int* import;
  const unsigned* row;
  const Scalar* diagonal;  // reciprocals, or the diagonal itself if `divide`
  // Where rows have been merged, what a row begins with: the sum of values
  // times b, see MergedSubgraphRows. Null otherwise.
  const int* coefficient_map;
  const std::int16_t* coefficient;
  const Scalar* coefficient_value;
  Scalar* exports;  // 2 * columns * num_exports
  unsigned* state;
  std::int64_t num_exports;
  int columns;         // right-hand sides of this launch
  int export_columns;  // for how many `exports` has room
  bool divide;
  int scratch_size;  // bytes
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  ActivePlan active_plan;

  static std::size_t scratch_bytes(int max_local, int max_steps) {
    return Warp::scratch_bytes(max_local, max_steps);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    // All teams or none: the counters are then as if this had not been
    // launched.
    if (ends_if_inactive(active_plan, team)) return;
    run(team, team.team_scratch(0).get_shmem(scratch_size));
  }

 private:
  struct Draw {
    int ticket;
    bool odd;
  };
  template <class Team>
  KOKKOS_INLINE_FUNCTION Draw draw(const Team& team) const {
    const auto each = static_cast<unsigned>(team.league_size());
    unsigned ticket = 0;
    if (export_columns > 1) await_previous(team);
    if (team.team_rank() == 0)
      ticket =
          export_columns > 1
              ? Kokkos::atomic_fetch_add(&state[SyncFreeState::ticket], 1u)
              : fetch_increment_modulo(&state[SyncFreeState::ticket], 2 * each);
    ticket =
        static_cast<unsigned>(team_broadcast(team, static_cast<int>(ticket)));
    if (export_columns > 1)
      return {static_cast<int>(ticket),
              (state[SyncFreeState::size + ticket % columns] & 1u) != 0};
    return {static_cast<int>(ticket % each), ticket >= each};
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void run(const Team& team,
                                  void* scratch_of_team) const {
    const Draw drawn = draw(team);
    const int column = drawn.ticket % columns;
    const PackedSubgraph& mine = subgraph[drawn.ticket / columns];
    const std::int64_t half = num_exports * export_columns;
    Scalar* const current =
        exports + (drawn.odd ? half : 0) + column * num_exports;
    Scalar* const next =
        exports + (drawn.odd ? 0 : half) + column * num_exports;

    auto address = reinterpret_cast<std::uintptr_t>(scratch_of_team);
    address = (address + 15) / 16 * 16;
    const ScratchBytes scratch(reinterpret_cast<void*>(address));
    const int rank = team.team_rank();
    const int warp = rank / width, lane = rank % width;
    if (rank < solvers) Warp::start_ring(*this, mine, warp, lane, scratch);
    await_previous(team);
    if (rank == 0) release_next(team);

    const int imports = mine.imports, rows = mine.rows;
    const int* const list = import + mine.first_import;
    const unsigned first_row = Warp::local(1 + imports);
    for (int i = rank; i < imports; i += team_size) {
      Scalar value;
      for (int turn = 0;
           !NotReady<Scalar>::read(current + list[i], value) && !fetches_apart;
           ++turn)
        pause_while_waiting(turn);
      scratch.store(Warp::local(1 + i), value);
    }
    for (int i = rank; i < rows; i += team_size) {
      const int permuted_row = mine.first_permuted_row + i;
      // Nothing in scratch but outside values may look not ready.
      scratch.store(first_row + i * unsigned(sizeof(Scalar)),
                    NotReady<Scalar>::final(
                        coefficient_map ? sum_terms(permuted_row, column)
                                        : scaled(permuted_row, column)));
    }
    for (int e = rank; e < mine.exports; e += team_size)
      NotReady<Scalar>::reset(next + mine.first_export + e);
    if (rank == 0) scratch.store(Warp::local(0), Scalar(0));
    const unsigned steps = first_row + rows * unsigned(sizeof(Scalar));
    if (steps_in_scratch)
      for (int k = rank; k <= mine.steps; k += team_size)
        scratch.store(steps + k, k < mine.steps
                                     ? step_warps[mine.first_step + k]
                                     : static_cast<unsigned char>(0));
    team.team_barrier();

    if (rank < solvers)
      Warp::solve(*this, mine, warp, lane, scratch, steps, first_row,
                  current + mine.first_export);
    else
      fetch(rank - solvers, imports, list, scratch, current);
    team.team_barrier();
    for (int i = rank; i < rows; i += team_size)
      x(row[mine.first_permuted_row + i], column) =
          scratch.load<Scalar>(first_row + i * unsigned(sizeof(Scalar)));

    if (export_columns == 1 || rank != 0) return;
    const unsigned done =
        Kokkos::atomic_fetch_add(&state[SyncFreeState::finished], 1u);
    if (done + 1 != static_cast<unsigned>(team.league_size())) return;
    state[SyncFreeState::ticket] = 0;
    state[SyncFreeState::finished] = 0;
    // Columns that this launch did not use keep their buffers.
    for (int c = 0; c < columns; ++c) state[SyncFreeState::size + c] += 1;
  }

  KOKKOS_INLINE_FUNCTION Scalar scaled(int permuted_row, int column) const {
    const Scalar from = b(row[permuted_row], column);
    const Scalar by = diagonal[permuted_row];
    return divide ? from / by : from * by;
  }
  /// The elements of b are of the row's own sub-graph: no team has written x
  /// over them yet.
  KOKKOS_INLINE_FUNCTION Scalar sum_terms(int permuted_row, int column) const {
    constexpr int batch = 4;
    const int end = coefficient_map[permuted_row + 1];
    Scalar sum(0);
    for (int t = coefficient_map[permuted_row]; t < end; t += batch) {
      Scalar product[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        product[u] = Scalar(0);
        if (t + u < end)
          product[u] = coefficient_value[t + u] *
                       b(row[permuted_row - coefficient[t + u]], column);
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) sum += product[u];
    }
    return sum;
  }
  /// The fetching warps: a lane brings values l, l + fetchers, ...
  KOKKOS_INLINE_FUNCTION static void fetch(int l, int imports, const int* list,
                                           const ScratchBytes& scratch,
                                           const Scalar* current) {
    constexpr int stride = fetchers > 0 ? fetchers : 1;
    int i = l, dependency = 0;
    const auto skip_known = [&]() {
      while (i < imports && !NotReady<Scalar>::is_not_ready(
                                scratch.load<Scalar>(Warp::local(1 + i))))
        i += stride;
      if (i < imports) dependency = list[i];
    };
    skip_known();
    for (int turn = 0; lane_any(i < imports); ++turn) {
      if (i < imports) {
        Scalar value;
        if (NotReady<Scalar>::read(current + dependency, value)) {
          scratch.hand_over(Warp::local(1 + i), value);
          i += stride;
          skip_known();
          turn = 0;
        }
      }
      if (turn > 64) pause_while_waiting(turn);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
