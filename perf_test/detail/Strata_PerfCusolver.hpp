// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CUSOLVER_HPP
#define STRATA_PERF_CUSOLVER_HPP

#include <cusolverDn.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace Strata {
namespace PerfTest {

inline void check_cusolver(cusolverStatus_t status, const char* what) {
  if (status != CUSOLVER_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": status " +
                             std::to_string(static_cast<int>(status)));
}

/// cuSOLVER's getrf and getrs of n x n numbers, which they overwrite.
template <class Scalar>
class CusolverLu {
 public:
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::CudaSpace>;

  explicit CusolverLu(std::int64_t n)
      : lu(Kokkos::view_alloc("LU", Kokkos::WithoutInitializing), n, n),
        n_(n),
        pivots_("pivots", n),
        info_("info") {
    check_cusolver(cusolverDnCreate(&handle_), "cusolverDnCreate");
    check_cusolver(cusolverDnSetStream(handle_, exec_.cuda_stream()),
                   "cusolverDnSetStream");
    check_cusolver(cusolverDnCreateParams(&parameters_),
                   "cusolverDnCreateParams");
    std::size_t on_device = 0, on_host = 0;
    check_cusolver(
        cusolverDnXgetrf_bufferSize(handle_, parameters_, n_, n_, type,
                                    lu.data(), n_, type, &on_device, &on_host),
        "cusolverDnXgetrf_bufferSize");
    work_ = Kokkos::View<char*, Kokkos::CudaSpace>("work", on_device);
    host_work_.resize(on_host);
  }
  CusolverLu(const CusolverLu&) = delete;
  CusolverLu& operator=(const CusolverLu&) = delete;
  ~CusolverLu() {
    cusolverDnDestroyParams(parameters_);
    cusolverDnDestroy(handle_);
  }

  /// Of what `lu` has.
  void factor() {
    check_cusolver(
        cusolverDnXgetrf(handle_, parameters_, n_, n_, type, lu.data(), n_,
                         pivots_.data(), type, work_.data(), work_.extent(0),
                         host_work_.data(), host_work_.size(), info_.data()),
        "cusolverDnXgetrf");
  }
  /// x from b, which x has.
  void solve(const Matrix& x) {
    check_cusolver(cusolverDnXgetrs(handle_, parameters_, CUBLAS_OP_N, n_,
                                    static_cast<std::int64_t>(x.extent(1)),
                                    type, lu.data(), n_, pivots_.data(), type,
                                    x.data(), n_, info_.data()),
                   "cusolverDnXgetrs");
  }

  Matrix lu;

 private:
  static constexpr cudaDataType type =
      std::is_same<Scalar, float>::value                    ? CUDA_R_32F
      : std::is_same<Scalar, double>::value                 ? CUDA_R_64F
      : std::is_same<Scalar, Kokkos::complex<float>>::value ? CUDA_C_32F
                                                            : CUDA_C_64F;

  std::int64_t n_;
  Kokkos::Cuda exec_;
  cusolverDnHandle_t handle_ = nullptr;
  cusolverDnParams_t parameters_ = nullptr;
  Kokkos::View<std::int64_t*, Kokkos::CudaSpace> pivots_;
  Kokkos::View<int, Kokkos::CudaSpace> info_;
  Kokkos::View<char*, Kokkos::CudaSpace> work_;
  std::vector<char> host_work_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
