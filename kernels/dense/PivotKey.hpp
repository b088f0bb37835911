// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_PIVOT_KEY_HPP
#define STRATA_KERNELS_DENSE_PIVOT_KEY_HPP

#include <cstring>
#include <kernels/dense/DenseRef.hpp>
#include <type_traits>

namespace Strata {
namespace Detail {

/// What pivots are searched by: the bits of an entry's magnitude, which are a
/// larger number for a larger one. The bit of the sign is left out, as a zero
/// may have one: zeros are alike. What is not a number is larger than all.
template <class Scalar>
struct PivotKey {
  using Key = unsigned long long;
  /// Whether keys differ in their upper halves only.
  static constexpr bool in_upper_half = std::is_same<Scalar, float>::value;

  KOKKOS_INLINE_FUNCTION static Key of(const Scalar& entry) {
    if constexpr (in_upper_half) {
      unsigned bits;
      memcpy(&bits, &entry, sizeof bits);
      return static_cast<Key>(bits & 0x7fffffffU) << 32;
    } else {
      const double size = magnitude(entry);
      Key key;
      memcpy(&key, &size, sizeof key);
      return key & 0x7fffffffffffffffULL;
    }
  }
  KOKKOS_INLINE_FUNCTION static double magnitude_of(Key key) {
    if constexpr (in_upper_half) {
      const unsigned bits = static_cast<unsigned>(key >> 32);
      float size;
      memcpy(&size, &bits, sizeof size);
      return size;
    } else {
      double size;
      memcpy(&size, &key, sizeof size);
      return size;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
