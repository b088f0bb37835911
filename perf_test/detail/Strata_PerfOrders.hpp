// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_ORDERS_HPP
#define STRATA_PERF_ORDERS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_Colouring.hpp>
#include <Strata_LevelPermutation.hpp>
#include <algorithm>
#include <detail/Strata_PerfGraphs.hpp>
#include <numeric>
#include <vector>

namespace Strata {
namespace PerfTest {

/// An order of rows and columns.
enum class Order {
  natural,
  reverse,
  random,
  cuthill_mckee,      ///< reverse Cuthill-McKee
  nested_dissection,  ///< by level structures (George and Liu 1978)
  level,              ///< of level sets of the symmetric pattern
  colours             ///< of colour_rows
};

inline const char* to_string(Order order) {
  switch (order) {
    case Order::natural:
      return "natural";
    case Order::reverse:
      return "reverse";
    case Order::random:
      return "random";
    case Order::cuthill_mckee:
      return "rcm";
    case Order::nested_dissection:
      return "dissection";
    case Order::level:
      return "level";
    default:
      return "colours";
  }
}

/// A graph in the memory of the host: those columns of a matrix that are other
/// rows.
struct HostGraph {
  Kokkos::View<const int*, Kokkos::HostSpace> row_map, entries;

  int rows() const { return static_cast<int>(row_map.extent(0)) - 1; }
  int degree(int row) const { return row_map(row + 1) - row_map(row); }
  template <class Visit>
  void neighbours(int row, const Visit& visit) const {
    for (int k = row_map(row); k < row_map(row + 1); ++k)
      if (entries(k) != row) visit(entries(k));
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
            const int da = graph_.degree(a), db = graph_.degree(b);
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

/// A with its rows and columns in `order`.
template <class Matrix>
Matrix reordered(const typename Matrix::execution_space& exec, const Matrix& A,
                 Order order, std::uint64_t seed) {
  using Memory = typename Matrix::memory_space;
  if (order == Order::natural) return A;
  if (order == Order::level)
    return permute_symmetric(exec, A, level_permutation(exec, A));
  if (order == Order::colours)
    return permute_symmetric(exec, A, colour_rows(exec, A).permutation);

  const int rows = static_cast<int>(A.numRows());
  const Kokkos::HostSpace host;
  const auto graph = [&] {
    return HostGraph{
        Kokkos::create_mirror_view_and_copy(host, A.graph.row_map),
        Kokkos::create_mirror_view_and_copy(host, A.graph.entries)};
  };
  std::vector<int> old_row;
  if (order == Order::cuthill_mckee) {
    old_row = cuthill_mckee(graph());
  } else if (order == Order::nested_dissection) {
    old_row = NestedDissection(graph()).old_row;
  } else if (order == Order::random) {
    old_row = random_order(rows, seed);
  } else {
    old_row.resize(rows);
    std::iota(old_row.rbegin(), old_row.rend(), 0);
  }
  std::vector<int> new_row(rows);
  for (int row = 0; row < rows; ++row) new_row[old_row[row]] = row;
  using Rows = Kokkos::View<int*, Memory>;
  using OnHost = Kokkos::View<int*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Permutation<Memory> permutation{Rows("Strata::old_row", rows),
                                  Rows("Strata::new_row", rows), 0};
  Kokkos::deep_copy(permutation.old_row, OnHost(old_row.data(), rows));
  Kokkos::deep_copy(permutation.new_row, OnHost(new_row.data(), rows));
  return permute_symmetric(exec, A, permutation);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
