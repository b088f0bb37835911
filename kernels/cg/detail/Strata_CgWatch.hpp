// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CG_WATCH_HPP
#define STRATA_CG_WATCH_HPP

#include <chrono>
#include <detail/Strata_CgState.hpp>
#include <thread>

namespace Strata {
namespace Detail {

/// The host's view of a running solve: kernels store residuals and the final
/// status in memory that the host can read meanwhile.
template <class ExecutionSpace>
class CgWatch {
  using Numbers = Kokkos::View<double*, HostVisibleSpace<ExecutionSpace>>;

 public:
  CgWatch() = default;
  explicit CgWatch(int max_iterations)
      : history_(Kokkos::view_alloc("Strata::ConjugateGradient::history",
                                    Kokkos::WithoutInitializing),
                 static_cast<std::size_t>(max_iterations) + 1),
        signal_("Strata::ConjugateGradient::signal", 1) {}

  CgShared shared(CgScalars* state, CgScalars* next) const {
    return {state, next, history_.data(), signal_.data()};
  }
  /// Before a solve's first kernel.
  void reset() {
    std::fill(history_.data(), history_.data() + history_.extent(0), unknown);
    resume();
  }
  void resume() { *signal_.data() = cg_running; }
  void open() { reported_ = 0; }

  /// Calls enqueue(it) for done + 1, done + 2, ... until the device says that
  /// the solve is over or the callback that it should be, and returns whether
  /// the latter.
  ///
  /// Waiting: for a number that a kernel already enqueued stores, or for the
  /// final status, which one of the kernels enqueued has stored if it left the
  /// number out. Every iteration stores one of them, or, where no other follows
  /// it, settle() does. Should none be seen for 50 ms, the host waits for
  /// `exec` instead, after which all is stored; so there is no waiting for what
  /// does not come.
  template <class Enqueue, class Settle>
  bool follow(const ExecutionSpace& exec, const CgOptions& options, int done,
              const Enqueue& enqueue, const Settle& settle) {
    int enqueued = done, known = done;
    for (;;) {
      while (is_known(known + 1, enqueued)) ++known;
      if (!report(options, known)) return true;
      if (over() || (known == enqueued && known == options.max_iterations))
        return false;
      if (enqueued < options.max_iterations &&
          enqueued - known < options.iterations_ahead) {
        enqueue(++enqueued);
        continue;
      }
      if (known + 1 == enqueued) settle();
      if (!wait_for(exec, known + 1)) return false;
    }
  }

  /// After a wait for the kernels: what the callback has not been told yet.
  void close(const CgOptions& options, int iterations) {
    report(options, iterations);
  }

  std::vector<double> history(int iterations) const {
    return {history_.data(), history_.data() + iterations + 1};
  }

 private:
  static constexpr double unknown = -1;

  static double read(const double* p) {
    double value;
    __atomic_load(const_cast<double*>(p), &value, __ATOMIC_RELAXED);
    return value;
  }
  bool is_known(int it, int enqueued) const {
    // A norm is not negative, but may be NaN.
    return it <= enqueued && read(history_.data() + it) != unknown;
  }
  bool over() const { return read(signal_.data()) != cg_running; }

  /// Tells the callback of the residuals up to `known`.
  bool report(const CgOptions& options, int known) {
    if (!options.progress) return true;
    for (; reported_ <= known; ++reported_) {
      const double norm = read(history_.data() + reported_);
      // The start's may still be on its way.
      if (norm == unknown) break;
      if (!options.progress(reported_, norm)) {
        ++reported_;
        return false;
      }
    }
    return true;
  }

  /// False if iteration `it` is not going to be.
  bool wait_for(const ExecutionSpace& exec, int it) const {
    const auto begin = std::chrono::steady_clock::now();
    for (int turn = 0;; ++turn) {
      if (over() || read(history_.data() + it) != unknown) return true;
      if (turn % 64 != 63) continue;
      if (std::chrono::steady_clock::now() - begin >
          std::chrono::milliseconds(50)) {
        exec.fence();
        return over() || read(history_.data() + it) != unknown;
      }
      std::this_thread::yield();
    }
  }

  Numbers history_, signal_;
  int reported_ = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
