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
  static constexpr int num_lanes = gpu_lane_width;
  static constexpr int table_bits = 8, table_size = 1 << table_bits;
  /// A turn finds up to as many as there are lanes before it is known to be too
  /// many.
  static_assert(max_coefficients + max_dependencies + num_lanes < table_size,
                "there is always an empty place to end a search");
  /// Words of scratch: an even number, as some are pairs.
  static constexpr int words =
      5 * max_coefficients + max_dependencies + table_size + table_size / 4;
  static_assert(words % 2 == 0, "those of the next warp are pairs, too");

  KOKKOS_FUNCTION ReplaceBySets(int* scratch, int lane)
      : begin_(reinterpret_cast<std::int64_t*>(scratch)),
        length_(scratch + 2 * max_coefficients),
        list_(length_ + max_coefficients),
        table_(list_ + max_coefficients + max_dependencies),
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
    const auto group = edges.group_of(row);
    begin_with(row, Entries(edges, row), result);
    for (int begin = 0; begin < result.coefficients && result.fits;) {
      const int end = begin + num_lanes < result.coefficients
                          ? begin + num_lanes
                          : result.coefficients;
      const Rows rows(*this, begin, end, [](int t) { return t; });
      for (int first = 0; first < rows.all && result.fits; first += num_lanes) {
        const bool any = first + lane_ < rows.all;
        const std::int64_t edge = rows.edge(first + lane_);
        const int from = any ? edges.entry(edge) : -1;
        // Where its row is gets read beside what decides whether it is
        // replaced.
        bool inner = false;
        Entries entries;
        if (any) {
          entries = Entries(edges, from);
          inner = edges.inner(group, from);
        }
        take(any, from, inner, entries, result);
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
      const int rank = rank_of_coefficient(t, row.coefficients);
      in_order_[others - rank] = t;
      // No row depends on the row itself, the newest.
      if (rank < others)
        code_[find(list_[t])] = static_cast<unsigned char>(rank);
    }
    for (int s = lane_; s < row.dependencies; s += num_lanes)
      code_[find(dependency(s))] = static_cast<unsigned char>(
          others + rank_of_dependency(s, row.dependencies));
    lane_barrier();
    for (int begin = 0; begin < row.coefficients; begin += num_lanes) {
      const int end = begin + num_lanes < row.coefficients ? begin + num_lanes
                                                           : row.coefficients;
      const Rows rows(*this, begin, end, [&](int t) { return in_order_[t]; });
      const int t = begin + lane_;
      if (t > 0 && t < end)
        length[t - 1] = static_cast<unsigned char>(length_[in_order_[t]]);
      for (int first = 0; first < rows.all; first += num_lanes) {
        const int o = first + lane_;
        const std::int64_t edge = rows.edge(o);
        if (o < rows.all) slot[o] = code_[find(edges.entry(edge))];
      }
      slot += rows.all;
    }
  }

 private:
  /// Where a row's entries are.
  struct Entries {
    std::int64_t begin = 0, end = 0;

    KOKKOS_FUNCTION Entries() {}
    template <class Edges>
    KOKKOS_FUNCTION Entries(const Edges& edges, int v)
        : begin(edges.first(v)), end(edges.end(v)) {}
    KOKKOS_FUNCTION int length() const {
      // Rows of more entries than that fit no list.
      constexpr std::int64_t longest = std::int64_t{1} << 20;
      return static_cast<int>(end - begin < longest ? end - begin : longest);
    }
  };
  /// Empties the table and both lists, but for the row itself.
  KOKKOS_FUNCTION void begin_with(int row, const Entries& own,
                                  EliminatedRow& result) const {
    for (int i = lane_; i < table_size; i += num_lanes) table_[i] = -1;
    if (lane_ == 0) keep(0, row, own);
    result.coefficients = 1;
    lane_barrier();
  }
  /// Takes what a lane has found, if it has any and it is new. All lanes make
  /// the same calls.
  /// @param inner    whether it is replaced
  /// @param entries  of its row, if so
  KOKKOS_FUNCTION void take(bool any, int from, bool inner,
                            const Entries& entries,
                            EliminatedRow& result) const {
    const bool fresh = any && insert(from);
    const int t = append(fresh && inner, result.coefficients);
    if (t >= 0 && t < max_coefficients) keep(t, from, entries);
    const int s = append(fresh && !inner, result.dependencies);
    if (s >= 0 && s < max_dependencies) list_[max_coefficients + s] = from;
    result.fits = result.coefficients <= max_coefficients &&
                  result.dependencies <= max_dependencies;
  }
  /// Coefficient t is that of row v.
  KOKKOS_FUNCTION void keep(int t, int v, const Entries& entries) const {
    list_[t] = v;
    begin_[t] = entries.begin;
    length_[t] = entries.length();
  }

  /// The entries of the rows of up to as many coefficients as there are lanes,
  /// one row after the other. All lanes make the same calls.
  struct Rows {
    std::int64_t base;  // of a lane's row: where it begins, less `before`
    int before, all;
    bool single;

    /// @param place  of the coefficient of each number from `begin` to `end`
    template <class Place>
    KOKKOS_FUNCTION Rows(const ReplaceBySets& of, int begin, int end,
                         const Place& place)
        : base(0), before(0), all(0), single(end - begin == 1) {
      if (single) {
        const int t = place(begin);
        base = of.begin_[t];
        all = of.length_[t];
        return;
      }
      int length = 0;
      if (begin + of.lane_ < end) {
        const int t = place(begin + of.lane_);
        base = of.begin_[t];
        length = of.length_[t];
      }
      int sum = length;
      for (int distance = 1; distance < num_lanes; distance *= 2) {
        const int lower = lane_up(sum, distance);
        if (of.lane_ >= distance) sum += lower;
      }
      before = sum - length;
      base -= before;
      all = lane_broadcast(sum, num_lanes - 1);
    }
    KOKKOS_FUNCTION std::int64_t edge(int number) const {
      if (single) return base + number;
      int lane = 0;
      for (int step = num_lanes / 2; step > 0; step /= 2)
        if (lane_broadcast(before, lane + step) <= number) lane += step;
      return lane_broadcast(base, lane) + number;
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
  /// The place of what a lane appends to a list, if it is `fresh`; else -1.
  KOKKOS_FUNCTION int append(bool fresh, int& count) const {
    const LaneMask all = lane_ballot(fresh);
    const int at = count + count_bits(all & ((1u << lane_) - 1));
    count += count_bits(all);
    return fresh ? at : -1;
  }
  KOKKOS_FUNCTION int rank_of(int begin, int place, int count) const {
    const int own = list_[begin + place];
    int rank = 0;
    for (int i = 0; i < count; ++i) rank += list_[begin + i] < own;
    return rank;
  }

  // Where a coefficient's row begins, and how many entries it has.
  std::int64_t* begin_;
  int* length_;
  /// Coefficients and, behind room for all, dependencies.
  int* list_;
  int *table_, *in_order_;
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
