// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_UPDATE_FINDINGS_HPP
#define STRATA_KERNELS_TRIANGULAR_UPDATE_FINDINGS_HPP

#include <core/matrix/InspectValues.hpp>
#include <core/matrix/PackValues.hpp>

namespace Strata {
namespace Detail {

struct ClearFindings {
  ValuesInspection* found;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const { *found = {}; }
};

/// Where looks at new values leave what they find to a later kernel, in device
/// memory. That kernel takes it and clears it in the same launch, so usually a
/// look finds a clear place and needs no launch for that.
///
/// A look that is broken off leaves nothing to the next one. The place counts
/// as used from before the first launch of a look until the launch of the
/// kernel that takes the findings has succeeded, and that kernel has no team
/// before then. If an exception or a failed launch comes in between, the place
/// still counts as used when the next look begins, which clears it first.
class UpdateFindings {
 public:
  UpdateFindings() = default;
  /// @param place  which earlier work has cleared
  explicit UpdateFindings(ValuesInspection* place) : place_(place) {}

  /// To be called before a look is enqueued.
  template <class ExecutionSpace>
  void begin_look(const ExecutionSpace& exec) {
    if (!is_clear_)
      for_each_index("Strata::UpdateFindings::clear", exec, 1,
                     ClearFindings{place_});
    is_clear_ = false;
  }
  /// To be called if a look was broken off, so that graphs that were recorded
  /// earlier find a clear place, too.
  template <class ExecutionSpace>
  void clear(const ExecutionSpace& exec) {
    is_clear_ = false;
    begin_look(exec);
    is_clear_ = true;
  }
  /// To be called when the kernel that takes and clears is enqueued.
  void set_taken() { is_clear_ = true; }
  ValuesInspection* place() const { return place_; }

 private:
  ValuesInspection* place_ = nullptr;
  bool is_clear_ = true;
};

}  // namespace Detail
}  // namespace Strata

#endif
