// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <cmath>
#include <core/matrix/InspectValues.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/memory/ToDevice.hpp>
#include <limits>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;

/// What blocks of threads find is what a reduction finds: of several blocks
/// with a ragged end, and of what stands in the last places.
TEST(InspectValues, FindsTheSameByBlocks) {
  const Space exec;
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const int n : {1, 31, 255, 5000, 70001})
    for (const double last : {1., 0., tiny, std::nan("")}) {
      SCOPED_TRACE(std::to_string(n) + " rows, the last has " +
                   std::to_string(last));
      std::vector<int> counted(n + 1);
      std::vector<std::int64_t> origin(n);
      std::vector<double> number(n, 2.);
      for (int i = 0; i < n; ++i) {
        counted[i + 1] = i + 1;
        origin[i] = (i + n / 2) % n;
      }
      number[origin[n - 1]] = last;
      const auto index = to_device<int, Memory>("index", counted);
      const auto values = to_device<double, Memory>("values", number);
      DiagonalPlaces<Memory> places;
      places.value_index = ValueIndex<Memory>("origin", origin, n);
      using Look = InspectValues<double, Memory>;
      const Look look{
          places, {}, values.data(), row_map_term(index), entries_term(index)};
      ValuesInspection whole, direct, by_blocks;
      inspect_values_into<double>(exec, places, {}, values.data(), index, index,
                                  whole);
      direct =
          inspect_values<double>(exec, places, {}, values.data(), index, index);
      if constexpr (!is_gpu<Space>) {
        constexpr int blocks = 7;
        std::vector<ValuesInspection> found(blocks);
        for (int b = 0; b < blocks; ++b)
          InspectByBlocks<Look>{look, found.data()}(OneThreadTeam(b, blocks));
        for (const auto& part : found) Look::join_parts(by_blocks, part);
      } else {
        by_blocks = direct;
      }
      for (const auto& found : {direct, by_blocks}) {
        EXPECT_EQ(found.fingerprint(), whole.fingerprint());
        EXPECT_EQ(found.zero_row, whole.zero_row);
        EXPECT_EQ(found.divide, whole.divide);
      }
      EXPECT_EQ(whole.zero_row, last == 0 ? n - 1 : ValuesInspection::no_row);
      EXPECT_EQ(whole.divide, last == 1 || last == 0 ? 0 : 1);
    }
}

}  // namespace
}  // namespace Detail
}  // namespace Strata
