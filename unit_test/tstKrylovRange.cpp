// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all Krylov methods do with residuals that grow, and with numbers whose
// squares over- or underflow.
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <Strata_BiCgStab.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gmres.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <cmath>
#include <limits>
#include <sstream>

#include "HermitianMatrix.hpp"
#include "InOrder.hpp"
#include "LateStatus.hpp"

namespace {

using Strata::CgStatus;
using Strata::KrylovStatus;
constexpr double infinity = std::numeric_limits<double>::infinity();
template <class Scalar>
constexpr bool single = sizeof(RealOf<Scalar>) == 4;

/// 2^exponent v
template <class Scalar>
Scalar times(const Scalar& v, int exponent) {
  using Real = RealOf<Scalar>;
  const auto part = [&](double u) {
    return std::ldexp(static_cast<Real>(u), exponent);
  };
  if constexpr (std::is_floating_point<Scalar>::value) {
    return part(v);
  } else {
    return Scalar(part(v.real()), part(v.imag()));
  }
}
template <class Scalar>
std::vector<Scalar> times(std::vector<Scalar> v, int exponent) {
  for (auto& value : v) value = times(value, exponent);
  return v;
}
template <class Scalar>
HostMatrix<Scalar> times(HostMatrix<Scalar> A, int exponent) {
  A.values = times(A.values, exponent);
  return A;
}

template <class Scalar>
Vector<Scalar> on_device(const std::vector<Scalar>& of) {
  Vector<Scalar> v("v", of.size());
  const auto mirror = Kokkos::create_mirror_view(v);
  std::copy(of.begin(), of.end(), mirror.data());
  Kokkos::deep_copy(v, mirror);
  return v;
}

/// ||b - A x||, and what rounding may make of it. Squares of all numbers of
/// double fit.
struct Residual {
  double norm, rounding;
};
template <class Scalar>
Residual residual_of(const HostMatrix<Scalar>& A, const std::vector<Scalar>& b,
                     const std::vector<Scalar>& x) {
  using Number = std::complex<long double>;
  long double squares = 0, squared_sizes = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    Number sum(wide(b[i]));
    long double size = std::abs(sum);
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const Number product =
          Number(wide(A.values[k])) * Number(wide(x[A.entries[k]]));
      sum -= product;
      size += std::abs(product);
    }
    squares += std::norm(sum);
    squared_sizes += size * size;
  }
  return {
      static_cast<double>(std::sqrt(squares)),
      static_cast<double>(8 * epsilon_of<Scalar> * std::sqrt(squared_sizes))};
}

template <template <class, class> class SolverOf, class OptionsOf>
struct Method {
  template <class Scalar>
  using Solver = SolverOf<Scalar, Device>;
  using Options = OptionsOf;
};
using Cg = Method<Strata::ConjugateGradient, Strata::CgOptions>;
using Gmres = Method<Strata::Gmres, Strata::GmresOptions>;
using BiCgStab = Method<Strata::BiCgStab, Strata::BiCgStabOptions>;

enum class With { none, jacobi, cholesky, lu };

/// A solve of one method, with the x that it is given and leaves.
template <class Method, class Scalar>
struct Solve {
  HostMatrix<Scalar> A;
  std::vector<Scalar> b, x;
  typename Method::Options options;
  With with = With::none;

  auto operator()() {
    const Device exec;
    const auto crs = A.template to_device<Crs<Scalar>>();
    const Strata::SellMatrix sell(exec, crs);
    typename Method::template Solver<Scalar> solver(exec, A.rows, options);
    const auto of_b = on_device(b), of_x = on_device(x);
    const auto run = [&](const auto& M) {
      return solver.solve(exec, sell, M, of_b, of_x);
    };
    using Strata::Factorization;
    using Incomplete = Strata::IncompleteFactorization<Scalar, Device>;
    const auto result =
        with == With::none     ? run(Strata::NoPreconditioner())
        : with == With::jacobi ? run(Strata::JacobiPreconditioner(exec, crs))
        : with == With::cholesky
            ? run(Incomplete(exec, crs, Factorization::incomplete_cholesky,
                             Strata::in_order(Strata::FactorOrder::coloured)))
            : run(Incomplete(exec, crs, Factorization::incomplete_lu));
    x = on_host(of_x);
    return result;
  }
};

/// That the status says what has become of x. Returns the result.
template <class Method, class Scalar>
auto expect_honest(Solve<Method, Scalar>& solve) {
  const double first = residual_of(solve.A, solve.b, solve.x).norm;
  const std::vector<Scalar> zero(solve.x.size(), Scalar(0));
  const double of_b = residual_of(solve.A, solve.b, zero).norm;
  const auto before = solve.x;
  const auto result = solve();
  using Status = decltype(result.status);
  const auto [last, rounding] = residual_of(solve.A, solve.b, solve.x);
  std::ostringstream text;
  text << to_string(result.status) << ' ' << result.iterations << ": from "
       << first << " to " << last << " and rounding of " << rounding;
  SCOPED_TRACE(text.str());
  if (result.status == Status::not_finite) {
    EXPECT_TRUE(result.iterations > 0 || solve.x == before);
    return result;
  }
  EXPECT_NEAR(result.residual_norm, last, 1e-5 * last + rounding);
  EXPECT_NEAR(result.rhs_norm, of_b, 1e-5 * of_b);
  const double limit = std::max(solve.options.relative_tolerance * of_b,
                                solve.options.absolute_tolerance);
  const double most = solve.options.divergence_tolerance *
                      std::max(result.rhs_norm, result.history[0]);
  const bool grew = result.history.back() > most;
  for (std::size_t i = 0; i + 1 < result.history.size(); ++i) {
    EXPECT_LE(result.history[i], most) << "went on at " << i;
  }
  if (grew) {
    EXPECT_EQ(result.status, Status::diverged);
  }
  if (result.status == Status::diverged) {
    EXPECT_TRUE(grew || last + rounding > first);
  } else if (result.converged()) {
    EXPECT_LE(last, 2.0001 * limit + rounding);
  } else if (result.status == Status::max_iterations ||
             result.status == Status::stagnated ||
             to_string(result.status) == std::string("breakdown")) {
    EXPECT_LE(last, 1.0011 * first + rounding) << "worse, without a word";
  }
  if (result.status == Status::max_iterations) {
    EXPECT_EQ(result.iterations, solve.options.max_iterations);
  }
  return result;
}

/// The second difference of n points, without a boundary: of no solution.
template <class Scalar>
HostMatrix<Scalar> neumann(int n) {
  std::vector<Scalar> dense(static_cast<std::size_t>(n) * n, Scalar(0));
  for (int i = 0; i < n; ++i)
    for (int j = std::max(0, i - 1); j < std::min(n, i + 2); ++j)
      dense[i * n + j] = Scalar(i != j ? -1 : i == 0 || i == n - 1 ? 1 : 2);
  return {n, n, dense};
}

template <class Scalar>
class KrylovRange : public testing::Test {};
TYPED_TEST_SUITE(KrylovRange, Scalars);

TYPED_TEST(KrylovRange, CgTellsThatASingularSystemDiverges) {
  using Scalar = TypeParam;
  for (const int launches : {0, 1, 3})
    for (const auto with : {With::none, With::jacobi, With::lu})
      for (const double tolerance : {1e5, infinity, 3.0}) {
        SCOPED_TRACE(launches);
        SCOPED_TRACE(tolerance);
        // A constant b is an eigenvector: Jacobi alone hides that.
        auto b = std::vector<Scalar>(100, Scalar(1));
        if (with == With::none) b[7] = Scalar(3);
        Solve<Cg, Scalar> solve{neumann<Scalar>(100),
                                b,
                                std::vector<Scalar>(100, Scalar(0)),
                                {},
                                with};
        // The last pivot of complete factors is 0.
        if (with == With::lu) solve.A.at(0, 0) = Scalar(1.0001f);
        solve.options.launches = launches;
        solve.options.max_iterations = with == With::lu ? 3 : 1000;
        solve.options.divergence_tolerance = tolerance;
        const auto result = expect_honest(solve);
        if (with == With::lu) continue;
        // With other rounding errors, a search direction may show first that
        // the matrix is singular.
        constexpr bool may_see_it = single<Scalar> || on_gpu<Device>;
        if (may_see_it && result.status == CgStatus::indefinite_matrix)
          continue;
        EXPECT_EQ(result.status, CgStatus::diverged)
            << to_string(result.status);
        EXPECT_EQ(result.iterations < 1000, tolerance < infinity);
      }
}

// 4 x 4, complex.
template <class Scalar>
void bicgstab_diverges() {
  using Real = RealOf<Scalar>;
  const double two_pi = 6.283185307179586;
  const auto number = [](double real, double imaginary = 0) {
    return Scalar(static_cast<Real>(real), static_cast<Real>(imaginary));
  };
  std::vector<Scalar> dense(16, Scalar(0));
  dense[0] = number(-.1112795288033378);
  dense[3] = number(.16127952880333685);
  dense[5] = number(-.13627952880333782, two_pi);
  dense[12] = number(.1112795288033368);
  dense[15] = number(-.16127952880333785);
  // Rounding alone keeps it from being singular: where the residual grows, and
  // how far, differs from machine to machine. With a conjugate pair it does.
  for (const double sign : {1.0, -1.0})
    for (const double tolerance : {1e5, 10.0, infinity})
      for (const double relative : {1e-5, 1e-8, 0.0})
        for (const int most : {1, 2, 3, 4, 5, 7, 10, 20, 40, 400}) {
          dense[10] = number(-.13627952880333782, sign * two_pi);
          Solve<BiCgStab, Scalar> solve{{4, 4, dense},
                                        std::vector<Scalar>(4, Scalar(1)),
                                        std::vector<Scalar>(4, Scalar(0)),
                                        {}};
          solve.options.max_iterations = most;
          solve.options.relative_tolerance = relative;
          solve.options.divergence_tolerance = tolerance;
          const auto result = expect_honest(solve);
          // With a device's rounding errors, the residual may stop growing.
          const bool may_stay =
              on_gpu<Device> && result.status == KrylovStatus::stagnated;
          if (sign < 0 && most == 400 && tolerance < infinity &&
              !single<Scalar> && !may_stay) {
            EXPECT_EQ(result.status, KrylovStatus::diverged)
                << to_string(result.status);
            EXPECT_LT(result.iterations, most);
          }
        }
}
TEST(KrylovRange, BiCgStabTellsThatItDiverges) {
  bicgstab_diverges<Kokkos::complex<double>>();
  bicgstab_diverges<Kokkos::complex<float>>();
}

/// Systems of all kinds, most of which nothing solves in a few iterations.
template <class Method, class Scalar>
void tell_what_has_become_of_x() {
  const auto whole = [](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(generator());
  };
  for (int time = 0; time < 100; ++time) {
    SCOPED_TRACE(time);
    const std::vector<std::string> specs{"grid2d:7", "grid3d:4", "circuit:80",
                                         "chain:50"};
    const auto& spec = specs[whole(0, 3)];
    Solve<Method, Scalar> solve{hermitian<Scalar>(spec, 1.05), {}, {}, {}};
    auto& A = solve.A;
    solve.with = static_cast<With>(whole(0, 3));
    const bool colours = spec[0] == 'g' || spec[1] == 'h';
    if (solve.with == With::cholesky && !colours) solve.with = With::none;
    // Preconditioners are made of what they can be made of, and weak ones.
    const int kind = whole(0, solve.with == With::none ? 4 : 1);
    for (std::int64_t i = 0; i < A.rows; ++i) {
      const double by = kind == 1   ? std::pow(10., whole(-3, 3))
                        : kind == 2 ? (i % 2 ? -1 : 1)
                        : kind == 3 ? 0.3
                                    : 1;
      A.at(i, i) *= Scalar(static_cast<float>(kind == 4 ? 1e-3 : by));
    }
    if (kind == 1 && solve.with == With::cholesky)
      A = hermitian<Scalar>(spec, 1.0001);
    solve.b = on_host(random_vector<Scalar>(A.rows));
    solve.x = whole(0, 1) ? on_host(random_vector<Scalar>(A.rows))
                          : std::vector<Scalar>(A.rows, Scalar(0));
    solve.x = times(solve.x, whole(-10, 10));
    auto& options = solve.options;
    options.max_iterations = whole(0, 1) ? whole(0, 4) : whole(5, 300);
    options.relative_tolerance = single<Scalar> ? 1e-4 : 1e-9;
    options.divergence_tolerance = std::vector<double>{
        1e5, infinity, 1.5}[static_cast<std::size_t>(whole(0, 2))];
    if constexpr (std::is_same<Method, Cg>::value) {
      options.launches =
          std::vector<int>{0, 1, 3}[static_cast<std::size_t>(whole(0, 2))];
    }
    if constexpr (std::is_same<Method, Gmres>::value) {
      options.restart = whole(1, 12);
    }
    expect_honest(solve);
  }
}
TYPED_TEST(KrylovRange, NoXIsWorseWithoutAWord) {
  tell_what_has_become_of_x<Cg, TypeParam>();
  tell_what_has_become_of_x<Gmres, TypeParam>();
  tell_what_has_become_of_x<BiCgStab, TypeParam>();
}

/// Of two unknowns, whose first residual is the shortest of all iterations'.
template <class Method, class Scalar>
void tell_of_longer_residuals(const std::vector<Scalar>& diagonal,
                              const std::vector<Scalar>& b) {
  for (const double start : {0.0, 3.0})
    for (const double tolerance : {infinity, 1e5, 1.5}) {
      Solve<Method, Scalar> solve{
          {2, 2, {diagonal[0], Scalar(0), Scalar(0), diagonal[1]}}, b, {}, {}};
      for (int i = 0; i < 2; ++i) {
        solve.x.push_back(Scalar(static_cast<float>(start)));
        solve.b[i] += diagonal[i] * solve.x[i];
      }
      solve.options.max_iterations = tolerance < 2 ? 9 : 1;
      solve.options.divergence_tolerance = tolerance;
      // ||b|| is 300 times the residual here.
      if (tolerance < 2 && start > 0) continue;
      const auto result = expect_honest(solve);
      EXPECT_EQ(result.status, decltype(result.status)::diverged)
          << to_string(result.status);
      EXPECT_EQ(result.iterations, 1);
      EXPECT_GT(result.residual_norm, 2 * result.history[0]);
    }
}
TYPED_TEST(KrylovRange, LongerResidualsAreToldOf) {
  using Scalar = TypeParam;
  tell_of_longer_residuals<Cg, Scalar>({Scalar(1), Scalar(100)},
                                       {Scalar(1), Scalar(0.1f)});
  tell_of_longer_residuals<BiCgStab, Scalar>({Scalar(1), Scalar(-0.9f)},
                                             {Scalar(1), Scalar(1)});
}

/// Rows of one entry beside the diagonal, and a few that they lead to: in the
/// Schur complement of the former, the residual is longer than that of the
/// system and gets shorter, but not as short as that of the system was.
TEST(KrylovRange, ASchurComplementKnowsTheResidualOfTheXGiven) {
  const int hubs = 30, leaves = 20 * hubs, shared = hubs - 1;
  const int n = leaves + shared + hubs;
  std::vector<double> dense(static_cast<std::size_t>(n) * n);
  Solve<Cg, double> solve;
  solve.b.resize(n);
  const auto join = [&](int leaf, int hub) {
    const int row = leaves + shared + hub;
    dense[row * n + leaf] = dense[leaf * n + row] = 1;
    dense[row * n + row] += 1;
  };
  for (int i = 0; i < n; ++i) dense[i * n + i] = i < leaves + shared ? 1 : 2.02;
  for (int i = 0; i < leaves; ++i) {
    join(i, i / 20);
    solve.b[i] = i / 20 % 3 == 0 ? -1 : 1;
  }
  for (int i = 0; i < shared; ++i)
    for (const int hub : {i, i + 1}) join(leaves + i, hub);
  for (int i = leaves + shared; i < n; ++i) {
    if (i == leaves + shared || i + 1 == n) dense[i * n + i] += 1;
  }
  solve.A = HostMatrix<double>(n, n, dense);
  solve.x.resize(n);
  solve.with = With::cholesky;
  solve.options.max_iterations = 1;
  const auto result = expect_honest(solve);
  EXPECT_NEAR(result.history[0], 20 * std::sqrt(hubs), 1e-10);
  EXPECT_LT(result.residual_norm, result.history[0]);
  EXPECT_GT(result.residual_norm, result.rhs_norm);
  EXPECT_EQ(result.status, CgStatus::diverged) << to_string(result.status);
}

/// An operator whose products change from time to time.
struct Fickle {
  Strata::SellMatrix<double, Device> A;
  mutable int times = 0;
  template <class X, class Y>
  void apply(const Device& exec, const X& x, const Y& y) const {
    A.apply(exec, x, y);
    const double by = ++times % 5 == 0 ? -40.0 : 1.0;
    Kokkos::parallel_for(
        "scale", Kokkos::RangePolicy<Device>(exec, 0, x.extent(0)),
        KOKKOS_LAMBDA(int i) { y(i) *= by; });
  }
};
TEST(KrylovRange, GmresTellsThatAnOperatorWhichChangesMadeXWorse) {
  const Device exec;
  const auto host = hermitian<double>("grid2d:9");
  const Fickle A{{exec, host.to_device<Crs<double>>()}};
  Strata::GmresOptions options;
  options.restart = 4;
  options.max_iterations = 40;
  const auto b = random_vector<double>(host.rows);
  const Vector<double> x("x", host.rows);
  const auto result = Strata::Gmres<double, Device>(exec, host.rows, options)
                          .solve(exec, A, b, x);
  EXPECT_NE(result.status, KrylovStatus::converged);
  if (result.status != KrylovStatus::diverged) {
    EXPECT_LE(result.residual_norm, 1.001 * result.history[0]);
  }
}

TEST(KrylovRange, DivergenceToleranceIsChecked) {
  const Device exec;
  const auto refuse = [&](auto options, auto make) {
    for (const double bad : {0.99, -1.0, 0.0, std::nan("")}) {
      options.divergence_tolerance = bad;
      try {
        make(options);
        FAIL() << bad;
      } catch (const Strata::OptionError& error) {
        EXPECT_EQ(error.argument(), "divergence_tolerance");
      }
    }
    options.divergence_tolerance = 1;
    EXPECT_NO_THROW(make(options));
  };
  refuse(Strata::CgOptions(), [&](const auto& options) {
    Strata::ConjugateGradient<double, Device>(exec, 3, options);
  });
  refuse(Strata::GmresOptions(), [&](const auto& options) {
    Strata::Gmres<double, Device>(exec, 3, options);
  });
  refuse(Strata::BiCgStabOptions(), [&](const auto& options) {
    Strata::BiCgStab<double, Device>(exec, 3, options);
  });
}

/// 2^k b has 2^k times the solution of b, bit by bit, and the norms likewise.
template <class Method, class Scalar>
void scale_b() {
  const auto host = hermitian<Scalar>("grid2d:17", 1.05);
  const auto b = on_host(random_vector<Scalar>(host.rows));
  const auto start = on_host(random_vector<Scalar>(host.rows));
  const std::vector<Scalar> zero(host.rows, Scalar(0));
  // 1e30 and 1e-30; 1e200, 1e-200, and near the ends.
  const std::vector<int> exponents =
      single<Scalar> ? std::vector<int>{100, -100}
                     : std::vector<int>{664, -664, 1000, -970, 400, -400};
  for (const auto with : {With::none, With::jacobi, With::cholesky, With::lu})
    for (const bool from_zero : {true, false}) {
      Solve<Method, Scalar> plain{host, b, from_zero ? zero : start, {}, with};
      plain.options.relative_tolerance = single<Scalar> ? 1e-4 : 1e-10;
      auto given = plain;
      const auto wanted = plain();
      ASSERT_TRUE(wanted.converged()) << to_string(wanted.status);
      for (const int exponent : exponents) {
        SCOPED_TRACE("2^" + std::to_string(exponent) + " with preconditioner " +
                     std::to_string(static_cast<int>(with)));
        auto scaled = given;
        scaled.b = times(b, exponent);
        scaled.x = times(given.x, exponent);
        const auto result = scaled();
        EXPECT_TRUE(result.converged()) << to_string(result.status);
        EXPECT_EQ(result.iterations, wanted.iterations);
        EXPECT_EQ(scaled.x, times(plain.x, exponent));
        EXPECT_EQ(result.history, times(wanted.history, exponent));
        EXPECT_EQ(result.rhs_norm, times(wanted.rhs_norm, exponent));
        EXPECT_EQ(result.residual_norm, times(wanted.residual_norm, exponent));
      }
    }
}
TYPED_TEST(KrylovRange, SolutionsScaleWithB) {
  scale_b<Cg, TypeParam>();
  scale_b<Gmres, TypeParam>();
  scale_b<BiCgStab, TypeParam>();
}

/// z = factor r
template <class Scalar>
struct Multiple {
  RealOf<Scalar> factor;
  template <class R, class Z>
  void apply(const Device& exec, const R& r, const Z& z) const {
    const auto by = factor;
    Kokkos::parallel_for(
        "scale", Kokkos::RangePolicy<Device>(exec, 0, r.extent(0)),
        KOKKOS_LAMBDA(int i) { z(i) = by * r(i); });
  }
};

/// 2^k A, with preconditioners of it, and multiples of the identity.
template <class Method, class Scalar>
void scale_A() {
  const Device exec;
  const auto host = hermitian<Scalar>("grid2d:17", 1.05);
  const auto b = on_host(random_vector<Scalar>(host.rows));
  const std::vector<Scalar> zero(host.rows, Scalar(0));
  std::uniform_int_distribution<int> any(-830, 830);
  for (const auto with : {With::none, With::jacobi, With::cholesky, With::lu})
    for (const int of_A : single<Scalar>
                              ? std::vector<int>{100, -100}
                              : std::vector<int>{664, -664, -500, -520, -539,
                                                 510, -415, any(generator())})
      for (const int of_b : single<Scalar> ? std::vector<int>{0, -20}
                                           : std::vector<int>{0, -90, 100}) {
        SCOPED_TRACE("2^" + std::to_string(of_A) + ", b times 2^" +
                     std::to_string(of_b) + " with preconditioner " +
                     std::to_string(static_cast<int>(with)));
        Solve<Method, Scalar> solve{
            times(host, of_A), times(b, of_b), zero, {}, with};
        solve.options.relative_tolerance = single<Scalar> ? 1e-4 : 1e-10;
        const auto result = expect_honest(solve);
        EXPECT_TRUE(result.converged())
            << to_string(result.status) << ' ' << result.iterations;
      }
  if (single<Scalar>) return;
  const Strata::SellMatrix sell(exec, host.template to_device<Crs<Scalar>>());
  for (const int exponent : {664, -664, 530, -530}) {
    SCOPED_TRACE(exponent);
    const Vector<Scalar> x("x", host.rows);
    typename Method::Options options;
    typename Method::template Solver<Scalar> solver(exec, host.rows, options);
    const auto result = solver.solve(
        exec, sell, Multiple<Scalar>{times(RealOf<Scalar>(1), exponent)},
        on_device(b), x);
    EXPECT_TRUE(result.converged()) << to_string(result.status);
    EXPECT_LE(relative_residual(host, b, on_host(x)), 2.1e-8);
  }
}
TYPED_TEST(KrylovRange, ScalesOfAAreNoReasonToFail) {
  scale_A<Cg, TypeParam>();
  scale_A<Gmres, TypeParam>();
  scale_A<BiCgStab, TypeParam>();
}

/// Callbacks, absolute tolerances and statuses are of the system given.
template <class Method>
void keep_to_units(double factor) {
  const auto host = hermitian<double>("grid2d:15");
  const std::int64_t n = host.rows;
  auto b = on_host(random_vector<double>(n));
  for (auto& v : b) v *= factor;
  const std::vector<double> zero(n), guess(n, 3);
  Solve<Method, double> solve{host, b, zero, {}};
  auto& options = solve.options;
  std::vector<double> told;
  options.progress = [&](int iteration, double norm) {
    EXPECT_EQ(iteration, static_cast<int>(told.size()));
    told.push_back(norm);
    return true;
  };
  options.relative_tolerance = 0;
  options.absolute_tolerance = 1e-3 * factor;
  EXPECT_TRUE(expect_honest(solve).converged());
  ASSERT_GT(told.size(), 2u);
  EXPECT_GT(told[1], 1e-3 * factor);
  EXPECT_LE(told.back(), 1e-3 * factor);
  // As near as is asked for already.
  auto near = solve;
  told.clear();
  near.options.absolute_tolerance = 1e9 * factor;
  const auto before = near.x;
  EXPECT_EQ(near().iterations, 0);
  EXPECT_EQ(near.x, before);
  EXPECT_EQ(told.size(), 1u);
  // Few iterations, and a callback that stops.
  solve.options = {};
  solve.options.max_iterations = 2;
  solve.x = zero;
  const auto few = expect_honest(solve);
  EXPECT_EQ(few.status, decltype(few.status)::max_iterations);
  solve.options = {};
  solve.options.progress = [](int iteration, double) { return iteration < 1; };
  const auto stopped = expect_honest(solve);
  EXPECT_EQ(stopped.status, decltype(stopped.status)::stopped);
  // Nothing helps these: x stays.
  solve.options = {};
  for (const double bad : {infinity, std::nan("")}) {
    auto broken = solve;
    broken.x = guess;
    broken.b[7] = bad;
    EXPECT_EQ(broken().status, decltype(broken().status)::not_finite);
    EXPECT_EQ(broken.x, guess);
    broken.b = b;
    broken.A.at(5, 5) = bad;
    const auto result = broken();
    EXPECT_EQ(result.status, decltype(result.status)::not_finite);
    EXPECT_TRUE(std::isnan(result.residual_norm));
    EXPECT_EQ(broken.x, guess);
  }
  // b = 0 has x = 0.
  auto none = solve;
  none.b = zero;
  for (const double guessed : {3., factor}) {
    none.x.assign(n, guessed);
    EXPECT_TRUE(none().converged());
    EXPECT_EQ(none.x, zero);
  }
  none.x[3] = std::nan("");
  EXPECT_EQ(none().status, decltype(none().status)::not_finite);
  none.x = guess;
  none.x[5] = infinity;
  EXPECT_EQ(none().status, decltype(none().status)::not_finite);
  // A solution beyond the numbers of double, or below.
  auto beyond = solve;
  beyond.x = zero;
  beyond.A = times(host, factor > 1 ? -664 : 664);
  EXPECT_EQ(beyond().status, decltype(beyond().status)::not_finite);
  EXPECT_EQ(beyond.x, zero);
}
TEST(KrylovRange, NormsAreOfTheSystemGiven) {
  for (const double factor : {1e200, 1e-200}) {
    SCOPED_TRACE(factor);
    keep_to_units<Cg>(factor);
    keep_to_units<Gmres>(factor);
    keep_to_units<BiCgStab>(factor);
  }
}

}  // namespace
