// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference of band solves: that it is LU, and that BandSolver's tiles give
// its answers.
#include <gtest/gtest.h>

#include <Strata_BandSolver.hpp>

#include "../perf_test/detail/Strata_PerfRowByRowBand.hpp"
#include "BandMatrix.hpp"
#include "RandomSeed.hpp"

namespace Strata {
namespace BandTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;

template <class Scalar>
class BandRowByRow : public testing::Test {};
using Scalars = testing::Types<float, double, Kokkos::complex<double>>;
TYPED_TEST_SUITE(BandRowByRow, Scalars);

struct Shape {
  int n, kl, ku;
};
const Shape shapes[] = {{1, 0, 0},   {2, 1, 0},    {3, 0, 2},    {6, 5, 5},
                        {40, 3, 9},  {70, 33, 1},  {97, 64, 32}, {130, 0, 0},
                        {160, 7, 7}, {200, 90, 65}};

template <class Scalar>
using Band = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Memory>;
template <class Scalar>
PerfTest::RowByRowBand<Scalar> reference_of(const Band<Scalar>& ab,
                                            const Shape& s) {
  return {ab.data(), static_cast<std::int64_t>(ab.stride(1)), s.n, s.kl, s.ku};
}
template <class Scalar>
Kokkos::View<Scalar*, Memory> on_device(const std::vector<Scalar>& from) {
  const Kokkos::View<Scalar*, Memory> to("b", from.size());
  const auto host = Kokkos::create_mirror_view(to);
  std::copy(from.begin(), from.end(), host.data());
  Kokkos::deep_copy(to, host);
  return to;
}
template <class Scalar>
std::vector<Scalar> on_host(const Kokkos::View<Scalar*, Memory>& from) {
  const auto host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), from);
  return {host.data(), host.data() + host.extent(0)};
}

/// The largest |L U - A| over the sum of |L| |U| of the element.
template <class Scalar>
double product_error(const HostBand<Scalar>& A, const Band<Scalar>& ab) {
  using Traits = ScalarTraits<Scalar>;
  const auto lu = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ab);
  const auto at = [&](int i, int j) {
    return A.holds(i, j) ? Traits::widen(lu(A.ku + i - j, j))
                         : typename Traits::Wide(0);
  };
  long double worst = 0;
  for (int i = 0; i < A.n; ++i)
    for (int j = 0; j < A.n; ++j) {
      typename Traits::Wide sum = 0;
      long double size = 0;
      for (int k = 0; k <= std::min(i, j); ++k) {
        const auto term =
            (k == i ? typename Traits::Wide(1) : at(i, k)) * at(k, j);
        sum += term;
        size += std::abs(term);
      }
      const long double off = std::abs(sum - Traits::widen(A.at(i, j)));
      if (off > 0) worst = std::max(worst, size > 0 ? off / size : 1e9L);
      if (std::isnan(off)) return std::numeric_limits<double>::infinity();
    }
  return static_cast<double>(worst);
}

TYPED_TEST(BandRowByRow, FactorsMultiplyToTheMatrixInEachOfItsForms) {
  using Scalar = TypeParam;
  std::mt19937 random(random_seed());
  for (const auto& s : shapes) {
    SCOPED_TRACE(std::to_string(s.n) + " rows, " + std::to_string(s.kl) +
                 " and " + std::to_string(s.ku) + " diagonals");
    const auto A = HostBand<Scalar>::random(
        s.n, s.kl, s.ku, HostBand<Scalar>::Dominance::rows, random);
    const auto b = random_vector<Scalar>(s.n, random);
    for (const bool by_element : {false, true}) {
      const auto ab = to_band_view<Scalar, Space>(A);
      const PerfTest::InParallel<Space> parallel{Space()};
      const auto lu = reference_of<Scalar>(ab, s);
      PerfTest::factorize_row_by_row(lu, parallel, by_element);
      EXPECT_LE(product_error(A, ab), tolerance<Scalar>());
      const auto x = on_device(b);
      PerfTest::solve_row_by_row(lu, x.data(), parallel);
      EXPECT_LE(A.backward_error(on_host(x), b), tolerance<Scalar>());
    }
  }
}

TYPED_TEST(BandRowByRow, OneThreadGivesTheBitsOfThreadsThatShareRows) {
  using Scalar = TypeParam;
  using Host = Kokkos::DefaultHostExecutionSpace;
  std::mt19937 random(random_seed());
  const Shape s{150, 21, 34};
  const auto A = HostBand<Scalar>::random(
      s.n, s.kl, s.ku, HostBand<Scalar>::Dominance::columns, random);
  const auto b = random_vector<Scalar>(s.n, random);
  const auto solve = [&](const auto& each) {
    const auto ab = to_band_view<Scalar, Host>(A);
    const PerfTest::RowByRowBand<Scalar> lu{
        ab.data(), static_cast<std::int64_t>(ab.stride(1)), s.n, s.kl, s.ku};
    PerfTest::factorize_row_by_row(lu, each);
    auto x = b;
    PerfTest::solve_row_by_row(lu, x.data(), each);
    return x;
  };
  EXPECT_EQ(solve(PerfTest::OneThread()),
            solve(PerfTest::InParallel<Host>{Host()}));
}

/// Both have a backward error of some roundings, so answers differ by no more
/// than the condition of the matrix allows, which is that of a dominant one:
/// the largest sum of magnitudes of a row over the smallest excess of the
/// diagonal.
TYPED_TEST(BandRowByRow, TilesGiveTheAnswersOfTheReference) {
  using Scalar = TypeParam;
  using Traits = ScalarTraits<Scalar>;
  std::mt19937 random(random_seed());
  const Space exec;
  for (const auto& s : shapes)
    for (const int tile : {32, 64}) {
      SCOPED_TRACE(std::to_string(s.n) + " rows, " + std::to_string(s.kl) +
                   " and " + std::to_string(s.ku) + " diagonals, tiles of " +
                   std::to_string(tile));
      const auto A = HostBand<Scalar>::random(
          s.n, s.kl, s.ku, HostBand<Scalar>::Dominance::rows, random);
      const auto b = random_vector<Scalar>(s.n, random);
      BandOptions options;
      options.method = BandMethod::tiles;
      options.tile = tile;
      const auto ab = to_band_view<Scalar, Space>(A);
      const BandSolver solver(exec, ab, s.kl, s.ku, options);
      const auto of_b = on_device(b);
      const Kokkos::View<Scalar*, Memory> x("x", s.n);
      solver.solve(exec, of_b, x);
      const auto lu = reference_of<Scalar>(ab, s);
      const PerfTest::InParallel<Space> parallel{exec};
      PerfTest::factorize_row_by_row(lu, parallel);
      PerfTest::solve_row_by_row(lu, of_b.data(), parallel);
      const auto found = on_host(x), expected = on_host(of_b);

      long double largest_sum = 0, excess = 1e300L, size = 0, off = 0;
      for (int i = 0; i < s.n; ++i) {
        long double sum = 0;
        for (int j = 0; j < s.n; ++j)
          if (j != i) sum += std::abs(Traits::widen(A.at(i, j)));
        const long double pivot = std::abs(Traits::widen(A.at(i, i)));
        largest_sum = std::max(largest_sum, sum + pivot);
        excess = std::min(excess, pivot - sum);
        size = std::max<long double>(size, modulus(Traits::widen(expected[i])));
        const long double distance =
            std::abs(Traits::widen(found[i]) - Traits::widen(expected[i]));
        ASSERT_FALSE(std::isnan(distance)) << i;
        off = std::max(off, distance);
      }
      ASSERT_GT(excess, 0);
      EXPECT_LE(static_cast<double>(off / size),
                static_cast<double>(2 * tolerance<Scalar>() *
                                    (largest_sum / excess)));
    }
}

}  // namespace
}  // namespace BandTest
}  // namespace Strata
