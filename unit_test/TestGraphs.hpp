// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TESTGRAPHS_HPP
#define STRATA_TESTGRAPHS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace TestGraphs {

using Graph = DependencyGraph<Kokkos::HostSpace>;

/// A graph from the dependencies of each vertex, all smaller than the vertex.
inline Graph make_graph(const std::vector<std::set<int>>& dependencies) {
  Graph graph;
  graph.num_vertices = int(dependencies.size());
  std::int64_t edges = 0;
  for (const auto& row : dependencies) edges += std::int64_t(row.size());
  graph.row_map = decltype(graph.row_map)("row_map", dependencies.size() + 1);
  graph.entries = decltype(graph.entries)("entries", edges);
  edges = 0;
  for (std::size_t i = 0; i < dependencies.size(); ++i) {
    for (int j : dependencies[i]) graph.entries(edges++) = j;
    graph.row_map(i + 1) = edges;
  }
  return graph;
}

/// Edge k's value stands at 3 k + 1, vertex v's diagonal at 3 v, and that of
/// every fifth vertex nowhere.
inline Graph with_value_indices(Graph graph, bool reversed) {
  graph.reversed = reversed;
  graph.value_index = decltype(graph.value_index)("origin", graph.num_edges());
  graph.diagonal_value_index =
      decltype(graph.diagonal_value_index)("diagonal", graph.num_vertices);
  for (std::int64_t k = 0; k < graph.num_edges(); ++k)
    graph.value_index(k) = 3 * k + 1;
  for (int v = 0; v < graph.num_vertices; ++v)
    graph.diagonal_value_index(v) = v % 5 ? 3 * v : -1;
  return graph;
}

/// The graph of a triangle whose values are all that the user has.
/// @param unit  the diagonal is one, and not among them
inline Graph in_order(const Graph& given, bool reversed, bool unit) {
  Graph graph = with_value_indices(given, reversed);
  graph.values_in_order = true;
  const std::int64_t diagonals = unit ? 0 : 1;
  const auto last = graph.num_edges() + diagonals * graph.num_vertices - 1;
  const auto origin = [&](std::int64_t number) {
    return reversed ? last - number : number;
  };
  for (int v = 0; v < graph.num_vertices; ++v) {
    for (auto e = graph.row_map(v); e < graph.row_map(v + 1); ++e)
      graph.value_index(e) = origin(e + diagonals * v);
    graph.diagonal_value_index(v) =
        unit ? -1 : origin(graph.row_map(v + 1) + v);
  }
  return graph;
}

/// More than any origin of `with_value_indices`; those of `in_order`.
inline std::int64_t num_values(const Graph& graph) {
  if (!graph.values_in_order)
    return 3 * (graph.num_edges() + graph.num_vertices) + 1;
  const bool unit = graph.diagonal_value_index(0) < 0;
  return graph.num_edges() + (unit ? 0 : graph.num_vertices);
}

/// Where diagonal blocks begin, from the definition, every entry looked at, and
/// the end of the last one.
inline std::vector<int> plain_blocks(const Graph& graph) {
  std::vector<int> start{0};
  for (int v = 0; v < graph.num_vertices; ++v)
    for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k)
      if (graph.entries(k) >= start.back()) {
        start.push_back(v);
        break;
      }
  if (graph.num_vertices > 0) start.push_back(graph.num_vertices);
  return start;
}

/// About `degree` edges into each vertex, from up to `reach` before it.
inline Graph random_graph(int n, double degree, int reach, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::set<int>> dependencies(n);
  // A Poisson distribution's mean is positive.
  if (degree == 0) return make_graph(dependencies);
  for (int i = 1; i < n; ++i) {
    const int first = std::max(0, i - reach);
    int wanted = std::poisson_distribution<int>(degree)(random);
    wanted = std::min(wanted, i - first);
    while (int(dependencies[i].size()) < wanted)
      dependencies[i].insert(
          std::uniform_int_distribution<int>(first, i - 1)(random));
  }
  return make_graph(dependencies);
}

/// Every vertex needs all before it.
inline Graph dense_graph(int n) {
  std::vector<std::set<int>> dependencies(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) dependencies[i].insert(j);
  return make_graph(dependencies);
}

inline Graph chain_graph(int n) {
  std::vector<std::set<int>> dependencies(n);
  for (int i = 1; i < n; ++i) dependencies[i] = {i - 1};
  return make_graph(dependencies);
}

/// The last vertex needs all others, which need nothing.
inline Graph arrow_graph(int n) {
  std::vector<std::set<int>> dependencies(n);
  for (int j = 0; j + 1 < n; ++j) dependencies[n - 1].insert(j);
  return make_graph(dependencies);
}

/// All vertices need the first.
inline Graph star_graph(int n) {
  std::vector<std::set<int>> dependencies(n);
  for (int i = 1; i < n; ++i) dependencies[i] = {0};
  return make_graph(dependencies);
}

/// A chain in which every `pitch`-th vertex needs all before it.
inline Graph comb_graph(int n, int pitch) {
  std::vector<std::set<int>> dependencies(n);
  for (int i = 1; i < n; ++i)
    for (int j = i % pitch ? i - 1 : 0; j < i; ++j) dependencies[i].insert(j);
  return make_graph(dependencies);
}

/// `wide` vertices without edges, then a chain of `length`, then ten vertices
/// that need all before them: most dependencies are known long before the last.
inline Graph wide_then_long_graph(int wide, int length) {
  std::vector<std::set<int>> dependencies(wide + length + 10);
  for (int i = wide + 1; i < wide + length; ++i) dependencies[i] = {i - 1};
  for (int i = wide + length; i < wide + length + 10; ++i)
    for (int j = 0; j < i; ++j) dependencies[i].insert(j);
  return make_graph(dependencies);
}

/// Lower triangle of the 5-point (nz = 1) or 7-point stencil.
inline Graph grid_graph(int nx, int ny, int nz = 1) {
  std::vector<std::set<int>> dependencies(nx * ny * nz);
  for (int z = 0, v = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x, ++v) {
        if (x > 0) dependencies[v].insert(v - 1);
        if (y > 0) dependencies[v].insert(v - nx);
        if (z > 0) dependencies[v].insert(v - nx * ny);
      }
  return make_graph(dependencies);
}

/// `count` chains, vertex v in chain v modulo count; chain c stops after
/// c + 1 vertices if `uneven`, which leaves isolated vertices behind it.
inline Graph interleaved_chains(int count, int length, bool uneven) {
  std::vector<std::set<int>> dependencies(count * length);
  for (int v = count; v < count * length; ++v)
    if (!uneven || v / count <= v % count) dependencies[v] = {v - count};
  return make_graph(dependencies);
}

/// Ten vertices and ten edges, one of them vertex 6's from 3 and 5 (counted
/// from one), as in Figure 1 of Picciau et al. (2017).
inline Graph ten_vertices() {
  std::vector<std::set<int>> dependencies(10);
  dependencies[2] = {0};
  dependencies[3] = {1};
  dependencies[4] = {1};
  dependencies[5] = {2, 4};
  dependencies[6] = {3};
  dependencies[7] = {5};
  dependencies[8] = {5, 6};
  dependencies[9] = {7};
  return make_graph(dependencies);
}

/// Graphs of every kind, small enough for plain references.
inline std::vector<std::pair<std::string, Graph>> all_graphs() {
  std::vector<std::pair<std::string, Graph>> graphs;
  graphs.emplace_back("empty", make_graph({}));
  graphs.emplace_back("no views", Graph{});
  graphs.emplace_back("one vertex", make_graph({{}}));
  graphs.emplace_back("isolated", make_graph(std::vector<std::set<int>>(37)));
  graphs.emplace_back("ten", ten_vertices());
  graphs.emplace_back("chain", chain_graph(301));
  graphs.emplace_back("arrow", arrow_graph(257));
  graphs.emplace_back("dense", dense_graph(60));
  graphs.emplace_back("grid", grid_graph(23, 17));
  graphs.emplace_back("grid3d", grid_graph(7, 8, 9));
  graphs.emplace_back("chains", interleaved_chains(13, 9, false));
  graphs.emplace_back("uneven chains", interleaved_chains(20, 20, true));
  unsigned seed = 0;
  for (const double degree : {0.3, 1.0, 2.5, 9.0})
    for (const int reach : {4, 40, 400})
      graphs.emplace_back("random " + std::to_string(degree) + " within " +
                              std::to_string(reach),
                          random_graph(400, degree, reach, ++seed));
  return graphs;
}

}  // namespace TestGraphs
}  // namespace Strata

#endif
