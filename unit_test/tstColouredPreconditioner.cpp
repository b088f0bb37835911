// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>
#include <Strata_Colouring.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <cmath>
#include <map>

#include "HermitianMatrix.hpp"
#include "InOrder.hpp"

namespace {

TEST(Colouring, NoEntryIsWithinAColour) {
  const Device exec;
  // The last has too many levels for the order of the rows.
  const std::map<std::string, int> expected{
      {"grid3d:9", 2},  {"grid2d:30", 2},  {"diagonal:77", 1},
      {"chain:100", 2}, {"grid3d27:6", 8}, {"circuit:900", 0},
      {"chain:1", 1},   {"arrow:3000", 2}, {"chain:25000", 0}};
  for (const auto& [spec, colours] : expected) {
    const auto host = hermitian<double>(spec);
    const auto A = host.to_device<Crs<double>>();
    const auto found = Strata::colour_rows(exec, A);
    const auto colour = on_host(found.colour_of);
    const auto old_row = on_host(found.permutation.old_row);
    const auto new_row = on_host(found.permutation.new_row);
    EXPECT_LE(found.num_colours(), spec == "chain:25000" ? 3 : 16) << spec;
    if (colours > 0) {
      EXPECT_EQ(found.num_colours(), colours) << spec;
    }
    for (std::int64_t i = 0; i < host.rows; ++i)
      for (auto k = host.row_map[i]; k < host.row_map[i + 1]; ++k)
        ASSERT_TRUE(host.entries[k] == i ||
                    colour[host.entries[k]] != colour[i])
            << spec << " row " << i;
    ASSERT_EQ(found.colour_map.back(), host.rows);
    for (int c = 0; c < found.num_colours(); ++c) {
      ASSERT_LT(found.colour_map[c], found.colour_map[c + 1]);
      for (auto p = found.colour_map[c]; p < found.colour_map[c + 1]; ++p) {
        ASSERT_EQ(colour[old_row[p]], c);
        ASSERT_EQ(new_row[old_row[p]], p);
        ASSERT_TRUE(p == found.colour_map[c] || old_row[p - 1] < old_row[p]);
      }
    }
    EXPECT_EQ(on_host(Strata::colour_rows(exec, A).colour_of), colour);
  }
  EXPECT_EQ(Strata::colour_rows(exec, Crs<double>()).num_colours(), 0);
}

TEST(ColouredFactors, OfMoreThanTwoColoursAreRefused) {
  using Strata::FactorOrder;
  const Device exec;
  for (const auto kind : {Strata::Factorization::incomplete_cholesky,
                          Strata::Factorization::incomplete_lu})
    for (const std::string spec : {"grid3d27:5", "triangulated:17x12"}) {
      const auto A = hermitian<double>(spec).to_device<Crs<double>>();
      const auto colours = Strata::colour_rows(exec, A);
      const auto row = on_host(
          colours.permutation
              .old_row)[static_cast<std::size_t>(colours.colour_map[2])];
      try {
        const Strata::IncompleteFactorization M(
            exec, A, kind, Strata::in_order(FactorOrder::coloured));
        ADD_FAILURE() << "accepted: " << spec;
      } catch (const Strata::OptionError& error) {
        EXPECT_EQ(error.argument(), "order");
        EXPECT_NE(error.problem().find("row " + std::to_string(row) + " of A"),
                  std::string::npos)
            << error.what();
        EXPECT_NE(error.remedy().find("natural"), std::string::npos);
      }
      const Strata::IncompleteFactorization automatic(
          exec, A, kind, Strata::in_order(FactorOrder::automatic));
      EXPECT_EQ(automatic.report().order, FactorOrder::natural);
    }
}

}  // namespace
