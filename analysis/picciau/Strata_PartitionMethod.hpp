// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PARTITION_METHOD_HPP
#define STRATA_PARTITION_METHOD_HPP

#include <core/interface/Enumerators.hpp>

namespace Strata {

/// How a component too large for one sub-graph is split.
enum class PartitionMethod {
  /// Whatever the performance model likes best.
  automatic,
  /// Picciau et al.'s Algorithm 3: as few sub-graphs as possible, each vertex
  /// beside its
  /// sources. A graph with one starting vertex, like a grid's, becomes a chain
  /// of sub-graphs.
  heuristic,
  /// Bands of consecutive levels cut into chunks of consecutive rows, which
  /// run side by side in a grid as well.
  level_bands
};

namespace Detail {
template <>
struct EnumeratorNames<PartitionMethod> {
  static constexpr const char* list[] = {"automatic", "heuristic",
                                         "level_bands"};
};
}  // namespace Detail

inline const char* to_string(PartitionMethod method) {
  return Detail::enumerator_name(method);
}

}  // namespace Strata

#endif
