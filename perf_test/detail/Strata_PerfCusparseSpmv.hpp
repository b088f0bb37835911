// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CUSPARSE_SPMV_HPP
#define STRATA_PERF_CUSPARSE_SPMV_HPP

#include <detail/Strata_PerfCusparseMatrix.hpp>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// y = A x by cusparseSpMV, one vector after the other.
template <class Matrix>
class CusparseSpmv : CusparseMatrix<Matrix> {
  using Base = CusparseMatrix<Matrix>;
  using Base::handle_, Base::matrix_, Base::one_, Base::zero_, Base::plain,
      Base::type, Base::workspace_;
  using typename Base::Device, typename Base::Vectors;

 public:
  CusparseSpmv(const Device& exec, const std::string& name, const Matrix& A,
               const Vectors& x, const Vectors& y)
      : Base(exec, A,
             name == "cusparse_sell" ? CusparseForm::sliced_ell
                                     : CusparseForm::csr),
        algorithm_(name == "cusparse_sell"       ? CUSPARSE_SPMV_SELL_ALG1
                   : name == "cusparse_csr_alg1" ? CUSPARSE_SPMV_CSR_ALG1
                                                 : CUSPARSE_SPMV_CSR_ALG2) {
    for (std::size_t c = 0; c < x.extent(1); ++c) {
      x_.push_back(this->vector(A.numCols(), x.data() + c * x.extent(0)));
      y_.push_back(this->vector(A.numRows(), y.data() + c * y.extent(0)));
    }
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpMV_bufferSize(handle_, plain, &one_, matrix_, x_[0], &zero_,
                                y_[0], type, algorithm_, &bytes),
        "cusparseSpMV_bufferSize");
    this->workspace(bytes);
#if CUSPARSE_VERSION >= 12400
    if (!this->sliced_)
      check_cusparse(
          cusparseSpMV_preprocess(handle_, plain, &one_, matrix_, x_[0], &zero_,
                                  y_[0], type, algorithm_, workspace_.data()),
          "cusparseSpMV_preprocess");
#endif
  }
  ~CusparseSpmv() {
    for (auto v : x_) cusparseDestroyDnVec(v);
    for (auto v : y_) cusparseDestroyDnVec(v);
  }
  void multiply() {
    for (std::size_t c = 0; c < x_.size(); ++c)
      check_cusparse(cusparseSpMV(handle_, plain, &one_, matrix_, x_[c], &zero_,
                                  y_[c], type, algorithm_, workspace_.data()),
                     "cusparseSpMV");
  }

 private:
  cusparseSpMVAlg_t algorithm_;
  std::vector<cusparseDnVecDescr_t> x_, y_;
};

/// Y = A X by cusparseSpMM, all vectors at once; X and Y have their columns one
/// after the other.
template <class Matrix>
class CusparseSpmm : CusparseMatrix<Matrix> {
  using Base = CusparseMatrix<Matrix>;
  using Base::handle_, Base::matrix_, Base::one_, Base::zero_, Base::plain,
      Base::type, Base::workspace_;
  using typename Base::Device, typename Base::Vectors;

 public:
  /// @param name ends with the number of one of cuSPARSE's algorithms for CSR
  CusparseSpmm(const Device& exec, const std::string& name, const Matrix& A,
               const Vectors& x, const Vectors& y)
      : Base(exec, A, CusparseForm::csr),
        algorithm_(name.back() == '1'   ? CUSPARSE_SPMM_CSR_ALG1
                   : name.back() == '2' ? CUSPARSE_SPMM_CSR_ALG2
                                        : CUSPARSE_SPMM_CSR_ALG3),
        x_(this->dense(A.numCols(), x.extent(1), x.data())),
        y_(this->dense(A.numRows(), y.extent(1), y.data())) {
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpMM_bufferSize(handle_, plain, plain, &one_, matrix_, x_,
                                &zero_, y_, type, algorithm_, &bytes),
        "cusparseSpMM_bufferSize");
    check_cusparse(cusparseSpMM_preprocess(handle_, plain, plain, &one_,
                                           matrix_, x_, &zero_, y_, type,
                                           algorithm_, this->workspace(bytes)),
                   "cusparseSpMM_preprocess");
  }
  ~CusparseSpmm() {
    cusparseDestroyDnMat(x_);
    cusparseDestroyDnMat(y_);
  }
  void multiply() {
    check_cusparse(
        cusparseSpMM(handle_, plain, plain, &one_, matrix_, x_, &zero_, y_,
                     type, algorithm_, workspace_.data()),
        "cusparseSpMM");
  }

 private:
  cusparseSpMMAlg_t algorithm_;
  cusparseDnMatDescr_t x_, y_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
