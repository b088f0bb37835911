// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_MONITOR_HPP
#define STRATA_KERNELS_KRYLOV_SOLVE_KRYLOV_MONITOR_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <core/device/Atomics.hpp>
#include <core/device/Backend.hpp>
#include <core/memory/AllocateView.hpp>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// A status on the device that is none of an enumeration's: the solve goes on.
constexpr int krylov_running = -1;

/// For tests, of all solves: where that is wanted, the host learns of the end
/// as late as a device may tell it, and has enqueued all the iterations that it
/// may, which are counted here.
struct LateKrylovStatus {
  std::atomic<bool> wanted{false};
  std::atomic<std::int64_t> iterations{0};
};
inline LateKrylovStatus late_krylov_status;

/// Where the kernels of a solve store what the host reads meanwhile.
struct KrylovSignals {
  double* history;   // HostVisibleSpace; negative where not known yet
  int history_mask;  // an iteration's place: its last bits
  double* signal;    // HostVisibleSpace; the status once it is not running

  KOKKOS_INLINE_FUNCTION void tell_norm(int iteration, double norm) const {
    store_for_host(history + (iteration & history_mask), norm);
  }
  KOKKOS_INLINE_FUNCTION void tell_status(int status) const {
    if (status != krylov_running)
      store_for_host(signal, static_cast<double>(status));
  }
};

/// The host's view of a running solve: kernels store residuals and the final
/// status in memory that the host can read meanwhile. There is room there for
/// as many residuals as can be on their way at once: the host takes each over
/// before it enqueues the iteration that has the same place.
template <class ExecutionSpace>
class KrylovMonitor {
  using Numbers = Kokkos::View<double*, HostVisibleSpace<ExecutionSpace>>;

 public:
  KrylovMonitor() = default;
  explicit KrylovMonitor(int iterations_ahead)
      : ring_(make_unfilled<Numbers>("Strata::KrylovMonitor::history",
                                     ring_size(iterations_ahead))),
        signal_(make_zeroed<Numbers>("Strata::KrylovMonitor::signal", 1)) {}

  KrylovSignals signals() const {
    return {ring_.data(), static_cast<int>(ring_.extent(0)) - 1,
            signal_.data()};
  }
  /// Before a solve's first kernel.
  void reset() {
    taken_.clear();
    *slot(0) = unknown;
    resume();
  }
  void resume() { *signal_.data() = krylov_running; }
  void open() { reported_ = 0; }

  /// Calls enqueue(it, count), for `count` iterations from number `it` on,
  /// from done + 1 on until the device says that the solve is over or the
  /// callback that it should be, and returns whether the latter.
  ///
  /// @param at_once  iterations of a call. Without a callback that waits for
  ///   them, two calls' are under way
  ///
  /// Waiting: for a number that a kernel already enqueued stores, or for the
  /// final status, which one of the kernels enqueued has stored if it left the
  /// number out. Every iteration stores one of them, or, where no other follows
  /// it, flush() does. Should none be seen for 50 ms, the host waits for
  /// `exec` instead, after which all is stored; so there is no waiting for what
  /// does not come.
  template <class Options, class Enqueue, class Flush>
  bool follow(const ExecutionSpace& exec, const Options& options, int done,
              int at_once, const Enqueue& enqueue, const Flush& flush) {
    int enqueued = done;
    const int most_ahead =
        options.progress || at_once == 1
            ? options.iterations_ahead
            : std::max(options.iterations_ahead, 2 * at_once);
    for (;;) {
      take(enqueued);
      const int known = std::max(done, num_taken() - 1);
      if (!report(options, known)) return true;
      const bool ahead = enqueued < options.max_iterations &&
                         enqueued - known + at_once <= most_ahead;
      const bool ended = over();
      const bool goes_on = ended && ahead && late_krylov_status.wanted;
      if (goes_on) ++late_krylov_status.iterations;
      if ((ended && !goes_on) ||
          (known == enqueued && known == options.max_iterations))
        return false;
      if (ahead) {
        // Their places held the numbers of iterations before `known`.
        const int first = enqueued + 1;
        const int count = std::min(at_once, options.max_iterations - enqueued);
        while (enqueued < first + count - 1) *slot(++enqueued) = unknown;
        enqueue(first, count);
        continue;
      }
      if (known + 1 == enqueued) flush();
      if (!wait_for(exec, known + 1)) return false;
    }
  }

  /// After a wait for the kernels: what the callback has not been told yet.
  template <class Options>
  void close(const Options& options, int iterations) {
    take(iterations);
    report(options, iterations);
  }

  /// After a wait for the kernels: the numbers of 0 to `iterations`, NaN where
  /// none was told, which are given away.
  std::vector<double> history(int iterations) {
    take(iterations);
    taken_.resize(static_cast<std::size_t>(iterations) + 1,
                  std::numeric_limits<double>::quiet_NaN());
    return std::move(taken_);
  }

 private:
  static constexpr double unknown = -1;

  /// A power of two above the iterations that can be enqueued at once.
  static std::size_t ring_size(int iterations_ahead) {
    std::size_t size = 2;
    while (size <= static_cast<std::size_t>(iterations_ahead)) size *= 2;
    return size;
  }
  double* slot(int it) const {
    return ring_.data() +
           (static_cast<std::size_t>(it) & (ring_.extent(0) - 1));
  }
  static double read(const double* p) {
    double value;
    __atomic_load(const_cast<double*>(p), &value, __ATOMIC_RELAXED);
    return value;
  }
  int num_taken() const { return static_cast<int>(taken_.size()); }
  bool over() const { return read(signal_.data()) != krylov_running; }

  /// Takes over the numbers of iterations up to `last` that are there, in their
  /// order. A norm is not negative, but may be NaN.
  void take(int last) {
    while (num_taken() <= last) {
      const double norm = read(slot(num_taken()));
      if (norm == unknown) return;
      taken_.push_back(norm);
    }
  }

  /// Tells the callback of the residuals up to `known`. The start's may still
  /// be on its way.
  template <class Options>
  bool report(const Options& options, int known) {
    if (!options.progress) return true;
    while (reported_ <= known && reported_ < num_taken()) {
      const int it = reported_++;
      if (!options.progress(it, taken_[static_cast<std::size_t>(it)]))
        return false;
    }
    return true;
  }

  /// False if iteration `it` is not going to be.
  bool wait_for(const ExecutionSpace& exec, int it) const {
    const auto begin = std::chrono::steady_clock::now();
    for (int turn = 0;; ++turn) {
      if (over() || read(slot(it)) != unknown) return true;
      if (turn % 64 != 63) continue;
      if (std::chrono::steady_clock::now() - begin >
          std::chrono::milliseconds(50)) {
        exec.fence();
        return over() || read(slot(it)) != unknown;
      }
      std::this_thread::yield();
    }
  }

  Numbers ring_, signal_;
  std::vector<double> taken_;  // of iterations 0, 1, ...
  int reported_ = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
