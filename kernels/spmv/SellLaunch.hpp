// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_LAUNCH_HPP
#define STRATA_KERNELS_SPMV_SELL_LAUNCH_HPP

#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <kernels/spmv/SellKernel.hpp>

namespace Strata {
namespace Detail {

/// Blocks of a launch whose kernel goes on until all work is done: as many as
/// run at once.
template <class ExecutionSpace>
int resident_blocks(const ExecutionSpace& exec, int blocks_at_once) {
  return (is_gpu<ExecutionSpace> ? blocks_at_once : 8) *
         num_multiprocessors(exec);
}
/// The most of them that any kernel here has.
constexpr int most_blocks_at_once = 8;
/// How many times as many blocks a pass over uneven chunks has: multiprocessors
/// whose blocks end early then take more of them. Other chunks do without, and
/// save the beginning of each block.
constexpr int uneven_blocks = 4;

/// run_sell() by a kernel that is chosen.
template <class Run, class Scalar, class ExecutionSpace, class Task>
LateSums run_sell_as(
    const char* label, const ExecutionSpace& exec,
    const SellStorage<Scalar, typename ExecutionSpace::memory_space>& A,
    const Task& task,
    const GridSum<typename ExecutionSpace::memory_space>& grid_sum) {
  constexpr int width = lane_width<ExecutionSpace>;
  constexpr int warps = is_gpu<ExecutionSpace> ? 256 / width : 1;
  const std::int64_t chunks = A.num_chunks();
  const std::int64_t tasks =
      A.num_pieces() +
      (width > 1 ? (chunks * A.chunk_lanes() + width - 1) / width : chunks);
  std::int64_t blocks = std::min<std::int64_t>(
      (tasks + warps - 1) / warps,
      std::int64_t{resident_blocks(exec, Run::blocks_at_once)} *
          (is_gpu<ExecutionSpace> && A.uneven ? uneven_blocks : 1));
  // Finishing a sum is some block's work even where there are no rows.
  if (Task::reduces)
    blocks = std::max<std::int64_t>(
        1, std::min<std::int64_t>(blocks, grid_sum.max_blocks));
  run_native_teams<Run::blocks_at_once>(
      label, exec, static_cast<int>(blocks),
      Run{SellRef<Scalar>(A), task, GridSumRef(grid_sum), tasks});
  return {GridSumRef(grid_sum), static_cast<int>(blocks), A.num_long_rows()};
}

/// Enqueues a pass over a matrix. Returns what it leaves to be added up.
template <class Scalar, class ExecutionSpace, class Task>
LateSums run_sell(
    const char* label, const ExecutionSpace& exec,
    const SellStorage<Scalar, typename ExecutionSpace::memory_space>& A,
    const Task& task,
    const GridSum<typename ExecutionSpace::memory_space>& grid_sum = {}) {
  if constexpr (is_gpu<ExecutionSpace> && sizeof(Scalar) == 4 &&
                Task::block == 1 && !Task::heavy) {
    using Pairs = SellRun<Scalar, ExecutionSpace, Task, true>;
    if (A.uniform_diagonals && A.uniform_steps > 2 &&
        A.uniform_steps <= Pairs::pair_steps && A.log_lanes == 0 &&
        A.chunk_rows == lane_width<ExecutionSpace> && A.num_pieces() == 0)
      return run_sell_as<Pairs>(label, exec, A, task, grid_sum);
  }
  return run_sell_as<SellRun<Scalar, ExecutionSpace, Task>>(label, exec, A,
                                                            task, grid_sum);
}

}  // namespace Detail
}  // namespace Strata

#endif
