// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_TILE_BUFFERS_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_TILE_BUFFERS_HPP

#include <core/device/Atomics.hpp>
#include <core/device/NotReady.hpp>

namespace Strata {
namespace Detail {

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

/// Counters of TileSolve in device memory. The last warp to run out of tickets
/// puts them back, so that a recorded launch can be replayed.
struct TileState {
  enum : int {
    warps = 4,     // of a team; each has a counter of tickets
    spacing = 32,  // words from counter to counter: lines of their own
    finished = warps * spacing,  // teams done drawing
    solves = finished + 1,       // solves done
    used = finished + 2,         // how many times 32 packets the last one used
    size = finished + 3
  };
};

/// The published values of tiles of right-hand sides: value r of permuted row p
/// in tile k is in packet k * tile_packets + (p << log_packets) + r / scalars
/// of a buffer. There are two buffers, of `capacity` packets each.
template <class Scalar>
struct TileBuffers {
  using Values = NotReadyPacket<Scalar>;
  static constexpr int scalars = Values::scalars;

  Packet* packets;
  std::int64_t capacity;
  unsigned* state;
  int num_rows;
  int log_packets;  // of a row in a tile
  int columns;      // right-hand sides of this launch
  int tiles;

  KOKKOS_INLINE_FUNCTION int tile_columns() const {
    return scalars << log_packets;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t tile_packets() const {
    return static_cast<std::int64_t>(num_rows) << log_packets;
  }
  /// Packets of a buffer that the last solve has used.
  KOKKOS_INLINE_FUNCTION std::int64_t used() const {
    const std::int64_t packets =
        std::int64_t{32} * load_acquire(state + TileState::used);
    return packets < capacity ? packets : capacity;
  }
  /// A solve publishes in buffer(solves before it are odd in number).
  KOKKOS_INLINE_FUNCTION Packet* buffer(bool odd) const {
    return packets + (odd ? capacity : 0);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
