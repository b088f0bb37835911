// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_NOT_READY_HPP
#define STRATA_CORE_DEVICE_NOT_READY_HPP

#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Scratch.hpp>
#include <core/scalar/RealPart.hpp>

namespace Strata {
namespace Detail {

/// A NaN whose bits no arithmetic unit produces and which stands for "not
/// computed yet". A result that happens to carry these very bits (copied
/// through from a right-hand side) is stored as the ordinary quiet NaN, so
/// nothing in b or in the matrix can imitate an unfinished value.
template <class Word>
struct NotReadyBits;
template <>
struct NotReadyBits<double> {
  using Bits = unsigned long long;
  static constexpr Bits not_ready = 0xfff85742d1b3a96eULL;
  static constexpr Bits plain_nan = 0x7ff8000000000000ULL;
};
template <>
struct NotReadyBits<float> {
  using Bits = unsigned;
  static constexpr Bits not_ready = 0xffc5d3b7U;
  static constexpr Bits plain_nan = 0x7fc00000U;
};

/// Storage of values that are their own flags: a word is either not ready or
/// final, and changes from one to the other once a solve.
///
/// Why a reader needs no fence, by the memory model of PTX (that of C++ says
/// the same on hosts):
///
/// The one store that makes a word final and the loads that poll it are relaxed
/// atomic accesses of the whole, aligned word of 4 or 8 bytes. Their scope has
/// both threads in it: the device. So they do not race, and a load returns the
/// old word or the new one, never a part of each.
///
/// All threads agree on the order of the stores to one word: not ready, then
/// final. A reader that has seen the final word does not see the not ready one
/// again.
///
/// The value is all that is handed over. A reader concludes nothing about other
/// locations, so no order with other accesses is needed. A complex value is two
/// words, which may arrive in either order; each says for itself whether it is
/// final, and a reader waits for both.
///
/// Words become not ready by plain stores of another kernel. Its end
/// (await_previous where kernels overlap) lies between them and any access that
/// waits. Where that kernel is another solve there are two buffers: no solve
/// makes not ready what it reads.
///
/// A polling load is served by the second-level cache, where a store arrives in
/// finite time: waiting ends if the publisher runs. That it does run is what
/// each waiting kernel has to show.
template <class Scalar>
struct NotReady {
  /// What one load or store moves at once.
  using Word = RealOf<Scalar>;
  using Traits = NotReadyBits<Word>;
  using Bits = typename Traits::Bits;
  static constexpr int words = sizeof(Scalar) / sizeof(Word);

  KOKKOS_INLINE_FUNCTION static void reset(Scalar* at) {
    Bits* w = reinterpret_cast<Bits*>(at);
    for (int i = 0; i < words; ++i) w[i] = Traits::not_ready;
  }
  /// The value, or where its bits would mean "not ready" the ordinary NaN.
  KOKKOS_INLINE_FUNCTION static Scalar final(const Scalar& value) {
    Bits bits[words];
    memcpy(bits, &value, sizeof(Scalar));
    for (int i = 0; i < words; ++i)
      if (bits[i] == Traits::not_ready) bits[i] = Traits::plain_nan;
    Scalar result;
    memcpy(&result, bits, sizeof(Scalar));
    return result;
  }
  KOKKOS_INLINE_FUNCTION static void publish(Scalar* at, const Scalar& value) {
    const Scalar last = final(value);
    Bits bits[words];
    memcpy(bits, &last, sizeof(Scalar));
    Bits* w = reinterpret_cast<Bits*>(at);
    for (int i = 0; i < words; ++i) store_relaxed(w + i, bits[i]);
  }
  /// The value as it is now, final or not.
  KOKKOS_INLINE_FUNCTION static Scalar load(const Scalar* at) {
    const Bits* w = reinterpret_cast<const Bits*>(at);
    Bits bits[words];
    for (int i = 0; i < words; ++i) bits[i] = load_relaxed(w + i);
    Scalar value;
    memcpy(&value, bits, sizeof(Scalar));
    return value;
  }
  /// The same two for values that may be in a team's scratch.
  KOKKOS_INLINE_FUNCTION static Scalar load_anywhere(const Scalar* at) {
    const Bits* w = reinterpret_cast<const Bits*>(at);
    Bits bits[words];
    for (int i = 0; i < words; ++i) bits[i] = load_relaxed_anywhere(w + i);
    Scalar value;
    memcpy(&value, bits, sizeof(Scalar));
    return value;
  }
  KOKKOS_INLINE_FUNCTION static void publish_anywhere(Scalar* at,
                                                      const Scalar& value) {
    const Scalar last = final(value);
    Bits bits[words];
    memcpy(bits, &last, sizeof(Scalar));
    Bits* w = reinterpret_cast<Bits*>(at);
    for (int i = 0; i < words; ++i) store_relaxed_anywhere(w + i, bits[i]);
  }
  /// Whether some word of a loaded value is not ready.
  KOKKOS_INLINE_FUNCTION static bool is_not_ready(const Scalar& value) {
    Bits bits[words];
    memcpy(bits, &value, sizeof(Scalar));
    bool not_ready = false;
    for (int i = 0; i < words; ++i)
      not_ready = not_ready || bits[i] == Traits::not_ready;
    return not_ready;
  }
  /// Reads the value; false while any word of it is not ready.
  KOKKOS_INLINE_FUNCTION static bool read(const Scalar* at, Scalar& value) {
    const Bits* w = reinterpret_cast<const Bits*>(at);
    Bits bits[words];
    bool final = true;
    for (int i = 0; i < words; ++i) {
      bits[i] = load_relaxed(w + i);
      final = final && bits[i] != Traits::not_ready;
    }
    memcpy(&value, bits, sizeof(Scalar));
    return final;
  }
};

/// 16 bytes of values that are their own flags, one for each of `scalars`
/// neighbouring right-hand sides: see NotReady.
template <class Scalar>
struct NotReadyPacket {
  using Traits = typename NotReady<Scalar>::Traits;
  using Bits = typename NotReady<Scalar>::Bits;
  static constexpr int scalars = sizeof(Packet) / sizeof(Scalar);
  static constexpr int words = sizeof(Packet) / sizeof(Bits);

  KOKKOS_INLINE_FUNCTION static Packet not_ready() {
    return from_words([](int) { return Bits(Traits::not_ready); });
  }
  /// True while any word of the packet is not ready.
  KOKKOS_INLINE_FUNCTION static bool is_not_ready(const Packet& packet) {
    bool any = false;
    for (int i = 0; i < words; ++i)
      any = any || word(packet, i) == Traits::not_ready;
    return any;
  }
  /// Whether something in a word of a packet is not ready.
  KOKKOS_INLINE_FUNCTION static bool word_is_not_ready(unsigned long long w) {
    bool any = false;
    for (int i = 0; i < per_word; ++i)
      any = any ||
            static_cast<Bits>(w >> (i % per_word * 32)) == Traits::not_ready;
    return any;
  }
  KOKKOS_INLINE_FUNCTION static void unpack(const Packet& packet,
                                            Scalar (&value)[scalars]) {
    memcpy(value, &packet, sizeof(Packet));
  }
  /// The values as they are published: none of them not ready.
  KOKKOS_INLINE_FUNCTION static Packet final(const Scalar (&value)[scalars]) {
    Packet packet;
    memcpy(&packet, value, sizeof(Packet));
    return from_words([&](int i) {
      const Bits bits = word(packet, i);
      return bits == Traits::not_ready ? Bits(Traits::plain_nan) : bits;
    });
  }

 private:
  static constexpr int per_word = sizeof(unsigned long long) / sizeof(Bits);
  static_assert(per_word == 1 || per_word == 2, "words of 4 or 8 bytes");

  KOKKOS_INLINE_FUNCTION static Bits word(const Packet& packet, int i) {
    return static_cast<Bits>(packet.word[i / per_word] >> (i % per_word * 32));
  }
  template <class Word>
  KOKKOS_INLINE_FUNCTION static Packet from_words(const Word& word_at) {
    Packet packet{{0, 0}};
    for (int i = 0; i < words; ++i)
      packet.word[i / per_word] |= static_cast<unsigned long long>(word_at(i))
                                   << (i % per_word * 32);
    return packet;
  }
};

template <class Scalar, class MemorySpace>
struct ResetNotReady {
  Kokkos::View<Scalar*, MemorySpace> buffer;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    NotReady<Scalar>::reset(buffer.data() + i);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
