// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TRIANGULAR_SOLVER_HPP
#define STRATA_TRIANGULAR_SOLVER_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Kokkos_Core.hpp>
#include <Strata_Error.hpp>
#include <Strata_TriangularOptions.hpp>
#include <Strata_TriangularReport.hpp>
#include <Strata_UpdateStatus.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/SharedElements.hpp>
#include <memory>

namespace Strata {

namespace Detail {
template <class ExecutionSpace>
struct GraphWithLevels;
template <class Scalar, class ExecutionSpace>
class TriangularSolverState;
template <class Scalar, class ExecutionSpace>
struct TriangularWorkspace;
}  // namespace Detail

/// Solves op(A) x = b for one triangular matrix A and many right-hand sides b.
///
/// The constructor checks A, analyses its pattern and packs its values; A is
/// not referred to afterwards. Copies of a solver share plan, values and
/// workspace, and solves that share a workspace must not overlap in time: give
/// each stream that works at the same time a solver that share_plan returns.
///
/// A solver made without arguments is empty, as one that was moved from: for
/// members, which are assigned one that is made. Every other use of an empty
/// solver is a HandleError.
///
/// @tparam Scalar float, double, Kokkos::complex of either
/// @tparam ExecutionSpace where A, b and x are accessible and solves run
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class TriangularSolver {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;
  using StatusView = Kokkos::View<const UpdateStatus, memory_space>;

  /// An empty solver.
  TriangularSolver() = default;

  /// Checks and analyses a KokkosSparse::CrsMatrix, n x n. Rows whose columns
  /// do not increase are sorted in a private copy.
  ///
  /// @param uplo the triangle A stores (before `options.op`)
  /// @param diag unit: stored diagonal entries are ignored
  /// @throws NotSquareError, RowMapError, ColumnRangeError,
  ///   DuplicateEntryError, WrongTriangleError, MissingDiagonalError,
  ///   ZeroDiagonalError, IndexOverflowError, OptionError, PlanMemoryError,
  ///   MemoryError
  /// Cost: some passes over A and a few sorts on the device, and the longest
  /// path of its graph at a few reads through memory a row. For `subgraphs` and
  /// `tiles`, and if `automatic` on a GPU compares `tiles` with `sync_free`, a
  /// copy of the pattern to the host and O(n + entries) by one thread there.
  /// Waits for `exec`.
  template <class Matrix>
  TriangularSolver(const ExecutionSpace& exec, const Matrix& A, Uplo uplo,
                   Diag diag, const TriangularOptions& options = {}) {
    if constexpr (Expect::template matrix<Matrix>) {
      analyse(exec, Detail::crs_arrays(A), uplo, diag, options);
    }
  }

  /// The same from three views of rank 1: `row_map` of n + 1 offsets, and
  /// `entries` (zero-based columns) and `values` of equal length.
  template <class RowMap, class Entries, class Values>
  TriangularSolver(const ExecutionSpace& exec, const RowMap& row_map,
                   const Entries& entries, const Values& values, Uplo uplo,
                   Diag diag, const TriangularOptions& options = {}) {
    if constexpr (Expect::template matrix_views<RowMap, Entries, Values>) {
      analyse(exec, Detail::crs_arrays(row_map, entries, values), uplo, diag,
              options);
    }
  }

  // Forgotten often, and else a page of candidates.
  template <class Matrix>
  TriangularSolver(const Matrix&, Uplo, Diag, const TriangularOptions& = {}) {
    static_assert(
        Kokkos::is_execution_space<Matrix>::value,
        "Strata: the first argument of a solver's constructor must be "
        "an execution space instance: TriangularSolver(exec, A, uplo, "
        "diag)");
  }

  /// x = op(A)^-1 b. Asynchronous on `exec`: no allocation, no transfer and no
  /// wait (but Kokkos allocates for OpenMP teams in the first solve on another
  /// instance than that of the analysis). A CUDA graph that recorded it must be
  /// recorded again after update_values, unless the option `enqueue_updates` is
  /// set.
  ///
  /// @param b n, or n x k: k right-hand sides; any layout
  /// @param x as b; may be b itself
  /// @throws SizeMismatchError, AliasError, HandleError before anything is
  ///   enqueued; a HandleError also where an update was broken off after it had
  ///   begun to write
  template <class B, class X>
  void solve(const ExecutionSpace& exec, const B& b, const X& x) const {
    if constexpr (Expect::template vectors<B, X>) {
      solve_strided(exec, Detail::strided_block(b), Detail::strided_block(x));
    }
  }

  /// A solver with this one's plan and values, and a workspace of its own, so
  /// that solves of both may overlap in time: one for each stream, or host
  /// thread, that works at the same time. Its solves have the same bits.
  ///
  /// Values and pattern stay shared: update_values and update_pattern, called
  /// for any of the solvers that share a plan, are for all of them. They must
  /// not overlap in time with a solve or an update of any of them, on whatever
  /// instance of the execution space: fence before and after, or have streams
  /// wait for events. update_pattern makes all workspaces anew. The plan lasts
  /// as long as one of the solvers.
  ///
  /// May be called from several threads at the same time, and beside solves.
  /// @param exec that solves of the new solver will be on, or any other
  /// @throws HandleError, MemoryError: this solver then is as it was
  /// Cost: a few launches; no analysis. Memory: report().workspace_bytes.
  /// Waits for `exec`.
  TriangularSolver share_plan(const ExecutionSpace& exec) const;

  /// Takes new values of a matrix with the analysed pattern; no analysis.
  ///
  /// @throws HandleError, SizeMismatchError, PatternMismatchError,
  ///   ZeroDiagonalError, ScalingError (merged level sets would be too
  ///   inaccurate, see docs/limits.md), MemoryError: the solver then still has
  ///   its old values. Where a launch fails once packing has begun, it has
  ///   none, and solves throw HandleError until an update succeeds
  /// Cost: one pass over the pattern and the diagonal (and over the values,
  /// where `sync_free` has merged level sets), which
  /// the host waits for; then one over the values, enqueued on `exec` like a
  /// solve: let nothing but later work on `exec` change or free them before a
  /// fence. `sync_free` with merged level sets makes the new ones in a second
  /// buffer, and waits for that. Memory: with merged level sets, the first
  /// update allocates some that stays, see docs/memory.md.
  template <class Matrix,
            std::enable_if_t<Detail::IsCrsMatrix<Matrix>::value, int> = 0>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    update_values(exec, A.graph.row_map, A.graph.entries, A.values);
  }
  template <class RowMap, class Entries, class Values>
  void update_values(const ExecutionSpace& exec, const RowMap& row_map,
                     const Entries& entries, const Values& values) {
    if constexpr (Expect::template matrix_views<RowMap, Entries, Values>) {
      update(exec, Detail::crs_arrays(row_map, entries, values));
    }
  }
  /// The same from the values alone (rank 1, in the order of the analysed
  /// matrix), where the caller vouches for the pattern.
  template <class Values,
            std::enable_if_t<!Detail::IsCrsMatrix<Values>::value, int> = 0>
  void update_values(const ExecutionSpace& exec, const Values& values) {
    if constexpr (Expect::template values<Values>) {
      update(exec, values.data(), values.extent(0));
    }
  }

  /// Takes new values like update_values, but the host does not wait, and
  /// nothing is allocated: for solvers made with the option `enqueue_updates`.
  /// A CUDA graph may record it, along with what computes the values and with
  /// solves, and stays valid over values of every kind.
  ///
  /// update_status() says, once this is done, whether the values are in use.
  /// Where they are not, solves that are enqueued after this give NaN in every
  /// row until a later update takes good ones. Values that update_values
  /// refuses with a ScalingError are taken: solves then use a second plan,
  /// without merged level sets and scaled entries.
  ///
  /// @param values  rank 1, in the order of the analysed matrix: the caller
  ///   vouches for the pattern. Nothing but later work on `exec` may change or
  ///   free them before a fence
  /// @throws HandleError, OptionError without that option, SizeMismatchError,
  ///   before anything is enqueued
  /// Cost: a few launches; a pass or two over the values.
  template <class Values,
            std::enable_if_t<!Detail::IsCrsMatrix<Values>::value, int> = 0>
  void enqueue_update_values(const ExecutionSpace& exec, const Values& values) {
    if constexpr (Expect::template values<Values>) {
      enqueue_update(exec, values.data(), values.extent(0), nullptr);
    }
  }
  /// The same with the values of a matrix, for whose pattern the caller
  /// vouches. @throws PatternMismatchError for other numbers of rows or entries
  template <class Matrix,
            std::enable_if_t<Detail::IsCrsMatrix<Matrix>::value, int> = 0>
  void enqueue_update_values(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (Expect::template matrix<Matrix>) {
      enqueue_update(exec, Detail::crs_arrays(A));
    }
  }
  /// What the last update of values has found, in device memory: valid once its
  /// work is done. Other updates write there, too, those that the host waits
  /// for included; update_pattern makes another view.
  /// @throws HandleError, OptionError without the option `enqueue_updates`
  StatusView update_status() const;

  /// Takes a matrix of as many rows whose pattern differs a little from the one
  /// before: entries added, entries gone, new values. Uplo, diag and options
  /// stay. The solver is then as good as a new one; copies of it, and solvers
  /// that share its plan, share the new one.
  ///
  /// An automatic choice is kept, so no candidate is looked at; `subgraphs`
  /// keeps its partition where that is still feasible. All is analysed anew
  /// where the entries are a tenth more or fewer than when the choice was made,
  /// where the level sets are twice or half as many, or where the algorithm
  /// can't take the new matrix: `report().reason` says so. Where the pattern is
  /// the same, update_values costs less.
  ///
  /// @throws what the constructor throws, SizeMismatchError for another number
  ///   of rows, HandleError: the solver then is as it was
  /// Cost: an analysis without the choice. Memory: of both plans, and of their
  /// workspaces, until it returns. A CUDA graph that recorded a solve must be
  /// recorded again.
  template <class Matrix>
  void update_pattern(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (Expect::template matrix<Matrix>) {
      change_pattern(exec, Detail::crs_arrays(A));
    }
  }
  /// The same from three views, as the constructor takes them.
  template <class RowMap, class Entries, class Values>
  void update_pattern(const ExecutionSpace& exec, const RowMap& row_map,
                      const Entries& entries, const Values& values) {
    if constexpr (Expect::template matrix_views<RowMap, Entries, Values>) {
      change_pattern(exec, Detail::crs_arrays(row_map, entries, values));
    }
  }

  /// What was chosen and why, for the plan and all who share it.
  /// @throws HandleError
  const TriangularReport& report() const;

 private:
  friend struct Detail::Internals;

  using Expect = Detail::Expects<TriangularSolver, Scalar, ExecutionSpace>;

  // In TriangularSolverImplementation.hpp. A factorisation passes `known`, the
  // graph and levels of this triangle, and `outside`, the status of its own
  // update: solves give NaN if that has a fault. Null: there is none.
  void require_made() const;
  void analyse(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
               Uplo uplo, Diag diag, const TriangularOptions& options,
               const Detail::GraphWithLevels<ExecutionSpace>* known = nullptr);
  void solve_strided(const ExecutionSpace& exec, const Detail::StridedBlock& b,
                     const Detail::StridedBlock& x) const;
  void solve_checked(const ExecutionSpace& exec, const Detail::StridedBlock& b,
                     const Detail::StridedBlock& x) const;
  void update(const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A);
  void update(const ExecutionSpace& exec, const Scalar* values,
              std::size_t num_values);
  void enqueue_update(const ExecutionSpace& exec,
                      const Detail::CrsArrays<Scalar>& A);
  void enqueue_update(const ExecutionSpace& exec, const Scalar* values,
                      std::size_t num_values, const UpdateStatus* outside);
  void change_pattern(const ExecutionSpace& exec,
                      const Detail::CrsArrays<Scalar>& A);

  std::shared_ptr<Detail::TriangularSolverState<Scalar, ExecutionSpace>> state_;
  /// Null: the plan's own.
  std::shared_ptr<const Detail::TriangularWorkspace<Scalar, ExecutionSpace>>
      workspace_;
};

template <class ExecutionSpace, class Matrix>
TriangularSolver(const ExecutionSpace&, const Matrix&, Uplo, Diag,
                 const TriangularOptions& = {})
    -> TriangularSolver<typename Detail::ScalarOf<Matrix>::type,
                        ExecutionSpace>;

template <class Matrix>
TriangularSolver(const Matrix&, Uplo, Diag, const TriangularOptions& = {})
    -> TriangularSolver<typename Detail::ScalarOf<Matrix>::type>;

template <class ExecutionSpace, class RowMap, class Entries, class Values>
TriangularSolver(const ExecutionSpace&, const RowMap&, const Entries&,
                 const Values&, Uplo, Diag, const TriangularOptions& = {})
    -> TriangularSolver<typename Detail::ScalarOf<Values>::type,
                        ExecutionSpace>;

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/triangular/TriangularSolverImplementation.hpp>
#endif

#endif
