// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_DENSE_HPP
#define STRATA_PERF_DENSE_HPP

#include <cmath>
#include <cstdint>
#include <detail/Strata_PerfRunner.hpp>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// What is asked of A, n x n: the solution for one right-hand side, the
/// inverse, or the reduced row echelon form of [A | B], n x 2n, or of [A | b],
/// n x (n + 1).
enum class DenseTask { solve, inverse, reduce, augmented };

}  // namespace PerfTest
template <>
struct Detail::EnumeratorNames<PerfTest::DenseTask> {
  static constexpr const char* list[] = {"solve", "inverse", "reduce",
                                         "augmented"};
};
namespace PerfTest {

inline bool reduces(DenseTask task) {
  return task == DenseTask::reduce || task == DenseTask::augmented;
}
inline bool has_one_column(DenseTask task) {
  return task == DenseTask::solve || task == DenseTask::augmented;
}

/// Kinds of matrices that DenseProblem makes.
inline const std::vector<std::string>& dense_kinds() {
  static const std::vector<std::string> names{"random", "positive", "graded",
                                              "nearly_singular", "dominant"};
  return names;
}

struct DenseOptions : CommonOptions {
  std::vector<int> sizes;
  std::vector<DenseTask> tasks{DenseTask::solve, DenseTask::inverse,
                               DenseTask::reduce};
  std::vector<std::string> kinds{"random"};
  int stripe = 0;
  /// Largest n for `lapack` and for `textbook`, which run on the host.
  int host_limit = 4096, textbook_limit = 1024;
  bool once = false;  ///< one run of each, for its error
};

struct DenseCase {
  std::string kind;
  int n;
  DenseTask task;
};

/// One algorithm on one case; `matrix` is its kind.
struct DenseResult : PerfResult {
  int n = 0;
  DenseTask task = DenseTask::solve;
  double us = NAN;
  /// max |A X - B| / (|A|_inf max |X| + max |B|), over at most 16 columns.
  double backward_error = NAN;

  /// Operations of LU factorisation and substitution, by which all are rated.
  double operations() const {
    const double size = n;
    return size * size * size * 2 / 3 +
           2 * size * size * (has_one_column(task) ? 1.0 : size);
  }
};

using DenseRunners = RunnersOf<PerfRunner<DenseResult>, const DenseOptions&>;

}  // namespace PerfTest
}  // namespace Strata

#endif
