// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_PACKING_STAGES_HPP
#define STRATA_ANALYSIS_PACKING_PACKING_STAGES_HPP

#include <analysis/packing/SubgraphRecords.hpp>

namespace Strata {
namespace Detail {

/// The data-parallel steps that lay a dependency graph out as packed
/// sub-graphs; SubgraphCutter and SubgraphPacker run them. Each base has the
/// steps that need those of the base before:
///
/// | PackingArrays | the arrays of all steps |
/// | SubgraphPartition | the sub-graph of each row, values from outside |
/// | StepsOfRows | the step of each row, which FindSteps computes |
/// | SubgraphRecords | a lane in a step for each task of a row |
/// | PackingStages | the bytes of the records |
///
/// Every step is deterministic: what atomics decide is a minimum, a sum or a
/// set.
template <class MemorySpace>
struct PackingStages : SubgraphRecords<MemorySpace> {
  using Base = SubgraphRecords<MemorySpace>;
  using Base::graph, Base::packed, Base::record, Base::num_subgraphs,
      Base::num_tasks, Base::num_steps, Base::num_uniques, Base::subgraph_of,
      Base::export_before, Base::permuted_row_of, Base::first_task,
      Base::exported, Base::first_vertex, Base::lanes_of, Base::subgraph,
      Base::unique_of, Base::slot_of, Base::unique_dependency,
      Base::unique_subgraph, Base::unique_local, Base::need_key,
      Base::need_unique, Base::value_place, Base::value_rank, Base::task_place,
      Base::task_row, Base::place_of, Base::step_subgraph, Base::record_of,
      Base::team, Base::entries_a_step, Base::lane_at, Base::warps_of,
      Base::operator();
  using typename Base::Index, typename Base::Key;

  /// First record of the stage that a place (step * team + lane of the team)
  /// belongs to, its lane, and the stage's lanes.
  KOKKOS_INLINE_FUNCTION Index stage_of(Index place) const {
    return record_of[place % team() / packed.width * num_steps +
                     place / team()];
  }
  KOKKOS_INLINE_FUNCTION int lane_of(Index place) const {
    return static_cast<int>(place % team() % packed.width);
  }
  KOKKOS_INLINE_FUNCTION Index byte_at(Index place, int byte) const {
    const int lanes = lanes_of[step_subgraph[place / team()]];
    return stage_of(place) * record.bytes +
           (byte / 16 * lanes + lane_of(place)) * 16 + byte % 16;
  }
  struct TaskPlaces {};
  KOKKOS_INLINE_FUNCTION void operator()(TaskPlaces, Index t) const {
    const Index place = place_of[t];
    const int lanes = lanes_of[step_subgraph[place / team()]];
    unsigned log_lanes = 0;
    while (1 << log_lanes < lanes) ++log_lanes;
    task_place[t] = static_cast<unsigned>(byte_at(place, 0) / 16) |
                    log_lanes
                        << MergedSubgraphRows<MemorySpace>::task_place_bits;
  }
  KOKKOS_INLINE_FUNCTION void put(Index place, int byte, unsigned value) const {
    *reinterpret_cast<std::uint16_t*>(packed.bytes.data() +
                                      byte_at(place, byte)) =
        static_cast<std::uint16_t>(value);
  }
  /// Edge k of row i is the one of that rank, newest first.
  KOKKOS_INLINE_FUNCTION void place_edge(Index i, Index k, int rank) const {
    const int entries = record.entries, row_lanes = packed.row_lanes;
    const Index place =
        place_of[first_task[i] + rank / entries_a_step()] + rank % row_lanes;
    slot_of[k] = place * entries + entries - 1 - rank / row_lanes % entries;
    if (value_rank) value_rank[k] = static_cast<unsigned>(rank);
    if (subgraph_of[graph.entries(k)] != subgraph_of[i])
      Kokkos::atomic_fetch_min(&need_key[unique_of[k]],
                               static_cast<Key>(place / team()));
  }
  struct Imports {};
  KOKKOS_INLINE_FUNCTION void operator()(Imports, Index p) const {
    const int u = need_unique[p], j = unique_dependency[u];
    unique_local[u] =
        static_cast<int>(1 + p - subgraph[unique_subgraph[u]].first_import);
    const int from = subgraph_of[j];
    packed.import(p) = permuted_row_of[j] - first_vertex[from] +
                       export_before[first_vertex[from]];
  }
  /// Idle lanes and unused entries of a stage.
  KOKKOS_INLINE_FUNCTION void clear_records(Index at) const {
    struct alignas(16) Packet {
      std::uint16_t half[8];
    };
    const Index warp = at / num_steps, step = at % num_steps;
    if (warps_of(step) <= warp) return;
    const int lanes = lanes_of[step_subgraph[step]];
    const Index first = record_of[at];
    Packet* const packets =
        reinterpret_cast<Packet*>(packed.bytes.data() + first * record.bytes);
    for (int u = 0; u < record.packets(); ++u) {
      Packet clear = {};
      if (u == record.out_at() / 16)
        clear.half[record.out_at() % 16 / 2] = record_idle;
      for (int lane = 0; lane < lanes; ++lane)
        packets[u * lanes + lane] = clear;
    }
    if (packed.record_row.extent(0) == 0) return;
    int log_lanes = 0;
    while (1 << log_lanes < lanes) ++log_lanes;
    for (int lane = 0; lane < lanes; ++lane) {
      packed.record_row(first + lane) = -1;
      packed.record_lane(first + lane) =
          static_cast<unsigned char>(lane | log_lanes << 5);
    }
  }
  /// What is known of rows, steps and sub-graphs; empty records; no needs yet.
  struct BeginPacking {};
  KOKKOS_INLINE_FUNCTION void operator()(BeginPacking, Index at) const {
    if (at < graph.num_vertices) {
      const int p = permuted_row_of[at];
      packed.row(p) = static_cast<unsigned>(graph.row_of(static_cast<int>(at)));
      packed.diagonal_value_index.set(p, graph.diagonal_value_index(at));
    }
    if (at < num_subgraphs) packed.subgraph(at) = subgraph[at];
    if (at < num_steps)
      packed.step_warps(at) = static_cast<unsigned char>(warps_of(at));
    if (at < num_steps * packed.warps) clear_records(at);
    if (at < packed.value_index.size()) packed.value_index.set(at, -1);
    if (at < num_uniques) {
      need_key[at] = ~Key{0} >> 1;
      need_unique[at] = static_cast<int>(at);
    }
  }
  KOKKOS_INLINE_FUNCTION int local_of(int i) const {
    const PackedSubgraph& s = subgraph[subgraph_of[i]];
    return 1 + s.imports + permuted_row_of[i] - s.first_permuted_row;
  }
  /// Imports of value i, and FillOuts of task i.
  struct FillRows {};
  struct FillOuts {};
  KOKKOS_INLINE_FUNCTION void operator()(FillRows, Index i) const {
    if (i < num_uniques) (*this)(Imports(), i);
    if (i < num_tasks) (*this)(FillOuts(), i);
  }
  /// Where the lanes of a task store the row's sum.
  KOKKOS_INLINE_FUNCTION void operator()(FillOuts, Index t) const {
    const int i = task_row[t];
    const bool publishes = exported[i] && t == first_task[i];
    for (int l = 0; l < packed.row_lanes; ++l) {
      const Index place = place_of[t] + l;
      if (!value_place)
        packed.record_row(stage_of(place) + lane_of(place)) =
            permuted_row_of[i];
      // All lanes that share the row know its sum, the first one stores it.
      put(place, record.out_at(),
          static_cast<unsigned>(local_of(i) * record.scalar_bytes) |
              (l > 0       ? unsigned{record_idle}
               : publishes ? unsigned{record_publishes}
                           : 0u));
    }
  }
  struct FillEdges {
    PackingStages stages;
    KOKKOS_INLINE_FUNCTION Index length(Index i) const {
      return stages.end_edge(i) - stages.first_edge(i);
    }
    KOKKOS_INLINE_FUNCTION void operator()(Index i, int lane, int lanes) const {
      const PackingStages& s = stages;
      const int g = s.subgraph_of[i], entries = s.record.entries;
      for (Index k = s.first_edge(i) + lane; k < s.end_edge(i); k += lanes) {
        const int j = s.graph.entries(k);
        const int local = s.subgraph_of[j] == g
                              ? s.local_of(j)
                              : s.unique_local[s.unique_of[k]];
        const Index slot = s.slot_of[k];
        const Index place = slot / entries;
        const int e = static_cast<int>(slot % entries);
        s.put(place, s.record.dependency_at(e),
              static_cast<unsigned>(local * s.record.scalar_bytes));
        if (s.value_place)
          s.value_place[k] =
              static_cast<unsigned>(s.byte_at(place, s.record.value_at(e)) / 4);
        else
          s.packed.value_index.set(
              (s.stage_of(place) + s.lane_of(place)) * entries + e,
              s.graph.value_index(k));
      }
    }
  };
};

}  // namespace Detail
}  // namespace Strata

#endif
