// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reduced row echelon forms against a plain elimination in a wider type, and
// ranks against elimination in a prime field.
#include "DenseCases.hpp"

namespace Strata {
namespace DenseTest {
namespace {

template <class Scalar>
struct Reduced {
  HostDense<Scalar> matrix;
  RowEchelonForm form;
};

template <class Layout, class Scalar>
Reduced<Scalar> reduce(const HostDense<Scalar>& a,
                       const GaussJordanOptions& options = SolverTest::dense_options()) {
  const auto view = to_view<Scalar, Layout>(a);
  const auto form = reduced_row_echelon_form(Space(), view, options);
  return {from_view(view), form};
}

/// Against the reference, as closely as the entries' growth allows.
template <class Scalar>
void expect_reference(const HostDense<Scalar>& a, const Reduced<Scalar>& ours) {
  std::vector<typename Wide<Scalar>::Type> wide;
  for (const auto& x : a.values) wide.push_back(Wide<Scalar>::from(x));
  const auto pivots =
      reference_reduce(wide, a.rows, a.columns, ours.form.tolerance);
  ASSERT_EQ(pivots, ours.form.pivot_columns);
  expect_echelon(ours.matrix, ours.form);
  double largest = 1;
  for (const auto& x : wide) largest = std::max(largest, size_of(x));
  const double scale = largest * static_cast<double>(a.rows + a.columns);
  for (std::size_t k = 0; k < wide.size(); ++k)
    ASSERT_LE(size_of(wide[k] - Wide<Scalar>::from(ours.matrix.values[k])),
              1000 * epsilon<Scalar>() * scale)
        << "place " << k;
}

constexpr std::pair<int, int> shapes[] = {
    {1, 1},   {1, 7},    {7, 1},    {31, 33},   {33, 31},
    {64, 64}, {40, 150}, {150, 40}, {129, 130}, {600, 70}};

template <class Scalar>
class GaussJordanReduction : public testing::Test {};
using Scalars = testing::Types<double, Kokkos::complex<float>>;
TYPED_TEST_SUITE(GaussJordanReduction, Scalars);

TYPED_TEST(GaussJordanReduction, AgreesWithTheReferenceInEveryShapeAndLayout) {
  for (const auto& [m, n] : shapes) {
    SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
    const auto a = random_dense<TypeParam>(m, n, 3 * m + n);
    const auto left = reduce<Kokkos::LayoutLeft>(a);
    const auto right = reduce<Kokkos::LayoutRight>(a);
    EXPECT_EQ(left.form.rank, std::min(m, n));
    expect_reference(a, left);
    EXPECT_TRUE(left.matrix.same_bits(right.matrix));
    EXPECT_TRUE(left.matrix.same_bits(reduce<Kokkos::LayoutLeft>(a).matrix));
    if (this->HasFailure()) return;
  }
}

/// u v with entries -1, 0, 1 in m x rank and rank x n: rank at most `rank`.
template <class Scalar>
HostDense<Scalar> integer_product(std::int64_t m, std::int64_t n,
                                  std::int64_t rank, std::uint64_t seed) {
  HostDense<Scalar> a(m, n);
  const auto entry = [&](std::int64_t i, std::int64_t j, int stream) {
    return Detail::below(Detail::random_bits(seed, i, j, stream), 3) - 1;
  };
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      std::int64_t sum = 0;
      // Some columns depend on fewer than `rank` others.
      const std::int64_t last = j % 5 == 1 ? rank / 2 : rank;
      for (std::int64_t k = 0; k < last; ++k)
        sum += entry(i, k, 1) * entry(k, j, 2);
      a(i, j) = Scalar(static_cast<double>(sum));
    }
  return a;
}

/// Pivot columns by elimination modulo 2^31 - 1: exact for these matrices but
/// for accidents of that probability.
std::vector<std::int64_t> pivots_in_prime_field(const HostDense<double>& a) {
  constexpr std::int64_t prime = 2147483647;
  const std::int64_t m = a.rows, n = a.columns;
  std::vector<std::int64_t> v(m * n), pivots;
  for (std::int64_t k = 0; k < m * n; ++k)
    v[k] = (static_cast<std::int64_t>(a.values[k]) % prime + prime) % prime;
  const auto inverse = [&](std::int64_t x) {
    std::int64_t y = 1;
    for (std::int64_t e = prime - 2; e > 0; e >>= 1, x = x * x % prime)
      if (e & 1) y = y * x % prime;
    return y;
  };
  for (std::int64_t c = 0, r = 0; c < n && r < m; ++c) {
    std::int64_t p = r;
    while (p < m && v[p + c * m] == 0) ++p;
    if (p == m) continue;
    for (std::int64_t k = c; k < n; ++k) std::swap(v[r + k * m], v[p + k * m]);
    const std::int64_t scale = inverse(v[r + c * m]);
    for (std::int64_t i = r + 1; i < m; ++i) {
      const std::int64_t l = v[i + c * m] * scale % prime;
      if (l == 0) continue;
      for (std::int64_t k = c; k < n; ++k)
        v[i + k * m] =
            (v[i + k * m] + (prime - l) * v[r + k * m] % prime) % prime;
    }
    pivots.push_back(c);
    ++r;
  }
  return pivots;
}

TEST(GaussJordanRank, IsExactForIntegerMatrices) {
  for (const auto& [m, n] : shapes)
    for (const int rank : {0, 1, 3, 20, 40}) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + ", rank " +
                   std::to_string(rank));
      const auto a = integer_product<double>(m, n, rank, 100 * m + rank);
      const auto ours = reduce<Kokkos::LayoutRight>(a);
      EXPECT_EQ(ours.form.pivot_columns, pivots_in_prime_field(a));
      expect_reference(a, ours);
      // In its form already: nothing is left to do, and nothing is rounded.
      const auto again = reduce<Kokkos::LayoutLeft>(ours.matrix);
      EXPECT_EQ(again.form.pivot_columns, ours.form.pivot_columns);
      EXPECT_TRUE(again.matrix.same_bits(ours.matrix));
      EXPECT_TRUE(reduce<Kokkos::LayoutRight>(a).matrix.same_bits(ours.matrix));
      if (HasFailure()) return;
    }
}

TEST(GaussJordanRank, FindsDependentColumnsAnywhere) {
  // The last column of a panel, the first of one, whole panels, whole stripes.
  using Range = std::pair<int, int>;
  for (const auto& [from, to] :
       {Range{31, 32}, Range{32, 33}, Range{0, 1}, Range{64, 128},
        Range{120, 280}, Range{279, 280}}) {
    SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
    auto a = random_dense<double>(200, 280, from);
    for (int j = from; j < to; ++j)
      for (int i = 0; i < 200; ++i)
        a(i, j) = from > 0 ? 0.5 * a(i, j % from) : 0.0;
    GaussJordanOptions options = SolverTest::dense_options();
    options.stripe = 64;
    const auto ours = reduce<Kokkos::LayoutLeft>(a, options);
    expect_reference(a, ours);
    if (HasFailure()) return;
  }
}

TEST(GaussJordan, ReducesNothingZeroAndOne) {
  using Shape = std::pair<int, int>;
  for (const auto& [m, n] : {Shape{0, 0}, Shape{0, 5}, Shape{5, 0}}) {
    const auto none = reduce<Kokkos::LayoutLeft>(HostDense<double>(m, n));
    EXPECT_EQ(none.form.rank, 0);
    EXPECT_TRUE(none.form.pivot_columns.empty());
  }
  for (const auto& [m, n] : shapes) {
    const auto zero = reduce<Kokkos::LayoutLeft>(HostDense<double>(m, n));
    EXPECT_EQ(zero.form.rank, 0);
    EXPECT_TRUE(zero.matrix.same_bits(HostDense<double>(m, n)));
  }
  HostDense<double> one(1, 1);
  one(0, 0) = -4e-320;  // a denormal number is a pivot, too
  const auto reduced = reduce<Kokkos::LayoutLeft>(one);
  EXPECT_EQ(reduced.form.rank, 1);
  EXPECT_EQ(reduced.matrix(0, 0), 1.0);
}

TEST(GaussJordan, ReducesScaledMatricesToTheSameBits) {
  using Shape = std::pair<int, int>;
  for (const auto& [m, n] : {Shape{90, 120}, Shape{200, 210}}) {
    const auto a = random_dense<double>(m, n, 5);
    const auto plain = reduce<Kokkos::LayoutLeft>(a);
    for (const double scale : {0x1p-900, 0x1p900}) {
      auto scaled = a;
      for (auto& x : scaled.values) x *= scale;
      EXPECT_TRUE(
          reduce<Kokkos::LayoutLeft>(scaled).matrix.same_bits(plain.matrix));
    }
  }
}

TEST(GaussJordanOption, StripesOfAnyWidthAgree) {
  const auto a = random_dense<double>(150, 220, 8);
  for (const int stripe : {32, 96, 512}) {
    GaussJordanOptions options = SolverTest::dense_options();
    options.stripe = stripe;
    expect_reference(a, reduce<Kokkos::LayoutLeft>(a, options));
  }
}

TEST(GaussJordanOption, ToleranceDecidesTheRank) {
  HostDense<double> a(50, 50);
  for (int i = 0; i < 50; ++i) a(i, i) = std::pow(0.1, i);
  for (const double tolerance : {0.0, 1e-10 / 3, 0.5, 2.0}) {
    GaussJordanOptions options = SolverTest::dense_options();
    options.tolerance = tolerance;
    const int rank = tolerance == 0.0   ? 50
                     : tolerance == 2.0 ? 0
                     : tolerance == 0.5 ? 1
                                        : 11;
    const auto ours = reduce<Kokkos::LayoutLeft>(a, options);
    EXPECT_EQ(ours.form.rank, rank);
    EXPECT_EQ(ours.form.tolerance, tolerance);
    expect_echelon(ours.matrix, ours.form);
  }
  const auto by_default = reduce<Kokkos::LayoutLeft>(a).form;
  EXPECT_EQ(by_default.tolerance, 50 * epsilon<double>());
  EXPECT_EQ(by_default.norm, 1.0);
}

TEST(GaussJordanOption, RightHandSidesHaveNoPivots) {
  const int n = 140, k = 3;
  const auto a = random_dense<double>(n, n, 17);
  const auto b = random_dense<double>(n, k, 18);
  HostDense<double> augmented(n, n + k), x(n, k);
  std::copy(a.values.begin(), a.values.end(), augmented.values.begin());
  std::copy(b.values.begin(), b.values.end(), augmented.values.begin() + n * n);
  GaussJordanOptions options = SolverTest::dense_options();
  options.pivot_columns = n;
  const auto ours = reduce<Kokkos::LayoutLeft>(augmented, options);
  EXPECT_EQ(ours.form.rank, n);
  std::copy(ours.matrix.values.begin() + n * n, ours.matrix.values.end(),
            x.values.begin());
  EXPECT_LE(backward_error(a, x, b), 10 * n * epsilon<double>());
  options.pivot_columns = 0;
  const auto untouched = reduce<Kokkos::LayoutLeft>(b, options);
  EXPECT_EQ(untouched.form.rank, 0);
  EXPECT_TRUE(untouched.matrix.same_bits(b));
}

TEST(GaussJordanOption, SystemsWithoutSolutionShow) {
  // Rows 60 and up repeat rows 0 and up, their right-hand sides only once.
  const int m = 90, n = 80;
  auto a = random_dense<double>(m, n + 2, 23);
  for (int i = 60; i < m; ++i)
    for (int j = 0; j < n + 1; ++j) a(i, j) = a(i - 60, j);
  for (const bool gap : {false, true}) {
    if (gap)
      for (int i = 0; i < m; ++i) a(i, 5) = a(i, 4);
    GaussJordanOptions options = SolverTest::dense_options();
    options.pivot_columns = n;
    const auto ours = reduce<Kokkos::LayoutRight>(a, options);
    ASSERT_EQ(ours.form.rank, 60);
    double consistent = 0, not_consistent = 0;
    for (int i = 60; i < m; ++i) {
      for (int j = 0; j < n; ++j) ASSERT_EQ(ours.matrix(i, j), 0.0);
      consistent = std::max(consistent, std::abs(ours.matrix(i, n)));
      not_consistent =
          std::max(not_consistent, std::abs(ours.matrix(i, n + 1)));
    }
    EXPECT_LE(consistent, 1e-11);
    EXPECT_GE(not_consistent, 1e-3);
  }
}

}  // namespace
}  // namespace DenseTest
}  // namespace Strata
