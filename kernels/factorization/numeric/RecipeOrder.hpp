// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_RECIPE_ORDER_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_RECIPE_ORDER_HPP

// The order of rows in a recipe, and where all that belongs to a row begins.

#include <core/device/Backend.hpp>
#include <cstdint>
#include <kernels/factorization/numeric/LongRowTerms.hpp>
#include <kernels/factorization/numeric/RecipePattern.hpp>

namespace Strata {
namespace Detail {

/// What rows are sorted by: piece, level set, kind.
struct RecipeKeys {
  RecipePattern pattern;
  const int* level_of;
  std::int64_t values_of_piece;  // 0: one piece
  RecipeShape shape;
  int level_bits;
  std::uint64_t* key;
  int* row;
  static constexpr int kind_bits = RecipeShape::kind_bits;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t piece =
        values_of_piece > 0 ? pattern.u_row_map(i) / values_of_piece : 0;
    key[i] = static_cast<std::uint64_t>(piece) << (level_bits + kind_bits) |
             static_cast<std::uint64_t>(level_of[i]) << kind_bits |
             static_cast<std::uint64_t>(shape.kind(pattern.length(i)));
    row[i] = static_cast<int>(i);
  }
};

/// What is counted of rows in the order of a plan, as words in device memory.
struct RecipeTotals {
  enum : int { groups, words, tasks, size };
};

/// Where all that belongs to a row begins, by place.
struct RecipeStarts {
  RecipePattern pattern;
  std::int64_t num_rows;
  const std::uint64_t* key;
  const int* row;
  int *group, *start;  // of equal keys; where each begins, by group
  unsigned* work;      // values in the work array; one more at the end
  unsigned* pivot;     // that of a row, by row
  unsigned* words;
  int* task_of;  // the task that begins there, or the first one
  bool any_long;
  LongRowTasks long_rows;
  std::int64_t* totals;

  struct Groups {};
  KOKKOS_INLINE_FUNCTION void operator()(Groups, std::int64_t p,
                                         std::int64_t& sum, bool last) const {
    const bool begins = p == 0 || key[p] != key[p - 1];
    sum += begins;
    if (!last) return;
    group[p] = static_cast<int>(sum - 1);
    if (begins) start[sum - 1] = static_cast<int>(p);
    note(RecipeTotals::groups, p, sum);
  }
  struct Work {};
  KOKKOS_INLINE_FUNCTION void operator()(Work, std::int64_t p,
                                         std::int64_t& sum, bool last) const {
    if (last) pivot[row[p]] = work[p] = static_cast<unsigned>(sum);
    sum += pattern.upper(row[p]);
    if (last && p + 1 == num_rows) work[num_rows] = static_cast<unsigned>(sum);
  }
  struct Words {};
  KOKKOS_INLINE_FUNCTION void operator()(Words, std::int64_t p,
                                         std::int64_t& sum, bool last) const {
    if (!RecipeShape::is_long(key[p])) {
      if (last) words[p] = static_cast<unsigned>(sum);
      sum += RecipeWords<std::uint32_t>::count(pattern.length(row[p]),
                                               pattern.lower(row[p]));
    }
    if (last) note(RecipeTotals::words, p, sum);
  }
  /// As many rows of a group as a warp takes, and those of long rows.
  struct Tasks {};
  KOKKOS_INLINE_FUNCTION void operator()(Tasks, std::int64_t p,
                                         std::int64_t& sum, bool last) const {
    if (last) task_of[p] = static_cast<int>(sum);
    if (any_long && RecipeShape::is_long(key[p]))
      sum += long_rows(p);
    else
      sum += begins_task(p);
    if (last) note(RecipeTotals::tasks, p, sum);
  }
  KOKKOS_INLINE_FUNCTION bool begins_task(std::int64_t p) const {
    const int of_task = RecipeShape::rows(RecipeShape::kind_of(key[p]));
    return (p - start[group[p]]) % of_task == 0;
  }

 private:
  KOKKOS_INLINE_FUNCTION void note(int total, std::int64_t p,
                                   std::int64_t sum) const {
    if (p + 1 == num_rows) totals[total] = sum;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
