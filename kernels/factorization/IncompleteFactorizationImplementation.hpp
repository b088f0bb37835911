// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INCOMPLETE_FACTORIZATION_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_INCOMPLETE_FACTORIZATION_IMPLEMENTATION_HPP

// What IncompleteFactorization does, compiled into libstrata (src/) for the
// scalars and spaces of a build. A program with others includes this file.

#include <Strata_IncompleteFactorization.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/FactorizationOptionChecks.hpp>
#include <kernels/factorization/IncompleteFactorizationState.hpp>
#include <kernels/factorization/colours/ColouredFactors.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<IncompleteFactorization<Scalar, ExecutionSpace>>
    : std::true_type {};

inline constexpr const char* incomplete_factorisation =
    "an incomplete factorisation";

}  // namespace Detail

template <class Scalar, class ExecutionSpace>
void IncompleteFactorization<Scalar, ExecutionSpace>::require_made() const {
  Detail::require_made(state_ || coloured_, "IncompleteFactorization",
                       "exec, A");
}
/// @throws HandleError, OptionError in the coloured order
template <class Scalar, class ExecutionSpace>
auto IncompleteFactorization<Scalar, ExecutionSpace>::natural_state() const
    -> State& {
  require_made();
  if (coloured_)
    throw OptionError("order", "is coloured: there are no triangular solvers",
                      "ask for FactorOrder::natural");
  return *state_;
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactorization<Scalar, ExecutionSpace>::analyse(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
    Factorization kind, const Transformation& transformation,
    const IncompleteFactorizationOptions& options,
    const Detail::CrsArrays<Scalar>* pattern) {
  Detail::with_memory_errors(Detail::incomplete_factorisation, [&] {
    Detail::check_factorization_options<Scalar, ExecutionSpace>(kind, options,
                                                                pattern);
    using Reordered = typename State::Reordered;
    if (Detail::is_reordered(kind, transformation, options)) {
      const auto reordered =
          std::make_shared<Reordered>(exec, A, kind, transformation, options);
      reordered->with_rows_of([&] {
        state_ = std::make_shared<State>(
            exec, A, kind, options, reordered->facts(), reordered, pattern);
      });
      return;
    }
    IncompleteFactorizationReport natural;
    natural.order_reason = "the order of a given pattern";
    if (!pattern)
      coloured_ = Coloured::make(exec, A, kind, options, natural.order_reason);
    if (!coloured_)
      state_ = std::make_shared<State>(exec, A, kind, options, natural, nullptr,
                                       pattern);
  });
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactorization<Scalar, ExecutionSpace>::update(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A) {
  require_made();
  Detail::with_memory_errors(Detail::incomplete_factorisation, [&] {
    if (coloured_)
      coloured_->take_values(exec, A);
    else
      state_->take_values(exec, A);
  });
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactorization<Scalar, ExecutionSpace>::enqueue_update(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
    bool has_pattern) {
  State& state = natural_state();
  Detail::with_memory_errors(Detail::incomplete_factorisation, [&] {
    state.enqueue_values(exec, A, has_pattern);
  });
}

template <class Scalar, class ExecutionSpace>
auto IncompleteFactorization<Scalar, ExecutionSpace>::update_status() const
    -> StatusView {
  return natural_state().update_status();
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactorization<Scalar, ExecutionSpace>::solve_strided(
    const ExecutionSpace& exec, const Detail::StridedBlock& b,
    const Detail::StridedBlock& x, Op op) const {
  require_made();
  Detail::with_memory_errors(Detail::incomplete_factorisation, [&] {
    const Detail::ProfilingRegion region(
        "Strata::IncompleteFactorization::apply");
    if (coloured_)
      coloured_->apply(exec, b, x, op);
    else
      (solves_ ? *solves_ : state_->solves()).apply(exec, b, x, op);
  });
}

template <class Scalar, class ExecutionSpace>
IncompleteFactorization<Scalar, ExecutionSpace>
IncompleteFactorization<Scalar, ExecutionSpace>::share_plan(
    const ExecutionSpace& exec) const {
  const State& state = natural_state();
  IncompleteFactorization sharer;
  sharer.state_ = state_;
  Detail::with_memory_errors(Detail::incomplete_factorisation, [&] {
    const Detail::ProfilingRegion region(
        "Strata::IncompleteFactorization::share_plan");
    sharer.solves_ = state.solves().share(exec);
  });
  return sharer;
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactorization<Scalar, ExecutionSpace>::copy_factor(
    const ExecutionSpace& exec, Uplo uplo,
    Detail::NewMatrix<Scalar>& made) const {
  const State& state = natural_state();
  Detail::with_memory_errors("a copy of an incomplete factor",
                             [&] { state.copy_factor(exec, uplo, made); });
}

template <class Scalar, class ExecutionSpace>
auto IncompleteFactorization<Scalar, ExecutionSpace>::transformation() const
    -> Transformation {
  return natural_state().transformation();
}

template <class Scalar, class ExecutionSpace>
std::int64_t IncompleteFactorization<Scalar, ExecutionSpace>::rows() const {
  return report().rows;
}
template <class Scalar, class ExecutionSpace>
const IncompleteFactorizationOptions&
IncompleteFactorization<Scalar, ExecutionSpace>::options() const {
  require_made();
  return coloured_ ? coloured_->options() : state_->options();
}
template <class Scalar, class ExecutionSpace>
const IncompleteFactorizationReport&
IncompleteFactorization<Scalar, ExecutionSpace>::report() const {
  require_made();
  return coloured_ ? coloured_->report() : state_->report();
}
template <class Scalar, class ExecutionSpace>
const Detail::TwoColourBlocks<Scalar, ExecutionSpace>*
IncompleteFactorization<Scalar, ExecutionSpace>::reduced() const {
  require_made();
  return coloured_ ? coloured_->reduced() : nullptr;
}

}  // namespace Strata

#endif
