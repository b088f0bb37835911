// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_UPDATE_STATUS_HPP
#define STRATA_PYTHON_UPDATE_STATUS_HPP

#include <nanobind/stl/unique_ptr.h>

#include <Kokkos_Core.hpp>
#include <Strata_UpdateStatus.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

namespace StrataPython {

/// Fault, row (-1: none), whether the second plan is in use.
using FoundStatus = std::tuple<std::string, std::int64_t, bool>;

/// Waits for `exec`, and reads what an update has found.
template <class Space, class StatusView>
FoundStatus found_status(const Space& exec, const StatusView& status) {
  const Kokkos::View<Strata::UpdateStatus, Kokkos::HostSpace> found(
      "Strata::Python::update_status");
  Kokkos::deep_copy(exec, found, status);
  exec.fence();
  return {Strata::to_string(found().fault), found().row, found().unmerged != 0};
}

/// A second object with the plan of `of`, and a workspace of its own.
template <class Class>
std::unique_ptr<Class> share_plan(const Class& of, std::uintptr_t stream) {
  auto made = std::make_unique<Class>();
  made->share(of, stream);
  return made;
}

}  // namespace StrataPython

#endif
