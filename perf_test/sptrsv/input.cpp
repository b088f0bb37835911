// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices from files and from the gallery for one scalar type,
// STRATA_PERF_SCALAR.
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfTriangle.hpp>

namespace Strata {
namespace PerfTest {

template <class Scalar>
Problem<Scalar> make_problem(const typename Problem<Scalar>::Matrix& triangle,
                             Uplo uplo, int rhs) {
  using Kokkos::create_mirror_view_and_copy;
  Problem<Scalar> problem;
  problem.uplo = uplo;
  problem.matrix = triangle;
  TriangleInput input;
  input.uplo = problem.uplo;
  problem.levels = count_levels(problem.matrix, input);
  const Kokkos::HostSpace host;
  const auto& graph = problem.matrix.graph;
  problem.host_row_map = create_mirror_view_and_copy(host, graph.row_map);
  problem.host_entries = create_mirror_view_and_copy(host, graph.entries);
  problem.host_values =
      create_mirror_view_and_copy(host, problem.matrix.values);
  make_vectors(problem, rhs);
  return problem;
}

template <class Scalar>
Problem<Scalar> load_problem(const MatrixSource& source, Factor factor,
                             GalleryOrder reorder, int rhs) {
  using Matrix = typename Problem<Scalar>::Matrix;
  return make_problem<Scalar>(load_triangle<Matrix>(source, factor, reorder),
                              uplo_of(factor), rhs);
}

template Problem<STRATA_PERF_SCALAR> make_problem<STRATA_PERF_SCALAR>(
    const Problem<STRATA_PERF_SCALAR>::Matrix&, Uplo, int);
template Problem<STRATA_PERF_SCALAR> load_problem(const MatrixSource&, Factor,
                                                  GalleryOrder, int);

}  // namespace PerfTest
}  // namespace Strata
