// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_PANEL_BY_COLUMNS_HPP
#define STRATA_KERNELS_DENSE_PANEL_BY_COLUMNS_HPP

#include <core/device/Backend.hpp>
#include <kernels/dense/PanelState.hpp>

namespace Strata {
namespace Detail {

/// The largest entry of a column; the lowest row where several are alike.
struct LargestEntry {
  unsigned long long key;  ///< see PivotKey
  std::int64_t row;
};

/// State of a panel between the launches of its columns.
struct ColumnPanelState {
  LargestEntry best;
  /// Pivots before the current column, and after it.
  int found_before, found_after;
};

template <class Scalar>
struct FindPivot {
  using value_type = LargestEntry;
  PanelTask<Scalar> task;
  const ColumnPanelState* state;
  int column;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         LargestEntry& best) const {
    if (row < state->found_after) return;
    LargestEntry own{PivotKey<Scalar>::of(task.a(row, column)), row};
    join_parts(best, own);
  }
  KOKKOS_INLINE_FUNCTION void init(LargestEntry& best) const {
    best = {0, INT64_MAX};
  }
  KOKKOS_INLINE_FUNCTION void join(LargestEntry& into,
                                   const LargestEntry& from) const {
    join_parts(into, from);
  }
  // Kokkos before 4.0 joins in shared memory.
  KOKKOS_INLINE_FUNCTION void join(volatile LargestEntry& into,
                                   const volatile LargestEntry& from) const {
    join_parts(into, from);
  }

 private:
  template <class Into, class From>
  KOKKOS_INLINE_FUNCTION static void join_parts(Into& into, From& from) {
    if (from.key > into.key || (from.key == into.key && from.row < into.row)) {
      into.key = from.key;
      into.row = from.row;
    }
  }
};

/// Takes the pivot row to its place in the panel. One thread.
template <class Scalar>
struct TakePivot {
  PanelTask<Scalar> task;
  ColumnPanelState* state;
  int column;

  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    const int q = state->found_after;
    state->found_before = q;
    const double size = PivotKey<Scalar>::magnitude_of(state->best.key);
    if (!is_finite(size) && task.status->overflow == EliminationStatus::none)
      task.status->overflow = task.first_column + column;
    if (!(size > task.tolerance)) return;
    const std::int64_t row = state->best.row;
    for (int k = 0; k < task.columns; ++k) {
      const Scalar old = task.a(q, k);
      task.a(q, k) = task.a(row, k);
      task.a(row, k) = old;
    }
    task.info.column(q) = column;
    // Until the end the sources are the rows that were swapped.
    task.info.source(q) = static_cast<int>(row);
    state->found_after = q + 1;
  }
};

/// Divides and eliminates below the pivot, `block` rows an index.
template <class Scalar>
struct EliminateColumn {
  PanelTask<Scalar> task;
  const ColumnPanelState* state;
  int column, block;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t index) const {
    const auto& a = task.a;
    const int before = state->found_before, after = state->found_after;
    const int end = (index + 1) * block < task.rows
                        ? static_cast<int>((index + 1) * block)
                        : task.rows;
    int begin = static_cast<int>(index * block);
    if (begin < after) begin = after;
    if (before == after) {
      for (int i = begin; i < end; ++i) a(i, column) = Scalar(0);
      return;
    }
    const Scalar pivot = a(before, column);
    for (int i = begin; i < end; ++i) a(i, column) = a(i, column) / pivot;
    for (int k = column + 1; k < task.columns; ++k) {
      const Scalar p = a(before, k);
      for (int i = begin; i < end; ++i) a(i, k) -= a(i, column) * p;
    }
  }
};

/// Turns the swaps into moves, and copies the pivots' multipliers. One thread.
template <class Scalar>
struct ListPanelMoves {
  PanelTask<Scalar> task;
  const ColumnPanelState* state;

  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    constexpr int width = panel_width<Scalar>;
    const PanelInfo& info = task.info;
    const int found = state->found_after;
    // Rows touched, the pivots' places first, and what is in them.
    int place[2 * width], content[2 * width], touched = found;
    for (int q = 0; q < found; ++q) place[q] = content[q] = q;
    for (int q = 0; q < found; ++q) {
      const int row = info.source(q);
      int t = 0;
      while (t < touched && place[t] != row) ++t;
      if (t == touched) {
        place[t] = content[t] = row;
        ++touched;
      }
      const int old = content[q];
      content[q] = content[t];
      content[t] = old;
    }
    // Places below the pivots hold what they held, or a displaced row.
    for (int t = 0; t < touched; ++t) {
      info.source(t) = content[t];
      info.target(t) = place[t];
    }
    for (int i = 0; i < found; ++i)
      for (int q = 0; q < i; ++q) task.tile(i, q) = task.a(i, info.column(q));
    info.found() = found;
    info.moves() = touched;
    const int wanted = task.columns < task.rows ? task.columns : task.rows;
    if (found < wanted && task.status->lacking == EliminationStatus::none) {
      int column = 0;
      while (column < found && info.column(column) == column) ++column;
      task.status->lacking = task.first_column + column;
    }
  }
};

/// A panel from begin to end by one thread: for hosts, where a panel is small.
template <class Scalar>
struct EliminateSerially {
  PanelTask<Scalar> task;
  ColumnPanelState* state;
  int block;

  KOKKOS_INLINE_FUNCTION void operator()(int) const {
    for (int column = 0; column < task.columns; ++column) {
      const FindPivot<Scalar> find{task, state, column};
      find.init(state->best);
      for (int row = 0; row < task.rows; ++row) find(row, state->best);
      TakePivot<Scalar>{task, state, column}(0);
      const EliminateColumn<Scalar> eliminate{task, state, column, block};
      for (int index = 0; index * block < task.rows; ++index) eliminate(index);
    }
    ListPanelMoves<Scalar>{task, state}(0);
  }
};

/// The elimination of ResidentPanel with launches for every column: for hosts,
/// and for more rows than a device's multiprocessors hold in registers. Rows
/// are exchanged in the panel already.
template <class Scalar, class ExecutionSpace>
void eliminate_by_columns(
    const ExecutionSpace& exec, const PanelTask<Scalar>& task,
    const Kokkos::View<ColumnPanelState*,
                       typename ExecutionSpace::memory_space>& state) {
  using Memory = typename ExecutionSpace::memory_space;
  using Rows = RangeOf<ExecutionSpace>;
  using One = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<int>>;
  // One row a thread on devices, so that neighbours read neighbours.
  const int block = is_gpu<ExecutionSpace> ? 1 : 256;
  Kokkos::deep_copy(exec, state, ColumnPanelState{});
  // Less than a launch for every column costs.
  constexpr std::int64_t small = 16 * 1024;
  if (!is_gpu<ExecutionSpace> &&
      static_cast<std::int64_t>(task.rows) * task.columns <= small) {
    Kokkos::parallel_for("Strata::Dense::EliminateSerially", One(exec, 0, 1),
                         EliminateSerially<Scalar>{task, state.data(), block});
    return;
  }
  const Kokkos::View<LargestEntry, Memory,
                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      best(&state.data()->best);
  const std::int64_t blocks = (task.rows + block - 1) / block;
  for (int column = 0; column < task.columns; ++column) {
    Kokkos::parallel_reduce(
        "Strata::Dense::FindPivot", Rows(exec, 0, task.rows),
        FindPivot<Scalar>{task, state.data(), column}, best);
    Kokkos::parallel_for("Strata::Dense::TakePivot", One(exec, 0, 1),
                         TakePivot<Scalar>{task, state.data(), column});
    for_each_index("Strata::Dense::EliminateColumn", exec, blocks,
                   EliminateColumn<Scalar>{task, state.data(), column, block});
  }
  Kokkos::parallel_for("Strata::Dense::ListPanelMoves", One(exec, 0, 1),
                       ListPanelMoves<Scalar>{task, state.data()});
}

}  // namespace Detail
}  // namespace Strata

#endif
