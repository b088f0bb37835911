// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FRONTS_COMPLETE_PATTERN_HPP
#define STRATA_KERNELS_FACTORIZATION_FRONTS_COMPLETE_PATTERN_HPP

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// The pattern of complete factors, L and U together, on the host: symmetric,
/// with a full diagonal, and closed under elimination. The parent of a row is
/// its first column right of the diagonal.
///
/// Rows are numbered in a postorder of that tree: the factors are the same, as
/// columns of a row, which are ancestors of each other, keep their order. Of
/// the children of a row the last one is that which has all its columns and no
/// other, if there is one, else the one with the most rows in a line below it:
/// they are neighbours, and can go to one front.
class CompletePattern {
 public:
  CompletePattern() = default;
  /// Cost: linear in the entries.
  /// @param row_map, entries  of the whole pattern, rows sorted
  /// @param l_row_map         of L, with its diagonal
  CompletePattern(const std::vector<std::int64_t>& row_map,
                  const std::vector<int>& entries,
                  const std::vector<std::int64_t>& l_row_map) {
    const auto n = static_cast<int>(row_map.size()) - 1;
    const auto diagonal = [&](int row) {
      return row_map[row] + l_row_map[row + 1] - l_row_map[row] - 1;
    };
    std::vector<int> parent(static_cast<std::size_t>(n)), length(parent);
    for (int i = 0; i < n; ++i) {
      const std::int64_t first = diagonal(i) + 1;
      length[i] = static_cast<int>(row_map[i + 1] - first);
      parent[i] = length[i] > 0 ? entries[first] : n;
    }
    find_postorder(parent, length);
    std::vector<int> number(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) number[row_[i]] = i;

    begin_.reserve(static_cast<std::size_t>(n) + 1);
    begin_.push_back(0);
    for (const int old : row_) begin_.push_back(begin_.back() + length[old]);
    columns_.resize(static_cast<std::size_t>(begin_.back()));
    mirror_.resize(columns_.size());
    std::vector<std::int64_t> next(row_map.begin(), row_map.end());
    for (int old = 0; old < n; ++old) {
      std::int64_t to = begin_[number[old]];
      for (std::int64_t k = diagonal(old) + 1; k < row_map[old + 1];
           ++k, ++to) {
        columns_[to] = number[entries[k]];
        mirror_[to] = static_cast<unsigned>(next[entries[k]]++);
      }
    }
    for (const int old : row_) {
      diagonal_.push_back(static_cast<unsigned>(diagonal(old)));
      to_l_.push_back(static_cast<unsigned>(l_row_map[old] - row_map[old]));
      to_u_.push_back(static_cast<unsigned>(
          old - l_row_map[old] - (diagonal(old) - row_map[old])));
    }
  }

  int rows() const { return static_cast<int>(row_.size()); }
  /// Entries of row i right of the diagonal.
  int right(int i) const { return static_cast<int>(begin_[i + 1] - begin_[i]); }
  std::int64_t begin(int i) const { return begin_[i]; }
  int column(std::int64_t k) const { return columns_[k]; }
  const int* columns(std::int64_t k) const { return columns_.data() + k; }
  /// -1: a root.
  int parent(int i) const { return right(i) > 0 ? columns_[begin_[i]] : -1; }

  /// Numbers in the matrix of the rows.
  const std::vector<int>& row_numbers() const { return row_; }
  /// Where in the matrix the diagonal is; its row's other entries k follow.
  unsigned diagonal(int i) const { return diagonal_[i]; }
  /// Where the mirror image of entry k is.
  unsigned mirror(std::int64_t k) const { return mirror_[k]; }
  /// From places in the matrix to places in the factors, modulo 2^32.
  unsigned to_l(int i) const { return to_l_[i]; }
  unsigned to_u(int i) const { return to_u_[i]; }

 private:
  /// @param parent  n: a root
  void find_postorder(const std::vector<int>& parent,
                      const std::vector<int>& length) {
    const auto n = static_cast<int>(parent.size());
    std::vector<int> height(static_cast<std::size_t>(n) + 1, 0), last(height);
    std::fill(last.begin(), last.end(), -1);
    for (int i = 0; i < n; ++i) {
      const int p = parent[i];
      height[p] = std::max(height[p], height[i] + 1);
      const auto rank = [&](int child) {
        return std::make_pair(p < n && length[child] == length[p] + 1,
                              height[child]);
      };
      if (last[p] < 0 || rank(i) > rank(last[p])) last[p] = i;
    }
    // Lists of the other children; the last child comes off a stack first if
    // rows are numbered downwards.
    std::vector<int> first(static_cast<std::size_t>(n) + 1, -1), next(parent);
    for (int i = 0; i < n; ++i)
      if (i != last[parent[i]]) {
        next[i] = first[parent[i]];
        first[parent[i]] = i;
      }
    row_.resize(static_cast<std::size_t>(n));
    std::vector<int> stack{n};
    for (int left = n; !stack.empty();) {
      const int i = stack.back();
      stack.pop_back();
      if (i < n) row_[--left] = i;
      for (int child = first[i]; child >= 0; child = next[child])
        stack.push_back(child);
      if (last[i] >= 0) stack.push_back(last[i]);
    }
  }

  std::vector<int> row_;
  std::vector<std::int64_t> begin_;
  std::vector<int> columns_;
  std::vector<unsigned> mirror_, diagonal_, to_l_, to_u_;
};

}  // namespace Detail
}  // namespace Strata

#endif
