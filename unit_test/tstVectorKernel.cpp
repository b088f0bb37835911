// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <kernels/krylov/solve/VectorKernel.hpp>

namespace Strata {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

/// Sums of 1, 2 and 3 for each element.
struct CountThrice {
  static constexpr int sums = 3;
  static constexpr bool late = false;
  double* found;
  struct Item {};
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION void load(std::int64_t, Item&) const {}
  KOKKOS_INLINE_FUNCTION void store(std::int64_t, const Item&,
                                    double (&sum)[3]) const {
    for (int s = 0; s < 3; ++s) sum[s] += s + 1;
  }
  KOKKOS_INLINE_FUNCTION void finish(const double (&sum)[3]) const {
    for (int s = 0; s < 3; ++s) found[s] = sum[s];
  }
};

// A solver that was made with an instance of fewer threads than it solves on.
TEST(VectorKernel, SumsAreOfNoMoreBlocksThanTheyAreMadeFor) {
  const Space exec;
  const std::int64_t n = 100000;
  Kokkos::View<double*, Space::memory_space> found("found", 3);
  for (const int blocks : {1, 2}) {
    const Detail::GridSum<Space::memory_space> small(blocks, 0);
    Detail::run_vector_kernel("count", exec, n, CountThrice{found.data()},
                              small);
    const auto host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), found);
    for (int s = 0; s < 3; ++s) EXPECT_EQ(host(s), double(n) * (s + 1));
  }
}

}  // namespace
}  // namespace Strata
