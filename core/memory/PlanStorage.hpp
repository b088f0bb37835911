// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MEMORY_PLAN_STORAGE_HPP
#define STRATA_CORE_MEMORY_PLAN_STORAGE_HPP

#include <core/device/Backend.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryPool.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

namespace Strata {
namespace Detail {

/// The arrays of a plan in one allocation: each of its own would cost a device
/// as much as some launches. Arrays follow each other; those of a stricter
/// alignment are to come first.
template <class MemorySpace>
class PlanStorage {
 public:
  using Block = typename MemoryPool<MemorySpace, PersistentUse>::Pointer;

  /// `view` gets `count` elements, not initialized.
  template <class View>
  void take(View& view, std::int64_t count) {
    using Value = typename View::value_type;
    // Kernels access 16 bytes at once, and complex numbers may be aligned as
    // their parts (Kokkos_ENABLE_COMPLEX_ALIGN=OFF).
    const std::size_t step = sizeof(Value) == 16 ? 16 : alignof(Value);
    offset_ = (offset_ + step - 1) / step * step;
    if (base_)
      view = View(reinterpret_cast<Value*>(base_ + offset_),
                  static_cast<std::size_t>(count));
    offset_ += sizeof(Value) * static_cast<std::size_t>(count);
  }
  void take(ValueIndex<MemorySpace>& value_indices, std::int64_t count,
            std::int64_t num_values) {
    if (ValueIndex<MemorySpace>::is_narrow(num_values))
      take(value_indices.narrow, count);
    else
      take(value_indices.wide, count);
  }
  std::size_t bytes() const { return offset_; }

  explicit PlanStorage(unsigned char* base = nullptr) : base_(base) {}

 private:
  unsigned char* base_;
  std::size_t offset_ = 0;
};

/// Runs `request(storage)` to measure, allocates, and runs it again. The arrays
/// last as long as what is returned. On a device, memory of plans that were let
/// go of is used again where it is at most an eighth larger.
template <class MemorySpace, class ExecutionSpace, class Request>
typename PlanStorage<MemorySpace>::Block make_plan_storage(
    const ExecutionSpace& exec, const std::string& label,
    const Request& request) {
  PlanStorage<MemorySpace> measure;
  request(measure);
  using Pool = MemoryPool<MemorySpace, PersistentUse>;
  const std::size_t bytes = measure.bytes();
  typename Pool::Pointer block;
  if constexpr (is_gpu<ExecutionSpace>) {
    block = Pool::take(label, bytes, bytes + bytes / 8);
  } else {
    block = std::make_shared<const typename Pool::Block>(
        make_unfilled<typename Pool::Block>(exec, label, bytes));
  }
  // Where there is nothing to hold, views have their sizes all the same.
  static unsigned char nothing[16];
  PlanStorage<MemorySpace> storage(
      bytes > 0 ? reinterpret_cast<unsigned char*>(block->data()) : nothing);
  request(storage);
  return block;
}

}  // namespace Detail
}  // namespace Strata

#endif
