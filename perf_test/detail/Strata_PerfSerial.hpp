// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_SERIAL_HPP
#define STRATA_PERF_SERIAL_HPP

#include <detail/Strata_PerfAlgorithm.hpp>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Plain substitution by one thread of the host, from and to host memory. On
/// a host backend b and x are the problem's own; beside a device the vectors
/// are copies on the host, and their way there and back is not timed.
template <class Scalar>
class SerialSubstitution : public Algorithm<Scalar> {
 public:
  explicit SerialSubstitution(const Problem<Scalar>& problem)
      : problem_(problem), x_(Kokkos::create_mirror_view(problem.x)) {}

  void analyse() override {}
  void update() override {}
  void solve() override {
    const std::size_t rows = static_cast<std::size_t>(problem_.rows());
    for (int column = 0; column < problem_.rhs(); ++column)
      substitute(problem_.uplo, problem_.host_row_map, problem_.host_entries,
                 problem_.host_values, problem_.host_b.data() + column * rows,
                 x_.data() + column * rows, [](const Scalar& s) { return s; });
  }
  bool on_host() const override { return true; }
  void publish() override { Kokkos::deep_copy(problem_.x, x_); }

 private:
  const Problem<Scalar>& problem_;
  decltype(Kokkos::create_mirror_view(typename Problem<Scalar>::Vectors())) x_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
