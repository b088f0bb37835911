// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TRIANGULAR_SOLVER_HPP
#define STRATA_TRIANGULAR_SOLVER_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_TriangleGraph.hpp>
#include <Strata_TriangularReport.hpp>
#include <core/device/Profiling.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <exception>
#include <kernels/triangular/OptionChecks.hpp>
#include <kernels/triangular/blocks/BlocksOfMatrix.hpp>
#include <kernels/triangular/selection/ChooseAlgorithm.hpp>
#include <memory>

namespace Strata {

/// Solves op(A) x = b for one triangular matrix A and many right-hand sides b.
///
/// The constructor checks A, analyses its pattern and packs its values; A is
/// not referred to afterwards. Copies of a solver share plan, values and
/// workspace, and solves that share them must not overlap in time: give each
/// stream that works at the same time a solver of its own.
///
/// A solver made without arguments is empty, as one that was moved from: for
/// members, which are assigned one that is made. Every other use of an empty
/// solver is a HandleError.
///
/// @tparam Scalar float, double, Kokkos::complex of either
/// @tparam ExecutionSpace where A, b and x are accessible and solves run
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class TriangularSolver {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;

  /// An empty solver.
  TriangularSolver() = default;

  /// Checks and analyses a KokkosSparse::CrsMatrix, n x n.
  ///
  /// @param uplo the triangle A stores (before `options.op`)
  /// @param diag unit: stored diagonal entries are ignored
  /// @throws NotSquareError, RowMapError, ColumnRangeError, UnsortedRowError,
  ///   DuplicateEntryError, WrongTriangleError, MissingDiagonalError,
  ///   ZeroDiagonalError, IndexOverflowError, OptionError, PlanMemoryError,
  ///   MemoryError
  /// Cost: some passes over A and a few sorts on the device, and the longest
  /// path of its graph at a few reads through memory a row; for `subgraphs`,
  /// O(n + entries) on the host. Waits for `exec`.
  template <class Matrix>
  TriangularSolver(const ExecutionSpace& exec, const Matrix& A, Uplo uplo,
                   Diag diag, const TriangularOptions& options = {}) {
    if constexpr (Detail::ExpectMatrix<Scalar, ExecutionSpace, Matrix>::value) {
      Detail::with_memory_errors("the analysis of a triangle", [&] {
        analyse(exec, A.graph.row_map, A.graph.entries, A.values,
                static_cast<std::int64_t>(A.numCols()), uplo, diag, options);
      });
    }
  }

  /// The same from three views of rank 1: `row_map` of n + 1 offsets, and
  /// `entries` (zero-based columns) and `values` of equal length.
  template <class RowMap, class Entries, class Values>
  TriangularSolver(const ExecutionSpace& exec, const RowMap& row_map,
                   const Entries& entries, const Values& values, Uplo uplo,
                   Diag diag, const TriangularOptions& options = {}) {
    if constexpr (Detail::ExpectMatrixViews<Scalar, ExecutionSpace, RowMap,
                                            Entries, Values>::value) {
      Detail::with_memory_errors("the analysis of a triangle", [&] {
        analyse(exec, row_map, entries, values,
                row_map.extent(0) == 0
                    ? 0
                    : static_cast<std::int64_t>(row_map.extent(0)) - 1,
                uplo, diag, options);
      });
    }
  }

  // Forgotten often, and else a page of candidates.
  template <class Matrix>
  TriangularSolver(const Matrix&, Uplo, Diag, const TriangularOptions& = {}) {
    static_assert(
        Kokkos::is_execution_space<Matrix>::value,
        "Strata: the first argument of a solver's constructor must be "
        "an execution space instance: TriangularSolver(exec, A, uplo, "
        "diag)");
  }

  /// x = op(A)^-1 b. Asynchronous on `exec`: no allocation, no transfer and no
  /// wait (but Kokkos allocates for OpenMP teams in the first solve on another
  /// instance than that of the analysis). A CUDA graph that recorded it must be
  /// recorded again after update_values.
  ///
  /// @param b n, or n x k: k right-hand sides; any layout
  /// @param x as b; may be b itself
  /// @throws SizeMismatchError, AliasError, HandleError before anything is
  ///   enqueued; a HandleError also where an update was broken off after it had
  ///   begun to write
  template <class B, class X>
  void solve(const ExecutionSpace& exec, const B& b, const X& x) const {
    if constexpr (Detail::ExpectVectors<Scalar, ExecutionSpace, B, X>::value) {
      require_made();
      Detail::check_vectors(report_->rows, b, x);
      const std::int64_t columns = Detail::num_columns(x);
      if (report_->rows == 0 || columns == 0) return;
      const Detail::ProfilingRegion region("Strata::TriangularSolver::solve");
      if (!algorithm_->has_values())
        throw HandleError("solver",
                          "has no values: an exception has ended the update",
                          "call update_values again");
      const auto from = Detail::multi_vector_ref(b);
      Detail::with_memory_errors("a triangular solve", [&] {
        algorithm_->solve(exec,
                          Detail::MultiVectorRef<const Scalar>{
                              from.data, from.row_stride, from.column_stride},
                          Detail::multi_vector_ref(x), columns);
      });
    }
  }

  /// Takes new values of a matrix with the analysed pattern; no analysis.
  ///
  /// @throws HandleError, SizeMismatchError, PatternMismatchError,
  ///   ZeroDiagonalError, ScalingError (see sync_free and sync_free_subgraphs
  ///   in docs/limits.md), MemoryError: the solver then still has its old
  ///   values. Where a launch fails once packing has begun, it has none, and
  ///   solves throw HandleError until an update succeeds
  /// Cost: one pass over the pattern and the diagonal (and over the values,
  /// where `sync_free` or `sync_free_subgraphs` takes level sets several at a
  /// time), which the host waits for; then one over the values, enqueued on
  /// `exec` like a solve: let nothing but later work on `exec` change or free
  /// them before a fence. `sync_free` with level sets at a time makes the new
  /// ones in other memory, as much as the plan's values take, copies them and
  /// waits for `exec`.
  template <class Matrix,
            std::enable_if_t<Detail::IsCrsMatrix<Matrix>::value, int> = 0>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    update_values(exec, A.graph.row_map, A.graph.entries, A.values);
  }
  template <class RowMap, class Entries, class Values>
  void update_values(const ExecutionSpace& exec, const RowMap& row_map,
                     const Entries& entries, const Values& values) {
    if constexpr (Detail::ExpectMatrixViews<Scalar, ExecutionSpace, RowMap,
                                            Entries, Values>::value) {
      require_made();
      const bool same_sizes = row_map.extent(0) == row_map_extent_ &&
                              entries.extent(0) == num_values_;
      if (same_sizes) check_num_values(values);
      Detail::with_memory_errors("new values of a triangle", [&] {
        take_values(exec, row_map, entries, values, same_sizes);
      });
    }
  }
  /// The same from the values alone (rank 1, in the order of the analysed
  /// matrix), where the caller vouches for the pattern.
  template <class Values,
            std::enable_if_t<!Detail::IsCrsMatrix<Values>::value, int> = 0>
  void update_values(const ExecutionSpace& exec, const Values& values) {
    if constexpr (Detail::ExpectValues<Scalar, ExecutionSpace, Values>::value) {
      require_made();
      check_num_values(values);
      // No pattern to compare.
      const Kokkos::View<const int*, memory_space> none;
      Detail::with_memory_errors("new values of a triangle", [&] {
        take_values(exec, none, none, values, true);
      });
    }
  }

  /// What was chosen and why. @throws HandleError
  const TriangularReport& report() const {
    require_made();
    return *report_;
  }

 private:
  friend struct Detail::Internals;
  Detail::SyncFreeAlgorithm<Scalar, ExecutionSpace>* sync_free() const {
    return dynamic_cast<Detail::SyncFreeAlgorithm<Scalar, ExecutionSpace>*>(
        algorithm_.get());
  }
  void require_made() const {
    Detail::require_made(report_, "TriangularSolver", "exec, A, uplo, diag");
  }

  template <class Values>
  void check_num_values(const Values& values) const {
    if (values.extent(0) != num_values_)
      throw SizeMismatchError("values",
                              "has " + std::to_string(values.extent(0)) +
                                  " elements, the analysed matrix " +
                                  std::to_string(num_values_),
                              "pass the values of the analysed matrix");
  }

  static std::string cannot_scale(const Detail::ValuesInspection& found) {
    return "entries of row " + std::to_string(found.unscalable_row) +
           " over its diagonal leave the range of normal numbers";
  }

  using SomeAlgorithm = Detail::TriangularAlgorithm<Scalar, ExecutionSpace>;
  struct ForgetTrialPacking {
    SomeAlgorithm& algorithm;
    const ExecutionSpace& exec;
    ~ForgetTrialPacking() {
      // Whoever throws may not have waited.
      try {
        if (std::uncaught_exceptions() > 0) exec.fence();
      } catch (...) {
      }
      algorithm.forget_trial_packing();
    }
  };

  /// What is to be known of values before they are taken; the host waits.
  template <class RowMap, class Entries, class Values>
  Detail::ValuesInspection inspect(const ExecutionSpace& exec,
                                   const RowMap& row_map,
                                   const Entries& entries,
                                   const Values& values) const {
    const auto found = Detail::inspect_values<Scalar>(
        exec, algorithm_->diagonal_places(), algorithm_->scaled_entries(),
        values.data(), row_map, entries,
        algorithm_->begin_trial_packing(exec, values.data()));
    algorithm_->faults_were_taken();
    return found;
  }

  /// Whether the algorithm can't take values that were inspected. The host
  /// waits where that is not plain to see.
  /// @param growth  becomes what merged rows grow by, at most
  template <class Values>
  Detail::UnsuitableValues why_unsuitable(const ExecutionSpace& exec,
                                          const Values& values,
                                          const Detail::ValuesInspection& found,
                                          double& growth) const {
    const auto limit = algorithm_->growth_limit();
    growth = found.spread() / limit.longest_row;
    const auto unsuitable = algorithm_->unsuitable(found);
    if (unsuitable.any || growth <= limit.limit) return unsuitable;
    const auto looked = algorithm_->check_growth(exec, values.data());
    growth = looked.largest;
    return Detail::why_unsuitable(looked, limit.limit);
  }

  /// Inspects, which the host waits for, then enqueues the packing. A row map
  /// and entries without elements stand for the analysed ones.
  template <class RowMap, class Entries, class Values>
  void take_values(const ExecutionSpace& exec, const RowMap& row_map,
                   const Entries& entries, const Values& values,
                   bool same_sizes) {
    const Detail::ProfilingRegion region(
        "Strata::TriangularSolver::update_values");
    const ForgetTrialPacking at_the_end{*algorithm_, exec};
    Detail::ValuesInspection found;
    // Values of another pattern do no harm here: where to look is the plan's.
    if (same_sizes) found = inspect(exec, row_map, entries, values);
    if (!same_sizes ||
        (row_map.extent(0) > 0 && found.fingerprint() != fingerprint_))
      throw PatternMismatchError(
          "matrix", "does not have the pattern that was analysed",
          "pass the matrix the solver was made from with new values, or make a "
          "new solver");
    Detail::require_nonzero_diagonal(found);
    if (found.unscalable_row != Detail::ValuesInspection::no_row)
      throw ScalingError(
          "values", cannot_scale(found),
          "make a new solver, which will choose an algorithm that does not "
          "divide them, or set the option `algorithm` to sync_free",
          found.unscalable_row);
    double growth;
    const auto unsuitable = why_unsuitable(exec, values, found, growth);
    if (unsuitable.any)
      throw ScalingError(
          "values", unsuitable.why,
          "make a new solver, which will merge fewer rows, or set the option "
          "`merged_levels` to 1",
          unsuitable.row);
    algorithm_->set_values(exec, values.data(), found.divide != 0);
    if (algorithm_->holds_trial_packing()) exec.fence();
  }

  template <class RowMap, class Entries, class Values>
  void analyse(const ExecutionSpace& exec, const RowMap& row_map,
               const Entries& entries, const Values& values,
               std::int64_t columns, Uplo uplo, Diag diag,
               const TriangularOptions& given) {
    Detail::require_enumerator("uplo", uplo);
    Detail::require_enumerator("diag", diag);
    const TriangularOptions options = Detail::with_old_names(given);
    Detail::check_options(options);
    Detail::check_accuracy<Scalar>(options);
    const Detail::ProfilingRegion region("Strata::TriangularSolver::analysis");
    Kokkos::Timer timer;
    auto report = std::make_shared<TriangularReport>();
    report->accuracy = options.accuracy;
    report->accuracy_digits = options.accuracy_digits;
    Detail::TriangularAnalysis<ExecutionSpace> analysis;
    TriangleInput input;
    input.uplo = uplo;
    input.diag = diag;
    input.op = options.op;
    input.take_triangle = options.take_triangle;
    input.sort_rows = options.sort_rows;
    row_map_extent_ = row_map.extent(0);
    num_values_ = values.extent(0);
    report->rows = columns;
    const auto direct =
        options.algorithm == Algorithm::blocks
            ? Detail::blocks_of_matrix<Scalar>(exec, row_map, entries, values,
                                               columns, input, options, *report)
            : Detail::BlocksOfMatrix<Scalar, ExecutionSpace>{};
    if (direct.algorithm) {
      algorithm_ = direct.algorithm;
      fingerprint_ = direct.inspection.fingerprint();
      algorithm_->set_values(exec, values.data(),
                             direct.inspection.divide != 0);
      exec.fence();
      report->plan_bytes = algorithm_->bytes();
      report->analysis_us = timer.seconds() * 1e6;
      report_ = report;
      return;
    }
    analysis.pool = std::make_shared<Detail::WorkPool<ExecutionSpace>>(
        exec, analysis.expected_bytes(
                  columns, static_cast<std::int64_t>(entries.extent(0))));
    analysis.graph = Detail::make_triangle_graph(
        exec, row_map, entries, values, columns, input, analysis.pool.get(),
        &analysis.levels);
    analysis.num_values = static_cast<std::int64_t>(values.extent(0));
    analysis.conjugated = options.op == Op::conjugate_transpose;
    analysis.growth_limit = Detail::growth_limit<Scalar>(options);

    report->entries =
        analysis.graph.num_edges() + (diag == Diag::unit ? 0 : columns);
    report->crs_bytes = Detail::crs_bytes<Scalar>(columns, report->entries);
    Detail::AlgorithmChoice<Scalar, ExecutionSpace> choice(exec, analysis,
                                                           options, *report);
    report->longest_row =
        static_cast<std::int64_t>(analysis.limit_of_growth().longest_row);
    algorithm_ = choice.make();
    auto found = inspect(exec, row_map, entries, values);
    fingerprint_ = found.fingerprint();
    Detail::require_nonzero_diagonal(found);
    // Every turn takes a way out, and `sync_free` with level sets one by one
    // takes all values. A plan's memory is released before the next is made.
    std::string too_inaccurate;
    double growth = 0;
    for (;;) {
      const bool unscalable =
          found.unscalable_row != Detail::ValuesInspection::no_row;
      const auto unsuitable = why_unsuitable(exec, values, found, growth);
      if (!unscalable && !unsuitable.any) break;
      if (unscalable) {
        algorithm_.reset();
        choice.rule_out(report->algorithm, cannot_scale(found));
      } else if (unsuitable.too_inaccurate) {
        too_inaccurate = unsuitable.why;
        choice.merge_less(algorithm_, values.data(), too_inaccurate);
      } else {
        algorithm_.reset();
        choice.forbid_merge(unsuitable.why);
      }
      algorithm_ = choice.make();
      found = inspect(exec, row_map, entries, values);
    }
    algorithm_->set_values(exec, values.data(), found.divide != 0);
    exec.fence();
    algorithm_->forget_trial_packing();
    if (report->merged_levels > 1) {
      report->growth = growth;
      report->max_growth = analysis.growth_limit;
    } else if (report->unmerged_rows > 0) {
      report->unmerged_rows = 0;
      report->reason += "; " + too_inaccurate + ", so that none are merged";
    }
    report->plan_bytes = algorithm_->bytes();
    report->analysis_us = timer.seconds() * 1e6;
    report_ = report;
  }

  std::shared_ptr<SomeAlgorithm> algorithm_;
  std::shared_ptr<const TriangularReport> report_;
  std::size_t row_map_extent_ = 0, num_values_ = 0;
  std::uint64_t fingerprint_ = 0;
};

template <class ExecutionSpace, class Matrix>
TriangularSolver(const ExecutionSpace&, const Matrix&, Uplo, Diag,
                 const TriangularOptions& = {})
    -> TriangularSolver<typename Detail::ScalarOf<Matrix>::type,
                        ExecutionSpace>;

template <class Matrix>
TriangularSolver(const Matrix&, Uplo, Diag, const TriangularOptions& = {})
    -> TriangularSolver<typename Detail::ScalarOf<Matrix>::type>;

template <class ExecutionSpace, class RowMap, class Entries, class Values>
TriangularSolver(const ExecutionSpace&, const RowMap&, const Entries&,
                 const Values&, Uplo, Diag, const TriangularOptions& = {})
    -> TriangularSolver<typename Detail::ScalarOf<Values>::type,
                        ExecutionSpace>;

}  // namespace Strata

#endif
