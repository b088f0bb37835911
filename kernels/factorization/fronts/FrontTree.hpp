// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FRONTS_FRONT_TREE_HPP
#define STRATA_KERNELS_FACTORIZATION_FRONTS_FRONT_TREE_HPP

#include <algorithm>
#include <cstdint>
#include <kernels/factorization/fronts/CompletePattern.hpp>
#include <kernels/factorization/fronts/FrontArrays.hpp>
#include <vector>

namespace Strata {
namespace Detail {

/// The assembly tree of multifrontal elimination (Duff and Reid, The
/// multifrontal solution of indefinite sparse symmetric linear equations,
/// 1983), with relaxed supernodes (Ashcraft and Grimes 1989).
///
/// A front has consecutive pivots, and then the columns right of its last pivot
/// in that pivot's row. Its local index says where in that list a row or column
/// is. Fronts are numbered by their pivots, so that children come before
/// parents.
class FrontTree {
 public:
  /// Edge of the tiles that fronts are cut into.
  static constexpr int tile = front_tile;

  struct Front {
    int first_pivot, pivots;
    std::int64_t rest;  // where in the pattern the others begin
    int others;
    int parent;  // -1: a root

    int order() const { return pivots + others; }
    /// One tile is all of it.
    bool is_small() const { return order() <= tile; }
    /// Tiles that contain pivots.
    int pivot_tiles() const { return (pivots - 1) / tile + 1; }
    int tiles() const {
      return is_small() ? 1 : pivot_tiles() + (others + tile - 1) / tile;
    }
    /// Local index of the first row of a tile.
    int tile_begin(int t) const {
      const int p = pivot_tiles();
      return t < p ? t * tile : pivots + (t - p) * tile;
    }
    int tile_rows(int t) const {
      const int end = !is_small() && t < pivot_tiles() ? pivots : order();
      return std::min(tile, end - tile_begin(t));
    }
    int tile_of(int local) const {
      return is_small() || local < pivots
                 ? local / tile
                 : pivot_tiles() + (local - pivots) / tile;
    }
  };

  FrontTree() = default;
  /// Cost: linear in the rows.
  explicit FrontTree(const CompletePattern& pattern) {
    const int n = pattern.rows();
    front_of_.resize(static_cast<std::size_t>(n));
    int begin = 0;            // of the front that grows
    std::int64_t stored = 0;  // entries of the rows of its pivots
    for (int j = 0; j < n; ++j) {
      stored += pattern.right(j) + 1;
      if (j + 1 < n && pattern.parent(j) == j + 1 &&
          grows(pattern, begin, j, stored))
        continue;
      const int others = pattern.right(j);
      for (int k = begin; k <= j; ++k) front_of_[k] = size();
      fronts_.push_back({begin, j + 1 - begin, pattern.begin(j), others, -1});
      begin = j + 1;
      stored = 0;
    }
    for (Front& front : fronts_)
      if (front.others > 0)
        front.parent = front_of_[pattern.column(front.rest)];
  }

  int size() const { return static_cast<int>(fronts_.size()); }
  const Front& operator[](int front) const { return fronts_[front]; }
  int front_of(int row) const { return front_of_[row]; }

 private:
  /// Share of zeros in the pivots' rows: supernodes are not joined to a front
  /// with more, unless it has one tile.
  static constexpr double most_zeros = 0.12;

  /// Whether pivots `begin` to j, of whose rows `stored` entries are in the
  /// pattern, and the supernode that j + 1 begins become one front.
  bool grows(const CompletePattern& pattern, int begin, int j,
             std::int64_t stored) const {
    const int n = pattern.rows();
    if (pattern.right(j) == pattern.right(j + 1) + 1) return true;
    int end = j + 1;
    stored += pattern.right(end) + 1;
    while (end + 1 < n && pattern.parent(end) == end + 1 &&
           pattern.right(end) == pattern.right(end + 1) + 1)
      stored += pattern.right(++end) + 1;
    const std::int64_t pivots = end + 1 - begin,
                       order = pivots + pattern.right(end);
    if (order <= tile) return true;
    const std::int64_t full = pivots * order - pivots * (pivots - 1) / 2;
    return static_cast<double>(full - stored) <=
           most_zeros * static_cast<double>(full);
  }

  std::vector<Front> fronts_;
  std::vector<int> front_of_;  // by pivot
};

}  // namespace Detail
}  // namespace Strata

#endif
