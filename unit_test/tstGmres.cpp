// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KrylovCases.hpp"
#include "LateStatus.hpp"

#include <Strata_Gmres.hpp>
#include <array>

namespace {

using Strata::GmresOptions;
using Cases = KrylovCases<Strata::Gmres, GmresOptions>;
using Number = std::complex<double>;
using Numbers = std::vector<Number>;

/// GMRES as it is written down: modified Gram-Schmidt, and the residual of the
/// small problem from its rotations. From x = 0.
template <class Scalar>
std::vector<double> reference(const HostMatrix<Scalar>& A,
                              const std::vector<Scalar>& of_b, int restart,
                              double tolerance, int most) {
  const auto n = static_cast<std::size_t>(A.rows);
  const auto apply = [&](const Numbers& v) {
    Numbers w(n);
    for (std::size_t i = 0; i < n; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
        w[i] += wide(A.values[k]) * v[A.entries[k]];
    return w;
  };
  const auto dot = [&](const Numbers& u, const Numbers& v) {
    Number sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += std::conj(u[i]) * v[i];
    return sum;
  };
  Numbers b(n), x(n);
  for (std::size_t i = 0; i < n; ++i) b[i] = wide(of_b[i]);
  const double size = std::sqrt(dot(b, b).real());
  std::vector<double> history{size};
  while (static_cast<int>(history.size()) <= most) {
    Numbers r = apply(x);
    for (std::size_t i = 0; i < n; ++i) r[i] = b[i] - r[i];
    const double beta = std::sqrt(dot(r, r).real());
    std::vector<Numbers> V{r}, H;
    for (auto& v : V[0]) v /= beta;
    Numbers g{beta};
    std::vector<std::array<Number, 2>> turns;
    bool done = false;
    for (int j = 0; j < restart && !done; ++j) {
      Numbers w = apply(V[j]), h(j + 2);
      for (int i = 0; i <= j; ++i) {
        h[i] = dot(V[i], w);
        for (std::size_t k = 0; k < n; ++k) w[k] -= h[i] * V[i][k];
      }
      const double left = std::sqrt(dot(w, w).real());
      h[j + 1] = left;
      for (auto& v : w) v /= left;
      V.push_back(w);
      for (int i = 0; i < j; ++i) {
        const auto [c, s] = turns[i];
        const Number above = h[i], below = h[i + 1];
        h[i] = std::conj(c) * above + std::conj(s) * below;
        h[i + 1] = -s * above + c * below;
      }
      const double length = std::sqrt(std::norm(h[j]) + left * left);
      const Number c = h[j] / length, s = left / length;
      turns.push_back({c, s});
      h[j] = length;
      g.push_back(-s * g[j]);
      g[j] = std::conj(c) * g[j];
      H.push_back(h);
      history.push_back(std::abs(g[j + 1]));
      done = history.back() <= tolerance * size ||
             static_cast<int>(history.size()) > most;
    }
    const int columns = static_cast<int>(H.size());
    Numbers y(g.begin(), g.begin() + columns);
    for (int i = columns - 1; i >= 0; --i) {
      y[i] /= H[i][i];
      for (int k = 0; k < i; ++k) y[k] -= H[i][k] * y[i];
    }
    for (int j = 0; j < columns; ++j)
      for (std::size_t k = 0; k < n; ++k) x[k] += y[j] * V[j][k];
    if (done) break;
  }
  return history;
}

template <class Scalar>
class GmresOf : public testing::Test {};
TYPED_TEST_SUITE(GmresOf, Scalars);

TYPED_TEST(GmresOf, SolvesGeneralSystems) { Cases::solve_systems<TypeParam>(); }

TYPED_TEST(GmresOf, TakesTheIterationsOfTheReference) {
  using Scalar = TypeParam;
  const Device exec;
  const bool single = sizeof(RealOf<Scalar>) == 4;
  for (const auto& host :
       {general<Scalar>("grid2d:19", 1.0001), convection<Scalar>(21),
        general<Scalar>("circuit:300", 0.9)}) {
    const Strata::SellMatrix A(exec, host.template to_device<Crs<Scalar>>());
    const auto b = random_vector<Scalar>(host.rows);
    // More than needed, fewer, and so few that cycles are many.
    for (const int restart : {200, 30, 7, 2, 1}) {
      SCOPED_TRACE(restart);
      GmresOptions options;
      options.restart = restart;
      options.relative_tolerance = single ? 1e-3 : 1e-8;
      options.max_iterations = 400;
      const auto expected =
          reference(host, on_host(b), restart, options.relative_tolerance,
                    options.max_iterations);
      Strata::Gmres<Scalar, Device> solver(exec, host.rows, options);
      const Vector<Scalar> x("x", host.rows);
      const auto result = solver.solve(exec, A, b, x);
      // Cycles that gain little make much of small differences, and float has
      // larger ones than the reference.
      const std::size_t alike = restart * (single ? 1 : 40);
      if (expected.size() <= alike) {
        EXPECT_EQ(
            result.converged(),
            expected.back() <= options.relative_tolerance * expected.front())
            << to_string(result.status);
        EXPECT_NEAR(result.iterations, double(expected.size()) - 1, 1);
      }
      EXPECT_NEAR(result.residual_norm / result.rhs_norm,
                  relative_residual(host, on_host(b), on_host(x)),
                  single ? 1e-5 : 1e-12);
      const std::size_t both =
          std::min({expected.size(), result.history.size(), alike});
      for (std::size_t i = 0; i < both && i < 60; ++i)
        EXPECT_NEAR(result.history[i], expected[i],
                    (single ? 1e-2 : 1e-6) * expected[i])
            << i;
      for (std::size_t i = 1; i < result.history.size(); ++i)
        EXPECT_LE(result.history[i],
                  result.history[i - 1] * (single ? 1.0001 : 1 + 1e-9))
            << "it grows at " << i;
      EXPECT_EQ(result.restarts, (result.iterations - 1) / restart);
    }
  }
}

TEST(Gmres, StatusTellsWhatWentWrong) { Cases::tell_what_went_wrong(); }
TEST(Gmres, StopsWhereNothingIsLeftToDo) {
  Cases::stop_where_nothing_is_left();
}
TEST(Gmres, ProgressIsToldInOrderAndCanStop) {
  for (const int restart : {3, 30}) {
    GmresOptions options;
    options.restart = restart;
    Cases::tell_progress(options);
  }
}
TEST(Gmres, BadInputIsRefusedBeforeAnythingIsWritten) {
  Cases::refuse_bad_input();
}

template <class Scalar>
KrylovResult solve(const HostMatrix<Scalar>& host,
                   const std::vector<Scalar>& of_b, const Vector<Scalar>& x,
                   const GmresOptions& options = {}) {
  const Device exec;
  const Strata::SellMatrix A(exec, host.template to_device<Crs<Scalar>>());
  const Vector<Scalar> b("b", host.rows);
  const auto mirror = Kokkos::create_mirror_view(b);
  std::copy(of_b.begin(), of_b.end(), mirror.data());
  Kokkos::deep_copy(b, mirror);
  return Strata::Gmres<Scalar, Device>(exec, host.rows, options)
      .solve(exec, A, b, x);
}

/// x_i = b_(i+1): no residual gets smaller before the last iteration.
HostMatrix<double> shift(std::int64_t n) {
  HostMatrix<double> A;
  A.rows = A.columns = n;
  for (std::int64_t i = 0; i < n; ++i) {
    A.entries.push_back((i + n - 1) % n);
    A.values.push_back(1);
    A.row_map.push_back(i + 1);
  }
  return A;
}

TEST(Gmres, ACompleteSpaceHasTheSolution) {
  const int n = 12;
  std::vector<double> b(n);
  b[0] = 1;
  Vector<double> x("x", n);
  const auto result = solve(shift(n), b, x);
  EXPECT_EQ(result.status, KrylovStatus::converged);
  EXPECT_EQ(result.iterations, n);
  EXPECT_EQ(result.restarts, 0);
  EXPECT_NEAR(on_host(x)[n - 1], 1, 1e-14);
  // Two eigenvalues: two iterations, whatever the size.
  HostMatrix<double> two;
  two.rows = two.columns = 100;
  for (int i = 0; i < 100; ++i) {
    two.entries.push_back(i);
    two.values.push_back(i % 3 == 0 ? 2 : -5);
    two.row_map.push_back(i + 1);
  }
  Vector<double> y("y", 100);
  const auto second = solve(two, on_host(random_vector<double>(100)), y);
  EXPECT_EQ(second.status, KrylovStatus::converged);
  EXPECT_EQ(second.iterations, 2);
}

TEST(Gmres, ACycleThatGainsNothingIsStagnation) {
  const int n = 12;
  std::vector<double> b(n);
  b[0] = 1;
  GmresOptions options;
  options.restart = n - 1;
  const Vector<double> x("x", n);
  const auto result = solve(shift(n), b, x, options);
  EXPECT_EQ(result.status, KrylovStatus::stagnated);
  EXPECT_EQ(result.iterations, n - 1);
  EXPECT_NEAR(result.residual_norm, 1, 1e-14);
}

TEST(Gmres, SkewSymmetricSystemsAreSolved) {
  const int n = 60;
  HostMatrix<double> A;
  A.rows = A.columns = n;
  for (int i = 0; i < n; ++i) {
    if (i > 0) {
      A.entries.push_back(i - 1);
      A.values.push_back(-1 - i % 2);
    }
    if (i + 1 < n) {
      A.entries.push_back(i + 1);
      A.values.push_back(1 + (i + 1) % 2);
    }
    A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
  }
  GmresOptions options;
  options.restart = n;
  const Vector<double> x("x", n);
  const auto b = on_host(random_vector<double>(n));
  EXPECT_EQ(solve(A, b, x, options).status, KrylovStatus::converged);
  EXPECT_LE(relative_residual(A, b, on_host(x)), 2e-8);
}

TYPED_TEST(GmresOf, SingularSystemsBreakDownOrAreSolved) {
  using Scalar = TypeParam;
  const bool single = sizeof(RealOf<Scalar>) == 4;
  GmresOptions options;
  options.relative_tolerance = single ? 1e-5 : 1e-10;
  options.restart = 60;
  // A diagonal with zeros: b in its range, and not.
  HostMatrix<Scalar> A;
  A.rows = A.columns = 40;
  std::vector<Scalar> inside(40), outside(40);
  for (int i = 0; i < 40; ++i) {
    A.entries.push_back(i);
    A.values.push_back(i % 5 == 0 ? Scalar(0) : Scalar(1 + i % 7));
    A.row_map.push_back(i + 1);
    outside[i] = random_number<Scalar>();
    inside[i] = i % 5 == 0 ? Scalar(0) : outside[i];
  }
  Vector<Scalar> x("x", 40), y("y", 40);
  EXPECT_EQ(solve(A, inside, x, options).status, KrylovStatus::converged);
  EXPECT_LE(relative_residual(A, inside, on_host(x)),
            2.1 * options.relative_tolerance);
  const auto result = solve(A, outside, y, options);
  EXPECT_TRUE(result.status == KrylovStatus::breakdown ||
              result.status == KrylovStatus::stagnated)
      << to_string(result.status);
  EXPECT_LE(result.iterations, 200);
  // No worse than the x given, and what the result says.
  EXPECT_LE(result.residual_norm, result.rhs_norm * 1.00001);
  EXPECT_NEAR(result.residual_norm / result.rhs_norm,
              relative_residual(A, outside, on_host(y)), single ? 1e-5 : 1e-12);
  // Nilpotent: the space ends after a step, with nothing gained.
  HostMatrix<Scalar> step(2, 2, {Scalar(0), Scalar(1), Scalar(0), Scalar(0)});
  const Vector<Scalar> z("z", 2);
  const auto none = solve(step, {Scalar(0), Scalar(1)}, z, options);
  EXPECT_EQ(none.status, KrylovStatus::breakdown);
  EXPECT_EQ(none.iterations, 2);
  EXPECT_NEAR(none.residual_norm, 1, 1e-6);
}

}  // namespace
