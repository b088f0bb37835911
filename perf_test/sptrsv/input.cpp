// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices from files and from the gallery for one scalar type,
// STRATA_PERF_SCALAR.
#include <Strata_Gallery.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_MatrixMarket.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangleGraph.hpp>
#include <detail/Strata_PerfInput.hpp>

namespace Strata {
namespace PerfTest {

/// The triangle that `factor` takes of the source's matrix. Rows of a plain
/// triangle without a diagonal entry get a dominant one: the patterns of
/// graphs have none, and ones would make the solution grow without bound.
template <class Matrix>
Matrix load_triangle(const MatrixSource& source, Factor factor,
                     Reorder reorder) {
  const typename Matrix::execution_space exec;
  Matrix whole = source.is_file ? read_matrix_market<Matrix>(source.spec)
                                : gallery<Matrix>(exec, source.spec);
  if (reorder == Reorder::level)
    whole = permute_symmetric(exec, whole, level_permutation(exec, whole));
  switch (factor) {
    case Factor::lower:
      return take_triangle(exec, whole, Uplo::lower, MissingDiagonal::dominant);
    case Factor::upper:
      return take_triangle(exec, whole, Uplo::upper, MissingDiagonal::dominant);
    case Factor::ilu0_l:
      return incomplete_lu(exec, whole).L;
    default:
      return incomplete_lu(exec, whole).U;
  }
}

template <class Scalar>
std::int64_t count_levels(const Problem<Scalar>& problem) {
  TriangleInput input;
  input.uplo = problem.uplo;
  const auto& graph = problem.matrix.graph;
  const typename Problem<Scalar>::ExecutionSpace exec;
  return find_level_sets(
             mirror_graph(Kokkos::HostSpace(),
                          triangle_graph(exec, graph.row_map, graph.entries,
                                         problem.matrix.values,
                                         problem.matrix.numCols(), input)))
      .num_levels;
}

template <class Scalar>
Problem<Scalar> load_problem(const MatrixSource& source, Factor factor,
                             Reorder reorder, int rhs) {
  using Kokkos::create_mirror_view_and_copy;
  Problem<Scalar> problem;
  problem.uplo = factor == Factor::lower || factor == Factor::ilu0_l
                     ? Uplo::lower
                     : Uplo::upper;
  problem.matrix =
      load_triangle<typename Problem<Scalar>::Matrix>(source, factor, reorder);
  problem.levels = count_levels(problem);
  const Kokkos::HostSpace host;
  const auto& graph = problem.matrix.graph;
  problem.host_row_map = create_mirror_view_and_copy(host, graph.row_map);
  problem.host_entries = create_mirror_view_and_copy(host, graph.entries);
  problem.host_values =
      create_mirror_view_and_copy(host, problem.matrix.values);
  make_vectors(problem, rhs);
  return problem;
}

template Problem<STRATA_PERF_SCALAR> load_problem(const MatrixSource&, Factor,
                                                  Reorder, int);

}  // namespace PerfTest
}  // namespace Strata
