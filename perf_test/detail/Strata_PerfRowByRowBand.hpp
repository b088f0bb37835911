// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_ROW_BY_ROW_BAND_HPP
#define STRATA_PERF_ROW_BY_ROW_BAND_HPP

#include <Kokkos_Core.hpp>
#include <core/matrix/PackValues.hpp>
#include <cstdint>

// LU of a band without pivoting, in place and row by row, as Figures 1 to 3 of
// Biondo (2013) state it: nothing is tiled, blocked or inverted.
// strata_perf_band times it, and tstBandRowByRow compares BandSolver with it.

namespace Strata {
namespace PerfTest {

/// A band in LAPACK's storage, A(i, j) at (ku + i - j, j), that becomes L (with
/// a unit diagonal that is not stored) and U.
template <class Scalar>
struct RowByRowBand {
  Scalar* data;
  std::int64_t lines;  ///< between columns of the storage
  std::int64_t n, kl, ku;

  KOKKOS_INLINE_FUNCTION Scalar& operator()(std::int64_t i,
                                            std::int64_t j) const {
    return data[j * lines + ku + i - j];
  }
  /// Rows below the diagonal of column i, and columns right of it in row i.
  KOKKOS_INLINE_FUNCTION std::int64_t below(std::int64_t i) const {
    return n - 1 - i < kl ? n - 1 - i : kl;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t right(std::int64_t i) const {
    return n - 1 - i < ku ? n - 1 - i : ku;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t above(std::int64_t i) const {
    return i < ku ? i : ku;
  }
};

/// Figure 1, lines 2 to 4.
template <class Scalar>
struct DivideBelow {
  RowByRowBand<Scalar> A;
  std::int64_t i;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t r) const {
    A(i + 1 + r, i) /= A(i, i);
  }
};
/// Figure 1, lines 5 to 9: one row of the active chunk.
template <class Scalar>
struct UpdateRow {
  RowByRowBand<Scalar> A;
  std::int64_t i;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t r) const {
    const std::int64_t j = i + 1 + r, columns = A.right(i);
    const Scalar multiplier = A(j, i);
    for (std::int64_t k = i + 1; k <= i + columns; ++k)
      A(j, k) -= multiplier * A(i, k);
  }
};
/// The same for one element, as CUDA's threads take it (section 3.1).
template <class Scalar>
struct UpdateElement {
  RowByRowBand<Scalar> A;
  std::int64_t i;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
    const std::int64_t rows = A.below(i);
    const std::int64_t j = i + 1 + place % rows, k = i + 1 + place / rows;
    A(j, k) -= A(j, i) * A(i, k);
  }
};
/// Figure 2, lines 2 to 4.
template <class Scalar>
struct ForwardStep {
  RowByRowBand<Scalar> A;
  Scalar* b;
  std::int64_t i;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t r) const {
    b[i + 1 + r] -= b[i] * A(i + 1 + r, i);
  }
};
/// Figure 3, line 2, and lines 3 to 5. The division is a step of its own.
template <class Scalar>
struct DivideByPivot {
  RowByRowBand<Scalar> A;
  Scalar* b;
  std::int64_t i;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const {
    b[i] /= A(i, i);
  }
};
template <class Scalar>
struct BackwardStep {
  RowByRowBand<Scalar> A;
  Scalar* b;
  std::int64_t i;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t r) const {
    b[i - 1 - r] -= b[i] * A(i - 1 - r, i);
  }
};

/// Runs each step's loop on one thread, the caller's.
struct OneThread {
  template <class Step>
  void operator()(std::int64_t count, const Step& step) const {
    for (std::int64_t r = 0; r < count; ++r) step(r);
  }
};
/// Runs each step's loop in parallel, a launch each: on OpenMP the report's
/// naive program (section 5), on CUDA its kernels (section 3.1).
template <class ExecutionSpace>
struct InParallel {
  ExecutionSpace exec;
  template <class Step>
  void operator()(std::int64_t count, const Step& step) const {
    if (count > 0)
      Kokkos::parallel_for("Strata::Band::row_by_row",
                           Detail::RangeOf<ExecutionSpace>(exec, 0, count),
                           step);
  }
};

/// Figure 1. 2 kl ku n operations.
/// @param each OneThread, or InParallel of a space that reaches A
/// @param by_element steps of one element each, which only a GPU gains from
template <class Scalar, class ForEach>
void factorize_row_by_row(const RowByRowBand<Scalar>& A, const ForEach& each,
                          bool by_element = false) {
  for (std::int64_t i = 0; i + 1 < A.n; ++i) {
    each(A.below(i), DivideBelow<Scalar>{A, i});
    if (by_element)
      each(A.below(i) * A.right(i), UpdateElement<Scalar>{A, i});
    else
      each(A.below(i), UpdateRow<Scalar>{A, i});
  }
}

/// Figures 2 and 3: x in place of b, one right-hand side.
template <class Scalar, class ForEach>
void solve_row_by_row(const RowByRowBand<Scalar>& LU, Scalar* b,
                      const ForEach& each) {
  for (std::int64_t i = 0; i < LU.n; ++i)
    each(LU.below(i), ForwardStep<Scalar>{LU, b, i});
  for (std::int64_t i = LU.n - 1; i >= 0; --i) {
    each(1, DivideByPivot<Scalar>{LU, b, i});
    each(LU.above(i), BackwardStep<Scalar>{LU, b, i});
  }
}

}  // namespace PerfTest
}  // namespace Strata

#endif
