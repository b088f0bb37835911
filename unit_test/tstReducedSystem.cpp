// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>
#include <Strata_Colouring.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <algorithm>
#include <cmath>
#include <kernels/factorization/colours/TwoColourBlocks.hpp>
#include <kernels/krylov/solve/KrylovSolve.hpp>
#include <limits>

#include "HermitianMatrix.hpp"
#include "InOrder.hpp"

namespace {

using Strata::CgOptions;
using Strata::CgStatus;
using Strata::Factorization;
using Strata::FactorOrder;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class Scalar>
constexpr bool narrow = sizeof(Strata::Detail::RealOf<Scalar>) == 4;

/// The same factors, of which a solver knows nothing but the application.
template <class Preconditioner>
struct Opaque {
  const Preconditioner& M;
  template <class R, class Z>
  void apply(const Device& exec, const R& r, const Z& z) const {
    M.apply(exec, r, z);
  }
};

template <class Scalar>
auto coloured(const Crs<Scalar>& A) {
  return Strata::IncompleteFactorization<Scalar, Device>(
      Device(), A, Factorization::incomplete_cholesky,
      Strata::in_order(FactorOrder::coloured));
}

template <class Scalar>
class ReducedSystem : public testing::Test {};
TYPED_TEST_SUITE(ReducedSystem, Scalars);

/// The last has a colour of one row, which is long.
const std::vector<std::string> two_colours{"grid3d:11", "grid2d:30", "chain:2",
                                           "chain:999", "arrow:3000"};

TYPED_TEST(ReducedSystem, TakesTheStepsOfTheIncompleteFactors) {
  using Scalar = TypeParam;
  const Device exec;
  CgOptions options;
  for (const auto& spec : two_colours) {
    SCOPED_TRACE(spec);
    // In a row of 3,000 entries, sums in single precision are as far off as
    // 3e-5 ||b||.
    options.relative_tolerance =
        narrow<Scalar> ? (spec == "arrow:3000" ? 1e-4 : 1e-5) : 1e-10;
    const auto host = hermitian<Scalar>(spec, 1.001);
    const auto crs = host.template to_device<Crs<Scalar>>();
    const Strata::SellMatrix A(exec, crs);
    const auto M = coloured(crs);
    ASSERT_EQ(M.report().colours, 2);
    ASSERT_NE(Strata::Detail::Internals::reduced(M), nullptr);
    Strata::ConjugateGradient<Scalar, Device> solver(exec, host.rows, options);
    // Strided vectors, and a solution that is guessed.
    Kokkos::View<Scalar**, Kokkos::LayoutRight, Device> block("block",
                                                              host.rows, 3);
    const auto b = Kokkos::subview(block, Kokkos::ALL(), 1),
               x = Kokkos::subview(block, Kokkos::ALL(), 2);
    Kokkos::deep_copy(b, random_vector<Scalar>(host.rows));
    const auto guess = random_vector<Scalar>(host.rows);
    const Vector<Scalar> y("y", host.rows);
    const auto expect = [&](const auto& result, const auto& found) {
      ASSERT_EQ(result.status, CgStatus::converged) << result.iterations;
      ASSERT_EQ(result.history.size(), std::size_t(result.iterations) + 1);
      const double residual = relative_residual(host, on_host(b), found);
      EXPECT_LE(residual, 3 * options.relative_tolerance);
      EXPECT_NEAR(result.residual_norm / result.rhs_norm, residual,
                  (narrow<Scalar> ? 2 : 0.1) * options.relative_tolerance);
      double squares = 0;
      for (const auto& v : on_host(b)) squares += std::norm(wide(v));
      EXPECT_NEAR(result.rhs_norm, std::sqrt(squares),
                  1e-6 * std::sqrt(squares));
    };
    for (const bool guessed : {false, true}) {
      Kokkos::deep_copy(y, Scalar(0));
      if (guessed) Kokkos::deep_copy(y, guess);
      const auto wanted = solver.solve(exec, A, Opaque<decltype(M)>{M}, b, y);
      expect(wanted, on_host(y));
      std::vector<Scalar> first;
      for (int run = 0; run < 2; ++run) {
        Kokkos::deep_copy(x, Scalar(0));
        if (guessed) Kokkos::deep_copy(x, guess);
        const auto result = solver.solve(exec, A, M, b, x);
        expect(result, on_host(x));
        // The first colour's residual, which the other begins with, is gone.
        EXPECT_NEAR(result.iterations, wanted.iterations,
                    2 + 0.05 * wanted.iterations);
        if (run == 1) {
          EXPECT_EQ(on_host(x), first) << "not the same bits";
        }
        first = on_host(x);
      }
    }
  }
}

TYPED_TEST(ReducedSystem, IsOfOneMatrixOnly) {
  using Scalar = TypeParam;
  using Reduced = Strata::Detail::TwoColourBlocks<Scalar, Device>;
  using Factor = Strata::Detail::TwoColourFactor<Crs<Scalar>>;
  const Device exec;
  const double least =
      narrow<Scalar> ? 1e-3 : 1e-11;  // 256 roundings, and some more
  for (const auto& spec : two_colours) {
    SCOPED_TRACE(spec);
    const auto host = hermitian<Scalar>(spec);
    const auto crs = host.template to_device<Crs<Scalar>>();
    const auto colouring = Strata::colour_rows(exec, crs);
    const Reduced reduced(exec, Factor(exec, crs, colouring, true));
    EXPECT_EQ(reduced.first_rows() + reduced.rows(), host.rows);
    const Vector<Scalar> v("v", host.rows), w("w", host.rows);
    const Kokkos::View<double*, Device> counts("counts", 2);
    const auto sum =
        Strata::Detail::make_grid_sum(exec, reduced.extra_parts(), 4);
    Kokkos::parallel_for("probe", Kokkos::RangePolicy<Device>(0, host.rows),
                         Strata::Detail::FillProbe<Scalar>{v.data()});
    const auto agrees = [&](const HostMatrix<Scalar>& other) {
      const Strata::SellMatrix A(exec, other.template to_device<Crs<Scalar>>());
      A.apply(exec, v, w);
      return reduced.agrees(exec, w.data(), counts, sum);
    };
    EXPECT_TRUE(agrees(host));
    std::uniform_int_distribution<std::size_t> any(0, host.values.size() - 1);
    for (int time = 0; time < 12; ++time) {
      auto other = host;
      auto& value = other.values[any(generator())];
      value += Scalar(static_cast<Strata::Detail::RealOf<Scalar>>(
          time == 0 ? nan : 1e3 * least * other.rows));
      EXPECT_FALSE(agrees(other));
    }
    // A conductance, of which a vector with equal elements sees nothing, and
    // the probe little where two of its elements are almost equal.
    const auto differ = [](std::int64_t i, std::int64_t j) {
      return std::abs(Strata::Detail::probe_element(i) -
                      Strata::Detail::probe_element(j)) > 0.01;
    };
    int changed = 0;
    for (int time = 0; time < 12; ++time) {
      auto other = host;
      const auto i = static_cast<std::int64_t>(
          any(generator()) % static_cast<std::size_t>(host.rows));
      for (auto k = host.row_map[i]; k < host.row_map[i + 1]; ++k) {
        const auto j = host.entries[k];
        if (j == i || !differ(i, j)) continue;
        ++changed;
        const Scalar change = other.at(i, i) * Scalar(0.25f);
        other.at(i, i) += change;
        other.at(j, j) += change;
        other.at(i, j) -= change;
        other.at(j, i) -= change;
        EXPECT_FALSE(agrees(other));
        break;
      }
    }
    EXPECT_GT(changed, 0);
  }
}

TYPED_TEST(ReducedSystem, IsLeftAloneWhereFactorsAreOfOtherValues) {
  using Scalar = TypeParam;
  const Device exec;
  CgOptions options;
  options.relative_tolerance = narrow<Scalar> ? 1e-5 : 1e-10;
  const auto host = hermitian<Scalar>("grid3d:11", 1.01);
  auto other = host;
  for (std::int64_t i = 0; i < host.rows; ++i)
    other.at(i, i) *= Scalar(1 + 0.5f * static_cast<float>(i % 3));
  const auto crs = other.template to_device<Crs<Scalar>>();
  const Strata::SellMatrix A(exec, crs);
  auto M = coloured(host.template to_device<Crs<Scalar>>());
  Strata::ConjugateGradient<Scalar, Device> solver(exec, host.rows, options);
  const auto b = random_vector<Scalar>(host.rows);
  const Vector<Scalar> x("x", host.rows), y("y", host.rows);
  const auto wanted = solver.solve(exec, A, Opaque<decltype(M)>{M}, b, y);
  const auto of_old = solver.solve(exec, A, M, b, x);
  ASSERT_EQ(of_old.status, CgStatus::converged);
  EXPECT_LE(relative_residual(other, on_host(b), on_host(x)),
            3 * options.relative_tolerance);
  EXPECT_NEAR(of_old.iterations, wanted.iterations, 1);
  EXPECT_EQ(of_old.restarts, wanted.restarts);
  M.update_values(exec, crs);
  Kokkos::deep_copy(x, Scalar(0));
  const auto of_new = solver.solve(exec, A, M, b, x);
  ASSERT_EQ(of_new.status, CgStatus::converged);
  EXPECT_LE(relative_residual(other, on_host(b), on_host(x)),
            3 * options.relative_tolerance);
  EXPECT_EQ(of_new.restarts, 0);
  // The same steps as of factors made anew.
  Kokkos::deep_copy(y, Scalar(0));
  const auto anew = solver.solve(exec, A, coloured(crs), b, y);
  EXPECT_EQ(of_new.iterations, anew.iterations);
  EXPECT_EQ(on_host(x), on_host(y));
}

TEST(ReducedSystems, StatusTellsHowASolveEnded) {
  const Device exec;
  const auto host = hermitian<double>("grid3d:9", 1.0001);
  const auto crs = host.to_device<Crs<double>>();
  const Strata::SellMatrix A(exec, crs);
  const auto M = coloured(crs);
  const auto b = random_vector<double>(host.rows);
  const Vector<double> x("x", host.rows), none("none", host.rows);
  const auto solve = [&](const CgOptions& options, const auto& rhs) {
    Strata::ConjugateGradient<double, Device> solver(exec, host.rows, options);
    return solver.solve(exec, A, M, rhs, x);
  };
  const auto true_residual = [&](const auto& result) {
    EXPECT_NEAR(result.residual_norm / result.rhs_norm,
                relative_residual(host, on_host(b), on_host(x)), 1e-10);
  };
  CgOptions options;
  // x = 0 for b = 0, whatever x was.
  Kokkos::deep_copy(x, 3.0);
  EXPECT_EQ(solve(options, none).status, CgStatus::converged);
  EXPECT_EQ(on_host(x), on_host(none));
  for (const int most : {0, 1, 5}) {
    options.max_iterations = most;
    Kokkos::deep_copy(x, 0.0);
    const auto result = solve(options, b);
    EXPECT_EQ(result.status, CgStatus::max_iterations);
    EXPECT_EQ(result.iterations, most);
    true_residual(result);
  }
  options = CgOptions();
  options.progress = [](int it, double) { return it < 4; };
  Kokkos::deep_copy(x, 0.0);
  const auto stopped = solve(options, b);
  EXPECT_EQ(stopped.status, CgStatus::stopped);
  EXPECT_LT(stopped.iterations, 20);
  true_residual(stopped);
  // As small as rounding lets it become, and no smaller.
  options = CgOptions();
  options.relative_tolerance = 1e-17;
  Kokkos::deep_copy(x, 0.0);
  const auto fine = solve(options, b);
  EXPECT_EQ(fine.status, CgStatus::stagnated);
  EXPECT_GT(fine.restarts, 0);
  EXPECT_LE(fine.residual_norm, 1e-14 * fine.rhs_norm);
  true_residual(fine);
  // Nothing is left to do.
  options = CgOptions();
  EXPECT_EQ(solve(options, b).iterations, 0);
  // NaN and infinities leave x alone.
  for (const double bad : {nan, std::numeric_limits<double>::infinity()}) {
    Kokkos::deep_copy(x, 2.0);
    const Vector<double> wrong("wrong", host.rows);
    Kokkos::deep_copy(Kokkos::subview(wrong, host.rows / 2), bad);
    EXPECT_EQ(solve(options, wrong).status, CgStatus::not_finite);
    for (const double v : on_host(x)) ASSERT_EQ(v, 2.0);
  }
}

/// Of x, the first colour's part is not read otherwise.
TEST(ReducedSystems, ANaNIsFoundWhereverItIs) {
  const Device exec;
  const auto host = hermitian<double>("chain:10");
  const auto crs = host.to_device<Crs<double>>();
  const Strata::SellMatrix A(exec, crs);
  const auto M = coloured(crs);
  ASSERT_NE(Strata::Detail::Internals::reduced(M), nullptr);
  Strata::ConjugateGradient<double, Device> solver(exec, host.rows);
  const auto b = random_vector<double>(host.rows);
  for (std::int64_t i = 0; i < host.rows; ++i)
    for (const double bad : {nan, std::numeric_limits<double>::infinity()}) {
      const Vector<double> x("x", host.rows);
      Kokkos::deep_copy(Kokkos::subview(x, i), bad);
      EXPECT_EQ(solver.solve(exec, A, M, b, x).status, CgStatus::not_finite);
      const auto left = on_host(x);
      for (std::int64_t j = 0; j < host.rows; ++j)
        EXPECT_TRUE(j == i || left[j] == 0);
    }
}

/// What is left of a residual may all be roundings of the first colour.
TEST(ReducedSystems, RoundingsMakeNoMatrixIndefinite) {
  const Device exec;
  CgOptions options;
  options.relative_tolerance = 1e-17;
  Strata::ConjugateGradient<double, Device> solver(exec, 2, options);
  for (int time = 0; time < 200; ++time) {
    HostMatrix<double> host;
    host.rows = host.columns = 2;
    host.row_map = {0, 2, 4};
    host.entries = {0, 1, 0, 1};
    const double beside = random_number<double>();
    host.values = {1.5 + random_number<double>() / 4, beside, beside, 1.25};
    const auto crs = host.to_device<Crs<double>>();
    const Strata::SellMatrix A(exec, crs);
    const auto M = coloured(crs);
    const auto b = random_vector<double>(2);
    const Vector<double> x("x", 2);
    const auto result = solver.solve(exec, A, M, b, x);
    EXPECT_TRUE(result.status == CgStatus::converged ||
                result.status == CgStatus::stagnated)
        << to_string(result.status);
    EXPECT_LE(relative_residual(host, on_host(b), on_host(x)), 1e-14);
  }
}

/// Factors whose difference from A's is that of some roundings.
TEST(ReducedSystems, FactorsThatAreNearlyRightAreGoodEnough) {
  const Device exec;
  const auto host = hermitian<float>("grid3d:11");
  const auto M = coloured(host.to_device<Crs<float>>());
  const auto b = random_vector<float>(host.rows);
  for (const float change : {3e-7f, 1e-6f, 3e-6f, 1e-5f, 1e-4f}) {
    auto other = host;
    for (std::int64_t i = 0; i < host.rows; ++i) other.at(i, i) *= 1 + change;
    const Strata::SellMatrix A(exec, other.to_device<Crs<float>>());
    CgOptions options;
    options.relative_tolerance = std::max(1e-6f, change);
    Strata::ConjugateGradient<float, Device> solver(exec, host.rows, options);
    const Vector<float> x("x", host.rows), y("y", host.rows);
    const auto wanted = solver.solve(exec, A, Opaque<decltype(M)>{M}, b, y);
    const auto result = solver.solve(exec, A, M, b, x);
    EXPECT_EQ(result.status, wanted.status) << change;
    EXPECT_LE(relative_residual(other, on_host(b), on_host(x)),
              3 * options.relative_tolerance)
        << change;
  }
}

/// Pivots that are positive do not make a matrix so.
TEST(ReducedSystems, AnIndefiniteMatrixIsToldOf) {
  const Device exec;
  HostMatrix<double> host;
  host.rows = host.columns = 3;
  host.row_map = {0, 3, 5, 7};
  host.entries = {0, 1, 2, 0, 1, 0, 2};
  host.values = {1, 0.9, 0.9, 0.9, 1, 0.9, 1};
  const auto crs = host.to_device<Crs<double>>();
  const Strata::SellMatrix A(exec, crs);
  const auto M = coloured(crs);
  ASSERT_NE(Strata::Detail::Internals::reduced(M), nullptr);
  Strata::ConjugateGradient<double, Device> solver(exec, 3);
  const Vector<double> b("b", 3), x("x", 3);
  Kokkos::deep_copy(Kokkos::subview(b, std::make_pair(1, 3)), 1.0);
  EXPECT_EQ(solver.solve(exec, A, M, b, x).status, CgStatus::indefinite_matrix);
}

/// Where there are not two colours, or no Cholesky factors.
TEST(ReducedSystems, AreOfTwoColoursAlone) {
  const Device exec;
  const auto diagonal =
      hermitian<double>("diagonal:70").to_device<Crs<double>>();
  EXPECT_EQ(Strata::Detail::Internals::reduced(coloured(diagonal)), nullptr);
  const auto crs = hermitian<double>("grid3d:5").to_device<Crs<double>>();
  const Strata::IncompleteFactorization lu(
      exec, crs, Factorization::incomplete_lu,
      Strata::in_order(FactorOrder::coloured));
  EXPECT_EQ(Strata::Detail::Internals::reduced(lu), nullptr);
}

}  // namespace
