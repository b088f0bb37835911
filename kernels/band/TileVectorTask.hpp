// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_TILE_VECTOR_TASK_HPP
#define STRATA_KERNELS_BAND_TILE_VECTOR_TASK_HPP

#include <core/device/Atomics.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/NotReady.hpp>
#include <kernels/band/TileTask.hpp>

namespace Strata {
namespace Detail {

/// Runs the tasks of a solve for `width` right-hand sides at once, B rows each.
///
/// Results are published as not-ready values that become final (NotReady): a
/// value goes from team to team in one trip through the L2 cache. There are two
/// sets of results, used in turn; each launch makes the other one not ready
/// again. Thread r + B q of a team multiplies quarter q of row r of a tile,
/// which it reads before it waits for the vector.
///
/// Why it can't deadlock: see run_tickets. A task waits for elements of tasks
/// with smaller tickets only, each of which is published once.
///
/// Plan: as for RunTileTasks, and select(epoch), which chooses the set;
/// reset(where, element), which makes an element of the other set not ready.
template <class Scalar, class ExecutionSpace, int B, int width, class Plan>
struct RunVectorTasks {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr bool on_device = is_gpu<ExecutionSpace>;
  static constexpr int team_size = on_device ? 4 * B : 1;
  static constexpr int quarters = on_device ? 4 : 1;
  static constexpr int depth = B / quarters;
  static constexpr int size = B * width;
  static constexpr std::size_t scratch_bytes =
      (3 + quarters) * size * sizeof(Scalar) + 32;
  static_assert(scratch_bytes <= sure_scratch_bytes<ExecutionSpace>,
                "more than Kokkos gives a team");

  Plan plan;
  Kokkos::View<unsigned*, Memory> state;

  KOKKOS_INLINE_FUNCTION static Scalar wait(const Scalar* at) {
    Scalar value;
    for (int turn = 0; !NotReady<Scalar>::read(at, value); ++turn)
      pause_while_waiting(turn);
    return value;
  }

  /// The parts of a tile that a thread multiplies with.
  struct Part {
    Scalar element[on_device ? depth : 1];
    const Scalar* tile = nullptr;

    KOKKOS_INLINE_FUNCTION void load(const Scalar* from, int thread) {
      tile = from;
      if constexpr (on_device) {
        const Scalar* const at = from + thread / B * depth * B + thread % B;
        STRATA_IMPL_UNROLL
        for (int k = 0; k < depth; ++k) element[k] = at[k * B];
      }
    }
    /// sums += tile * vector; on a host, all B rows of them.
    KOKKOS_INLINE_FUNCTION void multiply(const Scalar* vector, int thread,
                                         Scalar* sums) const {
      if constexpr (on_device) {
        // In pairs, which one read brings.
        struct alignas(2 * sizeof(Scalar)) Pair {
          Scalar even, odd;
        };
        const Pair* const pairs =
            reinterpret_cast<const Pair*>(vector + thread / B * depth);
        STRATA_IMPL_UNROLL
        for (int n = 0; n < width; ++n) {
          Scalar even(0), odd(0);
          STRATA_IMPL_UNROLL
          for (int k = 0; k < depth; k += 2) {
            const Pair pair = pairs[(n * B + k) / 2];
            even += element[k] * pair.even;
            odd += element[k + 1] * pair.odd;
          }
          sums[n] += even + odd;
        }
      } else {
        (void)thread;
        for (int n = 0; n < width; ++n)
          for (int k = 0; k < B; ++k) {
            const Scalar factor = vector[n * B + k];
            for (int r = 0; r < B; ++r)
              sums[n * B + r] += tile[k * B + r] * factor;
          }
      }
    }
  };
  static constexpr int num_sums = on_device ? width : size;

  /// The sums of all threads in `partial`, for all to add up.
  KOKKOS_INLINE_FUNCTION static void collect(const Member& team,
                                             const Scalar* sums,
                                             Scalar* partial) {
    const int thread = team.team_rank();
    if constexpr (on_device) {
      STRATA_IMPL_UNROLL
      for (int n = 0; n < width; ++n)
        partial[thread / B * size + n * B + thread % B] = sums[n];
    } else {
      for (int e = 0; e < size; ++e) partial[e] = sums[e];
    }
    team.team_barrier();
  }
  KOKKOS_INLINE_FUNCTION static Scalar total(const Scalar* partial, int e) {
    Scalar sum = partial[e];
    for (int q = 1; q < quarters; ++q) sum += partial[q * size + e];
    return sum;
  }

  KOKKOS_INLINE_FUNCTION void execute(const Member& team, const Plan& now,
                                      std::int64_t ticket,
                                      Scalar* scratch) const {
    const typename Plan::Where where = now.where(ticket);
    const TileTask<Scalar> task = now.task(where);
    const int thread = team.team_rank();
    Scalar* const vectors = scratch;  // two, used in turn
    Scalar* const middle = scratch + 2 * size;
    Scalar* const partial = middle + size;
    constexpr int mine = (size + team_size - 1) / team_size;
    Scalar start[mine];
    for (int i = 0; i < mine; ++i) {
      const int e = thread + i * team_size, row = e % B, column = e / B;
      start[i] = Scalar(0);
      if (e >= size) continue;
      if (task.start_is_solved_for)
        start[i] = wait(task.start + e);
      else if (row < task.valid_rows && column < task.valid_columns)
        start[i] = task.start[row * task.start_row_stride +
                              column * task.start_column_stride];
      now.reset(where, e);
    }

    Scalar sums[num_sums];
    for (int n = 0; n < num_sums; ++n) sums[n] = Scalar(0);
    const bool finish = task.finish == TileFinish::multiply_left;
    Part part, next;
    TileTerm<Scalar> term{};
    if (task.terms > 0) {
      term = now.term(where, 0);
      part.load(term.a, thread);
    } else if (finish) {
      part.load(task.factor, thread);
    }
    for (int t = 0; t < task.terms; ++t) {
      const Scalar* const dependency = term.b;
      if (t + 1 < task.terms) {
        term = now.term(where, t + 1);
        next.load(term.a, thread);
      } else if (finish) {
        next.load(task.factor, thread);
      }
      Scalar* const vector = vectors + (t & 1) * size;
      for (int e = thread; e < size; e += team_size)
        vector[e] = wait(dependency + e);
      team.team_barrier();
      part.multiply(vector, thread, sums);
      part = next;
    }
    if (task.terms > 0) {
      collect(team, sums, partial);
      for (int i = 0; i < mine; ++i) {
        const int e = thread + i * team_size;
        if (e < size) start[i] -= total(partial, e);
      }
    }
    if (finish) {
      for (int i = 0; i < mine; ++i) {
        const int e = thread + i * team_size;
        if (e < size) middle[e] = start[i];
      }
      team.team_barrier();
      for (int n = 0; n < num_sums; ++n) sums[n] = Scalar(0);
      part.multiply(middle, thread, sums);
      collect(team, sums, partial);
      for (int i = 0; i < mine; ++i) {
        const int e = thread + i * team_size;
        if (e < size) start[i] = total(partial, e);
      }
    }
    for (int i = 0; i < mine; ++i) {
      const int e = thread + i * team_size, row = e % B, column = e / B;
      if (e >= size) continue;
      NotReady<Scalar>::publish(task.out + e, start[i]);
      if (task.copy && row < task.valid_rows && column < task.valid_columns)
        task.copy[row * task.copy_row_stride +
                  column * task.copy_column_stride] = start[i];
    }
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    Scalar* const scratch = aligned_scratch<Scalar>(team, scratch_bytes);
    const Plan now = plan.select(state(TaskState::epoch) + 1);
    run_tickets(team, state, plan.tasks(), [&](std::int64_t ticket, unsigned) {
      execute(team, now, ticket, scratch);
    });
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
