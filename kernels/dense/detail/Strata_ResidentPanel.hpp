// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_RESIDENT_PANEL_HPP
#define STRATA_RESIDENT_PANEL_HPP

#include <detail/Strata_PanelState.hpp>
#include <detail/Strata_Pending.hpp>

namespace Strata {
namespace Detail {

/// The largest of the lanes' keys and the lowest lane that holds it.
struct BestLane {
  unsigned long long key;
  int lane;
};
KOKKOS_INLINE_FUNCTION BestLane best_lane(unsigned long long key) {
  const unsigned high = static_cast<unsigned>(key >> 32);
  const unsigned low = static_cast<unsigned>(key);
  const unsigned best_high = lane_max(high);
  const unsigned best_low = lane_max(high == best_high ? low : 0u);
  const unsigned holders =
      lane_ballot(high == best_high && low == best_low);
  return {static_cast<unsigned long long>(best_high) << 32 | best_low,
          lowest_bit(holders)};
}

/// What the teams of a panel tell each other: for every team and column the
/// largest entry's magnitude and row, and that row. Words are their own flags
/// (see Pending). There are two sets: a panel writes one and makes the other
/// pending again for the next panel, whose teams are no more.
template <class Scalar>
struct PanelMessages {
  static constexpr int width = panel_width<Scalar>;
  Packet* keys;  ///< [set][team][column]
  Scalar* rows;  ///< [set][team][column][width]
  int max_teams;

  KOKKOS_INLINE_FUNCTION Packet* key(int set, int team, int column) const {
    return keys + (static_cast<std::int64_t>(set) * max_teams + team) * width +
           column;
  }
  KOKKOS_INLINE_FUNCTION Scalar* row(int set, int team, int column) const {
    return rows +
           ((static_cast<std::int64_t>(set) * max_teams + team) * width +
            column) *
               width;
  }
  KOKKOS_INLINE_FUNCTION static constexpr unsigned long long pending_key() {
    return PendingBits<double>::pending;
  }
};

/// Makes all messages of both sets pending: before the first panel.
template <class Scalar>
struct ResetMessages {
  PanelMessages<Scalar> messages;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    constexpr int width = PanelMessages<Scalar>::width;
    Pending<Scalar>::reset(messages.rows + i);
    if (i % width == 0)
      messages.keys[i / width] = {{PanelMessages<Scalar>::pending_key(),
                                   PanelMessages<Scalar>::pending_key()}};
  }
};

/// Eliminates in a panel with partial pivoting, in one launch: a row a thread,
/// kept in registers. A column takes one round of messages between the teams
/// (none where one team has all rows) and two team barriers.
///
/// Rows do not move before the end. In every step a row's entries move one
/// place to the front and the multiplier goes to the back, so that all places
/// are known to the compiler; after `width` steps they are in order again.
///
/// No deadlock: all teams run at the same time (launch_resident), every team
/// publishes its message of a column before it waits for the others', and
/// needs for that only what it knows after the column before. NaN and zero
/// columns send messages as any other.
template <class Scalar>
struct ResidentPanel {
  static constexpr int width = panel_width<Scalar>;
  static constexpr int max_team_size = 512;

  PanelTask<Scalar> task;
  PanelMessages<Scalar> messages;
  int set;

  struct Scratch {
    Scalar row[width];
    unsigned long long key[max_team_size / 32];
    int thread[max_team_size / 32];
    int pivot_row[width], pivot_column[width];
    unsigned long long best_key;
    int best_row;
  };

  KOKKOS_FUNCTION void operator()(const ResidentTeam& team) const {
    Scratch& scratch = *reinterpret_cast<Scratch*>(team.scratch);
    const int row = team.league_rank * team.team_size + team.team_rank;
    const bool present = row < task.rows;
    Scalar v[width];
    STRATA_IMPL_UNROLL
    for (int k = 0; k < width; ++k)
      v[k] = present && k < task.columns ? task.a(row, k) : Scalar(0);
    const int origin = present ? task.origin[row] : 0;
    forget_other_set(team);

    bool active = present;
    int found = 0, target = row;
    for (int j = 0; j < task.columns; ++j) {
      announce(team, scratch, row, active, j, v);
      const double size = as_magnitude(scratch.best_key);
      const int pivot_row = scratch.best_row;
      // Not a number is no pivot either; it is reported at the end.
      const bool pivot = size > task.tolerance;
      const bool mine = pivot && row == pivot_row;
      if (team.league_rank == 0 && team.team_rank == 0 && !is_finite(size) &&
          task.status->overflow == EliminationStatus::none)
        task.status->overflow = task.first_column + j;
      Scalar last = active && !pivot ? Scalar(0) : v[0], l(0);
      if (active && pivot && !mine) {
        l = v[0] / scratch.row[0];
        last = l;
      }
      STRATA_IMPL_UNROLL
      for (int k = 0; k + 1 < width; ++k)
        v[k] = v[k + 1] - l * scratch.row[k + 1];
      v[width - 1] = last;
      if (mine) {
        active = false;
        target = found;
      }
      if (pivot) {
        // Read after the next barrier at the earliest.
        if (team.team_rank == 0) {
          scratch.pivot_row[found] = pivot_row;
          scratch.pivot_column[found] = j;
        }
        ++found;
      }
    }
    team.barrier();
    put_back(team, scratch, row, present, active, found, target, origin, v);
  }

 private:
  KOKKOS_INLINE_FUNCTION static double as_magnitude(unsigned long long key) {
    double size;
    memcpy(&size, &key, sizeof size);
    return size;
  }

  KOKKOS_INLINE_FUNCTION void forget_other_set(const ResidentTeam& team) const {
    if (team.league_size == 1) return;
    Scalar* const rows = messages.row(1 - set, team.league_rank, 0);
    for (int i = team.team_rank; i < width * width; i += team.team_size)
      Pending<Scalar>::reset(rows + i);
    Packet* const keys = messages.key(1 - set, team.league_rank, 0);
    for (int i = team.team_rank; i < width; i += team.team_size)
      keys[i] = {{messages.pending_key(), messages.pending_key()}};
  }

  /// Finds the largest entry of column j, and puts its row into scratch, with
  /// zeros past the panel's columns.
  KOKKOS_INLINE_FUNCTION void announce(const ResidentTeam& team,
                                       Scratch& scratch, int row, bool active,
                                       int j, const Scalar (&v)[width]) const {
    const int lane = team.team_rank % 32, warp = team.team_rank / 32;
    const int warps = team.team_size / 32;
    unsigned long long key = 0;
    if (active) {
      const double size = magnitude(v[0]);
      memcpy(&key, &size, sizeof key);
    }
    const BestLane of_warp = best_lane(key);
    if (lane == 0) {
      scratch.key[warp] = of_warp.key;
      scratch.thread[warp] = warp * 32 + of_warp.lane;
    }
    team.barrier();
    const BestLane of_team = best_lane(lane < warps ? scratch.key[lane] : 0);
    const bool mine = team.team_rank == scratch.thread[of_team.lane];
    const int left = task.columns - j;
    if (team.league_size == 1) {
      if (mine) {
        STRATA_IMPL_UNROLL
        for (int k = 0; k < width; ++k)
          scratch.row[k] = k < left ? v[k] : Scalar(0);
        scratch.best_key = of_team.key;
        scratch.best_row = row;
      }
    } else {
      if (mine) {
        store_relaxed_packet(
            messages.key(set, team.league_rank, j),
            {{of_team.key, static_cast<unsigned long long>(row)}});
        Scalar* const to = messages.row(set, team.league_rank, j);
        STRATA_IMPL_UNROLL
        for (int k = 0; k < width; ++k) Pending<Scalar>::publish(to + k, v[k]);
      }
      if (warp == 0) listen(team, scratch, lane, j, left);
    }
    team.barrier();
  }

  /// Waits for all teams' messages of column j, and for the best one's row.
  KOKKOS_INLINE_FUNCTION void listen(const ResidentTeam& team,
                                     Scratch& scratch, int lane, int j,
                                     int left) const {
    unsigned long long key = 0;
    int row = 0, from = 0;
    for (int other = lane; other < team.league_size; other += 32) {
      const Packet* const at = messages.key(set, other, j);
      Packet packet = load_relaxed_packet(at);
      for (int turn = 0; packet.word[0] == messages.pending_key() ||
                         packet.word[1] == messages.pending_key();
           ++turn) {
        pause_while_waiting(turn);
        packet = load_relaxed_packet(at);
      }
      if (other == lane || packet.word[0] > key) {
        key = packet.word[0];
        row = static_cast<int>(packet.word[1]);
        from = other;
      }
    }
    const BestLane best = best_lane(key);
    from = lane_broadcast(from, best.lane);
    row = lane_broadcast(row, best.lane);
    if (lane < width) {
      const Scalar* const at = messages.row(set, from, j) + lane;
      Scalar value;
      for (int turn = 0; !Pending<Scalar>::read(at, value); ++turn)
        pause_while_waiting(turn);
      scratch.row[lane] = lane < left ? value : Scalar(0);
    }
    if (lane == 0) {
      scratch.best_key = best.key;
      scratch.best_row = row;
    }
  }

  /// Pivot rows go to the front in order; the other rows that were there to
  /// where pivots came from. A row is written only after all were read: the
  /// last column's message of a team needs every column of its rows.
  KOKKOS_INLINE_FUNCTION void put_back(const ResidentTeam& team,
                                       const Scratch& scratch, int row,
                                       bool present, bool active, int found,
                                       int target, int origin,
                                       const Scalar (&v)[width]) const {
    const PanelInfo& info = task.info;
    if (present && active && row < found) {
      int place = row;
      for (int q = 0; q < found; ++q) place -= scratch.pivot_row[q] < row;
      const int move = found + place;
      for (int q = 0; q < found; ++q)
        if (scratch.pivot_row[q] >= found && place-- == 0)
          target = scratch.pivot_row[q];
      info.source(move) = row;
      info.target(move) = target;
    }
    if (present && !active) {
      info.source(target) = row;
      info.target(target) = target;
    }
    if (team.league_rank == 0 && team.team_rank == 0) {
      int moves = found;
      for (int q = 0; q < found; ++q) {
        moves += scratch.pivot_row[q] >= found;
        info.column(q) = scratch.pivot_column[q];
      }
      info.found() = found;
      info.moves() = moves;
      const int wanted =
          task.columns < task.rows ? task.columns : task.rows;
      if (found < wanted && task.status->lacking == EliminationStatus::none) {
        int column = 0;
        while (column < found && scratch.pivot_column[column] == column)
          ++column;
        task.status->lacking = task.first_column + column;
      }
    }
    if (!present) return;
    task.origin[target] = origin;
    STRATA_IMPL_UNROLL
    for (int k = 0; k < width; ++k) {
      const int column = k - (width - task.columns);
      if (column >= 0) task.a(target, column) = v[k];
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
