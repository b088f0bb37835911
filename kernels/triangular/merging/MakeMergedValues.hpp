// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_MERGING_MAKE_MERGED_VALUES_HPP
#define STRATA_KERNELS_TRIANGULAR_MERGING_MAKE_MERGED_VALUES_HPP

#include <analysis/merging/MergedRows.hpp>
#include <analysis/packing/RowChunk.hpp>
#include <core/device/Arithmetic.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Scratch.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/InspectValues.hpp>
#include <kernels/triangular/merging/MergedNumbers.hpp>

namespace Strata {
namespace Detail {

/// Runs the recipes of merged rows (see MergedRows) with the values of a
/// matrix: packs what comes of it, along with the rows that are as they were
/// and the diagonal, and looks at it.
///
/// One warp or several take a chunk; a power of two of neighbouring lanes share
/// a row, its slots are in scratch. No row needs another one's result. All
/// reads of memory but those of where the coefficients' rows begin are made
/// ahead of the sums: a row takes about six of them one after the other,
/// however many coefficients it has, as long as its lanes hold its entries in
/// two batches.
///
/// It leaves each row's spread (see MergedLook). Diagonals of the
/// coefficients' rows, and their reciprocals, have to be normal numbers.
template <class Scalar, class ExecutionSpace>
struct MakeMergedValues {
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr bool on_device = width > 1;
  static constexpr int team_size = on_device ? 4 * width : 1;
  /// Teams of a multiprocessor that registers suffice for.
  static constexpr int most_teams_per_multiprocessor = 6;
  using Row = typename MergedRows<Memory>::Row;
  /// Entries that a lane holds.
  static constexpr int held = 4;
  static constexpr unsigned s = sizeof(Scalar);

  MergedRows<Memory> rows;
  Kokkos::View<const RowChunk*, Memory> chunk_of;
  Kokkos::View<const unsigned*, Memory> row;    // by permuted row
  Kokkos::View<const int*, Memory> dependency;  // of RowChunks
  GivenValues<Scalar> values;
  /// Logarithm of the warps of a chunk; chunks of a team.
  int log_warps, team_chunks;
  /// Coefficients and dependencies of a chunk's rows at most, in scratch.
  int most_coefficients, most_slots;
  // To pack into: by slot, and by permuted row.
  Scalar *value, *diagonal;
  float* spread;     // by row
  bool reciprocals;  // of the diagonal are packed

  /// Of one chunk: slots, coefficients' reciprocals, first entries and numbers
  /// of entries.
  KOKKOS_FUNCTION int chunk_bytes() const {
    return most_slots * s + most_coefficients * (s + 8);
  }
  KOKKOS_FUNCTION int scratch_bytes() const {
    return team_chunks * chunk_bytes() + 16;
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const ScratchBytes scratch(aligned_scratch<void>(team, scratch_bytes()));
    const auto number = static_cast<std::int64_t>(team.league_rank());
    if constexpr (on_device) {
      const int threads = width << log_warps;
      const int mine = team.team_rank() / threads;
      run(number * team_chunks + mine, team.team_rank() % threads, scratch,
          mine * chunk_bytes());
    } else {
      for (int c = 0; c < host_chunks; ++c)
        run(number * host_chunks + c, 0, scratch, 0);
    }
  }
  /// Chunks that a host's thread takes together.
  static constexpr int host_chunks = 64;

 private:
  /// A lane's row and its part of scratch.
  struct Lane {
    ScratchBytes scratch;
    unsigned at, pitch;                   // of slots
    unsigned reciprocals, first, length;  // of coefficients
    unsigned step;  // from a coefficient's word to the next one's
    int rank, lanes;
    int permuted_row;
    int coefficients, dependencies, operations;  // 0 unless merged
    const unsigned char* recipe;

    KOKKOS_INLINE_FUNCTION unsigned slot(int i) const { return at + i * pitch; }
    KOKKOS_INLINE_FUNCTION Scalar load(int i) const {
      return scratch.template load<Scalar>(slot(i));
    }
    KOKKOS_INLINE_FUNCTION Scalar reciprocal_of(int t) const {
      return scratch.template load<Scalar>(reciprocals + t * pitch);
    }
    KOKKOS_INLINE_FUNCTION int first_of(int t) const {
      return scratch.template load<int>(first + t * step);
    }
    KOKKOS_INLINE_FUNCTION int length_of(int t) const {
      return scratch.template load<int>(length + t * step);
    }
  };
  /// What a lane has seen of its row, and the moduli of the row's own entries
  /// added up: both not yet over the row's diagonal.
  struct Look : MergedLook<Scalar> {
    double own = 0;
  };
  /// Where a lane is in the entries of the coefficients' rows.
  struct Cursor {
    int next, coefficient, begin, length;
  };
  struct ValueIndices {
    std::int64_t value_index[held];
    int coefficient[held], slot[held];
  };
  struct Numbers {
    Scalar value[held];
    int coefficient[held], slot[held];
  };

  /// 1 where there is none, or it is nowhere.
  KOKKOS_INLINE_FUNCTION Scalar number_at(int number) const {
    return values.or_one(number < 0 ? -1 : rows(number));
  }

  KOKKOS_INLINE_FUNCTION void run(std::int64_t c, int thread,
                                  const ScratchBytes& scratch,
                                  unsigned at) const {
    RowChunk chunk{};
    if (c < static_cast<std::int64_t>(chunk_of.extent(0))) chunk = chunk_of(c);
    const int log_width = on_device ? gpu_log_lanes : 0;
    const int shared = chunk.log_lanes + log_warps;
    const int log_lanes = shared < log_width ? shared : log_width;
    const int room = width >> chunk.log_lanes;  // rows that scratch is for
    const int r = thread >> log_lanes;
    const bool any = r < chunk.rows;
    const int p = chunk.first_permuted_row + r;
    const unsigned char* const recipe = any ? rows.recipe_at(p) : nullptr;
    const bool merged = recipe != nullptr;
    const int user = any ? user_row_at(row, p) : -1;
    const bool follows =
        any && !rows.values_in_order && p + 1 < rows.num_vertices();
    const int following = follows ? user_row_at(row, p + 1) : -1;
    Lane lane{scratch,
              at + r * s,
              room * s,
              at + most_slots * s + r * s,
              at + (most_slots + most_coefficients) * s + r * 4,
              0,
              static_cast<unsigned>(room) * 4,
              thread & ((1 << log_lanes) - 1),
              1 << log_lanes,
              p,
              0,
              0,
              0,
              recipe};
    lane.length = lane.first + most_coefficients * 4;
    if (merged) {
      lane.coefficients = lane.recipe[0];
      lane.dependencies = lane.recipe[1];
    }
    const auto entries = any ? rows.row(user) : Row{0, -1};
    const int end = any ? rows.end(user, following) : 0;
    const Scalar own = number_at(entries.diagonal);
    Look look;
    prepare(chunk, r, user, entries.first, end, lane, look);
    if (merged) {
      lane.operations = MergedRows<Memory>::operations(recipe);
      lane.recipe += MergedRows<Memory>::head + lane.coefficients;
    }
    if (any && !merged) take_as_it_is(chunk, r, lane, entries.first, end, look);
    if (any && lane.rank == 0) {
      diagonal[p] = reciprocals ? Scalar(1) / own : own;
      inspect(p, own);
    }
    if (lane_any(merged)) {
      lane_barrier();
      sum_up(lane, thread % width, look);
      if (merged) put(chunk, r, lane, look);
    }
    report(any, user, own, lane,
           chunk.coefficient_steps + chunk.steps + chunk.log_lanes + 2,
           thread % width, look);
  }

  KOKKOS_INLINE_FUNCTION static std::int64_t slot_of(const RowChunk& chunk,
                                                     int r, int step, int e) {
    const int log = chunk.log_lanes;
    return chunk.first_slot +
           static_cast<std::int64_t>((e >> log) + step) * (chunk.rows << log) +
           (r << log) + (e & ((1 << log) - 1));
  }

  /// Numbers of a row that is as it was.
  KOKKOS_INLINE_FUNCTION void take_as_it_is(const RowChunk& chunk, int r,
                                            const Lane& lane, int first,
                                            int end, Look& look) const {
    const int slots = chunk.steps << chunk.log_lanes;
    for (int e = lane.rank; e < slots; e += held * lane.lanes) {
      std::int64_t value_index[held];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < held; ++u) {
        const int k = first + e + u * lane.lanes;
        value_index[u] = k < end ? rows(k) : -1;
      }
      Scalar numbers[held];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < held; ++u)
        numbers[u] = value_index[u] < 0 ? Scalar(0) : values(value_index[u]);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < held; ++u) {
        if (e + u * lane.lanes < slots)
          value[slot_of(chunk, r, 0, e + u * lane.lanes)] = numbers[u];
        take_own(numbers[u], look);
      }
    }
    for (int t = lane.rank; t < chunk.coefficient_steps << chunk.log_lanes;
         t += lane.lanes)
      value[slot_of(chunk, r, -chunk.coefficient_steps, t)] = Scalar(0);
  }

  /// Of the coefficients in the order in which their rows are eliminated, of
  /// which 0 is the row itself: first entries, numbers of entries and
  /// reciprocals of diagonals.
  KOKKOS_INLINE_FUNCTION void prepare(const RowChunk& chunk, int r, int user,
                                      int first, int end, const Lane& lane,
                                      Look& look) const {
    // Padding has no dependency.
    const int slots =
        r < chunk.rows ? chunk.coefficient_steps << chunk.log_lanes : 0;
    for (int e = lane.rank; e < slots; e += held * lane.lanes) {
      Row of[held];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < held; ++u) {
        const int i = e + u * lane.lanes;
        const int coefficient =
            i < slots ? chunk.coefficient_of(
                            chunk.stored(dependency.data(),
                                         chunk.place_of_coefficient(r, i)),
                            user)
                      : -1;
        of[u] = coefficient < 0 ? Row{-1, -1} : rows.row(coefficient);
      }
      Scalar diagonals[held];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < held; ++u) diagonals[u] = number_at(of[u].diagonal);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < held; ++u) {
        if (of[u].first < 0) continue;
        const Scalar by = reciprocal(diagonals[u]);
        look.overflows = look.overflows || !(usable_reciprocal(by) &&
                                             usable_reciprocal(diagonals[u]));
        look.given(diagonals[u]);
        const int t = lane.coefficients - (e + u * lane.lanes);
        lane.scratch.store(lane.first + t * lane.step, of[u].first);
        lane.scratch.store(lane.length + t * lane.step,
                           int{lane.recipe[MergedRows<Memory>::head - 1 + t]});
        lane.scratch.store(lane.reciprocals + t * lane.pitch, by);
      }
    }
    if (lane.coefficients > 0 && lane.rank == 0) {
      lane.scratch.store(lane.first, first);
      lane.scratch.store(lane.length, end - first);
    }
    for (int i = lane.rank; i < lane.coefficients + lane.dependencies;
         i += lane.lanes)
      lane.scratch.store(lane.slot(i), Scalar(0));
  }

  KOKKOS_INLINE_FUNCTION ValueIndices ahead(const Lane& lane,
                                            Cursor& at) const {
    ValueIndices o;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < held; ++u) {
      const bool any = at.next < lane.operations;
      while (any && at.next - at.begin >= at.length) {
        at.begin += at.length;
        at.length = lane.length_of(++at.coefficient);
      }
      o.coefficient[u] = any ? at.coefficient : -1;
      o.slot[u] = any ? int{lane.recipe[at.next]} : 0;
      o.value_index[u] =
          any ? rows(lane.first_of(at.coefficient) + (at.next - at.begin)) : -1;
      at.next += lane.lanes;
    }
    return o;
  }
  KOKKOS_INLINE_FUNCTION Numbers numbers_of(const ValueIndices& o) const {
    Numbers n;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < held; ++u) {
      n.value[u] = o.coefficient[u] < 0 ? Scalar(0) : values(o.value_index[u]);
      n.coefficient[u] = o.coefficient[u];
      n.slot[u] = o.slot[u];
    }
    return n;
  }

  /// All lanes of a warp take as many turns as its longest row needs: those
  /// that share a row take entries of the same coefficient, side by side.
  KOKKOS_INLINE_FUNCTION void sum_up(const Lane& lane, int warp_lane,
                                     Look& look) const {
    Cursor at{lane.rank, 0, 0, lane.operations > 0 ? lane.length_of(0) : 0};
    int done = 0;
    Numbers numbers = numbers_of(ahead(lane, at));
    ValueIndices value_indices = ahead(lane, at);
    for (; lane_any(done < lane.operations); done += held * lane.lanes) {
      const Numbers now = numbers;
      numbers = numbers_of(value_indices);
      value_indices = ahead(lane, at);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < held; ++u) {
        if (lane.lanes == 1) {
          if (now.coefficient[u] >= 0)
            replace(lane, now.coefficient[u], now.slot[u], now.value[u], look);
          continue;
        }
        // The first lane has the newest row's coefficient.
        int coefficient =
            lane_broadcast(now.coefficient[u], warp_lane - lane.rank);
        for (; lane_any(now.coefficient[u] >= 0 &&
                        now.coefficient[u] >= coefficient);
             ++coefficient) {
          if (now.coefficient[u] >= 0 && now.coefficient[u] == coefficient)
            replace(lane, coefficient, now.slot[u], now.value[u], look);
          lane_barrier();
        }
      }
    }
    lane_barrier();
  }
  KOKKOS_INLINE_FUNCTION void replace(const Lane& lane, int coefficient,
                                      int slot, const Scalar& number,
                                      Look& look) const {
    const Scalar sum = lane.load(slot);
    if (coefficient == 0) {
      take_own(number, look);
      lane.scratch.store(lane.slot(slot), slot < lane.coefficients
                                              ? sum - number
                                              : sum + number);
      return;
    }
    const Scalar y = number_of(lane, coefficient);
    lane.scratch.store(lane.slot(slot), look.eliminate(slot < lane.coefficients,
                                                       sum, y, number));
  }
  /// One of the row's own entries, which nothing has rounded.
  KOKKOS_INLINE_FUNCTION static void take_own(const Scalar& number,
                                              Look& look) {
    look.given(number);
    look.own += one_norm(number);
  }
  KOKKOS_INLINE_FUNCTION static Scalar number_of(const Lane& lane,
                                                 int coefficient) {
    return lane.load(lane.coefficients - coefficient) *
           lane.reciprocal_of(coefficient);
  }

  KOKKOS_INLINE_FUNCTION void put(const RowChunk& chunk, int r,
                                  const Lane& lane, Look& look) const {
    for (int e = lane.rank; e < chunk.steps << chunk.log_lanes;
         e += lane.lanes) {
      const bool any = e < lane.dependencies;
      const Scalar c = any ? lane.load(lane.coefficients + e) : Scalar(0);
      value[slot_of(chunk, r, 0, e)] = c;
      look.made(c);
      if (any) look.sums.dependency(one_norm(c));
    }
    for (int t = lane.rank; t < chunk.coefficient_steps << chunk.log_lanes;
         t += lane.lanes) {
      const bool any = t < lane.coefficients;
      const Scalar y = any ? number_of(lane, lane.coefficients - t) : Scalar(0);
      value[slot_of(chunk, r, -chunk.coefficient_steps, t)] = y;
      look.made(y);
      if (any)
        look.sums.coefficient(
            one_norm(lane.load(t)), one_norm(y),
            1 / one_norm(lane.reciprocal_of(lane.coefficients - t)));
    }
  }

  /// What InspectValues looks for on the diagonal.
  KOKKOS_INLINE_FUNCTION void inspect(int p, const Scalar& own) const {
    if (own == Scalar(0))
      Kokkos::atomic_fetch_min(&rows.findings.data()->zero_row,
                               std::int64_t{user_row_at(row, p)});
    else if (!usable_reciprocal(own) || !usable_reciprocal(Scalar(1) / own))
      store_relaxed(&rows.findings.data()->divide, std::int64_t{1});
  }
  /// The row's spread. It has a coefficient itself, and its entries nothing has
  /// rounded, and all is over its diagonal.
  KOKKOS_INLINE_FUNCTION void report(bool any, int user, const Scalar& own,
                                     const Lane& lane, int depth, int warp_lane,
                                     Look& look) const {
    look.given(own);
    look.join_lanes(lane.lanes);
    const double entries = lane_group_sum(look.own, lane.lanes);
    const double diagonal = one_norm(own);
    SpreadSums<Scalar>& sums = look.sums;
    sums.eliminated += diagonal;
    // A row that is as it was has its own entries as dependencies.
    if (lane.coefficients == 0) sums.dependencies += entries;
    const float kept = look.kept(
        (sums.spread(depth) + 0.5 * (depth + 1) * entries) / diagonal);
    if (any && lane.rank == 0) spread[user] = kept;
    raise_spread<width>(&rows.findings.data()->spread_bits, warp_lane == 0,
                        any ? kept : 0);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
