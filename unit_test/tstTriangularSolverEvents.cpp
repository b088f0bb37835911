// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What solves and value updates ask of Kokkos: no waiting, no memory, no copies
// in the one, one wait in the other.
#include "KokkosEvents.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Left = Columns<double, Space>;
using Right = Kokkos::View<double**, Kokkos::LayoutRight, Memory>;
using Strided = Kokkos::View<double**, Kokkos::LayoutStride, Memory>;

TEST(KokkosEvents, AreNoticed) {
  const KokkosEvents events(Memory::name());
  {
    const Kokkos::View<double*, Memory> a("a", 100);
    EXPECT_GE(events.so_far().allocations, 1);
    EXPECT_GE(events.so_far().bytes, 800);
    const Kokkos::View<double*, Memory> b("b", 100);
    Kokkos::deep_copy(a, b);
    EXPECT_GE(events.so_far().copies, 1);
  }
  EXPECT_EQ(events.so_far().bytes, 0);
  EXPECT_GE(events.so_far().most_bytes, 1600);
  // Kokkos tells of fences from 3.5 on.
  EXPECT_EQ(events.so_far().fences > 0, KOKKOS_VERSION >= 30500);
}

std::vector<Pattern> patterns() {
  return {random_pattern(600, 4.0, 600, 2), random_pattern(400, 3.0, 4, 3),
          wave_pattern({1, 700, 2, 1, 65, 7, 600, 1, 1, 128}),
          dense_row_pattern(300), diagonal_pattern(50)};
}

template <class B, class X>
void expect_quiet(const TriangularSolver<double, Space>& solver, const B& b,
                  const X& x) {
  const Space exec;
  const KokkosEvents events(Memory::name());
  for (int repeat = 0; repeat < 2; ++repeat) {
    solver.solve(exec, b, x);
    const auto found = events.so_far();
    EXPECT_EQ(found.fences, 0) << found.last << ", solve " << repeat;
    EXPECT_EQ(found.allocations, 0) << found.last << ", solve " << repeat;
    EXPECT_EQ(found.copies, 0) << found.last << ", solve " << repeat;
  }
}

TEST(TriangularSolver, SolvesNeitherWaitNorAllocateNorCopy) {
  const auto all = operations();
  std::size_t next = 0;
  for (const auto& pattern : patterns())
    for (const auto& variant : variants()) {
      const auto& operation = all[next++ % all.size()];
      SCOPED_TRACE(pattern.name + ", " + operation.name() + ", " +
                   variant.name);
      auto A = make_triangle<double>(pattern, operation.uplo, operation.stored);
      // Every other solver divides by its diagonal.
      if (next % 2 == 0 && operation.diag == Diag::non_unit)
        for (auto& v : A.values) v *= 1e-309;
      auto options = variant.options;
      options.op = operation.op;
      const TriangularSolver<double, Space> solver(
          Space(), A.to_device<SolverMatrix<double, Space>>(), operation.uplo,
          operation.diag, options);
      const auto n = A.rows;
      for (const int k : {1, 3, 9, 40}) {
        SCOPED_TRACE(std::to_string(k) + " right-hand sides");
        const Left b("b", n, k), x("x", n, k);
        expect_quiet(solver, b, x);
        expect_quiet(solver, x, x);
        const Right b_rows("b", n, k), x_rows("x", n, k);
        expect_quiet(solver, b_rows, x_rows);
        expect_quiet(solver, b, x_rows);
        const Kokkos::View<double*, Memory> memory("memory", 6 * n * k);
        const Strided strided(memory.data(),
                              Kokkos::LayoutStride(n, 3 * k, k, 2));
        expect_quiet(solver, b, strided);
        if (HasFailure()) return;
      }
      expect_quiet(solver, Kokkos::View<double*, Memory>("b", n),
                   Kokkos::View<double*, Memory>("x", n));
      if (HasFailure()) return;
    }
}

struct CountOnes {
  KOKKOS_FUNCTION void operator()(int, int& count) const { ++count; }
};

/// Fences that Kokkos tells of where the host waits for the result of a
/// reduction: two on CUDA.
int fences_of_a_reduction() {
  const KokkosEvents events(Memory::name());
  const int before = events.so_far().fences;
  int count = 0;
  Kokkos::parallel_reduce("one reduction", Kokkos::RangePolicy<Space>(0, 10),
                          CountOnes(), count);
  EXPECT_EQ(count, 10);
  return events.so_far().fences - before;
}

TEST(TriangularSolver, NewValuesAreWaitedForOnce) {
  const int once = fences_of_a_reduction();
  for (const auto& pattern : patterns())
    for (const auto& variant : variants()) {
      SCOPED_TRACE(pattern.name + ", " + variant.name);
      const auto A = make_triangle<double>(pattern, Uplo::lower);
      const auto matrix = A.to_device<SolverMatrix<double, Space>>();
      const Space exec;
      TriangularSolver<double, Space> solver(exec, matrix, Uplo::lower,
                                             Diag::non_unit, variant.options);
      // Kokkos' own workspace of reductions may grow with the first.
      solver.update_values(exec, matrix);
      // Where they are made in other memory, also until that is free again.
      const int copied = solver.report().algorithm == Algorithm::sync_free &&
                         solver.report().merged_levels > 1;
      const KokkosEvents events(Memory::name());
      solver.update_values(exec, matrix);
      EXPECT_LE(events.so_far().fences, once + copied) << events.so_far().last;
      EXPECT_EQ(events.so_far().copies, 0) << events.so_far().last;
      EXPECT_EQ(events.so_far().allocations, 0) << events.so_far().last;
      if (HasFailure()) return;
    }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
