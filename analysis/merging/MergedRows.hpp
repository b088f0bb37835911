// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_MERGED_ROWS_HPP
#define STRATA_ANALYSIS_MERGING_MERGED_ROWS_HPP

#include <Kokkos_Core.hpp>
#include <core/matrix/InspectValues.hpp>
#include <core/memory/PlanStorage.hpp>
#include <cstdint>

namespace Strata {

/// How new values become those of rows merged all over a graph (see
/// MergedLevels).
///
/// The elimination recipe of a merged row says which numbers meet in it, so
/// that new values need no searching. The row is
///
///     x_i = sum over t of y_t b_t - sum over dependencies k of c_k x_k
///
/// with a slot for each coefficient y_t of b, ascending, and, after these, one
/// for each dependency, ascending; all begin as 0. A slot holds the factor of
/// x_t or x_k so far: as it is on the right-hand side for x_t, which y_t
/// follows from, and with the opposite sign for x_k. Rows are eliminated one
/// after the other, first the row itself and then the rows t, the newest first,
/// so that the slot of t is final when its turn comes. Then y_t is what the
/// slot holds over the diagonal l_tt, and y_t times each entry of row t is
/// taken from the slot of a coefficient or added to that of a dependency. The
/// recipe is a byte for each of these entries: its slot. All is kept as l_ii
/// times that, and solves divide: the row itself is eliminated with y = 1 and
/// has no slot.
///
/// Before that, a recipe has a byte each for the numbers of coefficients and of
/// dependencies, and two for that of all entries, the lower first; then, in the
/// order in which they are eliminated, a byte for the number of entries of each
/// coefficient's row. Rows that are not merged have no recipe. It does not
/// depend on where numbers stand, so rows of the same shape share one (see
/// ShareRecipes).
///
/// The values of the matrix are numbered so that those of a row follow each
/// other, the entries ascending by dependency. Where the user's values are in
/// order (see DependencyGraph), rows are as in the matrix, the diagonal after a
/// row's entries, and numbers stand for themselves: backwards if `reversed`.
/// Else `value_index` has a place for each, by permuted row, as most
/// coefficients of neighbours are neighbours there, too, and the diagonal (-1:
/// it is one) before the entries.
template <class MemorySpace>
struct MergedRows {
  /// The numbers of a row's first entry and of its diagonal, -1 if there is
  /// none.
  struct Row {
    int first, diagonal;
  };
  /// Permuted row -> where its recipe begins, in words of four bytes, if any;
  /// and the same in half as many bytes, if there are few recipes: a plan has
  /// one of them.
  Kokkos::View<unsigned*, MemorySpace> recipe_of;
  Kokkos::View<unsigned short*, MemorySpace> near_recipe_of;
  Kokkos::View<unsigned char*, MemorySpace> recipe;
  static constexpr int head = 4, word = 4;
  static constexpr unsigned no_recipe = 0xffffffffu, no_near_recipe = 0xffff;
  /// Vertex -> number that its row begins with; one more at the end.
  Kokkos::View<int*, MemorySpace> begin_of;
  Detail::ValueIndex<MemorySpace> value_index;
  bool values_in_order = false, reversed = false, unit = false;
  std::int64_t last_value = 0;
  /// One, as before a look at new values.
  Kokkos::View<Detail::ValuesInspection*, MemorySpace> findings;
  /// Of a merged row: most other rows' coefficients, most dependencies.
  int most_coefficients = 0, most_dependencies = 0;

  /// Has the arrays taken out of a storage: again with the numbers of elements
  /// that they have, but for recipes, to be copied there as a whole.
  /// @param far  with recipe_of
  void take(Detail::PlanStorage<MemorySpace>& storage, std::int64_t vertices,
            std::int64_t numbers, std::int64_t recipe_bytes,
            std::int64_t num_values, bool far = true) {
    // Rounded up, so that nothing lies between the arrays.
    const std::int64_t even = (vertices + 1) / 2 * 2;
    storage.take(recipe_of, far ? even : 0);
    storage.take(findings, 1);
    storage.take(value_index, values_in_order ? 0 : numbers, num_values);
    storage.take(begin_of, vertices + 1);
    storage.take(near_recipe_of, even);
    storage.take(recipe, recipe_bytes);
  }
  void take_again(Detail::PlanStorage<MemorySpace>& storage,
                  std::int64_t recipe_bytes, std::int64_t num_values) {
    take(storage, num_vertices(), value_index.size(), recipe_bytes, num_values,
         !all_near(recipe_bytes));
  }
  /// Whether near_recipe_of will do for so many bytes of recipes.
  static bool all_near(std::int64_t recipe_bytes) {
    return recipe_bytes / word <= no_near_recipe;
  }
  /// The first array that a plan with so many bytes of recipes has, and the
  /// bytes from its beginning to the end of the last.
  unsigned char* first(std::int64_t recipe_bytes) const {
    return all_near(recipe_bytes)
               ? reinterpret_cast<unsigned char*>(findings.data())
               : reinterpret_cast<unsigned char*>(recipe_of.data());
  }
  std::size_t extent(std::int64_t recipe_bytes) const {
    return static_cast<std::size_t>(recipe.data() + recipe_bytes -
                                    first(recipe_bytes));
  }
  std::size_t bytes() const {
    return recipe_of.extent(0) * sizeof(unsigned) +
           near_recipe_of.extent(0) * sizeof(unsigned short) +
           value_index.bytes() + recipe.extent(0) +
           begin_of.extent(0) * sizeof(int) +
           findings.extent(0) * sizeof(Detail::ValuesInspection);
  }

  KOKKOS_FUNCTION int num_vertices() const {
    return static_cast<int>(begin_of.extent(0)) - 1;
  }
  /// Where a row's recipe begins, with what is before the slots; null: it has
  /// none.
  KOKKOS_INLINE_FUNCTION const unsigned char* recipe_at(
      int permuted_row) const {
    const bool near = recipe_of.extent(0) == 0;
    const unsigned begin =
        near ? near_recipe_of(permuted_row) : recipe_of(permuted_row);
    return begin == (near ? no_near_recipe : no_recipe)
               ? nullptr
               : recipe.data() + std::size_t{begin} * word;
  }
  /// Entries of the row and of its coefficients' rows.
  KOKKOS_INLINE_FUNCTION static int operations(const unsigned char* recipe) {
    return recipe[2] | recipe[3] << 8;
  }
  KOKKOS_INLINE_FUNCTION int vertex(int user_row) const {
    return reversed ? num_vertices() - 1 - user_row : user_row;
  }
  KOKKOS_INLINE_FUNCTION Row row(int user_row) const {
    const int v = vertex(user_row), begin = begin_of(v);
    if (!values_in_order) return {begin + 1, begin};
    return {begin, unit ? -1 : begin_of(v + 1) - 1};
  }
  /// The number after a row's last entry.
  /// @param following  the user's row at the next permuted row, -1: there is
  /// none
  KOKKOS_INLINE_FUNCTION int end(int user_row, int following) const {
    if (values_in_order) return begin_of(vertex(user_row) + 1) - (unit ? 0 : 1);
    return following < 0 ? static_cast<int>(value_index.size())
                         : begin_of(vertex(following));
  }
  /// Where the user's values have a number; -1: nowhere.
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(int number) const {
    if (!values_in_order) return value_index(number);
    return reversed ? last_value - number : number;
  }
};

}  // namespace Strata

#endif
