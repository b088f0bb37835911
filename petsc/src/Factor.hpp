// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_FACTOR_HPP
#define PETSCSTRATA_FACTOR_HPP

// Factors of a sequential matrix of PETSc, in an execution space.

#include <Strata_Error.hpp>
#include <Strata_IncompleteLu.hpp>
#include <algorithm>
#include <climits>
#include <cstdio>
#include <kernels/factorization/symbolic/FilledMatrix.hpp>
#include <memory>
#include <petsc_kokkos.hpp>
#include <string>
#include <utility>
#include <vector>

#include "FactorBase.hpp"
#include "Order.hpp"
#include "Pivots.hpp"
#include "Triangles.hpp"

namespace PetscStrata {

template <class Exec>
class Factor : public FactorBase {
 public:
  bool on_host() const override { return runs_on_host<Exec>; }
  bool is_planned() const override {
    return is_single() ? single_.made() : working_.made();
  }
  const Strata::TriangularReport* report(Strata::Uplo uplo) const override {
    if (!is_planned()) return nullptr;
    return &(is_single() ? single_.report(uplo) : working_.report(uplo));
  }
  PetscLogDouble entries() const override {
    return static_cast<PetscLogDouble>(L_.nnz()) +
           static_cast<PetscLogDouble>(U_.nnz()) -
           static_cast<PetscLogDouble>(U_.numRows());
  }
  PetscLogDouble bytes() const override {
    std::size_t sum = elimination_ ? elimination_->bytes() : 0;
    if (filled_) sum += filled_->bytes();
    for (const auto* factor : {&L_, &U_})
      sum += factor->values.span() * sizeof(Scalar) +
             (factor->graph.entries.span() + factor->graph.row_map.span()) *
                 sizeof(PetscInt);
    sum += prepared_.span() * sizeof(Scalar) + order_.bytes() +
           roots_.span() * sizeof(PetscReal) + working_.bytes() +
           single_.bytes();
    return static_cast<PetscLogDouble>(sum);
  }

  Outcome analyse(const CsrArrays& arrays, const HostOrder* order,
                  const HostPattern* pattern) override {
    return guarded([&] {
      const Exec exec = space();
      elimination_.reset();
      filled_.reset();
      working_ = {};
      single_ = {};
      prepared_ = Values();
      order_ = {};
      ++analyses_;
      const Borrowed given(exec, arrays);
      if (order) order_ = Order<Exec>(*order);
      analyse(exec, order_.of(exec, given.matrix()), pattern);
      return Outcome();
    });
  }
  Outcome eliminate(const CsrArrays& arrays,
                    const MatFactorInfo& info) override {
    return guarded([&] {
      const Exec exec = space();
      const Borrowed given(exec, arrays);
      return factorise(exec, order_.of(exec, given.matrix()), info);
    });
  }
  Outcome plan() override {
    return guarded([&] {
      const Exec exec = space();
      roots_fresh_ = false;
      if constexpr (can_be_single) {
        if (is_single()) {
          single_.take(exec, L_, U_, options.plan, graph_of_l_);
          return Outcome();
        }
      }
      working_.take(exec, L_, U_, options.plan, graph_of_l_);
      return Outcome();
    });
  }

  void solve(const DenseArrays& b, const DenseArrays& x, PetscInt rows,
             Step step) override {
    const Exec exec = space();
    const auto size = [&](const DenseArrays& block) {
      return block.columns == 0
                 ? std::size_t(0)
                 : static_cast<std::size_t>(block.leading) *
                           static_cast<std::size_t>(block.columns - 1) +
                       static_cast<std::size_t>(rows);
    };
    const Array<Scalar, Exec> from(reinterpret_cast<Scalar*>(b.data), size(b),
                                   b.memory);
    const Array<Scalar, Exec> to(reinterpret_cast<Scalar*>(x.data), size(x),
                                 x.memory);
    from.read(exec);
    // What lies between columns stays.
    if (to.is_copy() && x.columns > 1) to.read(exec);
    const auto vb = PetscStrata::columns<Exec>(from.view().data(), rows,
                                               b.columns, b.leading);
    const auto vx = PetscStrata::columns<Exec>(to.view().data(), rows,
                                               x.columns, x.leading);
    Places places{order_.rows(), order_.columns(), nullptr};
    // L D L^T is its own transpose.
    if (is_cholesky && step == Step::transpose) step = Step::both;
    if (is_cholesky && step != Step::both) {
      make_roots(exec);
      places.roots = roots_.data();
    }
    if (is_single())
      single_.solve(exec, L_, U_, vb, vx, step, places);
    else
      working_.solve(exec, L_, U_, vb, vx, step, places);
    to.write(exec);
    if (from.is_copy()) exec.fence();
  }

 private:
  using Elimination = Strata::Detail::IncompleteFactors<Scalar, Exec>;
  using Filled = Strata::Detail::FilledMatrix<Scalar, Exec>;
  using Single = Strata::Detail::SingleOf<Scalar>;
  using Values = Kokkos::View<Scalar*, typename Exec::memory_space>;
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<PetscInt>>;
  static constexpr bool can_be_single =
      !std::is_same<Single, Scalar>::value &&
      Strata::Detail::has_single_factors<Scalar, Exec>;

  /// A matrix over PETSc's arrays, or over copies of them.
  struct Borrowed {
    Borrowed(const Exec& exec, const CsrArrays& arrays)
        : rows(arrays.rows),
          row_map(const_cast<PetscInt*>(arrays.row_map),
                  static_cast<std::size_t>(arrays.rows) + 1, arrays.memory) {
      row_map.read(exec);
      Kokkos::deep_copy(exec, stored,
                        Kokkos::subview(row_map.view(), arrays.rows));
      exec.fence();
      entries = {const_cast<PetscInt*>(arrays.entries),
                 static_cast<std::size_t>(stored), arrays.memory};
      values = {reinterpret_cast<Scalar*>(arrays.values),
                static_cast<std::size_t>(stored), arrays.memory};
      entries.read(exec);
      values.read(exec);
    }
    Matrix<Exec> matrix() const {
      return Matrix<Exec>("Strata::petsc::A", rows, rows, stored, values.view(),
                          row_map.view(), entries.view());
    }
    PetscInt rows, stored = 0;
    Array<PetscInt, Exec> row_map, entries;
    Array<Scalar, Exec> values;
  };

  static Exec space() {
    if constexpr (std::is_same<Exec, Kokkos::DefaultExecutionSpace>::value)
      return PetscGetKokkosExecutionSpace();
    else
      return Exec();
  }
  bool is_single() const {
    return can_be_single &&
           options.precision == Strata::FactorPrecision::single;
  }
  static Values new_values(const std::string& label, std::size_t count) {
    return Values(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                  count);
  }

  /// Faults of pivots, values and memory are outcomes.
  template <class Work>
  static Outcome guarded(const Work& work) {
    try {
      return work();
    } catch (const Strata::MissingDiagonalError& error) {
      return failed(MAT_FACTOR_STRUCT_ZEROPIVOT, error.row(), error.what());
    } catch (const Strata::PrecisionError& error) {
      return failed(MAT_FACTOR_OTHER, error.row(), error.what());
    } catch (const Strata::NotFiniteError& error) {
      return failed(MAT_FACTOR_OTHER, error.row(), error.what());
    } catch (const Strata::MemoryError& error) {
      return failed(MAT_FACTOR_OUTMEMORY, -1, error.what());
    } catch (const Strata::PlanMemoryError& error) {
      return failed(MAT_FACTOR_OUTMEMORY, -1, error.what());
    }
  }

  /// @param A  in the order of the factor
  Outcome factorise(const Exec& exec, const Matrix<Exec>& A,
                    const MatFactorInfo& info) {
    PetscReal top = 0;
    if (info.shifttype == (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE) {
      Kokkos::parallel_reduce(
          "Strata::petsc::dominant_shift", Range(exec, 0, A.numRows()),
          FindDominantShift<Exec>{A}, Kokkos::Max<PetscReal>(top));
      top = PetscMax(top, info.zeropivot);
    }
    Shift shift(info, is_cholesky, top);
    const PivotRules rules = pivot_rules(info, is_cholesky);
    for (;;) {
      Outcome outcome =
          eliminate(exec, prepare(exec, A, shift), rules,
                    shift.pivots().empty() ? -1 : shift.pivots().back());
      outcome.shift = shift.amount();
      outcome.shifted_pivots = static_cast<PetscInt>(shift.pivots().size());
      if (outcome.error == MAT_FACTOR_NOERROR) {
        if (shift.lower()) continue;
        const auto replaced = elimination_->replaced_pivots(exec);
        outcome.replaced_pivots = replaced.count;
        outcome.largest_change = replaced.largest_change;
        return outcome;
      }
      // What is not finite, without a pivot that fails, stops PETSc's shifts.
      if (outcome.error != MAT_FACTOR_NUMERIC_ZEROPIVOT ||
          !shift.raise(outcome.row))
        return outcome;
    }
  }

  /// Makes patterns of L and U, and the elimination of this pattern.
  void analyse(const Exec& exec, const Matrix<Exec>& A,
               const HostPattern* pattern) {
    const auto arrays = Strata::Detail::crs_arrays(A);
    Kokkos::View<PetscInt*, typename Exec::memory_space> row_map, entries;
    Strata::Detail::CrsArrays<Scalar> given;
    if (pattern) {
      row_map = copy_of<PetscInt, Exec>("Strata::petsc::pattern::row_map",
                                        pattern->row_map);
      entries = copy_of<PetscInt, Exec>("Strata::petsc::pattern::entries",
                                        pattern->entries);
      given.row_map = row_map;
      given.entries = entries;
      given.num_values = pattern->entries.size();
      given.columns = A.numCols();
    }
    filled_ = std::make_unique<Filled>(
        exec, arrays, static_cast<int>(std::min<PetscInt>(levels, INT_MAX)),
        Strata::Detail::FillLimit(), pattern ? &given : nullptr);
    Strata::Detail::NewCrsMatrix<Matrix<Exec>> L, U;
    // Elimination may fill zeros of the diagonal.
    elimination_ = std::make_unique<Elimination>(
        exec, filled_->with_fill(exec, arrays), L, U,
        Strata::Detail::PivotReplacement{options.small_pivot_threshold,
                                         is_cholesky, false, true},
        &graph_of_l_);
    L_ = L.matrix("Strata::petsc::L");
    U_ = U.matrix("Strata::petsc::U");
    // Each lower entry has a mirror image where none lacks one: see prepare.
    if (is_cholesky && L_.nnz() != U_.nnz()) refuse_pattern();
  }

  [[noreturn]] void refuse_pattern() {
    elimination_.reset();
    throw Unsupported(
        "icc wants a matrix that stores the mirror image of each entry, though "
        "it reads the upper triangle alone, as PETSc's: use -pc_type ilu");
  }

  /// What is factorised: A with a shift, and for incomplete Cholesky the upper
  /// triangle's values in the lower one.
  Matrix<Exec> prepare(const Exec& exec, const Matrix<Exec>& A,
                       const Shift& shift) {
    if (shift.amount() == 0 && shift.pivots().empty() && !is_cholesky) return A;
    if (prepared_.extent(0) != A.values.extent(0))
      prepared_ = new_values("Strata::petsc::prepared", A.nnz());
    PetscInt unmatched = 0;
    Kokkos::parallel_reduce(
        "Strata::petsc::prepare", Range(exec, 0, A.numRows()),
        PrepareValues<Exec>{A, shift.amount(), is_cholesky, prepared_},
        unmatched);
    if (unmatched > 0) refuse_pattern();
    for (const PetscInt row : shift.pivots())
      Kokkos::parallel_for("Strata::petsc::shift_pivot",
                           Range(exec, row, row + 1),
                           ShiftPivot<Exec>{A, shift.of_pivot(), prepared_});
    return Matrix<Exec>("Strata::petsc::A", A.numRows(), A.numCols(), A.nnz(),
                        prepared_, A.graph.row_map, A.graph.entries);
  }

  /// One try, into L_ and U_.
  /// @param after  pivots up to this row are not looked at
  Outcome eliminate(const Exec& exec, const Matrix<Exec>& A,
                    const PivotRules& rules, PetscInt after) {
    ++factorizations_;
    Outcome outcome;
    try {
      elimination_->compute(
          exec, filled_->with_fill(exec, Strata::Detail::crs_arrays(A)));
    } catch (const Strata::FactorizationError& error) {
      outcome = failed(MAT_FACTOR_OTHER, error.row(), error.what());
    }
    // Rows above that one are right, so the first pivot that fails is PETSc's.
    const PetscInt n = U_.numRows();
    PetscInt row = n;
    Kokkos::parallel_reduce(
        "Strata::petsc::failed_pivot", Range(exec, after + 1, n),
        FindFailedPivot<Exec>{L_, U_, rules}, Kokkos::Min<PetscInt>(row));
    if (row >= n) return outcome;
    PetscInt at = 0;
    Scalar pivot = 0;
    Kokkos::deep_copy(exec, at, Kokkos::subview(U_.graph.row_map, row));
    exec.fence();
    Kokkos::deep_copy(exec, pivot, Kokkos::subview(U_.values, at));
    exec.fence();
    char reason[200], place[40] = "";
    if (order_.rows())
      std::snprintf(place, sizeof(place), " (of the matrix: %lld)",
                    static_cast<long long>(order_.row(row)));
    std::snprintf(
        reason, sizeof(reason),
        "zero pivot in row %lld%s: %s %g, tolerance %g%s",
        static_cast<long long>(row), place,
        rules.positive ? "real part" : "value",
        static_cast<double>(rules.positive ? real_part(pivot)
                                           : magnitude(pivot)),
        static_cast<double>(rules.tolerance),
        rules.relative ? " times the sum of the row's other entries" : "");
    outcome = failed(MAT_FACTOR_NUMERIC_ZEROPIVOT, row, reason);
    outcome.pivot = magnitude(pivot);
    return outcome;
  }

  /// Square roots of the pivots of L D L^T.
  void make_roots(const Exec& exec) {
    if (roots_fresh_) return;
    const PetscInt n = U_.numRows();
    if (roots_.extent(0) != static_cast<std::size_t>(n))
      roots_ = decltype(roots_)("Strata::petsc::roots", n);
    PetscInt bad = n;
    Kokkos::parallel_reduce("Strata::petsc::roots", Range(exec, 0, n),
                            TakeRoots<Exec>{U_, roots_},
                            Kokkos::Min<PetscInt>(bad));
    exec.fence();
    if (bad < n)
      throw Unsupported(
          "MatForwardSolve and MatBackwardSolve of icc need real, positive "
          "pivots, and that of row " +
          std::to_string(bad) +
          " isn't one: use -ksp_pc_side left, or "
          "-pc_factor_shift_type positive_definite");
    roots_fresh_ = true;
  }

  /// Of the analysed pattern, or null. It fills in L_ and U_.
  std::unique_ptr<const Elimination> elimination_;
  std::unique_ptr<const Filled> filled_;
  Order<Exec> order_;
  Strata::Detail::GraphWithLevels<Exec> graph_of_l_;  // until L is planned
  Matrix<Exec> L_, U_;
  Values prepared_;  // of A; empty: A itself is factorised
  Triangles<Scalar, Exec> working_;
  Triangles<std::conditional_t<can_be_single, Single, Scalar>, Exec> single_;
  Kokkos::View<PetscReal*, typename Exec::memory_space> roots_;
  bool roots_fresh_ = false;
};

}  // namespace PetscStrata

#endif
