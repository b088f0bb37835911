// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SUBGRAPH_ANALYSIS_HPP
#define STRATA_SUBGRAPH_ANALYSIS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_DependencyGraph.hpp>
#include <Strata_Partition.hpp>
#include <Strata_Schedule.hpp>

namespace Strata {

/// What the analysis of Algorithm::subgraphs has found, in host memory, for
/// TriangularOptions::inspect_subgraphs. It refers to objects that end with the
/// call: copy what is to stay. Strata_PlanExport.hpp writes them to files.
struct SubgraphAnalysis {
  const DependencyGraph<Kokkos::HostSpace>& graph;
  const Partition& partition;
  const Schedule& schedule;
};

}  // namespace Strata

#endif
