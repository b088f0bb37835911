// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INCOMPLETE_LU_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_INCOMPLETE_LU_IMPLEMENTATION_HPP

#include <Strata_IncompleteLu.hpp>
#include <Strata_TriangleGraph.hpp>
#include <analysis/level_sets/GraphWithLevels.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/factorization/EliminationRecipe.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/factorization/FactorPatterns.hpp>
#include <kernels/factorization/FactorRowsOnHost.hpp>
#include <kernels/factorization/HostRowShares.hpp>
#include <kernels/factorization/SmallPivots.hpp>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<IncompleteFactorsTag> : std::true_type {};

/// How a host's threads eliminate rows: by as many threads, and in the order,
/// that are predicted to be fastest. The bits of the factors don't depend on
/// that.
template <class ExecutionSpace>
class HostElimination {
  using Memory = typename ExecutionSpace::memory_space;

 public:
  /// @param A            square, with sorted rows, at least one
  /// @param u_row_map    of its upper triangle
  /// @param longest_row  its entries
  template <class Scalar>
  HostElimination(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                  const IndexArray& u_row_map, std::int64_t longest_row)
      : HostElimination(best_shares(exec, A, u_row_map), A.rows(),
                        longest_row) {}
  HostElimination(const HostRowShares& shares, std::int64_t num_rows,
                  std::int64_t longest_row)
      : threads_(shares.threads),
        rows_of_draw_(shares.rows_of_draw),
        longest_(longest_row) {
    if (!shares.row.empty())
      row_ = to_device<int, Memory>("Strata::IncompleteLu::row", shares.row);
    // A ticket counter and, two lines of a cache behind it, a word a row.
    if (threads_ > 1)
      state_ = make_unfilled<Kokkos::View<unsigned*, Memory>>(
          "Strata::IncompleteLu::ready", of_counter + num_rows);
  }

  /// What an elimination needs beside the factors.
  template <class Scalar>
  struct Workspace {
    Kokkos::View<int*, DeviceOf<ExecutionSpace>> a_columns, u_columns;
    Kokkos::View<int*, Memory> places;
    Kokkos::View<Scalar*, Memory> values;
    std::size_t bytes() const {
      return bytes_of_copy(a_columns) + bytes_of_copy(u_columns) +
             places.extent(0) * sizeof(int) + values.extent(0) * sizeof(Scalar);
    }

   private:
    /// Nothing where the columns are those of a pattern.
    static std::size_t bytes_of_copy(
        const Kokkos::View<int*, DeviceOf<ExecutionSpace>>& columns) {
      return columns.use_count() > 0 ? columns.span() * sizeof(int) : 0;
    }
  };
  /// Refers to the patterns' columns where these have 32 bits.
  template <class Scalar>
  Workspace<Scalar> make_workspace(const ExecutionSpace& exec,
                                   const CrsArrays<Scalar>& A,
                                   const NewTriangle<Scalar>& U) const {
    const std::int64_t threads = threads_;
    Workspace<Scalar> made;
    made.a_columns = indices_as<int>(exec, A.entries);
    made.u_columns = indices_as<int>(exec, U.arrays.entries);
    made.places = make_unfilled<Kokkos::View<int*, Memory>>(
        "Strata::IncompleteLu::place_of_column", threads * A.rows());
    Kokkos::deep_copy(exec, made.places, -1);
    made.values = make_unfilled<Kokkos::View<Scalar*, Memory>>(
        "Strata::IncompleteLu::row", threads * longest_);
    return made;
  }

  /// Fills in the values of L and U, whose patterns are those of A's triangles.
  /// Enqueues on `exec`.
  /// @param workspace  of A's pattern, as another elimination has left it
  template <class Scalar>
  void eliminate(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                 const NewTriangle<Scalar>& L, const NewTriangle<Scalar>& U,
                 const SmallPivots<Scalar>& pivots,
                 const Workspace<Scalar>& workspace) const {
    const EliminationArrays<Scalar> arrays{
        A,        L.arrays.row_map, U.arrays.row_map, U.arrays.entries,
        L.values, U.values};
    const auto with = [&](auto alone) {
      return FactorRowsOnHost<Scalar, decltype(alone)::value>{
          arrays,
          workspace.a_columns.data(),
          workspace.u_columns.data(),
          row_.data(),
          state_.data(),
          state_.data() + (alone ? 0 : of_counter),
          rows_of_draw_,
          A.rows(),
          longest_,
          workspace.places.data(),
          workspace.values.data(),
          pivots};
    };
    const char* const label = "Strata::IncompleteLu::eliminate";
    if (threads_ == 1) return run_alone(label, exec, with(std::true_type()));
    run_alone("Strata::IncompleteLu::reset", exec,
              ResetRows{state_.data(), state_.data() + of_counter, A.rows()});
    run_teams<1, 1>(label, exec, threads_, with(std::false_type()));
  }

  int threads() const { return threads_; }
  std::size_t bytes() const {
    return row_.span() * sizeof(int) + state_.extent(0) * sizeof(unsigned);
  }

 private:
  static constexpr std::int64_t of_counter = 32;

  template <class Scalar>
  static HostRowShares best_shares(const ExecutionSpace& exec,
                                   const CrsArrays<Scalar>& A,
                                   const IndexArray& u_row_map) {
    const int threads = threads_at_once(exec.concurrency());
    if (threads == 1) return {};
    TriangleInput lower;
    lower.diag = Diag::unit;
    lower.take_triangle = true;
    const auto graph = triangle_graph(exec, A.row_map, A.entries,
                                      A.stored_values(), A.rows(), lower);
    exec.fence();
    return host_row_shares(graph, u_row_map, threads);
  }

  int threads_;
  std::int64_t rows_of_draw_;
  Kokkos::View<const int*, Memory> row_;  // by place in the order
  std::int64_t longest_;                  // row of A
  Kokkos::View<unsigned*, Memory> state_;
};

template <class Scalar, class ExecutionSpace>
struct IncompleteFactors<Scalar, ExecutionSpace>::Analysis {
  NewTriangle<Scalar> L, U;
  /// One of them, unless there is no row.
  std::unique_ptr<const HostElimination<ExecutionSpace>> on_host;
  std::unique_ptr<const EliminationRecipe<ExecutionSpace>> recipe;
  // Of enqueue(); empty before prepare_enqueue.
  Kokkos::View<Scalar*, typename ExecutionSpace::memory_space> work;
  typename HostElimination<ExecutionSpace>::template Workspace<Scalar>
      workspace;
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
        replacement.threshold > 0 ? ZeroDiagonal::take : ZeroDiagonal::refuse,
        new_l, new_u, *lower.pool);
    L = patterns.L;
    U = patterns.U;
    if (rows == 0) return;
    replacer = {replacement, rows};
    if constexpr (is_gpu<ExecutionSpace>) {
      using Recipe = EliminationRecipe<ExecutionSpace>;
      Recipe::require_size(A.num_values, patterns.longest_upper);
      TriangleInput input;
      input.diag = Diag::unit;
      lower.levels.wants_order = graph_of_l != nullptr;
      // Its values are not looked at.
      lower.graph = make_triangle_graph(
          exec, L.arrays.row_map, L.arrays.entries, L.arrays.stored_values(),
          rows, input, lower.pool.get(), &lower.levels);
      recipe = std::make_unique<const Recipe>(exec, A, patterns, lower);
      if (graph_of_l) *graph_of_l = lower;
    } else {
      on_host = std::make_unique<const HostElimination<ExecutionSpace>>(
          exec, A, U.arrays.row_map, patterns.longest_row);
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
      const auto& on_host = *analysis_->on_host;
      const auto& held = analysis_->workspace;
      on_host.eliminate(
          exec, A, L, U, pivots,
          held.bytes() > 0 ? held : on_host.make_workspace(exec, A, U));
      if (on_host.threads() == 1) {
        std::int64_t first = no_factor_fault;
        run_alone("Strata::IncompleteLu::check::factors", exec,
                  CheckAllRows<FactorOutputCheck<Scalar>>{
                      {L.arrays, U.arrays}, A.rows(), &first});
        exec.fence();
        return raise_factor_fault(first);
      }
      exec.fence();
      raise_factor_faults("Strata::IncompleteLu::check::factors", exec,
                          A.rows(),
                          FactorOutputCheck<Scalar>{L.arrays, U.arrays});
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
    analysis_->workspace =
        analysis_->on_host->make_workspace(exec, pattern, analysis_->U);
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
    analysis_->on_host->eliminate(exec, A, L, U, pivots, analysis_->workspace);
    std::int64_t* const fault = analysis_->fault.data();
    using Check = FactorOutputCheck<Scalar>;
    const Check check{L.arrays, U.arrays};
    if (analysis_->on_host->threads() == 1) {
      run_alone("Strata::IncompleteLu::check::factors", exec,
                CheckAllRows<Check>{check, A.rows(), fault});
      return fault;
    }
    using Range =
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
    Kokkos::parallel_for("Strata::IncompleteLu::reset", Range(exec, 0, 1),
                         ResetFactorFault{fault});
    Kokkos::parallel_for("Strata::IncompleteLu::check::factors",
                         Range(exec, 0, A.rows()),
                         CheckInto<Check>{check, fault});
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
    return of_pivots + (analysis_->on_host ? analysis_->on_host->bytes() : 0) +
           analysis_->workspace.bytes();
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
