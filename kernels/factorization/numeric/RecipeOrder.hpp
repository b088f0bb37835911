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

/// Groups of rows with equal keys: where each begins.
struct GroupStarts {
  const std::uint64_t* key;
  int *group, *start;  // of a place; by group
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, std::int64_t& sum,
                                         bool last) const {
    const bool begins = p == 0 || key[p] != key[p - 1];
    sum += begins;
    if (!last) return;
    group[p] = static_cast<int>(sum - 1);
    if (begins) start[sum - 1] = static_cast<int>(p);
  }
};

/// Tasks: as many rows of a group as a warp takes, and those of long rows.
struct TaskStarts {
  const std::uint64_t* key;
  const int *group, *start;
  bool any_long;
  LongRowTasks long_rows;
  int* task_of;  // by place: the task that begins there, or the first one
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, std::int64_t& sum,
                                         bool last) const {
    if (last) task_of[p] = static_cast<int>(sum);
    if (any_long && RecipeShape::is_long(key[p]))
      sum += long_rows(p);
    else
      sum += begins(p);
  }
  KOKKOS_INLINE_FUNCTION bool begins(std::int64_t p) const {
    const int of_task = RecipeShape::rows(RecipeShape::kind_of(key[p]));
    return (p - start[group[p]]) % of_task == 0;
  }
};

/// Where the rows' values are in the work array, and their words: by place; one
/// more at the end.
struct WorkStarts {
  RecipePattern pattern;
  const int* row;
  unsigned* work;
  std::int64_t rows;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, std::int64_t& sum,
                                         bool last) const {
    if (last) work[p] = static_cast<unsigned>(sum);
    sum += pattern.upper(row[p]);
    if (last && p + 1 == rows) work[rows] = static_cast<unsigned>(sum);
  }
};
struct WordStarts {
  RecipePattern pattern;
  const std::uint64_t* key;
  const int* row;
  unsigned* words;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, std::int64_t& sum,
                                         bool last) const {
    if (RecipeShape::is_long(key[p])) return;
    if (last) words[p] = static_cast<unsigned>(sum);
    sum += RecipeWords<std::uint32_t>::count(pattern.length(row[p]),
                                             pattern.lower(row[p]));
  }
};

/// What is counted of rows in the order of a plan, as words in device memory.
struct RecipeTotals {
  enum : int { groups, words, tasks, size };
};

/// Where all that belongs to a row begins, by place.
struct RecipeStarts {
  GroupStarts group;
  WorkStarts work;
  WordStarts word;
  TaskStarts task;
  unsigned* pivot;  // by row: its pivot in the work array
  std::int64_t* totals;
  std::int64_t num_rows;

  struct Groups {};
  KOKKOS_INLINE_FUNCTION void operator()(Groups, std::int64_t p,
                                         std::int64_t& sum, bool last) const {
    group(p, sum, last);
    note(RecipeTotals::groups, p, sum, last);
  }
  struct Work {};
  KOKKOS_INLINE_FUNCTION void operator()(Work, std::int64_t p,
                                         std::int64_t& sum, bool last) const {
    work(p, sum, last);
    if (last) pivot[work.row[p]] = work.work[p];
  }
  struct Words {};
  KOKKOS_INLINE_FUNCTION void operator()(Words, std::int64_t p,
                                         std::int64_t& sum, bool last) const {
    word(p, sum, last);
    note(RecipeTotals::words, p, sum, last);
  }
  struct Tasks {};
  KOKKOS_INLINE_FUNCTION void operator()(Tasks, std::int64_t p,
                                         std::int64_t& sum, bool last) const {
    task(p, sum, last);
    note(RecipeTotals::tasks, p, sum, last);
  }

 private:
  KOKKOS_INLINE_FUNCTION void note(int word_of, std::int64_t p,
                                   std::int64_t sum, bool last) const {
    if (last && p + 1 == num_rows) totals[word_of] = sum;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
