// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_SHARERS_HPP
#define STRATA_CORE_INTERFACE_SHARERS_HPP

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// What has been made of objects that share a plan, as long as it is in use: a
/// new plan has to come with new ones. Threads may add to them at the same
/// time.
template <class T>
class Sharers {
 public:
  void add(const std::shared_ptr<T>& sharer) {
    const std::lock_guard<std::mutex> lock(mutex_);
    all_.erase(std::remove_if(all_.begin(), all_.end(),
                              [](const auto& one) { return one.expired(); }),
               all_.end());
    all_.push_back(sharer);
  }
  std::vector<std::shared_ptr<T>> in_use() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::shared_ptr<T>> found;
    for (const auto& one : all_)
      if (auto sharer = one.lock()) found.push_back(std::move(sharer));
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::weak_ptr<T>> all_;
};

}  // namespace Detail
}  // namespace Strata

#endif
