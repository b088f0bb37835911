// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_BAND_MATRIX_IMPLEMENTATION_HPP
#define STRATA_KERNELS_BAND_BAND_MATRIX_IMPLEMENTATION_HPP

// What band_matrix() does, compiled into libstrata (src/) for the scalars and
// spaces of a build. A program with others includes this file.

#include <Strata_BandMatrix.hpp>
#include <core/matrix/PatternCheck.hpp>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<BandOfMatrix> : std::true_type {};

struct FindBandExtent {
  using value_type = BandExtent;
  IndexArray row_map, entries;

  KOKKOS_INLINE_FUNCTION void init(BandExtent& e) const { e = BandExtent(); }
  KOKKOS_INLINE_FUNCTION void join(BandExtent& to,
                                   const BandExtent& from) const {
    join_parts(to, from);
  }
  // Kokkos 3 passes what it joins as volatile.
  KOKKOS_INLINE_FUNCTION void join(volatile BandExtent& to,
                                   const volatile BandExtent& from) const {
    join_parts(to, from);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i, BandExtent& e) const {
    BandExtent own;
    const std::int64_t end = row_map(i + 1);
    for (std::int64_t k = row_map(i); k < end; ++k) {
      const std::int64_t j = entries(k);
      if (i - j > own.lower) own.lower = i - j;
      if (j - i > own.upper) own.upper = j - i;
    }
    join_parts(e, own);
  }

 private:
  template <class To, class From>
  KOKKOS_INLINE_FUNCTION static void join_parts(To& to, From& from) {
    if (from.lower > to.lower) to.lower = from.lower;
    if (from.upper > to.upper) to.upper = from.upper;
  }
};

template <class Scalar>
struct FillBand {
  CrsArrays<Scalar> A;
  Scalar* ab;
  std::int64_t row_stride, column_stride, upper;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t end = A.row_map(i + 1);
    for (std::int64_t k = A.row_map(i); k < end; ++k) {
      const std::int64_t j = A.entries(k);
      ab[(upper + i - j) * row_stride + j * column_stride] += A.values[k];
    }
  }
};

template <class Scalar, class ExecutionSpace>
BandExtent find_band_extent(const ExecutionSpace& exec,
                            const CrsArrays<Scalar>& A) {
  const std::int64_t rows = A.rows();
  check_square_matrix(exec, A);
  BandExtent extent;
  Kokkos::parallel_reduce("Strata::band_matrix::extent",
                          RangeOf<ExecutionSpace>(exec, 0, rows),
                          FindBandExtent{A.row_map, A.entries}, extent);
  exec.fence();
  const std::int64_t diagonals = extent.lower + extent.upper + 1;
  constexpr auto most_elements =
      INT64_MAX / static_cast<std::int64_t>(sizeof(Scalar));
  if (rows > 0 && diagonals > most_elements / rows)
    throw IndexOverflowError("A",
                             "a band of " + std::to_string(diagonals) +
                                 " diagonals and " + std::to_string(rows) +
                                 " columns has more bytes than can be counted",
                             "reorder the rows, so that the band is narrower");
  return extent;
}

template <class Scalar, class ExecutionSpace>
void fill_band(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
               const BandExtent& extent, const StridedBlock& ab) {
  for_each_index("Strata::band_matrix::fill", exec, A.rows(),
                 FillBand<Scalar>{A, reinterpret_cast<Scalar*>(ab.first),
                                  ab.stride[0], ab.stride[1], extent.upper});
  exec.fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
