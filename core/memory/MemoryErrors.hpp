// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MEMORY_MEMORY_ERRORS_HPP
#define STRATA_CORE_MEMORY_MEMORY_ERRORS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/scalar/ReadDouble.hpp>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>

namespace Strata {
namespace Detail {

/// An allocation that failed, until a public call makes a MemoryError of it.
class FailedAllocation : public std::bad_alloc {
 public:
  /// @param label  of the memory, empty: not known
  /// @param bytes  asked for, 0: not known; so of the others
  FailedAllocation(std::string label, std::string space, std::size_t bytes,
                   std::size_t free, std::size_t total)
      : label_(std::move(label)),
        space_(std::move(space)),
        bytes_(bytes),
        free_(free),
        total_(total) {
    text_ = "Strata: " + problem("");
  }
  const char* what() const noexcept override { return text_.c_str(); }

  /// As the exception of a public call, which `task` names in plain words.
  [[noreturn]] void raise(const std::string& task) const {
    throw MemoryError(
        "memory", problem(" in " + task),
        "free memory, call release_memory_pool, or take a smaller system; the "
        "options max_plan_bytes and max_right_hand_sides limit what a "
        "triangular solver's plan takes",
        bytes_, free_, total_);
  }

 private:
  std::string problem(const std::string& where) const {
    std::string text =
        bytes_ > 0 ? std::to_string(bytes_) + " bytes" : "memory";
    if (!label_.empty()) text += " for " + label_;
    text += where + " can't be allocated";
    if (total_ > 0)
      text += ": " + std::to_string(free_) + " of " + std::to_string(total_) +
              " bytes are free in " + space_;
    else if (!space_.empty())
      text += " in " + space_;
    return text;
  }

  std::string label_, space_, text_;
  std::size_t bytes_, free_, total_;
};

/// What Kokkos throws where it can't allocate is a std::runtime_error, which
/// only its text tells from others: of Kokkos 4.4 and later
///   ... Host memory space failed to allocate 1.5 MiB (label="x").
/// and before that
///   Kokkos failed to allocate memory for label "x". Allocation using
///   MemorySpace named "Host" failed ...: Allocation of size 1.5 M failed, ...
class KokkosFailure {
 public:
  explicit KokkosFailure(const std::exception& error) : text_(error.what()) {}

  bool is_of_memory() const {
    const auto says = [&](const char* sign) {
      return text_.find(sign) != std::string::npos;
    };
    return says("failed to allocate") || says("Allocation of size") ||
           says("allocation failure") ||
           std::any_of(std::begin(device_memory_errors),
                       std::end(device_memory_errors), says);
  }
  std::string label() const {
    const auto begin = text_.find('"', text_.find("label"));
    const auto end = begin == npos ? npos : text_.find('"', begin + 1);
    return end == npos ? "" : text_.substr(begin + 1, end - begin - 1);
  }
  /// Of which Kokkos tells four digits.
  std::size_t bytes() const {
    for (const char* before : {"Allocation of size ", "failed to allocate "}) {
      const auto at = text_.find(before);
      if (at == npos) continue;
      // The program's locale may have a decimal comma.
      std::string number = text_.substr(at + std::string(before).size());
      std::replace(number.begin(), number.end(), ',', '.');
      char* unit = nullptr;
      double size = read_double(number.c_str(), &unit);
      if (unit == number.c_str()) continue;
      while (*unit == ' ') ++unit;
      for (const char* u = "KMGT"; *u != 0; ++u) {
        size *= 1024;
        if (*unit == *u) return static_cast<std::size_t>(size);
      }
      return static_cast<std::size_t>(read_double(number.c_str(), nullptr));
    }
    return 0;
  }

 private:
  static constexpr auto npos = std::string::npos;
  std::string text_;
};

/// Calls `make`, which allocates `bytes` in MemorySpace.
/// @throws FailedAllocation where there is not as much
template <class MemorySpace, class Make>
auto try_to_allocate(const std::string& label, std::size_t bytes,
                     const Make& make) {
  const auto fail = [&]() -> FailedAllocation {
    const MemoryInfo memory = memory_info<MemorySpace>();
    return {label, MemorySpace::name(), bytes, memory.free, memory.total};
  };
  try {
    return make();
  } catch (const std::bad_alloc&) {
    throw fail();
  } catch (const std::runtime_error& error) {
    if (!KokkosFailure(error).is_of_memory()) throw;
    throw fail();
  }
}

/// Calls `work`, the whole of a public call that `task` names in plain words,
/// and makes a MemoryError of whatever tells that there was no memory.
/// @param task  a string, of which nothing is made before there is an error
template <class Task, class Work>
decltype(auto) with_memory_errors(const Task& task, const Work& work) {
  try {
    return work();
  } catch (const Error&) {
    throw;
  } catch (const FailedAllocation& error) {
    error.raise(task);
  } catch (const std::bad_alloc&) {
    FailedAllocation("", "", 0, 0, 0).raise(task);
  } catch (const std::runtime_error& error) {
    const KokkosFailure failure(error);
    if (!failure.is_of_memory()) throw;
    FailedAllocation(failure.label(), "", failure.bytes(), 0, 0).raise(task);
  }
}

/// Calls `first`, and `second` if there was no memory for the first.
template <class First, class Second>
void first_that_fits(const First& first, const Second& second) {
  bool fits = true;
  try {
    with_memory_errors("the first way", first);
  } catch (const MemoryError&) {
    fits = false;
  }
  if (!fits) second();
}

}  // namespace Detail
}  // namespace Strata

#endif
