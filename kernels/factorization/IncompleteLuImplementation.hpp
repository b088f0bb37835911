// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INCOMPLETE_LU_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_INCOMPLETE_LU_IMPLEMENTATION_HPP

#include <Strata_IncompleteLu.hpp>
#include <Strata_TriangleGraph.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/device/Launch.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <core/memory/ToDevice.hpp>
#include <cstring>
#include <kernels/factorization/fronts/EliminationFronts.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/numeric/EliminationRecipe.hpp>
#include <kernels/factorization/numeric/FactorRowsOnHost.hpp>
#include <kernels/factorization/numeric/SmallPivots.hpp>
#include <kernels/factorization/symbolic/FactorPatterns.hpp>
#include <memory>
#include <type_traits>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<IncompleteFactorsTag> : std::true_type {};

template <class Scalar, class ExecutionSpace>
struct IncompleteFactors<Scalar, ExecutionSpace>::Analysis {
  using Memory = typename ExecutionSpace::memory_space;

  FactorPatterns<Scalar> patterns;
  /// Of a GPU, unless there is no row: one of them.
  std::unique_ptr<const EliminationRecipe<ExecutionSpace>> recipe;
  std::unique_ptr<const EliminationFronts<ExecutionSpace>> fronts;
  Kokkos::View<std::int64_t*, Memory> fault;  // of the last elimination
  // What an elimination on a GPU or on a host works in: of enqueue(), and empty
  // before prepare_enqueue.
  Kokkos::View<Scalar*, Memory> work;
  HostEliminationWorkspace<Scalar, ExecutionSpace> workspace;
  // Of pivots that are replaced, see SmallPivots; else empty.
  PivotReplacement replacement;
  Kokkos::View<RealOf<Scalar>*, Memory> least_pivots;
  Kokkos::View<std::int64_t*, Memory> small_pivots;

  /// @param graph_of_l  gets that, where a device makes it; null: not wanted
  /// @param most_bytes  of fronts and their plan
  Analysis(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
           NewMatrix<Scalar>& new_l, NewMatrix<Scalar>& new_u,
           const PivotReplacement& how,
           GraphWithLevels<ExecutionSpace>* graph_of_l, std::size_t most_bytes)
      : replacement(how) {
    const std::int64_t rows = A.rows();
    GraphWithLevels<ExecutionSpace> lower;
    // Of more entries, only the check needs memory.
    lower.pool = std::make_shared<WorkPool<ExecutionSpace>>(
        exec, A.num_values < std::size_t{1} << 32
                  ? static_cast<std::size_t>(rows) * 120 + A.num_values * 8
                  : static_cast<std::size_t>(rows) * 16);
    patterns = make_factor_patterns(
        exec, A,
        replacement.takes_zeros || replacement.threshold > 0
            ? ZeroDiagonal::take
            : ZeroDiagonal::refuse,
        new_l, new_u, *lower.pool);
    if (rows == 0) return;
    if (how.threshold > 0) {
      make_unfilled(least_pivots, "Strata::IncompleteLu::least_pivots", rows);
      make_unfilled(small_pivots, "Strata::IncompleteLu::small_pivots", 2);
    }
    if constexpr (is_gpu<ExecutionSpace>) {
      make_fronts(exec, A, most_bytes);
      if (!fronts || graph_of_l) make_graph(exec, lower);
      if (!fronts) make_recipe(exec, A, lower);
      fault = fronts ? fronts->fault() : recipe->fault();
      if (graph_of_l) *graph_of_l = lower;
    } else {
      make_unfilled(fault, "Strata::IncompleteLu::fault", 1);
    }
    exec.fence();
  }

  void make_fronts(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                   std::size_t most_bytes) {
    using Fronts = EliminationFronts<ExecutionSpace>;
    const CrsArrays<Scalar>&L = patterns.L.arrays, &U = patterns.U.arrays;
    const auto found =
        Fronts::suits(exec, {A.row_map, A.entries, L.row_map, U.row_map},
                      A.rows(), static_cast<std::int64_t>(A.num_values),
                      static_cast<std::int64_t>(U.num_values));
    if (found.is_closed)
      fronts = Fronts::make(exec, A, patterns, found.is_symmetric, most_bytes);
  }
  void make_graph(const ExecutionSpace& exec,
                  GraphWithLevels<ExecutionSpace>& lower) const {
    TriangleInput input;
    input.diag = Diag::unit;
    // Its values are not looked at.
    const CrsArrays<Scalar>& of_l = patterns.L.arrays;
    lower.graph = make_triangle_graph(exec, of_l.row_map, of_l.entries,
                                      of_l.stored_values(), of_l.rows(), input,
                                      lower.pool.get(), &lower.levels);
  }
  void make_recipe(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                   const GraphWithLevels<ExecutionSpace>& lower) {
    using Recipe = EliminationRecipe<ExecutionSpace>;
    Recipe::require_size(A.num_values, patterns.longest_upper);
    recipe = std::make_unique<const Recipe>(exec, A, patterns, lower);
  }
  /// Of what a GPU eliminates in.
  std::int64_t num_values() const {
    return fronts ? fronts->num_values() : recipe->num_values();
  }

  /// Enqueues the elimination of A into these values of L and U.
  /// @param in  work or workspace, or one that was made for this
  template <class Work>
  void eliminate(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                 Scalar* lower, Scalar* upper, const Work& in) const {
    const auto new_l = patterns.L.with_values(lower),
               new_u = patterns.U.with_values(upper);
    SmallPivots<Scalar> pivots;
    if (replacement.threshold > 0) {
      pivots = {least_pivots.data(), replacement.positive, small_pivots.data(),
                replacement.real};
      for_each_index("Strata::IncompleteLu::least_pivots", exec, A.rows(),
                     FindLeastPivots<Scalar>{
                         A, static_cast<RealOf<Scalar>>(replacement.threshold),
                         least_pivots.data(), small_pivots.data()});
    }
    if constexpr (is_gpu<ExecutionSpace>) {
      if (fronts)
        fronts->eliminate(exec, A, new_l, new_u, in, pivots);
      else
        recipe->eliminate(exec, A, new_l, new_u, in, pivots);
    } else {
      in.eliminate(exec, A, new_l, new_u, pivots, fault.data());
    }
  }
};

template <class Scalar, class ExecutionSpace>
IncompleteFactors<Scalar, ExecutionSpace>::IncompleteFactors(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
    NewMatrix<Scalar>& L, NewMatrix<Scalar>& U,
    const PivotReplacement& replacement,
    GraphWithLevels<ExecutionSpace>* graph_of_l, std::size_t most_bytes) {
  with_memory_errors("incomplete factors", [&] {
    analysis_ = std::make_shared<Analysis>(exec, A, L, U, replacement,
                                           graph_of_l, most_bytes);
  });
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactors<Scalar, ExecutionSpace>::compute(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A, Scalar* lower,
    Scalar* upper) const {
  if (A.rows() == 0) return;
  with_memory_errors("incomplete factors", [&] {
    const Analysis& of = *analysis_;
    if (!lower) lower = of.patterns.L.values;
    if (!upper) upper = of.patterns.U.values;
    std::int64_t first = no_fault;
    if constexpr (!is_gpu<ExecutionSpace>) {
      auto workspace = of.workspace;
      if (!workspace.exists()) workspace = {exec, A, of.patterns};
      of.eliminate(exec, A, lower, upper, workspace);
      copy_to_host(exec, of.fault, &first);
    } else {
      Scalar* work = of.work.data();
      typename MemoryPool<typename Analysis::Memory>::Pointer taken;
      if (!work) {
        taken = take_workspace<ExecutionSpace>(
            "Strata::IncompleteLu::work",
            static_cast<std::size_t>(of.num_values()) * sizeof(Scalar));
        work = reinterpret_cast<Scalar*>(taken->data());
      }
      of.eliminate(exec, A, lower, upper, work);
      copy_to_host(exec, of.fault, &first);
    }
    raise_factor_fault(first);
  });
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactors<Scalar, ExecutionSpace>::prepare_enqueue(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& pattern) const {
  if (pattern.rows() == 0) return;
  if constexpr (!is_gpu<ExecutionSpace>) {
    analysis_->workspace = {exec, pattern, analysis_->patterns};
  } else {
    analysis_->work = make_unfilled<decltype(analysis_->work)>(
        "Strata::IncompleteLu::work", analysis_->num_values());
  }
}

template <class Scalar, class ExecutionSpace>
const std::int64_t* IncompleteFactors<Scalar, ExecutionSpace>::enqueue(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A, Scalar* lower,
    Scalar* upper) const {
  if (A.rows() == 0) return nullptr;
  if constexpr (is_gpu<ExecutionSpace>) {
    analysis_->eliminate(exec, A, lower, upper, analysis_->work.data());
  } else {
    analysis_->eliminate(exec, A, lower, upper, analysis_->workspace);
  }
  return analysis_->fault.data();
}

template <class Scalar, class ExecutionSpace>
ReplacedPivots IncompleteFactors<Scalar, ExecutionSpace>::replaced_pivots(
    const ExecutionSpace& exec) const {
  ReplacedPivots found;
  if (analysis_->small_pivots.extent(0) == 0) return found;
  std::int64_t on_host[2];
  copy_to_host(exec, analysis_->small_pivots, on_host);
  found.count = on_host[0];
  std::memcpy(&found.largest_change, on_host + 1, sizeof(double));
  return found;
}

template <class Scalar, class ExecutionSpace>
std::size_t IncompleteFactors<Scalar, ExecutionSpace>::bytes() const {
  const std::size_t of_pivots =
      analysis_->least_pivots.span() * sizeof(RealOf<Scalar>) +
      analysis_->small_pivots.span() * sizeof(std::int64_t);
  if constexpr (is_gpu<ExecutionSpace>) {
    return of_pivots + (analysis_->recipe ? analysis_->recipe->bytes() : 0) +
           (analysis_->fronts ? analysis_->fronts->bytes() : 0) +
           analysis_->work.span() * sizeof(Scalar);
  } else {
    return of_pivots + analysis_->workspace.bytes();
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
