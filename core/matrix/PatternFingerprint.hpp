// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_PATTERN_FINGERPRINT_HPP
#define STRATA_CORE_MATRIX_PATTERN_FINGERPRINT_HPP

#include <core/device/Backend.hpp>
#include <core/matrix/IndexArray.hpp>

namespace Strata {
namespace Detail {

KOKKOS_INLINE_FUNCTION std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 31)) * 0x7fb5d329728ea185ULL;
  z = (z ^ (z >> 27)) * 0x81dadef4bc2dd44dULL;
  return z ^ (z >> 33);
}

/// Term of one element: position and content together, so that swapping two
/// elements changes the sum.
struct FingerprintTerm {
  IndexArray array;
  std::uint64_t salt;
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    return static_cast<std::int64_t>(array.extent(0));
  }
  /// Adds the terms of elements `first` + u * `stride` with u < count, as far
  /// as there are such, all read before any is used.
  template <int count>
  KOKKOS_INLINE_FUNCTION void add(std::int64_t first, std::int64_t stride,
                                  std::uint64_t& sum) const {
    std::int64_t content[count];
    array.read(first, stride, content);
    STRATA_IMPL_UNROLL
    for (int u = 0; u < count; ++u) {
      const std::int64_t k = first + u * stride;
      const std::uint64_t place =
          mix_bits(static_cast<std::uint64_t>(k) + salt);
      if (k < size())
        sum += mix_bits(place + static_cast<std::uint64_t>(content[u]));
    }
  }
};

// The fingerprint of a CRS pattern, the same on every backend, is made from the
// sums of these terms over row map and entries: equal patterns agree, others
// differ but for a chance of 2^-64.
inline FingerprintTerm row_map_term(const IndexArray& row_map) {
  return {row_map, 0x5851f42d4c957f2dULL};
}
inline FingerprintTerm entries_term(const IndexArray& entries) {
  return {entries, 0x14057b7ef767814fULL};
}
inline std::uint64_t combine_fingerprints(std::uint64_t row_map,
                                          std::uint64_t entries) {
  return mix_bits(row_map) + entries;
}

}  // namespace Detail
}  // namespace Strata

#endif
