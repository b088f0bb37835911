// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CUSOLVER_HPP
#define STRATA_PERF_CUSOLVER_HPP

#include <cusolverDn.h>

#include <detail/Strata_PerfDenseProblem.hpp>
#include <stdexcept>

namespace Strata {
namespace PerfTest {

inline void check_cusolver(cusolverStatus_t status, const char* what) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": status " +
                             std::to_string(static_cast<int>(status)));
}

/// cuSOLVER's getrf and getrs on copies of A and B.
template <class Scalar>
class CusolverSolve : public DenseAlgorithm<Scalar> {
 public:
  explicit CusolverSolve(const DenseProblem<Scalar>& problem)
      : problem_(problem), n_(static_cast<int>(problem.n())) {
    check_cusolver(cusolverDnCreate(&handle_), "cusolverDnCreate");
    check_cusolver(cusolverDnSetStream(handle_, exec_.cuda_stream()),
                   "cusolverDnSetStream");
    check_cusolver(cusolverDnCreateParams(&parameters_),
                   "cusolverDnCreateParams");
    lu_ = Matrix(Kokkos::view_alloc("LU", Kokkos::WithoutInitializing), n_, n_);
    pivots_ = Kokkos::View<std::int64_t*, Memory>("pivots", n_);
    info_ = Kokkos::View<int, Memory>("info");
    std::size_t on_device = 0, on_host = 0;
    check_cusolver(
        cusolverDnXgetrf_bufferSize(handle_, parameters_, n_, n_, type,
                                    lu_.data(), n_, type, &on_device, &on_host),
        "cusolverDnXgetrf_bufferSize");
    work_ = Kokkos::View<char*, Memory>("work", on_device);
    host_work_.resize(on_host);
  }
  CusolverSolve(const CusolverSolve&) = delete;
  CusolverSolve& operator=(const CusolverSolve&) = delete;
  ~CusolverSolve() override {
    cusolverDnDestroyParams(parameters_);
    cusolverDnDestroy(handle_);
  }

  void run() override {
    Kokkos::deep_copy(exec_, lu_, problem_.A);
    Kokkos::deep_copy(exec_, problem_.X, problem_.B);
    check_cusolver(
        cusolverDnXgetrf(handle_, parameters_, n_, n_, type, lu_.data(), n_,
                         pivots_.data(), type, work_.data(), work_.extent(0),
                         host_work_.data(), host_work_.size(), info_.data()),
        "cusolverDnXgetrf");
    check_cusolver(cusolverDnXgetrs(handle_, parameters_, CUBLAS_OP_N, n_,
                                    problem_.columns(), type, lu_.data(), n_,
                                    pivots_.data(), type, problem_.X.data(), n_,
                                    info_.data()),
                   "cusolverDnXgetrs");
  }

 private:
  using Matrix = typename DenseProblem<Scalar>::Matrix;
  using Memory = typename DenseProblem<Scalar>::Memory;
  static constexpr cudaDataType type =
      std::is_same<Scalar, float>::value                    ? CUDA_R_32F
      : std::is_same<Scalar, double>::value                 ? CUDA_R_64F
      : std::is_same<Scalar, Kokkos::complex<float>>::value ? CUDA_C_32F
                                                            : CUDA_C_64F;

  const DenseProblem<Scalar>& problem_;
  int n_;
  typename DenseProblem<Scalar>::ExecutionSpace exec_;
  cusolverDnHandle_t handle_ = nullptr;
  cusolverDnParams_t parameters_ = nullptr;
  Matrix lu_;
  Kokkos::View<std::int64_t*, Memory> pivots_;
  Kokkos::View<int, Memory> info_;
  Kokkos::View<char*, Memory> work_;
  std::vector<char> host_work_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
