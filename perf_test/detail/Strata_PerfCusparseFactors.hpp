// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CUSPARSE_FACTORS_HPP
#define STRATA_PERF_CUSPARSE_FACTORS_HPP

#include <cusparse.h>

#include <detail/Strata_PerfCusparse.hpp>
#include <detail/Strata_PerfFactorizer.hpp>
#include <detail/Strata_PerfSerialFactors.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// Deprecated since cuSPARSE 12, to be removed in the release after it, and
// without a successor.
#if CUSPARSE_VER_MAJOR < 13
#define STRATA_PERF_HAS_CSRILU02

namespace Strata {
namespace PerfTest {

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1215, 1444
#endif

/// cuSPARSE's calls for one scalar type.
template <class Scalar>
struct Csrilu02;
template <class Scalar>
struct Csric02;

#define STRATA_PERF_CALLS(Calls, call, Info_, scalar, number, letter)        \
  template <>                                                                \
  struct Calls<scalar> {                                                     \
    using Scalar = scalar;                                                   \
    using Number = number;                                                   \
    using Info = Info_##_t;                                                  \
    static constexpr const char* name = #call;                               \
    static constexpr auto create = cusparseCreate##Calls##Info;              \
    static constexpr auto destroy = cusparseDestroy##Calls##Info;            \
    static constexpr auto buffer_size = cusparse##letter##call##_bufferSize; \
    static constexpr auto analysis = cusparse##letter##call##_analysis;      \
    static constexpr auto factorise = cusparse##letter##call;                \
    static constexpr auto zero_pivot = cusparseX##call##_zeroPivot;          \
  };
#define STRATA_PERF_CALLS_OF(Calls, call, Info)                              \
  STRATA_PERF_CALLS(Calls, call, Info, float, float, S)                      \
  STRATA_PERF_CALLS(Calls, call, Info, double, double, D)                    \
  STRATA_PERF_CALLS(Calls, call, Info, Kokkos::complex<float>, cuComplex, C) \
  STRATA_PERF_CALLS(Calls, call, Info, Kokkos::complex<double>,              \
                    cuDoubleComplex, Z)
STRATA_PERF_CALLS_OF(Csrilu02, csrilu02, csrilu02Info)
STRATA_PERF_CALLS_OF(Csric02, csric02, csric02Info)
#undef STRATA_PERF_CALLS_OF
#undef STRATA_PERF_CALLS

/// csrilu02 or csric02, which overwrite the values of a copy of the matrix (the
/// latter those of its lower triangle), and SpSV with both triangles of it, or
/// with the lower one twice. Nothing waits for the device: cuSPARSE tells zero
/// pivots on request, which is not timed.
template <class Calls>
class CusparseFactorizer : public Factorizer<typename Calls::Scalar> {
  using Scalar = typename Calls::Scalar;
  using Number = typename Calls::Number;
  using Matrix = typename Factorizer<Scalar>::Matrix;
  using Space = typename Factorizer<Scalar>::ExecutionSpace;
  using Vector = typename Factorizer<Scalar>::Vector;

 public:
  CusparseFactorizer(const FactorProblem<Scalar>& problem,
                     cusparseSolvePolicy_t policy)
      : problem_(problem), policy_(policy) {
    const auto& A = problem.matrix;
    typename Matrix::values_type values("factors", A.values.extent(0));
    for (System* system : {&lower_, &upper_}) {
      system->matrix = Matrix("factors", A.numRows(), A.numCols(), A.nnz(),
                              values, A.graph.row_map, A.graph.entries);
      system->uplo = Uplo::lower;
    }
    if (problem.kind == FactorizationKind::ilu0) {
      lower_.diag = Diag::unit;
      upper_.uplo = Uplo::upper;
    } else {
      upper_.op = Op::conjugate_transpose;
    }
    lower_.b = problem.b;
    lower_.x = upper_.b = typename FactorProblem<Scalar>::Vectors(
        "y", static_cast<std::size_t>(problem.rows()), 1);
    upper_.x = problem.x;
    lower_solver_.emplace(lower_);
    upper_solver_.emplace(upper_);
    check(cusparseCreate(&handle_), "cusparseCreate");
    check(cusparseSetStream(handle_, exec_.cuda_stream()), "cusparseSetStream");
    check(cusparseCreateMatDescr(&description_), "cusparseCreateMatDescr");
  }
  CusparseFactorizer(const CusparseFactorizer&) = delete;
  CusparseFactorizer& operator=(const CusparseFactorizer&) = delete;
  ~CusparseFactorizer() override {
    if (info_) Calls::destroy(info_);
    if (description_) cusparseDestroyMatDescr(description_);
    if (handle_) cusparseDestroy(handle_);
  }

  void analyse() override {
    if (info_) Calls::destroy(info_);
    info_ = nullptr;
    check(Calls::create(&info_), "create");
    int bytes = 0;
    check(Calls::buffer_size(handle_, problem_.rows(), problem_.num_entries(),
                             description_, values(), row_map(), entries(),
                             info_, &bytes),
          "bufferSize");
    buffer_ = Kokkos::View<char*, typename Space::memory_space>(
        Kokkos::view_alloc("cusparse workspace", Kokkos::WithoutInitializing),
        static_cast<std::size_t>(bytes));
    check(Calls::analysis(handle_, problem_.rows(), problem_.num_entries(),
                          description_, values(), row_map(), entries(), info_,
                          policy_, buffer_.data()),
          "analysis");
  }
  void compute(const Matrix& A) override {
    Kokkos::deep_copy(exec_, lower_.matrix.values, A.values);
    check(Calls::factorise(handle_, problem_.rows(), problem_.num_entries(),
                           description_, values(), row_map(), entries(), info_,
                           policy_, buffer_.data()),
          "numeric phase");
  }
  void make_ready() override {
    analyse();
    compute(problem_.matrix);
    lower_solver_->analyse();
    upper_solver_->analyse();
  }
  void update_values(const Matrix& A) override {
    compute(A);
    lower_solver_->update();
    upper_solver_->update();
  }
  void apply(const Vector& b, const Vector& x) override {
    lower_solver_->solve_with(b.data(), lower_.x.data());
    upper_solver_->solve_with(lower_.x.data(), x.data());
  }
  std::vector<Scalar> factors() override {
    int row = -1;
    const auto status = Calls::zero_pivot(handle_, info_, &row);
    if (status == CUSPARSE_STATUS_ZERO_PIVOT)
      throw std::runtime_error(std::string(Calls::name) +
                               " tells of a zero pivot in row " +
                               std::to_string(row));
    check(status, "zeroPivot");
    const auto values = Kokkos::create_mirror_view_and_copy(
        Kokkos::HostSpace(), lower_.matrix.values);
    const std::vector<Scalar> found(values.data(),
                                    values.data() + values.extent(0));
    return problem_.kind == FactorizationKind::ilu0
               ? found
               : lu_of_cholesky(problem_, found);
  }

 private:
  using System = PerfTest::Problem<Scalar>;

  static void check(cusparseStatus_t status, const char* what) {
    if (status != CUSPARSE_STATUS_SUCCESS)
      check_cusparse(status, (std::string(Calls::name) + ", " + what).c_str());
  }
  Number* values() const {
    return reinterpret_cast<Number*>(lower_.matrix.values.data());
  }
  const int* row_map() const { return lower_.matrix.graph.row_map.data(); }
  const int* entries() const { return lower_.matrix.graph.entries.data(); }

  const FactorProblem<Scalar>& problem_;
  cusparseSolvePolicy_t policy_;
  Space exec_;
  System lower_, upper_;  // of the same arrays
  cusparseHandle_t handle_ = nullptr;
  cusparseMatDescr_t description_ = nullptr;
  typename Calls::Info info_ = nullptr;
  Kokkos::View<char*, typename Space::memory_space> buffer_;
  std::optional<CusparseSpsv<Scalar>> lower_solver_, upper_solver_;
};

#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diagnostic pop
#endif
#pragma GCC diagnostic pop

}  // namespace PerfTest
}  // namespace Strata

#endif
#endif
