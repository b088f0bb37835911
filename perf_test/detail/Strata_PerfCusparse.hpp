// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CUSPARSE_HPP
#define STRATA_PERF_CUSPARSE_HPP

#include <core/scalar/RealPart.hpp>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfCusparseMatrix.hpp>
#include <type_traits>
#include <vector>

namespace Strata {
namespace PerfTest {

/// What SpSV and SpSM share: the matrix as a triangle.
template <class Scalar>
class CusparseTriangle
    : public Algorithm<Scalar>,
      protected CusparseMatrix<typename Problem<Scalar>::Matrix> {
 protected:
  using Cusparse = CusparseMatrix<typename Problem<Scalar>::Matrix>;

  CusparseTriangle(const Problem<Scalar>& problem, CusparseForm form)
      : Cusparse(typename Algorithm<Scalar>::ExecutionSpace(), problem.matrix,
                 form),
        problem_(problem) {
    cusparseFillMode_t fill = problem.uplo == Uplo::lower
                                  ? CUSPARSE_FILL_MODE_LOWER
                                  : CUSPARSE_FILL_MODE_UPPER;
    cusparseDiagType_t diagonal = problem.diag == Diag::unit
                                      ? CUSPARSE_DIAG_TYPE_UNIT
                                      : CUSPARSE_DIAG_TYPE_NON_UNIT;
    set(CUSPARSE_SPMAT_FILL_MODE, fill);
    set(CUSPARSE_SPMAT_DIAG_TYPE, diagonal);
  }

  const Problem<Scalar>& problem_;

 private:
  template <class Value>
  void set(cusparseSpMatAttribute_t attribute, Value value) {
    check_cusparse(cusparseSpMatSetAttribute(this->matrix_, attribute, &value,
                                             sizeof(value)),
                   "cusparseSpMatSetAttribute");
  }
};

/// cusparseSpSV, one right-hand side after the other.
template <class Scalar>
class CusparseSpsv : public CusparseTriangle<Scalar> {
  using Base = CusparseTriangle<Scalar>;
  using Base::handle_, Base::matrix_, Base::one_, Base::problem_, Base::type,
      Base::sliced_;

 public:
  explicit CusparseSpsv(const Problem<Scalar>& problem,
                        CusparseForm form = CusparseForm::csr)
      : Base(problem, form),
        op_(problem.op == Op::none ? Base::plain
            // It refuses the conjugate transpose of a real matrix.
            : problem.op == Op::transpose ||
                    std::is_same<Detail::RealOf<Scalar>, Scalar>::value
                ? CUSPARSE_OPERATION_TRANSPOSE
                : CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) {
    const std::size_t rows = static_cast<std::size_t>(problem.rows());
    for (int column = 0; column < problem.rhs(); ++column) {
      b_.push_back(
          this->vector(problem.rows(), problem.b.data() + column * rows));
      x_.push_back(
          this->vector(problem.rows(), problem.x.data() + column * rows));
    }
    other_b_ = this->vector(problem.rows(), problem.b.data());
    other_x_ = this->vector(problem.rows(), problem.x.data());
  }
  ~CusparseSpsv() override {
    if (plan_) cusparseSpSV_destroyDescr(plan_);
    if (other_b_) cusparseDestroyDnVec(other_b_);
    if (other_x_) cusparseDestroyDnVec(other_x_);
    for (auto v : b_) cusparseDestroyDnVec(v);
    for (auto v : x_) cusparseDestroyDnVec(v);
  }

  void analyse() override {
    if (plan_) cusparseSpSV_destroyDescr(plan_);
    check_cusparse(cusparseSpSV_createDescr(&plan_),
                   "cusparseSpSV_createDescr");
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpSV_bufferSize(handle_, op_, &one_, matrix_, b_[0], x_[0],
                                type, CUSPARSE_SPSV_ALG_DEFAULT, plan_, &bytes),
        "cusparseSpSV_bufferSize");
    check_cusparse(cusparseSpSV_analysis(handle_, op_, &one_, matrix_, b_[0],
                                         x_[0], type, CUSPARSE_SPSV_ALG_DEFAULT,
                                         plan_, this->workspace(bytes)),
                   "cusparseSpSV_analysis");
  }
  /// Sliced ELL is analysed anew: after SpSV_updateMatrix, its solves read
  /// illegal addresses on some matrices.
  void update() override {
#if CUSPARSE_VERSION >= 12200
    if (!sliced_) {
      check_cusparse(cusparseSpSV_updateMatrix(handle_, plan_,
                                               problem_.matrix.values.data(),
                                               CUSPARSE_SPSV_UPDATE_GENERAL),
                     "cusparseSpSV_updateMatrix");
      return;
    }
#endif
    if (sliced_) sliced_->fill(typename Base::ExecutionSpace());
    analyse();
  }
  void solve() override {
    for (std::size_t column = 0; column < b_.size(); ++column)
      check_cusparse(cusparseSpSV_solve(handle_, op_, &one_, matrix_,
                                        b_[column], x_[column], type,
                                        CUSPARSE_SPSV_ALG_DEFAULT, plan_),
                     "cusparseSpSV_solve");
  }
  /// The same for one vector, other than the problem's.
  void solve_with(Scalar* b, Scalar* x) {
    check_cusparse(cusparseDnVecSetValues(other_b_, b),
                   "cusparseDnVecSetValues");
    check_cusparse(cusparseDnVecSetValues(other_x_, x),
                   "cusparseDnVecSetValues");
    check_cusparse(
        cusparseSpSV_solve(handle_, op_, &one_, matrix_, other_b_, other_x_,
                           type, CUSPARSE_SPSV_ALG_DEFAULT, plan_),
        "cusparseSpSV_solve");
  }

 private:
  cusparseOperation_t op_;
  cusparseSpSVDescr_t plan_ = nullptr;
  std::vector<cusparseDnVecDescr_t> b_, x_;
  cusparseDnVecDescr_t other_b_ = nullptr, other_x_ = nullptr;
};

/// cusparseSpSM, all right-hand sides at once.
template <class Scalar>
class CusparseSpsm : public CusparseTriangle<Scalar> {
  using Base = CusparseTriangle<Scalar>;
  using Base::handle_, Base::matrix_, Base::one_, Base::plain, Base::problem_,
      Base::type;

 public:
  explicit CusparseSpsm(const Problem<Scalar>& problem)
      : Base(problem, CusparseForm::csr),
        b_(this->dense(problem.rows(), problem.rhs(), problem.b.data())),
        x_(this->dense(problem.rows(), problem.rhs(), problem.x.data())) {}
  ~CusparseSpsm() override {
    if (plan_) cusparseSpSM_destroyDescr(plan_);
    cusparseDestroyDnMat(b_);
    cusparseDestroyDnMat(x_);
  }

  void analyse() override {
    if (plan_) cusparseSpSM_destroyDescr(plan_);
    check_cusparse(cusparseSpSM_createDescr(&plan_),
                   "cusparseSpSM_createDescr");
    std::size_t bytes = 0;
    check_cusparse(
        cusparseSpSM_bufferSize(handle_, plain, plain, &one_, matrix_, b_, x_,
                                type, CUSPARSE_SPSM_ALG_DEFAULT, plan_, &bytes),
        "cusparseSpSM_bufferSize");
    check_cusparse(
        cusparseSpSM_analysis(handle_, plain, plain, &one_, matrix_, b_, x_,
                              type, CUSPARSE_SPSM_ALG_DEFAULT, plan_,
                              this->workspace(bytes)),
        "cusparseSpSM_analysis");
  }
  void update() override {
#if CUSPARSE_VERSION >= 12400
    check_cusparse(
        cusparseSpSM_updateMatrix(handle_, plan_, problem_.matrix.values.data(),
                                  CUSPARSE_SPSM_UPDATE_GENERAL),
        "cusparseSpSM_updateMatrix");
#else
    analyse();
#endif
  }
  void solve() override {
    check_cusparse(
        cusparseSpSM_solve(handle_, plain, plain, &one_, matrix_, b_, x_, type,
                           CUSPARSE_SPSM_ALG_DEFAULT, plan_),
        "cusparseSpSM_solve");
  }

 private:
  cusparseSpSMDescr_t plan_ = nullptr;
  cusparseDnMatDescr_t b_, x_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
