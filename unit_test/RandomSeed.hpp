// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_RANDOM_SEED_HPP
#define STRATA_TEST_RANDOM_SEED_HPP

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>

namespace Strata {

/// Where fresh random input starts: at the environment variable
/// STRATA_TEST_SEED, or anywhere. Tests that fail say where it was.
class RandomSeed {
 public:
  RandomSeed() {
    const char* const text = std::getenv("STRATA_TEST_SEED");
    if (!text) {
      value_ = std::random_device{}();
      return;
    }
    char* end = nullptr;
    const unsigned long number = std::strtoul(text, &end, 10);
    value_ = static_cast<unsigned>(number);
    if (*text < '0' || *text > '9' || *end != 0 || value_ != number)
      throw std::runtime_error(std::string("STRATA_TEST_SEED is '") + text +
                               "', not a number of 32 bits");
  }
  unsigned take() {
    taken_ = true;
    return value_;
  }
  unsigned value() const { return value_; }
  bool taken() const { return taken_; }
  /// Number of the test that runs.
  int test() const { return test_; }
  void begin_test() {
    taken_ = false;
    ++test_;
  }

  /// That of this program.
  static RandomSeed& instance() {
    static RandomSeed seed;
    return seed;
  }

 private:
  unsigned value_ = 0;
  bool taken_ = false;
  int test_ = 0;
};

/// The seed of a test's random input.
inline unsigned random_seed() { return RandomSeed::instance().take(); }

/// A generator that starts anew with each test, so that a test gets the same
/// input alone and with the others.
inline std::mt19937& generator() {
  static std::mt19937 g;
  static int seeded_for = -1;
  if (seeded_for != RandomSeed::instance().test()) {
    seeded_for = RandomSeed::instance().test();
    g.seed(random_seed());
  }
  return g;
}

/// Names the seed of a test that failed.
class SeedReporter : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    RandomSeed::instance().begin_test();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const RandomSeed& seed = RandomSeed::instance();
    if (test.result()->Failed() && seed.taken())
      std::cout << "Random input of " << test.test_suite_name() << '.'
                << test.name() << ": STRATA_TEST_SEED=" << seed.value()
                << " repeats it" << std::endl;
  }
};

}  // namespace Strata

#endif
