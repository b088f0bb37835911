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

/// median_seconds_after on the default space.
template <class Prepare, class Work>
double median_after(const Prepare& prepare, const Work& work) {
  return median_seconds_after(Kokkos::DefaultExecutionSpace(), prepare, work);
}

/// Seconds, about, that LAPACK's band solver takes on 16 cores, to know before
/// it is called: a rate of the factorisation that grows with the band, and
/// substitution by one core for one right-hand side after the other.
/// @param weight  of an operation, over one of double
inline double lapack_seconds(const BandCase& sizes, int rhs, int batch,
                             double weight) {
  const auto n = static_cast<double>(sizes.n);
  const double kl = std::min(static_cast<double>(sizes.kl), n - 1);
  const double ku = std::min(static_cast<double>(sizes.ku), n - 1);
  // Steps with the whole band, and those at the end, with a third of it.
  const double last = std::max(kl, ku);
  const double operations = 2 * kl * ku * (n - last + last / 3);
  const double rate = std::min(1e11, 5e7 * std::max(last, 50.0));
  const double at_once =
      std::min(batch, Kokkos::DefaultHostExecutionSpace().concurrency());
  return weight * batch *
         (operations / rate + 2 * n * (2 * kl + ku + 1) * rhs / 3e9 / at_once);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
