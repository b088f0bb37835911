// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_SHARE_RECIPES_HPP
#define STRATA_ANALYSIS_MERGING_SHARE_RECIPES_HPP

#include <analysis/merging/MergedRows.hpp>
#include <core/device/Atomics.hpp>
#include <core/matrix/PatternFingerprint.hpp>

namespace Strata {
namespace Detail {

/// Finds equal recipes of rows (see MergedRows), of which the plan keeps one:
/// on grids a few dozen are left of millions. Each recipe is first made in a
/// place of its own.
///
/// Recipes are looked up in a hash table by 64 bits made of their words. The
/// first row with these bits owns the place in the table. Rows whose recipes
/// equal the owner's, word by word, share it. A row that finds no place within
/// a few steps keeps its own recipe. Where the table overflows, the order of
/// threads decides which recipes are shared and how many bytes they take, but
/// not the recipe of a row.
template <class MemorySpace>
struct ShareRecipes {
  using Rows = MergedRows<MemorySpace>;
  /// Vertex -> first of its words; one more at the end.
  unsigned* word_of = nullptr;
  unsigned* words = nullptr;
  std::int64_t num_rows = 0;
  // The table: bits (0: free) and smallest vertex that has them.
  std::uint64_t* bits = nullptr;
  int* owner = nullptr;
  unsigned table_size = 0;  // a power of two
  /// Vertex -> place in the table (-1: none), and then the vertex whose recipe
  /// the row shares (-1: it has its own).
  int* shared = nullptr;
  /// Vertex -> where its own recipe is to begin.
  unsigned* begin = nullptr;
  Kokkos::View<const int*, MemorySpace> vertex;  // by permuted row
  /// To be made: where recipes begin, the recipes, their bytes in all.
  Rows rows;
  std::int64_t* total = nullptr;

  static constexpr int most_steps = 16;
  static unsigned size_for(std::int64_t num_rows) {
    unsigned size = 1024;
    while (size < 4 * num_rows && size < 1u << 20) size *= 2;
    return size;
  }
  /// Before the recipes' sizes are known, and then.
  template <class Pool>
  void take(Pool& pool, std::int64_t vertices) {
    num_rows = vertices;
    table_size = size_for(vertices);
    pool.take(word_of, vertices + 1);
    pool.take(bits, table_size);
    pool.take(owner, table_size);
    pool.take(shared, vertices);
    pool.take(begin, vertices);
    pool.take(total, 1);
  }
  template <class Pool>
  void take_words(Pool& pool, std::int64_t recipe_words) {
    pool.take(words, recipe_words);
  }
  KOKKOS_INLINE_FUNCTION unsigned char* recipe(std::int64_t v) const {
    return reinterpret_cast<unsigned char*>(words + word_of[v]);
  }

  struct Clear {};
  KOKKOS_INLINE_FUNCTION void operator()(Clear, std::int64_t i) const {
    bits[i] = 0;
    owner[i] = 0x7fffffff;
  }
  struct Enter {};
  KOKKOS_INLINE_FUNCTION void operator()(Enter, std::int64_t v) const {
    shared[v] = -1;
    const unsigned first = word_of[v], end = word_of[v + 1];
    if (first == end) return;
    std::uint64_t sum = end - first;
    for (unsigned w = first; w < end; w += batch) {
      unsigned word[batch];
      STRATA_IMPL_UNROLL
      for (unsigned u = 0; u < batch; ++u)
        word[u] = w + u < end ? words[w + u] : 0;
      STRATA_IMPL_UNROLL
      for (unsigned u = 0; u < batch; ++u)
        sum +=
            mix_bits(static_cast<std::uint64_t>(w + u - first) << 32 | word[u]);
    }
    const std::uint64_t mine = mix_bits(sum) | 1;
    unsigned place = static_cast<unsigned>(mine >> 32) & (table_size - 1);
    for (int step = 0; step < most_steps; ++step) {
      std::uint64_t there = load_relaxed(bits + place);
      if (there == 0)
        there = Kokkos::atomic_compare_exchange(bits + place, std::uint64_t{0},
                                                mine);
      if (there == 0 || there == mine) {
        const int row = static_cast<int>(v);
        // Few come before those that have been here.
        if (load_relaxed(owner + place) > row)
          Kokkos::atomic_fetch_min(owner + place, row);
        shared[v] = static_cast<int>(place);
        return;
      }
      place = (place + 1) & (table_size - 1);
    }
  }
  struct Compare {};
  KOKKOS_INLINE_FUNCTION void operator()(Compare, std::int64_t v) const {
    if (shared[v] < 0) return;
    const int from = owner[shared[v]];
    const unsigned first = word_of[v], end = word_of[v + 1];
    const unsigned other = word_of[from];
    bool equal = from != v && word_of[from + 1] - other == end - first;
    for (unsigned w = 0; equal && w < end - first; w += batch) {
      unsigned here[batch], there[batch];
      STRATA_IMPL_UNROLL
      for (unsigned u = 0; u < batch; ++u) {
        const bool in = w + u < end - first;
        here[u] = in ? words[first + w + u] : 0;
        there[u] = in ? words[other + w + u] : 0;
      }
      STRATA_IMPL_UNROLL
      for (unsigned u = 0; u < batch; ++u) equal = equal && here[u] == there[u];
    }
    shared[v] = equal ? from : -1;
  }
  struct Place {};
  KOKKOS_INLINE_FUNCTION void operator()(Place, std::int64_t v,
                                         std::int64_t& sum, bool final) const {
    const unsigned size = word_of[v + 1] - word_of[v];
    const bool own = shared[v] < 0;
    if (final && own)
      begin[v] = size == 0 ? Rows::no_recipe : static_cast<unsigned>(sum);
    if (own) sum += size;
    if (final && v + 1 == num_rows) *total = sum * Rows::word;
  }
  /// The recipe of vertex `i`, and where that of permuted row `i` begins.
  struct Copy {};
  KOKKOS_INLINE_FUNCTION void operator()(Copy, std::int64_t i) const {
    const int v = vertex(i);
    const unsigned of = begin[shared[v] >= 0 ? shared[v] : v];
    rows.recipe_of(i) = of;
    rows.near_recipe_of(i) = static_cast<unsigned short>(of);
    if (i + 1 == num_rows && num_rows % 2 != 0) {
      // A plan copies what the arrays are rounded up by, too.
      rows.recipe_of(i + 1) = Rows::no_recipe;
      rows.near_recipe_of(i + 1) = Rows::no_near_recipe;
    }
    if (shared[i] >= 0) return;
    const unsigned first = word_of[i], end = word_of[i + 1];
    if (first == end) return;
    auto* const to = reinterpret_cast<unsigned*>(rows.recipe.data()) + begin[i];
    for (unsigned w = 0; w < end - first; ++w) to[w] = words[first + w];
  }

 private:
  static constexpr unsigned batch = 8;
};

}  // namespace Detail
}  // namespace Strata

#endif
