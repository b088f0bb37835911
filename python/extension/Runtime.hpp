// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_RUNTIME_HPP
#define STRATA_PYTHON_RUNTIME_HPP

// Kokkos within a Python process: its beginning, its end, and the threads.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "Arrays.hpp"

namespace StrataPython {

/// Starts Kokkos, unless someone in the process has.
void initialize();
/// Empties all solvers that are alive, and ends Kokkos if we have started it.
/// Python calls it at exit; nothing can be solved afterwards.
void finalize();

/// A thread of Python that lets the others run.
///
/// Once finalize() is called, no other thread comes back from here: Python ends
/// a thread that asks for its lock while the interpreter exits, and does so by
/// an unwinding that no destructor may see.
class Away {
 public:
  Away();
  Away(const Away&) = delete;
  Away& operator=(const Away&) = delete;
  ~Away();

 private:
  PyThreadState* thread_;
};

/// Keeps the GPU that a thread works on: callers may have set another one than
/// Kokkos'.
class KeptDevice {
 public:
  KeptDevice();
  KeptDevice(const KeptDevice&) = delete;
  KeptDevice& operator=(const KeptDevice&) = delete;
  ~KeptDevice();

 private:
  int device_ = -1;
};

/// Held by a thread of Python while the library works for it: away, and one
/// thread at a time, since the threads of a host and the objects of the library
/// serve one caller at a time.
///
/// A thread that waits here has let go of the interpreter's lock, so one that
/// works may take it (for a callback).
class Work {
 public:
  /// @throws Strata::HandleError after finalize()
  Work();

 private:
  Away away_;
  std::unique_lock<std::mutex> lock_;
  KeptDevice device_;
};

/// @throws Strata::HandleError after finalize()
void expect_running();

/// Within Work, a thread that calls code of Python: it holds the interpreter's
/// lock and lets others use the library, as that code may do itself.
/// finalize() waits for its solve, which has to end: see expect_running().
class Callback {
 public:
  Callback();
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
  ~Callback();

 private:
  KeptDevice device_;
  PyGILState_STATE state_;
};

/// The same for a thread that is not Python's, or does not hold the
/// interpreter's lock: one of XLA's.
class ForeignWork {
 public:
  /// @throws Strata::HandleError after finalize()
  ForeignWork();
  ForeignWork(const ForeignWork&) = delete;
  ForeignWork& operator=(const ForeignWork&) = delete;
  ~ForeignWork();

 private:
  std::unique_lock<std::mutex> lock_;
  KeptDevice device_;
};

/// Whether a machine has what this build works on; the text says what it lacks.
std::string missing_device();

/// Before an object works on another stream than until now: waits for the
/// device, unless `now` is being captured into a graph.
void change_stream(std::uintptr_t now);

/// Before work that can't be captured into a graph, and would spoil the
/// capture.
/// @param why  what is wrong with that, for the message
/// @throws HandleError if `stream` is being captured
void expect_no_capture(std::uintptr_t stream, const char* why,
                       const char* remedy);

/// What holds memory of Kokkos, and has to let go of it before Kokkos ends.
/// Python may keep such an object for longer, empty.
class Holder {
 public:
  Holder();
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  virtual ~Holder();
  virtual void release() = 0;
};

/// A solver or matrix of the library, for Python to hold.
template <class Object>
class Held;
template <template <class, class> class Of, class Scalar, class Space>
class Held<Of<Scalar, Space>> : public Holder {
  using Object = Of<Scalar, Space>;

 public:
  Object object;
  void release() override { object = Object(); }

  /// The space on a caller's stream, for work of this object. Its workspace
  /// serves one stream at a time: on another one than before, it waits.
  Space on(std::uintptr_t stream) const {
    const Space space = SpaceFacts<Space>::on_stream(stream);
    if (stream_ != stream && stream_ != unused) change_stream(stream);
    stream_ = stream;
    return space;
  }

 private:
  static constexpr std::uintptr_t unused = ~std::uintptr_t(0);
  mutable std::uintptr_t stream_ = unused;
};

}  // namespace StrataPython

#endif
