// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_TIME_HPP
#define STRATA_PERF_BAND_TIME_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <detail/Strata_PerfBand.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Median seconds of `work`, each time after `prepare`, which is not counted:
/// of five, fewer where they take more than a second, and up to 101 where these
/// take no more than 20 milliseconds.
template <class Prepare, class Work>
double median_after(const Prepare& prepare, const Work& work) {
  const Kokkos::DefaultExecutionSpace exec;
  std::vector<double> samples;
  double spent = 0;
  while (samples.empty() || (samples.size() < 5 && spent < 1) ||
         (samples.size() < 101 && spent < 0.02)) {
    prepare();
    samples.push_back(seconds(exec, 1, work));
    spent += samples.back();
  }
  return median(samples);
}

/// The same after one `work` that warms up; after ten seconds of that, it is
/// the answer.
template <class Work>
double median_of(const Work& work) {
  const double first = seconds(Kokkos::DefaultExecutionSpace(), 1, work);
  return first > 10 ? first : median_after([] {}, work);
}

/// About what LAPACK's band solver takes on 16 cores, to know before it is
/// called: a rate of the factorisation that grows with the band, and
/// substitution by one core for one right-hand side after the other.
class BandHostTime {
 public:
  BandHostTime(const BandCase& sizes, int batch, std::size_t bytes, bool real)
      : kl_(sizes.kl), ku_(sizes.ku), batch_(batch) {
    // Operations for one of double.
    cost_ = static_cast<double>(bytes) / 8 * (real ? 1 : 2);
  }
  double factor_seconds(std::int64_t rows) const {
    const double kl = width(kl_, rows), ku = width(ku_, rows);
    const double n = static_cast<double>(rows);
    // Steps with the whole band, and those at the end, with a third of it.
    const double last = std::max(kl, ku);
    const double operations = 2 * kl * ku * (n - last + last / 3);
    const double rate = std::min(1e11, 5e7 * std::max(std::max(kl, ku), 50.0));
    return cost_ * batch_ * operations / rate;
  }
  double solve_seconds(std::int64_t rows, int rhs) const {
    const double kl = width(kl_, rows), ku = width(ku_, rows);
    const double at_once =
        std::min(batch_, Kokkos::DefaultHostExecutionSpace().concurrency());
    return cost_ * batch_ / at_once * 2 * static_cast<double>(rows) *
           (2 * kl + ku + 1) * rhs / 3e9;
  }
  /// The largest part that takes no longer than `limit`: first rows, which may
  /// take two thirds of it, then right-hand sides; at least one of each.
  BandPart part_within(double limit, const BandPart& whole) const {
    BandPart part = whole;
    if (factor_seconds(whole.rows) > limit * 2 / 3) {
      std::int64_t too_many = whole.rows;
      part.rows = 1;
      while (too_many - part.rows > 1) {
        const std::int64_t middle = part.rows + (too_many - part.rows) / 2;
        (factor_seconds(middle) > limit * 2 / 3 ? too_many : part.rows) =
            middle;
      }
    }
    const double left = limit - factor_seconds(part.rows);
    const double one = solve_seconds(part.rows, 1);
    if (whole.rhs > 1 && one * whole.rhs > left)
      part.rhs = std::max(1, static_cast<int>(left / one));
    return part;
  }

 private:
  static double width(std::int64_t diagonals, std::int64_t rows) {
    return static_cast<double>(std::min(diagonals, rows - 1));
  }
  std::int64_t kl_, ku_;
  int batch_;
  double cost_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
