// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_CONTEXT_HPP
#define STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_CONTEXT_HPP

#include <algorithm>
#include <core/matrix/MultiVectorRef.hpp>
#include <kernels/factorization/colours/TwoColourBlocks.hpp>
#include <kernels/krylov/conjugate_gradient/CgKernels.hpp>
#include <kernels/krylov/conjugate_gradient/CgResident.hpp>
#include <kernels/krylov/conjugate_gradient/CgWorkspace.hpp>
#include <kernels/krylov/solve/KrylovOperator.hpp>
#include <kernels/krylov/solve/KrylovSolve.hpp>

namespace Strata {
namespace Detail {

/// The kernels of a solve, for run_krylov().
template <class Scalar, class ExecutionSpace>
struct CgContext : KrylovContext {
  using Operator = KrylovOperator<Scalar, ExecutionSpace>;
  using Preconditioner = KrylovPreconditioner<Scalar, ExecutionSpace>;
  using Vector = typename CgWorkspace<Scalar, ExecutionSpace>::Vector;
  using Reduced = TwoColourBlocks<Scalar, ExecutionSpace>;

  CgWorkspace<Scalar, ExecutionSpace>& cg;
  const CgOptions& options;
  const ExecutionSpace& exec;
  const Operator& A;
  const Preconditioner& M;
  const StridedBlock &b, &x;
  /// Of A, whose steps are taken there, until an answer is not good enough;
  /// or null.
  mutable const Reduced* reduced;
  /// Of launches that do many iterations; no teams: there are none.
  mutable ResidentPlan resident;

  /// Of the vectors of an iteration.
  std::int64_t rows() const { return reduced ? reduced->rows() : cg.rows; }
  bool knows_z() const { return reduced || M.diagonal; }

  CgShared shared() const {
    CgScalars* const both = cg.state.data();
    return {both + cg.turn, both + (1 - cg.turn), cg.monitor.signals()};
  }
  /// For a kernel that goes on from one set of scalars to the other.
  CgShared next_shared() const {
    const auto found = shared();
    cg.turn = 1 - cg.turn;
    return found;
  }
  const RealOf<Scalar>* diagonal() const {
    return reduced ? reduced->inverse_pivot() : M.inverse_diagonal;
  }
  /// Of the iteration.
  MultiVectorRef<Scalar> x_ref() const {
    return reduced ? multi_vector_ref(cg.reduced_x)
                   : multi_vector_ref<Scalar>(x);
  }

  /// r = b - A x
  void residual(bool verify) const {
    Kokkos::deep_copy(exec, cg.p[0],
                      strided_vector<const Scalar, ExecutionSpace>(x));
    A.apply(exec, cg.p[0], cg.w);
    // The diagonal of a reduced system has nothing to do with this r.
    run_vector_kernel(
        "Strata::ConjugateGradient::start", exec, cg.rows,
        CgStart<Scalar>{shared(), multi_vector_ref<const Scalar>(b),
                        cg.w.data(), cg.r.data(),
                        reduced ? nullptr : diagonal(), KrylovLimits(options),
                        knows_z(), verify, false},
        cg.vector_sum);
  }
  /// The same of the reduced system, whose b and x it makes.
  void reduced_residual() const {
    const auto given = multi_vector_ref<const Scalar>(b);
    const auto guess = multi_vector_ref<const Scalar>(x);
    reduced->reduce(exec, given, guess, cg.reduced_b.data(),
                    cg.reduced_x.data());
    reduced_product(cg.reduced_x.data(), true);
    run_vector_kernel("Strata::ConjugateGradient::norm", exec, cg.rows,
                      CgRhsNorm<Scalar>{shared(), given, guess}, cg.vector_sum);
    run("Strata::ConjugateGradient::start",
        CgStart<Scalar>{shared(),
                        {cg.reduced_b.data(), 1, 0},
                        cg.w.data(),
                        cg.r.data(),
                        diagonal(),
                        KrylovLimits(options),
                        true,
                        false,
                        true});
  }
  CgScalars fetch() const {
    CgScalars state;
    fetch_state(exec, cg.state, cg.turn, state);
    return state;
  }
  void complete(const CgScalars& state) const {
    if (!reduced || state.zero_b) return;
    reduced->complete(exec, multi_vector_ref<const Scalar>(b),
                      cg.reduced_x.data(), multi_vector_ref<Scalar>(x));
  }
  bool holds_back_x() const { return reduced != nullptr; }
  void begin() const {
    store_state(exec, cg.state, cg.turn, CgScalars());
    cg.monitor.reset();
    if (reduced)
      reduced_residual();
    else
      residual(false);
    first_direction();
  }
  /// A state that was verified goes on from its residual, and with A and M: a
  /// reduced system gives no more, as its first colour has no residual of its
  /// own, or is not quite that of A.
  void restart(CgScalars state) const {
    cg.monitor.resume();
    if (reduced) resident = {};
    reduced = nullptr;
    state.status = krylov_running;
    state.beta = 0;
    store_state(exec, cg.state, cg.turn, state);
    first_direction();
  }
  CgScalars verify(const CgScalars& found) const {
    residual(true);
    CgScalars state = fetch();
    state.iterations = found.iterations;
    return state;
  }
  /// A callback hears of iterations as soon as the options promise.
  int iterations_at_once() const {
    if (resident.teams == 0) return 1;
    return options.progress
               ? std::min(most_resident_iterations,
                          std::max(1, options.iterations_ahead / 2))
               : most_resident_iterations;
  }
  void iterate(int it, int count) const {
    if (resident.teams > 0) {
      iterate_resident(it, count);
    } else {
      product();
      update_residual(it);
      precondition();
      direction(false);
    }
  }
  /// Has the sums that the last kernel has left taken.
  void flush() const {
    if (cg.deferred_residual.mode == CgTakeResidual::nothing) return;
    run_vector_kernel("Strata::ConjugateGradient::flush", exec, 0,
                      CgFlush<Scalar>{next_shared(), take_deferred_residual()},
                      cg.vector_sum);
  }

 private:
  template <class Kernel>
  void run(const char* label, const Kernel& kernel) const {
    run_vector_kernel(label, exec, rows(), kernel, cg.vector_sum);
  }
  /// What is left of the iteration before, for the kernel that takes it.
  CgTakeResidual take_deferred_residual() const {
    const auto found = cg.deferred_residual;
    cg.deferred_residual = {};
    return found;
  }
  CgTakeCurvature take_curvature() const {
    const CgTakeCurvature found{cg.curvature};
    cg.curvature = {};
    return found;
  }
  void iterate_resident(int it, int count) const {
    if constexpr (has_resident_teams<ExecutionSpace>) {
      if (reduced)
        run_resident<true>(it, count, reduced->lower(), reduced->upper());
      else
        run_resident<false>(it, count, Internals::storage(*A.sell),
                            Internals::storage(*A.sell));
    }
    (void)it;
    (void)count;
  }
  template <bool reduces, class Storage>
  void run_resident(int it, int count, const Storage& matrix,
                    const Storage& first) const {
    using Kernel = CgResident<Scalar, ExecutionSpace, reduces>;
    run_resident_teams(
        "Strata::ConjugateGradient::iterations", exec,
        Kernel{resident,
               SellRef<Scalar>(matrix),
               SellRef<Scalar>(first),
               reduces ? reduced->diagonal() : nullptr,
               cg.reduced_t.data(),
               diagonal(),
               cg.r.data(),
               {diagonal() ? cg.z.data() : cg.r.data(), cg.w.data()},
               {cg.p[0].data(), cg.p[1].data()},
               x_ref(),
               next_shared(),
               ResidentSumRef<Kernel::width>(cg.resident_sum),
               it,
               count,
               options.max_iterations},
        resident.teams, resident.team_size, resident.scratch_bytes);
  }
  void update_residual(int it) const {
    const auto curvature = take_curvature();
    cg.deferred_residual = {};
    cg.deferred_residual.mode = CgTakeResidual::residual;
    cg.deferred_residual.sums_rho = knows_z();
    cg.deferred_residual.iteration = it;
    cg.deferred_residual.max_iterations = options.max_iterations;
    cg.deferred_residual.sums = run_vector_kernel(
        "Strata::ConjugateGradient::residual", exec, rows(),
        CgResidual<Scalar>{
            next_shared(), curvature, cg.w.data(), cg.r.data(), diagonal(), {}},
        cg.residual_sum);
  }
  void product() const {
    const Vector& p = cg.p[0];
    if (reduced) {
      cg.curvature = reduced_product(p.data(), false);
    } else if (A.sell) {
      cg.curvature =
          run_sell("Strata::ConjugateGradient::product", exec,
                   Internals::storage(*A.sell),
                   CgSellProduct<Scalar>{{p.data()}, cg.w.data(), shared()},
                   cg.product_sum);
    } else {
      A.apply(exec, p, cg.w);
      run("Strata::ConjugateGradient::curvature",
          CgProduct<Scalar>{shared(), p.data(), cg.w.data(), true});
    }
  }
  /// w = S p, of a reduced system. Returns what p^H w is to be added up of.
  LateSums reduced_product(const Scalar* p, bool always) const {
    const CgScalars* const state = shared().state;
    run_sell("Strata::ConjugateGradient::reduced_product", exec,
             reduced->upper(),
             CgReducedFirst<Scalar>{{p}, cg.reduced_t.data(), state, always});
    return run_sell("Strata::ConjugateGradient::reduced_product", exec,
                    reduced->lower(),
                    CgReducedSecond<Scalar>{{cg.reduced_t.data()},
                                            p,
                                            reduced->diagonal(),
                                            cg.w.data(),
                                            state,
                                            always},
                    cg.reduced_sum);
  }
  const Scalar* z() const { return knows_z() ? cg.r.data() : cg.z.data(); }
  void direction(bool first) const {
    const auto deferred = take_deferred_residual();
    run("Strata::ConjugateGradient::direction",
        CgDirection<Scalar>{next_shared(),
                            deferred,
                            z(),
                            diagonal(),
                            cg.p[0].data(),
                            x_ref(),
                            first,
                            {},
                            {},
                            {}});
  }
  /// Before the first direction there is none: where one launch does many
  /// iterations, beta is 0, and what the vector holds must be finite.
  void first_direction() const {
    cg.curvature = {};
    cg.deferred_residual = {};
    if (!knows_z()) cg.deferred_residual.mode = CgTakeResidual::first;
    precondition();
    if (resident.teams == 0) return direction(true);
    for (const Vector& p : cg.p) Kokkos::deep_copy(exec, p, Scalar(0));
  }
  /// z and r^H z.
  void precondition() const {
    if (knows_z()) return;
    M.apply(exec, cg.r, cg.z);
    run("Strata::ConjugateGradient::precondition",
        CgProduct<Scalar>{shared(), cg.r.data(), cg.z.data(), false});
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
