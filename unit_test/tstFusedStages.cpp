// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <analysis/stages/FusedStages.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <utility>
#include <vector>

#include "RandomSeed.hpp"

namespace Strata {
namespace Detail {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
constexpr std::int64_t untouched = -7;

/// Sums of numbers, numbers made of these, and their sums.
struct Stages {
  Kokkos::View<int*, Memory> number, second;
  Kokkos::View<std::int64_t*, Memory> before, before_second;

  struct First {};
  KOKKOS_INLINE_FUNCTION void operator()(First, std::int64_t i,
                                         std::int64_t& sum, bool final) const {
    if (final) before(i) = sum;
    sum += number(i);
  }
  struct Make {};
  KOKKOS_INLINE_FUNCTION void operator()(Make, std::int64_t i) const {
    // Of the sum that another thread has written.
    const std::int64_t n = static_cast<std::int64_t>(number.extent(0));
    second(i) = static_cast<int>(before((i + n / 2) % n) % 1000);
  }
  struct Second {};
  KOKKOS_INLINE_FUNCTION void operator()(Second, std::int64_t i,
                                         std::int64_t& sum, bool final) const {
    sum += second(i);
    if (final) before_second(i) = sum;
  }
};

template <class T>
Kokkos::View<T*, Memory> on_device(const std::vector<T>& host) {
  const Kokkos::View<T*, Memory> view("view", host.size());
  Kokkos::deep_copy(view, Kokkos::View<const T*, Kokkos::HostSpace>(
                              host.data(), host.size()));
  return view;
}
template <class T>
std::vector<T> on_host(const Kokkos::View<T*, Memory>& view) {
  std::vector<T> host(view.extent(0));
  Kokkos::deep_copy(
      Kokkos::View<T*, Kokkos::HostSpace>(host.data(), host.size()), view);
  return host;
}

/// Three sums that don't need each other.
struct Several {
  Kokkos::View<int*, Memory> number;
  Kokkos::View<std::int64_t*, Memory> before[3];

  template <int k>
  struct Sum {};
  template <int k>
  KOKKOS_INLINE_FUNCTION void operator()(Sum<k>, std::int64_t i,
                                         std::int64_t& sum, bool final) const {
    if (final) before[k](i) = sum;
    sum += number(i) % (k + 2);
  }
};
void check_several(std::int64_t size, std::int64_t count) {
  SCOPED_TRACE(testing::Message() << count << " of " << size);
  std::uniform_int_distribution<int> draw(0, 1 << 20);
  std::vector<int> number(static_cast<std::size_t>(size));
  for (int& n : number) n = draw(generator());
  Several stages;
  stages.number = on_device(number);
  for (auto& before : stages.before)
    before = on_device(std::vector<std::int64_t>(number.size(), untouched));
  const auto found = on_device(std::vector<std::int64_t>{count});
  const Space exec;
  {
    WorkPool<Space> pool(exec, 1 << 16);
    FusedStages<Space>(exec, pool)
        .run("several", stages,
             SumsStage<Several::Sum<0>, Several::Sum<1>, Several::Sum<2>>{
                 {size, found.data()}});
    exec.fence();
  }
  for (int k = 0; k < 3; ++k) {
    std::vector<std::int64_t> expected(number.size(), untouched);
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      expected[i] = sum;
      sum += number[i] % (k + 2);
    }
    ASSERT_EQ(on_host(stages.before[k]), expected) << k;
  }
}

/// @param count  of the sums; all but `count` of `size` places stay untouched
/// @param told   whether the host knows the count; else it is in device memory
void check_sums(std::int64_t size, std::int64_t count, bool told) {
  SCOPED_TRACE(testing::Message()
               << count << " of " << size << ", " << (told ? "told" : "found"));
  std::uniform_int_distribution<int> draw(-5, 1 << 20);
  std::vector<int> number(static_cast<std::size_t>(size));
  for (int& n : number) n = draw(generator());
  const Stages stages{
      on_device(number), on_device(std::vector<int>(number.size())),
      on_device(std::vector<std::int64_t>(number.size(), untouched)),
      on_device(std::vector<std::int64_t>(number.size(), untouched))};
  const auto found = on_device(std::vector<std::int64_t>{count});
  const StageCount sums =
      told ? StageCount(count) : StageCount(size, found.data());

  const Space exec;
  {
    WorkPool<Space> pool(exec, 1 << 16);
    FusedStages<Space>(exec, pool)
        .run("sums", stages, SumStage<Stages::First>{sums},
             EachStage<Stages::Make>{size}, SumStage<Stages::Second>{sums});
    exec.fence();
  }
  const auto before = on_host(stages.before),
             second = on_host(stages.before_second);
  std::vector<std::int64_t> expected(number.size(), untouched);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    expected[i] = sum;
    sum += number[i];
  }
  ASSERT_EQ(before, expected);
  std::vector<std::int64_t> expected_second(number.size(), untouched);
  sum = 0;
  for (std::int64_t i = 0; i < count; ++i)
    expected_second[i] = sum += expected[(i + size / 2) % size] % 1000;
  ASSERT_EQ(second, expected_second);
}

TEST(FusedStages, SumsAreThoseOfOneLoop) {
  // About a warp, a team's tile and a batch of these, and as many as have a
  // launch of their own.
  std::vector<std::int64_t> sizes{
      1,      2,    31,   32,   33,   511,    512,
      513,    2047, 2048, 2049, 4097, 100003, (1 << 20) + 77,
      3000001};
  // A batch for each team where stages share a launch, and where one has it to
  // itself: its teams are twice as large.
  const std::int64_t batches =
      std::int64_t{2048} * num_multiprocessors(Space());
  for (const std::int64_t most : {std::int64_t{1} << 19, batches, 2 * batches})
    for (const int more : {-1, 0, 1}) sizes.push_back(most + more);
  for (const std::int64_t size : sizes) {
    check_sums(size, size, true);
    check_sums(size, size, false);
    std::uniform_int_distribution<std::int64_t> part(0, size);
    check_sums(size, part(generator()), false);
    check_several(size, size);
    check_several(size, part(generator()));
  }
}

/// Entries of rows that lanes have come to.
struct Visits {
  Kokkos::View<int*, Memory> length_of, first_lanes;
  Kokkos::View<std::int64_t*, Memory> entries;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return length_of(row);
  }
  struct Visit {};
  KOKKOS_INLINE_FUNCTION void operator()(Visit, std::int64_t row, int lane,
                                         int lanes) const {
    if (lane == 0) Kokkos::atomic_fetch_add(&first_lanes(row), 1);
    for (int k = lane; k < length_of(row); k += lanes)
      Kokkos::atomic_fetch_add(&entries(row), std::int64_t{k} + 1);
  }
};

void expect_all_visited(const std::vector<int>& length) {
  const auto rows = static_cast<std::int64_t>(length.size());
  std::int64_t all = 0;
  for (const int of_row : length) all += of_row;
  const Space exec;
  WorkPool<Space> pool(exec, 1 << 16);
  const Visits visits{on_device(length),
                      on_device(std::vector<int>(length.size(), 0)),
                      on_device(std::vector<std::int64_t>(length.size(), 0))};
  FusedStages<Space>(exec, pool)
      .run("visits", visits, RowsStage<Visits::Visit>{rows, all});
  exec.fence();
  const auto first_lanes = on_host(visits.first_lanes);
  const auto entries = on_host(visits.entries);
  for (std::size_t row = 0; row < length.size(); ++row) {
    ASSERT_EQ(first_lanes[row], 1) << "row " << row;
    ASSERT_EQ(entries[row], std::int64_t{length[row]} * (length[row] + 1) / 2)
        << "row " << row << " of " << length[row] << " entries";
  }
}

TEST(FusedStages, LongRowsAreVisitedOnce) {
  // Neighbours that are long, more of them than a team lists, and rows that all
  // of its threads share.
  // On a GPU a lane has a row of these, and a team comes to 512 at once.
  std::vector<int> length(130000, 1);
  for (int row = 700; row < 1400; ++row) length[row] = 90;
  for (int row = 5000; row < 5010; ++row) length[row] = 1500;
  length.back() = 20000;
  expect_all_visited(length);
  // Where a warp has a row in any case.
  expect_all_visited({40000});
  expect_all_visited({700, 1024, 1025, 5000, 3});
  for (int trial = 0; trial < 20; ++trial) {
    std::uniform_int_distribution<int> rows(1, 20000), most(0, 12);
    std::vector<int> random(static_cast<std::size_t>(rows(generator())));
    for (int& of_row : random)
      of_row = std::uniform_int_distribution<int>(
          0, 1 << std::max(0, most(generator()) - 4))(generator());
    std::uniform_int_distribution<std::size_t> any(0, random.size() - 1);
    for (int k = 0; k < 20; ++k)
      random[any(generator())] = 1 << most(generator());
    expect_all_visited(random);
  }
}

TEST(FusedStages, TakesAnyNumberOfRuns) {
  // More runs than there are zeros for at once, and a few runs of stages that
  // have launches of their own.
  const Space exec;
  WorkPool<Space> pool(exec, 0);
  FusedStages<Space> sequence(exec, pool);
  for (const auto& [size, runs] : {std::pair<std::int64_t, int>{1000, 700},
                                   {(std::int64_t{1} << 19) + 3, 5}}) {
    const std::vector<int> ones(static_cast<std::size_t>(size), 1);
    const Stages stages{
        on_device(ones), on_device(ones),
        on_device(std::vector<std::int64_t>(ones.size(), untouched)),
        on_device(std::vector<std::int64_t>(ones.size(), untouched))};
    for (int run = 0; run < runs; ++run) {
      Kokkos::deep_copy(exec, stages.before, untouched);
      sequence.run("sums", stages, SumStage<Stages::First>{size},
                   SumStage<Stages::Second>{run});
      exec.fence();
      const auto before = on_host(stages.before);
      for (std::int64_t i = 0; i < size; ++i)
        ASSERT_EQ(before[static_cast<std::size_t>(i)], i) << "run " << run;
    }
  }
}

/// Zeros outlive what is taken and given back after them; zeros that are given
/// back are made anew.
TEST(WorkPool, GivesZerosOfItsOwn) {
  const Space exec;
  WorkPool<Space> pool(exec, 1 << 20);
  const auto expect_zeros = [&](std::int64_t* words, int count) {
    const Kokkos::View<std::int64_t*, Memory> view(words, count);
    EXPECT_EQ(on_host(view), std::vector<std::int64_t>(count, 0));
    Kokkos::deep_copy(exec, view, std::int64_t{7});
  };
  const auto before = pool.mark();
  for (int turn = 0; turn < 3; ++turn) {
    expect_zeros(pool.zeros(3), 3);
    const auto mark = pool.mark();
    for (int k = 0; k < 300; ++k) {
      expect_zeros(pool.zeros(k % 5 + 1), k % 5 + 1);
      auto* const other = pool.take<std::int64_t>(100);
      Kokkos::deep_copy(exec, Kokkos::View<std::int64_t*, Memory>(other, 100),
                        std::int64_t{5});
      if (k % 3 == 0) pool.give_back(mark);
    }
    if (turn == 1) pool.give_back(before);
  }
  exec.fence();
}

TEST(FusedStages, TellTheHostWhatTheyHaveFound) {
  for (const std::int64_t size :
       {std::int64_t{1}, std::int64_t{700}, std::int64_t{70000},
        (std::int64_t{1} << 19) + 5}) {
    const std::vector<int> twos(static_cast<std::size_t>(size), 2);
    const Stages stages{
        on_device(twos), on_device(twos),
        on_device(std::vector<std::int64_t>(twos.size(), untouched)),
        on_device(std::vector<std::int64_t>(twos.size(), untouched))};
    const Space exec;
    WorkPool<Space> pool(exec, 0);
    const HostWords<Space> told(size);
    FusedStages<Space>(exec, pool)
        .run("report", stages, SumStage<Stages::First>{size},
             ReportStage{size, stages.before.data(), told.data()});
    exec.fence();
    for (std::int64_t i = 0; i < size; ++i)
      ASSERT_EQ(told.data()[i], 2 * i) << "of " << size;
  }
}

}  // namespace
}  // namespace Detail
}  // namespace Strata
