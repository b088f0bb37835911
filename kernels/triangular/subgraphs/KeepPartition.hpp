// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_KEEP_PARTITION_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_KEEP_PARTITION_HPP

#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// The partition of the pattern before for a pattern that differs a little,
/// which is the future work of Picciau et al.: nothing where it is not feasible
/// any more, where a row that had no edges has some now, or where it would have
/// more sub-graph levels than it had. Entries that are gone never matter, and
/// neither do added ones whose rows and columns are of one sub-graph.
/// Cost: two passes over the edges, on the host.
/// @param max_rows  that a sub-graph may have
inline std::optional<Subgraphs> keep_partition(
    const DependencyGraph<Kokkos::HostSpace>& graph, const KeptPartition& kept,
    int max_rows) {
  const int n = graph.num_vertices;
  if (kept.subgraph_of_row.size() != static_cast<std::size_t>(n))
    return std::nullopt;
  std::vector<int> subgraph_of(n);
  for (int v = 0; v < n; ++v)
    subgraph_of[v] = kept.subgraph_of_row[graph.row_of(v)];
  for (int i = 0; i < n; ++i)
    for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
      const int from = subgraph_of[graph.entries(k)];
      if (from < 0 || from > subgraph_of[i]) return std::nullopt;
    }
  Subgraphs subgraphs = subgraphs_from_map(graph, std::move(subgraph_of));
  if (subgraphs.num_levels > kept.num_levels || subgraphs.largest() > max_rows)
    return std::nullopt;
  return subgraphs;
}

}  // namespace Detail
}  // namespace Strata

#endif
