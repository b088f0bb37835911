// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_RANDOM_VECTORS_HPP
#define STRATA_PERF_RANDOM_VECTORS_HPP

#include <Kokkos_Core.hpp>
#include <core/device/Backend.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <cstdint>
#include <detail/Strata_PerfParts.hpp>

namespace Strata {
namespace PerfTest {

template <class Vectors>
struct DrawRow {
  Vectors vectors;  // rows x columns
  std::uint64_t seed, set;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    using Scalar = typename Vectors::non_const_value_type;
    const auto columns = static_cast<std::int64_t>(vectors.extent(1));
    for (std::int64_t column = 0; column < columns; ++column) {
      const auto place = static_cast<std::uint64_t>(row * columns + column);
      const auto part = [&](std::uint64_t number) {
        const auto bits = Detail::random_bits(seed, set, place, number);
        return 2 * Detail::unit_interval(bits) - 1;
      };
      vectors(row, column) = from_parts<Scalar>(part(0), part(1));
    }
  }
};

/// Fills `vectors`, rows x columns, where they are, with real and imaginary
/// parts that are uniform in [-1, 1). The numbers depend on
/// nothing but `seed`, `set` and their place: every algorithm, thread count and
/// backend gets the same ones.
template <class ExecutionSpace, class Vectors>
void draw_vectors(const ExecutionSpace& exec, const Vectors& vectors,
                  std::uint64_t seed, std::uint64_t set) {
  Kokkos::parallel_for(
      "Strata::perf::draw_vectors",
      Detail::RangeOf<ExecutionSpace>(
          exec, 0, static_cast<std::int64_t>(vectors.extent(0))),
      DrawRow<Vectors>{vectors, seed, set});
}

}  // namespace PerfTest
}  // namespace Strata

#endif
