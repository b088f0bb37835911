// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_SUBGRAPH_VALUES_HPP
#define STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_SUBGRAPH_VALUES_HPP

#include <analysis/merging/EliminateRows.hpp>
#include <analysis/merging/MergedSubgraphRows.hpp>
#include <core/device/Arithmetic.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Scratch.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/InspectValues.hpp>
#include <core/matrix/PackValues.hpp>
#include <kernels/triangular/merging/GrowthOfMergedRows.hpp>
#include <kernels/triangular/merging/MergedNumbers.hpp>

namespace Strata {
namespace Detail {

/// Runs the recipes of merged rows (see MergedSubgraphRows) with the values
/// of a matrix: either packs what comes of it, or looks at it before anything
/// may be overwritten.
///
/// A few neighbouring lanes share a row; its slots are in scratch. Coefficients
/// come one after the other, the entries of a coefficient's row side by side.
/// The entries' places and values are at the end of a chain of reads
/// (coefficient, its row's range, value_index, value), of which each
/// coefficient makes one while those before it are at the others: a coefficient
/// costs about one read of memory, not four. MakeMergedValues knows
/// all of its coefficients' rows beforehand, and so reads in another order;
/// what both do with the numbers is in MergedNumbers.hpp.
///
/// @tparam packs  false: a look, which writes each row's spread (SpreadSums),
/// and the first row whose entries over its diagonal are no normal numbers (see
/// MergedLook).
template <class Scalar, class ExecutionSpace, int lanes, bool packs>
struct MergedSubgraphValues {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int width = lane_width<ExecutionSpace>;
  /// Slots of neighbouring lanes in different banks.
  static constexpr bool interleaved = lanes == 1 && width > 1;
  static constexpr int team_size = (interleaved ? 2 : 4) * width;
  static constexpr int threads = width == 1 ? 1 : team_size;
  static constexpr int team_rows = threads / lanes;
  /// Entries of a row that a lane reads ahead.
  static constexpr int held = lanes == 1 ? 4 : 2;

  MergedSubgraphRows<Memory> rows;
  GivenValues<Scalar> values;
  ValueIndex<Memory> diagonal_value_index;
  int num_rows;
  // To pack into.
  unsigned char* bytes;
  Scalar* coefficient_value;
  // For a look.
  const unsigned* row;
  ValuesInspection* findings;
  float* spread;  // by permuted row

  int scratch_bytes() const {
    return team_rows * rows.max_slots * int(sizeof(Scalar)) + 16;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    auto address =
        reinterpret_cast<std::uintptr_t>(team.team_scratch(0).get_shmem(
            team_rows * rows.max_slots * int(sizeof(Scalar)) + 16));
    address = (address + 15) / 16 * 16;
    const int rank = team.team_rank(), mine = rank / lanes;
    const std::int64_t number =
        static_cast<std::int64_t>(team.league_rank()) * team_rows + mine;
    constexpr unsigned s = sizeof(Scalar);
    Lane lane{ScratchBytes(reinterpret_cast<void*>(address)),
              interleaved ? mine * s : mine * rows.max_slots * s,
              interleaved ? team_rows * s : s, rank % lanes};
    const bool any = number < num_rows;
    const int p = any ? static_cast<int>(number) : 0;
    lane.first_coefficient = rows.coefficient_map(p);
    lane.coefficients =
        any ? rows.coefficient_map(p + 1) - lane.first_coefficient : 0;
    Look look;
    eliminate(p, lane, look);
    take_as_they_are(p, lane, rank % width, look);
    if constexpr (!packs) {
      report(any ? p : -1, lane, rank % width, look);
    }
  }

 private:
  /// A lane's row and its part of scratch.
  struct Lane {
    ScratchBytes scratch;
    unsigned at, pitch;
    int rank;  // among the lanes that share the row
    int first_coefficient = 0, coefficients = 0;

    KOKKOS_INLINE_FUNCTION Scalar load(int slot) const {
      return scratch.template load<Scalar>(at + slot * pitch);
    }
    KOKKOS_INLINE_FUNCTION void store(int slot, const Scalar& value) const {
      scratch.store(at + slot * pitch, value);
    }
  };
  using Look = MergedLook<Scalar>;
  // The entries of a coefficient's row, as far as they have been read.
  struct Range {
    int first, end;
    std::int64_t diagonal;
  };
  struct Entries {
    Range range;
    const unsigned char* recipe;
    std::int64_t value_index[held];
    int slot[held];
  };
  struct Numbers {
    Range range;
    const unsigned char* recipe;
    Scalar diagonal, value[held];
    int slot[held];
  };

  KOKKOS_INLINE_FUNCTION int permuted_row_of_coefficient(int p,
                                                         const Lane& lane,
                                                         int t) const {
    return t < lane.coefficients
               ? p - rows.coefficient(lane.first_coefficient + t)
               : -1;
  }
  KOKKOS_INLINE_FUNCTION Range range_of(int permuted_row) const {
    if (permuted_row < 0) return {0, 0, -1};
    return {rows.row_map(permuted_row), rows.row_map(permuted_row + 1),
            diagonal_value_index(permuted_row)};
  }
  KOKKOS_INLINE_FUNCTION Entries
  entries_of(const Range& range, const Lane& lane,
             const unsigned char*& recipe) const {
    Entries e;
    e.range = range;
    e.recipe = recipe;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < held; ++u) {
      const int k = range.first + lane.rank + u * lanes;
      e.value_index[u] = k < range.end
                             ? rows.value_index_of(k, range.end, range.diagonal)
                             : -1;
      e.slot[u] = k < range.end ? int{recipe[k - range.first]} : -1;
    }
    recipe += range.end - range.first;
    return e;
  }
  KOKKOS_INLINE_FUNCTION Numbers numbers_of(const Entries& e) const {
    Numbers n;
    n.range = e.range;
    n.recipe = e.recipe;
    n.diagonal = values.or_one(e.range.diagonal);
    STRATA_IMPL_UNROLL
    for (int u = 0; u < held; ++u) {
      n.value[u] = e.value_index[u] < 0 ? Scalar(0) : values(e.value_index[u]);
      n.slot[u] = e.slot[u];
    }
    return n;
  }

  /// All lanes of a warp take as many turns as its longest row needs.
  KOKKOS_INLINE_FUNCTION void eliminate(int p, const Lane& given,
                                        Look& look) const {
    Lane lane = given;
    if (lane.coefficients == 1) lane.coefficients = 0;
    const unsigned* const word = rows.word.data() + rows.word_map(p);
    const int dependencies =
        lane.coefficients > 0 ? static_cast<int>(word[0]) : 0;
    const int slots =
        lane.coefficients > 0 ? lane.coefficients + dependencies : 0;
    for (int i = lane.rank; i < slots; i += lanes)
      lane.store(i, Scalar(i == 0 ? 1 : 0));
    lane_barrier();

    const auto* recipe = reinterpret_cast<const unsigned char*>(
        word + 1 + rows.tasks_of(dependencies));
    Numbers numbers = numbers_of(entries_of(
        range_of(permuted_row_of_coefficient(p, lane, 0)), lane, recipe));
    Entries entries = entries_of(
        range_of(permuted_row_of_coefficient(p, lane, 1)), lane, recipe);
    Range range = range_of(permuted_row_of_coefficient(p, lane, 2));
    int permuted_row = permuted_row_of_coefficient(p, lane, 3);
    for (int t = 0; lane_any(t < lane.coefficients); ++t) {
      const Numbers now = numbers;
      numbers = numbers_of(entries);
      entries = entries_of(range, lane, recipe);
      range = range_of(permuted_row);
      permuted_row = permuted_row_of_coefficient(p, lane, t + 4);
      if (t < lane.coefficients) replace(t, now, lane, look);
      lane_barrier();
    }
    if constexpr (packs) {
      for (int i = lane.rank; i < dependencies; i += lanes)
        put(rows.byte_of(word + 1, i), lane.load(lane.coefficients + i));
    } else {
      for (int i = lane.rank; i < dependencies; i += lanes) {
        const Scalar c = lane.load(lane.coefficients + i);
        look.made(c);
        look.sums.dependency(one_norm(c));
      }
    }
  }
  /// Replaces x_t by its own equation.
  KOKKOS_INLINE_FUNCTION void replace(int t, const Numbers& now,
                                      const Lane& lane, Look& look) const {
    const Scalar before = lane.load(t), by = reciprocal(now.diagonal);
    const Scalar m = before * by;
    if constexpr (packs) {
      if (lane.rank == 0) coefficient_value[lane.first_coefficient + t] = m;
    } else {
      if (lane.rank == 0)
        look.sums.coefficient(one_norm(before), one_norm(m),
                              one_norm(now.diagonal));
      note_diagonal(t == 0, now.diagonal, by, look);
    }
    const auto take = [&](int slot, const Scalar& value) {
      const bool inner = slot < lane.coefficients;
      const Scalar sum = lane.load(slot);
      if constexpr (packs) {
        lane.store(slot, eliminated_entry(inner, sum, m, value));
      } else {
        lane.store(slot, look.eliminate(inner, sum, m, value));
        if (t == 0) note_own_entry(value, now.diagonal, by, look);
      }
    };
    STRATA_IMPL_UNROLL
    for (int u = 0; u < held; ++u)
      if (now.slot[u] >= 0) take(now.slot[u], now.value[u]);
    for (int k = now.range.first + lane.rank + held * lanes; k < now.range.end;
         k += lanes)
      take(now.recipe[k - now.range.first],
           values(rows.value_index_of(k, now.range.end, now.range.diagonal)));
  }
  /// Rows that stay as they are: short ones by the lanes that share a row, long
  /// ones by the whole warp, one after the other.
  KOKKOS_INLINE_FUNCTION void take_as_they_are(int p, const Lane& lane,
                                               int warp_lane,
                                               Look& look) const {
    const bool mine = lane.coefficients == 1;
    const bool is_long =
        mine && rows.row_map(p + 1) - rows.row_map(p) > 4 * lanes;
    if (mine) {
      const Scalar d = values.or_one(diagonal_value_index(p)),
                   by = reciprocal(d);
      if constexpr (packs) {
        if (lane.rank == 0) coefficient_value[lane.first_coefficient] = by;
      } else {
        note_diagonal(true, d, by, look);
        if (lane.rank == 0) look.sums.coefficient(1, one_norm(by), one_norm(d));
      }
      if (!is_long) take_entries(p, lane.rank, lanes, d, by, look);
    }
    for (LaneMask left = lane_ballot(is_long && lane.rank == 0); left != 0;
         left &= left - 1) {
      const int owner = lowest_bit(left), row_at = lane_broadcast(p, owner);
      const Scalar d = values.or_one(diagonal_value_index(row_at));
      Look found;
      take_entries(row_at, warp_lane, width, d, reciprocal(d), found);
      if constexpr (!packs) {
        found.sums.dependencies =
            lane_group_sum(found.sums.dependencies, width);
        found.sums.products = lane_group_sum(found.sums.products, width);
        found.lost = lane_any(found.lost);
        found.special = lane_any(found.special);
        if (warp_lane == owner) {
          look.sums.dependencies += found.sums.dependencies;
          look.sums.products += found.sums.products;
          look.lost = look.lost || found.lost;
          look.special = look.special || found.special;
        }
      }
    }
  }
  /// Every `stride`-th entry of a row that stays as it is.
  KOKKOS_INLINE_FUNCTION void take_entries(int p, int rank, int stride,
                                           const Scalar& d, const Scalar& by,
                                           Look& look) const {
    using Rows = MergedSubgraphRows<Memory>;
    const int first = rows.row_map(p), end = rows.row_map(p + 1);
    const unsigned* const word = rows.word.data() + rows.word_map(p);
    const bool places = end - first > Rows::max_ranks;
    const auto* const ranks = reinterpret_cast<const unsigned char*>(
        word + rows.tasks_of(end - first));
    for (int k = first + rank; k < end; k += stride) {
      const Scalar value =
          values(rows.value_index_of(k, end, diagonal_value_index(p)));
      const unsigned noted = places ? word[k - first] : ranks[k - first];
      if constexpr (packs) {
        put(places ? 4 * std::size_t{noted}
                   : rows.byte_of(word, static_cast<int>(noted)),
            value * by);
      } else {
        look.given(value);
        note_own_entry(value, d, by, look);
        look.sums.products += one_norm(value) * one_norm(by);
        look.sums.dependency(one_norm(value * by));
      }
    }
  }
  /// No product of what is here may look not ready.
  KOKKOS_INLINE_FUNCTION void put(std::size_t byte, const Scalar& value) const {
    *reinterpret_cast<Scalar*>(bytes + byte) = NotReady<Scalar>::final(value);
  }

  /// @param own  of the row itself: of others it is theirs to tell
  KOKKOS_INLINE_FUNCTION static void note_diagonal(bool own, const Scalar& d,
                                                   const Scalar& by,
                                                   Look& look) {
    look.given(d);
    if (own && is_finite(d) && !(usable_reciprocal(d) && usable_reciprocal(by)))
      look.lost = true;
  }
  KOKKOS_INLINE_FUNCTION static void note_own_entry(const Scalar& value,
                                                    const Scalar& d,
                                                    const Scalar& by,
                                                    Look& look) {
    if (usable_reciprocal(value) && usable_reciprocal(d) &&
        !usable_reciprocal(value * by))
      look.lost = true;
  }

  /// @param p  permuted row, -1: there is none
  KOKKOS_INLINE_FUNCTION void report(int p, const Lane& lane, int warp_lane,
                                     Look& look) const {
    look.join_lanes(lanes);
    float found = 0;
    if (p >= 0 && lane.rank == 0) {
      if (look.lost)
        Kokkos::atomic_fetch_min(&findings->lost_row, std::int64_t{row[p]});
      const int depth =
          lane.coefficients +
          rows.tasks_of(dependencies_of(p, lane)) * rows.record_entries + 3;
      found = look.kept(look.sums.spread(depth));
      spread[p] = found;
    }
    raise_spread<width>(&findings->spread_bits, warp_lane == 0, found);
  }
  KOKKOS_INLINE_FUNCTION int dependencies_of(int p, const Lane& lane) const {
    return lane.coefficients > 1 ? static_cast<int>(rows.word(rows.word_map(p)))
                                 : rows.row_map(p + 1) - rows.row_map(p);
  }
};

/// Calls `launch` with the lanes that share a row, as an integral constant.
/// @param mean_length  mean number of entries of a row of the matrix
/// @param row_bytes    scratch of a row: more lanes share one if a team has too
///                     little for all its rows
template <class ExecutionSpace, class Launch>
void with_lanes_for_values(const ExecutionSpace& exec, int num_rows,
                           double mean_length, int row_bytes,
                           const Launch& launch) {
  if constexpr (is_gpu<ExecutionSpace>) {
    // Kokkos takes some of a team's scratch, by the number of its threads.
    constexpr std::size_t of_kokkos = 2048;
    const std::size_t fit =
        (team_scratch_bytes(exec) - of_kokkos) / std::max(1, row_bytes);
    // Short rows: more lanes as long as there are lanes to spare, 2048 a
    // multiprocessor.
    if (mean_length < 4 && fit >= 32 &&
        num_rows < 512 * num_multiprocessors(exec)) {
      launch(std::integral_constant<int, 4>());
      return;
    }
    // A team has 64 rows with one lane each, 16 with eight, four with 32.
    if (fit < 64) mean_length = std::max(mean_length, 4.);
    if (fit < 16) mean_length = std::max(mean_length, 12.);
  }
  (void)row_bytes;
  with_lanes_for<ExecutionSpace>(mean_length, launch);
}

}  // namespace Detail
}  // namespace Strata

#endif
