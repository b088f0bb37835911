// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MEMORY_TO_DEVICE_HPP
#define STRATA_CORE_MEMORY_TO_DEVICE_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <core/device/Backend.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryPool.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// Bytes that are copied to the host by way of pinned memory: one block of the
/// pool serves all.
constexpr std::size_t most_staged_bytes = std::size_t{1} << 16;

/// A copy of a host vector in `MemorySpace`.
template <class T, class MemorySpace>
Kokkos::View<T*, MemorySpace> to_device(const std::string& label,
                                        const std::vector<T>& from) {
  const auto view =
      make_unfilled<Kokkos::View<T*, MemorySpace>>(label, from.size());
  Kokkos::deep_copy(view, UnmanagedView<const T, Kokkos::HostSpace>(
                              from.data(), from.size()));
  return view;
}

/// A copy of `count` elements that are in `MemorySpace`. Waits for all work of
/// the device.
template <class MemorySpace, class T>
std::vector<T> to_host(const T* from, std::size_t count) {
  std::vector<T> made(count);
  Kokkos::deep_copy(UnmanagedView<T, Kokkos::HostSpace>(made.data(), count),
                    UnmanagedView<const T, MemorySpace>(from, count));
  return made;
}

/// A few words that kernels of `ExecutionSpace` write and the host reads once
/// it has waited for them, which it has to before these end.
template <class ExecutionSpace>
class HostWords {
 public:
  explicit HostWords(std::int64_t count)
      : memory_(Pool::take(
            "Strata::HostWords",
            std::max(most_staged_bytes, static_cast<std::size_t>(count) *
                                            sizeof(std::int64_t)))) {}
  std::int64_t* data() const {
    return reinterpret_cast<std::int64_t*>(memory_->data());
  }

 private:
  using Pool = MemoryPool<HostVisibleSpace<ExecutionSpace>>;
  typename Pool::Pointer memory_;
};

/// Copies a view to `to` in host memory, which has room for it. Waits for
/// `exec`.
template <class ExecutionSpace, class View>
void copy_to_host(const ExecutionSpace& exec, const View& view,
                  typename View::non_const_value_type* to) {
  using Element = typename View::non_const_value_type;
  const auto copy_to = [&](auto host) {
    Kokkos::deep_copy(exec, host, view);
    exec.fence();
  };
  const std::size_t count = view.extent(0);
  if constexpr (is_gpu<ExecutionSpace>) {
    // A driver copies to pageable memory by way of pinned memory of its own: on
    // an H100 that takes 15 us in place of 12, the kernel before included.
    using Pinned = HostVisibleSpace<ExecutionSpace>;
    if (count > 0 && count * sizeof(Element) <= most_staged_bytes) {
      const auto memory =
          MemoryPool<Pinned>::take("Strata::copy_to_host", most_staged_bytes);
      auto* const staged = reinterpret_cast<Element*>(memory->data());
      copy_to(UnmanagedView<Element, Pinned>(staged, count));
      std::copy(staged, staged + count, to);
      return;
    }
  }
  copy_to(UnmanagedView<Element, Kokkos::HostSpace>(to, count));
}

}  // namespace Detail
}  // namespace Strata

#endif
