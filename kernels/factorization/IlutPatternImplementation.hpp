// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_ILUT_PATTERN_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_ILUT_PATTERN_IMPLEMENTATION_HPP

#include <Strata_IlutPattern.hpp>
#include <algorithm>
#include <cmath>
#include <core/memory/MemoryErrors.hpp>
#include <functional>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/numeric/SmallPivots.hpp>
#include <limits>
#include <queue>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<IlutPatternTag> : std::true_type {};

/// ILUT by one thread, row after row.
template <class Scalar>
class IlutRows {
 public:
  IlutRows(std::int64_t rows, const IlutOptions& options)
      : options_(options),
        row_map_{0},
        value_(static_cast<std::size_t>(rows)),
        mark_(static_cast<std::size_t>(rows), mark_none) {}

  /// Eliminates the next row.
  /// @throws FactorizationError
  void add(const std::int64_t* columns, const Scalar* values,
           std::int64_t count) {
    const auto row = static_cast<int>(row_map_.size() - 1);
    double norm = 0, largest = 0;
    touched_.clear();
    for (std::int64_t k = 0; k < count; ++k) {
      touch(row, static_cast<int>(columns[k]), mark_of_a);
      value_[columns[k]] = values[k];
      norm = std::hypot(norm, double(modulus(values[k])));
      largest = std::max(largest, double(modulus(values[k])));
    }
    const double least = options_.drop_tolerance * norm;
    while (!waiting_.empty()) {
      const int k = waiting_.top();
      waiting_.pop();
      if (size_of(k) < least) continue;  // all is kept where A has a NaN
      kept_.push_back({k, value_[k] / values_[upper_begin_[k]], size_of(k)});
      subtract(row, kept_.back().value, k);
    }
    store(row);
    upper_begin_.push_back(static_cast<std::int64_t>(columns_.size()));
    value_[row] = pivot_of(row, largest);
    for (const int column : touched_) {
      if (column >= row && !(size_of(column) < least))
        kept_.push_back({column, value_[column], size_of(column)});
      mark_[column] = mark_none;
    }
    store(row);
    row_map_.push_back(static_cast<std::int64_t>(columns_.size()));
  }

  const std::vector<std::int64_t>& row_map() const { return row_map_; }
  const std::vector<int>& columns() const { return columns_; }
  const std::vector<Scalar>& values() const { return values_; }

 private:
  struct Entry {
    int column;
    Scalar value;
    double size;
  };
  enum Mark : char { mark_none, mark_of_a, mark_fill };

  void touch(int row, int column, Mark mark) {
    mark_[column] = mark;
    value_[column] = Scalar(0);
    touched_.push_back(column);
    if (column < row) waiting_.push(column);
  }
  /// Of an entry of the row, before a division: those of A are never dropped.
  double size_of(int column) const {
    return mark_[column] == mark_of_a ? std::numeric_limits<double>::infinity()
                                      : double(modulus(value_[column]));
  }
  /// `factor` times row k of U, without its diagonal.
  void subtract(int row, Scalar factor, int k) {
    for (auto at = upper_begin_[k] + 1; at < row_map_[k + 1]; ++at) {
      const int column = columns_[at];
      if (mark_[column] == mark_none) touch(row, column, mark_fill);
      value_[column] -= factor * values_[at];
    }
  }
  Scalar pivot_of(int row, double largest) const {
    Scalar pivot = value_[row];
    const double threshold = options_.small_pivot_threshold;
    if (threshold > 0) {
      const auto least = static_cast<RealOf<Scalar>>(threshold * largest);
      std::int64_t found[2] = {0, 0};
      pivot = SmallPivots<Scalar>{&least, false, found}.replaced(0, pivot);
    }
    if (pivot == Scalar(0))
      raise_factor_fault(factor_fault(row, factor_zero_pivot));
    return pivot;
  }
  /// Entries of A and the largest of the others, in the order of columns.
  /// @throws FactorizationError
  void store(int row) {
    for (const Entry& entry : kept_)
      if (!is_finite(entry.value))
        raise_factor_fault(factor_fault(row, factor_not_finite));
    const auto most =
        options_.fill_per_row +
        std::count_if(kept_.begin(), kept_.end(), [](const Entry& entry) {
          return !std::isfinite(entry.size);
        });
    if (static_cast<std::ptrdiff_t>(kept_.size()) > most) {
      std::nth_element(kept_.begin(), kept_.begin() + most, kept_.end(),
                       [](const Entry& a, const Entry& b) {
                         return a.size != b.size ? a.size > b.size
                                                 : a.column < b.column;
                       });
      kept_.erase(kept_.begin() + most, kept_.end());
    }
    std::sort(kept_.begin(), kept_.end(), [](const Entry& a, const Entry& b) {
      return a.column < b.column;
    });
    for (const Entry& entry : kept_) {
      columns_.push_back(entry.column);
      values_.push_back(entry.value);
    }
    kept_.clear();
  }

  IlutOptions options_;
  std::vector<std::int64_t> row_map_, upper_begin_;
  std::vector<int> columns_;
  std::vector<Scalar> values_;
  // Of the row that is eliminated: by column, then lists.
  std::vector<Scalar> value_;
  std::vector<Mark> mark_;
  std::vector<int> touched_;
  std::vector<Entry> kept_;
  std::priority_queue<int, std::vector<int>, std::greater<int>> waiting_;
};

/// @throws OptionError
inline void check_ilut_options(const IlutOptions& options) {
  const double threshold = options.small_pivot_threshold;
  const char* const bad = !(options.drop_tolerance >= 0) ? "drop_tolerance"
                          : options.fill_per_row < 0     ? "fill_per_row"
                          : !(threshold >= 0 && threshold <= 1)
                              ? "small_pivot_threshold"
                              : nullptr;
  if (bad)
    throw OptionError(bad, "is out of range",
                      "pass 0 or a positive number, as small_pivot_threshold "
                      "one of up to 1");
}

template <class Scalar, class ExecutionSpace>
void IlutPattern<Scalar, ExecutionSpace>::make(const ExecutionSpace& exec,
                                               const CrsArrays<Scalar>& A,
                                               const IlutOptions& options,
                                               NewMatrix<Scalar>& made) {
  using Memory = typename ExecutionSpace::memory_space;
  check_ilut_options(options);
  with_memory_errors("an ILUT pattern", [&] {
    check_factor_input(exec, A, ZeroDiagonal::take);
    const std::int64_t rows = A.rows();
    require_row_numbers(rows);
    const auto row_map = A.row_map.template fetch<Memory>(0, rows + 1);
    const std::int64_t entries = rows > 0 ? row_map[rows] : 0;
    const auto columns = A.entries.template fetch<Memory>(0, entries);
    const auto values = to_host<Memory>(A.values, columns.size());
    IlutRows<Scalar> factors(rows, options);
    for (std::int64_t i = 0; i < rows; ++i)
      factors.add(columns.data() + row_map[i], values.data() + row_map[i],
                  row_map[i + 1] - row_map[i]);
    const auto stored = static_cast<std::int64_t>(factors.columns().size());
    require_index_types_hold("A", made, static_cast<double>(rows),
                             static_cast<double>(stored));
    const std::string label = "Strata::IlutPattern";
    const auto new_row_map =
        to_device<std::int64_t, Memory>(label, factors.row_map());
    const auto new_columns = to_device<int, Memory>(label, factors.columns());
    const auto new_values = to_device<Scalar, Memory>(label, factors.values());
    copy_matrix(exec, label, crs_arrays(new_row_map, new_columns, new_values),
                made);
  });
}

}  // namespace Detail
}  // namespace Strata

#endif
