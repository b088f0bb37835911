// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CUSPARSE_SPMM_HPP
#define STRATA_PERF_CUSPARSE_SPMM_HPP

#include <detail/Strata_PerfCusparse.hpp>
#include <string>

namespace Strata {
namespace PerfTest {

/// Y = A X by cusparseSpMM, all vectors at once; X and Y have their columns one
/// after the other.
template <class Matrix>
class CusparseSpmm {
  using Scalar = typename Matrix::non_const_value_type;
  using Device = typename Matrix::execution_space;
  static constexpr cudaDataType type = cusparse_type<Scalar>();
  static constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

 public:
  using Vectors = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device>;

  /// @param name ends with the number of one of cuSPARSE's algorithms for CSR
  CusparseSpmm(const Device& exec, const std::string& name, const Matrix& A,
               const Vectors& x, const Vectors& y)
      : algorithm_(name.back() == '1'   ? CUSPARSE_SPMM_CSR_ALG1
                   : name.back() == '2' ? CUSPARSE_SPMM_CSR_ALG2
                                        : CUSPARSE_SPMM_CSR_ALG3) {
    check_cusparse(cusparseCreate(&handle_), "cusparseCreate");
    check_cusparse(cusparseSetStream(handle_, exec.cuda_stream()),
                   "cusparseSetStream");
    check_cusparse(
        cusparseCreateCsr(&matrix_, A.numRows(), A.numCols(),
                          static_cast<std::int64_t>(A.nnz()),
                          const_cast<int*>(A.graph.row_map.data()),
                          const_cast<int*>(A.graph.entries.data()),
                          A.values.data(), CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type),
        "cusparseCreateCsr");
    x_ = dense(x);
    y_ = dense(y);
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpMM_bufferSize(handle_, plain, plain, &one_, matrix_, x_,
                                &zero_, y_, type, algorithm_, &bytes),
        "cusparseSpMM_bufferSize");
    workspace_ = Kokkos::View<char*, Device>("cusparse workspace", bytes + 1);
    check_cusparse(cusparseSpMM_preprocess(handle_, plain, plain, &one_,
                                           matrix_, x_, &zero_, y_, type,
                                           algorithm_, workspace_.data()),
                   "cusparseSpMM_preprocess");
  }
  CusparseSpmm(const CusparseSpmm&) = delete;
  CusparseSpmm& operator=(const CusparseSpmm&) = delete;
  ~CusparseSpmm() {
    if (x_) cusparseDestroyDnMat(x_);
    if (y_) cusparseDestroyDnMat(y_);
    if (matrix_) cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
  }
  void multiply() {
    check_cusparse(
        cusparseSpMM(handle_, plain, plain, &one_, matrix_, x_, &zero_, y_,
                     type, algorithm_, workspace_.data()),
        "cusparseSpMM");
  }

 private:
  static cusparseDnMatDescr_t dense(const Vectors& v) {
    cusparseDnMatDescr_t descriptor = nullptr;
    const auto rows = static_cast<std::int64_t>(v.extent(0));
    check_cusparse(
        cusparseCreateDnMat(&descriptor, rows,
                            static_cast<std::int64_t>(v.extent(1)), rows,
                            v.data(), type, CUSPARSE_ORDER_COL),
        "cusparseCreateDnMat");
    return descriptor;
  }

  cusparseSpMMAlg_t algorithm_;
  cusparseHandle_t handle_ = nullptr;
  cusparseSpMatDescr_t matrix_ = nullptr;
  cusparseDnMatDescr_t x_ = nullptr, y_ = nullptr;
  Kokkos::View<char*, Device> workspace_;
  Scalar one_ = Scalar(1), zero_ = Scalar(0);
};

}  // namespace PerfTest
}  // namespace Strata

#endif
