// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MEMORY_ARENA_HPP
#define STRATA_CORE_MEMORY_ARENA_HPP

#include <Kokkos_Core.hpp>
#include <core/memory/AllocateView.hpp>
#include <cstddef>
#include <string>

namespace Strata {
namespace Detail {

/// Many short-lived arrays in one allocation: on a device an allocation costs
/// as much as several launches. Two passes of the same code, the first to
/// measure, the second to hand out. Each array begins on a cache line.
template <class MemorySpace>
class Arena {
 public:
  /// An array of `count` elements, not initialized; null while measuring.
  template <class T>
  void take(T*& array, std::int64_t count) {
    offset_ = (offset_ + 127) / 128 * 128;
    array = base_ ? reinterpret_cast<T*>(base_ + offset_) : nullptr;
    offset_ += sizeof(T) * static_cast<std::size_t>(count > 0 ? count : 0);
  }
  /// Bytes that what was measured needs.
  std::size_t bytes() const { return offset_ + 128; }
  /// Bytes of the memory in use.
  std::size_t held() const { return block_.extent(0); }
  /// Has memory of `bytes()` or more handed out.
  void use(const Kokkos::View<char*, MemorySpace>& block) {
    block_ = block;
    base_ = block.data();
    offset_ = 0;
  }
  /// Allocates what was measured.
  void allocate(const std::string& label) {
    use(make_unfilled<Kokkos::View<char*, MemorySpace>>(label, bytes()));
  }

 private:
  Kokkos::View<char*, MemorySpace> block_;
  char* base_ = nullptr;
  std::size_t offset_ = 0;
};

/// Runs `request(arena)` to measure, allocates, and runs it again.
template <class MemorySpace, class Request>
Arena<MemorySpace> make_arena(const std::string& label,
                              const Request& request) {
  Arena<MemorySpace> arena;
  request(arena);
  arena.allocate(label);
  request(arena);
  return arena;
}

}  // namespace Detail
}  // namespace Strata

#endif
