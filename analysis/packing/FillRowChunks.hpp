// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_FILL_ROW_CHUNKS_HPP
#define STRATA_ANALYSIS_PACKING_FILL_ROW_CHUNKS_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/packing/RowChunk.hpp>
#include <analysis/packing/RowCoefficients.hpp>
#include <core/matrix/ValueIndex.hpp>

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

}  // namespace Detail
}  // namespace Strata

#endif
