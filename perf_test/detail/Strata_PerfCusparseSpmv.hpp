// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CUSPARSE_SPMV_HPP
#define STRATA_PERF_CUSPARSE_SPMV_HPP

#include <detail/Strata_PerfCusparse.hpp>
#include <limits>

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
  std::int64_t rows;
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
        offset("offset", (rows + 31) / 32 + 1) {
    using Kokkos::IndexType;
    std::int64_t slots = 0;
    Kokkos::parallel_scan(
        "sliced_ell::measure",
        Kokkos::RangePolicy<Device, Measure, IndexType<std::int64_t>>(
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
    Kokkos::parallel_for(
        "sliced_ell::fill",
        Kokkos::RangePolicy<Device, Fill, IndexType<std::int64_t>>(exec, 0,
                                                                   rows),
        *this);
    exec.fence();
  }
};

/// y = A x by cusparseSpMV, one vector after the other.
template <class Matrix>
class CusparseSpmv {
  using Scalar = typename Matrix::non_const_value_type;
  using Device = typename Matrix::execution_space;
  static constexpr cudaDataType type = cusparse_type<Scalar>();
  static constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

 public:
  using Vectors = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device>;

  CusparseSpmv(const Device& exec, const std::string& name, const Matrix& A,
               const Vectors& x, const Vectors& y) {
    check_cusparse(cusparseCreate(&handle_), "cusparseCreate");
    check_cusparse(cusparseSetStream(handle_, exec.cuda_stream()),
                   "cusparseSetStream");
    const std::int64_t nnz = A.nnz();
    if (name == "cusparse_sell") {
      algorithm_ = CUSPARSE_SPMV_SELL_ALG1;
      sell_ = std::make_unique<SlicedEll<Matrix>>(exec, A);
      check_cusparse(cusparseCreateSlicedEll(
                         &matrix_, A.numRows(), A.numCols(), nnz,
                         static_cast<std::int64_t>(sell_->value.extent(0)), 32,
                         sell_->offset.data(), sell_->column.data(),
                         sell_->value.data(), CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
                     "cusparseCreateSlicedEll");
    } else {
      algorithm_ = name == "cusparse_csr_alg1" ? CUSPARSE_SPMV_CSR_ALG1
                                               : CUSPARSE_SPMV_CSR_ALG2;
      check_cusparse(
          cusparseCreateCsr(&matrix_, A.numRows(), A.numCols(), nnz,
                            const_cast<int*>(A.graph.row_map.data()),
                            const_cast<int*>(A.graph.entries.data()),
                            A.values.data(), CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
          "cusparseCreateCsr");
    }
    for (std::size_t c = 0; c < x.extent(1); ++c) {
      x_.push_back(vector(x, c));
      y_.push_back(vector(y, c));
    }
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpMV_bufferSize(handle_, plain, &one_, matrix_, x_[0], &zero_,
                                y_[0], type, algorithm_, &bytes),
        "cusparseSpMV_bufferSize");
    workspace_ = Kokkos::View<char*, Device>("cusparse workspace", bytes + 1);
#if CUSPARSE_VERSION >= 12400
    if (!sell_)
      check_cusparse(
          cusparseSpMV_preprocess(handle_, plain, &one_, matrix_, x_[0], &zero_,
                                  y_[0], type, algorithm_, workspace_.data()),
          "cusparseSpMV_preprocess");
#endif
  }
  CusparseSpmv(const CusparseSpmv&) = delete;
  CusparseSpmv& operator=(const CusparseSpmv&) = delete;
  ~CusparseSpmv() {
    for (auto v : x_) cusparseDestroyDnVec(v);
    for (auto v : y_) cusparseDestroyDnVec(v);
    if (matrix_) cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
  }
  void multiply() {
    for (std::size_t c = 0; c < x_.size(); ++c)
      check_cusparse(cusparseSpMV(handle_, plain, &one_, matrix_, x_[c], &zero_,
                                  y_[c], type, algorithm_, workspace_.data()),
                     "cusparseSpMV");
  }

 private:
  static cusparseDnVecDescr_t vector(const Vectors& v, std::size_t column) {
    cusparseDnVecDescr_t descriptor = nullptr;
    check_cusparse(
        cusparseCreateDnVec(&descriptor, static_cast<std::int64_t>(v.extent(0)),
                            v.data() + column * v.extent(0), type),
        "cusparseCreateDnVec");
    return descriptor;
  }

  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseSpMVAlg_t algorithm_ = CUSPARSE_SPMV_ALG_DEFAULT;
  std::unique_ptr<SlicedEll<Matrix>> sell_;
  std::vector<cusparseDnVecDescr_t> x_, y_;
  Kokkos::View<char*, Device> workspace_;
  Scalar one_ = Scalar(1), zero_ = Scalar(0);
};

}  // namespace PerfTest
}  // namespace Strata

#endif
