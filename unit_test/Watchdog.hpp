// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_WATCHDOG_HPP
#define STRATA_TEST_WATCHDOG_HPP

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace Strata {

/// Ends the program, naming the test that runs, when a single test takes longer
/// than a limit: a solve that waits for ever is then a failure with a name. The
/// time before the first test and between tests is not watched.
class Watchdog : public testing::EmptyTestEventListener {
 public:
  /// Seconds; those of CTest's timeout of a program are more.
  static constexpr unsigned default_limit = 240;
  /// Ten days: a limit beyond it is a slip of the pen.
  static constexpr unsigned largest_limit = 864000;

  /// @param limit in seconds; 0 watches nothing
  explicit Watchdog(unsigned limit) : limit_(limit) {
    if (limit_ > 0) thread_ = std::thread([this] { watch(); });
  }
  ~Watchdog() override {
    if (!thread_.joinable()) return;
    change([this] { leave_ = true; });
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// The limit that the environment variable STRATA_TEST_LIMIT states.
  /// @param text its value; null where it is not set
  /// @throws std::runtime_error for what is not a number of seconds
  static unsigned limit_of(const char* text) {
    if (!text) return default_limit;
    const std::string given = text;
    const bool digits =
        !given.empty() && given.size() <= 6 &&
        given.find_first_not_of("0123456789") == std::string::npos;
    const unsigned long seconds = digits ? std::stoul(given) : 0;
    if (!digits || seconds > largest_limit)
      throw std::runtime_error("STRATA_TEST_LIMIT is '" + given +
                               "', not a number of seconds up to " +
                               std::to_string(largest_limit) +
                               "; 0 switches the limit off");
    return static_cast<unsigned>(seconds);
  }
  static unsigned limit_of_environment() {
    return limit_of(std::getenv("STRATA_TEST_LIMIT"));
  }

 private:
  using Clock = std::chrono::steady_clock;

  void OnTestStart(const testing::TestInfo& test) override {
    change([&] {
      name_ = std::string(test.test_suite_name()) + '.' + test.name();
      deadline_ = Clock::now() + std::chrono::seconds(limit_);
      running_ = true;
    });
  }
  void OnTestEnd(const testing::TestInfo&) override {
    change([this] { running_ = false; });
  }

  template <class Change>
  void change(const Change& what) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      what();
    }
    changed_.notify_one();
  }

  void watch() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!leave_) {
      if (!running_) {
        changed_.wait(lock);
      } else if (Clock::now() < deadline_) {
        changed_.wait_until(lock, deadline_);
      } else {
        bark();
      }
    }
  }
  /// The stuck thread is where it is: nothing of the program can be taken down
  /// in order.
  [[noreturn]] void bark() const {
    std::fprintf(stderr,
                 "FAILURE: %s takes over %u s; STRATA_TEST_LIMIT=SECONDS "
                 "allows more, 0 switches the limit off\n",
                 name_.c_str(), limit_);
    std::_Exit(EXIT_FAILURE);
  }

  const unsigned limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool running_ = false, leave_ = false;
  Clock::time_point deadline_;
  std::string name_;
  std::thread thread_;
};

}  // namespace Strata

#endif
