// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CUSPARSE_SPMV_HPP
#define STRATA_PERF_CUSPARSE_SPMV_HPP

#include <detail/Strata_PerfCusparse.hpp>
#include <detail/Strata_PerfSlicedEll.hpp>

namespace Strata {
namespace PerfTest {

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
      matrix_ = sell_->descriptor();
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
