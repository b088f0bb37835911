// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_FOR_EACH_SUBGRAPH_HPP
#define STRATA_ANALYSIS_PICCIAU_FOR_EACH_SUBGRAPH_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Calls visit(g) for every sub-graph, in parallel on the host, or one after
/// the other where there is so little to do that waking the threads, several
/// times while sorting criteria are compared, would take longer.
template <class Visit>
void for_each_subgraph(const char* label, int count, std::int64_t edges,
                       const Visit& visit) {
  if (count < 2 || edges < 100000) {
    for (int g = 0; g < count; ++g) visit(g);
    return;
  }
  Kokkos::parallel_for(
      label,
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace,
                          Kokkos::Schedule<Kokkos::Dynamic>>(0, count),
      [&](const int g) { visit(g); });
}

}  // namespace Detail
}  // namespace Strata

#endif
