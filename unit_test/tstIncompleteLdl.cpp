// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// L D L^H and L D L^T of symmetric matrices that are not definite.
#include <gtest/gtest.h>

#include <Strata_Error.hpp>
#include <limits>

#include "GivenPatternCases.hpp"

namespace {

using Options = Strata::IncompleteFactorizationOptions;
constexpr auto ldlh = Factorization::incomplete_ldlh,
               ldlt = Factorization::incomplete_ldlt;

template <class Scalar>
struct IncompleteLdl : testing::Test {
  using Factors = Strata::IncompleteFactorization<Scalar, Device>;
  using Host = HostMatrix<Scalar>;
  static constexpr bool is_complex =
      !std::is_same<RealOf<Scalar>, Scalar>::value;

  /// Its diagonal dominates and has random signs, for ldlt random phases.
  static Host matrix(Factorization kind,
                     const std::string& graph = "triangulated:9x7") {
    auto A = hermitian<Scalar>(graph, 1.5);
    std::bernoulli_distribution coin;
    for (std::int64_t i = 0; i < A.rows; ++i) {
      if (coin(generator())) A.at(i, i) *= Scalar(-1);
      if constexpr (is_complex) {
        if (kind == ldlt) {
          const auto phase = random_number<Scalar>();
          A.at(i, i) *= phase * (1 / Kokkos::abs(phase));
          for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
            if (A.entries[k] < i) A.values[k] = conjugate(A.values[k]);
        }
      }
    }
    return A;
  }
  static Factors factorise(const Host& A, Factorization kind,
                           const Options& options = {}) {
    return Factors(Device(), A.template to_device<Crs<Scalar>>(), kind,
                   options);
  }
  /// U = D L^H (or L^T) up to rounding.
  static void expect_symmetric(const Factors& factors, Factorization kind) {
    const Host L(factors.lower(Device())), U(factors.upper(Device()));
    for (std::int64_t i = 0; i < L.rows; ++i)
      for (auto k = U.row_map[i]; k < U.row_map[i + 1]; ++k) {
        const Scalar* const l = L.find(U.entries[k], i);
        ASSERT_TRUE(l);
        const Scalar mirror = kind == ldlh ? conjugate(*l) : *l;
        ASSERT_NEAR(std::abs(wide(U.values[k]) -
                             wide(U.values[U.row_map[i]]) * wide(mirror)),
                    0,
                    100 * epsilon_of<Scalar> * std::abs(wide(U.values[k])) +
                        100 * epsilon_of<Scalar>);
      }
  }
  /// For diagonally dominant matrices: the discs of Gershgorin do not reach 0.
  static void expect_inertia(const Host& A, const Factors& factors) {
    std::int64_t positive = 0;
    for (std::int64_t i = 0; i < A.rows; ++i)
      positive += wide(*A.find(i, i)).real() > 0;
    EXPECT_EQ(factors.report().positive_pivots, positive);
    EXPECT_EQ(factors.report().negative_pivots, A.rows - positive);
  }
};
TYPED_TEST_SUITE(IncompleteLdl, Scalars);

TYPED_TEST(IncompleteLdl, GivesSymmetricFactors) {
  for (const auto kind : {ldlh, ldlt}) {
    const auto A = this->matrix(kind);
    EXPECT_THROW(this->factorise(A, Factorization::incomplete_cholesky),
                 Strata::Error);
    const auto factors = this->factorise(A, kind);
    EXPECT_EQ(factors.report().kind, kind);
    expect_product(A, A, factors);
    this->expect_symmetric(factors, kind);
    if (kind == ldlh || !this->is_complex)
      this->expect_inertia(A, factors);
    else
      EXPECT_EQ(factors.report().positive_pivots, 0);
  }
}

TYPED_TEST(IncompleteLdl, OfACompletePatternSolves) {
  for (const auto kind : {ldlh, ldlt}) {
    const auto A = this->matrix(kind, "triangulated:7x6");
    const auto pattern = symbolic(A);
    const typename TestFixture::Factors factors(
        Device(), A.template to_device<Crs<TypeParam>>(), kind,
        pattern.template to_device<Crs<TypeParam>>().graph);
    expect_product(A, pattern, factors);
    this->expect_symmetric(factors, kind);
    const auto b = random_vector<TypeParam>(A.rows);
    const Vector<TypeParam> x("x", A.rows);
    factors.apply(Device(), b, x);
    EXPECT_LE(relative_residual(A, on_host(b), on_host(x)),
              1e3 * epsilon_of<TypeParam>);
  }
}

TYPED_TEST(IncompleteLdl, ReadsTheUpperTriangle) {
  for (const auto kind : {ldlh, ldlt}) {
    const auto A = this->matrix(kind);
    auto upper = A;
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
        if (A.entries[k] < i) upper.values[k] = random_number<TypeParam>();
    EXPECT_THROW(this->factorise(upper, kind), Strata::NotHermitianError);
    Options options;
    options.symmetry_tolerance = std::numeric_limits<double>::infinity();
    const auto whole = this->factorise(A, kind),
               half = this->factorise(upper, kind, options);
    EXPECT_EQ(HostMatrix<TypeParam>(whole.upper(Device())).values,
              HostMatrix<TypeParam>(half.upper(Device())).values);
    EXPECT_EQ(HostMatrix<TypeParam>(whole.lower(Device())).values,
              HostMatrix<TypeParam>(half.lower(Device())).values);
  }
}

TYPED_TEST(IncompleteLdl, TellsHermitianFromSymmetric) {
  if (!this->is_complex) {
    const auto A = this->matrix(ldlh);
    EXPECT_EQ(
        HostMatrix<TypeParam>(this->factorise(A, ldlh).upper(Device())).values,
        HostMatrix<TypeParam>(this->factorise(A, ldlt).upper(Device())).values);
    return;
  }
  EXPECT_THROW(this->factorise(this->matrix(ldlt), ldlh),
               Strata::NotHermitianError);
  EXPECT_THROW(this->factorise(this->matrix(ldlh), ldlt),
               Strata::NotHermitianError);
}

TYPED_TEST(IncompleteLdl, TakesNewValuesAndFill) {
  for (const auto kind : {ldlh, ldlt})
    for (const bool enqueue : {false, true}) {
      const auto A = this->matrix(kind), B = this->matrix(kind);
      Options options;
      options.fill_level = 1;
      options.enqueue_updates = enqueue;
      auto factors = this->factorise(A, kind, options);
      EXPECT_GT(factors.report().fill_entries, 0);
      const auto on_device = B.template to_device<Crs<TypeParam>>();
      if (enqueue)
        factors.enqueue_update_values(Device(), on_device.values);
      else
        factors.update_values(Device(), on_device);
      Device().fence();
      if (enqueue) {
        const auto status = Kokkos::create_mirror_view_and_copy(
            Kokkos::HostSpace(), factors.update_status());
        EXPECT_EQ(status().fault, Strata::UpdateFault::none);
      }
      expect_product(B, B, factors);
      this->expect_symmetric(factors, kind);
      if (!enqueue && kind == ldlh) this->expect_inertia(B, factors);
    }
}

TYPED_TEST(IncompleteLdl, TakesZerosOnTheDiagonalOfASaddlePoint) {
  // [H B; B^H 0], H positive definite, B of full rank: as many negative pivots
  // as there are columns of B.
  const auto H = hermitian<TypeParam>("poisson:6");
  const std::int64_t n = H.rows, m = 9;
  Rows rows = rows_of(H);
  rows.resize(n + m);
  for (std::int64_t i = 0; i < m; ++i)
    for (const auto j : {i, i + 20, n + i}) {
      rows[n + i].insert(j);
      rows[j].insert(n + i);
    }
  auto A = pattern_of<TypeParam>(rows);
  for (std::int64_t i = 0; i < n; ++i)
    for (auto k = H.row_map[i]; k < H.row_map[i + 1]; ++k)
      A.at(i, H.entries[k]) = H.values[k];
  for (std::int64_t i = 0; i < m; ++i)
    for (const auto j : {i, i + 20}) {
      A.at(n + i, j) = TypeParam(2) + random_number<TypeParam>();
      A.at(j, n + i) = conjugate(A.at(n + i, j));
    }
  const auto pattern = symbolic(A);
  const typename TestFixture::Factors factors(
      Device(), A.template to_device<Crs<TypeParam>>(), ldlh,
      pattern.template to_device<Crs<TypeParam>>().graph);
  expect_product(A, pattern, factors);
  EXPECT_EQ(factors.report().positive_pivots, n);
  EXPECT_EQ(factors.report().negative_pivots, m);
  // Without fill the last pivots become what they become, but none is 0.
  expect_product(A, A, this->factorise(A, ldlh));
}

/// Factors with all fill solve, whatever the order and the scaling.
TYPED_TEST(IncompleteLdl, SolvesInEachOrder) {
  for (const auto kind : {ldlh, ldlt})
    for (const auto order :
         {Strata::FactorOrder::natural, Strata::FactorOrder::rcm,
          Strata::FactorOrder::level_sets, Strata::FactorOrder::multicoloured})
      for (const auto scaling : {Strata::FactorScaling::none,
                                 Strata::FactorScaling::equilibration}) {
        const auto A = this->matrix(kind);
        Options options;
        options.order = order;
        options.scaling = scaling;
        options.fill_level = static_cast<int>(A.rows);
        const auto factors = this->factorise(A, kind, options);
        this->expect_symmetric(factors, kind);
        const auto b = random_vector<TypeParam>(A.rows);
        const Vector<TypeParam> x("x", A.rows);
        factors.apply(Device(), b, x);
        EXPECT_LE(relative_residual(A, on_host(b), on_host(x)),
                  1e3 * epsilon_of<TypeParam>);
        const auto& report = factors.report();
        EXPECT_EQ(report.order, order);
        if (kind == ldlh || !this->is_complex)
          EXPECT_EQ(report.positive_pivots + report.negative_pivots, A.rows);
      }
}

/// A pivot that cancels is a rounding error in both parts: what replaces it is
/// real all the same.
TYPED_TEST(IncompleteLdl, ReplacesPivotsByRealOnes) {
  for (int i = 0; i < 20; ++i) {
    auto A = pattern_of<TypeParam>({{0, 1, 2}, {0, 1, 2}, {0, 1, 2}});
    for (std::int64_t row = 0; row < 3; ++row) {
      A.at(row, row) =
          TypeParam(1 + std::abs(wide(random_number<TypeParam>())));
      for (std::int64_t j = row + 1; j < 3; ++j) {
        A.at(row, j) = random_number<TypeParam>();
        A.at(j, row) = conjugate(A.at(row, j));
      }
    }
    const double a01 = std::abs(wide(A.at(0, 1)));
    A.at(1, 1) = TypeParam(a01 * a01 / wide(A.at(0, 0)).real());
    Options options;
    options.small_pivot_threshold = std::sqrt(epsilon_of<TypeParam>);
    const auto factors = this->factorise(A, ldlh, options);
    EXPECT_GE(factors.report().replaced_pivots, 1);
    const HostMatrix<TypeParam> U(factors.upper(Device()));
    EXPECT_EQ(wide(U.values[U.row_map[1]]).imag(), 0);
    EXPECT_EQ(
        factors.report().positive_pivots + factors.report().negative_pivots, 3);
  }
}

/// Complex scalings are conjugated for the one kind, and not for the other.
TYPED_TEST(IncompleteLdl, TakesScalingsThatKeepTheSymmetry) {
  for (const auto kind : {ldlh, ldlt}) {
    const auto A = this->matrix(kind);
    const auto on = A.template to_device<Crs<TypeParam>>();
    const Vector<TypeParam> rows("rows", A.rows), alike("alike", A.rows),
        other("other", A.rows);
    const auto r = Kokkos::create_mirror_view(rows),
               a = Kokkos::create_mirror_view(alike),
               o = Kokkos::create_mirror_view(other);
    for (std::int64_t i = 0; i < A.rows; ++i) {
      r(i) = random_number<TypeParam>() + TypeParam(2);
      const TypeParam conjugated = conjugate(r(i));
      a(i) = kind == ldlh ? conjugated : r(i);
      o(i) = kind == ldlh ? r(i) : conjugated;
    }
    Kokkos::deep_copy(rows, r);
    Kokkos::deep_copy(alike, a);
    Kokkos::deep_copy(other, o);
    using How = Strata::FactorTransformation<TypeParam, Device>;
    Options options;
    options.fill_level = static_cast<int>(A.rows);
    options.symmetry_tolerance = 1e-3;  // scaling rounds
    const Strata::IncompleteFactorization factors(
        Device(), on, kind, How().row_scaling(rows).column_scaling(alike),
        options);
    const auto b = random_vector<TypeParam>(A.rows);
    const Vector<TypeParam> x("x", A.rows);
    factors.apply(Device(), b, x);
    EXPECT_LE(relative_residual(A, on_host(b), on_host(x)),
              1e3 * epsilon_of<TypeParam>);
    if (this->is_complex)
      EXPECT_THROW(Strata::IncompleteFactorization(
                       Device(), on, kind,
                       How().row_scaling(rows).column_scaling(other), options),
                   Strata::OptionError);
  }
}

TYPED_TEST(IncompleteLdl, RefusesZeroPivotsAndTheColouredOrder) {
  auto A = this->matrix(ldlh);
  for (auto k = A.row_map[0]; k < A.row_map[1]; ++k)
    if (A.entries[k] == 0) A.values[k] = TypeParam(0);
  try {
    this->factorise(A, ldlh);
    FAIL();
  } catch (const Strata::FactorizationError& error) {
    EXPECT_EQ(error.row(), 0);
  }
  Options options;
  options.small_pivot_threshold = 0.1;
  const auto factors = this->factorise(A, ldlh, options);
  EXPECT_GE(factors.report().replaced_pivots, 1);
  double largest = 0;
  for (auto k = A.row_map[0]; k < A.row_map[1]; ++k)
    largest = std::max(largest, std::abs(wide(A.values[k])));
  EXPECT_NEAR(
      wide(HostMatrix<TypeParam>(factors.upper(Device())).values[0]).real(),
      0.1 * largest, 10 * epsilon_of<TypeParam> * largest);
  options = {};
  options.order = Strata::FactorOrder::coloured;
  EXPECT_THROW(this->factorise(A, ldlh, options), Strata::OptionError);
}

}  // namespace
