// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INCOMPLETE_FACTORIZATION_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_INCOMPLETE_FACTORIZATION_IMPLEMENTATION_HPP

// What IncompleteFactorization does, compiled into libstrata (src/) for the
// scalars and spaces of a build. A program with others includes this file.

#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_TriangularSolver.hpp>
#include <core/device/Profiling.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/factorization/FilledMatrix.hpp>
#include <kernels/factorization/NewFactor.hpp>
#include <kernels/factorization/PositiveDiagonal.hpp>
#include <kernels/triangular/OptionChecks.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<IncompleteFactorization<Scalar, ExecutionSpace>>
    : std::true_type {};

inline constexpr const char* incomplete_factorisation =
    "an incomplete factorisation";

/// A's values with those of the diagonal multiplied by `factor`.
template <class Scalar>
struct ShiftDiagonal {
  CrsArrays<Scalar> A;
  RealOf<Scalar> factor;
  Scalar* values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t end = A.row_map(row + 1);
    for (std::int64_t k = A.row_map(row); k < end; ++k) {
      const Scalar value = A.values[k];
      values[k] = A.entries(k) == row ? value * factor : value;
    }
  }
};

/// x = conj(b); x may be b.
template <class Scalar>
struct ConjugateRows {
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  std::int64_t columns;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    for (std::int64_t c = 0; c < columns; ++c)
      x(row, c) = Kokkos::conj(b(row, c));
  }
};

/// What copies of an IncompleteFactorization share.
///
/// Triangular solvers have values of their own, and `good_lower_` and
/// `good_upper_` are the values that they have been given last. New factors are
/// computed in other memory, so that those in use are there until the new ones
/// have been proven.
template <class Scalar, class ExecutionSpace>
class IncompleteFactorizationState {
 public:
  using Matrix = CrsArrays<Scalar>;
  using Options = IncompleteFactorizationOptions;
  using Report = IncompleteFactorizationReport;

  /// See IncompleteFactorization's constructor.
  IncompleteFactorizationState(const ExecutionSpace& exec, const Matrix& A,
                               const Options& options)
      : options_(checked(options)),
        filled_(exec, A, options.fill_level),
        lower_(filled_.with_fill(exec, A)),
        upper_(filled_.with_fill(exec, A)),
        factors_(exec, filled_.with_fill(exec, A), lower_, upper_,
                 replacement()) {
    using Expect = ExpectCompiled<IncompleteFactorsTag, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
    if (is_cholesky()) require_hermitian(exec, A);
    compute(exec, A);
    good_lower_ = values_like(lower_);
    good_upper_ = values_like(upper_);
    solvers_ = Solvers(exec, lower_.arrays(), upper_.arrays(), options_);
    keep_new_values(exec);
    fingerprint_ = pattern_fingerprint(exec, A.row_map, A.entries);
    entries_ = static_cast<std::int64_t>(A.num_values);
    report_ = report_of(solvers_);
    report_replaced_pivots(exec);
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
    check_factor_input(exec, A,
                       options_.small_pivot_threshold > 0
                           ? ZeroDiagonal::take
                           : ZeroDiagonal::refuse);
    if (pattern_fingerprint(exec, A.row_map, A.entries) != fingerprint_)
      throw PatternMismatchError(
          "A", "does not have the pattern that was factorised",
          "make a new factorisation");
    if (is_cholesky()) require_hermitian(exec, A);
    compute(exec, A);
    try {
      try {
        give_values(exec, lower_.arrays(), upper_.arrays());
        keep_new_values(exec);
      } catch (const ScalingError&) {
        // Other algorithms take them.
        exec.fence();
        Solvers solvers(exec, lower_.arrays(), upper_.arrays(), options_);
        Report report = report_of(solvers);
        keep_new_values(exec);
        solvers_ = std::move(solvers);
        report_ = std::move(report);
        whole_ = true;
      }
    } catch (...) {
      try {
        make_whole(exec);
      } catch (...) {
        // The next apply tries again.
      }
      throw;
    }
    report_replaced_pivots(exec);
  }

  void apply(const ExecutionSpace& exec, const StridedBlock& b,
             const StridedBlock& x, Op op) {
    require_enumerator("op", op);
    if (op != Op::none && !options_.transpose)
      throw OptionError("op",
                        std::string("is ") + to_string(op) +
                            ", and there are no solvers with the transposes",
                        "set the option `transpose`");
    check_vectors(rows(), b, x);
    const std::int64_t columns = x.extent[1];
    if (rows() == 0 || columns == 0) return;
    const ProfilingRegion region("Strata::IncompleteFactorization::apply");
    make_whole(exec);
    if (op == Op::none) {
      Internals::solve(solvers_.lower, exec, b, x);
      Internals::solve(solvers_.upper, exec, x, x);
      return;
    }
    // (L U)^H x = b is (L U)^T conj(x) = conj(b).
    constexpr bool is_complex = !std::is_same<RealOf<Scalar>, Scalar>::value;
    const bool conjugates = is_complex && op == Op::conjugate_transpose;
    if (conjugates) conjugate(exec, b, x, columns);
    Internals::solve(solvers_.upper_transposed, exec, conjugates ? x : b, x);
    Internals::solve(solvers_.lower_transposed, exec, x, x);
    if (conjugates) conjugate(exec, x, x, columns);
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
        is_lower ? good_lower_ : good_upper_);
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
  using Solver = TriangularSolver<Scalar, ExecutionSpace>;

  /// Those with the transposes are empty unless they are asked for.
  struct Solvers {
    Solver lower, upper, lower_transposed, upper_transposed;

    Solvers() = default;
    Solvers(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
            const Options& options) {
      using Expect = ExpectCompiled<Solver, Scalar, ExecutionSpace>;
      static_assert(Expect::value, "");
      TriangularOptions how = options.triangular;
      Internals::analyse(lower, exec, L, Uplo::lower, Diag::unit, how);
      Internals::analyse(upper, exec, U, Uplo::upper, Diag::non_unit, how);
      if (!options.transpose) return;
      how.op = Op::transpose;
      Internals::analyse(lower_transposed, exec, L, Uplo::lower, Diag::unit,
                         how);
      Internals::analyse(upper_transposed, exec, U, Uplo::upper, Diag::non_unit,
                         how);
    }
  };

  /// @throws OptionError
  static const Options& checked(const Options& options) {
    require_enumerator("kind", options.kind);
    check_options(options.triangular);
    check_accuracy<Scalar>(with_old_names(options.triangular));
    if (options.triangular.op != Op::none)
      throw OptionError("op", "is not none",
                        "leave it: it is an argument of apply");
    // A not-a-number is not at least 0.
    if (!(options.shift >= 0) || !is_finite(diagonal_factor(options)))
      throw OptionError("shift", "is " + std::to_string(options.shift),
                        "pass 0, or a positive number that the scalar's type "
                        "can hold");
    if (options.fill_level < 0)
      throw OptionError("fill_level",
                        std::to_string(options.fill_level) + " is negative",
                        "pass a level of fill of 0 or more");
    const double threshold = options.small_pivot_threshold;
    if (!(threshold >= 0 && threshold <= 1) ||
        (threshold > 0 && static_cast<RealOf<Scalar>>(threshold) == 0))
      throw OptionError("small_pivot_threshold",
                        "is " + std::to_string(threshold),
                        "pass 0, or a number of up to 1 that the scalar's type "
                        "can hold");
    return options;
  }
  static RealOf<Scalar> diagonal_factor(const Options& options) {
    return static_cast<RealOf<Scalar>>(1 + options.shift);
  }
  bool is_cholesky() const {
    return options_.kind == Factorization::incomplete_cholesky;
  }

  PivotReplacement replacement() const {
    PivotReplacement how;
    how.threshold = options_.small_pivot_threshold;
    how.positive = is_cholesky();
    return how;
  }
  void report_replaced_pivots(const ExecutionSpace& exec) {
    const ReplacedPivots found = factors_.replaced_pivots(exec);
    report_.replaced_pivots = found.count;
    report_.largest_pivot_change = found.largest_change;
  }

  /// The values of lower_ and upper_. Waits for `exec`.
  /// @param A  was checked, but for what elimination finds
  /// @throws FactorizationError, IndefiniteError
  void compute(const ExecutionSpace& exec, Matrix A) const {
    A = filled_.with_fill(exec, A);
    Values shifted;
    if (options_.shift > 0) {
      shifted = make_unfilled<Values>("Strata::IncompleteFactorization::A",
                                      static_cast<std::int64_t>(A.num_values));
      Kokkos::parallel_for(
          "Strata::IncompleteFactorization::shift", Range(exec, 0, A.rows()),
          ShiftDiagonal<Scalar>{A, diagonal_factor(options_), shifted.data()});
      A.values = shifted.data();
    }
    try {
      factors_.compute(exec, A);
    } catch (const FactorizationError& error) {
      // What comes of a zero pivot is in that row, or in later ones.
      if (!is_cholesky() ||
          first_bad_pivot(exec, upper_.arrays()) > error.row())
        throw;
    }
    if (is_cholesky()) require_positive_pivots(exec, upper_.arrays());
  }

  static Values values_like(const Factor& factor) {
    return make_unfilled<Values>(
        "Strata::IncompleteFactorization::values",
        static_cast<std::int64_t>(factor.arrays().num_values));
  }
  /// The values that were computed last become those in use. Waits for `exec`.
  void keep_new_values(const ExecutionSpace& exec) const {
    const auto copy = [&](const Values& to, const Factor& from) {
      Kokkos::deep_copy(exec, to,
                        Kokkos::View<const Scalar*, Memory,
                                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                            from.arrays().values, from.arrays().num_values));
    };
    copy(good_lower_, lower_);
    copy(good_upper_, upper_);
    exec.fence();
  }

  /// All solvers get values of L and U. Waits for `exec`.
  void give_values(const ExecutionSpace& exec, const Matrix& L,
                   const Matrix& U) {
    whole_ = false;
    Internals::update(solvers_.lower, exec, L.values, L.num_values);
    Internals::update(solvers_.upper, exec, U.values, U.num_values);
    if (options_.transpose) {
      Internals::update(solvers_.lower_transposed, exec, L.values,
                        L.num_values);
      Internals::update(solvers_.upper_transposed, exec, U.values,
                        U.num_values);
    }
    exec.fence();
    whole_ = true;
  }
  /// After an update that was broken off, all solvers get the old values back.
  void make_whole(const ExecutionSpace& exec) {
    if (whole_) return;
    Matrix L = lower_.arrays(), U = upper_.arrays();
    L.values = good_lower_.data();
    U.values = good_upper_.data();
    give_values(exec, L, U);
  }

  static void conjugate(const ExecutionSpace& exec, const StridedBlock& b,
                        const StridedBlock& x, std::int64_t columns) {
    if constexpr (!std::is_same<RealOf<Scalar>, Scalar>::value) {
      Kokkos::parallel_for(
          "Strata::IncompleteFactorization::conjugate",
          Range(exec, 0, x.extent[0]),
          ConjugateRows<Scalar>{multi_vector_ref<const Scalar>(b),
                                multi_vector_ref<Scalar>(x), columns});
    }
  }

  static std::size_t bytes_of(const Factor& factor) {
    return factor.index_bytes() +
           2 * factor.arrays().num_values * sizeof(Scalar);
  }
  Report report_of(const Solvers& solvers) const {
    const Matrix &L = lower_.arrays(), &U = upper_.arrays();
    Report report;
    report.kind = options_.kind;
    report.rows = rows();
    report.entries = entries_;
    report.fill_entries = filled_.fill_entries();
    report.lower_entries = static_cast<std::int64_t>(L.num_values);
    report.upper_entries = static_cast<std::int64_t>(U.num_values);
    report.factor_bytes = bytes_of(lower_) + bytes_of(upper_);
    report.elimination_bytes = factors_.bytes() + filled_.bytes();
    report.lower = solvers.lower.report();
    report.upper = solvers.upper.report();
    if (options_.transpose) {
      report.lower_transposed = solvers.lower_transposed.report();
      report.upper_transposed = solvers.upper_transposed.report();
    }
    report.plan_bytes = report.lower.plan_bytes + report.upper.plan_bytes +
                        report.lower_transposed.plan_bytes +
                        report.upper_transposed.plan_bytes;
    return report;
  }

  Options options_;
  FilledMatrix<Scalar, ExecutionSpace> filled_;
  /// Patterns, and the values that were computed last: after an exception, of
  /// no use.
  Factor lower_, upper_;
  IncompleteFactors<Scalar, ExecutionSpace> factors_;
  Values good_lower_, good_upper_;
  Solvers solvers_;
  bool whole_ = true;  // all solvers have the good values
  std::uint64_t fingerprint_ = 0;
  std::int64_t entries_ = 0;  // of A
  Report report_;
};

}  // namespace Detail

template <class Scalar, class ExecutionSpace>
auto IncompleteFactorization<Scalar, ExecutionSpace>::made_state() const
    -> State& {
  Detail::require_made(state_, "IncompleteFactorization", "exec, A");
  return *state_;
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactorization<Scalar, ExecutionSpace>::analyse(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
    const IncompleteFactorizationOptions& options) {
  Detail::with_memory_errors(Detail::incomplete_factorisation, [&] {
    state_ = std::make_shared<State>(exec, A, options);
  });
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactorization<Scalar, ExecutionSpace>::update(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A) {
  State& state = made_state();
  Detail::with_memory_errors(Detail::incomplete_factorisation,
                             [&] { state.take_values(exec, A); });
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactorization<Scalar, ExecutionSpace>::solve_strided(
    const ExecutionSpace& exec, const Detail::StridedBlock& b,
    const Detail::StridedBlock& x, Op op) const {
  State& state = made_state();
  Detail::with_memory_errors(Detail::incomplete_factorisation,
                             [&] { state.apply(exec, b, x, op); });
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactorization<Scalar, ExecutionSpace>::copy_factor(
    const ExecutionSpace& exec, Uplo uplo,
    Detail::NewMatrix<Scalar>& made) const {
  const State& state = made_state();
  Detail::with_memory_errors("a copy of an incomplete factor",
                             [&] { state.copy_factor(exec, uplo, made); });
}

template <class Scalar, class ExecutionSpace>
std::int64_t IncompleteFactorization<Scalar, ExecutionSpace>::rows() const {
  return made_state().rows();
}
template <class Scalar, class ExecutionSpace>
const IncompleteFactorizationOptions&
IncompleteFactorization<Scalar, ExecutionSpace>::options() const {
  return made_state().options();
}
template <class Scalar, class ExecutionSpace>
const IncompleteFactorizationReport&
IncompleteFactorization<Scalar, ExecutionSpace>::report() const {
  return made_state().report();
}

}  // namespace Strata

#endif
