// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_REGISTERED_NAMES_HPP
#define STRATA_KERNELS_TRIANGULAR_REGISTERED_NAMES_HPP

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>

namespace Strata {
namespace Detail {

/// Names of the algorithms that programs have registered, numbered from `first`
/// on in the order of registration. They last as long as the process. Safe to
/// use from several threads.
class RegisteredNames {
 public:
  static constexpr int first = 1000;

  static RegisteredNames& instance() {
    static RegisteredNames names;
    return names;
  }
  /// The number of `name`, which gets one if it has none yet.
  int add(const std::string& name) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (names_[k] == name) return first + static_cast<int>(k);
    names_.push_back(name);
    return first + static_cast<int>(names_.size()) - 1;
  }
  /// Null where no algorithm has that number.
  const char* name(int number) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (number < first ||
        static_cast<std::size_t>(number - first) >= names_.size())
      return nullptr;
    return names_[static_cast<std::size_t>(number - first)].c_str();
  }
  int count() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int>(names_.size());
  }

 private:
  RegisteredNames() = default;
  mutable std::mutex mutex_;
  std::deque<std::string> names_;  // whose elements stay where they are
};

}  // namespace Detail
}  // namespace Strata

#endif
