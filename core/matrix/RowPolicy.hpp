// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_ROW_POLICY_HPP
#define STRATA_CORE_MATRIX_ROW_POLICY_HPP

#include <core/device/Warp.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// The least number that functor(i, first) has put into `first`, for i from
/// `begin` to `end`; the largest one there is if it has put none. Waits for
/// `exec`.
template <class Functor, class ExecutionSpace>
std::int64_t find_first(const char* label, const ExecutionSpace& exec,
                        std::int64_t begin, std::int64_t end,
                        const Functor& functor) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  Kokkos::parallel_reduce(label, RangeOf<ExecutionSpace>(exec, begin, end),
                          functor, Kokkos::Min<std::int64_t>(first));
  exec.fence();
  return first;
}

/// Entries of row `row`, for functors that tell: `length(row)`. Others count as
/// short.
template <class Functor>
KOKKOS_INLINE_FUNCTION auto row_length(const Functor& functor, std::int64_t row,
                                       int) -> decltype(functor.length(row)) {
  return functor.length(row);
}
template <class Functor>
KOKKOS_INLINE_FUNCTION std::int64_t row_length(const Functor&, std::int64_t,
                                               long) {
  return 0;
}

/// Lanes of `width` that share a row, by the mean number of entries.
KOKKOS_INLINE_FUNCTION int lanes_for_rows(std::int64_t rows,
                                          std::int64_t entries, int width) {
  int lanes = 1;
  while (lanes < width && entries > 2 * lanes * rows) lanes *= 2;
  return lanes;
}

/// Runs `functor(row, lane, lanes)` for every row with the entries of a row
/// dealt to `lanes` lanes: lane l takes entries l, l + lanes, ...
///
/// `lanes` follows the mean row length, so short rows do not idle a warp. Rows
/// of many more entries, where the functor tells their length, are done after
/// the others by all lanes of the warp.
template <class Functor, class TeamMember>
struct RowByLanes {
  static constexpr int width = lane_width<typename TeamMember::execution_space>;
  /// Entries that a lane takes of a row before that is left to the warp.
  static constexpr int most_turns = 16;
  Functor functor;
  std::int64_t rows;
  int lanes;
  int rows_per_team;

  KOKKOS_INLINE_FUNCTION void operator()(const TeamMember& team) const {
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * rows_per_team;
    if constexpr (width == 1) {
      const std::int64_t end =
          first + rows_per_team < rows ? first + rows_per_team : rows;
      for (std::int64_t row = first; row < end; ++row) functor(row, 0, 1);
    } else {
      // A team has just as many threads as its rows have lanes.
      const int rank = team.team_rank();
      const std::int64_t row = first + rank / lanes;
      const bool is_long =
          row < rows && lanes < width &&
          row_length(functor, row, 0) > std::int64_t{most_turns} * lanes;
      if (row < rows && !is_long) functor(row, rank % lanes, lanes);
      for (LaneMask left = lane_ballot(is_long && rank % lanes == 0); left;
           left &= left - 1)
        functor(lane_broadcast(row, lowest_bit(left)), rank % width, width);
    }
  }
};

/// Teams for functors of some hundred bytes: Kokkos passes these to a CUDA
/// kernel as arguments, where it would else first wait for the last kernel that
/// it has passed one of that size to.
template <class ExecutionSpace>
using LargeFunctorTeams = Kokkos::TeamPolicy<
    ExecutionSpace, Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>;
/// The same for ranges. A launch of the other kind can't be recorded into a
/// CUDA graph, either.
template <class ExecutionSpace>
using LargeFunctorRange = Kokkos::RangePolicy<
    ExecutionSpace, Kokkos::IndexType<std::int64_t>,
    Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>;

template <class ExecutionSpace, class Functor>
void for_each_row(const char* label, const ExecutionSpace& exec,
                  std::int64_t rows, std::int64_t entries,
                  const Functor& functor) {
  if (rows == 0) return;
  using Policy = LargeFunctorTeams<ExecutionSpace>;
  using Member = typename Policy::member_type;
  const int lanes = lanes_for_rows(rows, entries, lane_width<ExecutionSpace>);
  const int team = is_gpu<ExecutionSpace> ? 128 : 1;
  const int rows_per_team = is_gpu<ExecutionSpace> ? team / lanes : 256;
  const std::int64_t league = (rows + rows_per_team - 1) / rows_per_team;
  Kokkos::parallel_for(
      label, Policy(exec, static_cast<int>(league), team),
      RowByLanes<Functor, Member>{functor, rows, lanes, rows_per_team});
}

}  // namespace Detail
}  // namespace Strata

#endif
