// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_RECIPE_ARRAYS_HPP
#define STRATA_KERNELS_FACTORIZATION_RECIPE_ARRAYS_HPP

#include <core/device/Backend.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

// What a plan of an elimination by recipe is made of. A place is the number of
// a row in the order of the plan. A pair is a row and an entry of its lower
// part, whose column is the row of U that is subtracted.

/// A row: two packets of 16 bytes.
struct alignas(16) RecipeRow {
  unsigned a, l, u;   // its first value in A, L and U
  unsigned work;      // its first value in the work array: that of its pivot
  unsigned recipe;    // its first word
  unsigned sources;   // its first pair
  int length, lower;  // entries; those left of the diagonal
};

/// Rows of one level set that a warp eliminates together, each with as many
/// lanes: places from `first` on.
struct RecipeTask {
  unsigned first;
  unsigned shape;

  KOKKOS_INLINE_FUNCTION int log_lanes() const {
    return static_cast<int>(shape & 7u);
  }
  /// Entries of a row that a lane holds, at the most; 0: the row is longer than
  /// the registers of a warp.
  KOKKOS_INLINE_FUNCTION int entries() const {
    return static_cast<int>(shape >> 3 & 15u);
  }
  KOKKOS_INLINE_FUNCTION int rows() const {
    return static_cast<int>(shape >> 7);
  }
};

/// Kinds of rows by their length: lanes and registers that hold one.
struct RecipeShape {
  static constexpr int shortest_log = 3, width_log = 5;
  static constexpr int most_entries = 8;      // of a lane
  static constexpr int most_of_row = 8 << 5;  // in registers
  static constexpr int count = 7;             // 8 to 256 entries, and longer

  /// 0 for the longest rows.
  KOKKOS_INLINE_FUNCTION static int of_length(std::int64_t length) {
    int kind = count - 1;
    for (std::int64_t most = 1 << shortest_log; kind > 0 && most < length;
         most *= 2)
      --kind;
    return kind;
  }
  KOKKOS_INLINE_FUNCTION static int log_lanes(int kind) {
    const int log = count - 1 - kind + shortest_log;
    return log < width_log ? log : width_log;
  }
  KOKKOS_INLINE_FUNCTION static int entries(int kind) {
    if (kind == 0) return 0;
    const int log = count - 1 - kind + shortest_log;
    return log < width_log ? 1 : 1 << (log - width_log);
  }
  KOKKOS_INLINE_FUNCTION static int rows(int kind) {
    return 1 << (width_log - log_lanes(kind));
  }
  KOKKOS_INLINE_FUNCTION static unsigned shape(int kind, int rows) {
    return static_cast<unsigned>(rows) << 7 |
           static_cast<unsigned>(entries(kind)) << 3 |
           static_cast<unsigned>(log_lanes(kind));
  }
};

/// Words of a recipe. For four pairs together, entries of the own row right of
/// the first of them have a word each; of it, pair k has part k % 4: where in
/// row k of U the entry's column is, counted from the diagonal; 0: nowhere. All
/// entries' words of four pairs follow each other.
template <class Word>
struct RecipeWords {
  static constexpr int bits = 2 * sizeof(Word);
  static constexpr unsigned mask = (1u << bits) - 1;

  KOKKOS_INLINE_FUNCTION static int part(Word word, int k) {
    return static_cast<int>(static_cast<unsigned>(word >> (bits * k)) & mask);
  }
  /// Of a row.
  KOKKOS_INLINE_FUNCTION static std::int64_t count(std::int64_t length,
                                                   std::int64_t lower) {
    const std::int64_t fours = (lower + 3) / 4;
    return fours * (length - 1) - 2 * fours * (fours - 1);
  }
};

/// Rows whose values a team keeps in scratch as well.
struct RecipePiece {
  unsigned first_task, end_task;
  unsigned first_value, end_value;  // in the work array
};

struct RecipeArrays {
  const RecipeRow* rows = nullptr;
  const RecipeTask* tasks = nullptr;
  const RecipePiece* pieces = nullptr;
  const unsigned* sources = nullptr;  // pair -> pivot of row k in `work`
  const void* words = nullptr;
  unsigned num_pieces = 0;
  bool in_scratch = false;  // values are kept there
};

}  // namespace Detail
}  // namespace Strata

#endif
