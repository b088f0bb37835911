// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_PRECONDITIONER_INCOMPLETE_PRECONDITIONER_IMPLEMENTATION_HPP
#define STRATA_KERNELS_KRYLOV_PRECONDITIONER_INCOMPLETE_PRECONDITIONER_IMPLEMENTATION_HPP

// What IncompletePreconditioner does, compiled into libstrata (src/) for the
// scalars and spaces of a build. A program with others includes this file.

#include <Strata_IncompleteFactorization.hpp>
#include <Strata_Preconditioner.hpp>
#include <core/device/Backend.hpp>
#include <core/matrix/LongestRow.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/factorization/HermitianMatrix.hpp>
#include <kernels/factorization/NewFactor.hpp>
#include <kernels/krylov/preconditioner/TwoColourBlocks.hpp>
#include <kernels/triangular/OptionChecks.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<IncompletePreconditioner<Scalar, ExecutionSpace>>
    : std::true_type {};

inline constexpr const char* incomplete_preconditioner =
    "an incomplete factorisation";

/// What copies of an IncompletePreconditioner share.
template <class Scalar, class ExecutionSpace>
class IncompletePreconditionerState {
 public:
  using Matrix = CrsArrays<Scalar>;
  using Blocks = TwoColourBlocks<Scalar, ExecutionSpace>;

  /// See IncompletePreconditioner's constructor.
  IncompletePreconditionerState(const Matrix& A, Factorization kind,
                                const TriangularOptions& options,
                                FactorOrder order,
                                std::optional<double> tolerance)
      : kind_(kind), options_(options), tolerance_(tolerance) {
    require_enumerator("kind", kind_);
    require_enumerator("order", order);
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
    if (order == FactorOrder::coloured && options != TriangularOptions())
      throw OptionError("options",
                        "are of triangular solvers, which the coloured order "
                        "does not have",
                        "leave them at their defaults, or ask for "
                        "FactorOrder::natural");
    report_.order = order;
    report_.rows = A.rows();
    report_.entries = static_cast<std::int64_t>(A.num_values);
  }

  void make(const ExecutionSpace& exec, const Matrix& A) {
    if (report_.order == FactorOrder::automatic) return choose_order(exec, A);
    report_.reason = "asked for";
    if (report_.order == FactorOrder::natural) return make_natural(exec, A);
    Hermitian hermitian(symmetry_tolerance<Scalar>(tolerance_));
    const Borrowed borrowed(exec, checked(exec, A, hermitian));
    const auto colours = colour_rows(exec, borrowed.matrix());
    if (colours.num_colours() > 2)
      throw OptionError(
          "order",
          "is coloured, but two colours are not enough: colour_rows() gives "
          "row " +
              std::to_string(fetch_element(
                  colours.permutation.old_row,
                  static_cast<std::size_t>(colours.colour_map[2]))) +
              " of A a third one",
          "ask for FactorOrder::natural");
    make_coloured(exec, A, borrowed, colours);
  }

  void take_values(const ExecutionSpace& exec, const Matrix& A) {
    if (!blocks_) return Internals::update(natural_, exec, A);
    Hermitian hermitian(symmetry_tolerance<Scalar>(tolerance_));
    const Matrix read = checked(exec, A, hermitian);
    check_pattern(exec, A);
    const Borrowed borrowed(exec, read);
    blocks_->update_values(exec,
                           factorise(exec, borrowed, blocks_->colouring()));
  }

  void apply(const ExecutionSpace& exec, const StridedBlock& r,
             const StridedBlock& z) const {
    if (blocks_) return blocks_->apply(exec, r, z);
    Internals::solve(natural_, exec, r, z, Op::none);
  }

  std::int64_t rows() const { return report_.rows; }
  FactorOrder order() const { return report_.order; }
  int colours() const { return report_.colours; }
  const TriangularReport& lower_report() const { return factor_report().lower; }
  const TriangularReport& upper_report() const { return factor_report().upper; }
  const PreconditionerReport& report() const { return report_; }
  const Blocks* reduced() const {
    return kind_ == Factorization::incomplete_cholesky && colours() == 2
               ? blocks_.get()
               : nullptr;
  }

 private:
  using Natural = IncompleteFactorization<Scalar, ExecutionSpace>;
  using Hermitian = HermitianMatrix<Scalar, ExecutionSpace>;
  using Borrowed = BorrowedMatrix<Scalar, ExecutionSpace>;
  using Factor = TwoColourFactor<typename Borrowed::Matrix>;

  const IncompleteFactorizationReport& factor_report() const {
    if (blocks_)
      throw Error("order", "is coloured: there are no triangular solvers",
                  "ask for FactorOrder::natural");
    return natural_.report();
  }

  /// Entries of a row in the coloured order that `automatic` chooses: a thread
  /// has a row where the first colour is eliminated.
  static constexpr std::int64_t most_entries_of_row = 1024;

  /// Why the order is natural, whatever the colours; empty: it may not be.
  std::string why_natural(const ExecutionSpace& exec, const Matrix& A) const {
    if (!is_gpu<ExecutionSpace>) return "the choice on a host";
    if (rows() == 0) return "there are no rows";
    if (kind_ != Factorization::incomplete_cholesky)
      return "the choice for incomplete LU, whose matrix need not be Hermitian";
    if (options_ != TriangularOptions())
      return "the order whose triangular solvers the options are for";
    if (longest_row(exec, A.row_map) > most_entries_of_row)
      return "the choice for a matrix with a row of more than " +
             std::to_string(most_entries_of_row) + " entries";
    return "";
  }
  void choose_order(const ExecutionSpace& exec, const Matrix& A) {
    report_.reason = why_natural(exec, A);
    if (report_.reason.empty()) {
      Hermitian hermitian(symmetry_tolerance<Scalar>(tolerance_));
      const Borrowed borrowed(exec, checked(exec, A, hermitian));
      const auto colours = colour_rows(exec, borrowed.matrix());
      report_.reason =
          "the rows have " + std::to_string(colours.num_colours()) + " colours";
      if (colours.num_colours() == 2)
        return make_coloured(exec, A, borrowed, colours);
    }
    make_natural(exec, A);
  }
  void make_natural(const ExecutionSpace& exec, const Matrix& A) {
    using Expect = ExpectCompiled<Natural, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
    IncompleteFactorizationOptions how;
    how.triangular = options_;
    how.symmetry_tolerance = tolerance_;
    Internals::analyse(natural_, exec, A, kind_, how);
    report_.order = FactorOrder::natural;
  }
  template <class Colours>
  void make_coloured(const ExecutionSpace& exec, const Matrix& A,
                     const Borrowed& borrowed, const Colours& colours) {
    blocks_ =
        std::make_shared<Blocks>(exec, factorise(exec, borrowed, colours));
    fingerprint_ = pattern_fingerprint(exec, A.row_map, A.entries);
    report_.order = FactorOrder::coloured;
    report_.colours = colours.num_colours();
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
  Factor factorise(const ExecutionSpace& exec, const Borrowed& A,
                   const Colours& colours) const {
    return Factor(exec, A.matrix(), colours,
                  kind_ == Factorization::incomplete_cholesky);
  }

  Factorization kind_;
  TriangularOptions options_;        // of the natural order
  std::optional<double> tolerance_;  // see symmetry_tolerance()
  Natural natural_;                  // or empty
  std::shared_ptr<Blocks> blocks_;   // of the coloured order, or null
  std::uint64_t fingerprint_ = 0;    // likewise
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
    std::optional<double> symmetry_tolerance) {
  Detail::with_memory_errors(Detail::incomplete_preconditioner, [&] {
    auto made =
        std::make_shared<State>(A, kind, options, order, symmetry_tolerance);
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
const Detail::TwoColourBlocks<Scalar, ExecutionSpace>*
IncompletePreconditioner<Scalar, ExecutionSpace>::reduced() const {
  return made_state().reduced();
}

}  // namespace Strata

#endif
