// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_COMPARISON_HPP
#define STRATA_PERF_COMPARISON_HPP

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <detail/Strata_PerfOptions.hpp>
#include <detail/Strata_PerfResult.hpp>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

/// The results that were timed with the copies of b and x, or those without:
/// only results of one kind are compared.
inline std::vector<SptrsvResult> of_transfers(
    const std::vector<SptrsvResult>& results, bool transfers) {
  std::vector<SptrsvResult> some;
  for (const auto& r : results)
    if (r.transfers == transfers) some.push_back(r);
  return some;
}

/// Of lines that are compared with each other.
template <class Result>
bool of_one_matrix(const Result& a, const Result& b) {
  return a.matrix == b.matrix;
}

/// The peers that ours are compared with; each stands for its fastest right
/// algorithm whose name begins like this.
inline const std::vector<std::string>& peer_families() {
  static const std::vector<std::string> families{"serial", "kokkos_kernels",
                                                 "cusparse"};
  return families;
}

/// The right answer of `family` on `matrix` with the shortest `time`; null
/// where there is none.
template <class Result>
const Result* best_of_family(const std::vector<Result>& results,
                             const std::string& matrix,
                             const std::string& family,
                             double Result::*time = &Result::solve_us) {
  const Result* best = nullptr;
  for (const auto& r : results)
    if (r.matrix == matrix && !r.own && r.outcome == Outcome::right &&
        starts_with(r.algorithm, family) && !std::isnan(r.*time) &&
        (!best || r.*time < best->*time))
      best = &r;
  return best;
}

/// `time` of the peer over that of `ours`; NaN where either is missing.
template <class Result>
double speedup(const Result& ours, const Result* peer,
               double Result::*time = &Result::solve_us) {
  if (!peer || !ours.own || ours.outcome != Outcome::right) return NAN;
  return peer->*time / ours.*time;
}

/// The peer that the analysis has to pay for itself against: cuSPARSE where
/// it gave a right answer (Picciau et al. 2017, Figure 8), else Kokkos Kernels.
inline const SptrsvResult* break_even_peer(
    const std::vector<SptrsvResult>& results, const std::string& matrix) {
  const SptrsvResult* peer = best_of_family(results, matrix, "cusparse");
  return peer ? peer : best_of_family(results, matrix, "kokkos_kernels");
}

/// Number of solves after which analysis and solves of `ours` together cost
/// less than the peer's: 0 where our analysis is no slower, infinity where
/// that never happens, NaN where there is nothing to compare.
inline double solves_to_break_even(const SptrsvResult& ours,
                                   const SptrsvResult* peer) {
  if (!peer || !ours.own || ours.outcome != Outcome::right) return NAN;
  if (ours.analysis_us <= peer->analysis_us) return 0;
  if (ours.solve_us >= peer->solve_us) return INFINITY;
  return std::ceil((ours.analysis_us - peer->analysis_us) /
                   (peer->solve_us - ours.solve_us));
}

/// Geometric mean of our `algorithm`'s speedups over a peer family.
struct MeanSpeedup {
  double mean = NAN;
  int matrices = 0;
};
template <class Result>
MeanSpeedup mean_speedup(const std::vector<Result>& results,
                         const std::string& algorithm,
                         const std::string& family,
                         double Result::*time = &Result::solve_us) {
  MeanSpeedup result;
  double logarithms = 0;
  for (const auto& r : results) {
    if (r.algorithm != algorithm) continue;
    const double s =
        speedup(r, best_of_family(results, r.matrix, family, time), time);
    if (std::isnan(s)) continue;
    logarithms += std::log(s);
    ++result.matrices;
  }
  if (result.matrices > 0) result.mean = std::exp(logarithms / result.matrices);
  return result;
}

/// Of a program: 1 for a matrix that can't be used, 2 where one of ours failed
/// or was wrong.
template <class Result>
int exit_code(const std::vector<Result>& results) {
  int code = EXIT_SUCCESS;
  for (const auto& r : results) {
    if (r.outcome == Outcome::bad_input) return EXIT_FAILURE;
    if (r.own && (r.outcome == Outcome::wrong || r.outcome == Outcome::failed))
      code = 2;
  }
  return code;
}

}  // namespace PerfTest
}  // namespace Strata

#endif
