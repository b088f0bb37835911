// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of rows that IncompletePreconditioner chooses, from numbers.
#include <gtest/gtest.h>

#include <Strata_Preconditioner.hpp>
#include <algorithm>
#include <kernels/krylov/FactorOrderChoice.hpp>
#include <string>
#include <vector>

#include "HermitianMatrix.hpp"

namespace {

using Strata::Factorization;
using Strata::FactorOrder;
using Strata::LevelSizes;
using Strata::PerformanceParameters;
using Strata::PreconditionerCandidate;
using Strata::Detail::FactorOrderChoice;
using Strata::Detail::FactorOrderCosts;
using Strata::Detail::SolveFeatures;

/// A Hermitian matrix as the choice sees it: its lower triangle has level sets
/// of equal size.
struct System {
  std::int64_t rows, edges;  // edges: entries of the strict lower triangle
  int num_levels, colours;

  LevelSizes sizes() const {
    LevelSizes made;
    made.num_levels = num_levels;
    for (int l = 1; l <= num_levels; ++l) {
      made.level_map.push_back(rows * l / num_levels);
      made.edges.push_back(edges / num_levels);
      made.longest_row.push_back(edges / rows + 1);
    }
    return made;
  }
};

/// On a device with the unmeasured parameters, in double.
template <class Look>
auto with_choice(const System& system, int applications, const Look& look,
                 const FactorOrderCosts& costs = {},
                 const PerformanceParameters& parameters = {}) {
  const LevelSizes sizes = system.sizes();
  const FactorOrderChoice choice(SolveFeatures(parameters, system.edges, sizes,
                                               sizeof(double), 132, 32, 1),
                                 system.rows + 2 * system.edges, system.colours,
                                 applications, costs);
  return look(choice);
}
FactorOrder by_bounds(const System& system, int applications = 100,
                      const FactorOrderCosts& costs = {}) {
  return with_choice(
      system, applications,
      [](const FactorOrderChoice& choice) { return choice.by_bounds(); },
      costs);
}

const System grid3d_100{1000000, 2970000, 298, 2},
    grid2d_1000{1000000, 1998000, 1999, 2},
    grid3d27_60{216000, 2690000, 414, 8}, bcsstk16{4884, 142747, 690, 26},
    wing{62032, 121544, 60, 5}, chain{100000, 99999, 100000, 2},
    arrow{3000, 2999, 2, 2}, diagonal{100000, 0, 1, 1};

TEST(PreconditionerChoice, IsColouredWhereChainsAreLong) {
  for (const auto& system :
       {grid3d_100, grid2d_1000, grid3d27_60, bcsstk16, chain})
    EXPECT_EQ(by_bounds(system), FactorOrder::coloured) << system.rows;
}

TEST(PreconditionerChoice, IsNaturalWhereTheyAreShort) {
  EXPECT_NE(by_bounds(arrow), FactorOrder::coloured);
  EXPECT_NE(by_bounds({100000, 50000, 2, 2}), FactorOrder::coloured);
  EXPECT_EQ(by_bounds({100000, 50000, 2, 5}), FactorOrder::natural);
}

TEST(PreconditionerChoice, AsksForAPlanWhereBoundsDoNotTell) {
  EXPECT_EQ(by_bounds(wing), FactorOrder::automatic);
  // An order that takes no more iterations is the better one then.
  FactorOrderCosts costs;
  costs.iterations_of_more_colours = 0.5;
  EXPECT_EQ(by_bounds(wing, 100, costs), FactorOrder::coloured);
  costs.iterations_of_more_colours = 8;
  EXPECT_EQ(by_bounds(wing, 100, costs), FactorOrder::natural);
}

TEST(PreconditionerChoice, CountsSetUpsAndIterations) {
  for (const auto& system : {grid3d_100, grid3d27_60, wing, diagonal}) {
    with_choice(system, 50, [&](const FactorOrderChoice& choice) {
      const auto coloured = choice.coloured();
      EXPECT_EQ(coloured.order, FactorOrder::coloured);
      EXPECT_DOUBLE_EQ(coloured.iterations, system.colours == 1   ? 50.
                                            : system.colours == 2 ? 75.
                                                                  : 60.);
      EXPECT_GT(coloured.application_us, 0);
      EXPECT_GT(
          coloured.predicted_us,
          coloured.setup_us + coloured.iterations * coloured.application_us);
      const auto natural = choice.natural(100, "by a test"),
                 slower = choice.natural(200, "");
      EXPECT_EQ(natural.order, FactorOrder::natural);
      EXPECT_EQ(natural.iterations, 50);
      EXPECT_EQ(natural.note, "by a test");
      EXPECT_NEAR(slower.predicted_us - natural.predicted_us, 50 * 100, 1e-6);
      EXPECT_LE(choice.natural_at_least(), choice.natural_at_most());
      return 0;
    });
    // Set-up weighs less.
    const auto of = [&](int applications) {
      return with_choice(system, applications,
                         [](const FactorOrderChoice& choice) {
                           const auto made = choice.coloured();
                           return made.setup_us / made.predicted_us;
                         });
    };
    EXPECT_GT(of(1), of(10));
    EXPECT_GT(of(10), of(1000));
  }
}

TEST(PreconditionerChoice, TheOrderOfLevelSetsPermutesVectors) {
  for (const auto& system : {grid3d_100, grid2d_1000, bcsstk16, wing, arrow,
                             diagonal, System{20000000, 40000000, 4, 5}}) {
    with_choice(system, 50, [&](const FactorOrderChoice& choice) {
      const auto natural = choice.natural(100, ""),
                 by_level = choice.level_sets(100, "by a test");
      EXPECT_EQ(by_level.order, FactorOrder::level_sets);
      EXPECT_EQ(by_level.note, "by a test");
      // The factors are the natural ones.
      EXPECT_EQ(by_level.iterations, natural.iterations);
      EXPECT_GT(by_level.setup_us, natural.setup_us);
      // Bytes of two vectors, read and written, at least.
      const double passes = by_level.application_us - natural.application_us;
      EXPECT_GE(passes,
                4. * 8 * system.rows / PerformanceParameters().bytes_per_us);
      EXPECT_NEAR(
          by_level.predicted_us - natural.predicted_us,
          by_level.setup_us - natural.setup_us + by_level.iterations * passes,
          1e-6 * by_level.predicted_us);
      // Whatever bounds the natural order bounds this one, too: `coloured` by
      // bounds is the choice of all three.
      for (const bool by_sync_free : {false, true})
        EXPECT_GE(choice.solves_by_level(3, by_sync_free),
                  choice.natural_at_least());
      // What sync_free takes in the natural order, it takes here at most.
      EXPECT_LE(choice.solves_by_level(choice.natural_at_least(), true),
                choice.natural_at_least());
      EXPECT_LE(choice.solves_by_level(1e9, false), choice.natural_at_most());
      return 0;
    });
  }
}

TEST(PreconditionerChoice, TheOrderOfLevelSetsPaysWhereSolversAreSlow) {
  // Few wide level sets, and a natural order whose solver is a slow one.
  const System wide{4000000, 12000000, 6, 5};
  with_choice(wide, 200, [&](const FactorOrderChoice& choice) {
    const double slow = 3 * choice.natural_at_most();
    EXPECT_LT(
        choice.level_sets(choice.solves_by_level(slow, false), "").predicted_us,
        choice.natural(slow, "").predicted_us);
    const double fast = choice.natural_at_least();
    EXPECT_GT(
        choice.level_sets(choice.solves_by_level(fast, true), "").predicted_us,
        choice.natural(fast, "").predicted_us);
    return 0;
  });
}

TEST(PreconditionerChoice, SlowerDependenciesCostTheNaturalOrderMore) {
  PerformanceParameters slow;
  slow.handover *= 4;
  slow.pass *= 4;
  const auto difference = [](const FactorOrderChoice& choice) {
    return choice.natural(choice.natural_at_most(), "").predicted_us -
           choice.coloured().predicted_us;
  };
  EXPECT_GT(with_choice(grid3d_100, 100, difference, {}, slow),
            with_choice(grid3d_100, 100, difference));
}

using Preconditioner = Strata::IncompletePreconditioner<double, Device>;

TEST(PreconditionerChoice, IsReported) {
  const auto A = hermitian<double>("grid3d:12").to_device<Crs<double>>();
  const auto kind = Factorization::incomplete_cholesky;
  const Preconditioner M(Device(), A);
  const auto& report = M.report();
  EXPECT_EQ(report.order, M.order());
  EXPECT_EQ(report.rows, 1728);
  EXPECT_EQ(report.entries, static_cast<std::int64_t>(A.nnz()));
  EXPECT_EQ(report.applications, 100);
  EXPECT_FALSE(report.reason.empty());
  if (Strata::Detail::is_gpu<Device>) {
    ASSERT_EQ(report.candidates.size(), 3u);
    EXPECT_EQ(report.levels, 34);
    EXPECT_EQ(report.colours, 2);
    const auto& least =
        *std::min_element(report.candidates.begin(), report.candidates.end(),
                          [](const auto& a, const auto& b) {
                            return a.predicted_us < b.predicted_us;
                          });
    EXPECT_EQ(M.order(), least.order);
  } else {
    EXPECT_EQ(M.order(), FactorOrder::natural);
    EXPECT_TRUE(report.candidates.empty());
  }
  for (const auto order :
       {FactorOrder::natural, FactorOrder::coloured, FactorOrder::level_sets}) {
    const Preconditioner named(Device(), A, kind, {}, order, 7);
    EXPECT_EQ(named.report().order, order);
    EXPECT_EQ(named.report().reason, "asked for");
    EXPECT_EQ(named.report().colours, order == FactorOrder::coloured ? 2 : 0);
    EXPECT_EQ(named.report().levels, order == FactorOrder::level_sets ? 34 : 0);
    EXPECT_EQ(named.report().applications, 7);
    EXPECT_TRUE(named.report().candidates.empty());
  }
  // Whose matrix need not be Hermitian, and whose options are for its solvers.
  EXPECT_EQ(Preconditioner(Device(), A, Factorization::incomplete_lu).order(),
            FactorOrder::natural);
  for (const int applications : {0, -3})
    EXPECT_THROW(Preconditioner(Device(), A, kind, {}, FactorOrder::automatic,
                                applications),
                 Strata::OptionError);
  EXPECT_EQ(Preconditioner(Device(), Crs<double>()).order(),
            FactorOrder::natural);
  EXPECT_THROW(Preconditioner().report(), Strata::HandleError);
}

TEST(PreconditionerChoice, IsWrittenAsText) {
  Strata::PreconditionerReport report;
  report.order = FactorOrder::coloured;
  report.reason = "a test";
  report.rows = 10;
  report.levels = 3;
  report.colours = 2;
  report.applications = 100;
  EXPECT_EQ(to_string(report),
            "order: coloured\nreason: a test\nrows: 10\nentries: 0\n"
            "level sets: 3\ncolours: 2\n");
  report.candidates.push_back(
      {FactorOrder::natural, 23456.7, 12.5, 3.25, 100, "by hand"});
  EXPECT_NE(to_string(report).find(
                "applications: 100\ncandidates:\n  natural: 23456.7 us, set-up "
                "12.5 us, 100 iterations, 3.25 us an application, by hand\n"),
            std::string::npos)
      << to_string(report);
}

}  // namespace
