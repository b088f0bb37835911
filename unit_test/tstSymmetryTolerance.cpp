// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Incomplete Cholesky reads the upper triangle; the lower one agrees with it up
// to the option `symmetry_tolerance`.
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "FactorizationCase.hpp"
#include "HermitianMatrix.hpp"
#include "InOrder.hpp"

namespace {

using Strata::Factorization;
using Strata::FactorOrder;
using Options = Strata::FactorizationCase;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr auto* graph = "grid2d:9";

template <class Scalar>
struct SymmetryTolerance : testing::Test {
  using Host = HostMatrix<Scalar>;
  using Real = RealOf<Scalar>;
  using Factors = Strata::IncompleteFactorization<Scalar, Device>;
  static constexpr double eps = std::numeric_limits<Real>::epsilon();

  static Crs<Scalar> crs(const Host& A) {
    return A.template to_device<Crs<Scalar>>();
  }
  static Options options_of(int level = 0,
                            std::optional<double> tolerance = {}) {
    Options options;
    options.kind = Factorization::incomplete_cholesky;
    options.fill_level = level;
    options.symmetry_tolerance = tolerance;
    options.triangular.algorithm = Strata::Algorithm::substitution;
    return options;
  }
  static Factors factorise(const Host& A, const Options& options) {
    return Factors(Device(), crs(A), options.kind, options);
  }
  static Factors in_order(const Host& A, FactorOrder order,
                          std::optional<double> tolerance = {}) {
    return Factors(Device(), crs(A), Factorization::incomplete_cholesky,
                   Strata::in_order(order, tolerance));
  }
  static void expect_same(const Factors& found, const Factors& expected) {
    const Host L(found.lower(Device())), U(found.upper(Device()));
    const Host l(expected.lower(Device())), u(expected.upper(Device()));
    EXPECT_EQ(L.row_map, l.row_map);
    EXPECT_EQ(L.entries, l.entries);
    EXPECT_EQ(L.values, l.values);
    EXPECT_EQ(U.entries, u.entries);
    EXPECT_EQ(U.values, u.values);
  }
  static std::vector<Scalar> applied(const Factors& M) {
    const Vector<Scalar> r("r", M.rows()), z("z", M.rows());
    Kokkos::deep_copy(r, Scalar(1));
    M.apply(Device(), r, z);
    Kokkos::fence();
    return on_host(z);
  }

  /// A with other entries left of the diagonal, made of those that it has.
  static Host with_lower(Host A, const std::function<Scalar(Scalar)>& change) {
    for (std::int64_t i = 0; i < A.rows; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
        if (A.entries[k] < i) A.values[k] = change(A.values[k]);
    return A;
  }
  /// A without those that are not kept.
  static Host kept(
      const Host& A,
      const std::function<bool(std::int64_t, std::int64_t)>& keep) {
    Host made;
    made.rows = made.columns = A.rows;
    for (std::int64_t i = 0; i < A.rows; ++i) {
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
        if (keep(i, A.entries[k])) {
          made.entries.push_back(A.entries[k]);
          made.values.push_back(A.values[k]);
        }
      made.row_map.push_back(static_cast<std::int64_t>(made.entries.size()));
    }
    return made;
  }
  /// With lower triangles that differ by as much as the rounding errors of an
  /// assembly.
  static Host assembled(const Host& A) {
    return with_lower(A, [](Scalar v) {
      return v * Scalar(static_cast<Real>(1 + 450 * eps));
    });
  }
};
TYPED_TEST_SUITE(SymmetryTolerance, Scalars);

TYPED_TEST(SymmetryTolerance, RoundingErrorsOfTheLowerTriangleDoNotCount) {
  using Fixture = TestFixture;
  const auto A = hermitian<TypeParam>(graph),
             other = hermitian<TypeParam>(graph);
  const auto rounded = Fixture::assembled(A);
  ASSERT_NE(rounded.values, A.values);
  for (const int level : {0, 1})
    for (const double shift : {0.0, 0.25})
      for (const bool enqueue : {false, true}) {
        SCOPED_TRACE(std::to_string(level) + ", shift " +
                     std::to_string(shift) + (enqueue ? ", enqueued" : ""));
        auto options = Fixture::options_of(level);
        options.shift = shift;
        options.enqueue_updates = enqueue;
        if (enqueue)
          options.triangular.algorithm = Strata::Algorithm::automatic;
        const auto expected = Fixture::factorise(A, options);
        Fixture::expect_same(Fixture::factorise(rounded, options), expected);
        auto updated = Fixture::factorise(other, options);
        updated.update_values(Device(), Fixture::crs(rounded));
        Fixture::expect_same(updated, expected);
        if (!enqueue) continue;
        auto enqueued = Fixture::factorise(other, options);
        const auto values = Fixture::crs(rounded);
        enqueued.enqueue_update_values(Device(), values);
        Kokkos::fence();
        Fixture::expect_same(enqueued, expected);
      }
  for (const auto order : {FactorOrder::natural, FactorOrder::coloured}) {
    SCOPED_TRACE(to_string(order));
    const auto expected = Fixture::applied(Fixture::in_order(A, order));
    EXPECT_EQ(Fixture::applied(Fixture::in_order(rounded, order)), expected);
    auto updated = Fixture::in_order(other, order);
    updated.update_values(Device(), Fixture::crs(rounded));
    EXPECT_EQ(Fixture::applied(updated), expected);
  }
}

TYPED_TEST(SymmetryTolerance, IsRelativeToWhatTheDiagonalAllows) {
  using Fixture = TestFixture;
  using Real = typename Fixture::Real;
  const double limit = std::sqrt(Fixture::eps);
  // D A D has the same answer as A; powers of two leave no rounding errors.
  for (const bool scaled : {false, true})
    for (const double size : {0.5 * limit, 2 * limit}) {
      auto A = hermitian<TypeParam>(graph);
      A.at(0, 1) = TypeParam(0);
      A.at(1, 0) = TypeParam(static_cast<Real>(
          size * std::sqrt(wide(A.at(0, 0)).real() * wide(A.at(1, 1)).real())));
      for (std::int64_t i = 0; scaled && i < A.rows; ++i)
        for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
          A.values[k] *= TypeParam(
              static_cast<Real>(std::exp2(i % 9 * 4 + A.entries[k] % 9 * 4)));
      if (size < limit)
        EXPECT_NO_THROW(Fixture::factorise(A, Fixture::options_of()));
      else
        EXPECT_THROW(Fixture::factorise(A, Fixture::options_of()),
                     Strata::NotHermitianError);
    }
}

TYPED_TEST(SymmetryTolerance, InfinityReadsTheUpperTriangleAlone) {
  using Fixture = TestFixture;
  using Host = HostMatrix<TypeParam>;
  const auto A = hermitian<TypeParam>(graph);
  constexpr auto nan = std::numeric_limits<typename Fixture::Real>::quiet_NaN();
  std::vector<Host> all{
      Fixture::with_lower(A,
                          [](TypeParam) { return random_number<TypeParam>(); }),
      Fixture::with_lower(A, [=](TypeParam) { return TypeParam(nan); }),
      // The upper triangle alone, and most entries of the lower one.
      Fixture::kept(A, [](auto i, auto j) { return i <= j; }),
      Fixture::kept(A, [](auto i, auto j) { return i <= j || (i + j) % 5; })};
  // One that has no mirror image.
  const auto without = Fixture::kept(A, [](auto i, auto j) {
    return !(i == 0 && j != 0) && !(i == 9 && j == 0);
  });
  const auto hermitian_one =
      Fixture::kept(without, [](auto i, auto j) { return i == 0 || j != 0; });
  ASSERT_GT(without.entries.size(), hermitian_one.entries.size());
  for (const int level : {0, 2}) {
    const auto options = Fixture::options_of(level, infinity);
    const auto expected = Fixture::factorise(A, Fixture::options_of(level));
    for (const auto& given : all) {
      auto found = Fixture::factorise(given, options);
      Fixture::expect_same(found, expected);
      // Other values, of which the pattern's own places are known.
      auto doubled = given;
      for (auto& v : doubled.values) v *= TypeParam(2);
      found.update_values(Device(), Fixture::crs(doubled));
      auto of_a = A;
      for (auto& v : of_a.values) v *= TypeParam(2);
      Fixture::expect_same(
          found, Fixture::factorise(of_a, Fixture::options_of(level)));
    }
    Fixture::expect_same(Fixture::factorise(without, options),
                         Fixture::factorise(hermitian_one, options));
  }
  for (const auto order : {FactorOrder::natural, FactorOrder::coloured}) {
    SCOPED_TRACE(to_string(order));
    const auto expected = Fixture::applied(Fixture::in_order(A, order));
    for (const auto& given : all) {
      // With fewer entries, level sets and colours are others.
      if (given.entries.size() != A.entries.size() &&
          order != FactorOrder::natural)
        continue;
      EXPECT_EQ(Fixture::applied(Fixture::in_order(given, order, infinity)),
                expected);
    }
  }
}

TYPED_TEST(SymmetryTolerance, UpdatesOfAnUpperTriangleKeepTheirChecks) {
  using Fixture = TestFixture;
  const auto upper = Fixture::kept(hermitian<TypeParam>(graph),
                                   [](auto i, auto j) { return i <= j; });
  for (const bool enqueue : {false, true}) {
    auto options = Fixture::options_of(0, infinity);
    options.enqueue_updates = enqueue;
    if (enqueue) options.triangular.algorithm = Strata::Algorithm::automatic;
    auto factors = Fixture::factorise(upper, options);
    const auto same = Fixture::factorise(upper, options);
    auto bad = upper;
    bad.at(7, 7) = TypeParam(0);
    EXPECT_THROW(factors.update_values(Device(), Fixture::crs(bad)),
                 Strata::ZeroDiagonalError);
    bad = upper;
    bad.at(8, 8) = TypeParam(-9);
    try {
      factors.update_values(Device(), Fixture::crs(bad));
      ADD_FAILURE() << "taken";
    } catch (const Strata::IndefiniteError& error) {
      EXPECT_EQ(error.row(), 8);
    }
    EXPECT_THROW(factors.update_values(
                     Device(), Fixture::crs(hermitian<TypeParam>(graph))),
                 Strata::PatternMismatchError);
    Fixture::expect_same(factors, same);
    if (!enqueue) continue;
    const auto values = Fixture::crs(bad);
    factors.enqueue_update_values(Device(), values);
    Strata::UpdateStatus status;
    Kokkos::deep_copy(status, factors.update_status());
    EXPECT_EQ(status.fault, Strata::UpdateFault::not_positive);
    EXPECT_EQ(status.row, 8);
    Fixture::expect_same(factors, same);
  }
}

TYPED_TEST(SymmetryTolerance, WhatIsNotHermitianIsNamed) {
  using Fixture = TestFixture;
  const auto A = hermitian<TypeParam>(graph);
  const auto refused = [&](const auto& bad, const std::string& upper,
                           const std::string& lower) {
    const auto expect = [&](const auto& make) {
      try {
        make();
        ADD_FAILURE() << "taken";
      } catch (const Strata::NotHermitianError& error) {
        EXPECT_EQ(error.argument(), "A");
        EXPECT_EQ(error.row(), 3);
        const std::string text = error.what();
        for (const auto& part :
             {upper, lower, std::string("symmetry_tolerance")})
          EXPECT_NE(text.find(part), std::string::npos) << text;
        EXPECT_EQ(text.find("gradient"), std::string::npos) << text;
      }
    };
    for (const int level : {0, 1})
      expect([&] { Fixture::factorise(bad, Fixture::options_of(level)); });
    for (const auto order : {FactorOrder::natural, FactorOrder::coloured})
      expect([&] { Fixture::in_order(bad, order); });
  };
  const auto right = A.entries[A.row_map[4] - 1];  // of row 3
  const auto name = [](std::int64_t i, std::int64_t j) {
    return "entry (" + std::to_string(i) + ", " + std::to_string(j) + ") is ";
  };
  const bool is_complex =
      !std::is_same<typename Fixture::Real, TypeParam>::value;
  auto bad = A;
  bad.at(3, right) = TypeParam(0.5);
  bad.at(right, 3) = TypeParam(0.75);
  refused(bad, name(3, right) + (is_complex ? "(0.5,0)" : "0.5"),
          name(right, 3) + (is_complex ? "(0.75,0)" : "0.75"));
  refused(
      Fixture::kept(bad, [&](auto i, auto j) { return i != right || j != 3; }),
      name(3, right) + (is_complex ? "(0.5,0)" : "0.5"),
      name(right, 3) + "not stored");
  bad = A;
  bad.at(3, 3) =
      TypeParam(std::numeric_limits<typename Fixture::Real>::quiet_NaN());
  refused(bad, name(3, 3), "not a real number");
  if constexpr (!std::is_same<typename Fixture::Real, TypeParam>::value) {
    bad.at(3, 3) = TypeParam(20, 1);
    refused(bad, name(3, 3) + "(20,1)", "not a real number");
    bad = A;
    // The same, not its conjugate.
    bad.at(3, right) = bad.at(right, 3) = TypeParam(0.25, 0.5);
    refused(bad, name(3, right) + "(0.25,0.5)", name(right, 3) + "(0.25,0.5)");
  }
}

TYPED_TEST(SymmetryTolerance, IsAnOptionOfCholeskyWithALimit) {
  using Fixture = TestFixture;
  const auto A = hermitian<TypeParam>(graph);
  // The halves of row 0 differ by a tenth of their size, which is that of the
  // diagonal at most.
  auto bad = A;
  const auto j = A.entries[A.row_map[1] - 1];
  bad.at(j, 0) *= TypeParam(static_cast<typename Fixture::Real>(0.9));
  for (const int level : {0, 1}) {
    EXPECT_NO_THROW(Fixture::factorise(bad, Fixture::options_of(level, 0.11)));
    EXPECT_NO_THROW(Fixture::factorise(A, Fixture::options_of(level, 0.0)));
    EXPECT_THROW(Fixture::factorise(Fixture::assembled(A),
                                    Fixture::options_of(level, 0.0)),
                 Strata::NotHermitianError);
  }
  for (const double wrong : {-1e-300, std::nan("")}) {
    EXPECT_THROW(Fixture::factorise(A, Fixture::options_of(0, wrong)),
                 Strata::OptionError);
    for (const auto order : {FactorOrder::natural, FactorOrder::coloured})
      EXPECT_THROW(Fixture::in_order(A, order, wrong), Strata::OptionError);
  }
  auto of_lu = Fixture::options_of(0, 0.5);
  of_lu.kind = Factorization::incomplete_lu;
  EXPECT_THROW(Fixture::factorise(A, of_lu), Strata::OptionError);
  EXPECT_FALSE(Fixture::options_of(0, 0.5) == Fixture::options_of(0));
}

TEST(SymmetryTolerance, MatricesWithoutRows) {
  Options options;
  options.kind = Factorization::incomplete_cholesky;
  for (const double tolerance : {0.0, infinity}) {
    options.symmetry_tolerance = tolerance;
    EXPECT_EQ((Strata::IncompleteFactorization<double, Device>(
                   Device(), Crs<double>(), options.kind, options)
                   .rows()),
              0);
  }
}

}  // namespace
