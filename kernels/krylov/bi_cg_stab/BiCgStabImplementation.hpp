// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_BI_CG_STAB_BI_CG_STAB_IMPLEMENTATION_HPP
#define STRATA_KERNELS_KRYLOV_BI_CG_STAB_BI_CG_STAB_IMPLEMENTATION_HPP

// What BiCgStab does, compiled into libstrata (src/) for the scalars and spaces
// of a build. A program with others includes this file.

#include <Strata_BiCgStab.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/krylov/bi_cg_stab/BiCgStabKernels.hpp>
#include <kernels/krylov/solve/KrylovSolverImplementation.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<BiCgStab<Scalar, ExecutionSpace>> : std::true_type {};

/// The workspace of a BiCgStab, which copies share.
template <class Scalar, class ExecutionSpace>
class BiCgStabState {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Operator = KrylovOperator<Scalar, ExecutionSpace>;
  using Preconditioner = KrylovPreconditioner<Scalar, ExecutionSpace>;
  static constexpr const char *name = "BiCgStab",
                              *region = "Strata::BiCgStab::solve",
                              *workspace = "workspace of BiCGStab",
                              *task = "a solve by BiCGStab";

  static void check(const BiCgStabOptions& options) {
    check_krylov_options(options);
    check_option_range("max_new_starts", options.max_new_starts, 0, 1000);
  }

  BiCgStabState(const ExecutionSpace& exec, std::int64_t rows,
                const BiCgStabOptions& options)
      : rows_(rows) {
    for (Vector* v : {&r_, &q_, &p_, &v_, &t_}) make_vector(*v);
    make_unfilled(state_, "Strata::BiCgStab::state", 1);
    monitor_ = KrylovMonitor<ExecutionSpace>(options.iterations_ahead);
    vector_sum_ = make_grid_sum(exec, 0);
    exec.fence();
  }

  std::int64_t rows() const { return rows_; }

  KrylovResult solve(const ExecutionSpace& exec, const BiCgStabOptions& options,
                     const Operator& A, const Preconditioner& M,
                     const StridedBlock& b, const StridedBlock& x) {
    if (SolveContext::preconditions(M) &&
        static_cast<std::int64_t>(s_scaled_.extent(0)) != rows_) {
      make_vector(p_scaled_);
      make_vector(s_scaled_);
    }
    breakdowns_ = 0;
    return run_krylov<KrylovResult, Scalar>(
        exec, options, monitor_,
        SolveContext{{}, *this, options, exec, A, M, b, x});
  }

 private:
  using Vector = Kokkos::View<Scalar*, Memory>;
  using State = BiCgStabScalars<Scalar>;

  /// The kernels of a solve.
  struct SolveContext : KrylovContext {
    BiCgStabState& solver;
    const BiCgStabOptions& options;
    const ExecutionSpace& exec;
    const Operator& A;
    const Preconditioner& M;
    const StridedBlock &b, &x;

    static bool preconditions(const Preconditioner& M) {
      return !M.diagonal || M.inverse_diagonal;
    }

    void begin() const {
      store_state(exec, solver.state_, 0, State());
      solver.monitor_.reset();
      residual(ResidualOf::start);
      first_direction();
    }
    void iterate(int it, int) const {
      if (!solver.has_direction_)
        run("Strata::BiCgStab::direction",
            BiCgStabDirection<Scalar>{shared(),
                                      solver.r_.data(),
                                      solver.v_.data(),
                                      solver.p_.data(),
                                      scaled(solver.p_scaled_),
                                      {},
                                      {}});
      solver.has_direction_ = false;
      const Vector p = preconditioned(solver.p_, solver.p_scaled_);
      A.apply(exec, p, solver.v_);
      products(solver.q_, solver.v_, true);
      run("Strata::BiCgStab::half",
          BiCgStabHalf<Scalar>{shared(),
                               solver.v_.data(),
                               solver.r_.data(),
                               scaled(solver.s_scaled_),
                               {}});
      const Vector s = preconditioned(solver.r_, solver.s_scaled_);
      A.apply(exec, s, solver.t_);
      products(solver.t_, solver.r_, false);
      run("Strata::BiCgStab::update",
          BiCgStabUpdate<Scalar>{shared(),
                                 p.data(),
                                 s.data(),
                                 solver.t_.data(),
                                 solver.q_.data(),
                                 solver.r_.data(),
                                 multi_vector_ref<Scalar>(x),
                                 it,
                                 options.max_iterations,
                                 {},
                                 {},
                                 {},
                                 {}});
    }
    State fetch() const {
      State state;
      fetch_state(exec, solver.state_, 0, state);
      return state;
    }
    State verify(const State&) const {
      residual(ResidualOf::end);
      return fetch();
    }
    void restart(State state) const {
      solver.monitor_.resume();
      state.status = krylov_running;
      store_state(exec, solver.state_, 0, state);
      first_direction();
    }
    bool broke_down(KrylovStatus status) const {
      return status == KrylovStatus::breakdown;
    }
    bool begins_anew(KrylovStatus status) const {
      return broke_down(status) &&
             solver.breakdowns_++ < options.max_new_starts;
    }

   private:
    template <class Kernel>
    void run(const char* label, const Kernel& kernel) const {
      run_vector_kernel(label, exec, solver.rows_, kernel, solver.vector_sum_);
    }
    BiCgStabShared<Scalar> shared() const {
      return {solver.state_.data(), solver.monitor_.signals(),
              M.inverse_diagonal};
    }
    /// Where a kernel leaves D^-1 of what it makes; null if there is no D.
    Scalar* scaled(const Vector& to) const {
      return M.inverse_diagonal ? to.data() : nullptr;
    }
    /// M^-1 of a vector, which has been made where M is a diagonal.
    Vector preconditioned(const Vector& from, const Vector& to) const {
      if (!preconditions(M)) return from;
      if (!M.diagonal) M.apply(exec, from, to);
      return to;
    }
    void products(const Vector& left, const Vector& right, bool of_v) const {
      run("Strata::BiCgStab::products",
          BiCgStabProducts<Scalar>{shared(), left.data(), right.data(), of_v});
    }
    /// r = b - A x
    void residual(ResidualOf of) const {
      Kokkos::deep_copy(exec, solver.p_,
                        strided_vector<const Scalar, ExecutionSpace>(x));
      A.apply(exec, solver.p_, solver.v_);
      run("Strata::BiCgStab::start",
          KrylovStart<Scalar, State>{
              solver.state_.data(), solver.monitor_.signals(),
              multi_vector_ref<const Scalar>(b), solver.v_.data(),
              solver.r_.data(), KrylovLimits(options), of});
    }
    void first_direction() const {
      run("Strata::BiCgStab::begin",
          BiCgStabBegin<Scalar>{shared(),
                                solver.r_.data(),
                                solver.q_.data(),
                                solver.p_.data(),
                                scaled(solver.p_scaled_),
                                solver.rows_,
                                solver.breakdowns_,
                                {}});
      solver.has_direction_ = true;
    }
  };

  void make_vector(Vector& v) const {
    make_unfilled(v, "Strata::BiCgStab::vector", rows_);
  }

  std::int64_t rows_;
  Vector r_, q_, p_, v_, t_;
  Vector p_scaled_, s_scaled_;  // M^-1 p and M^-1 s
  bool has_direction_ = false;  // for the iteration that is enqueued next
  int breakdowns_ = 0;          // of the solve
  Kokkos::View<State*, Memory> state_;
  KrylovMonitor<ExecutionSpace> monitor_;
  GridSum<Memory> vector_sum_;
};

}  // namespace Detail
}  // namespace Strata

#endif
