// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_C_LIBRARY_HPP
#define STRATA_C_LIBRARY_HPP

// What all functions of strata.h share: handles, errors, Kokkos, streams.

#include <strata.h>

#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Enumerators.hpp>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace StrataC {

/// What a handle names.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;
};

/// Makes a handle of an object; the first is 1.
std::uintptr_t add_object(std::unique_ptr<Object> object);
/// @throws HandleError unless the handle is alive
Object& find_object(const char* argument, std::uintptr_t handle);
void remove_object(std::uintptr_t handle);

/// A null pointer has a status of its own.
struct NullPointerError : Strata::Error {
  using Error::Error;
};
/// @throws NullPointerError
void require_pointer(const char* argument, const void* pointer);

/// That a new handle can be stored; it is NULL until it is.
template <class Handle>
void require_place(const char* argument, Handle* place) {
  require_pointer(argument, place);
  *place = nullptr;
}

/// The object of a handle. @throws NullPointerError, HandleError
template <class Of, class Handle>
Of& object_of(const char* argument, Handle handle) {
  require_pointer(argument, handle);
  auto* const found = dynamic_cast<Of*>(
      &find_object(argument, reinterpret_cast<std::uintptr_t>(handle)));
  if (!found)
    throw Strata::HandleError(argument, "is a handle of another kind",
                              std::string("pass ") + Of::kind);
  return *found;
}

template <class Handle>
void give_handle(Handle* to, std::unique_ptr<Object> object) {
  *to = reinterpret_cast<Handle>(add_object(std::move(object)));
}

/// @throws HandleError, std::runtime_error
void initialize();
void finalize();

/// The locks and the device that a call keeps while it works.
class Work {
 public:
  Work();
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work();

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  int device_ = -1;
};

/// Notes the exception that is in flight for strata_last_error.
strata_status note_exception() noexcept;
/// Has messages of this call say that rows count from 0.
void note_index_base(int base);

/// Does the work of one function of strata.h.
template <class Function>
strata_status guarded(const Function& function) noexcept {
  try {
    const Work work;
    note_index_base(0);
    function();
    return STRATA_SUCCESS;
  } catch (...) {
    return note_exception();
  }
}

template <class Of, class Handle>
strata_status destroy(const char* argument, Handle handle) noexcept {
  return guarded([&] {
    if (!handle) return;
    (void)object_of<Of>(argument, handle);
    remove_object(reinterpret_cast<std::uintptr_t>(handle));
  });
}

using Host = Kokkos::DefaultHostExecutionSpace;
using Device = Kokkos::DefaultExecutionSpace;
inline constexpr bool has_device = !std::is_same<Host, Device>::value;

/// An instance of a space on a caller's stream.
template <class Space>
Space on_stream(void*) {
  return Space();
}
#if defined(KOKKOS_ENABLE_CUDA)
template <>
Kokkos::Cuda on_stream<Kokkos::Cuda>(void* stream);
#endif

/// The enumerator of a number of strata.h, which counts as the C++ one does.
/// @throws OptionError
template <class Enum>
Enum enumerator(const char* argument, int number) {
  const auto value = static_cast<Enum>(number);
  Strata::Detail::require_enumerator(argument, value);
  return value;
}
/// @throws OptionError unless the number is 0 or 1
bool is_second(const char* argument, int number, const char* names);

/// Calls `take` with a zero of a scalar type and an instance of a space.
/// @throws OptionError where libstrata was built without either
template <class Take>
void with_types(strata_scalar scalar, bool on_device, const Take& take) {
  const auto missing = [](const char* argument, const char* what,
                          const char* list) {
    throw Strata::OptionError(
        argument, std::string("libstrata was built without ") + what,
        std::string("add it to ") + list + " where Strata is configured");
  };
  const auto with_space = [&](auto zero, auto space) {
    using Scalar = decltype(zero);
    using Space = decltype(space);
    constexpr bool has_space = Strata::Detail::library_has_space<Space>;
    constexpr bool has_scalar = Strata::Detail::library_has_scalar<Scalar>;
    if (!has_space) missing("memory", Space::name(), "Strata_SPACES");
    if (!has_scalar) missing("scalar", "this type", "Strata_SCALARS");
    if constexpr (has_space && has_scalar) {
      take(zero, space);
    }
  };
  const auto with_scalar = [&](auto zero) {
    if constexpr (has_device) {
      if (on_device) return with_space(zero, Device());
    }
    with_space(zero, Host());
  };
  switch (scalar) {
    case STRATA_FLOAT:
      return with_scalar(float());
    case STRATA_DOUBLE:
      return with_scalar(double());
    case STRATA_COMPLEX_FLOAT:
      return with_scalar(Kokkos::complex<float>());
    case STRATA_COMPLEX_DOUBLE:
      return with_scalar(Kokkos::complex<double>());
    default:
      throw Strata::OptionError(
          "scalar", "is " + std::to_string(scalar) + ", which has no name",
          "pass STRATA_FLOAT, STRATA_DOUBLE, STRATA_COMPLEX_FLOAT or "
          "STRATA_COMPLEX_DOUBLE");
  }
}

}  // namespace StrataC

#endif
