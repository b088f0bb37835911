// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_HOST_DENSE_HPP
#define STRATA_PERF_HOST_DENSE_HPP

#include <detail/Strata_PerfDenseProblem.hpp>
#include <utility>

#ifdef STRATA_PERF_LAPACK
#include <detail/Strata_PerfLapack.hpp>
#endif

namespace Strata {
namespace PerfTest {

/// What host algorithms share: copies of A and B in host memory, and the way of
/// the answer back. Neither copy is timed.
template <class Scalar>
class HostDenseAlgorithm : public DenseAlgorithm<Scalar> {
 public:
  explicit HostDenseAlgorithm(const DenseProblem<Scalar>& problem)
      : problem_(problem),
        a_(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), problem.A)),
        b_(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), problem.B)),
        work_("work", a_.extent(0), a_.extent(1)),
        x_("x", b_.extent(0), b_.extent(1)) {}
  void publish() override { Kokkos::deep_copy(problem_.X, x_); }

 protected:
  using Matrix = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
  void take_copies() {
    std::copy(a_.data(), a_.data() + a_.size(), work_.data());
    std::copy(b_.data(), b_.data() + b_.size(), x_.data());
  }
  const DenseProblem<Scalar>& problem_;
  Matrix a_, b_, work_, x_;
};

/// The thesis's program for the CPU (its Listing 5) with partial pivoting: one
/// thread, a row at a time.
template <class Scalar>
class TextbookGaussJordan : public HostDenseAlgorithm<Scalar> {
  using Base = HostDenseAlgorithm<Scalar>;
  using Base::work_, Base::x_;

 public:
  using Base::Base;
  void run() override {
    this->take_copies();
    const std::size_t n = work_.extent(0), k = x_.extent(1);
    for (std::size_t c = 0; c < n; ++c) {
      std::size_t p = c;
      for (std::size_t i = c + 1; i < n; ++i)
        if (Detail::one_norm(work_(i, c)) > Detail::one_norm(work_(p, c)))
          p = i;
      const Scalar pivot = work_(p, c);
      for (std::size_t j = c; j < n; ++j) {
        std::swap(work_(c, j), work_(p, j));
        work_(c, j) /= pivot;
      }
      for (std::size_t j = 0; j < k; ++j) {
        std::swap(x_(c, j), x_(p, j));
        x_(c, j) /= pivot;
      }
      // By columns, as the matrix is stored.
      for (std::size_t j = c + 1; j < n; ++j) eliminate(&work_(0, j), c, n);
      for (std::size_t j = 0; j < k; ++j) eliminate(&x_(0, j), c, n);
    }
  }

 private:
  void eliminate(Scalar* column, std::size_t c, std::size_t n) const {
    const Scalar* const multipliers = &work_(0, c);
    const Scalar value = column[c];
    for (std::size_t i = 0; i < n; ++i)
      if (i != c) column[i] -= multipliers[i] * value;
  }
};

#ifdef STRATA_PERF_LAPACK
/// gesv of the LAPACK that CMake found.
template <class Scalar>
class LapackGesv : public HostDenseAlgorithm<Scalar> {
  using Base = HostDenseAlgorithm<Scalar>;
  using Base::work_, Base::x_;

 public:
  using Base::Base;
  void run() override {
    this->take_copies();
    const int n = static_cast<int>(work_.extent(0));
    const int columns = static_cast<int>(x_.extent(1));
    pivots_.resize(n);
    int info = 0;
    Lapack<Scalar>::gesv(&n, &columns, work_.data(), &n, pivots_.data(),
                         x_.data(), &n, &info);
    check_lapack("gesv", info);
  }

 private:
  std::vector<int> pivots_;
};

#endif

}  // namespace PerfTest
}  // namespace Strata

#endif
