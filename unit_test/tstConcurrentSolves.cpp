// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solvers that share a device with each other, with other work, and with other
// processes (see run_together).
#include "Instance.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Solver = TriangularSolver<double, Space>;
using Vector = Kokkos::View<double*, Space::memory_space>;

#if defined(KOKKOS_ENABLE_CUDA)
constexpr bool on_cuda = std::is_same<Space, Kokkos::Cuda>::value;
#else
constexpr bool on_cuda = false;
#endif

/// Counts the numbers of x whose bits are not those expected, and spoils x.
struct CountDifferences {
  Vector x, expected;
  Kokkos::View<int, Space::memory_space> differences;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    unsigned long long bits[2];
    memcpy(&bits[0], &x(i), sizeof(double));
    memcpy(&bits[1], &expected(i), sizeof(double));
    if (bits[0] != bits[1]) Kokkos::atomic_fetch_add(&differences(), 1);
    x(i) = 1e300;
  }
};

/// A system with a solver, an instance, and the solution of the lone solve.
struct Task {
  Instance instance;
  Solver solver;
  Vector b, x, expected;
  Kokkos::View<int, Space::memory_space> differences;

  Task(const Pattern& pattern, const Variant& variant, int seed)
      : Task(make_solver<double>(make_triangle<double>(pattern, Uplo::lower),
                                 variant.options),
             seed) {}
  Task(const Solver& given, int seed)
      : solver(given),
        b("b", given.report().rows),
        x("x", given.report().rows),
        expected("expected", given.report().rows),
        differences("differences") {
    const auto host = Kokkos::create_mirror_view(b);
    const auto values = random_values<double>(b.extent(0), seed);
    std::copy(values.begin(), values.end(), host.data());
    Kokkos::deep_copy(b, host);
    solver.solve(Space(), b, expected);
    Kokkos::fence();
  }
  void solve_and_compare() const {
    solver.solve(instance.space(), b, x);
    Kokkos::parallel_for(
        "compare", Kokkos::RangePolicy<Space>(instance.space(), 0, b.extent(0)),
        CountDifferences{x, expected, differences});
  }
  int count() const {
    instance.space().fence();
    int count = -1;
    Kokkos::deep_copy(count, differences);
    return count;
  }
};

/// Occupies threads and scratch of the device for some time.
struct Occupy {
  using Member = Kokkos::TeamPolicy<Space>::member_type;
  Kokkos::View<double*, Space::memory_space> out;
  int rounds;
  KOKKOS_FUNCTION void operator()(const Member& team) const {
    double value = team.league_rank() + 1e-3 * team.team_rank();
    for (int i = 0; i < rounds; ++i) value = value * 0.9999 + 1e-6;
    if (team.team_rank() == 0) out(team.league_rank()) = value;
  }
};
void occupy(const Space& exec, int teams, int rounds) {
  Kokkos::TeamPolicy<Space> policy(exec, teams, on_cuda ? 256 : 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(on_cuda ? 40000 : 1000));
  Kokkos::View<double*, Space::memory_space> out("out", teams);
  Kokkos::parallel_for("occupy", policy, Occupy{out, rounds});
  exec.fence();
}

/// Eight patterns for eight instances; the variants in turn.
std::vector<std::unique_ptr<Task>> make_tasks(std::size_t first_variant) {
  const std::vector<Pattern> patterns{
      random_pattern(3000, 5.0, 3000, 1),
      random_pattern(2500, 4.0, 20, 2),
      chain_pattern(300),
      chains_pattern(40, 60),
      wave_pattern({900, 1, 700, 1, 1, 800, 2, 1}),
      block_pattern(30, 40, 0.3),
      power_law_pattern(1500),
      dense_pattern(150)};
  const auto all = variants();
  std::vector<std::unique_ptr<Task>> tasks;
  for (std::size_t i = 0; i < patterns.size(); ++i)
    tasks.push_back(std::make_unique<Task>(
        patterns[i], all[(first_variant + i) % all.size()], 100 + int(i)));
  return tasks;
}

TEST(ConcurrentSolves, EightInstancesGiveTheBitsOfLoneSolves) {
  // Every variant has every pattern in turn: rounds of all choices together.
  const int choices = static_cast<int>(variants().size());
  const int rounds = (on_cuda ? 1000 : 100) / choices + 1;
  for (int choice = 0; choice < choices; ++choice) {
    const auto tasks = make_tasks(choice);
    for (int round = 0; round < rounds; ++round)
      for (const auto& task : tasks) task->solve_and_compare();
    for (const auto& task : tasks)
      EXPECT_EQ(task->count(), 0) << task->solver.report().reason;
    if (HasFailure()) return;
  }
}

/// Four on each plan, whose values they share.
TEST(ConcurrentSolves, SharersOfAPlanGiveTheBitsOfLoneSolves) {
  const std::vector<Pattern> patterns{
      random_pattern(3000, 5.0, 3000, 1), chains_pattern(40, 60),
      wave_pattern({900, 1, 700, 1, 1, 800, 2, 1})};
  const auto all = variants();
  const int rounds = on_cuda ? 100 : 3;
  for (std::size_t v = 0; v < all.size(); ++v) {
    const auto& pattern = patterns[v % patterns.size()];
    SCOPED_TRACE(pattern.name + ", " + all[v].name);
    std::vector<std::unique_ptr<Task>> tasks;
    tasks.push_back(std::make_unique<Task>(pattern, all[v], 100));
    for (int sharer = 1; sharer < 4; ++sharer)
      tasks.push_back(std::make_unique<Task>(
          tasks[sharer / 2]->solver.share_plan(Space()), 100 + sharer));
    for (int round = 0; round < rounds; ++round)
      for (const auto& task : tasks) task->solve_and_compare();
    for (const auto& task : tasks) EXPECT_EQ(task->count(), 0);
    if (HasFailure()) return;
  }
}

/// Other kernels hold the places that teams would run on, which come free one
/// after the other.
TEST(ConcurrentSolves, ABusyDeviceGivesTheBitsOfLoneSolves) {
  const Instance other;
  const auto tasks = make_tasks(3);
  for (int round = 0; round < 20; ++round) {
    Kokkos::View<double*, Space::memory_space> out("out", 2000);
    Kokkos::TeamPolicy<Space> policy(other.space(), 2000, on_cuda ? 256 : 1);
    policy.set_scratch_size(0, Kokkos::PerTeam(on_cuda ? 40000 : 1000));
    Kokkos::parallel_for("occupy", policy, Occupy{out, on_cuda ? 20000 : 10});
    for (const auto& task : tasks) task->solve_and_compare();
    other.space().fence();
  }
  for (const auto& task : tasks)
    EXPECT_EQ(task->count(), 0) << task->solver.report().reason;
}

/// Many times the teams that the device can run at once.
TEST(ConcurrentSolves, EndWithMoreTeamsThanFit) {
  const int n = on_cuda ? 300000 : 20000;
  for (const auto& pattern :
       {random_pattern(n, 3.0, n, 5), random_pattern(n, 3.0, 500, 6)})
    for (const auto algorithm :
         {Algorithm::tiles, Algorithm::subgraphs, Algorithm::sync_free}) {
      TriangularOptions options;
      options.algorithm = algorithm;
      if (algorithm == Algorithm::subgraphs)
        options.experimental.max_subgraph_rows = 16;
      const Task task(pattern, {to_string(algorithm), options}, 9);
      SCOPED_TRACE(pattern.name + ", " + to_string(algorithm));
      if (algorithm != Algorithm::sync_free) {
        EXPECT_GE(task.solver.report().subgraphs,
                  n / (algorithm == Algorithm::tiles ? 32 : 20));
      }
      const auto A = make_triangle<double>(pattern, Uplo::lower);
      const auto b = random_values<double>(n, 9);
      const auto x = solve(task.solver, b);
      HostSystem<double>{A, Uplo::lower, Diag::non_unit}.expect_solution(
          b.data(), x.data());
      for (int i = 0; i < 10; ++i) task.solve_and_compare();
      EXPECT_EQ(task.count(), 0);
    }
}

/// For another process: run_together ends it.
TEST(ConcurrentSolves, DISABLED_KeepsTheDeviceBusy) {
  for (;;) occupy(Space(), 2000, 20000);
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
