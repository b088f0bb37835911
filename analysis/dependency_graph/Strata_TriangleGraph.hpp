// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TRIANGLE_GRAPH_HPP
#define STRATA_TRIANGLE_GRAPH_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_Error.hpp>
#include <Strata_Types.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/device/SortRows.hpp>
#include <core/matrix/TriangleCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <cstring>
#include <vector>

namespace Strata {

/// How the entries given for a triangular matrix are to be taken.
struct TriangleInput {
  Uplo uplo = Uplo::lower;
  Diag diag = Diag::non_unit;
  Op op = Op::none;
  /// Use just the stated triangle of a full matrix instead of refusing
  /// entries outside it.
  bool take_triangle = false;
  /// Sort rows whose columns do not increase (in a private copy) instead of
  /// refusing them.
  bool sort_rows = true;
};

namespace Detail {

/// Writes the strict entries of one sorted row and where its diagonal stands.
/// Vertices count from the other end in a reversed graph, so a row's entries
/// are written back to front there and dependencies ascend in either case.
template <class MemorySpace>
struct GatherRows {
  IndexArray row_map, entries;
  Kokkos::View<const std::int64_t*, MemorySpace> permutation;  // may be empty
  Kokkos::View<const std::int64_t*, MemorySpace> diagonal;     // per row
  DependencyGraph<MemorySpace> graph;
  bool lower, unit;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return row_map(row + 1) - row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t n = graph.num_vertices;
    const std::int64_t vertex = lower ? row : n - 1 - row;
    if (lane == 0) {
      const std::int64_t k = diagonal(row);
      graph.diagonal_value_index(vertex) =
          unit ? -1 : (permutation.extent(0) ? permutation(k) : k);
    }
    const std::int64_t begin = row_map(row), end = row_map(row + 1);
    const std::int64_t first = graph.row_map(vertex);
    for (std::int64_t k = begin + lane; k < end; k += lanes) {
      const std::int64_t column = entries(k);
      if (column == row || (column < row) != lower) continue;
      const std::int64_t at = first + (lower ? k - begin : end - 1 - k);
      graph.entries(at) = static_cast<int>(lower ? column : n - 1 - column);
      graph.value_index(at) = permutation.extent(0) ? permutation(k) : k;
    }
  }
};

template <class MemorySpace>
struct CountColumns {
  IndexArray row_map, entries;
  Kokkos::View<int*, MemorySpace> count;  // per column
  bool lower;
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return row_map(row + 1) - row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t end = row_map(row + 1);
    for (std::int64_t k = row_map(row) + lane; k < end; k += lanes) {
      const std::int64_t column = entries(k);
      if (column != row && (column < row) == lower)
        Kokkos::atomic_fetch_add(&count(column), 1);
    }
  }
};

/// The transposed pattern: entry (row, column) becomes an edge from row's
/// vertex into column's. Rows arrive in no fixed order and are sorted later.
template <class MemorySpace>
struct ScatterColumns {
  IndexArray row_map, entries;
  Kokkos::View<const std::int64_t*, MemorySpace> permutation;  // may be empty
  DependencyGraph<MemorySpace> graph;
  Kokkos::View<int*, MemorySpace> count;  // per column, counts down to 0
  bool lower;
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return row_map(row + 1) - row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t n = graph.num_vertices;
    const std::int64_t end = row_map(row + 1);
    for (std::int64_t k = row_map(row) + lane; k < end; k += lanes) {
      const std::int64_t column = entries(k);
      if (column == row || (column < row) != lower) continue;
      // op(lower) is upper: the solve runs backward.
      const std::int64_t vertex = lower ? n - 1 - column : column;
      const std::int64_t at = graph.row_map(vertex) +
                              Kokkos::atomic_fetch_add(&count(column), -1) - 1;
      graph.entries(at) = static_cast<int>(lower ? n - 1 - row : row);
      graph.value_index(at) = permutation.extent(0) ? permutation(k) : k;
    }
  }
};

/// Row map of the graph. Along the way, a non-unit triangle is seen to have a
/// diagonal entry in every row (see DiagonalPresence); the last thread leaves
/// the number of edges in status(2).
template <class MemorySpace>
struct ScanCounts {
  Kokkos::View<const int*, MemorySpace> count;  // per row
  Kokkos::View<std::int64_t*, MemorySpace> row_map;
  DiagonalPresence<MemorySpace> presence;
  bool reversed, check_presence;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t vertex, std::int64_t& sum,
                                         bool final) const {
    const std::int64_t n = static_cast<std::int64_t>(count.extent(0));
    const std::int64_t row = reversed ? n - 1 - vertex : vertex;
    sum += count(row);
    if (!final) return;
    row_map(vertex + 1) = sum;
    if (check_presence) presence(row);
    if (vertex == n - 1) presence.status(2) = sum;
  }
};

template <class MemorySpace>
struct ResetCheck {
  Kokkos::View<int*, MemorySpace> strict;
  Kokkos::View<std::int64_t*, MemorySpace> diagonal, status, row_map;
  Kokkos::View<int*, MemorySpace> counters;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    strict(row) = 0;
    diagonal(row) = -1;
    if (row > 0) return;
    status(0) = no_fault;
    status(1) = no_fault;
    status(2) = 0;
    row_map(0) = 0;
    for (int c = 0; c < LevelCounters::size; ++c) counters(c) = 0;
  }
};

/// Check of a matrix, its graph, the levels of that and the order by these,
/// enqueued together: the graph is made where nothing is wrong and no row has
/// to be sorted.
template <class ExecutionSpace>
struct TriangleStages {
  using Memory = typename ExecutionSpace::memory_space;
  ResetCheck<Memory> reset;
  TriangleCheck<Memory> check;
  ScanCounts<Memory> scan;
  GatherRows<Memory> gather;
  FindLevels<ExecutionSpace> levels;
  OrderStages<ExecutionSpace> order;

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
  using Order = OrderStages<ExecutionSpace>;
  struct Keys {};
  KOKKOS_INLINE_FUNCTION void operator()(Keys, std::int64_t v) const {
    if (sound()) order(typename Order::Keys(), v);
  }
  struct Sort {};
  KOKKOS_INLINE_FUNCTION SortJob job(Sort) const {
    if (sound()) return order.job(typename Order::Sort());
    SortJob none = order.words;
    none.bits = 0;
    return none;
  }
  struct Bounds {};
  KOKKOS_INLINE_FUNCTION void operator()(Bounds, std::int64_t p) const {
    if (sound()) order(typename Order::Bounds(), p);
  }
};

template <class MemorySpace>
struct PlaceDiagonal {
  Kokkos::View<const std::int64_t*, MemorySpace> diagonal;     // per row
  Kokkos::View<const std::int64_t*, MemorySpace> permutation;  // may be empty
  Kokkos::View<std::int64_t*, MemorySpace> value_index;        // per vertex
  bool reversed, unit;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t n = static_cast<std::int64_t>(value_index.extent(0));
    const std::int64_t k = diagonal(row);
    value_index(reversed ? n - 1 - row : row) =
        unit ? -1 : (permutation.extent(0) ? permutation(k) : k);
  }
};

/// A pattern whose offsets and columns are sound, copied to be sorted, and the
/// places of its entries.
template <class MemorySpace>
struct CopyPattern {
  IndexArray row_map, entries;
  Kokkos::View<std::int64_t*, MemorySpace> offsets;
  Kokkos::View<int*, MemorySpace> columns;
  Kokkos::View<std::int64_t*, MemorySpace> permutation;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    if (k < static_cast<std::int64_t>(offsets.extent(0)))
      offsets(k) = row_map(k);
    if (k >= static_cast<std::int64_t>(columns.extent(0))) return;
    columns(k) = static_cast<int>(entries(k));
    permutation(k) = k;
  }
};

/// See triangle_graph.
/// @param pool   for the arrays of the graph, which then must not outlive it
/// @param levels given a pool, a device finds them along with the graph, where
///               no row has to be sorted and op does not transpose, and orders
///               few vertices by them
template <class ExecutionSpace>
DependencyGraph<typename ExecutionSpace::memory_space> make_triangle_graph(
    const ExecutionSpace& exec, const IndexArray& row_map,
    const IndexArray& entries, const StoredValues& values, std::int64_t columns,
    const TriangleInput& input, WorkPool<ExecutionSpace>* pool,
    GraphLevels<typename ExecutionSpace::memory_space>* levels) {
  using Memory = typename ExecutionSpace::memory_space;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  const std::int64_t rows =
      row_map.extent(0) == 0 ? 0
                             : static_cast<std::int64_t>(row_map.extent(0)) - 1;
  const std::int64_t stored = static_cast<std::int64_t>(entries.extent(0));
  if (rows != columns)
    throw NotSquareError("matrix",
                         "has " + std::to_string(rows) + " rows and " +
                             std::to_string(columns) + " columns",
                         "pass a square matrix");
  if (values.extent(0) != entries.extent(0))
    throw SizeMismatchError("values",
                            "has " + std::to_string(values.extent(0)) +
                                " elements for " + std::to_string(stored) +
                                " entries",
                            "give one value for every entry");
  if (rows > std::numeric_limits<int>::max() - 1)
    throw IndexOverflowError(
        "matrix",
        std::to_string(rows) + " rows do not fit the 32-bit vertex numbers",
        "split the system into blocks of at most 2147483646 rows");

  const bool lower = input.uplo == Uplo::lower;
  const bool transposed = input.op != Op::none;
  const bool unit = input.diag == Diag::unit;
  DependencyGraph<Memory> graph;
  graph.num_vertices = static_cast<int>(rows);
  graph.reversed = lower == transposed;
  if (rows == 0) {
    require_empty_without_rows<Memory>(row_map, entries);
    graph.row_map = Kokkos::View<std::int64_t*, Memory>(
        "Strata::DependencyGraph::row_map", 1);
    return graph;
  }
  // Few allocations: each costs as much as some launches.
  using Counts = Kokkos::View<std::int64_t*, Memory>;
  const auto allocate = [&exec](const char* label, std::int64_t count) {
    return make_unfilled<Counts>(exec, label, count);
  };
  const auto part = [](const Counts& of, std::int64_t first,
                       std::int64_t count) {
    return Kokkos::subview(of, Kokkos::make_pair(first, first + count));
  };
  const Counts kept =
      pool ? pool->template view<std::int64_t>(2 * rows + 1)
           : allocate("Strata::DependencyGraph::row_map", 2 * rows + 1);
  graph.row_map = part(kept, 0, rows + 1);
  graph.diagonal_value_index = part(kept, rows + 1, rows);
  using Order = OrderStages<ExecutionSpace>;
  const bool may_order = pool && levels && levels->wants_order && !transposed &&
                         has_resident_teams<ExecutionSpace> &&
                         rows <= Order::most_vertices;
  // Status, the counters of the levels and the level sets' sizes side by side,
  // for one report or copy.
  constexpr int heads = 3 + (LevelCounters::size + 1) / 2;
  const std::int64_t sizes = 1 + (may_order ? 3 * rows : 0);
  const std::int64_t work_words = heads + sizes + rows + (rows + 1) / 2;
  const Counts work = pool ? pool->template view<std::int64_t>(work_words)
                           : allocate("Strata::TriangleCheck", work_words);
  const Counts status = part(work, 0, 3);
  const Counts diagonal = part(work, heads + sizes, rows);
  const Kokkos::View<int*, Memory> counters(
      reinterpret_cast<int*>(work.data() + 3), LevelCounters::size);
  const Kokkos::View<int*, Memory> strict(
      reinterpret_cast<int*>(work.data() + heads + sizes + rows), rows);
  const Detail::DiagonalPresence<Memory> presence{diagonal, status};
  std::int64_t found[heads];  // first fault, first unsorted row, edges
  const auto fetch_status = [&] {
    Detail::copy_to_host(exec, part(work, 0, heads), found);
  };
  const auto scan = [&](bool check_presence) {
    Kokkos::parallel_scan(
        "Strata::TriangleGraph::scan", Range(exec, 0, rows),
        Detail::ScanCounts<Memory>{strict, graph.row_map, presence,
                                   graph.reversed, check_presence});
  };
  // Returns the first row that is not sorted, or no_fault. A sorted copy has
  // its values elsewhere: only its columns are looked at (`unit` or not).
  const ResetCheck<Memory> reset{strict, diagonal, status, graph.row_map,
                                 counters};
  const auto checker = [&](const IndexArray& checked_entries,
                           bool with_values) {
    return TriangleCheck<Memory>{row_map,
                                 checked_entries,
                                 values,
                                 columns,
                                 stored,
                                 lower,
                                 unit || !with_values,
                                 input.take_triangle,
                                 status,
                                 strict,
                                 diagonal};
  };
  auto check = [&](const IndexArray& checked_entries, bool with_values) {
    Kokkos::parallel_for("Strata::TriangleCheck::reset", Range(exec, 0, rows),
                         reset);
    for_each_row("Strata::TriangleCheck::rows", exec, rows, stored,
                 checker(checked_entries, with_values));
    // A transposed graph counts by columns, once these are known to be sound.
    scan(!unit);
    fetch_status();
    if (found[0] != Detail::no_fault)
      raise_row_fault<Memory>(found[0], row_map, checked_entries, values,
                              columns, input.uplo);
    return found[1];
  };

  Kokkos::View<std::int64_t*, Memory> permutation;
  Kokkos::View<int*, Memory> sorted;
  // Room for as many edges as there might be, until that is known.
  const auto make_edges = [&](std::int64_t edges) {
    if (!pool) {
      graph.entries = make_unfilled<Kokkos::View<int*, Memory>>(
          exec, "Strata::DependencyGraph::entries", edges);
      graph.value_index = make_unfilled<Kokkos::View<std::int64_t*, Memory>>(
          exec, "Strata::DependencyGraph::value_index", edges);
      return;
    }
    graph.entries = pool->template view<int>(edges);
    graph.value_index = pool->template view<std::int64_t>(edges);
  };
  std::int64_t unsorted = no_fault;
  if (pool && !transposed) {
    make_edges(stored);
    using Stages = TriangleStages<ExecutionSpace>;
    FindLevels<ExecutionSpace> find{graph, {}, counters};
    const bool with_levels = levels && is_gpu<ExecutionSpace>;
    if (with_levels)
      find.level = levels->level_of = pool->template view<int>(rows);
    Stages stages{reset,
                  checker(entries, true),
                  {strict, graph.row_map, presence, graph.reversed, !unit},
                  {row_map, entries, permutation, diagonal, graph, lower, unit},
                  find,
                  {}};
    FusedStages<ExecutionSpace> sequence(exec, *pool);
    const char* const label = "Strata::TriangleGraph";
    const EachStage<typename Stages::Reset> all{rows};
    const RowsStage<typename Stages::Check> look{rows, stored};
    const SumStage<typename Stages::Scan> count{rows};
    const RowsStage<typename Stages::Gather> gather{rows, stored};
    std::vector<std::int64_t> with_sizes;
    if constexpr (is_gpu<ExecutionSpace>) {
      const TeamStage<typename Stages::Levels> walk{with_levels ? rows : 0};
      const WordsWithSizes<ExecutionSpace> words(work.data(), heads,
                                                 may_order ? rows : 0);
      if (may_order) {
        stages.order.row_length = {graph.row_map, nullptr};
        stages.order.level_of = levels->level_of;
        stages.order.levels_found = counters.data() + LevelCounters::num_levels;
        stages.order.longest_found =
            counters.data() + LevelCounters::longest_row;
        stages.order.take(*pool, rows, work.data() + heads);
        levels->ordered =
            sequence.run_in_one(label, stages, all, look, count, gather, walk,
                                EachStage<typename Stages::Keys>{rows},
                                SortStage<typename Stages::Sort>{rows},
                                EachStage<typename Stages::Bounds>{
                                    stages.order.lanes_of_whole_warps()},
                                words.report(stages.order.levels_found));
      }
      if (may_order && levels->ordered) {
        // Without levels where a row is faulty.
        with_sizes = words.take(exec, [](const std::int64_t* told) {
          int counted[LevelCounters::size];
          std::memcpy(counted, told + 3, sizeof(counted));
          return counted[LevelCounters::num_levels];
        });
        std::copy(with_sizes.begin(), with_sizes.begin() + heads, found);
      } else if (with_levels) {
        sequence.run(label, stages, all, look, count, gather, walk);
      } else {
        sequence.run(label, stages, all, look, count, gather);
      }
    } else {
      sequence.run(label, stages, all, look, count, gather);
    }
    if (with_sizes.empty()) fetch_status();
    if (found[0] != no_fault)
      raise_row_fault<Memory>(found[0], row_map, entries, values, columns,
                              input.uplo);
    unsorted = found[1];
    if (unsorted == no_fault) {
      graph.entries =
          Kokkos::View<int*, Memory>(graph.entries.data(), found[2]);
      graph.value_index = Counts(graph.value_index.data(), found[2]);
      graph.values_in_order = stored == found[2] + (unit ? 0 : rows);
      if (with_levels) {
        std::memcpy(levels->found, found + 3, sizeof(levels->found));
        levels->known = true;
        if (levels->ordered)
          levels->order =
              order_of_stages(stages.order, levels->level_of,
                              levels->found[LevelCounters::num_levels],
                              levels->found[LevelCounters::inner_runs],
                              with_sizes.data() + heads);
      }
      return graph;
    }
  } else {
    unsorted = check(entries, true);
  }
  if (levels) levels->ordered = false;
  if (unsorted != Detail::no_fault) {
    if (!input.sort_rows)
      throw UnsortedRowError(
          "entries",
          "the columns of row " + std::to_string(unsorted) + " do not increase",
          "sort the rows, or set sort_rows to have it done in a copy",
          unsorted);
    // Columns that have been checked: they fit int.
    sorted = make_unfilled<Kokkos::View<int*, Memory>>(
        "Strata::TriangleGraph::sorted", stored);
    const auto offsets =
        make_unfilled<Counts>("Strata::TriangleGraph::offsets", rows + 1);
    permutation = make_unfilled<Kokkos::View<std::int64_t*, Memory>>(
        "Strata::TriangleGraph::permutation", stored);
    Kokkos::parallel_for(
        "Strata::TriangleGraph::copy",
        Range(exec, 0, std::max(stored, rows + 1)),
        CopyPattern<Memory>{row_map, entries, offsets, sorted, permutation});
    sort_crs_rows(exec, offsets, sorted, permutation);
    check(sorted, false);
  }

  auto build = [&](const IndexArray& sorted_entries) {
    if (transposed) {
      Kokkos::deep_copy(exec, strict, 0);
      Detail::for_each_row(
          "Strata::TriangleGraph::count", exec, rows, stored,
          Detail::CountColumns<Memory>{row_map, sorted_entries, strict, lower});
      scan(false);
      fetch_status();
    }
    make_edges(found[2]);
    if (transposed) {
      Detail::for_each_row(
          "Strata::TriangleGraph::scatter", exec, rows, stored,
          Detail::ScatterColumns<Memory>{row_map, sorted_entries, permutation,
                                         graph, strict, lower});
      Detail::sort_crs_rows(exec, graph.row_map, graph.entries,
                            graph.value_index);
      Kokkos::parallel_for(
          "Strata::TriangleGraph::diagonal", Range(exec, 0, rows),
          Detail::PlaceDiagonal<Memory>{diagonal, permutation,
                                        graph.diagonal_value_index,
                                        graph.reversed, unit});
    } else {
      Detail::for_each_row(
          "Strata::TriangleGraph::gather", exec, rows, stored,
          Detail::GatherRows<Memory>{row_map, sorted_entries, permutation,
                                     diagonal, graph, lower, unit});
    }
    exec.fence();
  };
  if (sorted.extent(0))
    build(sorted);
  else
    build(entries);
  return graph;
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
