// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_BLOCKS_OF_MATRIX_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_BLOCKS_OF_MATRIX_HPP

#include <Strata_TriangleGraph.hpp>
#include <core/matrix/InspectValues.hpp>
#include <cstring>
#include <kernels/triangular/blocks/BlockSubstitution.hpp>
#include <kernels/triangular/blocks/BlocksOfGraph.hpp>
#include <kernels/triangular/selection/MemoryBudget.hpp>
#include <limits>
#include <memory>

namespace Strata {
namespace Detail {

/// `blocks` made from a matrix, and what an inspection found of its values.
template <class Scalar, class ExecutionSpace>
struct BlocksOfMatrix {
  /// None where blocks have to be made from the dependency graph.
  std::shared_ptr<TriangularAlgorithm<Scalar, ExecutionSpace>> algorithm;
  ValuesInspection inspection;
  /// Temporary arrays: to be kept until `exec` has been waited for.
  std::shared_ptr<const void> analysis;
};

/// Makes `blocks` straight from the user's matrix: the checks of
/// triangle_graph and the inspection of the values, but neither a graph nor
/// level sets, and one wait of the host.
///
/// Returns without an algorithm where op transposes, rows are not sorted, or
/// anything is wrong with the matrix: the dependency graph, which is made then,
/// says what.
/// @throws PlanMemoryError where `options` allow less memory
/// Cost: three passes over the pattern and one over the values; ten launches
/// and two allocations.
template <class Scalar, class ExecutionSpace>
BlocksOfMatrix<Scalar, ExecutionSpace> blocks_of_matrix(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
    const TriangleInput& input, const TriangularOptions& options,
    TriangularReport& report) {
  using Memory = typename ExecutionSpace::memory_space;
  using Analysis = EllAnalysis<ExecutionSpace>;
  using Solve = BlockSubstitution<Scalar, ExecutionSpace>;
  BlocksOfMatrix<Scalar, ExecutionSpace> made;
  const auto stored = static_cast<std::int64_t>(A.entries.extent(0));
  const std::int64_t columns = A.columns;
  if (columns < 1 || columns > std::numeric_limits<int>::max() - 1 ||
      input.op != Op::none ||
      static_cast<std::int64_t>(A.row_map.extent(0)) != columns + 1 ||
      A.num_values != A.entries.extent(0))
    return made;
  const bool lower = input.uplo == Uplo::lower;
  const bool unit = input.diag == Diag::unit;
  const auto analysis = std::make_shared<Analysis>(
      exec, static_cast<int>(columns), stored, true, Solve::limits());
  for_each_row("Strata::TriangleCheck::rows", exec, columns, stored,
               TriangleCheck<Memory>{A.row_map, A.entries, A.stored_values(),
                                     columns, stored, lower, unit,
                                     input.take_triangle, analysis->status(),
                                     analysis->strict(), analysis->diagonal()});
  // Where there is none on the diagonal the places say so; a unit diagonal is
  // not looked at.
  DiagonalPlaces<Memory> diagonal;
  if (!unit) diagonal.value_index.wide = analysis->diagonal();
  static_assert(
      sizeof(ValuesInspection) ==
          (EllHead::size - EllHead::inspection) * sizeof(std::int64_t),
      "as many words as the head has for it");
  inspect_values_into<Scalar>(exec, diagonal, ScaledEntries<Memory>{}, A.values,
                              A.row_map, A.entries,
                              Kokkos::View<ValuesInspection, Memory>(
                                  reinterpret_cast<ValuesInspection*>(
                                      analysis->head(EllHead::inspection))));
  analysis->enqueue(exec, A.row_map, A.entries, lower, unit);
  analysis->fetch(exec);
  std::memcpy(static_cast<void*>(&made.inspection), analysis->inspection(),
              sizeof(ValuesInspection));
  if (!analysis->sound() ||
      made.inspection.zero_row != ValuesInspection::no_row)
    return made;
  const std::int64_t edges = analysis->found(EllHead::edges);
  report.entries = edges + (unit ? 0 : columns);
  report.crs_bytes = crs_bytes<Scalar>(columns, report.entries);
  report.right_hand_sides = options.max_right_hand_sides;
  const MemoryBudget budget(options, report.crs_bytes);
  if (budget.limited()) report.max_plan_bytes = budget.bytes();
  const auto sizes = plan_sizes<Scalar, ExecutionSpace>(
      columns, edges, analysis->num_blocks(), stored);
  const std::size_t least = least_bytes_of_blocks(sizes);
  if (!budget.allows(least))
    refuse_named_plan(budget, sizes, Algorithm::blocks, least, false);
  const auto solve = std::make_shared<Solve>(
      exec, *analysis,
      DiagonalSource{analysis->diagonal().data(), true, unit, !lower},
      static_cast<std::int64_t>(A.num_values), false);
  if (!budget.allows(solve->bytes())) {
    // Being filled.
    exec.fence();
    refuse_named_plan(budget, sizes, Algorithm::blocks, solve->bytes(), true);
  }
  solve->describe(report);
  report.algorithm = Algorithm::blocks;
  report.reason = "asked for";
  made.algorithm = solve;
  made.analysis = analysis;
  return made;
}

}  // namespace Detail
}  // namespace Strata

#endif
