// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_PACKING_STAGES_HPP
#define STRATA_ANALYSIS_PACKING_PACKING_STAGES_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/packing/PackedSubgraphs.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Warp.hpp>

namespace Strata {
namespace Detail {

/// The data-parallel steps that lay a dependency graph out as a packed, and
/// the arrays they work on; pack_subgraphs runs them. Every phase is
/// deterministic: what atomics decide is a minimum, a sum or a set.
template <class MemorySpace>
struct PackingStages {
  using Index = std::int64_t;
  using Key = std::uint64_t;

  DependencyGraph<MemorySpace> graph;
  PackedSubgraphs<MemorySpace> packed;
  PackedRecord record{8};
  /// Level of each vertex; level sets in a band; rows of a sub-graph.
  const int* level = nullptr;
  int band_levels = 1, bands = 1, max_rows = 1;
  /// Steps that a value from another sub-graph is expected to take.
  int latency = 0;
  int num_subgraphs = 0, time_bits = 0;
  int source_bits = 31;  // of a vertex number in external_key
  Index num_tasks = 0, num_steps = 0, num_externals = 0, num_uniques = 0;

  enum : int {
    count_subgraphs,
    count_externals,
    count_uniques,
    count_local,
    count_exports,
    count_tasks,
    count_time,
    count_steps,
    count_stages,  // steps of all warps
    count_records,
    count_most_steps,
    num_counts
  };
  Index* count = nullptr;

  // Vertices, in the order of sub-graphs (p) or by number (i).
  Key* band_key = nullptr;
  int *order = nullptr, *subgraph_of = nullptr, *export_before = nullptr;
  int *position_of = nullptr, *time = nullptr, *first_task = nullptr;
  int* exported = nullptr;
  int *band_first = nullptr, *band_chunk = nullptr;
  // Sub-graphs.
  int *first_vertex = nullptr, *import_count = nullptr, *step_first = nullptr;
  int *run_count = nullptr, *lanes_of = nullptr;
  PackedSubgraph* subgraph = nullptr;
  // Edges.
  int* unique_of = nullptr;
  Index* slot_of = nullptr;
  // Edges between sub-graphs, sorted, and the distinct sources among them.
  Key* external_key = nullptr;
  int *external_edge = nullptr, *unique_source = nullptr;
  int *unique_subgraph = nullptr, *unique_local = nullptr;
  Key* need_key = nullptr;
  int* need_unique = nullptr;
  /// Where each edge's value stands in the packed, in units of four bytes, its
  /// rank among its row's edges, and where a task's records begin, as
  /// MergedSubgraphRows has it; null where the packed's `value_index` says it.
  unsigned *value_place = nullptr, *value_rank = nullptr;
  unsigned* task_place = nullptr;
  // Tasks: a record for each lane that shares the row.
  Key* task_key = nullptr;
  int *task = nullptr, *task_row = nullptr, *run_of = nullptr;
  int* run_first = nullptr;
  Index* place_of = nullptr;
  // Steps.
  int *step_records = nullptr, *step_subgraph = nullptr;
  int* record_of = nullptr;  // first record of (warp, step)

  KOKKOS_INLINE_FUNCTION int team() const {
    return packed.width * packed.warps;
  }
  /// Records of a step of sub-graph g at most.
  KOKKOS_INLINE_FUNCTION int step_capacity(Key g) const {
    return lanes_of[g] * packed.warps;
  }
  /// Entries of a row that a step takes: those of a record for each of the
  /// lanes that share the row.
  KOKKOS_INLINE_FUNCTION int entries_a_step() const {
    return record.entries * packed.row_lanes;
  }
  KOKKOS_INLINE_FUNCTION Index first_edge(Index i) const {
    return graph.row_map(i);
  }
  KOKKOS_INLINE_FUNCTION Index end_edge(Index i) const {
    return graph.row_map(i + 1);
  }
  /// Steps in which row i has work; each is a task.
  KOKKOS_INLINE_FUNCTION int tasks_of(Index i) const {
    const Index m = end_edge(i) - first_edge(i), a_step = entries_a_step();
    return m == 0 ? 1 : static_cast<int>((m + a_step - 1) / a_step);
  }

  // --- Partition: bands of level sets, cut into chunks of rows --------------

  /// One band: chunks of rows in the order of substitution.
  struct AssignOneBand {};
  KOKKOS_INLINE_FUNCTION void operator()(AssignOneBand, Index i) const {
    const Index n = graph.num_vertices;
    const int g = static_cast<int>(i * num_subgraphs / n);
    order[i] = static_cast<int>(i);
    exported[i] = 0;
    time[i] = -1;
    subgraph_of[i] = g;
    if (i == 0 || (i - 1) * num_subgraphs / n != g)
      first_vertex[g] = static_cast<int>(i);
    if (i + 1 == n) first_vertex[num_subgraphs] = static_cast<int>(n);
  }

  struct BandKeys {};
  KOKKOS_INLINE_FUNCTION void operator()(BandKeys, Index i) const {
    band_key[i] = static_cast<Key>(level[i] / band_levels);
    order[i] = static_cast<int>(i);
    exported[i] = 0;
    time[i] = -1;
  }
  struct BandStarts {};
  KOKKOS_INLINE_FUNCTION void operator()(BandStarts, Index p) const {
    const Key b = band_key[p];
    if (p == 0 || band_key[p - 1] != b) band_first[b] = static_cast<int>(p);
    if (p + 1 == graph.num_vertices) band_first[bands] = graph.num_vertices;
  }
  struct BandChunkScan {};
  KOKKOS_INLINE_FUNCTION void operator()(BandChunkScan, Index b, Index& sum,
                                         bool final) const {
    const int rows = band_first[b + 1] - band_first[b];
    if (final) band_chunk[b] = static_cast<int>(sum);
    sum += (rows + max_rows - 1) / max_rows;
    if (final && b + 1 == bands) {
      band_chunk[bands] = static_cast<int>(sum);
      count[count_subgraphs] = sum;
    }
  }
  KOKKOS_INLINE_FUNCTION int chunk_at(Index p) const {
    const Key b = band_key[p];
    const Index first = band_first[b], rows = band_first[b + 1] - first;
    const Index chunks = band_chunk[b + 1] - band_chunk[b];
    return band_chunk[b] + static_cast<int>((p - first) * chunks / rows);
  }
  struct AssignSubgraphs {};
  KOKKOS_INLINE_FUNCTION void operator()(AssignSubgraphs, Index p) const {
    const int g = chunk_at(p);
    subgraph_of[order[p]] = g;
    if (p == 0 || chunk_at(p - 1) != g) first_vertex[g] = static_cast<int>(p);
    if (p + 1 == graph.num_vertices)
      first_vertex[band_chunk[bands]] = graph.num_vertices;
  }

  // --- Values that sub-graphs need from others ------------------------------

  struct ExternalScan {};
  KOKKOS_INLINE_FUNCTION void operator()(ExternalScan, Index i, Index& sum,
                                         bool final) const {
    const int g = subgraph_of[i];
    for (Index k = first_edge(i); k < end_edge(i); ++k) {
      const int j = graph.entries(k);
      if (subgraph_of[j] == g) continue;
      if (final && external_key) {
        external_key[sum] =
            static_cast<Key>(g) << source_bits | static_cast<std::uint32_t>(j);
        external_edge[sum] = static_cast<int>(k);
      }
      ++sum;
    }
    if (final && i + 1 == graph.num_vertices) count[count_externals] = sum;
  }
  struct ClearSubgraphs {};
  KOKKOS_INLINE_FUNCTION void operator()(ClearSubgraphs, Index g) const {
    import_count[g] = 0;
    if (g == 0) {
      count[count_uniques] = 0;
      count[count_local] = 0;
      count[count_time] = 0;
    }
  }
  struct UniqueScan {};
  KOKKOS_INLINE_FUNCTION void operator()(UniqueScan, Index p, Index& sum,
                                         bool final) const {
    const Key key = external_key[p];
    const bool fresh = p == 0 || external_key[p - 1] != key;
    sum += fresh;
    if (!final) return;
    unique_of[external_edge[p]] = static_cast<int>(sum - 1);
    if (fresh) {
      const int j = static_cast<int>(key & ((Key{1} << source_bits) - 1));
      const int g = static_cast<int>(key >> source_bits);
      unique_source[sum - 1] = j;
      unique_subgraph[sum - 1] = g;
      exported[j] = 1;
      Kokkos::atomic_fetch_add(&import_count[g], 1);
    }
    if (p + 1 == num_externals) count[count_uniques] = sum;
  }
  struct Capacity {};
  KOKKOS_INLINE_FUNCTION void operator()(Capacity, Index g) const {
    const Index local =
        1 + import_count[g] + first_vertex[g + 1] - first_vertex[g];
    Kokkos::atomic_fetch_max(&count[count_local], local);
  }

  // --- Positions: by sub-graph, exported rows first --------------------------

  struct ExportScan {};
  KOKKOS_INLINE_FUNCTION void operator()(ExportScan, Index p, Index& sum,
                                         bool final) const {
    if (final) export_before[p] = static_cast<int>(sum);
    sum += exported[order[p]];
    if (final && p + 1 == graph.num_vertices) {
      export_before[p + 1] = static_cast<int>(sum);
      count[count_exports] = sum;
    }
  }
  KOKKOS_INLINE_FUNCTION int exports_of(int g) const {
    return export_before[first_vertex[g + 1]] - export_before[first_vertex[g]];
  }
  struct Positions {};
  KOKKOS_INLINE_FUNCTION void operator()(Positions, Index p) const {
    const int i = order[p], g = subgraph_of[i], first = first_vertex[g];
    const int before = export_before[p] - export_before[first];
    const int at = exported[i] ? first + before
                               : first + exports_of(g) + static_cast<int>(p) -
                                     first - before;
    position_of[i] = at;
  }

  // --- Steps: the earliest that a row's last record can have -----------------

  /// A source counts from the step after the one that makes it known.
  KOKKOS_INLINE_FUNCTION int known_after(int j, int g) const {
    return load_relaxed(time + j) + (subgraph_of[j] == g ? 0 : latency);
  }
  /// Sources looked at together: their latencies overlap.
  static constexpr int batch = 8;
  /// A row's records take one step each, the last one the newest sources. With
  /// C(e) sources known no more than e steps before the newest, the last step
  /// is the newest's plus 1 + max over e of ceil(C(e) / entries) - e - 1. e is
  /// exact up to 15; beyond that octaves count as their first, which errs to
  /// the later side.
  static constexpr int exact_ages = 16, age_bins = exact_ages + 12;
  KOKKOS_INLINE_FUNCTION static int first_age(int bin) {
    return bin < exact_ages ? bin : exact_ages << (bin - exact_ages);
  }
  KOKKOS_INLINE_FUNCTION static int last_age(int bin) {
    return bin + 1 < age_bins ? first_age(bin + 1) - 1 : 0x7fffffff;
  }
  /// The bins of a warp that has a row: ages up to 63 exactly, then eight bins
  /// an octave.
  static constexpr int warp_bins = 256;
  KOKKOS_INLINE_FUNCTION static int bin_of(int age) {
    int octave = 0;
    while (age >> octave >= 128) ++octave;
    const int bin =
        age < 64 ? age : 64 + 8 * octave + (age >> (octave + 3)) - 8;
    return bin < warp_bins ? bin : warp_bins - 1;
  }
  /// The least age in a bin.
  KOKKOS_INLINE_FUNCTION static int age_of(int bin) {
    return bin < 64 ? bin : (8 + bin % 8) << ((bin - 64) / 8 + 3);
  }
  /// Bins that matter for a row of m entries: sources older than the row has
  /// steps are there in any case.
  KOKKOS_INLINE_FUNCTION int bins_of(Index m) const {
    return bin_of(static_cast<int>(m / entries_a_step())) + 1;
  }
  /// How much later the last step is where `sum` sources are of that age or
  /// newer.
  KOKKOS_INLINE_FUNCTION int late_by(int sum, int age) const {
    return (sum + entries_a_step() - 1) / entries_a_step() - age - 1;
  }
  /// The step of row i's last record, by one thread; its sources' steps are
  /// known.
  KOKKOS_INLINE_FUNCTION int step_of_row(Index i, int newest) const {
    const Index end = end_edge(i), m = end - first_edge(i);
    if (m <= entries_a_step()) return newest + 1;
    int number[age_bins] = {};
    const int g = subgraph_of[i];
    for (Index k = first_edge(i); k < end; k += batch) {
      int after[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        after[u] = k + u < end ? known_after(graph.entries(k + u), g) : -1;
      for (int u = 0; u < batch && k + u < end; ++u) {
        int bin = 0;
        while (newest - after[u] > last_age(bin)) ++bin;
        ++number[bin];
      }
    }
    int late = 0, sum = 0;
    for (int bin = 0; bin < age_bins; ++bin) {
      sum += number[bin];
      const int u = late_by(sum, first_age(bin));
      late = u > late ? u : late;
    }
    return newest + 1 + late;
  }

  // --- Records, by sub-graph and step ----------------------------------------

  struct TaskScan {};
  KOKKOS_INLINE_FUNCTION void operator()(TaskScan, Index p, Index& sum,
                                         bool final) const {
    const int i = order[p];
    if (final) first_task[i] = static_cast<int>(sum);
    sum += tasks_of(i);
    if (final && p + 1 == graph.num_vertices) count[count_tasks] = sum;
  }
  /// Tasks of all sub-graphs before g: they are numbered in that order.
  KOKKOS_INLINE_FUNCTION Index tasks_before(Index g) const {
    return g < num_subgraphs ? first_task[order[first_vertex[g]]] : num_tasks;
  }
  struct TaskKeys {};
  KOKKOS_INLINE_FUNCTION void operator()(TaskKeys, Index i) const {
    const int tasks = tasks_of(i);
    const Key group = static_cast<Key>(subgraph_of[i]) << time_bits;
    for (int q = 0; q < tasks; ++q) {
      const int t = first_task[i] + q;
      task_key[t] = group | static_cast<Key>(time[i] - q);
      task[t] = t;
      task_row[t] = static_cast<int>(i);
    }
  }
  /// Positions and keys of all rows, and no runs yet.
  struct PrepareTasks {};
  KOKKOS_INLINE_FUNCTION void operator()(PrepareTasks, Index i) const {
    (*this)(Positions(), i);
    (*this)(TaskKeys(), i);
    if (i < num_subgraphs) run_count[i] = 0;
  }
  struct RunScan {};
  KOKKOS_INLINE_FUNCTION void operator()(RunScan, Index p, Index& sum,
                                         bool final) const {
    const bool fresh = p == 0 || task_key[p] != task_key[p - 1];
    sum += fresh;
    if (!final) return;
    run_of[p] = static_cast<int>(sum - 1);
    if (fresh) {
      run_first[sum - 1] = static_cast<int>(p);
      Kokkos::atomic_fetch_add(&run_count[task_key[p] >> time_bits], 1);
    }
  }
  /// Few lanes a warp where steps have few records: idle lanes take memory.
  struct ChooseLanes {};
  KOKKOS_INLINE_FUNCTION void operator()(ChooseLanes, Index g) const {
    const Index records =
        (tasks_before(g + 1) - tasks_before(g)) * packed.row_lanes;
    int lanes = packed.row_lanes;
    while (lanes < packed.width &&
           Index{lanes} * packed.warps * run_count[g] * 2 < records * 3)
      lanes *= 2;
    lanes_of[g] = lanes;
  }
  /// First lane of a task among those of its step.
  KOKKOS_INLINE_FUNCTION int lane_at(Index p) const {
    return static_cast<int>((p - run_first[run_of[p]]) * packed.row_lanes %
                            step_capacity(task_key[p] >> time_bits));
  }
  struct StepScan {};
  KOKKOS_INLINE_FUNCTION void operator()(StepScan, Index p, Index& sum,
                                         bool final) const {
    const int lane = lane_at(p);
    sum += lane == 0;
    if (!final) return;
    const Index step = sum - 1;
    const Key g = task_key[p] >> time_bits;
    place_of[task[p]] =
        step * team() + lane / lanes_of[g] * packed.width + lane % lanes_of[g];
    if (lane == 0) {
      if (p == 0 || task_key[p - 1] >> time_bits != g)
        step_first[g] = static_cast<int>(step);
      step_subgraph[step] = static_cast<int>(g);
    }
    const bool last = p + 1 == num_tasks;
    if (last || lane_at(p + 1) == 0)
      step_records[step] = lane + packed.row_lanes;
    if (last) {
      count[count_steps] = sum;
      count[count_stages] = sum * packed.warps;
      step_first[num_subgraphs] = static_cast<int>(sum);
    }
  }

  // --- Stages: the steps in which a warp works -------------------------------

  KOKKOS_INLINE_FUNCTION int warps_of(Index step) const {
    const int lanes = lanes_of[step_subgraph[step]];
    return (step_records[step] + lanes - 1) / lanes;
  }
  struct StageScan {};
  KOKKOS_INLINE_FUNCTION void operator()(StageScan, Index at, Index& sum,
                                         bool final) const {
    const Index steps = count[count_steps];
    const Index warp = at / steps, step = at % steps;
    if (final) record_of[at] = static_cast<int>(sum);
    if (warps_of(step) > warp) sum += lanes_of[step_subgraph[step]];
    if (final && at + 1 == steps * packed.warps) {
      record_of[at + 1] = static_cast<int>(sum);
      count[count_records] = sum;
    }
  }
  struct ImportScan {};
  KOKKOS_INLINE_FUNCTION void operator()(ImportScan, Index g, Index& sum,
                                         bool final) const {
    if (final) subgraph[g].first_import = sum;
    sum += import_count[g];
  }
  struct DescribeSubgraphs {};
  KOKKOS_INLINE_FUNCTION void operator()(DescribeSubgraphs, Index at) const {
    const int g = static_cast<int>(at);
    PackedSubgraph& s = subgraph[g];
    const int first = first_vertex[g];
    const Index num_steps = count[count_steps];
    s.first_step = step_first[g];
    s.steps = step_first[g + 1] - step_first[g];
    s.lanes = lanes_of[g];
    for (int w = 0; w < max_solving_warps; ++w) {
      const bool used = w < packed.warps;
      const int begin = used ? record_of[w * num_steps + step_first[g]] : 0;
      s.first_record[w] = begin;
      s.stages[w] =
          used
              ? (record_of[w * num_steps + step_first[g + 1]] - begin) / s.lanes
              : 0;
    }
    Kokkos::atomic_fetch_max(&count[count_most_steps], Index{s.steps});
    s.first_position = first;
    s.rows = first_vertex[g + 1] - first;
    s.first_export = export_before[first];
    s.exports = exports_of(g);
    s.imports = import_count[g];
    s.padding = 0;
  }

  // --- Contents -------------------------------------------------------------

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
    const int u = need_unique[p], j = unique_source[u];
    unique_local[u] =
        static_cast<int>(1 + p - subgraph[unique_subgraph[u]].first_import);
    const int from = subgraph_of[j];
    packed.import(p) =
        position_of[j] - first_vertex[from] + export_before[first_vertex[from]];
  }
  /// Idle lanes and unused entries of a stage.
  KOKKOS_INLINE_FUNCTION void clear_records(Index at) const {
    struct alignas(16) Unit {
      std::uint16_t half[8];
    };
    const Index warp = at / num_steps, step = at % num_steps;
    if (warps_of(step) <= warp) return;
    const int lanes = lanes_of[step_subgraph[step]];
    const Index first = record_of[at];
    Unit* const units =
        reinterpret_cast<Unit*>(packed.bytes.data() + first * record.bytes);
    for (int u = 0; u < record.units(); ++u) {
      Unit clear = {};
      if (u == record.out_at() / 16)
        clear.half[record.out_at() % 16 / 2] = record_idle;
      for (int lane = 0; lane < lanes; ++lane) units[u * lanes + lane] = clear;
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
      const int p = position_of[at];
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
    return 1 + s.imports + position_of[i] - s.first_position;
  }
  struct FillOuts {};
  /// The same, and what is imported.
  struct FillRows {};
  KOKKOS_INLINE_FUNCTION void operator()(FillRows, Index i) const {
    if (i < num_uniques) (*this)(Imports(), i);
    if (i < num_tasks) (*this)(FillOuts(), i);
  }
  KOKKOS_INLINE_FUNCTION void operator()(FillOuts, Index t) const {
    const int i = task_row[t];
    const bool publishes = exported[i] && t == first_task[i];
    for (int l = 0; l < packed.row_lanes; ++l) {
      const Index place = place_of[t] + l;
      if (!value_place)
        packed.record_row(stage_of(place) + lane_of(place)) = position_of[i];
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
        s.put(place, s.record.source_at(e),
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

/// Ranks the edges of every row by age, newest first, which gives them their
/// places. Ages that the row's last step does not tell apart (see warp_bins)
/// follow in the order of the edges.
///
/// A short row is left to a few lanes that compare all with all; a long one to
/// a warp, which counts the ages in scratch and then takes the edges in turn.
template <class ExecutionSpace>
struct RankEdges {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Stages = PackingStages<Memory>;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int team_size = width == 1 ? 1 : 128;
  static constexpr int warps = width == 1 ? 1 : team_size / width;
  /// A host's thread takes several rows.
  static constexpr int rows_of_thread = width == 1 ? 256 : 1;
  static constexpr int scratch_bytes =
      warps * Stages::warp_bins * static_cast<int>(sizeof(int));
  Stages stages;
  int lanes;  // that share a short row

  std::int64_t rows_per_team() const {
    return std::int64_t{team_size / lanes} * rows_of_thread;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int rank = team.team_rank();
    int* const count =
        static_cast<int*>(team.team_scratch(0).get_shmem(+scratch_bytes)) +
        rank / width * Stages::warp_bins;
    const std::int64_t n = stages.graph.num_vertices;
    for (int r = 0; r < rows_of_thread; ++r) {
      const std::int64_t i = std::int64_t{team.league_rank()} *
                                 (team_size / lanes) * rows_of_thread +
                             r + rank / lanes;
      const std::int64_t m =
          i < n ? stages.end_edge(i) - stages.first_edge(i) : 0;
      const bool is_long = m > 8 && m > 4 * lanes;
      if (!is_long && m > 0) compare_all(i, rank % lanes);
      for (unsigned left = lane_ballot(is_long && rank % lanes == 0); left;
           left &= left - 1)
        count_ages(lane_broadcast(i, lowest_bit(left)), rank % width, count);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void compare_all(std::int64_t i, int lane) const {
    const int g = stages.subgraph_of[i];
    const std::int64_t begin = stages.first_edge(i), end = stages.end_edge(i);
    for (std::int64_t k = begin + lane; k < end; k += lanes) {
      const int age = stages.known_after(stages.graph.entries(k), g);
      int rank = 0;
      for (std::int64_t other = begin; other < end; ++other) {
        const int its = stages.known_after(stages.graph.entries(other), g);
        rank += its > age || (its == age && other < k);
      }
      stages.place_edge(i, k, rank);
    }
  }
  /// All lanes of the warp; `count` has room for warp_bins.
  KOKKOS_INLINE_FUNCTION void count_ages(std::int64_t i, int lane,
                                         int* count) const {
    const int g = stages.subgraph_of[i];
    const std::int64_t begin = stages.first_edge(i), end = stages.end_edge(i);
    int newest = 0;
    for (std::int64_t k = begin + lane; k < end; k += width) {
      const int age = stages.known_after(stages.graph.entries(k), g);
      newest = age > newest ? age : newest;
    }
    lane_barrier();
    for (int mask = width / 2; mask > 0; mask /= 2) {
      const int other = lane_xor(newest, mask);
      newest = other > newest ? other : newest;
    }
    // The last one is for all that are older.
    const int exact = stages.bins_of(end - begin);
    const int last = exact < Stages::warp_bins ? exact : Stages::warp_bins - 1;
    const auto bin_at = [&](std::int64_t k) {
      const int bin = Stages::bin_of(
          newest - stages.known_after(stages.graph.entries(k), g));
      return bin < last ? bin : last;
    };
    for (int bin = lane; bin <= last; bin += width) count[bin] = 0;
    lane_barrier();
    for (std::int64_t k = begin + lane; k < end; k += width)
      Kokkos::atomic_fetch_add(count + bin_at(k), 1);
    lane_barrier();
    // First rank of each bin.
    int before = 0;
    for (int first = 0; first <= last; first += width) {
      const int bin = first + lane;
      const int own = bin <= last ? count[bin] : 0;
      int sum = own;
      for (int distance = 1; distance < width; distance *= 2) {
        const int lower = lane_up(sum, distance);
        if (lane >= distance) sum += lower;
      }
      if (bin <= last) count[bin] = before + sum - own;
      before += lane_broadcast(sum, width - 1);
    }
    lane_barrier();
    for (std::int64_t first = begin; first < end; first += width) {
      const std::int64_t k = first + lane;
      const int bin = k < end ? bin_at(k) : -1;
      int ahead = 0, same = 0;
      for (int other = 0; other < width; ++other) {
        const bool equal = lane_broadcast(bin, other) == bin;
        ahead += equal && other < lane;
        same += equal;
      }
      const int rank = bin >= 0 ? count[bin] + ahead : 0;
      lane_barrier();
      if (bin >= 0 && ahead == 0) count[bin] += same;
      lane_barrier();
      if (bin >= 0) stages.place_edge(i, k, rank);
    }
    lane_barrier();
  }
};

/// Steps of all rows in one launch. Teams take tickets, in a valid sequence; a
/// thread, or a warp, has a row and looks at its sources again and again until
/// all are known. In the order of level sets, if that is known, rows under way
/// wait for few others one after the other.
///
/// Why it can't deadlock: tickets are drawn in order by running teams, and a
/// row's sources come before it. A thread never waits inside a turn of
/// its loop, so the smallest unfinished row is looked at again, whatever the
/// other lanes of its warp still miss, and all its sources are finished.
template <class ExecutionSpace, bool by_warp>
struct PackedSteps {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Stages = PackingStages<Memory>;
  static constexpr int width = lane_width<ExecutionSpace>;
  /// Scratch of a warp that has a row.
  static constexpr int warp_bins = Stages::warp_bins;
  Stages stages;
  const int* sequence;  // of the rows; null: that of substitution
  unsigned* ticket;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const std::int64_t n = stages.graph.num_vertices;
    int latest = 0;
    const int rows = by_warp ? team.team_size() / width : team.team_size();
    const int mine = by_warp ? team.team_rank() / width : team.team_rank();
    int* const count = by_warp
                           ? static_cast<int*>(team.team_scratch(0).get_shmem(
                                 rows * warp_bins * int(sizeof(int)))) +
                                 mine * warp_bins
                           : nullptr;
    for (;;) {
      unsigned t = 0;
      Kokkos::single(
          Kokkos::PerTeam(team),
          [&](unsigned& drawn) {
            drawn = Kokkos::atomic_fetch_add(ticket, 1u);
          },
          t);
      const std::int64_t first = static_cast<std::int64_t>(t) * rows;
      if (first >= n) break;
      if (first + mine < n) {
        const std::int64_t row =
            sequence ? sequence[first + mine] : first + mine;
        int step = 0;
        if constexpr (by_warp) {
          step = row_of_warp(row, team.team_rank() % width, count);
        } else {
          step = row_of_thread(row);
        }
        latest = step > latest ? step : latest;
      }
      team.team_barrier();
    }
    for (int mask = width / 2; mask > 0; mask /= 2) {
      const int other = lane_xor(latest, mask);
      latest = other > latest ? other : latest;
    }
    if (team.team_rank() % width == 0)
      Kokkos::atomic_fetch_max(&stages.count[Stages::count_time],
                               std::int64_t{latest});
  }

 private:
  /// Steps of up to `Stages::batch` sources from entry k on, every
  /// `stride`-th; -1 where not known, 0 beyond the end.
  KOKKOS_INLINE_FUNCTION void look(std::int64_t k, std::int64_t end, int stride,
                                   int g, int (&after)[Stages::batch]) const {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < Stages::batch; ++u) {
      after[u] = 0;
      if (k + u * stride >= end) continue;
      const int j = stages.graph.entries(k + u * stride);
      const int step = load_relaxed(stages.time + j);
      after[u] = step < 0
                     ? -1
                     : step + (stages.subgraph_of[j] == g ? 0 : stages.latency);
    }
  }

  KOKKOS_INLINE_FUNCTION int row_of_thread(std::int64_t i) const {
    const int g = stages.subgraph_of[i];
    const std::int64_t end = stages.end_edge(i);
    std::int64_t k = stages.first_edge(i);
    int newest = 0, step = 0;
    bool done = false;
    for (int turn = 0; !done; ++turn) {
      for (bool known = true; known && k < end;) {
        int after[Stages::batch];
        look(k, end, 1, g, after);
        int first = 0;
        for (; first < Stages::batch && k < end && after[first] >= 0;
             ++first, ++k)
          newest = after[first] > newest ? after[first] : newest;
        known = first == Stages::batch;
      }
      if (k == end) {
        step = stages.step_of_row(i, newest);
        store_relaxed(stages.time + i, step);
        done = true;
      } else {
        pause_while_waiting(turn);
      }
    }
    return step;
  }

  /// The same, lane l looking at entries l, l + width, ...; `count` has room
  /// for warp_bins.
  KOKKOS_INLINE_FUNCTION int row_of_warp(std::int64_t i, int lane,
                                         int* count) const {
    constexpr int batch = Stages::batch;
    const int g = stages.subgraph_of[i];
    const std::int64_t begin = stages.first_edge(i), end = stages.end_edge(i);
    int newest = 0;
    int after[batch];
    for (std::int64_t k = begin; k < end; k += batch * width) {
      bool waiting = true;
      for (int turn = 0; lane_any(waiting); ++turn) {
        if (waiting) {
          look(k + lane, end, width, g, after);
          waiting = false;
          STRATA_IMPL_UNROLL
          for (int u = 0; u < batch; ++u) waiting = waiting || after[u] < 0;
        }
        if (turn > 16) pause_while_waiting(turn);
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        newest = after[u] > newest ? after[u] : newest;
    }
    for (int mask = width / 2; mask > 0; mask /= 2) {
      const int other = lane_xor(newest, mask);
      newest = other > newest ? other : newest;
    }
    const std::int64_t m = end - begin;
    int late = 0;
    if (m > stages.entries_a_step()) {
      // Sources older than the row has steps don't matter.
      const int bins = stages.bins_of(m);
      for (int bin = lane; bin < bins; bin += width) count[bin] = 0;
      lane_barrier();
      for (std::int64_t k = begin; k < end; k += batch * width) {
        if (m > batch * width) look(k + lane, end, width, g, after);
        STRATA_IMPL_UNROLL
        for (int u = 0; u < batch; ++u) {
          if (k + lane + u * width >= end) continue;
          const int bin = Stages::bin_of(newest - after[u]);
          if (bin < bins) Kokkos::atomic_fetch_add(count + bin, 1);
        }
      }
      lane_barrier();
      int before = 0;
      for (int first = 0; first < bins; first += width) {
        const int bin = first + lane;
        int sum = bin < bins ? count[bin] : 0;
        for (int distance = 1; distance < width; distance *= 2) {
          const int lower = lane_up(sum, distance);
          if (lane >= distance) sum += lower;
        }
        sum += before;
        before = lane_broadcast(sum, width - 1);
        if (bin < bins) {
          const int u = stages.late_by(sum, Stages::age_of(bin));
          late = u > late ? u : late;
        }
      }
      for (int mask = width / 2; mask > 0; mask /= 2) {
        const int other = lane_xor(late, mask);
        late = other > late ? other : late;
      }
      lane_barrier();
    }
    const int step = newest + 1 + late;
    if (lane == 0) store_relaxed(stages.time + i, step);
    return step;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
