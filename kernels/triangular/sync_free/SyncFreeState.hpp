// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SYNC_FREE_STATE_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SYNC_FREE_STATE_HPP

namespace Strata {
namespace Detail {

/// Counters of a solve in one launch, in device memory. The last team puts
/// them back, so that a recorded launch can be replayed.
struct SyncFreeState {
  enum : int {
    ticket = 0,    // handed out
    finished = 1,  // teams done
    epoch = 2,     // solves done
    size = 3
  };
};

}  // namespace Detail
}  // namespace Strata

#endif
