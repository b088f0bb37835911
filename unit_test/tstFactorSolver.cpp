// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solves with factors that others have computed.
#include <gtest/gtest.h>

#include <Strata_BiCgStab.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_Gmres.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_SellMatrix.hpp>
#include <utility>

#include "FactorCases.hpp"
#include "KokkosEvents.hpp"
#include "ReplacedRow.hpp"

namespace {

template <class Scalar>
struct FactorSolver : FactorCases<Scalar> {};
TYPED_TEST_SUITE(FactorSolver, Scalars);

TYPED_TEST(FactorSolver, SolvesWithAnyTransformationAndLayout) {
  using Fixture = TestFixture;
  const std::int64_t n = Fixture::n;
  const typename Fixture::One one("one", n), other_one("one", n);
  for (int parts = 0; parts < 16; ++parts) {
    SCOPED_TRACE("parts " + std::to_string(parts));
    auto made = Fixture::random_case(Fixture::with_transposes());
    Fixture::transform(made, parts);
    if (parts == 8)
      made.real_scaling =
          Fixture::template random_scaling<typename Fixture::Real>();
    const auto solver = made.solver();
    const auto A = made.matrix();
    Fixture::expect_applied(solver, A, one, other_one);
    // As many as memory was taken for, and more.
    for (const int columns : {3, 5}) {
      const typename Fixture::Left left("left", n, columns),
          other_left("left", n, columns);
      const typename Fixture::Right right("right", n, columns);
      Fixture::expect_applied(solver, A, left, other_left);
      Fixture::expect_applied(solver, A, right, left);
    }
  }
}

TYPED_TEST(FactorSolver, SolvesByAnyAlgorithmWithAnyDiagonal) {
  using Fixture = TestFixture;
  const std::int64_t n = Fixture::n;
  const typename Fixture::One one("one", n), other_one("one", n);
  const typename Fixture::Left left("left", n, 4);
  const typename Fixture::Right right("right", n, 4);
  for (const auto algorithm :
       {Algorithm::substitution, Algorithm::level_sets, Algorithm::sync_free,
        Algorithm::tiles, Algorithm::blocks})
    for (const int merged : {1, 0})
      for (const bool unit : {false, true}) {
        if (merged == 0 && algorithm != Algorithm::sync_free) continue;
        SCOPED_TRACE(to_string(algorithm));
        Options options = Fixture::with_transposes();
        options.triangular.algorithm = algorithm;
        options.triangular.merged_levels = merged;
        // Merged level sets have one right-hand side a launch.
        if (merged == 0) options.triangular.max_right_hand_sides = 1;
        options.lower_diag = unit ? Diag::unit : Diag::non_unit;
        options.upper_diag = unit ? Diag::unit : Diag::non_unit;
        auto made = Fixture::random_case(options);
        for (const int parts : {0, 3, 12, 15}) {
          Fixture::transform(made, parts);
          const auto solver = made.solver();
          const auto A = made.matrix();
          Fixture::expect_applied(solver, A, one, other_one);
          Fixture::expect_applied(solver, A, left, right);
        }
      }
}

TYPED_TEST(FactorSolver, LeavesWhatIsBetweenItsElementsAlone) {
  using Fixture = TestFixture;
  using Scalar = TypeParam;
  const std::int64_t n = Fixture::n;
  for (const int parts : {0, 1, 2, 12, 15}) {
    auto made = Fixture::random_case(Fixture::with_transposes());
    Fixture::transform(made, parts);
    const auto solver = made.solver();
    const auto A = made.matrix();
    const typename Fixture::Right around("around", n + 2, 7);
    const Scalar mark(77);
    const auto rows = std::make_pair<std::int64_t, std::int64_t>(1, n + 1);
    const auto x = Kokkos::subview(around, rows, std::make_pair(2, 6));
    const auto first = Kokkos::subview(around, rows, 0);
    const typename Fixture::Left b("b", n, 4);
    const auto given = Fixture::random_numbers(4);
    Fixture::fill(b, given);
    for (const Op op : all_ops) {
      Kokkos::deep_copy(around, mark);
      solver.apply(Device(), b, x, op);
      solver.apply(Device(), Kokkos::subview(b, Kokkos::ALL(), 2), first, op);
      const auto host =
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), around);
      std::vector<Scalar> found(n * 4);
      for (std::int64_t i = 0; i < n + 2; ++i)
        for (int c = 0; c < 7; ++c) {
          const bool inside = i > 0 && i <= n;
          if (inside && c == 0) {
            EXPECT_EQ(host(i, c), host(i, 4));
          } else if (inside && c >= 2 && c < 6) {
            found[(c - 2) * n + i - 1] = host(i, c);
          } else {
            ASSERT_EQ(host(i, c), mark);
          }
        }
      Fixture::expect_solution(A, op, given, found);
    }
  }
}

TYPED_TEST(FactorSolver, TakesOneMatrixForBothFactors) {
  using Fixture = TestFixture;
  using Host = typename Fixture::Host;
  auto made = Fixture::random_case();
  Host both;
  both.rows = both.columns = Fixture::n;
  for (std::int64_t i = 0; i < both.rows; ++i) {
    for (const auto* factor : {&made.L, &made.U})
      for (auto k = factor->row_map[i]; k < factor->row_map[i + 1]; ++k) {
        if (factor == &made.L && factor->entries[k] == i) continue;
        both.entries.push_back(factor->entries[k]);
        both.values.push_back(factor->values[k]);
      }
    both.row_map.push_back(static_cast<std::int64_t>(both.entries.size()));
  }
  // Of other index types.
  using Other = KokkosSparse::CrsMatrix<TypeParam, std::int64_t, Device, void,
                                        std::size_t>;
  const auto LU = both.template to_device<Other>();
  Options options;
  options.take_triangle = true;
  const Strata::FactorSolver solver(Device(), LU, LU, options);
  EXPECT_EQ(Fixture::applied(solver), Fixture::applied(made.solver()));
  // One index type for L, another for U.
  const typename Fixture::Solver mixed(
      Device(), made.L.template to_device<Other>(),
      made.U.template to_device<Crs<TypeParam>>());
  EXPECT_EQ(Fixture::applied(mixed), Fixture::applied(made.solver()));
}

TYPED_TEST(FactorSolver, UpdatesGiveTheBitsOfANewOne) {
  using Fixture = TestFixture;
  using Real = typename Fixture::Real;
  for (const int parts : {0, 15}) {
    auto made = Fixture::random_case(Fixture::with_transposes());
    Fixture::transform(made, parts);
    auto solver = made.solver();
    const auto copy = solver;
    for (int time = 0; time < 3; ++time) {
      made.L = Fixture::scaled(made.L, Real(1.5));
      made.U = Fixture::scaled(made.U, Real(-0.75));
      const auto L = made.L.template to_device<Crs<TypeParam>>(),
                 U = made.U.template to_device<Crs<TypeParam>>();
      if (time == 2) {
        Fixture::transform(made, parts);
        solver.update_values(Device(), L, U, made.transformation());
      } else {
        solver.update_values(Device(), L, U);
      }
      const auto expected = made.solver();
      for (const Op op : all_ops) {
        EXPECT_EQ(Fixture::applied(solver, op), Fixture::applied(expected, op));
        EXPECT_EQ(Fixture::applied(copy, op), Fixture::applied(expected, op));
      }
    }
  }
}

/// Objects with a workspace each, in turn, over updates of either.
TYPED_TEST(FactorSolver, SharedPlansGiveTheBitsOfLoneApplies) {
  using Fixture = TestFixture;
  using Real = typename Fixture::Real;
  for (const auto precision :
       {Strata::FactorPrecision::working, Strata::FactorPrecision::single})
    for (const int parts : {0, 15}) {
      auto options = Fixture::with_transposes();
      options.precision = precision;
      options.triangular.algorithm = Algorithm::sync_free;
      options.triangular.merged_levels = 4;
      options.triangular.max_right_hand_sides = 1;
      auto made = Fixture::random_case(options);
      Fixture::transform(made, parts);
      auto solver = made.solver();
      auto sharer = solver.share_plan(Device());
      const auto another = sharer.share_plan(Device());
      const auto bits = [&](const auto& one, Op op) {
        auto all = Fixture::applied(one, op);
        // More than the workspace has vectors for.
        const typename Fixture::Left b("b", Fixture::n, 5);
        Kokkos::deep_copy(b, TypeParam(2));
        one.apply(Device(), b, b, op);
        const auto several = Fixture::content(b);
        all.insert(all.end(), several.begin(), several.end());
        return all;
      };
      const auto expect_same = [&] {
        const auto fresh = made.solver();
        for (const Op op : all_ops) {
          const auto x = bits(fresh, op);
          for (int turn = 0; turn < 2; ++turn)
            for (const auto* one : {&std::as_const(sharer), &another})
              EXPECT_EQ(bits(*one, op), x) << to_string(op);
          EXPECT_EQ(bits(solver, op), x) << to_string(op);
        }
        EXPECT_EQ(sharer.report().upper.unmerged_rows,
                  fresh.report().upper.unmerged_rows);
      };
      const auto update = [&](auto& of) {
        of.update_values(Device(), made.L.template to_device<Crs<TypeParam>>(),
                         made.U.template to_device<Crs<TypeParam>>(),
                         made.transformation());
      };
      expect_same();
      made.U = Fixture::scaled(made.U, Real(-0.75));
      Fixture::transform(made, parts);
      update(sharer);
      expect_same();
      // Values that need other solvers, which all have then.
      made.U = Strata::with_large_row(made.U, 4);
      Fixture::transform(made, parts);
      update(solver);
      EXPECT_GT(another.report().upper.unmerged_rows, 0);
      expect_same();
      // A refused update is undone for all.
      const auto good = made.U;
      made.U.at(11, 11) = 0;
      EXPECT_THROW(update(sharer), Strata::ZeroDiagonalError);
      made.U = good;
      expect_same();
      solver = {};
      sharer = {};
      EXPECT_EQ(bits(another, Op::none), bits(made.solver(), Op::none));
      if (this->HasFailure()) return;
    }
  const typename Fixture::Solver empty;
  EXPECT_THROW(empty.share_plan(Device()), Strata::HandleError);
}

TYPED_TEST(FactorSolver, ARefusedUpdateKeepsTheOldFactors) {
  using Fixture = TestFixture;
  using Host = typename Fixture::Host;
  using Real = typename Fixture::Real;
  auto made = Fixture::random_case(Fixture::with_transposes());
  Fixture::transform(made, 15);
  auto solver = made.solver();
  const auto before = Fixture::applied(solver),
             transposed = Fixture::applied(solver, Op::transpose);
  const auto new_L = Fixture::scaled(made.L, Real(2)),
             new_U = Fixture::scaled(made.U, Real(2));
  const auto refused = [&](auto error, const char* argument, std::int64_t row,
                           const Host& L, const Host& U,
                           const typename Fixture::Transformation* other =
                               nullptr) {
    const auto device_L = L.template to_device<Crs<TypeParam>>(),
               device_U = U.template to_device<Crs<TypeParam>>();
    expect_error<decltype(error)>(argument, row, [&] {
      if (other)
        solver.update_values(Device(), device_L, device_U, *other);
      else
        solver.update_values(Device(), device_L, device_U);
    });
    EXPECT_EQ(Fixture::applied(solver), before);
    EXPECT_EQ(Fixture::applied(solver, Op::transpose), transposed);
  };
  // L has got new values when U is refused.
  auto bad = new_U;
  bad.at(11, 11) = 0;
  refused(Strata::ZeroDiagonalError("", "", "", 0), "U.values", 11, new_L, bad);
  const Strata::PatternMismatchError mismatch("", "", "");
  bad = new_U;
  std::int64_t row = 0;
  while (bad.row_map[row + 1] - bad.row_map[row] < 2 ||
         bad.entries[bad.row_map[row + 1] - 1] == Fixture::n - 1)
    ++row;
  ++bad.entries[bad.row_map[row + 1] - 1];
  refused(mismatch, "U", -1, new_L, bad);
  refused(mismatch, "L", -1, new_U, new_L);
  bad = new_L;
  bad.values.pop_back();
  bad.entries.pop_back();
  --bad.row_map.back();
  refused(mismatch, "L", -1, bad, new_U);
  auto scaling = Fixture::template random_scaling<TypeParam>();
  scaling[17] = 0;
  typename Fixture::Transformation zero;
  zero.column_scaling(on_device(scaling));
  refused(Strata::ZeroDiagonalError("", "", "", 0), "column_scaling", 17, new_L,
          new_U, &zero);
  solver.update_values(Device(), new_L.template to_device<Crs<TypeParam>>(),
                       new_U.template to_device<Crs<TypeParam>>());
  made.L = new_L;
  made.U = new_U;
  EXPECT_EQ(Fixture::applied(solver), Fixture::applied(made.solver()));
}

TYPED_TEST(FactorSolver, MakesOtherSolversForValuesThatNeedThem) {
  using Fixture = TestFixture;
  Options options;
  options.triangular.algorithm = Algorithm::sync_free;
  options.triangular.merged_levels = 4;
  auto made = Fixture::random_case(options);
  auto solver = made.solver();
  const auto copy = solver;
  ASSERT_EQ(solver.report().upper.merged_levels, 4);
  ASSERT_EQ(solver.report().upper.unmerged_rows, 0);
  made.U = Strata::with_large_row(made.U, 4);
  solver.update_values(Device(), made.L.template to_device<Crs<TypeParam>>(),
                       made.U.template to_device<Crs<TypeParam>>());
  EXPECT_GT(solver.report().upper.unmerged_rows, 0);
  EXPECT_EQ(Fixture::applied(solver), Fixture::applied(made.solver()));
  EXPECT_EQ(Fixture::applied(copy), Fixture::applied(made.solver()));
}

TYPED_TEST(FactorSolver, RefusesFactorsByName) {
  using Fixture = TestFixture;
  const auto good = Fixture::random_case();
  const auto refused = [&](auto error, const char* argument, std::int64_t row,
                           const auto& change) {
    auto bad = good;
    change(bad);
    expect_error<decltype(error)>(argument, row, [&] { bad.solver(); });
  };
  refused(Strata::ZeroDiagonalError("", "", "", 0), "U.values", 5,
          [](auto& bad) { bad.U.at(5, 5) = 0; });
  refused(Strata::MissingDiagonalError("", "", "", 0), "U", 0, [](auto& bad) {
    bad.U = Fixture::triangle(Strata::Uplo::upper, Diag::unit, false);
  });
  refused(Strata::ColumnRangeError("", "", "", 0), "L.entries", 8,
          [](auto& bad) { bad.L.entries[bad.L.row_map[9] - 1] = Fixture::n; });
  refused(Strata::RowMapError("", "", "", 0), "L.row_map", 0,
          [](auto& bad) { bad.L.row_map[0] = 1; });
  refused(Strata::SizeMismatchError("", "", ""), "U", -1, [](auto& bad) {
    --bad.U.rows;
    --bad.U.columns;
    bad.U.row_map.pop_back();
    bad.U.entries.resize(bad.U.row_map.back());
    bad.U.values.resize(bad.U.row_map.back());
  });
  const Strata::WrongTriangleError wrong("", "", "", 0);
  expect_error<Strata::WrongTriangleError>(
      "L.entries",
      [&] {
        std::int64_t row = 0;
        while (good.U.row_map[row + 1] - good.U.row_map[row] < 2) ++row;
        return row;
      }(),
      [&] {
        auto bad = good;
        std::swap(bad.L, bad.U);
        bad.solver();
      });
  const auto option = [&](const auto& change) {
    auto bad = good;
    change(bad.options);
    EXPECT_THROW(bad.solver(), Strata::OptionError);
  };
  option([](Options& o) { o.lower_diag = static_cast<Diag>(5); });
  option([](Options& o) { o.upper_diag = static_cast<Diag>(-1); });
  option([](Options& o) {
    o.precision = static_cast<Strata::FactorPrecision>(2);
  });
  option([](Options& o) { o.triangular.max_right_hand_sides = 0; });
}

TYPED_TEST(FactorSolver, RefusesWhatIsNoTransformation) {
  using Fixture = TestFixture;
  using Real = typename Fixture::Real;
  const std::int64_t n = Fixture::n;
  const auto made = Fixture::random_case();
  const auto L = made.L.template to_device<Crs<TypeParam>>(),
             U = made.U.template to_device<Crs<TypeParam>>();
  const auto refused = [&](auto error, const char* argument, std::int64_t row,
                           const typename Fixture::Transformation& bad) {
    expect_error<decltype(error)>(
        argument, row, [&] { typename Fixture::Solver(Device(), L, U, bad); });
  };
  using Given = typename Fixture::Transformation;
  const Strata::PermutationError no_permutation("", "", "", 0);
  const auto good = Fixture::random_permutation();
  for (const int place : {0, 20, 42}) {
    auto bad = good;
    for (const int row : {-1, 43, 1 << 30}) {
      bad[place] = row;
      refused(no_permutation, "row_permutation", place,
              Given().row_permutation(on_device(bad)));
      refused(no_permutation, "column_permutation", place,
              Given().column_permutation(on_device(bad)));
    }
    // Named twice: the later place is at fault.
    bad = good;
    const int other = place == 42 ? 7 : place + 1;
    bad[other] = bad[place];
    refused(no_permutation, "row_permutation", std::max(place, other),
            Given().row_permutation(on_device(bad)));
  }
  // A number that 32 bits would make a row's.
  std::vector<std::int64_t> far(good.begin(), good.end());
  far[3] += std::int64_t{1} << 32;
  refused(no_permutation, "column_permutation", 3,
          Given().column_permutation(on_device(far)));

  const Strata::NotFiniteError not_finite("", "", "", 0);
  auto scaling = Fixture::template random_scaling<TypeParam>();
  scaling[9] = std::numeric_limits<Real>::quiet_NaN();
  scaling[30] = 0;
  refused(not_finite, "row_scaling", 9,
          Given().row_scaling(on_device(scaling)));
  auto real = Fixture::template random_scaling<Real>();
  real[12] = std::numeric_limits<Real>::infinity();
  refused(not_finite, "column_scaling", 12,
          Given().column_scaling(on_device(real)));
  real[2] = 0;
  refused(Strata::ZeroDiagonalError("", "", "", 0), "column_scaling", 2,
          Given().column_scaling(on_device(real)));

  const Strata::SizeMismatchError size("", "", "");
  const Kokkos::View<int*, Device> short_order("order", n - 1);
  const Kokkos::View<Real*, Device> long_scaling("scaling", n + 1);
  refused(size, "row_permutation", -1, Given().row_permutation(short_order));
  refused(size, "row_scaling", -1, Given().row_scaling(long_scaling));
}

TYPED_TEST(FactorSolver, RefusesVectorsBeforeAnythingIsWritten) {
  using Fixture = TestFixture;
  const std::int64_t n = Fixture::n;
  const auto solver = Fixture::random_case().solver();
  const typename Fixture::One b("b", n), x("x", n), longer("longer", n + 1);
  const typename Fixture::Left two("two", n, 2);
  EXPECT_THROW(solver.apply(Device(), b, x, Op::transpose),
               Strata::OptionError);
  EXPECT_THROW(solver.apply(Device(), b, x, static_cast<Op>(7)),
               Strata::OptionError);
  EXPECT_THROW(solver.apply(Device(), b, longer), Strata::SizeMismatchError);
  EXPECT_THROW(solver.apply(Device(), b, two), Strata::SizeMismatchError);
  EXPECT_THROW(
      solver.apply(Device(),
                   Kokkos::subview(longer, std::make_pair<int, int>(0, n)),
                   Kokkos::subview(longer, std::make_pair<int, int>(1, n + 1))),
      Strata::AliasError);
  const Kokkos::View<TypeParam**, Kokkos::LayoutStride, Device> twice(
      x.data(), Kokkos::LayoutStride(n, 1, 2, 0));
  EXPECT_THROW(solver.apply(Device(), two, twice), Strata::AliasError);
  EXPECT_EQ(Fixture::content(x), std::vector<TypeParam>(n));
  EXPECT_EQ(Fixture::content(longer), std::vector<TypeParam>(n + 1));
}

TYPED_TEST(FactorSolver, AppliesWithoutMemoryCopiesAndWaits) {
  using Fixture = TestFixture;
  using Strata::SolverTest::KokkosEvents;
  const std::int64_t n = Fixture::n;
  auto made = Fixture::random_case(Fixture::with_transposes());
  Fixture::transform(made, 15);
  const auto solver = made.solver();
  const typename Fixture::One one("one", n);
  const typename Fixture::Left b("b", n, 4);
  const typename Fixture::Right x("x", n, 4);
  Kokkos::deep_copy(b, TypeParam(1));
  Kokkos::deep_copy(one, TypeParam(1));
  const Device exec;
  const auto apply = [&] {
    for (const Op op : all_ops) {
      solver.apply(exec, one, one, op);
      solver.apply(exec, b, x, op);
      solver.apply(exec, x, x, op);
    }
  };
  apply();
  exec.fence();
  const KokkosEvents events(Device::memory_space::name());
  apply();
  const auto counts = events.so_far();
  EXPECT_EQ(counts.allocations, 0) << counts.last;
  EXPECT_EQ(counts.copies, 0) << counts.last;
  // Kokkos tells of the end of a host's kernels as of a fence.
  if (on_gpu<Device>) {
    EXPECT_EQ(counts.fences, 0) << counts.last;
  }
}

TYPED_TEST(FactorSolver, ReportsWhatItIsMadeOf) {
  using Fixture = TestFixture;
  const auto n = static_cast<std::size_t>(Fixture::n);
  auto made = Fixture::random_case();
  const auto plain = made.solver().report();
  EXPECT_EQ(plain.rows, Fixture::n);
  EXPECT_EQ(plain.precision, Strata::FactorPrecision::working);
  const std::size_t of_lower = made.L.entries.size(),
                    of_upper = made.U.entries.size();
  EXPECT_EQ(plain.lower_entries, static_cast<std::int64_t>(of_lower));
  EXPECT_EQ(plain.upper_entries, static_cast<std::int64_t>(of_upper));
  EXPECT_EQ(plain.plan_bytes, plain.lower.plan_bytes + plain.upper.plan_bytes);
  EXPECT_EQ(plain.value_bytes, (of_lower + of_upper) * sizeof(TypeParam));
  EXPECT_EQ(plain.workspace_bytes, n * sizeof(TypeParam));
  EXPECT_EQ(plain.transformation_bytes, 0u);
  EXPECT_EQ(plain.upper_transposed.rows, 0);
  made.options = Fixture::with_transposes();
  Fixture::transform(made, 7);
  auto solver = made.solver();
  const auto all = solver.report();
  EXPECT_EQ(all.workspace_bytes, 3 * n * sizeof(TypeParam));
  EXPECT_EQ(all.transformation_bytes, n * (8 + sizeof(TypeParam)));
  EXPECT_EQ(all.upper_transposed.rows, Fixture::n);
  EXPECT_EQ(all.bytes(), all.plan_bytes + all.value_bytes +
                             all.workspace_bytes + all.transformation_bytes);
  EXPECT_EQ(solver.options(), made.options);
  EXPECT_EQ(solver.rows(), Fixture::n);
  solver.update_values(Device(), made.L.template to_device<Crs<TypeParam>>(),
                       made.U.template to_device<Crs<TypeParam>>(),
                       typename Fixture::Transformation());
  EXPECT_EQ(solver.report().transformation_bytes, 0u);
}

TYPED_TEST(FactorSolver, TakesSystemsWithoutRowsAndVectorsWithoutColumns) {
  using Fixture = TestFixture;
  const auto none =
      typename Fixture::Host().template to_device<Crs<TypeParam>>();
  typename Fixture::Transformation transformation;
  transformation.row_permutation(Kokkos::View<int*, Device>("p", 0))
      .column_scaling(Kokkos::View<TypeParam*, Device>("s", 0));
  typename Fixture::Solver empty(Device(), none, none, transformation);
  const typename Fixture::One b("b", 0);
  const typename Fixture::Left several("b", 0, 3),
      no_column("b", Fixture::n, 0);
  empty.apply(Device(), b, b);
  empty.apply(Device(), several, several);
  empty.update_values(Device(), none, none);
  EXPECT_EQ(empty.rows(), 0);
  Fixture::random_case().solver().apply(Device(), no_column, no_column);
}

TYPED_TEST(FactorSolver, IsEmptyUntilOneIsAssigned) {
  using Fixture = TestFixture;
  typename Fixture::Solver solver;
  const auto made = Fixture::random_case();
  const auto L = made.L.template to_device<Crs<TypeParam>>(),
             U = made.U.template to_device<Crs<TypeParam>>();
  const typename Fixture::One b("b", Fixture::n);
  const auto expect_empty = [&](auto& empty) {
    EXPECT_THROW(empty.apply(Device(), b, b), Strata::HandleError);
    EXPECT_THROW(empty.update_values(Device(), L, U), Strata::HandleError);
    EXPECT_THROW(empty.rows(), Strata::HandleError);
    EXPECT_THROW(empty.report(), Strata::HandleError);
    EXPECT_THROW(empty.options(), Strata::HandleError);
  };
  expect_empty(solver);
  solver = typename Fixture::Solver(Device(), L, U);
  EXPECT_EQ(Fixture::applied(solver), Fixture::applied(made.solver()));
  const auto moved = std::move(solver);
  expect_empty(solver);  // NOLINT: what is left is looked at
  EXPECT_EQ(Fixture::applied(moved), Fixture::applied(made.solver()));
}

// The factors of incomplete_lu from outside precondition as those inside do.
TEST(FactorSolverAsPreconditioner, TakesTheSameIterations) {
  const auto A =
      hermitian<double>("triangulated:25x19").to_device<Crs<double>>();
  const auto factors = Strata::incomplete_lu(Device(), A);
  const Strata::FactorSolver outside(Device(), factors.L, factors.U);
  const Strata::IncompleteFactorization inside(
      Device(), A, Strata::Factorization::incomplete_lu);
  const std::int64_t n = A.numRows();
  const Strata::SellMatrix<double, Device> product(Device(), A);
  const auto b = random_vector<double>(n);
  const auto compare = [&](auto solver) {
    const Vector<double> x("x", n), y("y", n);
    const auto of_outside = solver.solve(Device(), product, outside, b, x);
    const auto of_inside = solver.solve(Device(), product, inside, b, y);
    EXPECT_LE(of_outside.residual_norm, 3e-8 * of_outside.rhs_norm);
    EXPECT_EQ(of_outside.iterations, of_inside.iterations);
    EXPECT_GT(of_outside.iterations, 1);
    EXPECT_EQ(on_host(x), on_host(y));
  };
  compare(Strata::Gmres<double, Device>(Device(), n));
  compare(Strata::BiCgStab<double, Device>(Device(), n));
  compare(Strata::ConjugateGradient<double, Device>(Device(), n));
}

}  // namespace
