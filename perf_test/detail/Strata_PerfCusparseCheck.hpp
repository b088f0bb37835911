// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_CUSPARSE_CHECK_HPP
#define STRATA_PERF_CUSPARSE_CHECK_HPP

#include <cusparse.h>

#include <Kokkos_Core.hpp>
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

}  // namespace PerfTest
}  // namespace Strata

#endif
