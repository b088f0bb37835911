// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_CONTEXT_HPP
#define STRATA_FUZZ_CONTEXT_HPP

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "CommandLine.hpp"
#include "Watchdog.hpp"

namespace Strata {
namespace Fuzz {

/// How many cases there were of each kind: counts[group][name].
using Counts = std::map<std::string, std::map<std::string, std::int64_t>>;

struct Failure {
  std::string check, detail, description;
};

/// A case that was not asked for.
struct LeftOut {};

/// What the checks of one seed know and report to.
class Context {
 public:
  Context(const CommandLine& options, Counts& counts, std::uint64_t seed,
          std::string tampering = {})
      : options(options),
        seed(seed),
        counts_(counts),
        tampering_(std::move(tampering)) {}

  const CommandLine& options;
  const std::uint64_t seed;

  /// What the case is, for messages. The watchdog has it, too. Called before
  /// anything is done.
  /// @throws LeftOut
  void describe(const std::string& text) {
    description_ = text;
    Watchdog::describe(text);
    if (text.find(options.only) == std::string::npos) throw LeftOut{};
  }
  void count(const std::string& group, const std::string& name) {
    ++counts_[group][name];
  }
  /// A check of that name has failed.
  void fail(const std::string& check, const std::string& detail) {
    failures_.push_back({check, detail, description_});
  }
  /// The same unless `holds`.
  void expect(bool holds, const std::string& check, const std::string& detail) {
    if (!holds) fail(check, detail);
  }

  /// In a self-test, true once at the places of that name: whoever asks then
  /// spoils what is to be checked, and the check has to fail.
  bool tampers(const std::string& place) {
    if (tampered_ || place != tampering_) return false;
    tampered_ = true;
    return true;
  }
  /// Whether something was spoilt.
  bool tampered() const { return tampered_; }
  /// Nothing could be spoilt after all.
  void take_back() { tampered_ = false; }

  const std::vector<Failure>& failures() const { return failures_; }
  const std::string& description() const { return description_; }

 private:
  Counts& counts_;
  std::string tampering_, description_;
  bool tampered_ = false;
  std::vector<Failure> failures_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
