// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_COUNT_IN_ORDER_HPP
#define STRATA_ANALYSIS_MERGING_COUNT_IN_ORDER_HPP

#include <algorithm>
#include <analysis/merging/MergeGroups.hpp>
#include <analysis/merging/ReplaceBySets.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Warp.hpp>
#include <core/memory/WorkPool.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// What others need of a row that has been counted: its status and, if it is
/// merged, where its lists are. In a word, so that one read brings all.
struct CountedRow {
  int status = RowStatus::as_it_was;
  /// The row's coefficients, without the row itself, and then its dependencies.
  bool listed = false;
  int coefficients = 0, dependencies = 0;
  std::uint32_t at = 0;

  static_assert(max_coefficients < 256 && max_dependencies < 256,
                "numbers that a byte holds");
  /// Never zero, which stands for a row that has not been counted.
  KOKKOS_FUNCTION std::uint64_t word() const {
    return std::uint64_t{at} << 32 |
           static_cast<std::uint64_t>(coefficients << 16 | dependencies << 8 |
                                      status << 2 | (listed ? 2 : 0) | 1);
  }
  KOKKOS_FUNCTION static CountedRow of(std::uint64_t word) {
    CountedRow row;
    row.status = static_cast<int>(word >> 2 & 3);
    row.listed = (word & 2) != 0;
    row.dependencies = static_cast<int>(word >> 8 & 255);
    row.coefficients = static_cast<int>(word >> 16 & 255);
    row.at = static_cast<std::uint32_t>(word >> 32);
    return row;
  }
};

/// The lists of rows that have been counted.
struct ListsOfRows {
  std::uint64_t* row;  // by vertex: CountedRow, zero before
  int* words;
  /// Rows whose lists there is no room for have none.
  std::int64_t room;
  std::int64_t* used;  // zero before
};

/// The elimination of ReplaceBySets, but that an x_j of the group is replaced
/// by its row as that has been counted: the lists of a row are the union of
/// those of the dependencies in its group. That takes a few reads of memory one
/// after the other, however many level sets the group has. Where a merged
/// dependency has no lists, as there was no room or an earlier launch has
/// counted it, the elimination starts from the rows as they were.
template <class Groups>
class UniteBySets : public ReplaceBySets {
 public:
  /// @param depth  in their group from which on rows are counted by this
  ///               launch; of others, the status is known
  KOKKOS_FUNCTION UniteBySets(int* scratch, int lane, const ListsOfRows& lists,
                              int depth)
      : ReplaceBySets(scratch, lane), lists_(lists), depth_(depth) {}

  /// Waits for all dependencies in the row's group, as others read what these
  /// have written, too.
  KOKKOS_FUNCTION EliminatedRow run(int row, const Groups& groups,
                                    const NoNotes& notes) const {
    EliminatedRow result;
    const Entries own(groups, row);
    if (own.length() > max_coefficients + max_dependencies) {
      wait_for_all(row, own, groups);
      result.fits = false;
      return result;
    }
    const auto group = groups.group_of(row);
    begin_with(row, own, result);
    bool all_listed = true;
    for (std::int64_t k = own.begin; k < own.end; k += num_lanes) {
      const bool any = k + lane_ < own.end;
      const int from = any ? groups.entry(k + lane_) : -1;
      Entries entries;
      bool same = false;
      if (any) {
        entries = Entries(groups, from);
        same = groups.has(group, from);
      }
      const CountedRow known = wait_for(same, from, groups);
      const bool inner = same && known.status != RowStatus::stays;
      const bool merged = inner && known.status == RowStatus::merged;
      all_listed = !lane_any(merged && !known.listed) && all_listed;
      if (!result.fits || !all_listed) continue;
      take(any, from, inner, entries, result);
      Segment rows;
      if (merged) {
        rows.from = lists_.words + known.at;
        rows.coefficients = known.coefficients;
        rows.length = known.coefficients + known.dependencies;
      } else if (inner) {
        rows.from = groups.graph.entries.data() + entries.begin;
        rows.length = entries.length();
      }
      take_lists(rows, groups, result);
    }
    lane_barrier();
    if (!all_listed) return ReplaceBySets::run(row, groups, notes);
    if (!result.fits) {
      result.coefficients = result.dependencies = 0;
      return result;
    }
    int operations = 0;
    for (int t = lane_; t < result.coefficients; t += num_lanes)
      operations += length_[t];
    result.operations = lane_group_sum(operations, num_lanes);
    return result;
  }

  /// Tells others of a row that has been run and whose status is known.
  /// @param list  whether its lists are of use to any
  KOKKOS_FUNCTION void tell(int row, const EliminatedRow& made, int status,
                            bool list) const {
    CountedRow known;
    known.status = status;
    if (list && status == RowStatus::merged) {
      known.coefficients = made.coefficients - 1;
      known.dependencies = made.dependencies;
      const int length = known.coefficients + known.dependencies;
      std::int64_t at = 0;
      if (lane_ == 0)
        at = Kokkos::atomic_fetch_add(lists_.used, std::int64_t{length});
      at = lane_broadcast(at, 0);
      known.listed = at + length <= lists_.room;
      known.at = static_cast<std::uint32_t>(known.listed ? at : 0);
      for (int i = lane_; known.listed && i < length; i += num_lanes)
        lists_.words[at + i] = i < known.coefficients
                                   ? coefficient(i + 1)
                                   : dependency(i - known.coefficients);
    }
    lane_barrier();
    if (lane_ == 0) store_release(lists_.row + row, known.word());
  }

 private:
  /// What a lane has to add: `coefficients` of them come first.
  struct Segment {
    const int* from = nullptr;
    int coefficients = 0, length = 0;
  };

  /// Of the lanes that have one.
  KOKKOS_FUNCTION CountedRow wait_for(bool any, int row,
                                      const Groups& groups) const {
    CountedRow known;
    std::uint64_t word = 0;
    if (any && groups.level[row] % groups.levels < depth_) {
      known.status = groups.row_status[row];
      word = known.word();
    }
    for (int turn = 0;; ++turn) {
      if (any && word == 0) word = load_acquire(lists_.row + row);
      if (!lane_any(any && word == 0)) break;
      if (turn > 32) pause_while_waiting(turn);
    }
    // Other lanes read what the row's lists have.
    lane_barrier();
    return CountedRow::of(word);
  }
  /// The same of a row of more entries than any list has; several at once.
  KOKKOS_FUNCTION void wait_for_all(int row, const Entries& entries,
                                    const Groups& groups) const {
    constexpr int batch = 4;
    const auto group = groups.group_of(row);
    for (std::int64_t k = entries.begin; k < entries.end;
         k += batch * num_lanes) {
      int from[batch];
      bool waits[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        const std::int64_t at = k + u * num_lanes + lane_;
        from[u] = at < entries.end ? groups.entry(at) : -1;
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        waits[u] = from[u] >= 0 && groups.has(group, from[u]) &&
                   groups.level[from[u]] % groups.levels >= depth_;
      for (int turn = 0;; ++turn) {
        bool any = false;
        STRATA_IMPL_UNROLL
        for (int u = 0; u < batch; ++u) {
          waits[u] = waits[u] && load_acquire(lists_.row + from[u]) == 0;
          any = any || waits[u];
        }
        if (!lane_any(any)) break;
        if (turn > 32) pause_while_waiting(turn);
      }
    }
    lane_barrier();
  }
  KOKKOS_FUNCTION void take_lists(const Segment& mine, const Groups& groups,
                                  EliminatedRow& result) const {
    int sum = mine.length;
    for (int distance = 1; distance < num_lanes; distance *= 2) {
      const int lower = lane_up(sum, distance);
      if (lane_ >= distance) sum += lower;
    }
    const int before = sum - mine.length;
    const int all = lane_broadcast(sum, num_lanes - 1);
    for (int first = 0; first < all && result.fits; first += num_lanes) {
      const int number = first + lane_;
      int lane = 0;
      for (int step = num_lanes / 2; step > 0; step /= 2)
        if (lane_broadcast(before, lane + step) <= number) lane += step;
      // All lanes exchange, those without anything as well.
      const int place = number - lane_broadcast(before, lane);
      const int coefficients = lane_broadcast(mine.coefficients, lane);
      const auto* const from = reinterpret_cast<const int*>(
          lane_broadcast(reinterpret_cast<std::intptr_t>(mine.from), lane));
      const bool any = number < all;
      const bool inner = any && place < coefficients;
      const int key = any ? from[place] : -1;
      take(any, key, inner, inner ? Entries(groups, key) : Entries(), result);
    }
  }

  ListsOfRows lists_;
  int depth_;
};

/// Counts rows in one launch: a row waits for those of its group that it
/// depends on.
///
/// Why it can't deadlock, however few warps run at once: rows have tickets, by
/// depth in their group, so that those which a row waits for have smaller ones,
/// drawn before. A warp draws its next ticket while it works at one, but works
/// at them in the order in which it has drawn them. So the warp that has the
/// smallest unfinished ticket works at it: any ticket that it works at before
/// is smaller, and not finished. That row finds all that it polls, and is
/// finished; so is the next one. Lanes of a warp wait together.
///
/// Cost: some eight reads of memory one after the other for each depth, and a
/// read of the lists of a row's dependencies, where these have lists.
///
/// @tparam Task  CountMergedRows
template <class ExecutionSpace, class Task>
struct CountInOrder {
  using Member = typename LargeFunctorTeams<ExecutionSpace>::member_type;
  using Unite = UniteBySets<typename Task::Groups>;
  static constexpr int team_size = 128, teams_per_multiprocessor = 8;
  static constexpr int warps = team_size / Unite::num_lanes;
  static constexpr int scratch_bytes = warps * Unite::words * 4;
  Task task;
  ListsOfRows lists;
  std::int64_t count;
  int depth;             // of the first of them
  std::int64_t* ticket;  // zero before

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    constexpr int lanes = Unite::num_lanes;
    int* const scratch =
        static_cast<int*>(team.team_scratch(0).get_shmem(int{scratch_bytes}));
    const int warp = team.team_rank() / lanes, lane = team.team_rank() % lanes;
    const Unite unite(scratch + warp * Unite::words, lane, lists, depth);
    const auto& groups = task.groups;
    std::int64_t drawn = draw(lane);
    for (;;) {
      const std::int64_t number = lane_broadcast(drawn, 0);
      if (number >= count) return;
      drawn = draw(lane);
      const int v = task.lengths.vertex(groups, number);
      const EliminatedRow row = unite.run(v, groups, NoNotes());
      const int status = task.keep(v, row, lane, unite);
      const bool deepest = groups.level[v] % groups.levels + 1 == groups.levels;
      unite.tell(v, row, status, !deepest);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION std::int64_t draw(int lane) const {
    return lane == 0 ? Kokkos::atomic_fetch_add(ticket, std::int64_t{1}) : 0;
  }
};

/// Whether `rows` rows of so many depths are counted in order: a launch for
/// each depth leaves most of a device idle then.
inline bool counts_in_order(std::int64_t rows, int depths) {
  return depths >= 4 && rows <= depths * rows_at_once;
}

/// Enqueues CountInOrder for `count` rows, the first of which are of depth
/// `depth` in their groups.
/// @param row   see ListsOfRows, zero
/// @param pool  for what is of no use once they are counted
template <class ExecutionSpace, class Task>
void count_in_order(const char* label, const ExecutionSpace& exec,
                    std::int64_t count, int depth, const Task& task,
                    std::uint64_t* row, WorkPool<ExecutionSpace>& pool) {
  if (count == 0) return;
  using Kernel = CountInOrder<ExecutionSpace, Task>;
  constexpr std::int64_t words_of_row = 32, most_words = std::int64_t{1} << 24;
  std::int64_t* const zeros = pool.zeros(2);
  ListsOfRows lists{row, nullptr, std::min(words_of_row * count, most_words),
                    zeros};
  pool.take(lists.words, lists.room);
  const std::int64_t teams =
      std::min<std::int64_t>((count + Kernel::warps - 1) / Kernel::warps,
                             std::int64_t{Kernel::teams_per_multiprocessor} *
                                 num_multiprocessors(exec));
  LargeFunctorTeams<ExecutionSpace> policy(exec, static_cast<int>(teams),
                                           Kernel::team_size);
  policy.set_scratch_size(0, Kokkos::PerTeam(int{Kernel::scratch_bytes}));
  Kokkos::parallel_for(label, policy,
                       Kernel{task, lists, count, depth, zeros + 1});
}

}  // namespace Detail
}  // namespace Strata

#endif
