// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FRONTS_COMPLETE_PATTERN_HPP
#define STRATA_KERNELS_FACTORIZATION_FRONTS_COMPLETE_PATTERN_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// The pattern of complete factors, L and U together, on the host: with a full
/// diagonal, closed under elimination, and made symmetric, where it is not: to
/// the factors of a symmetric pattern that contains it. What that adds are
/// zeros. The parent of a row is its first column right of the diagonal.
///
/// Rows are numbered in a postorder of that tree: the factors are the same, as
/// columns of a row, which are ancestors of each other, keep their order. Of
/// the children of a row the last one is that which has all its columns and no
/// other, if there is one, else the one with the most rows in a line below it:
/// they are neighbours, and can go to one front.
class CompletePattern {
 public:
  /// Of an entry that the pattern lacks.
  static constexpr unsigned nowhere = ~0u;

  CompletePattern() = default;
  /// Cost: linear in the entries; of a pattern that is not symmetric, to sort
  /// what becomes of it.
  /// @param row_map, entries  of the whole pattern, rows sorted
  /// @param l_row_map         of L, with its diagonal
  /// @param is_symmetric      the pattern
  CompletePattern(const std::vector<std::int64_t>& row_map,
                  const std::vector<int>& entries,
                  const std::vector<std::int64_t>& l_row_map,
                  bool is_symmetric) {
    const auto n = static_cast<int>(row_map.size()) - 1;
    for (int i = 0; i < n; ++i)
      diagonal_.push_back(row_map[i] + l_row_map[i + 1] - l_row_map[i] - 1);
    if (is_symmetric)
      take_upper(row_map, entries);
    else if (!make_symmetric(row_map, entries))
      return;
    find_places(row_map, entries);
    std::vector<int> parent(static_cast<std::size_t>(n)), length(parent);
    for (int i = 0; i < n; ++i) {
      length[i] = static_cast<int>(begin_[i + 1] - begin_[i]);
      parent[i] = length[i] > 0 ? columns_[begin_[i]] : n;
    }
    find_postorder(parent, length);
    renumber();
    for (const int old : row_) {
      to_l_.push_back(static_cast<unsigned>(l_row_map[old] - row_map[old]));
      to_u_.push_back(static_cast<unsigned>(old - l_row_map[old] -
                                            (diagonal_[old] - row_map[old])));
    }
  }

  /// The pattern would become too large if it were symmetric.
  bool is_too_large() const { return too_large_; }
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
  /// Where in the matrix the diagonal is, entry k and its mirror image.
  unsigned diagonal(int i) const {
    return static_cast<unsigned>(diagonal_[row_[i]]);
  }
  unsigned place(std::int64_t k) const { return place_[k]; }
  unsigned mirror(std::int64_t k) const { return mirror_[k]; }
  /// From places in the matrix to places in the factors, modulo 2^32.
  unsigned to_l(int i) const { return to_l_[i]; }
  unsigned to_u(int i) const { return to_u_[i]; }

 private:
  /// Entries of a symmetric pattern for one that is not, at most.
  static constexpr double most_growth = 4;

  void take_upper(const std::vector<std::int64_t>& row_map,
                  const std::vector<int>& entries) {
    begin_.push_back(0);
    for (std::size_t i = 0; i < diagonal_.size(); ++i) {
      columns_.insert(columns_.end(), entries.begin() + diagonal_[i] + 1,
                      entries.begin() + row_map[i + 1]);
      begin_.push_back(static_cast<std::int64_t>(columns_.size()));
    }
  }
  /// Columns right of the diagonal of what elimination makes of the pattern and
  /// its mirror image: those of a row, of its column, and of its children.
  bool make_symmetric(const std::vector<std::int64_t>& row_map,
                      const std::vector<int>& entries) {
    const std::size_t n = diagonal_.size();
    std::vector<std::vector<int>> below(n);  // by column; children after them
    for (std::size_t i = 0; i < n; ++i)
      for (std::int64_t k = row_map[i]; k < diagonal_[i]; ++k)
        below[entries[k]].push_back(static_cast<int>(i));
    std::vector<std::vector<int>> children(n);
    std::vector<int> found;
    begin_.push_back(0);
    for (std::size_t i = 0; i < n; ++i) {
      found.assign(entries.begin() + diagonal_[i] + 1,
                   entries.begin() + row_map[i + 1]);
      found.insert(found.end(), below[i].begin(), below[i].end());
      for (const int child : children[i])
        found.insert(found.end(), columns_.begin() + begin_[child] + 1,
                     columns_.begin() + begin_[child + 1]);
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
      if (!found.empty()) children[found[0]].push_back(static_cast<int>(i));
      columns_.insert(columns_.end(), found.begin(), found.end());
      begin_.push_back(static_cast<std::int64_t>(columns_.size()));
      too_large_ = 2 * static_cast<double>(columns_.size()) >
                   most_growth * static_cast<double>(entries.size());
      if (too_large_) return false;
    }
    return true;
  }
  /// Those of the matrix's entries.
  void find_places(const std::vector<std::int64_t>& row_map,
                   const std::vector<int>& entries) {
    place_.assign(columns_.size(), nowhere);
    mirror_.assign(columns_.size(), nowhere);
    std::vector<std::int64_t> next(begin_);
    for (std::size_t i = 0; i < diagonal_.size(); ++i) {
      for (std::int64_t k = row_map[i]; k < diagonal_[i]; ++k) {
        std::int64_t& at = next[entries[k]];
        while (columns_[at] < static_cast<int>(i)) ++at;
        mirror_[at] = static_cast<unsigned>(k);
      }
      std::int64_t at = begin_[i];
      for (std::int64_t k = diagonal_[i] + 1; k < row_map[i + 1]; ++k) {
        while (columns_[at] < entries[k]) ++at;
        place_[at] = static_cast<unsigned>(k);
      }
    }
  }
  void renumber() {
    const std::size_t n = row_.size();
    std::vector<int> number(n);
    for (std::size_t i = 0; i < n; ++i) number[row_[i]] = static_cast<int>(i);
    std::vector<std::int64_t> begin{0};
    std::vector<int> columns;
    std::vector<unsigned> place, mirror;
    columns.reserve(columns_.size());
    place.reserve(columns_.size());
    mirror.reserve(columns_.size());
    for (const int old : row_) {
      const std::int64_t first = begin_[old], end = begin_[old + 1];
      for (std::int64_t k = first; k < end; ++k)
        columns.push_back(number[columns_[k]]);
      place.insert(place.end(), place_.begin() + first, place_.begin() + end);
      mirror.insert(mirror.end(), mirror_.begin() + first,
                    mirror_.begin() + end);
      begin.push_back(static_cast<std::int64_t>(columns.size()));
    }
    begin_ = std::move(begin);
    columns_ = std::move(columns);
    place_ = std::move(place);
    mirror_ = std::move(mirror);
  }
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

  bool too_large_ = false;
  std::vector<int> row_;
  std::vector<std::int64_t> diagonal_;  // by numbers in the matrix
  std::vector<std::int64_t> begin_;
  std::vector<int> columns_;
  std::vector<unsigned> place_, mirror_, to_l_, to_u_;
};

}  // namespace Detail
}  // namespace Strata

#endif
