// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_STAGES_FUSED_STAGES_HPP
#define STRATA_ANALYSIS_STAGES_FUSED_STAGES_HPP

#include <algorithm>
#include <core/device/Atomics.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/ResidentLaunch.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Number of indices of a phase: known to the host, or found by an earlier
/// phase, at `found` in device memory, and then at most `most`.
struct StageCount {
  std::int64_t most = 0;
  const std::int64_t* found = nullptr;
  StageCount() = default;
  StageCount(std::int64_t count) : most(count) {}
  StageCount(std::int64_t at_most, const std::int64_t* where)
      : most(at_most), found(where) {}
  KOKKOS_FUNCTION std::int64_t operator()() const {
    return found ? *found : most;
  }
};

/// A phase calls stages(Tag(), i) for every i below `count`.
template <class Tag>
struct EachStage {
  static constexpr bool sums = false;
  StageCount count;
};
/// A phase that also learns the sum over smaller i of what the calls add to
/// their second argument: stages(Tag(), i, sum, final). Calls are made with
/// `final` false first, when they may only add.
template <class Tag>
struct SumStage {
  static constexpr bool sums = true;
  StageCount count;
};

/// A phase that calls stages(Tag(), row, lane, lanes) as for_each_row does, for
/// rows of so many entries together; stages.length(row) tells those of one.
template <class Tag>
struct RowsStage {
  static constexpr bool sums = false;
  StageCount count;
  std::int64_t entries;
};
/// A phase that every thread of every team takes part in:
/// stages(Tag(), team), of which there are `count` threads' work. Launched
/// alone, it gets `teams_per_multiprocessor` teams of `team_size` for a
/// multiprocessor.
template <class Tag>
struct TeamStage {
  static constexpr bool sums = false;
  static constexpr int team_size = 128, teams_per_multiprocessor = 8;
  StageCount count;
};

template <class Stages, class Tag>
struct EachOfStage {
  Stages stages;
  StageCount count;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (!count.found || i < *count.found) stages(Tag(), i);
  }
};
template <class Stages, class Tag>
struct SumOfStage {
  Stages stages;
  StageCount count;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, std::int64_t& sum,
                                         bool final) const {
    if (!count.found || i < *count.found) stages(Tag(), i, sum, final);
  }
};

template <class Stages, class Tag>
struct RowsOfStage {
  Stages stages;
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return stages.length(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    stages(Tag(), row, lane, lanes);
  }
};
template <class Stages, class Tag, class Member>
struct TeamOfStage {
  Stages stages;
  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    stages(Tag(), team.team_rank());
  }
};

/// One after the other, in device code.
template <class... Stage>
struct StageList {};
template <class First, class... Rest>
struct StageList<First, Rest...> {
  static constexpr bool one_sum = sizeof...(Rest) == 0 && First::sums;
  First first;
  StageList<Rest...> rest;
};
inline StageList<> stage_list() { return {}; }
template <class First, class... Rest>
StageList<First, Rest...> stage_list(const First& first, const Rest&... rest) {
  return {first, stage_list(rest...)};
}

/// Sizes of TeamsTogether.
struct TeamsTogetherSizes {
  /// Tiles of a sum that a team takes at a time: an index of each a thread.
  static constexpr int batch = 4;
  /// Words of scratch, one for each warp and tile, and their sum.
  static constexpr int scratch_bytes = (32 * batch + 1) * sizeof(std::int64_t);
  /// Teams at most.
  static constexpr int most_teams = 1024;
};

/// What teams that all run at the same time need to work together: a barrier
/// and prefix sums. All threads of all teams have to make the same calls.
template <class Team>
class TeamsTogether : public TeamsTogetherSizes {
 public:
  KOKKOS_INLINE_FUNCTION TeamsTogether(const Team& team, std::int64_t* arrived,
                                       std::int64_t* partial)
      : team_(team), arrived_(arrived), partial_(partial) {}

  KOKKOS_INLINE_FUNCTION std::int64_t thread() const {
    return std::int64_t{team_.league_rank()} * team_.team_size() +
           team_.team_rank();
  }
  KOKKOS_INLINE_FUNCTION std::int64_t threads() const {
    return std::int64_t{team_.league_size()} * team_.team_size();
  }
  /// Everything that any thread has written before is seen by all after it.
  /// Waits for teams that run at the same time and come here as well.
  KOKKOS_INLINE_FUNCTION void barrier() {
    team_.team_barrier();
    if (team_.league_size() == 1) return;
    expected_ += static_cast<unsigned>(team_.league_size());
    if (team_.team_rank() == 0) {
      unsigned* const counter = reinterpret_cast<unsigned*>(arrived_);
      Kokkos::memory_fence();
      Kokkos::atomic_fetch_add(counter, 1u);
      while (load_acquire(counter) < expected_) {
      }
      Kokkos::memory_fence();
    }
    team_.team_barrier();
  }
  template <class Call>
  KOKKOS_INLINE_FUNCTION void each(std::int64_t count, const Call& call) const {
    for (std::int64_t i = thread(); i < count; i += threads()) call(i);
  }
  /// `lanes` of a warp share a row, all of them one that is much longer.
  template <class Call>
  KOKKOS_INLINE_FUNCTION void rows(std::int64_t rows, int lanes,
                                   const Call& call) const {
    const int lane = team_.team_rank() % width;
    for (std::int64_t first = thread() - lane; first < rows * lanes;
         first += threads()) {
      const std::int64_t row = (first + lane) / lanes;
      const bool is_long =
          row < rows && lanes < width && call.length(row) > 16 * lanes;
      if (row < rows && !is_long) call(row, lane % lanes, lanes);
      for (unsigned left = lane_ballot(is_long && lane % lanes == 0); left;
           left &= left - 1)
        call(lane_broadcast(row, lowest_bit(left)), lane, width);
    }
  }
  KOKKOS_INLINE_FUNCTION int rank() const { return team_.team_rank(); }
  template <class Call>
  KOKKOS_INLINE_FUNCTION void sum(std::int64_t count, const Call& call) {
    const std::int64_t size = team_.team_size();
    const std::int64_t tiles = (count + size - 1) / size;
    const std::int64_t per_team =
        (tiles + team_.league_size() - 1) / team_.league_size() * size;
    const std::int64_t begin = per_team * team_.league_rank();
    const std::int64_t end =
        begin + per_team < count ? begin + per_team : count;
    std::int64_t before = 0, all;
    Sums<batch> mine = {};
    if (team_.league_size() > 1) {
      Sums<1> total = {};
      for (std::int64_t first = begin; first < end; first += size * batch) {
        mine = own(first, end, call);
        for (int u = 0; u < batch; ++u) total.of[0] += mine.of[u];
      }
      exclusive(total, all);
      // The sums of this phase and of the next one are apart.
      std::int64_t* const partial = partial_ + odd_ * most_teams;
      odd_ = 1 - odd_;
      if (team_.team_rank() == 0) partial[team_.league_rank()] = all;
      barrier();
      total = {};
      for (int t = team_.team_rank(); t < team_.league_rank();
           t += team_.team_size())
        total.of[0] += load_relaxed(partial + t);
      exclusive(total, before);
    }
    // The sums of a team's only batch are known.
    const bool known = team_.league_size() > 1 && per_team <= size * batch;
    for (std::int64_t first = begin; first < end; first += size * batch) {
      if (!known) mine = own(first, end, call);
      exclusive(mine, all);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        const std::int64_t i = first + u * size + team_.team_rank();
        std::int64_t sum = before + mine.of[u];
        if (i < end) call(i, sum, true);
      }
      before += all;
    }
  }

 private:
  static constexpr int width = 32;
  /// Of this thread's index in each of `tiles` tiles: what the call adds, and
  /// then the sum over all indices before.
  template <int tiles>
  struct Sums {
    std::int64_t of[tiles];
  };
  /// Of the batch of tiles that begins with index `first`.
  template <class Call>
  KOKKOS_INLINE_FUNCTION Sums<batch> own(std::int64_t first, std::int64_t end,
                                         const Call& call) const {
    const std::int64_t size = team_.team_size();
    Sums<batch> sums = {};
    const std::int64_t i = first + team_.team_rank();
    if (first + size * batch <= end) {
      // Without branches the calls read side by side.
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) call(i + u * size, sums.of[u], false);
    } else {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (i + u * size < end) call(i + u * size, sums.of[u], false);
    }
    return sums;
  }
  /// @param all  of the team's threads
  template <int tiles>
  KOKKOS_INLINE_FUNCTION void exclusive(Sums<tiles>& sums,
                                        std::int64_t& all) const {
    std::int64_t* const of_warp = static_cast<std::int64_t*>(
        team_.team_scratch(0).get_shmem(TeamsTogetherSizes::scratch_bytes));
    const int lane = team_.team_rank() % width,
              warp = team_.team_rank() / width;
    const int warps = team_.team_size() / width;
    const Sums<tiles> added = sums;
    up_to(sums, lane);
    team_.team_barrier();
    STRATA_IMPL_UNROLL
    for (int u = 0; u < tiles; ++u)
      if (lane == width - 1) of_warp[u * warps + warp] = sums.of[u];
    team_.team_barrier();
    if (warp == 0) {
      Sums<tiles> of_lane = {};
      STRATA_IMPL_UNROLL
      for (int u = 0; u < tiles; ++u)
        if (lane < warps) of_lane.of[u] = of_warp[u * warps + lane];
      const Sums<tiles> given = of_lane;
      up_to(of_lane, lane);
      std::int64_t before = 0;
      STRATA_IMPL_UNROLL
      for (int u = 0; u < tiles; ++u) {
        if (lane < warps)
          of_warp[u * warps + lane] = before + of_lane.of[u] - given.of[u];
        before += lane_broadcast(of_lane.of[u], width - 1);
      }
      if (lane == 0) of_warp[tiles * warps] = before;
    }
    team_.team_barrier();
    STRATA_IMPL_UNROLL
    for (int u = 0; u < tiles; ++u)
      sums.of[u] += of_warp[u * warps + warp] - added.of[u];
    all = of_warp[tiles * warps];
  }
  /// Of each tile the sum over the lanes up to this one.
  template <int tiles>
  KOKKOS_INLINE_FUNCTION static void up_to(Sums<tiles>& sums, int lane) {
    STRATA_IMPL_UNROLL
    for (int distance = 1; distance < width; distance *= 2) {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < tiles; ++u) {
        const std::int64_t lower = lane_broadcast_up(sums.of[u], distance);
        if (lane >= distance) sums.of[u] += lower;
      }
    }
  }
  KOKKOS_INLINE_FUNCTION static std::int64_t lane_broadcast_up(
      std::int64_t value, int distance) {
    const auto low = static_cast<unsigned>(
        lane_up(static_cast<int>(value & 0xffffffff), distance));
    const auto high = lane_up(static_cast<int>(value >> 32), distance);
    return static_cast<std::int64_t>(high) << 32 | low;
  }

  Team team_;
  std::int64_t *arrived_, *partial_;
  unsigned expected_ = 0;
  int odd_ = 0;
};

/// Several stages in one launch of teams that all run at the same time: a
/// barrier takes a fifth of a launch.
///
/// No deadlock: all teams run at the same time (run_resident_teams), or there
/// is one; every thread comes to every barrier, as the numbers of indices are
/// the same for all of them.
template <class Stages, class List>
struct StagesOfTeams {
  static constexpr int max_team_size = List::one_sum ? 1024 : 512;
  Stages stages;
  List list;
  std::int64_t *arrived, *partial;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    TeamsTogether<Team> together(team, arrived, partial);
    run(together, list);
  }

 private:
  template <class Together>
  KOKKOS_INLINE_FUNCTION void run(Together&, const StageList<>&) const {}
  template <class Together, class Tag, class... Rest>
  KOKKOS_INLINE_FUNCTION void run(
      Together& together,
      const StageList<EachStage<Tag>, Rest...>& left) const {
    together.each(left.first.count(),
                  [&](std::int64_t i) { stages(Tag(), i); });
    if constexpr (sizeof...(Rest) > 0) {
      together.barrier();
    }
    run(together, left.rest);
  }
  template <class Together, class Tag, class... Rest>
  KOKKOS_INLINE_FUNCTION void run(
      Together& together,
      const StageList<RowsStage<Tag>, Rest...>& left) const {
    const std::int64_t rows = left.first.count();
    together.rows(rows, lanes_for_rows(rows, left.first.entries, 32),
                  RowsCall<Tag>{stages});
    if constexpr (sizeof...(Rest) > 0) {
      together.barrier();
    }
    run(together, left.rest);
  }
  template <class Tag>
  struct RowsCall {
    const Stages& stages;
    KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
      return stages.length(row);
    }
    KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                           int lanes) const {
      stages(Tag(), row, lane, lanes);
    }
  };
  template <class Together, class Tag, class... Rest>
  KOKKOS_INLINE_FUNCTION void run(
      Together& together,
      const StageList<TeamStage<Tag>, Rest...>& left) const {
    stages(Tag(), together.rank());
    if constexpr (sizeof...(Rest) > 0) {
      together.barrier();
    }
    run(together, left.rest);
  }
  template <class Together, class Tag, class... Rest>
  KOKKOS_INLINE_FUNCTION void run(
      Together& together, const StageList<SumStage<Tag>, Rest...>& left) const {
    together.sum(left.first.count(),
                 [&](std::int64_t i, std::int64_t& sum, bool final) {
                   stages(Tag(), i, sum, final);
                 });
    if constexpr (sizeof...(Rest) > 0) {
      together.barrier();
    }
    run(together, left.rest);
  }
};

/// Runs stages one after the other, each when those before are done: in one
/// launch on a device, unless there are so many indices that launches do not
/// count. Enqueued on `exec`; `pool` has to live until it is done.
template <class ExecutionSpace>
class FusedStages {
 public:
  template <class Pool>
  FusedStages(const ExecutionSpace& exec, Pool& pool) : exec_(exec) {
    if constexpr (has_resident_teams<ExecutionSpace>) {
      pool.take(partial_, 2 * TeamsTogetherSizes::most_teams);
      arrived_ = pool.zeros(most_launches);
    }
  }

  template <class Stages, class... Stage>
  void run(const char* name, const Stages& stages, const Stage&... phase) {
    if constexpr (has_resident_teams<ExecutionSpace>) {
      const std::int64_t most = std::max({work(phase)...});
      if (most == 0) return;
      if (most <= together_at_most && launches_ < most_launches &&
          launch(name, stages, most, phase...))
        return;
    }
    (apart(name, stages, phase), ...);
  }

 private:
  static constexpr int most_launches = 32;
  /// Indices of a phase from which on it is better off with a launch of its
  /// own, that has more threads.
  static constexpr std::int64_t together_at_most = std::int64_t{1} << 19;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

  template <class Stage>
  static std::int64_t work(const Stage& phase) {
    return phase.count.most;
  }
  template <class Tag>
  static std::int64_t work(const RowsStage<Tag>& phase) {
    return std::max(phase.count.most, phase.entries / 4);
  }

  template <class Stages, class... Stage>
  bool launch(const char* name, const Stages& stages, std::int64_t most,
              const Stage&... phase) {
    using List = decltype(stage_list(phase...));
    using Functor = StagesOfTeams<Stages, List>;
    constexpr int size = Functor::max_team_size;
    static const int resident =
        std::min(TeamsTogetherSizes::most_teams,
                 max_resident_teams<Functor>(
                     exec_, size, TeamsTogetherSizes::scratch_bytes));
    if (resident == 0) return false;
    const int teams = static_cast<int>(
        std::min<std::int64_t>(resident, (most + size - 1) / size));
    run_resident_teams(
        name, exec_,
        Functor{stages, stage_list(phase...), arrived_ + launches_++, partial_},
        teams, size, TeamsTogetherSizes::scratch_bytes);
    return true;
  }
  template <class Stages, class Tag>
  void apart(const char* name, const Stages& stages,
             const EachStage<Tag>& phase) const {
    if (phase.count.most > 0)
      Kokkos::parallel_for(name, Range(exec_, 0, phase.count.most),
                           EachOfStage<Stages, Tag>{stages, phase.count});
  }
  template <class Stages, class Tag>
  void apart(const char* name, const Stages& stages,
             const SumStage<Tag>& phase) {
    if (phase.count.most == 0) return;
    // Kokkos' own takes three times as long: it has a thread read what is not
    // beside its neighbours', one after the other.
    if constexpr (has_resident_teams<ExecutionSpace>) {
      if (launches_ < most_launches &&
          launch(name, stages, phase.count.most, phase))
        return;
    }
    Kokkos::parallel_scan(name, Range(exec_, 0, phase.count.most),
                          SumOfStage<Stages, Tag>{stages, phase.count});
  }
  template <class Stages, class Tag>
  void apart(const char* name, const Stages& stages,
             const RowsStage<Tag>& phase) const {
    for_each_row(name, exec_, phase.count.most, phase.entries,
                 RowsOfStage<Stages, Tag>{stages});
  }
  template <class Stages, class Tag>
  void apart(const char* name, const Stages& stages,
             const TeamStage<Tag>& phase) const {
    constexpr int size = is_gpu<ExecutionSpace> ? TeamStage<Tag>::team_size : 1;
    using Policy = Kokkos::TeamPolicy<
        ExecutionSpace,
        Kokkos::LaunchBounds<size, TeamStage<Tag>::teams_per_multiprocessor>>;
    const std::int64_t teams = std::min<std::int64_t>(
        (phase.count.most + size - 1) / size,
        std::int64_t{TeamStage<Tag>::teams_per_multiprocessor} *
            num_multiprocessors(exec_));
    if (teams > 0)
      Kokkos::parallel_for(
          name, Policy(exec_, static_cast<int>(teams), size),
          TeamOfStage<Stages, Tag, typename Policy::member_type>{stages});
  }

  ExecutionSpace exec_;
  std::int64_t *arrived_ = nullptr, *partial_ = nullptr;
  int launches_ = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
