// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TRIANGLE_HPP
#define STRATA_TRIANGLE_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_Types.hpp>
#include <core/interface/Compiled.hpp>
#include <core/matrix/NewMatrix.hpp>

namespace Strata {

/// What take_triangle() does with a row that stores no diagonal entry: nothing,
/// add a one, or add one plus the sum of the magnitudes of the row's entries in
/// the triangle (which keeps the solution of a system bounded).
enum class MissingDiagonal { leave, one, dominant };

namespace Detail {

template <>
struct EnumeratorNames<MissingDiagonal> {
  static constexpr const char* list[] = {"leave", "one", "dominant"};
};

/// For expect_compiled.
struct TakeTriangle;

/// See take_triangle. In core/matrix/TriangleImplementation.hpp.
template <class Scalar, class ExecutionSpace>
void make_triangle(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                   Uplo uplo, MissingDiagonal missing, NewMatrix<Scalar>& made);

}  // namespace Detail

/// The lower or upper triangle of a square matrix, diagonal included, as a
/// matrix of its own in the same memory space; A may be const-valued or
/// unmanaged, the triangle is neither. A's order within a row is kept, an
/// added diagonal entry is the last of a lower row and the first of an upper
/// one. Works on `exec` and returns when the triangle is complete.
///
/// @throws NotSquareError, SizeMismatchError, RowMapError, ColumnRangeError,
///   OptionError for an `uplo` or `missing` that there is not, MemoryError
/// Cost: four passes over the entries of A, one of which checks them.
template <class CrsMatrix>
OwningCrsMatrix<CrsMatrix> take_triangle(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    Uplo uplo, MissingDiagonal missing = MissingDiagonal::leave) {
  using Scalar = typename Detail::MatrixTypes<CrsMatrix>::Scalar;
  Detail::expect_compiled<Detail::TakeTriangle, Scalar,
                          typename CrsMatrix::execution_space>();
  Detail::NewCrsMatrix<CrsMatrix> made;
  Detail::make_triangle(exec, Detail::crs_arrays(A), uplo, missing, made);
  return made.matrix("Strata::triangle");
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <core/matrix/TriangleImplementation.hpp>
#endif

#endif
