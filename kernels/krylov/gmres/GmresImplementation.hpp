// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_GMRES_GMRES_IMPLEMENTATION_HPP
#define STRATA_KERNELS_KRYLOV_GMRES_GMRES_IMPLEMENTATION_HPP

// What Gmres does, compiled into libstrata (src/) for the scalars and spaces of
// a build. A program with others includes this file.

#include <Strata_Gmres.hpp>
#include <algorithm>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/krylov/gmres/GmresKernels.hpp>
#include <kernels/krylov/solve/KrylovSolverImplementation.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<Gmres<Scalar, ExecutionSpace>> : std::true_type {};

/// The workspace of a Gmres, which copies share.
template <class Scalar, class ExecutionSpace>
class GmresState {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Operator = KrylovOperator<Scalar, ExecutionSpace>;
  using Preconditioner = KrylovPreconditioner<Scalar, ExecutionSpace>;
  static constexpr const char *name = "Gmres", *region = "Strata::Gmres::solve",
                              *workspace = "workspace of GMRES",
                              *task = "a solve by GMRES";

  static void check(const GmresOptions& options) {
    check_krylov_options(options);
    check_option_range("restart", options.restart, 1, 1000);
  }

  GmresState(const ExecutionSpace& exec, std::int64_t rows,
             const GmresOptions& options)
      : rows_(rows) {
    // No Krylov space has more dimensions than there are rows.
    columns_ = static_cast<int>(std::min<std::int64_t>(
        {options.restart, std::max<std::int64_t>(1, rows),
         std::max(1, options.max_iterations)}));
    const int blocks = resident_blocks(exec, Pass::blocks_at_once);
    make_unfilled(basis_, "Strata::Gmres::basis", rows_ * (columns_ + 1));
    for (Vector* v : {&z_, &image_})
      make_unfilled(*v, "Strata::Gmres::vector", rows_);
    make_zeroed(numbers_, "Strata::Gmres::problem", Problem::count(columns_));
    make_unfilled(state_, "Strata::Gmres::state", 1);
    monitor_ = KrylovMonitor<ExecutionSpace>(options.iterations_ahead);
    vector_sum_ = make_grid_sum(exec, 0);
    sums_ = ManySums<Memory>(blocks, Pass::parts * (columns_ + 2));
    exec.fence();
  }

  std::int64_t rows() const { return rows_; }

  KrylovResult solve(const ExecutionSpace& exec, const GmresOptions& options,
                     const Operator& A, const Preconditioner& M,
                     const StridedBlock& b, const StridedBlock& x) {
    auto result = run_krylov<KrylovResult, Scalar>(
        exec, options, monitor_,
        SolveContext{{}, *this, options, exec, A, M, b, x});
    result.restarts += counted_restarts_;
    return result;
  }

 private:
  using Vector = Kokkos::View<Scalar*, Memory>;
  using Problem = GmresProblem<Scalar>;
  using Pass = GmresPass<Scalar, ExecutionSpace>;

  /// The kernels of a solve.
  struct SolveContext : KrylovContext {
    GmresState& gmres;
    const GmresOptions& options;
    const ExecutionSpace& exec;
    const Operator& A;
    const Preconditioner& M;
    const StridedBlock &b, &x;

    void begin() const {
      store_state(exec, gmres.state_, 0, GmresScalars());
      gmres.monitor_.reset();
      residual(ResidualOf::start);
      begin_cycle();
    }
    void iterate(int it, int) const {
      if (gmres.column_ == gmres.columns_) {
        correct(false);
        residual(ResidualOf::cycle);
        begin_cycle();
      }
      const int column = gmres.column_++;
      product(column);
      for (const auto step : {Pass::project, Pass::again, Pass::norm})
        pass(step, column, it);
      if (column + 1 < gmres.columns_) normalise(column + 1);
    }
    GmresScalars fetch() const {
      GmresScalars state;
      fetch_state(exec, gmres.state_, 0, state);
      gmres.counted_restarts_ = state.restarts;
      return state;
    }
    /// x of the columns that the cycle has.
    void complete(const GmresScalars& state) const {
      if (state.columns > 0) correct(true);
    }
    GmresScalars verify(const GmresScalars&) const {
      residual(ResidualOf::end);
      return fetch();
    }
    void restart(GmresScalars state) const {
      gmres.monitor_.resume();
      state.status = krylov_running;
      store_state(exec, gmres.state_, 0, state);
      begin_cycle();
    }
    bool broke_down(KrylovStatus status) const {
      return status == KrylovStatus::breakdown ||
             status == KrylovStatus::stagnated;
    }

   private:
    template <class Kernel>
    void run(const char* label, const Kernel& kernel) const {
      run_vector_kernel(label, exec, gmres.rows_, kernel, gmres.vector_sum_);
    }
    Problem problem() const {
      return {gmres.state_.data(), gmres.monitor_.signals(),
              gmres.numbers_.data(), gmres.columns_};
    }
    Vector basis(int column) const {
      return Vector(gmres.basis_.data() + gmres.rows_ * column,
                    static_cast<std::size_t>(gmres.rows_));
    }
    MultiVectorRef<Scalar> x_ref() const { return multi_vector_ref<Scalar>(x); }

    /// The first column of the basis = b - A x.
    void residual(ResidualOf of) const {
      Kokkos::deep_copy(exec, gmres.z_,
                        strided_vector<const Scalar, ExecutionSpace>(x));
      A.apply(exec, gmres.z_, gmres.image_);
      run("Strata::Gmres::start",
          KrylovStart<Scalar, GmresScalars>{
              gmres.state_.data(), gmres.monitor_.signals(),
              multi_vector_ref<const Scalar>(b), gmres.image_.data(),
              basis(0).data(), KrylovLimits(options), of});
    }
    void begin_cycle() const {
      gmres.column_ = 0;
      normalise(0);
    }
    void normalise(int column) const {
      run("Strata::Gmres::normalise",
          GmresNormalise<Scalar>{gmres.state_.data(),
                                 basis(column).data(),
                                 gmres.z_.data(),
                                 M.inverse_diagonal,
                                 {}});
    }
    /// A M^-1 v. Runs behind the last iteration, too: see GmresPass.
    void product(int column) const {
      const Vector v = basis(column), &w = gmres.image_;
      if (M.diagonal)
        return A.apply(exec, M.inverse_diagonal ? gmres.z_ : v, w);
      M.apply(exec, v, gmres.z_);
      A.apply(exec, gmres.z_, w);
    }
    void pass(typename Pass::Step step, int column, int it) const {
      const std::int64_t of_block = is_gpu<ExecutionSpace> ? 256 : 1;
      const auto blocks = static_cast<int>(std::min<std::int64_t>(
          (gmres.rows_ + of_block - 1) / of_block, gmres.sums_.max_blocks));
      run_native_teams<Pass::blocks_at_once>(
          "Strata::Gmres::orthogonalise", exec, blocks,
          Pass{problem(), ManySumsRef(gmres.sums_), gmres.basis_.data(),
               gmres.image_.data(), gmres.rows_, column, step, it,
               options.max_iterations});
    }
    /// x += M^-1 V y
    void correct(bool at_the_end) const {
      run_native_teams<1>("Strata::Gmres::triangle", exec, 1,
                          GmresTriangle<Scalar>{problem(), at_the_end});
      // The last column of the basis is free.
      const Vector u = basis(gmres.columns_);
      run("Strata::Gmres::correction",
          GmresCorrection<Scalar>{problem(),
                                  gmres.basis_.data(),
                                  gmres.rows_,
                                  M.inverse_diagonal,
                                  x_ref(),
                                  M.diagonal ? nullptr : u.data(),
                                  at_the_end,
                                  {}});
      if (M.diagonal) return;
      M.apply(exec, u, gmres.z_);
      run("Strata::Gmres::correction",
          KrylovAdd<Scalar, GmresScalars>{gmres.state_.data(), x_ref(),
                                          gmres.z_.data(), at_the_end});
    }
  };

  std::int64_t rows_;
  int columns_;     // of a cycle
  int column_ = 0;  // of the cycle, that is enqueued next
  int counted_restarts_ = 0;
  Vector basis_, z_, image_;
  Kokkos::View<WideOf<Scalar>*, Memory> numbers_;
  Kokkos::View<GmresScalars*, Memory> state_;
  KrylovMonitor<ExecutionSpace> monitor_;
  GridSum<Memory> vector_sum_;
  ManySums<Memory> sums_;
};

}  // namespace Detail
}  // namespace Strata

#endif
