// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PRECONDITIONER_HPP
#define STRATA_PRECONDITIONER_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_TriangularSolver.hpp>
#include <detail/Strata_PositiveDiagonal.hpp>

namespace Strata {

/// M = I.
struct NoPreconditioner {};

/// M = the diagonal of A.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class JacobiPreconditioner {
 public:
  using memory_space = typename ExecutionSpace::memory_space;

  /// From a square KokkosSparse::CrsMatrix; entries named twice add up.
  /// @throws NotSquareError, RowMapError, ColumnRangeError,
  ///   MissingDiagonalError, and IndefiniteError where the diagonal is not real
  ///   and positive, or its reciprocal not finite
  /// Cost: one pass over the matrix. Waits for `exec`.
  template <class Matrix, class = typename Matrix::staticcrsgraph_type>
  JacobiPreconditioner(const ExecutionSpace& exec, const Matrix& A) {
    update_values(exec, A);
  }
  /// The same again for other values (or another matrix): an exception leaves
  /// the old ones.
  template <class Matrix, class = typename Matrix::staticcrsgraph_type>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    inverse_diagonal_ = Detail::positive_diagonal_inverse<Scalar>(exec, A);
  }

  std::int64_t rows() const {
    return static_cast<std::int64_t>(inverse_diagonal_.extent(0));
  }
  const Kokkos::View<Detail::RealOf<Scalar>*, memory_space>& inverse_diagonal()
      const {
    return inverse_diagonal_;
  }

 private:
  Kokkos::View<Detail::RealOf<Scalar>*, memory_space> inverse_diagonal_;
};

template <class ExecutionSpace, class Matrix,
          class = typename Matrix::staticcrsgraph_type>
JacobiPreconditioner(const ExecutionSpace&, const Matrix&)
    -> JacobiPreconditioner<typename Matrix::non_const_value_type,
                            ExecutionSpace>;

/// Which factorisation IncompletePreconditioner makes.
enum class Factorization {
  /// A must be Hermitian and all pivots positive, or the constructor throws.
  incomplete_cholesky,
  /// Any matrix that incomplete_lu takes. On a Hermitian matrix the product of
  /// the factors is that of incomplete Cholesky; whether it is positive
  /// definite shows in the solve.
  incomplete_lu
};

/// M = L U, incomplete factors of A without fill, through TriangularSolver. On
/// a Hermitian matrix U = D L^H, which makes L U the incomplete Cholesky
/// factorisation L D L^H.
///
/// apply() takes two triangular solves: the chain of dependencies of each
/// factor costs its length whatever the bandwidth, see docs/spmv_and_cg.md.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class IncompletePreconditioner {
 public:
  /// From a square KokkosSparse::CrsMatrix with sorted rows.
  /// @throws what incomplete_lu() throws; for incomplete_cholesky,
  ///   NotHermitianError (entries and their mirror images differ by more than
  ///   64 roundings) and IndefiniteError (a pivot is not real and positive)
  /// Cost: incomplete_lu() and the analysis of two triangles. Waits for `exec`.
  template <class Matrix, class = typename Matrix::staticcrsgraph_type>
  IncompletePreconditioner(
      const ExecutionSpace& exec, const Matrix& A,
      Factorization kind = Factorization::incomplete_cholesky,
      const TriangularOptions& options = {})
      : kind_(kind), rows_(static_cast<std::int64_t>(A.numRows())) {
    const auto factors = factorise(exec, A);
    lower_ = std::make_shared<Solver>(exec, factors.L, Uplo::lower, Diag::unit,
                                      options);
    upper_ = std::make_shared<Solver>(exec, factors.U, Uplo::upper,
                                      Diag::non_unit, options);
  }
  /// New values on the same pattern: factorises again, without analysis.
  /// @throws as the constructor, and PatternMismatchError
  template <class Matrix, class = typename Matrix::staticcrsgraph_type>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    if (static_cast<std::int64_t>(A.numRows()) != rows_)
      throw PatternMismatchError("A",
                                 "has " + std::to_string(A.numRows()) +
                                     " rows, not " + std::to_string(rows_),
                                 "make a new preconditioner");
    const auto factors = factorise(exec, A);
    lower_->update_values(exec, factors.L);
    upper_->update_values(exec, factors.U);
    // The factors are freed here.
    exec.fence();
  }

  /// z = U^-1 L^-1 r. Asynchronous on `exec`.
  template <class R, class Z>
  void apply(const ExecutionSpace& exec, const R& r, const Z& z) const {
    lower_->solve(exec, r, z);
    upper_->solve(exec, z, z);
  }

  std::int64_t rows() const { return rows_; }
  const TriangularReport& lower_report() const { return lower_->report(); }
  const TriangularReport& upper_report() const { return upper_->report(); }

 private:
  using Solver = TriangularSolver<Scalar, ExecutionSpace>;

  template <class Matrix>
  IncompleteLu<Matrix> factorise(const ExecutionSpace& exec,
                                 const Matrix& A) const {
    // Checks the pattern first.
    auto factors = incomplete_lu(exec, A);
    if (kind_ == Factorization::incomplete_cholesky) {
      Detail::require_hermitian(exec, A);
      Detail::require_positive_pivots(exec, factors.U);
    }
    return factors;
  }

  Factorization kind_;
  std::int64_t rows_;
  std::shared_ptr<Solver> lower_, upper_;
};

template <class ExecutionSpace, class Matrix,
          class = typename Matrix::staticcrsgraph_type>
IncompletePreconditioner(const ExecutionSpace&, const Matrix&,
                         Factorization = Factorization::incomplete_cholesky,
                         const TriangularOptions& = {})
    -> IncompletePreconditioner<typename Matrix::non_const_value_type,
                                ExecutionSpace>;

}  // namespace Strata

#endif
