// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_DEVICE_PROFILING_HPP
#define STRATA_CORE_DEVICE_PROFILING_HPP

#include <core/device/Backend.hpp>

namespace Strata {
namespace Detail {

/// A profiling region that ends with its scope, exceptions included. It copies
/// no name to the heap where no tool listens, and so costs nothing there.
class ProfilingRegion {
 public:
  explicit ProfilingRegion(const char* name)
      : open_(Kokkos::Profiling::profileLibraryLoaded()) {
    if (open_) Kokkos::Profiling::pushRegion(name);
  }
  ~ProfilingRegion() {
    if (open_) Kokkos::Profiling::popRegion();
  }
  ProfilingRegion(const ProfilingRegion&) = delete;
  ProfilingRegion& operator=(const ProfilingRegion&) = delete;

 private:
  bool open_;
};

}  // namespace Detail
}  // namespace Strata

#endif
