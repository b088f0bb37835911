// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_COLOURED_FACTOR_HPP
#define STRATA_KERNELS_KRYLOV_COLOURED_FACTOR_HPP

#include <Strata_Colouring.hpp>
#include <Strata_Error.hpp>
#include <core/matrix/FindColumn.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/factorization/PositiveDiagonal.hpp>

namespace Strata {
namespace Detail {

/// @throws HandleError
inline void require_both_factors(bool whole) {
  if (!whole)
    throw HandleError(
        "preconditioner",
        "has one factor of old values: an exception has ended the update",
        "call update_values again");
}

/// Place of each row's diagonal entry among the entries.
template <class CrsMatrix>
struct FindDiagonals {
  CrsMatrix A;
  Kokkos::View<std::int64_t*, typename CrsMatrix::memory_space> diagonal;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    diagonal(row) = first_entry_from(A.graph, row, row);
  }
};

/// Eliminates the entries left of the diagonal of a row, all of whose rows are
/// of earlier colours and done; entries that are not in the pattern are left
/// out. The row then holds its rows of L and U.
template <class CrsMatrix>
struct EliminateColour {
  CrsMatrix A;
  Kokkos::View<const std::int64_t*, typename CrsMatrix::memory_space> diagonal;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const auto& row_map = A.graph.row_map;
    const auto& entries = A.graph.entries;
    const auto end = static_cast<std::int64_t>(row_map(row + 1));
    for (auto k = static_cast<std::int64_t>(row_map(row)); k < diagonal(row);
         ++k) {
      const auto above = entries(k);
      const auto l = A.values(k) / A.values(diagonal(above));
      A.values(k) = l;
      auto at = k + 1;
      const auto stop = static_cast<std::int64_t>(row_map(above + 1));
      for (auto m = diagonal(above) + 1; m < stop && at < end; ++m) {
        while (at < end && entries(at) < entries(m)) ++at;
        if (at < end && entries(at) == entries(m))
          A.values(at) -= l * A.values(m);
      }
    }
  }
};

/// Finds the first row of the given order whose pivot a Hermitian positive
/// definite product of the factors can't have (`positive`), or that is 0 or not
/// finite.
template <class CrsMatrix>
struct FindBadPivotOfColours {
  CrsMatrix LU;
  Kokkos::View<const std::int64_t*, typename CrsMatrix::memory_space> diagonal;
  Kokkos::View<const int*, typename CrsMatrix::memory_space> old_row;
  bool positive;
  double tolerance;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    using Part = RealPart<typename MatrixTypes<CrsMatrix>::Scalar>;
    const auto d = LU.values(diagonal(row));
    const double re = Part::real(d), im = Part::imaginary(d);
    const double limit = tolerance * tolerance * re * re;
    const bool good =
        positive ? re > 0 && is_finite(re) && im * im <= limit
                 : is_finite(re) && is_finite(im) && (re != 0 || im != 0);
    if (!good && old_row(row) < first) first = old_row(row);
  }
};

/// The entries of factor L (strictly lower) or U (strictly upper), with rows
/// and columns in the given order and sorted by it.
template <class CrsMatrix>
struct TakeColouredFactor {
  using Types = MatrixTypes<CrsMatrix>;
  using Memory = typename Types::MemorySpace;
  CrsMatrix A;                // the pattern, in the given order
  typename Types::Matrix LU;  // in the order of colours
  Kokkos::View<const int*, Memory> new_row;
  bool lower;
  typename Types::RowMap row_map;
  typename Types::Entries entries;
  typename Types::Values values;

  KOKKOS_INLINE_FUNCTION bool taken(int row, int column) const {
    return lower ? column < row : column > row;
  }
  /// Length of a row.
  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    std::int64_t count = 0;
    for (auto k = A.graph.row_map(row); k < A.graph.row_map(row + 1); ++k)
      count += taken(new_row(row), new_row(A.graph.entries(k)));
    return count;
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const int to = new_row(row);
    auto at = row_map(row);
    for (auto k = A.graph.row_map(row); k < A.graph.row_map(row + 1); ++k) {
      const int column = new_row(A.graph.entries(k));
      if (!taken(to, column)) continue;
      entries(at) = A.graph.entries(k);
      values(at) = LU.values(first_entry_from(LU.graph, to, column));
      ++at;
    }
  }
};
template <class CrsMatrix>
struct ColouredFactorLength {
  TakeColouredFactor<CrsMatrix> take;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    return take.length(row);
  }
};

/// Zero-fill incomplete factors of a Hermitian matrix, eliminated colour by
/// colour: A = L U on the pattern, L with a unit diagonal.
template <class CrsMatrix>
struct ColouredFactor {
  using Types = MatrixTypes<CrsMatrix>;
  using ExecutionSpace = typename Types::ExecutionSpace;
  using Memory = typename Types::MemorySpace;
  using Scalar = typename Types::Scalar;
  using Rows = typename Types::Rows;

  using Matrix = typename Types::Matrix;

  CrsMatrix A;
  Matrix LU;
  Kokkos::View<std::int64_t*, Memory> diagonal;
  Colouring<Memory> colouring;

  /// @param positive refuse pivots that are not positive
  /// @throws IndefiniteError, FactorizationError
  /// Cost: a copy of the matrix and a launch for each colour; a thread has a
  /// row. Waits for `exec`.
  ColouredFactor(const ExecutionSpace& exec, const CrsMatrix& matrix,
                 const Colouring<Memory>& colours, bool positive)
      : A(matrix),
        LU(permute_symmetric(exec, matrix, colours.permutation)),
        diagonal(make_unfilled<Kokkos::View<std::int64_t*, Memory>>(
            "Strata::ColouredFactor::diagonal", matrix.numRows())),
        colouring(colours) {
    const auto n = static_cast<std::int64_t>(A.numRows());
    Kokkos::parallel_for("Strata::ColouredFactor::diagonals", Rows(exec, 0, n),
                         FindDiagonals<Matrix>{LU, diagonal});
    for (int c = 1; c < colouring.num_colours(); ++c)
      Kokkos::parallel_for(
          "Strata::ColouredFactor::eliminate",
          Rows(exec, colouring.colour_map[c], colouring.colour_map[c + 1]),
          EliminateColour<Matrix>{LU, diagonal});
    std::int64_t first = no_factor_fault;
    Kokkos::parallel_reduce(
        "Strata::ColouredFactor::check", Rows(exec, 0, n),
        FindBadPivotOfColours<Matrix>{
            LU, diagonal, colouring.permutation.old_row, positive,
            1e3 * std::numeric_limits<RealOf<Scalar>>::epsilon()},
        Kokkos::Min<std::int64_t>(first));
    exec.fence();
    if (first == no_factor_fault) return;
    if (positive) raise_bad_pivot(first);
    throw FactorizationError(
        "A",
        "the pivot of row " + std::to_string(first) +
            " becomes zero or not finite",
        "look for values that are not finite, or shift the diagonal", first);
  }

  /// L (without its ones) or U (without its diagonal) in the given order.
  Matrix take(const ExecutionSpace& exec, bool lower) const {
    const auto n = static_cast<std::int64_t>(A.numRows());
    TakeColouredFactor<CrsMatrix> take{
        A, LU, colouring.permutation.new_row, lower, {}, {}, {}};
    take.row_map = make_unfilled<typename Types::RowMap>(
        "Strata::ColouredFactor::row_map", n + 1);
    const std::int64_t stored =
        scan_row_lengths("Strata::ColouredFactor::count", exec, n,
                         ColouredFactorLength<CrsMatrix>{take}, take.row_map);
    take.entries = make_unfilled<typename Types::Entries>(
        "Strata::ColouredFactor::entries", stored);
    take.values = make_unfilled<typename Types::Values>(
        "Strata::ColouredFactor::values", stored);
    Kokkos::parallel_for("Strata::ColouredFactor::take", Rows(exec, 0, n),
                         take);
    exec.fence();
    return Matrix("factor", n, n, stored, take.values, take.row_map,
                  take.entries);
  }

  /// 1 / pivot by row of the given order.
  void invert_pivots(const ExecutionSpace& exec,
                     const Kokkos::View<Scalar*, Memory>& inverse) const {
    const auto lu = LU;
    const auto place = diagonal;
    const auto old_row = colouring.permutation.old_row;
    Kokkos::parallel_for(
        "Strata::ColouredFactor::pivots", Rows(exec, 0, A.numRows()),
        KOKKOS_LAMBDA(std::int64_t row) {
          inverse(old_row(row)) = Scalar(1) / lu.values(place(row));
        });
    exec.fence();
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
