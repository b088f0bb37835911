// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_ELIMINATION_RECIPE_HPP
#define STRATA_KERNELS_FACTORIZATION_ELIMINATION_RECIPE_HPP

#include <Strata_TriangleGraph.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Sort.hpp>
#include <core/matrix/TriangleImplementation.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <kernels/factorization/FactorByRecipe.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/factorization/LongRowTerms.hpp>
#include <kernels/factorization/RecipePattern.hpp>
#include <limits>
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

struct LongestUpperRow {
  RecipePattern pattern;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& most) const {
    const std::int64_t length = pattern.upper(row);
    if (length > most) most = length;
  }
};

/// First and last level set of the rows of each piece, and the work of all: the
/// registers of a lane that it takes to subtract all pairs' rows.
template <class MemorySpace>
struct PieceLevels {
  RecipePattern pattern;
  Kokkos::View<const int*, MemorySpace> level_of;
  std::int64_t values_of_piece;
  int* first;  // by piece; the last behind them
  int num_pieces;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& work) const {
    const std::int64_t piece = pattern.u_row_map(row) / values_of_piece;
    const int level = level_of(row);
    Kokkos::atomic_fetch_min(first + piece, level);
    Kokkos::atomic_fetch_max(first + num_pieces + piece, level);
    work += pattern.lower(row) * ((pattern.length(row) + 31) / 32);
  }
};

/// What rows are sorted by: piece, level set, kind.
template <class MemorySpace>
struct RecipeKeys {
  RecipePattern pattern;
  Kokkos::View<const int*, MemorySpace> level_of;
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
             static_cast<std::uint64_t>(level_of(i)) << kind_bits |
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

/// The rows' records, and where their pivots are in the work array, by row.
struct FillRecipeRows {
  RecipePattern pattern;
  const int* row;
  const unsigned *work, *words;
  RecipeRow* rows;
  unsigned* pivot;
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
    pivot[i] = work[p];
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
/// Memory beside A: up to 40 bytes a row, 4 an entry left of the diagonal, a
/// value for each of U, and the recipe: for each pair of a row in registers and
/// an entry k of its lower part, a byte (two where a row of U has more than 255
/// entries) for each entry right of k; for long rows 4 bytes an entry, a value
/// for each left of the diagonal, and 8 bytes a multiplication.
template <class ExecutionSpace>
class EliminationRecipe {
  using Memory = typename ExecutionSpace::memory_space;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

 public:
  /// Whether a plan can count what there is.
  template <class Scalar>
  static bool can_plan(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                       const NewTriangle<Scalar>& U, std::int64_t& longest) {
    longest = longest_upper_row(
        exec, {A.row_map, A.entries, U.arrays.row_map, U.arrays.row_map});
    return A.num_values < (std::size_t{1} << 32) && longest < (1 << 16);
  }

  /// @param A  square, with sorted rows, at least one
  /// @param longest_upper  what can_plan found
  template <class Scalar>
  EliminationRecipe(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                    const NewTriangle<Scalar>& L, const NewTriangle<Scalar>& U,
                    std::int64_t longest_row, std::int64_t longest_upper)
      : longest_row_(longest_row),
        wide_(longest_upper > 255),
        num_values_(static_cast<std::int64_t>(U.arrays.num_values)),
        num_pairs_(static_cast<std::int64_t>(A.num_values) - num_values_) {
    const RecipePattern pattern{A.row_map, A.entries, L.arrays.row_map,
                                U.arrays.row_map};
    const std::int64_t n = A.rows();
    TriangleInput lower;
    lower.diag = Diag::unit;
    lower.take_triangle = true;
    const auto graph =
        triangle_graph(exec, A.row_map, A.entries, A.stored_values(), n, lower);
    const auto order = order_by_level(exec, graph, WithinLevel::ascending);
    shape_.most_of_row = choose_registers(exec, pattern, n);
    choose_pieces(exec, pattern, order, n, longest_upper, sizeof(Scalar));
    if (wide_)
      make<std::uint64_t>(exec, pattern, order, n);
    else
      make<std::uint32_t>(exec, pattern, order, n);
    drawn_ = make_unfilled<Kokkos::View<unsigned*, Memory>>(
        "Strata::IncompleteLu::drawn", 1);
    fault_ = make_unfilled<Kokkos::View<std::int64_t*, Memory>>(
        "Strata::IncompleteLu::fault", 1);
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

  /// False where the recipe has more words than a plan can number: it can't be
  /// used then.
  bool made() const { return made_; }
  /// Of the work array of eliminate().
  std::int64_t num_values() const {
    return num_values_ + long_rows_.num_multipliers();
  }
  /// Of what is kept, but for the work array.
  std::size_t bytes() const {
    return rows_.span() * sizeof(RecipeRow) +
           tasks_.span() * sizeof(RecipeTask) +
           pieces_.span() * sizeof(RecipePiece) +
           sources_.span() * sizeof(unsigned) +
           words_.span() * sizeof(std::uint64_t) + long_rows_.bytes();
  }

 private:
  static constexpr int warps = 512 / lane_width<ExecutionSpace>;
  static constexpr const char* label = "Strata::IncompleteLu::recipe";

  static std::int64_t longest_upper_row(const ExecutionSpace& exec,
                                        const RecipePattern& pattern) {
    std::int64_t longest = 0;
    const auto rows =
        static_cast<std::int64_t>(pattern.a_row_map.extent(0)) - 1;
    Kokkos::parallel_reduce(label, Range(exec, 0, rows),
                            LongestUpperRow{pattern},
                            Kokkos::Max<std::int64_t>(longest));
    exec.fence();
    return longest;
  }

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

  struct Pieces {
    std::int64_t values;  // of each, but for its last row
    double active;        // at once, in the mean over level sets
    double work;          // registers of a lane, of all pairs
  };
  template <class Order>
  Pieces look_at_pieces(const ExecutionSpace& exec,
                        const RecipePattern& pattern, const Order& order,
                        std::int64_t n, std::int64_t values) const {
    const auto pieces = static_cast<int>((num_values_ - 1) / values + 1);
    const auto levels = make_unfilled<Kokkos::View<int*, Memory>>(
        label, 2 * std::int64_t{pieces});
    using Kokkos::make_pair;
    Kokkos::deep_copy(exec, Kokkos::subview(levels, make_pair(0, pieces)),
                      std::numeric_limits<int>::max());
    Kokkos::deep_copy(
        exec, Kokkos::subview(levels, make_pair(pieces, 2 * pieces)), -1);
    std::int64_t work = 0;
    Kokkos::parallel_reduce(label, Range(exec, 0, n),
                            PieceLevels<Memory>{pattern, order.level_of, values,
                                                levels.data(), pieces},
                            work);
    const auto on_host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), levels);
    double active = 0;
    for (int p = 0; p < pieces; ++p)
      if (on_host(p) <= on_host(pieces + p))
        active += on_host(pieces + p) - on_host(p) + 1;
    return {values, active / order.num_levels(), static_cast<double>(work)};
  }

  /// Seen on an H200 in double, 15 systems: up to 20 registers' work of a level
  /// set for each piece that is active, a piece for each multiprocessor is
  /// best; else up to 30, four; else the order of level sets.
  template <class Order>
  void choose_pieces(const ExecutionSpace& exec, const RecipePattern& pattern,
                     const Order& order, std::int64_t n,
                     std::int64_t longest_upper, std::size_t scalar_bytes) {
    const auto capacity = static_cast<std::int64_t>(
        (native_scratch_bytes(exec) - 2048) / scalar_bytes);
    const std::int64_t multiprocessors = num_multiprocessors(exec);
    const struct {
      int pieces;
      double work;
    } choices[] = {{1, 20}, {4, 30}};
    for (const auto& choice : choices) {
      const std::int64_t wanted =
          (num_values_ - 1) / (choice.pieces * multiprocessors) + 1;
      // Of a piece no row but the last goes beyond its values.
      const std::int64_t values = std::min(wanted, capacity - longest_upper);
      if (values < longest_upper) continue;
      const Pieces found = look_at_pieces(exec, pattern, order, n, values);
      if (found.work / order.num_levels() / found.active > choice.work)
        continue;
      values_of_piece_ = values;
      arrays_.in_scratch = true;
      return;
    }
  }

  template <class Word, class Order>
  void make(const ExecutionSpace& exec, const RecipePattern& pattern,
            const Order& order, std::int64_t n) {
    WorkPool<ExecutionSpace> pool(
        exec, static_cast<std::size_t>(n) * 52 + sort_by_key_bytes(exec, n));
    std::uint64_t* key = pool.template take<std::uint64_t>(n);
    int* row = pool.template take<int>(n);
    const int level_bits = bits_for(order.num_levels() - 1);
    const std::int64_t most_pieces =
        values_of_piece_ > 0 ? (num_values_ - 1) / values_of_piece_ + 1 : 1;
    using Keys = RecipeKeys<Memory>;
    Kokkos::parallel_for(label, Range(exec, 0, n),
                         Keys{pattern, order.level_of, values_of_piece_, shape_,
                              level_bits, key, row});
    sort_by_key_within(exec, key, row, n,
                       Keys::kind_bits + level_bits +
                           bits_for(static_cast<int>(most_pieces - 1)),
                       pool.template take<char>(static_cast<std::int64_t>(
                           sort_by_key_bytes(exec, n))));

    int* const group = pool.template take<int>(n);
    int* const start = pool.template take<int>(n);
    int* const task_of = pool.template take<int>(n);
    unsigned* const work = pool.template take<unsigned>(n + 1);
    unsigned* const word = pool.template take<unsigned>(n);
    unsigned* const pivot = pool.template take<unsigned>(n);
    std::int64_t groups = 0, tasks = 0, values = 0, words = 0;
    Kokkos::parallel_scan(label, Range(exec, 0, n),
                          GroupStarts{key, group, start}, groups);
    Kokkos::parallel_scan(label, Range(exec, 0, n),
                          WorkStarts{pattern, row, work, n}, values);
    Kokkos::parallel_scan(label, Range(exec, 0, n),
                          WordStarts{pattern, key, row, word}, words);
    made_ = longest_row_ < RecipeTask::most_entries &&
            (longest_row_ <= shape_.most_of_row ||
             long_rows_.find(exec, pool, pattern, key, row, n, word));
    exec.fence();
    made_ = made_ && words < std::int64_t{1} << 32;
    if (!made_) return;
    rows_ = make_unfilled<decltype(rows_)>(label, n);
    Kokkos::parallel_for(
        label, Range(exec, 0, n),
        FillRecipeRows{pattern, row, work, word, rows_.data(), pivot});
    long_rows_.list(exec, pool, pivot, num_values_, most_terms());
    const TaskStarts starts{
        key, group, start, long_rows_.any(), long_rows_.tasks(), task_of};
    Kokkos::parallel_scan(label, Range(exec, 0, n), starts, tasks);
    exec.fence();
    made_ = tasks < std::numeric_limits<int>::max();
    if (!made_) return;
    tasks_ = make_unfilled<decltype(tasks_)>(label, tasks);
    sources_ = make_unfilled<decltype(sources_)>(label, num_pairs_);
    words_ = make_unfilled<decltype(words_)>(
        label, (words * static_cast<std::int64_t>(sizeof(Word)) + 7) / 8);
    Kokkos::parallel_for(
        label, Range(exec, 0, n),
        FillRecipeTasks{starts, static_cast<int>(groups), n, tasks_.data()});
    long_rows_.make_tasks(exec, task_of, tasks_.data());
    const int of_piece = values_of_piece_ > 0 ? 0 : warps;
    const std::int64_t pieces =
        values_of_piece_ > 0 ? most_pieces : (tasks - 1) / of_piece + 1;
    pieces_ = make_unfilled<decltype(pieces_)>(label, pieces);
    // A piece may have no row: one with more values than pieces have began in
    // the piece before.
    Kokkos::deep_copy(exec, pieces_, RecipePiece{0, 0, 0, 0});
    Kokkos::parallel_for(
        label, Range(exec, 0, tasks),
        FillRecipePieces{key, work, tasks_.data(), pieces_.data(),
                         static_cast<int>(tasks), Keys::kind_bits + level_bits,
                         of_piece});
    using Fill = FillRecipeWords<ExecutionSpace, Word>;
    const std::int64_t teams = std::min<std::int64_t>(
        (tasks - 1) / Fill::warps + 1, std::int64_t{1} << 20);
    run_teams<8, Fill::team_size>(
        label, exec, static_cast<int>(teams),
        Fill{pattern, rows_.data(), tasks_.data(), pivot, sources_.data(),
             reinterpret_cast<Word*>(words_.data()), static_cast<int>(tasks),
             !long_rows_.listed()},
        0, false);
    arrays_.rows = rows_.data();
    arrays_.tasks = tasks_.data();
    arrays_.pieces = pieces_.data();
    arrays_.sources = sources_.data();
    arrays_.words = words_.data();
    arrays_.term_start = long_rows_.term_start();
    arrays_.terms = long_rows_.terms();
    arrays_.num_pieces = static_cast<unsigned>(pieces);
    capacity_ = 0;
    if (arrays_.in_scratch) {
      const auto on_host =
          Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), pieces_);
      for (std::int64_t p = 0; p < pieces; ++p)
        capacity_ = std::max(
            capacity_,
            static_cast<int>(on_host(p).end_value - on_host(p).first_value));
    }
    exec.fence();
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

  std::int64_t longest_row_;
  RecipeShape shape_;
  bool wide_, made_ = false;
  std::int64_t num_values_, num_pairs_, values_of_piece_ = 0;
  int capacity_ = 0;
  RecipeArrays arrays_;
  LongRowTerms<ExecutionSpace> long_rows_;
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
