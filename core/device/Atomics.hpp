// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_ATOMICS_HPP
#define STRATA_CORE_DEVICE_ATOMICS_HPP

// Loads and stores by which threads hand over values while a kernel runs. They
// go beyond Kokkos' atomics in what they say of order and of caches.

#include <chrono>
#include <core/device/Backend.hpp>
#include <cstdint>
#include <thread>
#include <type_traits>
#if defined(KOKKOS_ENABLE_CUDA)
#include <core/device/cuda/CudaAtomics.hpp>
#elif defined(KOKKOS_ENABLE_HIP)
#include <core/device/hip/HipDevice.hpp>
#endif

// Called before each store that other threads may be waiting for. A test holds
// such stores up here (unit_test/DelayedStores.hpp).
#if !defined(STRATA_IMPL_BEFORE_HAND_OVER)
#define STRATA_IMPL_BEFORE_HAND_OVER(address) static_cast<void>(address)
#endif

namespace Strata {
namespace Detail {

/// Atomic loads and stores of a 4- or 8-byte word without ordering of other
/// accesses, at device scope: never served by a cache that other threads'
/// stores do not reach.
template <class Word>
KOKKOS_INLINE_FUNCTION Word load_relaxed(const Word* p) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "4 or 8 bytes");
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::load_relaxed(p);
#else
  Word w;
  __atomic_load(const_cast<Word*>(p), &w, __ATOMIC_RELAXED);
  return w;
#endif
}
template <class Word>
KOKKOS_INLINE_FUNCTION void store_relaxed(Word* p, Word w) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "4 or 8 bytes");
  STRATA_IMPL_BEFORE_HAND_OVER(p);
#if STRATA_IMPL_ON_DEVICE
  OnDevice::store_relaxed(p, w);
#else
  __atomic_store(p, &w, __ATOMIC_RELAXED);
#endif
}

/// The same of a word in global memory or in a team's scratch, whichever `p`
/// points to.
template <class Word>
KOKKOS_INLINE_FUNCTION Word load_relaxed_anywhere(const Word* p) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "4 or 8 bytes");
#if defined(__CUDA_ARCH__)
  return OnDevice::load_relaxed_anywhere(p);
#else
  return load_relaxed(p);
#endif
}
template <class Word>
KOKKOS_INLINE_FUNCTION void store_relaxed_anywhere(Word* p, Word w) {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8, "4 or 8 bytes");
#if defined(__CUDA_ARCH__)
  STRATA_IMPL_BEFORE_HAND_OVER(p);
  OnDevice::store_relaxed_anywhere(p, w);
#else
  store_relaxed(p, w);
#endif
}

/// 16 bytes that one instruction moves.
struct alignas(16) Packet {
  unsigned long long word[2];
};

/// Two relaxed loads, or stores, of neighbouring 8-byte words in one
/// instruction. Each word is atomic by itself; nothing is said of their order.
KOKKOS_INLINE_FUNCTION Packet load_relaxed_packet(const Packet* p) {
  Packet packet;
#if defined(__CUDA_ARCH__)
  OnDevice::load_relaxed_two(p->word, packet.word);
#else
  for (int i = 0; i < 2; ++i) packet.word[i] = load_relaxed(p->word + i);
#endif
  return packet;
}
KOKKOS_INLINE_FUNCTION void store_relaxed_packet(Packet* p,
                                                 const Packet& packet) {
  STRATA_IMPL_BEFORE_HAND_OVER(p);
#if defined(__CUDA_ARCH__)
  OnDevice::store_relaxed_two(p->word, packet.word);
#else
  for (int i = 0; i < 2; ++i) store_relaxed(p->word + i, packet.word[i]);
#endif
}

/// Adds 1 to a counter that starts again at 0 when it reaches `limit`, and
/// returns what it was. Orders no other accesses.
KOKKOS_INLINE_FUNCTION unsigned fetch_increment_modulo(unsigned* counter,
                                                       unsigned limit) {
#if STRATA_IMPL_ON_DEVICE
  return atomicInc(counter, limit - 1);
#else
  unsigned now = __atomic_load_n(counter, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(counter, &now,
                                      now + 1 == limit ? 0 : now + 1, true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return now;
#endif
}

// Flags and counters for data beside them. The writer stores its data, meets
// its team at a barrier, and one thread stores the flag with release semantics.
// A reader loads the flag with acquire semantics, meets its own team at a
// barrier, and any of its threads loads the data. Release and acquire of the
// same flag synchronise at device scope, and barriers order the accesses of a
// team before and after them: causality order is transitive over the three, so
// the data is there. Data that is read through the second-level cache
// (load_relaxed) or for the first time in the kernel is not stale either.

/// Load that later accesses of this thread cannot overtake.
template <class Word>
KOKKOS_INLINE_FUNCTION Word load_acquire(const Word* p) {
  static_assert(std::is_same<Word, unsigned>::value ||
                    std::is_same<Word, std::uint64_t>::value,
                "4 or 8 bytes");
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::load_acquire(p);
#else
  return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#endif
}
/// Store that earlier accesses of this thread cannot be moved behind.
template <class Word>
KOKKOS_INLINE_FUNCTION void store_release(Word* p, Word u) {
  STRATA_IMPL_BEFORE_HAND_OVER(p);
#if STRATA_IMPL_ON_DEVICE
  OnDevice::store_release(p, u);
#else
  __atomic_store_n(p, u, __ATOMIC_RELEASE);
#endif
}
/// Adds 1; earlier accesses of this thread, and of those it has met at a
/// barrier, cannot be moved behind.
KOKKOS_INLINE_FUNCTION void increment_release(unsigned* p) {
  STRATA_IMPL_BEFORE_HAND_OVER(p);
#if STRATA_IMPL_ON_DEVICE
  OnDevice::increment_release(p);
#else
  __atomic_fetch_add(p, 1u, __ATOMIC_RELEASE);
#endif
}

/// Store of one 8-byte word to HostVisibleSpace. Nothing is said of its order
/// with other accesses.
KOKKOS_INLINE_FUNCTION void store_for_host(double* p, double value) {
#if STRATA_IMPL_ON_DEVICE
  OnDevice::store_for_host(p, value);
#else
  __atomic_store(p, &value, __ATOMIC_RELAXED);
#endif
}

/// Lets another thread have this one's core. To yield is the quickest way to a
/// thread of the same team; but where the core is shared with another program,
/// it hands that a whole time slice, milliseconds, while who sleeps is given
/// the core back as soon as it wakes. A yield that took long tells which it is.
inline void leave_core() {
  using Clock = std::chrono::steady_clock;
  static thread_local int sleeps_left = 0;
  if (sleeps_left > 0) {
    --sleeps_left;
    std::this_thread::sleep_for(std::chrono::microseconds(1));
    return;
  }
  const auto begin = Clock::now();
  std::this_thread::yield();
  if (Clock::now() - begin > std::chrono::microseconds(500)) sleeps_left = 1000;
}

/// One turn of a waiting loop: leaves the execution units to others.
KOKKOS_INLINE_FUNCTION void pause_while_waiting(int turn) {
#if STRATA_IMPL_ON_DEVICE
  OnDevice::pause_while_waiting(turn);
#else
  // A thread that is not running can't be waited for by spinning: where there
  // are more threads than cores, let it run.
  if (turn > 64) leave_core();
#endif
}

/// Load of data that no thread writes during the kernel and that is read once:
/// it leaves the first-level cache to what is read again. 4, 8 or 16 bytes.
template <class T>
KOKKOS_INLINE_FUNCTION T load_once(const T* p) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "4, 8 or 16 bytes");
#if STRATA_IMPL_ON_DEVICE
  return OnDevice::load_once(p);
#else
  return *p;
#endif
}

/// Has the line of `p`, which need not be valid to read, brought into the
/// second-level cache.
template <class T>
KOKKOS_INLINE_FUNCTION void prefetch_line(const T* p) {
#if STRATA_IMPL_ON_DEVICE
  OnDevice::prefetch_line(p);
#else
  (void)p;
#endif
}

}  // namespace Detail
}  // namespace Strata

#endif
