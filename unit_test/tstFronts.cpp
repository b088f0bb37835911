// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elimination by fronts, with teams of one thread on a host.
#include <gtest/gtest.h>

#include <kernels/factorization/fronts/EliminationFronts.hpp>

#include "FrontCases.hpp"

namespace {

using FrontCases::Case;
using FrontCases::Rows;
using Strata::generator;
using Host = Kokkos::DefaultHostExecutionSpace;
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;

/// With as many teams as there are threads, or `teams`.
template <class Scalar>
typename Case<Scalar>::Factors by_fronts(const Case<Scalar>& of,
                                         int teams = 0) {
  return of.template by_fronts<Host>([&](const auto& kernel) {
    const Host exec;
    Strata::Detail::run_teams<1, 1>("Strata::Test::fronts", exec,
                                    teams > 0 ? teams : exec.concurrency(),
                                    kernel, kernel.scratch_bytes);
    exec.fence();
  });
}

template <class Scalar>
class Fronts : public testing::Test {};
TYPED_TEST_SUITE(Fronts, Scalars);

TYPED_TEST(Fronts, FactoriseCompletePatterns) {
  for (const int size : {1, 4, 7})
    for (const auto& [name, rows] : FrontCases::patterns(size)) {
      SCOPED_TRACE(name + " of size " + std::to_string(size));
      const Case<TypeParam> of(rows);
      const auto made = by_fronts(of);
      EXPECT_EQ(made.fault, Strata::Detail::no_fault);
      of.expect_factors(made);
      of.expect_same_bits(made, by_fronts(of, 1));
      of.expect_same_bits(made, by_fronts(of, 5));
    }
}

/// Rows with a few columns in common, to which all rows contribute: plans of
/// such patterns are not used, as one task would add up what they contribute.
TYPED_TEST(Fronts, CountContributionsToATask) {
  constexpr int leaves = 400, border = 3;
  FrontCases::Edges edges;
  for (int i = 0; i < leaves + border; ++i)
    for (int j = std::max(i + 1, leaves); j < leaves + border; ++j)
      edges.push_back({i, j});
  const Case<TypeParam> of(FrontCases::eliminated(leaves + border, edges));
  EXPECT_GE(of.tasks().most_terms, unsigned(leaves) - 64u);
  EXPECT_LE(of.tasks().most_terms, unsigned(leaves));
  of.expect_factors(by_fronts(of));
}

TYPED_TEST(Fronts, HaveNoTaskOfNoRows) {
  const Case<TypeParam> of(Rows{});
  EXPECT_EQ(of.tasks().tasks.size(), 0u);
  EXPECT_EQ(of.tasks().num_values, 0);
  by_fronts(of);
}

TYPED_TEST(Fronts, FindTheFaultOfTheFirstRow) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (int time = 0; time < 3; ++time)
    for (const auto& [name, rows] : FrontCases::patterns(3)) {
      SCOPED_TRACE(name);
      Case<TypeParam> of(rows);
      for (int more = 0; more < 2; ++more) {
        const auto [row, column] = of.random_entry();
        of.at(row, column) = TypeParam(RealOf<TypeParam>(infinity));
      }
      EXPECT_EQ(by_fronts(of).fault, of.by_rows().fault);
    }
}

TYPED_TEST(Fronts, FindZeroPivots) {
  for (const auto& [name, rows] : FrontCases::patterns(3)) {
    SCOPED_TRACE(name);
    Case<TypeParam> of(rows);
    // A row of zeros left of its diagonal and on it.
    std::uniform_int_distribution<int> any(0, of.rows() - 1);
    const int row = any(generator());
    for (const int column : rows[row])
      if (column <= row) of.at(row, column) = TypeParam(0);
    const auto made = by_fronts(of);
    EXPECT_EQ(made.fault, Strata::Detail::factor_fault(
                              row, Strata::Detail::factor_zero_pivot));
    EXPECT_EQ(made.fault, of.by_rows().fault);
  }
}

/// A reciprocal that overflows reaches the rows of the pattern alone.
TYPED_TEST(Fronts, KeepFaultsToTheirRows) {
  using Real = RealOf<TypeParam>;
  for (const auto& [name, rows] : FrontCases::patterns(3)) {
    SCOPED_TRACE(name);
    Case<TypeParam> of(rows);
    for (int row = 0; row < of.rows(); ++row)
      for (const int column : rows[row])
        if (column != row) of.at(row, column) = TypeParam(0);
    const int column = of.rows() / 3;
    of.at(column, column) = TypeParam(std::numeric_limits<Real>::denorm_min());
    auto first = Strata::Detail::no_fault;
    for (int row = column + 1; row < of.rows(); ++row)
      if (rows[row].count(column) && first == Strata::Detail::no_fault)
        first = Strata::Detail::factor_fault(row,
                                             Strata::Detail::factor_not_finite);
    EXPECT_EQ(by_fronts(of).fault, first);
  }
}

TYPED_TEST(Fronts, ReplaceSmallPivots) {
  using Real = RealOf<TypeParam>;
  for (const auto& [name, rows] : FrontCases::patterns(3)) {
    SCOPED_TRACE(name);
    Case<TypeParam> of(rows);
    of.set_least(Real(0.5));
    std::int64_t expected = 0;
    for (int row = 0; row < of.rows(); ++row) {
      if (generator()() % 8 != 0) continue;
      for (const int column : rows[row])
        if (column < row) of.at(row, column) = TypeParam(0);
      of.at(row, row) = TypeParam(expected % 2 ? 0.25 : -0.125);
      ++expected;
    }
    const auto made = by_fronts(of), wanted = of.by_rows();
    EXPECT_EQ(made.fault, Strata::Detail::no_fault);
    EXPECT_GE(made.replaced, expected);
    EXPECT_EQ(made.replaced, wanted.replaced);
    if (expected > 0) {
      EXPECT_EQ(made.change, wanted.change);
    }
    for (std::size_t k = 0; k < made.U.extent(0); ++k)
      ASSERT_LE(std::abs(wide(made.U(k)) - wide(wanted.U(k))),
                1e4 * epsilon_of<TypeParam> * (1 + std::abs(wide(wanted.U(k)))))
          << k;
  }
}

/// A pattern in the memory of the host, as kernels see it.
struct PatternViews {
  Kokkos::View<std::int64_t*, Kokkos::HostSpace> row_map, l_map, u_map;
  Kokkos::View<int*, Kokkos::HostSpace> entries;
  explicit PatternViews(const Rows& rows)
      : row_map("map", rows.size() + 1),
        l_map("L", rows.size() + 1),
        u_map("U", rows.size() + 1) {
    std::vector<int> all;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      l_map(i + 1) = l_map(i);
      u_map(i + 1) = u_map(i);
      for (const int j : rows[i]) {
        all.push_back(j);
        l_map(i + 1) += j <= int(i);
        u_map(i + 1) += j >= int(i);
      }
      row_map(i + 1) = std::int64_t(all.size());
    }
    entries = decltype(entries)("entries", all.size());
    std::copy(all.begin(), all.end(), entries.data());
  }
  auto is_closed() const {
    return Strata::Detail::EliminationFronts<Host>::is_closed(
        Host(), {row_map, entries, l_map, u_map},
        std::int64_t(row_map.extent(0)) - 1, std::int64_t(entries.extent(0)));
  }
};

TEST(CompletePatterns, AreTakenForWhatTheyAre) {
  int closed = 0, others = 0;
  for (const auto& [name, complete] : FrontCases::patterns(2)) {
    SCOPED_TRACE(name);
    for (int time = 0; time < 6; ++time) {
      Rows rows = complete;
      const int n = int(rows.size());
      for (int fewer = 0; fewer < time; ++fewer) {
        const int i = int(generator()() % n),
                  j = *std::next(rows[i].begin(),
                                 long(generator()() % rows[i].size()));
        if (i == j) continue;
        rows[i].erase(j);
        if (time % 2) rows[j].erase(i);
      }
      const bool is_closed = FrontCases::eliminated(rows) == rows;
      const auto found = PatternViews(rows).is_closed();
      EXPECT_EQ(found.is_closed, is_closed);
      if (is_closed) {
        EXPECT_EQ(found.is_symmetric, FrontCases::is_symmetric(rows));
      }
      closed += is_closed;
      others += !is_closed;
    }
  }
  EXPECT_GT(closed, 0);
  EXPECT_GT(others, 0);
}

}  // namespace
