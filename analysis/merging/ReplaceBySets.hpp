// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_REPLACE_BY_SETS_HPP
#define STRATA_ANALYSIS_MERGING_REPLACE_BY_SETS_HPP

#include <analysis/merging/EliminateRows.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/RowPolicy.hpp>

namespace Strata {
namespace Detail {

/// The elimination of EliminateRow for MergedLevels, where there are fewer rows
/// than a device has lanes: a warp works at a row. In each turn, it replaces
/// together all x_j of the group that the turn before has found. So a few reads
/// of memory follow each other for each level set of a group, and not for each
/// x_j, of which there are up to 60. A hash table in scratch has the vertices
/// that were found. Hosts do not use this class.
///
/// The lists are in no fixed order; their ranks are those of EliminateRow.
class ReplaceBySets {
 public:
  static constexpr int num_lanes = 32;
  static constexpr int table_bits = 8, table_size = 1 << table_bits;
  /// A turn finds up to as many as there are lanes before it is known to be too
  /// many.
  static_assert(max_coefficients + max_dependencies + num_lanes < table_size,
                "there is always an empty place to end a search");
  /// Words of scratch.
  static constexpr int words =
      2 * max_coefficients + max_dependencies + table_size + table_size / 4;

  KOKKOS_FUNCTION ReplaceBySets(int* scratch, int lane)
      : list_(scratch),
        table_(scratch + max_coefficients + max_dependencies),
        in_order_(table_ + table_size),
        code_(reinterpret_cast<unsigned char*>(in_order_ + max_coefficients)),
        lane_(lane) {}

  KOKKOS_FUNCTION int coefficient(int t) const { return list_[t]; }
  KOKKOS_FUNCTION int dependency(int s) const {
    return list_[max_coefficients + s];
  }
  KOKKOS_FUNCTION int rank_of_coefficient(int t, int coefficients) const {
    return rank_of(0, t, coefficients);
  }
  KOKKOS_FUNCTION int rank_of_dependency(int s, int dependencies) const {
    return rank_of(max_coefficients, s, dependencies);
  }

  /// See EliminateRow::run_and_note: `slots` are left to write_recipe.
  template <class Edges>
  KOKKOS_FUNCTION EliminatedRow run_and_note(int row, const Edges& edges,
                                             unsigned char*) const {
    return run(row, edges, NoNotes());
  }
  /// See EliminateRow::run.
  template <class Edges>
  KOKKOS_FUNCTION EliminatedRow run(int row, const Edges& edges,
                                    const NoNotes&) const {
    EliminatedRow result;
    result.fits = row >= 0;
    if (row < 0) return result;
    for (int i = lane_; i < table_size; i += num_lanes) table_[i] = -1;
    if (lane_ == 0) list_[0] = row;
    result.coefficients = 1;
    lane_barrier();
    for (int begin = 0; begin < result.coefficients && result.fits;) {
      const int end = begin + num_lanes < result.coefficients
                          ? begin + num_lanes
                          : result.coefficients;
      const Rows rows(begin + lane_ < end ? list_[begin + lane_] : -1, lane_,
                      edges);
      for (int first = 0; first < rows.all && result.fits; first += num_lanes) {
        const bool any = first + lane_ < rows.all;
        const Entry at = rows.entry(first + lane_);
        const int from = any ? edges.entry(at.edge) : -1;
        const bool inner = any && edges.inner(at.edge, from, at.row);
        const bool fresh = any && insert(from);
        result.fits = add(fresh && inner, from, list_, result.coefficients,
                          max_coefficients) &&
                      add(fresh && !inner, from, list_ + max_coefficients,
                          result.dependencies, max_dependencies);
      }
      result.operations += rows.all;
      begin = end;
      lane_barrier();
    }
    if (!result.fits) result.coefficients = result.dependencies = 0;
    return result;
  }

  /// See EliminateRow::write_recipe.
  template <class Edges>
  KOKKOS_FUNCTION void write_recipe(const EliminatedRow& row,
                                    const Edges& edges, unsigned char* length,
                                    unsigned char* slot) const {
    const int others = row.coefficients - 1;
    for (int t = lane_; t < row.coefficients; t += num_lanes) {
      const int rank = rank_of_coefficient(t, row.coefficients), v = list_[t];
      in_order_[others - rank] = v;
      // No row depends on the row itself, the newest.
      if (rank < others) code_[find(v)] = static_cast<unsigned char>(rank);
    }
    for (int s = lane_; s < row.dependencies; s += num_lanes)
      code_[find(dependency(s))] = static_cast<unsigned char>(
          others + rank_of_dependency(s, row.dependencies));
    lane_barrier();
    for (int t = lane_; lane_any(t < row.coefficients); t += num_lanes) {
      const Rows rows(t < row.coefficients ? in_order_[t] : -1, lane_, edges);
      if (t > 0 && t < row.coefficients)
        length[t - 1] = static_cast<unsigned char>(rows.length);
      for (int first = 0; first < rows.all; first += num_lanes) {
        const int o = first + lane_;
        const Entry at = rows.entry(o);
        if (o < rows.all) slot[o] = code_[find(edges.entry(at.edge))];
      }
      slot += rows.all;
    }
  }

 private:
  struct Entry {
    std::int64_t edge;
    int row;
  };
  /// A row for each lane, -1 for none: their entries one after the other. All
  /// lanes make the same calls.
  struct Rows {
    std::int64_t first;
    int row, length, before, all;

    /// Rows of more entries than that fit no list.
    static constexpr int longest = 1 << 20;
    template <class Edges>
    KOKKOS_FUNCTION Rows(int v, int lane, const Edges& edges)
        : first(v < 0 ? 0 : edges.first(v)), row(v) {
      const std::int64_t entries = v < 0 ? 0 : edges.end(v) - first;
      length = static_cast<int>(entries < longest ? entries : longest);
      int sum = length;
      for (int distance = 1; distance < num_lanes; distance *= 2) {
        const int lower = lane_up(sum, distance);
        if (lane >= distance) sum += lower;
      }
      before = sum - length;
      all = lane_broadcast(sum, num_lanes - 1);
    }
    KOKKOS_FUNCTION Entry entry(int number) const {
      int lane = 0;
      for (int step = num_lanes / 2; step > 0; step /= 2)
        if (lane_broadcast(before, lane + step) <= number) lane += step;
      return {
          lane_broadcast(first, lane) + number - lane_broadcast(before, lane),
          lane_broadcast(row, lane)};
    }
  };

  /// False if it has been there.
  KOKKOS_FUNCTION bool insert(int key) const {
    for (unsigned at = place_of(key);; at = (at + 1) % table_size) {
      const int there = Kokkos::atomic_compare_exchange(table_ + at, -1, key);
      if (there == -1) return true;
      if (there == key) return false;
    }
  }
  /// Of one that is there.
  KOKKOS_FUNCTION unsigned find(int key) const {
    unsigned at = place_of(key);
    while (table_[at] != key) at = (at + 1) % table_size;
    return at;
  }
  KOKKOS_FUNCTION static unsigned place_of(int key) {
    return (static_cast<unsigned>(key) * 2654435761u) >> (32 - table_bits);
  }
  /// Appends what the lanes that are `fresh` have; false if that is too much.
  KOKKOS_FUNCTION bool add(bool fresh, int key, int* list, int& count,
                           int most) const {
    const unsigned all = lane_ballot(fresh);
    const int at = count + count_bits(all & ((1u << lane_) - 1));
    if (fresh && at < most) list[at] = key;
    count += count_bits(all);
    return count <= most;
  }
  KOKKOS_FUNCTION int rank_of(int begin, int place, int count) const {
    const int own = list_[begin + place];
    int rank = 0;
    for (int i = 0; i < count; ++i) rank += list_[begin + i] < own;
    return rank;
  }

  int *list_, *table_, *in_order_;
  unsigned char* code_;
  int lane_;
};

/// `task` for every number below `count`, a warp each: see EliminateRows.
template <class ExecutionSpace, class Task>
struct ReplaceRowsBySets {
  using Member = typename LargeFunctorTeams<ExecutionSpace>::member_type;
  static constexpr int team_size = 128;
  static constexpr int rows = team_size / ReplaceBySets::num_lanes;
  static constexpr int scratch_bytes = rows * ReplaceBySets::words * 4;
  Task task;
  std::int64_t count;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    constexpr int lanes = ReplaceBySets::num_lanes;
    int* const scratch =
        static_cast<int*>(team.team_scratch(0).get_shmem(int{scratch_bytes}));
    const int mine = team.team_rank() / lanes, lane = team.team_rank() % lanes;
    const std::int64_t number =
        static_cast<std::int64_t>(team.league_rank()) * rows + mine;
    task(number < count ? number : -1, lane,
         ReplaceBySets(scratch + mine * ReplaceBySets::words, lane));
  }
};

/// As many warps as a device holds a dozen times over.
constexpr std::int64_t few_rows_to_replace = std::int64_t{1} << 17;

/// As many as it holds at once, twice over: they take less time by warps even
/// where lists are short.
constexpr std::int64_t rows_at_once = std::int64_t{1} << 14;

/// Rows of such lists, whose lengths are known, up to which a warp for each is
/// faster than fewer lanes: lanes that look through long lists one by one take
/// long.
inline std::int64_t most_rows_to_replace(ListLengths lists) {
  return lists.coefficients < 16 ? few_rows_to_replace
                                 : 4 * few_rows_to_replace;
}

/// Whether lanes are done with many rows of such lists as soon as warps are.
inline bool short_lists(ListLengths lists) {
  return lists.coefficients <= 8 &&
         lists.dependencies <= max_dependencies_of_lane;
}

/// eliminate_rows for tasks that ReplaceBySets suits, too.
/// @param lists    as for eliminate_rows; ReplaceBySets has room for all
/// @param longest  lists that no row outgrows, or none that fits
/// @param most     rows that ReplaceBySets takes
template <class ExecutionSpace, class Task>
void replace_rows(const char* label, const ExecutionSpace& exec,
                  std::int64_t count, double mean_length, const Task& task,
                  ListLengths lists = {0, 0},
                  ListLengths longest = {max_coefficients, max_dependencies},
                  std::int64_t most = few_rows_to_replace) {
  if constexpr (is_gpu<ExecutionSpace>) {
    if (count > 0 && count <= most &&
        (count <= rows_at_once || !short_lists(longest))) {
      using Kernel = ReplaceRowsBySets<ExecutionSpace, Task>;
      LargeFunctorTeams<ExecutionSpace> policy(
          exec, static_cast<int>((count + Kernel::rows - 1) / Kernel::rows),
          Kernel::team_size);
      policy.set_scratch_size(0, Kokkos::PerTeam(int{Kernel::scratch_bytes}));
      Kokkos::parallel_for(label, policy, Kernel{task, count});
      return;
    }
  }
  (void)longest;
  (void)most;
  eliminate_rows(label, exec, count, mean_length, task, lists);
}

}  // namespace Detail
}  // namespace Strata

#endif
