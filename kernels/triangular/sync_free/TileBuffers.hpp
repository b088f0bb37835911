// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_TILE_BUFFERS_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_TILE_BUFFERS_HPP

#include <core/device/Atomics.hpp>
#include <core/device/NotReady.hpp>

namespace Strata {
namespace Detail {

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
