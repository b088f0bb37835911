// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TRIANGULAR_SOLVER_STATE_HPP
#define STRATA_KERNELS_TRIANGULAR_TRIANGULAR_SOLVER_STATE_HPP

#include <Strata_TriangleGraph.hpp>
#include <Strata_TriangularReport.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/device/Profiling.hpp>
#include <core/interface/Sharers.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/triangular/EnqueuedUpdates.hpp>
#include <kernels/triangular/OptionChecks.hpp>
#include <kernels/triangular/selection/ChooseAlgorithm.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// The workspace of a solver that share_plan has made, and of its copies.
template <class Scalar, class ExecutionSpace>
struct TriangularWorkspace {
  using Algorithm = TriangularAlgorithm<Scalar, ExecutionSpace>;

  /// Null: solves have no workspace, and the plan's own algorithm serves.
  std::shared_ptr<const Algorithm> algorithm;
  /// The same of the fallback plan.
  std::shared_ptr<const Algorithm> fallback;
};

/// What solvers share that share a plan: all but further workspaces.
template <class Scalar, class ExecutionSpace>
class TriangularSolverState {
 public:
  using Matrix = CrsArrays<Scalar>;
  using Workspace = TriangularWorkspace<Scalar, ExecutionSpace>;

  using Graph = GraphWithLevels<ExecutionSpace>;

  /// See TriangularSolver's constructor.
  /// @param kept   sub-graphs of the pattern before, for update_pattern
  /// @param known  graph and levels of this triangle, if a factorisation has
  ///               made them; null: they are made here
  TriangularSolverState(const ExecutionSpace& exec, const Matrix& A, Uplo uplo,
                        Diag diag, const TriangularOptions& options,
                        const KeptPartition& kept = {},
                        const Graph* known = nullptr)
      : uplo_(uplo), diag_(diag), options_(options) {
    require_enumerator("uplo", uplo);
    require_enumerator("diag", diag);
    require_enumerator("op", options.op);
    check_options(options);
    const ProfilingRegion region("Strata::TriangularSolver::analysis");
    Kokkos::Timer timer;
    report_.accuracy = options.accuracy;
    report_.rows = A.columns;
    TriangleInput input;
    input.uplo = uplo;
    input.diag = diag;
    input.op = options.op;
    input.take_triangle = options.take_triangle;
    row_map_extent_ = A.row_map.extent(0);
    num_values_ = A.num_values;
    make_plan(exec, A, input, options, kept, known);
    chosen_entries_ = report_.entries;
    chosen_levels_ = report_.levels;
    count_plan_bytes();
    report_.workspace_bytes = algorithm_->workspace_bytes() +
                              (updates_ ? updates_->workspace_bytes() : 0);
    report_.analysis_us = timer.seconds() * 1e6;
  }

  const TriangularReport& report() const { return report_; }

  /// @param workspace  null: the plan's own
  void solve(const ExecutionSpace& exec, const StridedBlock& b,
             const StridedBlock& x, const Workspace* workspace) const {
    check_vectors(report_.rows, b, x);
    solve_checked(exec, b, x, workspace);
  }
  /// For vectors that check_vectors has seen.
  void solve_checked(const ExecutionSpace& exec, const StridedBlock& b,
                     const StridedBlock& x, const Workspace* workspace) const {
    const std::int64_t columns = x.extent[1];
    if (report_.rows == 0 || columns == 0) return;
    const ProfilingRegion region("Strata::TriangularSolver::solve");
    if (!(updates_ ? updates_->has_values() : algorithm_->has_values()))
      throw HandleError("solver",
                        "has no values: an exception has ended the update",
                        "call update_values again");
    const SomeAlgorithm& algorithm =
        workspace && workspace->algorithm ? *workspace->algorithm : *algorithm_;
    with_memory_errors("a triangular solve", [&] {
      const auto from = multi_vector_ref<const Scalar>(b);
      const auto to = multi_vector_ref<Scalar>(x);
      algorithm.solve(exec, from, to, columns);
      if (updates_)
        updates_->solve(exec, from, to, columns,
                        workspace ? workspace->fallback.get() : nullptr);
    });
  }

  void fill_workspace(const ExecutionSpace& exec, Workspace& workspace) const {
    workspace.algorithm = algorithm_->with_workspace(exec);
    if (updates_) workspace.fallback = updates_->with_workspace(exec);
  }
  /// One more workspace. Waits for `exec`.
  std::shared_ptr<Workspace> make_workspace(const ExecutionSpace& exec) const {
    const ProfilingRegion region("Strata::TriangularSolver::share_plan");
    const auto made = std::make_shared<Workspace>();
    fill_workspace(exec, *made);
    exec.fence();
    workspaces_->add(made);
    return made;
  }

  void check_num_values(std::size_t num_values) const {
    if (num_values != num_values_)
      throw SizeMismatchError("values",
                              "has " + std::to_string(num_values) +
                                  " elements, the analysed matrix " +
                                  std::to_string(num_values_),
                              "pass the values of the analysed matrix");
  }
  bool same_sizes(const Matrix& A) const {
    return A.row_map.extent(0) == row_map_extent_ &&
           A.entries.extent(0) == num_values_;
  }

  /// Inspects, which the host waits for, then enqueues the packing. A row map
  /// and entries without elements stand for the analysed ones.
  void take_values(const ExecutionSpace& exec, const Matrix& A,
                   bool same_sizes) {
    const ProfilingRegion region("Strata::TriangularSolver::update_values");
    ValuesInspection found;
    // Values of another pattern do no harm here: where to look is the plan's.
    if (same_sizes) found = inspect(exec, A);
    if (!same_sizes ||
        (A.row_map.extent(0) > 0 && found.fingerprint() != fingerprint_))
      throw PatternMismatchError(
          "matrix", "does not have the pattern that was analysed",
          "pass the matrix the solver was made from with new values, or make a "
          "new solver");
    require_nonzero_diagonal(found);
    double growth;
    const auto unsuitable = why_unsuitable_values(exec, A, found, growth);
    if (unsuitable.any)
      throw ScalingError(
          "values", unsuitable.why,
          "make a new solver, which will merge fewer rows, or set the option "
          "`merged_levels` to 1",
          unsuitable.row);
    // With enqueued updates, merged rows are computed again, in place: solves
    // that a graph has recorded always read the first buffer.
    if (updates_)
      updates_->enqueue(exec, A.values);
    else
      algorithm_->set_values(exec, A.values, found.divide != 0);
    // The first update may have allocated memory that stays.
    count_plan_bytes();
  }

  /// See TriangularSolver::enqueue_update_values.
  /// @param outside  see EnqueuedUpdates::enqueue
  void enqueue_values(const ExecutionSpace& exec, const Scalar* values,
                      const UpdateStatus* outside) {
    const ProfilingRegion region(
        "Strata::TriangularSolver::enqueue_update_values");
    updates().enqueue(exec, values, outside);
  }
  auto update_status() const { return updates().status(); }
  /// @throws OptionError for a solver that does not take enqueued values
  EnqueuedUpdates<Scalar, ExecutionSpace>& updates() const {
    if (!updates_)
      throw OptionError("enqueue_updates", "is not set",
                        "set it when you make the solver, or call "
                        "update_values");
    return *updates_;
  }

  /// See TriangularSolver::update_pattern.
  void take_pattern(const ExecutionSpace& exec, const Matrix& A) {
    if (A.columns != report_.rows)
      throw SizeMismatchError("matrix",
                              "has " + std::to_string(A.columns) +
                                  " columns, the analysed one " +
                                  std::to_string(report_.rows),
                              "make a new solver");
    const ProfilingRegion region("Strata::TriangularSolver::update_pattern");
    Kokkos::Timer timer;
    const int updates = report_.pattern_updates + 1;
    TriangularSolverState next = analysed_anew(exec, A);
    // What throws comes before what changes.
    const auto workspaces = workspaces_->in_use();
    std::vector<Workspace> made(workspaces.size());
    for (auto& workspace : made) next.fill_workspace(exec, workspace);
    exec.fence();
    for (std::size_t i = 0; i < made.size(); ++i)
      *workspaces[i] = std::move(made[i]);
    next.workspaces_ = workspaces_;
    *this = std::move(next);
    report_.pattern_updates = updates;
    report_.analysis_us = timer.seconds() * 1e6;
  }

 private:
  using SomeAlgorithm = TriangularAlgorithm<Scalar, ExecutionSpace>;
  using Updates = EnqueuedUpdates<Scalar, ExecutionSpace>;

  /// Of another pattern, with the algorithm of this one where that is good.
  TriangularSolverState analysed_anew(const ExecutionSpace& exec,
                                      const Matrix& A) const {
    const KeptPartition kept = algorithm_->kept_partition();
    std::string why_not;
    if (options_.algorithm == Algorithm::automatic) {
      TriangularOptions options = options_;
      options.algorithm = report_.algorithm;
      try {
        TriangularSolverState next(exec, A, uplo_, diag_, options, kept);
        if (next.report_.algorithm != report_.algorithm)
          why_not = "it can't take the new matrix";
        else if (differs_by(next.report_.entries, chosen_entries_, 1.1))
          why_not = "the entries are a tenth more or fewer";
        else if (differs_by(next.report_.levels, chosen_levels_, 2))
          why_not = "the level sets are twice or half as many";
        else if (next.is_slow(exec))
          why_not = too_inaccurate_inverses;
        else {
          next.report_.reason = "chosen for the pattern before";
          next.options_ = options_;
          next.chosen_entries_ = chosen_entries_;
          next.chosen_levels_ = chosen_levels_;
          return next;
        }
      } catch (const PlanMemoryError&) {
        why_not = "its plan takes more memory than is allowed";
      }
    }
    TriangularSolverState next(exec, A, uplo_, diag_, options_, kept);
    if (!why_not.empty())
      next.report_.reason +=
          "; the choice for the pattern before was not kept: " + why_not;
    return next;
  }
  static bool differs_by(std::int64_t now, std::int64_t then, double factor) {
    return double(now) > factor * double(then) ||
           double(then) > factor * double(now);
  }

  /// Checks values before they are used; the host waits.
  ValuesInspection inspect(const ExecutionSpace& exec, const Matrix& A) const {
    auto* const merging = algorithm_->merging();
    if (merging) merging->look(exec, A.values, false);
    try {
      // A unit diagonal has no values to look at.
      const auto found = inspect_values<Scalar>(
          exec,
          diag_ == Diag::unit ? decltype(algorithm_->diagonal_places()){}
                              : algorithm_->diagonal_places(),
          A.values, A.row_map, A.entries,
          merging ? merging->findings().place() : nullptr);
      if (merging) merging->findings().set_taken();
      return found;
    } catch (...) {
      // The look may still read the caller's values, whatever comes next.
      exec.fence();
      if (merging) {
        merging->findings().clear(exec);
        exec.fence();
      }
      throw;
    }
  }

  /// Whether the algorithm can't use values that were inspected. The host
  /// waits if that is not plain to see.
  /// @param growth  becomes what merged rows grow by, at most
  UnsuitableValues why_unsuitable_values(const ExecutionSpace& exec,
                                         const Matrix& A,
                                         const ValuesInspection& found,
                                         double& growth) const {
    growth = 0;
    const auto unsuitable = algorithm_->unsuitable(found);
    auto* const merging = algorithm_->merging();
    if (unsuitable.any || !merging) return unsuitable;
    growth = found.spread() / merging->longest_row();
    if (growth <= rowwise_growth) return unsuitable;
    const auto looked = merging->check_growth(exec, A.values, nullptr, false);
    growth = looked.largest;
    return why_unsuitable(looked);
  }

  void take_first_values(const ExecutionSpace& exec, const Matrix& A,
                         const ValuesInspection& found) {
    bool enqueued = true;
    if (updates_)
      updates_->enqueue(exec, A.values);
    else
      enqueued = algorithm_->set_values(exec, A.values, found.divide != 0);
    if (enqueued) exec.fence();
  }
  static constexpr const char* too_inaccurate_inverses =
      "with these values inverses of tiles are too inaccurate";
  /// Whether solves take far longer with these values than the rule of the
  /// choice counts on. Measured with one right-hand side only
  /// (docs/notes/triangular_gpu.md, tiles).
  bool is_slow(const ExecutionSpace& exec) const {
    return report_.right_hand_sides == 1 && algorithm_->slow_share(exec) > 0.1;
  }
  /// Rules `algorithm_` out if the automatic choice has made it and it is slow.
  bool leave_if_slow(const ExecutionSpace& exec,
                     AlgorithmChoice<Scalar, ExecutionSpace>& choice) {
    if (!choice.is_automatic() || !is_slow(exec)) return false;
    updates_.reset();
    algorithm_.reset();
    choice.rule_out(report_.algorithm, too_inaccurate_inverses);
    return true;
  }
  void count_plan_bytes() {
    report_.plan_bytes =
        algorithm_->bytes() + (updates_ ? updates_->bytes() : 0);
  }

  [[noreturn]] void refuse_updates(const MemoryBudget& budget,
                                   std::size_t bytes) const {
    throw PlanMemoryError("max_plan_bytes",
                          "allows " + std::to_string(budget.bytes()) +
                              " bytes, " + to_string(report_.algorithm) +
                              " takes " + std::to_string(bytes) +
                              " with what takes enqueued values",
                          "allow as much, or leave the option "
                          "`enqueue_updates` out",
                          bytes, budget.bytes());
  }
  /// Makes `updates_`, for enqueued values, with the fallback plan that it may
  /// need.
  /// @returns false if there is not enough memory: `algorithm_` and `updates_`
  ///          are then null, and the next choice.make() merges no level sets
  /// @throws PlanMemoryError if there is not, and the plan merges no level
  ///   sets, or the options name the algorithm and `merged_levels` above 1
  bool make_updates(const ExecutionSpace& exec,
                    const TriangularAnalysis<ExecutionSpace>& analysis,
                    const TriangularOptions& options,
                    AlgorithmChoice<Scalar, ExecutionSpace>& choice) {
    using Fallback = SyncFreeAlgorithm<Scalar, ExecutionSpace>;
    const MemoryBudget budget(options.max_plan_bytes);
    std::size_t bytes = 0;
    const auto fits_with = [&](const std::shared_ptr<Fallback>& fallback) {
      updates_ = std::make_shared<Updates>(algorithm_, fallback, diag_);
      bytes = algorithm_->bytes() + updates_->bytes();
      return budget.allows(bytes);
    };
    if (!algorithm_->merging()) {
      if (!fits_with(nullptr)) refuse_updates(budget, bytes);
      return true;
    }
    // A copy: memory of its order goes with the plan.
    TriangularAnalysis<ExecutionSpace> of_fallback = analysis;
    of_fallback.require_order(exec);
    for (const int columns : {options.max_right_hand_sides, 1}) {
      if (fits_with(std::make_shared<Fallback>(exec, of_fallback, columns))) {
        report_.reason +=
            "; with sync_free beside it, for values that it can't take";
        return true;
      }
      updates_.reset();
      if (columns == 1) break;
    }
    if (options.algorithm != Algorithm::automatic && options.merged_levels > 1)
      refuse_updates(budget, bytes);
    const std::string why =
        "with the plan beside it for values that it can't "
        "take, it takes " +
        std::to_string(bytes) + " bytes of " + std::to_string(budget.bytes()) +
        " allowed";
    algorithm_.reset();
    choice.merge_at_most(1, why);
    return false;
  }

  /// Graph, choice, plan and first values: the steps of "From a matrix to a
  /// solution" in docs/developer/architecture.md.
  void make_plan(const ExecutionSpace& exec, const Matrix& A,
                 const TriangleInput& input, const TriangularOptions& options,
                 const KeptPartition& kept, const Graph* known) {
    const std::int64_t columns = A.columns;
    TriangularAnalysis<ExecutionSpace> analysis;
    analysis.kept_partition = kept;
    if (known && known->pool) {
      analysis.pool = known->pool;
      analysis.graph = known->graph;
      analysis.levels = known->levels;
    } else {
      analysis.pool = std::make_shared<WorkPool<ExecutionSpace>>(
          exec, analysis.expected_bytes(
                    columns, static_cast<std::int64_t>(A.entries.extent(0))));
      analysis.graph = make_triangle_graph(
          exec, A.row_map, A.entries, A.stored_values(), columns, input,
          analysis.pool.get(),
          options.algorithm == Algorithm::blocks ? nullptr : &analysis.levels);
    }
    analysis.num_values = static_cast<std::int64_t>(A.num_values);
    analysis.conjugated = options.op == Op::conjugate_transpose;

    report_.entries =
        analysis.graph.num_edges() + (input.diag == Diag::unit ? 0 : columns);
    report_.crs_bytes = crs_bytes<Scalar>(columns, report_.entries);
    AlgorithmChoice<Scalar, ExecutionSpace> choice(exec, analysis, options,
                                                   report_);
    report_.longest_row = analysis.longest_row();
    algorithm_ = choice.make();
    auto found = inspect(exec, A);
    fingerprint_ = found.fingerprint();
    require_nonzero_diagonal(found);
    // Each turn makes another plan: with more rows unmerged (see merge_less),
    // with fewer merged level sets, or of another algorithm. `sync_free` with
    // none merged can use all values, so the loop ends. A plan's memory is
    // released before the next is made.
    std::string too_inaccurate;
    double growth = 0;
    for (;;) {
      const auto unsuitable = why_unsuitable_values(exec, A, found, growth);
      if (!unsuitable.any) {
        if (!options.enqueue_updates ||
            make_updates(exec, analysis, options, choice)) {
          take_first_values(exec, A, found);
          if (!leave_if_slow(exec, choice)) break;
        }
      } else if (unsuitable.too_inaccurate) {
        too_inaccurate = unsuitable.why;
        choice.merge_less(algorithm_, A.values, too_inaccurate);
      } else {
        algorithm_.reset();
        choice.rule_out(report_.algorithm, unsuitable.why);
      }
      algorithm_ = choice.make();
      found = inspect(exec, A);
    }
    if (report_.merged_levels > 1) {
      report_.growth = growth;
    } else if (report_.unmerged_rows > 0) {
      report_.unmerged_rows = 0;
      report_.reason += "; " + too_inaccurate + ", so that none are merged";
    }
  }

  std::shared_ptr<SomeAlgorithm> algorithm_;
  std::shared_ptr<Updates> updates_;  // null: not asked for
  /// Those that a new pattern makes anew.
  std::shared_ptr<Sharers<Workspace>> workspaces_ =
      std::make_shared<Sharers<Workspace>>();
  TriangularReport report_;
  std::size_t row_map_extent_ = 0, num_values_ = 0;
  std::uint64_t fingerprint_ = 0;
  // For other patterns.
  Uplo uplo_;
  Diag diag_;
  TriangularOptions options_;
  /// When the algorithm was chosen.
  std::int64_t chosen_entries_ = 0, chosen_levels_ = 0;
};

}  // namespace Detail
}  // namespace Strata

#endif
