// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CONJUGATE_GRADIENT_IMPLEMENTATION_HPP
#define STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CONJUGATE_GRADIENT_IMPLEMENTATION_HPP

// What ConjugateGradient does, compiled into libstrata (src/) for the scalars
// and spaces of a build. A program with others includes this file.

#include <Strata_ConjugateGradient.hpp>
#include <core/matrix/PackValues.hpp>
#include <kernels/factorization/colours/TwoColourBlocks.hpp>
#include <kernels/krylov/conjugate_gradient/CgContext.hpp>
#include <kernels/krylov/conjugate_gradient/CgWorkspace.hpp>
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
  using Operator = KrylovOperator<Scalar, ExecutionSpace>;
  using Preconditioner = KrylovPreconditioner<Scalar, ExecutionSpace>;
  static constexpr const char *name = "ConjugateGradient",
                              *region = "Strata::ConjugateGradient::solve",
                              *workspace = "workspace of conjugate gradients",
                              *task = "a solve by conjugate gradients";

  static void check(const CgOptions& options) {
    check_krylov_options(options);
    if (options.launches != 0 && options.launches != 1 && options.launches != 3)
      throw OptionError("launches",
                        std::to_string(options.launches) + " is not 0, 1 or 3",
                        "choose one of these, 0 for the default");
  }

  ConjugateGradientState(const ExecutionSpace& exec, std::int64_t rows,
                         const CgOptions& options)
      : cg_(exec, rows, options) {}

  std::int64_t rows() const { return cg_.rows; }

  CgResult solve(const ExecutionSpace& exec, const CgOptions& options,
                 const Operator& A, const Preconditioner& M,
                 const StridedBlock& b, const StridedBlock& x) {
    cg_.hold_for(exec, A, M);
    const Reduced* const reduced = reduced_system(exec, options, A, M);
    const ResidentPlan resident = resident_plan(exec, options, A, M, reduced);
    return run_krylov<CgResult, Scalar>(
        exec, options, cg_.monitor,
        Context{{}, cg_, options, exec, A, M, b, x, reduced, resident});
  }

 private:
  using Context = CgContext<Scalar, ExecutionSpace>;
  using Reduced = TwoColourBlocks<Scalar, ExecutionSpace>;
  template <bool reduces>
  using Planner = ResidentPlanner<CgResident<Scalar, ExecutionSpace, reduces>,
                                  Scalar, ExecutionSpace>;

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
        plan =
            Planner<true>(reduced->lower(), &reduced->upper(), true).plan(exec);
      else
        plan = Planner<false>(Internals::storage(*A.sell), nullptr,
                              M.inverse_diagonal != nullptr)
                   .plan(exec);
      if (!asked && lags_behind(plan, A, reduced)) plan = {};
      if (plan.teams == 0) return plan;
      cg_.hold_for(exec, plan, M.inverse_diagonal != nullptr);
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
    cg_.hold_for(exec, *reduced);
    for_each_index("Strata::ConjugateGradient::probe", exec, cg_.rows,
                   FillProbe<Scalar>{cg_.p[0].data()});
    A.apply(exec, cg_.p[0], cg_.w);
    return reduced->agrees(exec, cg_.w.data(), cg_.counts, cg_.reduced_sum)
               ? reduced
               : nullptr;
  }

  CgWorkspace<Scalar, ExecutionSpace> cg_;
};

}  // namespace Detail
}  // namespace Strata

#endif
