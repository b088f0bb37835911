// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_SMALL_PIVOTS_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_SMALL_PIVOTS_HPP

#include <core/matrix/CrsArrays.hpp>
#include <core/scalar/Modulus.hpp>
#include <core/scalar/RealPart.hpp>
#include <cstring>
#include <type_traits>

namespace Strata {
namespace Detail {

/// Replaces small pivots during an elimination (static pivoting, Li and Demmel
/// 2003). Each row decides by itself, and a count and a maximum don't depend on
/// an order: the same elimination finds the same, whatever runs at once.
template <class Scalar>
struct SmallPivots {
  using Real = RealOf<Scalar>;
  const Real* least = nullptr;  // modulus of a pivot, by row; null: all stay
  bool positive = false;        // pivots have to be real and positive
  /// How many were replaced, and the bits of the largest change, which as
  /// integers are in the order of the numbers, as these are not negative.
  std::int64_t* found = nullptr;
  bool real = false;  // what replaces a pivot has to be real

  /// The pivot of a row that elimination has made `pivot`. One that is not
  /// finite stays what it is.
  KOKKOS_INLINE_FUNCTION Scalar replaced(std::int64_t row,
                                         const Scalar& pivot) const {
    if (!is_finite(pivot)) return pivot;
    using Part = RealPart<Scalar>;
    const Real smallest = least[row];
    const Real re = static_cast<Real>(Part::real(pivot));
    Scalar made;
    if (positive) {
      // The imaginary part is a rounding error.
      if (re >= smallest) return Scalar(re);
      made = Scalar(smallest);
    } else if (real) {
      // The imaginary part is a rounding error, which decides nothing.
      if (modulus(re) >= smallest) return pivot;
      made = Scalar(re < Real(0) ? -smallest : smallest);
    } else {
      const Real size = modulus_of(pivot);
      if (size >= smallest) return pivot;
      made = size > Real(0) ? with_modulus(pivot, smallest) : Scalar(smallest);
    }
    Kokkos::atomic_fetch_add(found, std::int64_t{1});
    const double change = static_cast<double>(modulus(made - pivot));
    std::int64_t bits;
    memcpy(&bits, &change, sizeof(bits));
    Kokkos::atomic_fetch_max(found + 1, bits);
    return made;
  }

 private:
  /// By parts over the larger one: no square leaves the range of numbers.
  KOKKOS_INLINE_FUNCTION static Real length(const Scalar& direction) {
    return static_cast<Real>(sqrt(real_product(direction, direction)));
  }
  KOKKOS_INLINE_FUNCTION static Real modulus_of(const Scalar& pivot) {
    const auto larger = static_cast<Real>(larger_part(pivot));
    if constexpr (std::is_same<Real, Scalar>::value) {
      return larger;
    } else {
      return larger > Real(0) ? larger * length(pivot / larger) : larger;
    }
  }
  /// A number of the direction of `pivot`, which is not zero.
  KOKKOS_INLINE_FUNCTION static Scalar with_modulus(const Scalar& pivot,
                                                    Real size) {
    if constexpr (std::is_same<Real, Scalar>::value) {
      return pivot < Real(0) ? -size : size;
    } else {
      const Scalar direction = pivot / static_cast<Real>(larger_part(pivot));
      return direction * (size / length(direction));
    }
  }
};

template <class Scalar>
KOKKOS_INLINE_FUNCTION RealOf<Scalar> largest_of_row(const CrsArrays<Scalar>& A,
                                                     std::int64_t row) {
  RealOf<Scalar> largest(0);
  const std::int64_t end = A.row_map(row + 1);
  for (std::int64_t k = A.row_map(row); k < end; ++k) {
    const RealOf<Scalar> size = modulus(A.values[k]);
    if (size > largest) largest = size;
  }
  return largest;
}
/// `threshold` times the largest modulus of each row; resets what was found.
template <class Scalar>
struct FindLeastPivots {
  CrsArrays<Scalar> A;
  RealOf<Scalar> threshold;
  RealOf<Scalar>* least;
  std::int64_t* found;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    least[row] = threshold * largest_of_row(A, row);
    if (row == 0) found[0] = found[1] = 0;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
