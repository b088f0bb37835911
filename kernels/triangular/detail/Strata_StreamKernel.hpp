// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_STREAM_KERNEL_HPP
#define STRATA_STREAM_KERNEL_HPP

#include <Strata_SubgraphStream.hpp>
#include <detail/Strata_MultiVectorRef.hpp>
#include <detail/Strata_Pending.hpp>
#include <detail/Strata_PipelineState.hpp>

namespace Strata {
namespace Detail {

/// A record as a lane holds it.
template <class Scalar>
struct alignas(16) StreamWork {
  static constexpr StreamRecord shape{sizeof(Scalar)};
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
/// not. Those that are pending still are polled by the fetching warps, 64 at a
/// time, in the order of need. A solving lane learns that it took a pending
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
/// values like any other (see Pending).
///
/// Exports have two buffers: a solve publishes in one and resets the other, the
/// last team swaps them.
template <class Scalar, class ExecutionSpace, bool counts_in_scratch>
struct StreamSolve {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Work = StreamWork<Scalar>;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr bool fetches_apart = width > 1;
  /// Solving warps; a host's one thread does all.
  static constexpr int warps = fetches_apart ? max_stream_warps : 1;
  static constexpr int fetchers = fetches_apart ? 2 * width : 0;
  static constexpr int solvers = warps * width;
  static constexpr int team_size = solvers + fetchers;
  static constexpr int units = Work::shape.units();
  static constexpr int stage_bytes = Work::shape.bytes * width;
  /// Stages of a warp in scratch: the one in use, and the fetch ahead.
  static constexpr int ring_stages = fetches_apart ? 6 : 2;
  static constexpr int ring_bytes = ring_stages * stage_bytes;
  static constexpr int rings_bytes = warps * ring_bytes;
  static_assert(sizeof(Work) == Work::shape.bytes, "a record is as stored");

  const unsigned char* bytes;
  const StreamSubgraph* subgraph;
  const unsigned char* stage_lanes;
  const unsigned char* step_warps;
  const int* import;
  const unsigned* row;
  const Scalar* diagonal;  // reciprocals, or the diagonal itself if `divide`
  Scalar* exports;         // 2 * columns * num_exports
  unsigned* state;
  std::int64_t num_exports;
  int columns;         // right-hand sides of this launch
  int export_columns;  // for how many `exports` has room
  bool divide;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;

  /// Scratch: rings, scalars, steps and stages a byte each, room to align and
  /// to read ahead.
  static std::size_t scratch_bytes(int max_local, int max_counts) {
    return rings_bytes + 48 + std::size_t(max_local) * sizeof(Scalar) +
           max_counts;
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
        team.team_scratch(0).get_shmem(rings_bytes + 48));
    address = (address + 15) / 16 * 16;
    const ScratchBytes scratch(reinterpret_cast<void*>(address));
    const int rank = team.team_rank();
    const int warp = rank / width, lane = rank % width;
    Stages stages = {};
    if (rank < solvers) stages = start_ring(mine, warp, lane, scratch);

    const int imports = mine.imports, rows = mine.rows;
    const int* const list = import + mine.first_import;
    const unsigned first_row = local(1 + imports);
    for (int i = rank; i < imports; i += team_size) {
      Scalar value;
      for (int turn = 0;
           !Pending<Scalar>::read(current + list[i], value) && !fetches_apart;
           ++turn)
        pause_while_waiting(turn);
      scratch.store(local(1 + i), value);
    }
    for (int i = rank; i < rows; i += team_size) {
      const int position = mine.first_position + i;
      const Scalar from = b(row[position], column);
      const Scalar by = diagonal[position];
      // Nothing in scratch but outside values may look pending.
      scratch.store(first_row + i * unsigned(sizeof(Scalar)),
                    Pending<Scalar>::final(divide ? from / by : from * by));
    }
    for (int e = rank; e < mine.exports; e += team_size)
      Pending<Scalar>::reset(next + mine.first_export + e);
    if (rank == 0) scratch.store(local(0), Scalar(0));
    const unsigned counts = first_row + rows * unsigned(sizeof(Scalar));
    if (counts_in_scratch) copy_counts(mine, rank, scratch, counts);
    team.team_barrier();

    if (rank < solvers)
      solve(mine, warp, lane, scratch, stages, counts, first_row,
            current + mine.first_export);
    else
      fetch(rank - solvers, imports, list, scratch, current);
    team.team_barrier();
    for (int i = rank; i < rows; i += team_size)
      x(row[mine.first_position + i], column) =
          scratch.load<Scalar>(first_row + i * unsigned(sizeof(Scalar)));

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
  /// Byte of scalar number `i` in scratch.
  KOKKOS_INLINE_FUNCTION static unsigned local(int i) {
    return rings_bytes + unsigned(i) * unsigned(sizeof(Scalar));
  }
  struct alignas(16) Unit {
    std::uint64_t half[2];
  };
  /// Copies the lane's record of a stage of `lanes` lanes at `from`, if it has
  /// one, to its place in the ring. Every call makes one group.
  KOKKOS_INLINE_FUNCTION static void copy_record(const ScratchBytes& scratch,
                                                 unsigned to,
                                                 const unsigned char* from,
                                                 int lanes, int lane) {
    if (lane < lanes)
      for (int u = 0; u < units; ++u)
        scratch.copy_async_16(to + u * width * 16,
                              from + (u * lanes + lane) * 16);
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
  /// Numbers of a byte each, one after the other, in scratch or global memory.
  struct Bytes {
    ScratchBytes scratch;
    unsigned at;
    const unsigned char* global;
    KOKKOS_INLINE_FUNCTION unsigned next() {
      if constexpr (counts_in_scratch)
        return scratch.template load<unsigned char>(at++);
      else
        return *global++;
    }
  };
  KOKKOS_INLINE_FUNCTION void copy_counts(const StreamSubgraph& mine, int rank,
                                          const ScratchBytes& scratch,
                                          unsigned to) const {
    for (int k = rank; k < mine.steps; k += team_size)
      scratch.store(to + k, step_warps[mine.first_step + k]);
    to += mine.steps;
    for (int w = 0; w < warps; ++w) {
      for (int k = rank; k < mine.stages[w]; k += team_size)
        scratch.store(to + k, stage_lanes[mine.first_stage[w] + k]);
      to += mine.stages[w];
    }
  }

  /// What is left to fetch of a warp's stages.
  struct Stages {
    const unsigned char* from;  // the next stage
    unsigned coming;            // its lanes, if there is one
    int left;
    /// Lanes over 4 of the stages in the ring, four bits each, the oldest
    /// lowest.
    unsigned in_ring;

    /// Fetches the next stage, if there is one; the caller sets `coming`.
    KOKKOS_INLINE_FUNCTION void fetch(const ScratchBytes& scratch, unsigned to,
                                      int lane) {
      const unsigned count = left > 0 ? coming : 0;
      --left;
      copy_record(scratch, to, from, static_cast<int>(count), lane);
      from += count * unsigned(Work::shape.bytes);
      in_ring = in_ring >> 4 | (count + 3) / 4 << 4 * (ring_stages - 1);
    }
  };
  KOKKOS_INLINE_FUNCTION Stages start_ring(const StreamSubgraph& mine, int warp,
                                           int lane,
                                           const ScratchBytes& scratch) const {
    Stages stages;
    stages.from = bytes + mine.first_record[warp] * Work::shape.bytes;
    stages.left = mine.stages[warp];
    stages.in_ring = 0;
    const unsigned char* const lanes = stage_lanes + mine.first_stage[warp];
    const unsigned first = width > 1 ? lanes[lane] : 0;
    // What is in the place of an absent record is worked on, too, without
    // being stored: its sources must lie in scratch.
    for (int s = 0; s < ring_stages; ++s)
      for (int u = 0; u < units; ++u)
        scratch.store(
            warp * ring_bytes + s * stage_bytes + (u * width + lane) * 16,
            Unit{});
    for (int s = 0; s < ring_stages; ++s) {
      stages.coming = width > 1 ? lane_get(first, s) : lanes[s];
      stages.fetch(scratch, warp * ring_bytes + s * stage_bytes + lane * 16,
                   lane);
    }
    return stages;
  }

  /// The fetching warps: a lane brings values l, l + fetchers, ...
  KOKKOS_INLINE_FUNCTION static void fetch(int l, int imports, const int* list,
                                           const ScratchBytes& scratch,
                                           const Scalar* current) {
    constexpr int stride = fetchers > 0 ? fetchers : 1;
    int i = l, source = 0;
    const auto skip_known = [&]() {
      while (i < imports &&
             !Pending<Scalar>::is(scratch.load<Scalar>(local(1 + i))))
        i += stride;
      if (i < imports) source = list[i];
    };
    skip_known();
    for (int turn = 0; lane_any(i < imports); ++turn) {
      if (i < imports) {
        Scalar value;
        if (Pending<Scalar>::read(current + source, value)) {
          scratch.store(local(1 + i), value);
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
    unsigned lanes;  // over 4, of the stage
    unsigned source[Work::entries], out;
  };
  KOKKOS_INLINE_FUNCTION static void decode(Step& step) {
    STRATA_IMPL_UNROLL
    for (int e = 0; e < Work::entries; ++e) {
      step.source[e] = rings_bytes + step.work.source[e];
      compute_now(step.source[e]);
    }
    step.out = rings_bytes + (step.work.out & 0xfffcu);
    compute_now(step.out);
  }

  /// The result anew from sources that are all final.
  KOKKOS_FUNCTION static Scalar wait_and_sum(const ScratchBytes& scratch,
                                             const Step& step, Scalar sum) {
    for (int e = 0; e < Work::entries; ++e) {
      Scalar from;
      do {
        from = scratch.load<Scalar>(step.source[e]);
      } while (Pending<Scalar>::is(from));
      sum -= step.work.value[e] * from;
    }
    return sum;
  }

  /// What a solving warp keeps from step to step.
  struct Solver {
    ScratchBytes scratch;
    Stages stages;
    Bytes lanes, steps;  // of the stages to fetch, of the steps to come
    int lane;
    unsigned begin, end;  // of the lane's part of the ring
    unsigned here, two_on;  // the stage in use, the one after the next
    unsigned warp, active;  // warps of the present step
    int left;               // steps
    char* published;

    KOKKOS_INLINE_FUNCTION unsigned after(unsigned stage) const {
      return stage + stage_bytes == end ? begin : stage + stage_bytes;
    }
    KOKKOS_INLINE_FUNCTION void next_step() {
      --left;
      active = steps.next();
    }
  };

  KOKKOS_INLINE_FUNCTION void solve(const StreamSubgraph& mine, int warp,
                                    int lane, const ScratchBytes& scratch,
                                    const Stages& stages, unsigned counts,
                                    unsigned first_row,
                                    Scalar* published) const {
    unsigned lanes_at = counts + mine.steps + ring_stages;
    for (int w = 0; w < warp; ++w) lanes_at += mine.stages[w];
    Solver state{
        scratch,
        stages,
        {scratch, lanes_at, stage_lanes + mine.first_stage[warp] + ring_stages},
        {scratch, counts, step_warps + mine.first_step}};
    state.lane = lane;
    state.warp = warp;
    state.begin = warp * ring_bytes + lane * 16;
    state.end = state.begin + ring_bytes;
    state.here = state.begin;
    state.two_on = state.after(state.after(state.begin));
    state.active = state.steps.next();
    state.stages.coming = state.lanes.next();
    state.left = mine.steps;
    state.published = reinterpret_cast<char*>(published) - first_row;

    Step even, odd;
    copy_async_wait<ring_stages - 1>();
    even.work = load_record(scratch, state.begin);
    even.lanes = stages.in_ring & 15u;
    copy_async_wait<ring_stages - 2>();
    odd.work = load_record(scratch, state.after(state.begin));
    odd.lanes = stages.in_ring >> 4 & 15u;
    decode(even);
    // Two by turns, so that none is copied.
    while (find_work(state)) {
      advance(state, even, odd);
      if (!find_work(state)) break;
      advance(state, odd, even);
    }
    copy_async_wait<0>();
  }

  /// Between two steps of the sub-graph: what the solving warps stored is
  /// there for all of them.
  KOKKOS_INLINE_FUNCTION static void end_step() {
    if constexpr (fetches_apart) partial_team_barrier(solvers);
  }
  /// Passes the steps without work; false at the end.
  KOKKOS_INLINE_FUNCTION static bool find_work(Solver& state) {
    while (state.left > 0) {
      if (state.warp < state.active) return true;
      end_step();
      state.next_step();
    }
    return false;
  }

  /// Does the step `now`; `next`, the one after it, has been loaded but not
  /// decoded. On return `now` is loaded with the one after that.
  KOKKOS_INLINE_FUNCTION static void advance(Solver& state, Step& now,
                                             Step& next) {
    const ScratchBytes& scratch = state.scratch;
    Scalar value[Work::entries];
    STRATA_IMPL_UNROLL
    for (int e = 0; e < Work::entries; ++e)
      value[e] = scratch.load<Scalar>(now.source[e]);
    const Scalar before = scratch.load<Scalar>(now.out);
    // While those are on their way, all that does not depend on them.
    state.stages.fetch(scratch, state.here, state.lane);
    state.stages.coming = state.lanes.next();
    state.here = state.after(state.here);
    compute_now(state.here);
    decode(next);
    state.next_step();

    Scalar result = before;
    STRATA_IMPL_UNROLL
    for (int e = 0; e < Work::entries; ++e)
      result -= now.work.value[e] * value[e];
    const bool present = state.lane < int(4 * now.lanes);
    const bool works = present && !(now.work.out & record_idle);
    if (works) scratch.store(now.out, result);
    if (fetches_apart && lane_any(Pending<Scalar>::is_nan(result))) {
      result = wait_and_sum(scratch, now, before);
      if (works) scratch.store(now.out, result);
    }
    if (present && (now.work.out & record_publishes))
      Pending<Scalar>::publish_final(
          reinterpret_cast<Scalar*>(state.published + now.out), result);
    copy_async_wait<ring_stages - 2>();
    now.work = load_record(scratch, state.two_on);
    now.lanes = state.stages.in_ring >> 4 & 15u;
    state.two_on = state.after(state.two_on);
    end_step();
  }
};

/// Values of one stage, scaled by their rows' diagonals.
template <class Scalar, class MemorySpace>
struct PackStream {
  SubgraphStream<MemorySpace> stream;
  const Scalar* values;
  Kokkos::View<const Scalar*, MemorySpace> diagonal;
  bool conjugated, divide;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
    constexpr StreamRecord shape = StreamWork<Scalar>::shape;
    const std::int64_t stage = number / stream.width;
    const int lane = static_cast<int>(number % stream.width);
    const int lanes = stream.stage_lanes(stage);
    if (lane >= lanes) return;
    const std::int64_t record = stream.stage_first(stage) + lane;
    unsigned char* const at = stream.bytes.data() +
                              (record - lane) * shape.bytes + lane * 16;
    const auto byte = [&](int k) {
      return at + k / 16 * lanes * 16 + k % 16;
    };
    const unsigned out =
        *reinterpret_cast<const std::uint16_t*>(byte(shape.out_at()));
    if (out & record_idle) return;
    const StreamSubgraph& mine = stream.subgraph(stream.stage_subgraph(stage));
    const Scalar by =
        diagonal(mine.first_position +
                 static_cast<int>((out & 0xfffcu) / sizeof(Scalar)) - 1 -
                 mine.imports);
    for (int e = 0; e < shape.entries; ++e) {
      const std::int64_t from = stream.origin(record * shape.entries + e);
      if (from < 0) continue;
      const Scalar v = conjugated ? conjugate(values[from]) : values[from];
      // So that no solution can look pending.
      *reinterpret_cast<Scalar*>(byte(shape.value_at(e))) =
          Pending<Scalar>::final(divide ? v / by : v * by);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
