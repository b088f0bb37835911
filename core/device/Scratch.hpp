// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_SCRATCH_HPP
#define STRATA_CORE_DEVICE_SCRATCH_HPP

#include <core/device/Atomics.hpp>
#include <core/device/Backend.hpp>
#include <cstring>
#if defined(KOKKOS_ENABLE_CUDA)
#include <core/device/cuda/CudaScratch.hpp>
#elif defined(KOKKOS_ENABLE_HIP)
#include <core/device/hip/HipDevice.hpp>
#endif

namespace Strata {
namespace Detail {

/// A team's scratch from an address on that 16 divides: Kokkos aligns it to 8.
/// @param bytes  16 of which are for that
template <class To, class Team>
KOKKOS_INLINE_FUNCTION To* aligned_scratch(const Team& team,
                                           std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(
      team.team_scratch(0).get_shmem(static_cast<int>(bytes)));
  return reinterpret_cast<To*>((at + 15) / 16 * 16);
}

/// Team scratch addressed by byte offsets. Loads and stores reach memory each
/// time, in program order, and move 4, 8 or 16 bytes with one instruction.
///
/// A barrier has to lie between a `store` and another thread's `load` of the
/// same bytes.
class ScratchBytes {
 public:
  KOKKOS_INLINE_FUNCTION explicit ScratchBytes(void* begin) {
#if STRATA_IMPL_ON_DEVICE
    begin_ = OnDevice::shared_address(begin);
#else
    begin_ = static_cast<unsigned char*>(begin);
#endif
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION T load(unsigned offset) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "4, 8 or 16 bytes");
#if STRATA_IMPL_ON_DEVICE
    return OnDevice::load_shared<T>(begin_ + offset);
#else
    T value;
    memcpy(&value, begin_ + offset, sizeof(T));
    return value;
#endif
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION void store(unsigned offset, const T& value) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "4, 8 or 16 bytes");
#if STRATA_IMPL_ON_DEVICE
    OnDevice::store_shared(begin_ + offset, value);
#else
    memcpy(begin_ + offset, &value, sizeof(T));
#endif
  }

  /// Copies 16 bytes from global memory, both ends aligned to 16: see
  /// copy_async_commit and copy_async_wait.
  KOKKOS_INLINE_FUNCTION void copy_async_16(unsigned offset,
                                            const void* global) const {
#if defined(STRATA_IMPL_COPIES_ASYNC)
    OnDevice::copy_async_16(begin_ + offset, global);
#elif STRATA_IMPL_ON_DEVICE
    store(offset, *static_cast<const Packet*>(global));
#else
    memcpy(begin_ + offset, global, 16);
#endif
  }

 private:
#if STRATA_IMPL_ON_DEVICE
  unsigned begin_;
#else
  unsigned char* begin_;
#endif
};

/// Asynchronous copies to scratch (ScratchBytes::copy_async_16): those begun up
/// to a commit form a group; `copy_async_wait<n>` waits until at most n groups
/// of this thread are under way. Where there are none, a copy is done at once.
KOKKOS_INLINE_FUNCTION void copy_async_commit() {
#if defined(STRATA_IMPL_COPIES_ASYNC)
  OnDevice::copy_async_commit();
#endif
}
template <int groups>
KOKKOS_INLINE_FUNCTION void copy_async_wait() {
#if defined(STRATA_IMPL_COPIES_ASYNC)
  OnDevice::copy_async_wait<groups>();
#endif
}

}  // namespace Detail
}  // namespace Strata

#endif
