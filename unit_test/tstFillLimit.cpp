// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fill that exceeds a limit on memory is refused while it is counted.
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_Spiluk.hpp>
#include <kernels/factorization/IncompletePatternImplementation.hpp>
#include <string>
#include <vector>

#include "FactorizationCase.hpp"
#include "HostMatrix.hpp"
#include "KokkosEvents.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Memory = Device::memory_space;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Host = HostMatrix<double>;
using Strata::Algorithm;
using Strata::Factorization;
using Options = Strata::FactorizationCase;
using Factors = Strata::IncompleteFactorization<double, Device>;
using Strata::Detail::FillCount;
using Strata::Detail::FillLimit;
using Strata::SolverTest::KokkosEvents;

/// A dense first row and column: all entries fill in from level 1 on.
Host arrow(std::int64_t n) {
  Host made;
  made.rows = made.columns = n;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (i != 0 && j != 0 && j != i) continue;
      made.entries.push_back(j);
      made.values.push_back(i == j ? 2. * static_cast<double>(n) : 1);
    }
    made.row_map.push_back(static_cast<std::int64_t>(made.entries.size()));
  }
  return made;
}
Host dense(std::int64_t n) {
  std::vector<double> values(n * n, 1.);
  for (std::int64_t i = 0; i < n; ++i) values[i * n + i] = 2. * n;
  return Host(n, n, values);
}
Options options_of(int level, Factorization kind, std::size_t bytes) {
  Options options;
  options.kind = kind;
  options.fill_level = level;
  options.triangular.max_plan_bytes = bytes;
  return options;
}
constexpr Factorization all_kinds[] = {Factorization::incomplete_lu,
                                       Factorization::incomplete_cholesky};

/// What teams count beyond a limit: each tells of 4096 entries, and has one row
/// more.
std::int64_t overshoot(std::int64_t n) {
  return (4096 + n) * Strata::Detail::num_multiprocessors(Device()) *
         (Strata::Detail::is_gpu<Device> ? 32 : 1);
}

TEST(FillLimit, CountingEndsAboveTheLimitOfThePlans) {
  const std::int64_t n = 3000;
  const auto host = arrow(n);
  const auto A = host.to_device<Crs>();
  ASSERT_EQ(A.nnz(), 3 * n - 2);
  for (const auto kind : all_kinds)
    for (const auto precision :
         {Strata::FactorPrecision::working, Strata::FactorPrecision::single})
      for (const int level : {1, 2, 1000000}) {
        auto options = options_of(level, kind, 400000);
        options.precision = precision;
        KokkosEvents events(Memory::name());
        try {
          Factors(Device(), A, options.kind, options);
          ADD_FAILURE() << "made";
        } catch (const Strata::PlanMemoryError& error) {
          EXPECT_EQ(error.argument(), "max_plan_bytes");
          EXPECT_EQ(error.allowed(), 400000u);
          EXPECT_GT(error.needed(), error.allowed());
          EXPECT_LE(error.needed(), 400000u + 14u * 2u * overshoot(n));
          const std::string text = error.what();
          for (const char* part : {"400000 bytes", "entries", "were counted",
                                   "at most", "fill_level"})
            EXPECT_NE(text.find(part), std::string::npos) << text;
        }
        // Tables of the search, and no factor.
        if (!Strata::Detail::is_gpu<Device>) {
          EXPECT_LT(events.so_far().most_bytes, n * n);
        }
      }
}

TEST(FillLimit, NoPlanThatFitsIsRefused) {
  for (const char* spec : {"grid2d:12", "triangulated:9x8", "circuit:150"}) {
    const auto A = Strata::gallery<Crs>(Device(), spec);
    for (const int level : {0, 1, 3})
      for (const auto algorithm :
           {Algorithm::automatic, Algorithm::substitution,
            Algorithm::level_sets, Algorithm::sync_free, Algorithm::subgraphs,
            Algorithm::tiles, Algorithm::blocks})
        for (const auto precision : {Strata::FactorPrecision::working,
                                     Strata::FactorPrecision::single}) {
          SCOPED_TRACE(std::string(spec) + ", level " + std::to_string(level) +
                       ", " + to_string(algorithm));
          auto options = options_of(level, Factorization::incomplete_lu, 0);
          options.triangular.algorithm = algorithm;
          options.precision = precision;
          const auto made =
              Factors(Device(), A, options.kind, options).report();
          options.triangular.algorithm = made.lower.algorithm;
          options.triangular.max_plan_bytes =
              std::max(made.lower.plan_bytes, made.upper.plan_bytes);
          if (made.lower.algorithm != made.upper.algorithm) continue;
          EXPECT_NO_THROW(Factors(Device(), A, options.kind, options));
        }
  }
}

TEST(FillLimit, IsThatOfPlansToo) {
  // From half of what the smallest plan takes on, nothing is factorised.
  const auto A = dense(300).to_device<Crs>();
  const auto smallest = [&](const Options& options) {
    auto named = options;
    named.triangular.max_plan_bytes = 0;
    named.triangular.algorithm = Algorithm::substitution;
    return Factors(Device(), A, named.kind, named).report().lower.plan_bytes;
  };
  for (const auto kind : all_kinds) {
    auto options = options_of(0, kind, 0);
    options.triangular.max_plan_bytes = smallest(options) / 2;
    // Elimination would find a pivot of zero.
    auto singular = dense(300);
    for (auto& v : singular.values) v = 1;
    const auto S = singular.to_device<Crs>();
    try {
      Factors(Device(), S, options.kind, options);
      ADD_FAILURE() << "made";
    } catch (const Strata::PlanMemoryError& error) {
      EXPECT_EQ(error.argument(), "max_plan_bytes");
    }
  }
}

/// A matrix that must not be made, with offsets that count to `most`.
struct NeverMade final : Strata::Detail::NewMatrix<double> {
  explicit NeverMade(std::int64_t most) {
    largest_ordinal = std::numeric_limits<int>::max();
    largest_offset = most;
  }
  using Output = Strata::Detail::IndexOutput;
  Output make_row_map(const std::string&, std::int64_t) override {
    ADD_FAILURE() << "allocates";
    return {};
  }
  Output make_entries(const std::string&, std::int64_t) override { return {}; }
  double* make_values(const std::string&, std::int64_t) override {
    return nullptr;
  }
};

TEST(FillLimit, TypesAndMemoryOfTheDeviceLimitCounting) {
  const std::int64_t n = 2000;
  const auto A = arrow(n).to_device<Crs>();
  const auto make = [&](NeverMade& made, const FillLimit& limit) {
    Strata::Detail::IncompletePattern<double, Device>::make(
        Device(), Strata::Detail::crs_arrays(A), 1, made, limit);
  };
  const auto counted = [](const std::string& text) {
    const std::string before = "at least ";
    return std::stoll(text.substr(text.find(before) + before.size()));
  };
  NeverMade few(100000), many(n * n);
  try {
    make(few, {});
    ADD_FAILURE() << "made";
  } catch (const Strata::IndexOverflowError& error) {
    EXPECT_EQ(error.argument(), "A");
    EXPECT_GT(counted(error.what()), 100000);
    EXPECT_LE(counted(error.what()), 100000 + overshoot(n));
    EXPECT_NE(std::string(error.what()).find("100000"), std::string::npos);
  }
  const auto bytes = Strata::Detail::memory_bytes<Memory>();
  ASSERT_GT(bytes, std::size_t{1} << 26);
  FillLimit limit;
  limit.entry_bytes = bytes / 100000;
  // The sizes are not told of counts that are not complete.
  limit.check = [](const FillCount&) { ADD_FAILURE() << "called"; };
  try {
    make(many, limit);
    ADD_FAILURE() << "made";
  } catch (const Strata::MemoryError& error) {
    EXPECT_EQ(error.total(), bytes);
    EXPECT_EQ(error.needed(), counted(error.what()) * limit.entry_bytes);
    EXPECT_GT(error.needed(), bytes);
    EXPECT_LE(counted(error.what()), 100001 + overshoot(n));
  }
}

TEST(FillLimit, CountsAreThoseOfBothTriangles) {
  for (const char* spec : {"grid2d:20", "circuit:400", "arrow:700"}) {
    const auto A = Strata::gallery<Crs>(Device(), spec);
    for (const int slots : {0, 2, 32})
      for (const int level : {0, 1, 3}) {
        Strata::Detail::NewCrsMatrix<Crs> made;
        FillCount found;
        FillLimit limit;
        limit.check = [&](const FillCount& counted) { found = counted; };
        Strata::Detail::IncompletePattern<double, Device>::make(
            Device(), Strata::Detail::crs_arrays(A), level, made, limit, slots);
        const Host filled(made.matrix("made"));
        FillCount expected;
        for (std::int64_t i = 0; i < filled.rows; ++i)
          for (auto k = filled.row_map[i]; k < filled.row_map[i + 1]; ++k) {
            expected.lower += filled.entries[k] < i;
            expected.upper += filled.entries[k] > i;
          }
        EXPECT_EQ(found.lower, expected.lower) << spec << " " << level;
        EXPECT_EQ(found.upper, expected.upper) << spec << " " << level;
      }
  }
}

TEST(FillLimit, OfTheArraysOfSpilukIsTold) {
  using Handle =
      Strata::Experimental::KokkosKernelsHandle<int, int, double, Device,
                                                Memory, Memory>;
  const int n = 600;
  const auto A = arrow(n).to_device<Crs>();
  const auto factor = static_cast<std::size_t>(n) * (n + 1) / 2;
  using Indices = Kokkos::View<int*, Device>;
  for (const bool lower_is_small : {true, false}) {
    Handle handle;
    handle.create_spiluk_handle(
        Strata::Experimental::SPILUKAlgorithm::SEQLVLSCHD_TP1, n, 10, 10);
    const Indices l_map("l", n + 1), u_map("u", n + 1);
    const Indices l("l", lower_is_small ? 1000 : factor),
        u("u", lower_is_small ? factor : 1000);
    KokkosEvents events(Memory::name());
    try {
      Strata::Experimental::spiluk_symbolic(
          &handle, 1, A.graph.row_map, A.graph.entries, l_map, l, u_map, u);
      ADD_FAILURE() << "made";
    } catch (const Strata::SizeMismatchError& error) {
      EXPECT_EQ(error.argument(), lower_is_small ? "L_entries" : "U_entries");
      EXPECT_NE(std::string(error.what()).find(std::to_string(factor)),
                std::string::npos)
          << error.what();
    }
    if (!Strata::Detail::is_gpu<Device>) {
      EXPECT_LT(events.so_far().most_bytes, 12 * n * n / 2);
    }
  }
}

}  // namespace
