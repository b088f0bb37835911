// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A cast makes enumerators that there are not. Each is refused by name, before
// anything else is looked at, and none is printed as another one.
#include <gtest/gtest.h>

#include <Strata_BandSolver.hpp>
#include <Strata_ConjugateGradientOptions.hpp>
#include <Strata_FactorSolver.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_KrylovOptions.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangleGraph.hpp>
#include <Strata_TriangularSolver.hpp>

#include "HermitianMatrix.hpp"
#include "InOrder.hpp"

namespace Strata {
namespace {

using Exec = Kokkos::DefaultExecutionSpace;
using Matrix = Crs<double>;

/// Calls f with values that are none, and expects to be told which are.
template <class Enum, class F>
void expect_refused(const std::string& argument, const F& f) {
  const auto count = static_cast<int>(Detail::num_enumerators<Enum>());
  for (const int number : {99, -1, count, 1 << 30}) {
    const auto value = static_cast<Enum>(number);
    EXPECT_STREQ(Detail::enumerator_name(value), "unknown");
    try {
      f(value);
      ADD_FAILURE() << argument << ": " << number << " is accepted";
    } catch (const OptionError& error) {
      EXPECT_EQ(error.argument(), argument);
      EXPECT_EQ(error.problem(),
                "is " + std::to_string(number) + ", which has no name");
      for (int k = 0; k < count; ++k)
        EXPECT_NE(
            error.remedy().find(Detail::enumerator_name(static_cast<Enum>(k))),
            std::string::npos)
            << error.what();
    }
  }
}

/// No square matrix and no pattern: whoever looked at it would say so.
Matrix nonsense() {
  HostMatrix<double> host(2, 3, {1, 2, 3, 4, 5, 6});
  host.row_map[1] = 1 << 28;
  host.entries[0] = -7;
  return host.to_device<Matrix>();
}

TEST(Enumerators, UnknownValuesAreRefusedByTriangularSolvers) {
  const auto A = nonsense();
  const Exec exec;
  const auto solver = [&](Uplo uplo, Diag diag,
                          const TriangularOptions& options) {
    TriangularSolver<double, Exec>(exec, A, uplo, diag, options);
  };
  const auto option = [&](auto member) {
    return [=](auto value) {
      TriangularOptions options;
      options.*member = value;
      solver(Uplo::lower, Diag::non_unit, options);
    };
  };
  expect_refused<Algorithm>("algorithm", option(&TriangularOptions::algorithm));
  expect_refused<Op>("op", option(&TriangularOptions::op));
  expect_refused<Uplo>("uplo",
                       [&](Uplo uplo) { solver(uplo, Diag::non_unit, {}); });
  expect_refused<Diag>("diag",
                       [&](Diag diag) { solver(Uplo::lower, diag, {}); });
}

TEST(Enumerators, UnknownValuesAreRefusedByTheAnalysis) {
  const auto A = nonsense();
  const Exec exec;
  const auto graph = [&](auto member) {
    return [=](auto value) {
      TriangleInput input;
      input.*member = value;
      triangle_graph(exec, A.graph.row_map, A.graph.entries, A.values, 2,
                     input);
    };
  };
  expect_refused<Uplo>("uplo", graph(&TriangleInput::uplo));
  expect_refused<Diag>("diag", graph(&TriangleInput::diag));
  expect_refused<Op>("op", graph(&TriangleInput::op));
  expect_refused<LevelPattern>("pattern", [&](LevelPattern pattern) {
    level_permutation(exec, A, pattern);
  });
  const DependencyGraph<Exec::memory_space> empty;
  expect_refused<WithinLevel>("within", [&](WithinLevel within) {
    order_by_level(exec, empty, within);
  });
}

TEST(Enumerators, UnknownValuesAreRefusedByTheOtherSolvers) {
  const auto A = nonsense();
  const Exec exec;
  expect_refused<Uplo>("uplo",
                       [&](Uplo uplo) { take_triangle(exec, A, uplo); });
  expect_refused<MissingDiagonal>("missing", [&](MissingDiagonal missing) {
    take_triangle(exec, A, Uplo::lower, missing);
  });
  expect_refused<BandMethod>("method", [&](BandMethod method) {
    BandOptions options;
    options.method = method;
    const Kokkos::View<double**, Kokkos::LayoutLeft, Exec> ab("ab", 3, 9);
    BandSolver<double, Exec>(exec, ab, 1, 1, options);
  });
  using Factors = IncompleteFactorization<double, Exec>;
  expect_refused<Factorization>(
      "kind", [&](Factorization kind) { Factors(exec, A, kind); });
  expect_refused<FactorOrder>("order", [&](FactorOrder order) {
    Factors(exec, A, Factorization::incomplete_lu, in_order(order));
  });
  expect_refused<Algorithm>("algorithm", [&](Algorithm algorithm) {
    IncompleteFactorizationOptions options;
    options.triangular.algorithm = algorithm;
    Factors(exec, A, Factorization::incomplete_lu, options);
  });
}

TEST(Enumerators, UnknownValuesAreRefusedByFactorSolvers) {
  const auto A = nonsense();
  const Exec exec;
  const auto refused = [&](const char* name, auto member) {
    using Enum = std::decay_t<decltype(FactorSolverOptions().*member)>;
    expect_refused<Enum>(name, [&](Enum value) {
      FactorSolverOptions options;
      options.*member = value;
      FactorSolver<double, Exec>(exec, A, A, options);
    });
  };
  refused("lower_diag", &FactorSolverOptions::lower_diag);
  refused("upper_diag", &FactorSolverOptions::upper_diag);
  refused("precision", &FactorSolverOptions::precision);
  expect_refused<FactorPrecision>("precision", [&](FactorPrecision value) {
    IncompleteFactorizationOptions options;
    options.precision = value;
    IncompleteFactorization<double, Exec>(exec, A, Factorization::incomplete_lu,
                                          options);
  });
}

TEST(Enumerators, HaveTheNamesOfTheirValues) {
  EXPECT_STREQ(to_string(Uplo::upper), "upper");
  EXPECT_STREQ(to_string(Diag::unit), "unit");
  EXPECT_STREQ(to_string(Op::conjugate_transpose), "conjugate_transpose");
  EXPECT_STREQ(to_string(Algorithm::sync_free), "sync_free");
  EXPECT_STREQ(to_string(Algorithm::blocks), "blocks");
  EXPECT_STREQ(to_string(BandMethod::partial_pivoting), "partial_pivoting");
  EXPECT_STREQ(to_string(FactorOrder::coloured), "coloured");
  EXPECT_STREQ(to_string(FactorPrecision::single), "single");
  EXPECT_STREQ(to_string(CgStatus::max_iterations), "max_iterations");
  EXPECT_STREQ(to_string(CgStatus::stopped), "stopped");
  EXPECT_STREQ(to_string(static_cast<CgStatus>(8)), "unknown");
  EXPECT_STREQ(to_string(KrylovStatus::breakdown), "breakdown");
  EXPECT_STREQ(to_string(KrylovStatus::stopped), "stopped");
  EXPECT_STREQ(to_string(static_cast<KrylovStatus>(7)), "unknown");
  EXPECT_STREQ(to_string(static_cast<Uplo>(7)), "unknown");
  EXPECT_EQ(Detail::enumerator_names<Uplo>(), "lower or upper");
  EXPECT_EQ(Detail::enumerator_names<Op>(),
            "none, transpose or conjugate_transpose");
}

}  // namespace
}  // namespace Strata
