// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_HOST_ROWS_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_HOST_ROWS_HPP

#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <cstdint>
#include <vector>

namespace Strata {
namespace Detail {

/// Shares of the rows that make a host's thread wait.
struct HostRows {
  /// Rows that need the row just before them, as do the sixteen before: of
  /// shorter chains, several are under way at once.
  double in_chains = 0;
  /// Rows whose length the lengths of the twelve rows before did not predict:
  /// the loop over their entries ends with a mispredicted branch.
  double unforeseen = 0;
};

/// The shares in a sample of at most some 131,072 rows. The processor is
/// assumed to remember what length came after each of 8192 histories, from one
/// solve to the next. Cost: two passes over these rows by one thread, a few
/// nanoseconds for each row; the second pass reads a cache line for each row.
template <class MemorySpace>
HostRows sample_host_rows(const DependencyGraph<MemorySpace>& graph) {
  constexpr int of_run = 1 << 14, most_runs = 8, log_histories = 13,
                short_chain = 16;
  const int n = graph.num_vertices;
  HostRows found;
  if (n == 0) return found;
  const int runs = n <= most_runs * of_run ? 1 : most_runs;
  const int rows = runs == 1 ? n : of_run;
  std::vector<std::uint8_t> next(1 << log_histories, 0);
  std::uint64_t history = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int run = 0; run < runs; ++run) {
      const int begin =
          runs == 1
              ? 0
              : static_cast<int>(std::int64_t{n - rows} * run / (runs - 1));
      int chain = 0;
      for (int v = begin; v < begin + rows; ++v) {
        const std::int64_t first = graph.row_map(v),
                           last = graph.row_map(v + 1);
        // Five bits a row.
        const auto length =
            static_cast<std::uint8_t>(std::min<std::int64_t>(31, last - first));
        std::uint8_t& guess =
            next[history * 0x9e3779b97f4a7c15u >> (64 - log_histories)];
        if (pass == 1) {
          found.unforeseen += guess != length;
          // Dependencies are in ascending order.
          const bool goes_on = last > first && graph.entries(last - 1) == v - 1;
          chain = goes_on ? chain + 1 : 0;
          found.in_chains += chain > short_chain;
        }
        guess = length;
        history = (history << 5 | length) & ((std::uint64_t{1} << 60) - 1);
      }
    }
  found.in_chains /= double(runs) * rows;
  found.unforeseen /= double(runs) * rows;
  return found;
}

}  // namespace Detail
}  // namespace Strata

#endif
