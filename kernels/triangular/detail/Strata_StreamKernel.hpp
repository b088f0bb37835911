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
/// entries arrive there `stream_ahead` passes early by asynchronous copies. The
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
  static constexpr int ring_slots = stream_ahead + 1;
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
  int slot_bytes;      // of the largest pass
  bool divide;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;

  /// Scratch: ring, counter (padded to 16 bytes), scalars.
  static std::size_t scratch_bytes(int largest_pass, int max_local) {
    return std::size_t(ring_slots) * largest_pass * 16 + 32 +
           std::size_t(max_local) * sizeof(Scalar);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    unsigned ticket = 0;
    Kokkos::single(
        Kokkos::PerTeam(team),
        [&](unsigned& t) {
          t = Kokkos::atomic_fetch_add(&state[PipelineState::ticket], 1u);
        },
        ticket);
    const unsigned parity = state[PipelineState::epoch] & 1u;
    const int column = static_cast<int>(ticket % columns);
    const StreamSubgraph& mine = subgraph[ticket / columns];
    const std::int64_t half = num_exports * export_columns;
    Scalar* const current =
        exports + (parity ? half : 0) + column * num_exports;
    Scalar* const next = exports + (parity ? 0 : half) + column * num_exports;

    auto address = reinterpret_cast<std::uintptr_t>(
        team.team_scratch(0).get_shmem(ring_bytes() + 32));
    address = (address + 15) / 16 * 16;
    unsigned char* const ring = reinterpret_cast<unsigned char*>(address);
    volatile unsigned* const arrived =
        reinterpret_cast<volatile unsigned*>(ring + ring_bytes());
    Scalar* const local = reinterpret_cast<Scalar*>(ring + ring_bytes() + 16);

    const int rank = team.team_rank();
    const int rows = mine.rows;
    if (rank < width) start_ring(mine, ring, rank);
    if (rank == 0) {
      *arrived = 0;
      local[0] = Scalar(0);
    }
    for (int i = rank; i < rows; i += team_size)
      local[1 + i] = b(row[mine.first_position + i], column);
    team.team_barrier();

    if (!two_warps) {
      solve(mine, ring, arrived, local, current, next, rank);
    } else if (rank < width) {
      solve(mine, ring, arrived, local, current, next, rank);
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
        state[PipelineState::epoch] += 1;
      }
    });
  }

 private:
  KOKKOS_INLINE_FUNCTION int ring_bytes() const {
    return ring_slots * slot_bytes;
  }

  /// Copies `units` of the stream into a ring slot, a commit group of its own.
  KOKKOS_INLINE_FUNCTION void copy_pass(std::int64_t unit, int units,
                                        unsigned char* slot, int lane) const {
    for (int u = lane; u < units; u += width)
      copy_async_16(slot + 16 * u, bytes + 16 * (unit + u));
    copy_async_commit();
  }
  KOKKOS_INLINE_FUNCTION void start_ring(const StreamSubgraph& mine,
                                         unsigned char* ring, int lane) const {
    std::int64_t unit = mine.first_unit;
    for (int a = 0; a < stream_ahead; ++a) {
      copy_pass(unit, mine.first_sizes[a], ring + a * slot_bytes, lane);
      unit += mine.first_sizes[a];
    }
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
      Scalar value[fetches];
      bool ready[fetches];
      for (int f = 0; f < fetches; ++f)
        ready[f] = source[f] >= 0 &&
                   Pending<Scalar>::read(current + source[f], value[f]);
      unsigned first = count;
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

  KOKKOS_INLINE_FUNCTION void wait_for(unsigned need,
                                       volatile unsigned* arrived) const {
    while (*arrived < need) {
    }
    team_fence();
  }

  KOKKOS_INLINE_FUNCTION void solve(const StreamSubgraph& mine,
                                    unsigned char* ring,
                                    volatile unsigned* arrived, Scalar* local,
                                    Scalar* current, Scalar* next,
                                    int lane) const {
    std::int64_t unit = mine.first_unit;
    for (int a = 0; a < stream_ahead; ++a) unit += mine.first_sizes[a];
    int size = mine.first_sizes[stream_ahead];
    int slot = 0, ahead = stream_ahead;
    unsigned known = 0;
    Scalar sum(0);
    for (int pass = 0; pass < mine.passes; ++pass) {
      copy_pass(unit, size, ring + ahead * slot_bytes, lane);
      unit += size;
      copy_async_wait<stream_ahead>();
      lane_barrier();
      const unsigned char* const at = ring + slot * slot_bytes;
      const StreamPass header = *reinterpret_cast<const StreamPass*>(at);
      size = header.size_ahead;
      slot = slot + 1 == ring_slots ? 0 : slot + 1;
      ahead = ahead + 1 == ring_slots ? 0 : ahead + 1;

      if (known < header.need) {
        if (two_warps) {
          wait_for(header.need, arrived);
          known = *arrived;
        } else {
          for (; known < header.need; ++known)
            for (int turn = 0; !Pending<Scalar>::read(
                     current + external[mine.first_external + known],
                     local[1 + mine.rows + known]);
                 ++turn)
              pause_while_waiting(turn);
        }
      }
      const int active = header.rows << header.log_lanes;
      const Scalar* const diagonal =
          reinterpret_cast<const Scalar*>(at + sizeof(StreamPass));
      const Scalar* const value = diagonal + header.rows;
      const void* const index = value + header.steps * active;
      if (lane < active) {
        if (header.flags & pass_reads_exports)
          add_exports(static_cast<const int*>(index), value, header.steps,
                      active, lane, current, sum);
        else
          for (int s = 0; s < header.steps; ++s) {
            const int k = s * active + lane;
            sum +=
                value[k] * local[static_cast<const std::uint16_t*>(index)[k]];
          }
      }
      if (header.flags & pass_finishes) {
        sum = lane_group_sum(sum, 1 << header.log_lanes);
        const int r = lane >> header.log_lanes;
        if (r < header.rows && lane == (r << header.log_lanes)) {
          const int i = 1 + header.first_row + r;
          const Scalar left = local[i] - sum;
          const Scalar result =
              divide ? left / diagonal[r] : left * diagonal[r];
          local[i] = result;
          if (header.export_mask >> r & 1u) {
            const std::int64_t e = mine.first_export + header.first_export +
                                   bits_below(header.export_mask, r);
            Pending<Scalar>::publish(current + e, result);
            Pending<Scalar>::reset(next + e);
          }
        }
        sum = Scalar(0);
      }
      lane_barrier();
    }
  }

  /// A long row's entries, read where their sources are published.
  KOKKOS_INLINE_FUNCTION void add_exports(const int* index, const Scalar* value,
                                          int steps, int active, int lane,
                                          const Scalar* current,
                                          Scalar& sum) const {
    for (int s = 0; s < steps; ++s) {
      const int source = index[s * active + lane];
      if (source < 0) continue;
      Scalar from;
      for (int turn = 0; !Pending<Scalar>::read(current + source, from); ++turn)
        pause_while_waiting(turn);
      sum += value[s * active + lane] * from;
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
    Scalar* const to = reinterpret_cast<Scalar*>(at + sizeof(StreamPass));
    for (int r = lane; r < header.rows; r += lanes)
      to[r] = diagonal(origin.first_position + r);
    const int count = (header.rows << header.log_lanes) * header.steps;
    for (int k = lane; k < count; k += lanes) {
      const std::int64_t from = stream.origin(origin.first_slot + k);
      const Scalar v = from < 0 ? Scalar(0) : values[from];
      to[header.rows + k] = conjugated ? conjugate(v) : v;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
