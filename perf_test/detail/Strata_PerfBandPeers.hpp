// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_PEERS_HPP
#define STRATA_PERF_BAND_PEERS_HPP

#include <dlfcn.h>

#include <Kokkos_Core.hpp>
#include <cctype>
#include <cstdint>
#include <cstdlib>
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

/// Rows x columns x systems, in host memory.
template <class Scalar>
using HostBlock =
    Kokkos::View<Scalar***, Kokkos::LayoutLeft, Kokkos::HostSpace>;

/// LAPACK's band factorisation and substitution on the host: one system by as
/// many threads as the library takes, several by the host's threads, each of
/// which calls LAPACK for a system at a time.
template <class Scalar>
class LapackBand {
  using Host = Kokkos::DefaultHostExecutionSpace;

 public:
  /// @param path a library, or empty for those usually installed
  /// @param letter of the scalar type in LAPACK's names
  LapackBand(const std::string& path, char letter)
      : library_(path.empty() ? usual_names() : std::vector<std::string>{path}),
        factor_name_(letter + std::string("gbtrf")),
        solve_name_(letter + std::string("gbtrs")) {
    usable_ = library_.find((factor_name_ + "_").c_str(), gbtrf_) &&
              library_.find((solve_name_ + "_").c_str(), gbtrs_);
  }
  bool usable() const { return usable_; }
  const std::string& name() const { return library_.name(); }
  /// The functions that are looked for.
  std::string functions() const { return factor_name_ + " and " + solve_name_; }

  /// From now on the library is to use one thread a call.
  void one_thread_a_call() {
    void (*set_threads)(int) = nullptr;
    // Other libraries of LAPACK have but one.
    if (library_.find("openblas_set_num_threads", set_threads)) set_threads(1);
  }

  /// The bands in gbtrf's storage, 2 kl + ku + 1 rows; overwritten.
  void factor(const HostBlock<Scalar>& ab, int kl, int ku) {
    const int n = static_cast<int>(ab.extent(1));
    const int ldab = static_cast<int>(ab.extent(0));
    pivots_.resize(ab.extent(1) * ab.extent(2));
    each_system(static_cast<int>(ab.extent(2)), factor_name_, [&](int s) {
      int info = 0;
      gbtrf_(&n, &n, &kl, &ku, &ab(0, 0, s), &ldab,
             pivots_.data() + static_cast<std::size_t>(s) * n, &info);
      return info;
    });
  }
  void solve(const HostBlock<Scalar>& ab, int kl, int ku,
             const HostBlock<Scalar>& b) {
    const int n = static_cast<int>(ab.extent(1));
    const int ldab = static_cast<int>(ab.extent(0));
    const int columns = static_cast<int>(b.extent(1));
    each_system(static_cast<int>(ab.extent(2)), solve_name_, [&](int s) {
      int info = 0;
      gbtrs_("N", &n, &kl, &ku, &columns, &ab(0, 0, s), &ldab,
             pivots_.data() + static_cast<std::size_t>(s) * n, &b(0, 0, s), &n,
             &info, 1);
      return info;
    });
  }

 private:
  using Factor = void(const int*, const int*, const int*, const int*, void*,
                      const int*, int*, int*);
  using Solve = void(const char*, const int*, const int*, const int*,
                     const int*, const void*, const int*, const int*, void*,
                     const int*, int*, std::size_t);
  static std::vector<std::string> usual_names() {
    return {"libopenblas.so.0", "libopenblas.so", "liblapack.so.3",
#ifdef STRATA_PERF_LAPACK
            STRATA_PERF_LAPACK
#endif
    };
  }
  /// call(s) returns LAPACK's info.
  template <class Call>
  static void each_system(int systems, const std::string& name,
                          const Call& call) {
    int worst = 0;
    if (systems == 1) {
      worst = std::abs(call(0));
    } else {
      Kokkos::parallel_reduce(
          "lapack",
          Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>>(
              0, systems, Kokkos::ChunkSize(1)),
          [&](const int s, int& bad) {
            const int info = call(s);
            if (std::abs(info) > bad) bad = std::abs(info);
          },
          Kokkos::Max<int>(worst));
    }
    if (worst > 0)
      throw std::runtime_error(name + ": info " + std::to_string(worst));
  }

  OptionalLibrary library_;
  std::string factor_name_, solve_name_;
  bool usable_ = false;
  Factor* gbtrf_ = nullptr;
  Solve* gbtrs_ = nullptr;
  std::vector<int> pivots_;
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
    if (!Detail::is_cuda<ExecutionSpace>) return {};
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
