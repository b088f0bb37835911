// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_INCOMPLETE_PRECONDITIONER_IMPLEMENTATION_HPP
#define STRATA_KERNELS_KRYLOV_INCOMPLETE_PRECONDITIONER_IMPLEMENTATION_HPP

// What IncompletePreconditioner does, compiled into libstrata (src/) for the
// scalars and spaces of a build. A program with others includes this file.

#include <Strata_IncompleteLu.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_TriangularSolver.hpp>
#include <core/device/Backend.hpp>
#include <core/matrix/LongestRow.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/krylov/ColouredSolves.hpp>
#include <kernels/krylov/ColouredSweeps.hpp>
#include <kernels/krylov/NewFactor.hpp>
#include <kernels/krylov/PositiveDiagonal.hpp>
#include <kernels/triangular/OptionChecks.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<IncompletePreconditioner<Scalar, ExecutionSpace>>
    : std::true_type {};

inline constexpr const char* incomplete_factorisation =
    "an incomplete factorisation";

/// What copies of an IncompletePreconditioner share.
template <class Scalar, class ExecutionSpace>
class IncompletePreconditionerState {
 public:
  using Matrix = CrsArrays<Scalar>;
  using Sweeps = ColouredSweeps<Scalar, ExecutionSpace>;
  using Solves = ColouredSolves<Scalar, ExecutionSpace>;

  /// See IncompletePreconditioner's constructor.
  IncompletePreconditionerState(const Matrix& A, Factorization kind,
                                const TriangularOptions& options,
                                FactorOrder order)
      : kind_(kind), order_(order), rows_(A.rows()), options_(options) {
    require_enumerator("kind", kind_);
    require_enumerator("order", order_);
    check_options(options);
    if (options.op != Op::none)
      throw OptionError("op", "is not none",
                        "leave it: both factors are solved as they are");
    if (order_ == FactorOrder::coloured && options != TriangularOptions())
      throw OptionError("options",
                        "are of the natural order's triangular solvers, which "
                        "the coloured order does not have",
                        "leave them at their defaults, or ask for "
                        "FactorOrder::natural");
  }

  void make(const ExecutionSpace& exec, const Matrix& A) {
    if (order_ == FactorOrder::coloured || may_colour(exec, A)) {
      check(exec, A);
      const Borrowed borrowed(exec, A);
      const auto colours = colour_rows(exec, borrowed.matrix());
      order_ = FactorOrder::coloured;
      const auto factor = colour_factor(exec, borrowed, colours);
      if (colours.num_colours() > most_swept_colours)
        solves_ = std::make_shared<Solves>(exec, factor);
      else
        sweeps_ = std::make_shared<Sweeps>(exec, factor);
    } else {
      order_ = FactorOrder::natural;
      factors_ = std::make_shared<Factors>(exec, A);
      factors_->compute(exec, A, kind_);
      analyse(exec, *factors_);
    }
    fingerprint_ = pattern_fingerprint(exec, A.row_map, A.entries);
  }

  /// New values for all that share `state`. Where other algorithms are needed
  /// for them, `state` alone becomes another, and what shared it stays as it
  /// was.
  static void take_values(std::shared_ptr<IncompletePreconditionerState>& state,
                          const ExecutionSpace& exec, const Matrix& A) {
    if (!state->lower_) return state->take_coloured_values(exec, A);
    check_factor_input(exec, A);
    state->check_pattern(exec, A);
    if (!state->factors_) state->factors_ = std::make_shared<Factors>(exec, A);
    const Factors& factors = *state->factors_;
    factors.compute(exec, A, state->kind_);
    try {
      Internals::update(*state->lower_, exec, factors.L.arrays());
      state->whole_ = false;
      Internals::update(*state->upper_, exec, factors.U.arrays());
      state->whole_ = true;
    } catch (const ScalingError&) {
      // Other algorithms take them.
      exec.fence();
      auto other = std::make_shared<IncompletePreconditionerState>(*state);
      other->analyse(exec, factors);
      // Each has factors of its own from here on.
      other->factors_.reset();
      state = std::move(other);
    }
    // The factors may be computed again.
    exec.fence();
  }

  void apply(const ExecutionSpace& exec, const StridedBlock& r,
             const StridedBlock& z) const {
    if (sweeps_) return sweeps_->apply(exec, r, z);
    if (solves_) return solves_->apply(exec, r, z);
    require_both_factors(whole_);
    Internals::solve(*lower_, exec, r, z);
    Internals::solve(*upper_, exec, z, z);
  }

  std::int64_t rows() const { return rows_; }
  FactorOrder order() const { return order_; }
  int colours() const {
    return sweeps_ ? sweeps_->colours() : solves_ ? solves_->colours() : 0;
  }
  const TriangularReport& lower_report() const {
    return natural(lower_)->report();
  }
  const TriangularReport& upper_report() const {
    return natural(upper_)->report();
  }
  const Sweeps* sweeps() const { return sweeps_.get(); }
  const Solves* solves() const { return solves_.get(); }

 private:
  using Solver = TriangularSolver<Scalar, ExecutionSpace>;
  using Borrowed = BorrowedMatrix<Scalar, ExecutionSpace>;
  using Factor = ColouredFactor<typename Borrowed::Matrix>;

  /// Of the natural order, computed anew for each values.
  struct Factors {
    NewFactor<Scalar, ExecutionSpace> L, U;
    IncompleteFactors<Scalar, ExecutionSpace> factors;

    /// Checks A.
    Factors(const ExecutionSpace& exec, const Matrix& A)
        : L(A), U(A), factors(exec, A, L, U) {
      using Expect =
          ExpectCompiled<IncompleteFactorization, Scalar, ExecutionSpace>;
      static_assert(Expect::value, "");
    }
    void compute(const ExecutionSpace& exec, const Matrix& A,
                 Factorization kind) const {
      if (kind == Factorization::incomplete_cholesky)
        require_hermitian(exec, A);
      factors.compute(exec, A);
      if (kind == Factorization::incomplete_cholesky)
        require_positive_pivots(exec, U.arrays());
    }
  };

  void take_coloured_values(const ExecutionSpace& exec, const Matrix& A) {
    check(exec, A);
    check_pattern(exec, A);
    const Borrowed borrowed(exec, A);
    if (solves_)
      solves_->update_values(
          exec, colour_factor(exec, borrowed, solves_->colouring()));
    else
      sweeps_->update_values(
          exec, colour_factor(exec, borrowed, sweeps_->colouring()));
  }

  /// Both triangles, or neither.
  void analyse(const ExecutionSpace& exec, const Factors& factors) {
    using Expect = ExpectCompiled<Solver, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
    auto lower = std::make_shared<Solver>(), upper = std::make_shared<Solver>();
    Internals::analyse(*lower, exec, factors.L.arrays(), Uplo::lower,
                       Diag::unit, options_);
    Internals::analyse(*upper, exec, factors.U.arrays(), Uplo::upper,
                       Diag::non_unit, options_);
    lower_ = std::move(lower);
    upper_ = std::move(upper);
    whole_ = true;
  }

  static const std::shared_ptr<Solver>& natural(
      const std::shared_ptr<Solver>& solver) {
    if (!solver)
      throw Error("order", "is coloured: there are no triangular solvers",
                  "ask for FactorOrder::natural");
    return solver;
  }

  /// Up to this many, a launch for each colour but one, twice; from there on a
  /// launch for each triangle, in which rows wait.
  static constexpr int most_swept_colours = 2;

  /// A launch of sweeps has a lane a row, or a few: very long rows would hold
  /// all others up.
  bool may_colour(const ExecutionSpace& exec, const Matrix& A) const {
    if (!is_gpu<ExecutionSpace> || order_ != FactorOrder::automatic ||
        kind_ != Factorization::incomplete_cholesky ||
        options_ != TriangularOptions())
      return false;
    return longest_row(exec, A.row_map) <= 1024;
  }
  void check(const ExecutionSpace& exec, const Matrix& A) const {
    check_factor_input(exec, A);
    require_hermitian(exec, A);
  }
  void check_pattern(const ExecutionSpace& exec, const Matrix& A) const {
    if (pattern_fingerprint(exec, A.row_map, A.entries) != fingerprint_)
      throw PatternMismatchError(
          "A", "does not have the pattern that was factorised",
          "make a new preconditioner");
  }
  template <class Colours>
  Factor colour_factor(const ExecutionSpace& exec, const Borrowed& A,
                       const Colours& colours) const {
    return Factor(exec, A.matrix(), colours,
                  kind_ == Factorization::incomplete_cholesky);
  }

  Factorization kind_;
  FactorOrder order_;
  std::int64_t rows_;
  TriangularOptions options_;         // of the natural order
  std::shared_ptr<Factors> factors_;  // of the natural order; or none
  std::shared_ptr<Solver> lower_, upper_;
  bool whole_ = true;  // both are of the same values
  std::shared_ptr<Sweeps> sweeps_;
  std::shared_ptr<Solves> solves_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace Detail

template <class Scalar, class ExecutionSpace>
const Detail::IncompletePreconditionerState<Scalar, ExecutionSpace>&
IncompletePreconditioner<Scalar, ExecutionSpace>::made_state() const {
  Detail::require_made(state_, "IncompletePreconditioner", "exec, A");
  return *state_;
}

template <class Scalar, class ExecutionSpace>
void IncompletePreconditioner<Scalar, ExecutionSpace>::make(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
    Factorization kind, const TriangularOptions& options, FactorOrder order) {
  Detail::with_memory_errors(Detail::incomplete_factorisation, [&] {
    auto made = std::make_shared<State>(A, kind, options, order);
    made->make(exec, A);
    state_ = std::move(made);
  });
}

template <class Scalar, class ExecutionSpace>
void IncompletePreconditioner<Scalar, ExecutionSpace>::update(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A) {
  const std::int64_t rows = made_state().rows();
  if (A.rows() != rows)
    throw PatternMismatchError("A",
                               "has " + std::to_string(A.rows()) +
                                   " rows, not " + std::to_string(rows),
                               "make a new preconditioner");
  Detail::with_memory_errors(Detail::incomplete_factorisation,
                             [&] { State::take_values(state_, exec, A); });
}

template <class Scalar, class ExecutionSpace>
void IncompletePreconditioner<Scalar, ExecutionSpace>::apply_strided(
    const ExecutionSpace& exec, const Detail::StridedBlock& r,
    const Detail::StridedBlock& z) const {
  const State& state = made_state();
  Detail::with_memory_errors(Detail::incomplete_factorisation,
                             [&] { state.apply(exec, r, z); });
}

template <class Scalar, class ExecutionSpace>
std::int64_t IncompletePreconditioner<Scalar, ExecutionSpace>::rows() const {
  return made_state().rows();
}
template <class Scalar, class ExecutionSpace>
FactorOrder IncompletePreconditioner<Scalar, ExecutionSpace>::order() const {
  return made_state().order();
}
template <class Scalar, class ExecutionSpace>
int IncompletePreconditioner<Scalar, ExecutionSpace>::colours() const {
  return made_state().colours();
}
template <class Scalar, class ExecutionSpace>
const TriangularReport&
IncompletePreconditioner<Scalar, ExecutionSpace>::lower_report() const {
  return made_state().lower_report();
}
template <class Scalar, class ExecutionSpace>
const TriangularReport&
IncompletePreconditioner<Scalar, ExecutionSpace>::upper_report() const {
  return made_state().upper_report();
}
template <class Scalar, class ExecutionSpace>
const Detail::ColouredSweeps<Scalar, ExecutionSpace>*
IncompletePreconditioner<Scalar, ExecutionSpace>::sweeps() const {
  return made_state().sweeps();
}
template <class Scalar, class ExecutionSpace>
const Detail::ColouredSolves<Scalar, ExecutionSpace>*
IncompletePreconditioner<Scalar, ExecutionSpace>::solves() const {
  return made_state().solves();
}

}  // namespace Strata

#endif
