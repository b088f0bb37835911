// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contracts of accuracy where level sets are merged: see docs/accuracy.md.
#include <Strata_Sptrsv.hpp>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <utility>

#include "RandomSeed.hpp"
#include "RowwiseAccuracy.hpp"
#include "Scalars.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;

TriangularOptions merging(int levels) {
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free;
  options.merged_levels = levels;
  return options;
}

/// Chains of `length` rows, one after the other: d_p x_p + l_p x_(p-1) = b_p.
template <class Scalar>
HostMatrix<Scalar> chains(int count, int length,
                          const std::function<double(int)>& coupling,
                          const std::function<double(int)>& diagonal) {
  HostMatrix<Scalar> A;
  A.rows = A.columns = std::int64_t{count} * length;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    const int p = static_cast<int>(i % length);
    if (p > 0) {
      A.entries.push_back(i - 1);
      A.values.push_back(Scalar(coupling(p)));
    }
    A.entries.push_back(i);
    A.values.push_back(Scalar(diagonal(p)));
    A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
  }
  return A;
}

/// The solution wanted has elements of one size: all errors show.
template <class Scalar>
void expect_contract(const HostMatrix<Scalar>& A, int levels) {
  const auto b = multiplied(A, random_values<Scalar>(A.rows, 5));
  SCOPED_TRACE(std::to_string(levels) + " level sets");
  expect_rowwise(A, b, make_solver(A, merging(levels)));
}

template <class Scalar>
void expect_contract_with_small_pivots() {
  constexpr bool is_single = sizeof(RealOf<Scalar>) == sizeof(float);
  for (const int levels : {0, 2, 4, 8})
    for (const double pivot : {1e-3, is_single ? 1e-6 : 1e-14})
      for (int place = 0; place < std::max(levels, 2) + 1; ++place) {
        SCOPED_TRACE("pivot " + std::to_string(pivot) + " at place " +
                     std::to_string(place));
        const int length = 3 * std::max(levels, 2);
        const int at = length / 3 + place;
        expect_contract(chains<Scalar>(
                            20, length, [](int) { return 0.7; },
                            [&](int p) { return p == at ? pivot : 1.; }),
                        levels);
      }
}

TEST(MergingAccuracy, HoldsWithSmallPivotsAtEveryPlaceOfAGroup) {
  // The other scalars are strata_fuzz_triangular's.
  expect_contract_with_small_pivots<double>();
  expect_contract_with_small_pivots<Kokkos::complex<float>>();
}

/// One pivot of a long chain: by the constructor, where rows stay unmerged, and
/// by new values, which are refused or taken.
TEST(MergingAccuracy, HoldsForOneSmallPivotInALongChain) {
  constexpr int n = 1200;
  const auto good = chains<double>(
      1, n, [](int) { return 0.7; }, [](int) { return 1.; });
  for (const double pivot : {1e-6, 1e-10, 1e-14})
    for (int at = 600; at < 604; ++at) {
      SCOPED_TRACE("pivot " + std::to_string(pivot) + " in row " +
                   std::to_string(at));
      auto A = good;
      A.at(at, at) = pivot;
      const auto b = multiplied(A, random_values<double>(n, 6));
      const auto solver = make_solver(A, merging(4));
      EXPECT_EQ(solver.report().merged_levels, 4)
          << "one row does not cost the others their merging\n"
          << to_string(solver.report());
      EXPECT_LE(solver.report().unmerged_rows, 4);
      expect_rowwise(A, b, solver);

      auto other = make_solver(good, merging(4));
      const auto before = solve(other, b);
      try {
        other.update_values(Space(),
                            A.to_device<SolverMatrix<double, Space>>());
        EXPECT_LE(rowwise_error(A, b, solve(other, b)), 100);
      } catch (const ScalingError& error) {
        EXPECT_GE(error.row(), at);
        EXPECT_LE(error.row(), at + 3);
        EXPECT_TRUE(same_bits(solve(other, b), before))
            << "the last good values stay";
      }
    }
}

TEST(MergingAccuracy, HoldsWithGrowingCouplings) {
  for (const double coupling : {0.9, 1., 1.6, 2.5, 45., 2000.})
    for (const int levels : {2, 8, 24})
      for (const double sign : {1., -1.}) {
        SCOPED_TRACE("coupling " + std::to_string(sign * coupling));
        expect_contract(chains<double>(
                            25, 48,
                            [&](int p) {
                              return p % 24 == 0
                                         ? 1e-3
                                         : (p % 3 == 0 ? sign : 1.) * coupling;
                            },
                            [](int) { return 1.; }),
                        levels);
      }
}

/// A coefficient that is far too large, or not finite, has so small a part in a
/// row that it would vanish in a mean.
TEST(MergingAccuracy, HoldsWhereTheWorstHasTheSmallestWeight) {
  HostMatrix<double> A;
  A.rows = A.columns = 4;
  A.row_map = {0, 1, 3, 5, 8};
  A.entries = {0, 0, 1, 1, 2, 1, 2, 3};
  A.values = {1, 1, 1, 1, 1e-60, 1, 1e-40, 1e-45};
  expect_rowwise(A, {1, 2, 1, 0}, make_solver(A, merging(2)));
  A.values = {1, 1, 1, 1e200, 1e-200, 1, 1e-40, 1e-45};
  expect_rowwise(A, {1, 2, 1e200, 1}, make_solver(A, merging(2)));
}

/// Row 6 takes the difference of two rows which both need the small pivot of
/// row
/// 3. The pivot has no part in the merged row, but the errors of rows 4 and 5,
/// for each of which it is little beside row 2, are its residual.
TEST(MergingAccuracy, HoldsWhereCoefficientsCancelAndErrorsDoNot) {
  constexpr int length = 7, count = 40, special = 17;
  HostMatrix<double> A;
  A.rows = A.columns = length * count;
  for (int system = 0; system < count; ++system) {
    const int first = length * system;
    const auto row =
        [&](std::initializer_list<std::pair<int, double>> entries) {
          for (const auto& [column, value] : entries) {
            A.entries.push_back(first + column);
            A.values.push_back(value);
          }
          A.row_map.push_back(static_cast<std::int64_t>(A.entries.size()));
        };
    row({{0, 1}});
    row({{0, 0.5}, {1, 1}});
    row({{1, 0.5}, {2, 1}});
    const double pivot = system == special ? 4e-3 : 1;
    const double beside = system == special ? 30 : 1;
    row({{2, 1}, {3, pivot}});
    row({{2, beside}, {3, 1}, {4, 1}});
    row({{2, beside}, {3, 1}, {5, 1}});
    row({{4, 100}, {5, -100}, {6, 1}});
  }
  const auto b = multiplied(A, random_values<double>(A.rows, 5));
  const auto solver = make_solver(A, merging(3));
  EXPECT_EQ(solver.report().merged_levels, 3);
  EXPECT_EQ(solver.report().unmerged_rows, 1) << to_string(solver.report());
  expect_rowwise(A, b, solver);
}

/// Growth is that of the matrix, whatever its rows are multiplied with.
TEST(MergingAccuracy, DoesNotChangeWhenRowsAreScaled) {
  const auto A =
      make_triangle<double>(random_pattern(600, 3., 40, 3), Uplo::lower);
  auto scaled = A;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      scaled.values[k] *= i % 7 == 0 ? 0x1p66 : i % 5 == 0 ? 0x1p-40 : 1.;
  const auto one = make_solver(A, merging(4)).report();
  const auto other = make_solver(scaled, merging(4)).report();
  ASSERT_EQ(one.merged_levels, 4);
  EXPECT_EQ(other.merged_levels, 4);
  EXPECT_EQ(one.unmerged_rows, other.unmerged_rows);
  EXPECT_NEAR(one.growth, other.growth, 1e-6 * one.growth);
  for (const int levels : {2, 4, 8}) expect_contract(scaled, levels);
}

/// Random values, rows and pivots of many sizes.
TEST(MergingAccuracy, HoldsOnRandomSystems) {
  std::mt19937& engine = generator();
  const auto pick = [&](double from, double to) {
    return std::uniform_real_distribution<double>(from, to)(engine);
  };
  for (int turn = 0; turn < 60; ++turn) {
    SCOPED_TRACE("turn " + std::to_string(turn));
    const auto pattern = random_pattern(
        static_cast<int>(pick(50, 900)), pick(1, 8),
        static_cast<int>(pick(2, 60)), static_cast<unsigned>(engine()));
    auto A = make_triangle<double>(pattern, Uplo::lower);
    const double small = pick(0, 0.1), scale = pick(0, 20);
    for (std::int64_t i = 0; i < A.rows; ++i) {
      const double by = std::pow(10., pick(-scale, scale));
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) A.values[k] *= by;
      if (pick(0, 1) < small) A.at(i, i) *= std::pow(10., pick(-12, 0));
    }
    const int levels[] = {0, 2, 3, 4, 8, 12, 24};
    expect_contract(A, levels[turn % 7]);
    if (testing::Test::HasFailure()) return;
  }
}

/// On a GPU, tiles of these rows have no inverses that are accurate enough, and
/// row by row they would take several times as long.
TEST(MergingAccuracy, TheChoiceLeavesTilesWithoutInverses) {
  for (const bool enqueues : {false, true}) {
    const auto A = chains<double>(
        12, 500, [](int p) { return p % 2 ? 2. : -2.; },
        [](int) { return 1.; });
    TriangularOptions options;
    options.enqueue_updates = enqueues;
    const auto solver = make_solver(A, options);
    EXPECT_EQ(solver.report().algorithm, Detail::is_gpu<Space>
                                             ? Algorithm::sync_free
                                             : Algorithm::substitution)
        << to_string(solver.report());
    EXPECT_EQ(
        solver.report().reason.find("inverses of tiles") != std::string::npos,
        Detail::is_gpu<Space>);
    expect_rowwise(A, multiplied(A, random_values<double>(A.rows, 5)), solver);
  }
}

/// Small elements of x are as accurate as by substitution, if that is asked
/// for; nothing is merged then.
TEST(MergingAccuracy, ComponentwiseMergesNothing) {
  const auto A = chains<double>(
      1, 500, [](int) { return 0.7; }, [](int) { return 1.; });
  std::vector<double> x(500);
  for (int i = 0; i < 500; ++i) x[i] = std::pow(10., -(i * 7 % 11));
  const auto b = multiplied(A, x);
  auto options = merging(0);
  options.accuracy = Accuracy::componentwise;
  const auto solver = make_solver(A, options);
  EXPECT_EQ(solver.report().merged_levels, 1);
  EXPECT_EQ(solver.report().accuracy, Accuracy::componentwise);
  EXPECT_EQ(solver.report().growth, 0);
  HostSystem<double>{A, Uplo::lower, Diag::non_unit}.expect_solution(
      b.data(), solve(solver, b).data());
}

TEST(MergingAccuracy, RefusesOptionsThatContradictEachOther) {
  const auto A = chain(10, -0.5);
  const auto expect_refused = [&](Accuracy accuracy, int levels) {
    auto options = merging(levels);
    options.accuracy = accuracy;
    EXPECT_THROW(make_solver(A, options), OptionError);
  };
  expect_refused(Accuracy::componentwise, 4);
  expect_refused(static_cast<Accuracy>(99), 0);
  EXPECT_EQ(accuracy_from_string("componentwise"), Accuracy::componentwise);
  EXPECT_THROW(accuracy_from_string("exact"), OptionError);
}

/// The handle is analysed without values, and solves any triangle then.
TEST(MergingAccuracy, HandlesSolveEveryTriangle) {
  using Handle = Experimental::KokkosKernelsHandle<int, int, double, Space>;
  constexpr int n = 1200;
  for (const auto algorithm : {Algorithm::automatic, Algorithm::sync_free})
    for (const int at : {600, 601, 603}) {
      SCOPED_TRACE(std::string(to_string(algorithm)) + ", row " +
                   std::to_string(at));
      auto A = chain(n, 0.7);
      A.at(at, at) = 1e-8;
      const auto matrix = A.to_device<SolverMatrix<double, Space>>();
      const auto b = multiplied(A, random_values<double>(n, 4));
      Handle handle;
      handle.create_sptrsv_handle(algorithm, n, true);
      if (algorithm != Algorithm::automatic)
        handle.get_sptrsv_handle()->options().merged_levels = 4;
      Experimental::sptrsv_symbolic(&handle, matrix.graph.row_map,
                                    matrix.graph.entries);
      const auto from = to_columns<double, Space>(b, n, 1);
      const auto to = to_columns<double, Space>(b, n, 1);
      for (int turn = 0; turn < 2; ++turn) {
        Experimental::sptrsv_solve(&handle, matrix.graph.row_map,
                                   matrix.graph.entries, matrix.values,
                                   Kokkos::subview(from, Kokkos::ALL(), 0),
                                   Kokkos::subview(to, Kokkos::ALL(), 0));
        EXPECT_LE(rowwise_error(A, b, to_vector(to)), 100);
      }
    }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
