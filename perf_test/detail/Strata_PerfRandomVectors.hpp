// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_RANDOM_VECTORS_HPP
#define STRATA_PERF_RANDOM_VECTORS_HPP

#include <Kokkos_Core.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <cstdint>

namespace Strata {
namespace PerfTest {

/// Scalars from random bits; real and imaginary parts are uniform in [-1, 1].
template <class Scalar>
struct UniformScalar {
  KOKKOS_INLINE_FUNCTION static Scalar draw(std::uint64_t seed,
                                            std::uint64_t set, std::uint64_t i,
                                            std::uint64_t part = 0) {
    const auto bits = Detail::random_bits(seed, set, i, part);
    return static_cast<Scalar>(2 * Detail::unit_interval(bits) - 1);
  }
};
template <class Real>
struct UniformScalar<Kokkos::complex<Real>> {
  KOKKOS_INLINE_FUNCTION static Kokkos::complex<Real> draw(std::uint64_t seed,
                                                           std::uint64_t set,
                                                           std::uint64_t i) {
    return {UniformScalar<Real>::draw(seed, set, i, 0),
            UniformScalar<Real>::draw(seed, set, i, 1)};
  }
};

template <class Vectors>
struct DrawRow {
  Vectors vectors;  // rows x columns
  std::uint64_t seed, set;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    using Scalar = typename Vectors::non_const_value_type;
    const auto columns = static_cast<std::int64_t>(vectors.extent(1));
    for (std::int64_t column = 0; column < columns; ++column)
      vectors(row, column) =
          UniformScalar<Scalar>::draw(seed, set, row * columns + column);
  }
};

/// Fills `vectors`, rows x columns, where they are. The numbers depend on
/// nothing but `seed`, `set` and their place: every algorithm, thread count and
/// backend gets the same ones.
template <class ExecutionSpace, class Vectors>
void draw_vectors(const ExecutionSpace& exec, const Vectors& vectors,
                  std::uint64_t seed, std::uint64_t set) {
  using Rows =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(
      "Strata::perf::draw_vectors",
      Rows(exec, 0, static_cast<std::int64_t>(vectors.extent(0))),
      DrawRow<Vectors>{vectors, seed, set});
}

}  // namespace PerfTest
}  // namespace Strata

#endif
