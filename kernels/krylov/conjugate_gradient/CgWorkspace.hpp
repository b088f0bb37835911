// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_WORKSPACE_HPP
#define STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_WORKSPACE_HPP

#include <Strata_ConjugateGradientOptions.hpp>
#include <algorithm>
#include <core/device/Backend.hpp>
#include <core/device/ResidentSum.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/factorization/colours/TwoColourBlocks.hpp>
#include <kernels/krylov/conjugate_gradient/CgResidentPlan.hpp>
#include <kernels/krylov/conjugate_gradient/CgState.hpp>
#include <kernels/krylov/solve/KrylovMonitor.hpp>
#include <kernels/krylov/solve/KrylovOperator.hpp>
#include <kernels/krylov/solve/KrylovSolve.hpp>

namespace Strata {
namespace Detail {

/// What solves with all operators share: vectors, scalars and sums.
template <class Scalar, class ExecutionSpace>
struct CgWorkspace {
  using Memory = typename ExecutionSpace::memory_space;
  using Vector = Kokkos::View<Scalar*, Memory>;

  std::int64_t rows;
  Vector r, w, z;
  Vector reduced_b, reduced_x, reduced_t;  // where there is such a system
  Vector p[2];  // the second one of launches for many iterations
  Kokkos::View<CgScalars*, Memory> state;  // two, see CgShared
  int turn = 0;                            // the set that the next kernel reads
  KrylovMonitor<ExecutionSpace> monitor;
  GridSum<Memory> vector_sum, residual_sum, product_sum, reduced_sum;
  ResidentSum<Memory> resident_sum;
  Kokkos::View<double*, Memory> counts;  // of rows where A and M differ
  /// What kernels enqueued have left for later ones.
  LateSums curvature;
  CgTakeResidual deferred_residual;

  CgWorkspace(const ExecutionSpace& exec, std::int64_t num_rows,
              const CgOptions& options)
      : rows(num_rows),
        monitor(has_resident_teams<ExecutionSpace>
                    ? std::max(options.iterations_ahead,
                               2 * most_resident_iterations)
                    : options.iterations_ahead) {
    for (Vector* v : {&r, &p[0], &w}) hold(*v, rows);
    make_unfilled(state, "Strata::ConjugateGradient::state", 2);
    residual_sum = make_grid_sum(exec, 0);
    vector_sum = make_grid_sum(exec, 0, uneven_blocks);
    exec.fence();
  }

  // What solves with some operators need besides.

  static void hold(Vector& v, std::int64_t count) {
    if (static_cast<std::int64_t>(v.extent(0)) == count) return;
    v = Vector();
    make_unfilled(v, "Strata::ConjugateGradient::vector", count);
  }
  static void hold(GridSum<Memory>& sum, const ExecutionSpace& exec,
                   std::int64_t extra) {
    if (sum.max_blocks == 0 || sum.extra < extra)
      sum = make_grid_sum(exec, extra, uneven_blocks);
  }
  void hold_for(const ExecutionSpace& exec,
                const KrylovOperator<Scalar, ExecutionSpace>& A,
                const KrylovPreconditioner<Scalar, ExecutionSpace>& M) {
    if (A.sell)
      hold(product_sum, exec, Internals::storage(*A.sell).num_long_rows());
    if (!M.diagonal) hold(z, rows);
  }
  void hold_for(const ExecutionSpace& exec,
                const TwoColourBlocks<Scalar, ExecutionSpace>& reduced) {
    hold(reduced_sum, exec, reduced.extra_parts());
    if (counts.extent(0) == 0)
      make_unfilled(counts, "Strata::ConjugateGradient::counts", 2);
    hold(reduced_b, reduced.rows());
    hold(reduced_x, reduced.rows());
    hold(reduced_t, reduced.first_rows());
  }
  void hold_for(const ExecutionSpace& exec, const ResidentPlan& plan,
                bool scaled) {
    hold(p[1], rows);
    if (resident_sum.max_teams < plan.teams) resident_sum = {exec, plan.teams};
    if (scaled) hold(z, rows);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
