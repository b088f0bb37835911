// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_RECIPE_PIECES_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_RECIPE_PIECES_HPP

#include <algorithm>
#include <core/device/Atomics.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Warp.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <cstdint>
#include <cstring>
#include <kernels/factorization/numeric/RecipePattern.hpp>
#include <vector>

namespace Strata {
namespace Detail {

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

/// Values of U of a piece, the last row's left out; 0: rows are better off in
/// the order of level sets. Seen on an H200 in double, 15 systems: up to 20
/// registers' work of a level set for each piece that is active, a piece for
/// each multiprocessor is best; else up to 30, four; else the order of level
/// sets. Waits for `exec`.
/// @param look  without sizes
/// @param longest_upper  the most entries of a row of U
template <class ExecutionSpace>
std::int64_t choose_pieces(const ExecutionSpace& exec,
                           WorkPool<ExecutionSpace>& pool,
                           PieceLevels<ExecutionSpace> look,
                           std::int64_t num_values, std::int64_t longest_upper,
                           std::size_t scalar_bytes) {
  using Levels = PieceLevels<ExecutionSpace>;
  using Memory = typename ExecutionSpace::memory_space;
  const auto capacity = static_cast<std::int64_t>(
      (native_scratch_bytes(exec) - 2048) / scalar_bytes);
  const std::int64_t multiprocessors = num_multiprocessors(exec);
  const struct {
    int pieces;
    double work;
  } choices[Levels::most_sizes] = {{1, 20}, {4, 30}};

  std::int64_t words = 1;  // of 8 bytes: the work, then first and last levels
  for (int c = 0; c < Levels::most_sizes; ++c) {
    const std::int64_t wanted =
        (num_values - 1) / (choices[c].pieces * multiprocessors) + 1;
    // Of a piece no row but the last goes beyond its values.
    const std::int64_t values = std::min(wanted, capacity - longest_upper);
    if (values < longest_upper) continue;
    look.values_of_piece[c] = values;
    look.num_pieces[c] = static_cast<int>((num_values - 1) / values + 1);
    words += look.num_pieces[c];
  }
  if (words == 1) return 0;
  std::int64_t* const found = pool.zeros(static_cast<int>(words));
  look.work = found;
  std::int64_t at = 1;
  for (int c = 0; c < Levels::most_sizes; ++c) {
    look.levels[c] = reinterpret_cast<int*>(found + at);
    at += look.num_pieces[c];
  }
  const std::int64_t teams = std::min<std::int64_t>(
      (look.num_rows - 1) / Levels::team_size + 1,
      std::int64_t{Levels::teams_of_multiprocessor} * multiprocessors);
  run_teams<Levels::teams_of_multiprocessor, Levels::team_size>(
      "Strata::IncompleteLu::recipe", exec, static_cast<int>(teams), look);
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
        active += levels[p] + levels[pieces + p] - look.num_levels;
    levels += 2 * pieces;
    if (pieces > 0 && work <= choices[c].work * active)
      return look.values_of_piece[c];
  }
  return 0;
}

}  // namespace Detail
}  // namespace Strata

#endif
