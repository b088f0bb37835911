// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_STAGES_STAGE_KINDS_HPP
#define STRATA_ANALYSIS_STAGES_STAGE_KINDS_HPP

#include <Kokkos_Macros.hpp>
#include <core/device/Atomics.hpp>
#include <cstdint>

namespace Strata {
namespace Detail {

/// Number of indices of a stage: known to the host, or found by an earlier
/// stage, at `found` in device memory, and then at most `most`.
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

/// A stage calls stages(Tag(), i) for every i below `count`.
template <class Tag>
struct EachStage {
  StageCount count;
};
/// A stage that also learns the sum over smaller i of what the calls add to
/// their second argument: stages(Tag(), i, sum, final). Calls are made with
/// `final` false first, when they may only add.
template <class Tag>
struct SumStage {
  StageCount count;
};
/// Several of them at once, none of which needs what another one writes.
template <class... Tags>
struct SumsStage {
  StageCount count;
};

/// A stage that calls stages(Tag(), row, lane, lanes) as for_each_row does, for
/// rows of so many entries together; stages.length(row) tells those of one.
template <class Tag>
struct RowsStage {
  StageCount count;
  std::int64_t entries;
};
/// A stage that every thread of every team takes part in: stages(Tag(), team),
/// of which there are `count` threads' work. Launched alone, it gets
/// `teams_per_multiprocessor` teams of `team_size` for a multiprocessor.
template <class Tag>
struct TeamStage {
  static constexpr int team_size = 128, teams_per_multiprocessor = 8;
  StageCount count;
};

/// A stage that copies words of device memory to where the host reads them once
/// it has waited (see HostWords): a copy of its own takes longer.
struct ReportStage {
  StageCount count;
  const std::int64_t* from;
  std::int64_t* to;
};
struct CopyWords {
  ReportStage stage;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    stage.to[i] = stage.from[i];
  }
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
  First first;
  StageList<Rest...> rest;
};
template <class List>
constexpr bool is_one_sum = false;
template <class Tag>
constexpr bool is_one_sum<StageList<SumStage<Tag>>> = true;
inline StageList<> stage_list() { return {}; }
template <class First, class... Rest>
StageList<First, Rest...> stage_list(const First& first, const Rest&... rest) {
  return {first, stage_list(rest...)};
}

// Numbers of which some are used are numbered anew without gaps: an array with
// a place for each, all 0, is marked, and then its sums take the marks' places.

/// Threads mark the same few places: stores to one wait for each other, loads
/// do not.
KOKKOS_INLINE_FUNCTION void mark_used(int* place) {
  if (load_relaxed(place) == 0) store_relaxed(place, 1);
}
/// A step of the sum over the marks, see SumStage.
KOKKOS_INLINE_FUNCTION void number_used(int* place, std::int64_t& sum,
                                        bool final) {
  const int own = *place;
  if (final) *place = static_cast<int>(sum);
  sum += own;
}

}  // namespace Detail
}  // namespace Strata

#endif
