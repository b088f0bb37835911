// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_NUMBERS_HPP
#define STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_NUMBERS_HPP

#include <core/device/Atomics.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/scalar/Modulus.hpp>
#include <core/scalar/RealPart.hpp>
#include <cstring>

// How the numbers of merged rows are made, and what they grow by: see
// MakeMergedValues.
namespace Strata {
namespace Detail {

/// The user's values as a solver reads them.
template <class Scalar>
struct GivenValues {
  const Scalar* values;
  bool conjugated;

  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t k) const {
    return conjugated ? conjugate(values[k]) : values[k];
  }
  /// Of a diagonal: one where it stands nowhere (-1).
  KOKKOS_INLINE_FUNCTION Scalar or_one(std::int64_t k) const {
    return k < 0 ? Scalar(1) : (*this)(k);
  }
};

/// The user's row at a permuted row; the top bit may be a mark.
template <class Rows>
KOKKOS_INLINE_FUNCTION int user_row_at(const Rows& row, int permuted_row) {
  return static_cast<int>(row(permuted_row) & 0x7fffffffu);
}

/// The bound on the rounding errors of one merged row, added up while its
/// coefficients are made; docs/accuracy.md proves it.
///
/// A merged row is x_i = sum over t of y_t b_t - sum over dependencies k of
/// c_k x_k. Let s_t be what is eliminated with row t, so that
/// y_t = s_t / l_tt. To first order in eps, the computed x_i differs from what
/// exact arithmetic makes of the same dependencies by at most eps ||x||_inf
/// times
///
///     spread = (depth + 1) / 2 * (sum |y_t| rowsum_t + sum |c_k|)
///              + 1/2 (sum of the products and of the sums that the
///                     elimination rounds) + sum |s_t|
///
/// where rowsum_t adds up the moduli of all entries of row t, its diagonal
/// included, and `depth` is the number of additions that a product goes
/// through. Underflow costs no more than what raising |y_t| and |c_k| to the
/// smallest normal number adds.
template <class Scalar>
struct SpreadSums {
  /// What the elimination has rounded: sum over updates of |y_t l_tj|, which
  /// are also the entries beside the diagonal in sum |y_t| rowsum_t; and of the
  /// results of those updates.
  double products = 0, results = 0;
  /// sum |s_t|, and sum |c_k|.
  double eliminated = 0, dependencies = 0;

  static constexpr bool is_single = sizeof(RealOf<Scalar>) == sizeof(float);
  /// The smallest normal number.
  static constexpr double tiny =
      is_single ? 1.1754943508222875e-38 : 2.2250738585072014e-308;

  KOKKOS_INLINE_FUNCTION static double not_less_than_tiny(double value) {
    return value < tiny ? tiny : value;
  }
  /// An entry of row t is taken into account: |y_t|, |l_tj|, and
  /// the modulus of what the sum has become.
  KOKKOS_INLINE_FUNCTION void update(double y, double entry, double result) {
    products += not_less_than_tiny(y) * entry;
    results += result;
  }
  /// @param s, y, diagonal  |s_t|, |y_t| and |l_tt|
  KOKKOS_INLINE_FUNCTION void coefficient(double s, double y, double diagonal) {
    eliminated += y < tiny ? s + tiny * diagonal : s;
  }
  KOKKOS_INLINE_FUNCTION void dependency(double c) {
    dependencies += not_less_than_tiny(c);
  }
  /// See above, where the row itself has a coefficient.
  KOKKOS_INLINE_FUNCTION double spread(int depth) const {
    return 0.5 * ((depth + 1) * (products + eliminated + dependencies) +
                  products + results) +
           eliminated;
  }
};

/// Spreads are kept in single precision. `most_spread` stands for what is not
/// finite, or too large for that: no row of which a part has it is accepted,
/// however small the part. `special_spread` says that numbers given are not
/// finite, so that nothing is to be said of accuracy.
constexpr float special_spread = -1, most_spread = 3.0e38f;
KOKKOS_INLINE_FUNCTION float kept_spread(double spread) {
  return spread < double(most_spread) ? static_cast<float>(spread)
                                      : most_spread;
}
/// Growth that is not finite counts as this.
constexpr double most_growth = 1e300;

/// Numbers that are not negative compare as these do; 0 for what is no number.
KOKKOS_INLINE_FUNCTION std::int64_t bits_of(double value) {
  std::int64_t bits = 0;
  if (value - value == 0) memcpy(&bits, &value, sizeof(bits));
  return bits;
}
/// Makes `largest` the largest of what it is and of the spreads of all lanes of
/// a warp, as bits_of. All lanes have to call it.
/// @param kept   the lane's spread; 0 and special_spread are left out
/// @param leads  one lane of the warp
template <int width>
KOKKOS_INLINE_FUNCTION void raise_spread(std::int64_t* largest, bool leads,
                                         float kept) {
  std::int64_t bits = kept > 0 ? bits_of(double(kept)) : 0;
  for (int mask = width / 2; mask > 0; mask /= 2) {
    const std::int64_t other = lane_xor(bits, mask);
    bits = other > bits ? other : bits;
  }
  // Few find a larger number than there is.
  if (leads && bits > load_relaxed(largest))
    Kokkos::atomic_fetch_max(largest, bits);
}

/// What the lanes that share a row find out while they make its coefficients.
template <class Scalar>
struct MergedLook {
  SpreadSums<Scalar> sums;
  /// A number given is not finite: there is nothing to be said of accuracy.
  bool special = false;
  /// Of finite numbers, something is made that is not finite, or is divided by
  /// that is no normal number: the row has the largest spread.
  bool overflows = false;

  KOKKOS_INLINE_FUNCTION void given(const Scalar& value) {
    special = special || !is_finite(value);
  }
  KOKKOS_INLINE_FUNCTION void made(const Scalar& value) {
    overflows = overflows || !is_finite(value);
  }
  /// The step of an elimination, taken into account: x_t is replaced by y_t b_t
  /// - sum over j of y_t l_tj x_j. Coefficients of x_j that are to be replaced
  /// later are kept with the sign that they have on the right-hand side, as y_j
  /// follows from them; those of dependencies with the opposite one.
  /// @param inner  x_j is to be replaced
  /// @param sum    the factor of x_j so far
  KOKKOS_INLINE_FUNCTION Scalar eliminate(bool inner, const Scalar& sum,
                                          const Scalar& y,
                                          const Scalar& entry) {
    given(entry);
    const Scalar by = inner ? -y : y;
    const Scalar result = sum + by * entry;
    sums.update(one_norm(y), one_norm(entry), one_norm(result));
    return result;
  }
  /// What `lanes` neighbouring lanes have found together.
  KOKKOS_INLINE_FUNCTION void join_lanes(int lanes) {
    sums.products = lane_group_sum(sums.products, lanes);
    sums.results = lane_group_sum(sums.results, lanes);
    sums.eliminated = lane_group_sum(sums.eliminated, lanes);
    sums.dependencies = lane_group_sum(sums.dependencies, lanes);
    const int flags =
        lane_group_sum((special ? 1 : 0) | (overflows ? 1 << 8 : 0), lanes);
    special = (flags & 0xff) != 0;
    overflows = flags >> 8 != 0;
  }
  /// What is kept of the row's spread.
  KOKKOS_INLINE_FUNCTION float kept(double spread) const {
    return special ? special_spread
                   : kept_spread(overflows ? most_growth : spread);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
