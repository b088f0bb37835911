// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_TILES_MAKE_TILE_PLAN_HPP
#define STRATA_ANALYSIS_TILES_MAKE_TILE_PLAN_HPP

#include <analysis/tiles/PartitionTiles.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/memory/PlanStorage.hpp>

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
  // Of each inner entry: its row in the group, and the place in the tile of its
  // unknown.
  Kokkos::View<unsigned char*, MemorySpace> inner_row, inner_place;
  ValueIndex<MemorySpace> inner_value_index;

  std::size_t bytes() const {
    return group.extent(0) * sizeof(TileGroup) +
           run.extent(0) * sizeof(TileRun) +
           (unknown.extent(0) + ticket.extent(0) + ancestors.extent(0) +
            dependency.extent(0)) *
               4 +
           place_in_tile.extent(0) + 2 * inner_place.extent(0) +
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

/// Puts vertices at their places in a plan's order.
template <class MemorySpace>
struct PlaceTileRows {
  TilePlan<MemorySpace> plan;
  DependencyGraph<MemorySpace> graph;
  const TileVertex* tiles;      // of each vertex
  const TilePlace* of_tile;     // of each tile
  int *vertex, *place, *group;  // of each place, vertex, place
  struct Inner {};

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v) const {
    const TileVertex of = tiles[v];
    const int place_in_tile = of.place();
    const int p = of_tile[of.tile].first_row + place_in_tile;
    vertex[p] = static_cast<int>(v);
    place[v] = p;
    group[p] = of_tile[of.tile].group;
    plan.place_in_tile(p) = static_cast<unsigned char>(place_in_tile);
    plan.ancestors(p) = of.ancestors;
    plan.row(p) = static_cast<unsigned>(graph.row_of(v));
    plan.diagonal_value_index.set(p, graph.diagonal_value_index(v));
  }
  /// A scan of inner entries.
  KOKKOS_INLINE_FUNCTION void operator()(Inner, std::int64_t p,
                                         std::int64_t& sum, bool last) const {
    const int v = vertex[p];
    if (last) plan.inner_map(p) = sum;
    sum += graph.row_map(v + 1) - graph.row_map(v) - tiles[v].outside;
    if (last && p + 1 == plan.num_rows) plan.inner_map(p + 1) = sum;
  }
};

/// Puts the entries of the row at each place where a solve reads them. A lane
/// alone does that for short rows, a warp for long ones.
template <class MemorySpace>
struct FillTileRows {
  TilePlan<MemorySpace> plan;
  DependencyGraph<MemorySpace> graph;
  const int *vertex, *place_of, *group_of;
  int warps;
  /// Entries by how many depths before their own tile they lead to: those that
  /// are there last come last, after the padding. And the inner ones.
  static constexpr int gaps = 8, kinds = gaps + 1;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t p) const {
    return graph.row_map(vertex[p] + 1) - graph.row_map(vertex[p]);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, int lane,
                                         int lanes) const {
    const int v = vertex[p];
    const TileGroup group = plan.group(group_of[p]);
    const int r = static_cast<int>(p) - group.first_row;
    const int first = static_cast<int>(p) - plan.place_in_tile(p);
    const std::int64_t begin = graph.row_map(v), end = graph.row_map(v + 1);
    // Of entry k; -1 behind the last.
    const auto kind_of = [&](std::int64_t k) {
      if (k >= end) return -1;
      const int q = place_of[graph.entries(k)];
      if (q >= first && q < p) return gaps;
      const int gap = group.depth - plan.group(group_of[q]).depth;
      return gap < gaps ? gaps - gap : 0;
    };
    int next[kinds] = {};
    for (std::int64_t k = begin; k < end; k += lanes)
      count(next, kind_of(k + lane), lane, lanes);
    int outside = 0;
    for (int kind = 0; kind < gaps; ++kind) {
      const int some = next[kind];
      next[kind] = outside;
      outside += some;
    }
    next[gaps] = 0;
    const int share = (1 << group.log_lanes) * (group.of_team ? warps : 1);
    const int padding = group.steps * share - outside;
    for (int e = lane; e < padding; e += lanes) {
      const std::int64_t slot = slot_of(group, r, e);
      plan.dependency(slot) = -1;
      plan.value_index.set(slot, -1);
    }
    const std::int64_t inner = plan.inner_map(p);
    for (std::int64_t k = begin; k < end; k += lanes) {
      const int kind = kind_of(k + lane);
      const int at = count(next, kind, lane, lanes);
      if (kind < 0) continue;
      const int q = place_of[graph.entries(k + lane)];
      const std::int64_t from = graph.value_index(k + lane);
      if (kind == gaps) {
        plan.inner_row(inner + at) = static_cast<unsigned char>(r);
        plan.inner_place(inner + at) = static_cast<unsigned char>(q - first);
        plan.inner_value_index.set(inner + at, from);
      } else {
        const std::int64_t slot = slot_of(group, r, padding + at);
        plan.dependency(slot) = q;
        plan.value_index.set(slot, from);
      }
    }
  }

 private:
  /// Adds the lanes' kinds to `next`. @returns next[kind] before, with what
  /// lanes before this one have added
  KOKKOS_INLINE_FUNCTION static int count(int (&next)[kinds], int kind,
                                          int lane, int lanes) {
    if (lanes == 1) return kind < 0 ? 0 : next[kind]++;
    int mine = 0;
    for (int k = 0; k < kinds; ++k) {
      const LaneMask of_kind = lane_ballot(kind == k);
      if (kind == k)
        mine = next[k] + count_bits(of_kind & ((LaneMask{1} << lane) - 1));
      next[k] += count_bits(of_kind);
    }
    return mine;
  }
};

/// Cost: some passes over the graph on the device. Waits for `exec`.
/// @param teams  what the partition was made for
/// @param pool   for temporary arrays
/// @param take   also takes what a solver keeps with the plan: take(storage,
///               plan)
template <class ExecutionSpace, class Take>
TilePlan<typename ExecutionSpace::memory_space> make_tile_plan(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const TilePartition<ExecutionSpace>& partition, std::int64_t num_values,
    const TileTeams& teams, WorkPool<ExecutionSpace>& pool, const Take& take) {
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
  for (int& u : in.unknowns)
    if (u >= 0) {
      const TileVertex& of = tiles.vertex[u];
      u = order.place_of[of.tile].first_row + of.place();
    }
  std::int64_t inner_entries = graph.num_edges();
  for (const Tile& tile : tiles.tile) inner_entries -= tile.outside;

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
        storage.take(plan.inner_value_index, inner_entries, num_values);
        storage.take(plan.ticket,
                     static_cast<std::int64_t>(order.tickets.size()));
        storage.take(plan.unknown,
                     static_cast<std::int64_t>(in.unknowns.size()));
        storage.take(plan.row, n);
        storage.take(plan.ancestors, n);
        storage.take(plan.dependency, order.slots);
        storage.take(plan.place_in_tile, n);
        storage.take(plan.inner_row, inner_entries);
        storage.take(plan.inner_place, inner_entries);
      });
  if (n == 0) return plan;
  const auto copy = [&](auto* to, const auto* from, std::size_t count) {
    using Element = std::decay_t<decltype(*from)>;
    Kokkos::deep_copy(
        exec, UnmanagedView<Element, Memory>(to, count),
        UnmanagedView<const Element, Kokkos::HostSpace>(from, count));
    return to;
  };
  const auto copy_vector = [&](auto* to, const auto& from) {
    auto* const staged =
        partition.staging->template take<std::decay_t<decltype(*to)>>(
            static_cast<std::int64_t>(from.size()));
    std::copy(from.begin(), from.end(), staged);
    return copy(to, staged, from.size());
  };
  copy_vector(plan.group.data(), order.groups);
  copy_vector(plan.run.data(), in.runs);
  copy_vector(plan.unknown.data(), in.unknowns);
  copy_vector(plan.ticket.data(), order.tickets);
  const auto mark = pool.mark();
  const PlaceTileRows<Memory> rows{
      plan,
      graph,
      copy(pool.template take<TileVertex>(n), tiles.vertex,
           static_cast<std::size_t>(n)),
      copy_vector(pool.template take<TilePlace>(tiles.count()), order.place_of),
      pool.template take<int>(n),
      pool.template take<int>(n),
      pool.template take<int>(n)};
  for_each_index("Strata::Tiles::place", exec, n, rows);
  using Scan = typename PlaceTileRows<Memory>::Inner;
  Kokkos::parallel_scan(
      "Strata::Tiles::inner",
      Kokkos::RangePolicy<ExecutionSpace, Scan,
                          Kokkos::IndexType<std::int64_t>>(exec, 0, n),
      rows);
  // Few lanes for a row: most of them are short.
  for_each_row("Strata::Tiles::fill", exec, n, 0,
               FillTileRows<Memory>{plan, graph, rows.vertex, rows.place,
                                    rows.group, teams.warps});
  exec.fence();
  pool.give_back(mark);
  return plan;
}

}  // namespace Detail
}  // namespace Strata

#endif
