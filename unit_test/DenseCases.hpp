// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_DENSE_CASES_HPP
#define STRATA_TEST_DENSE_CASES_HPP

#include <gtest/gtest.h>

#include <Strata_GaussJordan.hpp>
#include <complex>
#include <core/scalar/CounterRandom.hpp>
#include <cstring>
#include <limits>
#include <vector>

#include "UseLapack.hpp"

namespace Strata {
namespace DenseTest {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;

/// Real part type, and the type that references are computed in.
template <class Scalar>
struct Wide {
  using Real = Scalar;
  using Type = long double;
  static Type from(Scalar x) { return x; }
  static Scalar make(double re, double) { return static_cast<Scalar>(re); }
};
template <class R>
struct Wide<Kokkos::complex<R>> {
  using Real = R;
  using Type = std::complex<long double>;
  static Type from(const Kokkos::complex<R>& x) { return {x.real(), x.imag()}; }
  static Kokkos::complex<R> make(double re, double im) {
    return {static_cast<R>(re), static_cast<R>(im)};
  }
};
inline double size_of(long double x) {
  return static_cast<double>(x < 0 ? -x : x);
}
inline double size_of(const std::complex<long double>& x) {
  return size_of(x.real()) + size_of(x.imag());
}
template <class Scalar>
constexpr double epsilon() {
  return std::numeric_limits<typename Wide<Scalar>::Real>::epsilon();
}

/// A dense matrix on the host, stored by columns.
template <class Scalar>
struct HostDense {
  std::int64_t rows = 0, columns = 0;
  std::vector<Scalar> values;

  HostDense(std::int64_t m, std::int64_t n)
      : rows(m), columns(n), values(m * n, Scalar(0)) {}
  Scalar& operator()(std::int64_t i, std::int64_t j) {
    return values[i + j * rows];
  }
  const Scalar& operator()(std::int64_t i, std::int64_t j) const {
    return values[i + j * rows];
  }
  bool same_bits(const HostDense& other) const {
    return rows == other.rows && columns == other.columns &&
           (values.empty() || std::memcmp(values.data(), other.values.data(),
                                          values.size() * sizeof(Scalar)) == 0);
  }
};

/// A number in [-1, 1), or one in each part.
template <class Scalar>
Scalar random_scalar(std::uint64_t seed, std::int64_t i, std::int64_t j) {
  const auto part = [&](int stream) {
    return 2 * Detail::unit_interval(Detail::random_bits(seed, i, j, stream)) -
           1;
  };
  return Wide<Scalar>::make(part(1), part(2));
}

template <class Scalar>
HostDense<Scalar> random_dense(std::int64_t m, std::int64_t n,
                               std::uint64_t seed) {
  HostDense<Scalar> a(m, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i)
      a(i, j) = random_scalar<Scalar>(seed, i, j);
  return a;
}

/// Device views of a host matrix, and back, for every layout.
template <class Scalar, class Layout>
Kokkos::View<Scalar**, Layout, Memory> to_view(const HostDense<Scalar>& a) {
  Kokkos::View<Scalar**, Layout, Memory> view("A", a.rows, a.columns);
  const auto host = Kokkos::create_mirror_view(view);
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i) host(i, j) = a(i, j);
  Kokkos::deep_copy(view, host);
  return view;
}
template <class View>
auto from_view(const View& view) {
  const auto host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  HostDense<typename View::non_const_value_type> a(view.extent(0),
                                                   view.extent(1));
  for (std::int64_t j = 0; j < a.columns; ++j)
    for (std::int64_t i = 0; i < a.rows; ++i) a(i, j) = host(i, j);
  return a;
}

/// |A|_inf with the moduli of size_of.
template <class Scalar>
double largest_row_sum(const HostDense<Scalar>& a) {
  std::vector<double> sums(a.rows, 0.0);
  for (std::int64_t k = 0; k < a.columns; ++k)
    for (std::int64_t i = 0; i < a.rows; ++i)
      sums[i] += size_of(Wide<Scalar>::from(a(i, k)));
  double largest = 0;
  for (const double sum : sums) largest = std::max(largest, sum);
  return largest;
}

/// r -= a x. Of complex numbers the parts, which costs a fraction of an
/// operator that looks after infinities.
inline void subtract_product(long double& r, long double a, long double x) {
  r -= a * x;
}
inline void subtract_product(std::complex<long double>& r,
                             const std::complex<long double>& a,
                             const std::complex<long double>& x) {
  r = {r.real() - (a.real() * x.real() - a.imag() * x.imag()),
       r.imag() - (a.real() * x.imag() + a.imag() * x.real())};
}

/// Largest |A X - B| of the elements, over |A|_inf |X|_max + |B|_max.
/// @param of_a  |A|_inf
template <class Scalar>
double backward_error(const HostDense<Scalar>& a, double of_a,
                      const HostDense<Scalar>& x, const HostDense<Scalar>& b) {
  double residual = 0, of_x = 0, of_b = 0;
  using W = Wide<Scalar>;
  std::vector<typename W::Type> r(a.rows);
  for (std::int64_t j = 0; j < b.columns; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      r[i] = W::from(b(i, j));
      of_b = std::max(of_b, size_of(r[i]));
    }
    for (std::int64_t k = 0; k < a.columns; ++k) {
      const auto x_k = W::from(x(k, j));
      of_x = std::max(of_x, size_of(x_k));
      for (std::int64_t i = 0; i < a.rows; ++i)
        subtract_product(r[i], W::from(a(i, k)), x_k);
    }
    for (const auto& of_row : r) {
      const double size = size_of(of_row);
      if (!(size <= residual)) residual = size;  // not a number stays
    }
  }
  const double scale = of_a * of_x + of_b;
  return scale > 0 ? residual / scale : residual;
}
template <class Scalar>
double backward_error(const HostDense<Scalar>& a, const HostDense<Scalar>& x,
                      const HostDense<Scalar>& b) {
  return backward_error(a, largest_row_sum(a), x, b);
}

/// Textbook Gauss-Jordan elimination with partial pivoting in the wide type,
/// in place; returns the pivot columns.
template <class Type>
std::vector<std::int64_t> reference_reduce(std::vector<Type>& a, std::int64_t m,
                                           std::int64_t n, double tolerance) {
  std::vector<std::int64_t> pivots;
  for (std::int64_t c = 0, r = 0; c < n && r < m; ++c) {
    Type* const column = a.data() + c * m;
    std::int64_t p = r;
    for (std::int64_t i = r; i < m; ++i)
      if (size_of(column[i]) > size_of(column[p])) p = i;
    if (!(size_of(column[p]) > tolerance)) {
      for (std::int64_t i = r; i < m; ++i) column[i] = Type(0);
      continue;
    }
    for (std::int64_t k = c; k < n; ++k) {
      std::swap(a[r + k * m], a[p + k * m]);
      if (k > c) a[r + k * m] /= column[r];
    }
    column[r] = Type(1);
    for (std::int64_t k = c + 1; k < n; ++k)
      for (std::int64_t i = 0; i < m; ++i)
        if (i != r) a[i + k * m] -= column[i] * a[r + k * m];
    for (std::int64_t i = 0; i < m; ++i) column[i] = Type(i == r ? 1 : 0);
    pivots.push_back(c);
    ++r;
  }
  return pivots;
}

/// Leading ones, unit pivot columns and zeros where the form has them, exactly.
template <class Scalar>
void expect_echelon(const HostDense<Scalar>& a, const RowEchelonForm& form) {
  ASSERT_EQ(form.rank, static_cast<std::int64_t>(form.pivot_columns.size()));
  for (std::int64_t i = 0; i < a.rows; ++i) {
    const std::int64_t lead = i < form.rank ? form.pivot_columns[i] : a.columns;
    for (std::int64_t j = 0; j < lead; ++j)
      ASSERT_EQ(a(i, j), Scalar(0)) << "row " << i << ", column " << j;
    for (std::int64_t q = 0; q < form.rank; ++q)
      ASSERT_EQ(a(i, form.pivot_columns[q]), Scalar(i == q ? 1 : 0))
          << "row " << i << ", pivot " << q;
  }
}

}  // namespace DenseTest
}  // namespace Strata

#endif
