// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_INCOMPLETE_FACTORIZATION_HPP
#define STRATA_INCOMPLETE_FACTORIZATION_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_FactorTransformation.hpp>
#include <Strata_IncompleteFactorizationOptions.hpp>
#include <Strata_Types.hpp>
#include <Strata_UpdateStatus.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/NewMatrix.hpp>
#include <core/matrix/SharedElements.hpp>
#include <memory>
#include <type_traits>
#include <utility>

namespace Strata {

namespace Detail {
template <class Scalar, class ExecutionSpace>
class FactorSolves;
template <class Scalar, class ExecutionSpace>
class IncompleteFactorizationState;
template <class Scalar, class ExecutionSpace>
class ColouredFactors;
template <class Scalar, class ExecutionSpace>
class TwoColourBlocks;
}  // namespace Detail

/// Incomplete factors L U of a matrix A, ILU(k), IC(k) or L D L^H, and the
/// solves with both: analysed once for a pattern, factorised again for new
/// values on it. Without the option `fill_level` or a given pattern there is no
/// fill: k is 0.
///
/// L has ones on its diagonal. For incomplete Cholesky, U = D L^H with the
/// positive pivots D, so that L U is L D L^H: factors of the Hermitian matrix
/// that has A's upper triangle. The same holds for incomplete_ldlh, where D is
/// real up to rounding and has any signs; for incomplete_ldlt U = D L^T. L and
/// U are both computed, at the cost of incomplete LU. Elimination and its error
/// bound are those of incomplete_lu(), the solves those of TriangularSolver.
/// With FactorOrder::coloured, rows are eliminated in the order of two colours
/// instead, and solves multiply with the two blocks beside the diagonals;
/// conjugate gradients take their steps in the Schur complement that the blocks
/// make.
///
/// With the options `order` and `scaling`, or a FactorTransformation, Pr Dr A
/// Dc Pc takes A's place in what follows. Vectors stay in the order given.
///
/// Copies share factors, plans and workspace. Calls of apply that share a
/// workspace must not overlap in time; give each stream that works at the same
/// time an object that share_plan returns.
///
/// One made without arguments is empty, as one that was moved from: for
/// members, which are assigned one that is made. Every other use is a
/// HandleError.
///
/// @tparam Scalar float, double, Kokkos::complex of either
/// @tparam ExecutionSpace where A, b and x are accessible and solves run
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class IncompleteFactorization {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;
  using Transformation = FactorTransformation<Scalar, ExecutionSpace>;
  /// What lower() and upper() return unless they are told another type.
  using matrix_type = KokkosSparse::CrsMatrix<
      Scalar, int, Kokkos::Device<ExecutionSpace, memory_space>, void, int>;

  using StatusView = Kokkos::View<const UpdateStatus, memory_space>;

  /// An empty one.
  IncompleteFactorization() = default;

  /// From a square KokkosSparse::CrsMatrix with sorted rows and a complete
  /// diagonal, non-zero unless small pivots are replaced. A is not referred to
  /// afterwards.
  /// @throws OptionError for a `kind` or an `order` that there is not, the
  ///   coloured order of rows that have more than two colours or with options
  ///   that it does not have, a shift that is negative or that the real type
  ///   can't hold, a `symmetry_tolerance` that is negative or that incomplete
  ///   LU does not use, a `small_pivot_threshold` outside of 0 to 1 or that the
  ///   real type rounds to 0, a negative `fill_level`, `enqueue_updates` with
  ///   FactorPrecision::single, FactorPrecision::single in a program without
  ///   triangular solvers of float, an `order` whose library Strata was built
  ///   without, FactorScaling::matching of symmetric factors, and for
  ///   triangular options that no solver honours; for a matching SingularError
  ///   and NotFiniteError; what incomplete_lu() throws, with fill
  ///   incomplete_pattern(), too; what TriangularSolver's constructor throws of
  ///   options and memory; PrecisionError with FactorPrecision::single (a
  ///   factor's entry is beyond the range of float);
  ///   for symmetric factors and the coloured order, NotHermitianError (see
  ///   the option `symmetry_tolerance`); for incomplete_cholesky,
  ///   IndefiniteError (a pivot is not real and positive), whose row() is the
  ///   first of A; MemoryError
  /// Cost: with fill, incomplete_pattern(); for incomplete Cholesky, a binary
  /// search for each entry of A, up to four if its triangles do not agree
  /// exactly; incomplete_lu() and the analysis of two triangles, of four with
  /// `transpose`; in the coloured order, colour_rows() and some copies of the
  /// matrix; for permutations and scalings, see FactorOrder and FactorScaling.
  /// Memory: these and a permuted matrix (see the report), both factors, on a
  /// host or with `enqueue_updates` with their values twice, what the
  /// elimination keeps (see the report), and the plans; meanwhile what
  /// incomplete_lu() takes; with a shift, A's values again while it is
  /// factorised. Waits for `exec`.
  template <class Matrix>
  IncompleteFactorization(const ExecutionSpace& exec, const Matrix& A,
                          Factorization kind,
                          const IncompleteFactorizationOptions& options = {})
      : IncompleteFactorization(exec, A, kind, Transformation(), options) {}
  /// The same with permutations and scalings of the caller, which options must
  /// not ask for, too. The matrix that they make must have a complete diagonal.
  /// @throws SizeMismatchError, PermutationError, NotFiniteError,
  ///   ZeroDiagonalError, all as FactorSolver; OptionError for symmetric
  ///   factors, unless rows and columns are permuted and scaled alike (complex
  ///   scalings conjugated, but for incomplete_ldlt)
  template <class Matrix>
  IncompleteFactorization(const ExecutionSpace& exec, const Matrix& A,
                          Factorization kind,
                          const Transformation& transformation,
                          const IncompleteFactorizationOptions& options = {}) {
    if constexpr (Expect::template matrix<Matrix>) {
      analyse(exec, Detail::crs_arrays(A), kind, transformation, options);
    }
  }

  /// The same with the fill of a given pattern in place of a level of fill.
  /// With the pattern of a complete elimination, which a symbolic factorisation
  /// finds (SuperLU, KLU, CHOLMOD, cuDSS), L U is A up to rounding: the
  /// refactorisation of Newton's, interior-point and circuit simulation
  /// methods, without row exchanges. Any other pattern that contains A's gives
  /// the incomplete factors with (L U)_ij = a_ij on it (see ilut_pattern()).
  ///
  /// @param pattern  the graph of a KokkosSparse::CrsMatrix, or any object with
  ///   views `row_map` and `entries`. Its rows and columns are in the order in
  ///   which elimination proceeds: of a permuted matrix, in that of the
  ///   permuted one. Rows are sorted, and contain those of A and the diagonal.
  ///   For symmetric factors, that of L + L^T. Not referred to afterwards.
  /// For incomplete LU, A need not store its diagonal. A stored diagonal entry
  /// may be zero. The report has growth and the smallest pivot; an
  /// update_values finds them, too, in four passes over A and the factors.
  /// @throws what the other constructor throws; RowMapError, ColumnRangeError,
  ///   UnsortedRowError, DuplicateEntryError, MissingDiagonalError and
  ///   PatternMismatchError of `pattern` (it lacks an entry of A, or for
  ///   symmetric factors a mirror image), with its first row at fault;
  ///   SizeMismatchError; OptionError with `fill_level`, any order but natural
  ///   and automatic, or a matching
  /// Cost: a search for each entry of A in place of incomplete_pattern().
  template <class Matrix, class Pattern,
            class = decltype(std::declval<const Pattern&>().row_map),
            class = decltype(std::declval<const Pattern&>().entries)>
  IncompleteFactorization(const ExecutionSpace& exec, const Matrix& A,
                          Factorization kind, const Pattern& pattern,
                          const IncompleteFactorizationOptions& options = {})
      : IncompleteFactorization(exec, A, kind, pattern, Transformation(),
                                options) {}
  /// The same with the permutations and scalings that go with the pattern, as
  /// other programs' symbolic factorisations have them.
  template <class Matrix, class Pattern,
            class = decltype(std::declval<const Pattern&>().row_map),
            class = decltype(std::declval<const Pattern&>().entries)>
  IncompleteFactorization(const ExecutionSpace& exec, const Matrix& A,
                          Factorization kind, const Pattern& pattern,
                          const Transformation& transformation,
                          const IncompleteFactorizationOptions& options = {}) {
    if constexpr (Expect::template matrix<Matrix> &&
                  Expect::template matrix_views<
                      std::decay_t<decltype(pattern.row_map)>,
                      std::decay_t<decltype(pattern.entries)>,
                      typename Matrix::values_type>) {
      Detail::CrsArrays<Scalar> given;
      given.row_map = pattern.row_map;
      given.entries = pattern.entries;
      given.num_values = given.entries.extent(0);
      given.columns = given.rows();
      analyse(exec, Detail::crs_arrays(A), kind, transformation, options,
              &given);
    }
  }

  /// Factorises other values on the same pattern, that of the constructor's A
  /// without fill, for all copies. There is no analysis unless triangular
  /// solvers can't take the values as they are planned (ScalingError of
  /// TriangularSolver), which makes new solvers. Waits for `exec`.
  /// @throws PatternMismatchError, HandleError, and what the constructor throws
  ///   of values and memory. Matrix and values are checked, and the factors
  ///   computed beside those in use, before a solver takes anything. After an
  ///   exception the old factors stay: apply gives the same bits as before.
  ///   Where some solvers had taken new values, they get the old ones back;
  ///   where memory or a launch fails in that, too, the next apply does it
  ///   first, and throws MemoryError while it can't
  /// Cost: four passes over A for the checks, the elimination, the new values
  /// of each solver, and a copy of the factors' values; two passes more if A is
  /// permuted or scaled. A CUDA graph that recorded an apply must be recorded
  /// again, unless the option `enqueue_updates` is set: no new solvers are made
  /// then.
  template <class Matrix>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (Expect::template matrix<Matrix>) {
      update(exec, Detail::crs_arrays(A));
    }
  }

  /// Factorises other values on the same pattern like update_values, but the
  /// host does not wait, and nothing is allocated: for objects made with the
  /// option `enqueue_updates`. A CUDA graph may record it, along with what
  /// computes the values and with calls of apply, and stays valid over values
  /// of every kind.
  ///
  /// update_status() says, once this is done, whether the factors are in use.
  /// Where they are not, calls of apply that are enqueued after this give NaN
  /// in every row, with every op, until a later update has good values; lower()
  /// and upper() have the last good ones. No new solvers are made: for values
  /// that the plans can't take, solves use second plans without merged level
  /// sets. report() stays: it does not have the pivots that this replaces.
  ///
  /// @param A  the caller vouches for its pattern. Nothing but later work on
  ///   `exec` may change or free its values before a fence; its pattern is not
  ///   looked at
  /// @throws HandleError, OptionError without that option, PatternMismatchError
  ///   for other numbers of rows or entries, before anything is enqueued
  /// Cost: some launches; two passes over A for the checks, the elimination,
  /// the new values of each solver, and a copy of the factors' values.
  template <class Matrix,
            std::enable_if_t<Detail::IsCrsMatrix<Matrix>::value, int> = 0>
  void enqueue_update_values(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (Expect::template matrix<Matrix>) {
      enqueue_update(exec, Detail::crs_arrays(A), true);
    }
  }
  /// The same from the values alone (rank 1, in the order of A).
  /// @throws SizeMismatchError for another number of values
  template <class Values,
            std::enable_if_t<!Detail::IsCrsMatrix<Values>::value, int> = 0>
  void enqueue_update_values(const ExecutionSpace& exec, const Values& values) {
    if constexpr (Expect::template values<Values>) {
      Detail::CrsArrays<Scalar> A;
      A.values = values.data();
      A.num_values = values.extent(0);
      enqueue_update(exec, A, false);
    }
  }
  /// What the last update of values has found, in device memory: valid once its
  /// work is done. An exception of update_values changes nothing there. One of
  /// enqueue_update_values that comes after it has begun to enqueue (a launch
  /// that fails) leaves a status that is of no use until the next update.
  /// @throws HandleError, OptionError without the option `enqueue_updates`
  StatusView update_status() const;

  /// x = U^-1 L^-1 b, or with op, x = op(L U)^-1 b. Asynchronous on `exec`: no
  /// allocation, no transfer and no wait, as TriangularSolver::solve. Two
  /// solves; for conjugate_transpose and complex scalars also two passes over
  /// vectors, which conjugate b and the solution; with FactorPrecision::single
  /// three passes over vectors instead. More right-hand sides than the
  /// workspace has vectors for (max_right_hand_sides) are solved in batches,
  /// unless both solvers take any number at once. In the coloured order, two
  /// products with blocks of the factors per right-hand side.
  ///
  /// @param b n, or n x k: k right-hand sides; any layout
  /// @param x as b; may be b itself
  /// @param op other than none where the option `transpose` was set
  /// @throws SizeMismatchError, AliasError, OptionError, HandleError before
  ///   anything is enqueued; MemoryError after an update that failed (see
  ///   there)
  template <class B, class X>
  void apply(const ExecutionSpace& exec, const B& b, const X& x,
             Op op = Op::none) const {
    if constexpr (Expect::template vectors<B, X>) {
      solve_strided(exec, Detail::strided_block(b), Detail::strided_block(x),
                    op);
    }
  }

  /// An object with these factors and plans, and workspaces of its own, so that
  /// calls of apply of both may overlap in time. They have the same bits. An
  /// update_values of either is for both, and must not overlap in time with an
  /// apply of either: see TriangularSolver::share_plan.
  /// May be called from several threads at the same time, and beside apply.
  /// @throws HandleError, MemoryError, OptionError in the coloured order
  /// Cost: a few launches. Memory: workspace_bytes of report(), and those of
  /// each triangular solver in it. Waits for `exec`.
  IncompleteFactorization share_plan(const ExecutionSpace& exec) const;

  /// Copies of the factors: L with the ones of its diagonal stored, as the last
  /// entry of each row, and U with its diagonal as the first. Rows are sorted.
  /// If A is permuted or scaled, see transformation().
  /// @tparam Matrix a KokkosSparse::CrsMatrix with memory of its own, int32 or
  ///   int64 ordinals, and offsets that count its entries
  /// @throws IndexOverflowError, HandleError, MemoryError, OptionError in the
  ///   coloured order
  /// Cost: three copies. Waits for `exec`.
  template <class Matrix = matrix_type>
  Matrix lower(const ExecutionSpace& exec) const {
    return factor<Matrix>(exec, Uplo::lower);
  }
  template <class Matrix = matrix_type>
  Matrix upper(const ExecutionSpace& exec) const {
    return factor<Matrix>(exec, Uplo::upper);
  }

  /// Pr, Dr, Dc and Pc with Pr Dr A Dc Pc = L U up to what is dropped, of
  /// lower() and upper(): for a FactorSolver with these. It refers to the
  /// arrays in use, whose scalings an update changes if the option `scaling` is
  /// equilibration.
  /// @throws HandleError, OptionError in the coloured order
  Transformation transformation() const;

  /// These three: @throws HandleError
  std::int64_t rows() const;
  const IncompleteFactorizationOptions& options() const;
  /// What was made. It changes where an update makes new solvers or replaces
  /// pivots.
  const IncompleteFactorizationReport& report() const;

 private:
  friend struct Detail::Internals;
  using State = Detail::IncompleteFactorizationState<Scalar, ExecutionSpace>;
  using Coloured = Detail::ColouredFactors<Scalar, ExecutionSpace>;

  using Expect =
      Detail::Expects<IncompleteFactorization, Scalar, ExecutionSpace>;

  template <class Matrix>
  Matrix factor(const ExecutionSpace& exec, Uplo uplo) const {
    static_assert(Detail::owns_its_memory<Matrix>,
                  "Strata: a factor is a KokkosSparse::CrsMatrix with memory "
                  "of its own: no const types and no memory traits");
    static_assert(Expect::template matrix<Matrix>);
    Detail::NewCrsMatrix<Matrix> made;
    copy_factor(exec, uplo, made);
    return made.matrix(uplo == Uplo::lower
                           ? "Strata::IncompleteFactorization::L"
                           : "Strata::IncompleteFactorization::U");
  }

  // In IncompleteFactorizationImplementation.hpp.
  State& natural_state() const;
  void require_made() const;
  void analyse(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
               Factorization kind, const Transformation& transformation,
               const IncompleteFactorizationOptions& options,
               const Detail::CrsArrays<Scalar>* pattern = nullptr);
  void update(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A);
  void enqueue_update(const ExecutionSpace& exec,
                      const Detail::CrsArrays<Scalar>& A, bool has_pattern);
  void solve_strided(const ExecutionSpace& exec, const Detail::StridedBlock& b,
                     const Detail::StridedBlock& x, Op op) const;
  void copy_factor(const ExecutionSpace& exec, Uplo uplo,
                   Detail::NewMatrix<Scalar>& made) const;
  const Detail::TwoColourBlocks<Scalar, ExecutionSpace>* reduced() const;

  std::shared_ptr<State> state_;        // of the natural order, or null
  std::shared_ptr<Coloured> coloured_;  // of the coloured order, or null
  /// Null: the state's own.
  std::shared_ptr<Detail::FactorSolves<Scalar, ExecutionSpace>> solves_;
};

template <class ExecutionSpace, class Matrix>
IncompleteFactorization(const ExecutionSpace&, const Matrix&, Factorization,
                        const IncompleteFactorizationOptions& = {})
    -> IncompleteFactorization<typename Detail::ScalarOf<Matrix>::type,
                               ExecutionSpace>;
/// Given a pattern or a transformation, or both.
template <class ExecutionSpace, class Matrix, class Given>
IncompleteFactorization(const ExecutionSpace&, const Matrix&, Factorization,
                        const Given&,
                        const IncompleteFactorizationOptions& = {})
    -> IncompleteFactorization<typename Detail::ScalarOf<Matrix>::type,
                               ExecutionSpace>;
template <class ExecutionSpace, class Matrix, class Pattern, class Given>
IncompleteFactorization(const ExecutionSpace&, const Matrix&, Factorization,
                        const Pattern&, const Given&,
                        const IncompleteFactorizationOptions& = {})
    -> IncompleteFactorization<typename Detail::ScalarOf<Matrix>::type,
                               ExecutionSpace>;

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/factorization/IncompleteFactorizationImplementation.hpp>
#endif

#endif
