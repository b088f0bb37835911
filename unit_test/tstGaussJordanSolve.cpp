// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solutions and inverses by their residuals.
#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "DenseCases.hpp"

namespace Strata {
namespace DenseTest {
namespace {

template <class Layout, class Scalar>
HostDense<Scalar> solve(GaussJordan<Scalar, Space>& elimination,
                        const HostDense<Scalar>& a,
                        const HostDense<Scalar>& b) {
  const auto x = to_view<Scalar, Layout>(HostDense<Scalar>(b.rows, b.columns));
  elimination.solve(Space(), to_view<Scalar, Layout>(a),
                    to_view<Scalar, Layout>(b), x);
  return from_view(x);
}

template <class Scalar>
HostDense<Scalar> identity(std::int64_t n) {
  HostDense<Scalar> one(n, n);
  for (std::int64_t i = 0; i < n; ++i) one(i, i) = Scalar(1);
  return one;
}

template <class Scalar>
class GaussJordanSolution : public testing::Test {};
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;
TYPED_TEST_SUITE(GaussJordanSolution, Scalars);

TYPED_TEST(GaussJordanSolution, ResidualsOfSolutionAndInverseAreSmall) {
  // One object for all: its workspace grows, and is larger than needed.
  GaussJordan<TypeParam, Space> elimination(SolverTest::dense_options());
  for (const int n : {1, 2, 17, 32, 33, 130, 270, 64})
    for (const int k : {1, 5}) {
      SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(k));
      const auto a = random_dense<TypeParam>(n, n, n);
      const auto b = random_dense<TypeParam>(n, k, n + 1);
      const auto x = solve<Kokkos::LayoutLeft>(elimination, a, b);
      const double limit = 2 * std::sqrt(n) * epsilon<TypeParam>();
      EXPECT_LE(backward_error(a, x, b), limit);
      EXPECT_TRUE(x.same_bits(solve<Kokkos::LayoutRight>(elimination, a, b)));
      if (k > 1) continue;
      const auto in_place = to_view<TypeParam, Kokkos::LayoutRight>(a);
      elimination.invert(Space(), in_place, in_place);
      const auto inverse = from_view(in_place);
      EXPECT_LE(backward_error(a, inverse, identity<TypeParam>(n)), limit);
      const auto apart = to_view<TypeParam, Kokkos::LayoutLeft>(a);
      gauss_jordan_inverse(Space(), to_view<TypeParam, Kokkos::LayoutRight>(a),
                           apart, SolverTest::dense_options());
      EXPECT_TRUE(inverse.same_bits(from_view(apart)));
      if (this->HasFailure()) return;
    }
}

/// The largest of the columns' backward errors, one system each.
template <class Scalar>
double inverse_error(const HostDense<Scalar>& a, const HostDense<Scalar>& x) {
  const std::int64_t n = a.rows;
  const double of_a = largest_row_sum(a);
  double worst = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    HostDense<Scalar> unit(n, 1), column(n, 1);
    unit(j, 0) = Scalar(1);
    for (std::int64_t i = 0; i < n; ++i) column(i, 0) = x(i, j);
    const double error = backward_error(a, of_a, column, unit);
    if (!(error <= worst)) worst = error;
  }
  return worst;
}

/// Sizes about those of the blocks that a host's inverse is made of, and
/// several of them; the order of rows is far from that of pivots.
TYPED_TEST(GaussJordanSolution, InversesOfAllBlocksHaveSmallResiduals) {
  GaussJordan<TypeParam, Space> elimination(SolverTest::dense_options());
  for (const int n : {23, 24, 25, 49, 127, 129, 153, 255, 257, 385, 531}) {
    if (n > 300 && sizeof(TypeParam) != 8) continue;
    SCOPED_TRACE(n);
    const auto a = random_dense<TypeParam>(n, n, n);
    const auto view = to_view<TypeParam, Kokkos::LayoutLeft>(a);
    const Kokkos::View<TypeParam**, Kokkos::LayoutRight, Memory> by_rows("X", n,
                                                                         n);
    elimination.invert(Space(), view, by_rows);
    elimination.invert(Space(), view, view);
    const auto inverse = from_view(view);
    EXPECT_LE(inverse_error(a, inverse),
              2 * std::sqrt(n) * epsilon<TypeParam>());
    EXPECT_TRUE(inverse.same_bits(from_view(by_rows)));
  }
}

/// As many rows as one large team of a device has, and as several teams share,
/// which tell each other of their candidates for pivots.
template <class Scalar>
void expect_small_residuals_of_many_rows() {
  GaussJordan<Scalar, Space> elimination(SolverTest::dense_options());
  for (const int n : {600, 1024, 1025, 1300}) {
    SCOPED_TRACE(n);
    const auto a = random_dense<Scalar>(n, n, n);
    const auto b = random_dense<Scalar>(n, 1, n + 1);
    const auto x = solve<Kokkos::LayoutLeft>(elimination, a, b);
    EXPECT_LE(backward_error(a, x, b), 2 * std::sqrt(n) * epsilon<Scalar>());
    EXPECT_TRUE(x.same_bits(solve<Kokkos::LayoutLeft>(elimination, a, b)));
  }
}
TEST(GaussJordanSolve, ResidualsOfManyRowsAreSmall) {
  expect_small_residuals_of_many_rows<double>();
}
TEST(GaussJordanSolve, ResidualsOfManyRowsAreSmallInFloat) {
  expect_small_residuals_of_many_rows<float>();
}

/// Both parts of a complex number are zeros with a minus sign.
template <class Scalar>
Scalar negative_zero() {
  if constexpr (std::is_floating_point<Scalar>::value) {
    return Scalar(-0.0);
  } else {
    return Scalar(-0.0, -0.0);
  }
}

/// Zeros of either sign are smaller than any other entry. Each row of a
/// permutation has one entry that is not zero. No operation rounds.
TYPED_TEST(GaussJordanSolution, NegativeZerosAreNoPivots) {
  using Scalar = TypeParam;
  GaussJordan<Scalar, Space> elimination(SolverTest::dense_options());
  for (const int n : {2, 31, 70, 520}) {
    SCOPED_TRACE(n);
    HostDense<Scalar> a(n, n), b(n, 1), wanted(n, 1);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) a(i, j) = negative_zero<Scalar>();
      const std::int64_t column = n - 1 - i;
      a(i, column) = Scalar(i % 2 == 0 ? 2 : -0.5);
      wanted(column, 0) = Scalar(i + 1);
      b(i, 0) = a(i, column) * wanted(column, 0);
    }
    const auto x = solve<Kokkos::LayoutLeft>(elimination, a, b);
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(x(i, 0), wanted(i, 0));
    if (this->HasFailure()) return;
  }
}

/// Q1 diag(values) Q2 with reflections Q1, Q2: the values are the singular
/// values.
HostDense<double> with_singular_values(const std::vector<double>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  HostDense<double> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = values[i];
  for (const bool rows : {true, false}) {
    std::vector<double> v(n);
    double square = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      v[i] = random_scalar<double>(rows ? 41 : 42, i, 0);
      square += v[i] * v[i];
    }
    for (std::int64_t p = 0; p < n; ++p) {
      const auto at = [&](std::int64_t k) -> double& {
        return rows ? a(k, p) : a(p, k);
      };
      double dot = 0;
      for (std::int64_t k = 0; k < n; ++k) dot += v[k] * at(k);
      for (std::int64_t k = 0; k < n; ++k) at(k) -= 2 * dot / square * v[k];
    }
  }
  return a;
}

TEST(GaussJordanSolve, IsBackwardStableForGradedAndNearlySingularMatrices) {
  const int n = 200;
  std::vector<double> geometric(n), one_small(n, 1.0);
  for (int i = 0; i < n; ++i) geometric[i] = std::pow(1e-15, i / (n - 1.0));
  one_small[n - 1] = 1e-15;
  std::vector<HostDense<double>> matrices{
      with_singular_values(geometric), with_singular_values(one_small),
      random_dense<double>(n, n, 9), random_dense<double>(n, n, 10)};
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      matrices[2](i, j) *= std::pow(2.0, -i);
      matrices[3](i, j) *= std::pow(2.0, -j);
    }
  GaussJordan<double, Space> elimination(SolverTest::dense_options());
  for (const auto& a : matrices)
    for (const bool consistent : {false, true}) {
      // A random right-hand side has a huge solution, A times ones has not.
      auto b = random_dense<double>(n, 1, 3);
      if (consistent)
        for (int i = 0; i < n; ++i) {
          long double sum = 0;
          for (int j = 0; j < n; ++j) sum += a(i, j);
          b(i, 0) = static_cast<double>(sum);
        }
      const auto x = solve<Kokkos::LayoutLeft>(elimination, a, b);
      EXPECT_LE(backward_error(a, x, b), 20 * epsilon<double>())
          << "matrix " << &a - matrices.data() << ", " << consistent;
    }
  // A X - I is bounded, too, which is not so if X A - I is.
  for (const auto& a : matrices) {
    const auto view = to_view<double, Kokkos::LayoutLeft>(a);
    elimination.invert(Space(), view, view);
    EXPECT_LE(inverse_error(a, from_view(view)), 20 * epsilon<double>())
        << "matrix " << &a - matrices.data();
  }
}

/// Sums of rows overflow, no number of the elimination does.
TEST(GaussJordanSolve, TakesRowsWhoseSumsAreBeyondTheRangeOfNumbers) {
  const int n = 150;
  HostDense<double> a(n, n), b(n, 1);
  for (int i = 0; i < n; ++i) {
    a(i, i) = 1.2e308;
    a(i, n - 1) = i + 1 < n ? 1.1e308 : 1.2e308;
    b(i, 0) = 1e307;
  }
  GaussJordan<double, Space> elimination(SolverTest::dense_options());
  const auto x = solve<Kokkos::LayoutLeft>(elimination, a, b);
  const double last = 1e307 / 1.2e308;
  for (int i = 0; i < n; ++i)
    EXPECT_NEAR(x(i, 0), i + 1 < n ? (1e307 - 1.1e308 * last) / 1.2e308 : last,
                1e-15);
}

TEST(GaussJordanInverse, IsExactForPermutationsAndUnimodularMatrices) {
  const int n = 150;
  HostDense<double> permutation(n, n), transpose(n, n);
  for (int i = 0; i < n; ++i) {
    const int j = (i * 67 + 13) % n;
    permutation(i, j) = transpose(j, i) = 1;
  }
  const auto view = to_view<double, Kokkos::LayoutLeft>(permutation);
  gauss_jordan_inverse(Space(), view, view, SolverTest::dense_options());
  const auto inverse = from_view(view);
  for (std::size_t k = 0; k < inverse.values.size(); ++k)
    ASSERT_EQ(inverse.values[k], transpose.values[k]);

  // Ones on and below the diagonal: the inverse is a difference.
  HostDense<double> sums(n, n);
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) sums(i, j) = 1;
  const auto differences = to_view<double, Kokkos::LayoutRight>(sums);
  gauss_jordan_inverse(Space(), differences, differences,
                       SolverTest::dense_options());
  const auto result = from_view(differences);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i)
      ASSERT_EQ(result(i, j), i == j ? 1.0 : i == j + 1 ? -1.0 : 0.0);
}

TEST(GaussJordanSolve, SolvesInPlaceForOneVectorAndWithStrides) {
  const int n = 100;
  const auto a = random_dense<double>(n, n, 1);
  const auto b = random_dense<double>(n, 1, 2);
  GaussJordan<double, Space> elimination(SolverTest::dense_options());
  const auto expected = solve<Kokkos::LayoutLeft>(elimination, a, b);
  const auto block = to_view<double, Kokkos::LayoutLeft>(b);
  const auto vector = Kokkos::subview(block, Kokkos::ALL, 0);
  gauss_jordan_solve(Space(), to_view<double, Kokkos::LayoutLeft>(a), vector,
                     vector, SolverTest::dense_options());
  EXPECT_TRUE(from_view(block).same_bits(expected));

  // Every second row and column of a larger array.
  HostDense<double> wide(2 * n, 2 * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) wide(2 * i, 2 * j) = a(i, j);
  const auto large = to_view<double, Kokkos::LayoutRight>(wide);
  const Kokkos::View<double**, Kokkos::LayoutStride, Memory> strided(
      large.data(), Kokkos::LayoutStride(n, 4 * n, n, 2));
  const Kokkos::View<double**, Kokkos::LayoutRight, Memory> x("x", n, 1);
  elimination.solve(Space(), strided, to_view<double, Kokkos::LayoutLeft>(b),
                    x);
  EXPECT_TRUE(from_view(x).same_bits(expected));
}

}  // namespace
}  // namespace DenseTest
}  // namespace Strata
