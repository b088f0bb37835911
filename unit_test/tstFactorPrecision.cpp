// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Factors in float under vectors in double.
#include <gtest/gtest.h>

#include <Strata_BiCgStab.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_Gmres.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_SellMatrix.hpp>

#include "FactorCases.hpp"
#include "KokkosEvents.hpp"
#include "Scalars.hpp"

namespace {

using Strata::FactorPrecision;
using Strata::PrecisionError;

constexpr double float_eps = std::numeric_limits<float>::epsilon();

template <class Scalar>
struct FactorPrecisionOf : FactorCases<Scalar> {
  using Cases = FactorCases<Scalar>;
  using typename Cases::Host;
  using typename Cases::Real;
  static constexpr bool is_wide = sizeof(Real) == 8;
  /// Rounding of the solvers.
  static constexpr double unit = is_wide ? float_eps : Cases::eps;

  static Options single() {
    Options options = Cases::with_transposes();
    options.precision = FactorPrecision::single;
    return options;
  }
  /// `factor` times each column of b, solved.
  static std::vector<Scalar> solved(const typename Cases::Solver& solver,
                                    std::vector<Scalar> b,
                                    const std::vector<Real>& factors, Op op) {
    const auto columns = factors.size();
    for (std::size_t k = 0; k < b.size(); ++k) b[k] *= factors[k / Cases::n];
    const typename Cases::Left v("v", Cases::n, columns);
    Cases::fill(v, b);
    solver.apply(Device(), v, v, op);
    return Cases::content(v);
  }
  static bool is_finite(const Scalar& v) {
    return Strata::Detail::is_finite(v);
  }
};
TYPED_TEST_SUITE(FactorPrecisionOf, Scalars);

TYPED_TEST(FactorPrecisionOf, SolvesAsFactorsOfFloatDo) {
  using Fixture = TestFixture;
  const std::int64_t n = Fixture::n;
  const typename Fixture::One one("one", n), other_one("one", n);
  const typename Fixture::Left left("left", n, 5);
  const typename Fixture::Right right("right", n, 5);
  for (const int parts : {0, 1, 2, 3, 4, 8, 12, 15}) {
    SCOPED_TRACE("parts " + std::to_string(parts));
    auto made = Fixture::random_case(Fixture::single());
    Fixture::transform(made, parts);
    const auto solver = made.solver();
    const auto A = made.matrix();
    Fixture::expect_applied(solver, A, one, other_one, Fixture::unit);
    Fixture::expect_applied(solver, A, left, right, Fixture::unit);
    Fixture::expect_applied(solver, A, right, left, Fixture::unit);
    // And they are of float: the accuracy of double would be chance.
    made.options.precision = FactorPrecision::working;
    const auto working = made.solver();
    EXPECT_EQ(Fixture::applied(working) == Fixture::applied(solver),
              !Fixture::is_wide);
  }
}

TYPED_TEST(FactorPrecisionOf, SizeOfARightHandSideDoesNotMatter) {
  using Fixture = TestFixture;
  using Real = typename Fixture::Real;
  if (!Fixture::is_wide) return;
  auto made = Fixture::random_case(Fixture::single());
  Fixture::transform(made, 15);
  const auto solver = made.solver();
  const auto b = Fixture::random_numbers(4);
  const std::vector<Real> factors = {static_cast<Real>(std::ldexp(1., 1000)),
                                     static_cast<Real>(std::ldexp(1., -900)),
                                     static_cast<Real>(std::ldexp(1., 200)), 1};
  for (const Op op : all_ops) {
    auto expected =
        Fixture::solved(solver, b, std::vector<Real>(4, Real(1)), op);
    for (std::size_t k = 0; k < expected.size(); ++k)
      expected[k] *= factors[k / Fixture::n];
    EXPECT_EQ(Fixture::solved(solver, b, factors, op), expected);
    for (const auto& v : expected) EXPECT_TRUE(Fixture::is_finite(v));
  }
  // Numbers below the normal ones.
  const std::vector<Real> tiny(1, static_cast<Real>(std::ldexp(1., -1060)));
  auto ones = std::vector<TypeParam>(Fixture::n, TypeParam(1));
  made = Fixture::random_case(Fixture::single());
  for (auto& v : made.U.values) v *= static_cast<Real>(std::ldexp(1., -100));
  const auto small = made.solver();
  auto expected = Fixture::solved(small, ones, {Real(1)}, Op::none);
  for (auto& v : expected) v *= tiny[0];
  EXPECT_EQ(Fixture::solved(small, ones, tiny, Op::none), expected);
}

TYPED_TEST(FactorPrecisionOf, ZeroGivesZeroAndNoNumberGivesNone) {
  using Fixture = TestFixture;
  using Real = typename Fixture::Real;
  auto made = Fixture::random_case(Fixture::single());
  Fixture::transform(made, 15);
  const auto solver = made.solver();
  made.options.precision = FactorPrecision::working;
  const auto working = made.solver();
  for (const Op op : all_ops) {
    const auto finite = Fixture::random_numbers(3);
    const std::vector<Real> ones(3, Real(1));
    auto b = finite;
    for (std::int64_t i = 0; i < Fixture::n; ++i) b[i] = 0;
    const auto x = Fixture::solved(solver, b, ones, op);
    for (std::int64_t i = 0; i < Fixture::n; ++i) EXPECT_EQ(x[i], TypeParam(0));
    for (const Real bad : {std::numeric_limits<Real>::quiet_NaN(),
                           std::numeric_limits<Real>::infinity()}) {
      b = finite;
      b[Fixture::n + 11] = bad;
      const auto found = Fixture::solved(solver, b, ones, op),
                 expected = Fixture::solved(working, b, ones, op),
                 without = Fixture::solved(solver, finite, ones, op);
      int bad_elements = 0;
      for (std::size_t k = 0; k < b.size(); ++k) {
        EXPECT_EQ(Fixture::is_finite(found[k]), Fixture::is_finite(expected[k]))
            << k;
        bad_elements += !Fixture::is_finite(found[k]);
        if (k / Fixture::n != 1) {
          EXPECT_EQ(found[k], without[k]);
        }
      }
      EXPECT_GT(bad_elements, 0);
    }
  }
}

TYPED_TEST(FactorPrecisionOf, RefusesWhatFloatDoesNotHold) {
  using Fixture = TestFixture;
  using Real = typename Fixture::Real;
  if constexpr (Fixture::is_wide) {
    auto made = Fixture::random_case(Fixture::single());
    Fixture::transform(made, 15);
    auto solver = made.solver();
    const auto before = Fixture::applied(solver);
    std::int64_t row = 7;  // with an entry beside the diagonal
    while (made.U.row_map[row + 1] - made.U.row_map[row] < 2) ++row;
    const auto beside = made.U.entries[made.U.row_map[row] + 1];
    const auto refused = [&](const char* argument, std::int64_t of,
                             const auto& change) {
      auto bad = made;
      change(bad);
      expect_error<PrecisionError>(argument, of, [&] { bad.solver(); });
      const auto L = bad.L.template to_device<Crs<TypeParam>>(),
                 U = bad.U.template to_device<Crs<TypeParam>>();
      expect_error<PrecisionError>(
          argument, of, [&] { solver.update_values(Device(), L, U); });
      EXPECT_EQ(Fixture::applied(solver), before);
    };
    for (const double value :
         {1e39, -1e300, std::nan(""), std::numeric_limits<double>::infinity()})
      refused("U.values", row, [&](auto& bad) {
        bad.U.at(row, beside) = static_cast<Real>(value);
        bad.U.at(42, 42) = static_cast<Real>(1e200);
      });
    refused("U.values", 30,
            [&](auto& bad) { bad.U.at(30, 30) = static_cast<Real>(1e-39); });
    refused("L.values", 42, [&](auto& bad) {
      std::int64_t first = bad.L.row_map[42];
      ASSERT_LT(first, bad.L.row_map[43]);
      bad.L.entries[first] = 0;
      bad.L.values[first] = static_cast<Real>(1e60);
    });

    // Not of the factor: L's diagonal. And a small entry does no harm.
    made.L.at(5, 5) = static_cast<Real>(1e200);
    made.U.at(row, beside) = static_cast<Real>(1e-60);
    const auto taken = made.solver();
    const typename Fixture::One b("b", Fixture::n), x("x", Fixture::n);
    Fixture::expect_applied(taken, made.matrix(), b, x, Fixture::unit);
  }
}

TYPED_TEST(FactorPrecisionOf, UpdatesGiveTheBitsOfANewOne) {
  using Fixture = TestFixture;
  using Real = typename Fixture::Real;
  auto made = Fixture::random_case(Fixture::single());
  Fixture::transform(made, 3);
  auto solver = made.solver();
  for (int time = 0; time < 2; ++time) {
    made.L = Fixture::scaled(made.L, Real(1.3));
    made.U = Fixture::scaled(made.U, Real(-0.7));
    solver.update_values(Device(), made.L.template to_device<Crs<TypeParam>>(),
                         made.U.template to_device<Crs<TypeParam>>());
    const auto expected = made.solver();
    for (const Op op : all_ops)
      EXPECT_EQ(Fixture::applied(solver, op), Fixture::applied(expected, op));
  }
  // L has got new values when U is refused.
  const auto before = Fixture::applied(solver);
  auto bad = Fixture::scaled(made.U, Real(2));
  bad.at(3, 3) = 0;
  const auto L = Fixture::scaled(made.L, Real(2));
  EXPECT_THROW(
      solver.update_values(Device(), L.template to_device<Crs<TypeParam>>(),
                           bad.template to_device<Crs<TypeParam>>()),
      Strata::ZeroDiagonalError);
  EXPECT_EQ(Fixture::applied(solver), before);
}

TYPED_TEST(FactorPrecisionOf, AppliesWithoutMemoryCopiesAndWaits) {
  using Fixture = TestFixture;
  using Strata::SolverTest::KokkosEvents;
  auto made = Fixture::random_case(Fixture::single());
  Fixture::transform(made, 15);
  const auto solver = made.solver();
  const typename Fixture::Left b("b", Fixture::n, 4);
  const typename Fixture::Right x("x", Fixture::n, 4);
  Kokkos::deep_copy(b, TypeParam(1));
  const Device exec;
  const auto apply = [&] {
    for (const Op op : all_ops) {
      solver.apply(exec, b, x, op);
      solver.apply(exec, x, x, op);
    }
  };
  apply();
  exec.fence();
  const KokkosEvents events(Device::memory_space::name());
  apply();
  const auto counts = events.so_far();
  EXPECT_EQ(counts.allocations, 0) << counts.last;
  EXPECT_EQ(counts.copies, 0) << counts.last;
  if (on_gpu<Device>) {
    EXPECT_EQ(counts.fences, 0) << counts.last;
  }
}

TYPED_TEST(FactorPrecisionOf, ReportsItsBytes) {
  using Fixture = TestFixture;
  auto made = Fixture::random_case();
  const auto working = made.solver().report();
  made.options.precision = FactorPrecision::single;
  const auto single = made.solver().report();
  EXPECT_EQ(single.precision, FactorPrecision::single);
  const std::size_t entries = made.L.entries.size() + made.U.entries.size();
  if (Fixture::is_wide) {
    EXPECT_LT(single.plan_bytes, working.plan_bytes);
    EXPECT_EQ(single.value_bytes,
              entries * (sizeof(TypeParam) + sizeof(TypeParam) / 2));
    EXPECT_GE(single.workspace_bytes, Fixture::n * sizeof(TypeParam));
  } else {
    EXPECT_EQ(single.bytes(), working.bytes());
  }
}

TYPED_TEST(FactorPrecisionOf, IncompleteFactorsStayInTheirOwnPrecision) {
  using Fixture = TestFixture;
  using Real = typename Fixture::Real;
  using Factors = Strata::IncompleteFactorization<TypeParam, Device>;
  const auto A = hermitian<TypeParam>("triangulated:9x7");
  const auto device_A = A.template to_device<Crs<TypeParam>>();
  Strata::IncompleteFactorizationOptions options;
  const auto kind = Strata::Factorization::incomplete_lu;
  const Factors working(Device(), device_A, kind, options);
  options.precision = FactorPrecision::single;
  Factors single(Device(), device_A, kind, options);
  using Host = typename Fixture::Host;
  EXPECT_EQ(Host(single.upper(Device())).values,
            Host(working.upper(Device())).values);
  EXPECT_EQ(Host(single.lower(Device())).values,
            Host(working.lower(Device())).values);
  const auto b = random_vector<TypeParam>(A.rows);
  const auto applied = [&](const Factors& factors) {
    const Vector<TypeParam> x("x", A.rows);
    factors.apply(Device(), b, x);
    return on_host(x);
  };
  const auto x = applied(single), y = applied(working);
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::abs(wide(x[i]) - wide(y[i])));
    size = std::max(size, std::abs(wide(y[i])));
  }
  EXPECT_LE(difference, 1e3 * Fixture::unit * size);
  EXPECT_EQ(difference > 0, Fixture::is_wide);
  if (Fixture::is_wide) {
    auto bad = A;
    for (auto& v : bad.values) v *= static_cast<Real>(1e60);
    EXPECT_THROW(single.update_values(Device(),
                                      bad.template to_device<Crs<TypeParam>>()),
                 PrecisionError);
    EXPECT_EQ(applied(single), x);
    EXPECT_EQ(Host(single.upper(Device())).values,
              Host(working.upper(Device())).values);
  }
}

/// Iterations by incomplete factors in both precisions.
/// @param more  than 5 percent that they may differ by
template <class Solver>
void expect_equal_iterations(const HostMatrix<double>& host,
                             Strata::Factorization kind, int more) {
  const auto A = host.to_device<Crs<double>>();
  const Strata::SellMatrix<double, Device> product(Device(), A);
  const auto b = random_vector<double>(host.rows);
  Strata::IncompleteFactorizationOptions options;
  int iterations[2];
  for (const bool single : {false, true}) {
    options.precision =
        single ? FactorPrecision::single : FactorPrecision::working;
    const Strata::IncompleteFactorization<double, Device> M(Device(), A, kind,
                                                            options);
    Solver solver(Device(), host.rows);
    const Vector<double> x("x", host.rows);
    const auto result = solver.solve(Device(), product, M, b, x);
    EXPECT_LE(relative_residual(host, on_host(b), on_host(x)), 3e-8);
    iterations[single] = result.iterations;
  }
  EXPECT_GT(iterations[0], 3);
  EXPECT_LE(std::abs(iterations[1] - iterations[0]), more + iterations[0] / 20)
      << iterations[0] << " and " << iterations[1];
}

/// Diffusion with random coefficients, close to singular: a Krylov method takes
/// some dozens of iterations.
HostMatrix<double> diffusion(const std::string& spec) {
  auto A = hermitian<double>(spec);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double sum = 0;
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] != i) sum -= A.values[k] = -std::abs(A.values[k]);
    A.at(i, i) = 1.005 * sum;
  }
  return A;
}

TEST(FactorPrecisionInKrylovMethods, TakesAsManyIterations) {
  using Strata::Factorization;
  for (const char* spec : {"grid2d:40", "grid3d:12", "triangulated:33x17"}) {
    SCOPED_TRACE(spec);
    const auto A = diffusion(spec);
    expect_equal_iterations<Strata::ConjugateGradient<double, Device>>(
        A, Factorization::incomplete_cholesky, 1);
    // A cycle that reaches 1e-8 by itself ends at float's accuracy, and some
    // iterations of another one follow.
    expect_equal_iterations<Strata::Gmres<double, Device>>(
        A, Factorization::incomplete_lu, 3);
    // Of which rounding of any kind makes more or less where they are many.
    expect_equal_iterations<Strata::BiCgStab<double, Device>>(
        hermitian<double>(spec), Factorization::incomplete_lu, 1);
  }
}

}  // namespace
