// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_LONG_ROW_TERMS_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_LONG_ROW_TERMS_HPP

#include <algorithm>
#include <core/device/Launch.hpp>
#include <core/device/Sort.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/FindColumn.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/WorkPool.hpp>
#include <kernels/factorization/numeric/RecipeArrays.hpp>
#include <kernels/factorization/numeric/RecipePattern.hpp>

namespace Strata {
namespace Detail {

/// The long rows among the rows in the order of the plan: their places, and by
/// place which of them a row is.
struct FindLongRows {
  const std::uint64_t* key;
  int *place, *number;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p, std::int64_t& sum,
                                         bool last) const {
    if (!RecipeShape::is_long(key[p])) return;
    if (last) {
      place[sum] = static_cast<int>(p);
      number[p] = static_cast<int>(sum);
    }
    ++sum;
  }
};

/// What is counted of each long row.
enum class OfLongRow {
  pairs,
  words,  ///< of RecipeArrays::term_start
  parts   ///< as many entries as a warp has lanes, at the end fewer
};

/// Sums over the long rows before each, and over all at the end.
template <OfLongRow what>
struct LongRowStarts {
  RecipePattern pattern;
  const int *row, *place;
  std::int64_t num_rows;
  std::int64_t* start;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t r, std::int64_t& sum,
                                         bool last) const {
    if (last) start[r] = sum;
    const std::int64_t i = row[place[r]];
    if constexpr (what == OfLongRow::pairs) {
      sum += pattern.lower(i);
    } else if constexpr (what == OfLongRow::words) {
      sum += pattern.length(i) + 2;
    } else {
      sum += (pattern.length(i) + gpu_lane_width - 1) / gpu_lane_width;
    }
    if (last && r + 1 == num_rows) start[num_rows] = sum;
  }
};

/// Hands each long row its first word.
struct TakeLongRowWords {
  const int* place;
  const std::int64_t* first_word;
  unsigned* words;  // by place
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t r) const {
    words[place[r]] = static_cast<unsigned>(first_word[r]);
  }
};

/// Sums of what each has, in place.
struct StartsOfCounts {
  std::int64_t* counts;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k, std::int64_t& sum,
                                         bool last) const {
    const std::int64_t count = counts[k];
    if (last) counts[k] = sum;
    sum += count;
  }
};

/// The terms of long rows, pair by pair: counted, or listed with the words of
/// RecipeArrays::term_start that stand for their entries. A team takes a row,
/// each of its warps a pair.
template <class ExecutionSpace, bool lists>
struct TermsOfPairs {
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int team_size = 256;
  static constexpr int warps = team_size / width;
  RecipePattern pattern;
  const int *row, *place;  // by place; by long row
  std::int64_t num_rows;
  const std::int64_t *first_pair, *first_word;  // by long row
  std::int64_t* pairs;    // their terms; where lists, the first of them
  const unsigned* pivot;  // by row
  std::int64_t num_values;
  std::uint64_t* word;
  int* number;
  RecipeTerm* terms;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int warp = team.team_rank() / width, lane = team.team_rank() % width;
    for (std::int64_t r = team.league_rank(); r < num_rows;
         r += team.league_size()) {
      const std::int64_t i = row[place[r]], lower = pattern.lower(i);
      for (std::int64_t k = warp; k < lower; k += warps) visit(r, i, k, lane);
    }
  }

 private:
  /// The shorter one of row k of U and what row i has right of k is searched
  /// for in the other one.
  KOKKOS_INLINE_FUNCTION void visit(std::int64_t r, std::int64_t i,
                                    std::int64_t k, int lane) const {
    const std::int64_t begin = pattern.a_row_map(i),
                       end = pattern.a_row_map(i + 1), right = begin + k + 1;
    const std::int64_t other = pattern.a_entries(right - 1),
                       diagonal = pattern.diagonal(other),
                       other_end = pattern.a_row_map(other + 1);
    const bool own = end - right < other_end - diagonal - 1;
    const std::int64_t from = own ? right : diagonal + 1,
                       to = own ? end : other_end;
    const std::int64_t low = own ? diagonal + 1 : right,
                       high = own ? other_end : end;
    const std::int64_t pair = first_pair[r] + k;
    std::int64_t found = lists ? pairs[pair] : 0;
    for (std::int64_t first = from; first < to; first += width) {
      const std::int64_t at = first + lane;
      const std::int64_t match =
          at < to ? pattern.find(low, high, pattern.a_entries(at)) : -1;
      const LaneMask matches = lane_ballot(match >= 0);
      if constexpr (lists) {
        if (match >= 0) {
          const std::int64_t term =
              found + count_bits(matches & ((1u << lane) - 1u));
          const std::int64_t e = (own ? at : match) - begin,
                             offset = (own ? match : at) - diagonal;
          word[term] = static_cast<std::uint64_t>(first_word[r] + 1 + e);
          number[term] = static_cast<int>(term);
          terms[term] = {static_cast<unsigned>(num_values + pair),
                         pivot[other] + static_cast<unsigned>(offset)};
        }
      }
      found += count_bits(matches);
    }
    if (!lists && lane == 0) pairs[pair] = found;
  }
};

/// Terms in the order of `number`.
struct TakeTerms {
  const int* number;
  const RecipeTerm* from;
  RecipeTerm* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t t) const {
    to[t] = from[number[t]];
  }
};

/// RecipeArrays::term_start of long rows, of sorted words.
struct FillTermStarts {
  const std::int64_t *first_pair, *first_word;  // by long row
  std::int64_t num_rows, num_values;
  const std::uint64_t* word;
  std::int64_t num_terms;
  unsigned* term_start;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    for (std::int64_t r = team.league_rank(); r < num_rows;
         r += team.league_size())
      for (std::int64_t w = first_word[r] + team.team_rank();
           w < first_word[r + 1]; w += team.team_size())
        term_start[w] = w == first_word[r]
                            ? static_cast<unsigned>(num_values + first_pair[r])
                            : static_cast<unsigned>(first_from(
                                  std::int64_t{0}, num_terms,
                                  [&](std::int64_t t) { return word[t]; },
                                  static_cast<std::uint64_t>(w)));
  }
};

/// Goes through the parts of long rows: counts their tasks, or makes them. An
/// entry gets so many lanes that each has four terms at most, if a warp has as
/// many.
template <bool makes>
struct TasksOfLongRows {
  static constexpr std::int64_t terms_of_lane = 4;
  RecipePattern pattern;
  const int *row, *place;
  const std::int64_t *first_word, *first_part;  // by long row
  std::int64_t num_rows;
  const unsigned* term_start;
  std::int64_t* parts;  // tasks of each; where makes, those before it
  const int* task_of;   // the first one, by place
  RecipeTask* tasks;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    for (std::int64_t r = team.league_rank(); r < num_rows;
         r += team.league_size()) {
      const std::int64_t length = pattern.length(row[place[r]]);
      for (std::int64_t part = first_part[r] + team.team_rank();
           part < first_part[r + 1]; part += team.team_size()) {
        const std::int64_t first = gpu_lane_width * (part - first_part[r]);
        take(r, part, first,
             first + gpu_lane_width < length ? gpu_lane_width : length - first);
      }
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void take(std::int64_t r, std::int64_t part,
                                   std::int64_t first,
                                   std::int64_t entries) const {
    const unsigned* const starts = term_start + first_word[r] + 1 + first;
    std::int64_t most = 0;
    for (std::int64_t e = 0; e < entries; ++e) {
      const auto count = static_cast<std::int64_t>(starts[e + 1] - starts[e]);
      if (count > most) most = count;
    }
    int log_lanes = 0;
    while (log_lanes < RecipeShape::width_log &&
           terms_of_lane << log_lanes < most)
      ++log_lanes;
    const std::int64_t of_task = gpu_lane_width >> log_lanes;
    const std::int64_t count = (entries + of_task - 1) / of_task;
    if constexpr (makes) {
      RecipeTask* const own =
          tasks + task_of[place[r]] + (parts[part] - parts[first_part[r]]);
      for (std::int64_t t = 0; t < count; ++t)
        own[t] = RecipeTask::of_long_row(static_cast<unsigned>(place[r]),
                                         static_cast<int>(first + t * of_task),
                                         log_lanes);
    } else {
      parts[part] = count;
    }
  }
};

/// A task for each long row.
struct TasksOfWholeRows {
  const int *place, *task_of;
  RecipeTask* tasks;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t r) const {
    tasks[task_of[place[r]]] = RecipeTask::of_long_row(
        static_cast<unsigned>(place[r]), 0, RecipeShape::width_log);
  }
};

/// How many tasks the long row at a place has: one, where there are no parts.
struct LongRowTasks {
  const int* number;  // by place
  const std::int64_t *first_part, *parts;
  std::int64_t num_parts, num_tasks;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t place) const {
    if (!parts) return 1;
    const std::int64_t r = number[place], end = first_part[r + 1];
    return (end < num_parts ? parts[end] : num_tasks) - parts[first_part[r]];
  }
};

/// What a plan of FactorByRecipe has of its long rows: for each entry a list of
/// the terms that it is less, in the order of their columns; nothing, where
/// there are too many terms.
///
/// Cost: a search for each entry of the shorter one of two lists, those right
/// of column k in row k of U and in the long row, twice for each pair; a sort
/// of the terms. Memory: 8 bytes a term, 4 an entry; 40 bytes a term while they
/// are sorted.
template <class ExecutionSpace>
class LongRowTerms {
  using Memory = typename ExecutionSpace::memory_space;
  using Range = RangeOf<ExecutionSpace>;
  using Pool = WorkPool<ExecutionSpace>;

 public:
  LongRowTerms() = default;

  /// Finds the long rows. Waits for `exec`.
  /// @param key, row  by place in the order of the plan
  /// @param words     by place: gets the first word of each long row
  /// @returns whether a plan can number what there is
  bool find(const ExecutionSpace& exec, Pool& pool,
            const RecipePattern& pattern, const std::uint64_t* key,
            const int* row, std::int64_t n, unsigned* words) {
    pattern_ = pattern;
    row_ = row;
    place_ = pool.template take<int>(n);
    number_ = pool.template take<int>(n);
    Kokkos::parallel_scan(label, Range(exec, 0, n),
                          FindLongRows{key, place_, number_}, num_rows_);
    exec.fence();
    if (num_rows_ == 0) return true;
    num_pairs_ = sum<OfLongRow::pairs>(exec, pool, first_pair_);
    num_words_ = sum<OfLongRow::words>(exec, pool, first_word_);
    num_parts_ = sum<OfLongRow::parts>(exec, pool, first_part_);
    exec.fence();
    for_each_index(label, exec, num_rows_,
                   TakeLongRowWords{place_, first_word_, words});
    return num_words_ < std::int64_t{1} << 32;
  }

  /// Lists the terms, unless there are more than `most_terms`, and counts
  /// tasks. Waits for `exec`.
  /// @param pivot       where it is in the work array, by row
  /// @param num_values  of U in the work array: multipliers follow
  void list(const ExecutionSpace& exec, Pool& pool, const unsigned* pivot,
            std::int64_t num_values, std::int64_t most_terms) {
    if (num_rows_ == 0) return;
    std::int64_t* const pairs = pool.template take<std::int64_t>(num_pairs_);
    TermsOfPairs<ExecutionSpace, false> counts{
        pattern_, row_,  place_,     num_rows_, first_pair_, first_word_,
        pairs,    pivot, num_values, nullptr,   nullptr,     nullptr};
    run<counts.team_size>(exec, counts);
    std::int64_t num_terms = 0;
    Kokkos::parallel_scan(label, Range(exec, 0, num_pairs_),
                          StartsOfCounts{pairs}, num_terms);
    exec.fence();
    if (num_terms > most_terms) return;

    const auto mark = pool.mark();
    std::uint64_t* word = pool.template take<std::uint64_t>(num_terms);
    int* number = pool.template take<int>(num_terms);
    RecipeTerm* const unsorted = pool.template take<RecipeTerm>(num_terms);
    run<counts.team_size>(
        exec, TermsOfPairs<ExecutionSpace, true>{
                  pattern_, row_, place_, num_rows_, first_pair_, first_word_,
                  pairs, pivot, num_values, word, number, unsorted});
    int bits = 0;
    while (num_words_ >> bits > 0) ++bits;
    // Stable: terms of an entry stay in the order of their columns.
    sort_by_key_within(exec, word, number, num_terms, bits,
                       pool.template take<char>(static_cast<std::int64_t>(
                           sort_by_key_bytes(exec, num_terms))));
    make_unfilled(terms_, label, num_terms);
    make_unfilled(term_start_, label, num_words_);
    for_each_index(label, exec, num_terms,
                   TakeTerms{number, unsorted, terms_.data()});
    run<256>(exec,
             FillTermStarts{first_pair_, first_word_, num_rows_, num_values,
                            word, num_terms, term_start_.data()});
    exec.fence();
    pool.give_back(mark);
    parts_ = pool.template take<std::int64_t>(num_parts_);
    run<256>(exec, tasks_of<false>(nullptr, nullptr));
    Kokkos::parallel_scan(label, Range(exec, 0, num_parts_),
                          StartsOfCounts{parts_}, num_tasks_);
    exec.fence();
  }
  /// Whether terms are listed; otherwise columns are looked up.
  bool listed() const { return term_start_.extent(0) > 0; }

  /// Makes the tasks of all long rows.
  /// @param task_of  the first one of each row, by place
  void make_tasks(const ExecutionSpace& exec, const int* task_of,
                  RecipeTask* tasks) const {
    if (listed())
      run<256>(exec, tasks_of<true>(task_of, tasks));
    else
      for_each_index(label, exec, num_rows_,
                     TasksOfWholeRows{place_, task_of, tasks});
  }

  LongRowTasks tasks() const {
    return {number_, first_part_, parts_, num_parts_, num_tasks_};
  }

  bool any() const { return num_rows_ > 0; }
  /// In the work array.
  std::int64_t num_multipliers() const { return listed() ? num_pairs_ : 0; }
  const unsigned* term_start() const { return term_start_.data(); }
  const RecipeTerm* terms() const { return terms_.data(); }
  std::size_t bytes() const {
    return terms_.span() * sizeof(RecipeTerm) +
           term_start_.span() * sizeof(unsigned);
  }

 private:
  static constexpr const char* label = "Strata::IncompleteLu::long_rows";

  template <OfLongRow what>
  std::int64_t sum(const ExecutionSpace& exec, Pool& pool,
                   std::int64_t*& start) const {
    start = pool.template take<std::int64_t>(num_rows_ + 1);
    std::int64_t all = 0;
    Kokkos::parallel_scan(
        label, Range(exec, 0, num_rows_),
        LongRowStarts<what>{pattern_, row_, place_, num_rows_, start}, all);
    return all;
  }
  template <int team_size, class Functor>
  void run(const ExecutionSpace& exec, const Functor& functor) const {
    run_teams<4, team_size>(
        label, exec,
        static_cast<int>(std::min<std::int64_t>(num_rows_, 1 << 16)), functor);
  }
  template <bool makes>
  TasksOfLongRows<makes> tasks_of(const int* task_of, RecipeTask* tasks) const {
    return {pattern_,
            row_,
            place_,
            first_word_,
            first_part_,
            num_rows_,
            term_start_.data(),
            parts_,
            task_of,
            tasks};
  }

  // Of the pool, by place or by long row, until the plan is made.
  RecipePattern pattern_;
  const int* row_ = nullptr;
  int *place_ = nullptr, *number_ = nullptr;
  std::int64_t *first_pair_ = nullptr, *first_word_ = nullptr,
               *first_part_ = nullptr, *parts_ = nullptr;
  std::int64_t num_rows_ = 0, num_pairs_ = 0, num_words_ = 0, num_parts_ = 0,
               num_tasks_ = 0;
  Kokkos::View<RecipeTerm*, Memory> terms_;
  Kokkos::View<unsigned*, Memory> term_start_;
};

}  // namespace Detail
}  // namespace Strata

#endif
