// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_PROBLEM_HPP
#define STRATA_PERF_BAND_PROBLEM_HPP

#include <Kokkos_Core.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <cstdint>
#include <limits>

namespace Strata {
namespace PerfTest {

/// How the programs add up, and measure: in double or complex<double>.
template <class Scalar>
struct Wide {
  using type = double;
  static KOKKOS_INLINE_FUNCTION Scalar make(double re, double) {
    return static_cast<Scalar>(re);
  }
  static KOKKOS_INLINE_FUNCTION double size(double v) { return v < 0 ? -v : v; }
};
template <class Real>
struct Wide<Kokkos::complex<Real>> {
  using type = Kokkos::complex<double>;
  static KOKKOS_INLINE_FUNCTION Kokkos::complex<Real> make(double re,
                                                           double im) {
    return {static_cast<Real>(re), static_cast<Real>(im)};
  }
  static KOKKOS_INLINE_FUNCTION double size(const type& v) {
    return Wide<Real>::size(v.real()) + Wide<Real>::size(v.imag());
  }
};

/// Elements of the generated matrices, of magnitude up to 1 off the diagonal
/// and larger by 1 than their sum on it, a function of their place alone. The
/// inverse has row sums of at most 1.
template <class Scalar>
struct BandElement {
  std::int64_t n, kl, ku;

  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t i, std::int64_t j,
                                           std::int64_t system) const {
    constexpr bool real = std::is_floating_point<Scalar>::value;
    const double re = uniform(2 * system + 1, i, j);
    const double im = real ? 0 : uniform(2 * system + 2, i, j) - 0.5;
    if (i == j)
      return Wide<Scalar>::make(static_cast<double>(kl + ku) + 1 + re, im);
    return Wide<Scalar>::make(real ? 2 * re - 1 : re - 0.5, im);
  }

 private:
  KOKKOS_INLINE_FUNCTION static double uniform(std::int64_t seed,
                                               std::int64_t i, std::int64_t j) {
    return Detail::unit_interval(Detail::random_bits(
        static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(i),
        static_cast<std::uint64_t>(j), 0));
  }
};

/// Fills ab(ku + i - j, j, system), a column at a time.
template <class Scalar, class Band>
struct FillBandProblem {
  BandElement<Scalar> element;
  Band ab;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t lines = element.kl + element.ku + 1;
    const std::int64_t j = place / lines % element.n, line = place % lines;
    const std::int64_t system = place / (lines * element.n);
    const std::int64_t i = line + j - element.ku;
    ab(line, j, system) =
        i < 0 || i >= element.n ? Scalar(0) : element(i, j, system);
  }
};

/// b = A x.
template <class Scalar, class Block>
struct MultiplyBand {
  Block ab, x, b;
  std::int64_t n, kl, ku;
  std::int64_t columns;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t i = place % n, system = place / n;
    for (std::int64_t c = 0; c < columns; ++c) {
      typename Wide<Scalar>::type sum = 0;
      for (std::int64_t j = i > kl ? i - kl : 0; j < n && j <= i + ku; ++j)
        sum += typename Wide<Scalar>::type(ab(ku + i - j, j, system)) *
               typename Wide<Scalar>::type(x(j, c, system));
      b(i, c, system) = Scalar(sum);
    }
  }
};

/// All columns as the first.
template <class Block>
struct RepeatColumn {
  Block b;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const auto n = static_cast<std::int64_t>(b.extent(0));
    for (std::size_t c = 1; c < b.extent(1); ++c)
      b(place % n, c, place / n) = b(place % n, 0, place / n);
  }
};

/// Largest distance from one; huge where an element is NaN.
template <class Scalar>
struct LargestDistance {
  const Scalar* a;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place,
                                         double& worst) const {
    using To = typename Wide<Scalar>::type;
    const double size = Wide<Scalar>::size(To(a[place]) - To(1));
    if (!(size <= worst)) worst = size == size ? size : 1e300;
  }
};

/// The dense matrix of a band, the first system's.
template <class Scalar, class Block>
struct FillDenseOfBand {
  Block ab, a;
  std::int64_t kl, ku;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const auto n = static_cast<std::int64_t>(a.extent(0));
    const std::int64_t i = place % n, j = place / n;
    a(i, j, 0) = i - j <= kl && j - i <= ku ? ab(ku + i - j, j, 0) : Scalar(0);
  }
};

}  // namespace PerfTest
}  // namespace Strata

#endif
