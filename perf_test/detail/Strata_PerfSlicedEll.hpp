// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_SLICED_ELL_HPP
#define STRATA_PERF_SLICED_ELL_HPP

#include <cusparse.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <detail/Strata_PerfCusparseCheck.hpp>
#include <limits>
#include <stdexcept>

namespace Strata {
namespace PerfTest {

/// cuSPARSE's form of sliced ELL with 32 rows a slice, padding marked by -1.
template <class Matrix>
struct SlicedEll {
  using Device = typename Matrix::execution_space;
  using Scalar = typename Matrix::non_const_value_type;
  typename Matrix::row_map_type row_map;
  typename Matrix::index_type entries;
  typename Matrix::values_type values;
  std::int64_t rows, columns;
  Kokkos::View<int*, Device> offset, column;
  Kokkos::View<Scalar*, Device> value;

  struct Measure {};
  struct Fill {};
  KOKKOS_INLINE_FUNCTION void operator()(const Measure&, std::int64_t slice,
                                         std::int64_t& sum, bool last) const {
    std::int64_t longest = 0;
    for (std::int64_t row = 32 * slice; row < 32 * slice + 32 && row < rows;
         ++row) {
      const std::int64_t length = row_map(row + 1) - row_map(row);
      longest = length > longest ? length : longest;
    }
    if (last) offset(slice) = static_cast<int>(sum);
    sum += 32 * longest;
    if (last && 32 * (slice + 1) >= rows)
      offset(slice + 1) = static_cast<int>(sum);
  }
  KOKKOS_INLINE_FUNCTION void operator()(const Fill&, std::int64_t row) const {
    std::int64_t at = offset(row / 32) + row % 32;
    for (auto k = row_map(row); k < row_map(row + 1); ++k, at += 32) {
      column(at) = entries(k);
      value(at) = values(k);
    }
  }

  SlicedEll(const Device& exec, const Matrix& A)
      : row_map(A.graph.row_map),
        entries(A.graph.entries),
        values(A.values),
        rows(A.numRows()),
        columns(A.numCols()),
        offset("offset", (rows + 31) / 32 + 1) {
    std::int64_t slots = 0;
    Kokkos::parallel_scan(
        "sliced_ell::measure",
        Kokkos::RangePolicy<Device, Measure, Kokkos::IndexType<std::int64_t>>(
            exec, 0, (rows + 31) / 32),
        *this, slots);
    exec.fence();
    // The limit keeps a long row from filling the device with padding.
    if (slots > std::numeric_limits<int>::max() ||
        slots > 20 * static_cast<std::int64_t>(A.nnz()) + 1000000)
      throw std::runtime_error("too much padding for sliced ELL");
    column = decltype(column)("column", slots);
    value = decltype(value)("value", slots);
    Kokkos::deep_copy(exec, column, -1);
    fill(exec);
    exec.fence();
  }
  /// Takes the matrix's columns and values, asynchronously.
  void fill(const Device& exec) const {
    Kokkos::parallel_for(
        "sliced_ell::fill",
        Kokkos::RangePolicy<Device, Fill, Kokkos::IndexType<std::int64_t>>(
            exec, 0, rows),
        *this);
  }
  /// Whoever calls destroys it.
  cusparseSpMatDescr_t descriptor() const {
    cusparseSpMatDescr_t made = nullptr;
    check_cusparse(
        cusparseCreateSlicedEll(
            &made, rows, columns, static_cast<std::int64_t>(entries.extent(0)),
            static_cast<std::int64_t>(value.extent(0)), 32, offset.data(),
            column.data(), value.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
            CUSPARSE_INDEX_BASE_ZERO, cusparse_type<Scalar>()),
        "cusparseCreateSlicedEll");
    return made;
  }
};

}  // namespace PerfTest
}  // namespace Strata

#endif
