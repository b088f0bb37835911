// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_SUBGRAPH_PARTITION_HPP
#define STRATA_ANALYSIS_PACKING_SUBGRAPH_PARTITION_HPP

#include <analysis/packing/PackingArrays.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Which sub-graph each row belongs to, what sub-graphs need from each other,
/// and where their rows stand.
template <class MemorySpace>
struct SubgraphPartition : PackingArrays<MemorySpace> {
  using Base = PackingArrays<MemorySpace>;
  using Base::graph, Base::level, Base::band_levels, Base::bands,
      Base::whole_rows, Base::halvings, Base::num_subgraphs,
      Base::dependency_bits, Base::num_externals, Base::count, Base::band_key,
      Base::order, Base::subgraph_of, Base::export_before,
      Base::permuted_row_of, Base::time, Base::exported, Base::band_first,
      Base::band_chunk, Base::first_vertex, Base::import_count, Base::unique_of,
      Base::external_at, Base::external_key, Base::external_edge,
      Base::unique_dependency, Base::unique_subgraph, Base::count_subgraphs,
      Base::count_externals, Base::count_uniques, Base::count_local,
      Base::count_exports, Base::count_time, Base::first_edge, Base::end_edge,
      Base::exports_of;
  using typename Base::Index, typename Base::Key;

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
  }
  struct BandStarts {};
  KOKKOS_INLINE_FUNCTION void operator()(BandStarts, Index p) const {
    const Key b = band_key[p];
    if (p == 0 || band_key[p - 1] != b) band_first[b] = static_cast<int>(p);
    if (p + 1 == graph.num_vertices) band_first[bands] = graph.num_vertices;
  }
  /// Chunks of so many rows. With one halving more each has its rows in one of
  /// before, so that it needs no more values, its own included.
  KOKKOS_INLINE_FUNCTION Index chunks_of(Index rows) const {
    const Index chunks = (rows + whole_rows - 1) / whole_rows << halvings;
    return chunks < rows ? chunks : rows;
  }
  struct BandChunkScan {};
  KOKKOS_INLINE_FUNCTION void operator()(BandChunkScan, Index b, Index& sum,
                                         bool final) const {
    const int rows = band_first[b + 1] - band_first[b];
    if (final) band_chunk[b] = static_cast<int>(sum);
    sum += chunks_of(rows);
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
    const int g = chunk_at(p), i = order[p];
    exported[i] = 0;
    time[i] = -1;
    subgraph_of[i] = g;
    if (p == 0 || chunk_at(p - 1) != g) first_vertex[g] = static_cast<int>(p);
    if (p + 1 == graph.num_vertices)
      first_vertex[band_chunk[bands]] = graph.num_vertices;
  }

  // --- Values that sub-graphs need from others ------------------------------

  KOKKOS_INLINE_FUNCTION Index length(Index i) const {
    return end_edge(i) - first_edge(i);
  }
  struct ClearExternals {};
  KOKKOS_INLINE_FUNCTION void operator()(ClearExternals, Index i) const {
    external_at[i] = 0;
  }
  /// Adds to what row i has; returns what it had. Lanes share the row.
  KOKKOS_INLINE_FUNCTION Index add_external(Index i, Index more,
                                            int lanes) const {
    if (lanes > 1) return Kokkos::atomic_fetch_add(external_at + i, more);
    const Index before = external_at[i];
    external_at[i] = before + more;
    return before;
  }
  /// Edges that a lane looks at together, as their reads take long: of edges k,
  /// k + lanes, ... those from outside sub-graph g, and their vertices.
  struct EdgeBatch {
    static constexpr int size = 8;
    int from[size];
    bool outside[size];
    int count = 0;
    KOKKOS_INLINE_FUNCTION EdgeBatch(const SubgraphPartition& of, int g,
                                     Index k, Index end, int lanes) {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < size; ++u) {
        const Index at = k + Index{u} * lanes;
        from[u] = at < end ? of.graph.entries(at) : -1;
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < size; ++u)
        outside[u] = from[u] >= 0 && of.subgraph_of[from[u]] != g;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < size; ++u) count += outside[u];
    }
  };
  struct CountExternals {};
  KOKKOS_INLINE_FUNCTION void operator()(CountExternals, Index i, int lane,
                                         int lanes) const {
    const int g = subgraph_of[i];
    const Index end = end_edge(i);
    Index mine = 0;
    for (Index k = first_edge(i) + lane; k < end;
         k += Index{EdgeBatch::size} * lanes)
      mine += EdgeBatch(*this, g, k, end, lanes).count;
    if (mine > 0) add_external(i, mine, lanes);
  }
  struct PlaceExternals {};
  KOKKOS_INLINE_FUNCTION void operator()(PlaceExternals, Index i, Index& sum,
                                         bool final) const {
    const Index own = external_at[i];
    if (final) external_at[i] = sum;
    sum += own;
    if (final && i + 1 == graph.num_vertices) count[count_externals] = sum;
  }
  KOKKOS_INLINE_FUNCTION Key key_of(int g, int j) const {
    return static_cast<Key>(g) << dependency_bits |
           static_cast<std::uint32_t>(j);
  }
  /// Those of a row in any order: what follows does not depend on it.
  struct ListExternals {};
  KOKKOS_INLINE_FUNCTION void operator()(ListExternals, Index i, int lane,
                                         int lanes) const {
    const int g = subgraph_of[i];
    const Index end = end_edge(i);
    for (Index k = first_edge(i) + lane; k < end;
         k += Index{EdgeBatch::size} * lanes) {
      const EdgeBatch edges(*this, g, k, end, lanes);
      if (edges.count == 0) continue;
      Index at = add_external(i, edges.count, lanes);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < EdgeBatch::size; ++u) {
        if (!edges.outside[u]) continue;
        external_key[at] = key_of(g, edges.from[u]);
        external_edge[at] = static_cast<int>(k + Index{u} * lanes);
        ++at;
      }
    }
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
      const int j = static_cast<int>(key & ((Key{1} << dependency_bits) - 1));
      const int g = static_cast<int>(key >> dependency_bits);
      unique_dependency[sum - 1] = j;
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

  // --- Permuted rows: by sub-graph, exported rows first ----------------------

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
  struct PermutedRows {};
  KOKKOS_INLINE_FUNCTION void operator()(PermutedRows, Index p) const {
    const int i = order[p], g = subgraph_of[i], first = first_vertex[g];
    const int before = export_before[p] - export_before[first];
    const int at = exported[i] ? first + before
                               : first + exports_of(g) + static_cast<int>(p) -
                                     first - before;
    permuted_row_of[i] = at;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
