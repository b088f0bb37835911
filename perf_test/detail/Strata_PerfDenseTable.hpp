// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_DENSE_TABLE_HPP
#define STRATA_PERF_DENSE_TABLE_HPP

#include <detail/Strata_PerfDense.hpp>
#include <detail/Strata_PerfTable.hpp>

namespace Strata {
namespace PerfTest {

inline bool same_case(const DenseResult& a, const DenseResult& b) {
  return a.system.kind == b.system.kind && a.system.n == b.system.n &&
         a.system.task == b.system.task;
}

/// Time of a peer over ours; NaN where either is missing or wrong.
inline double dense_speedup(const std::vector<DenseResult>& results,
                            const DenseResult& ours, const std::string& peer) {
  if (!ours.own || ours.outcome != Outcome::right) return NAN;
  for (const auto& r : results)
    if (r.algorithm == peer && same_case(r, ours) &&
        r.outcome == Outcome::right)
      return r.seconds / ours.seconds;
  return NAN;
}

/// Backward error over that of LAPACK's gesv on the same system; NaN where
/// LAPACK did not run, or solved it exactly.
inline double dense_error_ratio(const std::vector<DenseResult>& results,
                                const DenseResult& of) {
  for (const auto& r : results)
    if (r.algorithm == "lapack" && same_case(r, of) && r.timed() &&
        r.backward_error > 0)
      return of.backward_error / r.backward_error;
  return NAN;
}

/// The rows of the table, for people and as CSV.
inline std::vector<std::vector<std::string>> dense_rows(
    const std::vector<DenseResult>& results) {
  std::vector<std::vector<std::string>> rows{
      {"matrix", "n", "task", "algorithm", "ms", "Gflop/s", "backward error",
       "error/lapack", "x cusolver", "x lapack", "x textbook", "x getri"}};
  for (const auto& r : results) {
    if (!r.timed()) continue;
    rows.push_back({r.system.kind, std::to_string(r.system.n),
                    to_string(r.system.task), r.algorithm,
                    formatted("%.3f", 1e3 * r.seconds),
                    digits(r.operations() / r.seconds * 1e-9),
                    (r.outcome == Outcome::wrong ? "WRONG " : "") +
                        formatted("%.1e", r.backward_error),
                    digits(dense_error_ratio(results, r)),
                    digits(dense_speedup(results, r, "cusolver")),
                    digits(dense_speedup(results, r, "lapack")),
                    digits(dense_speedup(results, r, "textbook")),
                    digits(dense_speedup(results, r, "getri"))});
  }
  return rows;
}

inline void print_dense_table(std::ostream& out,
                              const std::vector<DenseResult>& results,
                              bool once) {
  const auto rows = dense_rows(results);
  if (!results.empty())
    out << '\n'
        << results.front().scalar
        << (once ? "; times of one first run\n" : "; medians\n");
  TextTable table(rows[0], 1);
  for (std::size_t k = 1; k < rows.size(); ++k) table.add(rows[k]);
  table.print(out);
  for (const auto& r : results)
    if (r.outcome == Outcome::failed)
      out << r.system.kind << ", " << r.system.n << ", "
          << to_string(r.system.task) << ", " << r.algorithm
          << " failed: " << r.message << '\n';
  out << "Gflop/s: operations of LU factorisation and substitution over time, "
         "for all algorithms\n"
         "error/lapack: backward error over that of gesv\n"
         "x <peer>: the peer's time over ours\n";
}

inline void write_dense_csv(std::ostream& out,
                            const std::vector<DenseResult>& results) {
  const std::string scalar = results.empty() ? "" : results.front().scalar;
  bool header = true;
  for (const auto& row : dense_rows(results)) {
    for (const auto& cell : row) out << (cell == "-" ? "" : cell) << ',';
    out << (header ? "scalar" : scalar) << '\n';
    header = false;
  }
}

}  // namespace PerfTest
}  // namespace Strata

#endif
