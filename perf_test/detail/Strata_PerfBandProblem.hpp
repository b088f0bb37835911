// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_PROBLEM_HPP
#define STRATA_PERF_BAND_PROBLEM_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <core/scalar/CounterRandom.hpp>
#include <cstdint>
#include <detail/Strata_PerfBand.hpp>
#include <detail/Strata_PerfParts.hpp>
#include <detail/Strata_PerfTiming.hpp>
#include <type_traits>

namespace Strata {
namespace PerfTest {

/// Elements of the generated matrices, of magnitude up to 1 off the diagonal
/// and larger by 1 than their sum on it, a function of their place alone. The
/// inverse has row sums of at most 1.
template <class Scalar>
struct BandElement {
  std::int64_t n, kl, ku;

  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t i,
                                           std::int64_t j) const {
    constexpr bool real = std::is_floating_point<Scalar>::value;
    const double re = uniform(1, i, j);
    const double im = real ? 0 : uniform(2, i, j) - 0.5;
    if (i == j)
      return from_parts<Scalar>(static_cast<double>(kl + ku) + 1 + re, im);
    return from_parts<Scalar>(real ? 2 * re - 1 : re - 0.5, im);
  }

 private:
  KOKKOS_INLINE_FUNCTION static double uniform(std::uint64_t seed,
                                               std::int64_t i, std::int64_t j) {
    return Detail::unit_interval(Detail::random_bits(
        seed, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j), 0));
  }
};

/// Fills ab(ku + i - j, j), a column at a time.
template <class Scalar, class Block>
struct FillBandProblem {
  BandElement<Scalar> element;
  Block ab;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t lines = element.kl + element.ku + 1;
    const std::int64_t j = place / lines, line = place % lines;
    const std::int64_t i = line + j - element.ku;
    ab(line, j) = i < 0 || i >= element.n ? Scalar(0) : element(i, j);
  }
};

/// Sums of the rows in all columns of b: x is all ones.
template <class Scalar, class Block>
struct SumBandRows {
  Block ab, b;
  std::int64_t n, kl, ku;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    Kokkos::complex<double> sum(0);
    for (std::int64_t j = i > kl ? i - kl : 0; j < n && j <= i + ku; ++j)
      sum += in_double(ab(ku + i - j, j));
    for (std::size_t c = 0; c < b.extent(1); ++c)
      b(i, c) = from_parts<Scalar>(sum.real(), sum.imag());
  }
};

/// Largest distance from one; huge where an element is NaN.
template <class Scalar>
struct LargestDistance {
  const Scalar* a;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place,
                                         double& worst) const {
    const double size = sum_of_parts(in_double(a[place]) - 1.0);
    if (!(size <= worst)) worst = size == size ? size : 1e300;
  }
};

/// The dense matrix of a band.
template <class Scalar, class Block>
struct FillDenseOfBand {
  Block ab, a;
  std::int64_t kl, ku;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const auto n = static_cast<std::int64_t>(a.extent(0));
    const std::int64_t i = place % n, j = place / n;
    a(i, j) = i - j <= kl && j - i <= ku ? ab(ku + i - j, j) : Scalar(0);
  }
};

/// One way to factorise a band and to solve with it. Copies are not timed.
template <class Scalar>
class BandAlgorithm {
 public:
  using Space = Kokkos::DefaultExecutionSpace;
  /// Columns one after the other.
  using Block = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Space::memory_space>;

  virtual ~BandAlgorithm() = default;
  /// @returns median seconds
  virtual double time_factor(const Block& ab) = 0;
  /// x = A^-1 b with the latest factors. @returns median seconds
  virtual double time_solve(const Block& b, const Block& x) = 0;
};

/// median_seconds_after on the default space.
template <class Prepare, class Work>
double median_after(const Prepare& prepare, const Work& work) {
  return median_seconds_after(Kokkos::DefaultExecutionSpace(), prepare, work);
}

/// What one thread takes, row by row, at a thousand million operations a
/// second.
inline double row_by_row_seconds(const BandCase& sizes, int rhs) {
  const double n = static_cast<double>(sizes.n);
  const double kl = static_cast<double>(sizes.kl),
               ku = static_cast<double>(sizes.ku);
  return (2 * kl * ku * n + 2 * rhs * n * (kl + ku)) * 1e-9;
}
/// Seconds, about, that LAPACK's band solver takes on 16 cores, to know before
/// it is called: a rate of the factorisation that grows with the band, and
/// substitution by one core for one right-hand side after the other.
/// @param weight  of an operation, over one of double
inline double lapack_seconds(const BandCase& sizes, int rhs, double weight) {
  const auto n = static_cast<double>(sizes.n);
  const auto kl = static_cast<double>(sizes.kl);
  const auto ku = static_cast<double>(sizes.ku);
  // Steps with the whole band, and those at the end, with a third of it.
  const double last = std::max(kl, ku);
  const double operations = 2 * kl * ku * (n - last + last / 3);
  const double rate = std::min(1e11, 5e7 * std::max(last, 50.0));
  return weight * (operations / rate + 2 * n * (2 * kl + ku + 1) * rhs / 3e9);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
