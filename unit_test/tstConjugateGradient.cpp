// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <KokkosSparse_spmv.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <cmath>
#include <limits>

#include "HermitianMatrix.hpp"
#include "InOrder.hpp"
#include "LateStatus.hpp"

namespace {

using Strata::CgOptions;
using Strata::CgStatus;
using Strata::Factorization;
using Strata::FactorOrder;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// An operator of the user's own.
template <class Scalar>
struct PlainOperator {
  Crs<Scalar> A;
  template <class X, class Y>
  void apply(const Device& exec, const X& x, const Y& y) const {
    exec.fence();
    KokkosSparse::spmv("N", Scalar(1), A, x, Scalar(0), y);
    Kokkos::fence();
  }
};

template <class Scalar>
class ConjugateGradients : public testing::Test {};
TYPED_TEST_SUITE(ConjugateGradients, Scalars);

TYPED_TEST(ConjugateGradients, SolveWhatIsHermitianPositiveDefinite) {
  using Scalar = TypeParam;
  const Device exec;
  const bool narrow = sizeof(RealOf<Scalar>) == 4;
  CgOptions options;
  options.relative_tolerance = narrow ? 1e-5 : 1e-11;
  for (const auto* spec : {"grid3d:11", "triangulated:30x17", "circuit:800",
                           "arrow:3000", "chain:1"}) {
    const auto host = hermitian<Scalar>(spec);
    const auto crs = host.template to_device<Crs<Scalar>>();
    const Strata::SellMatrix A(exec, crs);
    const Strata::JacobiPreconditioner jacobi(exec, crs);
    Strata::ConjugateGradient<Scalar, Device> solver(exec, host.rows, options);
    const auto b = random_vector<Scalar>(host.rows);
    std::vector<Scalar> first;
    const auto expect = [&](const char* how, const auto& result,
                            const auto& x) {
      ASSERT_EQ(result.status, CgStatus::converged)
          << spec << ' ' << how << ' ' << to_string(result.status);
      const double found = relative_residual(host, on_host(b), on_host(x));
      EXPECT_LE(found, 3 * options.relative_tolerance) << spec << how;
      EXPECT_NEAR(result.residual_norm / result.rhs_norm, found,
                  (narrow ? 2 : 0.1) * options.relative_tolerance);
      ASSERT_EQ(result.history.size(), std::size_t(result.iterations) + 1);
      EXPECT_NEAR(result.history[0], result.rhs_norm, 1e-6 * result.rhs_norm);
      EXPECT_LE(result.history.back(),
                options.relative_tolerance * result.rhs_norm * 1.0001);
    };
    int iterations = 0;
    for (int run = 0; run < 2; ++run) {
      Vector<Scalar> x("x", host.rows);
      const auto result = solver.solve(exec, A, b, x);
      expect(" plain", result, x);
      if (run == 0) {
        first = on_host(x);
        iterations = result.iterations;
      } else {
        EXPECT_EQ(on_host(x), first) << "not the same bits";
        EXPECT_EQ(result.iterations, iterations);
      }
    }
    {
      Vector<Scalar> x("x", host.rows);
      expect(" Jacobi", solver.solve(exec, A, jacobi, b, x), x);
    }
    for (const int launches : {1, 3}) {
      CgOptions other = options;
      other.launches = launches;
      Strata::ConjugateGradient<Scalar, Device> launched(exec, host.rows,
                                                         other);
      Vector<Scalar> x("x", host.rows);
      expect(" launches", launched.solve(exec, A, b, x), x);
      Kokkos::deep_copy(x, Scalar(0));
      expect(" launches, Jacobi", launched.solve(exec, A, jacobi, b, x), x);
      const Vector<Scalar> none("b", host.rows);
      EXPECT_EQ(launched.solve(exec, A, none, x).status, CgStatus::converged);
      EXPECT_EQ(on_host(x), on_host(none));
    }
    {
      // A strided x, and an operator of another kind.
      Kokkos::View<Scalar**, Kokkos::LayoutRight, Device> block("block",
                                                                host.rows, 3);
      const auto x = Kokkos::subview(block, Kokkos::ALL(), 1);
      const PlainOperator<Scalar> plain{crs};
      const auto result = solver.solve(exec, plain, b, x);
      expect(" own operator", result, x);
      EXPECT_NEAR(result.iterations, iterations, 0.1 * iterations + 2);
    }
  }
}

TEST(ConjugateGradient, IncompleteFactorsSaveIterations) {
  const Device exec;
  const auto host = hermitian<double>("grid3d:12", 1.0001);
  const auto crs = host.to_device<Crs<double>>();
  const Strata::SellMatrix A(exec, crs);
  Strata::ConjugateGradient<double, Device> solver(exec, host.rows);
  const auto b = random_vector<double>(host.rows);
  Vector<double> x("x", host.rows), y("y", host.rows), z("z", host.rows);
  const auto plain = solver.solve(exec, A, b, x);
  Strata::IncompleteFactorization cholesky(exec, crs,
                                           Factorization::incomplete_cholesky);
  const auto with = solver.solve(exec, A, cholesky, b, y);
  ASSERT_TRUE(plain.converged() && with.converged());
  EXPECT_LT(with.iterations, 0.7 * plain.iterations);
  EXPECT_LE(relative_residual(host, on_host(b), on_host(y)), 2e-8);
  // On a Hermitian matrix it is the same factorisation.
  const Strata::IncompleteFactorization lu(exec, crs,
                                           Factorization::incomplete_lu);
  const auto again = solver.solve(exec, A, lu, b, z);
  EXPECT_EQ(again.iterations, with.iterations);
  EXPECT_EQ(on_host(z), on_host(y));

  // A twice as large has half the solution and the same iterations.
  auto doubled = host;
  for (auto& v : doubled.values) v *= 2;
  const auto other = doubled.to_device<Crs<double>>();
  cholesky.update_values(exec, other);
  Strata::SellMatrix A2 = A;
  A2.update_values(exec, other);
  Kokkos::deep_copy(y, 0.0);
  const auto half = solver.solve(exec, A2, cholesky, b, y);
  ASSERT_TRUE(half.converged());
  EXPECT_EQ(half.iterations, with.iterations);
  EXPECT_LE(relative_residual(doubled, on_host(b), on_host(y)), 2e-8);
}

TEST(ConjugateGradient, ADiagonalIsSolvedByJacobiInOneStep) {
  const Device exec;
  const auto host = hermitian<double>("diagonal:333", 7.0);
  const auto crs = host.to_device<Crs<double>>();
  const Strata::SellMatrix A(exec, crs);
  Strata::ConjugateGradient<double, Device> solver(exec, host.rows);
  Vector<double> x("x", host.rows);
  const auto result =
      solver.solve(exec, A, Strata::JacobiPreconditioner(exec, crs),
                   random_vector<double>(host.rows), x);
  EXPECT_TRUE(result.converged());
  EXPECT_EQ(result.iterations, 1);
}

struct Case {
  HostMatrix<double> host = hermitian<double>("grid2d:15");
  Strata::CgResult solve(const CgOptions& options, const Vector<double>& b,
                         const Vector<double>& x) const {
    const Device exec;
    const Strata::SellMatrix A(exec, host.to_device<Crs<double>>());
    Strata::ConjugateGradient<double, Device> solver(exec, host.rows, options);
    return solver.solve(exec, A, b, x);
  }
};

TEST(ConjugateGradient, StatusTellsWhatWentWrong) {
  const Case good;
  const std::int64_t n = good.host.rows;
  const auto b = random_vector<double>(n);
  const auto with = [&](std::int64_t i, double value) {
    const auto host = Kokkos::create_mirror(b);
    Kokkos::deep_copy(host, b);
    host(i) = value;
    Vector<double> changed("b", n);
    Kokkos::deep_copy(changed, host);
    return changed;
  };
  for (const double bad : {nan, std::numeric_limits<double>::infinity()}) {
    Vector<double> x("x", n);
    Kokkos::deep_copy(x, 3.0);
    const auto result = good.solve({}, with(77, bad), x);
    EXPECT_EQ(result.status, CgStatus::not_finite);
    EXPECT_EQ(result.iterations, 0);
    EXPECT_EQ(on_host(x), std::vector<double>(n, 3.0)) << "x was written";
    EXPECT_EQ(good.solve({}, b, with(5, bad)).status, CgStatus::not_finite);
  }
  {
    Case broken;
    broken.host.at(40, 40) = nan;
    EXPECT_EQ(broken.solve({}, b, Vector<double>("x", n)).status,
              CgStatus::not_finite);
  }
  {
    Case indefinite;
    indefinite.host.at(40, 40) = -30;
    const auto result = indefinite.solve({}, b, Vector<double>("x", n));
    EXPECT_EQ(result.status, CgStatus::indefinite_matrix);
    EXPECT_TRUE(std::isfinite(result.residual_norm));
  }
  {
    Case singular;  // b is not in its range
    for (auto& v : singular.host.values) v = 0;
    EXPECT_EQ(singular.solve({}, b, Vector<double>("x", n)).status,
              CgStatus::indefinite_matrix);
  }
  CgOptions few;
  few.max_iterations = 5;
  few.relative_tolerance = 1e-14;
  const auto result = good.solve(few, b, Vector<double>("x", n));
  EXPECT_EQ(result.status, CgStatus::max_iterations);
  EXPECT_EQ(result.iterations, 5);
  few.max_iterations = 0;
  EXPECT_EQ(good.solve(few, b, Vector<double>("x", n)).status,
            CgStatus::max_iterations);
  // Squares of b that underflow are not taken for b = 0.
  const Vector<double> tiny("b", n);
  Kokkos::deep_copy(tiny, 1e-170);
  EXPECT_EQ(good.solve({}, tiny, Vector<double>("x", n)).status,
            CgStatus::converged);
  Kokkos::deep_copy(tiny, 1e-120);
  EXPECT_EQ(good.solve({}, tiny, Vector<double>("x", n)).status,
            CgStatus::converged);
  // Squares of b that overflow are no limit for a residual that is finite.
  {
    const Vector<double> large("b", n), x("x", n);
    const auto of_b = Kokkos::create_mirror_view(large);
    for (std::int64_t i = 0; i < n; ++i) {
      of_b(i) = 0;
      for (auto k = good.host.row_map[i]; k < good.host.row_map[i + 1]; ++k)
        of_b(i) += good.host.values[k] * 1e160;
    }
    Kokkos::deep_copy(large, of_b);
    Kokkos::deep_copy(x, 1e160);
    const auto end = good.solve({}, large, x);
    EXPECT_EQ(end.status, CgStatus::converged);
    EXPECT_EQ(end.iterations, 0);
    EXPECT_EQ(on_host(x), std::vector<double>(n, 1e160));
  }
  // More than double can give.
  CgOptions absurd;
  absurd.relative_tolerance = 1e-25;
  absurd.max_iterations = 100000;
  const auto end = good.solve(absurd, b, Vector<double>("x", n)).status;
  EXPECT_TRUE(end == CgStatus::stagnated || end == CgStatus::max_iterations ||
              end == CgStatus::indefinite_matrix)
      << to_string(end);
}

struct MinusIdentity {
  template <class R, class Z>
  void apply(const Device& exec, const R& r, const Z& z) const {
    Kokkos::parallel_for(
        "minus", Kokkos::RangePolicy<Device>(exec, 0, r.extent(0)),
        KOKKOS_LAMBDA(int i) { z(i) = -r(i); });
  }
};

TEST(ConjugateGradient, APreconditionerThatIsNegativeIsToldOf) {
  const Device exec;
  const Case good;
  const Strata::SellMatrix A(exec, good.host.to_device<Crs<double>>());
  Strata::ConjugateGradient<double, Device> solver(exec, good.host.rows);
  Vector<double> x("x", good.host.rows);
  const auto result = solver.solve(exec, A, MinusIdentity(),
                                   random_vector<double>(good.host.rows), x);
  EXPECT_EQ(result.status, CgStatus::indefinite_preconditioner);
  EXPECT_EQ(result.iterations, 0);
}

TEST(ConjugateGradient, StopsWhereNothingIsLeftToDo) {
  const Device exec;
  const Case good;
  const std::int64_t n = good.host.rows;
  // b = 0, from anywhere.
  const auto x = random_vector<double>(n);
  const auto zero = good.solve({}, Vector<double>("b", n), x);
  EXPECT_TRUE(zero.converged());
  EXPECT_EQ(zero.iterations, 0);
  EXPECT_EQ(zero.residual_norm, 0);
  EXPECT_EQ(on_host(x), std::vector<double>(n, 0.0));
  // A solution is left alone.
  const auto b = random_vector<double>(n);
  ASSERT_TRUE(good.solve({}, b, x).converged());
  const auto before = on_host(x);
  const auto again = good.solve({}, b, x);
  EXPECT_TRUE(again.converged());
  EXPECT_EQ(on_host(x), before);
  // No unknowns.
  Strata::ConjugateGradient<double, Device> none(exec, 0);
  EXPECT_TRUE(none.solve(exec, Strata::SellMatrix(exec, Crs<double>()),
                         Vector<double>("b", 0), Vector<double>("x", 0))
                  .converged());
}

TEST(ConjugateGradient, ProgressIsToldInOrderAndCanStop) {
  const Case good;
  const std::int64_t n = good.host.rows;
  const auto b = random_vector<double>(n);
  CgOptions options;
  std::vector<double> told;
  options.progress = [&](int it, double norm) {
    EXPECT_EQ(it, static_cast<int>(told.size()));
    told.push_back(norm);
    return true;
  };
  for (const int ahead : {1, 3, 100}) {
    told.clear();
    options.iterations_ahead = ahead;
    const auto result = good.solve(options, b, Vector<double>("x", n));
    EXPECT_TRUE(result.converged());
    EXPECT_EQ(told, result.history);
  }
  options.iterations_ahead = 2;
  options.progress = [&](int it, double) { return it < 3; };
  const auto stopped = good.solve(options, b, Vector<double>("x", n));
  EXPECT_EQ(stopped.status, CgStatus::stopped);
  EXPECT_GE(stopped.iterations, 3);
  EXPECT_LE(stopped.iterations, 5);
}

/// Columns of one array stored by rows, and that they stay each other's.
TEST(ConjugateGradient, TakesColumnsOfOneArray) {
  const Device exec;
  const Case good;
  const std::int64_t n = good.host.rows;
  const auto crs = good.host.to_device<Crs<double>>();
  const Strata::SellMatrix A(exec, crs);
  Strata::ConjugateGradient<double, Device> solver(exec, n);
  const auto b = random_vector<double>(n);
  const Kokkos::View<double* [3], Kokkos::LayoutRight, Device> all("all", n);
  const auto column = [&](int c) {
    return Kokkos::subview(all, Kokkos::ALL, c);
  };
  Kokkos::deep_copy(column(2), b);
  EXPECT_EQ(solver.solve(exec, A, column(2), column(0)).status,
            CgStatus::converged);
  const Vector<double> x("x", n);
  EXPECT_EQ(solver.solve(exec, A, b, x).status, CgStatus::converged);
  const Vector<double> found("found", n);
  Kokkos::deep_copy(found, column(0));
  EXPECT_EQ(on_host(found), on_host(x));
  Kokkos::deep_copy(found, column(2));
  EXPECT_EQ(on_host(found), on_host(b));
  Kokkos::deep_copy(found, column(1));
  EXPECT_EQ(on_host(found), std::vector<double>(n, 0));
  EXPECT_THROW(solver.solve(exec, A, column(2), column(2)), Strata::AliasError);
}

TEST(ConjugateGradient, BadInputIsRefusedBeforeAnythingIsWritten) {
  const Device exec;
  const Case good;
  const std::int64_t n = good.host.rows;
  const auto crs = good.host.to_device<Crs<double>>();
  const Strata::SellMatrix A(exec, crs);
  Strata::ConjugateGradient<double, Device> solver(exec, n);
  const auto x = random_vector<double>(n);
  const auto before = on_host(x);
  const Vector<double> b("b", n), small("small", n - 1);
  EXPECT_THROW(solver.solve(exec, A, small, x), Strata::SizeMismatchError);
  EXPECT_THROW(solver.solve(exec, A, b, small), Strata::SizeMismatchError);
  EXPECT_THROW(solver.solve(exec, A, x, x), Strata::AliasError);
  const Kokkos::View<double*, Kokkos::LayoutStride, Device> one(
      x.data(), Kokkos::LayoutStride(static_cast<std::size_t>(n), 0));
  EXPECT_THROW(solver.solve(exec, A, b, one), Strata::AliasError);
  EXPECT_THROW(A.apply(exec, b, one), Strata::AliasError);
  const HostMatrix<double> wide(2, 3, {1, 2, 3, 4, 5, 6});
  const auto wide_crs = wide.to_device<Crs<double>>();
  EXPECT_THROW(solver.solve(exec, Strata::SellMatrix(exec, wide_crs), b, x),
               Strata::NotSquareError);
  Strata::ConjugateGradient<double, Device> other(exec, n + 1);
  EXPECT_THROW(other.solve(exec, A, b, x), Strata::SizeMismatchError);
  for (int which = 0; which < 5; ++which) {
    CgOptions options;
    if (which == 0) options.relative_tolerance = -1;
    if (which == 1) options.absolute_tolerance = nan;
    if (which == 2) options.max_iterations = -1;
    if (which == 3) options.iterations_ahead = 0;
    if (which == 4) options.launches = 2;
    EXPECT_THROW((Strata::ConjugateGradient<double, Device>(exec, n, options)),
                 Strata::OptionError);
  }
  EXPECT_EQ(on_host(x), before);

  // Preconditioners.
  EXPECT_THROW(Strata::JacobiPreconditioner(exec, wide_crs),
               Strata::NotSquareError);
  const auto with = [&](std::int64_t i, std::int64_t j, double value) {
    Case changed;
    changed.host.at(i, j) = value;
    return changed.host.to_device<Crs<double>>();
  };
  for (const double d : {0.0, -1.0, nan, 1e-310}) {
    try {
      Strata::JacobiPreconditioner(exec, with(60, 60, d));
      FAIL() << d;
    } catch (const Strata::IndefiniteError& error) {
      EXPECT_EQ(error.row(), 60);
    }
  }
  const HostMatrix<double> hollow(2, 2, {1, 2, 2, 0});
  EXPECT_THROW(
      Strata::JacobiPreconditioner(exec, hollow.to_device<Crs<double>>()),
      Strata::MissingDiagonalError);
  const auto cholesky = Factorization::incomplete_cholesky;
  try {
    Strata::IncompleteFactorization(exec, with(31, 30, 0.77), cholesky);
    FAIL();
  } catch (const Strata::NotHermitianError& error) {
    EXPECT_EQ(error.row(), 30);
  }
  EXPECT_THROW(
      Strata::IncompleteFactorization(exec, with(31, 31, -9.0), cholesky),
      Strata::IndefiniteError);
  EXPECT_THROW(
      Strata::IncompleteFactorization(exec, with(31, 31, 0.0), cholesky),
      Strata::ZeroDiagonalError);
}

Strata::IncompleteFactorization<double, Device> coloured(
    const Crs<double>& A,
    Factorization kind = Factorization::incomplete_cholesky) {
  return {Device(), A, kind, Strata::in_order(FactorOrder::coloured)};
}

TEST(ConjugateGradient, ColouredFactorsSaveIterations) {
  using Scalar = double;
  const Device exec;
  CgOptions options;
  options.relative_tolerance = 1e-10;
  // One colour, and two.
  for (const auto* spec : {"diagonal:60", "grid3d:11"}) {
    auto host = hermitian<Scalar>(spec, 1.001);
    host.at(7, 7) *= 1.3;
    const auto crs = host.to_device<Crs<Scalar>>();
    const Strata::SellMatrix A(exec, crs);
    Strata::ConjugateGradient<Scalar, Device> solver(exec, host.rows, options);
    const auto b = random_vector<Scalar>(host.rows);
    const Vector<Scalar> x("x", host.rows), y("y", host.rows);
    const auto plain = solver.solve(exec, A, b, x);
    Kokkos::deep_copy(x, Scalar(0));
    const auto M = coloured(crs);
    EXPECT_EQ(M.report().order, FactorOrder::coloured);
    const auto with = solver.solve(exec, A, M, b, x);
    ASSERT_TRUE(plain.converged() && with.converged()) << spec;
    EXPECT_LT(with.iterations, 0.8 * plain.iterations) << spec;
    EXPECT_LE(relative_residual(host, on_host(b), on_host(x)),
              3 * options.relative_tolerance);
    const auto again = solver.solve(exec, A, M, b, y);
    EXPECT_EQ(again.history, with.history);
    EXPECT_EQ(on_host(y), on_host(x)) << "not the same bits";
  }
}

TEST(ConjugateGradient, ColouredFactorsRefuseBadInput) {
  const Device exec;
  const auto good = hermitian<double>("grid2d:9");
  const auto with = [&](std::int64_t i, std::int64_t j, double value) {
    auto changed = good;
    changed.at(i, j) = value;
    return changed.to_device<Crs<double>>();
  };
  EXPECT_THROW(coloured(with(31, 31, 0.0)), Strata::ZeroDiagonalError);
  EXPECT_THROW(coloured(with(31, 30, 0.77)), Strata::NotHermitianError);
  EXPECT_THROW(coloured(with(31, 30, nan)), Strata::NotHermitianError);
  // Entries whose squares are no numbers of double.
  for (const double scale : {1e-200, 1e200}) {
    auto scaled = good;
    for (auto& v : scaled.values) v *= scale;
    EXPECT_NO_THROW(coloured(scaled.to_device<Crs<double>>()));
    scaled.at(31, 30) = 0.77 * scale;
    EXPECT_THROW(coloured(scaled.to_device<Crs<double>>()),
                 Strata::NotHermitianError);
  }
  for (const double bad : {-9.0, 1e-3}) {
    try {
      coloured(with(31, 31, bad));
      FAIL() << bad;
    } catch (const Strata::IndefiniteError& error) {
      EXPECT_GE(error.row(), 0);
    }
  }
  // As factors of no positive definite matrix they are taken.
  EXPECT_NO_THROW(coloured(with(31, 31, -9.0), Factorization::incomplete_lu));
  EXPECT_THROW(coloured(HostMatrix<double>(2, 3, {1, 2, 3, 2, 5, 6})
                            .to_device<Crs<double>>()),
               Strata::NotSquareError);
  EXPECT_THROW(
      coloured(HostMatrix<double>(2, 2, {1, 2, 2, 0}).to_device<Crs<double>>()),
      Strata::MissingDiagonalError);

  auto M = coloured(good.to_device<Crs<double>>());
  EXPECT_THROW(M.lower(exec), Strata::OptionError);
  const auto r = random_vector<double>(good.rows);
  const Vector<double> before("z", good.rows), after("z", good.rows);
  M.apply(exec, r, before);
  EXPECT_THROW(
      M.update_values(exec,
                      hermitian<double>("chain:81").to_device<Crs<double>>()),
      Strata::PatternMismatchError);
  EXPECT_THROW(M.update_values(exec, with(31, 31, -9.0)),
               Strata::IndefiniteError);
  M.apply(exec, r, after);
  exec.fence();
  EXPECT_EQ(on_host(after), on_host(before)) << "the old values are gone";
  // Nothing to factorise.
  const auto none = coloured(Crs<double>());
  none.apply(exec, Vector<double>("r", 0), Vector<double>("z", 0));
  EXPECT_EQ(none.report().colours, 0);
}

}  // namespace
