// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_SUBSTITUTION_HPP
#define STRATA_PERF_SUBSTITUTION_HPP

#include <Kokkos_Complex.hpp>
#include <Strata_Types.hpp>
#include <complex>
#include <type_traits>

namespace Strata {
namespace PerfTest {

/// The arithmetic of the reference solution: 64 bits of mantissa on x86.
template <class Scalar>
struct WideType {
  using real = Scalar;
  using type = long double;
  static type from(Scalar s) { return s; }
  static Scalar to(type w) { return static_cast<Scalar>(w); }
};
template <class Real>
struct WideType<Kokkos::complex<Real>> {
  using real = Real;
  using type = std::complex<long double>;
  static type from(const Kokkos::complex<Real>& s) {
    return {s.real(), s.imag()};
  }
  static Kokkos::complex<Real> to(const type& w) {
    return {static_cast<Real>(w.real()), static_cast<Real>(w.imag())};
  }
};
template <class Scalar>
using Wide = typename WideType<Scalar>::type;

/// Plain forward (lower) or backward (upper) substitution on the host with a
/// stored diagonal, in the arithmetic of Number. `convert` takes a stored
/// value to a Number. The diagonal is the last (lower) or first (upper) entry
/// of its row. Cost: one pass over the entries.
template <class Number, class Convert, class RowMap, class Entries,
          class Values, class Scalar>
void substitute(Uplo uplo, const RowMap& row_map, const Entries& entries,
                const Values& values, const Scalar* b, Number* x,
                const Convert& convert) {
  const int rows = static_cast<int>(row_map.extent(0)) - 1;
  if (uplo == Uplo::lower) {
    for (int i = 0; i < rows; ++i) {
      Number sum = convert(b[i]);
      const auto diagonal = row_map(i + 1) - 1;
      for (auto k = row_map(i); k < diagonal; ++k)
        sum -= convert(values(k)) * x[entries(k)];
      x[i] = sum / convert(values(diagonal));
    }
  } else {
    for (int i = rows - 1; i >= 0; --i) {
      Number sum = convert(b[i]);
      const auto diagonal = row_map(i);
      for (auto k = diagonal + 1; k < row_map(i + 1); ++k)
        sum -= convert(values(k)) * x[entries(k)];
      x[i] = sum / convert(values(diagonal));
    }
  }
}

}  // namespace PerfTest
}  // namespace Strata

#endif
