// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_ELIMINATION_RECIPE_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_ELIMINATION_RECIPE_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Sort.hpp>
#include <core/matrix/TriangleImplementation.hpp>
#include <core/memory/PlanStorage.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/numeric/FactorByRecipe.hpp>
#include <kernels/factorization/numeric/FillRecipe.hpp>
#include <kernels/factorization/numeric/LongRowTerms.hpp>
#include <kernels/factorization/numeric/RecipeOrder.hpp>
#include <kernels/factorization/numeric/RecipePattern.hpp>
#include <kernels/factorization/numeric/RecipePieces.hpp>
#include <kernels/factorization/symbolic/FactorPatterns.hpp>
#include <limits>
#include <string>

namespace Strata {
namespace Detail {

/// Makes values not ready, of which there is at least one, takes the tickets
/// back and forgets the last fault.
template <class Scalar>
struct ResetElimination {
  Scalar* values;
  unsigned* drawn;
  std::int64_t* fault;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    NotReady<Scalar>::reset(values + i);
    if (i > 0) return;
    *drawn = 0;
    *fault = no_fault;
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
  using Range = RangeOf<ExecutionSpace>;

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
    values_of_piece_ = choose_pieces<ExecutionSpace>(
        exec, pool, {pattern, level_of, n, num_levels_, {}, {}, {}, nullptr},
        num_values_, longest_upper_, sizeof(Scalar));
    arrays_.in_scratch = values_of_piece_ > 0;
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
    for_each_index(
        "Strata::IncompleteLu::reset", exec, num_values(),
        ResetElimination<Scalar>{work, drawn_.data(), fault_.data()});
    const bool any_long = long_rows_.any();
    const auto entries = static_cast<int>(shape_.most_of_row / width);
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
  /// with a pivot of zero or a value that is not finite.
  const Kokkos::View<std::int64_t*, Memory>& fault() const { return fault_; }

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

  static constexpr int width = gpu_lane_width, warps = 512 / width;
  static constexpr const char* label = "Strata::IncompleteLu::recipe";
  static constexpr const char* too_many_searches =
      "needs 2^34 searches for entries";

  /// Entries of a row that registers hold. Up to one row in fifty may be a long
  /// one for the sake of the others.
  std::int64_t choose_registers(const ExecutionSpace& exec,
                                const RecipePattern& pattern,
                                std::int64_t n) const {
    if (longest_row_ <= width) return width;
    std::int64_t longer = 0;
    Kokkos::parallel_reduce(label, Range(exec, 0, n),
                            CountLongerRows{pattern, width}, longer);
    exec.fence();
    if (50 * longer <= n) return width;
    for (const int most : {2 * width, 4 * width})
      if (longest_row_ <= most) return most;
    return 8 * width;
  }

  int level_bits() const { return bits_for(num_levels_ - 1); }
  std::int64_t most_pieces() const {
    return values_of_piece_ > 0 ? (num_values_ - 1) / values_of_piece_ + 1 : 1;
  }

  /// Sorts the rows, and finds long ones and where all begins.
  /// @param level_of  by row
  RecipeStarts order_rows(const ExecutionSpace& exec, Pool& pool,
                          FusedStages<ExecutionSpace>& stages,
                          const RecipePattern& pattern, const int* level_of,
                          std::int64_t n) {
    std::uint64_t* key = pool.template take<std::uint64_t>(n);
    int* row = pool.template take<int>(n);
    for_each_index(label, exec, n,
                   RecipeKeys{pattern, level_of, values_of_piece_, shape_,
                              level_bits(), key, row});
    sort_by_key_within(exec, key, row, n,
                       RecipeKeys::kind_bits + level_bits() +
                           bits_for(static_cast<int>(most_pieces() - 1)),
                       pool.template take<char>(static_cast<std::int64_t>(
                           sort_by_key_bytes(exec, n))));
    RecipeStarts starts{};
    starts.pattern = pattern;
    starts.num_rows = n;
    starts.key = key;
    starts.row = row;
    starts.pivot = pool.template take<unsigned>(n);
    starts.group = pool.template take<int>(n);
    starts.start = pool.template take<int>(n);
    starts.work = pool.template take<unsigned>(n + 1);
    starts.words = pool.template take<unsigned>(n);
    starts.totals = pool.template take<std::int64_t>(RecipeTotals::size);
    starts.task_of = pool.template take<int>(n);
    stages.run(label, starts, SumStage<RecipeStarts::Groups>{n},
               SumStage<RecipeStarts::Work>{n},
               SumStage<RecipeStarts::Words>{n});
    if (longest_row_ > shape_.most_of_row) {
      require(longest_row_ < RecipeTask::most_entries,
              "has a row of " + std::to_string(longest_row_) + " entries");
      require(long_rows_.find(exec, pool, pattern, key, row, n, starts.words),
              too_many_searches);
      long_rows_.list(exec, pool, starts.pivot, num_values_, most_terms());
    }
    starts.any_long = long_rows_.any();
    starts.long_rows = long_rows_.tasks();
    stages.run(label, starts, SumStage<RecipeStarts::Tasks>{n});
    return starts;
  }

  template <class Word>
  void make(const ExecutionSpace& exec, Pool& pool,
            const RecipePattern& pattern, const int* level_of, std::int64_t n) {
    FusedStages<ExecutionSpace> stages(exec, pool);
    const RecipeStarts starts =
        order_rows(exec, pool, stages, pattern, level_of, n);
    std::int64_t totals[RecipeTotals::size];
    copy_to_host(
        exec,
        Kokkos::View<std::int64_t*, Memory>(starts.totals, RecipeTotals::size),
        totals);
    const std::int64_t tasks = totals[RecipeTotals::tasks],
                       words = totals[RecipeTotals::words];
    require(words < std::int64_t{1} << 32 &&
                tasks < std::numeric_limits<int>::max(),
            too_many_searches);

    const int of_piece = values_of_piece_ > 0 ? 0 : warps;
    const std::int64_t pieces =
        values_of_piece_ > 0 ? most_pieces() : (tasks - 1) / of_piece + 1;
    take_memory(exec, n, tasks, pieces,
                (words * static_cast<std::int64_t>(sizeof(Word)) + 7) / 8);
    const FillRecipe fill{starts,
                          static_cast<int>(totals[RecipeTotals::groups]),
                          rows_.data(), tasks_.data(), pieces_.data()};
    stages.run(label, fill, EachStage<FillRecipe::Rows>{n},
               EachStage<FillRecipe::Pieces>{pieces});
    if (long_rows_.any())
      long_rows_.make_tasks(exec, starts.task_of, tasks_.data());
    for_each_index(
        label, exec, tasks,
        FillRecipePieces{starts.key, starts.work, tasks_.data(), pieces_.data(),
                         static_cast<int>(tasks),
                         RecipeKeys::kind_bits + level_bits(), of_piece});
    using Fill = FillRecipeWords<ExecutionSpace, Word>;
    const std::int64_t teams = std::min<std::int64_t>(
        (tasks - 1) / Fill::warps + 1, std::int64_t{1} << 20);
    run_teams<8, Fill::team_size>(
        label, exec, static_cast<int>(teams),
        Fill{pattern, rows_.data(), tasks_.data(), starts.pivot,
             sources_.data(), reinterpret_cast<Word*>(words_.data()),
             static_cast<int>(tasks), !long_rows_.listed()});
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
    run_native_teams<Factor::teams_of_multiprocessor, Factor::team_size>(
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
