// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_ORDERS_MAXIMUM_PRODUCT_HPP
#define STRATA_ANALYSIS_ORDERS_MAXIMUM_PRODUCT_HPP

#include <Strata_Error.hpp>
#include <analysis/orders/HostGraph.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

namespace Strata {
namespace Detail {

/// A column for each row of a square matrix, each once, such that the product
/// of the entries' moduli is largest, and scalings that make these 1 and all
/// others at most 1: shortest augmenting paths in the costs log(max_j |a_ij|) -
/// log |a_ij|. Source: I. S. Duff, J. Koster, SIAM J. Matrix Anal. Appl. 22(4),
/// 2001 (MC64, job 5).
///
/// Cost: by one thread of the host, O(n entries log n) at worst. Some passes
/// over the entries if few rows compete for a column, as in saddle points; 3 s
/// for 40,000 rows of four random entries.
class MaximumProduct {
 public:
  std::vector<int> column_of;  // by row
  std::vector<double> row_scale, column_scale;

  MaximumProduct(const MaximumProduct&) = delete;
  MaximumProduct& operator=(const MaximumProduct&) = delete;
  /// @param modulus  of each entry
  /// @throws NotFiniteError, SingularError
  MaximumProduct(const HostGraph& A, const std::vector<double>& modulus)
      : column_of(A.rows(), none),
        row_scale(A.rows()),
        column_scale(A.rows(), infinity),
        A_(A),
        cost_(A.entries.size(), infinity),
        row_of_(A.rows(), none),
        from_(A.rows()),
        distance_(A.rows(), infinity) {
    std::vector<double> largest(A.rows());
    for (int row = 0; row < A.rows(); ++row) {
      for (auto k = A.row_map[row]; k < A.row_map[row + 1]; ++k) {
        if (!(modulus[k] < infinity))
          throw NotFiniteError(
              "A", "a value is not finite in row " + std::to_string(row),
              "pass finite values", row);
        largest[row] = std::max(largest[row], modulus[k]);
      }
      for (auto k = A.row_map[row]; k < A.row_map[row + 1]; ++k)
        if (modulus[k] > 0)
          cost_[k] = std::log(largest[row]) - std::log(modulus[k]);
      each_entry(row, [&](std::int64_t k, int column) {
        v_[column] = std::min(v_[column], cost_[k]);
      });
    }
    // Most rows find a column at once.
    for (int row = 0; row < A.rows(); ++row) {
      u_[row] = infinity;
      each_entry(row, [&](std::int64_t k, int column) {
        u_[row] = std::min(u_[row], cost_[k] - v_[column]);
      });
      each_entry(row, [&](std::int64_t k, int column) {
        if (column_of[row] == none && row_of_[column] == none &&
            reduced(row, k) == 0)
          row_of_[column_of[row] = column] = row;
      });
    }
    for (int row = 0; row < A.rows(); ++row)
      if (column_of[row] == none) augment(row);
    for (int row = 0; row < A.rows(); ++row) {
      row_scale[row] = std::exp(u_[row] - std::log(largest[row]));
      column_scale[row] = std::exp(v_[row]);
    }
  }

 private:
  static constexpr int none = -1;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// Calls use(k, column) for the entries that are not zero.
  template <class Use>
  void each_entry(int row, const Use& use) const {
    for (auto k = A_.row_map[row]; k < A_.row_map[row + 1]; ++k)
      if (cost_[k] < infinity) use(k, static_cast<int>(A_.entries[k]));
  }
  double reduced(int row, std::int64_t k) const {
    return std::max(0., cost_[k] - u_[row] - v_[A_.entries[k]]);
  }

  /// Finds the shortest path from a row without a column to a column without a
  /// row (Dijkstra), and changes matches along it.
  void augment(const int root) {
    using Reached = std::pair<double, int>;
    std::priority_queue<Reached, std::vector<Reached>, std::greater<Reached>>
        next;
    std::vector<int> seen, done;
    double length = 0, shortest = infinity;  // to a column without a row
    int column = none;
    for (int row = root;; row = row_of_[column]) {
      each_entry(row, [&](std::int64_t k, int to) {
        const double there = length + reduced(row, k);
        // Longer paths are of no use.
        if (!(there < distance_[to] && there < shortest)) return;
        if (row_of_[to] == none) shortest = there;
        if (distance_[to] == infinity) seen.push_back(to);
        distance_[to] = there;
        from_[to] = row;
        next.push({there, to});
      });
      while (!next.empty() && next.top().first > distance_[next.top().second])
        next.pop();
      if (next.empty())
        throw SingularError(
            "A",
            "is structurally singular: non-zero entries in different rows and "
            "columns leave none for row " +
                std::to_string(root),
            "remove dependent equations, or leave the matching out", root);
      std::tie(length, column) = next.top();
      next.pop();
      if (row_of_[column] == none) break;
      done.push_back(column);
    }
    u_[root] += length;
    for (const int of : done) {
      u_[row_of_[of]] += length - distance_[of];
      v_[of] -= length - distance_[of];
    }
    for (const int of : seen) distance_[of] = infinity;
    for (int row = none; row != root;) {
      row = row_of_[column] = from_[column];
      std::swap(column_of[row], column);
    }
  }

  const HostGraph& A_;
  /// Dual variables, of rows and columns: cost_ij - u_i - v_j is not negative,
  /// and 0 if i and j are matched.
  std::vector<double>&u_ = row_scale, &v_ = column_scale;
  std::vector<double> cost_;
  std::vector<int> row_of_, from_;  // by column; the row before it on a path
  std::vector<double> distance_;    // of columns
};

}  // namespace Detail
}  // namespace Strata

#endif
