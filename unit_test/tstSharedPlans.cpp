// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solvers that share a plan, with a workspace each; on several instances at the
// same time in tstConcurrentSolves.
#include <Strata_FactorSolver.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_MemoryPool.hpp>
#include <map>
#include <optional>

#include "Pairwise.hpp"
#include "RowByRow.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
template <class Scalar>
using Solver = TriangularSolver<Scalar, Space>;
template <class Scalar>
using Matrix = SolverMatrix<Scalar, Space>;

template <class Scalar>
Solver<Scalar> make(const HostMatrix<Scalar>& A, const TriangularOptions& how,
                    Uplo uplo = Uplo::lower) {
  return {Space(), A.template to_device<Matrix<Scalar>>(), uplo, Diag::non_unit,
          how};
}

/// Those of the library: a test registers others.
const std::vector<Variant> all_variants = variants();

/// Solves in turn, twice each, so that a workspace both had in common would be
/// met by either in all of its states.
template <class Scalar>
void expect_bits_of_lone_solves(const Pattern& pattern, Uplo uplo, Op op,
                                const Variant& variant) {
  SCOPED_TRACE(pattern.name + ", " + to_string(uplo) + ", " + to_string(op) +
               ", " + variant.name);
  auto options = variant.options;
  options.op = op;
  const auto A = make_triangle<Scalar>(pattern, uplo);
  std::optional<Solver<Scalar>> solver(make(A, options, uplo));
  std::optional<Solver<Scalar>> sharer(solver->share_plan(Space()));
  const auto another = sharer->share_plan(Space());
  for (const std::int64_t k : {1, 9}) {
    const auto b = random_values<Scalar>(A.rows * k, 17);
    const auto x = solve(*solver, b, k);
    for (std::int64_t c = 0; c < k; ++c)
      HostSystem<Scalar>{A, uplo, Diag::non_unit, op}.expect_solution(
          b.data() + c * A.rows, x.data() + c * A.rows);
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_TRUE(same_bits(solve(*sharer, b, k), x)) << k << " columns";
      EXPECT_TRUE(same_bits(solve(another, b, k), x)) << k << " columns";
      EXPECT_TRUE(same_bits(solve(*solver, b, k), x)) << k << " columns";
    }
  }
  // The plan lasts as long as one of them.
  const auto b = random_values<Scalar>(A.rows, 3);
  const auto x = solve(*solver, b);
  solver.reset();
  EXPECT_TRUE(same_bits(solve(*sharer, b), x));
  sharer.reset();
  release_memory_pool<Space>();
  EXPECT_TRUE(same_bits(solve(another, b), x));
}

TEST(SharedPlans, GiveTheBitsOfLoneSolves) {
  const std::vector<Pattern> patterns{random_pattern(150, 3.0, 60, 5),
                                      wave_pattern({90, 1, 70, 1, 1, 40, 2})};
  const std::vector<Op> ops{Op::none, Op::transpose, Op::conjugate_transpose};
  const auto run = [&](const std::vector<int>& one, auto scalar) {
    expect_bits_of_lone_solves<decltype(scalar)>(
        patterns[one[1]], one[2] == 0 ? Uplo::lower : Uplo::upper, ops[one[3]],
        all_variants[one[4]]);
  };
  for (const auto& one :
       pairwise_cases({4, int(patterns.size()), 2, int(ops.size()),
                       int(all_variants.size())})) {
    switch (one[0]) {
      case 0:
        run(one, float());
        break;
      case 1:
        run(one, double());
        break;
      case 2:
        run(one, Kokkos::complex<float>());
        break;
      default:
        run(one, Kokkos::complex<double>());
    }
    if (HasFailure()) return;
  }
}

/// The arrays of a memory space that were allocated in the lifetime of this and
/// are not freed. One at a time.
class LiveArrays {
 public:
  /// By address, in bytes.
  using Arrays = std::map<const char*, std::size_t>;

  LiveArrays() : before_(Kokkos::Tools::Experimental::get_callbacks()) {
    arrays().clear();
    namespace Tools = Kokkos::Tools::Experimental;
    Tools::EventSet none{};
    Tools::set_callbacks(none);
    Tools::set_allocate_data_callback(
        [](const Kokkos_Profiling_SpaceHandle where, const char*,
           const void* at, const uint64_t size) {
          // Kokkos tells of the numbers alone, which follow a header; where
          // there are none, of that.
          constexpr std::size_t header = 128;
          if (std::string(where.name) == Memory::name() && size != header)
            arrays()[static_cast<const char*>(at)] = size + header;
        });
    Tools::set_deallocate_data_callback(
        [](const Kokkos_Profiling_SpaceHandle where, const char*,
           const void* at, const uint64_t) {
          if (std::string(where.name) == Memory::name())
            arrays().erase(static_cast<const char*>(at));
        });
  }
  ~LiveArrays() { Kokkos::Tools::Experimental::set_callbacks(before_); }
  LiveArrays(const LiveArrays&) = delete;
  LiveArrays& operator=(const LiveArrays&) = delete;

  static Arrays now() { return arrays(); }
  static std::size_t bytes(const Arrays& of) {
    std::size_t sum = 0;
    for (const auto& one : of) sum += one.second;
    return sum;
  }
  /// What is in them.
  static std::vector<char> contents(const Arrays& of) {
    Kokkos::fence();
    std::vector<char> all(bytes(of));
    char* to = all.data();
    for (const auto& [at, size] : of) {
      Kokkos::deep_copy(
          Kokkos::View<char*, Kokkos::HostSpace,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>(to, size),
          Kokkos::View<const char*, Memory,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>(at, size));
      to += size;
    }
    return all;
  }

 private:
  static Arrays& arrays() {
    static Arrays found;
    return found;
  }
  Kokkos::Tools::Experimental::EventSet before_;
};

/// So solves of two may overlap in time, whatever the schedule.
TEST(SharedPlans, SolvesWriteNothingThatTheOtherReads) {
  for (const auto& pattern :
       {random_pattern(400, 4.0, 400, 5), wave_pattern({300, 1, 1, 200, 2}),
        dense_row_pattern(3000)}) {
    const auto A = make_triangle<double>(pattern, Uplo::lower);
    const auto matrix = A.to_device<Matrix<double>>();
    const auto b_of = [&](std::int64_t k, unsigned seed) {
      return random_values<double>(A.rows * k, seed);
    };
    for (const auto& variant : all_variants) {
      SCOPED_TRACE(pattern.name + ", " + variant.name);
      const auto analyse = [&] {
        return Solver<double>(Space(), matrix, Uplo::lower, Diag::non_unit,
                              variant.options);
      };
      // What Kokkos keeps for itself is there after this.
      for (const std::int64_t k : {1, 9}) solve(analyse(), b_of(k, 1), k);
      release_memory_pool<Space>();

      const LiveArrays live;
      const auto solver = analyse();
      const auto of_plan = live.now();
      const auto sharer = solver.share_plan(Space());
      auto of_sharer = live.now();
      for (const auto& one : of_plan) of_sharer.erase(one.first);
      const auto& report = solver.report();
      const std::size_t workspace = report.workspace_bytes;
      EXPECT_EQ(sharer.report().workspace_bytes, workspace);
      EXPECT_NEAR(double(LiveArrays::bytes(of_sharer)), double(workspace),
                  128. * double(of_sharer.size()) + 16);
      EXPECT_LT(workspace, report.plan_bytes);

      for (const std::int64_t k : {1, 9}) {
        const auto b = b_of(k, 1), other = b_of(k, 2);
        const auto x = solve(solver, b, k);
        const auto plan = LiveArrays::contents(of_plan);
        EXPECT_TRUE(same_bits(solve(sharer, b, k), x));
        EXPECT_TRUE(plan == LiveArrays::contents(of_plan)) << k << " columns";
        const auto own = LiveArrays::contents(of_sharer);
        solve(solver, other, k);
        EXPECT_TRUE(own == LiveArrays::contents(of_sharer)) << k << " columns";
        // And that is where a workspace is.
        const bool wrote = plan != LiveArrays::contents(of_plan);
        EXPECT_TRUE(workspace > 0 || !wrote);
        solve(sharer, other, k);
        if (k == 1 && wrote) {
          EXPECT_TRUE(own != LiveArrays::contents(of_sharer));
        }
      }
      if (HasFailure()) return;
    }
  }
}

/// For one right-hand side.
TEST(SharedPlans, TakeLessMemoryThanAnotherPlan) {
  const auto A =
      make_triangle<double>(random_pattern(2000, 6.0, 2000, 3), Uplo::lower);
  for (const auto& variant : all_variants) {
    if (variant.name != to_string(variant.options.algorithm)) continue;
    SCOPED_TRACE(variant.name);
    const auto solver = make(A, variant.options);
    EXPECT_LT(double(solver.report().workspace_bytes),
              0.25 * double(solver.report().plan_bytes));
  }
}

/// For any of them, for all of them, also where solves have to divide by the
/// diagonal then, as it has no reciprocal.
TEST(SharedPlans, HaveTheValuesThatOneWasGiven) {
  const auto pattern = random_pattern(200, 3.0, 80, 6);
  const auto old_A = make_triangle<double>(pattern, Uplo::lower);
  const auto new_A =
      make_triangle<double>(pattern, Uplo::lower, StoredDiagonal::value, 2);
  // A row without other entries.
  auto divided = new_A;
  divided.values[0] = 1e-309;
  auto b = random_values<double>(old_A.rows, 3);
  b[0] = 1e-309;
  int divisions = 0;
  for (const auto& variant : all_variants) {
    SCOPED_TRACE(variant.name);
    auto solver = make(old_A, variant.options);
    auto sharer = solver.share_plan(Space());
    auto copy = sharer;
    const auto expect = [&](const HostMatrix<double>& A) {
      auto fresh = make(old_A, variant.options);
      fresh.update_values(Space(), A.to_device<Matrix<double>>());
      const auto x = solve(fresh, b);
      for (const auto* one : {&solver, &sharer, &copy})
        EXPECT_TRUE(same_bits(solve(*one, b), x));
    };
    sharer.update_values(Space(), new_A.to_device<Matrix<double>>());
    Kokkos::fence();
    expect(new_A);
    try {
      solver.update_values(Space(), divided.to_device<Matrix<double>>());
      Kokkos::fence();
      expect(divided);
      ++divisions;
    } catch (const ScalingError&) {
      expect(new_A);
    }
    sharer.update_values(Space(), old_A.to_device<Matrix<double>>());
    Kokkos::fence();
    expect(old_A);
    auto wrong = old_A;
    wrong.values[0] = 0;
    EXPECT_THROW(
        sharer.update_values(Space(), wrong.to_device<Matrix<double>>()),
        ZeroDiagonalError);
    expect(old_A);
    if (HasFailure()) return;
  }
  EXPECT_GT(divisions, 3);
}

/// An algorithm from outside of the library with a workspace: where the last
/// solve has left its x.
template <class Scalar>
class KeepsSolution : public RowByRow::Solve<Scalar, Space> {
  using Base = RowByRow::Solve<Scalar, Space>;
  using View = Kokkos::View<Scalar*, Memory>;

 public:
  KeepsSolution(const Space& exec,
                const Detail::TriangularAnalysis<Space>& analysis)
      : Base(exec, analysis), kept_("kept", analysis.graph.num_vertices) {}
  void solve(const Space& exec, const Detail::MultiVectorRef<const Scalar>& b,
             const Detail::MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    Base::solve(exec, b, x, columns);
    if (x.row_stride == 1)
      Kokkos::deep_copy(exec, kept_,
                        Kokkos::View<const Scalar*, Memory,
                                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                            x.data, kept_.extent(0)));
  }
  std::shared_ptr<const Experimental::TriangularAlgorithm<Scalar, Space>>
  with_workspace(const Space&) const override {
    const auto made = std::make_shared<KeepsSolution>(*this);
    made->kept_ = View("kept", kept_.extent(0));
    return made;
  }
  std::size_t workspace_bytes() const override {
    return kept_.extent(0) * sizeof(Scalar);
  }

 private:
  View kept_;
};
bool keeps_solution_is_suited = false;
template <class Scalar>
class KeepsSolutionRegistration : public RowByRow::Registration<Scalar, Space> {
 public:
  using Base = RowByRow::Registration<Scalar, Space>;
  std::string why_suited(const typename Base::Selection&) const override {
    return keeps_solution_is_suited ? "keeps the solution" : "";
  }
  typename Base::Pointer make(typename Base::Selection& selection,
                              const typename Base::Candidate&) override {
    return std::make_shared<KeepsSolution<Scalar>>(selection.exec,
                                                   selection.analysis);
  }
};

/// Of a new pattern all workspaces are new, too.
TEST(SharedPlans, HaveThePatternThatOneWasGiven) {
  const auto old_A =
      make_triangle<double>(random_pattern(300, 3.0, 120, 7), Uplo::lower);
  const auto new_A =
      make_triangle<double>(random_pattern(300, 4.0, 200, 8), Uplo::lower);
  for (const auto& variant : all_variants) {
    SCOPED_TRACE(variant.name);
    auto solver = make(old_A, variant.options);
    auto sharer = solver.share_plan(Space());
    auto copy = sharer;
    // One that is gone.
    { const auto gone = solver.share_plan(Space()); }
    const auto expect = [&](const HostMatrix<double>& A) {
      const auto fresh = make(A, variant.options);
      for (const std::int64_t k : {1, 9})
        for (const auto* one : {&solver, &sharer, &copy}) {
          const auto b = random_values<double>(300 * k, 3);
          EXPECT_EQ(one->report().entries, fresh.report().entries);
          if (one->report().algorithm != fresh.report().algorithm) continue;
          EXPECT_TRUE(same_bits(solve(*one, b, k), solve(fresh, b, k)));
        }
    };
    expect(old_A);
    sharer.update_pattern(Space(), new_A.to_device<Matrix<double>>());
    expect(new_A);
    EXPECT_EQ(solver.report().pattern_updates, 1);
    solver.update_pattern(Space(), old_A.to_device<Matrix<double>>());
    expect(old_A);
    auto zero = new_A;
    zero.values[0] = 0;
    EXPECT_THROW(
        sharer.update_pattern(Space(), zero.to_device<Matrix<double>>()),
        ZeroDiagonalError);
    expect(old_A);
    if (HasFailure()) return;
  }
}

TEST(SharedPlans, HaveTheWorkspaceOfTheAlgorithmThatIsChosenLast) {
  static const auto none =
      Experimental::register_algorithm<RowByRow::Registration<double, Space>>(
          "row_by_row");
  static const auto some =
      Experimental::register_algorithm<KeepsSolutionRegistration<double>>(
          "keeps_solution");
  const auto few =
      make_triangle<double>(random_pattern(200, 2.0, 120, 7), Uplo::lower);
  const auto many =
      make_triangle<double>(random_pattern(200, 6.0, 120, 7), Uplo::lower);
  const auto b = random_values<double>(200, 3);
  const auto choose = [&](Algorithm algorithm) {
    RowByRow::is_suited = algorithm == none;
    keeps_solution_is_suited = algorithm == some;
  };
  choose(none);
  auto solver = make(few, {});
  EXPECT_EQ(solver.report().workspace_bytes, 0u);
  auto sharer = solver.share_plan(Space());
  for (const bool with : {true, false, true}) {
    choose(with ? some : none);
    const auto& A = with ? many : few;
    solver.update_pattern(Space(), A.to_device<Matrix<double>>());
    for (const auto* one : {&solver, &sharer}) {
      EXPECT_EQ(one->report().algorithm, with ? some : none);
      EXPECT_EQ(one->report().workspace_bytes, with ? 200 * sizeof(double) : 0);
      expect_solver(*one, HostSystem<double>{A, Uplo::lower, Diag::non_unit});
    }
  }
  choose(Algorithm::automatic);
}

TEST(SharedPlans, AreOfSolversThatWereMade) {
  const Solver<double> empty;
  EXPECT_THROW(empty.share_plan(Space()), HandleError);
  const auto A = make_triangle<double>(chain_pattern(9), Uplo::lower);
  auto solver = make(A, {});
  auto sharer = solver.share_plan(Space());
  const auto moved = std::move(sharer);
  EXPECT_THROW(sharer.share_plan(Space()), HandleError);  // NOLINT
  EXPECT_THROW(sharer.report(), HandleError);             // NOLINT
  expect_solver(moved, HostSystem<double>{A, Uplo::lower, Diag::non_unit});
  // Without rows.
  const auto none =
      make_triangle<double>(empty_pattern("none", 0), Uplo::lower);
  for (const auto& variant : all_variants)
    expect_solver(make(none, variant.options).share_plan(Space()),
                  HostSystem<double>{none, Uplo::lower, Diag::non_unit});
}

/// x = op(M)^-1 b.
template <class Scalar>
std::vector<Scalar> apply(const IncompleteFactorization<Scalar, Space>& M,
                          const std::vector<Scalar>& b, std::int64_t k, Op op) {
  const auto b_view = to_columns<Scalar, Space>(b, M.rows(), k);
  const auto x_view =
      to_columns<Scalar, Space>(std::vector<Scalar>(b.size()), M.rows(), k);
  M.apply(Space(), b_view, x_view, op);
  return to_vector(x_view);
}

/// Both triangles of a pattern, with a dominant diagonal.
template <class Scalar>
HostMatrix<Scalar> square_matrix(const Pattern& pattern, unsigned seed) {
  const auto L =
      make_triangle<Scalar>(pattern, Uplo::lower, StoredDiagonal::value, seed);
  std::vector<Scalar> dense(L.rows * L.rows);
  for (std::int64_t i = 0; i < L.rows; ++i)
    for (auto k = L.row_map[i]; k < L.row_map[i + 1]; ++k) {
      dense[i * L.rows + L.entries[k]] = L.values[k];
      dense[L.entries[k] * L.rows + i] = L.values[k];
    }
  return {L.rows, L.rows, dense};
}

template <class Scalar>
void expect_shared_factors(Algorithm algorithm) {
  SCOPED_TRACE(to_string(algorithm));
  using Factors = IncompleteFactorization<Scalar, Space>;
  const auto pattern = random_pattern(120, 2.0, 40, 5);
  const auto old_A = square_matrix<Scalar>(pattern, 1);
  const auto new_A = square_matrix<Scalar>(pattern, 2);
  IncompleteFactorizationOptions options;
  options.triangular.algorithm = algorithm;
  options.triangular.max_right_hand_sides = 3;
  options.transpose = true;
  const auto make = [&](const HostMatrix<Scalar>& A) {
    return Factors(Space(), A.template to_device<Matrix<Scalar>>(),
                   Factorization::incomplete_lu, options);
  };
  auto factors = make(old_A);
  auto sharer = factors.share_plan(Space());
  auto another = sharer.share_plan(Space());
  const auto expect = [&](const HostMatrix<Scalar>& A) {
    const auto fresh = make(A);
    for (const auto op : {Op::none, Op::transpose, Op::conjugate_transpose})
      for (const std::int64_t k : {1, 5}) {
        const auto b = random_values<Scalar>(A.rows * k, 3);
        const auto x = apply(fresh, b, k, op);
        for (int turn = 0; turn < 2; ++turn)
          for (const auto* one : {&factors, &sharer, &another})
            EXPECT_TRUE(same_bits(apply(*one, b, k, op), x)) << to_string(op);
      }
    EXPECT_EQ(sharer.report().upper.algorithm, fresh.report().upper.algorithm);
  };
  expect(old_A);
  sharer.update_values(Space(), new_A.template to_device<Matrix<Scalar>>());
  expect(new_A);
  // Values that sub-graphs can't take have new solvers made for all.
  auto other = old_A;
  const bool single = sizeof(typename ScalarParts<Scalar>::Real) == 4;
  other.at(0, 0) = single ? 1e30 : 1e300;
  other.values[1] = typename ScalarParts<Scalar>::Real(single ? 1e-10 : 1e-20);
  factors.update_values(Space(), other.template to_device<Matrix<Scalar>>());
  expect(other);
  auto zero = old_A;
  zero.at(0, 0) = 0;
  EXPECT_THROW(
      sharer.update_values(Space(), zero.template to_device<Matrix<Scalar>>()),
      ZeroDiagonalError);
  expect(other);
  sharer.update_values(Space(), old_A.template to_device<Matrix<Scalar>>());
  const auto b = random_values<Scalar>(old_A.rows, 4);
  const auto x = apply(factors, b, 1, Op::none);
  factors = {};
  sharer = {};
  EXPECT_TRUE(same_bits(apply(another, b, 1, Op::none), x));
}

/// Those of the triangular solvers, and the vectors between these.
template <class Object>
void expect_workspaces_alone(const Object& object) {
  object.share_plan(Space());
  release_memory_pool<Space>();
  const LiveArrays live;
  const auto sharer = object.share_plan(Space());
  const auto arrays = live.now();
  const auto& report = sharer.report();
  const std::size_t workspaces =
      report.workspace_bytes + report.lower.workspace_bytes +
      report.upper.workspace_bytes + report.lower_transposed.workspace_bytes +
      report.upper_transposed.workspace_bytes;
  EXPECT_GT(report.workspace_bytes, 0u);
  EXPECT_NEAR(double(LiveArrays::bytes(arrays)), double(workspaces),
              128. * double(arrays.size()) + 64);
}

TEST(SharedPlans, OfFactorsTakeTheMemoryOfTheirWorkspaces) {
  const auto A = square_matrix<double>(random_pattern(400, 2.0, 90, 5), 1);
  for (const auto precision :
       {FactorPrecision::working, FactorPrecision::single})
    for (const auto algorithm :
         {Algorithm::level_sets, Algorithm::sync_free, Algorithm::tiles}) {
      SCOPED_TRACE(to_string(precision) + std::string(", ") +
                   to_string(algorithm));
      IncompleteFactorizationOptions options;
      options.triangular.algorithm = algorithm;
      options.triangular.max_right_hand_sides = 3;
      options.transpose = true;
      options.precision = precision;
      const IncompleteFactorization<double, Space> factors(
          Space(), A.to_device<Matrix<double>>(), Factorization::incomplete_lu,
          options);
      expect_workspaces_alone(factors);
      FactorSolverOptions how;
      how.triangular = options.triangular;
      how.transpose = true;
      how.precision = precision;
      expect_workspaces_alone(FactorSolver<double, Space>(
          Space(), factors.lower(Space()), factors.upper(Space()), how));
    }
}

TEST(SharedPlans, OfFactorsGiveTheBitsOfLoneApplies) {
  for (const auto& variant : all_variants)
    if (variant.name == to_string(variant.options.algorithm))
      expect_shared_factors<double>(variant.options.algorithm);
  expect_shared_factors<float>(Algorithm::sync_free);
  expect_shared_factors<Kokkos::complex<float>>(Algorithm::level_sets);
  expect_shared_factors<Kokkos::complex<double>>(Algorithm::tiles);
  const IncompleteFactorization<double, Space> empty;
  EXPECT_THROW(empty.share_plan(Space()), HandleError);
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
