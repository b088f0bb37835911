// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PYTHON_RUNTIME_HPP
#define STRATA_PYTHON_RUNTIME_HPP

// Kokkos within a Python process: its beginning, its end, and the threads.

#include <nanobind/nanobind.h>

#include <mutex>

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
};

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
class Held : public Holder {
 public:
  Object object;
  void release() override { object = Object(); }
};

}  // namespace StrataPython

#endif
