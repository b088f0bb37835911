// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_INCOMPLETE_PRECONDITIONER_IMPLEMENTATION_HPP
#define STRATA_KERNELS_KRYLOV_INCOMPLETE_PRECONDITIONER_IMPLEMENTATION_HPP

// What IncompletePreconditioner does, compiled into libstrata (src/) for the
// scalars and spaces of a build. A program with others includes this file.

#include <Strata_IncompleteFactorization.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_TriangleGraph.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/device/Backend.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/matrix/LongestRow.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/factorization/HermitianMatrix.hpp>
#include <kernels/factorization/NewFactor.hpp>
#include <kernels/factorization/PositiveDiagonal.hpp>
#include <kernels/krylov/ColouredSolves.hpp>
#include <kernels/krylov/ColouredSweeps.hpp>
#include <kernels/krylov/FactorOrderChoice.hpp>
#include <kernels/krylov/LevelOrderFactors.hpp>
#include <kernels/krylov/ReducedSystem.hpp>
#include <kernels/triangular/OptionChecks.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<IncompletePreconditioner<Scalar, ExecutionSpace>>
    : std::true_type {};

/// In kernels/triangular/selection/MeasureParameters.hpp: compiled with
/// TriangularSolver.
template <class Scalar, class ExecutionSpace>
PerformanceParameters performance_parameters(const ExecutionSpace& exec);

inline constexpr const char* incomplete_preconditioner =
    "an incomplete factorisation";

/// What copies of an IncompletePreconditioner share.
template <class Scalar, class ExecutionSpace>
class IncompletePreconditionerState {
 public:
  using Matrix = CrsArrays<Scalar>;
  using Sweeps = ColouredSweeps<Scalar, ExecutionSpace>;
  using Solves = ColouredSolves<Scalar, ExecutionSpace>;
  using Reduced = ReducedSystem<Scalar, ExecutionSpace>;
  using InLevelOrder = LevelOrderFactors<Scalar, ExecutionSpace>;

  /// See IncompletePreconditioner's constructor.
  IncompletePreconditionerState(const Matrix& A, Factorization kind,
                                const TriangularOptions& options,
                                FactorOrder order, int applications,
                                std::optional<double> tolerance)
      : kind_(kind),
        order_(order),
        rows_(A.rows()),
        options_(options),
        tolerance_(tolerance) {
    require_enumerator("kind", kind_);
    require_enumerator("order", order_);
    check_options(options);
    symmetry_tolerance<Scalar>(tolerance);
    if (options.op != Op::none)
      throw OptionError("op", "is not none",
                        "leave it: both factors are solved as they are");
    if (options.enqueue_updates)
      throw OptionError("enqueue_updates",
                        "is set, and a preconditioner takes new values by "
                        "update_values alone, which waits",
                        "leave it out, or use an IncompleteFactorization with "
                        "its option `enqueue_updates`");
    if (order_ == FactorOrder::coloured && options != TriangularOptions())
      throw OptionError("options",
                        "are of triangular solvers, which the coloured order "
                        "does not have",
                        "leave them at their defaults, or ask for "
                        "FactorOrder::natural");
    if (applications < 1)
      throw OptionError(
          "applications", "is " + std::to_string(applications),
          "pass the iterations that a solve may take, at least 1");
    report_.applications = applications;
    report_.rows = rows_;
    report_.entries = static_cast<std::int64_t>(A.num_values);
  }

  void make(const ExecutionSpace& exec, const Matrix& A) {
    report_.reason = "asked for";
    if (order_ == FactorOrder::automatic) {
      choose_order(exec, A);
    } else if (order_ == FactorOrder::natural) {
      make_natural(exec, A);
    } else if (order_ == FactorOrder::level_sets) {
      check_factor_input(exec, A);
      if (kind_ == Factorization::incomplete_cholesky)
        require_hermitian(exec, A, symmetry_tolerance<Scalar>(tolerance_));
      level_order_ = new_level_order(exec, A);
      report_.levels = level_order_->num_levels();
    } else {
      Hermitian hermitian(symmetry_tolerance<Scalar>(tolerance_));
      const Borrowed borrowed(exec, checked(exec, A, hermitian));
      make_coloured(exec, A, borrowed, colour_rows(exec, borrowed.matrix()));
    }
    report_.order = order_;
  }

  void take_values(const ExecutionSpace& exec, const Matrix& A) {
    if (order_ == FactorOrder::natural)
      Internals::update(natural_, exec, A);
    else if (level_order_)
      level_order_->update_values(exec, A);
    else
      take_coloured_values(exec, A);
  }

  void apply(const ExecutionSpace& exec, const StridedBlock& r,
             const StridedBlock& z) const {
    if (sweeps_) return sweeps_->apply(exec, r, z);
    if (solves_) return solves_->apply(exec, r, z);
    if (level_order_) return level_order_->apply(exec, r, z);
    Internals::solve(natural_, exec, r, z, Op::none);
  }

  std::int64_t rows() const { return rows_; }
  FactorOrder order() const { return order_; }
  int colours() const {
    return sweeps_ ? sweeps_->colours() : solves_ ? solves_->colours() : 0;
  }
  const TriangularReport& lower_report() const { return factor_report().lower; }
  const TriangularReport& upper_report() const { return factor_report().upper; }
  const PreconditionerReport& report() const { return report_; }
  const Sweeps* sweeps() const { return sweeps_.get(); }
  const Solves* solves() const { return solves_.get(); }
  const Reduced* reduced() const { return reduced_.get(); }

 private:
  using Natural = IncompleteFactorization<Scalar, ExecutionSpace>;
  using Hermitian = HermitianMatrix<Scalar, ExecutionSpace>;
  using Borrowed = BorrowedMatrix<Scalar, ExecutionSpace>;
  using Factor = ColouredFactor<typename Borrowed::Matrix>;

  void take_coloured_values(const ExecutionSpace& exec, const Matrix& A) {
    Hermitian hermitian(symmetry_tolerance<Scalar>(tolerance_));
    const Matrix read = checked(exec, A, hermitian);
    check_pattern(exec, A);
    const Borrowed borrowed(exec, read);
    if (solves_)
      solves_->update_values(
          exec, colour_factor(exec, borrowed, solves_->colouring()));
    else
      take_swept_values(exec,
                        colour_factor(exec, borrowed, sweeps_->colouring()));
  }
  void take_swept_values(const ExecutionSpace& exec, const Factor& factor) {
    // Gone where an exception ends this, until an update succeeds.
    auto reduced = std::move(reduced_);
    sweeps_->update_values(exec, factor);
    make_reduced(exec, factor, std::move(reduced));
  }
  /// The system that conjugate gradients take their steps in, from one of old
  /// values or anew. They do without where there is no memory for it.
  void make_reduced(const ExecutionSpace& exec, const Factor& factor,
                    std::shared_ptr<Reduced> reduced = nullptr) {
    if (kind_ != Factorization::incomplete_cholesky || colours() != 2) return;
    try {
      with_memory_errors(incomplete_preconditioner, [&] {
        if (reduced)
          reduced->update_values(exec, factor);
        else
          reduced = std::make_shared<Reduced>(exec, factor);
      });
      reduced_ = std::move(reduced);
    } catch (const MemoryError&) {
    }
  }

  const IncompleteFactorizationReport& factor_report() const {
    if (order_ == FactorOrder::coloured)
      throw Error("order", "is coloured: there are no triangular solvers",
                  "ask for FactorOrder::natural");
    return level_order_ ? level_order_->report() : natural_.report();
  }

  /// Up to this many, a launch for each colour but one, twice; from there on a
  /// launch for each triangle, in which rows wait.
  static constexpr int most_swept_colours = 2;

  /// Why the natural order is taken without a look at the other one; empty: it
  /// is not. A launch of sweeps has a lane a row, or a few: very long rows
  /// would hold all others up.
  std::string why_natural(const ExecutionSpace& exec, const Matrix& A) const {
    if (!is_gpu<ExecutionSpace>)
      return "the choice on a host, whose level sets cost little";
    if (rows_ == 0) return "there are no rows";
    if (kind_ != Factorization::incomplete_cholesky)
      return "the choice for incomplete LU, whose matrix need not be Hermitian";
    if (options_ != TriangularOptions())
      return "the order whose triangular solvers the options are for";
    if (longest_row(exec, A.row_map) > 1024)
      return "the choice for a matrix with a row of more than 1024 entries";
    return "";
  }
  void choose_order(const ExecutionSpace& exec, const Matrix& A) {
    report_.reason = why_natural(exec, A);
    if (!report_.reason.empty()) return make_natural(exec, A);
    if constexpr (is_gpu<ExecutionSpace>) {
      Hermitian hermitian(symmetry_tolerance<Scalar>(tolerance_));
      const Borrowed borrowed(exec, checked(exec, A, hermitian));
      const auto colours = colour_rows(exec, borrowed.matrix());
      TriangleInput lower;
      lower.diag = Diag::unit;
      lower.take_triangle = true;
      const auto graph = triangle_graph(exec, A.row_map, A.entries,
                                        A.stored_values(), rows_, lower);
      const auto levels =
          order_by_level(exec, graph, WithinLevel::longest_rows_first);
      report_.levels = levels.num_levels();
      report_.colours = colours.num_colours();
      const FactorOrderChoice choice(
          SolveFeatures(performance_parameters<Scalar>(exec), graph.num_edges(),
                        levels.sizes, sizeof(Scalar), num_multiprocessors(exec),
                        lane_width<ExecutionSpace>, 1),
          report_.entries, report_.colours, report_.applications);
      if (choose_solvers(exec, A, choice)) return;
      make_coloured(exec, A, borrowed, colours);
    }
  }
  /// Whether the natural order or that of level sets is chosen, and made.
  bool choose_solvers(const ExecutionSpace& exec, const Matrix& A,
                      const FactorOrderChoice& choice) {
    const FactorOrder decided = choice.by_bounds();
    const auto coloured = choice.coloured();
    const char* const bound = "at least, whatever the solvers are";
    PreconditionerCandidate natural;
    report_.reason = "the smallest prediction of those considered";
    if (decided == FactorOrder::coloured) {
      natural = choice.natural(choice.natural_at_least(), bound);
    } else {
      try {
        make_natural(exec, A);
        natural = choice.natural(predicted_solves(natural_.report()),
                                 "by its triangular solvers");
      } catch (const IndefiniteError&) {
        natural_fails(choice, natural, "breaks down");
      } catch (const FactorizationError&) {
        natural_fails(choice, natural, "breaks down");
      } catch (const MemoryError&) {
        natural_fails(choice, natural, "takes more memory than there is");
      }
    }
    const auto beats_coloured = [&](const PreconditionerCandidate& candidate) {
      return decided == FactorOrder::natural ||
             candidate.predicted_us <= coloured.predicted_us;
    };
    const auto beats_others = [&](const PreconditionerCandidate& candidate) {
      return beats_coloured(candidate) &&
             candidate.predicted_us < natural.predicted_us;
    };
    // The order of level sets has the natural one's pivots, and takes more
    // memory: it fails where that fails.
    auto by_level = choice.level_sets(choice.natural_at_least(), bound);
    std::shared_ptr<InLevelOrder> level_order;
    if (natural_made()) {
      by_level = choice.level_sets(
          choice.solves_by_level(natural.application_us,
                                 solves_by_sync_free(natural_.report())),
          "a model of its solvers");
      if (beats_others(by_level))
        level_order = try_level_order(exec, A, choice, by_level);
    }
    report_.candidates = {natural, coloured, by_level};
    if (level_order && beats_others(by_level)) {
      natural_ = Natural();
      level_order_ = std::move(level_order);
      order_ = FactorOrder::level_sets;
      return true;
    }
    if (natural_made() && beats_coloured(natural)) return true;
    natural_ = Natural();
    return false;
  }
  /// Null where it fails, which the candidate then says.
  std::shared_ptr<InLevelOrder> try_level_order(
      const ExecutionSpace& exec, const Matrix& A,
      const FactorOrderChoice& choice, PreconditionerCandidate& by_level) {
    const char* how = "breaks down";
    try {
      auto made = new_level_order(exec, A);
      by_level = choice.level_sets(predicted_solves(made->report()),
                                   "by its triangular solvers");
      return made;
    } catch (const IndefiniteError&) {
    } catch (const FactorizationError&) {
    } catch (const MemoryError&) {
      how = "takes more memory than there is";
    }
    by_level.note = how;
    return nullptr;
  }
  static double predicted_solves(const IncompleteFactorizationReport& report) {
    return report.lower.predicted_solve_us + report.upper.predicted_solve_us;
  }
  static bool solves_by_sync_free(const IncompleteFactorizationReport& report) {
    return report.lower.algorithm == Algorithm::sync_free &&
           report.upper.algorithm == Algorithm::sync_free;
  }
  /// Another order has other pivots, and takes less memory.
  void natural_fails(const FactorOrderChoice& choice,
                     PreconditionerCandidate& natural, const char* how) {
    natural_ = Natural();
    natural = choice.natural(choice.natural_at_most(), how);
    report_.reason = std::string("the natural order ") + how;
  }
  bool natural_made() const { return order_ == FactorOrder::natural; }
  IncompleteFactorizationOptions factorization_options() const {
    IncompleteFactorizationOptions how;
    how.kind = kind_;
    how.triangular = options_;
    how.symmetry_tolerance = tolerance_;
    return how;
  }
  void make_natural(const ExecutionSpace& exec, const Matrix& A) {
    using Expect = ExpectCompiled<Natural, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
    Internals::analyse(natural_, exec, A, factorization_options());
    order_ = FactorOrder::natural;
  }
  std::shared_ptr<InLevelOrder> new_level_order(const ExecutionSpace& exec,
                                                const Matrix& A) const {
    std::shared_ptr<InLevelOrder> made;
    with_memory_errors(incomplete_preconditioner, [&] {
      made = std::make_shared<InLevelOrder>(exec, A, factorization_options());
    });
    return made;
  }
  template <class Colours>
  void make_coloured(const ExecutionSpace& exec, const Matrix& A,
                     const Borrowed& borrowed, const Colours& colours) {
    order_ = FactorOrder::coloured;
    report_.colours = colours.num_colours();
    const auto factor = colour_factor(exec, borrowed, colours);
    if (colours.num_colours() > most_swept_colours)
      solves_ = std::make_shared<Solves>(exec, factor);
    else
      sweeps_ = std::make_shared<Sweeps>(exec, factor);
    make_reduced(exec, factor);
    fingerprint_ = pattern_fingerprint(exec, A.row_map, A.entries);
  }
  /// @param hermitian  lives as long as what is returned
  static Matrix checked(const ExecutionSpace& exec, const Matrix& A,
                        Hermitian& hermitian) {
    check_factor_input(exec, A);
    return hermitian.take(exec, A);
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
  TriangularOptions options_;  // of the natural order and that of level sets
  std::optional<double> tolerance_;  // see symmetry_tolerance()
  Natural natural_;                  // or empty
  std::shared_ptr<InLevelOrder> level_order_;
  std::shared_ptr<Sweeps> sweeps_;
  std::shared_ptr<Solves> solves_;
  std::shared_ptr<Reduced> reduced_;  // see make_reduced
  std::uint64_t fingerprint_ = 0;     // of the coloured order
  PreconditionerReport report_;
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
    Factorization kind, const TriangularOptions& options, FactorOrder order,
    int applications, std::optional<double> symmetry_tolerance) {
  Detail::with_memory_errors(Detail::incomplete_preconditioner, [&] {
    auto made = std::make_shared<State>(A, kind, options, order, applications,
                                        symmetry_tolerance);
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
  Detail::with_memory_errors(Detail::incomplete_preconditioner,
                             [&] { state_->take_values(exec, A); });
}

template <class Scalar, class ExecutionSpace>
void IncompletePreconditioner<Scalar, ExecutionSpace>::apply_strided(
    const ExecutionSpace& exec, const Detail::StridedBlock& r,
    const Detail::StridedBlock& z) const {
  const State& state = made_state();
  Detail::with_memory_errors(Detail::incomplete_preconditioner,
                             [&] { state.apply(exec, r, z); });
}

template <class Scalar, class ExecutionSpace>
std::int64_t IncompletePreconditioner<Scalar, ExecutionSpace>::rows() const {
  return made_state().rows();
}
template <class Scalar, class ExecutionSpace>
const PreconditionerReport&
IncompletePreconditioner<Scalar, ExecutionSpace>::report() const {
  return made_state().report();
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
template <class Scalar, class ExecutionSpace>
const Detail::ReducedSystem<Scalar, ExecutionSpace>*
IncompletePreconditioner<Scalar, ExecutionSpace>::reduced() const {
  return made_state().reduced();
}

}  // namespace Strata

#endif
