// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GAUSS_JORDAN_HPP
#define STRATA_GAUSS_JORDAN_HPP

#include <Strata_GaussJordanOptions.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/matrix/SharedElements.hpp>
#include <memory>

namespace Strata {

namespace Detail {
template <class Scalar, class ExecutionSpace>
class GaussJordanState;
}  // namespace Detail

/// Gauss-Jordan elimination of dense matrices with partial pivoting: reduced
/// row echelon form, solution of linear systems, inverse.
///
/// After E. Eyvazov, "Gauss-Jordan Solver of Linear Equation Systems on GPU"
/// (Czech Technical University in Prague, 2021): stripes and tiles (II, IK, JI,
/// JK) of Carcenac's algorithm, a sweep down to the row echelon form and a
/// sweep up to the reduced one, with the pivoting that it leaves open.
/// docs/algorithms/gauss_jordan.md has design, costs and measurements.
///
/// An object keeps its workspace from call to call and enlarges it when
/// needed, so its calls must not overlap in time. Matrices are views of rank 2
/// of any layout; an argument is written last, after all errors that there can
/// be, so it may also be an input.
///
/// @tparam Scalar float, double, Kokkos::complex of either
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class GaussJordan {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;

  /// @throws OptionError
  explicit GaussJordan(const GaussJordanOptions& options = {})
      : options_(options) {
    Detail::expect_compiled<GaussJordan, Scalar, ExecutionSpace>();
    check_options();
  }

  /// Brings A, m x n, to its reduced row echelon form, in place.
  ///
  /// Entries that elimination leaves at or below the tolerance in a column
  /// without pivot are taken to be zero. A pivot is the largest entry of its
  /// column in the rows that are left. In columns of right-hand sides
  /// (`pivot_columns`) the rows below the rank keep what elimination left: not
  /// zero where a system has no solution.
  ///
  /// @throws NotFiniteError, FactorizationError (an overflow during the
  ///   elimination), OptionError, IndexOverflowError, AliasError for strides
  ///   that lead to one element twice, MemoryError
  /// Cost, r being the rank: r^2 (n - r/3) + ... operations downwards, half a
  /// gemm of r x r by r x (n - r) upwards. Twice the first where a column
  /// before the r-th has no pivot, which is noticed during the sweep. Workspace
  /// m x n, and r x n more in that case. Waits for exec.
  template <class Matrix>
  RowEchelonForm reduce(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (!Detail::ExpectWritableDense<Scalar, ExecutionSpace,
                                               Matrix>::value) {
      return RowEchelonForm();
    } else {
      return reduce_strided(exec, Detail::strided_block(A));
    }
  }

  /// Solves A X = B.
  ///
  /// @param A n x n
  /// @param b n, or n x k: k right-hand sides
  /// @param x as b; may be b
  /// @throws NotSquareError, SizeMismatchError, AliasError, NotFiniteError,
  ///   SingularError (naming the column), FactorizationError, MemoryError
  /// Cost: 2/3 n^3 + 2 n^2 k operations, workspace n x (n + k). Waits for exec.
  template <class Matrix, class B, class X>
  void solve(const ExecutionSpace& exec, const Matrix& A, const B& b,
             const X& x) {
    if constexpr ((Detail::ExpectDense<Scalar, ExecutionSpace, Matrix>::value &&
                   Detail::ExpectVectors<Scalar, ExecutionSpace, B,
                                         X>::value)) {
      solve_strided(exec, Detail::strided_block(A), Detail::strided_block(b),
                    Detail::strided_block(x));
    }
  }

  /// X = A^-1, n x n; X may be A.
  ///
  /// @throws NotSquareError, SizeMismatchError, AliasError, NotFiniteError,
  ///   SingularError (naming the column), FactorizationError, MemoryError
  /// Cost: 2 n^3 operations: the identity beside A comes into play stripe by
  /// stripe, on a host with LAPACK block by block of L's rows. Workspace n x
  /// 2n. Waits for exec.
  template <class Matrix, class Inverse>
  void invert(const ExecutionSpace& exec, const Matrix& A, const Inverse& X) {
    if constexpr ((Detail::ExpectDense<Scalar, ExecutionSpace, Matrix>::value &&
                   Detail::ExpectWritableDense<Scalar, ExecutionSpace,
                                               Inverse>::value)) {
      invert_strided(exec, Detail::strided_block(A), Detail::strided_block(X));
    }
  }

  /// Bytes of device memory that the object holds.
  std::size_t workspace_bytes() const;

 private:
  // In GaussJordanImplementation.hpp.
  using State = Detail::GaussJordanState<Scalar, ExecutionSpace>;
  void check_options() const;
  State& workspace();
  RowEchelonForm reduce_strided(const ExecutionSpace& exec,
                                const Detail::StridedBlock& A);
  void solve_strided(const ExecutionSpace& exec, const Detail::StridedBlock& A,
                     const Detail::StridedBlock& b,
                     const Detail::StridedBlock& x);
  void invert_strided(const ExecutionSpace& exec, const Detail::StridedBlock& A,
                      const Detail::StridedBlock& X);

  GaussJordanOptions options_;
  /// Made when it is needed: an object that was moved from has none.
  std::unique_ptr<State, void (*)(State*)> state_{nullptr, nullptr};
};

/// GaussJordan::reduce with a workspace of its own.
template <class ExecutionSpace, class Matrix>
RowEchelonForm reduced_row_echelon_form(
    const ExecutionSpace& exec, const Matrix& A,
    const GaussJordanOptions& options = {}) {
  return GaussJordan<typename Detail::ScalarOf<Matrix>::type, ExecutionSpace>(
             options)
      .reduce(exec, A);
}

/// GaussJordan::solve with a workspace of its own.
template <class ExecutionSpace, class Matrix, class B, class X>
void gauss_jordan_solve(const ExecutionSpace& exec, const Matrix& A, const B& b,
                        const X& x, const GaussJordanOptions& options = {}) {
  GaussJordan<typename Detail::ScalarOf<Matrix>::type, ExecutionSpace>(options)
      .solve(exec, A, b, x);
}

/// GaussJordan::invert with a workspace of its own.
template <class ExecutionSpace, class Matrix, class Inverse>
void gauss_jordan_inverse(const ExecutionSpace& exec, const Matrix& A,
                          const Inverse& X,
                          const GaussJordanOptions& options = {}) {
  GaussJordan<typename Detail::ScalarOf<Matrix>::type, ExecutionSpace>(options)
      .invert(exec, A, X);
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/dense/GaussJordanImplementation.hpp>
#endif

#endif
