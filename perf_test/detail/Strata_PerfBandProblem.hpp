// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_PROBLEM_HPP
#define STRATA_PERF_BAND_PROBLEM_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <detail/Strata_CounterRandom.hpp>
#include <limits>

namespace Strata {
namespace PerfTest {

/// Elements of the generated matrices, from -1 to 1 off the diagonal and
/// larger than their sum on it, a function of their place alone.
struct BandElement {
  std::int64_t n, kl, ku;

  KOKKOS_INLINE_FUNCTION double operator()(std::int64_t i,
                                           std::int64_t j) const {
    const double uniform = Detail::unit_interval(Detail::random_bits(
        1, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j), 0));
    if (i == j) return static_cast<double>(kl + ku) + 1 + uniform;
    return 2 * uniform - 1;
  }
};

/// Fills ab(offset + ku + i - j, j), a column at a time.
template <class Band>
struct FillBandProblem {
  BandElement element;
  Band ab;
  std::int64_t offset;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t lines = element.kl + element.ku + 1;
    const std::int64_t j = place / lines, line = place % lines;
    const std::int64_t i = line + j - element.ku;
    ab(offset + line, j) = i < 0 || i >= element.n ? 0.0 : element(i, j);
  }
};

/// b = A x in the order of columns, x all ones or given.
template <class Band, class Vectors>
struct MultiplyBand {
  Band ab;
  Vectors x, b;
  std::int64_t kl, ku;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const auto n = static_cast<std::int64_t>(ab.extent(1));
    for (std::size_t c = 0; c < b.extent(1); ++c) {
      double sum = 0;
      for (std::int64_t j = i > kl ? i - kl : 0; j < n && j <= i + ku; ++j)
        sum += ab(ku + i - j, j) * x(j, c);
      b(i, c) = sum;
    }
  }
};

/// All columns as the first.
template <class Vectors>
struct RepeatColumn {
  Vectors b;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    for (std::size_t c = 1; c < b.extent(1); ++c) b(i, c) = b(i, 0);
  }
};

/// Largest distance of x from `wanted`; infinity where one is NaN.
template <class Vectors>
struct LargestError {
  Vectors x, wanted;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place,
                                         double& worst) const {
    const auto n = static_cast<std::int64_t>(x.extent(0));
    const double e = x(place % n, place / n) - wanted(place % n, place / n);
    const double size = e < 0 ? -e : e;
    if (!(size <= worst)) worst = e == e ? size : 1e300;
  }
};

/// The dense matrix of a band.
template <class Band, class Dense>
struct FillDense {
  Band ab;
  Dense a;
  std::int64_t kl, ku;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const auto n = static_cast<std::int64_t>(a.extent(0));
    const std::int64_t i = place % n, j = place / n;
    a(i, j) = i - j <= kl && j - i <= ku ? ab(ku + i - j, j) : 0.0;
  }
};

}  // namespace PerfTest
}  // namespace Strata

#endif
