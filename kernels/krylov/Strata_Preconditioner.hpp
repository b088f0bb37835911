// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PRECONDITIONER_HPP
#define STRATA_PRECONDITIONER_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_IncompleteFactorizationOptions.hpp>
#include <Strata_PreconditionerReport.hpp>
#include <Strata_TriangularOptions.hpp>
#include <Strata_TriangularReport.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Enumerators.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/SharedElements.hpp>
#include <core/scalar/RealPart.hpp>
#include <memory>
#include <optional>

namespace Strata {

namespace Detail {
template <class Scalar, class ExecutionSpace>
class TwoColourBlocks;
template <class Scalar, class ExecutionSpace>
class IncompletePreconditionerState;
}  // namespace Detail

/// M = I.
struct NoPreconditioner {};

/// M = the diagonal of A.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class JacobiPreconditioner {
 public:
  using memory_space = typename ExecutionSpace::memory_space;

  /// For no rows, until update_values() or an assignment gives it some.
  JacobiPreconditioner() = default;
  // To move is to copy: a view that was moved from would name freed memory.
  JacobiPreconditioner(const JacobiPreconditioner&) = default;
  JacobiPreconditioner& operator=(const JacobiPreconditioner&) = default;
  ~JacobiPreconditioner() = default;

  /// From a square KokkosSparse::CrsMatrix; entries named twice add up.
  /// @throws NotSquareError, RowMapError, ColumnRangeError,
  ///   MissingDiagonalError, MemoryError, and IndefiniteError where the
  ///   diagonal is not real and positive, or its reciprocal not finite
  /// Cost: one pass over the matrix. Waits for `exec`.
  template <class Matrix>
  JacobiPreconditioner(const ExecutionSpace& exec, const Matrix& A) {
    update_values(exec, A);
  }
  /// The same again for other values (or another matrix): an exception leaves
  /// the old ones.
  template <class Matrix>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (Detail::ExpectMatrix<Scalar, ExecutionSpace, Matrix>::value) {
      using Expect =
          Detail::ExpectCompiled<JacobiPreconditioner, Scalar, ExecutionSpace>;
      static_assert(Expect::value, "");
      take_diagonal(exec, Detail::crs_arrays(A));
    }
  }

  std::int64_t rows() const {
    return static_cast<std::int64_t>(inverse_diagonal_.extent(0));
  }
  const Kokkos::View<Detail::RealOf<Scalar>*, memory_space>& inverse_diagonal()
      const {
    return inverse_diagonal_;
  }

 private:
  // In JacobiPreconditionerImplementation.hpp.
  void take_diagonal(const ExecutionSpace& exec,
                     const Detail::CrsArrays<Scalar>& A);

  Kokkos::View<Detail::RealOf<Scalar>*, memory_space> inverse_diagonal_;
};

template <class ExecutionSpace, class Matrix>
JacobiPreconditioner(const ExecutionSpace&, const Matrix&)
    -> JacobiPreconditioner<typename Detail::ScalarOf<Matrix>::type,
                            ExecutionSpace>;

/// M = L U, incomplete factors of A without fill. On a Hermitian matrix
/// U = D L^H, which makes L U the incomplete Cholesky factorisation L D L^H.
/// In the natural order it is an IncompleteFactorization. In the coloured order
/// it has the two blocks beside the diagonals of two colours, each of which an
/// application multiplies with once; conjugate gradients take their steps in
/// the Schur complement that the blocks make. Vectors stay in the order given.
/// Solves with one object must not overlap in time.
///
/// Times and iterations of the orders: docs/algorithms/sell_and_cg.md. For
/// fill, replaced pivots, factors in float, several right-hand sides and
/// updates that do not wait, use IncompleteFactorization.
///
/// One made without arguments is empty, as one that was moved from: for
/// members, which are assigned one that is made. Every other use is a
/// HandleError.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class IncompletePreconditioner {
 public:
  /// An empty one.
  IncompletePreconditioner() = default;

  /// From a square KokkosSparse::CrsMatrix with sorted rows.
  /// @param options of the triangular solvers of the natural order: with
  ///   FactorOrder::automatic, others than the defaults ask for that order
  /// @param symmetry_tolerance  see IncompleteFactorizationOptions; it holds
  ///   for the coloured order of incomplete LU, too
  /// @throws OptionError for a `kind`, an order and options that there are not,
  ///   for an `op` other than none, for `enqueue_updates`, which an
  ///   IncompleteFactorization has, for options other than the defaults with
  ///   the coloured order, whose solves have none, and for the coloured order
  ///   of rows that have more than two colours;
  ///   what incomplete_lu() throws; for incomplete_cholesky and the
  ///   coloured order, NotHermitianError; for incomplete_cholesky,
  ///   IndefiniteError (a pivot is not real and positive); MemoryError
  /// Rows that errors name are those of A.
  /// Cost: natural, incomplete_lu() and the analysis of two triangles;
  /// coloured, colour_rows() and some copies of the matrix; automatic,
  /// colour_rows() on a device, and the order that it chooses. Waits for
  /// `exec`.
  template <class Matrix>
  IncompletePreconditioner(const ExecutionSpace& exec, const Matrix& A,
                           Factorization kind,
                           const TriangularOptions& options = {},
                           FactorOrder order = FactorOrder::automatic,
                           std::optional<double> symmetry_tolerance = {}) {
    if constexpr (Detail::ExpectMatrix<Scalar, ExecutionSpace, Matrix>::value) {
      expect_compiled();
      make(exec, Detail::crs_arrays(A), kind, options, order,
           symmetry_tolerance);
    }
  }
  /// New values on the same pattern, for all copies: factorises again, without
  /// analysis unless the natural order's solvers can't take the values as they
  /// are planned. For that the natural order keeps what an
  /// IncompleteFactorization does.
  /// @throws as the constructor, PatternMismatchError and HandleError. The old
  ///   values stay, see IncompleteFactorization::update_values
  template <class Matrix>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (Detail::ExpectMatrix<Scalar, ExecutionSpace, Matrix>::value) {
      expect_compiled();
      update(exec, Detail::crs_arrays(A));
    }
  }

  /// z = U^-1 L^-1 r for vectors of rank 1, which may be the same. Asynchronous
  /// on `exec`. @throws HandleError
  template <class R, class Z>
  void apply(const ExecutionSpace& exec, const R& r, const Z& z) const {
    if constexpr (Detail::ExpectVectors<Scalar, ExecutionSpace, R, Z>::value) {
      expect_compiled();
      apply_strided(exec, Detail::strided_block(r), Detail::strided_block(z));
    }
  }

  /// These four: @throws HandleError
  std::int64_t rows() const;
  /// Which order it is, and why.
  const PreconditionerReport& report() const;
  /// natural or coloured.
  FactorOrder order() const;
  /// Colours of the coloured order; 0 in the natural one.
  int colours() const;
  /// Of the natural order. @throws Error in the coloured one, HandleError
  const TriangularReport& lower_report() const;
  const TriangularReport& upper_report() const;

 private:
  friend struct Detail::Internals;
  using State = Detail::IncompletePreconditionerState<Scalar, ExecutionSpace>;

  static void expect_compiled() {
    using Expect = Detail::ExpectCompiled<IncompletePreconditioner, Scalar,
                                          ExecutionSpace>;
    static_assert(Expect::value, "");
  }

  // In IncompletePreconditionerImplementation.hpp.
  const State& made_state() const;
  void make(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
            Factorization kind, const TriangularOptions& options,
            FactorOrder order, std::optional<double> symmetry_tolerance);
  void update(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A);
  void apply_strided(const ExecutionSpace& exec, const Detail::StridedBlock& r,
                     const Detail::StridedBlock& z) const;
  const Detail::TwoColourBlocks<Scalar, ExecutionSpace>* reduced() const;

  std::shared_ptr<State> state_;
};

template <class ExecutionSpace, class Matrix>
IncompletePreconditioner(const ExecutionSpace&, const Matrix&, Factorization,
                         const TriangularOptions& = {},
                         FactorOrder = FactorOrder::automatic,
                         std::optional<double> = {})
    -> IncompletePreconditioner<typename Detail::ScalarOf<Matrix>::type,
                                ExecutionSpace>;

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/krylov/preconditioner/IncompletePreconditionerImplementation.hpp>
#include <kernels/krylov/preconditioner/JacobiPreconditionerImplementation.hpp>
#endif

#endif
