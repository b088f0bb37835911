// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library's algorithms are listed once, and one from outside of it is
// considered, made, reported and held to a limit on memory like them.
#include <Strata_SptrsvHandle.hpp>
#include <kernels/triangular/selection/Registry.hpp>

#include "RowByRow.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Matrix = SolverMatrix<double, Space>;
using Solver = TriangularSolver<double, Space>;

/// Registered when it is first asked for.
Algorithm row_by_row() {
  static const Algorithm algorithm =
      Experimental::register_algorithm<RowByRow::Registration<double, Space>>(
          "row_by_row");
  return algorithm;
}
/// It is suited, and supports what it is told, until the end of a test.
struct RowByRowIsSuited {
  explicit RowByRowIsSuited(int right_hand_sides = 1 << 30) {
    RowByRow::is_suited = true;
    RowByRow::most_right_hand_sides = right_hand_sides;
  }
  ~RowByRowIsSuited() {
    RowByRow::is_suited = false;
    RowByRow::most_right_hand_sides = 1 << 30;
  }
};

struct System {
  HostMatrix<double> A =
      make_triangle<double>(random_pattern(700, 4.0, 700, 5), Uplo::lower);
  Matrix matrix = A.to_device<Matrix>();
  Solver make(const TriangularOptions& options) const {
    return Solver(Space(), matrix, Uplo::lower, Diag::non_unit, options);
  }
  void expect_right(const Solver& solver) const {
    expect_solver(solver, HostSystem<double>{A, Uplo::lower, Diag::non_unit});
  }
};
TriangularOptions named(Algorithm algorithm) {
  TriangularOptions options;
  options.algorithm = algorithm;
  return options;
}
/// The report's candidate of that algorithm, null: there is none.
const TriangularCandidate* candidate_of(const TriangularReport& report,
                                        Algorithm algorithm) {
  for (const auto& candidate : report.candidates)
    if (candidate.algorithm == algorithm) return &candidate;
  return nullptr;
}
/// What the refusal says.
template <class Error, class F>
std::string refusal(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "not refused";
  return "";
}
bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Registry, ListsEachAlgorithmOfTheLibraryOnce) {
  const auto all = Detail::make_registrations<double, Space>();
  for (const auto& variant : algorithms()) {
    int count = 0;
    for (const auto& registration : all)
      count += registration->algorithm() == variant.options.algorithm;
    EXPECT_EQ(count, 1) << variant.name;
  }
}

TEST(Registry, KnowsTheLeastBytesOfPlans) {
  const System system;
  const auto all = Detail::make_registrations<double, Space>();
  const std::int64_t n = system.A.rows,
                     entries = std::int64_t(system.A.entries.size());
  for (const auto& registration : all) {
    auto options = named(registration->algorithm());
    options.merged_levels = 1;
    const auto report = system.make(options).report();
    SCOPED_TRACE(to_string(report.algorithm));
    ASSERT_EQ(report.algorithm, registration->algorithm());
    const auto sizes = Detail::plan_sizes<double, Space>(
        n, entries - n, report.levels, entries);
    const std::size_t least = registration->least_bytes(sizes);
    EXPECT_GT(least, std::size_t(entries) * 8);
    EXPECT_LE(least, report.plan_bytes);
    if (report.algorithm == Algorithm::substitution) {
      EXPECT_EQ(least, report.plan_bytes);
    }
  }
}

TEST(Registry, FindsARegisteredAlgorithmByItsName) {
  const Algorithm algorithm = row_by_row();
  EXPECT_STREQ(to_string(algorithm), "row_by_row");
  EXPECT_EQ(algorithm_from_string("row_by_row"), algorithm);
  EXPECT_EQ(all_algorithms().back(), algorithm);
  EXPECT_EQ(all_algorithms().front(), Algorithm::automatic);
  EXPECT_TRUE(has(refusal<OptionError>([] { algorithm_from_string("none"); }),
                  "tiles or row_by_row"));
  // The next number has no name yet.
  const auto next = static_cast<Algorithm>(static_cast<int>(algorithm) + 1);
  EXPECT_STREQ(to_string(next), "unknown");
  EXPECT_THROW(System().make(named(next)), OptionError);
}

TEST(Registry, SolvesByARegisteredAlgorithm) {
  const System system;
  const auto solver = system.make(named(row_by_row()));
  const auto& report = solver.report();
  EXPECT_EQ(report.algorithm, row_by_row());
  EXPECT_EQ(report.reason, "asked for");
  EXPECT_TRUE(has(to_string(report), "algorithm: row_by_row\n"));
  system.expect_right(solver);
}

TEST(Registry, TakesNewValuesAndTransposedSystems) {
  const System system;
  auto options = named(row_by_row());
  options.op = Op::transpose;
  expect_solver(
      system.make(options),
      HostSystem<double>{system.A, Uplo::lower, Diag::non_unit, options.op});
  auto solver = system.make(named(row_by_row()));
  System other;
  for (double& value : other.A.values) value *= -2;
  solver.update_values(Space(), other.A.to_device<Matrix>());
  other.expect_right(solver);
}

TEST(Registry, TakesARegisteredAlgorithmThatIsSuited) {
  row_by_row();
  const System system;
  {
    const auto report = system.make({}).report();
    EXPECT_NE(report.algorithm, row_by_row());
    EXPECT_EQ(candidate_of(report, row_by_row()), nullptr);
  }
  const RowByRowIsSuited suited;
  const auto solver = system.make({});
  const auto& report = solver.report();
  EXPECT_EQ(report.algorithm, row_by_row());
  EXPECT_EQ(report.reason, "row by row");
  EXPECT_TRUE(has(to_string(report), "candidates:\n  row_by_row\n"))
      << to_string(report);
  system.expect_right(solver);
}

TEST(Registry, HoldsARegisteredAlgorithmToTheMemoryAllowed) {
  const System system;
  auto options = named(row_by_row());
  const std::size_t bytes = system.make(options).report().plan_bytes;
  options.max_plan_bytes = bytes;
  EXPECT_EQ(system.make(options).report().plan_bytes, bytes);
  --options.max_plan_bytes;
  const std::string text =
      refusal<PlanMemoryError>([&] { system.make(options); });
  EXPECT_TRUE(has(text, "row_by_row takes at least " + std::to_string(bytes)))
      << text;
  // The automatic choice goes on to the next.
  const RowByRowIsSuited suited;
  options.algorithm = Algorithm::automatic;
  const auto solver = system.make(options);
  EXPECT_EQ(solver.report().algorithm, Algorithm::substitution);
  const auto* const candidate = candidate_of(solver.report(), row_by_row());
  ASSERT_NE(candidate, nullptr);
  EXPECT_TRUE(candidate->ruled_out);
  EXPECT_TRUE(has(candidate->note, std::to_string(bytes) + " bytes of " +
                                       std::to_string(bytes - 1)))
      << candidate->note;
  system.expect_right(solver);
}

TEST(Registry, RefusesWhatARegisteredAlgorithmDoesNotSupport) {
  const System system;
  auto options = named(row_by_row());
  const RowByRowIsSuited one(1);
  options.max_right_hand_sides = 8;
  EXPECT_TRUE(has(refusal<OptionError>([&] { system.make(options); }),
                  "row_by_row, which does not support"));
  // The automatic choice leaves it out.
  options.algorithm = Algorithm::automatic;
  EXPECT_EQ(candidate_of(system.make(options).report(), row_by_row()), nullptr);
  // It is registered for double alone.
  const auto of_float = make_triangle<float>(chain_pattern(20), Uplo::lower);
  EXPECT_TRUE(has(refusal<OptionError>([&] {
                    make_solver<float>(of_float, named(row_by_row()));
                  }),
                  "row_by_row, which is not registered for this scalar"));
}

TEST(Registry, GoesOnWhereARegisteredAlgorithmCantTakeTheValues) {
  const System system;
  RowByRow::takes_values = false;
  const RowByRowIsSuited suited;
  for (const auto asked : {row_by_row(), Algorithm::automatic}) {
    const auto solver = system.make(named(asked));
    const auto& report = solver.report();
    EXPECT_NE(report.algorithm, row_by_row());
    EXPECT_EQ(report.reason,
              "the values are not for row_by_row, which rules out row_by_row");
    system.expect_right(solver);
  }
  RowByRow::takes_values = true;
}

/// Without level sets, there is no order for the algorithm that takes its
/// place: it is made then.
TEST(Registry, FindsLevelSetsForWhatTakesThePlaceOfAnAlgorithmWithoutAny) {
  const System system;
  RowByRow::needs_levels = false;
  {
    const auto solver = system.make(named(row_by_row()));
    EXPECT_EQ(solver.report().algorithm, row_by_row());
    EXPECT_EQ(solver.report().levels, 0);
    system.expect_right(solver);
  }
  RowByRow::takes_values = false;
  for (const bool enqueues : {false, true}) {
    auto options = named(row_by_row());
    options.enqueue_updates = enqueues;
    auto solver = system.make(options);
    EXPECT_EQ(solver.report().algorithm, Algorithm::sync_free);
    system.expect_right(solver);
    System other;
    for (double& value : other.A.values) value *= -2;
    solver.update_values(Space(), other.A.to_device<Matrix>());
    other.expect_right(solver);
  }
  RowByRow::takes_values = RowByRow::needs_levels = true;
}

TEST(Registry, RefusesNamesThatAreTaken) {
  row_by_row();
  for (const char* name : {"", "blocks", "automatic", "row_by_row"}) {
    const auto again = [&] {
      Experimental::register_algorithm<RowByRow::Registration<double, Space>>(
          name);
    };
    EXPECT_THROW(again(), OptionError) << name;
  }
}

TEST(Registry, ServesTheHandleOfKokkosKernelsStyle) {
  Experimental::SPTRSVHandle<double, Space> handle(row_by_row(), 700, true);
  EXPECT_EQ(handle.return_algorithm_string(), "row_by_row");
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
