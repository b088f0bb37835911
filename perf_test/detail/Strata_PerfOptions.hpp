// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_OPTIONS_HPP
#define STRATA_PERF_OPTIONS_HPP

#include <Kokkos_Core.hpp>
#include <Strata_GalleryOrders.hpp>
#include <Strata_TriangularOptions.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// Names of types in one word, for STRATA_PERF_SCALAR.
using complex_float = Kokkos::complex<float>;
using complex_double = Kokkos::complex<double>;

/// The triangular system made of an input matrix.
enum class Factor { lower, upper, ilu0_l, ilu0_u };

/// Whether b comes from the host's memory and x goes back to it in each solve.
enum class Transfers { none, timed, compared };

}  // namespace PerfTest
template <>
struct Detail::EnumeratorNames<PerfTest::Factor> {
  static constexpr const char* list[] = {"lower", "upper", "ilu0-l", "ilu0-u"};
};
namespace PerfTest {

/// One matrix named on the command line.
struct MatrixSource {
  bool is_file;      ///< a Matrix Market file, else a gallery name
  std::string spec;  ///< path or gallery name as given
  std::string name;  ///< file stem or gallery name: the benchmark's <matrix>
  // Of a gallery matrix of the validation set.
  std::string family = {};
  GalleryOrder order = GalleryOrder::natural;
  std::uint64_t seed = 1;
};

/// What the command lines of all programs have.
struct CommonOptions {
  std::vector<MatrixSource> matrices;
  std::vector<std::string> algorithms;  ///< full names, in table order
  std::string scalar = "double";
  std::string table_file;  ///< empty: no CSV
  bool help = false;
};

/// Whether solves are timed with the copies: the rows of one algorithm.
inline std::vector<bool> ways_of_timing(Transfers transfers) {
  if (transfers == Transfers::compared) return {true, false};
  return {transfers == Transfers::timed};
}

/// How solves are timed.
struct SolveTiming {
  Transfers transfers = Transfers::none;
  /// So many solves, each timed by itself with a random b of its own, and their
  /// mean; 0: batches of solves with one b, and their median.
  int solves = 0;
  /// Percent of the entries beside the diagonal that change for a pattern
  /// update, which is timed beside a new analysis; 0: none is.
  double changed = 0;
};

struct SptrsvOptions : CommonOptions {
  Factor factor = Factor::lower;
  GalleryOrder reorder = GalleryOrder::natural;
  int rhs = 1;
  TriangularOptions plan;  ///< what our plans are asked for
  SolveTiming timing;
  bool explain = false;
};

/// The automatic choice by the functions in the style of Kokkos Kernels, with
/// values that each solve packs again, and with set_values_fixed(true).
constexpr const char* drop_in = "sptrsv_drop_in";
constexpr const char* drop_in_fixed = "sptrsv_drop_in_fixed";

/// Our algorithms: the names that TriangularOptions takes, of the library's and
/// of those that have been registered before main, and the drop-in functions.
inline const std::vector<std::string>& own_algorithms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Strata::Algorithm a : all_algorithms())
      all.push_back(to_string(a));
    all.insert(all.end(), {drop_in, drop_in_fixed});
    return all;
  }();
  return names;
}

/// Every peer of any build.
inline const std::vector<std::string>& peer_algorithms() {
  static const std::vector<std::string> names{
      "serial_substitution", "kokkos_kernels_rp",
      "kokkos_kernels_tp1",  "kokkos_kernels_tp1chain",
      "cusparse_spsv",       "cusparse_spsv_sell",
      "cusparse_spsm"};
  return names;
}

/// Forms of other algorithms, which run only where they are named in full. On
/// some matrices cuSPARSE's SpSV reads beyond sliced ELL, which ends the
/// program, or answers wrongly.
inline bool only_in_full(const std::string& algorithm) {
  return algorithm == drop_in || algorithm == drop_in_fixed ||
         algorithm == "cusparse_spsv_sell";
}

inline bool is_own(const std::string& algorithm) {
  const auto& own = own_algorithms();
  return std::find(own.begin(), own.end(), algorithm) != own.end();
}

inline bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}
/// Of the programs whose peers have names of their own.
inline bool is_stratas(const std::string& algorithm) {
  return starts_with(algorithm, "strata");
}

}  // namespace PerfTest
}  // namespace Strata

#endif
