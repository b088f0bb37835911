// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_FIRST_FIT_HPP
#define STRATA_ANALYSIS_PICCIAU_FIRST_FIT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace Strata {
namespace Detail {

/// Packs items into bins of `capacity`, each in the first bin that has room,
/// and returns every item's bin. No item may exceed the capacity.
///
/// No two bins end up at most half full, so 2 * sum / capacity + 1 bins are
/// enough; a tree over them that knows the most room below each node finds the
/// first fit in O(log bins).
inline std::vector<int> pack_first_fit(const std::vector<int>& sizes,
                                       int capacity) {
  std::int64_t sum = 0;
  for (int size : sizes) sum += size;
  const auto most = std::min<std::int64_t>(std::int64_t(sizes.size()),
                                           2 * sum / capacity + 1);
  std::size_t leaves = 1;
  while (std::int64_t(leaves) < most) leaves *= 2;
  std::vector<int> room(2 * leaves, capacity);

  std::vector<int> bin_of(sizes.size());
  for (std::size_t item = 0; item < sizes.size(); ++item) {
    std::size_t node = 1;
    while (node < leaves) node = 2 * node + (room[2 * node] < sizes[item]);
    bin_of[item] = int(node - leaves);
    room[node] -= sizes[item];
    while (node > 1) {
      node /= 2;
      room[node] = std::max(room[2 * node], room[2 * node + 1]);
    }
  }
  return bin_of;
}

}  // namespace Detail
}  // namespace Strata

#endif
