// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_ORDERS_HPP
#define STRATA_GALLERY_ORDERS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_Colouring.hpp>
#include <Strata_Error.hpp>
#include <Strata_LevelPermutation.hpp>
#include <algorithm>
#include <gallery/GalleryGraphs.hpp>
#include <numeric>
#include <string>
#include <vector>

namespace Strata {

/// An order of the rows and columns of a matrix, to try solvers on.
enum class GalleryOrder {
  natural,
  reverse,
  random,
  cuthill_mckee,      ///< reverse Cuthill-McKee
  nested_dissection,  ///< by level structures (George and Liu 1978)
  level,              ///< of level sets of the symmetric pattern
  colours             ///< of colour_rows
};

inline constexpr GalleryOrder gallery_orders[] = {
    GalleryOrder::natural,
    GalleryOrder::reverse,
    GalleryOrder::random,
    GalleryOrder::cuthill_mckee,
    GalleryOrder::nested_dissection,
    GalleryOrder::level,
    GalleryOrder::colours};

inline const char* to_string(GalleryOrder order) {
  switch (order) {
    case GalleryOrder::natural:
      return "natural";
    case GalleryOrder::reverse:
      return "reverse";
    case GalleryOrder::random:
      return "random";
    case GalleryOrder::cuthill_mckee:
      return "rcm";
    case GalleryOrder::nested_dissection:
      return "dissection";
    case GalleryOrder::level:
      return "level";
    default:
      return "colours";
  }
}

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

/// Nested dissection: the middle level of a breadth-first search separates
/// what is before it from what is after it, and comes last.
class NestedDissection {
 public:
  explicit NestedDissection(const HostGraph& graph) : search_(graph) {
    std::vector<int> all(graph.rows());
    std::iota(all.begin(), all.end(), 0);
    dissect(all);
  }
  std::vector<int> old_row;

 private:
  static constexpr std::size_t smallest = 64;

  /// Each half has at most half of the rows, so this is entered log2(rows)
  /// times within itself at most.
  void dissect(const std::vector<int>& rows) {
    const int label = ++labels_;
    for (const int row : rows) search_.set_label(row, label);
    for (const int row : rows) {
      if (search_.label(row) != label) continue;  // of a part that is done
      search_.search_from_end(row, false);
      separate();
    }
  }
  /// Orders the component that the latest search has found.
  void separate() {
    const std::vector<int> found = search_.found;
    const std::vector<int> map = search_.level_map;
    if (found.size() <= smallest || map.size() < 4) return append(found);
    std::size_t middle = 0;
    while (2 * std::size_t(map[middle + 1]) < found.size()) ++middle;
    const auto part = [&](int begin, int end) {
      return std::vector<int>(found.begin() + begin, found.begin() + end);
    };
    const int size = static_cast<int>(found.size());
    dissect(part(0, map[middle]));
    dissect(part(map[middle + 1], size));
    append(part(map[middle], map[middle + 1]));
  }
  void append(const std::vector<int>& rows) {
    for (const int row : rows) search_.set_label(row, -1);
    old_row.insert(old_row.end(), rows.begin(), rows.end());
  }

  BreadthFirst search_;
  int labels_ = 0;
};

inline std::vector<int> random_order(int rows, std::uint64_t seed) {
  std::vector<int> old_row(rows);
  std::iota(old_row.begin(), old_row.end(), 0);
  for (int k = rows - 1; k > 0; --k)
    std::swap(old_row[k], old_row[RowRandom(seed, k).below(k + 1)]);
  return old_row;
}

/// The graph of A + A^T: searches go both ways.
inline HostGraph symmetric_graph(const HostGraph& graph) {
  const int rows = graph.rows();
  HostGraph both{std::vector<std::int64_t>(rows + 1), {}};
  const auto each = [&](const auto& use) {
    for (int row = 0; row < rows; ++row)
      for (auto k = graph.row_map[row]; k < graph.row_map[row + 1]; ++k)
        use(row, graph.entries[k]);
  };
  each([&](int row, int column) {
    ++both.row_map[row + 1];
    ++both.row_map[column + 1];
  });
  std::partial_sum(both.row_map.begin(), both.row_map.end(),
                   both.row_map.begin());
  both.entries.resize(both.row_map.back());
  auto next = both.row_map;
  each([&](int row, int column) {
    both.entries[next[row]++] = column;
    both.entries[next[column]++] = row;
  });
  // Each neighbour once.
  std::int64_t kept = 0, begin = 0;
  for (int row = 0; row < rows; ++row) {
    const std::int64_t end = both.row_map[row + 1];
    const auto first = both.entries.begin() + begin;
    std::sort(first, both.entries.begin() + end);
    const auto last = std::unique(first, both.entries.begin() + end);
    kept = std::copy(first, last, both.entries.begin() + both.row_map[row]) -
           both.entries.begin();
    begin = end;
    both.row_map[row + 1] = kept;
  }
  both.entries.resize(kept);
  return both;
}

/// The rows of A in `order`, which no function of the library gives.
template <class Matrix>
std::vector<int> host_order(const Matrix& A, GalleryOrder order,
                            std::uint64_t seed) {
  using Memory = typename Matrix::memory_space;
  const auto rows = static_cast<int>(A.numRows());
  if (order == GalleryOrder::random) return random_order(rows, seed);
  if (order == GalleryOrder::reverse) {
    std::vector<int> old_row(rows);
    std::iota(old_row.rbegin(), old_row.rend(), 0);
    return old_row;
  }
  const auto fetch = [](const IndexArray& array) {
    return array.fetch<Memory>(0, static_cast<std::int64_t>(array.extent(0)));
  };
  const HostGraph graph = symmetric_graph(
      HostGraph{fetch(A.graph.row_map), fetch(A.graph.entries)});
  return order == GalleryOrder::cuthill_mckee ? cuthill_mckee(graph)
                                              : NestedDissection(graph).old_row;
}

}  // namespace Detail

/// A with its rows and columns in `order`; natural, A itself. Random orders
/// depend on `seed`.
///
/// @throws NotSquareError if A is not square, and what level_permutation(),
/// colour_rows() and permute_symmetric() throw Cost: of `level` and `colours`,
/// that of these functions; else some passes over the entries by one thread of
/// the host.
template <class Matrix>
Matrix reordered(const typename Matrix::execution_space& exec, const Matrix& A,
                 GalleryOrder order, std::uint64_t seed = 1) {
  using Memory = typename Matrix::memory_space;
  if (order == GalleryOrder::natural) return A;
  if (A.numRows() != A.numCols())
    throw NotSquareError("A",
                         "has " + std::to_string(A.numRows()) + " rows and " +
                             std::to_string(A.numCols()) + " columns",
                         "pass a square matrix");
  if (order == GalleryOrder::level)
    return permute_symmetric(exec, A, level_permutation(exec, A));
  if (order == GalleryOrder::colours)
    return permute_symmetric(exec, A, colour_rows(exec, A).permutation);

  const std::vector<int> old_row = Detail::host_order(A, order, seed);
  std::vector<int> new_row(old_row.size());
  for (std::size_t row = 0; row < old_row.size(); ++row)
    new_row[old_row[row]] = static_cast<int>(row);
  const auto on_device = [](const std::vector<int>& from,
                            const std::string& label) {
    Kokkos::View<int*, Memory> to(label, from.size());
    Kokkos::deep_copy(
        to,
        Kokkos::View<const int*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
            from.data(), from.size()));
    return to;
  };
  return permute_symmetric(
      exec, A,
      Permutation<Memory>{on_device(old_row, "Strata::old_row"),
                          on_device(new_row, "Strata::new_row"), 0});
}

}  // namespace Strata

#endif
