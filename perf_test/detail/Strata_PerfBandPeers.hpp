// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_PEERS_HPP
#define STRATA_PERF_BAND_PEERS_HPP

#include <dlfcn.h>

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <detail/Strata_KokkosCompat.hpp>
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

using HostBlock = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

/// LAPACK's band factorisation and substitution on the host, as many threads as
/// the library takes.
class LapackBand {
 public:
  /// @param path a library, or empty for those usually installed
  explicit LapackBand(const std::string& path)
      : library_(path.empty() ? usual_names()
                              : std::vector<std::string>{path}) {
    usable_ =
        library_.find("dgbtrf_", dgbtrf_) && library_.find("dgbtrs_", dgbtrs_);
  }
  bool usable() const { return usable_; }
  const std::string& name() const { return library_.name(); }

  /// The band in dgbtrf's storage, 2 kl + ku + 1 rows; overwritten.
  void factor(const HostBlock& ab, int kl, int ku) {
    const int n = static_cast<int>(ab.extent(1));
    const int ldab = static_cast<int>(ab.extent(0));
    pivots_.resize(n);
    int info = 0;
    dgbtrf_(&n, &n, &kl, &ku, ab.data(), &ldab, pivots_.data(), &info);
    if (info != 0)
      throw std::runtime_error("dgbtrf: info " + std::to_string(info));
  }
  void solve(const HostBlock& ab, int kl, int ku, const HostBlock& b) {
    const int n = static_cast<int>(ab.extent(1));
    const int ldab = static_cast<int>(ab.extent(0));
    const int columns = static_cast<int>(b.extent(1));
    int info = 0;
    dgbtrs_("N", &n, &kl, &ku, &columns, ab.data(), &ldab, pivots_.data(),
            b.data(), &n, &info, 1);
    if (info != 0)
      throw std::runtime_error("dgbtrs: info " + std::to_string(info));
  }

 private:
  using Factor = void(const int*, const int*, const int*, const int*, double*,
                      const int*, int*, int*);
  using Solve = void(const char*, const int*, const int*, const int*,
                     const int*, const double*, const int*, const int*, double*,
                     const int*, int*, std::size_t);
  static std::vector<std::string> usual_names() {
    return {"libopenblas.so.0", "libopenblas.so", "liblapack.so.3",
#ifdef STRATA_PERF_LAPACK
            STRATA_PERF_LAPACK
#endif
    };
  }
  OptionalLibrary library_;
  bool usable_ = false;
  Factor* dgbtrf_ = nullptr;
  Solve* dgbtrs_ = nullptr;
  std::vector<int> pivots_;
};

/// cuSOLVER's LU of the dense matrix, on the device.
template <class ExecutionSpace>
class CusolverDense {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Memory>;

  CusolverDense() : library_(names()) {
    usable_ = library_.find("cusolverDnCreate", create_) &&
              library_.find("cusolverDnDgetrf_bufferSize", buffer_size_) &&
              library_.find("cusolverDnDgetrf", getrf_) &&
              library_.find("cusolverDnDgetrs", getrs_);
  }
  bool usable() const { return usable_; }

  void factor(const Block& a) {
    const int n = static_cast<int>(a.extent(0));
    // The library's handle works on the default stream: all of ours is done.
    Kokkos::fence();
    if (!handle_) check(create_(&handle_), "cusolverDnCreate");
    int size = 0;
    check(buffer_size_(handle_, n, n, a.data(), n, &size),
          "cusolverDnDgetrf_bufferSize");
    if (static_cast<int>(work_.extent(0)) < size)
      work_ = decltype(work_)("cusolver workspace", size);
    if (static_cast<int>(pivots_.extent(0)) < n + 1)
      pivots_ = decltype(pivots_)("cusolver pivots", n + 1);
    check(getrf_(handle_, n, n, a.data(), n, work_.data(), pivots_.data(),
                 pivots_.data() + n),
          "cusolverDnDgetrf");
    Kokkos::fence();
  }
  void solve(const Block& a, const Block& b) {
    const int n = static_cast<int>(a.extent(0));
    Kokkos::fence();
    check(getrs_(handle_, 0, n, static_cast<int>(b.extent(1)), a.data(), n,
                 pivots_.data(), b.data(), n, pivots_.data() + n),
          "cusolverDnDgetrs");
    Kokkos::fence();
  }

 private:
  static std::vector<std::string> names() {
    if (!Detail::is_cuda<ExecutionSpace>) return {};
    return {"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"};
  }
  static void check(int status, const char* what) {
    if (status != 0)
      throw std::runtime_error(std::string(what) + ": status " +
                               std::to_string(status));
  }
  OptionalLibrary library_;
  bool usable_ = false;
  void* handle_ = nullptr;
  int (*create_)(void**) = nullptr;
  int (*buffer_size_)(void*, int, int, double*, int, int*) = nullptr;
  int (*getrf_)(void*, int, int, double*, int, double*, int*, int*) = nullptr;
  int (*getrs_)(void*, int, int, int, const double*, int, const int*, double*,
                int, int*) = nullptr;
  Kokkos::View<double*, Memory> work_;
  Kokkos::View<int*, Memory> pivots_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
