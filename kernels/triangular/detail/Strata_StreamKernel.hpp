// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_STREAM_KERNEL_HPP
#define STRATA_STREAM_KERNEL_HPP

#include <Strata_SubgraphStream.hpp>
#include <detail/Strata_MultiVectorRef.hpp>
#include <detail/Strata_Pending.hpp>
#include <detail/Strata_PipelineState.hpp>

namespace Strata {
namespace Detail {

/// All sub-graphs in one launch. A team takes a sub-graph and a right-hand
/// side: some warps solve, with a barrier between level sets, one fetches what
/// they will need from other sub-graphs.
///
/// Scratch holds a zero, x of the sub-graph's rows (b at first), and the
/// outside values; the solving warps therefore read nothing but scratch. Their
/// entries arrive there some stages early by asynchronous copies. The
/// fetching warp polls four outside values a lane at a time, in the order of
/// need, and tells by a counter in scratch how many have arrived without a gap.
/// A row that others need is published the moment it is known.
///
/// Why it can't deadlock, however few teams run at once: tickets are drawn in
/// the order of sub-graphs by teams that are already running. Edges never lead
/// to a smaller number, so a team waits only for rows of sub-graphs with
/// smaller tickets, all drawn; within a team, the solving warps wait for the
/// fetching one, which waits for nobody in its team, and for each other at
/// barriers that all of them reach equally often. So of the unfinished
/// sub-graphs drawn, the smallest waits for none, finishes, and so on; teams
/// not yet scheduled hold no ticket and nobody waits for them. The warps of
/// a team make progress independently of each other; a host has one thread a
/// team, which does both jobs in turn and then waits only for smaller tickets.
/// NaN and Inf are values like any other (see Pending).
///
/// Exports have two buffers: a solve publishes in one and resets the other, the
/// last team swaps them.
template <class Scalar, class ExecutionSpace, bool divide>
struct StreamSolve {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int width = lane_width<ExecutionSpace>;
  /// Solving warps; a host's one thread does all.
  static constexpr int warps = width > 1 ? max_solving_warps : 1;
  static constexpr bool fetches_apart = width > 1;
  static constexpr int solvers = warps * width;
  static constexpr int team_size = solvers + (fetches_apart ? width : 0);
  static constexpr int max_steps = pass_steps(sizeof(Scalar));
  /// Stages in scratch.
  static constexpr int ring_stages = 2;
  static constexpr int ring_bytes = ring_stages * stage_units * 16;
  static constexpr int rings_bytes = warps * ring_bytes;
  /// Outside values a lane polls at once.
  static constexpr int fetches = 4;

  const unsigned char* bytes;
  const StreamSubgraph* subgraph;
  const int* external;
  const unsigned* row;
  Scalar* exports;  // 2 * columns * num_exports
  unsigned* state;
  std::int64_t num_exports;
  int columns;         // right-hand sides of this launch
  int export_columns;  // for how many `exports` has room
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;

  /// Scratch: rings, counter (padded to 16 bytes), scalars, room to align.
  static std::size_t scratch_bytes(int max_local) {
    return rings_bytes + 32 + std::size_t(max_local) * sizeof(Scalar);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    unsigned ticket = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](unsigned& t) {
          t = Kokkos::atomic_fetch_add(&state[PipelineState::ticket], 1u);
        },
        ticket);
    const int column = static_cast<int>(ticket % columns);
    const unsigned parity = state[PipelineState::size + column] & 1u;
    const StreamSubgraph& mine = subgraph[ticket / columns];
    const std::int64_t half = num_exports * export_columns;
    Scalar* const current =
        exports + (parity ? half : 0) + column * num_exports;
    Scalar* const next = exports + (parity ? 0 : half) + column * num_exports;

    auto address = reinterpret_cast<std::uintptr_t>(
        team.team_scratch(0).get_shmem(rings_bytes + 32));
    address = (address + 15) / 16 * 16;
    unsigned char* const ring =
        in_scratch(reinterpret_cast<unsigned char*>(address));
    volatile unsigned* const arrived =
        reinterpret_cast<volatile unsigned*>(ring + rings_bytes);
    Scalar* const local = reinterpret_cast<Scalar*>(ring + rings_bytes + 16);

    const int rank = team.team_rank();
    const int rows = mine.rows;
    const int warp = rank / width, lane = rank % width;
    if (rank < solvers) start_ring(mine, warp, ring + warp * ring_bytes, lane);
    if (rank == 0) {
      *arrived = 0;
      local[0] = Scalar(0);
    }
    for (int i = rank; i < rows; i += team_size)
      local[1 + i] = b(row[mine.first_position + i], column);
    for (int e = rank; e < mine.exports; e += team_size)
      Pending<Scalar>::reset(next + mine.first_export + e);
    team.team_barrier();

    if (rank < solvers)
      solve(mine, warp, ring + warp * ring_bytes, arrived, local, current,
            lane);
    else
      fetch(mine, arrived, local + 1 + rows, current, lane);
    team.team_barrier();
    for (int i = rank; i < rows; i += team_size)
      x(row[mine.first_position + i], column) = local[1 + i];

    Kokkos::single(Kokkos::PerTeam(team), [&]() {
      const unsigned done =
          Kokkos::atomic_fetch_add(&state[PipelineState::finished], 1u);
      if (done + 1 == static_cast<unsigned>(team.league_size())) {
        state[PipelineState::ticket] = 0;
        state[PipelineState::finished] = 0;
        // Columns that this launch did not use keep their buffers.
        for (int c = 0; c < columns; ++c) state[PipelineState::size + c] += 1;
      }
    });
  }

 private:
  /// Copies a stage of the stream into its place in the ring; empty beyond the
  /// last, so that every call makes one group.
  KOKKOS_INLINE_FUNCTION void copy_stage(std::int64_t first_unit, int units,
                                         int stage, unsigned char* to,
                                         int lane) const {
    const int first = stage * stage_units;
    const int end = first + stage_units < units ? first + stage_units : units;
    const unsigned char* const from = bytes + 16 * (first_unit + first);
    for (int u = lane; u < end - first; u += width)
      copy_async_16(to + 16 * u, from + 16 * u);
    copy_async_commit();
  }
  KOKKOS_INLINE_FUNCTION void start_ring(const StreamSubgraph& mine, int warp,
                                         unsigned char* ring, int lane) const {
    for (int stage = 0; stage < ring_stages; ++stage)
      copy_stage(mine.first_unit[warp], mine.units[warp], stage,
                 ring + stage * stage_units * 16, lane);
  }

  /// The fetching warp. Lane l brings values l, l + 32 * fetches, ... of each
  /// of its `fetches` sequences.
  KOKKOS_INLINE_FUNCTION void fetch(const StreamSubgraph& mine,
                                    volatile unsigned* arrived, Scalar* to,
                                    const Scalar* current, int lane) const {
    const unsigned count = static_cast<unsigned>(mine.externals);
    const int* const list = external + mine.first_external;
    constexpr unsigned stride = width * fetches;
    unsigned place[fetches];
    int source[fetches];
    for (int f = 0; f < fetches; ++f) {
      place[f] = f * width + lane;
      source[f] = place[f] < count ? list[place[f]] : -1;
    }
    unsigned known = 0;
    for (int turn = 0; known < count;) {
      // While nothing moves, only the next few are polled: lanes that ask for
      // values of the far future slow down the one that matters.
      const unsigned horizon = known + (turn == 0 ? stride : width);
      Scalar value[fetches];
      bool ready[fetches];
      STRATA_IMPL_UNROLL
      for (int f = 0; f < fetches; ++f)
        ready[f] = source[f] >= 0 && place[f] < horizon &&
                   Pending<Scalar>::read(current + source[f], value[f]);
      unsigned first = count;
      STRATA_IMPL_UNROLL
      for (int f = 0; f < fetches; ++f) {
        if (ready[f]) {
          to[place[f]] = value[f];
          place[f] += stride;
          source[f] = place[f] < count ? list[place[f]] : -1;
        }
        first = place[f] < first ? place[f] : first;
      }
      team_fence();
      first = lane_min(first);
      lane_barrier();
      if (first != known) {
        known = first;
        if (lane == 0) {
          team_fence();
          *arrived = known;
        }
        turn = 0;
      } else {
        pause_while_waiting(turn++);
      }
    }
  }

  /// Waits until `need` outside values are in scratch; returns how many are.
  KOKKOS_INLINE_FUNCTION unsigned wait_for(const StreamSubgraph& mine,
                                           unsigned known, unsigned need,
                                           volatile unsigned* arrived,
                                           Scalar* local,
                                           const Scalar* current) const {
    if constexpr (fetches_apart) {
      do {
        known = *arrived;
      } while (known < need);
      team_fence();
    } else {
      for (; known < need; ++known)
        for (int turn = 0; !Pending<Scalar>::read(
                 current + external[mine.first_external + known],
                 local[1 + mine.rows + known]);
             ++turn)
          pause_while_waiting(turn);
    }
    return known;
  }

  /// A pass as the lanes hold it: its header, and the lane's own part.
  struct Work {
    StreamPass header;
    StreamPass following;  // header of the next pass of the stage
    int at;                // bytes from the start of the ring
    Scalar value[max_steps];
    int source[max_steps];
    Scalar diagonal, right_hand_side;
  };

  KOKKOS_INLINE_FUNCTION static StreamPass load_header(
      const unsigned char* at) {
    struct alignas(16) Units {
      unsigned word[4];
    };
    const Units units = *reinterpret_cast<const Units*>(at);
    return StreamPass{units.word[0], units.word[1], units.word[2],
                      units.word[3]};
  }

  /// Loads what does not have to be waited for. The header is known already,
  /// so that nothing here depends on anything else here.
  KOKKOS_INLINE_FUNCTION static void load(const unsigned char* ring,
                                          const Scalar* local,
                                          const StreamPass& header, int at,
                                          int lane, Work& work) {
    work.header = header;
    work.at = at;
    if (!header.has(pass_ends_stage))
      work.following = load_header(ring + at + 16 * header.size());
    const int active = header.active();
    const Scalar* const value =
        reinterpret_cast<const Scalar*>(ring + at + sizeof(StreamPass)) + lane;
    const std::uint16_t* const source =
        reinterpret_cast<const std::uint16_t*>(ring + at +
                                               header.source_offset()) +
        lane;
    const bool in = lane < active && !header.has(pass_reads_exports);
    const int steps = header.steps();
    STRATA_IMPL_UNROLL
    for (int s = 0; s < max_steps; ++s) {
      const bool use = in && s < steps;
      work.value[s] = use ? value[s * active] : Scalar(0);
      work.source[s] = use ? source[s * active] : 0;
    }
    const int r = lane >> header.log_lanes();
    if (lane < active) {
      work.diagonal = reinterpret_cast<const Scalar*>(
          ring + at + header.diagonal_offset())[r];
      work.right_hand_side = local[header.first_row() + r];
    }
  }

  /// What a solving warp keeps from pass to pass.
  struct Solver {
    unsigned char* ring;
    volatile unsigned* arrived;
    Scalar* local;
    Scalar* exports;  // the sub-graph's first
    Scalar* current;
    std::int64_t first_unit;
    int units;
    unsigned known;
    int slot, stage, level;
    Scalar sum;
  };

  KOKKOS_INLINE_FUNCTION void solve(const StreamSubgraph& mine, int warp,
                                    unsigned char* ring,
                                    volatile unsigned* arrived, Scalar* local,
                                    Scalar* current, int lane) const {
    Solver state{ring,
                 arrived,
                 local,
                 current + mine.first_export,
                 current,
                 mine.first_unit[warp],
                 mine.units[warp],
                 0u,
                 0,
                 0,
                 1,
                 Scalar(0)};
    if (state.units > 0) {
      copy_async_wait<ring_stages - 1>();
      lane_barrier();
      Work even, odd;
      load(ring, local, load_header(ring), 0, lane, even);
      // Two works by turns, so that none is copied.
      while (advance(mine, state, lane, even, odd) &&
             advance(mine, state, lane, odd, even)) {
      }
    }
    if constexpr (warps > 1)
      for (; state.level < mine.levels; ++state.level) level_barrier();
  }

  /// Between two level sets of the sub-graph: what the solving warps stored is
  /// there for all of them.
  KOKKOS_INLINE_FUNCTION static void level_barrier() {
    if constexpr (warps > 1) partial_team_barrier(solvers);
  }

  /// Does the pass `work` and loads the one after it; false after the last.
  KOKKOS_INLINE_FUNCTION bool advance(const StreamSubgraph& mine, Solver& state,
                                      int lane, const Work& work,
                                      Work& next) const {
    const StreamPass header = work.header;
    if constexpr (warps > 1) {
      for (int l = header.levels_passed(); l > 0; --l) level_barrier();
      state.level += header.levels_passed();
    }
    if (state.known < header.need())
      state.known = wait_for(mine, state.known, header.need(), state.arrived,
                             state.local, state.current);
    Scalar from[max_steps];
    STRATA_IMPL_UNROLL
    for (int s = 0; s < max_steps; ++s) from[s] = state.local[work.source[s]];

    // While those are on their way: the pass after this one.
    const bool ends_stage = header.has(pass_ends_stage);
    if (!ends_stage)
      load(state.ring, state.local, work.following,
           work.at + 16 * header.size(), lane, next);

    STRATA_IMPL_UNROLL
    for (int s = 0; s < max_steps; ++s) state.sum += work.value[s] * from[s];
    if (header.has(pass_reads_exports))
      add_exports(work, state.ring, lane, state.current, state.sum);
    const int log_lanes = header.log_lanes();
    const Scalar sum = lane_group_sum_by_four(state.sum, 1 << log_lanes);
    const bool finishes = header.has(pass_finishes);
    if (finishes) state.sum = Scalar(0);
    // The lanes of a row hold the same bits and store them to one place.
    const Scalar left = work.right_hand_side - sum;
    const Scalar result = divide ? left / work.diagonal : left * work.diagonal;
    const int r = lane >> log_lanes;
    if (finishes && lane < header.active())
      state.local[header.first_row() + r] = result;
    if (r < header.exported() && lane == (r << log_lanes))
      Pending<Scalar>::publish(state.exports + header.first_export() + r,
                               result);
    lane_barrier();
    if (ends_stage) return next_stage(state, lane, next);
    return true;
  }

  /// Goes to the next stage, if there is one, and lets a later one take the
  /// place of the stage just left.
  KOKKOS_INLINE_FUNCTION bool next_stage(Solver& state, int lane,
                                         Work& next) const {
    if (++state.stage * stage_units >= state.units) return false;
    const int free = state.slot;
    state.slot = free + 1 == ring_stages ? 0 : free + 1;
    copy_async_wait<ring_stages - 2>();
    lane_barrier();
    copy_stage(state.first_unit, state.units, state.stage + ring_stages - 1,
               state.ring + free * stage_units * 16, lane);
    const int at = state.slot * stage_units * 16;
    load(state.ring, state.local, load_header(state.ring + at), at, lane, next);
    return true;
  }

  /// A long row's entries, read where their sources are published.
  KOKKOS_INLINE_FUNCTION void add_exports(const Work& work,
                                          const unsigned char* ring, int lane,
                                          const Scalar* current,
                                          Scalar& sum) const {
    const int active = work.header.active();
    if (lane >= active) return;
    const int* const index = reinterpret_cast<const int*>(
        ring + work.at + work.header.source_offset());
    const Scalar* const value =
        reinterpret_cast<const Scalar*>(ring + work.at + sizeof(StreamPass));
    Scalar from[max_steps];
    bool ready[max_steps];
    int source[max_steps];
    for (int s = 0; s < max_steps; ++s) {
      source[s] = s < work.header.steps() ? index[s * active + lane] : -1;
      ready[s] =
          source[s] < 0 || Pending<Scalar>::read(current + source[s], from[s]);
    }
    for (int s = 0; s < max_steps; ++s) {
      if (source[s] < 0) continue;
      for (int turn = 0; !ready[s]; ++turn) {
        pause_while_waiting(turn);
        ready[s] = Pending<Scalar>::read(current + source[s], from[s]);
      }
      sum += value[s * active + lane] * from[s];
    }
  }
};

/// Values and diagonals of one pass, put where the stream has room for them.
template <class Scalar, class MemorySpace>
struct PackStream {
  SubgraphStream<MemorySpace> stream;
  const Scalar* values;
  Kokkos::View<const Scalar*, MemorySpace> diagonal;
  bool conjugated;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t pass, int lane,
                                         int lanes) const {
    const PassOrigin origin = stream.pass(pass);
    unsigned char* const at = stream.bytes.data() + 16 * origin.first_unit;
    const StreamPass header = *reinterpret_cast<const StreamPass*>(at);
    Scalar* const value = reinterpret_cast<Scalar*>(at + sizeof(StreamPass));
    Scalar* const to = reinterpret_cast<Scalar*>(at + header.diagonal_offset());
    const int rows = header.active() >> header.log_lanes();
    for (int r = lane; r < rows; r += lanes)
      to[r] = diagonal(origin.first_position + r);
    const int count = header.active() * header.steps();
    for (int k = lane; k < count; k += lanes) {
      const std::int64_t from = stream.origin(origin.first_slot + k);
      const Scalar v = from < 0 ? Scalar(0) : values[from];
      value[k] = conjugated ? conjugate(v) : v;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
