// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conjugate gradients beside those made of Kokkos Kernels' calls (its own pcg
// is no part of what it installs), and what a solver holds.
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <KokkosBlas1_axpby.hpp>
#include <KokkosBlas1_dot.hpp>
#include <KokkosBlas1_mult.hpp>
#include <KokkosBlas1_nrm2.hpp>
#include <KokkosSparse_spmv.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <cmath>
#include <limits>
#include <map>

#include "HermitianMatrix.hpp"
#include "KokkosEvents.hpp"

namespace {

using Strata::CgOptions;
using Strata::CgStatus;
using Strata::SolverTest::KokkosEvents;

/// Hermitian, diagonally dominant, with about 2 `per_row` entries a row beside
/// the diagonal in places drawn at random; no two diagonal entries alike.
template <class Scalar>
HostMatrix<Scalar> random_definite(int n, int per_row) {
  std::vector<std::map<int, Scalar>> row(n);
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < per_row; ++k) {
      const int j = static_cast<int>(generator()() % i);
      row[i][j] = random_number<Scalar>();
      row[j][i] = conjugate(row[i][j]);
    }
  HostMatrix<Scalar> A;
  A.rows = A.columns = n;
  for (int i = 0; i < n; ++i) {
    double sum = 0.05 + static_cast<double>(i % 10) / 10;
    for (const auto& [j, value] : row[i]) sum += std::abs(wide(value));
    row[i][i] = Scalar(sum);
    for (const auto& [j, value] : row[i]) {
      A.entries.push_back(j);
      A.values.push_back(value);
    }
    A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
  }
  return A;
}

/// Preconditioned conjugate gradients as in textbooks.
/// @param inverse of the diagonal, or empty: no preconditioner
/// @return the iterations
template <class Scalar>
int peer_cg(const Crs<Scalar>& A, const Vector<Scalar>& inverse,
            const Vector<Scalar>& b, const Vector<Scalar>& x, double tolerance,
            int max_iterations) {
  const std::size_t n = b.extent(0);
  const Scalar one(1), zero(0);
  const Vector<Scalar> r("r", n), p("p", n), w("w", n);
  const Vector<Scalar> z = inverse.extent(0) ? Vector<Scalar>("z", n) : r;
  const auto precondition = [&] {
    if (inverse.extent(0)) KokkosBlas::mult(zero, z, one, inverse, r);
  };
  const auto norm = [](const Vector<Scalar>& v) {
    return static_cast<double>(KokkosBlas::nrm2(v));
  };
  Kokkos::deep_copy(r, b);
  KokkosSparse::spmv("N", -one, A, x, one, r);
  precondition();
  Kokkos::deep_copy(p, z);
  Scalar rho = KokkosBlas::dot(r, z);
  int it = 0;
  for (; it < max_iterations && norm(r) > tolerance * norm(b); ++it) {
    KokkosSparse::spmv("N", one, A, p, zero, w);
    const Scalar alpha = rho / KokkosBlas::dot(p, w);
    KokkosBlas::axpby(alpha, p, one, x);
    KokkosBlas::axpby(-alpha, w, one, r);
    precondition();
    const Scalar next = KokkosBlas::dot(r, z);
    KokkosBlas::axpby(one, z, next / rho, p);
    rho = next;
  }
  Kokkos::fence();
  return it;
}

template <class Scalar>
double difference(const Vector<Scalar>& a, const Vector<Scalar>& b) {
  const auto x = on_host(a), y = on_host(b);
  double top = 0, bottom = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    top += std::norm(wide(x[i]) - wide(y[i]));
    bottom += std::norm(wide(y[i]));
  }
  return std::sqrt(top / bottom);
}

template <class Scalar>
class ConjugateGradientPeer : public testing::Test {};
TYPED_TEST_SUITE(ConjugateGradientPeer, Scalars);

TYPED_TEST(ConjugateGradientPeer, HasTheSameIteratesAndSolution) {
  using Scalar = TypeParam;
  using Real = RealOf<Scalar>;
  const Device exec;
  const double epsilon = std::numeric_limits<Real>::epsilon();
  for (const auto& [n, per_row] :
       {std::make_pair(1, 0), std::make_pair(40, 2), std::make_pair(1200, 3),
        std::make_pair(300, 20)}) {
    const auto host = random_definite<Scalar>(n, per_row);
    const auto crs = host.template to_device<Crs<Scalar>>();
    const Strata::SellMatrix A(exec, crs);
    const Strata::JacobiPreconditioner jacobi(exec, crs);
    const Vector<Scalar> inverse("inverse", n);
    const auto host_inverse = Kokkos::create_mirror_view(inverse);
    for (int i = 0; i < n; ++i) host_inverse(i) = Scalar(1) / *host.find(i, i);
    Kokkos::deep_copy(inverse, host_inverse);
    const auto b = random_vector<Scalar>(n), start = random_vector<Scalar>(n);

    for (const bool preconditioned : {false, true})
      for (const int launches : {1, 3}) {
        SCOPED_TRACE(std::to_string(n) +
                     (preconditioned ? ", Jacobi, " : ", ") +
                     std::to_string(launches) + " launches");
        const auto solve = [&](double tolerance, int most,
                               const Vector<Scalar>& x) {
          CgOptions options;
          options.relative_tolerance = tolerance;
          options.max_iterations = most;
          options.launches = launches;
          Strata::ConjugateGradient<Scalar, Device> solver(exec, n, options);
          Kokkos::deep_copy(x, start);
          return preconditioned ? solver.solve(exec, A, jacobi, b, x)
                                : solver.solve(exec, A, b, x);
        };
        const auto peer = [&](double tolerance, int most,
                              const Vector<Scalar>& y) {
          Kokkos::deep_copy(y, start);
          return peer_cg<Scalar>(crs,
                                 preconditioned ? inverse : Vector<Scalar>(), b,
                                 y, tolerance, most);
        };
        const Vector<Scalar> x("x", n), y("y", n);
        // Roundings of the two part ways slowly.
        for (const int most : {1, 2, 3, 6}) {
          if (n == 1 && most > 1) break;
          const auto result = solve(0, most, x);
          EXPECT_LE(result.iterations, most);
          peer(0, most, y);
          EXPECT_LE(difference(x, y), 200 * most * epsilon) << most;
        }
        const double tolerance = 100 * epsilon;
        const auto result = solve(tolerance, 10000, x);
        const int iterations = peer(tolerance, 10000, y);
        EXPECT_EQ(result.status, CgStatus::converged);
        EXPECT_LE(std::abs(result.iterations - iterations),
                  2 + iterations / 20);
        EXPECT_LE(relative_residual(host, on_host(b), on_host(x)),
                  3 * tolerance);
        // The condition of such a matrix is below some thousand.
        EXPECT_LE(difference(x, y), 3e4 * tolerance);
      }
  }
}

TEST(ConjugateGradientHistory, TakesMemoryAsIterationsAreDone) {
  const Device exec;
  const auto host = hermitian<double>("grid2d:30", 1.001);
  const auto crs = host.to_device<Crs<double>>();
  const Strata::SellMatrix A(exec, crs);
  const auto b = random_vector<double>(host.rows);
  std::vector<double> first;
  for (const int ahead : {1, 2, 3, 4, 7, 100, 100000}) {
    CgOptions options;
    options.relative_tolerance = 1e-10;
    options.max_iterations = 100000000;
    options.iterations_ahead = ahead;
    const KokkosEvents events(Strata::Detail::HostVisibleSpace<Device>::name());
    Strata::ConjugateGradient<double, Device> solver(exec, host.rows, options);
    const auto allowed = std::int64_t{1000000} + 16 * std::int64_t{ahead};
    EXPECT_LE(events.so_far().most_bytes, allowed);
    for (int turn = 0; turn < 2; ++turn) {
      const Vector<double> x("x", host.rows);
      const auto result = solver.solve(exec, A, b, x);
      ASSERT_TRUE(result.converged());
      ASSERT_GT(result.iterations, 40);
      ASSERT_EQ(result.history.size(), std::size_t(result.iterations) + 1);
      if (first.empty()) first = result.history;
      EXPECT_EQ(result.history, first) << ahead;
    }
    EXPECT_LE(events.so_far().most_bytes, allowed);
  }
  for (const double norm : first) EXPECT_GT(norm, 0);
}

TEST(ConjugateGradientHistory, GoesOnAfterNewStarts) {
  const Device exec;
  const auto host = hermitian<float>("grid2d:40", 1.00001);
  const auto crs = host.to_device<Crs<float>>();
  const Strata::SellMatrix A(exec, crs);
  const auto b = random_vector<float>(host.rows);
  // On a GPU, many iterations share a launch from 16 ahead on, and sum up in
  // another order.
  std::vector<double> first, first_of_many;
  for (const int ahead : {1, 5, 16, 64}) {
    CgOptions options;
    options.relative_tolerance = 1e-9;  // more than float can give
    options.iterations_ahead = ahead;
    std::vector<double> told;
    options.progress = [&](int it, double norm) {
      // A new start tells of the residuals again.
      told.resize(static_cast<std::size_t>(it));
      told.push_back(norm);
      return true;
    };
    Strata::ConjugateGradient<float, Device> solver(exec, host.rows, options);
    const Vector<float> x("x", host.rows);
    const auto result = solver.solve(exec, A, b, x);
    EXPECT_GE(result.restarts, 1);
    ASSERT_EQ(result.history.size(), std::size_t(result.iterations) + 1);
    for (const double norm : result.history) ASSERT_GT(norm, 0);
    EXPECT_EQ(told, result.history);
    auto& same = ahead < 16 ? first : first_of_many;
    if (same.empty()) same = result.history;
    EXPECT_EQ(result.history, same);
  }
  for (int it = 0; it < 20; ++it)
    EXPECT_NEAR(first_of_many[it], first[it], 1e-4 * first[it]) << it;
}

}  // namespace
