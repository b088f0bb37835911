// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_PLAN_SIZES_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_PLAN_SIZES_HPP

#include <analysis/packing/RowChunk.hpp>
#include <core/device/Backend.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace Strata {
namespace Detail {

/// What is known of a plan's size before it is made, and the parts that most
/// plans have.
struct PlanSizes {
  std::int64_t rows, edges, levels;
  std::size_t scalar_bytes, value_index_bytes;
  int lanes;  ///< rows of a chunk at most

  /// For each row a diagonal value, its index and the row's number.
  std::size_t of_rows() const {
    return count(rows) * (scalar_bytes + 4 + value_index_bytes);
  }
  /// For each entry a column, a value and its index.
  std::size_t of_entries() const {
    return count(edges) * (4 + scalar_bytes + value_index_bytes);
  }
  /// Heads of chunks of rows.
  std::size_t of_chunks() const {
    return (count(rows) + lanes - 1) / lanes * sizeof(RowChunk);
  }
  /// Bytes of `substitution`, exactly: the smallest plan that takes every
  /// matrix.
  std::size_t of_substitution() const {
    return of_rows() + of_entries() + (count(rows) + 1) * 8;
  }

 private:
  static std::size_t count(std::int64_t n) {
    return static_cast<std::size_t>(n);
  }
};

/// Sizes for a triangle of a matrix that stores `num_values`.
template <class Scalar, class ExecutionSpace>
PlanSizes plan_sizes(std::int64_t rows, std::int64_t edges, std::int64_t levels,
                     std::int64_t num_values) {
  using ValueIndices = ValueIndex<typename ExecutionSpace::memory_space>;
  return {rows,
          edges,
          levels,
          sizeof(Scalar),
          ValueIndices::is_narrow(num_values) ? std::size_t{4} : std::size_t{8},
          lane_width<ExecutionSpace>};
}

/// Bytes of a triangle as a CRS matrix with 32-bit columns and row map.
template <class Scalar>
std::size_t crs_bytes(std::int64_t rows, std::int64_t entries) {
  return (rows + 1) * sizeof(int) + entries * (sizeof(int) + sizeof(Scalar));
}

/// The memory that a plan may take.
class MemoryBudget {
 public:
  /// @param max_plan_bytes  0: there is no limit
  explicit MemoryBudget(std::size_t max_plan_bytes)
      : bytes_(max_plan_bytes > 0 ? max_plan_bytes : unlimited) {}
  bool limited() const { return bytes_ < unlimited; }
  bool allows(std::size_t bytes) const { return bytes <= bytes_; }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t unlimited =
      std::numeric_limits<std::size_t>::max();
  std::size_t bytes_;
};

}  // namespace Detail
}  // namespace Strata

#endif
