// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_HPP
#define STRATA_PERF_BAND_HPP

#include <Kokkos_Core.hpp>
#include <cmath>
#include <detail/Strata_PerfBandOptions.hpp>
#include <memory>
#include <string>

namespace Strata {
namespace PerfTest {

/// Names of types in one word, for STRATA_PERF_SCALAR.
using complex_float = Kokkos::complex<float>;
using complex_double = Kokkos::complex<double>;

/// What LAPACK did of a system that it would take too long for: the leading
/// rows of it, and some of the right-hand sides.
struct BandPart {
  std::int64_t rows = 0;  ///< 0: the whole system
  int rhs = 0;
};

/// Times of one algorithm on one system, or batch; NaN where it did not run.
struct BandResult {
  BandCase sizes;
  int rhs = 0;
  std::string algorithm;
  double factor_us = NAN, solve_us = NAN, error = NAN;  ///< of the part, if any
  std::string note;     ///< why it did not run, or "WRONG"
  std::string message;  ///< what it said when it failed
  BandPart part;

  bool right() const { return note.empty() && !std::isnan(solve_us); }
  bool is_bound() const { return part.rows > 0; }
  /// How many times the work of the part, at least, is in the whole. Each row
  /// is one step of elimination and substitution, and the part's last ones are
  /// cut off at its end where those of the whole go on: no stretch of as many
  /// rows has less to do.
  std::int64_t stretches() const {
    return is_bound() ? sizes.n / part.rows : 1;
  }
  // Lower bounds of the whole's times where there is a part.
  double factor_time() const {
    return factor_us * static_cast<double>(stretches());
  }
  double solve_time() const {
    return solve_us * static_cast<double>(stretches());
  }
  double total_us() const { return factor_time() + solve_time(); }
};

/// Makes the systems of one scalar type and runs the algorithms on them.
class BandRunner {
 public:
  virtual ~BandRunner() = default;
  virtual void run(BandResult& result) = 0;
  /// The library of the LAPACK that was found.
  virtual std::string lapack() const = 0;
};
/// @throws OptionError
template <class Scalar>
std::unique_ptr<BandRunner> make_band_runner(const BandPerfOptions& options);

}  // namespace PerfTest
}  // namespace Strata

#endif
