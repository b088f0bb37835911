// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ROW_CHUNKS_HPP
#define STRATA_ROW_CHUNKS_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelSets.hpp>
#include <algorithm>
#include <detail/Strata_KokkosCompat.hpp>
#include <detail/Strata_OriginIndex.hpp>
#include <detail/Strata_RowPolicy.hpp>
#include <vector>

namespace Strata {

/// A few rows of one level set that the lanes of a warp solve together.
///
/// Row r of the chunk belongs to lanes r * 2^log_lanes and up. Entry e of that
/// row lies in step e / 2^log_lanes at lane e % 2^log_lanes of the row, and
/// step s of lane l is slot first_slot + s * (rows * 2^log_lanes) + l: as in
/// SELL-C-sigma, the lanes of a step read consecutive slots.
struct RowChunk {
  std::int64_t first_slot;
  int first_position;
  int rows;
  int steps;
  int log_lanes;
};

/// Rows in level order, cut into chunks, with their entries in the order of
/// use. Pattern only.
template <class MemorySpace>
struct RowChunks {
  int num_rows = 0;
  std::int64_t num_slots = 0;
  /// Position in the order of use -> user's row.
  Kokkos::View<unsigned*, MemorySpace> row;
  Kokkos::View<RowChunk*, MemorySpace> chunk;
  /// Slot -> user's row of the source, or its position (see
  /// `make_row_chunks`); -1 in padding.
  Kokkos::View<int*, MemorySpace> source;
  /// Slot -> index of its value among the user's values; -1 in padding.
  Detail::OriginIndex<MemorySpace> origin;
  /// Position -> index of its diagonal value; -1 where the diagonal is one.
  Detail::OriginIndex<MemorySpace> diagonal_origin;
  /// Level set -> first chunk; one more at the end.
  std::vector<int> level_chunk_map;

  int num_chunks() const { return static_cast<int>(chunk.extent(0)); }
  int num_levels() const {
    return static_cast<int>(level_chunk_map.size()) - 1;
  }
};

/// What a slot's `source` names.
enum class SourceNumbering { row, position };

namespace Detail {

template <class MemorySpace>
struct FillRowChunks {
  RowChunks<MemorySpace> plan;
  DependencyGraph<MemorySpace> graph;
  Kokkos::View<const int*, MemorySpace> vertex;    // position -> vertex
  Kokkos::View<const int*, MemorySpace> position;  // vertex -> position
  bool by_position;

  KOKKOS_INLINE_FUNCTION int user_row(int v) const {
    return graph.reversed ? graph.num_vertices - 1 - v : v;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const std::int64_t c, int lane,
                                         int lanes) const {
    const RowChunk chunk = plan.chunk(c);
    const int per_row = 1 << chunk.log_lanes;
    const int active = chunk.rows * per_row;
    for (int l = lane; l < active; l += lanes) {
      const int p = chunk.first_position + (l >> chunk.log_lanes);
      const int v = vertex(p);
      const std::int64_t begin = graph.row_map(v);
      const std::int64_t end = graph.row_map(v + 1);
      if (l % per_row == 0) {
        plan.row(p) = static_cast<unsigned>(user_row(v));
        plan.diagonal_origin.set(p, graph.diagonal_origin(v));
      }
      for (int s = 0; s < chunk.steps; ++s) {
        const std::int64_t slot =
            chunk.first_slot + static_cast<std::int64_t>(s) * active + l;
        const std::int64_t k =
            begin + static_cast<std::int64_t>(s) * per_row + l % per_row;
        const bool used = k < end;
        const int j = used ? graph.entries(k) : -1;
        plan.source(slot) =
            used ? (by_position ? position(j) : user_row(j)) : -1;
        plan.origin.set(slot, used ? graph.origin(k) : -1);
      }
    }
  }
};

}  // namespace Detail

/// Cuts the level sets of `graph` into chunks and lays out the entries.
///
/// @param num_values number of values the user's matrix stores
/// @param width     lanes that work together (a warp, or 1 on a host)
/// @param max_steps steps a row should take before it gets more lanes
/// @param host      the same graph in host memory
/// Within a level set, rows are sorted by length in windows of 8 chunks, which
/// keeps neighbours together and padding low.
/// Cost: O(rows log) on the host, O(entries) on the device. Fences `exec`.
template <class ExecutionSpace>
RowChunks<typename ExecutionSpace::memory_space> make_row_chunks(
    const ExecutionSpace& exec,
    const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
    const DependencyGraph<Kokkos::HostSpace>& host, const LevelSets& levels,
    std::int64_t num_values, int width, int max_steps,
    SourceNumbering numbering) {
  using Memory = typename ExecutionSpace::memory_space;
  using Kokkos::view_alloc;
  using Kokkos::WithoutInitializing;
  const int n = graph.num_vertices;
  RowChunks<Memory> plan;
  plan.num_rows = n;

  std::vector<int> order(levels.vertices.begin(), levels.vertices.end());
  std::vector<RowChunk> chunks;
  auto length = [&](int v) { return host.row_map(v + 1) - host.row_map(v); };
  plan.level_chunk_map.assign(1, 0);
  std::int64_t slots = 0;
  for (int level = 0; level < levels.num_levels; ++level) {
    const int begin = levels.level_map[level];
    const int end = levels.level_map[level + 1];
    const int window = 8 * width;
    if (width > 1)
      for (int w = begin; w < end; w += window)
        std::stable_sort(order.begin() + w,
                         order.begin() + std::min(end, w + window),
                         [&](int a, int b) { return length(a) > length(b); });
    for (int p = begin; p < end;) {
      // Sorting leaves the longest row of a window first.
      const std::int64_t longest = length(order[p]);
      int log_lanes = 0;
      while ((1 << log_lanes) < width &&
             longest > static_cast<std::int64_t>(max_steps) << log_lanes)
        ++log_lanes;
      const int last_of_window =
          std::min(end, begin + ((p - begin) / window + 1) * window);
      RowChunk chunk;
      chunk.first_slot = slots;
      chunk.first_position = p;
      chunk.rows = std::min(last_of_window - p, width >> log_lanes);
      chunk.log_lanes = log_lanes;
      chunk.steps =
          static_cast<int>((longest + (1 << log_lanes) - 1) >> log_lanes);
      slots +=
          (static_cast<std::int64_t>(chunk.rows) << log_lanes) * chunk.steps;
      chunks.push_back(chunk);
      p += chunk.rows;
    }
    plan.level_chunk_map.push_back(static_cast<int>(chunks.size()));
  }
  plan.num_slots = slots;

  plan.row = Kokkos::View<unsigned*, Memory>(
      view_alloc("Strata::RowChunks::row", WithoutInitializing), n);
  plan.diagonal_origin = Detail::OriginIndex<Memory>(
      "Strata::RowChunks::diagonal_origin", n, num_values);
  plan.chunk = Kokkos::View<RowChunk*, Memory>(
      view_alloc("Strata::RowChunks::chunk", WithoutInitializing),
      chunks.size());
  plan.source = Kokkos::View<int*, Memory>(
      view_alloc("Strata::RowChunks::source", WithoutInitializing), slots);
  plan.origin = Detail::OriginIndex<Memory>("Strata::RowChunks::origin", slots,
                                            num_values);
  using HostInts = Kokkos::View<const int*, Kokkos::HostSpace,
                                Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  std::vector<int> position(n);
  for (int p = 0; p < n; ++p) position[order[p]] = p;
  auto vertex_device =
      Kokkos::create_mirror_view_and_copy(Memory(), HostInts(order.data(), n));
  auto position_device = Kokkos::create_mirror_view_and_copy(
      Memory(), HostInts(position.data(), n));
  Kokkos::deep_copy(plan.chunk,
                    Kokkos::View<const RowChunk*, Kokkos::HostSpace,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                        chunks.data(), chunks.size()));
  Detail::for_each_row(
      "Strata::RowChunks::fill", exec, plan.num_chunks(), slots,
      Detail::FillRowChunks<Memory>{plan, graph, vertex_device, position_device,
                                    numbering == SourceNumbering::position});
  exec.fence();
  return plan;
}

}  // namespace Strata

#endif
