// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_SPMV_HPP
#define STRATA_PERF_SPMV_HPP

#include <Kokkos_Core.hpp>
#include <Strata_SellOptions.hpp>
#include <cstdint>
#include <detail/Strata_PerfRunner.hpp>
#include <memory>
#include <optional>

namespace Strata {
namespace PerfTest {

/// A product of one matrix with so many vectors. Times in microseconds; the
/// relative error is the largest over the bound of a row's rounding.
struct SpmvResult : PerfResult {
  int vectors = 1;
  double build_us = NAN, update_us = NAN, product_us = NAN;
  /// Bytes of entries, columns, x and y, once each.
  double useful_bytes = 0;
  double padding = 0;
  /// Of SELL-C-sigma: C, sigma and lanes; of blocks, rows of one in the mean.
  std::int64_t chunk_rows = 0, sigma = 0, lanes = 0;

  double gbytes_per_second() const { return useful_bytes / product_us * 1e-3; }
};

/// What the matrix becomes before it is multiplied, and the form of ours.
struct SpmvSettings {
  std::optional<Factor> factor;  ///< none: the matrix as it is
  GalleryOrder reorder = GalleryOrder::natural;
  SellOptions sell;
};

using SpmvRunners = RunnersOf<PerfRunner<SpmvResult>, const SpmvSettings&>;

}  // namespace PerfTest
}  // namespace Strata

#endif
