// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_FILL_RECIPE_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_FILL_RECIPE_HPP

// Fills in the arrays of a recipe.

#include <core/device/Backend.hpp>
#include <core/device/Warp.hpp>
#include <cstdint>
#include <kernels/factorization/numeric/RecipeArrays.hpp>
#include <kernels/factorization/numeric/RecipeOrder.hpp>

namespace Strata {
namespace Detail {

/// The pieces: as sorted, or of as many tasks as a team has warps.
struct FillRecipePieces {
  const std::uint64_t* key;
  const unsigned* work;
  const RecipeTask* tasks;
  RecipePiece* pieces;
  int num_tasks, piece_shift, tasks_of_piece;  // 0: pieces as sorted

  KOKKOS_INLINE_FUNCTION std::int64_t piece_of(int task) const {
    if (tasks_of_piece > 0) return task / tasks_of_piece;
    return static_cast<std::int64_t>(key[tasks[task].first] >> piece_shift);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t t) const {
    const int task = static_cast<int>(t);
    const std::int64_t piece = piece_of(task);
    if (task == 0 || piece_of(task - 1) != piece) {
      pieces[piece].first_task = static_cast<unsigned>(task);
      pieces[piece].first_value = work[tasks[task].first];
    }
    if (task + 1 == num_tasks || piece_of(task + 1) != piece) {
      pieces[piece].end_task = static_cast<unsigned>(task) + 1;
      pieces[piece].end_value = work[tasks[task].first + tasks[task].rows()];
    }
  }
};

/// Rows of a plan, tasks of those in registers, and pieces without tasks: a
/// piece may have no row, if one with more values than pieces have began in the
/// piece before.
struct FillRecipe {
  RecipeStarts starts;
  int num_groups;
  RecipeRow* rows;
  RecipeTask* tasks;
  RecipePiece* pieces;

  struct Rows {};
  KOKKOS_INLINE_FUNCTION void operator()(Rows, std::int64_t p) const {
    const RecipePattern& pattern = starts.pattern;
    const std::int64_t i = starts.row[p];
    rows[p] = {static_cast<unsigned>(pattern.a_row_map(i)),
               static_cast<unsigned>(pattern.l_row_map(i)),
               static_cast<unsigned>(pattern.u_row_map(i)),
               starts.work[p],
               starts.words[p],
               static_cast<unsigned>(pattern.l_row_map(i) - i),
               static_cast<int>(pattern.length(i)),
               static_cast<int>(pattern.lower(i))};
    const int kind = RecipeShape::kind_of(starts.key[p]);
    if (kind == 0 || !starts.begins_task(p)) return;
    const int group = starts.group[p];
    const std::int64_t end =
        group + 1 < num_groups ? starts.start[group + 1] : starts.num_rows;
    const int of_task = RecipeShape::rows(kind);
    tasks[starts.task_of[p]] = {
        static_cast<unsigned>(p),
        RecipeShape::shape(
            kind, end - p < of_task ? static_cast<int>(end - p) : of_task)};
  }
  struct Pieces {};
  KOKKOS_INLINE_FUNCTION void operator()(Pieces, std::int64_t p) const {
    pieces[p] = {0, 0, 0, 0};
  }
};

/// Sources and words of the rows of a task, by a warp.
template <class ExecutionSpace, class Word>
struct FillRecipeWords {
  using Words = RecipeWords<Word>;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int team_size = 128;
  static constexpr int warps = team_size / width;
  RecipePattern pattern;
  const RecipeRow* rows;
  const RecipeTask* tasks;
  const unsigned* pivot;  // by row
  unsigned* sources;
  Word* words;
  int num_tasks;
  bool whole_long_rows;  // of a task

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int lane = team.team_rank() % width;
    for (std::int64_t t = team.league_rank() * std::int64_t{warps} +
                          team.team_rank() / width;
         t < num_tasks; t += team.league_size() * std::int64_t{warps}) {
      const RecipeTask task = tasks[t];
      const int lanes = 1 << task.log_lanes(), group = lane >> task.log_lanes();
      if (task.is_of_long_row() && whole_long_rows)
        fill_sources(rows[task.first], lane, rows[task.first].lower, width);
      else if (task.is_of_long_row())
        fill_sources(rows[task.first], task.first_entry() + lane,
                     task.first_entry() + (width >> task.log_lanes()), width);
      else if (group < task.rows())
        fill_row(rows[task.first + group], lane & (lanes - 1), lanes);
    }
  }

 private:
  /// Where `column` is in the upper part of row k, counted from the diagonal;
  /// 0 if it is not there.
  KOKKOS_INLINE_FUNCTION Word offset_of(std::int64_t k,
                                        std::int64_t column) const {
    const std::int64_t diagonal = pattern.diagonal(k);
    const std::int64_t found =
        pattern.find(diagonal + 1, pattern.a_row_map(k + 1), column);
    return found < 0 ? Word(0) : static_cast<Word>(found - diagonal);
  }
  KOKKOS_INLINE_FUNCTION void fill_sources(const RecipeRow& row, int first,
                                           int end, int step) const {
    for (int k = first; k < end && k < row.lower; k += step)
      sources[row.sources + k] = pivot[pattern.a_entries(row.a + k)];
  }
  KOKKOS_INLINE_FUNCTION void fill_row(const RecipeRow& row, int lane,
                                       int lanes) const {
    fill_sources(row, lane, row.lower, lanes);
    std::int64_t at = static_cast<std::int64_t>(row.recipe) - 1;
    for (int four = 0; four < row.lower; four += 4) {
      const int end = four + 4 < row.lower ? four + 4 : row.lower;
      for (int e = lane; e < row.length; e += lanes) {
        if (e <= four) continue;
        const std::int64_t column = pattern.a_entries(row.a + e);
        Word word = 0;
        for (int k = four; k < end && k < e; ++k)
          word |= offset_of(pattern.a_entries(row.a + k), column)
                  << (Words::bits * (k - four));
        words[at - four + e] = word;
      }
      at += row.length - 1 - four;
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
