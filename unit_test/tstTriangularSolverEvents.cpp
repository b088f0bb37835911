// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What solves and value updates ask of Kokkos: no waiting, no memory, no copies
// in the one, one wait in the other.
#include <core/device/Backend.hpp>
#include <core/matrix/InspectValues.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/memory/ToDevice.hpp>

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

struct AddUp {
  KOKKOS_INLINE_FUNCTION void operator()(int i, int& sum) const { sum += i; }
};

/// Fences that Kokkos tells of where the host waits for the result of a
/// reduction: two on CUDA.
int fences_of_a_reduction() {
  const KokkosEvents events(Memory::name());
  const int before = events.so_far().fences;
  int sum = 0;
  Kokkos::parallel_reduce("one reduction", Kokkos::RangePolicy<Space>(0, 10),
                          AddUp(), sum);
  return events.so_far().fences - before;
}

/// What a loop finds is what all teams find together, of several teams with a
/// ragged end, and of what stands in the last places. What earlier kernels have
/// found is taken along, and cleared.
TEST(InspectValues, FindsWhatALoopFinds) {
  using Detail::ValuesInspection;
  const Space exec;
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const int n : {1, 31, 255, 5000, 70001})
    for (const double last : {1., 0., tiny, std::nan("")}) {
      SCOPED_TRACE(std::to_string(n) + " rows, the last has " +
                   std::to_string(last));
      std::vector<int> counted(n + 1);
      std::vector<std::int64_t> origin(n);
      std::vector<double> number(n, 2.);
      for (int i = 0; i < n; ++i) {
        counted[i + 1] = i + 1;
        origin[i] = (i + n / 2) % n;
      }
      number[origin[n - 1]] = last;
      const auto index = Detail::to_device<int, Memory>("index", counted);
      const auto values = Detail::to_device<double, Memory>("values", number);
      Detail::DiagonalPlaces<Memory> places;
      places.value_index = Detail::ValueIndex<Memory>("origin", origin, n);
      const Kokkos::View<ValuesInspection, Memory> earlier("earlier");
      ValuesInspection before;
      before.lost_row = 7;
      before.spread_bits = 3;
      Kokkos::deep_copy(earlier, before);
      const auto found = Detail::inspect_values<double>(
          exec, places, {}, values.data(), index, index, earlier.data());

      ValuesInspection expected = before;
      const Detail::IndexArray all(Kokkos::View<const int*, Kokkos::HostSpace>(
          counted.data(), counted.size()));
      for (int i = 0; i <= n; ++i) {
        Detail::row_map_term(all).add<1>(i, 1, expected.row_map);
        Detail::entries_term(all).add<1>(i, 1, expected.entries);
      }
      EXPECT_EQ(found.fingerprint(), expected.fingerprint());
      EXPECT_EQ(found.zero_row, last == 0 ? n - 1 : ValuesInspection::no_row);
      EXPECT_EQ(found.divide, last == 1 || last == 0 ? 0 : 1);
      EXPECT_EQ(found.unscalable_row, ValuesInspection::no_row);
      EXPECT_EQ(found.lost_row, 7);
      EXPECT_EQ(found.spread_bits, 3);
      ValuesInspection left;
      Kokkos::deep_copy(left, earlier);
      EXPECT_EQ(left.lost_row, ValuesInspection::no_row);
      EXPECT_EQ(left.spread_bits, 0);
    }
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
