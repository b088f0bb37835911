// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_ROW_IN_REGISTERS_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_ROW_IN_REGISTERS_HPP

#include <core/device/NotReady.hpp>
#include <core/device/Warp.hpp>
#include <kernels/factorization/numeric/RecipeArrays.hpp>

namespace Strata {
namespace Detail {

/// A row in the registers of its lanes, each of which holds every lanes-th
/// entry. Of the row's lower part, pair k (the row, and row k of U) is under
/// way, and pair k + 1 is asked for already.
/// @tparam Word  of the recipe, see RecipeWords
template <class Scalar, class Word, int entries>
struct RowInRegisters {
  using Value = NotReady<Scalar>;
  using Words = RecipeWords<Word>;

  int length, lower;  // of the row, see RecipeRow
  int lanes, own, first_lane;
  const Word* words;  // where this lane has read last

  // The arrays are variables of the caller: as members, all of them would stay
  // in memory if the compiler moved one to registers too late.
  Scalar (&value)[entries];
  unsigned (&source)[entries];  // of a lower entry: the pivot of its row of U
  // Words of the recipe for four pairs that are under way, and for the four
  // after them.
  Word (&now)[entries], (&next)[entries];
  // Of the pairs k and k + 1, at k % 2 and (k + 1) % 2: the row of U, its
  // pivot's reciprocal, and the entries that this lane needs.
  const Scalar* (&from)[2];
  Scalar (&inverse)[2], (&u)[2][entries];

  KOKKOS_FORCEINLINE_FUNCTION int entry(int r) const { return own + r * lanes; }
  /// The word of entry r for the pairs from `first_pair` on, at `words`; 0 if
  /// there is none.
  KOKKOS_FORCEINLINE_FUNCTION Word load_word(int r, int first_pair) const {
    const int e = entry(r);
    return (first_pair < lower) & (e > first_pair) & (e < length)
               ? load_once(words + r * lanes)
               : Word(0);
  }
  /// Where the entry for pair four + j is in its row of U, 0: none is needed.
  KOKKOS_FORCEINLINE_FUNCTION int part(int r, int j) const {
    return j < 4 ? Words::part(now[r], j & 3) : Words::part(next[r], 0);
  }
  /// What pair four + j needs, ready or not, in registers from `chunk` on.
  KOKKOS_FORCEINLINE_FUNCTION void load_pair(int four, int j, int chunk) {
    const int side = j & 1;
    if (four + j < lower) inverse[side] = Value::load_anywhere(from[side]);
    STRATA_IMPL_UNROLL
    for (int r = chunk; r < entries; ++r)
      if (part(r, j) != 0)
        u[side][r] = Value::load_anywhere(from[side] + part(r, j));
  }
  KOKKOS_FORCEINLINE_FUNCTION bool lacks_pair(int four, int j,
                                              int chunk) const {
    const int side = j & 1;
    bool lacks = (four + j < lower) & Value::is_not_ready(inverse[side]);
    STRATA_IMPL_UNROLL
    for (int r = chunk; r < entries; ++r)
      lacks |= (part(r, j) != 0) & Value::is_not_ready(u[side][r]);
    return lacks;
  }
  /// Where the row of U of the pair after four + j begins. Registers can't be
  /// chosen by a number: that would move them to memory.
  KOKKOS_FORCEINLINE_FUNCTION unsigned next_source(int four, int j,
                                                   int chunk) const {
    const int next_lane = first_lane + ((four + j + 1) & (lanes - 1));
    unsigned found = lane_read(source[chunk], next_lane);
    if (chunk + 1 < entries && j == 3) {
      const unsigned of_next_chunk =
          lane_read(source[chunk + 1 < entries ? chunk + 1 : chunk], next_lane);
      if (four == 32 * chunk + 28) found = of_next_chunk;
    }
    return found;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
