// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CONJUGATE_GRADIENT_HPP
#define STRATA_CONJUGATE_GRADIENT_HPP

#include <Strata_ConjugateGradientOptions.hpp>
#include <Strata_Preconditioner.hpp>
#include <Strata_SellMatrix.hpp>
#include <core/device/Profiling.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/krylov/CgKernels.hpp>
#include <kernels/krylov/CgMonitor.hpp>
#include <kernels/krylov/CgOperator.hpp>
#include <kernels/spmv/SellVectors.hpp>
#include <limits>

namespace Strata {

/// Conjugate gradients for A x = b with a Hermitian positive definite A, and a
/// Hermitian positive definite preconditioner. Source: M. R. Hestenes,
/// E. Stiefel, J. Res. Natl. Bur. Stand. 49, 1952.
///
/// An iteration is three launches with a SellMatrix and no or a diagonal
/// preconditioner: w = A p with p^H w; the residual with its norms; x and p. Or
/// two: p and w = A p with p^H w; x and the residual (CgOptions::launches).
/// All scalars stay on the device. Sums are added up in double in a fixed
/// order, each by the kernel after: the same solver gives the same bits each
/// time. The host enqueues some
/// iterations ahead of the newest residual it knows and never waits for the
/// stream to run dry; which iteration is the last one is decided on the device,
/// so the answer does not depend on that.
///
/// A solver is its workspace: three vectors (another for iterations of two
/// launches, another for a preconditioner that is no diagonal), and pinned host
/// memory for at most 2 max(1, iterations_ahead) numbers. The history of a
/// solve grows on the host by a number an iteration, whatever max_iterations
/// is. One solve at a time; copies share the workspace. A solver made without
/// arguments is empty, as one that was moved from: for members, which are
/// assigned one that is made. To solve with an empty one, or to ask for its
/// rows, is a HandleError.
///
/// @tparam Scalar float, double, Kokkos::complex of either
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class ConjugateGradient {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;

  /// An empty solver.
  ConjugateGradient() = default;

  /// Workspace for systems of `rows` unknowns.
  /// @throws OptionError, SizeMismatchError for a negative number,
  ///   IndexOverflowError for one above 2,147,483,646, MemoryError
  ConjugateGradient(const ExecutionSpace& exec, std::int64_t rows,
                    const CgOptions& options = {})
      : options_(options), rows_(rows) {
    Detail::check_cg_options(options);
    if (rows < 0)
      throw SizeMismatchError("rows", std::to_string(rows) + " is negative",
                              "pass the number of unknowns");
    if (rows > Detail::most_matrix_rows)
      throw IndexOverflowError(
          "rows",
          std::to_string(rows) + " is more than " +
              std::to_string(Detail::most_matrix_rows),
          "pass the number of unknowns, which no matrix has more of");
    Detail::with_memory_errors("workspace of conjugate gradients",
                               [&] { make_workspace(exec); });
    made_ = Detail::Made(true);
  }

  /// Solves A x = b from the x given. Returns when the solve is over.
  ///
  /// @param A a SellMatrix, or anything with apply(exec, p, w), w = A p, for
  ///          Kokkos::View<Scalar*, memory space> and enqueued on exec
  /// @param b, x views of rank 1 and any layout, `rows` long, apart
  /// @throws NotSquareError, SizeMismatchError, AliasError, HandleError before
  ///   anything is written; MemoryError, after which x is some iterate. What
  ///   the numbers do wrong is told by the result's status, and x is then the
  ///   last iterate; not_finite before the first iteration leaves x alone.
  /// Cost: one product more than iterations, and another at the end for b - A x
  template <class Operator, class B, class X>
  CgResult solve(const ExecutionSpace& exec, const Operator& A, const B& b,
                 const X& x) {
    return solve(exec, A, NoPreconditioner(), b, x);
  }
  /// The same with a preconditioner: NoPreconditioner, JacobiPreconditioner,
  /// IncompletePreconditioner, or anything with apply(exec, r, z), z = M^-1 r.
  template <class Operator, class Preconditioner, class B, class X>
  CgResult solve(const ExecutionSpace& exec, const Operator& A,
                 const Preconditioner& M, const B& b, const X& x) {
    if constexpr (!Detail::ExpectVectors<Scalar, ExecutionSpace, B, X,
                                         1>::value) {
      return CgResult();
    } else {
      require_made();
      Detail::check_cg_operator("A", A, rows_);
      Detail::check_cg_operator("M", M, rows_);
      Detail::check_vectors(rows_, b, x);
      if (Detail::share_elements(b, x))
        throw AliasError("x", "shares memory with b",
                         "pass a vector of its own for the solution");
      const Detail::ProfilingRegion region("Strata::ConjugateGradient::solve");
      CgResult result;
      if (rows_ == 0) {
        result.status = CgStatus::converged;
        result.history = {0};
        return result;
      }
      return Detail::with_memory_errors("a solve by conjugate gradients", [&] {
        return iterate(exec, A, M, b, x, result);
      });
    }
  }

  const CgOptions& options() const { return options_; }
  /// @throws HandleError
  std::int64_t rows() const {
    require_made();
    return rows_;
  }

 private:
  void require_made() const {
    Detail::require_made(made_, "ConjugateGradient", "exec, rows");
  }
  using Vector = Kokkos::View<Scalar*, memory_space>;
  using Sum = Detail::GridSum<memory_space>;

  /// The kernels of a solve, for its types.
  template <class Operator, class Preconditioner, class B, class X>
  struct SolveContext {
    ConjugateGradient& cg;
    const ExecutionSpace& exec;
    const Operator& A;
    const Preconditioner& M;
    const B& b;
    const X& x;

    static constexpr bool knows_z = Detail::IsDiagonal<Preconditioner>::value;

    Detail::CgShared shared() const {
      Detail::CgScalars* const both = cg.state_.data();
      return cg.monitor_.shared(both + cg.turn_, both + (1 - cg.turn_));
    }
    /// For a kernel that goes on from one set of scalars to the other.
    Detail::CgShared next_shared() const {
      const auto found = shared();
      cg.turn_ = 1 - cg.turn_;
      return found;
    }
    const Detail::RealOf<Scalar>* diagonal() const {
      return Detail::inverse_diagonal<Scalar>(M);
    }

    /// r = b - A x
    void residual(bool verify) const {
      Kokkos::deep_copy(exec, cg.p_[0], x);
      A.apply(exec, cg.p_[0], cg.w_);
      const auto ref = Detail::multi_vector_ref(b);
      run("Strata::ConjugateGradient::start",
          Detail::CgStart<Scalar>{shared(),
                                  {ref.data, ref.row_stride, 0},
                                  cg.w_.data(),
                                  cg.r_.data(),
                                  diagonal(),
                                  cg.options_.relative_tolerance,
                                  cg.options_.absolute_tolerance,
                                  cg.options_.max_iterations,
                                  knows_z,
                                  verify});
    }
    void begin() const {
      cg.store(exec, Detail::CgScalars());
      cg.monitor_.reset();
      residual(false);
      first_direction();
    }
    /// A state that was verified goes on from its residual.
    void restart(Detail::CgScalars state) const {
      cg.monitor_.resume();
      state.status = Detail::cg_running;
      state.beta = 0;
      cg.store(exec, state);
      first_direction();
    }
    Detail::CgScalars verify(const Detail::CgScalars& found) const {
      residual(true);
      Detail::CgScalars state = cg.fetch(exec);
      state.iterations = found.iterations;
      return state;
    }
    void iterate(int it) const {
      if (merged()) {
        const Vector& p = cg.p_[it & 1];
        merged_product(cg.p_[(it - 1) & 1], p);
        update_residual<true>(it, p);
        precondition();
      } else {
        product();
        update_residual<false>(it, cg.p_[0]);
        precondition();
        direction(false);
      }
    }
    /// Has the sums that the last kernel has left taken.
    void flush() const {
      if (cg.not_ready_.mode == Detail::CgTakeResidual::nothing) return;
      Detail::run_cg("Strata::ConjugateGradient::flush", exec, 0,
                     Detail::CgFlush<Scalar>{next_shared(), take_not_ready()},
                     cg.vector_sum_);
    }

   private:
    template <class Kernel>
    void run(const char* label, const Kernel& kernel) const {
      Detail::run_cg(label, exec, cg.rows_, kernel, cg.vector_sum_);
    }
    /// What is left of the iteration before, for the kernel that takes it.
    Detail::CgTakeResidual take_not_ready() const {
      const auto found = cg.not_ready_;
      cg.not_ready_ = {};
      return found;
    }
    Detail::CgTakeCurvature take_curvature() const {
      const Detail::CgTakeCurvature found{cg.curvature_};
      cg.curvature_ = {};
      return found;
    }
    /// Whether the direction is made in the product.
    bool merged() const {
      return Detail::IsSellMatrix<Operator, Scalar, ExecutionSpace>::value &&
             cg.p_[1].extent(0) > 0;
    }
    template <bool updates_x>
    void update_residual(int it, const Vector& p) const {
      const auto curvature = take_curvature();
      cg.not_ready_ = {};
      cg.not_ready_.mode = Detail::CgTakeResidual::residual;
      if (knows_z) cg.not_ready_.rho = Detail::CgTakeResidual::second_sum;
      cg.not_ready_.iteration = it;
      cg.not_ready_.max_iterations = cg.options_.max_iterations;
      cg.not_ready_.sums = Detail::run_cg(
          "Strata::ConjugateGradient::residual", exec, cg.rows_,
          Detail::CgResidual<Scalar, updates_x>{next_shared(),
                                                curvature,
                                                cg.w_.data(),
                                                p.data(),
                                                cg.r_.data(),
                                                Detail::multi_vector_ref(x),
                                                diagonal(),
                                                {}},
          cg.residual_sum_);
    }
    void product() const {
      const Vector& p = cg.p_[0];
      if constexpr (Detail::IsSellMatrix<Operator, Scalar,
                                         ExecutionSpace>::value) {
        cg.curvature_ = Detail::run_sell(
            "Strata::ConjugateGradient::product", exec,
            Detail::Internals::storage(A),
            Detail::CgSellProduct<Scalar>{{p.data()}, cg.w_.data(), shared()},
            cg.product_sum_);
      } else {
        A.apply(exec, p, cg.w_);
        run("Strata::ConjugateGradient::curvature",
            Detail::CgProduct<Scalar>{shared(), p.data(), cg.w_.data(), true});
      }
    }
    /// p = z + beta p of the iteration before, w = A p.
    void merged_product(const Vector& old_p, const Vector& p) const {
      if constexpr (Detail::IsSellMatrix<Operator, Scalar,
                                         ExecutionSpace>::value) {
        constexpr bool scaled = Detail::IsJacobi<Preconditioner>::value;
        const auto not_ready = take_not_ready();
        cg.curvature_ =
            Detail::run_sell("Strata::ConjugateGradient::product", exec,
                             Detail::Internals::storage(A),
                             Detail::CgSellDirectionProduct<Scalar, scaled>{
                                 {z(), diagonal(), old_p.data(), {}},
                                 p.data(),
                                 cg.w_.data(),
                                 next_shared(),
                                 not_ready},
                             cg.product_sum_);
      } else {
        (void)old_p;
        (void)p;
      }
    }
    const Scalar* z() const { return knows_z ? cg.r_.data() : cg.z_.data(); }
    void direction(bool first) const {
      const auto not_ready = take_not_ready();
      run("Strata::ConjugateGradient::direction",
          Detail::CgDirection<Scalar>{next_shared(),
                                      not_ready,
                                      z(),
                                      diagonal(),
                                      cg.p_[0].data(),
                                      Detail::multi_vector_ref(x),
                                      first,
                                      {},
                                      {},
                                      {}});
    }
    /// Before the first direction there is none: where the product makes it,
    /// beta is 0, and what the vector holds must be finite.
    void first_direction() const {
      cg.curvature_ = {};
      cg.not_ready_ = {};
      if (!knows_z) cg.not_ready_.mode = Detail::CgTakeResidual::first;
      precondition();
      if (!merged()) return direction(true);
      for (const Vector& p : cg.p_) Kokkos::deep_copy(exec, p, Scalar(0));
    }
    /// z, and r^H z for who takes the residual's sums.
    void precondition() const {
      if constexpr (!knows_z) {
        if constexpr (Detail::IsIncomplete<Preconditioner>::value) {
          const Detail::CgSweepSum sum{shared().state};
          if (const auto* sweeps = Detail::Internals::sweeps(M)) {
            const auto left = sweeps->apply_leaving_sums(
                exec, cg.r_, cg.z_, sum, cg.vector_sum_, cg.second_sum_);
            return leave(left[0], left[1]);
          }
          if (const auto* solves = Detail::Internals::solves(M)) {
            const auto left = solves->apply(exec, cg.r_, cg.z_, sum);
            if (left.used_extra > 0) leave(left, {});
            return;
          }
        }
        M.apply(exec, cg.r_, cg.z_);
        run("Strata::ConjugateGradient::precondition",
            Detail::CgProduct<Scalar>{shared(), cg.r_.data(), cg.z_.data(),
                                      false});
      }
    }
    void leave(const Detail::LateSums& first,
               const Detail::LateSums& second) const {
      cg.not_ready_.rho = Detail::CgTakeResidual::left;
      cg.not_ready_.rho_sum = first;
      cg.not_ready_.other_rho_sum = second;
    }
  };

  void make_workspace(const ExecutionSpace& exec) {
    for (Vector* v : {&r_, &p_[0], &w_})
      *v = Detail::make_unfilled<Vector>("Strata::ConjugateGradient::vector",
                                         rows_);
    const bool merges =
        options_.launches == 2 ||
        (options_.launches == 0 && Detail::is_gpu<ExecutionSpace> &&
         rows_ <= Detail::most_merged_rows);
    if (merges)
      p_[1] = Detail::make_unfilled<Vector>("Strata::ConjugateGradient::vector",
                                            rows_);
    state_ = Detail::make_unfilled<decltype(state_)>(
        "Strata::ConjugateGradient::state", 2);
    monitor_ = Detail::CgMonitor<ExecutionSpace>(options_.iterations_ahead);
    residual_sum_ = make_sum(exec, 0);
    vector_sum_ = make_sum(exec, 0, Detail::uneven_blocks);
    second_sum_ = make_sum(exec, 0, Detail::uneven_blocks);
    exec.fence();
  }
  /// Waits for what is enqueued where an exception ends a solve: the next one
  /// has the same memory.
  struct WaitAfterException {
    const ExecutionSpace& exec;
    ~WaitAfterException() {
      try {
        if (std::uncaught_exceptions() > 0) exec.fence();
      } catch (...) {
        // Of a device that has failed: nothing works there any more.
      }
    }
  };
  template <class Operator, class Preconditioner, class B, class X>
  CgResult iterate(const ExecutionSpace& exec, const Operator& A,
                   const Preconditioner& M, const B& b, const X& x,
                   CgResult result) {
    const WaitAfterException at_the_end{exec};
    prepare(exec, A, M);
    SolveContext<Operator, Preconditioner, B, X> context{*this, exec, A,
                                                         M,     b,    x};
    context.begin();
    monitor_.open();
    int done = 0;
    double verified = 0;
    for (;;) {
      const bool stopped = monitor_.follow(
          exec, options_, done, [&](int it) { context.iterate(it); },
          [&] { context.flush(); });
      context.flush();
      Detail::CgScalars state = fetch(exec);
      if (!stopped) monitor_.close(options_, state.iterations);
      if (state.status == Detail::cg_running) {
        if (!stopped)
          throw Error("exec", "an enqueued iteration has not run",
                      "look for errors of the device");
        state.status = static_cast<int>(CgStatus::stopped);
      }
      const double squared_limit = state.squared_limit;
      result.status = static_cast<CgStatus>(state.status);
      result.iterations = done = state.iterations;
      result.rhs_norm = std::sqrt(state.squared_b);
      // Kernels have left x alone.
      if (state.zero_b) Kokkos::deep_copy(exec, x, Scalar(0));
      if (result.status == CgStatus::not_finite) {
        result.residual_norm = std::numeric_limits<double>::quiet_NaN();
        break;
      }
      state = context.verify(state);
      result.residual_norm = std::sqrt(state.squared_r);
      if (!Detail::is_finite(state.squared_r)) {
        result.status = CgStatus::not_finite;
        break;
      }
      // Twice the limit is as good: to begin anew for less would cost more
      // than it gains.
      if (result.status != CgStatus::converged ||
          state.squared_r <= 4 * squared_limit)
        break;
      if (stopped) {
        result.status = CgStatus::stopped;
        break;
      }
      if (result.restarts > 0 && state.squared_r > 0.25 * verified) {
        result.status = CgStatus::stagnated;
        break;
      }
      if (done == options_.max_iterations) {
        result.status = CgStatus::max_iterations;
        break;
      }
      verified = state.squared_r;
      ++result.restarts;
      context.restart(state);
    }
    result.history = monitor_.history(result.iterations);
    return result;
  }

  static Sum make_sum(const ExecutionSpace& exec, std::int64_t extra,
                      int times = 1) {
    return Sum(
        times * Detail::resident_blocks(exec, Detail::most_blocks_at_once),
        extra);
  }

  /// What depends on the operators' types.
  template <class Operator, class Preconditioner>
  void prepare(const ExecutionSpace& exec, const Operator& A,
               const Preconditioner&) {
    if constexpr (Detail::IsSellMatrix<Operator, Scalar,
                                       ExecutionSpace>::value) {
      const std::int64_t extra = Detail::Internals::storage(A).num_long_rows();
      if (product_sum_.max_blocks == 0 || product_sum_.extra < extra)
        product_sum_ = make_sum(exec, extra, Detail::uneven_blocks);
    }
    if constexpr (!Detail::IsDiagonal<Preconditioner>::value) {
      if (static_cast<std::int64_t>(z_.extent(0)) != rows_)
        z_ = Detail::make_unfilled<Vector>("Strata::ConjugateGradient::vector",
                                           rows_);
    }
    (void)exec;
    (void)A;
  }

  /// Waits for `exec`.
  Detail::CgScalars fetch(const ExecutionSpace& exec) const {
    Detail::CgScalars state;
    Kokkos::deep_copy(exec, HostState(&state), Kokkos::subview(state_, turn_));
    exec.fence();
    return state;
  }
  void store(const ExecutionSpace& exec, const Detail::CgScalars& state) const {
    Detail::CgScalars copy = state;
    Kokkos::deep_copy(exec, Kokkos::subview(state_, turn_), HostState(&copy));
    exec.fence();
  }
  using HostState = Kokkos::View<Detail::CgScalars, Kokkos::HostSpace,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  CgOptions options_;
  std::int64_t rows_ = 0;
  Detail::Made made_;
  Vector r_, w_, z_;
  Vector p_[2];  // the second one where the product makes p: in turn
  Kokkos::View<Detail::CgScalars*, memory_space> state_;  // two, see CgShared
  int turn_ = 0;  // the set that the next kernel reads
  Detail::CgMonitor<ExecutionSpace> monitor_;
  Sum vector_sum_, second_sum_, residual_sum_, product_sum_;
  /// What kernels enqueued have left for later ones.
  Detail::LateSums curvature_;
  Detail::CgTakeResidual not_ready_;
};

}  // namespace Strata

#endif
