// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PICCIAU_PACK_COMPONENTS_HPP
#define STRATA_ANALYSIS_PICCIAU_PACK_COMPONENTS_HPP

#include <algorithm>
#include <analysis/picciau/FirstFit.hpp>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace Strata {
namespace Detail {

/// Packs components into sub-graphs of at most `max_rows` vertices and returns
/// every component's sub-graph. No component may have more.
///
/// Where there are enough of them, into runs of neighbours of about the same
/// work: `concurrency` runs, or a multiple of it where those have no room.
/// Else, and with a `concurrency` of 1 or less, as tightly as first fit packs.
/// @param sizes  vertices of each component
/// @param work   of each component, to any scale
inline std::vector<int> pack_components(const std::vector<int>& sizes,
                                        const std::vector<std::int64_t>& work,
                                        int max_rows, int concurrency) {
  const auto count = std::int64_t(sizes.size());
  if (concurrency > 1) {
    const auto rows =
        std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
    const auto total =
        double(std::accumulate(work.begin(), work.end(), std::int64_t{0}));
    const auto least = (rows + max_rows - 1) / max_rows;
    auto runs = std::min<std::int64_t>(
        count, (least + concurrency - 1) / concurrency * concurrency);
    for (int tries = 0; tries < 4; ++tries) {
      std::vector<int> run_of(sizes.size());
      std::vector<std::int64_t> filled(runs, 0);
      double before = 0;
      for (std::size_t c = 0; c < sizes.size(); ++c) {
        const double middle = before + double(work[c]) / 2;
        before += double(work[c]);
        const auto run =
            std::min(runs - 1, std::int64_t(double(runs) * middle / total));
        run_of[c] = int(run);
        filled[run] += sizes[c];
      }
      if (*std::max_element(filled.begin(), filled.end()) <= max_rows)
        return run_of;
      if (runs == count) break;
      runs = std::min(count, runs + concurrency);
    }
  }
  return pack_first_fit(sizes, max_rows);
}

}  // namespace Detail
}  // namespace Strata

#endif
