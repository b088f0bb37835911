// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_ROW_CHUNK_HPP
#define STRATA_ANALYSIS_PACKING_ROW_CHUNK_HPP

#include <Kokkos_Macros.hpp>
#include <cstdint>

namespace Strata {

/// A few rows of one level set that the lanes of a warp solve together.
///
/// Row r of the chunk belongs to lanes r * 2^log_lanes and up. Entry e of that
/// row lies in step e / 2^log_lanes at lane e % 2^log_lanes of the row, and
/// step s of lane l is slot first_slot + s * (rows * 2^log_lanes) + l: as in
/// SELL-C-sigma, the lanes of a step read consecutive slots. The coefficients
/// of b of merged rows (see MergedLevels) have `coefficient_steps` such steps
/// before first_slot.
///
/// Where rows have coefficients, dependencies are numbered by chunk, its
/// coefficients first: from word dependency_begin on a word each or, where all
/// of a chunk are near, two in a word. These say how many permuted rows lie
/// between the dependency and the chunk, or how many rows between the
/// coefficient's row and the chunk's.
struct alignas(16) RowChunk {
  /// How many level sets back `throttle` lies, and how many more for each time
  /// that the lanes fetch `max_steps` entries after the first.
  static constexpr int throttle_levels = 3, throttle_levels_more = 2;

  /// How dependencies are stored: as they are, or, of rows that are not
  /// reversed and of those that are, by distance.
  enum Dependencies : std::uint8_t { whole, near_below, near_above };
  /// No distance, and the largest one.
  static constexpr int no_distance = 0xffff, most_distance = 0xfffe;

  std::int64_t first_slot = 0;
  int first_permuted_row = 0;
  int steps = 0;
  unsigned dependency_begin = 0;
  std::uint8_t rows = 0, log_lanes = 0, coefficient_steps = 0,
               dependencies = whole;
  /// A permuted row some level sets back, as far on in its level set as the
  /// chunk is in its own: until that row is solved, there is no use in asking
  /// for the chunk's dependencies. -1 where there are not as many level sets
  /// before, or a chunk is one lane wide.
  int throttle = -1;
  /// Whole rows; or a piece of one row that several chunks share, and the place
  /// of its partial sum (0 and up); or what adds such sums up: see
  /// `split_long_rows`.
  static constexpr int whole_rows = -1, adds_pieces = -2;
  int part = whole_rows;

  /// Slots of a step.
  KOKKOS_INLINE_FUNCTION int stride() const { return rows << log_lanes; }
  /// The first slot of the chunk, of coefficients if there are any.
  KOKKOS_INLINE_FUNCTION std::int64_t begin() const {
    return first_slot - std::int64_t{coefficient_steps} * stride();
  }
  KOKKOS_INLINE_FUNCTION int num_slots() const {
    return (coefficient_steps + steps) * stride();
  }
  /// The number in the chunk of the slot of row r's i-th coefficient.
  KOKKOS_INLINE_FUNCTION int place_of_coefficient(int r, int i) const {
    return (i >> log_lanes) * stride() + (r << log_lanes) +
           (i & ((1 << log_lanes) - 1));
  }
  /// What is stored for slot begin() + `number`, of words that are
  /// dependencies'.
  KOKKOS_INLINE_FUNCTION int stored(const int* words, int number) const {
    const int* const from = words + dependency_begin;
    return dependencies == whole
               ? from[number]
               : reinterpret_cast<const unsigned short*>(from)[number];
  }
  KOKKOS_INLINE_FUNCTION void store(int* words, int number, int value) const {
    int* const to = words + dependency_begin;
    if (dependencies == whole)
      to[number] = value;
    else
      reinterpret_cast<unsigned short*>(to)[number] =
          static_cast<unsigned short>(value);
  }
  /// A dependency's permuted row, or -1, of what is stored.
  KOKKOS_INLINE_FUNCTION int dependency_of(int value) const {
    if (dependencies == whole) return value;
    return value == no_distance ? -1 : first_permuted_row - 1 - value;
  }
  /// A coefficient's row, or -1, of what is stored for `row`.
  KOKKOS_INLINE_FUNCTION int coefficient_of(int value, int row) const {
    if (dependencies == whole) return value;
    if (value == no_distance) return -1;
    return dependencies == near_below ? row - 1 - value : row + 1 + value;
  }
  /// What stands for them in memory; -1: padding.
  KOKKOS_INLINE_FUNCTION int to_store_dependency(int permuted_row) const {
    if (dependencies == whole) return permuted_row;
    return permuted_row < 0 ? no_distance
                            : first_permuted_row - 1 - permuted_row;
  }
  KOKKOS_INLINE_FUNCTION int to_store_coefficient(int coefficient,
                                                  int row) const {
    if (dependencies == whole) return coefficient;
    if (coefficient < 0) return no_distance;
    return dependencies == near_below ? row - 1 - coefficient
                                      : coefficient - 1 - row;
  }
};
static_assert(sizeof(RowChunk) == 32, "two loads");

}  // namespace Strata

#endif
