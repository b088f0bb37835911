// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <Strata_Gallery.hpp>
#include <Strata_SellMatrix.hpp>
#include <kernels/spmv/SellShape.hpp>
#include <kernels/spmv/SellStorage.hpp>

namespace Strata {
namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;

TEST(SellShape, ChunksOfDifferentLengthsAreKnown) {
  const Device exec;
  const auto uneven = [&](const char* spec, std::int64_t sigma) {
    SellOptions options;
    options.sigma = sigma;
    return Detail::Internals::storage(
               SellMatrix(exec, gallery<Crs>(exec, spec), options))
        .uneven;
  };
  EXPECT_FALSE(uneven("chain:4000", 1));
  EXPECT_FALSE(uneven("diagonal:999", 0));
  EXPECT_TRUE(uneven("circuit:5000", 0));
  EXPECT_TRUE(uneven("random:3000x6", 3000));
}

TEST(SellShape, FewLanesHideStepsWhereRowsAreAlike) {
  const auto lanes = Detail::lanes_that_hide_steps;
  for (const std::int64_t rows : {1, 1000, 50000, 100000000}) {
    EXPECT_EQ(lanes(rows, rows, 1), 160);
    EXPECT_EQ(lanes(rows, 7 * rows, 7), 160);
    EXPECT_EQ(lanes(rows, 27 * rows, 27), 540);
    EXPECT_EQ(lanes(rows, 27 * rows, 4 * 27), 540);
    EXPECT_EQ(lanes(rows, 27 * rows, 4 * 27 + 1), 1024);
    EXPECT_EQ(lanes(rows, 500 * rows, 500), 1024);
  }
  EXPECT_EQ(lanes(0, 0, 0), 160);
}

}  // namespace
}  // namespace Strata
