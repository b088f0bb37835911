// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_TILE_KERNEL_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_TILE_KERNEL_HPP

#include <core/device/ActivePlan.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <kernels/triangular/sync_free/RowGroups.hpp>
#include <kernels/triangular/sync_free/TileBuffers.hpp>

namespace Strata {
namespace Detail {

/// Right-hand sides in tiles, all in one launch; values are their own flags.
///
/// A warp draws a ticket, which stands for a row group (see RowGroup) and a
/// tile, tiles varying fastest: their critical paths advance together, and the
/// entries that one tile has read are in the second-level cache for the
/// others. Each warp of a team has a counter of its own, warp w of any team
/// taking items w, w + warps, w + 2 * warps, ...
///
/// A lane holds 16 bytes of right-hand sides of one row, and some or all of the
/// row's entries. It loads the dependencies of a batch together, and polls
/// together those that are not ready still. By then the next row group's
/// entries are on their way to the second-level cache, and the ticket after
/// that is drawn.
///
/// Why it can't deadlock, however few teams run at once: items are numbered in
/// topological order, and rows of one row group are of one level set, so an
/// item waits, for dependencies and at its throttle, only for items of smaller
/// numbers, and the lanes of a warp do not wait for each other. Consider the
/// smallest item that is not finished. If it has been drawn, then by a warp
/// that runs and takes the items it has drawn in turn; the ones before it are
/// smaller, hence finished, so the warp works on it, all it waits for is
/// finished, and it finishes. If it has not been drawn, take any running team:
/// the warp that belongs to the item's counter has drawn smaller items only,
/// which are finished, so it draws on. Warps of a team do not wait for each
/// other. Teams that have not started hold no items, and no warp waits for
/// them. NaN and Inf are values like any other: only the reserved bits of
/// `NotReady` mean "not ready", and every row publishes exactly once.
///
/// A solve publishes in one buffer and makes the other not ready again, as far
/// as the solve before has used it; so solves of any numbers of columns may
/// follow each other.
template <class Scalar, class ExecutionSpace, bool divide>
struct TileSolve {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  using Values = NotReadyPacket<Scalar>;
  static constexpr int width = 1 << TileShape::log_lanes;
  static constexpr int team_size = TileState::warps * width;
  static constexpr int scalars = Values::scalars;
  static constexpr int batch = TileShape::batch;
  static constexpr int scratch_bytes = sizeof(unsigned);

  TileBuffers<Scalar> buffers;
  const RowGroup* row_group;
  const unsigned* rows;
  const int* dependency;
  const Scalar* value;
  const Scalar* diagonal;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  unsigned num_items;       // row groups * tiles
  int row_bytes;            // of a row in a tile
  std::int64_t tile_bytes;  // of a tile
  bool staged_b;  // b is where this solve does not publish (see StageTiles)
  bool staged_x;  // x is taken from where this solve publishes
  bool packed_b, packed_x;  // packets of b, x are contiguous and aligned
  ActivePlan active_plan;

  /// A row group and a tile, or, from num_items on, nothing.
  struct Item {
    unsigned index;
    int tile;
    RowGroup row_group;
  };
  /// What a lane has of an item.
  struct Part {
    int row_of_group, split;  // its row, and its part of the row's entries
    int packet;               // of the row in the tile
    int column;
    bool on, leads;
  };
  struct Batch {
    int dependency[batch];
    Scalar value[batch];
  };

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    if (active_plan.is_another()) return;
    const int warp = team.team_rank() / width, lane = team.team_rank() % width;
    auto* const done = static_cast<unsigned*>(
        team.team_scratch(0).get_shmem(int{scratch_bytes}));
    if (team.team_rank() == 0) *done = 0;
    team.team_barrier();
    unsigned ticket = draw(warp, lane);
    // Read before this warp is done drawing, after which they may change.
    const bool odd = load_acquire(buffers.state + TileState::solves) % 2 != 0;
    Packet* const current = buffers.buffer(odd);
    Packet* const other = buffers.buffer(!odd);
    // What an item makes not ready again.
    const std::int64_t used = buffers.used();
    const int span = static_cast<int>((used + num_items - 1) / num_items);
    const Packet* const used_end = other + used;

    const auto draw_next = [&](const Item& last) {
      if (last.index < num_items)
        ticket = draw(warp, lane);
      else if (lane == 0)
        end_drawing(done, team.league_size());
    };
    Item item = load_item(ticket, warp);
    draw_next(item);

    while (item.index < num_items) {
      const Item next_item = load_item(ticket, warp);
      draw_next(next_item);
      const Part part = part_of(item, lane);
      const std::int64_t in_tile =
          item.tile * tile_bytes + part.packet * int{sizeof(Packet)};
      const std::int64_t in_buffer =
          in_tile + static_cast<std::int64_t>(item.row_group.permuted_row +
                                              part.row_of_group) *
                        row_bytes;
      Packet* const from = forward(current, in_tile);
      Batch entries;
      const unsigned row = begin(item, part, entries);
      Scalar diagonal_of_row(1);
      Scalar right[scalars], sum[scalars];
      for (int v = 0; v < scalars; ++v) right[v] = sum[v] = Scalar(0);
      if (part.leads) {
        load_right_hand_side(part, row, forward(other, in_buffer), right);
        diagonal_of_row =
            diagonal[item.row_group.permuted_row + part.row_of_group];
      }

      // Only what is near the front asks for its dependencies again and again:
      // see SyncFreeKernel. The throttle is asked for once beside them.
      const bool asks = lane == 0 && part.on && item.row_group.throttle >= 0;
      const auto* const throttle_at = at(from, item.row_group.throttle)->word;
      unsigned long long throttle = asks ? load_relaxed(throttle_at) : 0;
      Packet loaded[batch];
      load_dependencies(from, entries, loaded);
      prefetch(next_item, lane);
      for (int turn = 0; lane_any(asks && Values::word_is_not_ready(throttle));
           ++turn) {
        pause_while_waiting(turn);
        if (asks) throttle = load_relaxed(throttle_at);
      }
      add_dependencies(from, entries, loaded, sum);
      add_further_batches(item.row_group, part, from, sum);
      add_lanes(item.row_group, sum);
      if (part.leads) {
        Scalar result[scalars];
        for (int v = 0; v < scalars; ++v)
          result[v] = divide ? (right[v] - sum[v]) / diagonal_of_row
                             : (right[v] - sum[v]) * diagonal_of_row;
        store_relaxed_packet(forward(current, in_buffer),
                             Values::final(result));
        if (!staged_x) store_solution(part, row, result);
        if (staged_b) *forward(other, in_buffer) = Values::not_ready();
      }
      if (!staged_b)
        make_not_ready(other + static_cast<std::int64_t>(item.index) * span,
                       used_end, span, lane);
      item = next_item;
    }
  }

 private:
  /// Makes a share of the other buffer not ready again.
  KOKKOS_INLINE_FUNCTION static void make_not_ready(Packet* share,
                                                    const Packet* end, int span,
                                                    int lane) {
    for (int k = lane; k < span; k += width)
      if (share + k < end) share[k] = Values::not_ready();
  }
  /// Adds what is behind a row's first batch of entries.
  KOKKOS_INLINE_FUNCTION void add_further_batches(
      const RowGroup& row_group, const Part& part, Packet* from,
      Scalar (&sum)[scalars]) const {
    const int of_batch = batch << row_group.log_split();
    for (int first = of_batch; first < row_group.entries(); first += of_batch) {
      Batch entries;
      Packet loaded[batch];
      load_batch(row_group, part, first, entries);
      load_dependencies(from, entries, loaded);
      prefetch_batch(row_group, part, first + of_batch);
      add_dependencies(from, entries, loaded, sum);
    }
  }
  /// Adds up the sums of the lanes that share a row.
  KOKKOS_INLINE_FUNCTION static void add_lanes(const RowGroup& row_group,
                                               Scalar (&sum)[scalars]) {
    const int log_width = row_group.log_width();
    for (int mask = 1 << log_width;
         mask < 1 << (log_width + row_group.log_split()); mask <<= 1)
      for (int v = 0; v < scalars; ++v) sum[v] += lane_xor(sum[v], mask);
  }
  /// A warp has drawn a ticket that stands for no item. The last warp of all
  /// puts the counters back: no warp draws any more, and all have read the rest
  /// of the state. That other warps still solve does not matter.
  KOKKOS_INLINE_FUNCTION void end_drawing(unsigned* done, int teams) const {
    if (Kokkos::atomic_fetch_add(done, 1u) + 1 != TileState::warps) return;
    unsigned* const state = buffers.state;
    if (Kokkos::atomic_fetch_add(state + TileState::finished, 1u) + 1 !=
        static_cast<unsigned>(teams))
      return;
    for (int w = 0; w < TileState::warps; ++w)
      state[w * TileState::spacing] = 0;
    state[TileState::finished] = 0;
    state[TileState::solves] += 1;
    state[TileState::used] = static_cast<unsigned>(
        (buffers.tiles * buffers.tile_packets() + 31) / 32);
  }
  /// The ticket is in lane 0 alone, so that nothing waits for it before it is
  /// needed.
  KOKKOS_INLINE_FUNCTION unsigned draw(int warp, int lane) const {
    return lane == 0 ? Kokkos::atomic_fetch_add(
                           buffers.state + warp * TileState::spacing, 1u)
                     : 0u;
  }
  KOKKOS_INLINE_FUNCTION Item load_item(unsigned ticket, int warp) const {
    Item item{lane_broadcast(ticket, 0) * TileState::warps + warp, 0, {}};
    if (item.index < num_items) {
      unsigned u = item.index;
      if (buffers.tiles > 1) {
        u /= buffers.tiles;
        item.tile = static_cast<int>(item.index - u * buffers.tiles);
      }
      item.row_group = row_group[u];
    }
    return item;
  }
  KOKKOS_INLINE_FUNCTION Part part_of(const Item& item, int lane) const {
    const RowGroup& u = item.row_group;
    const int group = lane >> u.log_width();
    Part part;
    part.row_of_group = group >> u.log_split();
    part.split = group & ((1 << u.log_split()) - 1);
    part.packet =
        (u.part() << u.log_width()) | (lane & ((1 << u.log_width()) - 1));
    part.column = item.tile * buffers.tile_columns() + part.packet * scalars;
    part.on = item.index < num_items && part.row_of_group < u.rows() &&
              part.column < buffers.columns;
    part.leads = part.on && part.split == 0;
    return part;
  }
  /// The packet `bytes` after `from`.
  KOKKOS_INLINE_FUNCTION static Packet* forward(Packet* from,
                                                std::int64_t bytes) {
    return reinterpret_cast<Packet*>(reinterpret_cast<char*>(from) + bytes);
  }
  /// The packet of a dependency, given that of permuted row 0.
  KOKKOS_INLINE_FUNCTION Packet* at(Packet* from, int dependency) const {
    return forward(from, static_cast<std::int64_t>(dependency) * row_bytes);
  }

  /// Has the first entries of an item brought into the second-level cache, for
  /// when it is that item's turn. Loads into registers would be waited for with
  /// the dependencies of this item, as they share what counts loads under way.
  KOKKOS_INLINE_FUNCTION void prefetch(const Item& item, int lane) const {
    const int step = lane % (width / 2);
    if (item.index >= num_items || step >= item.row_group.steps) return;
    const std::int64_t slot =
        item.row_group.first_slot +
        static_cast<std::int64_t>(step) * item.row_group.stride();
    if (lane < width / 2)
      prefetch_line(dependency + slot);
    else
      prefetch_line(value + slot);
  }
  /// Fetches an item's first entries and the row that the lane finishes.
  KOKKOS_INLINE_FUNCTION unsigned begin(const Item& item, const Part& part,
                                        Batch& entries) const {
    load_batch(item.row_group, part, 0, entries);
    return part.leads ? rows[item.row_group.permuted_row + part.row_of_group]
                      : 0;
  }
  KOKKOS_INLINE_FUNCTION void load_batch(const RowGroup& u, const Part& part,
                                         int first, Batch& entries) const {
    // A chunk of more than one row has few steps: 32 bits hold its slots.
    const int log_lanes = u.log_lanes(), mask = (1 << log_lanes) - 1;
    const std::int64_t slot = u.first_slot + (part.row_of_group << log_lanes);
    const int* const dependency_at = dependency + slot;
    const Scalar* const value_at = value + slot;
    const int num_entries = part.on ? u.entries() : 0;
    int entry = first + part.split;
    for (int k = 0; k < batch; ++k) {
      const unsigned offset =
          (static_cast<unsigned>(entry) >> log_lanes) * u.stride() +
          (entry & mask);
      const bool in = entry < num_entries;
      entries.dependency[k] = in ? dependency_at[offset] : -1;
      entries.value[k] = in ? value_at[offset] : Scalar(0);
      entry += 1 << u.log_split();
    }
  }
  /// The same for a batch of a long row.
  KOKKOS_INLINE_FUNCTION void prefetch_batch(const RowGroup& u,
                                             const Part& part,
                                             int first) const {
    const int log_lanes = u.log_lanes();
    const std::int64_t slot = u.first_slot + (part.row_of_group << log_lanes);
    int entry = first + part.split;
    for (int k = 0; k < batch; ++k) {
      const unsigned offset =
          (static_cast<unsigned>(entry) >> log_lanes) * u.stride() +
          (entry & ((1 << log_lanes) - 1));
      if (part.on && entry < u.entries()) {
        prefetch_line(dependency + slot + offset);
        prefetch_line(value + slot + offset);
      }
      entry += 1 << u.log_split();
    }
  }
  KOKKOS_INLINE_FUNCTION void load_dependencies(Packet* from,
                                                const Batch& entries,
                                                Packet (&loaded)[batch]) const {
    for (int u = 0; u < batch; ++u) {
      loaded[u] = Packet{{0, 0}};
      if (entries.dependency[u] >= 0)
        loaded[u] = load_relaxed_packet(at(from, entries.dependency[u]));
    }
  }
  /// Polls those that are not ready still, together, and adds the products.
  KOKKOS_INLINE_FUNCTION void add_dependencies(Packet* from,
                                               const Batch& entries,
                                               Packet (&loaded)[batch],
                                               Scalar (&sum)[scalars]) const {
    unsigned waiting = 0;
    for (int u = 0; u < batch; ++u)
      if (Values::is_not_ready(loaded[u])) waiting |= 1u << u;
    for (int turn = 0; waiting != 0; ++turn) {
      pause_while_waiting(turn);
      for (int u = 0; u < batch; ++u)
        if (waiting >> u & 1)
          loaded[u] = load_relaxed_packet(at(from, entries.dependency[u]));
      for (int u = 0; u < batch; ++u)
        if ((waiting >> u & 1) && !Values::is_not_ready(loaded[u]))
          waiting &= ~(1u << u);
    }
    for (int u = 0; u < batch; ++u) {
      Scalar of_dependency[scalars];
      Values::unpack(loaded[u], of_dependency);
      for (int v = 0; v < scalars; ++v)
        sum[v] += entries.value[u] * of_dependency[v];
    }
  }

  KOKKOS_INLINE_FUNCTION void load_right_hand_side(
      const Part& part, std::int64_t r, const Packet* staged,
      Scalar (&right)[scalars]) const {
    const bool full = part.column + scalars <= buffers.columns;
    if (staged_b || (packed_b && full)) {
      const Packet* const from =
          staged_b ? staged
                   : reinterpret_cast<const Packet*>(&b(r, part.column));
      const Packet packet = *from;
      Values::unpack(packet, right);
    } else {
      for (int v = 0; v < scalars; ++v)
        if (part.column + v < buffers.columns) right[v] = b(r, part.column + v);
    }
  }
  KOKKOS_INLINE_FUNCTION void store_solution(
      const Part& part, std::int64_t r, const Scalar (&result)[scalars]) const {
    const bool full = part.column + scalars <= buffers.columns;
    if (packed_x && full) {
      Packet packet;
      memcpy(&packet, result, sizeof(Packet));
      *reinterpret_cast<Packet*>(&x(r, part.column)) = packet;
    } else {
      for (int v = 0; v < scalars; ++v)
        if (part.column + v < buffers.columns)
          x(r, part.column + v) = result[v];
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
