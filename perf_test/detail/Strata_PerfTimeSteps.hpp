// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_TIME_STEPS_HPP
#define STRATA_PERF_TIME_STEPS_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>
#include <cmath>
#include <core/device/Backend.hpp>
#include <core/scalar/RealPart.hpp>
#include <cstdint>

namespace Strata {
namespace PerfTest {

/// S (A + shift diag(A)) S with the diagonal S = 1 + sin(phase + 2 pi i / n) /
/// 4: values that change smoothly from row to row and from one phase to the
/// next. They are Hermitian, or positive definite, where those of A are, and
/// are diagonally dominant but for S where those of A are.
template <class Matrix>
struct ValuesOfStep {
  using Scalar = typename Matrix::non_const_value_type;
  using Real = Detail::RealOf<Scalar>;
  typename Matrix::row_map_type row_map;
  typename Matrix::index_type entries;
  typename Matrix::values_type from, to;
  double phase, turn, shift;

  KOKKOS_INLINE_FUNCTION double scale(std::int64_t row) const {
    return 1 + 0.25 * std::sin(phase + turn * static_cast<double>(row));
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const double own = scale(row);
    for (auto k = row_map(row); k < row_map(row + 1); ++k) {
      double factor = own * scale(entries(k));
      if (entries(k) == row) factor *= 1 + shift;
      to(k) = from(k) * static_cast<Real>(factor);
    }
  }
};

/// Puts the values of a time step, from 0 to steps - 1, into A.
/// @param base the values that the steps change
/// @param shift see KrylovSettings::shift
template <class Matrix>
void set_values_of_step(const typename Matrix::execution_space& exec,
                        const Matrix& A,
                        const typename Matrix::values_type& base, int step,
                        int steps, double shift) {
  constexpr double full_turn = 6.283185307179586;
  const double at = static_cast<double>(step) / steps;
  Kokkos::parallel_for(
      "Strata::perf::values_of_step",
      Detail::RangeOf<typename Matrix::execution_space>(exec, 0, A.numRows()),
      ValuesOfStep<Matrix>{A.graph.row_map, A.graph.entries, base, A.values,
                           full_turn * at, full_turn / A.numRows(),
                           shift * (1 + at)});
  exec.fence();
}

/// The sum of squares of b - A x, or of b.
template <class Matrix, class Vector>
struct SumResiduals {
  using Scalar = typename Matrix::non_const_value_type;
  typename Matrix::row_map_type row_map;
  typename Matrix::index_type entries;
  typename Matrix::values_type values;
  Vector b, x;
  bool of_b;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, double& sum) const {
    Scalar r = b(row);
    if (!of_b)
      for (auto k = row_map(row); k < row_map(row + 1); ++k)
        r -= values(k) * x(entries(k));
    sum += Detail::real_product(r, r);
  }
};

/// ||b - A x|| / ||b||, worked out anew in plain products on the device.
template <class Matrix, class Vector>
double true_residual(const typename Matrix::execution_space& exec,
                     const Matrix& A, const Vector& b, const Vector& x) {
  double squares[2] = {0, 0};
  for (const bool of_b : {false, true})
    Kokkos::parallel_reduce(
        "Strata::perf::true_residual",
        Detail::RangeOf<typename Matrix::execution_space>(exec, 0, A.numRows()),
        SumResiduals<Matrix, Vector>{A.graph.row_map, A.graph.entries, A.values,
                                     b, x, of_b},
        squares[of_b]);
  exec.fence();
  return std::sqrt(squares[0] / squares[1]);
}

}  // namespace PerfTest
}  // namespace Strata

#endif
