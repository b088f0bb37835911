// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_SELL_FLAGS_HPP
#define STRATA_PERF_SELL_FLAGS_HPP

#include <Strata_SellOptions.hpp>
#include <detail/Strata_PerfFlags.hpp>
#include <limits>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Flags that say how a SellMatrix is made; what does not go together the
/// library refuses.
inline const std::vector<std::string>& sell_flags() {
  static const std::vector<std::string> names{"--chunk-rows", "--sigma",
                                              "--lanes", "--long-row"};
  return names;
}
inline const char* sell_flags_usage() {
  return R"(  --chunk-rows C     of SELL-C-sigma: rows of a chunk
  --sigma S          rows within which rows are sorted by length; 1: not at all
  --lanes T          lanes that share a row
  --long-row L       entries above which a row is stored apart
                     (each 0: as the library chooses, which is the default)
)";
}
/// Whether `flag` is one of them; then `options` has its value.
inline bool take_sell_flag(const std::string& flag, const std::string& value,
                           SellOptions& options) {
  const auto number = [&] {
    return whole_number(flag, value, 0, std::numeric_limits<int>::max());
  };
  if (flag == "--chunk-rows")
    options.chunk_rows = number();
  else if (flag == "--sigma")
    options.sigma = number();
  else if (flag == "--lanes")
    options.lanes_per_row = number();
  else if (flag == "--long-row")
    options.long_row = number();
  else
    return false;
  return true;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
