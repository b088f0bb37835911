// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_band: times band solves, ours beside LAPACK's gbsv and cuSOLVER's
// dense LU, and ends with a table. --help tells the flags.
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <detail/Strata_PerfBand.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfProgram.hpp>

namespace Strata {
namespace PerfTest {
namespace {

std::vector<BandResult> planned(const BandPerfOptions& options) {
  std::vector<BandResult> results;
  for (const auto& sizes : options.cases)
    for (const auto& algorithm : options.algorithms)
      for (const int rhs : options.rhs) {
        BandResult r;
        r.sizes = sizes;
        r.rhs = rhs;
        r.matrix = std::to_string(sizes.n);
        r.variant = "kl:" + std::to_string(sizes.kl) +
                    "/ku:" + std::to_string(sizes.ku) +
                    "/rhs:" + std::to_string(rhs);
        r.algorithm = algorithm;
        r.scalar = options.scalar;
        r.own = is_stratas(algorithm);
        r.reference = starts_with(algorithm, "row_by_row");
        results.push_back(r);
      }
  return results;
}

/// The error, or why there is none.
std::string error_or_reason(const BandResult& r) {
  if (r.outcome == Outcome::right) return formatted("%.1e", r.relative_error);
  if (r.outcome == Outcome::left_out) return r.message;
  return r.outcome == Outcome::wrong ? "WRONG" : "failed";
}

Columns<BandResult> columns() {
  using R = BandResult;
  return {{"rows", "rows", [](const R& r) { return r.sizes.n; }},
          {"kl", "kl", [](const R& r) { return r.sizes.kl; }},
          {"ku", "ku", [](const R& r) { return r.sizes.ku; }},
          {"rhs", "rhs", &R::rhs},
          {"algorithm", "algorithm", &R::algorithm},
          {"factor us", "factor", &R::factor_us},
          {"us", "solve", &R::solve_us},
          {"us a rhs", "solve / rhs",
           [](const R& r) { return r.solve_us / std::max(r.rhs, 1); }},
          {"total us", "total", &R::total_us},
          {"error", "error", error_or_reason},
          {"scalar", "", &R::scalar},
          {"outcome", "", [](const R& r) { return to_string(r.outcome); }},
          {"message", "", &R::message}};
}

int run_all(const BandPerfOptions& options, std::ostream& people) {
  Program<BandResult> program{planned(options), columns(),
                              &BandResult::total_us, options.table_file,
                              options.scalar + "; medians, in microseconds"};
#ifdef STRATA_PERF_LAPACK
  program.context.emplace_back("lapack", STRATA_PERF_LAPACK);
#endif
  const auto runner = BandRunners::make(options.scalar, options);
  program.iterations = 1;
  return run_program("band", std::move(program), *runner, people);
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main("strata_perf_band", argc, argv, band_usage,
                   parse_band_options, run_all);
}
