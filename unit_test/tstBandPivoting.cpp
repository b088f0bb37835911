// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_BandSolver.hpp>

#include "BandMatrix.hpp"
#include "RandomSeed.hpp"
#include "VectorBlock.hpp"

#ifdef STRATA_TEST_LAPACK
extern "C" {
void dgbsv_(const int*, const int*, const int*, const int*, double*, const int*,
            int*, double*, const int*, int*);
}
#endif

namespace Strata {
namespace BandTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using SolverTest::Storage;
using SolverTest::VectorBlock;

template <class Scalar>
class BandPivotingTest : public testing::Test {};
using Scalars = testing::Types<float, Kokkos::complex<double>>;
TYPED_TEST_SUITE(BandPivotingTest, Scalars);

struct Shape {
  int n, kl, ku;
};
const Shape shapes[] = {{1, 0, 0},     {2, 1, 0},    {3, 0, 2},
                        {33, 4, 7},    {64, 63, 63}, {100, 40, 3},
                        {96, 0, 5},    {150, 33, 0}, {200, 3, 50},
                        {260, 31, 32}, {257, 1, 1},  {150, 40, 70}};

BandOptions pivoting() {
  BandOptions options = SolverTest::band_options();
  options.method = BandMethod::partial_pivoting;
  return options;
}

/// Gaussian elimination with partial pivoting of the whole matrix, row by row.
/// Gives the row that each row was exchanged with, up to the first step whose
/// choice rounding may decide in Scalar: the two best within a part in
/// 1 / margin of each other, or next to nothing left of the column.
template <class Scalar>
std::vector<std::int64_t> dense_pivots(const HostBand<Scalar>& A) {
  using Traits = ScalarTraits<Scalar>;
  const double margin = std::sqrt(static_cast<double>(
      std::numeric_limits<typename Traits::Real>::epsilon()));
  std::vector<std::vector<typename Traits::Wide>> a(A.n);
  for (int i = 0; i < A.n; ++i)
    for (int j = 0; j < A.n; ++j) a[i].push_back(Traits::widen(A.at(i, j)));
  const auto size = [](const auto& v) {
    return std::abs(std::real(v)) + std::abs(std::imag(v));
  };
  std::vector<std::int64_t> pivots;
  for (int k = 0; k < A.n; ++k) {
    int p = k;
    for (int i = k + 1; i < A.n; ++i)
      if (size(a[i][k]) > size(a[p][k])) p = i;
    bool decided = size(a[p][k]) > margin;
    for (int i = k; i < A.n; ++i)
      decided =
          decided && (i == p || size(a[i][k]) < (1 - margin) * size(a[p][k]));
    if (!decided) break;
    pivots.push_back(p);
    std::swap(a[k], a[p]);
    for (int i = k + 1; i < A.n; ++i) {
      const auto factor = a[i][k] / a[k][k];
      if (factor == typename Traits::Wide(0)) continue;
      for (int j = k + 1; j < A.n; ++j) a[i][j] -= factor * a[k][j];
    }
  }
  return pivots;
}

TYPED_TEST(BandPivotingTest, TakesThePivotsOfTheDenseElimination) {
  using Scalar = TypeParam;
  std::size_t compared = 0;
  using Band = HostBand<Scalar>;
  std::mt19937 random(random_seed());
  for (const auto& s : shapes) {
    SCOPED_TRACE(s.n);
    auto A = Band::random(s.n, s.kl, s.ku, Band::Dominance::none, random);
    const auto ab = to_band_view<Scalar, Space>(A);
    const BandSolver solver(Space(), ab, s.kl, s.ku, pivoting());
    const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                           solver.pivots());
    ASSERT_EQ(found.extent(0), static_cast<std::size_t>(s.n));
    const auto expected = dense_pivots(A);
    for (int i = 0; i < s.n; ++i) {
      EXPECT_GE(found(i), i);
      EXPECT_LE(found(i), i + s.kl);
    }
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(found(i), expected[i]) << i;
    compared += expected.size();
  }
  EXPECT_GT(compared, 300u);
}

TYPED_TEST(BandPivotingTest, SolvesAnyMatrix) {
  using Scalar = TypeParam;
  using Band = HostBand<Scalar>;
  std::mt19937 random(random_seed());
  const Space exec;
  for (const auto& s : shapes) {
    SCOPED_TRACE(s.n);
    const auto A = Band::random(s.n, s.kl, s.ku, Band::Dominance::none, random);
    const auto ab = to_band_view<Scalar, Space>(A, s.kl);
    const BandSolver solver(exec, ab, s.kl, s.ku, pivoting());
    for (const int columns : {1, 19}) {
      const auto b = random_vector<Scalar>(s.n * columns, random);
      const VectorBlock<Scalar, Space> x(Storage::strided_by_rows, s.n,
                                         columns);
      x.set(b);
      x.with_view([&](const auto& view) { solver.solve(exec, view, view); });
      // Partial pivoting lets elements grow a little with the size.
      EXPECT_LE(A.backward_error(x.get(), b), 50 * tolerance<Scalar>());
      EXPECT_TRUE(x.surroundings_intact());
    }
  }
}

/// Narrow bands of all numbers of diagonals, down to matrices that are full.
TYPED_TEST(BandPivotingTest, SolvesAndTakesThePivotsOfNarrowBands) {
  using Scalar = TypeParam;
  using Band = HostBand<Scalar>;
  std::mt19937 random(random_seed());
  const Space exec;
  std::size_t compared = 0;
  for (int kl = 0; kl <= 11; ++kl)
    for (const int ku : {0, 1, 4, 13})
      for (const int n : {std::max(kl, ku) + 1, 40, 41}) {
        SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(kl) +
                     " and " + std::to_string(ku) + " diagonals");
        const auto A = Band::random(n, kl, ku, Band::Dominance::none, random);
        const auto expected = dense_pivots(A);
        // Many are next to singular where ku is 0.
        if (expected.size() < static_cast<std::size_t>(n)) continue;
        const BandSolver solver(exec, to_band_view<Scalar, Space>(A), kl, ku,
                                pivoting());
        const auto found = Kokkos::create_mirror_view_and_copy(
            Kokkos::HostSpace(), solver.pivots());
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_EQ(found(i), expected[i]) << i;
        compared += expected.size();
        const auto b = random_vector<Scalar>(n, random);
        const VectorBlock<Scalar, Space> x(Storage::rank1, n, 1);
        x.set(b);
        x.with_view([&](const auto& view) { solver.solve(exec, view, view); });
        EXPECT_LE(A.backward_error(x.get(), b), 50 * tolerance<Scalar>());
      }
  EXPECT_GT(compared, 1500u) << compared;
}

/// A matrix that elimination without exchanges can't take: zero diagonal.
TYPED_TEST(BandPivotingTest, ExchangesWhereTheDiagonalIsZero) {
  using Scalar = TypeParam;
  const Space exec;
  for (const int n : {2, 32, 66}) {
    HostBand<Scalar> A(n, 1, 1);
    for (int i = 0; i < n; i += 2) A(i, i + 1) = A(i + 1, i) = Scalar(i + 1);
    const BandSolver solver(exec, to_band_view<Scalar, Space>(A), 1, 1,
                            pivoting());
    std::vector<Scalar> b(n, Scalar(1));
    const VectorBlock<Scalar, Space> x(Storage::rank1, n, 1);
    x.set(b);
    x.with_view([&](const auto& view) { solver.solve(exec, view, view); });
    EXPECT_LE(A.backward_error(x.get(), b), tolerance<Scalar>());
    BandOptions options = SolverTest::band_options();
    options.require_dominance = false;
    EXPECT_THROW((BandSolver<Scalar, Space>(
                     exec, to_band_view<Scalar, Space>(A), 1, 1, options)),
                 FactorizationError);
  }
}

/// The scalars that the other programs leave out, without pivoting.
TYPED_TEST(BandPivotingTest, SolvesDominantMatricesWithoutPivoting) {
  using Scalar = TypeParam;
  using Band = HostBand<Scalar>;
  std::mt19937 random(random_seed());
  const Space exec;
  for (const Shape& s : {Shape{150, 20, 31}, Shape{200, 66, 100}})
    for (const int tile : {32, 64}) {
      const auto A =
          Band::random(s.n, s.kl, s.ku, Band::Dominance::columns, random);
      BandOptions options = SolverTest::band_options();
      options.tile = tile;
      options.max_right_hand_sides = 70;
      const BandSolver solver(exec, to_band_view<Scalar, Space>(A), s.kl, s.ku,
                              options);
      for (const int columns : {1, 7, 70}) {
        const auto b = random_vector<Scalar>(s.n * columns, random);
        const VectorBlock<Scalar, Space> x(Storage::left, s.n, columns);
        x.set(b);
        x.with_view([&](const auto& view) { solver.solve(exec, view, view); });
        EXPECT_LE(A.backward_error(x.get(), b), tolerance<Scalar>());
      }
    }
}

TEST(BandPivoting, GivesTheAnswerOfDgbsv) {
#ifndef STRATA_TEST_LAPACK
  GTEST_SKIP() << "built without LAPACK: install libopenblas-dev";
#else
  using Band = HostBand<double>;
  std::mt19937 random(random_seed());
  const Space exec;
  for (const auto& s : shapes) {
    SCOPED_TRACE(s.n);
    const auto A = Band::random(s.n, s.kl, s.ku, Band::Dominance::none, random);
    constexpr int columns = 3;
    const auto b = random_vector<double>(s.n * columns, random);
    const int ldab = 2 * s.kl + s.ku + 1;
    std::vector<double> ab(ldab * s.n), expected = b;
    for (int j = 0; j < s.n; ++j)
      for (int i = 0; i < s.n; ++i)
        if (A.holds(i, j)) ab[j * ldab + s.kl + s.ku + i - j] = A.at(i, j);
    std::vector<int> ipiv(s.n);
    int info = -1;
    dgbsv_(&s.n, &s.kl, &s.ku, &columns, ab.data(), &ldab, ipiv.data(),
           expected.data(), &s.n, &info);
    ASSERT_EQ(info, 0);
    const BandSolver solver(exec, to_band_view<double, Space>(A), s.kl, s.ku,
                            pivoting());
    const auto pivots = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                            solver.pivots());
    const std::size_t decided = dense_pivots(A).size();
    for (std::size_t i = 0; i < decided; ++i)
      EXPECT_EQ(pivots(i), ipiv[i] - 1) << i;
    const VectorBlock<double, Space> x(Storage::left, s.n, columns);
    x.set(b);
    x.with_view([&](const auto& view) { solver.solve(exec, view, view); });
    EXPECT_LE(A.backward_error(x.get(), b), 50 * tolerance<double>());
    EXPECT_LE(A.backward_error(expected, b), 50 * tolerance<double>());
  }
#endif
}

}  // namespace
}  // namespace BandTest
}  // namespace Strata
