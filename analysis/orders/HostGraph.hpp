// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_ORDERS_HOST_GRAPH_HPP
#define STRATA_ANALYSIS_ORDERS_HOST_GRAPH_HPP

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

// Graphs of matrices in the memory of the host, and searches in them by one
// thread.

namespace Strata {
namespace Detail {

/// A graph in the memory of the host: those columns of a matrix that are other
/// rows.
struct HostGraph {
  std::vector<std::int64_t> row_map, entries;

  int rows() const { return static_cast<int>(row_map.size()) - 1; }
  std::int64_t degree(int row) const { return row_map[row + 1] - row_map[row]; }
  template <class Visit>
  void neighbours(int row, const Visit& visit) const {
    for (std::int64_t k = row_map[row]; k < row_map[row + 1]; ++k)
      if (entries[k] != row) visit(static_cast<int>(entries[k]));
  }
};

/// Breadth-first searches among the rows that have one label.
class BreadthFirst {
 public:
  explicit BreadthFirst(const HostGraph& graph)
      : graph_(graph), label_(graph.rows(), 0), seen_(graph.rows(), 0) {}

  void set_label(int row, int label) { label_[row] = label; }
  int label(int row) const { return label_[row]; }

  /// Finds what `root` leads to; `found` has it in the order of distance, and
  /// `level_map` where each distance begins. Neighbours by ascending degree
  /// where `sorted`.
  void search(int root, bool sorted) {
    const int wanted = label_[root];
    ++stamp_;
    found.assign(1, root);
    level_map.assign(1, 0);
    seen_[root] = stamp_;
    for (std::size_t begin = 0; begin < found.size();) {
      const std::size_t end = found.size();
      level_map.push_back(static_cast<int>(end));
      for (; begin < end; ++begin) {
        const std::size_t first = found.size();
        graph_.neighbours(found[begin], [&](int other) {
          if (label_[other] != wanted || seen_[other] == stamp_) return;
          seen_[other] = stamp_;
          found.push_back(other);
        });
        if (sorted)
          std::sort(found.begin() + first, found.end(), [&](int a, int b) {
            const std::int64_t da = graph_.degree(a), db = graph_.degree(b);
            return da != db ? da < db : a < b;
          });
      }
    }
  }
  /// search() from a row that is nearly as far from others as any (George and
  /// Liu 1979); three searches more at most.
  void search_from_end(int root, bool sorted) {
    search(root, false);
    for (int trial = 0; trial < 3; ++trial) {
      const std::size_t depth = level_map.size();
      const auto last = found.begin() + level_map[depth - 2];
      root = *std::min_element(last, found.end(), [&](int a, int b) {
        return graph_.degree(a) < graph_.degree(b);
      });
      search(root, false);
      if (level_map.size() <= depth) break;
    }
    if (sorted) search(root, true);
  }

  std::vector<int> found, level_map;

 private:
  const HostGraph& graph_;
  std::vector<int> label_, seen_;
  int stamp_ = 0;
};

/// The old rows in reverse Cuthill-McKee order, component after component.
inline std::vector<int> cuthill_mckee(const HostGraph& graph) {
  BreadthFirst search(graph);
  std::vector<int> old_row;
  for (int row = 0; row < graph.rows(); ++row) {
    if (search.label(row) != 0) continue;
    search.search_from_end(row, true);
    for (const int found : search.found) {
      search.set_label(found, 1);
      old_row.push_back(found);
    }
  }
  std::reverse(old_row.begin(), old_row.end());
  return old_row;
}

/// The graph of A + A^T: searches go both ways. Given `place`, row i of A is
/// moved to row place[i] before that.
inline HostGraph symmetric_graph(const HostGraph& graph,
                                 const std::vector<int>& place = {}) {
  std::vector<std::uint64_t> edges;
  edges.reserve(2 * graph.entries.size());
  for (int row = 0; row < graph.rows(); ++row)
    for (auto k = graph.row_map[row]; k < graph.row_map[row + 1]; ++k) {
      const auto i = static_cast<std::uint64_t>(place.empty() ? row
                                                              : place[row]),
                 j = static_cast<std::uint64_t>(graph.entries[k]);
      edges.push_back(i << 32 | j);
      edges.push_back(j << 32 | i);
    }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  HostGraph both{std::vector<std::int64_t>(graph.row_map.size()), {}};
  for (const std::uint64_t edge : edges) {
    ++both.row_map[(edge >> 32) + 1];
    both.entries.push_back(static_cast<std::int64_t>(edge & 0xffffffffu));
  }
  std::partial_sum(both.row_map.begin(), both.row_map.end(),
                   both.row_map.begin());
  return both;
}

}  // namespace Detail
}  // namespace Strata

#endif
