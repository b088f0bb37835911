// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_MAKE_ROW_CHUNKS_HPP
#define STRATA_ANALYSIS_PACKING_MAKE_ROW_CHUNKS_HPP

#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/packing/CutRowChunks.hpp>
#include <analysis/packing/RowChunk.hpp>
#include <analysis/packing/RowChunks.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/device/Sort.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <cstring>
#include <vector>

namespace Strata {
namespace Detail {

/// Writes the chunks with their rows, dependencies and value indices.
template <class MemorySpace>
struct FillRowChunks {
  Kokkos::View<const RowChunk*, MemorySpace> chunk_of;
  Kokkos::View<RowChunk*, MemorySpace> chunks;  // copied to
  Kokkos::View<unsigned*, MemorySpace> row;
  Kokkos::View<int*, MemorySpace> dependency;
  ValueIndex<MemorySpace> value_index, diagonal_value_index;
  DependencyGraph<MemorySpace> graph;
  Kokkos::View<const int*, MemorySpace> vertex;        // permuted row -> vertex
  Kokkos::View<const int*, MemorySpace> permuted_row;  // vertex -> permuted row
  bool by_permuted_row;
  RowCoefficients<MemorySpace> coefficients;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t c) const {
    return chunk_of(c).num_slots();
  }
  KOKKOS_INLINE_FUNCTION int user_row(int v) const {
    return graph.reversed ? graph.num_vertices - 1 - v : v;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t c, int lane,
                                         int lanes) const {
    const RowChunk chunk = chunk_of(c);
    if (lane == 0) chunks(c) = chunk;
    const int per_row = 1 << chunk.log_lanes;
    const int active = chunk.rows * per_row;
    for (int l = lane; l < active; l += lanes) {
      const int p = chunk.first_permuted_row + (l >> chunk.log_lanes);
      const int v = vertex(p);
      const std::int64_t begin = graph.row_map(v);
      const std::int64_t end = graph.row_map(v + 1);
      if (l % per_row == 0) {
        row(p) = static_cast<unsigned>(user_row(v));
        if (!coefficients.exist())
          diagonal_value_index.set(p, graph.diagonal_value_index(v));
      }
      if (coefficients.exist()) {
        fill_both(chunk, l, v);
        continue;
      }
      for (int s = 0; s < chunk.steps; ++s)
        fill(chunk.first_slot + static_cast<std::int64_t>(s) * active + l,
             begin + static_cast<std::int64_t>(s) * per_row + l % per_row, end);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void fill(std::int64_t slot, std::int64_t k,
                                   std::int64_t end) const {
    const bool used = k < end;
    const int j = used ? graph.entries(k) : -1;
    dependency(slot) =
        used ? (by_permuted_row ? permuted_row(j) : user_row(j)) : -1;
    value_index.set(slot, used ? graph.value_index(k) : -1);
  }
  /// Coefficients and dependencies of lane l, whose row is v.
  KOKKOS_INLINE_FUNCTION void fill_both(const RowChunk& chunk, int l,
                                        int v) const {
    const int per_row = 1 << chunk.log_lanes, active = chunk.stride();
    const int row_of_v = user_row(v);
    // Several reads, then as many writes: else each waits for those before.
    constexpr int batch = 4;
    int number = l;
    std::int64_t at = coefficients.map(v) + l % per_row,
                 end = coefficients.map(v + 1);
    for (int s = 0; s < chunk.coefficient_steps; s += batch) {
      int coefficient[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u, at += per_row)
        coefficient[u] = at < end ? user_row(coefficients.vertex(at)) : -1;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (s + u < chunk.coefficient_steps)
          chunk.store(dependency.data(), number + u * active,
                      chunk.to_store_coefficient(coefficient[u], row_of_v));
      number += batch * active;
    }
    number = l + chunk.coefficient_steps * active;
    at = graph.row_map(v) + l % per_row;
    end = graph.row_map(v + 1);
    for (int s = 0; s < chunk.steps; s += batch) {
      int from[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u, at += per_row)
        from[u] = at < end ? graph.entries(at) : -1;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (from[u] >= 0) from[u] = permuted_row(from[u]);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (s + u < chunk.steps)
          chunk.store(dependency.data(), number + u * active,
                      chunk.to_store_dependency(from[u]));
      number += batch * active;
    }
  }
};

/// Words that kernels write for the host; more are copied.
constexpr std::int64_t most_told_words =
    most_staged_bytes / sizeof(std::int64_t);

/// Chunks that are cut, in temporary memory.
template <class Memory>
struct CutChunks {
  Kokkos::View<RowChunk*, Memory> chunk;  // and unused ones behind
  std::int64_t chunks = 0, dependency_words = 0;
};

/// Chunks at most: rows of several lanes have more than max_steps / 2 entries a
/// lane, and in each level set, each number of lanes may have a chunk that is
/// not full.
inline std::int64_t most_chunks(std::int64_t rows, std::int64_t entries,
                                std::int64_t levels, int width, int max_steps) {
  return std::min(rows, rows / width +
                            2 * entries / (std::int64_t{max_steps} * width) +
                            levels * (bits_for(width) + 1));
}

/// Cuts level sets into chunks, and notes their numbers in `plan`. Waits for
/// `exec`. For parameters, see make_row_chunks.
template <class ExecutionSpace>
CutChunks<typename ExecutionSpace::memory_space> cut_row_chunks(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order, int width,
    int max_steps, WorkPool<ExecutionSpace>& pool,
    const RowCoefficients<typename ExecutionSpace::memory_space>& coefficients,
    RowChunks<typename ExecutionSpace::memory_space>& plan) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = graph.num_vertices;
  const std::int64_t levels = order.num_levels();
  plan.num_rows = static_cast<int>(n);
  plan.level_chunk_map.assign(std::size_t(levels) + 1, 0);
  CutChunks<Memory> cut;
  if (n == 0) return cut;
  const std::int64_t most =
      most_chunks(n,
                  graph.num_edges() +
                      static_cast<std::int64_t>(coefficients.vertex.extent(0)),
                  levels, width, max_steps);
  cut.chunk = pool.template view<RowChunk>(most);
  using Stages = ChunkStages<Memory>;
  const std::int64_t words = Stages::num_totals + (levels + 2) / 2;
  const auto head = pool.template view<std::int64_t>(words);
  const Stages stages{
      {order.length, order.level_map, width, max_steps,
       pool.template take<int>(
           width > 1 ? CutLevels<Memory>::most_splits * levels : 0)},
      Kokkos::View<int*, Memory>(
          reinterpret_cast<int*>(head.data() + Stages::num_totals), levels + 1),
      cut.chunk,
      head.data(),
      order.vertex,
      order.permuted_row,
      order.level_of,
      graph.row_map,
      graph.entries,
      coefficients,
      pool.template take<typename Stages::Lists>(coefficients.exist() ? most
                                                                      : 0),
      // In few rows nothing is.
      n > RowChunk::most_distance,
      graph.reversed ? RowChunk::near_above : RowChunk::near_below,
      std::min(n, std::int64_t{1} << 17)};
  FusedStages<ExecutionSpace> sequence(exec, pool);
  // Of many level sets the map is copied.
  const bool all_told = words <= most_told_words;
  const std::int64_t told_words = all_told ? words : Stages::num_totals;
  const HostWords<ExecutionSpace> told(told_words);
  const ReportStage report{told_words, head.data(), told.data()};
  const EachStage<typename Stages::Runs> runs{
      width > 1 ? stages.threads_for_runs : 0};
  const SumStage<typename Stages::Count> count{levels};
  if (coefficients.exist()) {
    const StageCount found_chunks{most, head.data()};
    sequence.run(
        "Strata::RowChunks::cut", stages, runs, count,
        EachStage<typename Stages::Begin>{found_chunks},
        EachStage<typename Stages::Look>{{width * most, head.data() + 2}},
        SumsStage<typename Stages::Place, typename Stages::PlaceDependencies>{
            found_chunks},
        report);
  } else {
    sequence.run("Strata::RowChunks::cut", stages, runs, count,
                 SumStage<typename Stages::Place>{{most, head.data()}}, report);
  }
  exec.fence();
  const std::int64_t* host = told.data();
  std::vector<std::int64_t> copied;
  if (!all_told) {
    copied.resize(words);
    copy_to_host(exec, head, copied.data());
    host = copied.data();
  }
  cut.chunks = host[0];
  plan.num_slots = cut.dependency_words = host[1];
  if (coefficients.exist()) {
    cut.dependency_words = host[3];
    plan.recipe_bytes = host[4];
  }
  std::memcpy(plan.level_chunk_map.data(), host + Stages::num_totals,
              plan.level_chunk_map.size() * sizeof(int));
  return cut;
}

/// Cuts the level sets of `graph` into chunks and lays out the entries.
///
/// @param order     of the graph's vertices, longest rows first unless `width`
///                  is 1
/// @param num_values number of values the user's matrix stores
/// @param width     lanes that work together (a warp, or 1 on a host)
/// @param max_steps steps a row should take before it gets more lanes
/// @param pool    for temporary arrays, to be kept until `exec` has been waited
///                for
/// @param request called with a PlanStorage and the plan, whose numbers of
///                rows and slots are known: takes what the caller wants to have
///                in the plan's allocation
/// @param coefficients   of merged rows; the graph needs no value_indices then
/// Cost: O(entries) on the device; the host waits for the numbers of chunks.
template <class ExecutionSpace, class Request>
RowChunks<typename ExecutionSpace::memory_space> make_row_chunks(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const LevelOrder<typename ExecutionSpace::memory_space>& order,
    std::int64_t num_values, int width, int max_steps,
    DependencyNumbering numbering, WorkPool<ExecutionSpace>& pool,
    const Request& request,
    const RowCoefficients<typename ExecutionSpace::memory_space>& coefficients =
        {}) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::int64_t n = graph.num_vertices;
  RowChunks<Memory> plan;
  const auto cut = cut_row_chunks(exec, graph, order, width, max_steps, pool,
                                  coefficients, plan);
  plan.storage = make_plan_storage<Memory>(
      exec, "Strata::RowChunks", [&](PlanStorage<Memory>& storage) {
        request(storage, plan);
        storage.take(plan.chunk, cut.chunks);
        storage.take(plan.value_index,
                     coefficients.exist() ? 0 : plan.num_slots, num_values);
        storage.take(plan.diagonal_value_index, coefficients.exist() ? 0 : n,
                     num_values);
        storage.take(plan.row, n);
        storage.take(plan.dependency, cut.dependency_words);
      });
  if (n > 0)
    for_each_row(
        "Strata::RowChunks::fill", exec, cut.chunks, plan.num_slots,
        FillRowChunks<Memory>{
            cut.chunk, plan.chunk, plan.row, plan.dependency, plan.value_index,
            plan.diagonal_value_index, graph, order.vertex, order.permuted_row,
            numbering == DependencyNumbering::permuted_row, coefficients});
  return plan;
}

}  // namespace Detail
}  // namespace Strata

#endif
