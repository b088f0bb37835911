// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_sptrsv: times sparse triangular solves on Google Benchmark, ours
// beside their peers, and ends with a table. usage() tells the flags.
#include <Kokkos_Core.hpp>
#include <cmath>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfCommandLine.hpp>
#include <detail/Strata_PerfComparison.hpp>
#include <detail/Strata_PerfMain.hpp>
#include <detail/Strata_PerfProgram.hpp>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace PerfTest {
namespace {

/// A column of what only a plan of ours has.
template <class Get>
Column<SptrsvResult> plan_column(const std::string& name,
                                 const std::string& title, const Get& get) {
  return {name, title, [get](const SptrsvResult& r) {
            return r.own && r.timed() ? Cell(std::invoke(get, r.plan))
                                      : no_cell();
          }};
}

Columns<SptrsvResult> sptrsv_columns() {
  using R = SptrsvResult;
  const auto whole = [](double R::*error) {
    return [error](const R& r) {
      return Cell(r.*error).as(formatted("%.2g", r.*error));
    };
  };
  const auto people_call_it = [](const R& r) {
    std::string text = r.algorithm;
    if (r.own && r.plan.chosen != r.algorithm) text += ": " + r.plan.chosen;
    for (const auto& part : {r.plan.partition, r.plan.parameters})
      if (!part.empty()) text += " (" + part + ")";
    return r.transfers ? text + ", with copies" : text;
  };
  return {{"matrix", "matrix", &R::matrix},
          {"algorithm", "", &R::algorithm},
          {"", "algorithm", people_call_it},
          {"chosen", "", [](const R& r) { return r.plan.chosen; }},
          {"scalar", "", &R::scalar},
          {"rhs", "", &R::rhs},
          {"rows", "rows", &R::rows},
          {"nnz", "nnz", &R::entries},
          {"levels", "levels", &R::levels},
          plan_column("subgraphs", "subgraphs", &PlanFacts::subgraphs),
          plan_column("subgraph_levels", "", &PlanFacts::subgraph_levels),
          plan_column("external_share", "external", &PlanFacts::external_share),
          plan_column("plan_bytes", "", &PlanFacts::plan_bytes),
          {"analysis_us", "analysis", &R::analysis_us},
          {"update_us", "update", &R::update_us},
          {"solve_us", "solve", &R::solve_us},
          {"relative_error", "rel. error", error_cell},
          {"outcome", "", [](const R& r) { return to_string(r.outcome); }},
          {"rowwise_error", "rowwise", whole(&R::rowwise_error)},
          {"normwise_error", "normwise", whole(&R::normwise_error)},
          {"componentwise_error", "comp.wise", whole(&R::componentwise_error)},
          plan_column("merged_levels", "", &PlanFacts::merged_levels),
          plan_column("growth", "", &PlanFacts::growth),
          plan_column("unmerged_rows", "", &PlanFacts::unmerged_rows),
          plan_column("longest_row", "", &PlanFacts::longest_row),
          {"partition", "", [](const R& r) { return r.plan.partition; }},
          plan_column("max_subgraph_rows", "", &PlanFacts::max_subgraph_rows),
          {"transfers", "", [](const R& r) { return int(r.transfers); }},
          {"solves", "", &R::solves},
          {"changed_percent", "", &R::changed},
          {"pattern_update_us", "update_pattern",
           [](const R& r) { return r.pattern.update_us; }},
          {"pattern_analysis_us", "new analysis",
           [](const R& r) { return r.pattern.analysis_us; }},
          {"parameters", "", [](const R& r) { return r.plan.parameters; }},
          {"message", "", &R::message}};
}

/// Number of solves after which analysis and solves of `ours` together cost
/// less than those of cuSPARSE (Picciau et al. 2017, Figure 8) or, where that
/// gave no right answer, of Kokkos Kernels.
std::string pays_after(const std::vector<SptrsvResult>& results,
                       const SptrsvResult& ours) {
  const auto best = [&](const char* family) {
    return best_of_family(results, ours, family, &SptrsvResult::solve_us);
  };
  const SptrsvResult* const cusparse = best("cusparse");
  const SptrsvResult* const peer = cusparse ? cusparse : best("kokkos_kernels");
  if (!peer || !ours.own || ours.outcome != Outcome::right) return "-";
  if (ours.analysis_us <= peer->analysis_us) return "at once";
  if (ours.solve_us >= peer->solve_us) return "never";
  return formatted("%.0f", std::ceil((ours.analysis_us - peer->analysis_us) /
                                     (peer->solve_us - ours.solve_us)));
}

using Space = Kokkos::DefaultExecutionSpace;

std::string heading(const SptrsvOptions& options) {
  std::string text =
      options.scalar + ", " + std::to_string(options.rhs) +
      (options.rhs == 1 ? " right-hand side" : " right-hand sides") +
      "; times in microseconds (medians";
  if (options.timing.solves > 0)
    text += "; solves: means of " + std::to_string(options.timing.solves) +
            ", each with its own b";
  if (options.timing.transfers != Transfers::none)
    text += "; with the copies of b and x";
  return text +
         "); backward errors row by row, of norms\nand of components in units "
         "of eps; pays after: solves until the analysis has paid against\n"
         "cuSPARSE, or Kokkos Kernels where cuSPARSE is missing";
}

std::vector<SptrsvResult> planned(const SptrsvOptions& options) {
  std::vector<SptrsvResult> results;
  for (const auto& source : options.matrices)
    for (const auto& algorithm : options.algorithms)
      for (const bool transfers : ways_of_timing(options.timing.transfers)) {
        SptrsvResult result;
        result.matrix = source.name;
        result.source = &source;
        result.algorithm = algorithm;
        result.scalar = options.scalar;
        result.rhs = options.rhs;
        result.transfers = transfers;
        result.variant = "rhs:" + std::to_string(options.rhs);
        if (options.timing.transfers == Transfers::compared && transfers)
          result.variant += ",transfers";
        result.solves = options.timing.solves;
        result.changed = options.timing.changed;
        result.own = is_own(algorithm);
        results.push_back(result);
      }
  return results;
}

int run_all(const SptrsvOptions& options, std::ostream& people) {
  Program<SptrsvResult> program{planned(options), sptrsv_columns(),
                                &SptrsvResult::solve_us, options.table_file,
                                heading(options)};
  program.comparisons = {{"pays after", pays_after}};
  program.context = {{"factor", to_string(options.factor)}};
  // As many as asked for, however short: no repetition until
  // --benchmark_min_time has passed.
  program.iterations = options.timing.solves;
  const auto runner = SptrsvRunners::make(options.scalar, options, people);
  return run_program("sptrsv", std::move(program), *runner, people);
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  using namespace Strata::PerfTest;
  return perf_main(
      "strata_perf_sptrsv", argc, argv, usage,
      [](int& count, char** words) {
        return parse_options(count, words, Strata::Detail::is_gpu<Space>);
      },
      run_all);
}
