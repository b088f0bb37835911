// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_PEERS_HPP
#define STRATA_PERF_BAND_PEERS_HPP

#include <dlfcn.h>

#include <Kokkos_Core.hpp>
#include <cctype>
#include <core/device/Backend.hpp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// A shared library that is looked for when the program runs.
class OptionalLibrary {
 public:
  /// The first of `names` that there is.
  explicit OptionalLibrary(const std::vector<std::string>& names) {
    for (const auto& name : names)
      if (!handle_ && !name.empty()) {
        handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_) name_ = name;
      }
  }
  OptionalLibrary(const OptionalLibrary&) = delete;
  OptionalLibrary& operator=(const OptionalLibrary&) = delete;

  bool loaded() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }
  /// Sets `function` to the symbol; false where there is none.
  template <class Function>
  bool find(const char* symbol, Function*& function) const {
    function = handle_ ? reinterpret_cast<Function*>(::dlsym(handle_, symbol))
                       : nullptr;
    return function != nullptr;
  }

 private:
  // Kept to the end of the program: its threads may still run.
  void* handle_ = nullptr;
  std::string name_;
};

/// cuSOLVER's LU of the dense matrix, on the device.
template <class Scalar, class ExecutionSpace>
class CusolverDense {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  /// n x columns x 1
  using Block = Kokkos::View<Scalar***, Kokkos::LayoutLeft, Memory>;

  /// @param letter of the scalar type in cuSOLVER's names
  explicit CusolverDense(char letter) : library_(names()) {
    const std::string stem =
        "cusolverDn" + std::string(1, static_cast<char>(std::toupper(letter)));
    usable_ =
        library_.find("cusolverDnCreate", create_) &&
        library_.find((stem + "getrf_bufferSize").c_str(), buffer_size_) &&
        library_.find((stem + "getrf").c_str(), getrf_) &&
        library_.find((stem + "getrs").c_str(), getrs_);
  }
  bool usable() const { return usable_; }

  void factor(const Block& a) {
    const int n = static_cast<int>(a.extent(0));
    // The library's handle works on the default stream: all of ours is done.
    Kokkos::fence();
    if (!handle_) check(create_(&handle_), "cusolverDnCreate");
    int size = 0;
    check(buffer_size_(handle_, n, n, a.data(), n, &size), "getrf_bufferSize");
    if (static_cast<int>(work_.extent(0)) < size)
      work_ = decltype(work_)("cusolver workspace", size);
    if (static_cast<int>(pivots_.extent(0)) < n + 1)
      pivots_ = decltype(pivots_)("cusolver pivots", n + 1);
    check(getrf_(handle_, n, n, a.data(), n, work_.data(), pivots_.data(),
                 pivots_.data() + n),
          "getrf");
    Kokkos::fence();
  }
  void solve(const Block& a, const Block& b) {
    const int n = static_cast<int>(a.extent(0));
    Kokkos::fence();
    check(getrs_(handle_, 0, n, static_cast<int>(b.extent(1)), a.data(), n,
                 pivots_.data(), b.data(), n, pivots_.data() + n),
          "getrs");
    Kokkos::fence();
  }

 private:
  static std::vector<std::string> names() {
    if (!Detail::is_gpu<ExecutionSpace>) return {};
    return {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"};
  }
  static void check(int status, const char* what) {
    if (status != 0)
      throw std::runtime_error("cuSOLVER, " + std::string(what) + ": status " +
                               std::to_string(status));
  }
  OptionalLibrary library_;
  bool usable_ = false;
  void* handle_ = nullptr;
  int (*create_)(void**) = nullptr;
  int (*buffer_size_)(void*, int, int, void*, int, int*) = nullptr;
  int (*getrf_)(void*, int, int, void*, int, void*, int*, int*) = nullptr;
  int (*getrs_)(void*, int, int, int, const void*, int, const int*, void*, int,
                int*) = nullptr;
  Kokkos::View<Scalar*, Memory> work_;
  Kokkos::View<int*, Memory> pivots_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
