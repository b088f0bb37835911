// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_POISSON_HPP
#define STRATA_PERF_POISSON_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/matrix/MatrixTypes.hpp>

namespace Strata {
namespace PerfTest {

/// The 7-point finite differences of -Laplace u on a cube of n x n x n points
/// with u = 0 around it: 6 on the diagonal, -1 beside.
template <class CrsMatrix>
struct PoissonCube {
  using Types = Detail::MatrixTypes<CrsMatrix>;
  using Scalar = typename Types::Scalar;
  std::int64_t n;
  typename Types::RowMap row_map;
  typename Types::Entries entries;
  typename Types::Values values;

  /// Calls visit(column, value) from the lowest column up.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void row(std::int64_t i, const Visit& visit) const {
    const std::int64_t at[3] = {i / (n * n), i / n % n, i % n};
    const std::int64_t step[3] = {n * n, n, 1};
    for (int d = 0; d < 3; ++d)
      if (at[d] > 0) visit(i - step[d], Scalar(-1));
    visit(i, Scalar(6));
    for (int d = 2; d >= 0; --d)
      if (at[d] < n - 1) visit(i + step[d], Scalar(-1));
  }
  /// The length of a row.
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t i, int) const {
    std::int64_t length = 0;
    row(i, [&](std::int64_t, const Scalar&) { ++length; });
    return length;
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    auto k = row_map(i);
    row(i, [&](std::int64_t column, const Scalar& value) {
      entries(k) = static_cast<typename Types::Ordinal>(column);
      values(k++) = value;
    });
  }
};
template <class CrsMatrix>
struct PoissonLength {
  PoissonCube<CrsMatrix> cube;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return cube(i, 0);
  }
};

template <class CrsMatrix>
CrsMatrix poisson_cube(const typename CrsMatrix::execution_space& exec,
                       std::int64_t n) {
  using Types = Detail::MatrixTypes<CrsMatrix>;
  PoissonCube<CrsMatrix> cube{n, {}, {}, {}};
  const std::int64_t rows = n * n * n;
  cube.row_map =
      Detail::make_unfilled<typename Types::RowMap>("row_map", rows + 1);
  const std::int64_t stored =
      Detail::scan_row_lengths("poisson::count", exec, rows,
                               PoissonLength<CrsMatrix>{cube}, cube.row_map);
  cube.entries =
      Detail::make_unfilled<typename Types::Entries>("entries", stored);
  cube.values = Detail::make_unfilled<typename Types::Values>("values", stored);
  Kokkos::parallel_for("poisson::fill", typename Types::Rows(exec, 0, rows),
                       cube);
  exec.fence();
  return CrsMatrix("poisson", rows, rows, stored, cube.values, cube.row_map,
                   cube.entries);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
