// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_KOKKOS_EVENTS_HPP
#define STRATA_TEST_KOKKOS_EVENTS_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace Strata {
namespace SolverTest {

/// What Kokkos tells its tools, counted from construction to destruction. One
/// at a time. Kokkos before 3.5 does not tell of fences.
class KokkosEvents {
 public:
  struct Counts {
    int fences = 0, allocations = 0, copies = 0, launches = 0;
    /// Bytes allocated and not freed in memory space `watched`, less those
    /// that were freed of what there was before; and the most there ever were.
    std::int64_t bytes = 0, most_bytes = 0;
    std::string last;  // label of the last event
  };

  /// @param watched  name of the memory space whose bytes are counted
  /// @param launches  whether to count parallel_for, around which Kokkos then
  ///                  waits
  explicit KokkosEvents(const char* watched, bool launches = false)
      : before_(Kokkos::Tools::Experimental::get_callbacks()) {
    counts() = Counts();
    space() = watched;
    namespace Tools = Kokkos::Tools::Experimental;
    Tools::EventSet none{};
    Tools::set_callbacks(none);
    Tools::set_begin_fence_callback(
        [](const char* name, const uint32_t, uint64_t*) {
          if (is_of_threads(name)) return;
          ++counts().fences;
          counts().last = name;
        });
    if (launches)
      Tools::set_begin_parallel_for_callback(
          [](const char*, const uint32_t, uint64_t*) { ++counts().launches; });
    Tools::set_allocate_data_callback(
        [](const Kokkos_Profiling_SpaceHandle where, const char* name,
           const void*, const uint64_t size) {
          // Kokkos 4.6 asks for nothing in each launch of teams on CUDA.
          if (size == 0 || is_of_threads(name)) return;
          ++counts().allocations;
          counts().last = name;
          if (where.name != space()) return;
          counts().bytes += static_cast<std::int64_t>(size);
          counts().most_bytes = std::max(counts().most_bytes, counts().bytes);
        });
    Tools::set_deallocate_data_callback(
        [](const Kokkos_Profiling_SpaceHandle where, const char* name,
           const void*, const uint64_t size) {
          if (where.name == space() && !is_of_threads(name))
            counts().bytes -= static_cast<std::int64_t>(size);
        });
    Tools::set_begin_deep_copy_callback(
        [](Kokkos_Profiling_SpaceHandle, const char* name, const void*,
           Kokkos_Profiling_SpaceHandle, const char*, const void*, uint64_t) {
          ++counts().copies;
          counts().last = name;
        });
  }
  ~KokkosEvents() { Kokkos::Tools::Experimental::set_callbacks(before_); }
  KokkosEvents(const KokkosEvents&) = delete;
  KokkosEvents& operator=(const KokkosEvents&) = delete;

  Counts so_far() const { return counts(); }
  void start_again() { counts() = Counts(); }

 private:
  /// Kokkos::Threads waits in each launch, and keeps scratch of its own.
  static bool is_of_threads(const char* name) {
    return std::strstr(name, "ThreadsInternal") ||
           std::strstr(name, "thread_scratch");
  }
  // Callbacks can't carry state.
  static Counts& counts() {
    static Counts c;
    return c;
  }
  static std::string& space() {
    static std::string s;
    return s;
  }
  Kokkos::Tools::Experimental::EventSet before_;
};

}  // namespace SolverTest
}  // namespace Strata

#endif
