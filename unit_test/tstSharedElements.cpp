// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <core/matrix/SharedElements.hpp>
#include <set>

#include "RandomSeed.hpp"

namespace Strata {
namespace Detail {
namespace {

std::set<std::uintptr_t> bytes_of(const StridedBlock& block) {
  std::set<std::uintptr_t> bytes;
  for (std::int64_t i = 0; i < block.extent[0]; ++i)
    for (std::int64_t j = 0; j < block.extent[1]; ++j)
      for (std::int64_t k = 0; k < block.extent[2]; ++k)
        for (std::size_t e = 0; e < block.element; ++e)
          bytes.insert(block.first + e +
                       block.element *
                           static_cast<std::size_t>(i * block.stride[0] +
                                                    j * block.stride[1] +
                                                    k * block.stride[2]));
  return bytes;
}

TEST(SharedElements, AreThoseThatAListOfAllFinds) {
  auto& random = generator();
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  const auto block = [&] {
    StridedBlock b;
    b.element = 4;
    b.first = 1000 + 4 * static_cast<std::uintptr_t>(draw(0, 40));
    for (int d = 0; d < 3; ++d) {
      b.extent[d] = draw(0, 19) == 0 ? 0 : draw(1, 5);
      b.stride[d] = b.extent[d] > 1 ? draw(1, 30) : 0;
    }
    return b;
  };
  int shared = 0, between = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const StridedBlock a = block(), b = block();
    const auto of_a = bytes_of(a), of_b = bytes_of(b);
    bool expected = false;
    for (const auto byte : of_a) expected = expected || of_b.count(byte) > 0;
    ASSERT_EQ(share_elements(a, b), expected) << trial;
    ASSERT_EQ(share_elements(b, a), expected) << trial;
    ASSERT_EQ(share_elements(a, a), !a.empty());
    shared += expected;
    between += !expected && !a.empty() && !b.empty() && a.first < b.end() &&
               b.first < a.end();
  }
  EXPECT_GT(shared, 100);
  EXPECT_GT(between, 100);
}

TEST(SharedElements, AreRepeatedWhereAListSaysSo) {
  auto& random = generator();
  const auto draw = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  int repeated = 0, distinct = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    StridedBlock a;
    a.element = 1;
    a.first = 1000;
    for (int d = 0; d < 3; ++d) {
      a.extent[d] = draw(0, 19) == 0 ? 0 : draw(1, 5);
      a.stride[d] = a.extent[d] > 1 ? draw(0, 40) : 0;
    }
    const auto elements =
        static_cast<std::size_t>(a.extent[0] * a.extent[1] * a.extent[2]);
    const bool expected = bytes_of(a).size() < elements;
    ASSERT_EQ(repeats_elements(a), expected) << trial;
    repeated += expected;
    distinct += !expected && elements > 1;
  }
  EXPECT_GT(repeated, 100);
  EXPECT_GT(distinct, 100);
}

/// Too many elements to list, where what is meant is plain.
TEST(SharedElements, AreFoundInLargeArrays) {
  const std::int64_t n = 100000000;
  const auto at = [&](std::uintptr_t first, std::int64_t rows,
                      std::int64_t row_stride, std::int64_t columns,
                      std::int64_t column_stride) {
    StridedBlock b;
    b.element = 8;
    b.first = 8 * first;
    b.extent = {{rows, columns, 1}};
    b.stride = {{row_stride, column_stride, 0}};
    return b;
  };
  // Columns 0 to 4 and 5 to 8 of an array stored by rows; columns 0 to 4 and 4
  // to 8.
  EXPECT_FALSE(repeats_elements(at(0, n, 1, 50, n)));
  EXPECT_FALSE(repeats_elements(at(0, n, 50, 50, 1)));
  EXPECT_TRUE(repeats_elements(at(0, n, 49, 50, 1)));
  EXPECT_TRUE(repeats_elements(at(0, n, 1, 50, n - 1)));
  EXPECT_TRUE(repeats_elements(at(0, n, 0, 1, 0)));
  EXPECT_FALSE(share_elements(at(0, n, 9, 5, 1), at(5, n, 9, 4, 1)));
  EXPECT_TRUE(share_elements(at(0, n, 9, 5, 1), at(4, n, 9, 4, 1)));
  // Even and odd columns of an array stored by columns.
  EXPECT_FALSE(share_elements(at(0, n, 1, 50, 2 * n), at(n, n, 1, 50, 2 * n)));
  // Every sixth and every tenth from elements of other parity on; of the same.
  EXPECT_FALSE(share_elements(at(0, n, 6, 1, 0), at(1, n, 10, 1, 0)));
  EXPECT_TRUE(share_elements(at(0, n, 6, 1, 0), at(2, n, 10, 1, 0)));
  // Half an element apart.
  StridedBlock shifted = at(0, n, 2, 1, 0);
  shifted.first += 4;
  EXPECT_TRUE(share_elements(at(0, n, 2, 1, 0), shifted));
}

TEST(SharedElements, AreFoundInViews) {
  const Kokkos::View<double** [3], Kokkos::LayoutRight> a("a", 4, 5);
  const auto part = [&](int k) {
    return Kokkos::subview(a, Kokkos::ALL, Kokkos::ALL, k);
  };
  EXPECT_FALSE(share_elements(part(0), part(2)));
  EXPECT_TRUE(share_elements(part(1), part(1)));
  EXPECT_TRUE(share_elements(a, part(1)));
  EXPECT_TRUE(same_elements(strided_block(part(1)), strided_block(part(1))));
  EXPECT_FALSE(same_elements(strided_block(part(0)), strided_block(part(1))));
  const Kokkos::View<double*> none("none", 0);
  EXPECT_FALSE(share_elements(none, none));
}

}  // namespace
}  // namespace Detail
}  // namespace Strata
