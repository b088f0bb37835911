// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IncompletePreconditioner in the order of level sets: the natural order's
// factors, permuted.
#include <gtest/gtest.h>

#include <Strata_BiCgStab.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_Preconditioner.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "HermitianMatrix.hpp"

namespace {

using Strata::Factorization;
using Strata::FactorOrder;

/// Rows of a dominant diagonal and a few entries anywhere, whose pattern is not
/// symmetric; one row and one column are long.
template <class Scalar>
HostMatrix<Scalar> random_matrix(std::int64_t n) {
  std::uniform_int_distribution<std::int64_t> any(0, n - 1);
  std::vector<Scalar> dense(n * n);
  const auto set = [&](std::int64_t i, std::int64_t j) {
    dense[i * n + j] = random_number<Scalar>();
  };
  for (std::int64_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) set(i, any(generator()));
  for (std::int64_t i = 0; i < n; i += 2) {
    set(n / 2, i);
    set(i, n / 3);
  }
  for (std::int64_t i = 0; i < n; ++i) dense[i * n + i] = Scalar(n);
  return {n, n, dense};
}

/// The same pattern with other values off the diagonal.
template <class Scalar>
HostMatrix<Scalar> new_values(HostMatrix<Scalar> A) {
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] != i) A.values[k] = random_number<Scalar>();
  return A;
}

template <class Scalar>
struct LevelOrderPreconditioner : testing::Test {
  using Preconditioner = Strata::IncompletePreconditioner<Scalar, Device>;
  using Host = HostMatrix<Scalar>;
  static constexpr double eps =
      std::numeric_limits<Strata::Detail::RealOf<Scalar>>::epsilon();

  static Preconditioner make(const Host& A,
                             FactorOrder order = FactorOrder::level_sets,
                             Factorization kind = Factorization::incomplete_lu,
                             const Strata::TriangularOptions& options = {}) {
    return Preconditioner(Device(), A.template to_device<Crs<Scalar>>(), kind,
                          options, order);
  }
  static std::vector<Scalar> applied(const Preconditioner& M,
                                     const Vector<Scalar>& r) {
    const Vector<Scalar> z("z", r.extent(0));
    M.apply(Device(), r, z);
    Kokkos::fence();
    return on_host(z);
  }
  static void expect_near(const std::vector<Scalar>& a,
                          const std::vector<Scalar>& b) {
    double largest = 0;
    for (const Scalar& v : b) largest = std::max(largest, std::abs(wide(v)));
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_LE(std::abs(wide(a[i]) - wide(b[i])), 1e3 * eps * largest) << i;
  }
};
TYPED_TEST_SUITE(LevelOrderPreconditioner, Scalars);

TYPED_TEST(LevelOrderPreconditioner, FactorsAreTheNaturalOnesPermuted) {
  using Scalar = TypeParam;
  const Device exec;
  const HostMatrix<Scalar> all[] = {
      random_matrix<Scalar>(150), hermitian<Scalar>("triangulated:14x11"),
      HostMatrix<Scalar>(Strata::gallery<Crs<Scalar>>(exec, "circuit:300"))};
  for (const auto& host : all) {
    const auto A = host.template to_device<Crs<Scalar>>();
    const auto order = Strata::level_permutation(exec, A);
    EXPECT_LT(order.num_levels, host.rows);
    const Strata::IncompleteFactorization<Scalar, Device> natural(exec, A),
        permuted(exec, Strata::permute_symmetric(exec, A, order));
    const auto expect = [&](const Crs<Scalar>& of_natural,
                            const Crs<Scalar>& of_permuted) {
      const HostMatrix<Scalar> was(
          Strata::permute_symmetric(exec, of_natural, order)),
          is(of_permuted);
      EXPECT_EQ(was.row_map, is.row_map);
      EXPECT_EQ(was.entries, is.entries);
      this->expect_near(is.values, was.values);
    };
    expect(natural.lower(exec), permuted.lower(exec));
    expect(natural.upper(exec), permuted.upper(exec));

    const auto M = this->make(host);
    EXPECT_EQ(M.order(), FactorOrder::level_sets);
    EXPECT_EQ(M.report().order, FactorOrder::level_sets);
    EXPECT_EQ(M.report().levels, order.num_levels);
    EXPECT_EQ(M.colours(), 0);
    const auto r = random_vector<Scalar>(host.rows);
    const auto z = this->applied(M, r);
    this->expect_near(z,
                      this->applied(this->make(host, FactorOrder::natural), r));
    // The same bits again, and in place.
    EXPECT_EQ(this->applied(M, r), z);
    M.apply(exec, r, r);
    EXPECT_EQ(on_host(r), z);
  }
}

TYPED_TEST(LevelOrderPreconditioner, TakesAsManyIterationsAsTheNaturalOrder) {
  using Scalar = TypeParam;
  const Device exec;
  const double tolerance = std::sqrt(this->eps);
  const auto expect = [&](const char* name, const HostMatrix<Scalar>& host,
                          Factorization kind, auto solver) {
    const auto A = host.template to_device<Crs<Scalar>>();
    const auto b = random_vector<Scalar>(host.rows);
    const auto iterations = [&](FactorOrder order) {
      const Vector<Scalar> x("x", host.rows);
      const auto result = solver.solve(exec, Strata::SellMatrix(exec, A),
                                       this->make(host, order, kind), b, x);
      EXPECT_TRUE(result.converged()) << name;
      EXPECT_LE(relative_residual(host, on_host(b), on_host(x)), 3 * tolerance)
          << name;
      return result.iterations;
    };
    // Roundings differ.
    EXPECT_LE(std::abs(iterations(FactorOrder::level_sets) -
                       iterations(FactorOrder::natural)),
              1)
        << name;
  };
  for (const auto* spec : {"grid3d:10", "triangulated:20x17"}) {
    Strata::CgOptions options;
    options.relative_tolerance = tolerance;
    const auto host = hermitian<Scalar>(spec);
    expect(spec, host, Factorization::incomplete_cholesky,
           Strata::ConjugateGradient<Scalar, Device>(exec, host.rows, options));
  }
  Strata::BiCgStabOptions options;
  options.relative_tolerance = tolerance;
  const auto host = random_matrix<Scalar>(200);
  expect("random", host, Factorization::incomplete_lu,
         Strata::BiCgStab<Scalar, Device>(exec, host.rows, options));
}

TYPED_TEST(LevelOrderPreconditioner, UpdatesGiveTheBitsOfANewOne) {
  using Scalar = TypeParam;
  const auto host = random_matrix<Scalar>(120);
  auto M = this->make(host);
  const auto r = random_vector<Scalar>(host.rows);
  for (int time = 0; time < 3; ++time) {
    const auto values = new_values(host);
    M.update_values(Device(), values.template to_device<Crs<Scalar>>());
    EXPECT_EQ(this->applied(M, r), this->applied(this->make(values), r));
  }
}

TYPED_TEST(LevelOrderPreconditioner, ErrorsNameTheRowsThatWereGiven) {
  using Scalar = TypeParam;
  const auto host = hermitian<Scalar>("triangulated:12x11");
  const auto lu = Factorization::incomplete_lu;
  auto M = this->make(host);
  const auto r = random_vector<Scalar>(host.rows);
  const auto before = this->applied(M, r);
  const auto refused = [&](const HostMatrix<Scalar>& bad, auto error,
                           std::int64_t row) {
    const std::string named = "row " + std::to_string(row);
    const auto expect = [&](const auto& call) {
      try {
        call();
        ADD_FAILURE() << named << " taken";
      } catch (const decltype(error)& caught) {
        EXPECT_EQ(caught.row(), row);
        EXPECT_NE(caught.problem().find(named), std::string::npos)
            << caught.problem();
      }
    };
    expect([&] { this->make(bad, FactorOrder::level_sets, lu); });
    expect([&] {
      M.update_values(Device(), bad.template to_device<Crs<Scalar>>());
    });
    EXPECT_EQ(this->applied(M, r), before);
  };
  const Strata::FactorizationError factorization("", "", "", 0);
  // No other row depends on the last one.
  auto bad = host;
  bad.at(131, 131) = Scalar(std::nan(""));
  refused(bad, factorization, 131);
  // Row `next` less row 0 has nothing left on the diagonal, and all that row
  // `next` depends on is row 0.
  bad = host;
  const auto next = bad.entries[bad.row_map[0] + 1];
  bad.at(next, 0) = bad.at(0, 0);
  bad.at(next, next) = bad.at(0, next);
  refused(bad, factorization, next);
  bad = host;
  bad.at(7, 7) = Scalar(0);
  refused(bad, Strata::ZeroDiagonalError("", "", "", 0), 7);

  // Of incomplete Cholesky.
  const auto cholesky = [&](const HostMatrix<Scalar>& A) {
    return this->make(A, FactorOrder::level_sets,
                      Factorization::incomplete_cholesky);
  };
  bad = host;
  bad.at(50, 50) = Scalar(-20);
  try {
    cholesky(bad);
    ADD_FAILURE() << "taken";
  } catch (const Strata::IndefiniteError& caught) {
    EXPECT_EQ(caught.row(), 50);
    EXPECT_NE(caught.problem().find("row 50"), std::string::npos);
  }
  bad = host;
  bad.at(next, 0) *= Scalar(2);
  EXPECT_THROW(cholesky(bad), Strata::NotHermitianError);
  auto of_cholesky = cholesky(host);
  EXPECT_THROW(of_cholesky.update_values(Device(),
                                         bad.template to_device<Crs<Scalar>>()),
               Strata::NotHermitianError);
  bad = host;
  bad.entries[bad.row_map[1] - 1] += 1;  // the last entry of row 0
  EXPECT_THROW(M.update_values(Device(), bad.template to_device<Crs<Scalar>>()),
               Strata::PatternMismatchError);
  EXPECT_EQ(this->applied(M, r), before);
}

TYPED_TEST(LevelOrderPreconditioner, TakesWhatTriangularSolversTake) {
  using Scalar = TypeParam;
  const auto host = hermitian<Scalar>("triangulated:12x11");
  const auto r = random_vector<Scalar>(host.rows);
  const auto z = this->applied(this->make(host, FactorOrder::natural), r);
  for (const auto algorithm :
       {Strata::Algorithm::blocks, Strata::Algorithm::level_sets,
        Strata::Algorithm::sync_free}) {
    Strata::TriangularOptions options;
    options.algorithm = algorithm;
    const auto M = this->make(host, FactorOrder::level_sets,
                              Factorization::incomplete_lu, options);
    EXPECT_EQ(M.lower_report().algorithm, algorithm);
    EXPECT_EQ(M.upper_report().algorithm, algorithm);
    this->expect_near(this->applied(M, r), z);
  }
  // Strided vectors.
  const Kokkos::View<Scalar**, Kokkos::LayoutRight, Device> both("both",
                                                                 host.rows, 2);
  const auto from = Kokkos::subview(both, Kokkos::ALL(), 0),
             to = Kokkos::subview(both, Kokkos::ALL(), 1);
  Kokkos::deep_copy(from, r);
  this->make(host).apply(Device(), from, to);
  this->expect_near(on_host(to), z);
}

TYPED_TEST(LevelOrderPreconditioner, TakesTheSmallestMatrices) {
  using Scalar = TypeParam;
  const HostMatrix<Scalar> none, one(1, 1, {Scalar(4)});
  EXPECT_EQ(this->make(none).rows(), 0);
  EXPECT_EQ(this->make(none).report().levels, 0);
  const Vector<Scalar> empty("empty", 0), r("r", 1);
  this->make(none).apply(Device(), empty, empty);
  Kokkos::deep_copy(r, Scalar(2));
  EXPECT_EQ(this->applied(this->make(one), r),
            std::vector<Scalar>{Scalar(0.5)});
  EXPECT_EQ(this->make(one).report().levels, 1);
}

}  // namespace
