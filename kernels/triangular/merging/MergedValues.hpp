// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_VALUES_HPP
#define STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_VALUES_HPP

#include <algorithm>
#include <analysis/merging/MergedRows.hpp>
#include <analysis/packing/RowChunks.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <kernels/triangular/merging/GrowthOfMergedRows.hpp>
#include <kernels/triangular/merging/MakeMergedValues.hpp>

namespace Strata {
namespace Detail {

/// Takes over what MakeMergedValues has packed.
template <class Scalar>
struct TakeValues {
  static constexpr int threads = 256, batch = 4;
  const Scalar *packed, *packed_diagonal;
  Scalar *value, *diagonal;
  std::int64_t slots, rows;
  bool divide;

  /// Parts of a block, or of a host's thread.
  static std::int64_t blocks(std::int64_t slots, std::int64_t rows) {
    constexpr std::int64_t each = threads * batch;
    return (std::max(slots, rows) + each - 1) / each;
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const std::int64_t first =
        static_cast<std::int64_t>(team.league_rank()) * threads * batch;
    if (team.team_size() == 1) {
      for (int i = 0; i < threads; ++i) take(first + i);
    } else {
      take(first + team.team_rank());
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void take(std::int64_t first) const {
    Scalar entry[batch], own[batch];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      const std::int64_t i = first + u * threads;
      entry[u] = i < slots ? packed[i] : Scalar(0);
      own[u] = i < rows ? packed_diagonal[i] : Scalar(1);
    }
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      const std::int64_t i = first + u * threads;
      if (i < slots) value[i] = entry[u];
      if (i < rows) diagonal[i] = divide ? own[u] : Scalar(1) / own[u];
    }
  }
};

/// Values of a plan of chunks whose level sets are merged.
/// Later ones are made in other memory, looked at on the way, and copied from
/// there: what makes them takes several times as long as a copy.
template <class Scalar, class ExecutionSpace>
class MergedValues {
 public:
  using Memory = typename ExecutionSpace::memory_space;

  /// @param max_steps  entries of a row from which on it has more lanes
  MergedValues(const MergedRows<Memory>& rows, int max_steps, bool conjugated,
               const GrowthLimit& limit)
      : rows_(rows),
        max_steps_(max_steps),
        conjugated_(conjugated),
        limit_(limit) {}

  /// Enqueues the making of new values, by slot, and of the diagonal as it is,
  /// by permuted row; returns what is found on the way, once that is done.
  /// @param workspace  for as many keys as there are rows
  /// @param reciprocals  of the diagonal are made instead
  std::int64_t* make(const ExecutionSpace& exec, const RowChunks<Memory>& plan,
                     const Scalar* values, Scalar* value, Scalar* diagonal,
                     const GrowthWorkspace<Memory>& workspace,
                     bool reciprocals = false) const {
    using Run = MakeMergedValues<Scalar, ExecutionSpace>;
    const int chunks = plan.num_chunks();
    Run run{rows_,
            plan.chunk,
            plan.row,
            plan.dependency,
            {values, conjugated_},
            0,
            1,
            rows_.most_coefficients + 1,
            rows_.most_coefficients + rows_.most_dependencies,
            value,
            diagonal,
            workspace.spread(),
            reciprocals};
    int teams = (chunks + Run::host_chunks - 1) / Run::host_chunks;
    if constexpr (Run::on_device) {
      // Several warps a chunk as long as there are lanes to spare.
      const int multiprocessors = num_multiprocessors(exec);
      run.log_warps = chunks < 16 * multiprocessors   ? 2
                      : chunks < 64 * multiprocessors ? 1
                                                      : 0;
      // Rows with several lanes have more elements, and are fewer.
      const int coefficients = std::min(rows_.most_coefficients, max_steps_);
      run.most_coefficients = (coefficients + 1) * Run::width;
      run.most_slots =
          (coefficients + std::min(rows_.most_dependencies, max_steps_)) *
          Run::width;
      // One chunk's part always fits.
      const auto most = static_cast<int>(team_scratch_bytes(exec));
      for (;; ++run.log_warps) {
        run.team_chunks = 4 >> run.log_warps;
        if (run.log_warps == 2 || run.scratch_bytes() <= most) break;
      }
      teams = (chunks + run.team_chunks - 1) / run.team_chunks;
    }
    constexpr const char* label = "Strata::MergedRows::make";
    run_teams<Run::most_teams_per_multiprocessor, Run::team_size>(
        label, exec, teams, run, std::size_t(run.scratch_bytes()));
    return faults();
  }
  /// Where check_growth finds the rows.
  GrowthOfChunkRows<Scalar, Memory> merged_rows(const RowChunks<Memory>& plan,
                                                const Scalar* values) const {
    return {
        rows_, plan.chunk, plan.row, plan.dependency, {values, conjugated_}};
  }
  std::int64_t* faults() const { return rows_.faults.data(); }
  const GrowthLimit& limit() const { return limit_; }
  std::size_t bytes() const { return rows_.bytes(); }

 private:
  MergedRows<Memory> rows_;
  int max_steps_;
  bool conjugated_;
  GrowthLimit limit_;
};

}  // namespace Detail
}  // namespace Strata

#endif
