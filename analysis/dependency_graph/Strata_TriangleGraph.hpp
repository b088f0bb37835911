// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TRIANGLE_GRAPH_HPP
#define STRATA_TRIANGLE_GRAPH_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_Error.hpp>
#include <Strata_Types.hpp>
#include <analysis/dependency_graph/TriangleKernels.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/device/SortRows.hpp>
#include <core/matrix/TriangleCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <cstring>
#include <limits>
#include <string>

namespace Strata {

/// How the entries given for a triangular matrix are to be taken.
struct TriangleInput {
  Uplo uplo = Uplo::lower;
  Diag diag = Diag::non_unit;
  Op op = Op::none;
  /// Use just the stated triangle of a full matrix instead of refusing
  /// entries outside it.
  bool take_triangle = false;
};

namespace Detail {

/// Check of a matrix, its graph and the levels of that, enqueued together: the
/// graph is made where nothing is wrong and no row has to be sorted.
template <class ExecutionSpace>
struct TriangleStages {
  using Memory = typename ExecutionSpace::memory_space;
  ResetCheck<Memory> reset;
  TriangleCheck<Memory> check;
  ScanCounts<Memory> scan;
  GatherRows<Memory> gather;
  FindLevels<ExecutionSpace> levels;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return check.length(row);
  }
  KOKKOS_INLINE_FUNCTION bool sound() const {
    return check.status(0) == no_fault && check.status(1) == no_fault;
  }
  struct Reset {};
  KOKKOS_INLINE_FUNCTION void operator()(Reset, std::int64_t row) const {
    reset(row);
    if (levels.level.extent(0)) levels.level(row) = -1;
  }
  struct Check {};
  KOKKOS_INLINE_FUNCTION void operator()(Check, std::int64_t row, int lane,
                                         int lanes) const {
    check(row, lane, lanes);
  }
  struct Scan {};
  KOKKOS_INLINE_FUNCTION void operator()(Scan, std::int64_t vertex,
                                         std::int64_t& sum, bool final) const {
    scan(vertex, sum, final);
  }
  struct Gather {};
  KOKKOS_INLINE_FUNCTION void operator()(Gather, std::int64_t row, int lane,
                                         int lanes) const {
    if (sound()) gather(row, lane, lanes);
  }
  struct Levels {};
  KOKKOS_INLINE_FUNCTION void operator()(Levels, int rank) const {
    if (sound()) levels.run(rank);
  }
};

/// A matrix becomes a checked graph, by one call of `make`; an object serves
/// one matrix. Steps, each of which needs what the one before has found:
///
/// 1. check: the first fault, the first row that is not sorted, and, per row,
///    the number of strict entries (`strict_`) and the place of the diagonal
///    value (`diagonal_`); their sum is graph_.row_map.
/// 2. If a row is not sorted: a sorted copy, `permutation_` from its entries to
///    the given ones, and the check again, for counts of the copy.
/// 3. gather_edges: entries and value indices, of a transposed graph by
/// columns,
///    which are counted first.
///
/// With a pool, and unless op transposes, 1 and 3 are one sequence of stages,
/// whose second part does nothing if 1 finds a fault or an unsorted row:
/// check_and_gather. An unsorted matrix then goes on with 2. On a device the
/// levels are part of the sequence.
template <class ExecutionSpace>
class TriangleGraphBuilder {
 public:
  using Memory = typename ExecutionSpace::memory_space;

  /// @param pool  see make_triangle_graph
  TriangleGraphBuilder(const ExecutionSpace& exec, const IndexArray& row_map,
                       const IndexArray& entries, const StoredValues& values,
                       std::int64_t columns, const TriangleInput& input,
                       WorkPool<ExecutionSpace>* pool)
      : exec_(exec),
        row_map_(row_map),
        entries_(entries),
        values_(values),
        columns_(columns),
        input_(input),
        pool_(pool),
        rows_(row_map.extent(0) == 0
                  ? 0
                  : static_cast<std::int64_t>(row_map.extent(0)) - 1),
        stored_(static_cast<std::int64_t>(entries.extent(0))),
        lower_(input.uplo == Uplo::lower),
        transposed_(input.op != Op::none),
        unit_(input.diag == Diag::unit) {}

  /// @param levels  see make_triangle_graph
  DependencyGraph<Memory> make(GraphLevels<Memory>* levels) {
    require_sizes();
    graph_.num_vertices = static_cast<int>(rows_);
    graph_.reversed = lower_ == transposed_;
    if (rows_ == 0) {
      require_empty_without_rows<Memory>(row_map_, entries_);
      graph_.row_map = Offsets("Strata::DependencyGraph::row_map", 1);
      return graph_;
    }
    allocate();
    if (pool_ && !transposed_) {
      if (check_and_gather(levels) == no_fault) return graph_;
    } else if (check(entries_, true) == no_fault) {
      gather_edges(entries_);
      return graph_;
    }
    const IndexArray sorted = sorted_copy();
    check(sorted, false);
    gather_edges(sorted);
    return graph_;
  }

 private:
  using Offsets = Kokkos::View<std::int64_t*, Memory>;
  using Range = RangeOf<ExecutionSpace>;
  /// Words that the host reads: first fault, first unsorted row, number of
  /// edges, and the counters of the levels.
  static constexpr int num_found = 3 + (LevelCounters::size + 1) / 2;

  void require_sizes() const {
    require_square("matrix", rows_, columns_);
    require_values(values_.extent(0), entries_.extent(0));
    if (rows_ > std::numeric_limits<int>::max() - 1)
      throw IndexOverflowError(
          "matrix",
          std::to_string(rows_) + " rows do not fit the 32-bit vertex numbers",
          "split the system into blocks of at most 2147483646 rows");
  }
  template <class T>
  Kokkos::View<T*, Memory> array(const char* label, std::int64_t count) {
    return pool_ ? pool_->template view<T>(count)
                 : make_unfilled<Kokkos::View<T*, Memory>>(exec_, label, count);
  }
  /// Few allocations: each costs as much as some launches.
  void allocate() {
    const auto part = [](const Offsets& of, std::int64_t first,
                         std::int64_t count) {
      return Kokkos::subview(of, Kokkos::make_pair(first, first + count));
    };
    const auto kept =
        array<std::int64_t>("Strata::DependencyGraph::row_map", 2 * rows_ + 1);
    graph_.row_map = part(kept, 0, rows_ + 1);
    graph_.diagonal_value_index = part(kept, rows_ + 1, rows_);
    const auto work = array<std::int64_t>("Strata::TriangleCheck",
                                          num_found + rows_ + (rows_ + 1) / 2);
    to_fetch_ = part(work, 0, num_found);
    status_ = part(work, 0, 3);
    counters_ = Kokkos::View<int*, Memory>(
        reinterpret_cast<int*>(work.data() + 3), LevelCounters::size);
    diagonal_ = part(work, num_found, rows_);
    strict_ = Kokkos::View<int*, Memory>(
        reinterpret_cast<int*>(work.data() + num_found + rows_), rows_);
  }
  void allocate_edges(std::int64_t edges) {
    graph_.entries = array<int>("Strata::DependencyGraph::entries", edges);
    graph_.value_index =
        array<std::int64_t>("Strata::DependencyGraph::value_index", edges);
  }

  ResetCheck<Memory> reset() const {
    return {strict_, diagonal_, status_, graph_.row_map, counters_};
  }
  /// A sorted copy has its values elsewhere: only its columns are looked at.
  TriangleCheck<Memory> checker(const IndexArray& entries,
                                bool with_values) const {
    return {row_map_,
            entries,
            values_,
            columns_,
            stored_,
            lower_,
            unit_ || !with_values,
            input_.take_triangle,
            status_,
            strict_,
            diagonal_};
  }
  ScanCounts<Memory> counts(bool check_presence) const {
    return {strict_,
            graph_.row_map,
            {diagonal_, status_},
            graph_.reversed,
            check_presence};
  }
  GatherRows<Memory> gather(const IndexArray& entries) const {
    return {row_map_, entries, permutation_, diagonal_, graph_, lower_, unit_};
  }
  void scan(bool check_presence) {
    Kokkos::parallel_scan("Strata::TriangleGraph::scan", Range(exec_, 0, rows_),
                          counts(check_presence));
  }
  /// Waits for what the kernels have found.
  void fetch_found() { copy_to_host(exec_, to_fetch_, found_); }
  void raise_fault(const IndexArray& entries) const {
    if (found_[0] != no_fault)
      raise_row_fault<Memory>(found_[0], row_map_, entries, columns_, values_,
                              input_.uplo);
  }

  /// @returns the first row that is not sorted, or no_fault
  std::int64_t check(const IndexArray& entries, bool with_values) {
    for_each_index("Strata::TriangleCheck::reset", exec_, rows_, reset());
    for_each_row("Strata::TriangleCheck::rows", exec_, rows_, stored_,
                 checker(entries, with_values));
    // A transposed graph counts by columns, once these are known to be sound.
    scan(!unit_);
    fetch_found();
    raise_fault(entries);
    return found_[1];
  }
  /// The same, and the graph if all rows are sorted; a device finds its levels
  /// as well, if they are asked for.
  std::int64_t check_and_gather(GraphLevels<Memory>* levels) {
    // Room for as many edges as there might be, until that is known.
    allocate_edges(stored_);
    using Stages = TriangleStages<ExecutionSpace>;
    Stages stages{reset(),
                  checker(entries_, true),
                  counts(!unit_),
                  gather(entries_),
                  {graph_, {}, counters_}};
    FusedStages<ExecutionSpace> sequence(exec_, *pool_);
    const char* const label = "Strata::TriangleGraph";
    const EachStage<typename Stages::Reset> clear{rows_};
    const RowsStage<typename Stages::Check> look{rows_, stored_};
    const SumStage<typename Stages::Scan> count{rows_};
    const RowsStage<typename Stages::Gather> take{rows_, stored_};
    const bool with_levels = levels && is_gpu<ExecutionSpace>;
    if constexpr (is_gpu<ExecutionSpace>) {
      if (with_levels) {
        stages.levels.level = levels->level_of =
            pool_->template view<int>(rows_);
        sequence.run(label, stages, clear, look, count, take,
                     TeamStage<typename Stages::Levels>{rows_});
      }
    }
    if (!with_levels) sequence.run(label, stages, clear, look, count, take);
    fetch_found();
    raise_fault(entries_);
    if (found_[1] != no_fault) return found_[1];
    graph_.entries =
        Kokkos::View<int*, Memory>(graph_.entries.data(), found_[2]);
    graph_.value_index = Offsets(graph_.value_index.data(), found_[2]);
    graph_.values_in_order = stored_ == found_[2] + (unit_ ? 0 : rows_);
    if (with_levels) {
      int counted[LevelCounters::size];
      std::memcpy(counted, found_ + 3, sizeof(counted));
      levels->take(counted);
    }
    return no_fault;
  }

  /// The entries, which have been checked: they fit int. `permutation_` then
  /// says where each of them was.
  IndexArray sorted_copy() {
    make_unfilled(sorted_, "Strata::TriangleGraph::sorted", stored_);
    const auto offsets =
        make_unfilled<Offsets>("Strata::TriangleGraph::offsets", rows_ + 1);
    make_unfilled(permutation_, "Strata::TriangleGraph::permutation", stored_);
    for_each_index("Strata::TriangleGraph::copy", exec_,
                   std::max(stored_, rows_ + 1),
                   CopyPattern<Memory>{row_map_, entries_, offsets, sorted_,
                                       permutation_});
    sort_crs_rows(exec_, offsets, sorted_, permutation_);
    return sorted_;
  }
  /// The edges, from entries that have been checked. Fences `exec`.
  void gather_edges(const IndexArray& entries) {
    if (transposed_) {
      Kokkos::deep_copy(exec_, strict_, 0);
      for_each_row("Strata::TriangleGraph::count", exec_, rows_, stored_,
                   CountColumns<Memory>{row_map_, entries, strict_, lower_});
      scan(false);
      fetch_found();
    }
    allocate_edges(found_[2]);
    if (transposed_) {
      for_each_row("Strata::TriangleGraph::scatter", exec_, rows_, stored_,
                   ScatterColumns<Memory>{row_map_, entries, permutation_,
                                          graph_, strict_, lower_});
      sort_crs_rows(exec_, graph_.row_map, graph_.entries, graph_.value_index);
      for_each_index("Strata::TriangleGraph::diagonal", exec_, rows_,
                     PlaceDiagonal<Memory>{diagonal_, permutation_,
                                           graph_.diagonal_value_index,
                                           graph_.reversed, unit_});
    } else {
      for_each_row("Strata::TriangleGraph::gather", exec_, rows_, stored_,
                   gather(entries));
    }
    exec_.fence();
  }

  ExecutionSpace exec_;
  IndexArray row_map_, entries_;
  StoredValues values_;
  std::int64_t columns_;
  TriangleInput input_;
  WorkPool<ExecutionSpace>* pool_;
  std::int64_t rows_, stored_;
  bool lower_, transposed_, unit_;
  DependencyGraph<Memory> graph_;
  // In device memory: the words that the host reads, all of them; of those the
  // first fault, unsorted row and number of edges; the counters of the levels.
  Offsets to_fetch_, status_;
  Kokkos::View<int*, Memory> counters_;
  /// Of each row: the place of its diagonal value, and how many entries it has
  /// in the strict triangle. For a transposed graph the latter become those of
  /// columns, then counters of the scatter.
  Offsets diagonal_;
  Kokkos::View<int*, Memory> strict_;
  /// Without elements if all rows are sorted.
  Kokkos::View<int*, Memory> sorted_;
  Offsets permutation_;
  std::int64_t found_[num_found];  // on the host, see num_found
};

/// See triangle_graph.
/// @param pool   for the arrays of the graph, which then must not outlive it
/// @param levels given a pool, a device finds them along with the graph, where
///               no row has to be sorted and op does not transpose
template <class ExecutionSpace>
DependencyGraph<typename ExecutionSpace::memory_space> make_triangle_graph(
    const ExecutionSpace& exec, const IndexArray& row_map,
    const IndexArray& entries, const StoredValues& values, std::int64_t columns,
    const TriangleInput& input, WorkPool<ExecutionSpace>* pool,
    GraphLevels<typename ExecutionSpace::memory_space>* levels) {
  return TriangleGraphBuilder<ExecutionSpace>(exec, row_map, entries, values,
                                              columns, input, pool)
      .make(levels);
}

}  // namespace Detail

/// Checks a triangular matrix given as CRS views and returns the dependency
/// graph of op(A) x = b.
///
/// @param row_map  rows+1 offsets; an empty view stands for a matrix without
///                 rows
/// @param entries  zero-based columns; @param values  as many values
/// @param columns  number of columns, which has to equal the number of rows
/// @throws one of the MatrixError types (first faulty row), SizeMismatchError,
///         IndexOverflowError, OptionError; nothing of the caller's is
///         written.
/// Cost: one pass over the matrix on the device to check it, one to build the
/// graph; a sort of the rows where they are unsorted or op transposes.
/// Fences `exec`.
template <class ExecutionSpace, class RowMap, class Entries, class Values>
DependencyGraph<typename ExecutionSpace::memory_space> triangle_graph(
    const ExecutionSpace& exec, const RowMap& row_map, const Entries& entries,
    const Values& values, std::int64_t columns, const TriangleInput& input) {
  Detail::require_enumerator("uplo", input.uplo);
  Detail::require_enumerator("diag", input.diag);
  Detail::require_enumerator("op", input.op);
  return Detail::make_triangle_graph(
      exec, row_map, entries, values, columns, input,
      static_cast<Detail::WorkPool<ExecutionSpace>*>(nullptr), nullptr);
}

}  // namespace Strata

#endif
