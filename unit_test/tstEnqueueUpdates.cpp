// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// New values that the host does not wait for: good ones, bad ones, and such as
// the chosen plan can't take, one after the other.
#include <Strata_MemoryPool.hpp>
#include <core/scalar/RealPart.hpp>
#include <functional>

#include "KokkosEvents.hpp"
#include "Pairwise.hpp"
#include "RowwiseAccuracy.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;

template <class Scalar>
using Solver = TriangularSolver<Scalar, Space>;
template <class Scalar>
using Values = Kokkos::View<Scalar*, Memory>;

template <class Scalar>
Values<Scalar> to_values(const std::vector<Scalar>& from) {
  Values<Scalar> to("values", from.size());
  const auto host = Kokkos::create_mirror_view(to);
  std::copy(from.begin(), from.end(), host.data());
  Kokkos::deep_copy(to, host);
  return to;
}

template <class Scalar>
UpdateStatus status_of(const Solver<Scalar>& solver) {
  Kokkos::fence();
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                             solver.update_status())();
}

template <class Scalar>
void expect_all_nan(const std::vector<Scalar>& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_TRUE(std::isnan(Detail::RealPart<Scalar>::real(x[i])))
        << "element " << i;
    if (ScalarParts<Scalar>::is_complex) {
      ASSERT_TRUE(std::isnan(Detail::RealPart<Scalar>::imaginary(x[i])))
          << "element " << i;
    }
  }
}

/// Whether a plan stands beside the chosen one.
bool has_other_plan(const TriangularReport& report) {
  return report.merged_levels > 1;
}

/// A solver that takes the values of one matrix after the other.
template <class Scalar>
class UpdatedSolver {
 public:
  using Host = HostMatrix<Scalar>;

  UpdatedSolver(const Host& A, const Operation& operation,
                TriangularOptions options, int columns)
      : operation_(operation), columns_(columns) {
    options.op = operation.op;
    options.enqueue_updates = true;
    solver_ = Solver<Scalar>(
        Space(), A.template to_device<SolverMatrix<Scalar, Space>>(),
        operation.uplo, operation.diag, options);
  }
  Solver<Scalar>& solver() { return solver_; }

  void enqueue(const Host& A) {
    solver_.enqueue_update_values(Space(), to_kept(A.values));
  }
  /// Of values of which something else has found that they are bad.
  void enqueue(const Host& A, const UpdateStatus& outside) {
    const Kokkos::View<UpdateStatus, Memory> status("outside");
    Kokkos::deep_copy(status, outside);
    const auto values = to_kept(A.values);
    Detail::Internals::enqueue_update(
        solver_, Space(), static_cast<const Scalar*>(values.data()),
        std::size_t(values.extent(0)),
        static_cast<const UpdateStatus*>(status.data()));
    Kokkos::fence();
  }
  std::vector<Scalar> solve(const std::vector<Scalar>& b) const {
    return SolverTest::solve(solver_, b, columns_);
  }

  /// Solutions are those of these values, small residuals in every row.
  void expect_good(const Host& A, const std::vector<Scalar>& b,
                   bool unmerged = false) {
    const UpdateStatus status = status_of(solver_);
    EXPECT_EQ(status.fault, UpdateFault::none) << to_string(status.fault);
    EXPECT_EQ(status.row, -1);
    EXPECT_EQ(status.unmerged, unmerged ? 1 : 0) << to_string(solver_.report());
    const HostSystem<Scalar> system{A, operation_.uplo, operation_.diag,
                                    operation_.op};
    const auto x = solve(b);
    for (int c = 0; c < columns_; ++c)
      system.expect_solution(b.data() + c * A.rows, x.data() + c * A.rows);
    EXPECT_TRUE(same_bits(x, solve(b)));
  }
  void expect_bad(const std::vector<Scalar>& b, UpdateFault fault,
                  std::int64_t row) {
    const UpdateStatus status = status_of(solver_);
    EXPECT_EQ(status.fault, fault) << to_string(status.fault);
    EXPECT_EQ(status.row, row);
    for (int repeat = 0; repeat < 2; ++repeat) expect_all_nan(solve(b));
  }

 private:
  Values<Scalar> to_kept(const std::vector<Scalar>& values) {
    Kokkos::fence();
    return kept_ = to_values(values);
  }
  Operation operation_;
  int columns_;
  Solver<Scalar> solver_;
  Values<Scalar> kept_;
};

/// The number of entries of a row's diagonal is 1: its value becomes `value`.
template <class Scalar>
HostMatrix<Scalar> with_diagonal(HostMatrix<Scalar> A, std::int64_t row,
                                 const Scalar& value) {
  A.at(row, row) = value;
  return A;
}

/// A diagonal value whose reciprocal is no normal number, and a factor for the
/// right-hand side that makes up for it.
template <class Scalar>
struct HugeDiagonal {
  static constexpr bool is_single =
      sizeof(Detail::RealOf<Scalar>) == sizeof(float);
  static Scalar value() {
    return Scalar(is_single ? Detail::RealOf<Scalar>(0x1.8p127f)
                            : Detail::RealOf<Scalar>(0x1.8p+1023));
  }
  static Scalar factor() {
    return Scalar(is_single ? Detail::RealOf<Scalar>(0x1p120f)
                            : Detail::RealOf<Scalar>(0x1p+1010));
  }
};

template <class Scalar>
void expect_good_bad_good(const Pattern& pattern, const Operation& operation,
                          const Variant& variant, int columns) {
  SCOPED_TRACE(pattern.name + ", " + operation.name() + ", " + variant.name +
               ", " + std::to_string(columns) + " right-hand sides");
  const auto matrix = [&](unsigned seed) {
    return make_triangle<Scalar>(pattern, operation.uplo, operation.stored,
                                 seed);
  };
  const auto first = matrix(1), second = matrix(2);
  const std::int64_t n = first.rows;
  const auto b = random_values<Scalar>(n * columns, 3);
  UpdatedSolver<Scalar> updated(first, operation, variant.options, columns);
  updated.expect_good(first, b);
  const auto x_of_first = updated.solve(b);
  updated.enqueue(second);
  updated.expect_good(second, b);
  const auto x_of_second = updated.solve(b);

  if (operation.diag == Diag::non_unit) {
    const std::int64_t row = n / 3;
    auto bad = with_diagonal(second, row, Scalar(0));
    bad.at(n - 1, n - 1) = Scalar(0);
    updated.enqueue(bad);
    updated.expect_bad(b, UpdateFault::zero_diagonal, row);
    updated.enqueue(second);
    EXPECT_TRUE(same_bits(updated.solve(b), x_of_second));
    updated.enqueue(bad);
    EXPECT_THROW(
        updated.solver().update_values(
            Space(), bad.template to_device<SolverMatrix<Scalar, Space>>()),
        ZeroDiagonalError);
    expect_all_nan(updated.solve(b));

    // Values that only a division can take.
    using Huge = HugeDiagonal<Scalar>;
    const auto divided = with_diagonal(first, row, Huge::value());
    auto scaled_b = b;
    for (int c = 0; c < columns; ++c) scaled_b[c * n + row] *= Huge::factor();
    updated.enqueue(divided);
    updated.expect_good(divided, scaled_b,
                        has_other_plan(updated.solver().report()));
  }
  updated.enqueue(first, {UpdateFault::zero_pivot, 0, 5});
  updated.expect_bad(b, UpdateFault::zero_pivot, 5);
  updated.enqueue(first, {UpdateFault::none, 0, -1});
  updated.expect_good(first, b);
  EXPECT_TRUE(same_bits(updated.solve(b), x_of_first));

  // Those that the host waits for do the same.
  updated.solver().update_values(
      Space(), second.template to_device<SolverMatrix<Scalar, Space>>());
  Kokkos::fence();
  updated.expect_good(second, b);
  EXPECT_TRUE(same_bits(updated.solve(b), x_of_second));
}

TEST(EnqueueUpdates, TakeGoodValuesAfterBadOnes) {
  using Case = void (*)(const Pattern&, const Operation&, const Variant&, int);
  const Case of_scalar[] = {&expect_good_bad_good<double>,
                            &expect_good_bad_good<float>,
                            &expect_good_bad_good<Kokkos::complex<double>>,
                            &expect_good_bad_good<Kokkos::complex<float>>};
  const std::vector<Pattern> patterns{
      random_pattern(150, 3.0, 60, 5), block_pattern(3, 30, 0.5),
      wave_pattern({1, 70, 2, 1, 65, 7, 60, 1, 1, 12}), diagonal_pattern(50),
      dense_row_pattern(100)};
  const auto all = operations();
  const auto how = variants();
  const int columns[] = {1, 3, 9};
  for (const auto& chosen :
       pairwise_cases({int(patterns.size()), int(all.size()), int(how.size()),
                       int(std::size(columns)), int(std::size(of_scalar))})) {
    of_scalar[chosen[4]](patterns[chosen[0]], all[chosen[1]], how[chosen[2]],
                         columns[chosen[3]]);
    if (HasFailure()) return;
  }
}

TriangularOptions merging(int levels) {
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free;
  options.merged_levels = levels;
  options.enqueue_updates = true;
  return options;
}
constexpr Operation lower_triangle{Uplo::lower, Diag::non_unit, Op::none,
                                   StoredDiagonal::value};

/// One small pivot breaks the contract of merged rows, or comes near: then
/// rows are looked at one by one.
template <class Scalar>
void expect_contract_of_enqueued_values() {
  constexpr int n = 300;
  const auto pattern = chain_pattern(n);
  auto good = make_triangle<Scalar>(pattern, Uplo::lower);
  for (std::int64_t i = 0; i < n; ++i) {
    good.at(i, i) = Scalar(1);
    if (i > 0) good.at(i, i - 1) = Scalar(0.7f);
  }
  constexpr bool is_single = sizeof(Detail::RealOf<Scalar>) == sizeof(float);
  int merged = 0, unmerged = 0;
  UpdatedSolver<Scalar> updated(good, lower_triangle, merging(4), 1);
  ASSERT_EQ(updated.solver().report().merged_levels, 4);
  const auto b_of_good = multiplied(good, random_values<Scalar>(n, 5));
  const auto x_of_good = updated.solve(b_of_good);
  for (const double pivot : {0.5, 0.1, 0.02, 1e-3, is_single ? 1e-6 : 1e-14})
    for (int at = 100; at < 104; ++at) {
      SCOPED_TRACE("pivot " + std::to_string(pivot) + " in row " +
                   std::to_string(at));
      const auto A = with_diagonal(good, at, Scalar(float(pivot)));
      const auto b = multiplied(A, random_values<Scalar>(n, 6));
      // Whether those that the host waits for are taken.
      bool taken = true;
      Solver<Scalar> other = make_solver(good, merging(4));
      try {
        other.update_values(
            Space(), A.template to_device<SolverMatrix<Scalar, Space>>());
      } catch (const ScalingError&) {
        taken = false;
      }
      updated.enqueue(A);
      const UpdateStatus status = status_of(updated.solver());
      EXPECT_EQ(status.fault, UpdateFault::none);
      EXPECT_EQ(status.unmerged, taken ? 0 : 1);
      const auto x = updated.solve(b);
      EXPECT_LE(rowwise_error(A, b, x), taken ? 100 : 6);
      if (taken) {
        EXPECT_TRUE(same_bits(x, solve(other, b)));
      }
      ++(taken ? merged : unmerged);
      updated.enqueue(good);
      EXPECT_TRUE(same_bits(updated.solve(b_of_good), x_of_good));
      EXPECT_EQ(status_of(updated.solver()).unmerged, 0);
    }
  EXPECT_GT(merged, 0);
  EXPECT_GT(unmerged, 0);
}

TEST(EnqueueUpdates, KeepTheContractOfAccuracy) {
  expect_contract_of_enqueued_values<double>();
  expect_contract_of_enqueued_values<Kokkos::complex<float>>();
}

/// Entries over their diagonal leave the range of normal numbers.
TEST(EnqueueUpdates, TakeEntriesFarFromTheirDiagonal) {
  const auto good =
      make_triangle<double>(random_pattern(200, 4.0, 60, 5), Uplo::lower);
  auto far_apart = good;
  const auto k = far_apart.row_map[120];
  ASSERT_LT(far_apart.entries[k], 120);
  far_apart.values[k] = 1e-300;
  far_apart.at(120, 120) = 1e10;
  const auto b = random_values<double>(200, 3);
  for (const auto& variant : variants()) {
    SCOPED_TRACE(variant.name);
    UpdatedSolver<double> updated(good, lower_triangle, variant.options, 1);
    updated.enqueue(far_apart);
    const bool unmerged = status_of(updated.solver()).unmerged > 0;
    EXPECT_TRUE(!unmerged || has_other_plan(updated.solver().report()));
    updated.expect_good(far_apart, b, unmerged);
    updated.enqueue(good);
    updated.expect_good(good, b);
  }
}

/// NaN and Inf in the matrix are solved with as ever, and nothing stays of
/// them.
TEST(EnqueueUpdates, TakeNumbersThatAreNotFinite) {
  const auto good =
      make_triangle<double>(random_pattern(200, 4.0, 60, 5), Uplo::lower);
  const auto b = random_values<double>(200, 3);
  for (const auto& variant : variants())
    for (const double number : {std::nan(""), HUGE_VAL})
      for (const bool on_diagonal : {false, true}) {
        SCOPED_TRACE(variant.name);
        UpdatedSolver<double> updated(good, lower_triangle, variant.options, 1);
        auto odd = good;
        (on_diagonal ? odd.at(120, 120) : odd.values[odd.row_map[120]]) =
            number;
        updated.enqueue(odd);
        EXPECT_EQ(status_of(updated.solver()).fault, UpdateFault::none);
        const auto x = updated.solve(b);
        for (int i = 0; i < 119; ++i) ASSERT_TRUE(std::isfinite(x[i])) << i;
        if (std::isnan(number)) {
          EXPECT_TRUE(std::isnan(x[120]));
        }
        updated.enqueue(good);
        updated.expect_good(good, b);
        if (HasFailure()) return;
      }
}

/// Rows of many teams: the one that decides is not the one that has found the
/// fault, and all of them leave no old value. In blocks, no row passes a NaN on
/// to rows of other teams.
TEST(EnqueueUpdates, SeeFaultsOfManyTeams) {
  for (const auto& pattern :
       {random_pattern(5000, 3.0, 60, 5), block_pattern(1000, 5, 0.5)}) {
    const auto good = make_triangle<double>(pattern, Uplo::lower);
    const std::int64_t n = good.rows;
    ASSERT_EQ(n, 5000);
    auto bad = with_diagonal(good, 4900, 0.);
    bad = with_diagonal(bad, 4200, 0.);
    const auto divided = with_diagonal(good, 4800, 0x1.8p+1023);
    const auto b = random_values<double>(n, 3);
    for (const auto& variant : variants()) {
      SCOPED_TRACE(pattern.name + ", " + variant.name);
      UpdatedSolver<double> updated(good, lower_triangle, variant.options, 1);
      for (int round = 0; round < 3; ++round) {
        updated.enqueue(bad);
        updated.expect_bad(b, UpdateFault::zero_diagonal, 4200);
        updated.enqueue(round == 1 ? divided : good);
        updated.expect_good(
            round == 1 ? divided : good, b,
            round == 1 && has_other_plan(updated.solver().report()));
      }
      if (HasFailure()) return;
    }
  }
}

/// Runs of values for which the host does not wait in between.
TEST(EnqueueUpdates, FollowEachOtherWithoutAWait) {
  const auto good =
      make_triangle<double>(random_pattern(300, 4.0, 60, 5), Uplo::lower);
  const std::int64_t n = good.rows;
  const auto bad = with_diagonal(good, 7, 0.);
  const auto divided = with_diagonal(good, 7, 0x1.8p+1023);
  const Values<double> of_good = to_values(good.values),
                       of_bad = to_values(bad.values),
                       of_divided = to_values(divided.values);
  const auto b = to_columns<double, Space>(random_values<double>(n, 3), n, 1);
  for (const auto& variant : variants()) {
    SCOPED_TRACE(variant.name);
    UpdatedSolver<double> updated(good, lower_triangle, variant.options, 1);
    auto& solver = updated.solver();
    const auto x = to_columns<double, Space>(std::vector<double>(n * 7), n, 7);
    const Space exec;
    int column = 0;
    const auto step = [&](const Values<double>& values) {
      solver.enqueue_update_values(exec, values);
      solver.solve(exec, Kokkos::subview(b, Kokkos::ALL(), 0),
                   Kokkos::subview(x, Kokkos::ALL(), column++));
    };
    for (const auto& values :
         {of_good, of_bad, of_divided, of_good, of_bad, of_good, of_divided})
      step(values);
    const auto all = to_vector(x);
    const auto solution = [&](int c) {
      return std::vector<double>(all.begin() + c * n,
                                 all.begin() + (c + 1) * n);
    };
    expect_all_nan(solution(1));
    expect_all_nan(solution(4));
    EXPECT_TRUE(same_bits(solution(0), solution(3)));
    EXPECT_TRUE(same_bits(solution(0), solution(5)));
    EXPECT_TRUE(same_bits(solution(2), solution(6)));
    EXPECT_FALSE(same_bits(solution(0), solution(2)));
    // In place, too.
    for (const auto& values : {of_good, of_divided}) {
      const auto y =
          to_columns<double, Space>(random_values<double>(n, 3), n, 1);
      const auto column_of_y = Kokkos::subview(y, Kokkos::ALL(), 0);
      solver.enqueue_update_values(exec, values);
      solver.solve(exec, column_of_y, column_of_y);
      EXPECT_TRUE(same_bits(to_vector(y),
                            solution(values.data() == of_good.data() ? 0 : 2)));
    }
    if (HasFailure()) return;
  }
}

TEST(EnqueueUpdates, NeitherWaitNorAllocateNorCopy) {
  const auto all = operations();
  std::size_t next = 0;
  for (const auto& pattern :
       {random_pattern(600, 4.0, 600, 2), random_pattern(400, 3.0, 4, 3),
        diagonal_pattern(50)})
    for (const auto& variant : variants()) {
      const auto& operation = all[next++ % all.size()];
      SCOPED_TRACE(pattern.name + ", " + operation.name() + ", " +
                   variant.name);
      const auto A =
          make_triangle<double>(pattern, operation.uplo, operation.stored);
      const auto matrix = A.to_device<SolverMatrix<double, Space>>();
      auto options = variant.options;
      options.op = operation.op;
      options.enqueue_updates = true;
      const Space exec;
      Solver<double> solver(exec, matrix, operation.uplo, operation.diag,
                            options);
      // Whatever those that the host waits for hold in between is theirs.
      if (next % 2 == 0) solver.update_values(exec, matrix);
      const KokkosEvents events(Memory::name());
      for (int repeat = 0; repeat < 2; ++repeat) {
        solver.enqueue_update_values(exec, matrix.values);
        solver.enqueue_update_values(exec, matrix);
        const auto found = events.so_far();
        EXPECT_EQ(found.fences, 0) << found.last;
        EXPECT_EQ(found.allocations, 0) << found.last;
        EXPECT_EQ(found.copies, 0) << found.last;
      }
      if (HasFailure()) return;
    }
}

/// What small systems wait for.
TEST(EnqueueUpdates, OfMergedRowsTakeFewLaunches) {
  const auto A =
      make_triangle<double>(random_pattern(600, 4.0, 600, 2), Uplo::lower);
  const auto matrix = A.to_device<SolverMatrix<double, Space>>();
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free;
  options.merged_levels = 3;
  options.enqueue_updates = true;
  const Space exec;
  Solver<double> solver(exec, matrix, Uplo::lower, Diag::non_unit, options);
  ASSERT_EQ(solver.report().merged_levels, 3);
  const KokkosEvents events(Memory::name(), true);
  solver.enqueue_update_values(exec, matrix.values);
  const int publishing = Detail::is_gpu<Space> && STRATA_ENABLE_CUDA_NATIVE;
  EXPECT_EQ(events.so_far().launches, 2 + publishing) << events.so_far().last;
}

TEST(EnqueueUpdates, AreRefusedBeforeAnythingIsEnqueued) {
  const auto A =
      make_triangle<double>(random_pattern(100, 4.0, 60, 5), Uplo::lower);
  const auto matrix = A.to_device<SolverMatrix<double, Space>>();
  Solver<double> empty;
  EXPECT_THROW(empty.enqueue_update_values(Space(), matrix), HandleError);
  EXPECT_THROW(empty.enqueue_update_values(Space(), matrix.values),
               HandleError);
  EXPECT_THROW(empty.update_status(), HandleError);
  auto without = make_solver(A, {});
  EXPECT_THROW(without.enqueue_update_values(Space(), matrix), OptionError);
  EXPECT_THROW(without.enqueue_update_values(Space(), matrix.values),
               OptionError);
  EXPECT_THROW(without.update_status(), OptionError);

  UpdatedSolver<double> updated(A, lower_triangle, {}, 1);
  auto& solver = updated.solver();
  const auto b = random_values<double>(100, 3);
  const auto x = updated.solve(b);
  const Values<double> short_by_one("values", A.values.size() - 1);
  EXPECT_THROW(solver.enqueue_update_values(Space(), short_by_one),
               SizeMismatchError);
  const auto other =
      make_triangle<double>(random_pattern(90, 4.0, 60, 5), Uplo::lower)
          .to_device<SolverMatrix<double, Space>>();
  EXPECT_THROW(solver.enqueue_update_values(Space(), other),
               PatternMismatchError);
  EXPECT_TRUE(same_bits(updated.solve(b), x));
}

TEST(EnqueueUpdates, MemoryIsReported) {
  const auto A =
      make_triangle<double>(random_pattern(2000, 4.0, 60, 5), Uplo::lower);
  const auto bytes = [&](TriangularOptions options) {
    const auto solver = make_solver(A, options);
    return solver.report().plan_bytes;
  };
  for (const auto& variant : variants()) {
    SCOPED_TRACE(variant.name);
    auto options = variant.options;
    const auto report = make_solver(A, options).report();
    options.enqueue_updates = true;
    const std::size_t apart = report.plan_bytes;
    const std::size_t with_updates = bytes(options);
    if (has_other_plan(report)) {
      auto other = options;
      other.algorithm = Algorithm::sync_free;
      other.merged_levels = 1;
      other.enqueue_updates = false;
      EXPECT_GE(with_updates, apart + bytes(other));
    } else {
      EXPECT_GT(with_updates, apart);
      EXPECT_LE(with_updates, apart + 128);
    }
    // It is what is held.
    Kokkos::fence();
    release_memory_pool<Space>();
    const KokkosEvents events(Memory::name());
    const auto solver = make_solver(A, options);
    release_memory_pool<Space>();
    EXPECT_LE(events.so_far().bytes, std::int64_t(1.1 * with_updates + 5000));
    EXPECT_GE(events.so_far().bytes, std::int64_t(0.9 * with_updates - 5000));
  }
}

/// With less memory than both plans take, another choice is made, or the plan
/// asked for is refused.
TEST(EnqueueUpdates, KeepTheLimitOnMemory) {
  const auto A =
      make_triangle<double>(random_pattern(2000, 4.0, 60, 5), Uplo::lower);
  auto options = merging(3);
  const auto needed = make_solver(A, options).report().plan_bytes;
  options.max_plan_bytes = needed;
  EXPECT_EQ(make_solver(A, options).report().plan_bytes, needed);
  options.max_plan_bytes = needed - 1;
  EXPECT_THROW(make_solver(A, options), PlanMemoryError);
  options.algorithm = Algorithm::automatic;
  EXPECT_LT(make_solver(A, options).report().plan_bytes, needed);
}

TEST(EnqueueUpdates, SurviveAPatternUpdate) {
  const auto A =
      make_triangle<double>(random_pattern(200, 4.0, 60, 5), Uplo::lower);
  const auto B =
      make_triangle<double>(random_pattern(200, 4.0, 60, 6), Uplo::lower);
  const auto b = random_values<double>(200, 3);
  for (const auto& variant : variants()) {
    SCOPED_TRACE(variant.name);
    UpdatedSolver<double> updated(A, lower_triangle, variant.options, 1);
    updated.solver().update_pattern(Space(),
                                    B.to_device<SolverMatrix<double, Space>>());
    updated.expect_good(B, b);
    updated.enqueue(with_diagonal(B, 11, 0.));
    updated.expect_bad(b, UpdateFault::zero_diagonal, 11);
    updated.enqueue(B);
    updated.expect_good(B, b);
  }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
