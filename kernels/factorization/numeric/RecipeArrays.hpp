// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_RECIPE_ARRAYS_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_RECIPE_ARRAYS_HPP

#include <core/device/Backend.hpp>
#include <core/matrix/CrsArrays.hpp>
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
  unsigned recipe;    // its first word, or of a long row where its terms are
  unsigned sources;   // its first pair
  int length, lower;  // entries; those left of the diagonal
};

/// What a warp does without a break: rows of one level set, each with as many
/// lanes, places from `first` on; or entries of the long row at that place.
struct RecipeTask {
  unsigned first;
  unsigned shape;

  KOKKOS_INLINE_FUNCTION static RecipeTask of_long_row(unsigned place,
                                                       int first_entry,
                                                       int log_lanes) {
    return {place, static_cast<unsigned>(first_entry) << 7 |
                       static_cast<unsigned>(log_lanes)};
  }

  /// Of a row, or of an entry of a long row.
  KOKKOS_INLINE_FUNCTION int log_lanes() const {
    return static_cast<int>(shape & 7u);
  }
  /// Entries of a row that a lane holds, at the most; 0: the row is a long one.
  KOKKOS_INLINE_FUNCTION int entries() const {
    return static_cast<int>(shape >> 3 & 15u);
  }
  KOKKOS_INLINE_FUNCTION bool is_of_long_row() const { return entries() == 0; }
  KOKKOS_INLINE_FUNCTION int rows() const {
    return is_of_long_row() ? 1 : static_cast<int>(shape >> 7);
  }
  /// Of a long row.
  KOKKOS_INLINE_FUNCTION int first_entry() const {
    return static_cast<int>(shape >> 7);
  }
  static constexpr std::int64_t most_entries = 1 << 25;
};

/// l_ik u_kj, which an entry of a long row is less: where both factors are in
/// the work array.
struct alignas(8) RecipeTerm {
  unsigned l, u;
};

/// Kinds of rows by their length: lanes and registers that hold one.
struct RecipeShape {
  static constexpr int shortest_log = 3, width_log = gpu_log_lanes;
  static constexpr int most_entries = 8;  // of a lane
  /// Of 8 to 256 entries, and long rows.
  static constexpr int count = width_log + 2;

  /// Entries of a row that registers hold: 32, 64, 128 or 256.
  std::int64_t most_of_row = most_entries << width_log;

  /// 0 for long rows.
  KOKKOS_INLINE_FUNCTION int kind(std::int64_t length) const {
    if (length > most_of_row) return 0;
    int found = count - 1;
    for (std::int64_t most = 1 << shortest_log; most < length; most *= 2)
      --found;
    return found;
  }
  /// Of the key by which a plan sorts rows, whose lowest bits are the kind.
  static constexpr int kind_bits = 3;
  KOKKOS_INLINE_FUNCTION static int kind_of(std::uint64_t key) {
    return static_cast<int>(key & ((1u << kind_bits) - 1));
  }
  KOKKOS_INLINE_FUNCTION static bool is_long(std::uint64_t key) {
    return kind_of(key) == 0;
  }
  /// Entries that fit.
  KOKKOS_INLINE_FUNCTION static int log_length(int kind) {
    return count - 1 - kind + shortest_log;
  }
  KOKKOS_INLINE_FUNCTION static int log_lanes(int kind) {
    const int log = log_length(kind);
    return log < width_log ? log : width_log;
  }
  KOKKOS_INLINE_FUNCTION static int rows(int kind) {
    return kind == 0 ? 1 : 1 << (width_log - log_lanes(kind));
  }
  /// Of a task with rows of this kind.
  KOKKOS_INLINE_FUNCTION static unsigned shape(int kind, int rows) {
    const int log = log_lanes(kind);
    return static_cast<unsigned>(rows) << 7 |
           1u << (log_length(kind) - log) << 3 | static_cast<unsigned>(log);
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

/// The arrays of a matrix and of its factors, which have the patterns of its
/// triangles: L with its ones last in each row, U with its diagonal first.
template <class Scalar>
struct EliminationArrays {
  CrsArrays<Scalar> A;
  IndexArray l_row_map, u_row_map, u_entries;
  Scalar *l_values, *u_values;
};

struct RecipeArrays {
  const RecipeRow* rows = nullptr;
  const RecipeTask* tasks = nullptr;
  const RecipePiece* pieces = nullptr;
  const unsigned* sources = nullptr;  // pair -> pivot of row k in `work`
  const void* words = nullptr;
  /// Of each long row: where its multipliers are in the work array, then for
  /// each entry the first of its terms, then where the last one's end. Null:
  /// there are no lists.
  const unsigned* term_start = nullptr;
  const RecipeTerm* terms = nullptr;
  unsigned num_pieces = 0;
  bool in_scratch = false;  // values are kept there
};

}  // namespace Detail
}  // namespace Strata

#endif
