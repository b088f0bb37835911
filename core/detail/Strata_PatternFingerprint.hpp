// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PATTERN_FINGERPRINT_HPP
#define STRATA_PATTERN_FINGERPRINT_HPP

#include <detail/Strata_KokkosCompat.hpp>

namespace Strata {
namespace Detail {

KOKKOS_INLINE_FUNCTION std::uint64_t mix_bits(std::uint64_t z) {
  z = (z ^ (z >> 31)) * 0x7fb5d329728ea185ULL;
  z = (z ^ (z >> 27)) * 0x81dadef4bc2dd44dULL;
  return z ^ (z >> 33);
}

/// Term of one element: position and content together, so that swapping two
/// elements changes the sum.
template <class View>
struct FingerprintTerm {
  View view;
  std::uint64_t salt;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k,
                                         std::uint64_t& sum) const {
    sum += mix_bits(mix_bits(static_cast<std::uint64_t>(k) + salt) +
                    static_cast<std::uint64_t>(view(k)));
  }
};

/// 64-bit fingerprint of a CRS pattern, the same on every backend: equal
/// patterns agree, others differ but for a chance of 2^-64. One pass over row
/// map and entries; fences `exec`.
template <class ExecutionSpace, class RowMap, class Entries>
std::uint64_t pattern_fingerprint(const ExecutionSpace& exec,
                                  const RowMap& row_map,
                                  const Entries& entries) {
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  std::uint64_t rows = 0, columns = 0;
  Kokkos::parallel_reduce(
      "Strata::PatternFingerprint::row_map",
      Range(exec, 0, static_cast<std::int64_t>(row_map.extent(0))),
      FingerprintTerm<RowMap>{row_map, 0x5851f42d4c957f2dULL}, rows);
  Kokkos::parallel_reduce(
      "Strata::PatternFingerprint::entries",
      Range(exec, 0, static_cast<std::int64_t>(entries.extent(0))),
      FingerprintTerm<Entries>{entries, 0x14057b7ef767814fULL}, columns);
  return mix_bits(rows) + columns;
}

}  // namespace Detail
}  // namespace Strata

#endif
