// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runtime.hpp"

#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <atomic>
#include <chrono>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "Arrays.hpp"

namespace StrataPython {

namespace {

std::mutex work_mutex;
std::atomic<bool> running{false};
bool started_here = false;
/// Threads between the two ends of an Away, and who waits for there to be none.
std::atomic<int> threads_away{0};
std::atomic<std::thread::id> exiting_thread{};
/// How deep this thread is in code of Python that solves have called.
thread_local int callbacks_of_thread = 0;

// Never destroyed: objects of Python may outlive the statics of this file.
struct Holders {
  std::mutex mutex;
  std::unordered_set<Holder*> all;
};
Holders& holders() {
  static Holders& instance = *new Holders;
  return instance;
}

void release_all() {
  running = false;
  std::lock_guard<std::mutex> lock(holders().mutex);
  for (Holder* holder : holders().all) holder->release();
}

#if defined(KOKKOS_ENABLE_OPENMP) && KOKKOS_VERSION < 30500
// These releases dispatch from the thread that started them alone: what tells
// it from others is a variable of each thread.
Kokkos::Impl::OpenMPExec* of_the_starting_thread = nullptr;
void note_starting_thread() {
  of_the_starting_thread = Kokkos::Impl::t_openmp_instance;
}
void let_this_thread_dispatch() {
  Kokkos::Impl::t_openmp_instance = of_the_starting_thread;
}
#else
void note_starting_thread() {}
void let_this_thread_dispatch() {}
#endif

}  // namespace

void expect_running() {
  if (!running)
    throw Strata::HandleError("strata_solvers",
                              "has been shut down: the interpreter is exiting",
                              "solve before it exits");
}

void initialize() {
  const std::string missing = missing_device();
  if (!missing.empty()) throw nanobind::import_error(missing.c_str());
  if (!Kokkos::is_initialized()) {
#if KOKKOS_VERSION < 30700
    Kokkos::InitArguments arguments;
    arguments.disable_warnings = true;
    Kokkos::initialize(arguments);
#else
    Kokkos::initialize(
        Kokkos::InitializationSettings().set_disable_warnings(true));
#endif
    started_here = true;
  }
  note_starting_thread();
  Kokkos::push_finalize_hook(release_all);
  running = true;
}

void finalize() {
  if (!running.exchange(false)) return;
  exiting_thread = std::this_thread::get_id();
  {
    // Those who work come back, which takes the interpreter's lock.
    const nanobind::gil_scoped_release release;
    while (threads_away > 0)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  // With that lock: objects that are released may hold functions of Python.
  let_this_thread_dispatch();
  release_all();
  if (started_here && Kokkos::is_initialized()) Kokkos::finalize();
}

Away::Away() : thread_(PyEval_SaveThread()) {
  ++threads_away;
  const auto exiting = exiting_thread.load();
  if (exiting == std::thread::id() || exiting == std::this_thread::get_id() ||
      callbacks_of_thread > 0)
    return;
  --threads_away;
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}
Away::~Away() {
  PyEval_RestoreThread(thread_);
  --threads_away;
}

Work::Work() : lock_(work_mutex) {
  expect_running();
  let_this_thread_dispatch();
}

Callback::Callback() {
  ++callbacks_of_thread;
  work_mutex.unlock();
  state_ = PyGILState_Ensure();
}
Callback::~Callback() {
  PyGILState_Release(state_);
  work_mutex.lock();
  --callbacks_of_thread;
  let_this_thread_dispatch();
}

ForeignWork::ForeignWork() {
  ++threads_away;
  try {
    lock_ = std::unique_lock<std::mutex>(work_mutex);
    expect_running();
  } catch (...) {
    --threads_away;
    throw;
  }
  let_this_thread_dispatch();
}
ForeignWork::~ForeignWork() {
  lock_.unlock();
  --threads_away;
}

Holder::Holder() {
  std::lock_guard<std::mutex> lock(holders().mutex);
  holders().all.insert(this);
}
Holder::~Holder() {
  std::lock_guard<std::mutex> lock(holders().mutex);
  holders().all.erase(this);
}

#if defined(KOKKOS_ENABLE_CUDA)
namespace {

/// @throws HandleError
void expect_success(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw Strata::HandleError(
      "stream", std::string(call) + ": " + cudaGetErrorString(status),
      "pass arrays of a stream that is alive, and end captures of other "
      "streams before a solver changes its stream");
}

cudaStream_t handle_of(std::uintptr_t stream) {
  return stream == 0 ? cudaStreamLegacy
                     : reinterpret_cast<cudaStream_t>(stream);
}

/// The legacy default stream never is, and must not be asked.
bool is_captured(std::uintptr_t stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (stream > 1)
    expect_success(cudaStreamIsCapturing(handle_of(stream), &capture),
                   "cudaStreamIsCapturing");
  return capture != cudaStreamCaptureStatusNone;
}

}  // namespace

KeptDevice::KeptDevice() { (void)cudaGetDevice(&device_); }
KeptDevice::~KeptDevice() {
  int now = -1;
  if (device_ >= 0 && cudaGetDevice(&now) == cudaSuccess && now != device_)
    (void)cudaSetDevice(device_);
}

std::string missing_device() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return {};
  return std::string(
             "strata_solvers: this build works on an NVIDIA GPU, and CUDA "
             "finds none (") +
         cudaGetErrorString(status) +
         "): install the wheel for hosts, or a newer driver";
}

Kokkos::Cuda SpaceFacts<Kokkos::Cuda>::on_stream(std::uintptr_t stream) {
  // An instance allocates when it is made, so each stream has one that stays.
  class Instances : public Holder {
   public:
    std::unordered_map<std::uintptr_t, Kokkos::Cuda> of;
    void release() override { of.clear(); }
  };
  static Instances& instances = *new Instances;
  // Kernels are launched on the device that is current in this thread.
  const int device = Kokkos::Cuda().cuda_device();
  int now = -1;
  if (cudaGetDevice(&now) != cudaSuccess || now != device)
    expect_success(cudaSetDevice(device), "cudaSetDevice");
  const auto found = instances.of.find(stream);
  if (found != instances.of.end()) return found->second;
  expect_no_capture(stream, "the library's first work on it allocates",
                    "solve once on that stream before the capture begins");
  const Kokkos::Cuda made(handle_of(stream));
  instances.of.emplace(stream, made);
  return made;
}

void change_stream(std::uintptr_t now) {
  // Which stream was used before may no longer exist: the device does.
  if (!is_captured(now))
    expect_success(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

void expect_no_capture(std::uintptr_t stream, const char* why,
                       const char* remedy) {
  if (is_captured(stream))
    throw Strata::HandleError(
        "stream", std::string("is being captured into a graph, and ") + why,
        remedy);
}
#else
KeptDevice::KeptDevice() = default;
KeptDevice::~KeptDevice() = default;
std::string missing_device() { return {}; }
void change_stream(std::uintptr_t) {}
void expect_no_capture(std::uintptr_t, const char*, const char*) {}
#endif

}  // namespace StrataPython
