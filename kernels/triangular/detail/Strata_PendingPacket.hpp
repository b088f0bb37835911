// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PENDING_PACKET_HPP
#define STRATA_PENDING_PACKET_HPP

#include <detail/Strata_Pending.hpp>
#include <device/Strata_Atomics.hpp>

namespace Strata {
namespace Detail {

/// 16 bytes of values that are their own flags, one for each of `scalars`
/// neighbouring right-hand sides: see Pending.
template <class Scalar>
struct PendingPacket {
  using Traits = typename Pending<Scalar>::Traits;
  using Bits = typename Pending<Scalar>::Bits;
  static constexpr int scalars = sizeof(Packet) / sizeof(Scalar);
  static constexpr int words = sizeof(Packet) / sizeof(Bits);

  KOKKOS_INLINE_FUNCTION static Packet pending() {
    return from_words([](int) { return Bits(Traits::pending); });
  }
  /// True while any word of the packet is pending.
  KOKKOS_INLINE_FUNCTION static bool is_pending(const Packet& packet) {
    bool any = false;
    for (int i = 0; i < words; ++i)
      any = any || word(packet, i) == Traits::pending;
    return any;
  }
  /// Whether something in a word of a packet is pending.
  KOKKOS_INLINE_FUNCTION static bool word_is_pending(unsigned long long w) {
    bool any = false;
    for (int i = 0; i < per_word; ++i)
      any =
          any || static_cast<Bits>(w >> (i % per_word * 32)) == Traits::pending;
    return any;
  }
  KOKKOS_INLINE_FUNCTION static void unpack(const Packet& packet,
                                            Scalar (&value)[scalars]) {
    memcpy(value, &packet, sizeof(Packet));
  }
  /// The values as they are published: none of them pending.
  KOKKOS_INLINE_FUNCTION static Packet final(const Scalar (&value)[scalars]) {
    Packet packet;
    memcpy(&packet, value, sizeof(Packet));
    return from_words([&](int i) {
      const Bits bits = word(packet, i);
      return bits == Traits::pending ? Bits(Traits::plain_nan) : bits;
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

}  // namespace Detail
}  // namespace Strata

#endif
