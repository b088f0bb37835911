// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_ILUT_ROWS_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_ILUT_ROWS_HPP

#include <algorithm>
#include <cmath>
#include <core/scalar/Modulus.hpp>
#include <functional>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/numeric/SmallPivots.hpp>
#include <vector>

namespace Strata {
namespace Detail {

/// ILUT by one thread, row after row.
template <class Scalar>
class IlutRows {
 public:
  struct Entry {
    int column;
    Scalar value;  // of L, or of U
    double size;   // the modulus that is compared, before a division
    bool of_a;
  };

  IlutRows(std::int64_t rows, double drop_tolerance, int fill_per_row,
           double small_pivot_threshold)
      : drop_tolerance_(drop_tolerance),
        fill_per_row_(fill_per_row),
        threshold_(small_pivot_threshold),
        row_map_{0},
        value_(static_cast<std::size_t>(rows)),
        mark_(static_cast<std::size_t>(rows), mark_none) {}

  /// Eliminates the next row.
  /// @throws FactorizationError
  void add(const std::int64_t* columns, const Scalar* values,
           std::int64_t count) {
    const auto row = static_cast<int>(row_map_.size() - 1);
    const double least = drop_tolerance_ * scatter(row, columns, values, count);
    kept_.clear();
    while (!waiting_.empty()) {
      std::pop_heap(waiting_.begin(), waiting_.end(), std::greater<int>());
      const int k = waiting_.back();
      waiting_.pop_back();
      const double size = modulus(value_[k]);
      if (mark_[k] == mark_fill && !(size >= least)) continue;
      kept_.push_back({k, value_[k] / values_[upper_begin_[k]], size,
                       mark_[k] == mark_of_a});
      subtract(row, k, kept_.back().value);
    }
    store(row, kept_);
    upper_begin_.push_back(static_cast<std::int64_t>(columns_.size()));
    kept_.assign(1, {row, pivot_of(row), 0, true});
    for (const int column : right_columns_) {
      const double size = modulus(value_[column]);
      if (column != row && (mark_[column] == mark_of_a || size >= least))
        kept_.push_back(
            {column, value_[column], size, mark_[column] == mark_of_a});
    }
    store(row, kept_);
    row_map_.push_back(static_cast<std::int64_t>(columns_.size()));
    for (const int column : touched_) mark_[column] = mark_none;
  }

  const std::vector<std::int64_t>& row_map() const { return row_map_; }
  const std::vector<int>& columns() const { return columns_; }
  const std::vector<Scalar>& values() const { return values_; }

 private:
  enum Mark : char { mark_none, mark_of_a, mark_fill };

  /// A row of A into the work arrays. @returns its 2-norm
  double scatter(int row, const std::int64_t* columns, const Scalar* values,
                 std::int64_t count) {
    touched_.clear();
    right_columns_.clear();
    waiting_.clear();
    largest_ = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      touch(row, static_cast<int>(columns[k]), mark_of_a);
      value_[columns[k]] = values[k];
      largest_ = std::max(largest_, double(modulus(values[k])));
    }
    if (!(largest_ > 0)) return 0;
    double sum = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      const double part = double(modulus(values[k])) / largest_;
      sum += part * part;
    }
    return largest_ * std::sqrt(sum);
  }
  void touch(int row, int column, Mark mark) {
    mark_[column] = mark;
    value_[column] = Scalar(0);
    touched_.push_back(column);
    if (column >= row) {
      right_columns_.push_back(column);
    } else {
      waiting_.push_back(column);
      std::push_heap(waiting_.begin(), waiting_.end(), std::greater<int>());
    }
  }
  /// `factor` times row k of U, without its diagonal.
  void subtract(int row, int k, const Scalar& factor) {
    for (auto at = upper_begin_[k] + 1; at < row_map_[k + 1]; ++at) {
      const int column = columns_[at];
      if (mark_[column] == mark_none) touch(row, column, mark_fill);
      value_[column] -= factor * values_[at];
    }
  }
  Scalar pivot_of(int row) const {
    const Scalar pivot = value_[row];
    if (threshold_ > 0) {
      const auto least = static_cast<RealOf<Scalar>>(threshold_ * largest_);
      std::int64_t found[2] = {0, 0};
      return SmallPivots<Scalar>{&least, false, found}.replaced(0, pivot);
    }
    if (pivot == Scalar(0))
      raise_factor_fault(factor_fault(row, factor_zero_pivot));
    return pivot;
  }
  /// All entries of A, and the largest of the others.
  /// @throws FactorizationError
  void store(int row, std::vector<Entry>& entries) {
    const auto fill =
        std::partition(entries.begin(), entries.end(),
                       [](const Entry& entry) { return entry.of_a; });
    const auto most = static_cast<std::ptrdiff_t>(fill_per_row_);
    if (entries.end() - fill > most) {
      std::nth_element(
          fill, fill + most, entries.end(), [](const Entry& a, const Entry& b) {
            return a.size != b.size ? a.size > b.size : a.column < b.column;
          });
      entries.erase(fill + most, entries.end());
    }
    std::sort(
        entries.begin(), entries.end(),
        [](const Entry& a, const Entry& b) { return a.column < b.column; });
    for (const Entry& entry : entries) {
      if (!is_finite(entry.value))
        raise_factor_fault(factor_fault(row, factor_not_finite));
      columns_.push_back(entry.column);
      values_.push_back(entry.value);
    }
  }

  double drop_tolerance_;
  int fill_per_row_;
  double threshold_;
  double largest_ = 0;  // modulus of the row of A
  std::vector<std::int64_t> row_map_, upper_begin_;
  std::vector<int> columns_;
  std::vector<Scalar> values_;
  // Of the row that is eliminated: by column, and lists of columns.
  std::vector<Scalar> value_;
  std::vector<Mark> mark_;
  std::vector<int> touched_, right_columns_, waiting_;
  std::vector<Entry> kept_;
};

}  // namespace Detail
}  // namespace Strata

#endif
