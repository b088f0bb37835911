// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_MAIN_HPP
#define STRATA_PERF_MAIN_HPP

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <detail/Strata_PerfFlags.hpp>
#include <detail/Strata_PerfOutput.hpp>
#include <exception>
#include <iostream>
#include <string>

namespace Strata {
namespace PerfTest {

/// main() of a benchmark's program.
/// @param usage    the text of --help
/// @param parse    (argc, argv) -> options with a member `help`; takes its
///                 flags out
/// @param run_all  (options, stream for people) -> exit code
/// @return 1 where an exception ends it, or a flag is nobody's
template <class Usage, class Parse, class RunAll>
int perf_main(const char* program, int argc, char** argv, const Usage& usage,
              const Parse& parse, const RunAll& run_all) {
  try {
    std::ostream& people = stream_for_people(argc, argv);
    const auto options = parse(argc, argv);
    if (options.help) {
      std::cout << usage();
      require_printed(std::cout);
      return EXIT_SUCCESS;
    }
    benchmark::Initialize(&argc, argv);
    Kokkos::ScopeGuard guard(argc, argv);
    // Each library has taken what it knows by now.
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
    return run_all(options, people);
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}

}  // namespace PerfTest
}  // namespace Strata

#endif
