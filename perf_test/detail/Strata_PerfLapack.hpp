// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_LAPACK_HPP
#define STRATA_PERF_LAPACK_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace Strata {
namespace PerfTest {

/// The functions of the LAPACK that CMake found, for one scalar type.
template <class Scalar>
struct Lapack;

#define STRATA_PERF_LAPACK_CALLS(Scalar_, x)                                   \
  extern "C" {                                                                 \
  void x##gesv_(const int*, const int*, void*, const int*, int*, void*,        \
                const int*, int*);                                             \
  void x##gbtrf_(const int*, const int*, const int*, const int*, void*,        \
                 const int*, int*, int*);                                      \
  void x##gbtrs_(const char*, const int*, const int*, const int*, const int*,  \
                 const void*, const int*, const int*, void*, const int*, int*, \
                 std::size_t);                                                 \
  }                                                                            \
  template <>                                                                  \
  struct Lapack<Scalar_> {                                                     \
    static constexpr auto gesv = x##gesv_;                                     \
    static constexpr auto gbtrf = x##gbtrf_;                                   \
    static constexpr auto gbtrs = x##gbtrs_;                                   \
  };
STRATA_PERF_LAPACK_CALLS(float, s)
STRATA_PERF_LAPACK_CALLS(double, d)
STRATA_PERF_LAPACK_CALLS(Kokkos::complex<float>, c)
STRATA_PERF_LAPACK_CALLS(Kokkos::complex<double>, z)
#undef STRATA_PERF_LAPACK_CALLS

inline void check_lapack(const char* function, int info) {
  if (info != 0)
    throw std::runtime_error(std::string(function) + ": info " +
                             std::to_string(info));
}

}  // namespace PerfTest
}  // namespace Strata

#endif
