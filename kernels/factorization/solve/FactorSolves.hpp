// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_SOLVES_HPP
#define STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_SOLVES_HPP

#include <algorithm>
#include <atomic>
#include <core/interface/Sharers.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/factorization/solve/FactorMaps.hpp>
#include <kernels/factorization/solve/FactorTriangles.hpp>
#include <kernels/factorization/solve/FactorVectors.hpp>
#include <kernels/factorization/solve/FactorWorkspace.hpp>
#include <kernels/factorization/solve/SingleFactors.hpp>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

namespace Strata {
namespace Detail {

/// Solves with both factors, x = op(L U)^-1 b, with vectors that are permuted
/// and scaled before and after. Values exist twice: packed in the triangular
/// solvers, in the precision that the options say, and in lower_values_ and
/// upper_values_, in that of the vectors. The latter are the values in use. An
/// update gives new values to the solvers first, and then copies them here. If
/// it ends with an exception, the solvers get the values in use back, at the
/// latest in the next apply.
///
/// A copy that share() has made does nothing but apply. All values are those of
/// the original.
template <class Scalar, class ExecutionSpace>
class FactorSolves {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Matrix = CrsArrays<Scalar>;
  using Values = Kokkos::View<Scalar*, Memory>;
  using Map = VectorMap<Scalar>;
  using Maps = FactorMaps<Scalar, ExecutionSpace>;

  FactorSolves() = default;
  /// Waits for `exec`.
  /// @param options were checked, and where they ask for single precision, L
  ///                and U by check_square_matrix
  /// @param maps    between vectors of the system, b and x, and those of the
  ///                factors, L U v = w: rows() from b to w, columns() from x to
  ///                v
  /// @param status  of enqueued updates; null: there are none
  /// @param graph_of_l  see FactorTriangles
  /// @throws what the constructor of TriangularSolver throws, PrecisionError
  FactorSolves(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
               const FactorSolverOptions& options, const Maps& maps,
               const UpdateStatus* status = nullptr,
               GraphWithLevels<ExecutionSpace>* graph_of_l = nullptr)
      : options_(options), rows_(L.rows()), status_(status) {
    if (is_single()) require_single(exec, L, U);
    shared_->maps = maps;
    // One allocation.
    const std::size_t of_lower = L.num_values,
                      of_both = of_lower + U.num_values;
    const auto values = make_unfilled<Values>(
        "Strata::FactorSolves::values", static_cast<std::int64_t>(of_both));
    using Kokkos::make_pair;
    lower_values_ =
        Kokkos::subview(values, make_pair(std::size_t{0}, of_lower));
    upper_values_ = Kokkos::subview(values, make_pair(of_lower, of_both));
    if (is_single()) {
      single_lower_ = values_like(L);
      single_upper_ = values_like(U);
    }
    make_workspace();
    with_factors(
        exec, L, U, [&](auto triangles, const auto& lower, const auto& upper) {
          this->*triangles = {
              exec, lower, upper, options_, status_ != nullptr, graph_of_l};
        });
    keep_values(exec, L, U);
  }

  /// Other values of L and U. Where the solvers can't take them as they are
  /// planned, there are new ones. After an exception the old values stay.
  /// Waits for `exec`.
  /// @param L, U     of the sizes that the constructor has seen, and where the
  ///                 options ask for single precision, checked as there
  /// @param report   gets that of new solvers, if there are such
  void take_values(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
                   PatternIs pattern, FactorTriangleReports& report) {
    if (is_single()) require_single(exec, L, U);
    try {
      with_factors(
          exec, L, U,
          [&](auto triangles, const auto& lower, const auto& upper) {
            try {
              shared_->whole = false;
              (this->*triangles).take_values(exec, lower, upper, pattern);
              keep_values(exec, L, U);
            } catch (const ScalingError&) {
              // Other algorithms take them.
              exec.fence();
              make_anew(exec, triangles, lower, upper, report,
                        [&] { keep_values(exec, L, U); });
            }
            shared_->whole = true;
          });
    } catch (...) {
      try {
        make_whole(exec);
      } catch (...) {
        // The next apply tries again.
      }
      throw;
    }
  }
  /// Between other vectors of the system, for all that share the plans.
  void put_maps(const Maps& maps) { shared_->maps = maps; }

  /// The solvers' values are about to change: where an exception comes before
  /// trust_values(), the next apply gives them back those in use.
  void distrust_values() { shared_->whole = false; }
  void trust_values() { shared_->whole = true; }
  /// Other values, without a wait of the host, for solvers that take such
  /// (TriangularOptions::enqueue_updates), in working precision: between
  /// distrust_values() and trust_values(), and these have to become those in
  /// use.
  /// @param status  where it says that values are bad, solvers give NaN; null:
  ///                they are good
  void enqueue_values(const ExecutionSpace& exec, const Matrix& L,
                      const Matrix& U, const UpdateStatus* status) {
    triangles_.enqueue_values(exec, L, U, status);
  }
  /// Of the solvers, after these updates; see FactorTriangles.
  auto statuses() const { return triangles_.statuses(); }

  /// Applies that may overlap in time with those of this object: plans and
  /// values are shared, workspaces are not. Waits for `exec`.
  std::shared_ptr<FactorSolves> share(const ExecutionSpace& exec) const {
    const auto made = std::make_shared<FactorSolves>(*this);
    if (is_single())
      made->single_triangles_ = single_triangles_.share_plans(exec);
    else
      made->triangles_ = triangles_.share_plans(exec);
    made->make_workspace();
    shared_->add(made);
    return made;
  }

  /// x = A^-1 b, or that of a transpose. Asynchronous; see FactorSolver::apply.
  void apply(const ExecutionSpace& exec, const StridedBlock& b,
             const StridedBlock& x, Op op) {
    require_enumerator("op", op);
    if (op != Op::none && !options_.transpose)
      throw OptionError("op",
                        std::string("is ") + to_string(op) +
                            ", and there are no solvers with the transposes",
                        "set the option `transpose`");
    check_vectors(rows_, b, x);
    const std::int64_t count = x.extent[1];
    if (rows_ == 0 || count == 0) return;
    make_whole(exec);
    Map rows = shared_->maps.rows(), columns = shared_->maps.columns();
    if (op != Op::none) std::swap(rows, columns);
    // A^H x = b is A^T conj(x) = conj(b).
    if (op == Op::conjugate_transpose)
      rows.conjugates = columns.conjugates =
          !std::is_same<RealOf<Scalar>, Scalar>::value;
    const Applied how{op != Op::none, rows, columns};
    if (is_single())
      return in_batches(b, x, single_workspace_.columns(),
                        [&](const StridedBlock& from, const StridedBlock& to) {
                          apply_single(exec, how, from, to);
                        });
    if (count > workspace_.columns() && takes_all_at_once(how.transposed) &&
        !rows.changes() && !columns.changes()) {
      solve(triangles_, exec, how, 0, b, x);
      solve(triangles_, exec, how, 1, x, x);
      return;
    }
    in_batches(b, x, workspace_.columns(),
               [&](const StridedBlock& from, const StridedBlock& to) {
                 apply_working(exec, how, from, to);
               });
  }

  std::int64_t rows() const { return rows_; }
  FactorTriangleReports reports() const {
    FactorTriangleReports reports =
        is_single() ? single_triangles_.reports() : triangles_.reports();
    reports.workspace_bytes = workspace_bytes();
    return reports;
  }
  /// Values beside those of the solvers.
  std::size_t value_bytes() const {
    const std::size_t entries =
        lower_values_.extent(0) + upper_values_.extent(0);
    return entries * (sizeof(Scalar) + (is_single() ? sizeof(Single) : 0));
  }
  /// Those in use, in the order of the matrices, those of U after those of L.
  const Values& lower_values() const { return lower_values_; }
  const Values& upper_values() const { return upper_values_; }

 private:
  static constexpr bool can_be_single =
      !std::is_same<SingleOf<Scalar>, Scalar>::value &&
      has_single_factors<Scalar, ExecutionSpace>;
  /// Elsewhere what is of single precision stays empty.
  using Single = std::conditional_t<can_be_single, SingleOf<Scalar>, Scalar>;
  using SingleValues = Kokkos::View<Single*, Memory>;
  using Borrowed = UnmanagedView<const Scalar, Memory>;

  struct Shared : Sharers<FactorSolves> {
    Maps maps;
    /// All solvers have the values in use: false during an update, and after
    /// one that has failed.
    std::atomic<bool> whole{true};
    std::mutex of_update;
  };

  struct Applied {
    bool transposed;
    Map before, after;
  };

  void make_workspace() {
    const int columns = options_.triangular.max_right_hand_sides;
    if (!is_single()) {
      workspace_ = {rows_, columns, 1};
      return;
    }
    single_workspace_ = {rows_, columns, 2};
    const int most = single_workspace_.columns();
    make_unfilled(part_, "Strata::FactorSolves::largest",
                  std::int64_t{VectorTiles::most_of_column} * most);
    make_unfilled(exponent_, "Strata::FactorSolves::exponent", most);
  }
  /// Vectors between the triangles, and what goes with them.
  std::size_t workspace_bytes() const {
    return workspace_.bytes() + single_workspace_.bytes() +
           part_.extent(0) * sizeof(double) + exponent_.extent(0) * sizeof(int);
  }

  bool is_single() const {
    return can_be_single && options_.precision == FactorPrecision::single;
  }
  static SingleValues values_like(const Matrix& factor) {
    return make_unfilled<SingleValues>(
        "Strata::FactorSolves::values",
        static_cast<std::int64_t>(factor.num_values));
  }
  /// @throws PrecisionError
  void require_single(const ExecutionSpace& exec, const Matrix& L,
                      const Matrix& U) const {
    name_matrix_errors("L", [&] {
      require_single_range(exec, L, {Uplo::lower, options_.lower_diag});
    });
    name_matrix_errors("U", [&] {
      require_single_range(exec, U, {Uplo::upper, options_.upper_diag});
    });
  }
  /// Solvers of other algorithms, here and for all that share the plans, in
  /// place of `triangles`; of what may throw, keep() is last.
  template <class Triangles, class Factor, class Keep>
  void make_anew(const ExecutionSpace& exec, Triangles FactorSolves::*triangles,
                 const Factor& lower, const Factor& upper,
                 FactorTriangleReports& report, const Keep& keep) {
    Triangles made(exec, lower, upper, options_, status_ != nullptr);
    FactorTriangleReports made_report = made.reports();
    made_report.workspace_bytes = workspace_bytes();
    const auto sharers = shared_->in_use();
    std::vector<Triangles> of_sharers;
    for (std::size_t i = 0; i < sharers.size(); ++i)
      of_sharers.push_back(made.share_plans(exec));
    keep();
    // Nothing throws after this.
    this->*triangles = std::move(made);
    report = std::move(made_report);
    for (std::size_t i = 0; i < sharers.size(); ++i)
      (*sharers[i]).*triangles = std::move(of_sharers[i]);
  }
  /// Calls work(triangles, L, U) with the member that has the solvers in use,
  /// and factors of their precision.
  template <class Work>
  void with_factors(const ExecutionSpace& exec, const Matrix& L,
                    const Matrix& U, const Work& work) {
    if (!is_single()) return work(&FactorSolves::triangles_, L, U);
    const auto single = [&](const Matrix& factor, const SingleValues& values) {
      for_each_index("Strata::SingleFactors::round", exec, factor.num_values,
                     RoundValues<Scalar, Single>{factor.values, values.data()});
      return CrsArrays<Single>{factor.row_map, factor.entries, values.data(),
                               factor.num_values, factor.columns};
    };
    work(&FactorSolves::single_triangles_, single(L, single_lower_),
         single(U, single_upper_));
  }
  /// They become those in use. Waits for `exec`.
  void keep_values(const ExecutionSpace& exec, const Matrix& L,
                   const Matrix& U) const {
    Kokkos::deep_copy(exec, lower_values_, Borrowed(L.values, L.num_values));
    Kokkos::deep_copy(exec, upper_values_, Borrowed(U.values, U.num_values));
    exec.fence();
  }
  /// After an update that was broken off, all solvers get the old values back.
  void make_whole(const ExecutionSpace& exec) {
    if (shared_->whole) return;
    // One of those that share the plans does it for all.
    const std::lock_guard<std::mutex> lock(shared_->of_update);
    if (shared_->whole) return;
    Matrix L, U;
    L.values = lower_values_.data();
    L.num_values = lower_values_.extent(0);
    U.values = upper_values_.data();
    U.num_values = upper_values_.extent(0);
    if (status_) {
      triangles_.enqueue_values(exec, L, U, status_);
      exec.fence();
      shared_->whole = true;
      return;
    }
    with_factors(
        exec, L, U, [&](auto triangles, const auto& lower, const auto& upper) {
          (this->*triangles).take_values(exec, lower, upper, PatternIs::known);
        });
    shared_->whole = true;
  }

  /// Whether both solvers take any number of right-hand sides in the launches
  /// of one.
  bool takes_all_at_once(bool transposed) const {
    const auto takes_all = [&](int which) {
      const auto& solver = triangles_.solver(transposed, which);
      return solver.report().launch_right_hand_sides == 0;
    };
    return takes_all(0) && takes_all(1);
  }
  template <class Work>
  static void in_batches(const StridedBlock& b, const StridedBlock& x,
                         std::int64_t most, const Work& work) {
    const std::int64_t count = x.extent[1];
    for (std::int64_t first = 0; first < count; first += most) {
      const auto now = std::min(count - first, most);
      work(columns_of(b, first, now), columns_of(x, first, now));
    }
  }
  /// With the first or the second triangle of an apply.
  template <class Triangles>
  static void solve(const Triangles& triangles, const ExecutionSpace& exec,
                    const Applied& how, int which, const StridedBlock& b,
                    const StridedBlock& x) {
    Internals::solve_checked(triangles.solver(how.transposed, which), exec, b,
                             x);
  }

  /// Neither triangle is solved in place, where that takes merged level sets
  /// another pass: vectors go from b to x by way of the workspace, which
  /// between the triangles is where x is not.
  void apply_working(const ExecutionSpace& exec, const Applied& how,
                     const StridedBlock& b, const StridedBlock& x) const {
    const StridedBlock w = workspace_.block(0, x.extent[1], x);
    const bool in_place = b.first == x.first;
    const bool takes_in = how.before.changes(),
               brings_out = how.after.changes();
    const auto solve_both = [&](const StridedBlock& from,
                                const StridedBlock& between,
                                const StridedBlock& to) {
      solve(triangles_, exec, how, 0, from, between);
      solve(triangles_, exec, how, 1, between, to);
    };
    if (!takes_in && !brings_out) {
      solve_both(b, w, x);
    } else if (!brings_out && !(in_place && how.before.moves())) {
      take_in(exec, how.before, b, x, {});
      solve_both(x, w, x);
    } else if (!takes_in && !how.after.moves()) {
      solve_both(b, w, x);
      bring_out(exec, how.after, x, x, nullptr);
    } else if (!takes_in && !in_place) {
      solve_both(b, x, w);
      bring_out(exec, how.after, w, x, nullptr);
    } else {
      take_in(exec, how.before, b, w, {});
      solve_both(w, x, w);
      bring_out(exec, how.after, w, x, nullptr);
    }
  }
  void apply_single(const ExecutionSpace& exec, const Applied& how,
                    const StridedBlock& b, const StridedBlock& x) const {
    const StridedBlock from = single_workspace_.block(0, x.extent[1], x),
                       to = single_workspace_.block(1, x.extent[1], x);
    const ColumnScales scales{part_.data(), exponent_.data()};
    const VectorTiles tiles = tiles_of(b);
    run_teams<4, VectorTiles::threads>(
        "Strata::FactorSolves::find_largest", exec, tiles.count(),
        FindLargest<Scalar>{tiles, how.before,
                            multi_vector_ref<const Scalar>(b), scales});
    take_in<Single>(exec, how.before, b, from, scales);
    solve(single_triangles_, exec, how, 0, from, to);
    solve(single_triangles_, exec, how, 1, to, from);
    bring_out<Single>(exec, how.after, from, x, exponent_.data());
  }

  static VectorTiles tiles_of(const StridedBlock& v) {
    return VectorTiles(v.extent[0], static_cast<int>(v.extent[1]),
                       FactorWorkspace<Scalar, ExecutionSpace>::is_by_rows(v));
  }
  template <class To = Scalar>
  static void take_in(const ExecutionSpace& exec, const Map& map,
                      const StridedBlock& from, const StridedBlock& to,
                      const ColumnScales& scales) {
    const VectorTiles tiles = tiles_of(from);
    run_teams<4, VectorTiles::threads>(
        "Strata::FactorSolves::take_in", exec, tiles.count(),
        TakeIn<Scalar, To>{tiles, map, multi_vector_ref<const Scalar>(from),
                           multi_vector_ref<To>(to), scales});
  }
  template <class From = Scalar>
  static void bring_out(const ExecutionSpace& exec, const Map& map,
                        const StridedBlock& from, const StridedBlock& to,
                        const int* exponent) {
    const VectorTiles tiles = tiles_of(to);
    run_teams<4, VectorTiles::threads>(
        "Strata::FactorSolves::bring_out", exec, tiles.count(),
        BringOut<From, Scalar>{tiles, map, multi_vector_ref<const From>(from),
                               multi_vector_ref<Scalar>(to), exponent});
  }

  FactorSolverOptions options_;
  std::int64_t rows_ = 0;
  const UpdateStatus* status_ = nullptr;  // in device memory
  Values lower_values_, upper_values_;
  // Of the precision of the options, the others empty: solvers, and vectors
  // between them.
  FactorTriangles<Scalar, ExecutionSpace> triangles_;
  FactorWorkspace<Scalar, ExecutionSpace> workspace_;
  FactorTriangles<Single, ExecutionSpace> single_triangles_;
  FactorWorkspace<Single, ExecutionSpace> single_workspace_;
  // Of single precision: values on their way to solvers, and scales.
  SingleValues single_lower_, single_upper_;
  Kokkos::View<double*, Memory> part_;
  Kokkos::View<int*, Memory> exponent_;
  /// Of all that share the plans.
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace Detail
}  // namespace Strata

#endif
