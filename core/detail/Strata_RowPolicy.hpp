// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ROW_POLICY_HPP
#define STRATA_ROW_POLICY_HPP

#include <detail/Strata_KokkosCompat.hpp>

namespace Strata {
namespace Detail {

/// Runs `functor(row, lane, lanes)` for every row with the entries of a row
/// dealt to `lanes` lanes: lane l takes entries l, l + lanes, ...
///
/// `lanes` follows the mean row length, so short rows do not idle a warp and
/// one dense row among short ones is still read by several lanes.
template <class Functor, class TeamMember>
struct RowByLanes {
  Functor functor;
  std::int64_t rows;
  int lanes;
  int rows_per_team;

  KOKKOS_INLINE_FUNCTION void operator()(const TeamMember& team) const {
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * rows_per_team;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows_per_team * lanes),
                         [&](int k) {
                           const std::int64_t row = first + k / lanes;
                           if (row < rows) functor(row, k % lanes, lanes);
                         });
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
