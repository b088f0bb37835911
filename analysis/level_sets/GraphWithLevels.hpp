// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_LEVEL_SETS_GRAPH_WITH_LEVELS_HPP
#define STRATA_ANALYSIS_LEVEL_SETS_GRAPH_WITH_LEVELS_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/memory/WorkPool.hpp>

namespace Strata {
namespace Detail {

/// The graph of a triangle and its levels, in the memory of a pool, which an
/// analysis of that triangle can begin with. Without a pool there is none.
template <class ExecutionSpace>
struct GraphWithLevels {
  using Memory = typename ExecutionSpace::memory_space;

  typename WorkPool<ExecutionSpace>::Pointer pool;
  DependencyGraph<Memory> graph;
  GraphLevels<Memory> levels;
};

}  // namespace Detail
}  // namespace Strata

#endif
