// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IncompleteFactorization with the fill of ILU(k) and IC(k).
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompletePattern.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "FactorizationCase.hpp"
#include "HostMatrix.hpp"
#include "RandomSeed.hpp"
#include "Scalars.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Strata::Factorization;
using Options = Strata::FactorizationCase;

template <class Scalar>
struct FillLevel : testing::Test {
  using Crs = KokkosSparse::CrsMatrix<Scalar, int, Device, void, int>;
  using Factors = Strata::IncompleteFactorization<Scalar, Device>;
  using Real = RealOf<Scalar>;
  using Host = HostMatrix<Scalar>;
  using Vector = Kokkos::View<Scalar*, Device>;

  Host random_values(const std::string& graph, Factorization kind) {
    Host made(Strata::gallery<Crs>(Device(), graph));
    std::uniform_real_distribution<double> part(-1, 1);
    for (std::int64_t i = 0; i < made.rows; ++i)
      for (auto k = made.row_map[i]; k < made.row_map[i + 1]; ++k) {
        const auto j = made.entries[k];
        const auto value = static_cast<Real>(part(random));
        made.values[k] = Scalar(i == j ? 9 + value : value);
        if (kind == Factorization::incomplete_cholesky && j < i)
          made.values[k] = *made.find(j, i);
      }
    return made;
  }
  static Options options_of(int level, Factorization kind) {
    Options options;
    options.kind = kind;
    options.fill_level = level;
    // The quickest to analyse.
    options.triangular.algorithm = Strata::Algorithm::substitution;
    return options;
  }
  static Factors factorise(const Host& A, const Options& options) {
    return Factors(Device(), A.template to_device<Crs>(), options.kind,
                   options);
  }
  static void expect_same_matrix(const Host& a, const Host& b) {
    EXPECT_EQ(a.row_map, b.row_map);
    EXPECT_EQ(a.entries, b.entries);
    EXPECT_EQ(a.values, b.values);
  }
  static std::vector<Scalar> applied(const Factors& factors) {
    const auto n = factors.rows();
    const Vector b("b", n), x("x", n);
    Kokkos::deep_copy(b, Scalar(1));
    factors.apply(Device(), b, x);
    Kokkos::fence();
    const auto host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
    return {host.data(), host.data() + host.extent(0)};
  }
  static void expect_same(const Factors& found, const Factors& expected) {
    expect_same_matrix(Host(found.lower(Device())),
                       Host(expected.lower(Device())));
    expect_same_matrix(Host(found.upper(Device())),
                       Host(expected.upper(Device())));
    EXPECT_EQ(applied(found), applied(expected));
  }
  /// Of a matrix that has its fill stored, from incomplete_pattern.
  static Factors of_filled(const Host& A, const Options& options) {
    Options without = options;
    without.fill_level = 0;
    return Factors(
        Device(),
        Strata::incomplete_pattern(Device(), A.template to_device<Crs>(),
                                   options.fill_level),
        without.kind, without);
  }

  std::mt19937 random{Strata::random_seed()};
};
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;
TYPED_TEST_SUITE(FillLevel, Scalars);

constexpr Factorization all_kinds[] = {Factorization::incomplete_lu,
                                       Factorization::incomplete_cholesky};

TYPED_TEST(FillLevel, FactorsAreThoseOfThePatternWithFill) {
  using Fixture = TestFixture;
  using Crs = typename Fixture::Crs;
  for (const char* graph : {"triangulated:8x7", "grid3d:4"})
    for (const auto kind : all_kinds)
      for (const int level : {0, 1, 3}) {
        SCOPED_TRACE(std::string(graph) + ", " + to_string(kind) + ", level " +
                     std::to_string(level));
        auto options = Fixture::options_of(level, kind);
        options.shift = level == 3 ? 0.25 : 0;
        const auto A = this->random_values(graph, kind);
        auto factors = Fixture::factorise(A, options);
        const auto expected = Fixture::of_filled(A, options);
        Fixture::expect_same(factors, expected);
        const auto report = factors.report();
        const auto stored = static_cast<std::int64_t>(A.entries.size());
        EXPECT_EQ(report.entries, stored);
        EXPECT_EQ(report.fill_entries, expected.report().entries - stored);
        EXPECT_EQ(report.lower_entries + report.upper_entries,
                  stored + report.fill_entries + A.rows);
        EXPECT_EQ(report.fill_entries > 0, level > 0);
        // Where A's entries go, and the matrix with its fill.
        EXPECT_EQ(
            report.elimination_bytes - expected.report().elimination_bytes,
            level == 0
                ? 0u
                : static_cast<std::size_t>(
                      8 * (A.rows + 1) + 4 * stored +
                      (stored + report.fill_entries) *
                          static_cast<std::int64_t>(4 + sizeof(TypeParam))));
        // Other values of A, without fill.
        const auto other = this->random_values(graph, kind);
        factors.update_values(Device(), other.template to_device<Crs>());
        Fixture::expect_same(factors, Fixture::of_filled(other, options));
        EXPECT_EQ(factors.report().fill_entries, report.fill_entries);
      }
}

TYPED_TEST(FillLevel, AllFillSolvesTheSystem) {
  using Fixture = TestFixture;
  const auto A =
      this->random_values("triangulated:8x7", Factorization::incomplete_lu);
  const auto x = Fixture::applied(
      Fixture::factorise(A, Fixture::options_of(static_cast<int>(A.rows),
                                                Factorization::incomplete_lu)));
  constexpr double eps = std::numeric_limits<typename Fixture::Real>::epsilon();
  for (std::int64_t i = 0; i < A.rows; ++i) {
    TypeParam residual(-1);
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      residual += A.values[k] * x[A.entries[k]];
    EXPECT_LE(std::abs(wide(residual)), 1e3 * eps) << "row " << i;
  }
}

TYPED_TEST(FillLevel, TakesOtherIndicesAndReplacesPivots) {
  using Fixture = TestFixture;
  using Wide = KokkosSparse::CrsMatrix<TypeParam, std::int64_t, Device, void,
                                       std::size_t>;
  auto A = this->random_values("grid2d:9", Factorization::incomplete_lu);
  A.at(33, 33) = A.at(0, 0) = TypeParam(0);
  auto options = Fixture::options_of(2, Factorization::incomplete_lu);
  EXPECT_THROW(Fixture::factorise(A, options), Strata::ZeroDiagonalError);
  options.small_pivot_threshold = 0.125;
  const typename Fixture::Factors wide(Device(), A.template to_device<Wide>(),
                                       options.kind, options);
  Fixture::expect_same(wide, Fixture::factorise(A, options));
  Fixture::expect_same(wide, Fixture::of_filled(A, options));
  EXPECT_GT(wide.report().replaced_pivots, 0);
}

TYPED_TEST(FillLevel, RefusesOtherPatternsAndKeepsTheOldFactors) {
  using Fixture = TestFixture;
  using Crs = typename Fixture::Crs;
  const auto lu = Factorization::incomplete_lu;
  const auto A = this->random_values("grid2d:9", lu);
  auto factors = Fixture::factorise(A, Fixture::options_of(1, lu));
  const auto before = Fixture::applied(factors);
  const auto device_A = A.template to_device<Crs>();
  EXPECT_THROW(factors.update_values(
                   Device(), Strata::incomplete_pattern(Device(), device_A, 1)),
               Strata::PatternMismatchError);
  auto bad = A;
  bad.at(40, 40) = TypeParam(std::nan(""));
  try {
    factors.update_values(Device(), bad.template to_device<Crs>());
    ADD_FAILURE() << "taken";
  } catch (const Strata::FactorizationError& error) {
    EXPECT_EQ(error.row(), 40);
  }
  EXPECT_EQ(Fixture::applied(factors), before);
  factors.update_values(Device(), device_A);
  EXPECT_EQ(Fixture::applied(factors), before);
  EXPECT_THROW(Fixture::factorise(A, Fixture::options_of(-1, lu)),
               Strata::OptionError);
}

TYPED_TEST(FillLevel, KeepsNothingWhereThereIsNoFill) {
  using Fixture = TestFixture;
  const auto lu = Factorization::incomplete_lu;
  // Each row needs the one before it: elimination fills nothing in.
  const auto A = this->random_values("chain:50", lu);
  const auto none = Fixture::factorise(A, Fixture::options_of(0, lu)),
             some = Fixture::factorise(A, Fixture::options_of(3, lu));
  Fixture::expect_same(some, none);
  EXPECT_EQ(some.report().fill_entries, 0);
  EXPECT_EQ(some.report().elimination_bytes, none.report().elimination_bytes);
  HostMatrix<TypeParam> empty;
  EXPECT_EQ(Fixture::factorise(empty, Fixture::options_of(2, lu)).rows(), 0);
}

}  // namespace
