// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_SYNC_FREE_SUBGRAPH_KERNEL_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_SYNC_FREE_SUBGRAPH_KERNEL_HPP

#include <analysis/packing/PackedSubgraphs.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Scratch.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/PackValues.hpp>
#include <kernels/triangular/sync_free/SyncFreeState.hpp>

namespace Strata {
namespace Detail {

/// A record as a lane holds it.
template <class Scalar>
struct alignas(16) PackedWork {
  static constexpr PackedRecord shape{sizeof(Scalar)};
  static constexpr int entries = shape.entries;
  Scalar value[entries];
  std::uint16_t source[entries];
  std::uint16_t out;
};

/// All sub-graphs in one launch. A team takes a sub-graph and a right-hand
/// side: four warps solve in steps with a barrier after each, two fetch what
/// they will need from other sub-graphs.
///
/// Rows are scaled by their diagonals beforehand: x_i = b_i / l_ii - sum of
/// (l_ij / l_ii) x_j. Scratch holds a zero, the outside values, and the team's
/// part of x, which begins as b_i / l_ii. A step takes up to a few products of
/// one row a lane away from x_i; the analysis has spread a row's entries over
/// steps such that all sources within the sub-graph are final by then. So a
/// step is a few independent loads from scratch, as many multiply-adds, a store
/// and a barrier. Records reach scratch some steps ahead by asynchronous
/// copies that only the lane itself waits for.
///
/// Outside values are read once when the team starts, whether they are final or
/// not. Those that are not ready still are polled by the fetching warps, 64 at
/// a time, in the order of need. A solving lane learns that it took a not ready
/// value from its result, which then is a NaN: it looks at its sources again
/// until all are final. A row that others need is published as soon as it is
/// known.
///
/// Why it can't deadlock, however few teams run at once: tickets are drawn in
/// the order of sub-graphs by teams that are already running. Edges never lead
/// to a smaller number, so a team waits only for rows of sub-graphs with
/// smaller tickets, all drawn; within a team, the solving warps wait for the
/// fetching ones, which wait for nobody in their team, and for each other at
/// barriers that all of them reach equally often. So of the unfinished
/// sub-graphs drawn, the smallest waits for none, finishes, and so on; teams
/// not yet scheduled hold no ticket and nobody waits for them. The warps of a
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
/// several, it draws then. The one after that waits for its turn: many solves'
/// blocks at a time would crowd each other.
///
/// @tparam team_kind  0: four warps, a lane for a row. 1, for rows of many
/// entries:
///               eight warps, of which four lanes share a row
template <class Scalar, class ExecutionSpace, int team_kind,
          bool steps_in_scratch>
struct SyncFreeSubgraphSolve {
  using Memory = typename ExecutionSpace::memory_space;
  using Work = PackedWork<Scalar>;
  static constexpr bool awaits_previous = true;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr bool fetches_apart = width > 1;
  static constexpr bool different = fetches_apart;
  static constexpr int row_lanes = different && team_kind == 1 ? 4 : 1;
  /// Solving warps; a host's one thread does all.
  static constexpr int warps = !fetches_apart ? 1 : team_kind == 1 ? 8 : 4;
  /// Teams that share a multiprocessor's registers.
  static constexpr int teams_a_multiprocessor = team_kind == 1 ? 2 : 4;
  static constexpr int fetchers = fetches_apart ? 2 * width : 0;
  static constexpr int solvers = warps * width;
  static constexpr int team_size = solvers + fetchers;
  static constexpr int units = Work::shape.units();
  static constexpr int stage_bytes = Work::shape.bytes * width;
  /// Stages of a warp in scratch: the one in use, and the fetch ahead.
  static constexpr int ring_stages = !fetches_apart ? 2
                                     : team_kind == 1 || sizeof(Scalar) == 16
                                         ? 4
                                         : 6;
  static constexpr int ring_bytes = ring_stages * stage_bytes;
  static constexpr int rings_bytes = warps * ring_bytes;
  static_assert(sizeof(Work) == Work::shape.bytes, "a record is as stored");

  const unsigned char* bytes;
  const PackedSubgraph* subgraph;
  const unsigned char* step_warps;
  const int* import;
  const unsigned* row;
  const Scalar* diagonal;  // reciprocals, or the diagonal itself if `divide`
  // Where rows have been merged, what a row begins with: the sum of values
  // times b, see MergedSubgraphRows. Null otherwise.
  const int* term_map;
  const std::int16_t* term;
  const Scalar* term_value;
  Scalar* exports;  // 2 * columns * num_exports
  unsigned* state;
  std::int64_t num_exports;
  int columns;         // right-hand sides of this launch
  int export_columns;  // for how many `exports` has room
  bool divide;
  int scratch_size;  // bytes
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;

  /// Scratch: rings, scalars, a byte a step and one to end them, room to align.
  static std::size_t scratch_bytes(int max_local, int max_steps) {
    return rings_bytes + 32 + std::size_t(max_local) * sizeof(Scalar) +
           max_steps;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
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
    if (rank < solvers) start_ring(mine, warp, lane, scratch);
    await_previous(team);
    if (rank == 0) release_next(team);

    const int imports = mine.imports, rows = mine.rows;
    const int* const list = import + mine.first_import;
    const unsigned first_row = local(1 + imports);
    for (int i = rank; i < imports; i += team_size) {
      Scalar value;
      for (int turn = 0;
           !NotReady<Scalar>::read(current + list[i], value) && !fetches_apart;
           ++turn)
        pause_while_waiting(turn);
      scratch.store(local(1 + i), value);
    }
    for (int i = rank; i < rows; i += team_size) {
      const int position = mine.first_position + i;
      // Nothing in scratch but outside values may look not ready.
      scratch.store(
          first_row + i * unsigned(sizeof(Scalar)),
          NotReady<Scalar>::final(term_map ? sum_terms(position, column)
                                           : scaled(position, column)));
    }
    for (int e = rank; e < mine.exports; e += team_size)
      NotReady<Scalar>::reset(next + mine.first_export + e);
    if (rank == 0) scratch.store(local(0), Scalar(0));
    const unsigned steps = first_row + rows * unsigned(sizeof(Scalar));
    if (steps_in_scratch)
      for (int k = rank; k <= mine.steps; k += team_size)
        scratch.store(steps + k, k < mine.steps
                                     ? step_warps[mine.first_step + k]
                                     : static_cast<unsigned char>(0));
    team.team_barrier();

    if (rank < solvers)
      solve(mine, warp, lane, scratch, steps, first_row,
            current + mine.first_export);
    else
      fetch(rank - solvers, imports, list, scratch, current);
    team.team_barrier();
    for (int i = rank; i < rows; i += team_size)
      x(row[mine.first_position + i], column) =
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

  KOKKOS_INLINE_FUNCTION Scalar scaled(int position, int column) const {
    const Scalar from = b(row[position], column);
    const Scalar by = diagonal[position];
    return divide ? from / by : from * by;
  }
  /// Terms are of the row's own sub-graph: nobody has written x over them yet.
  KOKKOS_INLINE_FUNCTION Scalar sum_terms(int position, int column) const {
    constexpr int batch = 4;
    const int end = term_map[position + 1];
    Scalar sum(0);
    for (int t = term_map[position]; t < end; t += batch) {
      Scalar product[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        product[u] = Scalar(0);
        if (t + u < end)
          product[u] =
              term_value[t + u] * b(row[position - term[t + u]], column);
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) sum += product[u];
    }
    return sum;
  }
  /// Byte of scalar number `i` in scratch.
  KOKKOS_INLINE_FUNCTION static unsigned local(int i) {
    return rings_bytes + unsigned(i) * unsigned(sizeof(Scalar));
  }
  struct alignas(16) Unit {
    std::uint64_t half[2];
  };
  /// Copies the lane's record at `from`, if there is any, to its place in the
  /// ring; `pitch` bytes lie between units. Every call makes one group.
  KOKKOS_INLINE_FUNCTION static void copy_record(const ScratchBytes& scratch,
                                                 unsigned to,
                                                 const unsigned char* from,
                                                 int pitch, bool any) {
    if (any)
      for (int u = 0; u < units; ++u)
        scratch.copy_async_16(to + u * width * 16, from + u * pitch);
    copy_async_commit();
  }
  KOKKOS_INLINE_FUNCTION static Work load_record(const ScratchBytes& scratch,
                                                 unsigned at) {
    Unit unit[units];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < units; ++u)
      unit[u] = scratch.load<Unit>(at + u * width * 16);
    Work work;
    memcpy(&work, unit, sizeof(Work));
    return work;
  }
  KOKKOS_INLINE_FUNCTION const unsigned char* packed_of(
      const PackedSubgraph& mine, int warp, int lane) const {
    return bytes + mine.first_record[warp] * Work::shape.bytes + lane * 16;
  }
  KOKKOS_INLINE_FUNCTION void start_ring(const PackedSubgraph& mine, int warp,
                                         int lane,
                                         const ScratchBytes& scratch) const {
    const unsigned char* const from = packed_of(mine, warp, lane);
    const int stage = mine.lanes * Work::shape.bytes;
    for (int s = 0; s < ring_stages; ++s) {
      const unsigned to = warp * ring_bytes + s * stage_bytes + lane * 16;
      if (lane >= mine.lanes) {
        // Lanes beyond are idle all the time.
        Work idle = {};
        idle.out = record_idle;
        Unit unit[units];
        memcpy(unit, &idle, sizeof(Work));
        for (int u = 0; u < units; ++u)
          scratch.store(to + u * width * 16, unit[u]);
      }
      copy_record(scratch, to, from + s * stage, mine.lanes * 16,
                  lane < mine.lanes && s < mine.stages[warp]);
    }
  }

  /// The fetching warps: a lane brings values l, l + fetchers, ...
  KOKKOS_INLINE_FUNCTION static void fetch(int l, int imports, const int* list,
                                           const ScratchBytes& scratch,
                                           const Scalar* current) {
    constexpr int stride = fetchers > 0 ? fetchers : 1;
    int i = l, source = 0;
    const auto skip_known = [&]() {
      while (i < imports && !NotReady<Scalar>::is_not_ready(
                                scratch.load<Scalar>(local(1 + i))))
        i += stride;
      if (i < imports) source = list[i];
    };
    skip_known();
    for (int turn = 0; lane_any(i < imports); ++turn) {
      if (i < imports) {
        Scalar value;
        if (NotReady<Scalar>::read(current + source, value)) {
          scratch.hand_over(local(1 + i), value);
          i += stride;
          skip_known();
          turn = 0;
        }
      }
      if (turn > 64) pause_while_waiting(turn);
    }
  }

  /// A record with the places it names in scratch.
  struct Step {
    Work work;
    unsigned source[Work::entries], out;
  };
  KOKKOS_INLINE_FUNCTION static void decode(Step& step) {
    STRATA_IMPL_UNROLL
    for (int e = 0; e < Work::entries; ++e) {
      step.source[e] = step.work.source[e];
      compute_now(step.source[e]);
    }
    // Lanes that help with a row take 0 for what it was before (see `local`):
    // the one that stores the row may be ahead of them.
    step.out = row_lanes > 1 && (step.work.out & record_idle)
                   ? 0u
                   : step.work.out & 0xfffcu;
    compute_now(step.out);
  }

  /// The result anew from sources that are all final.
  STRATA_IMPL_NOINLINE KOKKOS_FUNCTION static Scalar wait_and_sum(
      ScratchBytes scratch, Work work, Scalar before) {
    Scalar from[Work::entries];
    for (int e = 0; e < Work::entries; ++e) do {
        from[e] =
            scratch.load_handed_over<Scalar>(rings_bytes + work.source[e]);
      } while (NotReady<Scalar>::is_not_ready(from[e]));
    return subtract(before, work, from);
  }
  /// The value before, which the first lane of a row has, less the products of
  /// all lanes that share the row. All of them get the same bits.
  KOKKOS_INLINE_FUNCTION static Scalar subtract(
      const Scalar& before, const Work& work,
      const Scalar (&from)[Work::entries]) {
    return end_sum(begin_sum(before, work, from), work, from);
  }
  /// Four of the bytes of a value.
  KOKKOS_INLINE_FUNCTION static unsigned word(const Scalar& value) {
    unsigned bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
  }
  /// All of it but what comes last.
  KOKKOS_INLINE_FUNCTION static Scalar begin_sum(
      const Scalar& before, const Work& work,
      const Scalar (&from)[Work::entries]) {
    Scalar result = before;
    STRATA_IMPL_UNROLL
    for (int e = 0; e + 1 < Work::entries; ++e)
      result -= work.value[e] * from[e];
    return result;
  }
  KOKKOS_INLINE_FUNCTION static Scalar end_sum(
      const Scalar& sum, const Work& work,
      const Scalar (&from)[Work::entries]) {
    constexpr int last = Work::entries - 1;
    return lane_group_sum(sum - work.value[last] * from[last], row_lanes);
  }

  /// What a solving warp keeps from step to step.
  struct Solver {
    ScratchBytes scratch;
    unsigned ring;              // the lane's part
    const unsigned char* from;  // the lane's part of the next stage to fetch
    int pitch, stage;           // bytes between units, and between stages
    int ahead;                  // stages left to fetch, none for idle lanes
    unsigned steps_at;          // the next step's byte
    const unsigned char* steps;
    unsigned warp, active;  // warps of the present step, 0 at the end
    char* published;
    unsigned zero;  // which nobody but this program knows

    KOKKOS_INLINE_FUNCTION void next_step() {
      if constexpr (steps_in_scratch) {
        active = scratch.template load<unsigned char>(steps_at++);
      } else {
        active = steps_at-- > 0 ? *steps++ : 0;
      }
    }
  };

  /// @param steps where the steps' bytes are in scratch
  KOKKOS_INLINE_FUNCTION void solve(const PackedSubgraph& mine, int warp,
                                    int lane, const ScratchBytes& scratch,
                                    unsigned steps, unsigned first_row,
                                    Scalar* published) const {
    Solver state{scratch, 0, nullptr, 0, 0, 0, 0, nullptr, 0, 0, nullptr, 0};
    state.ring = warp * ring_bytes + lane * 16;
    state.pitch = mine.lanes * 16;
    state.stage = mine.lanes * Work::shape.bytes;
    state.from = packed_of(mine, warp, lane) + ring_stages * state.stage;
    state.ahead = lane < mine.lanes ? mine.stages[warp] - ring_stages : 0;
    state.steps_at = steps_in_scratch ? steps : mine.steps;
    state.steps = step_warps + mine.first_step;
    state.warp = warp;
    state.zero = unsigned(mine.lanes) >> 6;  // at most 32
    state.published =
        reinterpret_cast<char*>(published) - (first_row - rings_bytes);
    state.next_step();

    Step even, odd;
    copy_async_wait<ring_stages - 1>();
    even.work = load_record(scratch, state.ring);
    copy_async_wait<ring_stages - 2>();
    odd.work = load_record(scratch, state.ring + stage_bytes);
    decode(even);
    // A turn of the ring, written out: places in it are known, and of two
    // records by turns none is copied.
    static_assert(ring_stages == 6 || ring_stages == 4 || ring_stages == 2,
                  "a turn is written out for these");
    if constexpr (ring_stages == 6) {
      while (find_work(state) && advance<0>(state, even, odd) &&
             find_work(state) && advance<1>(state, odd, even) &&
             find_work(state) && advance<2>(state, even, odd) &&
             find_work(state) && advance<3>(state, odd, even) &&
             find_work(state) && advance<4>(state, even, odd) &&
             find_work(state) && advance<5>(state, odd, even)) {
      }
    } else if constexpr (ring_stages == 4) {
      while (find_work(state) && advance<0>(state, even, odd) &&
             find_work(state) && advance<1>(state, odd, even) &&
             find_work(state) && advance<2>(state, even, odd) &&
             find_work(state) && advance<3>(state, odd, even)) {
      }
    } else {
      while (find_work(state) && advance<0>(state, even, odd) &&
             find_work(state) && advance<1>(state, odd, even)) {
      }
    }
    copy_async_wait<0>();
  }

  /// Between two steps of the sub-graph: what the solving warps stored is
  /// there for all of them.
  KOKKOS_INLINE_FUNCTION static void end_step() {
    if constexpr (fetches_apart) {
      partial_team_barrier<solvers>();
    }
  }
  /// Passes the steps without work; false at the end.
  KOKKOS_INLINE_FUNCTION static bool find_work(Solver& state) {
    while (state.warp >= state.active) {
      if (state.active == 0) return false;
      state.next_step();
      end_step();
    }
    return true;
  }

  /// Does the step `now`, whose record was in place `place` of the ring;
  /// `next`, the one after it, has been loaded but not decoded. On return `now`
  /// is loaded with the one after that. True.
  template <int place>
  KOKKOS_INLINE_FUNCTION static bool advance(Solver& state, Step& now,
                                             Step& next) {
    const ScratchBytes& scratch = state.scratch;
    Scalar value[Work::entries];
    STRATA_IMPL_UNROLL
    for (int e = 0; e < Work::entries; ++e)
      value[e] = scratch.load_handed_over<Scalar>(rings_bytes + now.source[e]);
    const Scalar before = scratch.load<Scalar>(rings_bytes + now.out);
    // The copies are begun while the last product is under way: compilers would
    // begin them before the first, which they hold up. Lanes that share a row
    // have the exchange for that, later on.
    const Scalar sum = begin_sum(before, now.work, value);
    unsigned to = state.ring + place * stage_bytes;
    if constexpr (row_lanes == 1) {
      to |= word(sum) & state.zero;
    }
    copy_record(scratch, to, state.from, state.pitch, state.ahead > 0);
    state.from += state.stage;
    --state.ahead;
    state.next_step();
    decode(next);

    Scalar result = end_sum(sum, now.work, value);
    const bool works = !(now.work.out & record_idle);
    if (works) scratch.store(rings_bytes + now.out, result);
    if (fetches_apart && lane_any(NotReady<Scalar>::is_nan(result))) {
      result = wait_and_sum(scratch, now.work, before);
      if (works) scratch.store(rings_bytes + now.out, result);
    }
    if (now.work.out & record_publishes) {
      Scalar* const at = reinterpret_cast<Scalar*>(state.published + now.out);
      // A device's NaNs are all the same one; a host's may be an operand's.
      if constexpr (fetches_apart) {
        NotReady<Scalar>::publish_final(at, result);
      } else {
        NotReady<Scalar>::publish(at, result);
      }
    }
    copy_async_wait<ring_stages - 2>();
    now.work = load_record(
        scratch, state.ring + (place + 2) % ring_stages * stage_bytes);
    end_step();
    return true;
  }
};

/// Values of one record, scaled by its row's diagonal.
template <class Scalar, class MemorySpace>
struct PackSubgraphValues {
  PackedSubgraphs<MemorySpace> packed;
  const Scalar* values;
  Kokkos::View<const Scalar*, MemorySpace> diagonal;
  bool conjugated, divide;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t record) const {
    constexpr PackedRecord shape = PackedWork<Scalar>::shape;
    const int position = packed.record_row(record);
    if (position < 0) return;
    const Scalar by = diagonal(position);
    const int lane = packed.record_lane(record) & 31;
    const int lanes = 1 << (packed.record_lane(record) >> 5);
    unsigned char* const at =
        packed.bytes.data() + (record - lane) * shape.bytes + lane * 16;
    for (int e = 0; e < shape.entries; ++e) {
      const std::int64_t from = packed.value_index(record * shape.entries + e);
      if (from < 0) continue;
      const Scalar v = conjugated ? conjugate(values[from]) : values[from];
      const int byte = shape.value_at(e);
      // No product of what is here may look not ready.
      *reinterpret_cast<Scalar*>(at + byte / 16 * lanes * 16 + byte % 16) =
          NotReady<Scalar>::final(divide ? v / by : v * by);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
