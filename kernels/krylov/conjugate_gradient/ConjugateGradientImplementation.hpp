// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CONJUGATE_GRADIENT_IMPLEMENTATION_HPP
#define STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CONJUGATE_GRADIENT_IMPLEMENTATION_HPP

// What ConjugateGradient does, compiled into libstrata (src/) for the scalars
// and spaces of a build. A program with others includes this file.

#include <Strata_ConjugateGradient.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/factorization/colours/TwoColourBlocks.hpp>
#include <kernels/krylov/conjugate_gradient/CgKernels.hpp>
#include <kernels/krylov/conjugate_gradient/CgResident.hpp>
#include <kernels/krylov/solve/KrylovSolverImplementation.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<ConjugateGradient<Scalar, ExecutionSpace>>
    : std::true_type {};

/// The workspace of a ConjugateGradient, which copies share.
template <class Scalar, class ExecutionSpace>
class ConjugateGradientState {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Operator = KrylovOperator<Scalar, ExecutionSpace>;
  using Preconditioner = KrylovPreconditioner<Scalar, ExecutionSpace>;
  static constexpr const char *name = "ConjugateGradient",
                              *region = "Strata::ConjugateGradient::solve",
                              *workspace = "workspace of conjugate gradients",
                              *task = "a solve by conjugate gradients";

  static void check(const CgOptions& options) {
    check_krylov_options(options);
    if (options.launches < 0 || options.launches > 3)
      throw OptionError(
          "launches", std::to_string(options.launches) + " is not 0, 1, 2 or 3",
          "choose one of these, 0 for the default");
  }

  ConjugateGradientState(const ExecutionSpace& exec, std::int64_t rows,
                         const CgOptions& options)
      : rows_(rows) {
    make_workspace(exec, options);
  }

  std::int64_t rows() const { return rows_; }

  CgResult solve(const ExecutionSpace& exec, const CgOptions& options,
                 const Operator& A, const Preconditioner& M,
                 const StridedBlock& b, const StridedBlock& x) {
    prepare(exec, A, M);
    const Reduced* const reduced = reduced_system(exec, options, A, M);
    const ResidentPlan resident = resident_plan(exec, options, A, M, reduced);
    return run_krylov<CgResult, Scalar>(
        exec, options, monitor_,
        SolveContext{{}, *this, options, exec, A, M, b, x, reduced, resident});
  }

 private:
  /// Unknowns up to which the product makes the direction on a device.
  static constexpr std::int64_t most_merged_rows = 300000;
  using Vector = Kokkos::View<Scalar*, Memory>;
  using Sum = GridSum<Memory>;
  using Reduced = TwoColourBlocks<Scalar, ExecutionSpace>;

  /// The kernels of a solve.
  struct SolveContext : KrylovContext {
    ConjugateGradientState& cg;
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
    std::int64_t rows() const { return reduced ? reduced->rows() : cg.rows_; }
    bool knows_z() const { return reduced || M.diagonal; }

    CgShared shared() const {
      CgScalars* const both = cg.state_.data();
      return {both + cg.turn_, both + (1 - cg.turn_), cg.monitor_.signals()};
    }
    /// For a kernel that goes on from one set of scalars to the other.
    CgShared next_shared() const {
      const auto found = shared();
      cg.turn_ = 1 - cg.turn_;
      return found;
    }
    const RealOf<Scalar>* diagonal() const {
      return reduced ? reduced->inverse_pivot() : M.inverse_diagonal;
    }
    /// Of the iteration.
    MultiVectorRef<Scalar> x_ref() const {
      return reduced ? multi_vector_ref(cg.reduced_x_)
                     : multi_vector_ref<Scalar>(x);
    }

    /// r = b - A x
    void residual(bool verify) const {
      Kokkos::deep_copy(exec, cg.p_[0],
                        strided_vector<const Scalar, ExecutionSpace>(x));
      A.apply(exec, cg.p_[0], cg.w_);
      // The diagonal of a reduced system has nothing to do with this r.
      run_vector_kernel(
          "Strata::ConjugateGradient::start", exec, cg.rows_,
          CgStart<Scalar>{shared(), multi_vector_ref<const Scalar>(b),
                          cg.w_.data(), cg.r_.data(),
                          reduced ? nullptr : diagonal(), KrylovLimits(options),
                          knows_z(), verify, false},
          cg.vector_sum_);
    }
    /// The same of the reduced system, whose b and x it makes.
    void reduced_residual() const {
      const auto given = multi_vector_ref<const Scalar>(b);
      const auto guess = multi_vector_ref<const Scalar>(x);
      reduced->reduce(exec, given, guess, cg.reduced_b_.data(),
                      cg.reduced_x_.data());
      reduced_product(cg.reduced_x_.data(), true);
      run_vector_kernel("Strata::ConjugateGradient::norm", exec, cg.rows_,
                        CgRhsNorm<Scalar>{shared(), given, guess},
                        cg.vector_sum_);
      run("Strata::ConjugateGradient::start",
          CgStart<Scalar>{shared(),
                          {cg.reduced_b_.data(), 1, 0},
                          cg.w_.data(),
                          cg.r_.data(),
                          diagonal(),
                          KrylovLimits(options),
                          true,
                          false,
                          true});
    }
    CgScalars fetch() const {
      CgScalars state;
      fetch_state(exec, cg.state_, cg.turn_, state);
      return state;
    }
    void complete(const CgScalars& state) const {
      if (!reduced || state.zero_b) return;
      reduced->complete(exec, multi_vector_ref<const Scalar>(b),
                        cg.reduced_x_.data(), multi_vector_ref<Scalar>(x));
    }
    bool holds_back_x() const { return reduced != nullptr; }
    void begin() const {
      store_state(exec, cg.state_, cg.turn_, CgScalars());
      cg.monitor_.reset();
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
      cg.monitor_.resume();
      if (reduced) resident = {};
      reduced = nullptr;
      state.status = krylov_running;
      state.beta = 0;
      store_state(exec, cg.state_, cg.turn_, state);
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
      } else if (merged()) {
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
      if (cg.not_ready_.mode == CgTakeResidual::nothing) return;
      run_vector_kernel("Strata::ConjugateGradient::flush", exec, 0,
                        CgFlush<Scalar>{next_shared(), take_not_ready()},
                        cg.vector_sum_);
    }

   private:
    template <class Kernel>
    void run(const char* label, const Kernel& kernel) const {
      run_vector_kernel(label, exec, rows(), kernel, cg.vector_sum_);
    }
    /// What is left of the iteration before, for the kernel that takes it.
    CgTakeResidual take_not_ready() const {
      const auto found = cg.not_ready_;
      cg.not_ready_ = {};
      return found;
    }
    CgTakeCurvature take_curvature() const {
      const CgTakeCurvature found{cg.curvature_};
      cg.curvature_ = {};
      return found;
    }
    /// Whether the direction is made in the product.
    bool merged() const {
      return resident.teams > 0 ||
             (!reduced && A.sell && cg.merges_ && cg.p_[1].extent(0) > 0);
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
                 cg.reduced_t_.data(),
                 diagonal(),
                 cg.r_.data(),
                 {diagonal() ? cg.z_.data() : cg.r_.data(), cg.w_.data()},
                 {cg.p_[0].data(), cg.p_[1].data()},
                 x_ref(),
                 next_shared(),
                 ResidentSumRef<Kernel::width>(cg.resident_sum_),
                 it,
                 count,
                 options.max_iterations},
          resident.teams, resident.team_size, resident.scratch_bytes);
    }
    template <bool updates_x>
    void update_residual(int it, const Vector& p) const {
      const auto curvature = take_curvature();
      cg.not_ready_ = {};
      cg.not_ready_.mode = CgTakeResidual::residual;
      cg.not_ready_.sums_rho = knows_z();
      cg.not_ready_.iteration = it;
      cg.not_ready_.max_iterations = options.max_iterations;
      cg.not_ready_.sums =
          run_vector_kernel("Strata::ConjugateGradient::residual", exec, rows(),
                            CgResidual<Scalar, updates_x>{next_shared(),
                                                          curvature,
                                                          cg.w_.data(),
                                                          p.data(),
                                                          cg.r_.data(),
                                                          x_ref(),
                                                          diagonal(),
                                                          {}},
                            cg.residual_sum_);
    }
    void product() const {
      const Vector& p = cg.p_[0];
      if (reduced) {
        cg.curvature_ = reduced_product(p.data(), false);
      } else if (A.sell) {
        cg.curvature_ =
            run_sell("Strata::ConjugateGradient::product", exec,
                     Internals::storage(*A.sell),
                     CgSellProduct<Scalar>{{p.data()}, cg.w_.data(), shared()},
                     cg.product_sum_);
      } else {
        A.apply(exec, p, cg.w_);
        run("Strata::ConjugateGradient::curvature",
            CgProduct<Scalar>{shared(), p.data(), cg.w_.data(), true});
      }
    }
    /// w = S p, of a reduced system. Returns what p^H w is to be added up of.
    LateSums reduced_product(const Scalar* p, bool always) const {
      const CgScalars* const state = shared().state;
      run_sell(
          "Strata::ConjugateGradient::reduced_product", exec, reduced->upper(),
          CgReducedFirst<Scalar>{{p}, cg.reduced_t_.data(), state, always});
      return run_sell("Strata::ConjugateGradient::reduced_product", exec,
                      reduced->lower(),
                      CgReducedSecond<Scalar>{{cg.reduced_t_.data()},
                                              p,
                                              reduced->diagonal(),
                                              cg.w_.data(),
                                              state,
                                              always},
                      cg.reduced_sum_);
    }
    /// p = z + beta p of the iteration before, w = A p.
    void merged_product(const Vector& old_p, const Vector& p) const {
      if (diagonal())
        merged_product_of<true>(old_p, p);
      else
        merged_product_of<false>(old_p, p);
    }
    template <bool scaled>
    void merged_product_of(const Vector& old_p, const Vector& p) const {
      const auto not_ready = take_not_ready();
      cg.curvature_ = run_sell("Strata::ConjugateGradient::product", exec,
                               Internals::storage(*A.sell),
                               CgSellDirectionProduct<Scalar, scaled>{
                                   {z(), diagonal(), old_p.data(), {}},
                                   p.data(),
                                   cg.w_.data(),
                                   next_shared(),
                                   not_ready},
                               cg.product_sum_);
    }
    const Scalar* z() const { return knows_z() ? cg.r_.data() : cg.z_.data(); }
    void direction(bool first) const {
      const auto not_ready = take_not_ready();
      run("Strata::ConjugateGradient::direction",
          CgDirection<Scalar>{next_shared(),
                              not_ready,
                              z(),
                              diagonal(),
                              cg.p_[0].data(),
                              x_ref(),
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
      if (!knows_z()) cg.not_ready_.mode = CgTakeResidual::first;
      precondition();
      if (!merged()) return direction(true);
      for (const Vector& p : cg.p_) Kokkos::deep_copy(exec, p, Scalar(0));
    }
    /// z and r^H z.
    void precondition() const {
      if (knows_z()) return;
      M.apply(exec, cg.r_, cg.z_);
      run("Strata::ConjugateGradient::precondition",
          CgProduct<Scalar>{shared(), cg.r_.data(), cg.z_.data(), false});
    }
  };

  void make_workspace(const ExecutionSpace& exec, const CgOptions& options) {
    for (Vector* v : {&r_, &p_[0], &w_})
      *v = make_unfilled<Vector>("Strata::ConjugateGradient::vector", rows_);
    merges_ = options.launches == 2 ||
              (options.launches < 2 && is_gpu<ExecutionSpace> &&
               rows_ <= most_merged_rows);
    if (merges_) make_second_direction();
    state_ =
        make_unfilled<decltype(state_)>("Strata::ConjugateGradient::state", 2);
    monitor_ = KrylovMonitor<ExecutionSpace>(
        has_resident_teams<ExecutionSpace>
            ? std::max(options.iterations_ahead, 2 * most_resident_iterations)
            : options.iterations_ahead);
    residual_sum_ = make_grid_sum(exec, 0);
    vector_sum_ = make_grid_sum(exec, 0, uneven_blocks);
    exec.fence();
  }
  /// What depends on the operators.
  void prepare(const ExecutionSpace& exec, const Operator& A,
               const Preconditioner& M) {
    if (A.sell) {
      const std::int64_t extra = Internals::storage(*A.sell).num_long_rows();
      if (product_sum_.max_blocks == 0 || product_sum_.extra < extra)
        product_sum_ = make_grid_sum(exec, extra, uneven_blocks);
    }
    if (!M.diagonal && static_cast<std::int64_t>(z_.extent(0)) != rows_)
      z_ = make_unfilled<Vector>("Strata::ConjugateGradient::vector", rows_);
  }

  void make_second_direction() {
    if (static_cast<std::int64_t>(p_[1].extent(0)) == rows_) return;
    p_[1] = make_unfilled<Vector>("Strata::ConjugateGradient::vector", rows_);
  }
  /// Whether a team whose chunks are all as long as the longest may take up
  /// more time than a launch for many iterations saves: teams have equal
  /// numbers of chunks. A step of a chunk is taken to cost 4 ns, and 4 us to be
  /// saved.
  static bool lags_behind(const ResidentPlan& plan, const Operator& A,
                          const Reduced* reduced) {
    constexpr std::int64_t most_steps = 1000;
    const auto steps_behind = [](const ResidentShare& share,
                                 const auto& matrix) {
      const std::int64_t chunks =
          std::max<std::int64_t>(1, matrix.num_chunks());
      const std::int64_t mean =
          static_cast<std::int64_t>(matrix.value.extent(0)) /
          (chunks * matrix.chunk_lanes());
      return share.chunks_of_team * (matrix.longest_chunk - mean);
    };
    return (reduced ? steps_behind(plan.share, reduced->lower()) +
                          steps_behind(plan.first, reduced->upper())
                    : steps_behind(plan.share, Internals::storage(*A.sell))) >
           most_steps;
  }
  /// How launches do many iterations, where they can and are wanted.
  ResidentPlan resident_plan(const ExecutionSpace& exec,
                             const CgOptions& options, const Operator& A,
                             const Preconditioner& M, const Reduced* reduced) {
    ResidentPlan plan;
    if constexpr (has_resident_teams<ExecutionSpace>) {
      const bool asked = options.launches == 1;
      if (!asked && (options.launches != 0 ||
                     (options.progress &&
                      options.iterations_ahead < least_resident_ahead)))
        return plan;
      if (!reduced && !(A.sell && M.diagonal)) return plan;
      if (reduced)
        plan = plan_resident<CgResident<Scalar, ExecutionSpace, true>>(
            exec, reduced->lower(), &reduced->upper(), true);
      else
        plan = plan_resident<CgResident<Scalar, ExecutionSpace, false>, Scalar>(
            exec, Internals::storage(*A.sell), nullptr,
            M.inverse_diagonal != nullptr);
      if (!asked && lags_behind(plan, A, reduced)) plan = {};
      if (plan.teams == 0) return plan;
      make_second_direction();
      if (resident_sum_.max_teams < plan.teams)
        resident_sum_ = {exec, plan.teams};
      if (M.inverse_diagonal &&
          static_cast<std::int64_t>(z_.extent(0)) != rows_)
        z_ = make_unfilled<Vector>("Strata::ConjugateGradient::vector", rows_);
    }
    (void)exec;
    (void)options;
    (void)A;
    (void)M;
    (void)reduced;
    return plan;
  }

  /// The reduced system that a solve can take its steps in, or null: M must be
  /// made of A itself, and not of an earlier matrix, which a product with a
  /// vector tells. Waits for `exec` where M has one.
  const Reduced* reduced_system(const ExecutionSpace& exec,
                                const CgOptions& options, const Operator& A,
                                const Preconditioner& M) {
    const Reduced* const reduced = M.reduced;
    if (!reduced || options.max_iterations == 0) return nullptr;
    const std::int64_t extra = reduced->extra_parts();
    if (reduced_sum_.max_blocks == 0 || reduced_sum_.extra < extra)
      reduced_sum_ = make_grid_sum(exec, extra, uneven_blocks);
    if (counts_.extent(0) == 0)
      counts_ = make_unfilled<decltype(counts_)>(
          "Strata::ConjugateGradient::counts", 2);
    const auto size = [&](Vector& v, std::int64_t rows) {
      if (static_cast<std::int64_t>(v.extent(0)) == rows) return;
      v = Vector();
      v = make_unfilled<Vector>("Strata::ConjugateGradient::reduced", rows);
    };
    size(reduced_b_, reduced->rows());
    size(reduced_x_, reduced->rows());
    size(reduced_t_, reduced->first_rows());
    Kokkos::parallel_for("Strata::ConjugateGradient::probe",
                         RangeOf<ExecutionSpace>(exec, 0, rows_),
                         FillProbe<Scalar>{p_[0].data()});
    A.apply(exec, p_[0], w_);
    return reduced->agrees(exec, w_.data(), counts_, reduced_sum_) ? reduced
                                                                   : nullptr;
  }

  std::int64_t rows_;
  Vector r_, w_, z_;
  Vector reduced_b_, reduced_x_, reduced_t_;  // where there is such a system
  Vector p_[2];  // the second one where the product makes p: in turn
  Kokkos::View<CgScalars*, Memory> state_;  // two, see CgShared
  int turn_ = 0;  // the set that the next kernel reads
  KrylovMonitor<ExecutionSpace> monitor_;
  Sum vector_sum_, residual_sum_, product_sum_, reduced_sum_;
  ResidentSum<Memory> resident_sum_;
  bool merges_ = false;  // unless the options say so, small systems
  Kokkos::View<double*, Memory> counts_;  // of rows where A and M differ
  /// What kernels enqueued have left for later ones.
  LateSums curvature_;
  CgTakeResidual not_ready_;
};

}  // namespace Detail
}  // namespace Strata

#endif
