// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PLAN_EXPORT_HPP
#define STRATA_PLAN_EXPORT_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_Error.hpp>
#include <Strata_Schedule.hpp>
#include <Strata_Subgraphs.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace Strata {

/// Writes the graph of sub-graphs for Graphviz (Picciau et al.'s Figure 3): a
/// node a sub-graph, those of one level side by side, an edge for every pair
/// with external edges between them, labelled with how many.
///
/// Throws OptionError, before anything is written, where there are more than
/// `max_subgraphs` sub-graphs, more than Graphviz can lay out in useful time.
/// Cost: O(n + edges).
inline void write_subgraphs_dot(std::ostream& out,
                                const DependencyGraph<Kokkos::HostSpace>& graph,
                                const Subgraphs& subgraphs,
                                int max_subgraphs = 1000) {
  if (subgraphs.count > max_subgraphs)
    throw OptionError("max_subgraphs",
                      std::to_string(subgraphs.count) +
                          " sub-graphs are more than the " +
                          std::to_string(max_subgraphs) + " allowed",
                      "raise it, or export a smaller matrix");
  out << "digraph subgraphs {\n  rankdir=TB;\n  node [shape=circle];\n";
  for (int p = 0; p < subgraphs.num_levels; ++p) {
    out << "  { rank=same;";
    for (int q = subgraphs.level_map[p]; q < subgraphs.level_map[p + 1]; ++q)
      out << " G" << subgraphs.order[q] << ";";
    out << " }\n";
  }
  for (int g = 0; g < subgraphs.count; ++g)
    out << "  G" << g << " [label=\"G" << g << "\\n"
        << subgraphs.size(g) << "\"];\n";

  std::vector<std::int64_t> edges_from(subgraphs.count, 0);
  std::vector<int> sources;
  for (int g = 0; g < subgraphs.count; ++g) {
    for (int p = subgraphs.vertex_map[g]; p < subgraphs.vertex_map[g + 1];
         ++p) {
      const int i = subgraphs.vertices[p];
      for (auto k = graph.row_map(i); k < graph.row_map(i + 1); ++k) {
        const int source = subgraphs.subgraph_of[graph.entries(k)];
        if (source == g) continue;
        if (edges_from[source]++ == 0) sources.push_back(source);
      }
    }
    std::sort(sources.begin(), sources.end());
    for (int source : sources) {
      out << "  G" << source << " -> G" << g << " [label=\""
          << edges_from[source] << "\"];\n";
      edges_from[source] = 0;
    }
    sources.clear();
  }
  out << "}\n";
}

namespace Detail {

/// The slots of sub-graph g as a JSON array of arrays of [source, target].
inline void write_slots_json(std::ostream& out,
                             const DependencyGraph<Kokkos::HostSpace>& graph,
                             const Subgraphs& subgraphs, const SlotList& list,
                             int g, bool internal) {
  const int* const vertices =
      subgraphs.vertices.data() + subgraphs.vertex_map[g];
  out << '[';
  for (auto q = list.slot_map[g]; q < list.slot_map[g + 1]; ++q) {
    out << (q > list.slot_map[g] ? ", [" : "[");
    for (auto e = list.edge_map[q]; e < list.edge_map[q + 1]; ++e) {
      const int j = internal ? vertices[list.source[e]] : list.source[e];
      out << (e > list.edge_map[q] ? ", [" : "[") << graph.row_of(j) << ", "
          << graph.row_of(vertices[list.target[e]]) << ']';
    }
    out << ']';
  }
  out << ']';
}

}  // namespace Detail

/// Writes partition and schedule as JSON: counts, then for every sub-graph its
/// level, its rows and its slots, each a list of edges [source row, target
/// row]. Rows are the matrix's, also for a backward solve.
///
/// Throws OptionError, before anything is written, where there are more than
/// `max_edges` edges. Cost: O(n + edges), some 20 bytes an edge.
inline void write_schedule_json(std::ostream& out,
                                const DependencyGraph<Kokkos::HostSpace>& graph,
                                const Subgraphs& subgraphs,
                                const Schedule& schedule,
                                std::int64_t max_edges = 10000000) {
  if (graph.num_edges() > max_edges)
    throw OptionError("max_edges",
                      std::to_string(graph.num_edges()) +
                          " edges are more than the " +
                          std::to_string(max_edges) + " allowed",
                      "raise it, or export a smaller matrix");
  const auto write_rows = [&](const int* begin, const int* end) {
    out << '[';
    for (const int* v = begin; v != end; ++v)
      out << (v == begin ? "" : ", ") << graph.row_of(*v);
    out << ']';
  };
  out << "{\n  \"rows\": " << graph.num_vertices
      << ",\n  \"backward\": " << (graph.reversed ? "true" : "false")
      << ",\n  \"subgraph_count\": " << subgraphs.count
      << ",\n  \"subgraph_levels\": " << subgraphs.num_levels
      << ",\n  \"internal_edges\": " << subgraphs.internal_edges
      << ",\n  \"external_edges\": " << subgraphs.external_edges
      << ",\n  \"internal_slots\": " << schedule.internal.num_slots()
      << ",\n  \"external_slots\": " << schedule.external.num_slots()
      << ",\n  \"isolated\": ";
  write_rows(subgraphs.isolated.data(),
             subgraphs.isolated.data() + subgraphs.isolated.size());
  out << ",\n  \"subgraphs\": [";
  for (int g = 0; g < subgraphs.count; ++g) {
    out << (g > 0 ? ",\n" : "\n") << "    {\"id\": " << g
        << ", \"level\": " << subgraphs.level_of[g] << ", \"rows\": ";
    write_rows(subgraphs.vertices.data() + subgraphs.vertex_map[g],
               subgraphs.vertices.data() + subgraphs.vertex_map[g + 1]);
    out << ",\n     \"external\": ";
    Detail::write_slots_json(out, graph, subgraphs, schedule.external, g,
                             false);
    out << ",\n     \"internal\": ";
    Detail::write_slots_json(out, graph, subgraphs, schedule.internal, g, true);
    out << '}';
  }
  out << "\n  ]\n}\n";
}

}  // namespace Strata

#endif
