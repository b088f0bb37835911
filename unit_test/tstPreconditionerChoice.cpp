// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of rows of an IncompleteFactorization: which one is chosen, and
// what the coloured one refuses.
#include <gtest/gtest.h>

#include <Strata_IncompleteFactorization.hpp>
#include <string>

#include "HermitianMatrix.hpp"
#include "InOrder.hpp"

namespace {

using Strata::Factorization;
using Strata::FactorOrder;
using Strata::in_order;
using Factors = Strata::IncompleteFactorization<double, Device>;
using Options = Strata::IncompleteFactorizationOptions;

constexpr auto cholesky = Factorization::incomplete_cholesky;

Crs<double> matrix(const std::string& spec) {
  return hermitian<double>(spec).to_device<Crs<double>>();
}
FactorOrder chosen(const Crs<double>& A, Factorization kind = cholesky,
                   Options options = {}) {
  options.order = FactorOrder::automatic;
  return Factors(Device(), A, kind, options).report().order;
}

TEST(PreconditionerChoice, IsTwoColoursOnADevice) {
  const auto order =
      on_gpu<Device> ? FactorOrder::coloured : FactorOrder::natural;
  for (const auto* spec : {"grid3d:12", "grid2d:30", "chain:2", "arrow:1000"}) {
    const Factors M(Device(), matrix(spec), cholesky,
                    in_order(FactorOrder::automatic));
    EXPECT_EQ(M.report().order, order) << spec;
    EXPECT_EQ(M.report().colours, on_gpu<Device> ? 2 : 0) << spec;
  }
}

TEST(PreconditionerChoice, IsNaturalElse) {
  // More colours, one, and a long row.
  for (const auto* spec :
       {"grid3d27:5", "triangulated:9x7", "diagonal:50", "arrow:3000"})
    EXPECT_EQ(chosen(matrix(spec)), FactorOrder::natural) << spec;
  // Whose matrix need not be Hermitian.
  EXPECT_EQ(chosen(matrix("grid3d:9"), Factorization::incomplete_lu),
            FactorOrder::natural);
  EXPECT_EQ(chosen(Crs<double>()), FactorOrder::natural);
}

TEST(PreconditionerChoice, IsReported) {
  const auto A = matrix("grid3d:12");
  const Factors M(Device(), A, cholesky, in_order(FactorOrder::automatic));
  EXPECT_EQ(M.report().order_reason, on_gpu<Device> ? "the rows have 2 colours"
                                                    : "the choice on a host");
  const auto entries = static_cast<std::int64_t>(A.nnz());
  for (const auto order : {FactorOrder::natural, FactorOrder::coloured}) {
    const Factors named(Device(), A, cholesky, in_order(order));
    const auto& report = named.report();
    EXPECT_EQ(report.kind, cholesky);
    EXPECT_EQ(report.order, order);
    EXPECT_EQ(report.order_reason, "asked for");
    EXPECT_EQ(report.colours, order == FactorOrder::coloured ? 2 : 0);
    EXPECT_EQ(report.rows, 1728);
    EXPECT_EQ(report.entries, entries);
    EXPECT_EQ(report.lower_entries, (entries + 1728) / 2);
    EXPECT_EQ(report.upper_entries, (entries + 1728) / 2);
    EXPECT_GE(report.factor_bytes, 8 * static_cast<std::size_t>(entries));
    EXPECT_EQ(named.options().order, order);
    EXPECT_EQ(named.rows(), 1728);
  }
  EXPECT_EQ(Factors(Device(), A, cholesky).report().order,
            FactorOrder::natural);
}

template <class Use>
void expect_refused(const char* argument, const Use& use) {
  try {
    use();
    ADD_FAILURE() << argument << " is taken";
  } catch (const Strata::OptionError& error) {
    EXPECT_EQ(error.argument(), argument);
    EXPECT_NE(error.remedy().find("FactorOrder::natural"), std::string::npos)
        << error.what();
  }
}

TEST(ColouredOrder, RefusesOptionsOfTheNaturalOrder) {
  const auto A = matrix("grid2d:12");
  const auto expect = [&](const char* name, const auto& set) {
    Options options = in_order(FactorOrder::coloured);
    set(options);
    expect_refused(name, [&] { Factors(Device(), A, cholesky, options); });
    EXPECT_EQ(chosen(A, cholesky, options), FactorOrder::natural) << name;
    EXPECT_FALSE(options == in_order(FactorOrder::coloured));
  };
  expect("triangular", [](Options& options) {
    options.triangular.algorithm = Strata::Algorithm::level_sets;
  });
  expect("triangular", [](Options& options) {
    options.triangular.max_plan_bytes = std::size_t{1} << 30;
  });
  expect("transpose", [](Options& options) { options.transpose = true; });
  expect("shift", [](Options& options) { options.shift = 0.5; });
  expect("precision", [](Options& options) {
    options.precision = Strata::FactorPrecision::single;
  });
  expect("enqueue_updates",
         [](Options& options) { options.enqueue_updates = true; });
  expect("small_pivot_threshold",
         [](Options& options) { options.small_pivot_threshold = 1e-8; });
  expect("fill_level", [](Options& options) { options.fill_level = 1; });
}

TEST(ColouredOrder, RefusesWhatNeedsTriangularSolvers) {
  const auto A = matrix("grid2d:12");
  Factors M(Device(), A, cholesky, in_order(FactorOrder::coloured));
  const Vector<double> b("b", 144), x("x", 144), shorter("shorter", 143);
  expect_refused("order", [&] { M.share_plan(Device()); });
  expect_refused("order", [&] { M.lower(Device()); });
  expect_refused("order", [&] { M.upper(Device()); });
  expect_refused("order", [&] { M.update_status(); });
  expect_refused("order", [&] { M.enqueue_update_values(Device(), A); });
  expect_refused("order", [&] { M.enqueue_update_values(Device(), A.values); });
  expect_refused("op", [&] { M.apply(Device(), b, x, Strata::Op::transpose); });
  EXPECT_THROW(M.apply(Device(), b, shorter), Strata::SizeMismatchError);
  EXPECT_THROW(M.update_values(Device(), matrix("grid2d:11")),
               Strata::PatternMismatchError);
}

TEST(ColouredOrder, AppliesToSeveralRightHandSides) {
  const Factors M(Device(), matrix("grid2d:12"), cholesky,
                  in_order(FactorOrder::coloured));
  using Block = Kokkos::View<double**, Kokkos::LayoutRight, Device>;
  const Block b("b", 144, 3), x("x", 144, 3);
  for (int k = 0; k < 3; ++k)
    Kokkos::deep_copy(Kokkos::subview(b, Kokkos::ALL(), k),
                      random_vector<double>(144));
  M.apply(Device(), b, x);
  for (int k = 0; k < 3; ++k) {
    const Vector<double> of_one("one", 144), found("found", 144);
    M.apply(Device(), Kokkos::subview(b, Kokkos::ALL(), k), of_one);
    Kokkos::deep_copy(found, Kokkos::subview(x, Kokkos::ALL(), k));
    EXPECT_EQ(on_host(found), on_host(of_one)) << k;
  }
}

}  // namespace
