// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FACTOR_ROWS_HPP
#define STRATA_KERNELS_FACTORIZATION_FACTOR_ROWS_HPP

#include <core/device/Launch.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/CrsArrays.hpp>

namespace Strata {
namespace Detail {

/// The arrays of a matrix and of its factors, which have the patterns of its
/// triangles: L with its ones last in each row, U with its diagonal first.
template <class Scalar>
struct EliminationArrays {
  CrsArrays<Scalar> A;
  IndexArray l_row_map, u_row_map, u_entries;
  Scalar *l_values, *u_values;
};

/// Which rows a warp eliminates together.
struct EliminationTasks {
  const int* row = nullptr;         // by place in the order
  const int* task_start = nullptr;  // task -> first place; one more at the end
  int num_tasks = 0, rows = 1;      // of a task, at the most
  int log_lanes = 0;                // of a row
};

/// Zero-fill incomplete elimination in one launch: row i of A, less l_ik times
/// row k of U for each entry k of its lower part, columns ascending. (The IKJ
/// form of Saad, Iterative Methods for Sparse Linear Systems, Algorithm 10.4.)
///
/// Teams draw tickets until there are none left; a ticket stands for a task of
/// each of its warps. A task's rows are of one level set of L, a group of lanes
/// each. Before it waits for row k a lane looks up where in its own row the
/// entries of row k go. Values of U are their own flags (see NotReady): lanes
/// ask for the pivot and for the value they need together, until both are
/// there.
///
/// Why it can't deadlock, however few teams run at once. A ticket is drawn by a
/// team that runs, and the counter hands tickets out in order. Consider the
/// first task, in the order of tickets and of warps, that is not finished. If
/// it has not been drawn, some team has finished all it had and draws it. The
/// team that has it works on it, as its warps meet between tickets only. Its
/// rows wait for rows of earlier level sets, which are in earlier tasks and so
/// finished; and this one is finished, too, and so on. Each entry of U is
/// published exactly once, whatever its value: only the reserved bits mean "not
/// ready".
///
/// Cost: for each pair of a row i and an entry k of its lower part, a search in
/// row i for each entry of row k of U.
template <class Scalar, class ExecutionSpace>
struct FactorRows {
  using Value = NotReady<Scalar>;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int team_size = 128;
  static constexpr int warps = team_size / width;
  /// Teams of a multiprocessor that registers suffice for.
  static constexpr int most_teams_per_multiprocessor = 8;
  /// Looks at values that are not ready before lanes leave the execution units
  /// to others.
  static constexpr int eager_turns = 32;

  EliminationArrays<Scalar> arrays;
  EliminationTasks tasks;
  unsigned* drawn;  // tickets; 0 at the start
  /// Rows with at most `capacity` entries are worked on in scratch, others in
  /// `work`, which is as long as A.
  Scalar* work;
  int capacity;

  /// Kokkos aligns scratch to 8 bytes, which is not enough for all scalars.
  static constexpr bool aligns = alignof(Scalar) > 8;
  static constexpr std::size_t slack = aligns ? alignof(Scalar) : 0;

  KOKKOS_INLINE_FUNCTION std::size_t scratch_bytes() const {
    return sizeof(Scalar) * static_cast<std::size_t>(capacity) * warps *
               (width >> tasks.log_lanes) +
           slack;
  }
  KOKKOS_INLINE_FUNCTION unsigned num_tickets() const {
    return (static_cast<unsigned>(tasks.num_tasks) + warps - 1) / warps;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int warp = team.team_rank() / width, lane = team.team_rank() % width;
    Scalar* scratch = nullptr;
    if (capacity > 0)
      scratch = aligned(team.team_scratch(0).get_shmem(scratch_bytes())) +
                static_cast<std::size_t>(warp) * capacity *
                    (width >> tasks.log_lanes);
    for (;;) {
      int drawn_here = 0;
      if (team.team_rank() == 0)
        drawn_here = static_cast<int>(Kokkos::atomic_fetch_add(drawn, 1u));
      const auto ticket =
          static_cast<unsigned>(team_broadcast(team, drawn_here));
      if (ticket >= num_tickets()) return;
      // Unsigned: the last ticket may stand for numbers from 2^31 on.
      const unsigned task = ticket * warps + warp;
      if (task < static_cast<unsigned>(tasks.num_tasks))
        eliminate_task(static_cast<int>(task), lane, scratch);
    }
  }

 private:
  /// The row of a lane's group.
  struct Row {
    std::int64_t begin, own_l, own_u;  // in A, L and U
    int length, lower;                 // entries; those left of the diagonal
    int lane, lanes;                   // in the group, and of it
    Scalar* value;                     // entries as far as they are eliminated
  };
  /// A row of U that is to be subtracted, and this lane's first entry of it.
  struct Pivot {
    std::int64_t begin = -1, end = -1;  // in U; -1: none
    std::int64_t entry = -1;
    int place = -1;  // in the own row; -1: there is no such column
  };

  KOKKOS_INLINE_FUNCTION static Scalar* aligned(void* scratch) {
    if constexpr (aligns) {
      const auto address = reinterpret_cast<std::uintptr_t>(scratch);
      return reinterpret_cast<Scalar*>((address + slack - 1) / slack * slack);
    } else {
      return static_cast<Scalar*>(scratch);
    }
  }

  KOKKOS_INLINE_FUNCTION void eliminate_task(int task, int lane,
                                             Scalar* scratch) const {
    const int first = tasks.task_start[task];
    const int lanes = 1 << tasks.log_lanes, group = lane >> tasks.log_lanes;
    Row own{0, 0, 0, 0, 0, lane & (lanes - 1), lanes, nullptr};
    if (group < tasks.task_start[task + 1] - first)
      own = row_at(first + group, own.lane, lanes,
                   scratch ? scratch + group * capacity : nullptr);
    eliminate(own);
  }
  KOKKOS_INLINE_FUNCTION Row row_at(int place, int lane, int lanes,
                                    Scalar* scratch) const {
    const auto& A = arrays.A;
    const std::int64_t row = tasks.row[place];
    Row own{A.row_map(row),
            arrays.l_row_map(row),
            arrays.u_row_map(row),
            0,
            0,
            lane,
            lanes,
            nullptr};
    own.length = static_cast<int>(A.row_map(row + 1) - own.begin);
    own.lower = static_cast<int>(arrays.l_row_map(row + 1) - own.own_l) - 1;
    own.value = own.length <= capacity ? scratch : work + own.begin;
    return own;
  }

  /// The place in the own row, from `low` on, of `column`; -1 if it has none.
  KOKKOS_INLINE_FUNCTION int find(const Row& own, int low,
                                  std::int64_t column) const {
    int high = own.length;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (arrays.A.entries(own.begin + middle) < column)
        low = middle + 1;
      else
        high = middle;
    }
    return low < own.length && arrays.A.entries(own.begin + low) == column ? low
                                                                           : -1;
  }
  KOKKOS_INLINE_FUNCTION Pivot prepare(const Row& own, int k) const {
    Pivot pivot;
    if (k >= own.lower) return pivot;
    const std::int64_t row = arrays.A.entries(own.begin + k);
    pivot.begin = arrays.u_row_map(row);
    pivot.end = arrays.u_row_map(row + 1);
    pivot.entry = pivot.begin + 1 + own.lane;
    if (pivot.entry < pivot.end)
      pivot.place = find(own, k + 1, arrays.u_entries(pivot.entry));
    return pivot;
  }
  /// Returns when the value at each index that is not negative is there for
  /// all lanes; the others' are left as they are.
  KOKKOS_INLINE_FUNCTION void await(std::int64_t first, Scalar& a,
                                    std::int64_t second, Scalar& b) const {
    if (first >= 0) a = Value::load(arrays.u_values + first);
    if (second >= 0) b = Value::load(arrays.u_values + second);
    for (int turn = 0;; ++turn) {
      const bool lacks_a = first >= 0 && Value::is_not_ready(a);
      const bool lacks_b = second >= 0 && Value::is_not_ready(b);
      if (!lane_any(lacks_a || lacks_b)) return;
      if (turn > eager_turns) pause_while_waiting(turn);
      if (lacks_a) a = Value::load(arrays.u_values + first);
      if (lacks_b) b = Value::load(arrays.u_values + second);
    }
  }

  /// All lanes of a warp call this, those without a row with an empty one.
  KOKKOS_INLINE_FUNCTION void eliminate(const Row& own) const {
    for (int e = own.lane; e < own.length; e += own.lanes)
      own.value[e] = arrays.A.values[own.begin + e];
    const int steps =
        static_cast<int>(lane_max(static_cast<unsigned>(own.lower)));
    lane_barrier();
    Pivot next = prepare(own, 0);
    for (int k = 0; k < steps; ++k) {
      const Pivot now = next;
      next = prepare(own, k + 1);
      subtract(own, k, now);
    }
    for (int e = own.lower + own.lane; e < own.length; e += own.lanes)
      Value::publish(arrays.u_values + own.own_u + (e - own.lower),
                     own.value[e]);
    if (own.length > 0 && own.lane == 0)
      arrays.l_values[own.own_l + own.lower] = Scalar(1);
    lane_barrier();
  }
  KOKKOS_INLINE_FUNCTION void subtract(const Row& own, int k,
                                       const Pivot& of) const {
    Scalar pivot(1), u(0), factor(0);
    await(of.begin, pivot, of.place >= 0 ? of.entry : -1, u);
    if (of.begin >= 0) factor = own.value[k] / pivot;
    if (of.place >= 0) own.value[of.place] -= factor * u;
    for (std::int64_t entry = of.entry + own.lanes;
         lane_any(of.begin >= 0 && entry < of.end); entry += own.lanes) {
      const bool any = of.begin >= 0 && entry < of.end;
      const int place = any ? find(own, k + 1, arrays.u_entries(entry)) : -1;
      await(place >= 0 ? entry : -1, u, -1, u);
      if (place >= 0) own.value[place] -= factor * u;
    }
    lane_barrier();
    if (of.begin >= 0 && own.lane == 0) arrays.l_values[own.own_l + k] = factor;
  }
};

/// Makes all values of U not ready, of which there is at least one, and takes
/// the tickets back.
template <class Scalar>
struct ResetElimination {
  Scalar* values;
  unsigned* drawn;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    NotReady<Scalar>::reset(values + i);
    if (i == 0) *drawn = 0;
  }
};

/// The places at which tasks begin: as many as it takes for each level set.
template <class MemorySpace>
struct FillTaskStarts {
  Kokkos::View<const std::int64_t*, MemorySpace> level_map;
  Kokkos::View<const int*, MemorySpace> first_task;  // by level; one more
  Kokkos::View<int*, MemorySpace> task_start;        // one more
  int num_levels, rows;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t task) const {
    // The last level that does not begin after this task.
    int low = 0, high = num_levels;
    while (high - low > 1) {
      const int middle = low + (high - low) / 2;
      if (first_task(middle) <= task)
        low = middle;
      else
        high = middle;
    }
    const std::int64_t place = level_map(low) + (task - first_task(low)) * rows;
    const std::int64_t end = level_map(num_levels);
    task_start(task) = static_cast<int>(place < end ? place : end);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
