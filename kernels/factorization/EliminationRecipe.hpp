// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_ELIMINATION_RECIPE_HPP
#define STRATA_KERNELS_FACTORIZATION_ELIMINATION_RECIPE_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <analysis/level_sets/GraphWithLevels.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Sort.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/TriangleImplementation.hpp>
#include <core/memory/PlanStorage.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <cstring>
#include <kernels/factorization/FactorByRecipe.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/factorization/FactorPatterns.hpp>
#include <kernels/factorization/LongRowTerms.hpp>
#include <kernels/factorization/RecipePattern.hpp>
#include <limits>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// Makes ready for an elimination.
template <class Scalar>
struct ResetRecipeElimination {
  ResetElimination<Scalar> values;
  std::int64_t* fault;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    values(i);
    if (i == 0) *fault = no_factor_fault;
  }
};

/// Rows of more than `length` entries.
struct CountLongerRows {
  RecipePattern pattern;
  std::int64_t length;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& count) const {
    count += pattern.length(row) > length;
  }
};

/// Of each piece the first and the last level set of its rows, for several
/// sizes of pieces, and the work of all rows: the registers of a lane that it
/// takes to subtract all pairs' rows. By whole warps, whose rows are mostly of
/// one piece.
template <class ExecutionSpace>
struct PieceLevels {
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int team_size = 256, teams_of_multiprocessor = 8;
  static constexpr int most_sizes = 2;
  RecipePattern pattern;
  const int* level_of;
  std::int64_t num_rows;
  int num_levels;
  /// For each size: its values, 0: not asked for; and by piece, 0 before,
  /// num_levels less the first level set, then one more than the last.
  std::int64_t values_of_piece[most_sizes];
  int num_pieces[most_sizes];
  int* levels[most_sizes];
  std::int64_t* work;  // 0 before

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int lane = team.team_rank() % width;
    const std::int64_t step = std::int64_t{team.league_size()} * team_size;
    std::int64_t sum = 0;
    for (std::int64_t first = std::int64_t{team.league_rank()} * team_size +
                              team.team_rank() - lane;
         first < num_rows; first += step) {
      const std::int64_t row = first + lane;
      const bool any = row < num_rows;
      const int level = any ? level_of[row] : 0;
      const std::int64_t value = any ? pattern.u_row_map(row) : 0;
      if (any)
        sum += pattern.lower(row) * ((pattern.length(row) + width - 1) / width);
      STRATA_IMPL_UNROLL
      for (int size = 0; size < most_sizes; ++size)
        if (values_of_piece[size] > 0) note(size, lane, any, value, level);
    }
    for (int mask = width / 2; mask > 0; mask /= 2) sum += lane_xor(sum, mask);
    if (lane == 0 && sum > 0) Kokkos::atomic_fetch_add(work, sum);
  }

 private:
  KOKKOS_INLINE_FUNCTION void note(int size, int lane, bool any,
                                   std::int64_t value, int level) const {
    const int piece =
        any ? static_cast<int>(value / values_of_piece[size]) : -1;
    int from = any ? num_levels - level : 0, to = any ? level + 1 : 0;
    const int of_first = lane_broadcast(piece, 0);
    const bool together = lane_ballot(any && piece != of_first) == 0;
    if (together)
      for (int mask = width / 2; mask > 0; mask /= 2) {
        const int other_from = lane_xor(from, mask),
                  other_to = lane_xor(to, mask);
        from = other_from > from ? other_from : from;
        to = other_to > to ? other_to : to;
      }
    if (!any || (together && lane != 0)) return;
    raise(levels[size] + piece, from);
    raise(levels[size] + num_pieces[size] + piece, to);
  }
  /// Few find a larger number than there is.
  KOKKOS_INLINE_FUNCTION static void raise(int* word, int number) {
    if (number > load_relaxed(word)) Kokkos::atomic_fetch_max(word, number);
  }
};

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

/// The rows' records.
struct FillRecipeRows {
  RecipePattern pattern;
  const int* row;
  const unsigned *work, *words;
  RecipeRow* rows;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const std::int64_t i = row[p];
    rows[p] = {static_cast<unsigned>(pattern.a_row_map(i)),
               static_cast<unsigned>(pattern.l_row_map(i)),
               static_cast<unsigned>(pattern.u_row_map(i)),
               work[p],
               words[p],
               static_cast<unsigned>(pattern.l_row_map(i) - i),
               static_cast<int>(pattern.length(i)),
               static_cast<int>(pattern.lower(i))};
  }
};

/// Tasks of rows in registers.
struct FillRecipeTasks {
  TaskStarts starts;
  int num_groups;
  std::int64_t num_rows;
  RecipeTask* tasks;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const int kind = RecipeShape::kind_of(starts.key[p]);
    if (kind == 0 || !starts.begins(p)) return;
    const int group = starts.group[p];
    const std::int64_t end =
        group + 1 < num_groups ? starts.start[group + 1] : num_rows;
    const int of_task = RecipeShape::rows(kind);
    tasks[starts.task_of[p]] = {
        static_cast<unsigned>(p),
        RecipeShape::shape(
            kind, end - p < of_task ? static_cast<int>(end - p) : of_task)};
  }
};

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

/// Rows and tasks of a plan, and pieces without tasks: a piece may have no row,
/// if one with more values than pieces have began in the piece before.
struct FillRecipe {
  FillRecipeRows rows;
  FillRecipeTasks tasks;
  RecipePiece* pieces;

  struct Rows {};
  KOKKOS_INLINE_FUNCTION void operator()(Rows, std::int64_t p) const {
    rows(p);
    tasks(p);
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

/// A plan of FactorByRecipe for one pattern on a GPU.
///
/// Rows in the order of level sets have most rows to choose from and hand over
/// through the second-level cache. Rows in pieces, with neighbours in a team's
/// scratch, hand over several times faster, but only the pieces whose rows'
/// level sets overlap work at once: they are taken where the work of a level
/// set, shared by these, is small.
///
/// Rows that registers do not hold are long ones: those of more than 256
/// entries, or of more than 32 where these are so few that the others should
/// not go without registers for their sake (see LongRowTerms).
///
/// Memory beside A: up to 40 bytes a row, 4 an entry left of the diagonal, and
/// the recipe: for each pair of a row in registers and an entry k of its lower
/// part, a byte (two where a row of U has more than 255 entries) for each entry
/// right of k; for long rows 4 bytes an entry and 8 a multiplication. An
/// elimination takes a value for each entry of U, and for long rows one for
/// each left of the diagonal (num_values).
template <class ExecutionSpace>
class EliminationRecipe {
  using Memory = typename ExecutionSpace::memory_space;
  using Pool = WorkPool<ExecutionSpace>;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

 public:
  /// @param longest_upper  the most entries of a row of U
  /// @throws IndexOverflowError if there is more than a plan can number
  static void require_size(std::size_t num_entries,
                           std::int64_t longest_upper) {
    require(num_entries < (std::size_t{1} << 32),
            "has " + std::to_string(num_entries) + " entries");
    require(longest_upper < (1 << 16), "has a row of " +
                                           std::to_string(longest_upper) +
                                           " entries from its diagonal on");
  }

  /// Waits for `exec`, and leaves work on it that uses the pool of `lower`,
  /// which has no more taken from it than before.
  /// @param A         square, with sorted rows, at least one
  /// @param patterns  of its factors
  /// @param lower     the graph of L, with its levels
  /// @throws IndexOverflowError, MemoryError
  template <class Scalar>
  EliminationRecipe(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                    const FactorPatterns<Scalar>& patterns,
                    const GraphWithLevels<ExecutionSpace>& lower)
      : longest_row_(patterns.longest_row),
        longest_upper_(patterns.longest_upper),
        wide_(longest_upper_ > 255),
        num_values_(static_cast<std::int64_t>(patterns.U.arrays.num_values)),
        num_pairs_(static_cast<std::int64_t>(patterns.L.arrays.num_values) -
                   A.rows()),
        num_levels_(lower.levels.num_levels) {
    const RecipePattern pattern{A.row_map, A.entries, patterns.L.arrays.row_map,
                                patterns.U.arrays.row_map};
    const std::int64_t n = A.rows();
    const int* const level_of = lower.levels.level_of.data();
    auto& pool = *lower.pool;
    const auto mark = pool.mark();
    shape_.most_of_row = choose_registers(exec, pattern, n);
    choose_pieces(exec, pool, pattern, level_of, n, sizeof(Scalar));
    if (wide_)
      make<std::uint64_t>(exec, pool, pattern, level_of, n);
    else
      make<std::uint32_t>(exec, pool, pattern, level_of, n);
    pool.give_back(mark);
  }

  /// Fills in the values of L and U, whose patterns are those of A's triangles.
  /// Enqueues on `exec`.
  template <class Scalar>
  void eliminate(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                 const NewTriangle<Scalar>& L, const NewTriangle<Scalar>& U,
                 Scalar* work, const SmallPivots<Scalar>& pivots) const {
    const EliminationArrays<Scalar> arrays{
        A,        L.arrays.row_map, U.arrays.row_map, U.arrays.entries,
        L.values, U.values};
    Kokkos::parallel_for(
        "Strata::IncompleteLu::reset", Range(exec, 0, num_values()),
        ResetRecipeElimination<Scalar>{{work, drawn_.data()}, fault_.data()});
    const bool any_long = long_rows_.any();
    const auto entries = static_cast<int>(shape_.most_of_row / 32);
    // Fewer registers than rows need would be too few, more leave less room for
    // other warps.
    if (wide_ && entries == 1)
      run<Scalar, std::uint64_t, 1, true>(exec, arrays, work, pivots);
    else if (wide_)
      run<Scalar, std::uint64_t, 8, true>(exec, arrays, work, pivots);
    else if (any_long && entries == 1)
      run<Scalar, std::uint32_t, 1, true>(exec, arrays, work, pivots);
    else if (any_long)
      run<Scalar, std::uint32_t, 8, true>(exec, arrays, work, pivots);
    else if (entries == 1)
      run<Scalar, std::uint32_t, 1, false>(exec, arrays, work, pivots);
    else if (entries == 2)
      run<Scalar, std::uint32_t, 2, false>(exec, arrays, work, pivots);
    else if (entries == 4)
      run<Scalar, std::uint32_t, 4, false>(exec, arrays, work, pivots);
    else
      run<Scalar, std::uint32_t, 8, false>(exec, arrays, work, pivots);
  }

  /// What eliminate() has found, as raise_factor_fault takes it: the first row
  /// with a pivot of zero or a value that is not finite. Waits for `exec`.
  std::int64_t first_fault(const ExecutionSpace& exec) const {
    std::int64_t first = no_factor_fault;
    copy_to_host(exec, fault_, &first);
    return first;
  }

  /// Where eliminate() notes that, in device memory.
  const std::int64_t* fault() const { return fault_.data(); }

  /// Of the work array of eliminate().
  std::int64_t num_values() const {
    return num_values_ + long_rows_.num_multipliers();
  }
  /// Of what is kept, but for the work array.
  std::size_t bytes() const { return bytes_ + long_rows_.bytes(); }

 private:
  static void require(bool can_plan, const std::string& problem) {
    if (!can_plan)
      throw IndexOverflowError(
          "A", problem + ", more than an elimination on a GPU can number",
          "factorise it on a host's execution space, or order its longest rows "
          "last");
  }

  static constexpr int warps = 512 / lane_width<ExecutionSpace>;
  static constexpr const char* label = "Strata::IncompleteLu::recipe";
  static constexpr const char* too_many_searches =
      "needs 2^34 searches for entries";

  /// Entries of a row that registers hold. Up to one row in fifty may be a long
  /// one for the sake of the others.
  std::int64_t choose_registers(const ExecutionSpace& exec,
                                const RecipePattern& pattern,
                                std::int64_t n) const {
    if (longest_row_ <= 32) return 32;
    std::int64_t longer = 0;
    Kokkos::parallel_reduce(label, Range(exec, 0, n),
                            CountLongerRows{pattern, 32}, longer);
    exec.fence();
    if (50 * longer <= n) return 32;
    for (const int most : {64, 128})
      if (longest_row_ <= most) return most;
    return 256;
  }

  /// Seen on an H200 in double, 15 systems: up to 20 registers' work of a level
  /// set for each piece that is active, a piece for each multiprocessor is
  /// best; else up to 30, four; else the order of level sets.
  void choose_pieces(const ExecutionSpace& exec, Pool& pool,
                     const RecipePattern& pattern, const int* level_of,
                     std::int64_t n, std::size_t scalar_bytes) {
    using Levels = PieceLevels<ExecutionSpace>;
    const auto capacity = static_cast<std::int64_t>(
        (native_scratch_bytes(exec) - 2048) / scalar_bytes);
    const std::int64_t multiprocessors = num_multiprocessors(exec);
    const struct {
      int pieces;
      double work;
    } choices[Levels::most_sizes] = {{1, 20}, {4, 30}};

    Levels look{pattern, level_of, n, num_levels_, {}, {}, {}, nullptr};
    std::int64_t words = 1;  // of 8 bytes: the work, then first and last levels
    for (int c = 0; c < Levels::most_sizes; ++c) {
      const std::int64_t wanted =
          (num_values_ - 1) / (choices[c].pieces * multiprocessors) + 1;
      // Of a piece no row but the last goes beyond its values.
      const std::int64_t values = std::min(wanted, capacity - longest_upper_);
      if (values < longest_upper_) continue;
      look.values_of_piece[c] = values;
      look.num_pieces[c] = static_cast<int>((num_values_ - 1) / values + 1);
      words += look.num_pieces[c];
    }
    if (words == 1) return;
    std::int64_t* const found = pool.zeros(static_cast<int>(words));
    look.work = found;
    std::int64_t at = 1;
    for (int c = 0; c < Levels::most_sizes; ++c) {
      look.levels[c] = reinterpret_cast<int*>(found + at);
      at += look.num_pieces[c];
    }
    const std::int64_t teams = std::min<std::int64_t>(
        (n - 1) / Levels::team_size + 1,
        std::int64_t{Levels::teams_of_multiprocessor} * multiprocessors);
    run_teams<Levels::teams_of_multiprocessor, Levels::team_size>(
        label, exec, static_cast<int>(teams), look, 0, false);
    std::vector<std::int64_t> on_host(static_cast<std::size_t>(words));
    copy_to_host(exec, Kokkos::View<std::int64_t*, Memory>(found, words),
                 on_host.data());
    const double work = static_cast<double>(on_host[0]);
    std::vector<int> all_levels(2 * static_cast<std::size_t>(words));
    std::memcpy(all_levels.data(), on_host.data() + 1,
                (on_host.size() - 1) * sizeof(std::int64_t));
    const int* levels = all_levels.data();
    for (int c = 0; c < Levels::most_sizes; ++c) {
      const int pieces = look.num_pieces[c];
      double active = 0;  // level sets of all pieces
      for (int p = 0; p < pieces; ++p)
        if (levels[pieces + p] > 0)
          active += levels[p] + levels[pieces + p] - num_levels_;
      levels += 2 * pieces;
      if (pieces == 0 || work > choices[c].work * active) continue;
      values_of_piece_ = look.values_of_piece[c];
      arrays_.in_scratch = true;
      return;
    }
  }

  /// @param level_of  by row
  template <class Word>
  void make(const ExecutionSpace& exec, Pool& pool,
            const RecipePattern& pattern, const int* level_of, std::int64_t n) {
    std::uint64_t* key = pool.template take<std::uint64_t>(n);
    int* row = pool.template take<int>(n);
    const int level_bits = bits_for(num_levels_ - 1);
    const std::int64_t most_pieces =
        values_of_piece_ > 0 ? (num_values_ - 1) / values_of_piece_ + 1 : 1;
    Kokkos::parallel_for(label, Range(exec, 0, n),
                         RecipeKeys{pattern, level_of, values_of_piece_, shape_,
                                    level_bits, key, row});
    sort_by_key_within(exec, key, row, n,
                       RecipeKeys::kind_bits + level_bits +
                           bits_for(static_cast<int>(most_pieces - 1)),
                       pool.template take<char>(static_cast<std::int64_t>(
                           sort_by_key_bytes(exec, n))));

    RecipeStarts starts{};
    starts.num_rows = n;
    starts.pivot = pool.template take<unsigned>(n);
    starts.group = {key, pool.template take<int>(n),
                    pool.template take<int>(n)};
    starts.work = {pattern, row, pool.template take<unsigned>(n + 1), n};
    starts.word = {pattern, key, row, pool.template take<unsigned>(n)};
    const auto counted = pool.template view<std::int64_t>(RecipeTotals::size);
    starts.totals = counted.data();
    int* const task_of = pool.template take<int>(n);
    FusedStages<ExecutionSpace> stages(exec, pool);
    stages.run(label, starts, SumStage<RecipeStarts::Groups>{n},
               SumStage<RecipeStarts::Work>{n},
               SumStage<RecipeStarts::Words>{n});
    if (longest_row_ > shape_.most_of_row) {
      require(longest_row_ < RecipeTask::most_entries,
              "has a row of " + std::to_string(longest_row_) + " entries");
      require(
          long_rows_.find(exec, pool, pattern, key, row, n, starts.word.words),
          too_many_searches);
      long_rows_.list(exec, pool, starts.pivot, num_values_, most_terms());
    }
    starts.task = {key,
                   starts.group.group,
                   starts.group.start,
                   long_rows_.any(),
                   long_rows_.tasks(),
                   task_of};
    stages.run(label, starts, SumStage<RecipeStarts::Tasks>{n});
    std::int64_t totals[RecipeTotals::size];
    copy_to_host(exec, counted, totals);
    const std::int64_t tasks = totals[RecipeTotals::tasks],
                       words = totals[RecipeTotals::words];
    require(words < std::int64_t{1} << 32 &&
                tasks < std::numeric_limits<int>::max(),
            too_many_searches);

    const int of_piece = values_of_piece_ > 0 ? 0 : warps;
    const std::int64_t pieces =
        values_of_piece_ > 0 ? most_pieces : (tasks - 1) / of_piece + 1;
    take_memory(exec, n, tasks, pieces,
                (words * static_cast<std::int64_t>(sizeof(Word)) + 7) / 8);
    const FillRecipe fill{
        {pattern, row, starts.work.work, starts.word.words, rows_.data()},
        {starts.task, static_cast<int>(totals[RecipeTotals::groups]), n,
         tasks_.data()},
        pieces_.data()};
    stages.run(label, fill, EachStage<FillRecipe::Rows>{n},
               EachStage<FillRecipe::Pieces>{pieces});
    if (long_rows_.any()) long_rows_.make_tasks(exec, task_of, tasks_.data());
    Kokkos::parallel_for(
        label, Range(exec, 0, tasks),
        FillRecipePieces{key, starts.work.work, tasks_.data(), pieces_.data(),
                         static_cast<int>(tasks),
                         RecipeKeys::kind_bits + level_bits, of_piece});
    using Fill = FillRecipeWords<ExecutionSpace, Word>;
    const std::int64_t teams = std::min<std::int64_t>(
        (tasks - 1) / Fill::warps + 1, std::int64_t{1} << 20);
    run_teams<8, Fill::team_size>(
        label, exec, static_cast<int>(teams),
        Fill{pattern, rows_.data(), tasks_.data(), starts.pivot,
             sources_.data(), reinterpret_cast<Word*>(words_.data()),
             static_cast<int>(tasks), !long_rows_.listed()},
        0, false);
    arrays_.rows = rows_.data();
    arrays_.tasks = tasks_.data();
    arrays_.pieces = pieces_.data();
    arrays_.sources = sources_.data();
    arrays_.words = words_.data();
    arrays_.term_start = long_rows_.term_start();
    arrays_.terms = long_rows_.terms();
    arrays_.num_pieces = static_cast<unsigned>(pieces);
    if (arrays_.in_scratch)
      capacity_ = static_cast<int>(values_of_piece_ + longest_upper_);
  }
  void take_memory(const ExecutionSpace& exec, std::int64_t n,
                   std::int64_t tasks, std::int64_t pieces,
                   std::int64_t words) {
    storage_ = make_plan_storage<Memory>(exec, label, [&](auto& storage) {
      storage.take(rows_, n);
      storage.take(pieces_, pieces);
      storage.take(tasks_, tasks);
      storage.take(words_, words);
      storage.take(fault_, 1);
      storage.take(drawn_, 1);
      storage.take(sources_, num_pairs_);
      bytes_ = storage.bytes();
    });
  }
  /// Of long rows: more take too much memory.
  std::int64_t most_terms() const {
    return std::min<std::int64_t>(
        std::max<std::int64_t>(std::int64_t{1} << 20,
                               4 * (num_values_ + num_pairs_)),
        std::numeric_limits<int>::max() - 1);
  }

  template <class Scalar, class Word, int most, bool long_rows>
  void run(const ExecutionSpace& exec, const EliminationArrays<Scalar>& arrays,
           Scalar* work, const SmallPivots<Scalar>& pivots) const {
    using Factor =
        FactorByRecipe<Scalar, ExecutionSpace, Word, most, long_rows>;
    const Factor factor{arrays,        arrays_,   work,  drawn_.data(),
                        fault_.data(), capacity_, pivots};
    const std::int64_t teams = std::int64_t{num_multiprocessors(exec)} *
                               Factor::teams_of_multiprocessor;
    run_teams<Factor::teams_of_multiprocessor, Factor::team_size>(
        "Strata::IncompleteLu::eliminate", exec,
        static_cast<int>(std::min<std::int64_t>(teams, arrays_.num_pieces)),
        factor, arrays_.in_scratch ? Factor::bytes_for(capacity_) : 0, false);
  }

  std::int64_t longest_row_, longest_upper_;
  RecipeShape shape_;
  bool wide_;
  std::int64_t num_values_, num_pairs_, values_of_piece_ = 0;
  int num_levels_, capacity_ = 0;
  RecipeArrays arrays_;
  LongRowTerms<ExecutionSpace> long_rows_;
  typename PlanStorage<Memory>::Block storage_;  // of what follows
  std::size_t bytes_ = 0;
  Kokkos::View<RecipeRow*, Memory> rows_;
  Kokkos::View<RecipeTask*, Memory> tasks_;
  Kokkos::View<RecipePiece*, Memory> pieces_;
  Kokkos::View<unsigned*, Memory> sources_;
  Kokkos::View<std::uint64_t*, Memory> words_;
  Kokkos::View<unsigned*, Memory> drawn_;
  Kokkos::View<std::int64_t*, Memory> fault_;
};

}  // namespace Detail
}  // namespace Strata

#endif
