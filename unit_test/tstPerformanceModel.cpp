// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_PerformanceCache.hpp>
#include <Strata_PerformanceModel.hpp>
#include <Strata_Subgraphs.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <thread>

#include "TestGraphs.hpp"

namespace {

using namespace Strata;
namespace fs = std::filesystem;

/// Binary numbers, so that sums are exact.
PerformanceParameters parameters() {
  PerformanceParameters p;
  p.alpha = 8;
  p.tau = 0.25;
  p.tau_external = 2;
  return p;
}

TEST(PerformanceModel, IsTheDocumentsFormula) {
  // Two chains of six in thirds, one edge into the second's middle from the
  // first's beginning: sub-graphs 0, 1 | 2, 3 | 4, 5.
  std::vector<std::set<int>> sources(12);
  for (int v = 2; v < 12; ++v) sources[v] = {v - 2};
  sources[7].insert(0);
  const auto graph = TestGraphs::make_graph(sources);
  const auto s =
      subgraphs_from_map(graph, {0, 1, 0, 1, 2, 3, 2, 3, 4, 5, 4, 5});
  ASSERT_EQ(s.num_levels, 3);
  const auto slots = count_slots(graph, s);
  // One internal slot everywhere, one external one after the first level.
  const double level_1 = 0.25, level_2 = 0.25 + 2, level_3 = 0.25 + 2;
  EXPECT_EQ(predict_subgraphs(parameters(), s, slots),
            3 * 8 + level_1 + level_2 + level_3);
}

TEST(PerformanceModel, NothingTakesNoTime) {
  EXPECT_EQ(predict_subgraphs(parameters(), subgraphs_from_map({}, {}), {}), 0);
}

TEST(PerformanceModel, RefusesImpossibleParameters) {
  EXPECT_NO_THROW(check_parameters({}));
  const auto refused = [](auto&& spoil) {
    PerformanceParameters p;
    spoil(p);
    try {
      check_parameters(p);
    } catch (const OptionError& e) {
      return e.argument();
    }
    return std::string();
  };
  EXPECT_EQ(refused([](auto& p) { p.alpha = 0; }),
            "PerformanceParameters::alpha");
  EXPECT_EQ(refused([](auto& p) { p.tau = -1; }), "PerformanceParameters::tau");
  EXPECT_EQ(refused([](auto& p) {
              p.tau_external = std::numeric_limits<double>::infinity();
            }),
            "PerformanceParameters::tau_external");
  EXPECT_EQ(refused([](auto& p) {
              p.pass = std::numeric_limits<double>::quiet_NaN();
            }),
            "PerformanceParameters::pass");
}

/// A folder of its own as the cache, everything as it was afterwards.
class PerformanceCache : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : names) {
      const char* const value = std::getenv(name);
      before.emplace_back(value != nullptr, value != nullptr ? value : "");
    }
    std::random_device random;
    folder = fs::temp_directory_path() /
             ("strata-cache-test-" + std::to_string(random()));
    setenv("STRATA_CACHE_DIR", folder.c_str(), 1);
  }
  void TearDown() override {
    for (std::size_t i = 0; i < before.size(); ++i)
      before[i].first ? setenv(names[i], before[i].second.c_str(), 1)
                      : unsetenv(names[i]);
    fs::remove_all(folder);
  }
  fs::path file() const { return folder / Detail::cache_file_name(key); }
  void replace(const std::string& text) const { std::ofstream(file()) << text; }

  const char* const names[3] = {"STRATA_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::pair<bool, std::string>> before;
  fs::path folder;
  const std::string key = performance_key("Device / 7, \"x\"\nof two");
};

TEST_F(PerformanceCache, GivesBackWhatItWasGiven) {
  EXPECT_FALSE(read_performance_cache(key));
  PerformanceParameters p;
  p.alpha = 1. / 3;
  p.tau = 1e-7;
  p.tau_external = 12345.678;
  ASSERT_TRUE(write_performance_cache(key, p));
  auto q = read_performance_cache(key);
  ASSERT_TRUE(q);
  EXPECT_EQ(q->alpha, p.alpha);
  EXPECT_EQ(q->tau, p.tau);
  EXPECT_EQ(q->tau_external, p.tau_external);
  // Another measurement takes its place; no other file is left.
  p.alpha = 2;
  ASSERT_TRUE(write_performance_cache(key, p));
  EXPECT_EQ(read_performance_cache(key)->alpha, 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);

  const auto other = performance_key("Device / 7, \"x\"\nof two", "float");
  EXPECT_FALSE(read_performance_cache(other));
  ASSERT_TRUE(write_performance_cache(other, {}));
  EXPECT_EQ(read_performance_cache(key)->alpha, 2);
  p.tau = 0;
  EXPECT_THROW(write_performance_cache(key, p), OptionError);
}

TEST_F(PerformanceCache, IgnoresWhatItCantUse) {
  ASSERT_TRUE(write_performance_cache(key, {}));
  std::string good;
  {
    std::ifstream in(file());
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  ASSERT_TRUE(read_performance_cache(key));
  // Cut off anywhere, it is no measurement.
  for (std::size_t length = 0; length + 1 < good.size(); ++length) {
    replace(good.substr(0, length));
    EXPECT_FALSE(read_performance_cache(key)) << length;
  }
  const std::string head = "Strata performance 8\n" + key + "\n";
  const std::string rest = " 1 1 0.4 0.2 3e6 0.5 0.1\nend\n";
  replace(head + "5 0.05 -0.6" + rest);
  EXPECT_FALSE(read_performance_cache(key));
  replace(head + "5 nan 0.6" + rest);
  EXPECT_FALSE(read_performance_cache(key));
  replace("Strata performance 8\nanother device\n5 0.05 0.6" + rest);
  EXPECT_FALSE(read_performance_cache(key));
  replace("Strata performance 0\n" + key + "\n5 0.05 0.6" + rest);
  EXPECT_FALSE(read_performance_cache(key));
  replace(head + "5 0.05 0.6" + rest);
  EXPECT_TRUE(read_performance_cache(key));
}

TEST_F(PerformanceCache, LivesWithoutAPlace) {
  // A file stands where the folder should be.
  std::ofstream(folder) << "in the way";
  EXPECT_FALSE(write_performance_cache(key, {}));
  EXPECT_FALSE(read_performance_cache(key));
  fs::remove(folder);
  // A folder stands where the file should be.
  fs::create_directories(file() / "in the way");
  EXPECT_FALSE(write_performance_cache(key, {}));
  EXPECT_FALSE(read_performance_cache(key));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  for (const char* name : names) unsetenv(name);
  EXPECT_TRUE(performance_cache_directory().empty());
  EXPECT_FALSE(write_performance_cache(key, {}));
  EXPECT_FALSE(read_performance_cache(key));
}

TEST_F(PerformanceCache, IsWhereTheEnvironmentSays) {
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(performance_cache_directory(), folder);
  unsetenv("STRATA_CACHE_DIR");
  EXPECT_EQ(performance_cache_directory(), "/xdg/strata");
  setenv("XDG_CACHE_HOME", "", 1);
  EXPECT_EQ(performance_cache_directory(), "/home/me/.cache/strata");
}

TEST_F(PerformanceCache, SurvivesManyWriters) {
  std::vector<std::thread> writers;
  for (int t = 1; t <= 4; ++t)
    writers.emplace_back([this, t] {
      PerformanceParameters p;
      p.alpha = p.tau = p.tau_external = t;
      for (int round = 0; round < 50; ++round) {
        EXPECT_TRUE(write_performance_cache(key, p));
        const auto q = read_performance_cache(key);
        ASSERT_TRUE(q);
        EXPECT_EQ(q->alpha, q->tau_external);
      }
    });
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

}  // namespace
