// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_HOST_RULE_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_HOST_RULE_HPP

#include <core/device/DeviceInfo.hpp>
#include <cstdint>
#include <string>

namespace Strata {
namespace Detail {

/// The rule by which a host's solves are left to one thread or shared by
/// several. It reads sizes only and times nothing: times that a constructor
/// measures on a busy machine mean nothing for the solves after it, and a
/// choice from them has been 14 times slower than substitution.
///
/// Other programs are to be expected on a host's cores. A thread that has lost
/// its core gets it back after a slice of the scheduler's time, 3 ms and more
/// on Linux, and all threads that meet at the end of a solve wait for it. So a
/// solve is shared only if one thread would take longer than a slice, and than
/// two of them if there may be two threads only. Level sets are shared only if
/// there are more threads than programs take cores from as a rule, and if that
/// is predicted to halve the time.
struct HostRule {
  /// Of level sets. With fewer threads, the gain is less than one lost core
  /// costs.
  static constexpr int least_threads = 8;
  static constexpr double slice_us = 4000;
  /// What threads take to begin with a level set and to meet after it.
  static constexpr double meeting_us = 10;

  /// One right-hand side by one thread of a server, within a factor of two:
  /// long rows in a core's cache take half as long, scattered ones twice.
  static double one_thread_us(double rows, double entries) {
    return 0.004 * rows + 0.001 * entries;
  }
  /// Time of right-hand sides that a thread takes in groups of four, relative
  /// to that of one.
  static double side_by_side(std::int64_t columns) {
    return double(columns / 4) * 2.2 + double(columns % 4);
  }
  /// Whether threads share right-hand sides.
  static bool shares_columns(std::int64_t columns, int threads, double rows,
                             double entries) {
    return columns > 1 && threads > 1 &&
           side_by_side(columns) * one_thread_us(rows, entries) >= 2 * slice_us;
  }
  /// By threads that share level sets, each of which takes scattered rows and
  /// many results of others.
  static double level_sets_us(double rows, double entries, int levels,
                              std::int64_t columns, int threads) {
    return 1.5 * side_by_side(columns) * one_thread_us(rows, entries) /
               threads +
           meeting_us * levels;
  }
  /// Why the level sets of a triangle are not shared; empty: they are.
  static std::string why_not_level_sets(double rows, double entries, int levels,
                                        std::int64_t columns, int threads) {
    if (threads < least_threads)
      return "fewer than " + std::to_string(least_threads) + " threads";
    if (one_thread_us(rows, entries) < slice_us)
      return "less than 4 ms by one thread";
    if (2 * level_sets_us(rows, entries, levels, 1, threads) >
        one_thread_us(rows, entries))
      return "level sets too narrow for " + std::to_string(threads) +
             " threads";
    // The threads share these, and meet once.
    if (4 * columns > threads) return "right-hand sides for all threads";
    return "";
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
