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

/// A stage that finds a number of things.
struct FindingStages {
  int* found;
  int things;

  struct Find {};
  KOKKOS_INLINE_FUNCTION void operator()(Find, std::int64_t i) const {
    if (i == 0) *found = things;
  }
};

TEST(FusedStages, TellTheHostNoMoreThanThereIs) {
  for (const std::int64_t size :
       {std::int64_t{1}, std::int64_t{700}, (std::int64_t{1} << 19) + 5})
    for (const int things : {0, 3, 100, 1000000}) {
      std::vector<std::int64_t> given(static_cast<std::size_t>(size));
      for (std::int64_t i = 0; i < size; ++i) given[i] = 3 * i;
      const auto words = on_device(given);
      const Space exec;
      WorkPool<Space> pool(exec, 0);
      const HostWords<Space> told(size);
      std::fill(told.data(), told.data() + size, untouched);
      const FindingStages stages{pool.take<int>(1), things};
      FusedStages<Space>(exec, pool)
          .run(
              "report", stages, EachStage<FindingStages::Find>{size},
              ReportStage{size, words.data(), told.data(), stages.found, 2, 3});
      exec.fence();
      const std::int64_t written = std::min(size, 2 + std::int64_t{3} * things);
      for (std::int64_t i = 0; i < size; ++i)
        ASSERT_EQ(told.data()[i], i < written ? 3 * i : untouched)
            << things << " things, word " << i << " of " << size;
    }
}

/// Words that are sorted, and a stage before that makes them.
struct SortingStages {
  Kokkos::View<std::uint64_t*, Memory> given;
  SortJob of;

  struct Make {};
  KOKKOS_INLINE_FUNCTION void operator()(Make, std::int64_t i) const {
    of.words[i] = given(i);
  }
  struct Sort {};
  KOKKOS_INLINE_FUNCTION SortJob job(Sort) const { return of; }
  struct Take {};
  KOKKOS_INLINE_FUNCTION void operator()(Take, std::int64_t i) const {
    given(i) = of.sorted()[i];
  }
};

void check_sort(std::int64_t count, int first_bit, int bits, bool alike) {
  SCOPED_TRACE(testing::Message()
               << count << " words, bits " << first_bit << " to "
               << first_bit + bits << (alike ? ", few numbers" : ""));
  std::vector<std::uint64_t> words(static_cast<std::size_t>(count));
  for (auto& word : words) {
    word = generator()();
    word = word << 32 | generator()();
    // Most words of one digit, or of few.
    if (alike) word &= ~(std::uint64_t{0xfe} << first_bit);
  }
  const Space exec;
  WorkPool<Space> pool(exec, 1 << 16);
  const SortingStages stages{
      on_device(words),
      {pool.take<std::uint64_t>(count), pool.take<std::uint64_t>(count),
       pool.take<unsigned>(SortJob::digits * SortJob::most_teams), first_bit,
       bits}};
  FusedStages<Space> sequence(exec, pool);
  const bool runs =
      sequence.run_in_one("sort", stages, EachStage<SortingStages::Make>{count},
                          SortStage<SortingStages::Sort>{count},
                          EachStage<SortingStages::Take>{count});
  const int teams = static_cast<int>(
      std::min<std::int64_t>((count + 511) / 512, num_multiprocessors(exec)));
  ASSERT_EQ(runs, has_resident_teams<Space> &&
                      count <= TeamsTogetherSizes::most_sorted(teams, 512));
  exec.fence();
  if (runs)
    std::stable_sort(words.begin(), words.end(), [&](auto a, auto b) {
      const auto key = [&](std::uint64_t word) {
        return bits == 0 ? 0 : word >> first_bit << (64 - bits);
      };
      return key(a) < key(b);
    });
  ASSERT_EQ(on_host(stages.given), words);
}

TEST(FusedStages, SortsAreStable) {
  // About a warp and a team's words, as many as there may be, and any.
  std::uniform_int_distribution<std::int64_t> draw(2, 1 << 18);
  for (const std::int64_t count :
       {std::int64_t{1}, std::int64_t{31}, std::int64_t{33}, std::int64_t{512},
        std::int64_t{513}, std::int64_t{2048}, std::int64_t{2049},
        std::int64_t{16385}, std::int64_t{1} << 16, std::int64_t{100003},
        std::int64_t{1} << 18, draw(generator()), draw(generator())})
    for (const int bits : {0, 1, 7, 8, 9, 16, 17, 24, 40})
      for (const bool alike : {false, true})
        check_sort(count,
                   std::uniform_int_distribution<int>(
                       0, 64 - std::max(bits, 8))(generator()),
                   bits, alike);
}

/// One team sorts few words, however many teams there are.
TEST(FusedStages, SortAsManyAsAreFound) {
  if (!has_resident_teams<Space>) return;
  const Space exec;
  const std::int64_t most = 1 << 16;
  for (const std::int64_t found : {0, 1, 700, 2048, 2049, 9000}) {
    for (const int bits : {8, 13, 24}) {
      SCOPED_TRACE(testing::Message() << found << " words, " << bits);
      std::vector<std::uint64_t> words(static_cast<std::size_t>(most));
      for (auto& word : words) word = generator()();
      WorkPool<Space> pool(exec, 1 << 16);
      const SortingStages stages{
          on_device(words),
          {pool.take<std::uint64_t>(most), pool.take<std::uint64_t>(most),
           pool.take<unsigned>(SortJob::digits * SortJob::most_teams), 3,
           bits}};
      const auto counted = on_device(std::vector<std::int64_t>{found});
      const StageCount count(most, counted.data());
      FusedStages<Space> sequence(exec, pool);
      ASSERT_TRUE(sequence.run_in_one("sort", stages,
                                      EachStage<SortingStages::Make>{most},
                                      SortStage<SortingStages::Sort>{count},
                                      EachStage<SortingStages::Take>{count}));
      exec.fence();
      std::stable_sort(words.begin(), words.begin() + found,
                       [&](auto a, auto b) {
                         const std::uint64_t mask = (1u << bits) - 1;
                         return (a >> 3 & mask) < (b >> 3 & mask);
                       });
      ASSERT_EQ(on_host(stages.given), words);
    }
  }
}

TEST(FusedStages, TooManyWordsAreLeftToOthers) {
  const Space exec;
  const std::int64_t count =
      TeamsTogetherSizes::most_sorted(num_multiprocessors(exec), 512) + 1;
  WorkPool<Space> pool(exec, 1 << 16);
  const SortingStages stages{on_device(std::vector<std::uint64_t>(count, 7)),
                             {}};
  FusedStages<Space> sequence(exec, pool);
  ASSERT_FALSE(sequence.run_in_one("sort", stages,
                                   EachStage<SortingStages::Take>{count},
                                   SortStage<SortingStages::Sort>{count}));
  exec.fence();
  ASSERT_EQ(on_host(stages.given), std::vector<std::uint64_t>(count, 7));
}

}  // namespace
}  // namespace Detail
}  // namespace Strata
