// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BAND_LAPACK_HPP
#define STRATA_PERF_BAND_LAPACK_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <detail/Strata_PerfBandOptions.hpp>
#include <detail/Strata_PerfBandPeers.hpp>
#include <detail/Strata_PerfBandTime.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

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

  /// Factorises bands anywhere. @returns median seconds, without the copies
  template <class Block>
  double time_factor(const Block& ab, const BandCase& sizes) {
    kl_ = static_cast<int>(sizes.kl);
    ku_ = static_cast<int>(sizes.ku);
    const std::int64_t rows = sizes.n, kl = sizes.kl, ku = sizes.ku;
    const auto band =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), ab);
    factors_ =
        HostBlock<Scalar>("factors", 2 * kl + ku + 1, rows, ab.extent(2));
    const HostBlock<Scalar>& factors = factors_;
    return median_after(
        [&] {
          Kokkos::parallel_for(
              Kokkos::RangePolicy<Host, Kokkos::IndexType<std::int64_t>>(
                  0, rows * static_cast<std::int64_t>(ab.extent(2))),
              [&](const std::int64_t place) {
                const std::int64_t j = place % rows, s = place / rows;
                for (std::int64_t d = -ku; d <= kl; ++d)
                  factors(kl + ku + d, j, s) = band(ku + d, j, s);
              });
          Kokkos::fence();
        },
        [&] { factor(factors_, kl_, ku_); });
  }
  /// x = A^-1 b with the latest factors. @returns median seconds
  double time_solve(const HostBlock<Scalar>& b, const HostBlock<Scalar>& x) {
    return median_after([&] { Kokkos::deep_copy(x, b); },
                        [&] { solve(factors_, kl_, ku_, x); });
  }
  void forget() { factors_ = HostBlock<Scalar>(); }

 private:
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
  HostBlock<Scalar> factors_;
  int kl_ = 0, ku_ = 0;  ///< of the factors
};

}  // namespace PerfTest
}  // namespace Strata

#endif
