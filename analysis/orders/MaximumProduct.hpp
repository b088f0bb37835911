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
/// Cost: by one thread of the host, O(n entries log n) at worst, mostly some
/// passes over the entries.
class MaximumProduct {
 public:
  std::vector<int> column_of;  // row -> column
  std::vector<double> row_scale, column_scale;

  /// @param modulus  of each entry
  /// @throws NotFiniteError, SingularError
  MaximumProduct(const HostGraph& A, const std::vector<double>& modulus)
      : column_of(A.rows(), none),
        row_scale(A.rows()),
        column_scale(A.rows(), infinity),
        A_(A),
        cost_(A.entries.size()),
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
      for (auto k = A.row_map[row]; k < A.row_map[row + 1]; ++k) {
        cost_[k] = modulus[k] > 0
                       ? std::log(largest[row]) - std::log(modulus[k])
                       : infinity;
        double& least = v()[A.entries[k]];
        least = std::min(least, cost_[k]);
      }
    }
    for (int row = 0; row < A.rows(); ++row) begin(row);
    for (int row = 0; row < A.rows(); ++row)
      if (column_of[row] == none) augment(row);
    for (int row = 0; row < A.rows(); ++row) {
      row_scale[row] = std::exp(u()[row] - std::log(largest[row]));
      column_scale[row] = std::exp(v()[row]);
    }
  }

 private:
  static constexpr int none = -1;
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  /// Dual variables: cost_ij - u_i - v_j is not negative, and 0 if i and j are
  /// matched.
  std::vector<double>& u() { return row_scale; }
  std::vector<double>& v() { return column_scale; }
  double reduced(int row, std::int64_t k) {
    return std::max(0., cost_[k] - u()[row] - v()[A_.entries[k]]);
  }

  /// Makes u feasible, and matches a row at no cost if it can.
  void begin(int row) {
    u()[row] = infinity;
    for (auto k = A_.row_map[row]; k < A_.row_map[row + 1]; ++k)
      if (cost_[k] < infinity)
        u()[row] = std::min(u()[row], cost_[k] - v()[A_.entries[k]]);
    for (auto k = A_.row_map[row]; k < A_.row_map[row + 1]; ++k) {
      const auto column = static_cast<int>(A_.entries[k]);
      if (!(cost_[k] < infinity) || row_of_[column] != none ||
          reduced(row, k) > 0)
        continue;
      column_of[row] = column;
      row_of_[column] = row;
      return;
    }
  }

  /// The shortest path from a row without a column to a column without a row
  /// (Dijkstra), along which matches change.
  void augment(const int root) {
    using Reached = std::pair<double, int>;
    std::priority_queue<Reached, std::vector<Reached>, std::greater<Reached>>
        next;
    std::vector<int> seen, done;
    double length = 0;
    int column = none;
    for (int row = root;; row = row_of_[column]) {
      for (auto k = A_.row_map[row]; k < A_.row_map[row + 1]; ++k) {
        if (!(cost_[k] < infinity)) continue;
        const auto to = static_cast<int>(A_.entries[k]);
        const double there = length + reduced(row, k);
        if (!(there < distance_[to])) continue;
        if (distance_[to] == infinity) seen.push_back(to);
        distance_[to] = there;
        from_[to] = row;
        next.push({there, to});
      }
      while (!next.empty() && next.top().first > distance_[next.top().second])
        next.pop();
      if (next.empty())
        throw SingularError(
            "A",
            "is structurally singular: there are no n non-zero entries in "
            "different rows and columns, and none is left for row " +
                std::to_string(root),
            "remove dependent equations, or leave the matching out", root);
      std::tie(length, column) = next.top();
      next.pop();
      if (row_of_[column] == none) break;
      done.push_back(column);
    }
    u()[root] += length;
    for (const int of : done) {
      u()[row_of_[of]] += length - distance_[of];
      v()[of] -= length - distance_[of];
    }
    for (const int of : seen) distance_[of] = infinity;
    for (int row = none; row != root;) {
      row = row_of_[column] = from_[column];
      std::swap(column_of[row], column);
    }
  }

  const HostGraph& A_;
  std::vector<double> cost_;
  std::vector<int> row_of_, from_;  // by column; the row before it on a path
  std::vector<double> distance_;    // of columns
};

}  // namespace Detail
}  // namespace Strata

#endif
