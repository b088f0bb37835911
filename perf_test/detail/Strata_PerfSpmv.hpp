// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_SPMV_HPP
#define STRATA_PERF_SPMV_HPP

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <Strata_SellOptions.hpp>
#include <cstdint>
#include <detail/Strata_PerfOptions.hpp>
#include <memory>
#include <optional>
#include <string>

namespace Strata {
namespace PerfTest {

/// Names of types in one word, for STRATA_PERF_SCALAR.
using complex_float = Kokkos::complex<float>;
using complex_double = Kokkos::complex<double>;

/// One way to multiply one matrix by so many vectors, measured.
struct SpmvResult {
  std::string matrix, algorithm, message;
  int vectors = 1;
  std::int64_t rows = 0, entries = 0;
  double build_us = 0, update_us = 0, product_us = 0;
  /// Bytes of entries, columns, x and y, once each.
  double useful_bytes = 0;
  double padding = 0;
  /// Of SELL-C-sigma: C, sigma and lanes; of blocks, rows of one in the mean.
  std::int64_t chunk_rows = 0, sigma = 0, lanes = 0;
  double error = 0;  ///< largest over the bound of a row's rounding
  bool measured = false, right = false;
  bool bad_input = false;  ///< the matrix can't be read or made
};

inline bool is_own_spmv(const std::string& algorithm) {
  return starts_with(algorithm, "strata");
}

/// What the matrix becomes before it is multiplied, and the form of ours.
struct SpmvSettings {
  std::optional<Factor> factor;  ///< none: the matrix as it is
  Reorder reorder = Reorder::none;
  SellOptions sell;
};

/// Measures all algorithms for one scalar type.
class SpmvRunner {
 public:
  virtual ~SpmvRunner() = default;
  /// `result` names the algorithm and the number of vectors.
  virtual void run(benchmark::State& state, const MatrixSource& source,
                   SpmvResult& result) = 0;
};
template <class Scalar>
std::unique_ptr<SpmvRunner> make_spmv_runner(const SpmvSettings& settings);

}  // namespace PerfTest
}  // namespace Strata

#endif
