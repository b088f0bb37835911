// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ILUT, and factors on its pattern.
#include <gtest/gtest.h>

#include <Strata_Error.hpp>
#include <Strata_IlutPattern.hpp>
#include <Strata_IncompleteLu.hpp>
#include <limits>

#include "GivenPatternCases.hpp"

namespace {

template <class Scalar>
struct IlutPattern : testing::Test {
  using Host = HostMatrix<Scalar>;
  static Host ilut(const Host& A, double drop_tolerance, int fill_per_row,
                   double threshold = 0) {
    Strata::IlutOptions options;
    options.drop_tolerance = drop_tolerance;
    options.fill_per_row = fill_per_row;
    options.small_pivot_threshold = threshold;
    return Host(Strata::ilut_pattern(
        Device(), A.template to_device<Crs<Scalar>>(), options));
  }
  static Strata::IncompleteFactorization<Scalar, Device> on_pattern(
      const Host& A, const Host& pattern) {
    return {Device(), A.template to_device<Crs<Scalar>>(),
            Factorization::incomplete_lu,
            pattern.template to_device<Crs<Scalar>>().graph};
  }
  /// Both factors in one, as ilut_pattern() returns them.
  template <class Lower, class Upper>
  static std::vector<Wide> both(const Lower& lower, const Upper& upper) {
    const Host stored_l(lower);
    auto made = dense(stored_l), U = dense(Host(upper));
    for (std::int64_t i = 0; i < stored_l.rows; ++i)
      for (std::int64_t j = i; j < stored_l.rows; ++j)
        made[i * stored_l.rows + j] = U[i * stored_l.rows + j];
    return made;
  }
  static void expect_near(const std::vector<Wide>& a,
                          const std::vector<Wide>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t k = 0; k < a.size(); ++k)
      ASSERT_NEAR(std::abs(a[k] - b[k]), 0,
                  1e3 * epsilon_of<Scalar> * (1 + std::abs(a[k])));
  }
  static double norm(const Host& A, std::int64_t i) {
    double sum = 0;
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      sum += std::norm(wide(A.values[k]));
    return std::sqrt(sum);
  }
};
TYPED_TEST_SUITE(IlutPattern, Scalars);

TYPED_TEST(IlutPattern, WithoutDroppingIsCompleteElimination) {
  const auto A = random_matrix<TypeParam>(60, 4, true);
  const auto made = this->ilut(A, 0, 60);
  const auto pattern = symbolic(A);
  EXPECT_EQ(made.row_map, pattern.row_map);
  EXPECT_EQ(made.entries, pattern.entries);
  this->expect_near(dense(made), dense_lu(dense(A), A.rows));
  const auto factors = this->on_pattern(A, made);
  this->expect_near(dense(made), this->both(factors.lower(Device()),
                                            factors.upper(Device())));
}

TYPED_TEST(IlutPattern, WithoutFillIsIlu0) {
  const auto A = random_matrix<TypeParam>(60, 4, true);
  const auto made = this->ilut(A, 0, 0);
  EXPECT_EQ(made.row_map, A.row_map);
  EXPECT_EQ(made.entries, A.entries);
}

TYPED_TEST(IlutPattern, KeepsAAndTheLargestFillAboveTheTolerance) {
  const auto A = random_matrix<TypeParam>(80, 4, true);
  const auto all = this->ilut(A, 0, 80);
  for (const int most : {1, 3, 80})
    for (const double tolerance : {0.3, 0.05}) {
      const auto made = this->ilut(A, tolerance, most);
      EXPECT_LT(made.entries.size(), all.entries.size());
      for (std::int64_t i = 0; i < A.rows; ++i) {
        int left = 0, right = 0;
        for (auto k = made.row_map[i]; k < made.row_map[i + 1]; ++k) {
          const auto j = made.entries[k];
          ASSERT_TRUE(k == made.row_map[i] || made.entries[k - 1] < j);
          if (A.find(i, j)) continue;
          (j < i ? left : right)++;
          const double size = std::abs(wide(made.values[k])) *
                              (j < i ? std::abs(wide(*made.find(j, j))) : 1);
          ASSERT_GE(size, tolerance * this->norm(A, i) *
                              (1 - 10 * epsilon_of<TypeParam>));
        }
        ASSERT_LE(left, most);
        ASSERT_LE(right, most);
        for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
          ASSERT_TRUE(made.find(i, A.entries[k]));
      }
      expect_product(A, made, this->on_pattern(A, made));
    }
}

TYPED_TEST(IlutPattern, FitsBetterWithMoreFill) {
  const auto A = hermitian<TypeParam>("grid2d:12", 1.);
  double last = std::numeric_limits<double>::max();
  const auto a = dense(A);
  for (const double tolerance : {1., 0.1, 0.02, 0.004}) {
    const auto made = this->ilut(A, tolerance, 100);
    const auto lu = dense(made);
    double sum = 0;
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (std::int64_t j = 0; j < A.rows; ++j) {
        Wide v = -a[i * A.rows + j];
        for (std::int64_t k = 0; k <= std::min(i, j); ++k)
          v += (k == i ? Wide(1) : lu[i * A.rows + k]) * lu[k * A.rows + j];
        sum += std::norm(v);
      }
    EXPECT_LT(sum, 0.9 * last) << tolerance;
    last = sum;
  }
}

TYPED_TEST(IlutPattern, IsInvariantUnderScalingOfRows) {
  auto A = random_matrix<TypeParam>(60, 4, true);
  const auto made = this->ilut(A, 0.05, 5);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      A.values[k] *= TypeParam(std::exp2(i % 19 - 9));
  const auto scaled = this->ilut(A, 0.05, 5);
  EXPECT_EQ(made.row_map, scaled.row_map);
  EXPECT_EQ(made.entries, scaled.entries);
}

TYPED_TEST(IlutPattern, RefusesBadInput) {
  auto A = random_matrix<TypeParam>(30, 3, true);
  EXPECT_THROW(this->ilut(A, -1, 3), Strata::OptionError);
  EXPECT_THROW(this->ilut(A, std::nan(""), 3), Strata::OptionError);
  EXPECT_THROW(this->ilut(A, 0, -1), Strata::OptionError);
  EXPECT_THROW(this->ilut(A, 0, 1, 2), Strata::OptionError);
  const auto good = A;
  const auto row = clear_lower_part(A, 7);
  try {
    this->ilut(A, 0.1, 3);
    FAIL();
  } catch (const Strata::FactorizationError& error) {
    EXPECT_EQ(error.row(), row);
  }
  EXPECT_EQ(this->ilut(A, 0.1, 3, 1e-2).rows, A.rows);
  A = good;
  A.values[A.row_map[9]] = TypeParam(std::nan(""));
  EXPECT_THROW(this->ilut(A, 0.1, 3), Strata::FactorizationError);
  const HostMatrix<TypeParam> none;
  EXPECT_EQ(this->ilut(none, 0.1, 3).rows, 0);
}

}  // namespace
