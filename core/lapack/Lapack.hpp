// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_LAPACK_LAPACK_HPP
#define STRATA_CORE_LAPACK_LAPACK_HPP

// LAPACK and BLAS for hosts, where the build has found them: the functions that
// dense and band solvers call, by scalar type. They have integers of 32 bits.

#include <Kokkos_Core.hpp>
#include <core/device/Backend.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace Strata {
namespace Detail {

/// Whether solvers of an execution space may call LAPACK.
template <class ExecutionSpace>
inline constexpr bool has_lapack =
    STRATA_ENABLE_LAPACK && !is_gpu<ExecutionSpace>;

/// As is_left_to_caller, for a loop beside a call of LAPACK that takes longer.
/// Threads that have done their share of a loop spin for milliseconds, in case
/// there is another one, and meanwhile keep LAPACK's threads from their cores.
template <class ExecutionSpace>
constexpr bool is_left_beside_lapack(std::int64_t elements) {
  return has_lapack<ExecutionSpace> && runs_at_once<ExecutionSpace> &&
         elements <= std::int64_t{1} << 24;
}

/// Whether LAPACK's integers hold a number.
inline bool fits_lapack(std::int64_t number) {
  return number <= std::numeric_limits<int>::max();
}

/// The functions of LAPACK for a scalar type. Matrices are stored by columns,
/// and arguments are LAPACK's; each returns `info`, where there is one.
template <class Scalar>
struct Lapack;

}  // namespace Detail
}  // namespace Strata

#if STRATA_ENABLE_LAPACK

// The lengths of character arguments come last, as Fortran compilers pass them.
#define STRATA_IMPL_DECLARE_LAPACK(letter, Scalar)                             \
  extern "C" {                                                                 \
  void letter##gbtrf_(const int* m, const int* n, const int* kl,               \
                      const int* ku, Scalar* ab, const int* ldab, int* ipiv,   \
                      int* info);                                              \
  void letter##gbtrs_(const char* trans, const int* n, const int* kl,          \
                      const int* ku, const int* nrhs, const Scalar* ab,        \
                      const int* ldab, const int* ipiv, Scalar* b,             \
                      const int* ldb, int* info, std::size_t);                 \
  void letter##getrf_(const int* m, const int* n, Scalar* a, const int* lda,   \
                      int* ipiv, int* info);                                   \
  void letter##getrs_(const char* trans, const int* n, const int* nrhs,        \
                      const Scalar* a, const int* lda, const int* ipiv,        \
                      Scalar* b, const int* ldb, int* info, std::size_t);      \
  void letter##laswp_(const int* n, Scalar* a, const int* lda, const int* k1,  \
                      const int* k2, const int* ipiv, const int* incx);        \
  void letter##trsm_(const char* side, const char* uplo, const char* trans,    \
                     const char* diag, const int* m, const int* n,             \
                     const Scalar* alpha, const Scalar* a, const int* lda,     \
                     Scalar* b, const int* ldb, std::size_t, std::size_t,      \
                     std::size_t, std::size_t);                                \
  void letter##gemm_(const char* transa, const char* transb, const int* m,     \
                     const int* n, const int* k, const Scalar* alpha,          \
                     const Scalar* a, const int* lda, const Scalar* b,         \
                     const int* ldb, const Scalar* beta, Scalar* c,            \
                     const int* ldc, std::size_t, std::size_t);                \
  void letter##gemv_(const char* trans, const int* m, const int* n,            \
                     const Scalar* alpha, const Scalar* a, const int* lda,     \
                     const Scalar* x, const int* incx, const Scalar* beta,     \
                     Scalar* y, const int* incy, std::size_t);                 \
  }                                                                            \
  namespace Strata {                                                           \
  namespace Detail {                                                           \
  template <>                                                                  \
  struct Lapack<Scalar> {                                                      \
    static int gbtrf(int n, int kl, int ku, Scalar* ab, int ldab, int* ipiv) { \
      int info = 0;                                                            \
      letter##gbtrf_(&n, &n, &kl, &ku, ab, &ldab, ipiv, &info);                \
      return info;                                                             \
    }                                                                          \
    static int gbtrs(int n, int kl, int ku, int nrhs, const Scalar* ab,        \
                     int ldab, const int* ipiv, Scalar* b, int ldb) {          \
      int info = 0;                                                            \
      letter##gbtrs_("N", &n, &kl, &ku, &nrhs, ab, &ldab, ipiv, b, &ldb,       \
                     &info, 1);                                                \
      return info;                                                             \
    }                                                                          \
    static int getrf(int m, int n, Scalar* a, int lda, int* ipiv) {            \
      int info = 0;                                                            \
      letter##getrf_(&m, &n, a, &lda, ipiv, &info);                            \
      return info;                                                             \
    }                                                                          \
    static int getrs(int n, int nrhs, const Scalar* a, int lda,                \
                     const int* ipiv, Scalar* b, int ldb) {                    \
      int info = 0;                                                            \
      letter##getrs_("N", &n, &nrhs, a, &lda, ipiv, b, &ldb, &info, 1);        \
      return info;                                                             \
    }                                                                          \
    /* Exchanges row k and row ipiv[k] - 1, for k from 0 to count - 1. */      \
    static void laswp(int n, Scalar* a, int lda, int count, const int* ipiv) { \
      const int one = 1;                                                       \
      letter##laswp_(&n, a, &lda, &one, &count, ipiv, &one);                   \
    }                                                                          \
    /* B = T^-1 B, for T upper or unit lower triangular, m x m. */             \
    static void trsm(bool upper, int m, int n, const Scalar* t, int ldt,       \
                     Scalar* b, int ldb) {                                     \
      const Scalar one(1);                                                     \
      letter##trsm_("L", upper ? "U" : "L", "N", upper ? "N" : "U", &m, &n,    \
                    &one, t, &ldt, b, &ldb, 1, 1, 1, 1);                       \
    }                                                                          \
    /* C -= A B, for A m x k. */                                               \
    static void subtract_product(int m, int n, int k, const Scalar* a,         \
                                 int lda, const Scalar* b, int ldb, Scalar* c, \
                                 int ldc) {                                    \
      const Scalar minus_one(-1), one(1);                                      \
      letter##gemm_("N", "N", &m, &n, &k, &minus_one, a, &lda, b, &ldb, &one,  \
                    c, &ldc, 1, 1);                                            \
    }                                                                          \
    /* y += A x, for A m x n. */                                               \
    static void add_product(int m, int n, const Scalar* a, int lda,            \
                            const Scalar* x, Scalar* y) {                      \
      const Scalar one(1);                                                     \
      const int step = 1;                                                      \
      letter##gemv_("N", &m, &n, &one, a, &lda, x, &step, &one, y, &step, 1);  \
    }                                                                          \
  };                                                                           \
  }                                                                            \
  }

STRATA_IMPL_DECLARE_LAPACK(s, float)
STRATA_IMPL_DECLARE_LAPACK(d, double)
STRATA_IMPL_DECLARE_LAPACK(c, Kokkos::complex<float>)
STRATA_IMPL_DECLARE_LAPACK(z, Kokkos::complex<double>)
#undef STRATA_IMPL_DECLARE_LAPACK

#endif

#endif
