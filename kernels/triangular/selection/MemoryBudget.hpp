// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_MEMORY_BUDGET_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_MEMORY_BUDGET_HPP

#include <Strata_Error.hpp>
#include <Strata_TriangularOptions.hpp>
#include <algorithm>
#include <analysis/blocks/EllLayout.hpp>
#include <analysis/packing/PackedSubgraphs.hpp>
#include <analysis/packing/RowChunks.hpp>
#include <core/device/Backend.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace Strata {
namespace Detail {

/// What is known of a plan's size before it is made.
struct PlanSizes {
  std::int64_t rows, edges, levels;
  std::size_t scalar_bytes, value_index_bytes;
  int lanes;  // rows of a chunk at most

  /// Bytes that a plan of `algorithm` holds at least, without the workspace for
  /// more than one right-hand side; exactly those of `substitution`. Padding,
  /// and what depends on the partition into sub-graphs, comes on top.
  std::size_t least_bytes(Algorithm algorithm) const {
    const std::size_t n = static_cast<std::size_t>(rows);
    const std::size_t m = static_cast<std::size_t>(edges);
    const std::size_t of_rows = n * (scalar_bytes + 4 + value_index_bytes);
    const std::size_t of_entries = m * (4 + scalar_bytes + value_index_bytes);
    const std::size_t of_chunks = (n + lanes - 1) / lanes * sizeof(RowChunk);
    switch (algorithm) {
      case Algorithm::substitution:
        return of_rows + of_entries + (n + 1) * 8;
      case Algorithm::level_sets:
        return of_rows + of_entries + of_chunks + (levels + 1) * 4;
      case Algorithm::sync_free:
        return of_rows + of_entries + of_chunks + 2 * n * scalar_bytes;
      case Algorithm::subgraphs:
        return of_rows + of_entries + m * 4;
      case Algorithm::blocks:
        // As many blocks as level sets, where those are known.
        return of_rows + of_entries +
               std::max<std::size_t>(levels, n > 0 ? 1 : 0) * sizeof(EllBlock);
      default: {
        const PackedRecord record(scalar_bytes);
        const std::size_t per_record =
            record.bytes + 5 + record.entries * value_index_bytes;
        return of_rows + (m + record.entries - 1) / record.entries * per_record;
      }
    }
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
  MemoryBudget(const TriangularOptions& options, std::size_t crs_bytes) {
    if (options.max_plan_bytes > 0) {
      bytes_ = options.max_plan_bytes;
      option_ = "max_plan_bytes";
    }
    const double by_ratio =
        options.max_plan_ratio * static_cast<double>(crs_bytes);
    if (options.max_plan_ratio > 0 && by_ratio < static_cast<double>(bytes_)) {
      bytes_ = static_cast<std::size_t>(by_ratio);
      option_ = "max_plan_ratio";
    }
  }
  bool limited() const { return bytes_ < unlimited; }
  bool allows(std::size_t bytes) const { return bytes <= bytes_; }
  std::size_t bytes() const { return bytes_; }
  /// The option that sets the limit.
  const std::string& option() const { return option_; }

 private:
  static constexpr std::size_t unlimited =
      std::numeric_limits<std::size_t>::max();
  std::size_t bytes_ = unlimited;
  std::string option_ = "max_plan_bytes";
};

/// @param made whether `bytes` are those of a plan, or a lower bound
inline std::string bytes_needed(std::size_t bytes, bool made) {
  return std::string(made ? "takes " : "takes at least ") +
         std::to_string(bytes) + " bytes";
}

/// @throws PlanMemoryError for an algorithm that was asked for
[[noreturn]] inline void refuse_named_plan(const MemoryBudget& budget,
                                           const PlanSizes& sizes,
                                           Algorithm named, std::size_t bytes,
                                           bool made) {
  const std::size_t smallest = sizes.least_bytes(Algorithm::substitution);
  throw PlanMemoryError(
      budget.option(),
      "allows " + std::to_string(budget.bytes()) + " bytes, " +
          to_string(named) + " " + bytes_needed(bytes, made),
      budget.allows(smallest)
          ? "allow as much, or set the option `algorithm` to automatic: "
            "substitution takes " +
                std::to_string(smallest) + " bytes"
          : "allow " + std::to_string(smallest) +
                " bytes or more, and leave the choice to automatic",
      bytes, budget.bytes());
}

}  // namespace Detail
}  // namespace Strata

#endif
