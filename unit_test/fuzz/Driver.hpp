// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_DRIVER_HPP
#define STRATA_FUZZ_DRIVER_HPP

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "../SanitizerOptions.hpp"
#include "Context.hpp"

namespace Strata {
namespace Fuzz {

/// What a program does with each seed.
struct Driver {
  std::string name;
  /// Draws the case of the context's seed and checks it.
  std::function<void(Context&)> run;
  /// What the self-test spoils: the place, and the names of checks of which one
  /// has to notice.
  struct Tampering {
    std::string place;
    std::vector<std::string> noticed_by;
  };
  std::vector<Tampering> tamperings;
};

/// Runs seeds, prints what fails, counts.
class Runner {
 public:
  Runner(const Driver& driver, const CommandLine& options)
      : driver_(driver), options_(options) {}

  /// @return the program's exit status
  int run_seeds() {
    Kokkos::Timer timer;
    std::uint64_t seeds = 0;
    for (std::uint64_t seed = options_.seed_from;; ++seed) {
      if (options_.seconds > 0 && timer.seconds() > options_.seconds) break;
      Context context(options_, counts_, seed);
      run(context);
      ++seeds;
      if (options_.single)
        std::cout << "seed " << seed << ": " << context.description() << '\n';
      for (const Failure& failure : context.failures()) print(failure, seed);
      if (seed == options_.seed_to) break;
    }
    summarise(seeds, timer.seconds());
    if (seeds > 0 && counts_.count("backend") == 0) {
      std::cout << "FAILURE: nothing has run: no backend '" << options_.backend
                << "'" << std::endl;
      return 1;
    }
    return failures_ > 0 ? 1 : 0;
  }

  /// Spoils every kind of result some times over, in one case each.
  int self_test() {
    int status = 0;
    for (const auto& tampering : driver_.tamperings)
      if (!notices(tampering)) status = 1;
    return status;
  }

 private:
  static constexpr int most_printed = 20;
  static constexpr int tampered_cases = 5;
  static constexpr std::uint64_t tampering_seeds = 3000;

  void run(Context& context) {
    Watchdog::begin(options_.repeat(context.seed));
    try {
      driver_.run(context);
    } catch (const LeftOut&) {
      context.count("seeds", "left out");
    } catch (const std::exception& error) {
      context.fail("unexpected exception", error.what());
    }
    Watchdog::end();
  }

  void print(const Failure& failure, std::uint64_t seed) {
    ++failures_;
    ++counts_["failures"][failure.check];
    if (failures_ > most_printed) return;
    std::cout << "FAILURE: " << failure.check << ": " << failure.detail
              << "\n  seed " << seed << ": " << failure.description
              << "\n  repeat: " << options_.repeat(seed) << std::endl;
  }

  void summarise(std::uint64_t seeds, double seconds) const {
    std::cout << driver_.name << ": " << seeds << " seeds from "
              << options_.seed_from << " in " << static_cast<int>(seconds)
              << " s";
    for (const auto& group : counts_) {
      std::cout << "; " << group.first << ':';
      for (const auto& entry : group.second)
        std::cout << ' ' << entry.first << ' ' << entry.second << ',';
    }
    std::cout << " failures " << failures_ << std::endl;
  }

  bool notices(const Driver::Tampering& tampering) {
    int spoilt = 0;
    for (std::uint64_t seed = options_.seed_from;
         spoilt < tampered_cases && seed < options_.seed_from + tampering_seeds;
         ++seed) {
      Context context(options_, counts_, seed, tampering.place);
      run(context);
      if (!context.tampered()) continue;
      ++spoilt;
      const auto& names = tampering.noticed_by;
      const bool noticed =
          std::any_of(context.failures().begin(), context.failures().end(),
                      [&](const Failure& failure) {
                        return std::find(names.begin(), names.end(),
                                         failure.check) != names.end();
                      });
      if (noticed) continue;
      std::cout << "FAILURE: nobody noticed a spoilt " << tampering.place
                << "\n  seed " << seed << ": " << context.description()
                << std::endl;
      return false;
    }
    const bool enough = spoilt == tampered_cases;
    std::cout << driver_.name << ": " << tampering.place << ": "
              << (enough ? "noticed" : "FAILURE: was not spoilt often enough")
              << ", " << spoilt << " times" << std::endl;
    return enough;
  }

  const Driver& driver_;
  const CommandLine& options_;
  Counts counts_;
  int failures_ = 0;
};

/// The main program of a driver.
inline int run_driver(int argc, char** argv, const Driver& driver) {
  CommandLine options;
  try {
    options = parse_command_line(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n' << usage();
    return 2;
  }
  if (options.help) {
    std::cout << usage();
    return 0;
  }
  Kokkos::ScopeGuard kokkos(argc, argv);
  Watchdog::install(options.case_seconds);
  Runner runner(driver, options);
  return options.self_test ? runner.self_test() : runner.run_seeds();
}

}  // namespace Fuzz
}  // namespace Strata

#endif
