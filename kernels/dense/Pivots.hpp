// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_PIVOTS_HPP
#define STRATA_KERNELS_DENSE_PIVOTS_HPP

#include <cstdint>
#include <kernels/dense/PanelState.hpp>
#include <vector>

namespace Strata {
namespace Detail {

/// Pivots of an elimination: pivot q is in row q and column columns[q].
struct Pivots {
  std::vector<std::int64_t> columns;
  /// As in EliminationStatus.
  int lacking = EliminationStatus::none, overflow = EliminationStatus::none;

  /// Whether pivot q is in column q, for all q.
  bool leading() const {
    return columns.empty() ||
           columns.back() == static_cast<std::int64_t>(columns.size()) - 1;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
