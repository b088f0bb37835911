// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_COLOURED_SOLVES_HPP
#define STRATA_KERNELS_KRYLOV_COLOURED_SOLVES_HPP

#include <Strata_TriangularSolver.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/krylov/ColouredFactor.hpp>
#include <kernels/triangular/sync_free/SyncFreeSolve.hpp>
#include <memory>

namespace Strata {
namespace Detail {

/// M = L U of a ColouredFactor with a launch for each triangle, on vectors in
/// the given order of rows: there are at most as many level sets as colours,
/// and rows wait for the rows they need within the launch (see SyncFreeSolve
/// for why that ends).
///
/// The triangles are in the order of colours, their rows are named as in the
/// given one. Applications of an object must not overlap.
template <class Scalar, class ExecutionSpace>
class ColouredSolves {
  using Memory = typename ExecutionSpace::memory_space;
  using Solver = TriangularSolver<Scalar, ExecutionSpace>;

 public:
  /// @param merged_levels see TriangularOptions
  /// Cost: the analysis of both triangles. Waits for `exec`.
  template <class CrsMatrix>
  ColouredSolves(const ExecutionSpace& exec,
                 const ColouredFactor<CrsMatrix>& factor, int merged_levels = 0)
      : colouring_(factor.colouring) {
    plan(exec, factor, merged_levels);
    between_ = make_unfilled<Kokkos::View<Scalar*, Memory>>(
        "Strata::ColouredSolves::between", factor.A.numRows());
  }

  /// Factors of new values on the same pattern. Waits for `exec`. Where an
  /// exception leaves but one factor with new values, `apply` throws
  /// HandleError until an update succeeds.
  template <class CrsMatrix>
  void update_values(const ExecutionSpace& exec,
                     const ColouredFactor<CrsMatrix>& factor) {
    try {
      lower_->update_values(exec, factor.LU.values);
      whole_ = false;
      upper_->update_values(exec, factor.LU.values);
      exec.fence();
    } catch (const ScalingError&) {
      // Without merged level sets.
      plan(exec, factor, 1);
    }
    whole_ = true;
  }

  /// z = U^-1 L^-1 r; z may be r. Asynchronous on `exec`.
  template <class R, class Z>
  void apply(const ExecutionSpace& exec, const R& r, const Z& z) const {
    apply(exec, strided_block(r), strided_block(z));
  }
  void apply(const ExecutionSpace& exec, const StridedBlock& r,
             const StridedBlock& z) const {
    require_whole();
    const StridedBlock between = strided_block(between_);
    Internals::solve(*lower_, exec, r, between);
    Internals::solve(*upper_, exec, between, z);
  }
  /// With r^H z on the way, for r and z apart: see
  /// SyncFreeAlgorithm::solve_summing.
  template <class R, class Z, class Task>
  LateSums apply(const ExecutionSpace& exec, const R& r, const Z& z,
                 const Task& task) const {
    require_whole();
    lower_->solve(exec, r, between_);
    return Internals::sync_free(*upper_)->solve_summing(
        exec, constant(between_), multi_vector_ref(z), constant(r), task, sum_);
  }

  int colours() const { return colouring_.num_colours(); }
  const Colouring<Memory>& colouring() const { return colouring_; }
  const TriangularReport& lower_report() const { return lower_->report(); }
  const TriangularReport& upper_report() const { return upper_->report(); }

 private:
  template <class Vector>
  static MultiVectorRef<const Scalar> constant(const Vector& v) {
    const auto ref = multi_vector_ref(v);
    return {ref.data, ref.row_stride, ref.column_stride};
  }

  template <class CrsMatrix>
  void plan(const ExecutionSpace& exec, const ColouredFactor<CrsMatrix>& factor,
            int merged_levels) {
    TriangularOptions options;
    options.algorithm = Algorithm::sync_free;
    options.take_triangle = true;
    options.merged_levels = merged_levels;
    const auto make = [&](Uplo uplo, Diag diag) {
      auto solver =
          std::make_unique<Solver>(exec, factor.LU, uplo, diag, options);
      Internals::sync_free(*solver)->name_rows(exec,
                                               colouring_.permutation.old_row);
      return solver;
    };
    auto lower = make(Uplo::lower, Diag::unit);
    auto upper = make(Uplo::upper, Diag::non_unit);
    sum_ = Internals::sync_free(*upper)->make_sum();
    lower_ = std::move(lower);
    upper_ = std::move(upper);
  }
  void require_whole() const { require_both_factors(whole_); }

  Colouring<Memory> colouring_;
  std::unique_ptr<Solver> lower_, upper_;
  GridSum<Memory> sum_;
  Kokkos::View<Scalar*, Memory> between_;  // L^-1 r
  bool whole_ = true;  // both factors are of the same values
};

}  // namespace Detail
}  // namespace Strata

#endif
