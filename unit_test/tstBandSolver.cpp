// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_BandSolver.hpp>

#include "BandMatrix.hpp"
#include "KokkosEvents.hpp"
#include "RandomSeed.hpp"
#include "VectorBlock.hpp"

namespace Strata {
namespace BandTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using SolverTest::Storage;
using SolverTest::VectorBlock;

template <class Scalar>
class BandSolverTest : public testing::Test {};
using Scalars = testing::Types<double, Kokkos::complex<float>>;
TYPED_TEST_SUITE(BandSolverTest, Scalars);

struct Shape {
  int n, kl, ku;
};
/// Sizes about those of tiles, bands of no, few, a tile's and more diagonals,
/// and some that are wider than the matrix.
const Shape shapes[] = {
    {1, 0, 0},     {2, 1, 1},    {5, 0, 4},    {7, 6, 0},     {32, 1, 31},
    {65, 64, 64},  {99, 7, 0},   {129, 0, 33}, {150, 70, 40}, {257, 20, 3},
    {700, 40, 50}, {611, 3, 70}, {1, 1, 1},    {1, 0, 3},     {2, 3, 0},
    {3, 1, 9},     {40, 70, 40}, {70, 2, 200},
};

struct Variant {
  BandMethod method;
  int tile;
};
std::vector<Variant> variants() {
  return {{BandMethod::automatic, 0},
          {BandMethod::tiles, 32},
          {BandMethod::tiles, 64},
          {BandMethod::nested_dissection, 32},
          {BandMethod::nested_dissection, 64},
          {BandMethod::partial_pivoting, 0}};
}

TYPED_TEST(BandSolverTest, SolvesEveryShapeByEveryMethod) {
  using Scalar = TypeParam;
  using Band = HostBand<Scalar>;
  std::mt19937 random(random_seed());
  const Space exec;
  bool rows = false;
  for (const auto& s : shapes)
    for (const auto dominance :
         {(rows = !rows) ? Band::Dominance::rows : Band::Dominance::columns}) {
      const auto A = Band::random(s.n, s.kl, s.ku, dominance, random);
      const auto ab = to_band_view<Scalar, Space>(A, s.kl);
      const auto values = random_vector<Scalar>(s.n * 140, random);
      for (const auto& v : variants()) {
        SCOPED_TRACE(std::to_string(s.n) + " rows, " + std::to_string(s.kl) +
                     " and " + std::to_string(s.ku) + " diagonals, " +
                     to_string(v.method) + " " + std::to_string(v.tile));
        BandOptions options = SolverTest::band_options();
        options.method = v.method;
        options.tile = v.tile;
        options.max_right_hand_sides = 140;
        const BandSolver solver(exec, ab, s.kl, s.ku, options);
        for (const int columns : {1, 3, 140}) {
          const std::vector<Scalar> b(values.begin(),
                                      values.begin() + s.n * columns);
          const VectorBlock<Scalar, Space> of_b(Storage::left, s.n, columns),
              x(columns == 3 ? Storage::strided : Storage::right, s.n, columns);
          of_b.set(b);
          of_b.with_view([&](const auto& from) {
            x.with_view([&](const auto& to) {
              if constexpr (std::decay_t<decltype(from)>::rank ==
                            std::decay_t<decltype(to)>::rank) {
                solver.solve(exec, from, to);
              }
            });
          });
          EXPECT_LE(A.backward_error(x.get(), b), tolerance<Scalar>())
              << columns;
          EXPECT_TRUE(x.surroundings_intact());
          EXPECT_EQ(of_b.get(), b);
        }
      }
    }
}

TYPED_TEST(BandSolverTest, DiagonalsOutsideOfTheMatrixAreNotRead) {
  using Scalar = TypeParam;
  using Band = HostBand<Scalar>;
  std::mt19937 random(random_seed());
  const Space exec;
  const auto solve = [&](const BandSolver<Scalar, Space>& solver, int n) {
    const Kokkos::View<Scalar***, Kokkos::LayoutLeft, Space> x("x", n, 2, 3);
    Kokkos::deep_copy(x, Scalar(1));
    solver.solve(exec, x, x);
    const auto host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
    return std::vector<Scalar>(host.data(), host.data() + host.size());
  };
  const Shape wide_shapes[] = {{1, 1, 1}, {1, 4, 0},   {2, 2, 1},   {2, 0, 9},
                               {5, 5, 3}, {33, 1, 33}, {40, 64, 80}};
  for (const Shape& s : wide_shapes) {
    const int kl = std::min(s.kl, s.n - 1), ku = std::min(s.ku, s.n - 1);
    std::vector<Band> wide, narrow, others;
    for (int system = 0; system < 3; ++system) {
      wide.push_back(
          Band::random(s.n, s.kl, s.ku, Band::Dominance::rows, random));
      narrow.emplace_back(s.n, kl, ku);
      for (int i = 0; i < s.n; ++i)
        for (int j = std::max(0, i - kl); j <= std::min(s.n - 1, i + ku); ++j)
          narrow.back()(i, j) = wide.back().at(i, j);
      others.push_back(
          Band::random(s.n, s.kl, s.ku, Band::Dominance::rows, random));
    }
    for (const auto& v : variants()) {
      SCOPED_TRACE(std::to_string(s.n) + " rows, " + std::to_string(s.kl) +
                   " and " + std::to_string(s.ku) + " diagonals, " +
                   to_string(v.method) + " " + std::to_string(v.tile));
      BandOptions options = SolverTest::band_options();
      options.method = v.method;
      options.tile = v.tile;
      const auto narrow_ab = to_band_views<Scalar, Space>(narrow);
      const BandSolver<Scalar, Space> expected(exec, narrow_ab, kl, ku,
                                               options);
      for (const int extra : {0, s.kl}) {
        const auto ab = to_band_views<Scalar, Space>(wide, extra);
        BandSolver<Scalar, Space> solver(exec, ab, s.kl, s.ku, options);
        EXPECT_EQ(solve(solver, s.n), solve(expected, s.n));
        EXPECT_EQ(solver.report().lower, kl);
        EXPECT_EQ(solver.report().upper, ku);
        EXPECT_EQ(solver.report().bytes, expected.report().bytes);
        solver.update_values(exec, to_band_views<Scalar, Space>(others, extra));
        solver.update_values(exec, ab);
        EXPECT_EQ(solve(solver, s.n), solve(expected, s.n));
        EXPECT_THROW(solver.update_values(exec, narrow_ab), SizeMismatchError);
      }
    }
  }
}

TYPED_TEST(BandSolverTest, PassesRepeatsAndSolvesInPlaceGiveTheSameBits) {
  using Scalar = TypeParam;
  using Band = HostBand<Scalar>;
  std::mt19937 random(random_seed());
  const Space exec;
  for (const Shape& s : {Shape{90, 20, 30}, Shape{140, 66, 70}}) {
    const auto A = Band::random(s.n, s.kl, s.ku, Band::Dominance::rows, random);
    const auto ab = to_band_view<Scalar, Space>(A);
    constexpr int columns = 132;
    const auto b = random_vector<Scalar>(s.n * columns, random);
    for (const auto& v : variants()) {
      SCOPED_TRACE(std::string(to_string(v.method)) + " " +
                   std::to_string(v.tile));
      BandOptions options = SolverTest::band_options();
      options.method = v.method;
      options.tile = v.tile;
      options.max_right_hand_sides = columns;
      const auto solve = [&](const auto& solver) {
        const VectorBlock<Scalar, Space> x(Storage::left, s.n, columns);
        x.set(b);
        x.with_view([&](const auto& view) { solver.solve(exec, view, view); });
        return x.get();
      };
      BandSolver solver(exec, ab, s.kl, s.ku, options);
      const auto x = solve(solver);
      EXPECT_LE(A.backward_error(x, b), tolerance<Scalar>());
      EXPECT_EQ(solve(solver), x);
      solver.update_values(exec, ab);
      EXPECT_EQ(solve(solver), x);
      // Few right-hand sides after many, many after few: other workspaces.
      for (const int now : {1, 5, columns}) {
        options.max_right_hand_sides = now;
        const BandSolver other(exec, ab, s.kl, s.ku, options);
        const auto in_passes = solve(other);
        EXPECT_LE(A.backward_error(in_passes, b), tolerance<Scalar>());
        EXPECT_EQ(solve(other), in_passes);
      }
    }
  }
}

/// Whoever sets no option gets the speed of one pass: workspace grows with the
/// right-hand sides and is there for the next solve.
TYPED_TEST(BandSolverTest, RoomForRightHandSidesGrowsOnce) {
  using Scalar = TypeParam;
  using Band = HostBand<Scalar>;
  std::mt19937 random(random_seed());
  const Space exec;
  const Shape s{70, 9, 5};
  const auto A = Band::random(s.n, s.kl, s.ku, Band::Dominance::rows, random);
  const auto ab = to_band_view<Scalar, Space>(A);
  const auto values = random_vector<Scalar>(s.n * 1100, random);
  for (const auto& v : variants()) {
    SCOPED_TRACE(std::string(to_string(v.method)) + " " +
                 std::to_string(v.tile));
    BandOptions options = SolverTest::band_options();
    options.method = v.method;
    options.tile = v.tile;
    const BandSolver solver(exec, ab, s.kl, s.ku, options);
    const auto solve = [&](const auto& of, int columns, bool may_allocate) {
      const std::vector<Scalar> b(values.begin(),
                                  values.begin() + s.n * columns);
      const VectorBlock<Scalar, Space> x(Storage::left, s.n, columns);
      x.set(b);
      x.with_view([&](const auto& view) {
        const SolverTest::KokkosEvents events(Space::memory_space::name());
        of.solve(exec, view, view);
        const auto found = events.so_far();
        if (!may_allocate) {
          EXPECT_EQ(found.allocations, 0) << found.last << ' ' << columns;
          EXPECT_EQ(found.fences, 0) << found.last << ' ' << columns;
        }
      });
      const auto result = x.get();
      EXPECT_LE(A.backward_error(result, b), tolerance<Scalar>()) << columns;
      return result;
    };
    solve(solver, 1, false);
    std::size_t before = solver.report().bytes;
    for (const int columns : {20, 3, 300, 100, 20, 1, 1100}) {
      const auto first = solve(solver, columns, true);
      EXPECT_EQ(solve(solver, columns, false), first);
      // Never less room than there was, and the same answer as from a solver
      // that was told.
      EXPECT_GE(solver.report().bytes, before);
      before = solver.report().bytes;
      auto of_told = options;
      of_told.max_right_hand_sides = columns > 1024 ? 1024 : columns;
      // The automatic choice depends on how many there are.
      if (!solver.report().lapack) of_told.method = solver.report().method;
      const BandSolver told(exec, ab, s.kl, s.ku, of_told);
      EXPECT_EQ(solve(told, columns, false), first);
    }
    const BandSolver reserved(exec, ab, s.kl, s.ku, options);
    const std::size_t bare = reserved.report().bytes;
    reserved.reserve(exec, 150);
    // Partial pivoting works in x itself; LAPACK does where x has its layout.
    EXPECT_EQ(reserved.report().bytes > bare,
              v.method != BandMethod::partial_pivoting ||
                  (reserved.report().lapack && Space().concurrency() > 1));
    for (const int columns : {150, 7, 128, 1}) solve(reserved, columns, false);
    EXPECT_THROW(reserved.reserve(exec, -1), SizeMismatchError);
  }
}

TYPED_TEST(BandSolverTest, SolvesABatch) {
  using Scalar = TypeParam;
  using Band = HostBand<Scalar>;
  using Memory = Space::memory_space;
  std::mt19937 random(random_seed());
  const Space exec;
  for (const Shape& s : {Shape{1, 0, 0}, Shape{50, 3, 6}, Shape{140, 40, 66},
                         Shape{300, 20, 3}}) {
    constexpr int systems = 5;
    std::vector<Band> A;
    for (int i = 0; i < systems; ++i)
      A.push_back(Band::random(
          s.n, s.kl, s.ku,
          i % 2 ? Band::Dominance::rows : Band::Dominance::columns, random));
    const auto ab = to_band_views<Scalar, Space>(A);
    for (const auto& v : variants())
      for (const int columns : {1, 4, 140}) {
        SCOPED_TRACE(std::string(to_string(v.method)) + " " +
                     std::to_string(v.tile));
        BandOptions options = SolverTest::band_options();
        options.method = v.method;
        options.tile = v.tile;
        options.max_right_hand_sides = 140;
        const BandSolver solver(exec, ab, s.kl, s.ku, options);
        Kokkos::View<Scalar***, Kokkos::LayoutRight, Memory> b(
            "b", s.n, columns, systems),
            x("x", s.n, columns, systems);
        const auto host = Kokkos::create_mirror_view(b);
        std::vector<std::vector<Scalar>> of_system;
        for (int i = 0; i < systems; ++i) {
          of_system.push_back(random_vector<Scalar>(s.n * columns, random));
          for (int c = 0; c < columns; ++c)
            for (int r = 0; r < s.n; ++r)
              host(r, c, i) = of_system[i][c * s.n + r];
        }
        Kokkos::deep_copy(b, host);
        solver.solve(exec, b, x);
        const auto result =
            Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
        for (int i = 0; i < systems; ++i) {
          std::vector<Scalar> solution(s.n * columns);
          for (int c = 0; c < columns; ++c)
            for (int r = 0; r < s.n; ++r)
              solution[c * s.n + r] = result(r, c, i);
          EXPECT_LE(A[i].backward_error(solution, of_system[i]),
                    tolerance<Scalar>());
        }
      }
  }
}

TYPED_TEST(BandSolverTest, NanInARightHandSideStaysInItsColumn) {
  using Scalar = TypeParam;
  using Band = HostBand<Scalar>;
  std::mt19937 random(random_seed());
  const Space exec;
  const auto A = Band::random(200, 10, 12, Band::Dominance::rows, random);
  const auto ab = to_band_view<Scalar, Space>(A);
  for (const auto& v : variants()) {
    BandOptions options = SolverTest::band_options();
    options.method = v.method;
    options.tile = v.tile;
    options.max_right_hand_sides = 140;
    const BandSolver solver(exec, ab, 10, 12, options);
    for (const int columns : {2, 140}) {
      auto b = random_vector<Scalar>(200 * columns, random);
      b[100] = Scalar(std::numeric_limits<double>::quiet_NaN());
      const VectorBlock<Scalar, Space> x(Storage::left, 200, columns);
      x.set(b);
      x.with_view([&](const auto& view) { solver.solve(exec, view, view); });
      const auto result = x.get();
      EXPECT_FALSE(result[100] == result[100]);
      b.erase(b.begin(), b.begin() + 200);
      EXPECT_LE(A.backward_error(
                    std::vector<Scalar>(result.begin() + 200, result.end()), b),
                tolerance<Scalar>());
    }
  }
}

}  // namespace
}  // namespace BandTest
}  // namespace Strata
