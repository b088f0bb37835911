// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INCOMPLETE_LU_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_INCOMPLETE_LU_IMPLEMENTATION_HPP

#include <Strata_IncompleteLu.hpp>
#include <Strata_TriangleGraph.hpp>
#include <analysis/level_sets/GraphWithLevels.hpp>
#include <core/device/Launch.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/numeric/EliminationRecipe.hpp>
#include <kernels/factorization/numeric/FactorRowsOnHost.hpp>
#include <kernels/factorization/numeric/SmallPivots.hpp>
#include <kernels/factorization/symbolic/FactorPatterns.hpp>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<IncompleteFactorsTag> : std::true_type {};

template <class Scalar, class ExecutionSpace>
struct IncompleteFactors<Scalar, ExecutionSpace>::Analysis {
  NewTriangle<Scalar> L, U;
  std::int64_t longest_row = 0;  // of A
  /// Of a GPU, unless there is no row.
  std::unique_ptr<const EliminationRecipe<ExecutionSpace>> recipe;
  // Of enqueue(); empty before prepare_enqueue.
  Kokkos::View<Scalar*, typename ExecutionSpace::memory_space> work;
  HostEliminationWorkspace<Scalar, ExecutionSpace> workspace;
  Kokkos::View<std::int64_t*, typename ExecutionSpace::memory_space> fault;
  PivotReplacer<Scalar, ExecutionSpace> replacer;

  /// @param graph_of_l  gets that, where a device makes it; null: not wanted
  Analysis(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
           NewMatrix<Scalar>& new_l, NewMatrix<Scalar>& new_u,
           const PivotReplacement& replacement,
           GraphWithLevels<ExecutionSpace>* graph_of_l) {
    const std::int64_t rows = A.rows();
    GraphWithLevels<ExecutionSpace> lower;
    // Of more entries, only the check needs memory.
    lower.pool = std::make_shared<WorkPool<ExecutionSpace>>(
        exec, A.num_values < std::size_t{1} << 32
                  ? static_cast<std::size_t>(rows) * 120 + A.num_values * 8
                  : static_cast<std::size_t>(rows) * 16);
    const auto patterns = make_factor_patterns(
        exec, A,
        replacement.takes_zeros || replacement.threshold > 0
            ? ZeroDiagonal::take
            : ZeroDiagonal::refuse,
        new_l, new_u, *lower.pool);
    L = patterns.L;
    U = patterns.U;
    longest_row = patterns.longest_row;
    if (rows == 0) return;
    replacer = {replacement, rows};
    if constexpr (is_gpu<ExecutionSpace>) {
      using Recipe = EliminationRecipe<ExecutionSpace>;
      Recipe::require_size(A.num_values, patterns.longest_upper);
      TriangleInput input;
      input.diag = Diag::unit;
      // Its values are not looked at.
      lower.graph = make_triangle_graph(
          exec, L.arrays.row_map, L.arrays.entries, L.arrays.stored_values(),
          rows, input, lower.pool.get(), &lower.levels);
      recipe = std::make_unique<const Recipe>(exec, A, patterns, lower);
      if (graph_of_l) *graph_of_l = lower;
    }
    exec.fence();
  }
};

template <class Scalar, class ExecutionSpace>
IncompleteFactors<Scalar, ExecutionSpace>::IncompleteFactors(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
    NewMatrix<Scalar>& L, NewMatrix<Scalar>& U,
    const PivotReplacement& replacement,
    GraphWithLevels<ExecutionSpace>* graph_of_l) {
  with_memory_errors("incomplete factors", [&] {
    analysis_ =
        std::make_shared<Analysis>(exec, A, L, U, replacement, graph_of_l);
  });
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactors<Scalar, ExecutionSpace>::compute(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A) const {
  compute(exec, A, analysis_->L.values, analysis_->U.values);
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactors<Scalar, ExecutionSpace>::compute(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A, Scalar* lower,
    Scalar* upper) const {
  with_memory_errors("incomplete factors", [&] {
    if (A.rows() == 0) return;
    const auto L = analysis_->L.with_values(lower),
               U = analysis_->U.with_values(upper);
    const auto pivots = analysis_->replacer.prepare(exec, A);
    if constexpr (!is_gpu<ExecutionSpace>) {
      auto workspace = analysis_->workspace;
      if (!workspace.exists()) workspace = {exec, A, U, analysis_->longest_row};
      workspace.eliminate(exec, A, L, U, pivots);
      std::int64_t first = no_factor_fault;
      run_alone("Strata::IncompleteLu::check::factors", exec,
                CheckAllRows<FactorOutputCheck<Scalar>>{
                    {L.arrays, U.arrays}, A.rows(), &first});
      exec.fence();
      raise_factor_fault(first);
    } else {
      const auto& recipe = *analysis_->recipe;
      Scalar* work = analysis_->work.data();
      typename MemoryPool<typename ExecutionSpace::memory_space>::Pointer taken;
      if (!work) {
        taken = take_workspace<ExecutionSpace>(
            "Strata::IncompleteLu::work",
            static_cast<std::size_t>(recipe.num_values()) * sizeof(Scalar));
        work = reinterpret_cast<Scalar*>(taken->data());
      }
      recipe.eliminate(exec, A, L, U, work, pivots);
      raise_factor_fault(recipe.first_fault(exec));
    }
  });
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactors<Scalar, ExecutionSpace>::prepare_enqueue(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& pattern) const {
  if (pattern.rows() == 0) return;
  if constexpr (!is_gpu<ExecutionSpace>) {
    analysis_->workspace = {exec, pattern, analysis_->U,
                            analysis_->longest_row};
    analysis_->fault = make_unfilled<decltype(analysis_->fault)>(
        "Strata::IncompleteLu::fault", 1);
  } else {
    analysis_->work = make_unfilled<decltype(analysis_->work)>(
        "Strata::IncompleteLu::work", analysis_->recipe->num_values());
  }
}

template <class Scalar, class ExecutionSpace>
const std::int64_t* IncompleteFactors<Scalar, ExecutionSpace>::enqueue(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A, Scalar* lower,
    Scalar* upper) const {
  if (A.rows() == 0) return nullptr;
  const auto L = analysis_->L.with_values(lower),
             U = analysis_->U.with_values(upper);
  const auto pivots = analysis_->replacer.prepare(exec, A);
  if constexpr (!is_gpu<ExecutionSpace>) {
    analysis_->workspace.eliminate(exec, A, L, U, pivots);
    std::int64_t* const fault = analysis_->fault.data();
    run_alone("Strata::IncompleteLu::check::factors", exec,
              CheckAllRows<FactorOutputCheck<Scalar>>{
                  {L.arrays, U.arrays}, A.rows(), fault});
    return fault;
  } else {
    analysis_->recipe->eliminate(exec, A, L, U, analysis_->work.data(), pivots);
    return analysis_->recipe->fault();
  }
}

template <class Scalar, class ExecutionSpace>
ReplacedPivots IncompleteFactors<Scalar, ExecutionSpace>::replaced_pivots(
    const ExecutionSpace& exec) const {
  return analysis_->replacer.found(exec);
}

template <class Scalar, class ExecutionSpace>
std::size_t IncompleteFactors<Scalar, ExecutionSpace>::bytes() const {
  const std::size_t of_pivots = analysis_->replacer.bytes();
  if constexpr (is_gpu<ExecutionSpace>) {
    return of_pivots + (analysis_->recipe ? analysis_->recipe->bytes() : 0) +
           analysis_->work.span() * sizeof(Scalar);
  } else {
    return of_pivots + analysis_->workspace.bytes();
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
