// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PARTITION_METHOD_HPP
#define STRATA_PARTITION_METHOD_HPP

#include <Strata_Error.hpp>
#include <core/interface/Enumerators.hpp>
#include <string>

namespace Strata {

/// How a component too large for one sub-graph is split.
enum class PartitionMethod {
  /// The one with the smallest prediction of the performance model.
  automatic,
  /// Picciau et al.'s Algorithm 3 and variants of ours: as few sub-graphs as
  /// possible, or half as many again, each vertex beside its dependencies. A
  /// graph with one starting vertex, like a grid's, becomes a chain of
  /// sub-graphs.
  heuristic,
  /// Bands of consecutive levels cut into chunks of consecutive rows, which
  /// run side by side in a grid as well.
  level_bands,
  /// The authors' own algorithm, without our additions: Algorithm 3 with the
  /// fewest sub-graphs, starting vertices dealt out in turn, and half as many
  /// starting sub-graphs after each failure. Small components are packed as
  /// tightly as they fit, and equation (5) alone judges the sorting criteria.
  /// docs/algorithms/subgraphs.md says which parts of it our copy of the paper
  /// has, and what is mended.
  picciau_2017
};

namespace Detail {
template <>
struct EnumeratorNames<PartitionMethod> {
  static constexpr const char* list[] = {"automatic", "heuristic",
                                         "level_bands", "picciau_2017"};
};
}  // namespace Detail

inline const char* to_string(PartitionMethod method) {
  return Detail::enumerator_name(method);
}

/// The method of that name; throws OptionError where there is none.
inline PartitionMethod partition_method_from_string(const std::string& name) {
  for (const auto method : Detail::enumerators<PartitionMethod>())
    if (name == to_string(method)) return method;
  throw OptionError("partition method", "there is none called '" + name + "'",
                    "use " + Detail::enumerator_names<PartitionMethod>());
}

}  // namespace Strata

#endif
