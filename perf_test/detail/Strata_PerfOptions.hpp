// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_OPTIONS_HPP
#define STRATA_PERF_OPTIONS_HPP

#include <Strata_TriangularOptions.hpp>
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// The triangular system made of an input matrix.
enum class Factor { lower, upper, ilu0_l, ilu0_u };

/// One matrix named on the command line.
struct MatrixSource {
  bool is_file;      ///< a Matrix Market file, else a gallery name
  std::string spec;  ///< path or gallery name as given
  std::string name;  ///< file stem or gallery name: the benchmark's <matrix>
};

/// What our plans are asked for.
struct PlanWishes {
  /// Memory that they may hold; 0: no limit. `ratio` is of the CRS matrix.
  std::size_t bytes = 0;
  double ratio = 0;
  /// TriangularOptions of these names.
  std::string accuracy = "rowwise";
  double accuracy_digits = 0;
  int merged_levels = 0;
};

/// The order of rows and columns in which the system is made.
enum class Reorder { none, level };

struct SptrsvOptions {
  std::vector<MatrixSource> matrices;
  std::vector<std::string> algorithms;  ///< full names, in table order
  Factor factor = Factor::lower;
  std::string factor_name = "lower";
  Reorder reorder = Reorder::none;
  std::string scalar = "double";
  int rhs = 1;
  PlanWishes wishes;
  bool explain = false;
  bool help = false;
  std::string table_file;  ///< empty: no CSV
};

/// Our algorithms, by the names that TriangularOptions takes: the library's and
/// those that have been registered before main.
inline const std::vector<std::string>& own_algorithms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Strata::Algorithm a : all_algorithms())
      all.push_back(to_string(a));
    return all;
  }();
  return names;
}

/// Every peer of any build.
inline const std::vector<std::string>& peer_algorithms() {
  static const std::vector<std::string> names{
      "serial_substitution",     "kokkos_kernels_rp", "kokkos_kernels_tp1",
      "kokkos_kernels_tp1chain", "cusparse_spsv",     "cusparse_spsm"};
  return names;
}

inline bool is_own(const std::string& algorithm) {
  const auto& own = own_algorithms();
  return std::find(own.begin(), own.end(), algorithm) != own.end();
}

inline bool starts_with(const std::string& text, const std::string& prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
