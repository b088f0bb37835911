// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_STAGES_FUSED_STAGES_HPP
#define STRATA_ANALYSIS_STAGES_FUSED_STAGES_HPP

#include <algorithm>
#include <analysis/stages/StageKinds.hpp>
#include <analysis/stages/TeamsTogether.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/ResidentLaunch.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/memory/WorkPool.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Several stages in one launch of teams that all run at the same time: a
/// barrier takes a third of a launch, and the host enqueues one.
///
/// No deadlock (see GridBarrier): every thread comes to every barrier, as the
/// numbers of indices are the same for all of them: what they follow from has
/// been written before a barrier, and no stage after that changes it.
template <class Stages, class List>
struct StagesOfTeams {
  static constexpr int max_team_size =
      is_one_sum<List> ? 1024 : TeamsTogetherSizes::threads_of_team;
  static constexpr int scratch_bytes = TeamsTogetherSizes::scratch_bytes;
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
  template <class Together, class First, class... Rest>
  KOKKOS_INLINE_FUNCTION void run(Together& together,
                                  const StageList<First, Rest...>& left) const {
    run_one(together, left.first);
    if constexpr (sizeof...(Rest) > 0) {
      together.barrier();
    }
    run(together, left.rest);
  }

  template <class Together, class Tag>
  KOKKOS_INLINE_FUNCTION void run_one(Together& together,
                                      const EachStage<Tag>& stage) const {
    together.each(stage.count(), [&](std::int64_t i) { stages(Tag(), i); });
  }
  template <class Together, class Tag>
  KOKKOS_INLINE_FUNCTION void run_one(Together& together,
                                      const RowsStage<Tag>& stage) const {
    const std::int64_t rows = stage.count();
    together.rows(rows, lanes_for_rows(rows, stage.entries, 32),
                  RowsOfStage<const Stages&, Tag>{stages});
  }
  template <class Together, class Tag>
  KOKKOS_INLINE_FUNCTION void run_one(Together& together,
                                      const TeamStage<Tag>&) const {
    stages(Tag(), together.rank());
  }
  template <class Together, class Tag>
  KOKKOS_INLINE_FUNCTION void run_one(Together& together,
                                      const SumStage<Tag>& stage) const {
    add_up<Tag>(together, stage.count());
  }
  template <class Together, class... Tags>
  KOKKOS_INLINE_FUNCTION void run_one(Together& together,
                                      const SumsStage<Tags...>& stage) const {
    add_up<Tags...>(together, stage.count());
  }
  template <class Together>
  KOKKOS_INLINE_FUNCTION void run_one(Together& together,
                                      const ReportStage& stage) const {
    together.each(stage.count(), CopyWords{stage});
  }

  template <class... Tags, class Together>
  KOKKOS_INLINE_FUNCTION void add_up(Together& together,
                                     std::int64_t count) const {
    static_assert(sizeof...(Tags) <= TeamsTogetherSizes::most_sums,
                  "room for the teams' sums");
    together.template sum<int{sizeof...(Tags)}>(
        count, [&](std::int64_t i, std::int64_t* sum, bool final) {
          int k = 0;
          (stages(Tags(), i, sum[k++], final), ...);
        });
  }
};

/// Runs stages one after the other, each when those before are done: in one
/// launch on a device, unless there are so many indices that launches do not
/// count. Enqueued on `exec`; `pool` has to live until it is done.
template <class ExecutionSpace>
class FusedStages {
 public:
  FusedStages(const ExecutionSpace& exec, WorkPool<ExecutionSpace>& pool)
      : exec_(exec), pool_(&pool) {
    if constexpr (has_resident_teams<ExecutionSpace>) {
      pool.take(partial_, 2 * TeamsTogetherSizes::most_sums *
                              TeamsTogetherSizes::most_teams);
    }
  }

  template <class Stages, class... Stage>
  void run(const char* name, const Stages& stages, const Stage&... stage) {
    if constexpr (has_resident_teams<ExecutionSpace>) {
      const std::int64_t most = std::max({work(stage)...});
      if (most == 0) return;
      if (most <= together_at_most && launch(name, stages, most, stage...))
        return;
    }
    (apart(name, stages, stage), ...);
  }

 private:
  /// Indices of a stage from which on it is better off with a launch of its
  /// own, that has more threads.
  static constexpr std::int64_t together_at_most = std::int64_t{1} << 19;
  using Range = LargeFunctorRange<ExecutionSpace>;

  /// What an earlier stage finds is far less than it may be, as a rule.
  template <class Stage>
  static std::int64_t work(const Stage& stage) {
    return stage.count.found ? std::min(stage.count.most, together_at_most)
                             : stage.count.most;
  }
  template <class Tag>
  static std::int64_t work(const RowsStage<Tag>& stage) {
    return std::max(stage.count.most, stage.entries / 4);
  }
  /// A few words need no teams of their own.
  static std::int64_t work(const ReportStage&) { return 1; }

  template <class Stages, class... Stage>
  bool launch(const char* name, const Stages& stages, std::int64_t most,
              const Stage&... stage) {
    using List = decltype(stage_list(stage...));
    using Functor = StagesOfTeams<Stages, List>;
    constexpr int size = Functor::max_team_size;
    static const int resident = std::min(
        TeamsTogetherSizes::most_teams,
        max_resident_teams<Functor>(exec_, size, Functor::scratch_bytes));
    if (resident == 0) return false;
    const int teams = static_cast<int>(
        std::min<std::int64_t>(resident, (most + size - 1) / size));
    run_resident_teams(
        name, exec_,
        Functor{stages, stage_list(stage...), pool_->zeros(1), partial_}, teams,
        size, Functor::scratch_bytes);
    return true;
  }
  template <class Stages, class Tag>
  void apart(const char* name, const Stages& stages,
             const EachStage<Tag>& stage) const {
    if (stage.count.most > 0)
      Kokkos::parallel_for(name, Range(exec_, 0, stage.count.most),
                           EachOfStage<Stages, Tag>{stages, stage.count});
  }
  template <class Stages>
  void apart(const char* name, const Stages&, const ReportStage& stage) const {
    if constexpr (is_gpu<ExecutionSpace>) {
      Kokkos::parallel_for(name, Range(exec_, 0, stage.count.most),
                           CopyWords{stage});
    } else {
      exec_.fence();
      std::copy(stage.from, stage.from + stage.count.most, stage.to);
    }
  }
  template <class Stages, class Tag>
  void apart(const char* name, const Stages& stages,
             const SumStage<Tag>& stage) {
    if (stage.count.most == 0) return;
    // Kokkos' own takes three times as long: it has a thread read what is not
    // beside its neighbours', one after the other.
    if constexpr (has_resident_teams<ExecutionSpace>) {
      if (launch(name, stages, stage.count.most, stage)) return;
    }
    Kokkos::parallel_scan(name,
                          RangeOf<ExecutionSpace>(exec_, 0, stage.count.most),
                          SumOfStage<Stages, Tag>{stages, stage.count});
  }
  template <class Stages, class... Tags>
  void apart(const char* name, const Stages& stages,
             const SumsStage<Tags...>& stage) {
    (apart(name, stages, SumStage<Tags>{stage.count}), ...);
  }
  template <class Stages, class Tag>
  void apart(const char* name, const Stages& stages,
             const RowsStage<Tag>& stage) const {
    for_each_row(name, exec_, stage.count.most, stage.entries,
                 RowsOfStage<Stages, Tag>{stages});
  }
  template <class Stages, class Tag>
  void apart(const char* name, const Stages& stages,
             const TeamStage<Tag>& stage) const {
    constexpr int size = is_gpu<ExecutionSpace> ? TeamStage<Tag>::team_size : 1;
    using Policy =
        WaitingTeams<ExecutionSpace, size,
                     TeamStage<Tag>::teams_per_multiprocessor,
                     Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>;
    const std::int64_t teams = std::min<std::int64_t>(
        (stage.count.most + size - 1) / size,
        std::int64_t{TeamStage<Tag>::teams_per_multiprocessor} *
            num_multiprocessors(exec_));
    if (teams > 0)
      Kokkos::parallel_for(
          name,
          Policy(exec_, static_cast<int>(teams), size,
                 vector_lanes<ExecutionSpace>),
          waiting_kernel<ExecutionSpace>(
              TeamOfStage<Stages, Tag, typename Policy::member_type>{stages}));
  }

  ExecutionSpace exec_;
  WorkPool<ExecutionSpace>* pool_;
  std::int64_t* partial_ = nullptr;
};

}  // namespace Detail
}  // namespace Strata

#endif
