// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_GATE_HPP
#define STRATA_CORE_DEVICE_GATE_HPP

#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>

namespace Strata {
namespace Detail {

/// Lets kernels that are enqueued in any case do their work or leave it alone,
/// by a word in device memory: so a recorded graph can take one of two paths.
///
/// All threads of a launch find the same. The word is written by kernels that
/// are enqueued before it, and publish_writes() follows these, so threads may
/// read it before they wait for the kernel before theirs.
struct Gate {
  const int* path = nullptr;  ///< null: always open
  int turn = 0;               ///< what the word has to be

  KOKKOS_INLINE_FUNCTION bool closed() const {
    return path != nullptr && load_relaxed(path) != turn;
  }
};

/// For kernels that say `awaits_previous`: whether the kernel is to end at
/// once. Its end then says, as that of any kernel, that those before it have
/// ended. The next kernel need not wait to begin: it finds what it would find
/// without this one in between.
template <class Team>
KOKKOS_INLINE_FUNCTION bool ends_at_gate(const Gate& gate, const Team& team) {
  if (!gate.closed()) return false;
  release_next(team);
  await_previous(team);
  return true;
}

}  // namespace Detail
}  // namespace Strata

#endif
