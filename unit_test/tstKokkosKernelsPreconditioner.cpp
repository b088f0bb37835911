// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KrylovCases.hpp"

#include <Strata_KokkosKernelsPreconditioner.hpp>
#if __has_include(<KokkosSparse_gmres.hpp>)
#include <KokkosKernels_Handle.hpp>
#include <KokkosSparse_gmres.hpp>
#endif

namespace {

#if __has_include(<KokkosSparse_Preconditioner.hpp>)

template <class Scalar>
class KokkosKernelsPreconditioners : public testing::Test {};
TYPED_TEST_SUITE(KokkosKernelsPreconditioners, Scalars);

TYPED_TEST(KokkosKernelsPreconditioners, CombineWhatIsAppliedWithTheResult) {
  using Scalar = TypeParam;
  const Device exec;
  const auto crs =
      general<Scalar>("grid2d:9").template to_device<Crs<Scalar>>();
  const Strata::IncompleteFactorization lu(
      exec, crs, Strata::Factorization::incomplete_lu);
  const Strata::KokkosKernelsPreconditioner<Crs<Scalar>> M(exec, lu);
  EXPECT_TRUE(M.isComputed() && M.isInitialized());
  const auto n = static_cast<std::int64_t>(crs.numRows());
  const auto x = random_vector<Scalar>(n), before = random_vector<Scalar>(n);
  const Vector<Scalar> z("z", n), y("y", n);
  lu.apply(exec, x, z);
  exec.fence();
  const auto expected = on_host(z), old = on_host(before), of_x = on_host(x);
  const double eps = epsilon_of<Scalar>;
  for (const double alpha : {1., -2., 0.}) {
    for (const double beta : {0., 1., 0.5}) {
      // What is not to be read may be no number.
      if (beta == 0)
        Kokkos::deep_copy(y, Scalar(not_a_number));
      else
        Kokkos::deep_copy(y, before);
      M.apply(Kokkos::View<const Scalar*, Device>(x), y, "N", Scalar(alpha),
              Scalar(beta));
      exec.fence();
      const auto found = on_host(y);
      for (std::int64_t i = 0; i < n; ++i) {
        const auto by_hand =
            alpha * wide(expected[i]) + (beta == 0 ? 0. : beta * wide(old[i]));
        ASSERT_LE(std::abs(wide(found[i]) - by_hand),
                  8 * eps * (std::abs(wide(expected[i])) + 1))
            << alpha << ' ' << beta;
      }
    }
  }
  EXPECT_EQ(on_host(x), of_x) << "x was written";
  const Kokkos::View<const Scalar*, Device> from(x);
  for (const char* trans : {"T", "C"})
    EXPECT_THROW(M.apply(from, y, trans), Strata::OptionError);
  const Strata::KokkosKernelsPreconditioner<Crs<Scalar>> empty;
  EXPECT_FALSE(empty.isComputed());
  EXPECT_THROW(empty.apply(from, y), Strata::HandleError);
}

#if __has_include(<KokkosSparse_gmres.hpp>)
TEST(KokkosKernelsPreconditioner, SavesGmresIterations) {
  using Matrix = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
  using Memory = Device::memory_space;
  const Device exec;
  const auto host = convection<double>(30);
  auto A = host.to_device<Matrix>();
  auto b = random_vector<double>(host.rows);
  const Strata::IncompleteFactorization lu(
      exec, A, Strata::Factorization::incomplete_lu);
  Strata::KokkosKernelsPreconditioner<Matrix> M(exec, lu);
  int iterations[2];
  for (const bool with : {false, true}) {
    KokkosKernels::Experimental::KokkosKernelsHandle<int, int, double, Device,
                                                     Memory, Memory>
        handle;
    handle.create_gmres_handle(60, 1e-8);
    Vector<double> x("x", host.rows);
    KokkosSparse::Experimental::gmres(&handle, A, b, x, with ? &M : nullptr);
    iterations[with] = handle.get_gmres_handle()->get_num_iters();
    handle.destroy_gmres_handle();
    EXPECT_LE(relative_residual(host, on_host(b), on_host(x)), 2e-8);
  }
  EXPECT_LT(2 * iterations[1], iterations[0]);
}
#endif

#else

TEST(KokkosKernelsPreconditioner, IsLeftOut) {
  GTEST_SKIP() << "this Kokkos Kernels has no gmres";
}

#endif

}  // namespace
