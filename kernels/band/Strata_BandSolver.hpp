// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_BAND_SOLVER_HPP
#define STRATA_BAND_SOLVER_HPP

#include <Kokkos_Core.hpp>
#include <Strata_BandOptions.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/matrix/SharedElements.hpp>
#include <memory>

namespace Strata {

namespace Detail {
template <class Scalar, class ExecutionSpace>
class BandSolverState;
}  // namespace Detail

/// Solves A x = b for one band matrix A, or a batch of equal-sized ones, and
/// many right-hand sides.
///
/// A has kl diagonals below and ku above the main one and comes in LAPACK's
/// general band storage: A(i, j) is ab(ku + i - j, j), zero-based, with
/// kl + ku + 1 rows; or ab(kl + ku + i - j, j) with 2 kl + ku + 1 rows, the
/// first kl of them ignored, as for dgbtrf. The factors are the solver's own.
///
/// Without pivoting (the default) A has to be diagonally dominant, which is
/// checked; `BandMethod::partial_pivoting` takes any matrix. Copies of a solver
/// share factors and workspace, and solves that share them must not overlap in
/// time. A solver made without arguments is empty, as one that was moved from:
/// for members, which are assigned one that is made. Every other use of an
/// empty solver is a HandleError.
///
/// Source: E. Biondo, Diagonally Dominant Banded Systems Solving with CUDA,
/// 2013, for the problem; docs/algorithms/banded_lu.md for the methods.
///
/// @tparam Scalar float, double, Kokkos::complex of either
/// @tparam ExecutionSpace where A, b and x are accessible and solves run
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class BandSolver {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;

  /// An empty solver.
  BandSolver() = default;

  /// Checks and factorises A.
  ///
  /// @param ab the band: (kl + ku + 1) x n, or x n x batch for a batch; any
  ///           layout
  /// @param kl, ku diagonals below and above the main one. Those outside of the
  ///           matrix, from the n-th on, are not read and cost nothing
  /// @throws BandwidthError, SizeMismatchError, OptionError,
  ///   IndexOverflowError, MemoryError; DominanceError, FactorizationError with
  ///   the row
  /// Cost: about 2 n kl ku operations without pivoting, 2 n kl (kl + ku) with
  /// it. Waits for `exec` once, at the end.
  template <class Band>
  BandSolver(const ExecutionSpace& exec, const Band& ab, std::int64_t kl,
             std::int64_t ku, const BandOptions& options = {}) {
    if constexpr (Expect::template that<
                      Detail::ExpectBand<Scalar, ExecutionSpace, Band>>()) {
      make(exec, Detail::strided_block(ab), kl, ku, options);
    }
  }

  /// Takes a matrix of the same sizes with other values.
  /// @throws as the constructor; after a DominanceError, FactorizationError or
  ///   MemoryError the solver has no factors, and solves throw HandleError
  ///   until an update succeeds
  template <class Band>
  void update_values(const ExecutionSpace& exec, const Band& ab) {
    if constexpr (Expect::template that<
                      Detail::ExpectBand<Scalar, ExecutionSpace, Band>>()) {
      update(exec, Detail::strided_block(ab));
    }
  }

  /// x = A^-1 b. Asynchronous on `exec`: no allocation, no transfer and no
  /// wait. The exception, with `max_right_hand_sides` 0, are more right-hand
  /// sides than ever before, for which workspace is made as by reserve(): see
  /// there for recorded solves.
  ///
  /// @param b n, or n x k: k right-hand sides; for a batch n x k x batch; any
  ///          layout
  /// @param x as b; may be b itself, or lie between b's elements
  /// @throws SizeMismatchError, AliasError, HandleError before anything is
  ///   enqueued
  /// Cost: 2 n (kl + ku + 1) k operations, 2 n (2 kl + ku + 1) k with pivoting;
  /// one launch for each max_right_hand_sides, or 1024.
  template <class B, class X>
  void solve(const ExecutionSpace& exec, const B& b, const X& x) const {
    if constexpr (Expect::template vectors<B, X, 3>) {
      solve_strided(exec, static_cast<int>(B::rank), Detail::strided_block(b),
                    Detail::strided_block(x));
    }
  }

  /// Makes the workspace of solves of up to `columns` right-hand sides, so that
  /// none of them allocates or waits: ahead of measurements, or of a capture
  /// into a CUDA graph. Nothing to do where it is there, was sized by
  /// `max_right_hand_sides`, or the method needs none (partial pivoting).
  /// Otherwise waits for all of the device's work, and a CUDA graph that has
  /// recorded a solve before must be recorded again.
  ///
  /// Bytes: for n rows and k right-hand sides, k up to 128 (64 of 16-byte
  /// scalars), 4 n k scalars; beyond, 2 n min(k, 1024) on top of those of 128.
  /// @throws SizeMismatchError for a negative number, HandleError, MemoryError:
  ///   solves of as many right-hand sides as are in the workspace that is left
  ///   go on
  void reserve(const ExecutionSpace& exec, std::int64_t columns) const;

  /// With partial pivoting, the row that each row was exchanged with, from 0 on
  /// (LAPACK's ipiv less one), system after system; else empty.
  /// @throws HandleError
  Kokkos::View<const std::int64_t*, memory_space> pivots() const;

  /// @throws HandleError
  const BandReport& report() const;

 private:
  using Expect = Detail::Expects<BandSolver, Scalar, ExecutionSpace>;

  // In BandSolverImplementation.hpp.
  using State = Detail::BandSolverState<Scalar, ExecutionSpace>;
  State& made_state() const;
  void make(const ExecutionSpace& exec, const Detail::StridedBlock& ab,
            std::int64_t kl, std::int64_t ku, const BandOptions& options);
  void update(const ExecutionSpace& exec, const Detail::StridedBlock& ab);
  void solve_strided(const ExecutionSpace& exec, int rank,
                     const Detail::StridedBlock& b,
                     const Detail::StridedBlock& x) const;

  std::shared_ptr<State> state_;
};

template <class ExecutionSpace, class Band>
BandSolver(const ExecutionSpace&, const Band&, std::int64_t, std::int64_t,
           const BandOptions& = {})
    -> BandSolver<typename Detail::ScalarOf<Band>::type, ExecutionSpace>;

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/band/BandSolverImplementation.hpp>
#endif

#endif
