// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Library.hpp"

#include <cstring>
#include <new>
#include <stdexcept>
#include <unordered_map>

namespace StrataC {

namespace {

std::recursive_mutex work_mutex;
bool started_here = false, hook_is_set = false;

// Never destroyed: what is left at exit may not outlive Kokkos.
struct Handles {
  std::unordered_map<std::uintptr_t, std::unique_ptr<Object>> objects;
  std::uintptr_t last = 0;
};
Handles& handles() {
  static Handles& instance = *new Handles;
  return instance;
}

thread_local std::string error_text;
thread_local std::int64_t error_row = -1;
thread_local int index_base = 0;

/// Kokkos can't be initialised a second time.
bool kokkos_has_ended = false;
#if KOKKOS_VERSION >= 30700
bool was_finalized() { return kokkos_has_ended || Kokkos::is_finalized(); }
#else
bool was_finalized() { return kokkos_has_ended; }
#endif

#if defined(KOKKOS_ENABLE_OPENMP) && KOKKOS_VERSION < 30500
// These releases dispatch from the thread that started them alone: what tells
// it from others is a variable of each thread.
Kokkos::Impl::OpenMPExec* of_the_starting_thread = nullptr;
void note_starting_thread() {
  if (!of_the_starting_thread)
    of_the_starting_thread = Kokkos::Impl::t_openmp_instance;
}
void forget_starting_thread() { of_the_starting_thread = nullptr; }
void let_this_thread_dispatch() {
  if (of_the_starting_thread)
    Kokkos::Impl::t_openmp_instance = of_the_starting_thread;
}
#else
void note_starting_thread() {}
void forget_starting_thread() {}
void let_this_thread_dispatch() {}
#endif

#if defined(KOKKOS_ENABLE_CUDA)
struct Streams {
  std::unordered_map<void*, Kokkos::Cuda> instances;
};
Streams& streams() {
  static Streams& instance = *new Streams;
  return instance;
}

/// @throws HandleError
void expect_success(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw Strata::HandleError(
      "stream", std::string(call) + ": " + cudaGetErrorString(status),
      "pass a stream of the GPU that Kokkos uses, or NULL");
}

void expect_gpu() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0)
    throw std::runtime_error(
        std::string("Strata: CUDA finds no GPU (") +
        cudaGetErrorString(status) +
        "): link a library for hosts, or install a newer driver");
}
#else
void expect_gpu() {}
#endif

void release_all() {
  handles().objects.clear();
#if defined(KOKKOS_ENABLE_CUDA)
  streams().instances.clear();
#endif
}

/// The status of an exception's class: the first that it derives from.
strata_status status_of(const Strata::Error& error) {
  struct Entry {
    bool (*is)(const Strata::Error&);
    strata_status status;
  };
#define STRATA_C_ENTRY(Class, status)                           \
  {                                                             \
    [](const Strata::Error& e) {                                \
      return dynamic_cast<const Strata::Class*>(&e) != nullptr; \
    },                                                          \
        status                                                  \
  }
  static const Entry entries[] = {
      STRATA_C_ENTRY(HandleError, STRATA_ERROR_HANDLE),
      STRATA_C_ENTRY(OptionError, STRATA_ERROR_OPTION),
      STRATA_C_ENTRY(SizeMismatchError, STRATA_ERROR_SIZE_MISMATCH),
      STRATA_C_ENTRY(AliasError, STRATA_ERROR_ALIAS),
      STRATA_C_ENTRY(IndexOverflowError, STRATA_ERROR_INDEX_OVERFLOW),
      STRATA_C_ENTRY(PlanMemoryError, STRATA_ERROR_PLAN_MEMORY),
      STRATA_C_ENTRY(MemoryError, STRATA_ERROR_MEMORY),
      STRATA_C_ENTRY(RowMapError, STRATA_ERROR_ROW_MAP),
      STRATA_C_ENTRY(ColumnRangeError, STRATA_ERROR_COLUMN_RANGE),
      STRATA_C_ENTRY(UnsortedRowError, STRATA_ERROR_UNSORTED_ROW),
      STRATA_C_ENTRY(DuplicateEntryError, STRATA_ERROR_DUPLICATE_ENTRY),
      STRATA_C_ENTRY(WrongTriangleError, STRATA_ERROR_WRONG_TRIANGLE),
      STRATA_C_ENTRY(MissingDiagonalError, STRATA_ERROR_MISSING_DIAGONAL),
      STRATA_C_ENTRY(ZeroDiagonalError, STRATA_ERROR_ZERO_DIAGONAL),
      STRATA_C_ENTRY(ScalingError, STRATA_ERROR_SCALING),
      STRATA_C_ENTRY(FactorizationError, STRATA_ERROR_FACTORIZATION),
      STRATA_C_ENTRY(PrecisionError, STRATA_ERROR_PRECISION),
      STRATA_C_ENTRY(NotHermitianError, STRATA_ERROR_NOT_HERMITIAN),
      STRATA_C_ENTRY(IndefiniteError, STRATA_ERROR_INDEFINITE),
      STRATA_C_ENTRY(PatternMismatchError, STRATA_ERROR_PATTERN_MISMATCH),
      STRATA_C_ENTRY(MatrixError, STRATA_ERROR_MATRIX),
  };
#undef STRATA_C_ENTRY
  for (const Entry& entry : entries)
    if (entry.is(error)) return entry.status;
  return STRATA_ERROR;
}

/// How remedies name what has another name in strata.h.
constexpr const char* words[][2] = {
    {"Diag::unit", "STRATA_UNIT"},
    {"the other Uplo", "the other triangle"},
    {"FactorOrder::natural", "natural"},
    {"use JacobiPreconditioner", "precondition with its diagonal alone"},
    {"FactorPrecision::working", "working"}};

void note(const char* text) noexcept {
  error_row = -1;
  try {
    error_text = text;
    for (const auto& [word, here] : words)
      for (auto at = error_text.find(word); at != std::string::npos;
           at = error_text.find(word))
        error_text.replace(at, std::strlen(word), here);
  } catch (...) {
    error_text.clear();
  }
}

}  // namespace

std::uintptr_t add_object(std::unique_ptr<Object> object) {
  const std::uintptr_t handle = handles().last + 1;
  handles().objects.emplace(handle, std::move(object));
  return handles().last = handle;
}

Object& find_object(const char* argument, std::uintptr_t handle) {
  const auto found = handles().objects.find(handle);
  if (found == handles().objects.end())
    throw Strata::HandleError(
        argument, "is no handle that is alive",
        "pass one that a function has created, and use none that was "
        "destroyed, itself or by strata_finalize");
  return *found->second;
}

void remove_object(std::uintptr_t handle) { handles().objects.erase(handle); }

void require_pointer(const char* argument, const void* pointer) {
  if (!pointer)
    throw NullPointerError(argument, "is NULL", "pass what the function needs");
}

bool is_second(const char* argument, int number, const char* names) {
  if (number == 0 || number == 1) return number == 1;
  throw Strata::OptionError(
      argument, "is " + std::to_string(number) + ", which has no name",
      std::string("pass ") + names);
}

void initialize() {
  if (was_finalized())
    throw Strata::HandleError("Kokkos", "was finalised",
                              "call Strata before that");
  if (!Kokkos::is_initialized()) {
    expect_gpu();
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
  if (hook_is_set) return;
  Kokkos::push_finalize_hook([] {
    const std::lock_guard<std::recursive_mutex> lock(work_mutex);
    release_all();
    forget_starting_thread();
    kokkos_has_ended = true;
  });
  hook_is_set = true;
}

void finalize() {
  release_all();
  if (!started_here || was_finalized()) return;
  Kokkos::finalize();
}

Work::Work() : lock_(work_mutex) {
  let_this_thread_dispatch();
#if defined(KOKKOS_ENABLE_CUDA)
  // A program may use another GPU than Kokkos.
  if (cudaGetDevice(&device_) != cudaSuccess) device_ = -1;
#endif
}
Work::~Work() {
#if defined(KOKKOS_ENABLE_CUDA)
  int now = -1;
  if (device_ >= 0 && cudaGetDevice(&now) == cudaSuccess && now != device_)
    (void)cudaSetDevice(device_);
#else
  (void)device_;
#endif
}

void note_index_base(int base) { index_base = base; }

strata_status note_exception() noexcept {
  try {
    throw;
  } catch (const NullPointerError& error) {
    note(error.what());
    return STRATA_ERROR_NULL_POINTER;
  } catch (const Strata::Error& error) {
    note(error.what());
    if (const auto* of = dynamic_cast<const Strata::MatrixError*>(&error)) {
      error_row = of->row();
      if (index_base == 1 && error_row >= 0) try {
          error_text += " (rows and columns are counted from 0 here)";
        } catch (...) {
        }
    }
    return status_of(error);
  } catch (const std::bad_alloc& error) {
    note("Strata: the host has too little memory");
    return STRATA_ERROR_MEMORY;
  } catch (const std::exception& error) {
    note(error.what());
  } catch (...) {
    note("Strata: an exception of an unknown type");
  }
  return STRATA_ERROR;
}

#if defined(KOKKOS_ENABLE_CUDA)
template <>
Kokkos::Cuda on_stream<Kokkos::Cuda>(void* stream) {
  // An instance allocates when it is made, so each stream has one that stays.
  auto& instances = streams().instances;
  // Kernels are launched on the device that is current in this thread.
  const int device = Kokkos::Cuda().cuda_device();
  int now = -1;
  if (cudaGetDevice(&now) != cudaSuccess || now != device)
    expect_success(cudaSetDevice(device), "cudaSetDevice");
  const auto found = instances.find(stream);
  if (found != instances.end()) return found->second;
  const auto handle =
      stream ? static_cast<cudaStream_t>(stream) : cudaStreamLegacy;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  // The legacy default stream is never captured, and must not be asked.
  if (stream)
    expect_success(cudaStreamIsCapturing(handle, &capture),
                   "cudaStreamIsCapturing");
  if (capture != cudaStreamCaptureStatusNone)
    throw Strata::HandleError(
        "stream",
        "is being captured into a graph, and the first work on it allocates",
        "solve once on that stream before the capture begins");
  const Kokkos::Cuda made(handle);
  instances.emplace(stream, made);
  return made;
}
#endif

}  // namespace StrataC

using StrataC::guarded;

int strata_version(void) { return STRATA_VERSION; }

strata_status strata_initialize(void) {
  return guarded([] { StrataC::initialize(); });
}
strata_status strata_finalize(void) {
  return guarded([] { StrataC::finalize(); });
}

const char* strata_status_name(strata_status status) {
  static const char* const names[] = {"STRATA_SUCCESS",
                                      "STRATA_ERROR",
                                      "STRATA_ERROR_NULL_POINTER",
                                      "STRATA_ERROR_HANDLE",
                                      "STRATA_ERROR_OPTION",
                                      "STRATA_ERROR_SIZE_MISMATCH",
                                      "STRATA_ERROR_ALIAS",
                                      "STRATA_ERROR_INDEX_OVERFLOW",
                                      "STRATA_ERROR_MEMORY",
                                      "STRATA_ERROR_PLAN_MEMORY",
                                      "STRATA_ERROR_MATRIX",
                                      "STRATA_ERROR_ROW_MAP",
                                      "STRATA_ERROR_COLUMN_RANGE",
                                      "STRATA_ERROR_UNSORTED_ROW",
                                      "STRATA_ERROR_DUPLICATE_ENTRY",
                                      "STRATA_ERROR_WRONG_TRIANGLE",
                                      "STRATA_ERROR_MISSING_DIAGONAL",
                                      "STRATA_ERROR_ZERO_DIAGONAL",
                                      "STRATA_ERROR_SCALING",
                                      "STRATA_ERROR_FACTORIZATION",
                                      "STRATA_ERROR_PRECISION",
                                      "STRATA_ERROR_NOT_HERMITIAN",
                                      "STRATA_ERROR_INDEFINITE",
                                      "STRATA_ERROR_PATTERN_MISMATCH"};
  const int count = sizeof names / sizeof names[0];
  static_assert(
      sizeof names / sizeof names[0] == STRATA_ERROR_PATTERN_MISMATCH + 1,
      "a name for each status");
  return status >= 0 && status < count ? names[status] : "unknown";
}

const char* strata_last_error(void) { return StrataC::error_text.c_str(); }
int64_t strata_last_error_row(void) { return StrataC::error_row; }
