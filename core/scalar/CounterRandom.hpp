// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_SCALAR_COUNTER_RANDOM_HPP
#define STRATA_CORE_SCALAR_COUNTER_RANDOM_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Bijective scrambling of 64 bits: the output function of splitmix64 (Steele,
/// Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
KOKKOS_INLINE_FUNCTION std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// 64 random bits that depend on nothing but the seed and three counters, so
/// any thread of any backend can make any of them in any order.
KOKKOS_INLINE_FUNCTION std::uint64_t random_bits(std::uint64_t seed,
                                                 std::uint64_t a,
                                                 std::uint64_t b,
                                                 std::uint64_t stream) {
  return mix64(mix64(mix64(seed ^ (stream << 56)) + a) + b);
}

/// The upper 53 bits as a double in [0, 1), exactly.
KOKKOS_INLINE_FUNCTION double unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

/// An integer in [0, n), n < 2^53, from 64 random bits.
KOKKOS_INLINE_FUNCTION std::int64_t below(std::uint64_t bits, std::int64_t n) {
  return static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(n));
}

}  // namespace Detail
}  // namespace Strata

#endif
