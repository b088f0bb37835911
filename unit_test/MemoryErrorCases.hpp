// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_MEMORY_ERROR_CASES_HPP
#define STRATA_TEST_MEMORY_ERROR_CASES_HPP

// Every call that allocates, without memory for its first allocation, without
// memory for its second, and so on. For one source file of a test. This has the
// triangular solvers and what all cases share.
#include <Strata_MemoryPool.hpp>
#include <Strata_Sptrsv.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>

#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {

/// One call under test, on objects of its own.
struct MemoryCase {
  std::function<void()> act;
  /// After an exception, and after success; both may be left out.
  std::function<void()> expect_old, expect_new;
};

/// Makes each allocation of `act` fail in turn.
/// @tparam Failing  see FailingAllocations
template <class Failing, class Space>
class MemoryErrors {
 public:
  ~MemoryErrors() {
    std::printf("%d calls, %d allocations made to fail, %d errors\n", calls_,
                failed_, errors_);
  }

  void expect(const std::string& name,
              const std::function<MemoryCase()>& make) {
    SCOPED_TRACE(name);
    // What Kokkos and its libraries keep for themselves is there after this.
    for (int turn = 0; turn < 2; ++turn) attempt(make, 0);
    const int failed_before = failed_, errors_before = errors_;
    for (int k = 1; !testing::Test::HasFailure(); ++k) {
      SCOPED_TRACE("allocation " + std::to_string(k));
      const std::int64_t before = live();
      const bool reached = attempt(make, k);
      EXPECT_EQ(live(), before) << Failing::unit << " are leaked";
      if (!reached) break;
      ++failed_;
      ASSERT_LT(k, 20000) << "without an end";
    }
    ++calls_;
    std::printf("%5d failed, %5d errors: %s\n", failed_ - failed_before,
                errors_ - errors_before, name.c_str());
  }

 private:
  static std::int64_t live() {
    release_memory_pool<Space>();
    Kokkos::fence();
    return Failing::live();
  }

  /// Whether there was a k-th allocation.
  bool attempt(const std::function<MemoryCase()>& make, int k) {
    const MemoryCase one = make();
    release_memory_pool<Space>();
    bool threw = false, reached = false;
    std::string other;
    if (k > 0) {
      Failing::arm(k);
      try {
        one.act();
      } catch (const MemoryError& error) {
        reached = Failing::disarm();
        threw = true;
        ++errors_;
        expect_told(error);
      } catch (const std::exception& error) {
        reached = Failing::disarm();
        threw = true;
        other = error.what();
        ADD_FAILURE() << "not a MemoryError: " << error.what();
      }
      if (!threw) reached = Failing::disarm();
      EXPECT_TRUE(reached || !threw);
      if (threw && one.expect_old) {
        SCOPED_TRACE("after the exception");
        one.expect_old();
      }
    }
    if (k == 0 || threw) one.act();
    SCOPED_TRACE(threw ? "after another try" : "after success");
    if (one.expect_new) one.expect_new();
    return reached;
  }

  static void expect_told(const MemoryError& error) {
    EXPECT_EQ(error.argument(), "memory");
    EXPECT_NE(error.problem().find("can't be allocated"), std::string::npos)
        << error.what();
    EXPECT_NE(error.remedy().find("release_memory_pool"), std::string::npos);
    if (error.needed() > 0) {
      EXPECT_EQ(error.problem().find(std::to_string(error.needed())), 0u)
          << error.what();
    }
    EXPECT_LE(error.free(), error.total());
  }

  int calls_ = 0, failed_ = 0, errors_ = 0;
};

/// Throws what memory that runs out throws from the k-th launch of a kernel on,
/// which names the kernel by a string. One at a time.
class FailingLaunches {
 public:
  explicit FailingLaunches(int k)
      : before_(Kokkos::Tools::Experimental::get_callbacks()) {
    left() = k;
    namespace Tools = Kokkos::Tools::Experimental;
    Tools::EventSet none{};
    Tools::set_callbacks(none);
    const auto fail = [](const char*, const uint32_t, uint64_t*) {
      if (--left() == 0) throw std::bad_alloc();
    };
    Tools::set_begin_parallel_for_callback(fail);
    Tools::set_begin_parallel_reduce_callback(fail);
    Tools::set_begin_parallel_scan_callback(fail);
  }
  ~FailingLaunches() { Kokkos::Tools::Experimental::set_callbacks(before_); }
  FailingLaunches(const FailingLaunches&) = delete;
  FailingLaunches& operator=(const FailingLaunches&) = delete;
  /// Whether there have been as many launches.
  static bool reached() { return left() <= 0; }

 private:
  static int& left() {
    static int launches = 0;
    return launches;
  }
  Kokkos::Tools::Experimental::EventSet before_;
};

/// Exceptions in every launch of an update, the last of which has the solver
/// without values if it packs over the old ones; what the update has seen until
/// then is forgotten.
template <class Cases>
void expect_exceptions_in_updates(const Cases& cases) {
  using Space = typename Cases::Space;
  // Values that are refused where they are looked at.
  auto zero = cases.A;
  for (const std::int64_t row : {cases.A.rows / 2, cases.A.rows - 1})
    zero.values[zero.row_map[row + 1] - 1] = 0;
  const auto refused = zero.template to_device<typename Cases::Matrix>();
  int refusals = 0, kept = 0, lost = 0;
  for (const bool good : {true, false})
    for (int k = 1;; ++k) {
      SCOPED_TRACE(std::string(good ? "good" : "refused") + " values, launch " +
                   std::to_string(k));
      auto solver = cases.make();
      const auto sharer = solver.share_plan(Space());
      bool threw = false, reached = false;
      {
        const FailingLaunches failing(k);
        try {
          solver.update_values(Space(), good ? cases.new_matrix : refused);
        } catch (const MemoryError&) {
          threw = true;
        } catch (const ZeroDiagonalError&) {
          EXPECT_FALSE(good);
          ++refusals;
        }
        reached = FailingLaunches::reached();
      }
      EXPECT_EQ(threw, reached);
      if (!threw) break;
      try {
        EXPECT_TRUE(same_bits(cases.solve(solver), cases.old_x));
        EXPECT_TRUE(same_bits(cases.solve(sharer), cases.old_x));
        ++kept;
      } catch (const HandleError&) {
        EXPECT_THROW(cases.solve(sharer), HandleError);
        ++lost;
      }
      solver.update_values(Space(), cases.new_matrix);
      EXPECT_TRUE(same_bits(cases.solve(solver), cases.new_x));
      solver.update_values(Space(), cases.old_matrix);
      EXPECT_TRUE(same_bits(cases.solve(solver), cases.old_x));
      if (testing::Test::HasFailure()) return;
    }
  EXPECT_EQ(refusals, 1);
  EXPECT_GT(kept, 0);
  // Merged rows of sync_free are made in another buffer.
  const auto report = cases.make().report();
  const bool swaps = report.algorithm == Algorithm::sync_free &&
                     report.merged_levels > 1 && !cases.options.enqueue_updates;
  if (swaps) {
    EXPECT_EQ(lost, 0);
  } else {
    EXPECT_GT(lost, 0);
  }
}

/// The same of updates that the host does not wait for: what a broken one has
/// seen does not reach the next, whether the host waits for that or not.
template <class Cases>
void expect_exceptions_in_enqueued_updates(const Cases& cases) {
  using Space = typename Cases::Space;
  auto zero = cases.A;
  zero.values[zero.row_map[cases.A.rows / 2 + 1] - 1] = 0;
  const auto bad = zero.template to_device<typename Cases::Matrix>();
  int broken = 0;
  for (const bool waits : {false, true})
    for (int k = 1;; ++k) {
      SCOPED_TRACE("launch " + std::to_string(k) +
                   (waits ? ", then a wait" : ""));
      auto solver = cases.make();
      bool threw = false;
      {
        const FailingLaunches failing(k);
        try {
          solver.enqueue_update_values(Space(), bad.values);
        } catch (const MemoryError&) {
          threw = true;
        }
        EXPECT_EQ(threw, FailingLaunches::reached());
      }
      if (!threw) break;
      ++broken;
      EXPECT_THROW(cases.solve(solver), HandleError);
      if (waits)
        solver.update_values(Space(), cases.new_matrix);
      else
        solver.enqueue_update_values(Space(), cases.new_matrix.values);
      EXPECT_TRUE(same_bits(cases.solve(solver), cases.new_x));
      solver.enqueue_update_values(Space(), cases.old_matrix.values);
      EXPECT_TRUE(same_bits(cases.solve(solver), cases.old_x));
      if (testing::Test::HasFailure()) return;
    }
  // A look and a decision, or both in one launch and the packing.
  EXPECT_GE(broken, 4);
}

template <class Scalar>
HostMatrix<Scalar> scaled(HostMatrix<Scalar> A, Scalar by) {
  for (auto& v : A.values) v *= by;
  return A;
}

/// A chain with a pivot so small that the rows after it can't be merged.
inline HostMatrix<double> chain_with_small_pivot(int n) {
  auto A = chain(n, 0.7);
  for (const int row : {n / 3, n / 2}) A.values[A.row_map[row + 1] - 1] = 1e-6;
  return A;
}

/// x of a solver's or handle's solve, unarmed.
template <class Scalar, class Space, class Solve>
std::vector<Scalar> solution(std::int64_t n, const Solve& solve) {
  const auto b = to_columns<Scalar, Space>(random_values<Scalar>(n, 3), n, 1);
  const auto x = to_columns<Scalar, Space>(std::vector<Scalar>(n), n, 1);
  solve(Kokkos::subview(b, Kokkos::ALL(), 0),
        Kokkos::subview(x, Kokkos::ALL(), 0));
  return to_vector(x);
}

/// A triangle with its solutions by one variant.
template <class Scalar, class ExecutionSpace>
struct SolverCases {
  using Space = ExecutionSpace;
  using Solver = TriangularSolver<Scalar, Space>;
  using Matrix = SolverMatrix<Scalar, Space>;

  HostMatrix<Scalar> A;
  TriangularOptions options;
  Matrix old_matrix, new_matrix;
  std::vector<Scalar> old_x, new_x;

  SolverCases(const HostMatrix<Scalar>& matrix, const TriangularOptions& given)
      : A(matrix),
        options(given),
        old_matrix(A.template to_device<Matrix>()),
        new_matrix(scaled(A, Scalar(3)).template to_device<Matrix>()) {
    auto solver = make();
    expect_solver(solver, HostSystem<Scalar>{A, Uplo::lower, Diag::non_unit});
    old_x = solve(solver);
    solver.update_values(Space(), new_matrix);
    new_x = solve(solver);
  }
  Solver make() const {
    return Solver(Space(), old_matrix, Uplo::lower, Diag::non_unit, options);
  }
  std::vector<Scalar> solve(const Solver& solver) const {
    return solution<Scalar, Space>(A.rows, [&](const auto& b, const auto& x) {
      solver.solve(Space(), b, x);
    });
  }

  MemoryCase constructor() const {
    const auto made = std::make_shared<std::optional<Solver>>();
    return {[=, this_ = this] { made->emplace(this_->make()); },
            {},
            [=, this_ = this] {
              EXPECT_TRUE(same_bits(this_->solve(**made), this_->old_x));
            }};
  }
  MemoryCase update() const {
    const auto solver = std::make_shared<Solver>(make());
    const auto expect = [=, this_ = this](const std::vector<Scalar>& x) {
      EXPECT_TRUE(same_bits(this_->solve(*solver), x));
    };
    return {[=, this_ = this] {
              solver->update_values(Space(), this_->new_matrix);
            },
            [=, this_ = this] { expect(this_->old_x); },
            [=, this_ = this] {
              expect(this_->new_x);
              // And there and back.
              solver->update_values(Space(), this_->old_matrix);
              expect(this_->old_x);
            }};
  }
  MemoryCase share() const {
    const auto solver = std::make_shared<Solver>(make());
    const auto sharer = std::make_shared<Solver>();
    return {[=] { *sharer = solver->share_plan(Space()); },
            [=, this_ = this] {
              EXPECT_TRUE(same_bits(this_->solve(*solver), this_->old_x));
            },
            [=, this_ = this] {
              EXPECT_TRUE(same_bits(this_->solve(*sharer), this_->old_x));
              EXPECT_TRUE(same_bits(this_->solve(*solver), this_->old_x));
            }};
  }
  /// For all who share the plan, or none.
  MemoryCase shared_pattern() const {
    const auto solver = std::make_shared<Solver>(make());
    const auto sharer = std::make_shared<Solver>(solver->share_plan(Space()));
    const auto expect = [=, this_ = this](const std::vector<Scalar>& x) {
      EXPECT_TRUE(same_bits(this_->solve(*sharer), x));
      EXPECT_TRUE(same_bits(this_->solve(*solver), x));
    };
    return {[=, this_ = this] {
              sharer->update_pattern(Space(), this_->new_matrix);
            },
            [=, this_ = this] { expect(this_->old_x); },
            [=, this_ = this] { expect(this_->new_x); }};
  }
};

template <class Failing, class Space, class Scalar>
void expect_memory_errors_of_solvers(const HostMatrix<Scalar>& A,
                                     const std::vector<Variant>& tried,
                                     const std::string& name,
                                     MemoryErrors<Failing, Space>& errors) {
  for (const auto& variant : tried) {
    const SolverCases<Scalar, Space> cases(A, variant.options);
    errors.expect(name + ", analysis, " + variant.name,
                  [&] { return cases.constructor(); });
    errors.expect(name + ", update, " + variant.name,
                  [&] { return cases.update(); });
    errors.expect(name + ", share_plan, " + variant.name,
                  [&] { return cases.share(); });
    if (testing::Test::HasFailure()) return;
  }
}

template <class Failing, class Space>
void expect_memory_errors_of_handles(MemoryErrors<Failing, Space>& errors) {
  using Matrix = SolverMatrix<double, Space>;
  using Handle =
      Experimental::KokkosKernelsHandle<int, int, double, Space,
                                        typename Space::memory_space,
                                        typename Space::memory_space>;
  const auto A =
      make_triangle<double>(random_pattern(90, 3.0, 40, 5), Uplo::lower);
  const auto old_matrix = A.template to_device<Matrix>();
  const auto new_matrix = scaled(A, 3.).template to_device<Matrix>();
  const auto symbolic = [](Handle& handle, const Matrix& matrix) {
    sptrsv_symbolic(Space(), &handle, matrix.graph.row_map,
                    matrix.graph.entries);
  };
  const auto make = [&](const Algorithm algorithm) {
    auto handle = std::make_shared<Handle>();
    handle->create_sptrsv_handle(algorithm, 90, true);
    return handle;
  };
  const auto solve = [](Handle& handle, const Matrix& matrix) {
    return solution<double, Space>(90, [&](const auto& b, const auto& x) {
      sptrsv_solve(Space(), &handle, matrix.graph.row_map, matrix.graph.entries,
                   matrix.values, b, x);
    });
  };
  for (const auto algorithm : {Algorithm::automatic, Algorithm::sync_free}) {
    const auto reference = make(algorithm);
    symbolic(*reference, old_matrix);
    const auto old_x = solve(*reference, old_matrix);
    const auto new_x = solve(*reference, new_matrix);
    errors.expect(std::string("sptrsv_symbolic, ") + to_string(algorithm), [&] {
      const auto handle = make(algorithm);
      symbolic(*handle, old_matrix);
      return MemoryCase{
          [=] { symbolic(*handle, old_matrix); },
          // Where the analysis has failed there is none.
          [=] {
            if (handle->get_sptrsv_handle()->is_symbolic_complete()) {
              EXPECT_TRUE(same_bits(solve(*handle, old_matrix), old_x));
            } else {
              EXPECT_THROW(solve(*handle, old_matrix), HandleError);
            }
          },
          [=] { EXPECT_TRUE(same_bits(solve(*handle, old_matrix), old_x)); }};
    });
    errors.expect(std::string("sptrsv_solve, ") + to_string(algorithm), [&] {
      const auto handle = make(algorithm);
      symbolic(*handle, old_matrix);
      const auto b =
          to_columns<double, Space>(random_values<double>(90, 3), 90, 1);
      const auto x =
          to_columns<double, Space>(std::vector<double>(90, 7.), 90, 1);
      return MemoryCase{
          [=] {
            sptrsv_solve(Space(), handle.get(), new_matrix.graph.row_map,
                         new_matrix.graph.entries, new_matrix.values,
                         Kokkos::subview(b, Kokkos::ALL(), 0),
                         Kokkos::subview(x, Kokkos::ALL(), 0));
          },
          [=] { EXPECT_TRUE(same_bits(solve(*handle, old_matrix), old_x)); },
          [=] { EXPECT_TRUE(same_bits(to_vector(x), new_x)); }};
    });
  }
}

}  // namespace SolverTest
}  // namespace Strata

#endif
