// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_FACTOR_BY_RECIPE_HPP
#define STRATA_KERNELS_FACTORIZATION_FACTOR_BY_RECIPE_HPP

#include <core/device/Arithmetic.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Warp.hpp>
#include <kernels/factorization/EliminationArrays.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/factorization/RecipeArrays.hpp>
#include <kernels/factorization/SmallPivots.hpp>

namespace Strata {
namespace Detail {

/// Zero-fill incomplete elimination in one launch: row i of A, less l_ik times
/// row k of U for each entry k of its lower part, columns ascending. (The IKJ
/// form of Saad, Iterative Methods for Sparse Linear Systems, Algorithm 10.4.)
///
/// Teams draw tickets, pieces of the plan, until there are none left. The warps
/// of a team take the piece's tasks in turns. Lanes hold the entries of their
/// row in registers; the recipe tells each lane which entry of row k it needs.
/// U, with the reciprocals of its pivots, is handed over in `work`, and within
/// a piece in scratch as well; each value is its own flag (see NotReady). While
/// a warp waits for one pair, it asks for the next one, too. Rows that are
/// longer than the registers of a warp are eliminated in the factors' own
/// memory, and their columns looked up.
///
/// Why it can't deadlock, however few teams run at once. A ticket is drawn by a
/// team that runs, and the counter hands tickets out in order. In the order of
/// pieces, and of tasks within a piece, each row comes after those it needs.
/// Consider the first task that is not finished. If its piece has not been
/// drawn, some team has finished all it had and draws it. The team that has it
/// has warps that meet between pieces only; the one whose turn the task is has
/// finished the earlier ones of its own, and works on it. Its rows wait for
/// rows of earlier tasks (those of a task are of one level set), which are
/// finished; so this one is finished, too, and so on. Each entry of U is
/// published exactly once, whatever its value: only the reserved bits mean "not
/// ready". Warps that wait for long leave the execution units to others, as a
/// multiprocessor may serve the waiting ones first for ever.
///
/// Cost: for each pair of a row i and an entry k of its lower part, an entry of
/// row k of U for each entry of row i right of k that has a match.
///
/// @tparam Word  of the recipe, see RecipeWords
/// @tparam most  entries that a lane holds; there is no task with more. Rows
/// that
///               are longer than registers are looked for where it is
///               RecipeShape::most_entries alone, as lanes part on them: what a
///               warp does together takes longer in a kernel where they may
template <class Scalar, class ExecutionSpace, class Word, int most>
struct FactorByRecipe {
  using Value = NotReady<Scalar>;
  using Words = RecipeWords<Word>;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int team_size = 512;
  static constexpr int warps = team_size / width;
  static constexpr int teams_of_multiprocessor = most == 1 ? 2 : 1;

  EliminationArrays<Scalar> arrays;
  RecipeArrays recipe;
  Scalar* work;
  unsigned* drawn;      // tickets; 0 at the start
  std::int64_t* fault;  // the first one, see FactorChecks
  int capacity;         // values of scratch
  SmallPivots<Scalar> pivots;

  /// Kokkos aligns scratch to 8 bytes, which is not enough for all scalars.
  static constexpr std::size_t slack = alignof(Scalar) > 8 ? alignof(Scalar)
                                                           : 0;
  static KOKKOS_INLINE_FUNCTION std::size_t bytes_for(int values) {
    return values > 0
               ? sizeof(Scalar) * static_cast<std::size_t>(values) + slack
               : 0;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int warp = team.team_rank() / width, lane = team.team_rank() % width;
    Scalar* scratch = nullptr;
    if (recipe.in_scratch)
      scratch = aligned(team.team_scratch(0).get_shmem(bytes_for(capacity)));
    for (;;) {
      int drawn_here = 0;
      if (team.team_rank() == 0)
        drawn_here = static_cast<int>(Kokkos::atomic_fetch_add(drawn, 1u));
      // All warps are done with the scratch of the piece before.
      const auto ticket =
          static_cast<unsigned>(team_broadcast(team, drawn_here));
      if (ticket >= recipe.num_pieces) return;
      const RecipePiece piece = recipe.pieces[ticket];
      Held held{work, work, ~0u};
      if (recipe.in_scratch) {
        for (unsigned i = team.team_rank();
             i < piece.end_value - piece.first_value; i += team_size)
          Value::reset(scratch + i);
        team.team_barrier();
        held = {work, scratch, piece.first_value};
      }
      for (unsigned task = piece.first_task + warp; task < piece.end_task;
           task += warps)
        eliminate_task(recipe.tasks[task], lane, held);
    }
  }

 private:
  /// Where values of U are: those from `first` on in scratch.
  struct Held {
    Scalar *work, *scratch;
    unsigned first;
    KOKKOS_INLINE_FUNCTION Scalar* at(unsigned value) const {
      return value >= first ? scratch + (value - first) : work + value;
    }
  };

  KOKKOS_INLINE_FUNCTION static Scalar* aligned(void* scratch) {
    if constexpr (slack > 0) {
      const auto address = reinterpret_cast<std::uintptr_t>(scratch);
      return reinterpret_cast<Scalar*>((address + slack - 1) / slack * slack);
    } else {
      return static_cast<Scalar*>(scratch);
    }
  }

  KOKKOS_INLINE_FUNCTION void eliminate_task(const RecipeTask& task, int lane,
                                             const Held& held) const {
    RecipeRow row{0, 0, 0, 0, 0, 0, 0, 0};
    const int group = lane >> task.log_lanes();
    if (group < task.rows()) row = recipe.rows[task.first + group];
    switch (task.entries()) {
      case 1:
        return eliminate<1>(row, lane, task.log_lanes(), held);
      case 2:
        if constexpr (most >= 2) {
          eliminate<2>(row, lane, 5, held);
        }
        return;
      case 4:
        if constexpr (most >= 4) {
          eliminate<4>(row, lane, 5, held);
        }
        return;
      case 8:
        if constexpr (most >= 8) {
          eliminate<8>(row, lane, 5, held);
        }
        return;
      default:
        if constexpr (most == RecipeShape::most_entries) {
          eliminate_long(row, lane, held);
        }
    }
  }

  /// All lanes of a warp call this, those without a row with an empty one.
  template <int entries>
  KOKKOS_INLINE_FUNCTION void eliminate(const RecipeRow& row, int lane,
                                        int log_lanes, const Held& held) const {
    const int lanes = 1 << log_lanes, own = lane & (lanes - 1),
              first_lane = lane - own;
    Scalar value[entries];
    unsigned source[entries];
    Word now[entries], next[entries];
    // This lane's word of the first four pairs; it moves on from there.
    const Word* words = static_cast<const Word*>(recipe.words) + row.recipe +
                        static_cast<std::int64_t>(own) - 1;
    const auto word_of = [&](int r, int first_pair) {
      const int e = own + r * lanes;
      return (first_pair < row.lower) & (e > first_pair) & (e < row.length)
                 ? load_once(words + r * lanes)
                 : Word(0);
    };
    STRATA_IMPL_UNROLL
    for (int r = 0; r < entries; ++r) {
      const int e = own + r * lanes;
      now[r] = word_of(r, 0);
      value[r] =
          e < row.length ? load_once(arrays.A.values + row.a + e) : Scalar(0);
      source[r] =
          e < row.lower ? load_once(recipe.sources + row.sources + e) : 0u;
    }
    words += row.length - 1 - 4;
    STRATA_IMPL_UNROLL
    for (int r = 0; r < entries; ++r) next[r] = word_of(r, 4);
    const int pairs =
        static_cast<int>(lane_max(static_cast<unsigned>(row.lower)));
    // Of a pair and the next one, in turns: the row of U, its pivot's
    // reciprocal, and the entries that this lane needs.
    const Scalar* from[2] = {held.at(lane_read(source[0], first_lane)),
                             nullptr};
    Scalar inverse[2] = {Scalar(0), Scalar(0)}, u[2][entries];
    if (row.lower > 0) inverse[0] = Value::load_anywhere(from[0]);
    STRATA_IMPL_UNROLL
    for (int r = 0; r < entries; ++r) {
      const int part = Words::part(now[r], 0);
      u[0][r] = u[1][r] = Scalar(0);
      if (part != 0) u[0][r] = Value::load_anywhere(from[0] + part);
    }
    STRATA_IMPL_UNROLL
    for (int chunk = 0; chunk < entries; ++chunk) {
      // Pairs whose multipliers are in register `chunk`.
      const int end =
          entries == 1 || pairs < 32 * (chunk + 1) ? pairs : 32 * (chunk + 1);
      for (int four = 32 * chunk; four < end; four += 4) {
        Word later[entries];
        words += row.length - four - 5 - 4;
        STRATA_IMPL_UNROLL
        for (int r = chunk; r < entries; ++r) later[r] = word_of(r, four + 8);
        STRATA_IMPL_UNROLL
        for (int j = 0; j < 4; ++j) {
          const int k = four + j, a = j & 1, b = a ^ 1;
          if (k >= end) break;
          const bool any = k < row.lower, any_next = k + 1 < row.lower;
          const int next_lane = first_lane + ((k + 1) & (lanes - 1));
          unsigned next_source = lane_read(source[chunk], next_lane);
          // To choose between registers by a number would move them to memory.
          if (chunk + 1 < entries && j == 3) {
            const unsigned of_next_chunk = lane_read(
                source[chunk + 1 < entries ? chunk + 1 : chunk], next_lane);
            if (four == 32 * chunk + 28) next_source = of_next_chunk;
          }
          from[b] = held.at(next_source);
          const auto next_part = [&](int r) {
            return j < 3 ? Words::part(now[r], (j + 1) & 3)
                         : Words::part(next[r], 0);
          };
          if (any_next) inverse[b] = Value::load_anywhere(from[b]);
          STRATA_IMPL_UNROLL
          for (int r = chunk; r < entries; ++r)
            if (next_part(r) != 0)
              u[b][r] = Value::load_anywhere(from[b] + next_part(r));
          const Scalar multiplier_less_pivot =
              lane_read(value[chunk], first_lane + (k & (lanes - 1)));
          for (int turn = 0;; ++turn) {
            bool lacks = any & Value::is_not_ready(inverse[a]);
            STRATA_IMPL_UNROLL
            for (int r = chunk; r < entries; ++r)
              lacks |=
                  (Words::part(now[r], j) != 0) & Value::is_not_ready(u[a][r]);
            if (!lane_any(lacks)) break;
            pause_while_waiting(turn);
            if (any) inverse[a] = Value::load_anywhere(from[a]);
            STRATA_IMPL_UNROLL
            for (int r = chunk; r < entries; ++r)
              if (Words::part(now[r], j) != 0)
                u[a][r] =
                    Value::load_anywhere(from[a] + Words::part(now[r], j));
            if (any_next) inverse[b] = Value::load_anywhere(from[b]);
            STRATA_IMPL_UNROLL
            for (int r = chunk; r < entries; ++r)
              if (next_part(r) != 0)
                u[b][r] = Value::load_anywhere(from[b] + next_part(r));
          }
          const Scalar multiplier = multiplier_less_pivot * inverse[a];
          if (any & (own + chunk * lanes == k)) value[chunk] = multiplier;
          STRATA_IMPL_UNROLL
          for (int r = chunk; r < entries; ++r)
            if (Words::part(now[r], j) != 0) value[r] -= multiplier * u[a][r];
        }
        STRATA_IMPL_UNROLL
        for (int r = 0; r < entries; ++r) {
          now[r] = next[r];
          next[r] = r < chunk ? Word(0) : later[r];
        }
      }
    }
    STRATA_IMPL_UNROLL
    for (int r = 0; r < entries; ++r) {
      const int e = own + r * lanes;
      if (e < row.length) finish(row, e, value[r], held);
    }
  }

  /// Entry e of a row, which is final: checks it, hands it over if it is U's,
  /// and stores it.
  KOKKOS_INLINE_FUNCTION void finish(const RecipeRow& row, int e,
                                     const Scalar& eliminated,
                                     const Held& held) const {
    Scalar value = eliminated;
    if (pivots.least && e == row.lower)
      value = pivots.replaced(row.l - row.sources, value);
    // An infinity less itself is a NaN, and a NaN equals nothing.
    const bool finite = value - value == Scalar(0);
    if (!finite || (e == row.lower && value == Scalar(0)))
      Kokkos::atomic_fetch_min(
          fault,
          static_cast<std::int64_t>(row.l - row.sources) * num_factor_faults +
              (finite ? factor_zero_pivot : factor_not_finite));
    if (e < row.lower) {
      arrays.l_values[row.l + e] = value;
      return;
    }
    const unsigned at = row.work + (e - row.lower);
    const Scalar handed = e == row.lower ? reciprocal(value) : value;
    if (held.first != ~0u) Value::publish_anywhere(held.at(at), handed);
    Value::publish(held.work + at, handed);
    arrays.u_values[row.u + (e - row.lower)] = value;
    if (e == row.lower) arrays.l_values[row.l + e] = Scalar(1);
  }

  /// Entry e of a long row, as far as it is eliminated.
  KOKKOS_INLINE_FUNCTION Scalar* entry_of(const RecipeRow& row, int e) const {
    return e < row.lower ? arrays.l_values + row.l + e
                         : arrays.u_values + row.u + (e - row.lower);
  }
  /// The place in the row, from `low` on, of `column`; -1 if it has none.
  KOKKOS_INLINE_FUNCTION int find(const RecipeRow& row, int low,
                                  std::int64_t column) const {
    int high = row.length;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      if (arrays.A.entries(row.a + middle) < column)
        low = middle + 1;
      else
        high = middle;
    }
    return low < row.length && arrays.A.entries(row.a + low) == column ? low
                                                                       : -1;
  }
  KOKKOS_INLINE_FUNCTION Scalar await(const Scalar* at) const {
    Scalar value = Value::load_anywhere(at);
    for (int turn = 0; Value::is_not_ready(value); ++turn) {
      pause_while_waiting(turn);
      value = Value::load_anywhere(at);
    }
    return value;
  }
  /// A row in the factors' memory, by all lanes.
  KOKKOS_INLINE_FUNCTION void eliminate_long(const RecipeRow& row, int lane,
                                             const Held& held) const {
    for (int e = lane; e < row.length; e += width)
      *entry_of(row, e) = arrays.A.values[row.a + e];
    lane_barrier();
    for (int k = 0; k < row.lower; ++k) {
      const std::int64_t other = arrays.A.entries(row.a + k);
      const std::int64_t begin = arrays.u_row_map(other);
      const auto length = static_cast<int>(arrays.u_row_map(other + 1) - begin);
      const Scalar* const from = held.at(recipe.sources[row.sources + k]);
      const Scalar multiplier = *entry_of(row, k) * await(from);
      for (int t = 1 + lane; t < length; t += width) {
        const int place = find(row, k + 1, arrays.u_entries(begin + t));
        if (place >= 0) *entry_of(row, place) -= multiplier * await(from + t);
      }
      // All lanes have read the entry that becomes the multiplier.
      lane_barrier();
      if (lane == 0) finish(row, k, multiplier, held);
    }
    lane_barrier();
    for (int e = row.lower + lane; e < row.length; e += width)
      finish(row, e, *entry_of(row, e), held);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
