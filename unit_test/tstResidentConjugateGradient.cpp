// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <Strata_ConjugateGradient.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "HermitianMatrix.hpp"
#include "InOrder.hpp"
#include "Instance.hpp"

// Conjugate gradients of which one launch does many iterations, beside those of
// three launches an iteration. Where teams can't wait for each other, both are
// the same.

namespace {

using Strata::CgOptions;
using Strata::CgResult;
using Strata::CgStatus;

template <class Scalar>
class ResidentConjugateGradient : public testing::Test {};
TYPED_TEST_SUITE(ResidentConjugateGradient, Scalars);

CgOptions with_launches(int launches) {
  CgOptions options;
  options.launches = launches;
  return options;
}

template <class Scalar>
double difference(const std::vector<Scalar>& x, const std::vector<Scalar>& y) {
  double most = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    most = std::max(most, std::abs(wide(x[i] - y[i])));
    size = std::max(size, std::abs(wide(y[i])));
  }
  return most / size;
}

// Chunks on diagonals and not, of permuted rows, with several lanes a row,
// uneven; the ends of launches (32 iterations) within and between.
TYPED_TEST(ResidentConjugateGradient, HasTheIteratesOfThreeLaunches) {
  using Scalar = TypeParam;
  const Device exec;
  const double epsilon = epsilon_of<Scalar>;
  for (const auto& spec : {"chain:1", "grid2d:7", "grid2d:61", "grid3d:23",
                           "random:3001x4", "circuit:2000"}) {
    const auto host = hermitian<Scalar>(spec, 1.5);
    const auto crs = host.template to_device<Crs<Scalar>>();
    const Strata::JacobiPreconditioner jacobi(exec, crs);
    const auto b = random_vector<Scalar>(host.rows);
    const auto start = random_vector<Scalar>(host.rows);
    for (const int lanes : {0, 1, 4})
      for (const bool scaled : {false, true}) {
        SCOPED_TRACE(std::string(spec) + ", " + std::to_string(lanes) +
                     " lanes" + (scaled ? ", Jacobi" : ""));
        Strata::SellOptions shape;
        shape.lanes_per_row = on_gpu<Device> ? lanes : 0;
        if (lanes == 1) shape.sigma = 128;
        const Strata::SellMatrix A(exec, crs, shape);
        const auto solve = [&](int launches, int most, double tolerance,
                               std::vector<Scalar>& found) {
          CgOptions options = with_launches(launches);
          options.max_iterations = most;
          options.relative_tolerance = tolerance;
          Strata::ConjugateGradient<Scalar, Device> solver(exec, host.rows,
                                                           options);
          const Vector<Scalar> x("x", host.rows);
          Kokkos::deep_copy(x, start);
          const CgResult result = scaled ? solver.solve(exec, A, jacobi, b, x)
                                         : solver.solve(exec, A, b, x);
          found = on_host(x);
          return result;
        };
        std::vector<Scalar> x, y;
        for (const int most : {1, 2, 3, 5}) {
          const auto one = solve(1, most, 0, x), three = solve(3, most, 0, y);
          if (one.status != CgStatus::max_iterations) break;
          EXPECT_EQ(one.iterations, most);
          EXPECT_EQ(three.iterations, most);
          EXPECT_LE(difference(x, y), 200 * most * epsilon) << most;
          ASSERT_EQ(one.history.size(), std::size_t(most) + 1);
          for (int i = 0; i <= most; ++i)
            EXPECT_NEAR(one.history[i], three.history[i],
                        200 * most * epsilon * three.history[0]);
        }
        const double tolerance = 1000 * epsilon;
        const auto one = solve(1, 10000, tolerance, x);
        const auto three = solve(3, 10000, tolerance, y);
        EXPECT_EQ(one.status, CgStatus::converged);
        EXPECT_LE(std::abs(one.iterations - three.iterations),
                  2 + three.iterations / 20);
        EXPECT_LE(relative_residual(host, on_host(b), x), 3 * tolerance);
        const auto bits = x;
        EXPECT_EQ(solve(1, 10000, tolerance, x).history, one.history);
        EXPECT_EQ(x, bits) << "not the same bits";
      }
  }
}

// More iterations than a launch does, and matrices of which scratch holds a
// part (grid3d27) or vectors that it does not hold (grid2d:2000).
TEST(ResidentConjugateGradient, GoesOnFromLaunchToLaunch) {
  const Device exec;
  for (const auto& [spec, most] :
       {std::make_pair("grid2d:90", 31), std::make_pair("grid2d:90", 32),
        std::make_pair("grid2d:90", 33), std::make_pair("grid2d:90", 100),
        std::make_pair("grid3d27:40", 40), std::make_pair("chain:40000", 70)}) {
    SCOPED_TRACE(spec);
    const auto host = hermitian<double>(spec, 1.0001);
    const auto crs = host.to_device<Crs<double>>();
    const Strata::SellMatrix A(exec, crs);
    const auto b = random_vector<double>(host.rows);
    std::vector<double> history[2];
    for (const int launches : {1, 3}) {
      CgOptions options = with_launches(launches);
      options.max_iterations = most;
      options.relative_tolerance = 0;
      int told = 0;
      options.progress = [&](int iteration, double norm) {
        EXPECT_EQ(iteration, told++);
        EXPECT_GE(norm, 0);
        return true;
      };
      Strata::ConjugateGradient<double, Device> solver(exec, host.rows,
                                                       options);
      const Vector<double> x("x", host.rows);
      const auto result = solver.solve(exec, A, b, x);
      EXPECT_EQ(result.status, CgStatus::max_iterations);
      EXPECT_EQ(result.iterations, most);
      EXPECT_EQ(told, most + 1);
      EXPECT_NEAR(result.residual_norm, result.history.back(),
                  1e-9 * result.rhs_norm);
      history[launches == 3] = result.history;
    }
    ASSERT_EQ(history[0].size(), history[1].size());
    for (std::size_t i = 0; i < history[0].size(); ++i)
      EXPECT_NEAR(history[0][i], history[1][i],
                  1e-6 * history[1][i] + 1e-13 * history[1][0])
          << i;
  }
}

TEST(ResidentConjugateGradient, StopsWhereItIsToldTo) {
  const Device exec;
  const auto host = hermitian<double>("grid2d:60", 1.0001);
  const Strata::SellMatrix A(exec, host.to_device<Crs<double>>());
  const auto b = random_vector<double>(host.rows);
  CgOptions options = with_launches(1);
  options.relative_tolerance = 1e-14;
  options.progress = [](int iteration, double) { return iteration < 10; };
  Strata::ConjugateGradient<double, Device> solver(exec, host.rows, options);
  const Vector<double> x("x", host.rows);
  const auto result = solver.solve(exec, A, b, x);
  EXPECT_EQ(result.status, CgStatus::stopped);
  EXPECT_GE(result.iterations, 10);
  EXPECT_LE(result.iterations, 10 + 64);
  EXPECT_NEAR(result.residual_norm, result.history.back(),
              1e-9 * result.rhs_norm);
}

TEST(ResidentConjugateGradient, TellsWhatIsNotPositiveDefinite) {
  const Device exec;
  auto host = hermitian<double>("grid2d:40", 1.01);
  const auto b = random_vector<double>(host.rows);
  host.at(700, 700) = -50;
  const Strata::SellMatrix A(exec, host.to_device<Crs<double>>());
  Strata::ConjugateGradient<double, Device> solver(exec, host.rows,
                                                   with_launches(1));
  const Vector<double> x("x", host.rows);
  const auto result = solver.solve(exec, A, b, x);
  EXPECT_EQ(result.status, CgStatus::indefinite_matrix);
  EXPECT_NEAR(result.residual_norm, result.history.back(),
              1e-9 * result.rhs_norm);
}

// Two colours: the iteration takes place in a Schur complement.
TYPED_TEST(ResidentConjugateGradient, HasTheIteratesOfASchurComplement) {
  using Scalar = TypeParam;
  const Device exec;
  const double epsilon = epsilon_of<Scalar>;
  for (const auto* spec : {"grid3d:9", "grid2d:47", "grid3d:21"}) {
    SCOPED_TRACE(spec);
    const auto host = hermitian<Scalar>(spec, 1.01);
    const auto crs = host.template to_device<Crs<Scalar>>();
    const Strata::SellMatrix A(exec, crs);
    const Strata::IncompleteFactorization M(
        exec, crs, Strata::Factorization::incomplete_cholesky,
        Strata::in_order(Strata::FactorOrder::coloured));
    const auto b = random_vector<Scalar>(host.rows);
    CgResult result[2];
    for (const int launches : {1, 3}) {
      CgOptions options = with_launches(launches);
      options.relative_tolerance = 1000 * epsilon;
      Strata::ConjugateGradient<Scalar, Device> solver(exec, host.rows,
                                                       options);
      const Vector<Scalar> x("x", host.rows);
      const CgResult found = solver.solve(exec, A, M, b, x);
      EXPECT_EQ(found.status, CgStatus::converged);
      EXPECT_LE(relative_residual(host, on_host(b), on_host(x)),
                3 * options.relative_tolerance);
      result[launches == 3] = found;
    }
    EXPECT_LE(std::abs(result[0].iterations - result[1].iterations),
              1 + result[1].iterations / 20);
    for (int i = 0; i < std::min(6, result[1].iterations); ++i)
      EXPECT_NEAR(result[0].history[i], result[1].history[i],
                  1000 * epsilon * result[1].history[0]);
  }
}

// Launches whose teams wait for each other, of two threads on instances of
// their own: were teams of one to wait for places that the other's hold, both
// would hang.
TEST(ResidentConjugateGradient, OfTwoThreadsDoesNotHang) {
  const auto host = hermitian<double>("grid3d:24", 1.0001);
  const Instance instances[2];
  const auto crs = host.to_device<Crs<double>>();
  std::vector<std::vector<double>> found(2);
  const auto b = random_vector<double>(host.rows);
  const auto solve = [&](int which) {
    const Device& exec = instances[which].space();
    const Strata::SellMatrix A(exec, crs);
    CgOptions options = with_launches(1);
    options.relative_tolerance = 1e-12;
    Strata::ConjugateGradient<double, Device> solver(exec, host.rows, options);
    const Vector<double> x("x", host.rows);
    for (int turn = 0; turn < 20; ++turn) {
      Kokkos::deep_copy(exec, x, 0.0);
      EXPECT_TRUE(solver.solve(exec, A, b, x).converged());
    }
    exec.fence();
    found[static_cast<std::size_t>(which)] = on_host(x);
  };
  if (on_gpu<Device>) {
    std::thread other(solve, 1);
    solve(0);
    other.join();
  } else {
    solve(0);
    solve(1);
  }
  EXPECT_EQ(found[0], found[1]);
}

}  // namespace
