// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_VALIDATION_HPP
#define STRATA_PERF_VALIDATION_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfOptions.hpp>
#include <detail/Strata_PerfResult.hpp>
#include <detail/Strata_PerfRunner.hpp>
#include <detail/Strata_PerfValidationSystems.hpp>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {

struct ValidationOptions : CommonOptions {
  std::vector<std::string> families;  ///< empty: all
  std::string text;                   ///< that names have; empty: any
  int per_family = 0;                 ///< the smallest so many; 0: all
  double milliseconds = 15;           ///< of timing, for each algorithm
  int rhs = 1;
  std::vector<std::string> candidates;  ///< and cuSPARSE; empty: all
  TriangularOptions plan;  ///< of the automatic choice and the candidates
  double scale = 1;        ///< see ValidationSet
  int seed = 1;
  bool list = false;
};

/// How far the measurement of an algorithm has come.
enum class Timing {
  full,      ///< a median of batches
  once,      ///< far slower than the fastest: one solve
  refused,   ///< it can't take the system, or not in this memory
  not_asked  ///< left out of --candidates
};

}  // namespace PerfTest
template <>
struct Detail::EnumeratorNames<PerfTest::Timing> {
  static constexpr const char* list[] = {"full", "once", "refused", ""};
};
namespace PerfTest {

/// An algorithm named explicitly, on one system.
struct CandidateTime {
  std::string algorithm;
  double solve_us = NAN;
  int merged_levels = 1;
  int steps = 0;  ///< of the longest chain of `tiles`
  Timing timing = Timing::not_asked;
  Outcome outcome = Outcome::not_run;
  std::string message;
};

/// One system. Times in microseconds.
struct ValidationResult {
  std::string family, system, scalar, accuracy;
  std::int64_t rows = 0, entries = 0, levels = 0;
  int rhs = 1;
  PlanFacts plan;  ///< of the automatic choice
  double solve_us = NAN, analysis_us = NAN;
  double peer_us = NAN, peer_analysis_us = NAN;
  /// CRS arrays, b and x once over the bandwidth of a copy, and the largest of
  /// that and the latencies of level sets.
  double bytes_us = NAN, floor_us = NAN;
  double rowwise_error = NAN;  ///< see BackwardErrors
  std::vector<CandidateTime> candidates;
  Outcome outcome = Outcome::not_run;
  std::string message;

  /// The shortest time of a right answer.
  double fastest_us() const {
    double best = solve_us;
    for (const auto& c : candidates)
      if (c.outcome == Outcome::right && !(c.solve_us >= best))
        best = c.solve_us;
    return best;
  }
  double regret() const { return solve_us / fastest_us(); }
};

/// Our algorithms beside `automatic`, in the order of the columns.
inline std::vector<std::string> validation_candidates() {
  std::vector<std::string> names;
  for (const Strata::Algorithm a : all_algorithms())
    if (a != Strata::Algorithm::automatic) names.push_back(to_string(a));
  return names;
}

/// The systems that the options name, in the order of the set, or of rows where
/// there is a limit for each family.
inline std::vector<ValidationSystem> chosen_systems(
    const ValidationOptions& options) {
  const auto is_one_of = [](const std::vector<std::string>& all,
                            const std::string& name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  auto all =
      ValidationSet(options.scale, static_cast<std::uint64_t>(options.seed))
          .systems;
  if (options.per_family > 0) {
    std::vector<std::pair<std::int64_t, std::size_t>> by_rows;
    for (std::size_t k = 0; k < all.size(); ++k)
      by_rows.emplace_back(all[k].rows, k);
    std::sort(by_rows.begin(), by_rows.end());
    std::vector<ValidationSystem> smallest;
    for (const auto& entry : by_rows) {
      const auto& system = all[entry.second];
      if (std::count_if(smallest.begin(), smallest.end(), [&](const auto& s) {
            return s.family == system.family;
          }) < options.per_family)
        smallest.push_back(system);
    }
    all = std::move(smallest);
  }
  std::vector<ValidationSystem> chosen;
  for (const auto& system : all)
    if ((options.families.empty() ||
         is_one_of(options.families, system.family)) &&
        system.name().find(options.text) != std::string::npos)
      chosen.push_back(system);
  return chosen;
}

/// In the order of the set.
inline std::vector<std::string> all_families() {
  std::vector<std::string> names;
  for (const auto& system : ValidationSet().systems)
    if (std::find(names.begin(), names.end(), system.family) == names.end())
      names.push_back(system.family);
  return names;
}

/// Flags that choose systems of the set.
inline Flags set_flags(ValidationOptions& options) {
  return {names("--families", options.families, all_families(), "family"),
          text("--systems", options.text),
          whole("--per-family", options.per_family, 1, 1000000),
          real("--scale", options.scale, 0.5, 2),
          whole("--seed", options.seed, 1, 1000000)};
}
/// The whole matrices of these systems, each once.
inline std::vector<MatrixSource> matrices_of(
    std::vector<ValidationSystem> systems) {
  std::vector<MatrixSource> made;
  for (auto& system : systems) {
    system.factor = Factor::lower;
    const std::string name = system.name();
    if (std::none_of(made.begin(), made.end(),
                     [&](const auto& other) { return other.name == name; }))
      made.push_back({false, system.matrix, name, system.family, system.order,
                      system.seed});
  }
  return made;
}

/// Measures systems of one scalar type.
class ValidationRunner {
 public:
  virtual ~ValidationRunner() = default;
  virtual ValidationResult run(const ValidationSystem& system) = 0;
};

using ValidationRunners = RunnersOf<ValidationRunner, const ValidationOptions&>;

}  // namespace PerfTest
}  // namespace Strata

#endif
