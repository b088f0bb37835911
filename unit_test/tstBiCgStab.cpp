// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KrylovCases.hpp"
#include "LateStatus.hpp"

#include <Strata_BiCgStab.hpp>

namespace {

using Strata::BiCgStabOptions;
using Cases = KrylovCases<Strata::BiCgStab, BiCgStabOptions>;
using Number = std::complex<double>;
using Numbers = std::vector<Number>;

/// BiCGStab as it is written down, from x = 0: norms of the residual.
template <class Scalar>
std::vector<double> reference(const HostMatrix<Scalar>& A,
                              const std::vector<Scalar>& b, int iterations) {
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
  Numbers r(n), p(n), v(n);
  for (std::size_t i = 0; i < n; ++i) r[i] = wide(b[i]);
  const Numbers q = r;
  Number rho = 1, alpha = 1, omega = 1;
  std::vector<double> history{std::sqrt(dot(r, r).real())};
  for (int it = 0; it < iterations; ++it) {
    const Number next = dot(q, r);
    const Number beta = it == 0 ? Number(0) : next / rho * (alpha / omega);
    rho = next;
    for (std::size_t i = 0; i < n; ++i)
      p[i] = r[i] + beta * (p[i] - omega * v[i]);
    v = apply(p);
    alpha = rho / dot(q, v);
    for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * v[i];
    const Numbers t = apply(r);
    omega = dot(t, r) / dot(t, t);
    for (std::size_t i = 0; i < n; ++i) r[i] -= omega * t[i];
    history.push_back(std::sqrt(dot(r, r).real()));
  }
  return history;
}

template <class Scalar>
class BiCgStabOf : public testing::Test {};
TYPED_TEST_SUITE(BiCgStabOf, Scalars);

TYPED_TEST(BiCgStabOf, SolvesGeneralSystems) {
  Cases::solve_systems<TypeParam>();
}

TYPED_TEST(BiCgStabOf, HasTheResidualsOfTheReference) {
  using Scalar = TypeParam;
  const Device exec;
  const bool single = sizeof(RealOf<Scalar>) == 4;
  BiCgStabOptions options;
  options.relative_tolerance = single ? 1e-4 : 1e-9;
  for (const auto& host :
       {general<Scalar>("grid3d:7", 1.1), convection<Scalar>(12),
        general<Scalar>("circuit:300", 1.0)}) {
    const Strata::SellMatrix A(exec, host.template to_device<Crs<Scalar>>());
    const auto b = random_vector<Scalar>(host.rows);
    const Vector<Scalar> x("x", host.rows);
    const auto result =
        Strata::BiCgStab<Scalar, Device>(exec, host.rows, options)
            .solve(exec, A, b, x);
    ASSERT_TRUE(result.converged()) << to_string(result.status);
    // Roundings grow from one iteration to the next.
    const auto expected = reference(host, on_host(b), single ? 3 : 6);
    const auto both = std::min(expected.size(), result.history.size());
    for (std::size_t i = 0; i < both; ++i)
      EXPECT_NEAR(result.history[i], expected[i],
                  (single ? 5e-2 : 1e-5) * expected[i])
          << i;
  }
}

TEST(BiCgStab, StatusTellsWhatWentWrong) { Cases::tell_what_went_wrong(); }
TEST(BiCgStab, StopsWhereNothingIsLeftToDo) {
  Cases::stop_where_nothing_is_left();
}
TEST(BiCgStab, ProgressIsToldInOrderAndCanStop) { Cases::tell_progress({}); }
TEST(BiCgStab, BadInputIsRefusedBeforeAnythingIsWritten) {
  Cases::refuse_bad_input();
}

/// Turns each pair of neighbours by a quarter, and stretches them.
template <class Scalar>
HostMatrix<Scalar> quarter_turns(std::int64_t pairs) {
  HostMatrix<Scalar> A;
  A.rows = A.columns = 2 * pairs;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    A.entries.push_back(i ^ 1);
    A.values.push_back(
        Scalar(i % 2 == 0 ? -1. - double(i / 2) : 1. + double(i / 2)));
    A.row_map.push_back(i + 1);
  }
  return A;
}

template <class Scalar>
void break_down_on_skew_symmetric_systems() {
  const Device exec;
  const auto host = quarter_turns<Scalar>(20);
  const Strata::SellMatrix A(exec, host.template to_device<Crs<Scalar>>());
  const auto b = random_vector<Scalar>(host.rows);
  for (const int most : {0, 1, 5}) {
    BiCgStabOptions options;
    options.max_new_starts = most;
    Strata::BiCgStab<Scalar, Device> solver(exec, host.rows, options);
    std::vector<Scalar> first;
    for (int run = 0; run < 2; ++run) {
      const Vector<Scalar> x("x", host.rows);
      const auto result = solver.solve(exec, A, b, x);
      EXPECT_EQ(result.status, KrylovStatus::breakdown)
          << to_string(result.status);
      EXPECT_EQ(result.restarts, most);
      EXPECT_EQ(result.history.size(), std::size_t(result.iterations) + 1);
      // Half steps that lengthen the residual are not taken.
      EXPECT_LE(result.residual_norm, result.rhs_norm * 1.00001);
      EXPECT_NEAR(result.residual_norm / result.rhs_norm,
                  relative_residual(host, on_host(b), on_host(x)), 1e-5);
      if (run == 0) first = on_host(x);
      EXPECT_EQ(on_host(x), first) << "not the same bits";
    }
  }
}
// Of real numbers: r^T A r is 0 of all r.
TEST(BiCgStab, BreaksDownOnSkewSymmetricSystems) {
  break_down_on_skew_symmetric_systems<float>();
  break_down_on_skew_symmetric_systems<double>();
}

TEST(BiCgStab, ANewShadowGetsOverABreakdown) {
  // b^T A b = 0 with a symmetric A, on which omega does not vanish.
  const Device exec;
  HostMatrix<double> host(4, 4,
                          {2, 0, 0, 0, 0, -2, 0, 0, 0, 0, 5, 0, 0, 0, 0, 7});
  const Strata::SellMatrix A(exec, host.to_device<Crs<double>>());
  Vector<double> b("b", 4);
  const auto mirror = Kokkos::create_mirror_view(b);
  mirror(0) = mirror(1) = 1;
  Kokkos::deep_copy(b, mirror);
  BiCgStabOptions options;
  options.max_new_starts = 0;
  const Vector<double> x("x", 4);
  const auto broken =
      Strata::BiCgStab<double, Device>(exec, 4, options).solve(exec, A, b, x);
  EXPECT_EQ(broken.status, KrylovStatus::breakdown);
  EXPECT_EQ(broken.iterations, 0);
  EXPECT_EQ(on_host(x), std::vector<double>(4, 0.0));
  options.max_new_starts = 5;
  const auto result =
      Strata::BiCgStab<double, Device>(exec, 4, options).solve(exec, A, b, x);
  EXPECT_EQ(result.status, KrylovStatus::converged) << to_string(result.status);
  EXPECT_GE(result.restarts, 1);
  EXPECT_LE(relative_residual(host, on_host(b), on_host(x)), 2e-8);
}

TEST(BiCgStab, HalfAStepIsEnoughOfADiagonal) {
  const Device exec;
  const auto host = general<double>("diagonal:100", 3);
  const auto crs = host.to_device<Crs<double>>();
  const Vector<double> x("x", 100);
  const auto result = Strata::BiCgStab<double, Device>(exec, 100).solve(
      exec, Strata::SellMatrix(exec, crs),
      Strata::JacobiPreconditioner(exec, crs), random_vector<double>(100), x);
  EXPECT_TRUE(result.converged());
  EXPECT_EQ(result.iterations, 1);
}

}  // namespace
