// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KOKKOS_KERNELS_PRECONDITIONER_HPP
#define STRATA_KOKKOS_KERNELS_PRECONDITIONER_HPP

// Not part of Strata.hpp: programs that call Kokkos Kernels' gmres include it.

#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <core/interface/Made.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/krylov/solve/KrylovOperator.hpp>
#if __has_include(<KokkosSparse_Preconditioner.hpp>)
#include <KokkosSparse_Preconditioner.hpp>
#endif

namespace Strata {

#if __has_include(<KokkosSparse_Preconditioner.hpp>)

namespace Detail {

/// y = beta y + alpha z, elements of y not being read where beta is 0.
template <class Scalar>
struct CombineWithResult {
  const Scalar* z;
  Scalar* y;
  Scalar alpha, beta;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    y[i] = beta == Scalar(0) ? alpha * z[i] : beta * y[i] + alpha * z[i];
  }
};

}  // namespace Detail

/// Anything with apply(exec, r, z), z = M^-1 r, such as
/// IncompleteFactorization, as the preconditioner that
/// KokkosSparse::Experimental::gmres takes. Needs Kokkos Kernels 4.0 or later.
/// (Strata's own Gmres takes them as they are.)
///
/// One made without arguments is empty: to apply it is a HandleError.
///
/// @tparam Matrix  the KokkosSparse::CrsMatrix that gmres is called with
template <class Matrix>
class KokkosKernelsPreconditioner final
    : public KokkosSparse::Experimental::Preconditioner<Matrix> {
 public:
  using scalar_type = std::remove_const_t<typename Matrix::value_type>;
  using execution_space = typename Matrix::execution_space;
  using memory_space = typename Matrix::memory_space;

  /// An empty one.
  KokkosKernelsPreconditioner() = default;
  /// @param exec  where it is applied; gmres works on the default instance
  /// @param M     has to live as long as this object; new values of it are
  ///              taken as they come
  template <class Preconditioner>
  KokkosKernelsPreconditioner(const execution_space& exec,
                              const Preconditioner& M)
      : exec_(exec), apply_(Detail::krylov_apply(M)) {}
  /// One that is gone when it is to be applied.
  template <class Preconditioner>
  KokkosKernelsPreconditioner(const execution_space& exec,
                              const Preconditioner&& M) = delete;

  /// y = beta y + alpha M^-1 x, asynchronously. Releases of Kokkos Kernels
  /// differ in the type of the views: one of the two is what gmres calls.
  /// @throws OptionError for a transposed M, HandleError, MemoryError for a
  ///   vector, which is made where alpha is not 1 or beta not 0 and kept; what
  ///   M throws
  void apply(const Kokkos::View<const scalar_type*, execution_space>& x,
             const Kokkos::View<scalar_type*, execution_space>& y,
             const char transM[] = "N", scalar_type alpha = scalar_type(1),
             scalar_type beta = scalar_type(0)) const {
    apply_to(x, y, transM, alpha, beta);
  }
  void apply(
      const Kokkos::View<const scalar_type*,
                         Kokkos::Device<execution_space, memory_space>>& x,
      const Kokkos::View<scalar_type*,
                         Kokkos::Device<execution_space, memory_space>>& y,
      const char transM[] = "N", scalar_type alpha = scalar_type(1),
      scalar_type beta = scalar_type(0)) const {
    apply_to(x, y, transM, alpha, beta);
  }

  // M has been made.
  void setParameters() override {}
  void initialize() override {}
  bool isInitialized() const override { return bool(apply_); }
  void compute() override {}
  bool isComputed() const override { return bool(apply_); }

 private:
  using Apply = Detail::KrylovApply<scalar_type, execution_space>;
  using Vector = Detail::KrylovVector<scalar_type, execution_space>;

  template <class X, class Y>
  void apply_to(const X& x, const Y& y, const char* trans, scalar_type alpha,
                scalar_type beta) const {
    Detail::require_made(apply_, "KokkosKernelsPreconditioner", "exec, M");
    if (trans[0] != 'N' && trans[0] != 'n')
      throw OptionError("transM",
                        std::string("\"") + trans + "\" asks for a transpose",
                        "pass \"N\"");
    // M takes vectors that may be written, and leaves x alone.
    const auto n = x.extent(0);
    const Vector from(const_cast<scalar_type*>(x.data()), n);
    const Vector to(y.data(), n);
    if (alpha == scalar_type(1) && beta == scalar_type(0))
      return apply_(exec_, from, to);
    if (between_.extent(0) != n)
      between_ = Detail::with_memory_errors("a preconditioner", [&] {
        return Detail::make_unfilled<Vector>(
            "Strata::KokkosKernelsPreconditioner::between",
            static_cast<std::int64_t>(n));
      });
    apply_(exec_, from, between_);
    Kokkos::parallel_for("Strata::KokkosKernelsPreconditioner::combine",
                         Kokkos::RangePolicy<execution_space, std::int64_t>(
                             exec_, 0, static_cast<std::int64_t>(n)),
                         Detail::CombineWithResult<scalar_type>{
                             between_.data(), to.data(), alpha, beta});
  }

  execution_space exec_;
  Apply apply_;
  mutable Vector between_;
};

#else

/// Only there with a Kokkos Kernels that has gmres.
template <class Matrix>
class KokkosKernelsPreconditioner {
  static_assert(sizeof(Matrix) == 0,
                "Strata: KokkosKernelsPreconditioner needs Kokkos Kernels 4.0 "
                "or later, which has gmres");
};

#endif

}  // namespace Strata

#endif
