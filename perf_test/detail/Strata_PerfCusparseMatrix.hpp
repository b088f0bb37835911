// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CUSPARSE_MATRIX_HPP
#define STRATA_PERF_CUSPARSE_MATRIX_HPP

#include <cusparse.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace Strata {
namespace PerfTest {

inline void check_cusparse(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " +
                             cusparseGetErrorString(status));
}

template <class Scalar>
constexpr cudaDataType cusparse_type() {
  if constexpr (std::is_same<Scalar, float>::value) {
    return CUDA_R_32F;
  }
  if constexpr (std::is_same<Scalar, double>::value) {
    return CUDA_R_64F;
  }
  if constexpr (std::is_same<Scalar, Kokkos::complex<float>>::value) {
    return CUDA_C_32F;
  }
  return CUDA_C_64F;
}

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

/// cuSPARSE's forms of a matrix.
enum class CusparseForm { csr, sliced_ell };

/// What all calls need: a handle on a stream, the matrix's descriptor and a
/// workspace. Sliced ELL is made here, so that an analysis finds the matrix in
/// that form.
template <class Matrix>
class CusparseMatrix {
 protected:
  using Scalar = typename Matrix::non_const_value_type;
  using Device = typename Matrix::execution_space;
  using Vectors = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device>;
  static constexpr cudaDataType type = cusparse_type<Scalar>();
  static constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

  CusparseMatrix(const Device& exec, const Matrix& A, CusparseForm form) {
    check_cusparse(cusparseCreate(&handle_), "cusparseCreate");
    check_cusparse(cusparseSetStream(handle_, exec.cuda_stream()),
                   "cusparseSetStream");
    if (form == CusparseForm::sliced_ell) {
      sliced_ = std::make_unique<SlicedEll<Matrix>>(exec, A);
      matrix_ = sliced_->descriptor();
      return;
    }
    check_cusparse(
        cusparseCreateCsr(&matrix_, A.numRows(), A.numCols(),
                          static_cast<std::int64_t>(A.graph.entries.extent(0)),
                          const_cast<int*>(A.graph.row_map.data()),
                          const_cast<int*>(A.graph.entries.data()),
                          A.values.data(), CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
        "cusparseCreateCsr");
  }
  CusparseMatrix(const CusparseMatrix&) = delete;
  CusparseMatrix& operator=(const CusparseMatrix&) = delete;
  ~CusparseMatrix() {
    if (matrix_) cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
  }

  void* workspace(std::size_t bytes) {
    workspace_ = Kokkos::View<char*, Device>(
        Kokkos::view_alloc("cusparse workspace", Kokkos::WithoutInitializing),
        bytes + 1);
    return workspace_.data();
  }
  /// Whoever calls destroys it.
  static cusparseDnVecDescr_t vector(std::int64_t rows, Scalar* data) {
    cusparseDnVecDescr_t descriptor = nullptr;
    check_cusparse(cusparseCreateDnVec(&descriptor, rows, data, type),
                   "cusparseCreateDnVec");
    return descriptor;
  }
  static cusparseDnMatDescr_t dense(std::int64_t rows, std::int64_t columns,
                                    Scalar* data) {
    cusparseDnMatDescr_t descriptor = nullptr;
    check_cusparse(cusparseCreateDnMat(&descriptor, rows, columns, rows, data,
                                       type, CUSPARSE_ORDER_COL),
                   "cusparseCreateDnMat");
    return descriptor;
  }

  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  std::unique_ptr<SlicedEll<Matrix>> sliced_;
  Kokkos::View<char*, Device> workspace_;
  Scalar one_ = Scalar(1), zero_ = Scalar(0);
};

}  // namespace PerfTest
}  // namespace Strata

#endif
