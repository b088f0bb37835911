// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_FILL_TABLE_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_FILL_TABLE_HPP

#include <core/device/Warp.hpp>
#include <cstdint>
#include <kernels/factorization/symbolic/FillLimit.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// How a FillTable lies in memory, in words of 4 bytes.
struct FillTableShape {
  /// `capacity` is how many slots it has; `limit`, the vertices that it takes.
  std::int64_t capacity, limit;
  /// Of the hash, which is the upper bits of a product of 32; where every
  /// vertex has the slot of its number, -1.
  int shift;

  /// @param slots  a power of two, at least 2
  static FillTableShape of(std::int64_t slots, std::int64_t vertices) {
    if (slots >= vertices) return {vertices, vertices, -1};
    int shift = 32;
    for (std::int64_t s = slots; s > 1; s /= 2) --shift;
    return {slots, slots / 2, shift};
  }
  KOKKOS_INLINE_FUNCTION bool holds_all() const { return shift < 0; }
  KOKKOS_INLINE_FUNCTION std::int64_t words() const {
    return 2 * capacity + 2 * limit + 1 + 3;
  }
};

/// The vertices that the search from one row has reached, in a hash table with
/// open addressing that a warp shares. With each vertex v there is the least
/// that is known of the largest vertex of a walk to v, v itself included.
///
/// Vertices are also listed in the order in which they came, so that a search
/// costs no pass over the slots. All functions but `lower` are for all lanes of
/// the warp, with a lane_barrier() between them.
template <class ExecutionSpace>
class FillTable {
 public:
  static constexpr int width = lane_width<ExecutionSpace>;

  KOKKOS_INLINE_FUNCTION FillTable(int* memory, const FillTableShape& shape)
      : shape_(shape),
        vertex_(memory),
        largest_(vertex_ + shape.capacity),
        slot_(largest_ + shape.capacity),
        sent_(slot_ + shape.limit),
        state_(sent_ + shape.limit + 1) {}

  /// Empties every slot.
  KOKKOS_INLINE_FUNCTION void clear(int lane) const {
    for (std::int64_t s = lane; s < shape_.capacity; s += width) empty(s);
    if (lane == 0) state_[listed] = state_[overflow] = state_[kept] = 0;
  }
  /// The same after a search that has not overflowed: empties the slots of the
  /// `count` listed vertices.
  KOKKOS_INLINE_FUNCTION void forget(std::int64_t count, int lane) const {
    for (std::int64_t p = lane; p < count; p += width) empty(slot_[p]);
    if (lane == 0) state_[listed] = state_[kept] = 0;
  }

  /// Lowers what is known of `vertex` to `largest`; of one lane.
  KOKKOS_INLINE_FUNCTION void lower(int vertex, int largest) const {
    if (overflowed()) return;
    std::int64_t slot =
        shape_.holds_all()
            ? vertex
            : static_cast<std::int64_t>(
                  (static_cast<std::uint32_t>(vertex) * 2654435769u) >>
                  shape_.shift);
    for (std::int64_t probe = 0; probe < shape_.capacity; ++probe) {
      int found = vertex_[slot];
      if (found == none) {
        found = take(slot, vertex);
        if (found == none) {
          list(slot);
          found = vertex;
        }
      }
      if (found == vertex) {
        lower_slot(slot, largest);
        return;
      }
      slot = (slot + 1) & (shape_.capacity - 1);
    }
    state_[overflow] = 1;
  }

  /// Whether there was no room for a vertex. A search that meets as many
  /// vertices overflows each time, in whatever order they come.
  KOKKOS_INLINE_FUNCTION bool overflowed() const {
    return static_cast<const volatile int*>(state_)[overflow] != 0;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t count() const { return state_[listed]; }

  /// Prepares a step: notes of this lane's vertices below `row` what is known
  /// of them now, if that is less than in any step before.
  /// @return whether it is for any of them
  KOKKOS_INLINE_FUNCTION bool begin_step(std::int64_t count, int row,
                                         int lane) const {
    bool any = false;
    for (std::int64_t p = lane; p < count; p += width) {
      const int before = sent_[p] < 0 ? ~sent_[p] : sent_[p];
      const int now = largest_[slot_[p]];
      const bool goes_on = vertex_[slot_[p]] < row && now < before;
      sent_[p] = goes_on ? ~now : before;
      any |= goes_on;
    }
    return any;
  }
  KOKKOS_INLINE_FUNCTION bool goes_on(std::int64_t p) const {
    return sent_[p] < 0;
  }
  KOKKOS_INLINE_FUNCTION int vertex(std::int64_t p) const {
    return vertex_[slot_[p]];
  }
  /// As it was when the step began.
  KOKKOS_INLINE_FUNCTION int largest(std::int64_t p) const { return ~sent_[p]; }

  /// How many of the vertices have a walk on which they are the largest: those
  /// smaller than `row` and the others, added up over the lanes.
  KOKKOS_INLINE_FUNCTION FillCount count_kept(std::int64_t count, int row,
                                              int lane) const {
    int lower = 0, upper = 0;
    for (std::int64_t p = lane; p < count; p += width) {
      if (!keeps(p)) continue;
      if (vertex_[slot_[p]] < row)
        ++lower;
      else
        ++upper;
    }
    return {lane_group_sum(lower, width), lane_group_sum(upper, width)};
  }
  /// These vertices and `row`, sorted, and how many they are. Ends the search:
  /// they take the place of what begin_step has noted.
  KOKKOS_INLINE_FUNCTION const int* sort_kept(std::int64_t count, int row,
                                              int lane, int& size) const {
    // Slots are in the order of vertices, and there are few more of them.
    if (shape_.holds_all() && shape_.capacity / 8 < count)
      return list_in_order(row, lane, size);
    for (std::int64_t p = lane; p < count; p += width)
      if (keeps(p)) sent_[next(kept)] = vertex_[slot_[p]];
    lane_barrier();
    size = state_[kept] + 1;
    if (lane == 0) sent_[size - 1] = row;
    lane_barrier();
    sort(size, lane);
    return sent_;
  }

 private:
  static constexpr int none = -1, infinite = std::numeric_limits<int>::max();
  enum State { listed, overflow, kept };

  KOKKOS_INLINE_FUNCTION void empty(std::int64_t slot) const {
    vertex_[slot] = none;
    largest_[slot] = infinite;
  }
  KOKKOS_INLINE_FUNCTION bool keeps(std::int64_t p) const {
    return largest_[slot_[p]] == vertex_[slot_[p]];
  }
  KOKKOS_INLINE_FUNCTION void list(std::int64_t slot) const {
    const int place = next(listed);
    if (place < shape_.limit) {
      slot_[place] = static_cast<int>(slot);
      sent_[place] = infinite;
    } else {
      state_[overflow] = 1;
    }
  }

  // A lane that is alone has the table to itself.
  KOKKOS_INLINE_FUNCTION int next(State counter) const {
    if constexpr (width == 1) {
      return state_[counter]++;
    } else {
      return Kokkos::atomic_fetch_add(state_ + counter, 1);
    }
  }
  KOKKOS_INLINE_FUNCTION int take(std::int64_t slot, int vertex) const {
    if constexpr (width == 1) {
      vertex_[slot] = vertex;
      return none;
    } else {
      return Kokkos::atomic_compare_exchange(vertex_ + slot, int{none}, vertex);
    }
  }
  KOKKOS_INLINE_FUNCTION void lower_slot(std::int64_t slot, int value) const {
    if (largest_[slot] <= value) return;
    if constexpr (width == 1) {
      largest_[slot] = value;
    } else {
      Kokkos::atomic_fetch_min(largest_ + slot, value);
    }
  }

  KOKKOS_INLINE_FUNCTION const int* list_in_order(int row, int lane,
                                                  int& size) const {
    size = 0;
    for (std::int64_t first = 0; first < shape_.capacity; first += width) {
      const auto slot = static_cast<int>(first) + lane;
      const LaneMask kept_lanes = lane_ballot(
          slot < shape_.capacity &&
          (slot == row || (vertex_[slot] == slot && largest_[slot] == slot)));
      const LaneMask before = kept_lanes & ((1u << lane) - 1);
      if (kept_lanes >> lane & 1u) sent_[size + count_bits(before)] = slot;
      size += count_bits(kept_lanes);
    }
    lane_barrier();
    return sent_;
  }

  KOKKOS_INLINE_FUNCTION void put_in_order(std::int64_t low,
                                           std::int64_t high) const {
    const int a = sent_[low], b = sent_[high];
    if (a <= b) return;
    sent_[low] = b;
    sent_[high] = a;
  }
  /// Batcher's bitonic sort, in the form in which every comparison leaves the
  /// smaller number in front: elements beyond the end count as infinite and
  /// stay where they are.
  KOKKOS_INLINE_FUNCTION void sort(std::int64_t size, int lane) const {
    for (std::int64_t half = 1; half < size; half *= 2) {
      for (std::int64_t t = lane;; t += width) {
        const std::int64_t in_half = t & (half - 1), run = 2 * (t - in_half);
        if (run + in_half >= size) break;
        const std::int64_t high = run + 2 * half - 1 - in_half;
        if (high < size) put_in_order(run + in_half, high);
      }
      lane_barrier();
      for (std::int64_t step = half / 2; step > 0; step /= 2) {
        for (std::int64_t t = lane;; t += width) {
          const std::int64_t low = 2 * t - (t & (step - 1));
          if (low + step >= size) break;
          put_in_order(low, low + step);
        }
        lane_barrier();
      }
    }
  }

  FillTableShape shape_;
  int *vertex_, *largest_;  // by slot
  int *slot_, *sent_;       // by place in the list
  int* state_;
};

}  // namespace Detail
}  // namespace Strata

#endif
