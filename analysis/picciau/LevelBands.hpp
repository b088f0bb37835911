// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_LEVEL_BANDS_HPP
#define STRATA_ANALYSIS_PICCIAU_LEVEL_BANDS_HPP

#include <Strata_LevelSets.hpp>
#include <cstdint>
#include <vector>

namespace Strata {
namespace Detail {

/// Splits the vertices of `component_of` >= 0 into bands of consecutive levels
/// and each band, by vertex number, into as few equal chunks of at most
/// `capacity` vertices as hold it; returns how many, numbered from `base` by
/// band and chunk. A band is closed at `height` levels.
///
/// Feasible by construction: along an edge the band does not fall, and within
/// a band the vertex number rises and so the chunk does not fall. Unlike
/// Algorithm 3 it needs no more than one starting vertex to give sub-graphs
/// that run side by side. O(n).
inline int split_level_bands(const LevelSets& levels,
                             const std::vector<int>& component_of, int height,
                             int capacity, int base,
                             std::vector<int>& subgraph_of) {
  const int bands = (levels.num_levels + height - 1) / height;
  std::vector<int> size(bands, 0), first(bands), chunks(bands), seen(bands, 0);
  const int n = int(levels.level_of.size());
  for (int v = 0; v < n; ++v)
    if (component_of[v] >= 0) ++size[levels.level_of[v] / height];
  int total = 0;
  for (int band = 0; band < bands; ++band) {
    first[band] = base + total;
    chunks[band] = (size[band] + capacity - 1) / capacity;
    total += chunks[band];
  }
  for (int v = 0; v < n; ++v) {
    if (component_of[v] < 0) continue;
    const int band = levels.level_of[v] / height;
    subgraph_of[v] = first[band] + int(std::int64_t(seen[band]++) *
                                       chunks[band] / size[band]);
  }
  return total;
}

}  // namespace Detail
}  // namespace Strata

#endif
