// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_TILES_MAKE_TILE_PLAN_HPP
#define STRATA_ANALYSIS_TILES_MAKE_TILE_PLAN_HPP

#include <analysis/tiles/PartitionTiles.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/PlanStorage.hpp>
#include <core/memory/ToDevice.hpp>

namespace Strata {
namespace Detail {

/// A matrix as SolveTiles reads it: rows at places, in groups of tiles.
template <class MemorySpace>
struct TilePlan {
  int num_rows = 0, num_tiles = 0, num_runs = 0;
  int chain = 0;               // see TilePartition
  std::int64_t num_slots = 0;  // of outside entries, padding included
  /// Numbers of the tiles' diagonal blocks, stored dense, column by column of a
  /// group: what InvertTiles makes from the inner entries, and solves read.
  std::int64_t num_inner = 0;
  typename PlanStorage<MemorySpace>::Block storage;

  Kokkos::View<TileGroup*, MemorySpace> group;
  Kokkos::View<int*, MemorySpace> ticket;  // see TileOrder, and the end
  // If there are runs, a ticket is of these; and each one's unknowns.
  Kokkos::View<TileRun*, MemorySpace> run;
  Kokkos::View<int*, MemorySpace> unknown;
  std::int64_t num_weights = 0;
  // Of each place: the row of the matrix; the place in its tile; the places of
  // its tile that it depends on; where its inner entries begin, and the end.
  Kokkos::View<unsigned*, MemorySpace> row;
  Kokkos::View<unsigned char*, MemorySpace> place_in_tile;
  Kokkos::View<unsigned*, MemorySpace> ancestors;
  Kokkos::View<std::int64_t*, MemorySpace> inner_map;
  ValueIndex<MemorySpace> diagonal_value_index;
  // Of each slot: the place of the unknown, -1 in padding; the value's index.
  // Entry e of row r of a group goes to its thread (e / lanes) % warps, lane
  // r * lanes + e % lanes, as `lanes` lanes of each of the warps that share the
  // group add up a row.
  Kokkos::View<int*, MemorySpace> dependency;
  ValueIndex<MemorySpace> value_index;
  // Of each inner entry: the place in the tile of its unknown.
  Kokkos::View<unsigned char*, MemorySpace> inner_place;
  ValueIndex<MemorySpace> inner_value_index;

  std::size_t bytes() const {
    return group.extent(0) * sizeof(TileGroup) +
           run.extent(0) * sizeof(TileRun) +
           (unknown.extent(0) + ticket.extent(0) + ancestors.extent(0) +
            dependency.extent(0)) *
               4 +
           place_in_tile.extent(0) + inner_place.extent(0) +
           inner_map.extent(0) * 8 + value_index.bytes() +
           inner_value_index.bytes();
  }
};

/// The slot of entry e of row r of a group.
KOKKOS_INLINE_FUNCTION std::int64_t slot_of(const TileGroup& group, int r,
                                            int e) {
  const int lanes = 1 << group.log_lanes;
  return group.first_slot + (std::int64_t{e / lanes} * group.rows + r) * lanes +
         e % lanes;
}

/// Puts the entries of the row at each place where a solve reads them.
template <class MemorySpace>
struct FillTileRows {
  TilePlan<MemorySpace> plan;
  DependencyGraph<MemorySpace> graph;
  Kokkos::View<const int*, MemorySpace> vertex, place_of, group_of;
  int warps;
  static constexpr int gaps = 8;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const int v = vertex(p);
    const TileGroup group = plan.group(group_of(p));
    const int r = static_cast<int>(p) - group.first_row;
    const int first = static_cast<int>(p) - plan.place_in_tile(p);
    plan.row(p) = static_cast<unsigned>(graph.row_of(v));
    plan.diagonal_value_index.set(p, graph.diagonal_value_index(v));
    const std::int64_t begin = graph.row_map(v), end = graph.row_map(v + 1);
    // Entries by how many depths before their own tile they lead to: those that
    // are there last come last, after the padding.
    int place_of_gap[gaps] = {};
    const auto gap_of = [&](int q) {
      const int gap = group.depth - plan.group(group_of(q)).depth;
      return gap < gaps ? gaps - gap : 0;
    };
    const auto is_inner = [&](int q) { return q >= first && q < p; };
    int outside = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      const int q = place_of(graph.entries(k));
      if (is_inner(q)) continue;
      ++outside;
      for (int gap = gap_of(q) + 1; gap < gaps; ++gap) ++place_of_gap[gap];
    }
    const int share = (1 << group.log_lanes) * (group.of_team ? warps : 1);
    const int padding = group.steps * share - outside;
    for (int e = 0; e < padding; ++e) {
      const std::int64_t slot = slot_of(group, r, e);
      plan.dependency(slot) = -1;
      plan.value_index.set(slot, -1);
    }
    std::int64_t inner = plan.inner_map(p);
    for (std::int64_t k = begin; k < end; ++k) {
      const int q = place_of(graph.entries(k));
      if (is_inner(q)) {
        plan.inner_place(inner) = static_cast<unsigned char>(q - first);
        plan.inner_value_index.set(inner++, graph.value_index(k));
        continue;
      }
      const std::int64_t slot =
          slot_of(group, r, padding + place_of_gap[gap_of(q)]++);
      plan.dependency(slot) = q;
      plan.value_index.set(slot, graph.value_index(k));
    }
  }
};

/// Cost: two passes over the graph on the device. Waits for `exec`.
/// @param teams  what the partition was made for
/// @param take   also takes what a solver keeps with the plan: take(storage,
///               plan)
template <class ExecutionSpace, class Take>
TilePlan<typename ExecutionSpace::memory_space> make_tile_plan(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const TilePartition& partition, std::int64_t num_values,
    const TileTeams& teams, const Take& take) {
  using Memory = typename ExecutionSpace::memory_space;
  const int n = graph.num_vertices;
  const Tiles& tiles = partition.tiles;
  RunOrder in;
  if (partition.runs.count() > 0)
    in = order_runs(tiles, partition.runs, teams.warps);
  else
    in.order =
        order_tiles(tiles, teams.warps, teams.most_steps, teams.most_width);
  const TileOrder& order = in.order;
  const auto row_map = [&](int v) { return partition.row_map[v]; };
  std::vector<int> place_of(n), group_of(n);
  std::vector<unsigned char> place_in_tile(n);
  std::vector<unsigned> ancestors(n);
  std::vector<std::int64_t> inner_map(n + std::size_t{1});
  for (std::size_t g = 0; g < order.groups.size(); ++g)
    for (int r = 0; r < order.groups[g].rows; ++r)
      group_of[order.groups[g].first_row + r] = static_cast<int>(g);
  for (int p = 0; p < n; ++p) {
    const int v = order.vertex[p];
    place_of[v] = p;
    place_in_tile[p] = tiles.place[v];
    ancestors[p] = tiles.ancestors[v];
    inner_map[p + 1] =
        inner_map[p] + row_map(v + 1) - row_map(v) - tiles.outside_of[v];
  }
  for (int& u : in.unknowns)
    if (u >= 0) u = place_of[u];

  TilePlan<Memory> plan;
  plan.num_rows = n;
  plan.num_runs = static_cast<int>(in.runs.size());
  plan.num_weights = in.weights;
  plan.num_tiles = tiles.count();
  plan.chain = partition.chain;
  plan.num_slots = order.slots;
  plan.num_inner = order.inner;
  plan.storage = make_plan_storage<Memory>(
      exec, "Strata::Tiles", [&](PlanStorage<Memory>& storage) {
        const auto groups = static_cast<std::int64_t>(order.groups.size());
        take(storage, plan);
        storage.take(plan.group, groups);
        storage.take(plan.run, plan.num_runs);
        storage.take(plan.inner_map, std::int64_t{n} + 1);
        storage.take(plan.diagonal_value_index, n, num_values);
        storage.take(plan.value_index, order.slots, num_values);
        storage.take(plan.inner_value_index, inner_map[n], num_values);
        storage.take(plan.ticket,
                     static_cast<std::int64_t>(order.tickets.size()));
        storage.take(plan.unknown,
                     static_cast<std::int64_t>(in.unknowns.size()));
        storage.take(plan.row, n);
        storage.take(plan.ancestors, n);
        storage.take(plan.dependency, order.slots);
        storage.take(plan.place_in_tile, n);
        storage.take(plan.inner_place, inner_map[n]);
      });
  const auto copy = [&](const auto& to, const auto& from) {
    using Element = typename std::decay_t<decltype(from)>::value_type;
    Kokkos::deep_copy(exec, to,
                      UnmanagedView<const Element, Kokkos::HostSpace>(
                          from.data(), from.size()));
  };
  copy(plan.group, order.groups);
  copy(plan.run, in.runs);
  copy(plan.unknown, in.unknowns);
  copy(plan.ticket, order.tickets);
  copy(plan.place_in_tile, place_in_tile);
  copy(plan.ancestors, ancestors);
  copy(plan.inner_map, inner_map);
  for_each_index(
      "Strata::Tiles::fill", exec, n,
      FillTileRows<Memory>{
          plan, graph,
          to_device<int, Memory>("Strata::Tiles::vertex", order.vertex),
          to_device<int, Memory>("Strata::Tiles::place_of", place_of),
          to_device<int, Memory>("Strata::Tiles::group_of", group_of),
          teams.warps});
  exec.fence();
  return plan;
}

}  // namespace Detail
}  // namespace Strata

#endif
