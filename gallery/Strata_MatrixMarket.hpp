// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_MATRIX_MARKET_HPP
#define STRATA_MATRIX_MARKET_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <core/interface/Compiled.hpp>
#include <core/matrix/NewMatrix.hpp>
#include <string>

namespace Strata {

namespace Detail {

/// For expect_compiled.
struct MatrixMarketReader;

/// See read_matrix_market. In gallery/MatrixMarketImplementation.hpp.
template <class ExecutionSpace, class Scalar>
void make_market_matrix(const std::string& path, NewMatrix<Scalar>& made);

}  // namespace Detail

/// Reads a square matrix from a Matrix Market coordinate file, gzip'd or not,
/// into the memory of CrsMatrix.
///
/// Fields: real and integer into any scalar, complex into complex ones, pattern
/// (every value is one). Symmetric, skew-symmetric and hermitian files become
/// whole matrices. Rows come sorted; explicit zeros stay; an entry that a
/// general file names twice stays twice, for the check of the matrix to find.
/// Numbers are read as double (integers as 64-bit integers), then rounded.
///
/// Whatever is wrong with the file raises FileError with the line at fault, and
/// index types too narrow for it raise IndexOverflowError. So do sizes that the
/// file can't hold, or that take more memory than there is, before any is
/// taken; above 16,777,216 rows there has to be an entry for every 1,000 of
/// them. MemoryError tells of less memory than the system has said that there
/// is. Cost: one pass over the text and a sort of the entries on the host,
/// which takes 24 or, for complex<double>, 32 bytes per entry until the matrix
/// is made.
template <class CrsMatrix>
CrsMatrix read_matrix_market(const std::string& path) {
  static_assert(Detail::owns_its_memory<CrsMatrix>,
                "Strata: a matrix that is made is not const-valued and has no "
                "memory traits: name CrsMatrix<Scalar, Ordinal, Device, void, "
                "Offset>");
  using ExecutionSpace = typename CrsMatrix::execution_space;
  Detail::expect_compiled<Detail::MatrixMarketReader,
                          typename Detail::MatrixTypes<CrsMatrix>::Scalar,
                          ExecutionSpace>();
  Detail::NewCrsMatrix<CrsMatrix> made;
  Detail::make_market_matrix<ExecutionSpace>(path, made);
  return made.matrix("Strata::matrix_market");
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <gallery/MatrixMarketImplementation.hpp>
#endif

#endif
