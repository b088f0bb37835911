// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_SOLVING_WARP_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_SOLVING_WARP_HPP

#include <core/device/Launch.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Scratch.hpp>
#include <core/device/Warp.hpp>
#include <cstring>
#include <kernels/triangular/sync_free_subgraphs/RecordRing.hpp>

namespace Strata {
namespace Detail {

/// What a solving warp does: the steps of a sub-graph, one after the other. See
/// SyncFreeSubgraphKernel, which runs them and says why they end.
template <class Scalar, class ExecutionSpace, int team_kind,
          bool steps_in_scratch>
struct SolvingWarp : RecordRing<Scalar, ExecutionSpace, team_kind> {
  using Base = RecordRing<Scalar, ExecutionSpace, team_kind>;
  using Base::fetches_apart, Base::row_lanes, Base::solvers, Base::stage_bytes,
      Base::ring_stages, Base::ring_bytes, Base::rings_bytes, Base::copy_record,
      Base::load_record, Base::packed_of;
  using typename Base::Work;

  /// A record with the places it names in scratch.
  struct Step {
    Work work;
    unsigned dependency[Work::entries], out;
  };
  KOKKOS_INLINE_FUNCTION static void decode(Step& step) {
    STRATA_IMPL_UNROLL
    for (int e = 0; e < Work::entries; ++e) {
      step.dependency[e] = step.work.dependency[e];
      compute_now(step.dependency[e]);
    }
    // Lanes that help with a row take 0 for what it was before (see `local`):
    // the one that stores the row may be ahead of them.
    step.out = row_lanes > 1 && (step.work.out & record_idle)
                   ? 0u
                   : step.work.out & 0xfffcu;
    compute_now(step.out);
  }

  /// The result anew from dependencies that are all final.
  STRATA_IMPL_NOINLINE KOKKOS_FUNCTION static Scalar wait_and_sum(
      ScratchBytes scratch, Work work, Scalar before) {
    Scalar from[Work::entries];
    for (int e = 0; e < Work::entries; ++e) do {
        from[e] =
            scratch.load_handed_over<Scalar>(rings_bytes + work.dependency[e]);
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
    int pitch, stage;           // bytes between packets, and between stages
    int ahead;                  // stages left to fetch, none for idle lanes
    unsigned steps_at;          // the next step's byte
    const unsigned char* steps;
    unsigned warp, active;  // warps of the present step, 0 at the end
    char* published;
    unsigned zero;  // which the compiler does not know

    KOKKOS_INLINE_FUNCTION void next_step() {
      if constexpr (steps_in_scratch) {
        active = scratch.template load<unsigned char>(steps_at++);
      } else {
        active = steps_at-- > 0 ? *steps++ : 0;
      }
    }
  };

  /// @param kernel has the packed `bytes` and `step_warps`
  /// @param steps where the steps' bytes are in scratch
  template <class Kernel>
  KOKKOS_INLINE_FUNCTION static void solve(const Kernel& kernel,
                                           const PackedSubgraph& mine, int warp,
                                           int lane,
                                           const ScratchBytes& scratch,
                                           unsigned steps, unsigned first_row,
                                           Scalar* published) {
    Solver state{scratch, 0, nullptr, 0, 0, 0, 0, nullptr, 0, 0, nullptr, 0};
    state.ring = warp * ring_bytes + lane * 16;
    state.pitch = mine.lanes * 16;
    state.stage = mine.lanes * Work::shape.bytes;
    state.from =
        packed_of(kernel, mine, warp, lane) + ring_stages * state.stage;
    state.ahead = lane < mine.lanes ? mine.stages[warp] - ring_stages : 0;
    state.steps_at = steps_in_scratch ? steps : mine.steps;
    state.steps = kernel.step_warps + mine.first_step;
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
      value[e] =
          scratch.load_handed_over<Scalar>(rings_bytes + now.dependency[e]);
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

}  // namespace Detail
}  // namespace Strata

#endif
