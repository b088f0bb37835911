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

/// What a loop finds is what all teams find together, of several teams with a
/// ragged end, and of what stands in the last places. What earlier kernels have
/// found is taken along, and cleared.
TEST(InspectValues, FindsWhatALoopFinds) {
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
      const Kokkos::View<ValuesInspection, Memory> earlier("earlier");
      ValuesInspection before;
      before.spread_bits = 3;
      Kokkos::deep_copy(earlier, before);
      const auto found = inspect_values<double>(exec, places, values.data(),
                                                index, index, earlier.data());

      ValuesInspection expected = before;
      const IndexArray all(Kokkos::View<const int*, Kokkos::HostSpace>(
          counted.data(), counted.size()));
      for (int i = 0; i <= n; ++i) {
        row_map_term(all).add<1>(i, 1, expected.row_map);
        entries_term(all).add<1>(i, 1, expected.entries);
      }
      EXPECT_EQ(found.fingerprint(), expected.fingerprint());
      EXPECT_EQ(found.zero_row, last == 0 ? n - 1 : ValuesInspection::no_row);
      EXPECT_EQ(found.divide, last == 1 || last == 0 ? 0 : 1);
      EXPECT_EQ(found.spread_bits, 3);
      ValuesInspection left;
      Kokkos::deep_copy(left, earlier);
      EXPECT_EQ(left.spread_bits, 0);
    }
}

}  // namespace
}  // namespace Detail
}  // namespace Strata
