// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_KRYLOV_TABLE_HPP
#define STRATA_PERF_KRYLOV_TABLE_HPP

#include <algorithm>
#include <detail/Strata_PerfComparison.hpp>
#include <detail/Strata_PerfCsv.hpp>
#include <detail/Strata_PerfKrylov.hpp>
#include <detail/Strata_PerfTable.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace PerfTest {

inline const char* name_of(KrylovMethodName method) {
  switch (method) {
    case KrylovMethodName::cg:
      return "cg";
    case KrylovMethodName::bicgstab:
      return "bicgstab";
    default:
      return "gmres";
  }
}
inline const char* name_of(FactorizationKind kind) {
  return kind == FactorizationKind::ilu0 ? "ilu0" : "ic0";
}
inline const char* name_of(BaseValues values) {
  switch (values) {
    case BaseValues::dominant:
      return "dominant";
    case BaseValues::as_is:
      return "as_is";
    default:
      return "laplacian";
  }
}

/// Total time of the family's fastest right preconditioner over that of `r`;
/// NaN for peers and where there is none.
inline double total_speedup(const std::vector<KrylovPerfResult>& results,
                            const KrylovPerfResult& r,
                            const std::string& family) {
  constexpr auto time = &KrylovPerfResult::total_us;
  return speedup(r, best_of_family(results, r.matrix, family, time), time);
}

/// The numbers unrounded, failures too. Empty where a number does not apply.
inline void write_krylov_csv(std::ostream& out,
                             const std::vector<KrylovPerfResult>& results,
                             const KrylovSettings& settings) {
  out << "matrix,algorithm,scalar,method,factorisation,values,rows,nnz,steps,"
         "iterations,restarts,total_us,ready_us,products_us,vectors_us,"
         "apply_us,numeric_us,solver_values_us,product_values_us,"
         "relative_error,outcome,speedup_cusparse,speedup_kokkos_kernels,"
         "message\n";
  for (const auto& r : results) {
    if (r.outcome == Outcome::not_run) continue;
    out << csv_text(r.matrix) << ',' << r.algorithm << ',' << r.scalar << ','
        << name_of(settings.method) << ',' << name_of(settings.kind) << ','
        << name_of(settings.values) << ',' << r.rows << ',' << r.entries << ','
        << r.steps << ',' << r.iterations << ',' << r.restarts;
    for (const double number :
         {r.total_us, r.ready_us, r.products_us, r.vectors_us, r.apply_us,
          r.numeric_us, r.solver_values_us, r.product_values_us,
          r.relative_error})
      out << ',' << csv_number(number);
    out << ',' << outcome_text(r.outcome);
    for (const char* family : {"cusparse", "kokkos_kernels"})
      out << ',' << csv_number(total_speedup(results, r, family));
    out << ',' << csv_text(r.message) << '\n';
  }
}

/// One line for each matrix and preconditioner, what those that failed or were
/// wrong said, and geometric means. A speedup above one says that ours is
/// faster.
inline void print_krylov(std::ostream& out,
                         const std::vector<KrylovPerfResult>& all,
                         const KrylovSettings& settings,
                         const std::string& scalar) {
  std::vector<KrylovPerfResult> results;
  for (const auto& r : all)
    if (r.outcome != Outcome::not_run) results.push_back(r);
  if (results.empty()) return;
  const std::vector<std::string> families = families_in(results);
  out << '\n'
      << scalar << ", " << name_of(settings.method) << " with "
      << name_of(settings.kind) << ", " << settings.steps
      << " time steps; times in milliseconds, of all steps together\n";
  std::vector<std::string> header{
      "matrix", "algorithm", "rows",    "nnz",     "iterations",
      "total",  "ready",     "numeric", "solvers", "product",
      "apply",  "products",  "vectors", "residual"};
  for (const auto& family : families)
    header.push_back("x " + short_name(family));
  TextTable table(header, 2);
  for (const auto& r : results) {
    if (!r.timed() || std::isnan(r.total_us)) continue;
    std::vector<std::string> row{r.matrix, r.algorithm, std::to_string(r.rows),
                                 std::to_string(r.entries),
                                 std::to_string(r.iterations)};
    for (const double us :
         {r.total_us, r.ready_us, r.numeric_us, r.solver_values_us,
          r.product_values_us, r.apply_us, r.products_us, r.vectors_us})
      row.push_back(digits(1e-3 * us));
    row.push_back(error_text(r));
    for (const auto& family : families)
      row.push_back(digits(total_speedup(results, r, family)));
    table.add(std::move(row));
  }
  table.print(out);
  for (const auto& r : results)
    if (!r.message.empty())
      out << r.matrix << ", " << r.algorithm
          << (r.outcome == Outcome::wrong ? " is wrong: " : " failed: ")
          << r.message << '\n';
  out << "ready: once, from the first matrix to being ready to apply, beside "
         "the total\n"
         "numeric: new factors; solvers: the rest of the preconditioner's new "
         "values; product: those of the product\n"
         "vectors: reductions and vector updates. All parts are of a run in "
         "which the host waits for each\n"
         "x <peer>: total time of the peer's fastest right preconditioner over "
         "ours (KK: Kokkos Kernels)\n";
  std::vector<std::string> own;
  for (const auto& r : results)
    if (r.own && std::find(own.begin(), own.end(), r.algorithm) == own.end())
      own.push_back(r.algorithm);
  const std::pair<const char*, double KrylovPerfResult::*> times[] = {
      {"total", &KrylovPerfResult::total_us},
      {"ready", &KrylovPerfResult::ready_us},
      {"numeric", &KrylovPerfResult::numeric_us},
      {"apply", &KrylovPerfResult::apply_us}};
  for (const auto& algorithm : own)
    for (const auto& [what, time] : times) {
      const std::string means = means_text(results, algorithm, families, time);
      if (!means.empty())
        out << "geometric mean speedup of " << algorithm << ", " << what << ": "
            << means << '\n';
    }
}

}  // namespace PerfTest
}  // namespace Strata

#endif
