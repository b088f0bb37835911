// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_TILES_PARTITION_TILES_HPP
#define STRATA_ANALYSIS_TILES_PARTITION_TILES_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/tiles/JoinTiles.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/WorkPool.hpp>
#include <memory>
#include <utility>

namespace Strata {
namespace Detail {

/// What a plan of tiles is made for.
struct TileTeams {
  int warps;       ///< of a team
  int most_steps;  ///< of a warp: see order_tiles
  int most_width;  ///< likewise, and of a tile of a run
  /// At most; 1: there are no runs, 0: as many as pay.
  int tiles_of_run;
};

/// Host memory that a device copies from and to at the speed of its bus.
template <class ExecutionSpace>
using StagingPool = WorkPool<ExecutionSpace, HostVisibleSpace<ExecutionSpace>>;

/// Tiles of a graph, and runs if they pay: what a plan is made from, in host
/// memory.
template <class ExecutionSpace>
struct TilePartition {
  /// Memory that a device copies from and to. Copies end before it does.
  std::shared_ptr<StagingPool<ExecutionSpace>> staging;
  /// Of the tiles' vertices: a host grows tiles in its own memory up to a third
  /// faster than in memory that a device shares (H200).
  std::shared_ptr<WorkPool<ExecutionSpace, Kokkos::HostSpace>> memory;
  Tiles tiles;    ///< if there are runs, of at most TileTeams::most_width rows
  TileRuns runs;  ///< none if they do not pay
  /// Steps of the longest chain: tiles or, with runs, runs and three steps for
  /// each tile of a run, which a warp solves before it waits.
  int chain = 0;
};

/// A view in host memory, or a copy of it there that `exec` makes: in `staging`
/// unless it is too large to stay pinned, then in `memory`.
template <class ExecutionSpace, class View>
auto on_host(const ExecutionSpace& exec, const View& view,
             StagingPool<ExecutionSpace>& staging,
             WorkPool<ExecutionSpace, Kokkos::HostSpace>& memory) {
  using Value = typename View::non_const_value_type;
  using OnHost = Kokkos::HostSpace;
  const Value* from = view.data();
  if constexpr (is_gpu<ExecutionSpace>) {
    using Pinned = MemoryPool<HostVisibleSpace<ExecutionSpace>>;
    const auto count = static_cast<std::int64_t>(view.extent(0));
    const bool stays =
        view.extent(0) * sizeof(Value) < Pinned::most_bytes() / 2;
    const UnmanagedView<Value, OnHost> copy(
        stays ? staging.template take<Value>(count)
              : memory.template take<Value>(count),
        view.extent(0));
    Kokkos::deep_copy(exec, copy, view);
    from = copy.data();
  }
  return UnmanagedView<const Value, OnHost>(from, view.extent(0));
}

/// Cost: a copy of the graph's pattern to the host and a pass over it there.
/// Waits for `exec`.
template <class ExecutionSpace>
TilePartition<ExecutionSpace> partition_tiles(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const TileTeams& teams) {
  const int n = graph.num_vertices;
  TilePartition<ExecutionSpace> made;
  made.staging = std::make_shared<StagingPool<ExecutionSpace>>(exec, 0);
  using Vertices = WorkPool<ExecutionSpace, Kokkos::HostSpace>;
  made.memory = std::make_shared<Vertices>(exec, n * sizeof(TileVertex));
  const auto row_map =
      on_host(exec, graph.row_map, *made.staging, *made.memory);
  const auto entries =
      on_host(exec, graph.entries, *made.staging, *made.memory);
  exec.fence();
  const auto grow = [&](int most_rows) {
    return grow_tiles(n, row_map, entries,
                      made.memory->template take<TileVertex>(n), most_rows);
  };
  Tiles& tiles = made.tiles;
  tiles = grow(most_tile_rows);
  made.chain = tiles.depths;
  const int wanted = teams.tiles_of_run > 0
                         ? std::min(teams.tiles_of_run, most_run_tiles)
                         : tiles_of_run(tiles);
  if (wanted > 1) {
    Tiles narrow;
    if (teams.most_width < most_tile_rows) narrow = grow(teams.most_width);
    const bool is_narrow = narrow.count() > 0;
    TileRuns runs = join_tiles(is_narrow ? narrow : tiles, row_map, entries,
                               wanted, most_run_unknowns);
    const bool pays =
        teams.tiles_of_run > 0 ||
        std::int64_t{5} * runs.depths <= std::int64_t{2} * tiles.depths;
    if (runs.count() > 0 && pays) {
      made.chain = runs.depths + 3 * wanted;
      made.runs = std::move(runs);
      if (is_narrow) tiles = std::move(narrow);
    }
  }
  return made;
}

}  // namespace Detail
}  // namespace Strata

#endif
