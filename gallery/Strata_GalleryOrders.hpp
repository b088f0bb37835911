// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GALLERY_ORDERS_HPP
#define STRATA_GALLERY_ORDERS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_Colouring.hpp>
#include <Strata_Error.hpp>
#include <Strata_LevelPermutation.hpp>
#include <algorithm>
#include <analysis/orders/HostGraph.hpp>
#include <core/interface/Enumerators.hpp>
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

namespace Detail {

template <>
struct EnumeratorNames<GalleryOrder> {
  static constexpr const char* list[] = {
      "natural", "reverse", "random", "rcm", "dissection", "level", "colours"};
};

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
