// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans within the memory allowed, held against what Kokkos has allocated.
#include "KokkosEvents.hpp"
#include "TriangularSolverCases.hpp"

#include <Strata_MemoryPool.hpp>
#include <core/memory/MemoryPool.hpp>

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Solver = TriangularSolver<double, Space>;
using Matrix = SolverMatrix<double, Space>;
using KeptPlans = Detail::MemoryPool<Memory, Detail::PersistentUse>;

/// Bytes that a plan need not account for: counters, and arrays without
/// elements, for each of which Kokkos reports its own header of 128 bytes.
constexpr std::int64_t slack = 64 + 8 * 130;

struct System {
  HostMatrix<double> A;
  Matrix matrix;
  explicit System(const Pattern& pattern)
      : A(make_triangle<double>(pattern, Uplo::lower)),
        matrix(A.to_device<Matrix>()) {}
  Solver make(const TriangularOptions& options) const {
    return Solver(Space(), matrix, Uplo::lower, Diag::non_unit, options);
  }
  void expect_right(const Solver& solver) const {
    expect_solver(solver, HostSystem<double>{A, Uplo::lower, Diag::non_unit});
  }
};

std::vector<Pattern> patterns() {
  return {random_pattern(900, 5.0, 900, 3), random_pattern(800, 4.0, 12, 4),
          power_law_pattern(700), wave_pattern({500, 1, 1, 700, 3, 300, 1})};
}

TEST(TriangularSolver, ReportsTheBytesItHolds) {
  for (const auto& pattern : patterns()) {
    const System system(pattern);
    for (const auto& variant : variants()) {
      SCOPED_TRACE(pattern.name + ", " + variant.name);
      // What Kokkos keeps for itself is there after this.
      std::optional<Solver> solver(system.make(variant.options));
      solver.reset();
      KeptPlans::release();
      const KokkosEvents events(Memory::name());
      solver.emplace(system.make(variant.options));
      EXPECT_NEAR(events.so_far().bytes,
                  static_cast<double>(solver->report().plan_bytes), slack);
      // The first update may allocate memory that stays, the second does not.
      for (int update = 0; update < 2; ++update) {
        const auto before = events.so_far().bytes;
        solver->update_values(Space(), system.matrix);
        if (update == 1) {
          EXPECT_EQ(events.so_far().bytes, before);
        }
        EXPECT_NEAR(events.so_far().bytes,
                    static_cast<double>(solver->report().plan_bytes), slack);
      }
      solver.reset();
      KeptPlans::release();
      EXPECT_EQ(events.so_far().bytes, 0);
      if (HasFailure()) return;
    }
  }
}

/// An analysis that is made again, as merged rows would be too inaccurate,
/// takes no more memory than one that is not.
TEST(TriangularSolver, LetsGoOfAPlanBeforeItIsMadeAgain) {
  const int n = 3000;
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free;
  options.merged_levels = 4;
  // And what the pool has kept of plans that were let go of, on a device: one
  // of another size is not taken again.
  std::int64_t kept = 0;
  const auto most = [&](const HostMatrix<double>& A, int& unmerged) {
    const auto matrix = A.to_device<Matrix>();
    for (int turn = 0;; ++turn) {
      release_memory_pool<Space>();
      const KokkosEvents events(Memory::name());
      const Solver solver(Space(), matrix, Uplo::lower, Diag::non_unit,
                          options);
      unmerged = solver.report().unmerged_rows;
      EXPECT_EQ(solver.report().merged_levels, 4);
      const auto found = events.so_far();
      KeptPlans::release();
      kept = found.bytes - events.so_far().bytes;
      // What Kokkos keeps for itself is there after the first.
      if (turn == 1) return found.most_bytes;
    }
  };
  auto A = chain(n, 0.7);
  int unmerged = -1;
  const auto once = most(A, unmerged);
  EXPECT_EQ(unmerged, 0);
  // One row after the other is found to be too inaccurate.
  for (int row = 100; row < n; row += 100)
    for (int i = 0; i < 3; ++i) A.values[A.row_map[row + i + 1] - 1] = 1e-6;
  const auto again = most(A, unmerged);
  EXPECT_GT(unmerged, 0);
  // The marks of rows.
  EXPECT_LE(again - kept, once + n * 4 + once / 20) << "after " << unmerged;
  std::printf("at most %lld bytes, made again %lld, of which %lld kept\n",
              static_cast<long long>(once), static_cast<long long>(again),
              static_cast<long long>(kept));
}

/// What is kept is bounded, freed on demand, and handed out one at a time.
TEST(MemoryPool, HoldsTheLastBlocks) {
  using Kept = KeptPlans;
  release_memory_pool<Space>();
  const KokkosEvents events(Memory::name());
  constexpr std::int64_t header = 130;
  {
    const auto first = Kept::take("first", 1000);
    const auto second = Kept::take("second", 1000);
    EXPECT_NE(first->data(), second->data());
  }
  EXPECT_NEAR(double(events.so_far().bytes), 2000, 2 * header);
  {
    // One is taken again, as is; no larger one, and none that is too small.
    const auto again = Kept::take("again", 900, 1100);
    EXPECT_EQ(again->extent(0), 1000u);
    EXPECT_EQ(Kept::take("small", 500, 600)->extent(0), 500u);
    EXPECT_EQ(Kept::take("large", 5000)->extent(0), 5000u);
  }
  // Of five, four are left.
  for (const std::size_t bytes : {10000, 20000, 30000, 40000, 50000})
    EXPECT_EQ(Kept::take("one more", bytes)->extent(0), bytes);
  EXPECT_NEAR(double(events.so_far().bytes), 140000, 4 * header);
  Kept::take("too large", Kept::most_bytes() + 1);
  EXPECT_NEAR(double(events.so_far().bytes), 140000, 4 * header);
  release_memory_pool<Space>();
  EXPECT_EQ(events.so_far().bytes, 0);
}

/// The error of a plan that is not allowed; fails if it is.
PlanMemoryError refusal(const System& system,
                        const TriangularOptions& options) {
  try {
    const auto solver = system.make(options);
    ADD_FAILURE() << "not refused: " << to_string(solver.report());
  } catch (const PlanMemoryError& error) {
    return error;
  }
  return {"", "", "", 0, 0};
}

TEST(TriangularSolver, NamedAlgorithmsFitOrAreRefused) {
  for (const auto& pattern : {patterns()[0], patterns()[3]}) {
    const System system(pattern);
    for (auto variant : variants()) {
      SCOPED_TRACE(pattern.name + ", " + variant.name);
      if (variant.options.algorithm == Algorithm::automatic) continue;
      auto& options = variant.options;
      const auto whole = system.make(options).report();
      ASSERT_EQ(whole.max_plan_bytes, 0u);
      options.max_right_hand_sides = 1;
      // Level sets one by one, where that is left to the analysis.
      auto smallest = options;
      if (options.merged_levels == 0) smallest.merged_levels = 1;
      const auto least = system.make(smallest).report();
      ASSERT_EQ(least.algorithm, options.algorithm);

      options.max_plan_bytes = least.plan_bytes;
      const auto tight = system.make(options).report();
      EXPECT_EQ(tight.plan_bytes, least.plan_bytes);
      EXPECT_EQ(tight.max_plan_bytes, least.plan_bytes);
      --options.max_plan_bytes;
      const auto error = refusal(system, options);
      EXPECT_EQ(error.argument(), "max_plan_bytes");
      EXPECT_EQ(error.allowed(), options.max_plan_bytes);
      EXPECT_EQ(error.needed(), least.plan_bytes);
      EXPECT_NE(error.problem().find(std::to_string(error.needed())),
                std::string::npos)
          << error.what();
      EXPECT_NE(error.problem().find(std::to_string(error.allowed())),
                std::string::npos)
          << error.what();
      // Far too little is found out before the plan is made.
      options.max_plan_bytes = 100;
      const auto far = refusal(system, options);
      EXPECT_LE(far.needed(), least.plan_bytes);
      // Of records, a device may leave most lanes idle.
      EXPECT_GT(far.needed(), least.plan_bytes / 8);

      // Workspace for as many as there is room for.
      options.max_right_hand_sides = 40;
      for (const std::size_t allowed :
           {least.plan_bytes, whole.plan_bytes, 3 * least.plan_bytes}) {
        options.max_plan_bytes = std::max(allowed, least.plan_bytes);
        // What is kept would be freed, or taken again, without being noticed.
        KeptPlans::release();
        const KokkosEvents events(Memory::name());
        const auto solver = system.make(options);
        EXPECT_EQ(solver.report().algorithm, options.algorithm);
        EXPECT_LE(solver.report().plan_bytes, options.max_plan_bytes);
        EXPECT_LE(events.so_far().bytes,
                  std::int64_t(options.max_plan_bytes) + slack);
        if (allowed == whole.plan_bytes) system.expect_right(solver);
      }
      if (HasFailure()) return;
    }
  }
}

TEST(TriangularSolver, BlocksKeepToTheirBytes) {
  for (const auto& pattern : patterns()) {
    const System system(pattern);
    for (const auto op : {Op::none, Op::transpose}) {
      SCOPED_TRACE(pattern.name + ", " + to_string(op));
      TriangularOptions options;
      options.algorithm = Algorithm::blocks;
      options.op = op;
      options.max_right_hand_sides = 3;
      const auto free = system.make(options).report();
      EXPECT_EQ(free.algorithm, Algorithm::blocks);
      EXPECT_EQ(free.levels, 0);
      EXPECT_EQ(free.right_hand_sides, 3);
      EXPECT_GT(free.blocks, 0);
      options.max_plan_bytes = free.plan_bytes;
      const auto tight = system.make(options);
      EXPECT_EQ(tight.report().plan_bytes, free.plan_bytes);
      EXPECT_EQ(tight.report().max_plan_bytes, free.plan_bytes);
      expect_solver(
          tight, HostSystem<double>{system.A, Uplo::lower, Diag::non_unit, op});
      --options.max_plan_bytes;
      EXPECT_EQ(refusal(system, options).needed(), free.plan_bytes);
      // Less than its entries take is refused before there is a plan.
      const std::size_t off_diagonal = free.entries - free.rows;
      options.max_plan_bytes = off_diagonal * (sizeof(double) + 8) + 1;
      const auto error = refusal(system, options);
      EXPECT_NE(error.problem().find("at least"), std::string::npos)
          << error.what();
      EXPECT_LE(error.needed(), free.plan_bytes);
    }
  }
}

TEST(TriangularSolver, AutomaticTakesTheFirstThatFits) {
  for (const auto& pattern : patterns()) {
    const System system(pattern);
    for (const int columns : {1, 40}) {
      SCOPED_TRACE(pattern.name + ", " + std::to_string(columns));
      TriangularOptions options;
      options.max_right_hand_sides = columns;
      const auto free = system.make(options).report();
      std::size_t smallest = 0;
      int before = 0;
      std::size_t candidates = 0;
      for (const double ratio : {0.5, 1., 1.4, 1.6, 1.8, 2., 2.5, 4., 30.}) {
        SCOPED_TRACE("ratio " + std::to_string(ratio));
        const auto allowed =
            static_cast<std::size_t>(ratio * double(free.crs_bytes));
        options.max_plan_bytes = allowed;
        KeptPlans::release();
        const KokkosEvents events(Memory::name());
        try {
          const auto solver = system.make(options);
          const auto& report = solver.report();
          EXPECT_LE(report.plan_bytes, allowed);
          EXPECT_LE(events.so_far().bytes, std::int64_t(allowed) + slack);
          EXPECT_EQ(report.max_plan_bytes, allowed);
          // More memory never makes for a worse choice: what fits less memory
          // comes later in the order of preference. (With more, other numbers
          // of merged level sets may be tried before.)
          const int rank = report.algorithm == Algorithm::substitution ? 0
                           : report.algorithm == Algorithm::level_sets ? 1
                                                                       : 2;
          EXPECT_GE(rank, before) << to_string(report.algorithm);
          before = rank;
          candidates = report.candidates.size();
          for (const auto& candidate : report.candidates) {
            const bool is_last = &candidate == &report.candidates.back();
            EXPECT_EQ(candidate.ruled_out, !is_last);
            if (candidate.ruled_out) {
              EXPECT_NE(candidate.note.find(std::to_string(allowed)),
                        std::string::npos);
            } else {
              EXPECT_EQ(candidate.algorithm, report.algorithm);
            }
          }
          if (ratio == 1.6) system.expect_right(solver);
        } catch (const PlanMemoryError& error) {
          EXPECT_EQ(error.argument(), "max_plan_bytes");
          EXPECT_EQ(error.allowed(), allowed);
          EXPECT_GT(error.needed(), allowed);
          smallest = error.needed();
        }
        if (HasFailure()) return;
      }
      // A limit that all plans fit in changes nothing.
      EXPECT_EQ(candidates, free.candidates.size());
      EXPECT_GT(smallest, 0u) << "half the matrix was enough";
      // The number in the error is enough.
      options.max_plan_bytes = smallest;
      EXPECT_LE(system.make(options).report().plan_bytes, smallest);
    }
  }
}

TEST(TriangularSolver, NoRowsFitAnyLimit) {
  const System none(empty_pattern("none", 0));
  TriangularOptions options;
  options.max_plan_bytes = 1;
  EXPECT_NO_THROW(none.make(options));
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
