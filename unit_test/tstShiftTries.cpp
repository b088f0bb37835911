// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shifts that are doubled until a factorisation succeeds.
#include <gtest/gtest.h>

#include <Strata_Error.hpp>
#include <cmath>

#include "GivenPatternCases.hpp"

namespace {

using Options = Strata::IncompleteFactorizationOptions;

template <class Scalar>
struct ShiftTries : testing::Test {
  using Factors = Strata::IncompleteFactorization<Scalar, Device>;
  using Host = HostMatrix<Scalar>;
  static Factors factorise(const Host& A, Factorization kind, double shift,
                           int tries, int fill_level = 0) {
    Options options;
    options.shift = shift;
    options.shift_tries = tries;
    options.fill_level = fill_level;
    return Factors(Device(), A.template to_device<Crs<Scalar>>(), kind,
                   options);
  }
  static void expect_same(const Factors& a, const Factors& b) {
    EXPECT_EQ(Host(a.upper(Device())).values, Host(b.upper(Device())).values);
    EXPECT_EQ(Host(a.lower(Device())).values, Host(b.lower(Device())).values);
  }
};
TYPED_TEST_SUITE(ShiftTries, Scalars);

TYPED_TEST(ShiftTries, EndWithTheFirstThatSucceeds) {
  constexpr auto ic = Factorization::incomplete_cholesky;
  for (const int fill_level : {0, 1})
    for (const double first : {0., 0.05}) {
      const auto A = hermitian<TypeParam>("triangulated:9x7", 0.3);
      const auto factors = this->factorise(A, ic, first, 30, fill_level);
      const auto& report = factors.report();
      const int tries = report.shift_tries;
      ASSERT_GT(tries, 1);
      EXPECT_EQ(report.shift, first > 0 ? first * std::exp2(tries - 1)
                                        : 1e-3 * std::exp2(tries - 2));
      this->expect_same(factors,
                        this->factorise(A, ic, report.shift, 1, fill_level));
      EXPECT_THROW(this->factorise(A, ic, first, tries - 1, fill_level),
                   Strata::Error);
      EXPECT_THROW(this->factorise(A, ic, report.shift / 2, 1, fill_level),
                   Strata::Error);
    }
}

TYPED_TEST(ShiftTries, BeginAgainWithEachUpdate) {
  constexpr auto ic = Factorization::incomplete_cholesky;
  const auto good = hermitian<TypeParam>("triangulated:9x7"),
             poor = hermitian<TypeParam>("triangulated:9x7", 0.3),
             worse = hermitian<TypeParam>("triangulated:9x7", 1e-9);
  auto factors = this->factorise(good, ic, 0, 14);
  EXPECT_EQ(factors.report().shift, 0);
  EXPECT_EQ(factors.report().shift_tries, 1);
  const auto give = [&](const HostMatrix<TypeParam>& A) {
    factors.update_values(Device(), A.template to_device<Crs<TypeParam>>());
  };
  give(poor);
  this->expect_same(factors, this->factorise(poor, ic, 0, 14));
  const double shift = factors.report().shift;
  EXPECT_GT(shift, 0);
  EXPECT_THROW(give(worse), Strata::Error);
  this->expect_same(factors, this->factorise(poor, ic, 0, 14));
  EXPECT_EQ(factors.report().shift, shift);
  give(good);
  EXPECT_EQ(factors.report().shift, 0);
}

TYPED_TEST(ShiftTries, MoveAZeroPivotOfLu) {
  const HostMatrix<TypeParam> A(
      3, 3,
      {TypeParam(1), TypeParam(1), TypeParam(0), TypeParam(1), TypeParam(1),
       TypeParam(1), TypeParam(0), TypeParam(1), TypeParam(4)});
  EXPECT_THROW(this->factorise(A, Factorization::incomplete_lu, 0, 1),
               Strata::FactorizationError);
  const auto factors = this->factorise(A, Factorization::incomplete_lu, 0, 2);
  EXPECT_EQ(factors.report().shift, 1e-3);
  EXPECT_EQ(factors.report().shift_tries, 2);
  EXPECT_NEAR(
      std::abs(wide(HostMatrix<TypeParam>(factors.upper(Device())).values[2])),
      2e-3, 1e-5);
}

TYPED_TEST(ShiftTries, AreBoundedAndNotEnqueued) {
  const auto A = hermitian<TypeParam>("poisson:5");
  const auto expect_refused = [&](const Options& options, const char* name) {
    try {
      typename TestFixture::Factors(Device(),
                                    A.template to_device<Crs<TypeParam>>(),
                                    Factorization::incomplete_lu, options);
      FAIL() << name;
    } catch (const Strata::OptionError& error) {
      EXPECT_EQ(error.argument(), name);
    }
  };
  Options options;
  for (const int tries : {-1, 0, 65}) {
    options.shift_tries = tries;
    expect_refused(options, "shift_tries");
  }
  options.shift_tries = 2;
  options.enqueue_updates = true;
  expect_refused(options, "enqueue_updates");
  options.enqueue_updates = false;
  options.order = Strata::FactorOrder::coloured;
  expect_refused(options, "shift_tries");
}

}  // namespace
