// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_FACTOR_BY_RECIPE_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_FACTOR_BY_RECIPE_HPP

#include <core/device/Arithmetic.hpp>
#include <core/device/Launch.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/FindColumn.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/numeric/RecipeArrays.hpp>
#include <kernels/factorization/numeric/SmallPivots.hpp>

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
/// a warp waits for one pair, it asks for the next one, too.
///
/// Long rows are eliminated entry by entry: an entry of A, less the terms
/// l_ik u_kj that the plan lists for it. One lane adds them up, or several
/// where they are many. Multipliers of a long row are handed over as values of
/// U are, so that warps share a row, and each looks at its own entries in
/// turns: no lane keeps another one of its warp waiting. Where these lists
/// would take too much memory, a warp eliminates a long row in the factors'
/// memory, pair by pair, and looks its columns up.
///
/// Why it can't deadlock, however few teams run at once. A ticket is drawn by a
/// team that runs, while it works on the piece before, and the counter hands
/// tickets out in order. In the order of pieces, and of tasks within a piece,
/// each row comes after those it needs. Consider the first task that is not
/// finished. If its piece has not been drawn, some team has finished all it had
/// and draws it. The team that has drawn it has no earlier piece left: that one
/// would have a task that is not finished. Warps of a team meet between pieces
/// only; the one whose turn the task is has finished the earlier ones of its
/// own, and works on it. Its rows wait for
/// rows of earlier tasks (those of a task are of one level set), which are
/// finished; so this one is finished, too, and so on. Entries of a long row
/// wait for multipliers left of them as well: those of earlier tasks are
/// finished; of those in the same task the leftmost one that is not finished
/// waits for nothing more, and its lanes look again in each turn of the warp.
/// Each value is published exactly once, whatever it is: only the reserved bits
/// mean "not ready". Warps that wait for long leave the execution units to
/// others, as a multiprocessor may serve the waiting ones first for ever.
///
/// Cost: for each pair of a row i and an entry k of its lower part, an entry of
/// row k of U for each entry of row i right of k that has a match.
///
/// @tparam Word  of the recipe, see RecipeWords
/// @tparam most  entries that a lane holds; there is no task with more
/// @tparam long_rows  whether there are long rows. Lanes part on them, and what
///   a warp does together takes longer in a kernel where they may
template <class Scalar, class ExecutionSpace, class Word, int most,
          bool long_rows>
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
  static constexpr std::size_t slack = sizeof(Scalar) > 8 ? sizeof(Scalar) : 0;
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
    // Thread 0 draws a ticket while the piece before is worked on.
    STRATA_IMPL_TEAM_SHARED unsigned tickets[2];
    const bool draws = team.team_rank() == 0;
    const auto draw = [&] {
      return draws ? Kokkos::atomic_fetch_add(drawn, 1u) : 0u;
    };
    if (draws) tickets[0] = draw();
    for (int turn = 0;; turn ^= 1) {
      // All warps are done with the piece before, and see the ticket.
      team.team_barrier();
      const unsigned ticket = tickets[turn];
      if (ticket >= recipe.num_pieces) return;
      const unsigned next = draw();
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
      if (draws) tickets[turn ^ 1] = next;
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
          eliminate<2>(row, lane, RecipeShape::width_log, held);
        }
        return;
      case 4:
        if constexpr (most >= 4) {
          eliminate<4>(row, lane, RecipeShape::width_log, held);
        }
        return;
      case 8:
        if constexpr (most >= 8) {
          eliminate<8>(row, lane, RecipeShape::width_log, held);
        }
        return;
      default:
        if constexpr (long_rows) {
          const RecipeRow of_entries = recipe.rows[task.first];
          if (recipe.term_start)
            eliminate_entries(task, of_entries, lane, held);
          else
            eliminate_by_search(of_entries, lane, held);
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
      const int end = entries == 1 || pairs < width * (chunk + 1)
                          ? pairs
                          : width * (chunk + 1);
      for (int four = width * chunk; four < end; four += 4) {
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
            if (four == width * (chunk + 1) - 4) next_source = of_next_chunk;
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
    // Others wait for what is handed over, not for what is stored.
    STRATA_IMPL_UNROLL
    for (int r = 0; r < entries; ++r) {
      const int e = own + r * lanes;
      if (e < row.length) hand_over(row, e, value[r], held);
    }
    STRATA_IMPL_UNROLL
    for (int r = 0; r < entries; ++r) {
      const int e = own + r * lanes;
      if (e < row.length) finish(row, e, value[r]);
    }
  }

  /// Entry e of a row, which is final, unless it is a pivot that is to be
  /// replaced: hands it over if it is U's.
  KOKKOS_INLINE_FUNCTION void hand_over(const RecipeRow& row, int e,
                                        Scalar& value, const Held& held) const {
    if (e < row.lower) return;
    if (pivots.least && e == row.lower)
      value = pivots.replaced(row.l - row.sources, value);
    const unsigned at = row.work + (e - row.lower);
    const Scalar handed = e == row.lower ? reciprocal(value) : value;
    if (held.first != ~0u) Value::publish_anywhere(held.at(at), handed);
    Value::publish(held.work + at, handed);
  }
  /// Checks and stores it.
  KOKKOS_INLINE_FUNCTION void finish(const RecipeRow& row, int e,
                                     const Scalar& value) const {
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
    arrays.u_values[row.u + (e - row.lower)] = value;
    if (e == row.lower) arrays.l_values[row.l + e] = Scalar(1);
  }

  /// Both factors of a term, ready or not.
  struct Term {
    const Scalar *l, *u;
    Scalar l_value, u_value;
    bool any;

    KOKKOS_INLINE_FUNCTION bool is_ready() const {
      return !Value::is_not_ready(l_value) && !Value::is_not_ready(u_value);
    }
    KOKKOS_INLINE_FUNCTION void look_again() {
      if (Value::is_not_ready(l_value)) l_value = Value::load(l);
      if (Value::is_not_ready(u_value)) u_value = Value::load_anywhere(u);
    }
  };
  KOKKOS_INLINE_FUNCTION Term look_at(const RecipeTerm& places, bool any,
                                      const Held& held) const {
    Term term{nullptr, nullptr, Scalar(0), Scalar(0), any};
    if (!any) return term;
    term.l = held.work + places.l;
    term.u = held.at(places.u);
    term.l_value = Value::load(term.l);
    term.u_value = Value::load_anywhere(term.u);
    return term;
  }
  KOKKOS_INLINE_FUNCTION RecipeTerm places_of(unsigned term,
                                              unsigned end) const {
    return term < end ? load_once(recipe.terms + term) : RecipeTerm{0, 0};
  }

  /// Entries of a long row, each by as many lanes. All lanes of a warp call
  /// this.
  KOKKOS_INLINE_FUNCTION void eliminate_entries(const RecipeTask& task,
                                                const RecipeRow& row, int lane,
                                                const Held& held) const {
    const int lanes = 1 << task.log_lanes(), own = lane & (lanes - 1);
    const int e = task.first_entry() + (lane >> task.log_lanes());
    const bool any = e < row.length, is_lower = e < row.lower;
    const unsigned* const starts = recipe.term_start + row.recipe;
    const unsigned multipliers = starts[0];
    unsigned at = 0, end = 0;
    Scalar sum(0);
    const Scalar* pivot = nullptr;
    Scalar inverse(1);
    if (any) {
      at = starts[1 + e] + own;
      end = starts[2 + e];
      if (own == 0) sum = load_once(arrays.A.values + row.a + e);
    }
    if (is_lower) {
      pivot = held.at(load_once(recipe.sources + row.sources + e));
      inverse = Value::load_anywhere(pivot);
    }
    const unsigned step = static_cast<unsigned>(lanes);
    Term now = look_at(places_of(at, end), at < end, held);
    Term next = look_at(places_of(at + step, end), at + step < end, held);
    at += 2 * step;
    RecipeTerm later = places_of(at, end);
    const LaneMask group = (lanes == 32 ? ~0u : (1u << lanes) - 1u)
                           << (lane - own);
    bool finished = !any;
    for (int turn = 0; lane_any(!finished);) {
      bool moved = false;
      if (now.any) {
        if (now.is_ready()) {
          sum -= now.l_value * now.u_value;
          now = next;
          next = look_at(later, at < end, held);
          at += step;
          later = places_of(at, end);
          moved = true;
        } else {
          now.look_again();
          if (next.any) next.look_again();
        }
      }
      // Entries of which all terms are added up.
      const LaneMask summed = lane_ballot(!now.any);
      const bool last = !finished && (summed & group) == group;
      if (lane_any(last)) {
        const Scalar value = lane_group_sum(sum, lanes);
        if (last && Value::is_not_ready(inverse)) {
          inverse = Value::load_anywhere(pivot);
        } else if (last) {
          if (own == 0) {
            Scalar final = is_lower ? value * inverse : value;
            if (is_lower) Value::publish(held.work + multipliers + e, final);
            hand_over(row, e, final, held);
            finish(row, e, final);
          }
          finished = true;
          moved = true;
        }
      }
      if (lane_any(moved))
        turn = 0;
      else
        pause_while_waiting(turn++);
    }
  }

  /// Entry e of a long row, as far as it is eliminated.
  KOKKOS_INLINE_FUNCTION Scalar* entry_of(const RecipeRow& row, int e) const {
    return e < row.lower ? arrays.l_values + row.l + e
                         : arrays.u_values + row.u + (e - row.lower);
  }
  /// The place in the row, from `low` on, of `column`; -1 if it has none.
  KOKKOS_INLINE_FUNCTION int find(const RecipeRow& row, int low,
                                  std::int64_t column) const {
    const auto column_at = [&](int e) { return arrays.A.entries(row.a + e); };
    const int length = row.length,
              at = first_from(low, length, column_at, column);
    return at < length && column_at(at) == column ? at : -1;
  }
  KOKKOS_INLINE_FUNCTION Scalar await(const Scalar* at) const {
    Scalar value = Value::load_anywhere(at);
    for (int turn = 0; Value::is_not_ready(value); ++turn) {
      pause_while_waiting(turn);
      value = Value::load_anywhere(at);
    }
    return value;
  }
  /// A whole long row in the factors' memory, by all lanes, which look columns
  /// up: where lists of terms would be too long.
  KOKKOS_INLINE_FUNCTION void eliminate_by_search(const RecipeRow& row,
                                                  int lane,
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
      if (lane == 0) finish(row, k, multiplier);
    }
    lane_barrier();
    for (int e = row.lower + lane; e < row.length; e += width) {
      Scalar value = *entry_of(row, e);
      hand_over(row, e, value, held);
      finish(row, e, value);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
