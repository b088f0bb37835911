// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_EMULATEDTEAM_HPP
#define STRATA_EMULATEDTEAM_HPP

// A team of a GPU on one thread of a host: each lane is a coroutine, and warps
// take turns at random. So kernels that exchange values within warps, wait for
// other warps and meet at barriers run where there is no GPU. One team runs at
// a time: variables that a team shares are static ones.

#include <setjmp.h>
#include <ucontext.h>

#include <Kokkos_Core.hpp>

#include <array>
#include <core/device/Backend.hpp>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

namespace Strata {
namespace Emulation {

constexpr int lanes = Detail::gpu_lane_width;

/// What a lane gives to the others of its warp.
struct Packet {
  static constexpr std::size_t most_bytes = 64;
  alignas(16) unsigned char bytes[most_bytes];
};

class Team {
 public:
  /// Runs `kernel(rank)` for each thread of a team.
  /// @throws std::runtime_error if warps wait for each other
  static void run(int threads, std::function<void(int)> kernel, unsigned seed) {
    Team team(threads, std::move(kernel), seed);
    current_ = &team;
    const bool all_ended = team.take_turns();
    current_ = nullptr;
    if (!all_ended)
      throw std::runtime_error("the warps of a team wait for each other");
  }
  /// Of the thread that calls it; null outside of a team.
  static Team* current() { return current_; }

  void barrier() {
    const long meeting = meetings_;
    if (++arrived_ == int(lane_.size())) {
      arrived_ = 0;
      ++meetings_;
    }
    while (meetings_ == meeting) let_others_run();
  }
  /// `read(packets, lane)` once all lanes of the warp have given theirs.
  template <class T, class Read>
  auto exchange(const T& given, const Read& read) {
    static_assert(sizeof(T) <= Packet::most_bytes, "a packet is too small");
    Lane& lane = lane_[running_];
    Warp& warp = warp_[running_ / lanes];
    // In turns, as a lane may be one exchange ahead of another.
    const long turn = lane.exchanges++;
    auto& packets = warp.packets[turn % 2];
    std::memcpy(packets[running_ % lanes].bytes, &given, sizeof(T));
    if (++warp.arrived == lanes) {
      warp.arrived = 0;
      ++warp.exchanges;
    }
    while (warp.exchanges == turn) let_others_run();
    const auto of = [&](int from) {
      T value;
      std::memcpy(&value, packets[from % lanes].bytes, sizeof(T));
      return value;
    };
    return read(of, running_ % lanes);
  }
  /// Lets other lanes go on: what a lane that waits for memory calls.
  void let_others_run() {
    if (_setjmp(lane_[running_].resume) == 0) _longjmp(scheduler_, 1);
  }

 private:
  static constexpr std::size_t stack_bytes = 1 << 16;
  static constexpr long most_turns = 100000;
  struct Lane {
    ucontext_t begin;
    jmp_buf resume;  // once it has begun: quicker than a context
    std::unique_ptr<char[]> stack;
    long exchanges = 0;
    bool has_begun = false, has_ended = false;
  };
  struct Warp {
    std::array<std::array<Packet, lanes>, 2> packets;
    int arrived = 0;
    long exchanges = 0;
  };

  Team(int threads, std::function<void(int)> kernel, unsigned seed)
      : kernel_(std::move(kernel)),
        lane_(threads),
        warp_(threads / lanes),
        random_(seed) {
    for (Lane& lane : lane_) {
      lane.stack.reset(new char[stack_bytes]);
      getcontext(&lane.begin);
      lane.begin.uc_stack.ss_sp = lane.stack.get();
      lane.begin.uc_stack.ss_size = stack_bytes;
      lane.begin.uc_link = nullptr;
      makecontext(&lane.begin, &begin_lane, 0);
    }
  }
  static void begin_lane() {
    Team& team = *current_;
    const int rank = team.running_;
    team.kernel_(rank);
    team.lane_[rank].has_ended = true;
    _longjmp(team.scheduler_, 1);
  }
  void run_lane(int rank) {
    Lane& lane = lane_[rank];
    running_ = rank;
    if (_setjmp(scheduler_) != 0) return;
    if (lane.has_begun) _longjmp(lane.resume, 1);
    lane.has_begun = true;
    setcontext(&lane.begin);
  }
  /// @returns whether all threads came to their ends
  bool take_turns() {
    auto left = int(lane_.size());
    for (long turns = 0; left > 0; ++turns) {
      if (turns > most_turns) return false;
      const int warp = int(random_() % warp_.size());
      for (int more = int(random_() % 40); more >= 0; --more)
        for (int lane = warp * lanes; lane < (warp + 1) * lanes; ++lane) {
          if (lane_[lane].has_ended) continue;
          run_lane(lane);
          left -= lane_[lane].has_ended;
        }
    }
    return true;
  }

  inline static Team* current_ = nullptr;
  std::function<void(int)> kernel_;
  std::vector<Lane> lane_;
  std::vector<Warp> warp_;
  std::mt19937 random_;
  jmp_buf scheduler_;
  int running_ = 0, arrived_ = 0;
  long meetings_ = 0;
};

}  // namespace Emulation
}  // namespace Strata

#endif
