// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_SELL_FLAGS_HPP
#define STRATA_PERF_SELL_FLAGS_HPP

#include <Strata_SellOptions.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <limits>

namespace Strata {
namespace PerfTest {

/// Flags that say how a SellMatrix is made; what does not go together the
/// library refuses.
inline Flags sell_flags(SellOptions& options) {
  constexpr int most = std::numeric_limits<int>::max();
  return {whole("--chunk-rows", options.chunk_rows, 0, most),
          whole("--sigma", options.sigma, 0, most),
          whole("--lanes", options.lanes_per_row, 0, most),
          whole("--long-row", options.long_row, 0, most)};
}
inline const char* sell_flags_usage() {
  return R"(  --chunk-rows C     of SELL-C-sigma: rows of a chunk
  --sigma S          rows within which rows are sorted by length; 1: not at all
  --lanes T          lanes that share a row
  --long-row L       entries above which a row is stored apart
                     (each 0: as the library chooses, which is the default)
)";
}

}  // namespace PerfTest
}  // namespace Strata

#endif
