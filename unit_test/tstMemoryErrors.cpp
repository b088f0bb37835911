// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of a host that runs out in every allocation.
#include "FailingAllocations.hpp"
#include "MemoryErrorCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Errors = MemoryErrors<FailingAllocations, Space>;

TEST(MemoryErrors, OfTriangularSolvers) {
  Errors errors;
  expect_memory_errors_of_solvers(
      make_triangle<double>(random_pattern(90, 3.0, 40, 5), Uplo::lower),
      variants(), "random", errors);
}

/// The analysis that is made again, with fewer rows merged.
TEST(MemoryErrors, OfAnalysesMadeAgain) {
  Errors errors;
  std::vector<Variant> merging;
  for (const auto algorithm :
       {Algorithm::pipelined, Algorithm::pipelined_subgraphs}) {
    TriangularOptions options;
    options.algorithm = algorithm;
    options.collapsed_levels = 4;
    merging.push_back({to_string(algorithm), options});
  }
  const auto A = chain_with_small_pivot(150);
  for (const auto& variant : merging)
    ASSERT_GT(
        (make_solver<double, Space>(A, variant.options).report().unmerged_rows),
        0);
  expect_memory_errors_of_solvers(A, merging, "small pivot", errors);
}

TEST(MemoryErrors, OfComplexNumbers) {
  Errors errors;
  std::vector<Variant> some;
  for (const auto& variant : variants())
    if (variant.name == "automatic" ||
        variant.name == "pipelined, 2 at a time" ||
        variant.name == "pipelined_subgraphs")
      some.push_back(variant);
  ASSERT_EQ(some.size(), 3u);
  expect_memory_errors_of_solvers(
      make_triangle<Kokkos::complex<float>>(random_pattern(60, 3.0, 40, 5),
                                            Uplo::lower),
      some, "complex", errors);
}

TEST(MemoryErrors, OfHandles) {
  Errors errors;
  expect_memory_errors_of_handles(errors);
}
TEST(MemoryErrors, OfSellMatrices) {
  Errors errors;
  expect_memory_errors_of_sell_matrices(errors);
}
TEST(MemoryErrors, OfConjugateGradients) {
  Errors errors;
  expect_memory_errors_of_conjugate_gradients(errors);
}
TEST(MemoryErrors, OfBandSolvers) {
  Errors errors;
  expect_memory_errors_of_band_solvers(errors);
}
TEST(MemoryErrors, OfDenseSystems) {
  Errors errors;
  expect_memory_errors_of_dense_systems(errors);
}
TEST(MemoryErrors, OfFunctions) {
  Errors errors;
  expect_memory_errors_of_functions(errors);
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
