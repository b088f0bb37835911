// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_FAILING_ALLOCATIONS_HPP
#define STRATA_TEST_FAILING_ALLOCATIONS_HPP

// Replaces the program's operators new and delete: for one source file of a
// test.
#include <Kokkos_Core.hpp>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#if KOKKOS_VERSION < 40200
#define STRATA_TEST_VIEWS_BY_MALLOC
#include <dlfcn.h>

#include <cstring>
#endif

namespace Strata {
namespace SolverTest {

/// Makes one allocation of the host after the other fail. From the one that is
/// chosen on there is no memory for Kokkos's views; of the allocations of the
/// C++ library it alone fails, so that exceptions have their texts.
///
/// Allocations of the C++ library below 128 bytes are left alone: Kokkos copies
/// labels in destructors and names its fences by strings, where a failure ends
/// the program before anybody can see it.
class FailingAllocations {
 public:
  static constexpr const char* unit = "blocks";

  /// The k-th allocation from now on is the first to fail.
  /// @param lasting  false: it is the only one
  static void arm(int k, bool lasting = true) {
    seen_ = 0;
    lasting_ = lasting;
    first_ = k;
  }
  /// Ends that; whether there were as many.
  static bool disarm() {
    const bool reached = seen_ >= first_;
    first_ = 0;
    return reached;
  }
  static bool is_armed() { return first_ > 0; }
  /// Blocks that are allocated and not freed; their number tells of leaks.
  /// (Of views before Kokkos 4.2 those of their records alone.)
  static std::int64_t live() { return live_; }

  /// Whether to refuse an allocation: of a view's memory, if `aligned`.
  static bool fails(std::size_t size, bool aligned) {
    const int first = first_;
    if (first == 0 || (!aligned && size < 128)) return false;
    const int number = ++seen_;
    return aligned && lasting_ ? number >= first : number == first;
  }
  static void count(int blocks) { live_ += blocks; }

 private:
  inline static std::atomic<int> first_{0}, seen_{0};
  inline static std::atomic<bool> lasting_{true};
  inline static std::atomic<std::int64_t> live_{0};
};

}  // namespace SolverTest
}  // namespace Strata

#ifdef STRATA_TEST_VIEWS_BY_MALLOC
extern "C" void* __libc_malloc(std::size_t);
#endif

// nvcc takes operator new for a function of the device, too, where nothing is thrown.
#ifdef __NVCC__
#pragma nv_diag_suppress 20011, 20014
#endif
[[noreturn]] static void throw_bad_alloc() { throw std::bad_alloc(); }

void* operator new(std::size_t size) {
#ifdef STRATA_TEST_VIEWS_BY_MALLOC
  const auto allocate = __libc_malloc;
#else
  const auto allocate = std::malloc;
#endif
  using Failing = Strata::SolverTest::FailingAllocations;
  void* const block =
      Failing::fails(size, false) ? nullptr : allocate(size > 0 ? size : 1);
  if (!block) throw_bad_alloc();
  Failing::count(1);
  return block;
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  using Failing = Strata::SolverTest::FailingAllocations;
  const auto step = static_cast<std::size_t>(alignment);
  void* const block = Failing::fails(size, true)
                          ? nullptr
                          : std::aligned_alloc(step, (size / step + 1) * step);
  if (!block) throw_bad_alloc();
  Failing::count(1);
  return block;
}
// The others call these.
void operator delete(void* block) noexcept {
  if (block) Strata::SolverTest::FailingAllocations::count(-1);
  std::free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  operator delete(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  operator delete(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  operator delete(block);
}

#ifdef STRATA_TEST_VIEWS_BY_MALLOC
// Kokkos has the memory of views from there, and is told by where it calls
// from: the library of OpenMP ends the program where it gets none.
extern "C" void* malloc(std::size_t size) noexcept {
  using Failing = Strata::SolverTest::FailingAllocations;
  if (Failing::is_armed()) {
    Dl_info caller, own;
    const bool known =
        dladdr(__builtin_return_address(0), &caller) != 0 &&
        dladdr(reinterpret_cast<const void*>(&Failing::live), &own) != 0;
    if (known &&
        (caller.dli_fbase == own.dli_fbase ||
         std::strstr(caller.dli_fname, "kokkos")) &&
        Failing::fails(size, true))
      return nullptr;
  }
  return __libc_malloc(size);
}
#endif

#endif
