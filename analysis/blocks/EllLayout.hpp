// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_BLOCKS_ELL_LAYOUT_HPP
#define STRATA_ANALYSIS_BLOCKS_ELL_LAYOUT_HPP

#include <analysis/blocks/FindBlocks.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/ValueIndex.hpp>

namespace Strata {
namespace Detail {

/// A diagonal block in ELL storage. Row r belongs to the lanes r * 2^log_lanes
/// and up; its entry e lies in step e / 2^log_lanes at lane e % 2^log_lanes of
/// the row, and step s of lane l is slot first_slot + s * stride + l: columns
/// one after the other, the lanes of a step side by side.
struct EllBlock {
  std::int64_t first_slot;
  int first_row;  // in the order of substitution, as everything here
  int rows;
  int stride;
  int packed;  // steps * 16, 8 where rows are stored apart, log_lanes

  KOKKOS_INLINE_FUNCTION void set_shape(int steps, int log, bool long_rows) {
    packed = steps * 16 + (long_rows ? 8 : 0) + log;
  }
  KOKKOS_INLINE_FUNCTION int log_lanes() const { return packed & 7; }
  KOKKOS_INLINE_FUNCTION int steps() const { return packed >> 4; }
  /// Whether any row is stored apart.
  KOKKOS_INLINE_FUNCTION bool has_long_rows() const { return packed & 8; }
  /// Lanes of all rows, padding left out.
  KOKKOS_INLINE_FUNCTION int lanes() const { return rows << log_lanes(); }
};

/// What a slot without an entry holds for a dependency.
enum EllDependency : int {
  ell_padding = -1,
  ell_long_row = -2  // in the first slot of a row that is stored apart
};

/// The storage that a block gets.
///
/// A row of the block has `width` slots: what its longest row needs, but at
/// most 2 m + 2, m the mean length rounded up (up to 1,024 rows, at least 32 as
/// long as that is no more than 16,384 slots), and at most 1,024. Longer rows
/// are stored apart, each in consecutive slots, and read by a whole warp or
/// team: one long row does not widen the others. So a block of r rows and e
/// entries takes at most 1.83 times the larger of 2 e + 4 r and, up to 1,024
/// rows, min(32 r, 16,384) slots: 1.5 for steps that are not full and 39/32 for
/// lanes rounded to sectors of 32 bytes; then 7 for its own alignment, and one
/// for every entry of rows stored apart.
struct EllShape {
  int width = 0, log_lanes = 0, steps = 0, stride = 0;

  /// Blocks with fewer lanes are packed one after the other.
  static constexpr int aligned_lanes = 32, alignment = 8;
  /// Entries of a row that one lane takes before the row gets more lanes.
  static constexpr int max_steps = 4;
  static constexpr int widest = 1024, few_rows = 1024,
                       few_slots = 16 * few_rows;

  EllShape() = default;
  KOKKOS_INLINE_FUNCTION EllShape(std::int64_t rows, std::int64_t entries,
                                  std::int64_t longest, int lanes_at_most) {
    std::int64_t cap = 2 * ((entries + rows - 1) / rows) + 2;
    const std::int64_t few = few_slots / rows < 32 ? few_slots / rows : 32;
    if (rows <= few_rows && cap < few) cap = few;
    if (cap > widest) cap = widest;
    width = static_cast<int>(longest < cap ? longest : cap);
    while ((1 << log_lanes) < lanes_at_most &&
           width > std::int64_t{max_steps} << log_lanes &&
           rows << (log_lanes + 1) < std::int64_t{1} << 30)
      ++log_lanes;
    steps = (width + (1 << log_lanes) - 1) >> log_lanes;
    const std::int64_t lanes = rows << log_lanes;
    stride =
        static_cast<int>(lanes < aligned_lanes
                             ? lanes
                             : (lanes + alignment - 1) / alignment * alignment);
  }
  KOKKOS_INLINE_FUNCTION bool aligned() const {
    return stride >= aligned_lanes;
  }
  /// Slots of the block with the padding before and after it.
  KOKKOS_INLINE_FUNCTION std::int64_t slots() const {
    return std::int64_t{steps} * stride +
           (aligned() && steps > 0 ? alignment - 1 : 0);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t first_slot(std::int64_t begin) const {
    return aligned() ? (begin + alignment - 1) / alignment * alignment : begin;
  }
};

/// A multi-team block: more than one team should do alone.
struct WideBlock {
  int block, first_row, rows, lanes;
};

/// Which blocks are multi-team ones: those of more lanes or of more entries.
struct EllLimits {
  int lanes = 1024, entries = 8192;
};

/// Results of the analysis, 8 bytes each, in device memory. The multi-team
/// blocks follow.
struct EllHead {
  enum : int {
    fault,  // as TriangleCheck's status
    unsorted,
    edges,
    num_blocks,
    num_slots,
    num_long,  // rows stored apart
    num_wide,
    num_irregular,  // in single-team blocks: rows apart, and blocks of many
                    // steps
    inspection,     // a ValuesInspection
    size = inspection + 7
  };
};

/// Arrays that live as long as the analysis.
struct EllWork {
  StrictRows rows;
  int* nearest;
  int* tile_nearest;
  int* start;              // block -> first row
  int* block_of;           // row -> block
  std::int64_t* entries;   // of a block
  int* longest;            // row of a block
  std::int64_t* row_slot;  // where a row's storage would begin
  std::int64_t* head;
  WideBlock* wide;
  int wide_capacity;
  int lanes_at_most;
  EllLimits limits;

  KOKKOS_INLINE_FUNCTION int rows_of(int block) const {
    return start[block + 1] - start[block];
  }
  KOKKOS_INLINE_FUNCTION EllShape shape(int block) const {
    return EllShape(rows_of(block), entries[block], longest[block],
                    lanes_at_most);
  }
};

/// Sums and maxima over the rows of each block, and the block of each row.
template <class ExecutionSpace>
struct MeasureBlocks {
  static constexpr int width = lane_width<ExecutionSpace>;
  EllWork work;

  /// The block of row v, which is one of first to last.
  KOKKOS_INLINE_FUNCTION int find(int v, int first, int last) const {
    while (first < last) {
      const int middle = first + (last - first + 1) / 2;
      if (work.start[middle] <= v)
        first = middle;
      else
        last = middle - 1;
    }
    return first;
  }
  KOKKOS_INLINE_FUNCTION void add(int block, std::int64_t entries,
                                  int longest) const {
    Kokkos::atomic_fetch_add(&work.entries[block], entries);
    Kokkos::atomic_fetch_max(&work.longest[block], longest);
  }
  KOKKOS_INLINE_FUNCTION void operator()(int tile, int lane) const {
    const std::int64_t begin = std::int64_t{tile} * tile_rows;
    const int n = work.rows.num_vertices;
    const int end =
        static_cast<int>(begin + tile_rows < n ? begin + tile_rows : n);
    const int blocks = static_cast<int>(work.head[EllHead::num_blocks]);
    const int first = find(static_cast<int>(begin), 0, blocks - 1);
    const int last = find(end - 1, first, blocks - 1);
    std::int64_t sum = 0;
    int longest = 0;
    for (int v = static_cast<int>(begin) + lane; v < end; v += width) {
      const int length = work.rows.length(v);
      const int block = first == last ? first : find(v, first, last);
      work.block_of[v] = block;
      sum += length;
      longest = length > longest ? length : longest;
      if (first != last && length > 0) add(block, length, length);
    }
    lane_barrier();
    for (int mask = width >> 1; mask > 0; mask >>= 1) {
      sum += lane_xor(sum, mask);
      const int other = lane_xor(longest, mask);
      longest = other > longest ? other : longest;
    }
    if (lane != 0 || sum == 0) return;
    if (first == last) add(first, sum, longest);
    Kokkos::atomic_fetch_add(&work.head[EllHead::edges], sum);
  }
};

/// A place in storage for each block and each row that is stored apart: those
/// of a block follow its ELL part. A sum over the rows.
struct PlaceBlocks {
  EllWork work;

  KOKKOS_INLINE_FUNCTION void count(int word) const {
    Kokkos::atomic_fetch_add(&work.head[word], std::int64_t{1});
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v, std::int64_t& sum,
                                         bool final) const {
    const int block = work.block_of[v];
    const EllShape shape = work.shape(block);
    const int length = work.rows.length(v);
    const bool first = v == work.start[block], apart = length > shape.width;
    if (final) {
      work.row_slot[v] = sum;
      const int rows = work.rows_of(block);
      const int lanes = rows << shape.log_lanes;
      const bool wide = lanes > work.limits.lanes ||
                        work.entries[block] > work.limits.entries;
      if (apart) count(EllHead::num_long);
      if (!wide && (apart || (first && shape.steps > EllShape::max_steps)))
        count(EllHead::num_irregular);
      if (first && wide) {
        const std::int64_t at = Kokkos::atomic_fetch_add(
            &work.head[EllHead::num_wide], std::int64_t{1});
        if (at < work.wide_capacity)
          work.wide[at] = {block, static_cast<int>(v), rows, lanes};
      }
    }
    sum += (first ? shape.slots() : 0) + (apart ? length : 0);
    if (final && v == work.rows.num_vertices - 1)
      work.head[EllHead::num_slots] = sum;
  }
};

/// The plan, as raw arrays of the solver's.
template <class MemorySpace>
struct EllPlan {
  EllBlock* block = nullptr;
  unsigned* row = nullptr;    // vertex -> user's row
  int* dependency = nullptr;  // slot -> vertex, or an EllDependency
  ValueIndex<MemorySpace> value_index, diagonal_value_index;  // slot, vertex
  std::int64_t* long_first = nullptr;  // row stored apart -> first slot
  int* long_count = nullptr;           // and slots
};

/// Where the user's diagonal stands.
struct DiagonalSource {
  const std::int64_t* place;
  bool by_row, unit, reversed;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t v,
                                                 std::int64_t row) const {
    return unit ? -1 : place[by_row ? row : v];
  }
};

template <class MemorySpace>
struct FillEllBlocks {
  EllWork work;
  EllPlan<MemorySpace> plan;
  DiagonalSource diagonal;

  KOKKOS_INLINE_FUNCTION void pad(std::int64_t slot,
                                  EllDependency dependency) const {
    plan.dependency[slot] = dependency;
    plan.value_index.set(slot, -1);
  }
  KOKKOS_INLINE_FUNCTION void take(std::int64_t slot, std::int64_t k) const {
    plan.dependency[slot] = work.rows.dependency(k);
    plan.value_index.set(slot, work.rows.place(k));
  }
  /// The block's descriptor, and the slots that belong to no lane.
  KOKKOS_INLINE_FUNCTION void begin_block(const EllBlock& made, int number,
                                          const EllShape& shape,
                                          std::int64_t begin) const {
    plan.block[number] = made;
    for (int s = 0; s < made.steps(); ++s)
      for (int l = made.lanes(); l < made.stride; ++l)
        pad(made.first_slot + std::int64_t{s} * made.stride + l, ell_padding);
    for (std::int64_t k = begin; k < made.first_slot; ++k) pad(k, ell_padding);
    for (std::int64_t k =
             made.first_slot + std::int64_t{made.steps()} * made.stride;
         k < begin + shape.slots(); ++k)
      pad(k, ell_padding);
  }
  /// Of the row, not of the lane: see for_each_row.
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t v) const {
    return work.rows.length(v);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v, int lane,
                                         int lanes) const {
    const int n = work.rows.num_vertices;
    const int number = work.block_of[v];
    const EllShape shape = work.shape(number);
    const int first = work.start[number];
    const std::int64_t begin = work.row_slot[first];
    EllBlock made;
    made.first_slot = shape.steps > 0 ? shape.first_slot(begin) : begin;
    made.first_row = first;
    made.rows = work.rows_of(number);
    made.stride = shape.stride;
    made.set_shape(shape.steps, shape.log_lanes,
                   work.longest[number] > shape.width);
    const int length = work.rows.length(v);
    const std::int64_t entries = work.rows.begin[v];
    const bool apart = length > shape.width;
    if (lane == 0) {
      const std::int64_t row = diagonal.reversed ? n - 1 - v : v;
      plan.row[v] = static_cast<unsigned>(row);
      plan.diagonal_value_index.set(v, diagonal(v, row));
      if (v == first) begin_block(made, number, shape, begin);
    }
    const int per_row = 1 << shape.log_lanes;
    const std::int64_t own = made.first_slot + ((v - first) << shape.log_lanes);
    for (int e = lane; e < shape.steps << shape.log_lanes; e += lanes) {
      const std::int64_t slot =
          own + std::int64_t{e >> shape.log_lanes} * shape.stride +
          (e & (per_row - 1));
      if (!apart && e < length)
        take(slot, entries + e);
      else
        pad(slot, apart && e == 0 ? ell_long_row : ell_padding);
    }
    if (!apart) return;
    const std::int64_t storage =
        v == first ? begin + shape.slots() : work.row_slot[v];
    for (int e = lane; e < length; e += lanes) take(storage + e, entries + e);
    if (lane == 0) {
      plan.long_first[v] = storage;
      plan.long_count[v] = length;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
