// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_HOST_BAND_COLUMNS_HPP
#define STRATA_KERNELS_BAND_HOST_BAND_COLUMNS_HPP

#include <algorithm>
#include <cmath>
#include <core/scalar/Modulus.hpp>
#include <cstdint>
#include <kernels/band/BandInput.hpp>
#include <limits>

namespace Strata {
namespace Detail {

// For loops of hosts, where a complex number's modulus is a call of hypot.

/// As one_norm, of the scalar's own precision: |x|, or |Re x| + |Im x|, which
/// LAPACK chooses pivots by. Not less than the modulus.
template <class Real>
Real sum_of_parts(const Real& x) {
  return std::abs(x);
}
template <class Real>
Real sum_of_parts(const Kokkos::complex<Real>& x) {
  return std::abs(x.real()) + std::abs(x.imag());
}
/// |x|, or the larger of |Re x| and |Im x|: not more than the modulus.
template <class Real>
Real largest_part(const Real& x) {
  return std::abs(x);
}
template <class Real>
Real largest_part(const Kokkos::complex<Real>& x) {
  return std::max(std::abs(x.real()), std::abs(x.imag()));
}

/// |x|, within a few roundings, by one square root where no square leaves the
/// range of numbers by far.
template <class Real>
Real quick_modulus(const Real& x) {
  return std::abs(x);
}
template <class Real>
Real quick_modulus(const Kokkos::complex<Real>& x) {
  constexpr Real least = std::numeric_limits<Real>::min() /
                         std::numeric_limits<Real>::epsilon() /
                         std::numeric_limits<Real>::epsilon();
  const Real square = x.real() * x.real() + x.imag() * x.imag();
  const bool is_mid_range = square > least && square < Real(1) / least;
  return is_mid_range ? std::sqrt(square) : modulus(x);
}

/// What a host finds out about one band matrix, column by column, while it
/// copies it into LAPACK's storage. It tells matrices that surely are right
/// from others, by one sum a column; CheckBand has to look at the others.
///
/// A sum with what is not finite is not finite. Where the diagonal dominates a
/// column or a row, none of its values is larger; so no maxima are needed for
/// pivots to be measured by.
template <class Scalar, class ExecutionSpace>
class HostBandColumns {
 public:
  using Real = RealOf<Scalar>;

  explicit HostBandColumns(const BandRef<Scalar>& A)
      : A_(A),
        slack_(static_cast<Real>(A.lower + A.upper + 1) *
               std::numeric_limits<Real>::epsilon()) {}

  /// Copies column j to where `diagonal` is its diagonal's place.
  /// @returns the sum of its values' parts
  Real copy(std::int64_t j, Scalar* diagonal) const {
    const std::int64_t begin = std::max<std::int64_t>(0, j - A_.upper),
                       end = std::min(A_.size, j + A_.lower + 1);
    Scalar* const to = diagonal + (begin - j);
    const Scalar* const from = &A_(0, begin, j);
    return A_.row_stride == 1
               ? copy_and_add(from, 1, end - begin, to)
               : copy_and_add(from, A_.row_stride, end - begin, to);
  }

  /// Whether column j, whose parts' sum is `sum`, is dominated by its diagonal.
  bool dominates_column(std::int64_t j, Real sum) const {
    return dominates<false>(j, sum);
  }

  /// Whether the diagonal dominates all rows. @param sums room for all rows
  bool dominates_rows(Real* sums) const {
    std::fill(sums, sums + A_.size, Real(0));
    for (std::int64_t j = 0; j < A_.size; ++j) {
      const std::int64_t begin = std::max<std::int64_t>(0, j - A_.upper),
                         end = std::min(A_.size, j + A_.lower + 1);
      const Scalar* const column = &A_(0, begin, j);
      Real* const sum = sums + begin;
      if (A_.row_stride == 1)
        for (std::int64_t i = 0; i < end - begin; ++i)
          sum[i] += sum_of_parts(column[i]);
      else
        for (std::int64_t i = 0; i < end - begin; ++i)
          sum[i] += sum_of_parts(column[i * A_.row_stride]);
    }
    for (std::int64_t i = 0; i < A_.size; ++i)
      if (!dominates<true>(i, sums[i])) return false;
    return true;
  }

 private:
  /// Values that are loaded before the first of them is stored, and sums that
  /// are under way at once.
  static constexpr int at_once = sizeof(Real) == 8 ? 4 : 8;

  static Real copy_and_add(const Scalar* from, std::int64_t stride,
                           std::int64_t count, Scalar* to) {
    Real sum[at_once] = {};
    std::int64_t i = 0;
    for (; i + at_once <= count; i += at_once) {
      Scalar value[at_once];
      for (int k = 0; k < at_once; ++k) value[k] = from[(i + k) * stride];
      for (int k = 0; k < at_once; ++k) to[i + k] = value[k];
      for (int k = 0; k < at_once; ++k) sum[k] += sum_of_parts(value[k]);
    }
    for (; i < count; ++i) {
      to[i] = from[i * stride];
      sum[0] += sum_of_parts(to[i]);
    }
    for (int half = at_once / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k) sum[k] += sum[k + half];
    return sum[0];
  }

  /// @param sum of the parts in a row or column i, its diagonal's included
  template <bool of_row>
  bool dominates(std::int64_t i, Real sum) const {
    const Scalar diagonal = A_(0, i, i);
    const Real size = quick_modulus(diagonal);
    // The sum is that of the moduli at least, unless it has overflowed.
    if (sum - sum == Real(0) && sum <= size + sum_of_parts(diagonal))
      return true;
    CheckBand<Scalar, ExecutionSpace, of_row> check;
    check.A = A_;
    Real others(0), largest(0);
    check.add(0, i, 0, others, largest);
    return others <= modulus(diagonal) * (Real(1) + slack_);
  }

  BandRef<Scalar> A_;
  Real slack_;
};

/// Whether a pivot is so small or large that it has to be looked at again: it
/// is beside `scale`, or it or its reciprocal may be beyond the range of
/// numbers.
template <class Scalar, class Real>
bool is_doubtful_pivot(const Scalar& pivot, Real least) {
  const Real size = largest_part(pivot);
  return !(size > least && size >= std::numeric_limits<Real>::min() &&
           size <= std::numeric_limits<Real>::max() / 2);
}

}  // namespace Detail
}  // namespace Strata

#endif
