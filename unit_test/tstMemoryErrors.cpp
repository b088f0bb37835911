// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of a host that runs out in every allocation.
#include "FailingAllocations.hpp"
#include "MemoryErrorCases.hpp"
#include "MemoryErrorCasesOfOtherSolvers.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Errors = MemoryErrors<FailingAllocations, Space>;

/// Some that take values which are enqueued.
std::vector<Variant> variants_with_updates() {
  std::vector<Variant> some;
  for (auto variant : variants())
    if (variant.name == "level_sets" || variant.name == "sync_free, 2 merged" ||
        variant.name == "sync_free, 8 merged" || variant.name == "tiles 8") {
      variant.name += ", enqueued updates";
      variant.options.enqueue_updates = true;
      some.push_back(variant);
    }
  return some;
}

TEST(MemoryErrors, AreThrownByTriangularSolvers) {
  Errors errors;
  ASSERT_EQ(variants_with_updates().size(), 4u);
  for (const auto& tried : {variants(), variants_with_updates()})
    expect_memory_errors_of_solvers(
        make_triangle<double>(random_pattern(90, 3.0, 40, 5), Uplo::lower),
        tried, "random", errors);
}

/// The analysis that is made again, with fewer rows merged.
TEST(MemoryErrors, AreThrownByAnalysesMadeAgain) {
  Errors errors;
  std::vector<Variant> merging;
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free;
  options.merged_levels = 4;
  merging.push_back({"sync_free", options});
  const auto A = chain_with_small_pivot(150);
  for (const auto& variant : merging)
    ASSERT_GT(
        (make_solver<double, Space>(A, variant.options).report().unmerged_rows),
        0);
  expect_memory_errors_of_solvers(A, merging, "small pivot", errors);
}

/// New patterns and the workspaces for them.
TEST(MemoryErrors, AreThrownForAllWhoShareAPlan) {
  Errors errors;
  const auto A =
      make_triangle<double>(random_pattern(60, 3.0, 40, 5), Uplo::lower);
  for (const auto& variant : variants()) {
    if (variant.name != "level_sets" && variant.name != "sync_free 8" &&
        variant.name != "tiles")
      continue;
    const SolverCases<double, Space> cases(A, variant.options);
    errors.expect("shared, new pattern, " + variant.name,
                  [&] { return cases.shared_pattern(); });
    if (HasFailure()) return;
  }
}

TEST(MemoryErrors, AreThrownByComplexSolvers) {
  Errors errors;
  std::vector<Variant> some;
  for (const auto& variant : variants())
    if (variant.name == "automatic" || variant.name == "sync_free, 2 merged" ||
        variant.name == "tiles")
      some.push_back(variant);
  ASSERT_EQ(some.size(), 3u);
  expect_memory_errors_of_solvers(
      make_triangle<Kokkos::complex<float>>(random_pattern(60, 3.0, 40, 5),
                                            Uplo::lower),
      some, "complex", errors);
}

TEST(MemoryErrors, LeaveNoUpdateHalfDone) {
  const auto A =
      make_triangle<double>(random_pattern(90, 3.0, 40, 5), Uplo::lower);
  for (const auto& tried : {variants(), variants_with_updates()})
    for (const auto& variant : tried) {
      SCOPED_TRACE(variant.name);
      const SolverCases<double, Space> cases(A, variant.options);
      expect_exceptions_in_updates(cases);
      if (variant.options.enqueue_updates)
        expect_exceptions_in_enqueued_updates(cases);
      if (HasFailure()) return;
    }
}

TEST(MemoryErrors, AreThrownByHandles) {
  Errors errors;
  expect_memory_errors_of_handles(errors);
}
TEST(MemoryErrors, AreThrownBySellMatrices) {
  Errors errors;
  expect_memory_errors_of_sell_matrices(errors);
}
TEST(MemoryErrors, AreThrownByFactorisations) {
  Errors errors;
  expect_memory_errors_of_factorisations(errors);
}
TEST(MemoryErrors, AreThrownByFactorSolvers) {
  Errors errors;
  expect_memory_errors_of_factor_solvers(errors);
}
TEST(MemoryErrors, AreThrownByConjugateGradients) {
  Errors errors;
  expect_memory_errors_of_conjugate_gradients(errors);
}
TEST(MemoryErrors, AreThrownByKrylovSolvers) {
  Errors errors;
  expect_memory_errors_of_krylov_solvers(errors);
}
TEST(MemoryErrors, AreThrownByBandSolvers) {
  Errors errors;
  expect_memory_errors_of_band_solvers(errors);
}
TEST(MemoryErrors, AreThrownByDenseSolvers) {
  Errors errors;
  expect_memory_errors_of_dense_systems(errors);
}
TEST(MemoryErrors, AreThrownByFunctions) {
  Errors errors;
  expect_memory_errors_of_functions(errors);
}

using View = Kokkos::View<double*, Kokkos::HostSpace>;

TEST(MemoryErrors, TellWhatWasNeeded) {
  View made;
  FailingAllocations::arm(1);
  try {
    Detail::with_memory_errors("a test", [&] {
      made = Detail::make_unfilled<View>("Strata::Test::numbers", 1000);
    });
    FailingAllocations::disarm();
    ADD_FAILURE() << "nothing is thrown";
  } catch (const MemoryError& error) {
    FailingAllocations::disarm();
    EXPECT_EQ(error.needed(), 8000u);
    EXPECT_EQ(error.problem(),
              "8000 bytes for Strata::Test::numbers in a test can't be "
              "allocated in Host");
  }
  EXPECT_EQ(made.extent(0), 0u);
}

/// By the texts of its releases.
TEST(MemoryErrors, AreMadeOfThoseOfKokkos) {
  const auto told = [](const char* text) {
    try {
      Detail::with_memory_errors(
          "a test", [&]() -> void { throw std::runtime_error(text); });
    } catch (const MemoryError& error) {
      return error;
    }
    return MemoryError("", "", "", 0, 0, 0);
  };
  const auto of_4_6 = told(
      "Kokkos ERROR: Cuda memory space failed to allocate 1.5 KiB "
      "(label=\"Some::array\").");
  EXPECT_EQ(of_4_6.needed(), 1536u);
  EXPECT_NE(of_4_6.problem().find("for Some::array in a test"),
            std::string::npos);
  const auto of_3_4 = told(
      "Kokkos failed to allocate memory for label \"Some::array\".  "
      "Allocation using MemorySpace named \"Host\" failed with the following "
      "error:  Allocation of size 2 G failed, likely due to insufficient "
      "memory.");
  EXPECT_EQ(of_3_4.needed(), std::size_t{2} << 30);
  EXPECT_NE(of_3_4.problem().find("for Some::array in a test"),
            std::string::npos);
  EXPECT_EQ(told("Kokkos ERROR: Host memory space failed to allocate 24 B "
                 "(label=\"x\").")
                .needed(),
            24u);
  // Others stay what they are.
  EXPECT_THROW(told("the device is lost"), std::runtime_error);
  try {
    told("the device is lost");
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "the device is lost");
  }
}

/// Only a lack of memory is made up for.
TEST(MemoryErrors, GiveWayToWhatNeedsLess) {
  View made;
  const auto make = [&](std::size_t size) {
    return [&made, size] {
      made = Detail::make_unfilled<View>("Strata::Test::numbers", size);
    };
  };
  Detail::first_that_fits(make(1000), make(10));
  EXPECT_EQ(made.extent(0), 1000u);
  Detail::first_that_fits(
      [&] {
        FailingAllocations::arm(1);
        make(1000)();
      },
      [&] {
        FailingAllocations::disarm();
        make(10)();
      });
  EXPECT_EQ(made.extent(0), 10u);
  EXPECT_THROW(Detail::first_that_fits(
                   [] { throw std::logic_error("something else"); }, make(20)),
               std::logic_error);
  EXPECT_EQ(made.extent(0), 10u);
}

/// What is kept for later is let go of where it is what is missing.
TEST(MemoryErrors, ComeAfterKeptMemoryIsFreed) {
  using Kept = Detail::MemoryPool<Kokkos::HostSpace>;
  release_memory_pool<Space>();
  const auto before = FailingAllocations::live();
  Kept::take("Strata::Test::kept", 1000);
  ASSERT_GT(FailingAllocations::live(), before);
  FailingAllocations::arm(1, false);
  const auto made = Detail::make_unfilled<View>("Strata::Test::numbers", 10);
  EXPECT_TRUE(FailingAllocations::disarm());
  EXPECT_EQ(made.extent(0), 10u);
  EXPECT_FALSE(Kept::release());
  // There is nothing more to be freed.
  FailingAllocations::arm(1, false);
  EXPECT_THROW(Detail::make_unfilled<View>("Strata::Test::numbers", 10),
               std::bad_alloc);
  FailingAllocations::disarm();
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
