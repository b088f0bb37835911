// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_FILL_SEARCH_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_FILL_SEARCH_HPP

#include <core/device/Launch.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/FindColumn.hpp>
#include <kernels/factorization/symbolic/FillTable.hpp>

namespace Strata {
namespace Detail {

/// The rows that a launch searches, and how.
struct FillSearchRows {
  const int* row = nullptr;  // none: all of them
  std::int64_t num_rows = 0;
  int rows_of_draw = 1;
  unsigned* drawn = nullptr;  // tickets; 0 at the start
  /// One for each team; none: in scratch.
  int* tables = nullptr;
  FillTableShape shape{};
};

/// Finds the columns of rows of ILU(level): those j for which there is a path
/// from row i to j of at most level + 1 edges whose interior vertices are
/// smaller than min(i, j).
///
/// A breadth-first search does not do for j < i. It would stop at the shortest
/// path to j, and that may lead over a vertex between j and i, where a longer
/// one does not. What is searched for instead is, for each vertex v and number
/// of edges d,
///
///   S_d(v) = min over walks from i to v of at most d edges, their interior
///            vertices smaller than i, of the largest vertex after i,
///
/// v itself counted for v < i, and v alone for v > i. It follows
///
///   S_1(v) = v for the neighbours v of i, infinite for all others;
///   S_d(v) = min(S_{d-1}(v), min over edges (u, v) with u < i of
///            max(S_{d-1}(u), v))                              for v < i,
///   S_d(v) = v if S_{d-1}(v) = v or there is an edge (u, v) with u < i and
///            finite S_{d-1}(u)                                for v > i,
///
/// as a walk to v is an edge, or a walk to some interior vertex u < i and an
/// edge from there.
///
/// Why (i, j) is kept if and only if S_{level+1}(j) = j, j other than i. Let
/// there be a path as asked for. Its interior vertices are smaller than
/// min(i, j), so it is among the walks, and for j < i the largest vertex after
/// i is j: S(j) <= j, and S(j) >= j as j counts. The other way round, let S(j)
/// = j. For j > i a walk with interior vertices smaller than i = min(i, j)
/// reaches j. For j < i a walk reaches j on which no vertex after i is larger
/// than j. Cut it off where it first comes to j, and drop the cycles that are
/// left, neither of which adds a vertex or an edge: what stays is a path whose
/// interior vertices are smaller than j. (No walk comes back to i, as its
/// vertices but the last are smaller than i, and i is never relaxed.)
///
/// Step d relaxes the edges of those u < i for which S_{d-1}(u) is less than
/// S_{d-2}(u), with S_{d-1} as it was when the step began: what comes in the
/// same step would make walks of more than d edges. The last step leaves out
/// vertices that it would give a larger vertex than themselves, as nothing
/// follows from these. A vertex is relaxed at most `level` times, as each time
/// S(u) has decreased in a step of its own. A row's result depends on A alone,
/// so rows may be searched in any order, and with the same result each time.
///
/// Teams of one warp draw rows until none are left. A group of lanes takes a
/// vertex, a lane of the group an edge. Rows that have no entry left of the
/// diagonal have no fill and are not searched.
///
/// @tparam Result  what is done with a row, by all lanes of a warp:
///   copied(row, lane), the row of A has no fill;
///   found(row, table, count, lane);
///   failed(row, lane), where there are more vertices than the table takes.
///   The first two return entries that they have counted, which
///   goes_on(counted, lane) is told now and then: whether there is a use for
///   more.
template <class ExecutionSpace, class Result>
struct FillSearch {
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int most_teams_per_multiprocessor = 32;

  IndexArray row_map, entries;
  int most_edges;
  int lanes;  // of a group
  FillSearchRows rows;
  Result result;

  static std::size_t scratch_bytes(const FillTableShape& shape) {
    return sizeof(int) * static_cast<std::size_t>(shape.words());
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int lane = team.team_rank();
    int* const memory =
        rows.tables
            ? rows.tables + team.league_rank() * rows.shape.words()
            : static_cast<int*>(team.team_scratch(0).get_shmem(
                  sizeof(int) * static_cast<std::size_t>(rows.shape.words())));
    const FillTable<ExecutionSpace> table(memory, rows.shape);
    table.clear(lane);
    lane_barrier();
    FillCount counted;
    while (result.goes_on(counted, lane)) {
      int drawn_here = 0;
      if (lane == 0)
        drawn_here = static_cast<int>(Kokkos::atomic_fetch_add(rows.drawn, 1u));
      const std::int64_t first =
          static_cast<std::int64_t>(
              static_cast<unsigned>(lane_broadcast(drawn_here, 0))) *
          rows.rows_of_draw;
      if (first >= rows.num_rows) return;
      for (std::int64_t at = first;
           at < first + rows.rows_of_draw && at < rows.num_rows; ++at) {
        const auto found =
            search(rows.row ? rows.row[at] : static_cast<int>(at), table, lane);
        counted.lower += found.lower;
        counted.upper += found.upper;
        if (counted.sum() >= many && !result.goes_on(counted, lane)) return;
      }
    }
  }

 private:
  /// Entries that a team counts before it tells of them within a draw.
  static constexpr std::int64_t many = 4096;

  KOKKOS_INLINE_FUNCTION FillCount
  search(int row, const FillTable<ExecutionSpace>& table, int lane) const {
    // Rows are sorted and store their diagonal.
    if (most_edges == 1 || entries(row_map(row)) == row)
      return result.copied(row, lane);
    relax_edges(row, row, -1, false, table, lane, width);
    lane_barrier();
    for (int edges = 2; edges <= most_edges && !table.overflowed(); ++edges) {
      const std::int64_t count = table.count();
      const bool any = lane_any(table.begin_step(count, row, lane));
      lane_barrier();
      if (!any) break;
      for (std::int64_t p = lane / lanes; p < count; p += width / lanes)
        if (table.goes_on(p))
          relax_edges(row, table.vertex(p), table.largest(p),
                      edges == most_edges, table, lane % lanes, lanes);
      lane_barrier();
    }
    FillCount counted;
    if (table.overflowed()) {
      result.failed(row, lane);
      lane_barrier();
      table.clear(lane);
    } else {
      const std::int64_t count = table.count();
      counted = result.found(row, table, count, lane);
      lane_barrier();
      table.forget(count, lane);
    }
    lane_barrier();
    return counted;
  }

  /// From as many entries on, a search is quicker than a look at all.
  static constexpr std::int64_t long_row = 64;

  /// Relaxes the edges from `vertex`, to which a walk leads whose largest
  /// vertex is `largest`.
  KOKKOS_INLINE_FUNCTION void relax_edges(
      int row, int vertex, int largest, bool last,
      const FillTable<ExecutionSpace>& table, int lane, int of) const {
    const std::int64_t end = row_map(vertex + 1);
    std::int64_t begin = row_map(vertex);
    // Smaller vertices are of no use at the end.
    if (last && end - begin > long_row)
      begin = first_entry_from(*this, vertex, largest);
    for (std::int64_t k = begin + lane; k < end; k += of) {
      const int to = static_cast<int>(entries(k));
      if (to == row) continue;
      const int larger = to > row || largest < to ? to : largest;
      if (!last || larger == to) table.lower(to, larger);
    }
  }
};

/// What teams have in common, in device memory.
struct FillState {
  unsigned drawn = 0, failed = 0;  // tickets, and rows of this launch
  FillCount counted;
};

/// Counts the entries of rows until there are too many, and lists rows whose
/// search has failed.
template <class ExecutionSpace>
struct CountFill {
  IndexArray row_map, entries;
  int* length;  // by row
  int* failed_rows;
  FillState* state;
  FillCount most;
  std::int64_t most_in_all;

  KOKKOS_INLINE_FUNCTION FillCount copied(int row, int lane) const {
    const std::int64_t begin = row_map(row), end = row_map(row + 1);
    if (lane == 0) length[row] = static_cast<int>(end - begin);
    const std::int64_t diagonal = first_entry_from(*this, row, row);
    return {diagonal - begin, end - diagonal - 1};
  }
  KOKKOS_INLINE_FUNCTION FillCount found(int row,
                                         const FillTable<ExecutionSpace>& table,
                                         std::int64_t count, int lane) const {
    const FillCount kept = table.count_kept(count, row, lane);
    // And the diagonal.
    if (lane == 0) length[row] = static_cast<int>(kept.sum()) + 1;
    return kept;
  }
  KOKKOS_INLINE_FUNCTION void failed(int row, int lane) const {
    if (lane == 0)
      failed_rows[Kokkos::atomic_fetch_add(&state->failed, 1u)] = row;
  }
  KOKKOS_INLINE_FUNCTION bool goes_on(FillCount& counted, int lane) const {
    if (counted.sum() == 0) return true;
    int goes_on = 1;
    if (lane == 0) {
      const std::int64_t lower =
          counted.lower +
          Kokkos::atomic_fetch_add(&state->counted.lower, counted.lower);
      const std::int64_t upper =
          counted.upper +
          Kokkos::atomic_fetch_add(&state->counted.upper, counted.upper);
      goes_on = lower <= most.lower && upper <= most.upper &&
                lower + upper <= most_in_all;
    }
    counted = {};
    return lane_broadcast(goes_on, 0) != 0;
  }
};

/// Stores rows, sorted, with A's values and zeros for fill.
template <class Scalar, class ExecutionSpace>
struct StoreFill {
  CrsArrays<Scalar> A;
  IndexOutput row_map, entries;
  Scalar* values;

  KOKKOS_INLINE_FUNCTION FillCount copied(int row, int lane) const {
    const std::int64_t from = A.row_map(row), to = row_map(row);
    const std::int64_t length = A.row_map(row + 1) - from;
    for (std::int64_t k = lane; k < length; k += lane_width<ExecutionSpace>) {
      entries.set(to + k, A.entries(from + k));
      values[to + k] = A.values[from + k];
    }
    return {};
  }
  KOKKOS_INLINE_FUNCTION FillCount found(int row,
                                         const FillTable<ExecutionSpace>& table,
                                         std::int64_t count, int lane) const {
    int size = 0;
    const int* const column = table.sort_kept(count, row, lane, size);
    const std::int64_t to = row_map(row);
    for (int k = lane; k < size; k += lane_width<ExecutionSpace>) {
      entries.set(to + k, column[k]);
      values[to + k] = value(row, column[k]);
    }
    return {};
  }
  /// It is stored by a launch with larger tables.
  KOKKOS_INLINE_FUNCTION void failed(int, int) const {}
  KOKKOS_INLINE_FUNCTION bool goes_on(const FillCount&, int) const {
    return true;
  }

 private:
  KOKKOS_INLINE_FUNCTION Scalar value(int row, int column) const {
    const std::int64_t at = first_entry_from(A, row, column);
    return at < A.row_map(row + 1) && A.entries(at) == column ? A.values[at]
                                                              : Scalar(0);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
