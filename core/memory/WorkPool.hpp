// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MEMORY_WORK_POOL_HPP
#define STRATA_CORE_MEMORY_WORK_POOL_HPP

#include <algorithm>
#include <core/device/Backend.hpp>
#include <core/memory/MemoryPool.hpp>
#include <exception>
#include <memory>
#include <vector>

namespace Strata {
namespace Detail {

/// Memory for the temporary arrays of one analysis, given back as a whole: on a
/// device, to allocate and to free an array costs as much as several launches.
/// There, arrays come out of one block, or a few where that is too small, and
/// the block goes back to a MemoryPool for the next analysis. A host allocates
/// arrays by themselves, unless they are small.
///
/// Kernels must be done with the arrays before the pool ends, unless an
/// exception ends it.
/// @tparam MemorySpace  of the arrays
template <class ExecutionSpace,
          class MemorySpace = typename ExecutionSpace::memory_space>
class WorkPool {
 public:
  using Memory = MemorySpace;
  using Pointer = std::shared_ptr<WorkPool>;

  /// @param bytes that are expected to be taken
  WorkPool(const ExecutionSpace& exec, std::size_t bytes)
      : exec_(exec), expected_(bytes) {}
  ~WorkPool() {
    // The code that throws has not waited.
    try {
      if (std::uncaught_exceptions() > 0) exec_.fence();
    } catch (...) {
      // A device that has failed: no kernel uses the arrays any more.
    }
    // One block of this size would have been enough: arrays begin on cache
    // lines.
    std::size_t all = offset_;
    const bool several = blocks_.size() > 1;
    for (const auto& block : blocks_)
      if (block != blocks_.back()) all += (block->extent(0) + 127) / 128 * 128;
    blocks_.clear();
    if (!keeps || !several || all > Pool::most_bytes()) return;
    // The pool gets one, so that next time one is enough.
    try {
      Pool::take(label, all);
    } catch (...) {
      // Without memory the pool gets nothing.
    }
  }
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  /// An array of `count` elements that begins on a cache line; not initialized.
  template <class T>
  T* take(std::int64_t count) {
    const std::size_t bytes =
        sizeof(T) * static_cast<std::size_t>(count > 0 ? count : 0);
    offset_ = (offset_ + 127) / 128 * 128;
    if (blocks_.empty() || offset_ + bytes > blocks_.back()->extent(0))
      add_block(bytes);
    T* const array = reinterpret_cast<T*>(blocks_.back()->data() + offset_);
    offset_ += bytes;
    return array;
  }
  template <class T>
  void take(T*& array, std::int64_t count) {
    array = take<T>(count);
  }
  /// What has been taken so far.
  struct Mark {
    std::size_t blocks = 0, offset = 0;
    bool is_before(const Mark& other) const {
      return blocks < other.blocks ||
             (blocks == other.blocks && offset < other.offset);
    }
  };
  Mark mark() const { return {blocks_.size(), offset_}; }
  /// Gives back what has been taken since. Waits for the execution space where
  /// that frees memory.
  void give_back(const Mark& mark) {
    if (blocks_.size() > mark.blocks) {
      exec_.fence();
      blocks_.resize(mark.blocks);
    }
    offset_ = mark.offset;
    if (mark.is_before(zeros_end_)) zeros_left_ = 0;
  }
  /// The same as a view, which must not outlive the pool.
  template <class T>
  Kokkos::View<T*, Memory> view(std::int64_t count) {
    return Kokkos::View<T*, Memory>(take<T>(count), count);
  }
  /// Words that are zero for whatever is enqueued on the pool's execution space
  /// from now on. An operation of its own sets them, some hundreds at once:
  /// what is left of these is there for later calls, until it is given back.
  std::int64_t* zeros(int count) {
    if (count > zeros_left_) {
      zeros_left_ = std::max(count, 512);
      zeros_ = take<std::int64_t>(zeros_left_);
      zeros_end_ = mark();
      Kokkos::deep_copy(
          exec_, Kokkos::View<std::int64_t*, Memory>(zeros_, zeros_left_),
          std::int64_t{0});
    }
    std::int64_t* const words = zeros_;
    zeros_ += count;
    zeros_left_ -= count;
    return words;
  }

 private:
  using Pool = MemoryPool<Memory>;
  static constexpr bool keeps = is_gpu<ExecutionSpace>;
  static constexpr const char* label = "Strata::WorkPool";

  void add_block(std::size_t bytes) {
    std::size_t size = std::max<std::size_t>(bytes, 1024);
    if (keeps)
      size = blocks_.empty()
                 ? std::max({bytes, expected_, std::size_t{4} << 20})
                 : std::max(bytes, blocks_.front()->extent(0) /
                                       (blocks_.size() == 1 ? 1 : 4));
    blocks_.push_back(take_workspace<ExecutionSpace, Memory>(label, size));
    offset_ = 0;
  }

  ExecutionSpace exec_;
  std::size_t expected_, offset_ = 0;
  std::vector<typename Pool::Pointer> blocks_;
  std::int64_t* zeros_ = nullptr;
  int zeros_left_ = 0;
  Mark zeros_end_;
};

}  // namespace Detail
}  // namespace Strata

#endif
