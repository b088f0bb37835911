// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_DENSE_HPP
#define STRATA_PERF_DENSE_HPP

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <detail/Strata_PerfResult.hpp>
#include <memory>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// The scalars' names on the command line are their types' names here.
using complex_float = Kokkos::complex<float>;
using complex_double = Kokkos::complex<double>;

/// What is asked of A, n x n: the solution for one right-hand side, the
/// inverse, or the reduced row echelon form of [A | B], n x 2n, or of [A | b],
/// n x (n + 1).
enum class DenseTask { solve, inverse, reduce, augmented };

inline const std::vector<std::string>& dense_tasks() {
  static const std::vector<std::string> names{"solve", "inverse", "reduce",
                                              "augmented"};
  return names;
}
inline const char* to_string(DenseTask task) {
  return dense_tasks()[static_cast<std::size_t>(task)].c_str();
}
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

struct DenseOptions {
  std::vector<int> sizes;
  std::vector<DenseTask> tasks{DenseTask::solve, DenseTask::inverse,
                               DenseTask::reduce};
  std::vector<std::string> kinds{"random"};
  std::vector<std::string> algorithms;
  std::string scalar = "double";
  int stripe = 0;
  /// Largest n for `lapack` and `getri`, and for `textbook`, which run on the
  /// host.
  int host_limit = 4096, textbook_limit = 1024;
  bool help = false;
  bool once = false;       ///< one run of each, for its error
  std::string table_file;  ///< empty: no CSV
};

struct DenseCase {
  std::string kind;
  int n;
  DenseTask task;
};

/// One algorithm on one case.
struct DenseResult {
  DenseCase system;
  std::string algorithm, scalar;
  bool own = false, must_be_right = false;
  double seconds = NAN;
  /// max |A X - B| / (|A|_inf max |X| + max |B|), over at most 16 columns.
  double backward_error = NAN;
  Outcome outcome = Outcome::not_run;
  std::string message;

  bool timed() const {
    return outcome == Outcome::wrong || outcome == Outcome::right;
  }
  /// Operations of LU factorisation and substitution, by which all are rated.
  double operations() const {
    const double n = system.n;
    return n * n * n * 2 / 3 +
           2 * n * n * (has_one_column(system.task) ? 1.0 : n);
  }
};

/// Runs the benchmarks of one scalar type; keeps the matrix of its latest one.
class DenseRunner {
 public:
  virtual ~DenseRunner() = default;
  virtual void run(benchmark::State& state, DenseResult& result) = 0;
};

template <class Scalar>
std::unique_ptr<DenseRunner> make_dense_runner(const DenseOptions& options);

}  // namespace PerfTest
}  // namespace Strata

#endif
