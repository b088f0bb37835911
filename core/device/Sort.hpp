// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_SORT_HPP
#define STRATA_CORE_DEVICE_SORT_HPP

#include <core/device/Backend.hpp>
#include <core/memory/AllocateView.hpp>
#include <cstdint>
#include <numeric>
#include <vector>
#if defined(KOKKOS_ENABLE_CUDA)
#include <core/device/cuda/CudaSort.hpp>
#endif

namespace Strata {
namespace Detail {

/// Bits that the numbers 0 to `largest` take.
KOKKOS_INLINE_FUNCTION int bits_for(std::uint64_t largest) {
  int bits = 0;
  for (; largest > 0; largest >>= 1) ++bits;
  return bits;
}

/// Bytes of workspace that `sort_by_key` needs for `count` elements: none where
/// the host sorts.
template <class ExecutionSpace>
std::size_t sort_by_key_bytes(const ExecutionSpace&, std::int64_t) {
  return 0;
}

/// Sorts `values` by the low `bits` bits of their `keys`, ascending and stable,
/// and the keys with them. Bits above are to be 0. Afterwards `keys` and
/// `values` point to what is sorted: to where they did, or into `work`.
///
/// @param work sort_by_key_bytes of device memory, aligned to 16 bytes
/// Cost on CUDA: a pass over keys and values for every eight bits; enqueued on
/// `exec` without a wait. Elsewhere one for every eleven on the host, which
/// waits.
template <class ExecutionSpace>
void sort_by_key_within(const ExecutionSpace& exec, std::uint64_t*& keys,
                        int*& values, std::int64_t count, int bits, char*) {
  if (count < 2 || bits == 0) return;
  exec.fence();
  using Memory = typename ExecutionSpace::memory_space;
  const Kokkos::View<std::uint64_t*, Memory> all_keys(keys, count);
  const Kokkos::View<int*, Memory> all_values(values, count);
  std::vector<std::uint64_t> old_keys(count), new_keys(count);
  std::vector<int> old_values(count), new_values(count);
  using HostKeys = Kokkos::View<std::uint64_t*, Kokkos::HostSpace>;
  using HostValues = Kokkos::View<int*, Kokkos::HostSpace>;
  Kokkos::deep_copy(HostKeys(old_keys.data(), count), all_keys);
  Kokkos::deep_copy(HostValues(old_values.data(), count), all_values);
  constexpr int digit_bits = 11, digits = 1 << digit_bits;
  for (int shift = 0; shift < bits; shift += digit_bits) {
    const auto digit = [=](std::uint64_t key) {
      return (key >> shift) & (digits - 1);
    };
    std::vector<std::int64_t> next(digits + 1, 0);
    for (const std::uint64_t key : old_keys) ++next[digit(key) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t to = next[digit(old_keys[i])]++;
      new_keys[to] = old_keys[i];
      new_values[to] = old_values[i];
    }
    old_keys.swap(new_keys);
    old_values.swap(new_values);
  }
  Kokkos::deep_copy(all_keys, HostKeys(old_keys.data(), count));
  Kokkos::deep_copy(all_values, HostValues(old_values.data(), count));
}
#if defined(KOKKOS_ENABLE_CUDA)
inline std::size_t sort_by_key_bytes(const Kokkos::Cuda& exec,
                                     std::int64_t count) {
  return Cuda::sort_by_key_bytes(exec, count);
}
inline void sort_by_key_within(const Kokkos::Cuda& exec, std::uint64_t*& keys,
                               int*& values, std::int64_t count, int bits,
                               char* work) {
  if (count < 2 || bits == 0) return;
  Cuda::sort_by_key_within(exec, keys, values, count, bits, work);
}
#endif

/// The same in place. Without `work` memory is allocated, and `exec` waited
/// for.
template <class ExecutionSpace>
void sort_by_key(
    const ExecutionSpace& exec,
    const Kokkos::View<std::uint64_t*, typename ExecutionSpace::memory_space>&
        keys,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& values,
    int bits,
    Kokkos::View<char*, typename ExecutionSpace::memory_space> work = {}) {
  using Memory = typename ExecutionSpace::memory_space;
  const auto count = static_cast<std::int64_t>(keys.extent(0));
  if (count < 2 || bits == 0) return;
  const std::size_t needed = sort_by_key_bytes(exec, count);
  const bool own_work = work.extent(0) < needed;
  if (own_work)
    work = make_unfilled<decltype(work)>(exec, "Strata::sort_by_key",
                                         static_cast<std::int64_t>(needed));
  std::uint64_t* sorted_keys = keys.data();
  int* sorted_values = values.data();
  sort_by_key_within(exec, sorted_keys, sorted_values, count, bits,
                     work.data());
  if (sorted_keys != keys.data())
    Kokkos::deep_copy(exec, keys,
                      Kokkos::View<std::uint64_t*, Memory>(sorted_keys, count));
  if (sorted_values != values.data())
    Kokkos::deep_copy(exec, values,
                      Kokkos::View<int*, Memory>(sorted_values, count));
  if (own_work) exec.fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
