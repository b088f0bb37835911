// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_SCALAR_HPP
#define STRATA_FUZZ_SCALAR_HPP

#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>
#include <cmath>
#include <complex>
#include <core/device/NotReady.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <tuple>
#include <vector>

#include "Random.hpp"

namespace Strata {
namespace Fuzz {

using Scalars =
    std::tuple<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
constexpr int num_scalars = 4;

template <class Scalar>
struct ScalarTraits {
  using Real = Scalar;
  /// What references are computed in.
  using Wide = long double;
  static constexpr bool is_complex = false;
  static const char* name() { return sizeof(Real) == 4 ? "float" : "double"; }
  static Scalar make(double re, double) { return static_cast<Scalar>(re); }
  static Wide widen(const Scalar& v) { return v; }
  static Scalar narrow(const Wide& v) { return static_cast<Scalar>(v); }
  static Scalar conjugate(const Scalar& v) { return v; }
  /// f of every real part.
  template <class F>
  static bool all_parts(const Scalar& v, const F& f) {
    return f(v);
  }
};
template <class R>
struct ScalarTraits<Kokkos::complex<R>> {
  using Real = R;
  using Wide = std::complex<long double>;
  static constexpr bool is_complex = true;
  static const char* name() {
    return sizeof(Real) == 4 ? "complex<float>" : "complex<double>";
  }
  static Kokkos::complex<R> make(double re, double im) {
    return {static_cast<R>(re), static_cast<R>(im)};
  }
  static Wide widen(const Kokkos::complex<R>& v) {
    return {v.real(), v.imag()};
  }
  static Kokkos::complex<R> narrow(const Wide& v) {
    return {static_cast<R>(v.real()), static_cast<R>(v.imag())};
  }
  static Kokkos::complex<R> conjugate(const Kokkos::complex<R>& v) {
    return {v.real(), -v.imag()};
  }
  template <class F>
  static bool all_parts(const Kokkos::complex<R>& v, const F& f) {
    return f(v.real()) && f(v.imag());
  }
};

template <class Scalar>
using RealOf = typename ScalarTraits<Scalar>::Real;
template <class Scalar>
using WideOf = typename ScalarTraits<Scalar>::Wide;

template <class Scalar>
WideOf<Scalar> widen(const Scalar& v) {
  return ScalarTraits<Scalar>::widen(v);
}
inline long double magnitude(long double v) { return std::abs(v); }
inline long double magnitude(const std::complex<long double>& v) {
  return std::hypot(v.real(), v.imag());
}
/// Products by the textbook: the standard ones mend infinities.
inline long double product(long double a, long double b) { return a * b; }
inline std::complex<long double> product(const std::complex<long double>& a,
                                         const std::complex<long double>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(),
          a.real() * b.imag() + a.imag() * b.real()};
}

template <class Scalar>
constexpr double epsilon =
    static_cast<double>(std::numeric_limits<RealOf<Scalar>>::epsilon());
/// What a complex operation costs in roundings of a real one.
template <class Scalar>
constexpr double roundings = ScalarTraits<Scalar>::is_complex ? 4 : 1;

template <class Scalar>
bool finite(const Scalar& v) {
  return ScalarTraits<Scalar>::all_parts(
      v, [](RealOf<Scalar> part) { return std::isfinite(part); });
}
template <class Scalar>
bool is_nan(const Scalar& v) {
  return !ScalarTraits<Scalar>::all_parts(
      v, [](RealOf<Scalar> part) { return !std::isnan(part); });
}
/// Zero, or a factor of a million from both ends of the range of numbers.
template <class Scalar>
bool tame(const Scalar& v) {
  using Limits = std::numeric_limits<RealOf<Scalar>>;
  return ScalarTraits<Scalar>::all_parts(v, [](RealOf<Scalar> part) {
    const double size = std::abs(static_cast<double>(part));
    return size == 0 || (size > static_cast<double>(Limits::min()) * 1e6 &&
                         size < static_cast<double>(Limits::max()) / 1e6);
  });
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
/// The first element whose bits differ, -1 where none do.
template <class T>
std::int64_t first_difference(const std::vector<T>& a,
                              const std::vector<T>& b) {
  if (a.size() != b.size()) return 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(T)) != 0)
      return static_cast<std::int64_t>(i);
  return -1;
}
/// The elements with every NaN the ordinary one: which of two payloads a sum
/// keeps is the compiler's choice.
template <class T>
std::vector<T> with_plain_nans(std::vector<T> all) {
  using Real = RealOf<T>;
  for (auto& v : all) {
    Real* const parts = reinterpret_cast<Real*>(&v);
    for (std::size_t k = 0; k < sizeof(T) / sizeof(Real); ++k)
      if (std::isnan(parts[k]))
        parts[k] = std::numeric_limits<Real>::quiet_NaN();
  }
  return all;
}
/// Flips the last bit of an element.
template <class T>
void flip_bit(T& value) {
  unsigned char byte;
  std::memcpy(&byte, &value, 1);
  byte ^= 1u;
  std::memcpy(static_cast<void*>(&value), &byte, 1);
}
/// Doubles the largest finite element and adds one.
template <class Scalar>
void spoil_largest(std::vector<Scalar>& all) {
  std::size_t largest = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (finite(all[i]) &&
        (!finite(all[largest]) ||
         magnitude(widen(all[i])) > magnitude(widen(all[largest]))))
      largest = i;
  const Scalar old = finite(all[largest]) ? all[largest] : Scalar(0);
  all[largest] = old + old + Scalar(1);
}
template <class Scalar>
Scalar all_ones() {
  Scalar value;
  std::memset(static_cast<void*>(&value), 0xff, sizeof value);
  return value;
}

/// A scalar whose parts lie in [-size, size], the imaginary one of a few zero.
template <class Scalar>
Scalar random_scalar(Random& random, double size = 1) {
  const double re = random.real(-size, size);
  if (!ScalarTraits<Scalar>::is_complex) {
    return ScalarTraits<Scalar>::make(re, 0);
  }
  return ScalarTraits<Scalar>::make(
      re, random.chance(0.15) ? 0.0 : random.real(-size, size));
}
template <class Scalar>
std::vector<Scalar> random_vector(Random& random, std::int64_t count) {
  std::vector<Scalar> v(static_cast<std::size_t>(count));
  for (auto& e : v) e = random_scalar<Scalar>(random);
  return v;
}

/// A NaN of some payload: the quiet one, one of another payload or sign, all
/// bits set, or the pattern that the library reserves for itself.
template <class Scalar>
Scalar random_nan(Random& random) {
  using Real = RealOf<Scalar>;
  using Reserved = Detail::NotReadyBits<Real>;
  using Bits = typename Reserved::Bits;
  // A quiet NaN's first mantissa bit is set, and the bits below are free.
  const Bits fraction = static_cast<Bits>(
      (Bits(1) << (std::numeric_limits<Real>::digits - 2)) - 1);
  const Bits payload = static_cast<Bits>(random.bits()) & fraction;
  const Bits bits =
      random.pick<Bits>({Reserved::plain_nan, Reserved::plain_nan | payload,
                         static_cast<Bits>(~payload),
                         static_cast<Bits>(~Bits(0)), Reserved::not_ready});
  Real part;
  std::memcpy(&part, &bits, sizeof part);
  Scalar value(1);
  // The bits and not the value: a conversion may change a NaN.
  std::memcpy(static_cast<void*>(&value), &part, sizeof part);
  if (ScalarTraits<Scalar>::is_complex && random.chance(0.5)) {
    unsigned char* const bytes = reinterpret_cast<unsigned char*>(&value);
    std::memcpy(bytes + sizeof(Scalar) - sizeof part, &part, sizeof part);
  }
  return value;
}

}  // namespace Fuzz
}  // namespace Strata

#endif
