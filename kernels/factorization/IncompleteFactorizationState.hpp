// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INCOMPLETE_FACTORIZATION_STATE_HPP
#define STRATA_KERNELS_FACTORIZATION_INCOMPLETE_FACTORIZATION_STATE_HPP

#include <Strata_IncompleteFactorizationOptions.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_UpdateStatus.hpp>
#include <algorithm>
#include <core/device/Profiling.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/factorization/FactorizationOptionChecks.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/input/HermitianMatrix.hpp>
#include <kernels/factorization/input/PositiveDiagonal.hpp>
#include <kernels/factorization/input/ReorderedMatrix.hpp>
#include <kernels/factorization/numeric/EnqueuedFactors.hpp>
#include <kernels/factorization/numeric/FactorFindings.hpp>
#include <kernels/factorization/solve/FactorSolves.hpp>
#include <kernels/factorization/symbolic/FilledMatrix.hpp>
#include <kernels/factorization/symbolic/NewFactor.hpp>
#include <kernels/factorization/symbolic/PlanLimit.hpp>
#include <memory>
#include <string>
#include <type_traits>

namespace Strata {
namespace Detail {

/// The diagonal of a matrix in its own values, for inspect_values: of one that
/// may have another pattern than the one that was factorised, which is safe.
struct FactorisedDiagonal {
  IndexArray row_map, l_row_map;
  std::int64_t num_values, num_rows;

  KOKKOS_INLINE_FUNCTION std::int64_t size() const { return num_rows; }
  KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t row) const {
    const std::int64_t begin = row_map(row);
    if (begin < 0 || begin >= num_values) return -1;
    const std::int64_t at = begin + l_row_map(row + 1) - l_row_map(row) - 1;
    return at < num_values ? at : -1;
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

  /// See IncompleteFactorization's constructor.
  /// @param options  have passed checked_options
  /// @param order    of A, which is permuted
  /// @param pattern  of L + U, without values; null: that of `fill_level`
  IncompleteFactorizationState(const ExecutionSpace& exec, const Matrix& A,
                               Factorization kind, const Options& options,
                               const Report& order,
                               const Matrix* pattern = nullptr,
                               GraphWithLevels<ExecutionSpace> graph_of_l = {})
      : kind_(kind),
        options_(options),
        has_given_pattern_(pattern != nullptr),
        order_(order),
        hermitian_(symmetry_tolerance<Scalar>(options.symmetry_tolerance),
                   kind != Factorization::incomplete_ldlt),
        factorised_(first_matrix(exec, A)),
        filled_(exec, factorised_, options.fill_level,
                PlanLimitOf(options, A.rows()).of_fill(), pattern,
                zero_diagonal(), reads_upper(kind)),
        lower_(filled_.pattern(factorised_), false, &index_memory_),
        upper_(filled_.pattern(factorised_), false, &index_memory_),
        factors_(exec, with_index_memory(filled_.with_fill(exec, factorised_)),
                 lower_, upper_, replacement(), &graph_of_l) {
    using Expect = ExpectCompiled<IncompleteFactorsTag, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
    PlanLimitOf(options, rows())
        .check({lower_entries() - rows(), upper_entries() - rows()});
    if (options_.enqueue_updates)
      enqueued_ = std::make_unique<Enqueued>(
          exec, A, reads_upper(kind_) ? &hermitian_ : nullptr, filled_,
          factors_, takes_zeros(), is_cholesky(),
          diagonal_factor<Scalar>(options_.shift));
    if (!is_gpu<ExecutionSpace> || enqueued_)
      new_values_ = make_unfilled<Values>(
          "Strata::IncompleteFactorization::new_values", num_values());
    const NewFactors made = new_factors();
    const FactorizationFindings found = compute(exec, factorised_, made);
    factorised_ = {};  // A's arrays may go
    solves_ =
        Solves(exec, made.L, made.U, solve_options(options_),
               enqueued_ ? enqueued_->status().data() : nullptr, &graph_of_l);
    fingerprint_ = pattern_fingerprint(exec, A.row_map, A.entries);
    entries_ = std::max(static_cast<std::int64_t>(A.num_values), order.entries);
    report_ = report_of(solves_.reports());
    report_factorisation(found);
  }
  IncompleteFactorizationState(const IncompleteFactorizationState&) = delete;
  IncompleteFactorizationState& operator=(const IncompleteFactorizationState&) =
      delete;

  void take_values(const ExecutionSpace& exec, const Matrix& A) {
    if (A.rows() != rows())
      throw PatternMismatchError("A",
                                 "has " + std::to_string(A.rows()) +
                                     " rows, not " + std::to_string(rows()),
                                 "make a new factorisation");
    check_new_values(exec, A);
    const NewFactors made = new_factors();
    // What can throw comes before solvers take anything.
    const FactorizationFindings found =
        compute(exec, reads_upper(kind_) ? hermitian_.take(exec, A) : A, made);
    if (enqueued_) {
      // Solvers take all values. What the status says stays until all have.
      solves_.enqueue_values(exec, made.L, made.U, nullptr,
                             [&](const auto&... in_use) {
                               enqueued_->accept(exec);
                               keep_good_values(exec, made, in_use...);
                             });
      exec.fence();
      report_factorisation(found);
      return;
    }
    Report report = report_;
    solves_.take_values(exec, made.L, made.U, PatternIs::known,
                        [&](const Reports& of) { report = report_of(of); });
    report_ = std::move(report);
    report_factorisation(found);
  }

  /// See IncompleteFactorization::enqueue_update_values.
  void enqueue_values(const ExecutionSpace& exec, const Scalar* values,
                      std::size_t num_values) {
    Enqueued& enqueued = require_enqueued(num_values);
    const ProfilingRegion region(
        "Strata::IncompleteFactorization::enqueue_update_values");
    solves_.distrust_values();
    const NewFactors made = new_factors();
    enqueued.compute(exec, values, made.lower, made.upper, made.U);
    solves_.enqueue_values(exec, made.L, made.U, enqueued.status().data(),
                           [&](const auto&... in_use) {
                             keep_good_values(exec, made, in_use...);
                           });
  }
  void enqueue_values(const ExecutionSpace& exec, const Matrix& A) {
    require_same_size(A);
    enqueue_values(exec, A.values, A.num_values);
  }
  /// These two: what enqueue_values throws.
  EnqueuedFactors<Scalar, ExecutionSpace>& require_enqueued(
      std::size_t num_values) const {
    Enqueued& enqueued = enqueued_factors();
    if (num_values != static_cast<std::size_t>(entries_))
      throw SizeMismatchError("values",
                              "has " + std::to_string(num_values) +
                                  " elements, the factorised matrix " +
                                  std::to_string(entries_),
                              "pass the values of the factorised matrix");
    return enqueued;
  }
  void require_same_size(const Matrix& A) const {
    enqueued_factors();
    if (A.rows() != rows() ||
        A.num_values != static_cast<std::size_t>(entries_))
      throw PatternMismatchError(
          "A", "does not have as many rows and entries as were factorised",
          "make a new factorisation");
  }
  auto update_status() const { return enqueued_factors().status(); }
  UpdateStatus* status_data() const {
    return const_cast<UpdateStatus*>(update_status().data());
  }

  /// @param solves  those of share(), null: the state's own
  void apply(const ExecutionSpace& exec, const StridedBlock& b,
             const StridedBlock& x, Op op, Solves* solves,
             const FactorMaps<Scalar, ExecutionSpace>& maps) {
    const ProfilingRegion region("Strata::IncompleteFactorization::apply");
    (solves ? *solves : solves_)
        .apply(exec, b, x, op, maps.rows(), maps.columns());
  }
  std::shared_ptr<Solves> share(const ExecutionSpace& exec) const {
    const ProfilingRegion region("Strata::IncompleteFactorization::share_plan");
    return solves_.share(exec);
  }

  /// Of the values in use. Waits for `exec`.
  void copy_factor(const ExecutionSpace& exec, Uplo uplo,
                   NewMatrix<Scalar>& made) const {
    const bool is_lower = uplo == Uplo::lower;
    const Matrix& from = (is_lower ? lower_ : upper_).arrays();
    const auto stored = static_cast<std::int64_t>(from.num_values);
    require_index_types_hold(is_lower ? "L" : "U", made,
                             static_cast<double>(rows()),
                             static_cast<double>(stored));
    const std::string label = "Strata::IncompleteFactorization::factor";
    copy_indices(exec, from.row_map, made.make_row_map(label, rows()));
    copy_indices(exec, from.entries, made.make_entries(label, stored));
    Kokkos::deep_copy(
        exec, Borrowed(made.make_values(label, stored), from.num_values),
        is_lower ? solves_.lower_values() : solves_.upper_values());
    exec.fence();
  }

  std::int64_t rows() const { return lower_.arrays().rows(); }
  const Options& options() const { return options_; }
  const Report& report() const { return report_; }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  using Values = Kokkos::View<Scalar*, Memory>;
  using Borrowed =
      Kokkos::View<Scalar*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Factor = NewFactor<Scalar, ExecutionSpace>;
  using Reports = FactorTriangleReports;
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
  /// What is factorised of the constructor's A.
  Matrix first_matrix(const ExecutionSpace& exec, const Matrix& A) {
    if (!reads_upper(kind_)) return A;
    check_factor_input(exec, A, zero_diagonal());
    return hermitian_.take(exec, A);
  }

  PivotReplacement replacement() const {
    PivotReplacement how;
    how.threshold = options_.small_pivot_threshold;
    how.positive = is_cholesky();
    how.real = kind_ == Factorization::incomplete_ldlh;
    how.takes_zeros = takes_zeros();
    return how;
  }
  /// What each factorisation may change.
  void report_factorisation(const FactorizationFindings& found) {
    report_.elimination_bytes = factors_.bytes() + filled_.bytes() +
                                hermitian_.bytes() +
                                (enqueued_ ? enqueued_->bytes() : 0);
    static_cast<FactorizationFindings&>(report_) = found;
  }

  /// Allocates what the patterns of the factors of A take.
  const Matrix& with_index_memory(const Matrix& A) {
    check_square_sizes<Memory>(A);
    index_memory_.allocate("Strata::IncompleteFactorization::patterns",
                           lower_.index_bytes_of_both(A));
    return A;
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
  std::int64_t lower_entries() const {
    return static_cast<std::int64_t>(lower_.arrays().num_values);
  }
  std::int64_t upper_entries() const {
    return static_cast<std::int64_t>(upper_.arrays().num_values);
  }
  /// Of both factors.
  std::int64_t num_values() const { return lower_entries() + upper_entries(); }

  /// One pass over the pattern and the diagonal, which the host waits for. A
  /// pattern of the same fingerprint is read through as the one that was
  /// factorised.
  /// @throws what check_factor_input throws, PatternMismatchError
  void check_new_values(const ExecutionSpace& exec, const Matrix& A) const {
    const bool other_pattern =
        filled_.fill_entries() > 0 || hermitian_.has_own_pattern();
    check_square_sizes<Memory>(A);
    const auto found = inspect_values<Scalar>(
        exec,
        FactorisedDiagonal{A.row_map, lower_.arrays().row_map,
                           static_cast<std::int64_t>(A.num_values),
                           takes_zeros() || other_pattern ? 0 : rows()},
        ScaledEntries<Memory>{}, A.values, A.row_map, A.entries);
    if (found.fingerprint() != fingerprint_) {
      // What is wrong with a matrix tells more than that it is another one.
      check_factor_input(exec, A, zero_diagonal());
      throw PatternMismatchError(
          "A", "does not have the pattern that was factorised",
          "make a new factorisation");
    }
    std::int64_t zero_row = found.zero_row;
    if (other_pattern && !takes_zeros()) {
      Kokkos::parallel_reduce(
          "Strata::IncompleteFactorization::check::diagonal",
          Range(exec, 0, rows()), FindZeroDiagonal<Scalar>{A},
          Kokkos::Min<std::int64_t>(zero_row));
      exec.fence();
    }
    if (zero_row != ValuesInspection::no_row)
      raise_factor_fault(factor_fault(zero_row, factor_zero_diagonal));
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
    Values shifted;
    if (found.shift > 0) {
      shifted = make_unfilled<Values>("Strata::IncompleteFactorization::A",
                                      static_cast<std::int64_t>(A.num_values));
      Kokkos::parallel_for(
          "Strata::IncompleteFactorization::shift", Range(exec, 0, A.rows()),
          ShiftDiagonal<Scalar>{A, diagonal_factor<Scalar>(found.shift),
                                shifted.data()});
      A.values = shifted.data();
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

  /// @throws OptionError where the option is not set
  Enqueued& enqueued_factors() const {
    if (!enqueued_)
      throw OptionError("enqueue_updates", "is not set",
                        "set it when you make the factorisation, or call "
                        "update_values");
    return *enqueued_;
  }
  /// The values that were computed last become those in use, if they are good.
  void keep_good_values(const ExecutionSpace& exec, const NewFactors& made,
                        const Values& good_lower, const Values& good_upper,
                        const std::array<const UpdateStatus*, 4>& of_solver) {
    enqueued_->keep(exec, made.L, made.U, good_lower.data(), good_upper.data(),
                    of_solver);
  }

  Report report_of(const Reports& solvers) const {
    Report report = order_;
    report.kind = kind_;
    report.rows = rows();
    report.entries = entries_;
    report.fill_entries = filled_.fill_entries();
    report.lower_entries = lower_entries();
    report.upper_entries = upper_entries();
    report.factor_bytes = lower_.index_bytes() + upper_.index_bytes() +
                          solves_.value_bytes() +
                          new_values_.extent(0) * sizeof(Scalar);
    report.workspace_bytes = solves_.workspace_bytes();
    report.lower = solvers.lower;
    report.upper = solvers.upper;
    report.lower_transposed = solvers.lower_transposed;
    report.upper_transposed = solvers.upper_transposed;
    report.plan_bytes = solvers.plan_bytes();
    return report;
  }

  Factorization kind_;
  Options options_;
  bool has_given_pattern_;
  Report order_;  // what there is to say of A's order
  HermitianMatrix<Scalar, ExecutionSpace> hermitian_;
  Matrix factorised_;  // for the constructor
  FilledMatrix<Scalar, ExecutionSpace> filled_;
  SharedIndexMemory<Memory> index_memory_;  // of what follows
  Factor lower_, upper_;                    // patterns
  /// Of factors that are being computed; empty where a pool lends them.
  Values new_values_;
  IncompleteFactors<Scalar, ExecutionSpace> factors_;
  Solves solves_;
  std::unique_ptr<Enqueued> enqueued_;  // null: not asked for
  std::uint64_t fingerprint_ = 0;
  std::int64_t entries_ = 0;  // of A
  Report report_;
};

}  // namespace Detail
}  // namespace Strata

#endif
