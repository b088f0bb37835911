// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INCOMPLETE_LU_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_INCOMPLETE_LU_IMPLEMENTATION_HPP

#include <Strata_IncompleteLu.hpp>
#include <Strata_TriangleGraph.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/matrix/LongestRow.hpp>
#include <core/matrix/TriangleImplementation.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/factorization/FactorRowsOnHost.hpp>
#include <kernels/factorization/SpilukElimination.hpp>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<IncompleteFactorization> : std::true_type {};

/// The order in which rows are eliminated, that of their numbers for one thread
/// and by level sets of L for many; and who takes which.
template <class ExecutionSpace>
class EliminationPlan {
  using Memory = typename ExecutionSpace::memory_space;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

 public:
  /// @param A            square, with sorted rows, at least one
  /// @param longest_row  its entries
  template <class Scalar>
  EliminationPlan(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                  std::int64_t longest_row)
      : longest_(longest_row) {
    const std::int64_t n = A.rows();
    if (is_gpu<ExecutionSpace> || exec.concurrency() > 1) {
      TriangleInput lower;
      lower.diag = Diag::unit;
      lower.take_triangle = true;
      const auto graph = triangle_graph(exec, A.row_map, A.entries,
                                        A.stored_values(), n, lower);
      order_ = order_by_level(exec, graph, WithinLevel::longest_rows_first);
    }
    if constexpr (is_gpu<ExecutionSpace>) {
      make_tasks(exec,
                 static_cast<double>(A.num_values) / static_cast<double>(n));
    }
    drawn_ = make_unfilled<Kokkos::View<unsigned*, Memory>>(
        "Strata::IncompleteLu::drawn", 1);
    // What is not needed any more.
    order_.level_of = order_.permuted_row = order_.length = {};
  }

  /// Fills in the values of L and U, whose patterns are those of A's triangles.
  /// Waits for `exec`.
  template <class Scalar>
  void eliminate(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                 const NewTriangle<Scalar>& L,
                 const NewTriangle<Scalar>& U) const {
    const EliminationArrays<Scalar> arrays{
        A,        L.arrays.row_map, U.arrays.row_map, U.arrays.entries,
        L.values, U.values};
    Kokkos::parallel_for(
        "Strata::IncompleteLu::reset",
        Range(exec, 0, static_cast<std::int64_t>(U.arrays.num_values)),
        ResetElimination<Scalar>{U.values, drawn_.data()});
    if constexpr (is_gpu<ExecutionSpace>) {
      run_warps(exec, arrays);
    } else {
      run_threads(exec, arrays);
    }
  }

 private:
  /// A task for each few rows of a level set.
  void make_tasks(const ExecutionSpace& exec, double row_length) {
    constexpr int width = lane_width<ExecutionSpace>;
    // A row of U, about half a row of A, at once.
    while (1 << tasks_.log_lanes < width &&
           1 << tasks_.log_lanes < row_length / 2)
      ++tasks_.log_lanes;
    tasks_.rows = width >> tasks_.log_lanes;
    const auto& sizes = order_.sizes;
    std::vector<int> first_task(1, 0);
    for (int level = 0; level < sizes.num_levels; ++level)
      first_task.push_back(first_task.back() +
                           (sizes.rows(level) - 1) / tasks_.rows + 1);
    tasks_.num_tasks = first_task.back();
    const std::string label = "Strata::IncompleteLu::tasks";
    task_start_ = make_unfilled<Kokkos::View<int*, Memory>>(
        label, std::int64_t{tasks_.num_tasks} + 1);
    const auto first = make_unfilled<Kokkos::View<int*, Memory>>(
        label, static_cast<std::int64_t>(first_task.size()));
    Kokkos::deep_copy(exec, first,
                      Kokkos::View<const int*, Kokkos::HostSpace,
                                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                          first_task.data(), first_task.size()));
    Kokkos::parallel_for(
        label, Range(exec, 0, std::int64_t{tasks_.num_tasks} + 1),
        FillTaskStarts<Memory>{order_.level_map, first, task_start_,
                               sizes.num_levels, tasks_.rows});
    exec.fence();
    tasks_.row = order_.vertex.data();
    tasks_.task_start = task_start_.data();
  }

  template <class Scalar>
  void run_warps(const ExecutionSpace& exec,
                 const EliminationArrays<Scalar>& arrays) const {
    using Factor = FactorRows<Scalar, ExecutionSpace>;
    Factor run{arrays, tasks_, drawn_.data(), nullptr, 1};
    // Scratch for as many teams of a multiprocessor as it has registers for.
    constexpr std::int64_t most_bytes = 24 * 1024;
    const auto bytes_of_one =
        static_cast<std::int64_t>(run.scratch_bytes() - Factor::slack);
    run.capacity =
        static_cast<int>(std::min(longest_, most_bytes / bytes_of_one));
    Kokkos::View<Scalar*, Memory> work;
    if (longest_ > run.capacity)
      work = make_unfilled<decltype(work)>(
          "Strata::IncompleteLu::work",
          static_cast<std::int64_t>(arrays.A.num_values));
    run.work = work.data();
    // Rows of some level sets, so that those to come are prepared in time; the
    // waiting of many more would slow down those that matter.
    constexpr std::int64_t levels_at_once = 16;
    const std::int64_t multiprocessors = num_multiprocessors(exec);
    const std::int64_t teams = std::clamp<std::int64_t>(
        levels_at_once * tasks_.num_tasks / order_.num_levels() / Factor::warps,
        multiprocessors,
        multiprocessors * Factor::most_teams_per_multiprocessor);
    run_teams<Factor::most_teams_per_multiprocessor, Factor::team_size>(
        "Strata::IncompleteLu::eliminate", exec,
        static_cast<int>(std::min<std::int64_t>(teams, run.num_tickets())), run,
        run.scratch_bytes(), false);
    exec.fence();
  }

  template <class Scalar>
  void run_threads(const ExecutionSpace& exec,
                   const EliminationArrays<Scalar>& arrays) const {
    constexpr int rows = FactorRowsOnHost<Scalar, true>::rows_of_draw;
    const std::int64_t n = arrays.A.rows();
    const std::int64_t threads =
        order_.vertex.extent(0) == 0
            ? 1
            : std::min<std::int64_t>(exec.concurrency(), (n + rows - 1) / rows);
    const auto a_columns = indices_as<int>(exec, arrays.A.entries);
    const auto u_columns = indices_as<int>(exec, arrays.u_entries);
    const auto places = make_unfilled<Kokkos::View<int*, Memory>>(
        "Strata::IncompleteLu::place_of_column", threads * n);
    Kokkos::deep_copy(exec, places, -1);
    const auto values = make_unfilled<Kokkos::View<Scalar*, Memory>>(
        "Strata::IncompleteLu::row", threads * longest_);
    const auto run = [&](auto alone) {
      using Factor = FactorRowsOnHost<Scalar, decltype(alone)::value>;
      run_teams<1, 1>(
          "Strata::IncompleteLu::eliminate", exec, static_cast<int>(threads),
          Factor{arrays, a_columns.data(), u_columns.data(),
                 alone ? nullptr : order_.vertex.data(), drawn_.data(), n,
                 longest_, places.data(), values.data()});
      exec.fence();
    };
    if (threads == 1)
      run(std::true_type());
    else
      run(std::false_type());
  }

  LevelOrder<Memory> order_;
  EliminationTasks tasks_;
  std::int64_t longest_;  // row of A
  Kokkos::View<int*, Memory> task_start_;
  Kokkos::View<unsigned*, Memory> drawn_;
};

/// Entries of a row up to which FactorRows was seen to be the faster one. Lanes
/// look up one entry of U after the other: on an H200, in double, it took 321
/// ms for memplus, which has rows of 574 entries, and spiluk 45 ms; in a row of
/// 81 entries (bcsstk16) 4.2 ms and 47 ms.
inline constexpr std::int64_t most_entries_for_lanes = 128;

template <class Scalar, class ExecutionSpace>
struct IncompleteFactors<Scalar, ExecutionSpace>::Analysis {
  NewTriangle<Scalar> L, U;
  /// None where spiluk eliminates, or there is no row.
  std::unique_ptr<const EliminationPlan<ExecutionSpace>> plan;

  Analysis(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
           NewMatrix<Scalar>& new_l, NewMatrix<Scalar>& new_u) {
    check_factor_input(exec, A);
    const std::int64_t rows = A.rows();
    if (rows > std::numeric_limits<int>::max() - 1)
      throw IndexOverflowError(
          "A", std::to_string(rows) + " rows do not fit 32-bit row numbers",
          "split the system into blocks of at most 2147483646 rows");
    L = triangle_of(exec, A, Uplo::lower, MissingDiagonal::leave, new_l);
    U = triangle_of(exec, A, Uplo::upper, MissingDiagonal::leave, new_u);
    if (rows == 0) return;
    const std::int64_t longest = longest_row(exec, A.row_map);
    if (!is_gpu<ExecutionSpace> || longest <= most_entries_for_lanes)
      plan =
          std::make_unique<EliminationPlan<ExecutionSpace>>(exec, A, longest);
  }
};

template <class Scalar, class ExecutionSpace>
IncompleteFactors<Scalar, ExecutionSpace>::IncompleteFactors(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
    NewMatrix<Scalar>& L, NewMatrix<Scalar>& U) {
  with_memory_errors("incomplete factors", [&] {
    analysis_ = std::make_shared<const Analysis>(exec, A, L, U);
  });
}

template <class Scalar, class ExecutionSpace>
void IncompleteFactors<Scalar, ExecutionSpace>::compute(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A) const {
  with_memory_errors("incomplete factors", [&] {
    if (A.rows() == 0) return;
    const auto &L = analysis_->L, &U = analysis_->U;
    if (analysis_->plan) {
      analysis_->plan->eliminate(exec, A, L, U);
    } else if constexpr (is_gpu<ExecutionSpace>) {
      eliminate_by_spiluk(exec, A, L, U, std::int64_t{4} << 30);
    }
    raise_factor_faults("Strata::IncompleteLu::check::factors", exec, A.rows(),
                        FactorOutputCheck<Scalar>{L.arrays, U.arrays});
  });
}

}  // namespace Detail
}  // namespace Strata

#endif
