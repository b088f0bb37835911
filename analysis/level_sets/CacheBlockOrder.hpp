// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_LEVEL_SETS_CACHE_BLOCK_ORDER_HPP
#define STRATA_ANALYSIS_LEVEL_SETS_CACHE_BLOCK_ORDER_HPP

#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/stages/StageKinds.hpp>
#include <core/device/DeviceInfo.hpp>

namespace Strata {
namespace Detail {

/// Vertices of a block, and level sets of a graph up to which those of a block
/// are wide still.
constexpr int vertices_of_cache_block = 1 << 19,
              most_levels_of_cache_block = 16;

/// Whether a solve with one right-hand side gains by order_by_cache_blocks: b,
/// x and two copies of x do not fit the device's cache.
template <class ExecutionSpace>
bool gains_by_cache_blocks(const ExecutionSpace& exec, const LevelSizes& sizes,
                           std::size_t scalar_bytes) {
  if (!is_gpu<ExecutionSpace> || sizes.num_levels < 2 ||
      sizes.num_levels > most_levels_of_cache_block)
    return false;
  const auto rows = static_cast<std::size_t>(sizes.level_map.back());
  return rows > 2 * vertices_of_cache_block &&
         4 * scalar_bytes * rows > cache_bytes(exec);
}

/// Level sets of blocks of consecutive vertices, numbered one block after the
/// other without gaps.
template <class MemorySpace>
struct CacheBlockLevels {
  Kokkos::View<const int*, MemorySpace> level_of;
  std::int64_t block_vertices, num_levels, num_numbers;
  int* number;     // by block and level
  int* new_level;  // by vertex
  std::int64_t* count;

  KOKKOS_INLINE_FUNCTION std::int64_t number_of(std::int64_t v) const {
    return v / block_vertices * num_levels + level_of(v);
  }
  struct Clear {};
  KOKKOS_INLINE_FUNCTION void operator()(Clear, std::int64_t i) const {
    number[i] = 0;
  }
  struct Mark {};
  KOKKOS_INLINE_FUNCTION void operator()(Mark, std::int64_t v) const {
    mark_used(number + number_of(v));
  }
  struct Number {};
  KOKKOS_INLINE_FUNCTION void operator()(Number, std::int64_t i,
                                         std::int64_t& sum, bool final) const {
    number_used(number + i, sum, final);
    if (final && i + 1 == num_numbers) *count = sum;
  }
  struct Take {};
  KOKKOS_INLINE_FUNCTION void operator()(Take, std::int64_t v) const {
    new_level[v] = number[number_of(v)];
  }
};

/// Vertices in blocks of consecutive ones, which fit a cache (and are not the
/// diagonal blocks of DiagonalBlockOrder), in each by level and then as
/// `within` says. Every vertex still comes after those that it needs, which
/// have smaller numbers, and none needs another one of its block and level:
/// these are the level sets of the order.
///
/// Where level sets are few and much larger than the caches, this keeps what
/// rows read and write within a block: rows that are neighbours in memory, but
/// not in a level set, find it there.
///
/// @param order of the graph by level; both orders' arrays are the pool's
/// Cost: as order_by_known_levels; the host waits once more.
template <class ExecutionSpace>
LevelOrder<typename ExecutionSpace::memory_space> order_by_cache_blocks(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order,
    int block_vertices, WithinLevel within, WorkPool<ExecutionSpace>& pool) {
  using Memory = typename ExecutionSpace::memory_space;
  using Stages = CacheBlockLevels<Memory>;
  const std::int64_t n = graph.num_vertices;
  const std::int64_t blocks = (n + block_vertices - 1) / block_vertices;
  const std::int64_t numbers = blocks * order.num_levels();
  Stages stages{order.level_of, block_vertices, order.num_levels(),
                numbers,        nullptr,        nullptr,
                nullptr};
  pool.take(stages.number, numbers);
  pool.take(stages.new_level, n);
  pool.take(stages.count, 1);
  FusedStages<ExecutionSpace>(exec, pool)
      .run("Strata::CacheBlockOrder", stages,
           EachStage<typename Stages::Clear>{numbers},
           EachStage<typename Stages::Mark>{n},
           SumStage<typename Stages::Number>{numbers},
           EachStage<typename Stages::Take>{n});
  std::int64_t levels = 0;
  copy_to_host(exec, Kokkos::View<std::int64_t*, Memory>(stages.count, 1),
               &levels);
  return order_by_known_levels(
      exec, graph,
      {Kokkos::View<int*, Memory>(stages.new_level, n),
       static_cast<int>(levels), order.sizes.longest_row_of_all(), true},
      nullptr, within, pool);
}

}  // namespace Detail
}  // namespace Strata

#endif
