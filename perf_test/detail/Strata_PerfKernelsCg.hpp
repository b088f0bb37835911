// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_KERNELS_CG_HPP
#define STRATA_PERF_KERNELS_CG_HPP

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_update.hpp>
#include <KokkosSparse_spmv.hpp>
#include <algorithm>
#include <cmath>

namespace Strata {
namespace PerfTest {

/// Conjugate gradients as one writes them with Kokkos Kernels: a product, two
/// dots that the host waits for and three vector updates an iteration.
template <class Matrix>
class KokkosKernelsCg {
 public:
  using Scalar = typename Matrix::non_const_value_type;
  using Vector = Kokkos::View<Scalar*, typename Matrix::execution_space>;

  explicit KokkosKernelsCg(const Matrix& A)
      : A_(A),
        r_("r", A.numRows()),
        p_("p", A.numRows()),
        w_("w", A.numRows()) {}

  /// Solves from the x given; returns the iterations.
  /// @param residual set to that of the recursion, relative to b
  int solve(const Vector& b, const Vector& x, double tolerance,
            int max_iterations, double& residual) {
    using std::abs;  // Kokkos::abs of complex numbers is found by itself
    const Scalar one(1);
    KokkosSparse::spmv("N", one, A_, x, Scalar(0), w_);
    KokkosBlas::update(one, b, -one, w_, Scalar(0), r_);
    Kokkos::deep_copy(typename Matrix::execution_space(), p_, r_);
    Scalar rho = KokkosBlas::dot(r_, r_);
    const double size = static_cast<double>(abs(KokkosBlas::dot(b, b)));
    const double limit = tolerance * tolerance * size;
    int it = 0;
    for (; it < max_iterations && !(static_cast<double>(abs(rho)) <= limit);
         ++it) {
      KokkosSparse::spmv("N", one, A_, p_, Scalar(0), w_);
      const Scalar alpha = rho / KokkosBlas::dot(p_, w_);
      KokkosBlas::axpby(alpha, p_, one, x);
      KokkosBlas::axpby(-alpha, w_, one, r_);
      const Scalar next = KokkosBlas::dot(r_, r_);
      KokkosBlas::axpby(one, r_, next / rho, p_);
      rho = next;
    }
    Kokkos::fence();
    residual = std::sqrt(static_cast<double>(abs(rho)) / size);
    return it;
  }

 private:
  Matrix A_;
  Vector r_, p_, w_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
