// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_RESIDENT_PANEL_HPP
#define STRATA_KERNELS_DENSE_RESIDENT_PANEL_HPP

#include <core/device/Arithmetic.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/ResidentLaunch.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/InspectValues.hpp>
#include <kernels/dense/PanelState.hpp>

namespace Strata {
namespace Detail {

/// The largest of the lanes' keys and the lowest lane that holds it.
struct BestLane {
  unsigned long long key;
  int lane;
};
template <class Scalar>
KOKKOS_INLINE_FUNCTION BestLane best_lane(unsigned long long key) {
  const unsigned high = static_cast<unsigned>(key >> 32);
  const unsigned best_high = lane_max(high);
  unsigned best_low = 0;
  bool holds = high == best_high;
  if constexpr (!PivotKey<Scalar>::in_upper_half) {
    const unsigned low = static_cast<unsigned>(key);
    best_low = lane_max(holds ? low : 0u);
    holds = holds && low == best_low;
  }
  return {static_cast<unsigned long long>(best_high) << 32 | best_low,
          lowest_bit(lane_ballot(holds))};
}

/// A team's largest entry of a column.
template <class Scalar>
struct PanelCandidate {
  unsigned long long key;  ///< see PivotKey
  Scalar reciprocal;
  int row;
};

/// What the teams of a panel tell each other: for every team and column the
/// largest entry's magnitude and row number, its reciprocal and its row. Words
/// are their own flags (see NotReady). There are two sets: a panel writes one
/// and makes the other not ready again for the next panel, which has as many
/// teams or fewer.
template <class Scalar>
struct PanelMessages {
  static constexpr int width = panel_width<Scalar>;
  /// The row and the reciprocal.
  static constexpr int length = width + 1;
  Packet* keys;    ///< [set][team][column]
  Scalar* values;  ///< [set][team][column][length]
  int max_teams;

  KOKKOS_INLINE_FUNCTION Packet* key(int set, int team, int column) const {
    return keys + (static_cast<std::int64_t>(set) * max_teams + team) * width +
           column;
  }
  KOKKOS_INLINE_FUNCTION Scalar* value(int set, int team, int column) const {
    return values +
           ((static_cast<std::int64_t>(set) * max_teams + team) * width +
            column) *
               length;
  }
  KOKKOS_INLINE_FUNCTION static constexpr unsigned long long not_ready_key() {
    return NotReadyBits<double>::not_ready;
  }
  KOKKOS_INLINE_FUNCTION static Packet not_ready() {
    return {{not_ready_key(), not_ready_key()}};
  }
};

/// Makes all messages of both sets not ready: before the first panel.
template <class Scalar>
struct ResetMessages {
  PanelMessages<Scalar> messages;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    constexpr int length = PanelMessages<Scalar>::length;
    NotReady<Scalar>::reset(messages.values + i);
    if (i % length == 0) messages.keys[i / length] = messages.not_ready();
  }
};

/// Eliminates in a panel with partial pivoting, in one launch: a row a thread,
/// kept in registers. A column takes one round of messages between the teams
/// (none where one team has all rows) and two team barriers.
///
/// Rows do not move. In every step a row's entries move one place to the front
/// and zeros follow, so that all places are known to the compiler; multipliers
/// go to memory at once.
///
/// No deadlock: all teams run at the same time (run_resident_teams), every team
/// publishes its message of a column before it waits for the others', and
/// needs for that only what it knows after the column before. NaN and zero
/// columns send messages as any other.
///
/// @tparam threads  of a team at most
template <class Scalar, class ExecutionSpace, int threads = 512>
struct ResidentPanel {
  static constexpr int width = panel_width<Scalar>;
  static constexpr int lanes = lane_width<ExecutionSpace>;
  static constexpr int max_team_size = threads;
  using Key = PivotKey<Scalar>;

  PanelTask<Scalar> task;
  PanelMessages<Scalar> messages;
  int set;

  /// Entries of a row that scratch takes and gives at once.
  struct alignas(16) Group {
    static constexpr int size = 16 / static_cast<int>(sizeof(Scalar));
    Scalar entry[size];
  };
  static constexpr int groups = width / Group::size;
  /// Followed by the teams' rows and their candidates.
  struct Scratch {
    unsigned long long key[max_team_size / lanes];
    int lane[max_team_size / lanes];
    int pivot_row[width], pivot_column[width];
  };

  KOKKOS_INLINE_FUNCTION static std::size_t scratch_bytes(int teams) {
    return first_row +
           teams * (sizeof(Group) * groups + sizeof(PanelCandidate<Scalar>));
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    char* const bytes = static_cast<char*>(
        team.team_scratch(0).get_shmem(scratch_bytes(team.league_size())));
    Scratch& scratch = *reinterpret_cast<Scratch*>(bytes);
    Group* const rows = reinterpret_cast<Group*>(bytes + first_row);
    PanelCandidate<Scalar>* const candidates =
        reinterpret_cast<PanelCandidate<Scalar>*>(rows +
                                                  team.league_size() * groups);
    const int lane = team.team_rank() % lanes, warp = team.team_rank() / lanes;
    const int row = team.league_rank() * team.team_size() + team.team_rank();
    bool active = row < task.rows;
    Scalar v[width];
    STRATA_IMPL_UNROLL
    for (int k = 0; k < width; ++k)
      v[k] = active && k < task.columns ? task.a(row, k) : Scalar(0);
    forget_other_set(team);

    // Only one thread needs its reciprocal; which one is known too late.
    Scalar reciprocal = fast_reciprocal(v[0]);
    propose(scratch, lane, warp, active, v[0]);
    int found = 0, own_pivot = -1;
    for (int j = 0; j < task.columns; ++j) {
      team.team_barrier();
      exchange(team, scratch, candidates, rows, row, j, reciprocal, v);
      team.team_barrier();

      const int from = best_candidate(candidates, lane, team.league_size());
      const PanelCandidate<Scalar>& best = candidates[from];
      const Group* const p = rows + from * groups;
      const Scalar* const entries = entries_of(p);
      const double size = Key::magnitude_of(best.key);
      // A NaN is no pivot either: EliminationStatus::overflow reports it.
      const bool pivot = size > task.tolerance;
      const bool mine = pivot && row == best.row;
      Scalar l(0);
      if (active && pivot && !mine)
        l = usable_reciprocal(best.reciprocal) ? v[0] * best.reciprocal
                                               : v[0] / entries[0];
      if (active && !mine) task.a(row, j) = l;
      if (mine) {
        active = false;
        own_pivot = found;
      }
      v[0] = v[1] - l * entries[1];
      reciprocal = fast_reciprocal(v[0]);
      propose(scratch, lane, warp, active, v[0]);
      if (j < width / 2)
        eliminate<width>(v, l, p);
      else
        eliminate<width / 2 + 1>(v, l, p);
      // The last warp of the pivot's team writes what is final of its row.
      if (pivot && from == team.league_rank() &&
          warp == team.team_size() / lanes - 1 && lane < task.columns - j)
        task.a(best.row, j + lane) = entries[lane];
      if (team.league_rank() == 0 && team.team_rank() == 0 &&
          !is_finite(size) && task.status->overflow == EliminationStatus::none)
        task.status->overflow = task.first_column + j;
      if (pivot) {
        if (team.team_rank() == 0) {
          scratch.pivot_row[found] = best.row;
          scratch.pivot_column[found] = j;
        }
        ++found;
      }
    }
    team.team_barrier();
    report(team, scratch, row, found, own_pivot);
  }

 private:
  static constexpr std::size_t first_row = (sizeof(Scratch) + 15) / 16 * 16;

  KOKKOS_INLINE_FUNCTION static Scalar* entries_of(Group* row) {
    return reinterpret_cast<Scalar*>(row);
  }
  KOKKOS_INLINE_FUNCTION static const Scalar* entries_of(const Group* row) {
    return reinterpret_cast<const Scalar*>(row);
  }

  template <class Team>
  KOKKOS_INLINE_FUNCTION void forget_other_set(const Team& team) const {
    if (team.league_size() == 1) return;
    Scalar* const values = messages.value(1 - set, team.league_rank(), 0);
    for (int i = team.team_rank(); i < width * messages.length;
         i += team.team_size())
      NotReady<Scalar>::reset(values + i);
    Packet* const keys = messages.key(1 - set, team.league_rank(), 0);
    for (int i = team.team_rank(); i < width; i += team.team_size())
      keys[i] = messages.not_ready();
  }

  /// The warp's largest entry of the column.
  KOKKOS_INLINE_FUNCTION static void propose(Scratch& scratch, int lane,
                                             int warp, bool active,
                                             const Scalar& entry) {
    const BestLane best = best_lane<Scalar>(active ? Key::of(entry) : 0);
    if (lane == 0) {
      scratch.key[warp] = best.key;
      scratch.lane[warp] = best.lane;
    }
  }

  /// All teams' largest entries of column j, with their rows, into scratch.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void exchange(const Team& team, const Scratch& scratch,
                                       PanelCandidate<Scalar>* candidates,
                                       Group* rows, int row, int j,
                                       const Scalar& reciprocal,
                                       const Scalar (&v)[width]) const {
    const int lane = team.team_rank() % lanes, warp = team.team_rank() / lanes;
    const int warps = team.team_size() / lanes;
    const BestLane of_team =
        best_lane<Scalar>(lane < warps ? scratch.key[lane] : 0);
    Group* const own = rows + team.league_rank() * groups;
    PanelCandidate<Scalar>& candidate = candidates[team.league_rank()];
    if (warp == of_team.lane) {
      if (lane == scratch.lane[warp]) {
        STRATA_IMPL_UNROLL
        for (int g = 0; g < groups; ++g) {
          Group group;
          STRATA_IMPL_UNROLL
          for (int e = 0; e < Group::size; ++e)
            group.entry[e] = v[g * Group::size + e];
          own[g] = group;
        }
        candidate.key = of_team.key;
        candidate.reciprocal = reciprocal;
        candidate.row = row;
      }
      lane_barrier();
      if (team.league_size() > 1) {
        if (lane == 0)
          store_relaxed_packet(messages.key(set, team.league_rank(), j),
                               {{candidate.key, static_cast<unsigned long long>(
                                                    candidate.row)}});
        Scalar* const to = messages.value(set, team.league_rank(), j);
        if (lane < width)
          NotReady<Scalar>::publish(to + lane, entries_of(own)[lane]);
        if (lane == 1)
          NotReady<Scalar>::publish(to + width, candidate.reciprocal);
      }
    }
    for (int other = warp; other < team.league_size(); other += warps)
      if (other != team.league_rank())
        listen(candidates[other], entries_of(rows + other * groups), lane,
               other, j);
  }

  /// Waits for a team's message of column j. All lanes of a warp.
  KOKKOS_INLINE_FUNCTION void listen(PanelCandidate<Scalar>& candidate,
                                     Scalar* row, int lane, int other,
                                     int j) const {
    const Packet* const key_at = messages.key(set, other, j);
    const Scalar* const at = messages.value(set, other, j);
    const Scalar* const entry_at = at + (lane < width ? lane : width);
    Packet key;
    Scalar entry, reciprocal;
    for (int turn = 0;; ++turn) {
      key = load_relaxed_packet(key_at);
      bool complete = key.word[0] != messages.not_ready_key() &&
                      key.word[1] != messages.not_ready_key();
      complete = NotReady<Scalar>::read(entry_at, entry) && complete;
      complete = NotReady<Scalar>::read(at + width, reciprocal) && complete;
      if (!lane_any(!complete)) break;
      pause_while_waiting(turn);
    }
    if (lane < width) row[lane] = entry;
    if (lane == 0) {
      candidate.key = key.word[0];
      candidate.reciprocal = reciprocal;
      candidate.row = static_cast<int>(key.word[1]);
    }
  }

  /// The team with the largest entry; all teams come to the same answer.
  KOKKOS_INLINE_FUNCTION static int best_candidate(
      const PanelCandidate<Scalar>* candidates, int lane, int teams) {
    if (teams == 1) return 0;
    unsigned long long key = 0;
    int from = 0;
    for (int other = lane; other < teams; other += lanes)
      if (other == lane || candidates[other].key > key) {
        key = candidates[other].key;
        from = other;
      }
    const BestLane best = best_lane<Scalar>(lane < teams ? key : 0);
    return lane_broadcast(from, best.lane);
  }

  /// Entries 1 and up, of which those from `count` on are zero.
  template <int count>
  KOKKOS_INLINE_FUNCTION static void eliminate(Scalar (&v)[width],
                                               const Scalar& l,
                                               const Group* p) {
    constexpr int places = count < width ? count : width;
    STRATA_IMPL_UNROLL
    for (int g = 0; g < groups; ++g) {
      if (g * Group::size >= places) continue;
      const Group group = p[g];
      STRATA_IMPL_UNROLL
      for (int e = 0; e < Group::size; ++e) {
        const int k = g * Group::size + e;
        if (k >= 2 && k < places) v[k - 1] = v[k] - l * group.entry[e];
      }
    }
    v[places - 1] = Scalar(0);
  }

  /// Pivot rows are to go to the front in order, and the other rows that are
  /// there to where pivots come from.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void report(const Team& team, const Scratch& scratch,
                                     int row, int found, int own_pivot) const {
    const PanelInfo& info = task.info;
    if (row < found && own_pivot < 0) {
      int place = row;
      for (int q = 0; q < found; ++q) place -= scratch.pivot_row[q] < row;
      info.source(found + place) = row;
      int left = place;
      for (int q = 0; q < found; ++q)
        if (scratch.pivot_row[q] >= found && left-- == 0)
          info.target(found + place) = scratch.pivot_row[q];
    }
    if (own_pivot >= 0) {
      info.source(own_pivot) = row;
      info.target(own_pivot) = own_pivot;
    }
    // Multipliers of this team's pivots, written by its threads.
    const int first = team.league_rank() * team.team_size();
    copy_together<2>(
        team.team_rank(), found * found, team.team_size(),
        [&](int k) {
          const int i = k / found, q = k % found;
          const int from = scratch.pivot_row[i];
          const bool wanted =
              q < i && from >= first && from < first + team.team_size();
          return wanted ? task.a(from, scratch.pivot_column[q]) : Scalar(0);
        },
        [&](int k, const Scalar& value) {
          const int i = k / found, q = k % found;
          const int from = scratch.pivot_row[i];
          if (q < i && from >= first && from < first + team.team_size())
            task.tile(i, q) = value;
        });
    if (team.league_rank() == 0 && team.team_rank() == 0) {
      int moves = found;
      for (int q = 0; q < found; ++q) {
        moves += scratch.pivot_row[q] >= found;
        info.column(q) = scratch.pivot_column[q];
      }
      info.found() = found;
      info.moves() = moves;
      const int wanted = task.columns < task.rows ? task.columns : task.rows;
      if (found < wanted && task.status->lacking == EliminationStatus::none) {
        int column = 0;
        while (column < found && scratch.pivot_column[column] == column)
          ++column;
        task.status->lacking = task.first_column + column;
      }
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
