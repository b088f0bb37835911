// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_KRYLOV_CASES_HPP
#define STRATA_TEST_KRYLOV_CASES_HPP

// What Gmres and BiCgStab are both held to.
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

#include <KokkosSparse_spmv.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_KrylovOptions.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_SellMatrix.hpp>
#include <cmath>
#include <limits>

#include "HermitianMatrix.hpp"

using Strata::KrylovResult;
using Strata::KrylovStatus;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Entries beside the diagonal drawn anew on a gallery matrix's pattern, and a
/// diagonal of `dominance` times the sum of their sizes.
template <class Scalar>
HostMatrix<Scalar> general(const std::string& spec, double dominance = 1.02) {
  HostMatrix<Scalar> A(Strata::gallery<Crs<Scalar>>(Device(), spec));
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double sum = 0.1;
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      if (A.entries[k] == i) continue;
      A.values[k] = random_number<Scalar>();
      sum += std::abs(wide(A.values[k]));
    }
    A.at(i, i) = Scalar(dominance * sum);
  }
  return A;
}

/// Diffusion and a wind across side x side points, upwind differences.
template <class Scalar>
HostMatrix<Scalar> convection(int side, double wind = 0.6) {
  HostMatrix<Scalar> A;
  A.rows = A.columns = std::int64_t{side} * side;
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      const auto add = [&](bool there, std::int64_t column, double value) {
        if (!there) return;
        A.entries.push_back(column);
        A.values.push_back(Scalar(value));
      };
      const std::int64_t row = std::int64_t{y} * side + x;
      add(y > 0, row - side, -1 - wind / 2);
      add(x > 0, row - 1, -1 - wind);
      add(true, row, 4 + 1.5 * wind);
      add(x < side - 1, row + 1, -1);
      add(y < side - 1, row + side, -1);
      A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
    }
  return A;
}

/// An operator of the user's own.
template <class Scalar>
struct OwnOperator {
  Crs<Scalar> A;
  template <class X, class Y>
  void apply(const Device& exec, const X& x, const Y& y) const {
    exec.fence();
    KokkosSparse::spmv("N", Scalar(1), A, x, Scalar(0), y);
    Kokkos::fence();
  }
};
/// z = factor r
template <class Scalar>
struct OwnPreconditioner {
  Scalar factor;
  template <class R, class Z>
  void apply(const Device& exec, const R& r, const Z& z) const {
    const Scalar by = factor;
    Kokkos::parallel_for(
        "scale", Kokkos::RangePolicy<Device>(exec, 0, r.extent(0)),
        KOKKOS_LAMBDA(int i) { z(i) = by * r(i); });
  }
};

template <template <class, class> class Method, class Options>
struct KrylovCases {
  template <class Scalar>
  using Solver = Method<Scalar, Device>;

  /// All preconditioners on some systems, the true residual each time.
  template <class Scalar>
  static void solve_systems() {
    const Device exec;
    const bool single = sizeof(RealOf<Scalar>) == 4;
    Options options;
    options.relative_tolerance = single ? 1e-5 : 1e-10;
    options.max_iterations = 2000;
    const std::vector<HostMatrix<Scalar>> systems = {
        general<Scalar>("grid3d:11"),      general<Scalar>("circuit:800"),
        general<Scalar>("arrow:3000"),     general<Scalar>("chain:1"),
        general<Scalar>("chain:2"),        convection<Scalar>(25),
        general<Scalar>("diagonal:333", 3)};
    int number = 0;
    for (const auto& host : systems) {
      SCOPED_TRACE("system " + std::to_string(number++));
      const auto crs = host.template to_device<Crs<Scalar>>();
      const Strata::SellMatrix A(exec, crs);
      Solver<Scalar> solver(exec, host.rows, options);
      const auto b = random_vector<Scalar>(host.rows);
      int plain = 0;
      const auto expect = [&](const char* how, const auto& op, const auto& M) {
        SCOPED_TRACE(how);
        std::vector<Scalar> first;
        for (int run = 0; run < 2; ++run) {
          // A strided x.
          Kokkos::View<Scalar**, Kokkos::LayoutRight, Device> block(
              "block", host.rows, 3);
          const auto x = Kokkos::subview(block, Kokkos::ALL(), 1);
          const KrylovResult result = solver.solve(exec, op, M, b, x);
          ASSERT_EQ(result.status, KrylovStatus::converged)
              << to_string(result.status) << ' ' << result.residual_norm;
          const double found = relative_residual(host, on_host(b), on_host(x));
          EXPECT_LE(found, 2.2 * options.relative_tolerance);
          EXPECT_NEAR(result.residual_norm / result.rhs_norm, found,
                      (single ? 2 : 0.1) * options.relative_tolerance);
          ASSERT_EQ(result.history.size(), std::size_t(result.iterations) + 1);
          EXPECT_NEAR(result.history[0], result.rhs_norm,
                      1e-6 * result.rhs_norm);
          EXPECT_LE(result.history.back(),
                    options.relative_tolerance * result.rhs_norm * 1.0001);
          if (run == 0) {
            first = on_host(x);
            plain = plain == 0 ? result.iterations : plain;
          } else {
            EXPECT_EQ(on_host(x), first) << "not the same bits";
          }
        }
      };
      expect("none", A, Strata::NoPreconditioner());
      expect("Jacobi", A, Strata::JacobiPreconditioner(exec, crs));
      const Strata::IncompleteFactorization lu(
          exec, crs, Strata::Factorization::incomplete_lu);
      expect("LU", A, lu);
      expect("own operator", OwnOperator<Scalar>{crs},
             Strata::NoPreconditioner());
      // What scales alone changes nothing but roundings.
      expect("own preconditioner", A, OwnPreconditioner<Scalar>{Scalar(0.125)});
      Vector<Scalar> x("x", host.rows), y("y", host.rows);
      const auto by_lu = solver.solve(exec, A, lu, b, x);
      EXPECT_LE(by_lu.iterations, plain);
    }
  }

  struct Case {
    HostMatrix<double> host = convection<double>(15);
    Strata::SellMatrix<double, Device> matrix() const {
      return {Device(), host.template to_device<Crs<double>>()};
    }
    KrylovResult solve(const Options& options, const Vector<double>& b,
                       const Vector<double>& x) const {
      const Device exec;
      return Solver<double>(exec, host.rows, options)
          .solve(exec, matrix(), b, x);
    }
  };

  static Vector<double> with(const Vector<double>& v, std::int64_t i,
                             double value) {
    const auto host = Kokkos::create_mirror(v);
    Kokkos::deep_copy(host, v);
    host(i) = value;
    Vector<double> changed("changed", v.extent(0));
    Kokkos::deep_copy(changed, host);
    return changed;
  }

  static void tell_what_went_wrong() {
    const Case good;
    const std::int64_t n = good.host.rows;
    const auto b = random_vector<double>(n);
    for (const double bad :
         {not_a_number, std::numeric_limits<double>::infinity()}) {
      Vector<double> x("x", n);
      Kokkos::deep_copy(x, 3.0);
      const auto result = good.solve({}, with(b, 77, bad), x);
      EXPECT_EQ(result.status, KrylovStatus::not_finite);
      EXPECT_EQ(result.iterations, 0);
      EXPECT_TRUE(std::isnan(result.residual_norm));
      EXPECT_EQ(on_host(x), std::vector<double>(n, 3.0)) << "x was written";
      EXPECT_EQ(good.solve({}, b, with(b, 5, bad)).status,
                KrylovStatus::not_finite);
      Case broken;
      broken.host.at(40, 40) = bad;
      EXPECT_EQ(broken.solve({}, b, Vector<double>("x", n)).status,
                KrylovStatus::not_finite);
      const Device exec;
      const auto A = good.matrix();
      Kokkos::deep_copy(x, 3.0);
      EXPECT_EQ(Solver<double>(exec, n)
                    .solve(exec, A, OwnPreconditioner<double>{bad}, b, x)
                    .status,
                KrylovStatus::not_finite);
      EXPECT_EQ(on_host(x), std::vector<double>(n, 3.0)) << "x was written";
    }
    Options few;
    few.max_iterations = 5;
    few.relative_tolerance = 1e-14;
    const Vector<double> x("x", n);
    const auto result = good.solve(few, b, x);
    EXPECT_EQ(result.status, KrylovStatus::max_iterations);
    EXPECT_EQ(result.iterations, 5);
    EXPECT_EQ(result.history.size(), 6u);
    EXPECT_NEAR(result.residual_norm, result.history.back(),
                1e-10 * result.rhs_norm);
    EXPECT_NEAR(result.residual_norm / result.rhs_norm,
                relative_residual(good.host, on_host(b), on_host(x)), 1e-12);
    few.max_iterations = 0;
    EXPECT_EQ(good.solve(few, b, Vector<double>("x", n)).status,
              KrylovStatus::max_iterations);
    // Squares of b that underflow are not taken for b = 0.
    const Vector<double> tiny("b", n);
    Kokkos::deep_copy(tiny, 1e-170);
    EXPECT_EQ(good.solve({}, tiny, Vector<double>("x", n)).status,
              KrylovStatus::converged);
    Kokkos::deep_copy(tiny, 1e-120);
    EXPECT_EQ(good.solve({}, tiny, Vector<double>("x", n)).status,
              KrylovStatus::converged);
    // More than double can give.
    Options absurd;
    absurd.relative_tolerance = 1e-25;
    absurd.max_iterations = 3000;
    const auto end = good.solve(absurd, b, x);
    EXPECT_NE(end.status, KrylovStatus::converged);
    EXPECT_NE(end.status, KrylovStatus::not_finite);
    EXPECT_LE(relative_residual(good.host, on_host(b), on_host(x)), 1e-10);
    // Zero, of which nothing solves anything.
    Case zero;
    for (auto& v : zero.host.values) v = 0;
    Kokkos::deep_copy(x, 2.0);
    EXPECT_EQ(zero.solve({}, b, x).status, KrylovStatus::breakdown);
    EXPECT_EQ(on_host(x), std::vector<double>(n, 2.0));
  }

  static void stop_where_nothing_is_left() {
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
    // The solution is left alone.
    Vector<double> b("b", n);
    const auto exact = random_vector<double>(n);
    good.matrix().apply(exec, exact, b);
    exec.fence();
    const auto before = on_host(exact);
    const auto again = good.solve({}, b, exact);
    EXPECT_TRUE(again.converged());
    EXPECT_EQ(again.iterations, 0);
    EXPECT_EQ(on_host(exact), before);
    // From another place there is as much to gain.
    Options absolute;
    absolute.relative_tolerance = 0;
    absolute.absolute_tolerance = 1e-9;
    const auto from = good.solve(absolute, b, x);
    EXPECT_TRUE(from.converged());
    EXPECT_LE(from.residual_norm, 2e-9);
    // No unknowns.
    Solver<double> none(exec, 0);
    EXPECT_TRUE(none.solve(exec, Strata::SellMatrix(exec, Crs<double>()),
                           Vector<double>("b", 0), Vector<double>("x", 0))
                    .converged());
  }

  static void tell_progress(Options options) {
    const Case good;
    const std::int64_t n = good.host.rows;
    const auto b = random_vector<double>(n);
    std::vector<double> told, first;
    options.progress = [&](int it, double norm) {
      EXPECT_EQ(it, static_cast<int>(told.size()));
      told.push_back(norm);
      return true;
    };
    for (const int ahead : {1, 3, 100}) {
      told.clear();
      options.iterations_ahead = ahead;
      const Vector<double> x("x", n);
      const auto result = good.solve(options, b, x);
      EXPECT_TRUE(result.converged());
      EXPECT_EQ(told, result.history);
      if (first.empty()) first = on_host(x);
      EXPECT_EQ(on_host(x), first) << "the answer depends on the host";
    }
    options.iterations_ahead = 2;
    options.progress = [&](int it, double) { return it < 7; };
    const Vector<double> x("x", n);
    const auto stopped = good.solve(options, b, x);
    EXPECT_EQ(stopped.status, KrylovStatus::stopped);
    EXPECT_GE(stopped.iterations, 7);
    EXPECT_LE(stopped.iterations, 9);
    // The iterates so far are in x.
    EXPECT_NEAR(relative_residual(good.host, on_host(b), on_host(x)),
                stopped.history.back() / stopped.rhs_norm, 1e-10);
  }

  static void refuse_bad_input() {
    const Device exec;
    const Case good;
    const std::int64_t n = good.host.rows;
    const auto A = good.matrix();
    Solver<double> solver(exec, n);
    const auto x = random_vector<double>(n);
    const auto before = on_host(x);
    const Vector<double> b("b", n), small("small", n - 1);
    EXPECT_THROW(solver.solve(exec, A, small, x), Strata::SizeMismatchError);
    EXPECT_THROW(solver.solve(exec, A, b, small), Strata::SizeMismatchError);
    EXPECT_THROW(solver.solve(exec, A, x, x), Strata::AliasError);
    const Kokkos::View<double*, Kokkos::LayoutStride, Device> one(
        x.data(), Kokkos::LayoutStride(static_cast<std::size_t>(n), 0));
    EXPECT_THROW(solver.solve(exec, A, b, one), Strata::AliasError);
    const HostMatrix<double> wide(2, 3, {1, 2, 3, 4, 5, 6});
    EXPECT_THROW(
        solver.solve(exec,
                     Strata::SellMatrix(exec, wide.to_device<Crs<double>>()), b,
                     x),
        Strata::NotSquareError);
    EXPECT_THROW(
        solver.solve(exec, A, Strata::IncompleteFactorization<double>(), b, x),
        Strata::HandleError);
    const Strata::JacobiPreconditioner other(
        exec, convection<double>(4).to_device<Crs<double>>());
    EXPECT_THROW(solver.solve(exec, A, other, b, x), Strata::SizeMismatchError);
    EXPECT_THROW(Solver<double>(exec, n + 1).solve(exec, A, b, x),
                 Strata::SizeMismatchError);
    EXPECT_THROW(Solver<double>(exec, -1), Strata::SizeMismatchError);
    EXPECT_THROW(Solver<double>(exec, 2147483647), Strata::IndexOverflowError);
    for (int which = 0; which < 5; ++which) {
      Options options;
      if (which == 0) options.relative_tolerance = -1;
      if (which == 1) options.absolute_tolerance = not_a_number;
      if (which == 2) options.max_iterations = -1;
      if (which == 3) options.iterations_ahead = 0;
      if (which == 4) refuse(options);
      EXPECT_THROW((Solver<double>(exec, n, options)), Strata::OptionError);
    }
    Solver<double> empty;
    EXPECT_THROW(empty.solve(exec, A, b, x), Strata::HandleError);
    EXPECT_THROW(empty.rows(), Strata::HandleError);
    EXPECT_EQ(on_host(x), before);
    empty = std::move(solver);
    EXPECT_EQ(empty.rows(), n);
    EXPECT_THROW(solver.rows(), Strata::HandleError);
  }

 private:
  static void refuse(Strata::GmresOptions& options) { options.restart = 0; }
  static void refuse(Strata::BiCgStabOptions& options) {
    options.max_new_starts = -1;
  }
};

#endif
