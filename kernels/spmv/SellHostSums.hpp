// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_HOST_SUMS_HPP
#define STRATA_KERNELS_SPMV_SELL_HOST_SUMS_HPP

#include <Kokkos_Complex.hpp>
#include <Kokkos_Core.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Where the sums of a tile go, each times a factor.
template <class Scalar>
struct SellSums {
  Scalar* data;
  std::int64_t row_stride, column_stride;
  Scalar factor;
};

/// Sums of products for R columns of x, row by row. Compilers keep those of a
/// row in registers, and take several columns at once, where they are written
/// to memory side by side, and as they are.
///
/// @tparam together whether they shall: then sums are written side by side
/// @tparam by_parts of complex numbers: see below
template <class Scalar, int R, bool together, bool by_parts>
struct SellHostSums {
  using Sum = Scalar[R];

  /// Adds `v` times R elements of x, which are `stride` apart.
  KOKKOS_INLINE_FUNCTION static void add(const Scalar& v, const Scalar* at,
                                         std::int64_t stride, Sum& sum) {
    for (int r = 0; r < R; ++r) sum[r] += v * at[r * stride];
  }
  /// Calls add_row(u, sum) for `count` rows, at most `most`, and writes their
  /// sums.
  template <int most, class AddRow>
  KOKKOS_INLINE_FUNCTION static void rows(int count,
                                          const SellSums<Scalar>& sums,
                                          const AddRow& add_row) {
    const SellSums<Scalar> to = sums;
    for (int u = 0; u < count; ++u) {
      Sum sum;
      for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
      add_row(u, sum);
      Scalar* const out = to.data + u * to.row_stride;
      for (int r = 0; r < R; ++r)
        out[together ? r : r * to.column_stride] = to.factor * sum[r];
    }
  }
};

/// Products with the real and with the imaginary parts of entries have sums of
/// their own, which are put together when all rows are done: so both parts of
/// an element of x take the same operations, side by side.
template <class Real, int R>
struct SellHostSums<Kokkos::complex<Real>, R, true, true> {
  using Scalar = Kokkos::complex<Real>;
  /// By the real parts of entries, then by the imaginary ones.
  using Sum = Real[4 * R];

  KOKKOS_INLINE_FUNCTION static void add(const Scalar& v, const Scalar* at,
                                         std::int64_t stride, Sum& sum) {
    const Real real = v.real(), imaginary = v.imag();
    for (int r = 0; r < R; ++r) {
      const Real* const part = reinterpret_cast<const Real*>(at + r * stride);
      for (int i = 0; i < 2; ++i) {
        sum[2 * r + i] += real * part[i];
        sum[2 * R + 2 * r + i] += imaginary * part[i];
      }
    }
  }
  template <int most, class AddRow>
  KOKKOS_INLINE_FUNCTION static void rows(int count,
                                          const SellSums<Scalar>& sums,
                                          const AddRow& add_row) {
    constexpr int width = 4 * R;
    Real kept[most * width];
    for (int u = 0; u < count; ++u) {
      Sum sum;
      for (int i = 0; i < width; ++i) sum[i] = Real(0);
      add_row(u, sum);
      Real* const out = kept + u * width;
      for (int i = 0; i < width; ++i) out[i] = sum[i];
    }
    const SellSums<Scalar> to = sums;
    for (int u = 0; u < count; ++u) {
      const Real *const by_real = kept + u * width, *const by_imaginary =
                                                        by_real + 2 * R;
      Scalar* const out = to.data + u * to.row_stride;
      for (int r = 0; r < R; ++r)
        out[r] = to.factor * Scalar(by_real[2 * r] - by_imaginary[2 * r + 1],
                                    by_real[2 * r + 1] + by_imaginary[2 * r]);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
