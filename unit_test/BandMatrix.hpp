// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_BAND_MATRIX_HPP
#define STRATA_TEST_BAND_MATRIX_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "UseLapack.hpp"

namespace Strata {
namespace BandTest {

/// More digits than Real has, with squares of all its numbers in range.
template <class Real>
using WideReal =
    std::conditional_t<std::is_same<Real, float>::value, double, long double>;

template <class Scalar>
struct ScalarTraits {
  using Real = Scalar;
  using Wide = WideReal<Real>;
  static Wide widen(Scalar s) { return s; }
  static Scalar make(double re, double) { return static_cast<Scalar>(re); }
};
template <class R>
struct ScalarTraits<Kokkos::complex<R>> {
  using Real = R;
  using Wide = std::complex<WideReal<R>>;
  static Wide widen(Kokkos::complex<R> s) { return {s.real(), s.imag()}; }
  static Kokkos::complex<R> make(double re, double im) {
    return {static_cast<R>(re), static_cast<R>(im)};
  }
};

/// The modulus; std::abs takes many times as long for a complex number.
template <class Real>
Real modulus(Real x) {
  return std::abs(x);
}
template <class Real>
Real modulus(const std::complex<Real>& x) {
  return std::sqrt(std::norm(x));
}

/// A band matrix on the host, zero outside of the band.
template <class Scalar>
struct HostBand {
  using Traits = ScalarTraits<Scalar>;
  using Wide = typename Traits::Wide;

  int n, kl, ku;
  std::vector<Scalar> values;  // row by row, kl + ku + 1 each

  HostBand(int size, int lower, int upper)
      : n(size), kl(lower), ku(upper), values(size * (kl + ku + 1)) {}
  bool holds(int i, int j) const {
    return i >= 0 && j >= 0 && i < n && j < n && i - j <= kl && j - i <= ku;
  }
  Scalar& operator()(int i, int j) {
    return values[i * (kl + ku + 1) + j - i + kl];
  }
  Scalar at(int i, int j) const {
    return holds(i, j) ? values[i * (kl + ku + 1) + j - i + kl] : Scalar(0);
  }

  enum class Dominance { rows, columns, none };

  template <class Random>
  static HostBand random(int n, int kl, int ku, Dominance dominance,
                         Random& random) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    HostBand A(n, kl, ku);
    const auto draw = [&] {
      return Traits::make(uniform(random), uniform(random));
    };
    for (int i = 0; i < n; ++i)
      for (int j = std::max(0, i - kl); j <= std::min(n - 1, i + ku); ++j)
        A(i, j) = draw();
    if (dominance == Dominance::none) return A;
    for (int i = 0; i < n; ++i) {
      long double sum = 0;
      const bool rows = dominance == Dominance::rows;
      for (int j = 0; j < n; ++j)
        if (j != i)
          sum += modulus(Traits::widen(rows ? A.at(i, j) : A.at(j, i)));
      const double sign = uniform(random) < 0 ? -1 : 1;
      A(i, i) = Traits::make(sign * (1.05 * double(sum) + 0.25), 0);
    }
    return A;
  }

  /// The largest |b - A x| over (|A| |x| + |b|), column by column of both.
  double backward_error(const std::vector<Scalar>& x,
                        const std::vector<Scalar>& b) const {
    long double worst = 0;
    const int columns = n ? static_cast<int>(b.size()) / n : 0;
    for (int c = 0; c < columns; ++c) {
      long double size = 0, residual = 0;
      for (int i = 0; i < n; ++i) {
        Wide r = Traits::widen(b[c * n + i]);
        long double s = modulus(r);
        for (int j = std::max(0, i - kl); j <= std::min(n - 1, i + ku); ++j) {
          const Wide t = Traits::widen(at(i, j)) * Traits::widen(x[c * n + j]);
          r -= t;
          s += modulus(t);
        }
        if (!(modulus(r) <= residual)) residual = modulus(r);
        size = std::max(size, s);
      }
      const long double error = size > 0 ? residual / size : residual;
      if (!(error <= worst)) worst = error;
    }
    return static_cast<double>(worst);
  }
};

/// Band storage in a view with everything outside of the matrix NaN.
/// @param extra rows before the band, as dgbtrf has them
template <class Scalar, class Space>
Kokkos::View<Scalar***, Kokkos::LayoutLeft, typename Space::memory_space>
to_band_views(const std::vector<HostBand<Scalar>>& systems, int extra = 0) {
  const auto& first = systems.at(0);
  Kokkos::View<Scalar***, Kokkos::LayoutLeft, typename Space::memory_space> ab(
      "ab", first.kl + first.ku + 1 + extra, first.n, systems.size());
  const auto host = Kokkos::create_mirror_view(ab);
  Kokkos::deep_copy(host, Scalar(std::numeric_limits<double>::quiet_NaN()));
  for (std::size_t s = 0; s < systems.size(); ++s) {
    const auto& A = systems[s];
    for (int i = 0; i < A.n; ++i)
      for (int j = std::max(0, i - A.kl); j <= std::min(A.n - 1, i + A.ku); ++j)
        host(extra + A.ku + i - j, j, s) = A.at(i, j);
  }
  Kokkos::deep_copy(ab, host);
  return ab;
}
template <class Scalar, class Space>
auto to_band_view(const HostBand<Scalar>& A, int extra = 0) {
  const auto all = to_band_views<Scalar, Space>({A}, extra);
  return Kokkos::View<Scalar**, Kokkos::LayoutLeft,
                      typename Space::memory_space>(
      Kokkos::subview(all, Kokkos::ALL(), Kokkos::ALL(), 0));
}

template <class Scalar, class Random>
std::vector<Scalar> random_vector(std::int64_t size, Random& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Scalar> v(size);
  for (auto& e : v)
    e = ScalarTraits<Scalar>::make(uniform(random), uniform(random));
  return v;
}

/// A tolerance for backward errors.
template <class Scalar>
double tolerance() {
  return 200 *
         static_cast<double>(std::numeric_limits<
                             typename ScalarTraits<Scalar>::Real>::epsilon());
}

}  // namespace BandTest
}  // namespace Strata

#endif
