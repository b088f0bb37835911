// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ROW_POLICY_HPP
#define STRATA_ROW_POLICY_HPP

#include <detail/Strata_KokkosCompat.hpp>
#include <type_traits>
#include <utility>

namespace Strata {
namespace Detail {

/// Whether a functor has `length(row)`.
template <class Functor, class = void>
struct TellsLength : std::false_type {};
template <class Functor>
struct TellsLength<Functor, std::void_t<decltype(std::declval<const Functor&>()
                                                     .length(std::int64_t{}))>>
    : std::true_type {};

/// Runs `functor(row, lane, lanes)` for every row with the entries of a row
/// dealt to `lanes` lanes: lane l takes entries l, l + lanes, ...
///
/// `lanes` follows the mean row length, so short rows do not idle a warp. Where
/// the functor tells `length(row)`, the entries of a row, a long one among
/// short ones goes to a whole warp.
template <class Functor, class TeamMember>
struct RowByLanes {
  static constexpr int width = lane_width<typename TeamMember::execution_space>;
  /// Entries of a lane from which on a row is long.
  static constexpr int many = 16;
  Functor functor;
  std::int64_t rows;
  int lanes;
  int rows_per_team;

  KOKKOS_INLINE_FUNCTION void operator()(const TeamMember& team) const {
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * rows_per_team;
    if constexpr (width > 1 && TellsLength<Functor>::value) {
      by_length(first, team.team_rank());
    } else {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows_per_team * lanes),
                           [&](int k) {
                             const std::int64_t row = first + k / lanes;
                             if (row < rows) functor(row, k % lanes, lanes);
                           });
    }
  }

 private:
  /// With a thread for each lane of each row.
  KOKKOS_INLINE_FUNCTION void by_length(std::int64_t first, int rank) const {
    const std::int64_t row = first + rank / lanes;
    const bool is_long =
        row < rows && functor.length(row) > std::int64_t{many} * lanes;
    if (row < rows && !is_long) functor(row, rank % lanes, lanes);
    lane_barrier();
    for (unsigned left = lane_ballot(is_long && rank % lanes == 0); left != 0;
         left &= left - 1)
      functor(lane_broadcast(row, lowest_bit(left)), rank % width, width);
  }
};

template <class ExecutionSpace, class Functor>
void for_each_row(const char* label, const ExecutionSpace& exec,
                  std::int64_t rows, std::int64_t entries,
                  const Functor& functor) {
  if (rows == 0) return;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  int lanes = 1;
  if (is_cuda<ExecutionSpace>)
    while (lanes < lane_width<ExecutionSpace> && entries / rows > 2 * lanes)
      lanes *= 2;
  const int team = is_cuda<ExecutionSpace> ? 128 : 1;
  const int rows_per_team = is_cuda<ExecutionSpace> ? team / lanes : 256;
  const std::int64_t league = (rows + rows_per_team - 1) / rows_per_team;
  Kokkos::parallel_for(
      label, Policy(exec, static_cast<int>(league), team),
      RowByLanes<Functor, Member>{functor, rows, lanes, rows_per_team});
}

}  // namespace Detail
}  // namespace Strata

#endif
