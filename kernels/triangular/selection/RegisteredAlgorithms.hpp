// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SELECTION_REGISTERED_ALGORITHMS_HPP
#define STRATA_KERNELS_TRIANGULAR_SELECTION_REGISTERED_ALGORITHMS_HPP

#include <Strata_TriangularOptions.hpp>
#include <functional>
#include <kernels/triangular/RegisteredNames.hpp>
#include <kernels/triangular/selection/AlgorithmRegistration.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// The algorithms that a program has registered for one scalar and execution
/// space, in the order in which that was done. Safe to use from several
/// threads.
template <class Scalar, class ExecutionSpace>
class RegisteredAlgorithms {
 public:
  using Registration = AlgorithmRegistration<Scalar, ExecutionSpace>;
  using Maker = std::function<std::unique_ptr<Registration>()>;

  static RegisteredAlgorithms& instance() {
    static RegisteredAlgorithms algorithms;
    return algorithms;
  }
  /// @throws OptionError for a second one of that number
  void add(Algorithm algorithm, Maker make) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& entry : entries_)
      if (entry.first == algorithm)
        throw OptionError(
            "name",
            std::string("'") + to_string(algorithm) +
                "' is registered for this scalar and execution space already",
            "choose another name");
    entries_.emplace_back(algorithm, std::move(make));
  }
  /// One object of each, for one matrix.
  std::vector<std::unique_ptr<Registration>> make_all() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::unique_ptr<Registration>> all;
    for (const auto& entry : entries_) {
      all.push_back(entry.second());
      all.back()->set_algorithm(entry.first);
    }
    return all;
  }

 private:
  RegisteredAlgorithms() = default;
  mutable std::mutex mutex_;
  std::vector<std::pair<Algorithm, Maker>> entries_;
};

}  // namespace Detail
}  // namespace Strata

#endif
