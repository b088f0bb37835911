// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INCOMPLETE_FACTORIZATION_STATE_HPP
#define STRATA_KERNELS_FACTORIZATION_INCOMPLETE_FACTORIZATION_STATE_HPP

#include <Strata_IncompleteFactorizationOptions.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_UpdateStatus.hpp>
#include <core/device/Profiling.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/factorization/FactorizationOptionChecks.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/input/HermitianMatrix.hpp>
#include <kernels/factorization/input/PositivePivots.hpp>
#include <kernels/factorization/input/ReorderedMatrix.hpp>
#include <kernels/factorization/numeric/EnqueuedFactors.hpp>
#include <kernels/factorization/numeric/FactorFindings.hpp>
#include <kernels/factorization/solve/FactorSolves.hpp>
#include <kernels/factorization/symbolic/FilledMatrix.hpp>
#include <kernels/factorization/symbolic/GivenPattern.hpp>
#include <kernels/factorization/symbolic/NewFactor.hpp>
#include <kernels/factorization/symbolic/PlanLimit.hpp>
#include <memory>
#include <string>
#include <type_traits>

namespace Strata {
namespace Detail {

/// The diagonal of a matrix with sorted rows, for inspect_values: safe with
/// any other matrix, too.
struct FactorisedDiagonal {
  IndexArray row_map, entries;
  std::int64_t num_values, num_rows;

  KOKKOS_INLINE_FUNCTION std::int64_t size() const { return num_rows; }
  KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t row) const {
    const std::int64_t begin = row_map(row), end = row_map(row + 1);
    if (begin < 0 || begin > end || end > num_values) return -1;
    const std::int64_t at = first_entry_from(*this, row, row);
    return at < end && entries(at) == row ? at : -1;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t row_at(std::int64_t row) const {
    return row;
  }
};

/// What copies of an IncompleteFactorization in the natural order share.
///
/// New factors are computed in other memory than that of the values in use,
/// which FactorSolves keeps until the new ones have been proven. On a GPU that
/// memory is from the pool, unless updates are enqueued.
template <class Scalar, class ExecutionSpace>
class IncompleteFactorizationState {
 public:
  using Matrix = CrsArrays<Scalar>;
  using Options = IncompleteFactorizationOptions;
  using Report = IncompleteFactorizationReport;
  using Solves = FactorSolves<Scalar, ExecutionSpace>;
  using Reordered = ReorderedMatrix<Scalar, ExecutionSpace>;

  /// See IncompleteFactorization's constructor.
  /// @param options    have passed check_factorization_options
  /// @param order      of rows: what a report says of that
  /// @param reordered  what is factorised in place of A; or null
  /// @param pattern    of L + U, without values; null: that of `fill_level`
  IncompleteFactorizationState(const ExecutionSpace& exec, const Matrix& A,
                               Factorization kind, const Options& options,
                               const Report& order,
                               const std::shared_ptr<Reordered>& reordered,
                               const Matrix* pattern = nullptr)
      : kind_(kind),
        options_(options),
        has_given_pattern_(pattern != nullptr),
        reordered_(reordered),
        hermitian_(options.symmetry_tolerance,
                   kind != Factorization::incomplete_ldlt),
        factorised_(
            first_matrix(exec, reordered ? reordered->matrix() : A, pattern)),
        filled_(exec, factorised_, options.fill_level,
                PlanLimitOf(options, A.rows()).of_fill(), pattern),
        index_memory_("Strata::IncompleteFactorization::patterns",
                      filled_.pattern(factorised_)),
        lower_(filled_.pattern(factorised_), false, &index_memory_),
        upper_(filled_.pattern(factorised_), false, &index_memory_),
        factors_(exec, filled_.with_fill(exec, factorised_), lower_, upper_,
                 replacement(), &graph_of_l_,
                 MemoryBudget(options.triangular.max_plan_bytes).bytes()),
        report_(order) {
    expect_compiled<IncompleteFactorsTag, Scalar, ExecutionSpace>();
    report_.rows = A.rows();
    report_.lower_entries =
        static_cast<std::int64_t>(lower_.arrays().num_values);
    report_.upper_entries =
        static_cast<std::int64_t>(upper_.arrays().num_values);
    PlanLimitOf(options, report_.rows)
        .check({report_.lower_entries - report_.rows,
                report_.upper_entries - report_.rows});
    if (options_.enqueue_updates) prepare_enqueue(exec, A);
    if (!is_gpu<ExecutionSpace> || enqueued_)
      make_unfilled(new_values_, "Strata::IncompleteFactorization::new_values",
                    num_values());
    const NewFactors made = new_factors();
    const FactorizationFindings found = compute(exec, factorised_, made);
    factorised_ = {};  // A's arrays may go
    solves_ =
        Solves(exec, made.L, made.U, solve_options(options_),
               reordered ? reordered->maps() : Maps(),
               enqueued_ ? enqueued_->status().data() : nullptr, &graph_of_l_);
    fingerprint_ = pattern_fingerprint(exec, A.row_map, A.entries);
    report_all(A, found);
  }
  IncompleteFactorizationState(const IncompleteFactorizationState&) = delete;
  IncompleteFactorizationState& operator=(const IncompleteFactorizationState&) =
      delete;

  /// See IncompleteFactorization::update_values.
  void take_values(const ExecutionSpace& exec, const Matrix& A) {
    check_new_values(exec, A);
    if (!reordered_) return factorise(exec, A);
    const Matrix& permuted = reordered_->enqueue(exec, A.values);
    reordered_->with_rows_of([&] {
      if (!takes_zeros()) require_diagonal(exec, permuted);
      factorise(exec, permuted);
    });
    reordered_->finish(exec, nullptr);
    exec.fence();
  }

  /// See IncompleteFactorization::enqueue_update_values.
  /// @param A  its values, and if it has a pattern, as many rows and entries as
  ///           were factorised
  void enqueue_values(const ExecutionSpace& exec, Matrix A, bool has_pattern) {
    Enqueued& enqueued = enqueued_factors();
    const bool fits = A.num_values == static_cast<std::size_t>(report_.entries);
    if (has_pattern && (A.rows() != report_.rows || !fits))
      throw PatternMismatchError(
          "A", "does not have as many rows and entries as were factorised",
          "make a new factorisation");
    if (!fits)
      throw SizeMismatchError("values",
                              "has " + std::to_string(A.num_values) +
                                  " elements, the factorised matrix " +
                                  std::to_string(report_.entries),
                              "pass the values of the factorised matrix");
    const ProfilingRegion region(
        "Strata::IncompleteFactorization::enqueue_update_values");
    solves_.distrust_values();
    const NewFactors made = new_factors();
    FactorizationFaults* const faults = enqueued.begin(exec);
    A = reordered_ ? reordered_->enqueue(exec, A.values)
                   : enqueued.with_values(A.values);
    if (!takes_zeros())
      check_into("Strata::IncompleteFactorization::check::input", exec,
                 report_.rows, FindZeroDiagonal<Scalar>{A},
                 &faults->zero_diagonal);
    if (reads_upper(kind_)) {
      if (is_finite(hermitian_.tolerance()))
        check_into("Strata::require_hermitian", exec, report_.rows,
                   hermitian_.check(A), &faults->not_hermitian);
      A = hermitian_.mirrored(exec, A);
    }
    A = filled_.with_fill(exec, A);
    if (options_.shift > 0)
      A = shifted(exec, A, options_.shift, enqueued.shifted());
    const std::int64_t* const of_elimination =
        factors_.enqueue(exec, A, made.lower, made.upper);
    if (is_cholesky())
      check_into("Strata::require_positive_pivots", exec, report_.rows,
                 FindBadPivot<Scalar>{made.U, pivot_tolerance<Scalar>},
                 &faults->not_positive);
    enqueued.decide(exec, of_elimination);
    give_enqueued(exec, made, enqueued.status_data());
    if (reordered_) reordered_->finish(exec, enqueued.status_data());
  }
  auto update_status() const { return enqueued_factors().status(); }

  Solves& solves() { return solves_; }
  const Solves& solves() const { return solves_; }
  /// See IncompleteFactorization::transformation.
  auto transformation() const {
    return (reordered_ ? reordered_->maps() : Maps()).transformation();
  }

  /// Of the values in use. Waits for `exec`.
  void copy_factor(const ExecutionSpace& exec, Uplo uplo,
                   NewMatrix<Scalar>& made) const {
    const bool is_lower = uplo == Uplo::lower;
    const Matrix from = is_lower ? lower_.arrays(solves_.lower_values().data())
                                 : upper_.arrays(solves_.upper_values().data());
    require_index_types_hold(is_lower ? "L" : "U", made,
                             static_cast<double>(report_.rows),
                             static_cast<double>(from.num_values));
    copy_matrix(exec, "Strata::IncompleteFactorization::factor", from, made);
  }

  const Options& options() const { return options_; }
  const Report& report() const { return report_; }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  using Values = Kokkos::View<Scalar*, Memory>;
  using Factor = NewFactor<Scalar, ExecutionSpace>;
  using Maps = FactorMaps<Scalar, ExecutionSpace>;
  using Enqueued = EnqueuedFactors<Scalar, ExecutionSpace>;
  using PlanLimitOf = PlanLimit<Scalar, ExecutionSpace>;

  bool is_cholesky() const {
    return kind_ == Factorization::incomplete_cholesky;
  }

  ZeroDiagonal zero_diagonal() const {
    if (has_given_pattern_ && !reads_upper(kind_)) return ZeroDiagonal::absent;
    return options_.small_pivot_threshold > 0 || has_given_pattern_ ||
                   is_ldl(kind_)
               ? ZeroDiagonal::take
               : ZeroDiagonal::refuse;
  }
  bool takes_zeros() const { return zero_diagonal() != ZeroDiagonal::refuse; }
  /// The constructor's A or, for symmetric factors, that of HermitianMatrix.
  /// Checks A for these, and against a given pattern. A for incomplete LU is
  /// checked later: by FilledMatrix if there is fill, and by IncompleteFactors.
  Matrix first_matrix(const ExecutionSpace& exec, Matrix A,
                      const Matrix* pattern) {
    check_square_sizes<Memory>(A);
    const bool is_symmetric = reads_upper(kind_);
    if (is_symmetric) {
      check_factor_input(exec, A, zero_diagonal());
      A = hermitian_.take(exec, A);
    }
    if (pattern)
      check_given_pattern(exec, A, *pattern, zero_diagonal(), is_symmetric);
    return A;
  }

  PivotReplacement replacement() const {
    return {options_.small_pivot_threshold, is_cholesky(),
            kind_ == Factorization::incomplete_ldlh, takes_zeros()};
  }
  /// All but the order.
  void report_all(const Matrix& A, const FactorizationFindings& found) {
    static_cast<FactorTriangleReports&>(report_) = solves_.reports();
    report_.kind = kind_;
    report_.entries = static_cast<std::int64_t>(A.num_values);
    report_.fill_entries = filled_.fill_entries();
    report_.factor_bytes = lower_.index_bytes() + upper_.index_bytes() +
                           solves_.value_bytes() +
                           new_values_.extent(0) * sizeof(Scalar);
    report_factorisation(found);
  }
  /// What each factorisation may change.
  void report_factorisation(const FactorizationFindings& found) {
    report_.elimination_bytes = factors_.bytes() + filled_.bytes() +
                                hermitian_.bytes() +
                                (enqueued_ ? enqueued_->bytes() : 0);
    static_cast<FactorizationFindings&>(report_) = found;
  }

  /// Factors that are being computed.
  struct NewFactors {
    typename MemoryPool<Memory>::Pointer taken;  // or null
    Scalar *lower, *upper;
    Matrix L, U;  // with these values
  };
  NewFactors new_factors() const {
    NewFactors made;
    made.lower = new_values_.data();
    if (is_gpu<ExecutionSpace> && !enqueued_) {
      made.taken = take_workspace<ExecutionSpace>(
          "Strata::IncompleteFactorization::new_values",
          static_cast<std::size_t>(num_values()) * sizeof(Scalar));
      made.lower = reinterpret_cast<Scalar*>(made.taken->data());
    }
    made.upper = made.lower + lower_.arrays().num_values;
    made.L = lower_.arrays(made.lower);
    made.U = upper_.arrays(made.upper);
    return made;
  }
  /// Of both factors.
  std::int64_t num_values() const {
    return report_.lower_entries + report_.upper_entries;
  }

  /// One pass over the pattern and the diagonal, which the host waits for. A
  /// pattern of the same fingerprint is read through as the one that was
  /// factorised.
  /// @throws what check_factor_input throws, PatternMismatchError
  void check_new_values(const ExecutionSpace& exec, const Matrix& A) const {
    require_same_rows(A, report_.rows);
    check_square_sizes<Memory>(A);
    const auto found = inspect_values<Scalar>(
        exec,
        FactorisedDiagonal{A.row_map, A.entries,
                           static_cast<std::int64_t>(A.num_values),
                           takes_zeros() || reordered_ ? 0 : A.rows()},
        A.values, A.row_map, A.entries);
    if (found.fingerprint() != fingerprint_) {
      // What is wrong with a matrix tells more than that it is another one.
      if (reordered_)
        check_square_matrix(exec, A);
      else
        check_factor_input(exec, A, zero_diagonal());
      raise_other_pattern();
    }
    if (found.zero_row != ValuesInspection::no_row)
      raise_factor_fault(factor_fault(found.zero_row, factor_zero_diagonal));
  }
  /// @throws ZeroDiagonalError
  static void require_diagonal(const ExecutionSpace& exec, const Matrix& A) {
    const std::int64_t row =
        find_first("Strata::IncompleteFactorization::check::diagonal", exec, 0,
                   A.rows(), FindZeroDiagonal<Scalar>{A});
    if (row != no_fault)
      raise_factor_fault(factor_fault(row, factor_zero_diagonal));
  }

  /// For take_values.
  /// @param A  has passed its checks; permuted if rows are
  void factorise(const ExecutionSpace& exec, const Matrix& A) {
    const NewFactors made = new_factors();
    // What can throw comes before solvers take anything.
    const FactorizationFindings found =
        compute(exec, reads_upper(kind_) ? hermitian_.take(exec, A) : A, made);
    if (enqueued_) {
      // Solvers take all values. What the status says stays until all have.
      solves_.distrust_values();
      give_enqueued(exec, made, nullptr);
      exec.fence();
    } else {
      solves_.take_values(exec, made.L, made.U, PatternIs::known, report_);
    }
    report_factorisation(found);
  }

  /// All that enqueue_values needs.
  /// @param A  the constructor's
  void prepare_enqueue(const ExecutionSpace& exec, const Matrix& A) {
    enqueued_ = std::make_unique<Enqueued>(exec);
    if (!reordered_) enqueued_->copy_pattern(exec, A);
    Matrix pattern =
        reordered_ ? reordered_->matrix() : enqueued_->with_values(nullptr);
    if (reads_upper(kind_)) {
      hermitian_.hold(pattern);
      pattern = hermitian_.pattern(pattern);
    }
    pattern = filled_.pattern(pattern);
    if (options_.shift > 0) enqueued_->make_shifted(pattern.num_values);
    factors_.prepare_enqueue(exec, pattern);
    exec.fence();
  }
  /// Solvers take values that are good if `status` (null: they are) says so,
  /// and these become those in use. After solves_.distrust_values().
  void give_enqueued(const ExecutionSpace& exec, const NewFactors& made,
                     const UpdateStatus* status) {
    solves_.enqueue_values(exec, made.L, made.U, status);
    if (!status) enqueued_->accept(exec);
    enqueued_->keep(exec, made.lower, solves_.lower_values().data(),
                    num_values(), solves_.statuses());
    solves_.trust_values();
  }

  /// New factors, with a larger shift until elimination succeeds. Waits for
  /// `exec`.
  /// @param A  was checked, but for what elimination finds; symmetric if the
  ///           factors are
  /// @throws FactorizationError, IndefiniteError
  FactorizationFindings compute(const ExecutionSpace& exec, Matrix A,
                                const NewFactors& made) const {
    A = filled_.with_fill(exec, A);
    FactorizationFindings found;
    found.shift = options_.shift;
    for (;; ++found.shift_tries) {
      const bool is_last = found.shift_tries == options_.shift_tries;
      try {
        eliminate(exec, A, made, found);
        return found;
      } catch (const FactorizationError&) {
        if (is_last) throw;
      } catch (const IndefiniteError&) {
        if (is_last) throw;
      }
      found.shift = found.shift > 0 ? 2 * found.shift : 1e-3;
    }
  }
  /// @param A  with fill
  /// @param found  has the shift; gets all else
  void eliminate(const ExecutionSpace& exec, Matrix A, const NewFactors& made,
                 FactorizationFindings& found) const {
    Values shifted_values;  // outlives A, which points to it
    if (found.shift > 0) {
      make_unfilled(shifted_values, "Strata::IncompleteFactorization::A",
                    static_cast<std::int64_t>(A.num_values));
      A = shifted(exec, A, found.shift, shifted_values);
    }
    try {
      factors_.compute(exec, A, made.lower, made.upper);
    } catch (const FactorizationError& error) {
      // What comes of a zero pivot is in that row, or in later ones.
      if (!is_cholesky() || first_bad_pivot(exec, made.U) > error.row()) throw;
    }
    if (is_cholesky()) require_positive_pivots(exec, made.U);
    const ReplacedPivots replaced = factors_.replaced_pivots(exec);
    found.replaced_pivots = replaced.count;
    found.largest_pivot_change = replaced.largest_change;
    if (has_given_pattern_) find_growth(exec, A, made.L, made.U, found);
    if (kind_ == Factorization::incomplete_ldlh ||
        (is_ldl(kind_) && std::is_same<RealOf<Scalar>, Scalar>::value))
      count_pivots(exec, made.U, found);
  }

  /// A with a shift of its diagonal, and with its values in `to`.
  static Matrix shifted(const ExecutionSpace& exec, Matrix A, double shift,
                        const Values& to) {
    for_each_index(
        "Strata::IncompleteFactorization::shift", exec, A.rows(),
        ShiftDiagonal<Scalar>{A, diagonal_factor<Scalar>(shift), to.data()});
    A.values = to.data();
    return A;
  }

  /// @throws OptionError where the option is not set
  Enqueued& enqueued_factors() const {
    if (!enqueued_)
      throw OptionError("enqueue_updates", "is not set",
                        "set it when you make the factorisation, or call "
                        "update_values");
    return *enqueued_;
  }

  // The constructor's initialisers do the symbolic part in this order: input,
  // fill, patterns of L and U, plan of the elimination. Its body computes the
  // values and makes solves_.
  Factorization kind_;
  Options options_;
  bool has_given_pattern_;
  std::shared_ptr<Reordered> reordered_;  // null: A itself is factorised
  HermitianMatrix<Scalar, ExecutionSpace> hermitian_;
  Matrix factorised_;  // for the constructor
  FilledMatrix<Scalar, ExecutionSpace> filled_;
  SharedIndexMemory<Memory> index_memory_;  // of what follows
  Factor lower_, upper_;                    // patterns
  /// Of factors that are being computed; empty where a pool lends them.
  Values new_values_;
  GraphWithLevels<ExecutionSpace> graph_of_l_;  // from factors_ to solves_
  IncompleteFactors<Scalar, ExecutionSpace> factors_;
  Solves solves_;
  std::unique_ptr<Enqueued> enqueued_;  // null: not asked for
  std::uint64_t fingerprint_ = 0;       // of A
  Report report_;
};

}  // namespace Detail
}  // namespace Strata

#endif
