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

/// Team scratch addressed by byte offsets. Loads and stores reach memory each
/// time, in program order, and move 1, 4, 8 or 16 bytes with one instruction.
///
/// A barrier has to lie between a `store` and another thread's `load` of the
/// same bytes. None is needed between `hand_over` and `load_handed_over`: they
/// are relaxed atomic accesses of team scope, of one word or of two 8-byte
/// words each for itself, and order nothing else.
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
    static_assert(
        sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
        "1, 4, 8 or 16 bytes");
#if STRATA_IMPL_ON_DEVICE
    if constexpr (sizeof(T) == 1) {
      return static_cast<T>(OnDevice::load_shared_byte(begin_ + offset));
    } else {
      return OnDevice::load_shared<T>(begin_ + offset);
    }
#else
    T value;
    memcpy(&value, begin_ + offset, sizeof(T));
    return value;
#endif
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION void store(unsigned offset, const T& value) const {
    static_assert(
        sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
        "1, 4, 8 or 16 bytes");
#if STRATA_IMPL_ON_DEVICE
    if constexpr (sizeof(T) == 1) {
      OnDevice::store_shared_byte(begin_ + offset,
                                  static_cast<unsigned>(value));
    } else {
      OnDevice::store_shared(begin_ + offset, value);
    }
#else
    memcpy(begin_ + offset, &value, sizeof(T));
#endif
  }

  template <class T>
  KOKKOS_INLINE_FUNCTION T load_handed_over(unsigned offset) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "4, 8 or 16 bytes");
#if STRATA_IMPL_ON_DEVICE
    return OnDevice::load_handed_over<T>(begin_ + offset);
#else
    return load<T>(offset);  // a host's team is one thread
#endif
  }
  template <class T>
  KOKKOS_INLINE_FUNCTION void hand_over(unsigned offset, const T& value) const {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                  "4, 8 or 16 bytes");
    STRATA_IMPL_BEFORE_HAND_OVER(&value);
#if STRATA_IMPL_ON_DEVICE
    OnDevice::store_handed_over(begin_ + offset, value);
#else
    store(offset, value);
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

/// Has `value` computed by here: compilers like to leave work for later, even
/// if there is time to spare now and none then.
KOKKOS_INLINE_FUNCTION void compute_now(unsigned& value) {
#if STRATA_IMPL_ON_DEVICE
  OnDevice::compute_now(value);
#else
  (void)value;
#endif
}

}  // namespace Detail
}  // namespace Strata

#endif
