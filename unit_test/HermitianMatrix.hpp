// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_HERMITIAN_MATRIX_HPP
#define STRATA_TEST_HERMITIAN_MATRIX_HPP

#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <random>
#include <string>
#include <vector>

#include "HostMatrix.hpp"
#include "RandomSeed.hpp"
#include "Scalars.hpp"

using Strata::generator;
using Device = Kokkos::DefaultExecutionSpace;
template <class Scalar>
using Crs = KokkosSparse::CrsMatrix<Scalar, int, Device, void, int>;
template <class Scalar>
using Vector = Kokkos::View<Scalar*, Device>;
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;

template <class Scalar>
Scalar random_number() {
  std::uniform_real_distribution<double> one(-1, 1);
  if constexpr (std::is_floating_point<Scalar>::value) {
    return static_cast<Scalar>(one(generator()));
  } else {
    return Scalar(one(generator()), one(generator()));
  }
}

/// A Hermitian matrix on the pattern of a gallery matrix that has one of its
/// own mirror image: entries below the diagonal are drawn anew, the diagonal is
/// `dominance` times the sum of their sizes.
template <class Scalar>
HostMatrix<Scalar> hermitian(const std::string& spec, double dominance = 1.02) {
  HostMatrix<Scalar> A(Strata::gallery<Crs<Scalar>>(Device(), spec));
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] < i) {
        A.values[k] = random_number<Scalar>();
        A.at(A.entries[k], i) = conjugate(A.values[k]);
      }
  for (std::int64_t i = 0; i < A.rows; ++i) {
    double sum = 0.1;
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] != i) sum += std::abs(wide(A.values[k]));
    A.at(i, i) = Scalar(dominance * sum);
  }
  return A;
}
template <class Scalar>
Vector<Scalar> random_vector(std::int64_t n) {
  Vector<Scalar> v("v", n);
  const auto host = Kokkos::create_mirror_view(v);
  for (std::int64_t i = 0; i < n; ++i) host(i) = random_number<Scalar>();
  Kokkos::deep_copy(v, host);
  return v;
}
template <class View>
auto on_host(const View& v) {
  using Scalar = typename View::non_const_value_type;
  Vector<Scalar> packed("packed", v.extent(0));
  Kokkos::deep_copy(packed, v);
  const auto host =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), packed);
  return std::vector<Scalar>(host.data(), host.data() + host.extent(0));
}
/// ||b - A x|| / ||b|| by plain loops.
template <class Scalar>
double relative_residual(const HostMatrix<Scalar>& A,
                         const std::vector<Scalar>& b,
                         const std::vector<Scalar>& x) {
  double top = 0, bottom = 0;
  for (std::int64_t i = 0; i < A.rows; ++i) {
    std::complex<double> sum = 0;
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      sum += wide(A.values[k]) * wide(x[A.entries[k]]);
    top += std::norm(wide(b[i]) - sum);
    bottom += std::norm(wide(b[i]));
  }
  return std::sqrt(top / bottom);
}

#endif
