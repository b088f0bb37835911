// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_LEVELS_HPP
#define STRATA_PERF_LEVELS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_TriangleGraph.hpp>
#include <cstdint>

namespace Strata {
namespace PerfTest {

/// Level sets of the triangle of A that `input` describes, found on the host.
template <class Matrix>
std::int64_t count_levels(const Matrix& A, const TriangleInput& input) {
  const typename Matrix::execution_space exec;
  return find_level_sets(
             mirror_graph(Kokkos::HostSpace(),
                          triangle_graph(exec, A.graph.row_map, A.graph.entries,
                                         A.values, A.numCols(), input)))
      .num_levels;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
