// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_STREAM_KERNEL_HPP
#define STRATA_STREAM_KERNEL_HPP

#include <Strata_SubgraphStream.hpp>
#include <detail/Strata_MultiVectorRef.hpp>
#include <detail/Strata_Pending.hpp>
#include <detail/Strata_PipelineState.hpp>

namespace Strata {
namespace Detail {

/// All sub-graphs in one launch. A team of two warps takes a sub-graph and a
/// right-hand side: one warp solves, the other fetches what the first will
/// need from other sub-graphs.
///
/// Scratch holds a zero, x of the sub-graph's rows (b at first), and the
/// outside values; the solving warp therefore reads nothing but scratch. Its
/// entries arrive there some stages early by asynchronous copies. The
/// fetching warp polls four outside values a lane at a time, in the order of
/// need, and tells by a counter in scratch how many have arrived without a gap.
/// A row that others need is published the moment it is known.
///
/// Why it can't deadlock, however few teams run at once: tickets are drawn in
/// the order of sub-graphs by teams that are already running. Edges never lead
/// to a smaller number, so a team waits only for rows of sub-graphs with
/// smaller tickets, all drawn; within a team, the solving warp waits for the
/// fetching one, which waits for nobody in its team. So of the unfinished
/// sub-graphs drawn, the smallest waits for none, finishes, and so on; teams
/// not yet scheduled hold no ticket and nobody waits for them. The two warps of
/// a team make progress independently of each other; a host has one thread a
/// team, which does both jobs in turn and then waits only for smaller tickets.
/// NaN and Inf are values like any other (see Pending).
///
/// Exports have two buffers: a solve publishes in one and resets the other, the
/// last team swaps them.
template <class Scalar, class ExecutionSpace>
struct StreamSolve {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr bool two_warps = width > 1;
  static constexpr int team_size = two_warps ? 2 * width : 1;
  /// Stages in scratch.
  static constexpr int ring_stages = 3;
  static constexpr int ring_bytes = ring_stages * stage_units * 16;
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
  bool divide;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;

  /// Scratch: ring, counter (padded to 16 bytes), scalars, room to align.
  static std::size_t scratch_bytes(int max_local) {
    return ring_bytes + 32 + std::size_t(max_local) * sizeof(Scalar);
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
        team.team_scratch(0).get_shmem(ring_bytes + 32));
    address = (address + 15) / 16 * 16;
    unsigned char* const ring =
        in_scratch(reinterpret_cast<unsigned char*>(address));
    volatile unsigned* const arrived =
        reinterpret_cast<volatile unsigned*>(ring + ring_bytes);
    Scalar* const local = reinterpret_cast<Scalar*>(ring + ring_bytes + 16);

    const int rank = team.team_rank();
    const int rows = mine.rows;
    if (rank < width) start_ring(mine, ring, rank);
    if (rank == 0) {
      *arrived = 0;
      local[0] = Scalar(0);
    }
    for (int i = rank; i < rows; i += team_size)
      local[1 + i] = b(row[mine.first_position + i], column);
    for (int e = rank; e < mine.exports; e += team_size)
      Pending<Scalar>::reset(next + mine.first_export + e);
    team.team_barrier();

    if (!two_warps) {
      solve(mine, ring, arrived, local, current, rank);
    } else if (rank < width) {
      solve(mine, ring, arrived, local, current, rank);
    } else {
      fetch(mine, arrived, local + 1 + rows, current, rank - width);
    }
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
  KOKKOS_INLINE_FUNCTION void copy_stage(const StreamSubgraph& mine, int stage,
                                         unsigned char* to, int lane) const {
    const int first = stage * stage_units;
    const int end =
        first + stage_units < mine.units ? first + stage_units : mine.units;
    const unsigned char* const from = bytes + 16 * (mine.first_unit + first);
    for (int u = lane; u < end - first; u += width)
      copy_async_16(to + 16 * u, from + 16 * u);
    copy_async_commit();
  }
  KOKKOS_INLINE_FUNCTION void start_ring(const StreamSubgraph& mine,
                                         unsigned char* ring, int lane) const {
    for (int stage = 0; stage < ring_stages; ++stage)
      copy_stage(mine, stage, ring + stage * stage_units * 16, lane);
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
#pragma unroll
      for (int f = 0; f < fetches; ++f)
        ready[f] = source[f] >= 0 && place[f] < horizon &&
                   Pending<Scalar>::read(current + source[f], value[f]);
      unsigned first = count;
#pragma unroll
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
      if (first != known) {
        known = first;
        if (lane == 0) *arrived = known;
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
    if constexpr (two_warps) {
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
    Scalar value[pass_steps];
    int source[pass_steps];
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
#pragma unroll
    for (int s = 0; s < pass_steps; ++s) {
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

  /// What the solving warp keeps from pass to pass.
  struct Solver {
    unsigned char* ring;
    volatile unsigned* arrived;
    Scalar* local;
    Scalar* current;  // the sub-graph's first export is exports[first_export]
    int first_export, stages;
    unsigned known;
    int slot, stage;
    Scalar sum;
  };

  KOKKOS_INLINE_FUNCTION void solve(const StreamSubgraph& mine,
                                    unsigned char* ring,
                                    volatile unsigned* arrived, Scalar* local,
                                    Scalar* current, int lane) const {
    Solver state{ring,        arrived, local, current, mine.first_export,
                 mine.stages, 0u,      0,     0,       Scalar(0)};
    copy_async_wait<ring_stages - 1>();
    lane_barrier();
    Work even, odd;
    load(ring, local, load_header(ring), 0, lane, even);
    // Two works by turns, so that none is copied.
    while (advance(mine, state, lane, even, odd) &&
           advance(mine, state, lane, odd, even)) {
    }
  }

  /// Does the pass `work` and loads the one after it; false after the last.
  KOKKOS_INLINE_FUNCTION bool advance(const StreamSubgraph& mine, Solver& state,
                                      int lane, const Work& work,
                                      Work& next) const {
    const StreamPass header = work.header;
    if (state.known < header.need())
      state.known = wait_for(mine, state.known, header.need(), state.arrived,
                             state.local, state.current);
    Scalar from[pass_steps];
#pragma unroll
    for (int s = 0; s < pass_steps; ++s) from[s] = state.local[work.source[s]];

    // While those are on their way: the pass after this one.
    const bool ends_stage = header.has(pass_ends_stage);
    if (!ends_stage)
      load(state.ring, state.local, work.following,
           work.at + 16 * header.size(), lane, next);

#pragma unroll
    for (int s = 0; s < pass_steps; ++s) state.sum += work.value[s] * from[s];
    if (header.has(pass_reads_exports))
      add_exports(work, state.ring, lane, state.current, state.sum);
    if (header.has(pass_finishes)) {
      const int log_lanes = header.log_lanes();
      const Scalar sum = lane_group_sum(state.sum, 1 << log_lanes);
      state.sum = Scalar(0);
      const int r = lane >> log_lanes;
      if (lane < header.active() && lane == (r << log_lanes)) {
        const Scalar left = work.right_hand_side - sum;
        const Scalar result =
            divide ? left / work.diagonal : left * work.diagonal;
        state.local[header.first_row() + r] = result;
        if (r < header.exported())
          Pending<Scalar>::publish(
              state.current + (state.first_export + header.first_export() + r),
              result);
      }
    }
    lane_barrier();
    if (ends_stage) {
      if (++state.stage == state.stages) return false;
      // The stage just left is free: bring a later one there.
      const int free = state.slot;
      state.slot = free + 1 == ring_stages ? 0 : free + 1;
      copy_async_wait<ring_stages - 2>();
      lane_barrier();
      copy_stage(mine, state.stage + ring_stages - 1,
                 state.ring + free * stage_units * 16, lane);
      const int at = state.slot * stage_units * 16;
      load(state.ring, state.local, load_header(state.ring + at), at, lane,
           next);
    }
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
    Scalar from[pass_steps];
    bool ready[pass_steps];
    int source[pass_steps];
    for (int s = 0; s < pass_steps; ++s) {
      source[s] = s < work.header.steps() ? index[s * active + lane] : -1;
      ready[s] =
          source[s] < 0 || Pending<Scalar>::read(current + source[s], from[s]);
    }
    for (int s = 0; s < pass_steps; ++s) {
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
