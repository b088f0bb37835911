// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_BAND_CHUNKS_HPP
#define STRATA_BAND_CHUNKS_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelSets.hpp>
#include <cstdint>
#include <vector>

namespace Strata {
namespace Detail {

/// Limits of a sub-graph made of a chunk of a band of level sets.
struct ChunkShape {
  int band_levels = 32;
  int max_rows = 1024;
  /// Rows, distinct outside sources and the scratch's zero together.
  int max_local = 4096;
  /// A row with more outside sources than this does not count them: it reads
  /// them where they are published.
  int max_row_externals = 256;
};

/// Sub-graph number of each vertex: bands of `band_levels` consecutive level
/// sets, each cut into chunks of vertices in ascending order.
///
/// Numbers go band by band and upward in a band. An edge leads from a lower
/// band, or from a smaller vertex of the same band, so never to a smaller
/// number: the sub-graphs in this order are a valid sequence.
/// Cost: O(n + edges).
inline std::vector<int> band_chunks(
    const DependencyGraph<Kokkos::HostSpace>& graph, const LevelSets& levels,
    const ChunkShape& shape) {
  const int n = graph.num_vertices;
  const int bands =
      (levels.num_levels + shape.band_levels - 1) / shape.band_levels;
  std::vector<int> band_map(bands + 1, 0), by_band(n), chunk_of(n, -1);
  for (int v = 0; v < n; ++v)
    ++band_map[levels.level_of[v] / shape.band_levels + 1];
  for (int b = 0; b < bands; ++b) band_map[b + 1] += band_map[b];
  std::vector<int> next(band_map.begin(), band_map.end() - (bands ? 1 : 0));
  for (int v = 0; v < n; ++v)
    by_band[next[levels.level_of[v] / shape.band_levels]++] = v;

  // Last sub-graph that counted this vertex among its outside sources.
  std::vector<int> counted_by(n, -1);
  int chunk = -1;
  for (int b = 0; b < bands; ++b) {
    int rows = shape.max_rows, externals = 0;  // full: opens a chunk
    for (int p = band_map[b]; p < band_map[b + 1]; ++p) {
      const int v = by_band[p];
      const auto begin = graph.row_map(v), end = graph.row_map(v + 1);
      const auto count = [&] {
        int fresh = 0;
        for (auto k = begin; k < end; ++k) {
          const int j = graph.entries(k);
          fresh += chunk_of[j] != chunk && counted_by[j] != chunk;
        }
        return fresh <= shape.max_row_externals ? fresh : 0;
      };
      int fresh = rows < shape.max_rows ? count() : 0;
      if (rows >= shape.max_rows ||
          rows + 2 + externals + fresh > shape.max_local) {
        ++chunk;
        rows = externals = 0;
        fresh = count();
      }
      if (fresh > 0)
        for (auto k = begin; k < end; ++k) {
          const int j = graph.entries(k);
          if (chunk_of[j] != chunk) counted_by[j] = chunk;
        }
      externals += fresh;
      chunk_of[v] = chunk;
      ++rows;
    }
  }
  return chunk_of;
}

}  // namespace Detail
}  // namespace Strata

#endif
