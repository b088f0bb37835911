// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_ACTIVE_PLAN_HPP
#define STRATA_CORE_DEVICE_ACTIVE_PLAN_HPP

#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>

namespace Strata {
namespace Detail {

/// Which of two plans solves, as a word in device memory. Kernels of both are
/// enqueued in any case, and those of the other plan end at once, so a recorded
/// graph can take one of two paths.
///
/// All threads of a launch find the same. The word is written by kernels that
/// are enqueued before it, and publish_writes() follows these, so threads may
/// read it before they wait for the kernel before theirs.
struct ActivePlan {
  const int* active = nullptr;  ///< null: the kernel's plan is always active
  int own = 0;                  ///< what the word is for the kernel's plan

  KOKKOS_INLINE_FUNCTION bool is_another() const {
    return active != nullptr && load_relaxed(active) != own;
  }
};

/// For kernels that say `awaits_previous`: whether the kernel is to end at
/// once. Its end then says, as that of any kernel, that those before it have
/// ended. The next kernel need not wait to begin: it finds what it would find
/// without this one in between.
template <class Team>
KOKKOS_INLINE_FUNCTION bool ends_if_inactive(const ActivePlan& active_plan,
                                             const Team& team) {
  if (!active_plan.is_another()) return false;
  release_next(team);
  await_previous(team);
  return true;
}

}  // namespace Detail
}  // namespace Strata

#endif
