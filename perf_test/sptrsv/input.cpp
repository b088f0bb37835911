// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices from files and from the gallery for one scalar type,
// STRATA_PERF_SCALAR.
#include <Strata_LevelSets.hpp>
#include <Strata_TriangleGraph.hpp>
#include <detail/Strata_PerfInput.hpp>
#include <detail/Strata_PerfTriangle.hpp>

namespace Strata {
namespace PerfTest {

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
  problem.uplo = uplo_of(factor);
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
