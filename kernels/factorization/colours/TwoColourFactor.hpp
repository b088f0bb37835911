// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_COLOURS_TWO_COLOUR_FACTOR_HPP
#define STRATA_KERNELS_FACTORIZATION_COLOURS_TWO_COLOUR_FACTOR_HPP

#include <Strata_Colouring.hpp>
#include <Strata_Error.hpp>
#include <core/matrix/FindColumn.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/input/PositivePivots.hpp>

namespace Strata {
namespace Detail {

/// Rows in the order of two colours. A row has no entry in a column of its
/// colour but the diagonal, which is the first entry of a row of the first
/// colour and the last one of a row of the second.
template <class Matrix>
struct TwoColourRows {
  Matrix LU;
  std::int64_t first_rows;  // of the first colour
  KOKKOS_INLINE_FUNCTION std::int64_t diagonal(std::int64_t row) const {
    return static_cast<std::int64_t>(row < first_rows
                                         ? LU.graph.row_map(row)
                                         : LU.graph.row_map(row + 1) - 1);
  }
};

/// Eliminates the first colour from a row of the second one: of its entries,
/// the fill is on the diagonal alone.
template <class Matrix>
struct EliminateFirstColour {
  TwoColourRows<Matrix> rows;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const Matrix& LU = rows.LU;
    const std::int64_t pivot = rows.diagonal(row);
    for (auto k = static_cast<std::int64_t>(LU.graph.row_map(row)); k < pivot;
         ++k) {
      const auto above = LU.graph.entries(k);
      const auto l = LU.values(k) / LU.values(rows.diagonal(above));
      LU.values(k) = l;
      LU.values(pivot) -= l * LU.values(first_entry_from(LU.graph, above, row));
    }
  }
};

/// Finds the first row, as A names it, whose pivot is not positive, or that is
/// 0 where pivots of any sign will do (`positive` is false), or not finite.
template <class Matrix>
struct FindBadPivotOfColours {
  TwoColourRows<Matrix> rows;
  Kokkos::View<const int*, typename Matrix::memory_space> old_row;
  bool positive;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    using Part = RealPart<typename MatrixTypes<Matrix>::Scalar>;
    const double pivot = Part::real(rows.LU.values(rows.diagonal(row)));
    const bool good = is_finite(pivot) && (positive ? pivot > 0 : pivot != 0);
    if (!good && old_row(row) < first) first = old_row(row);
  }
};

/// Zero-fill incomplete factors of a Hermitian matrix A whose rows have at most
/// two colours. In the order of colours
///   A = [ D1  F  ]   L = [ I  0 ]   U = [ D1  F ]   G = E D1^-1,
///       [ E   D2 ],      [ G  I ],      [ 0   D ],
/// where D is the diagonal of D2 - G F.
template <class CrsMatrix>
struct TwoColourFactor {
  using Types = MatrixTypes<CrsMatrix>;
  using ExecutionSpace = typename Types::ExecutionSpace;
  using Memory = typename Types::MemorySpace;
  using Rows = RangeOf<ExecutionSpace>;
  using Matrix = typename Types::Matrix;

  CrsMatrix A;
  Matrix LU;  // in the order of colours
  Colouring<Memory> colouring;

  /// @param matrix   has a symmetric pattern
  /// @param positive refuse pivots that are not positive
  /// @throws IndefiniteError, FactorizationError
  /// Cost: a copy of the matrix, and a launch in which a thread has a row of
  /// the second colour. Waits for `exec`.
  TwoColourFactor(const ExecutionSpace& exec, const CrsMatrix& matrix,
                  const Colouring<Memory>& colours, bool positive)
      : A(matrix),
        LU(permute_symmetric(exec, matrix, colours.permutation)),
        colouring(colours) {
    const auto n = static_cast<std::int64_t>(A.numRows());
    Kokkos::parallel_for("Strata::TwoColourFactor::eliminate",
                         Rows(exec, first_rows(), n),
                         EliminateFirstColour<Matrix>{rows()});
    const std::int64_t first =
        find_first("Strata::TwoColourFactor::check", exec, 0, n,
                   FindBadPivotOfColours<Matrix>{
                       rows(), colouring.permutation.old_row, positive});
    if (first == no_fault) return;
    if (positive) raise_bad_pivot(first);
    throw FactorizationError(
        "A",
        "the pivot of row " + std::to_string(first) +
            " becomes zero or not finite",
        "look for values that are not finite, or shift the diagonal", first);
  }

  std::int64_t first_rows() const {
    return colouring.num_colours() > 0 ? colouring.colour_map[1] : 0;
  }
  TwoColourRows<Matrix> rows() const { return {LU, first_rows()}; }
};

}  // namespace Detail
}  // namespace Strata

#endif
