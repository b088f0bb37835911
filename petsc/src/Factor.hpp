// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_FACTOR_HPP
#define PETSCSTRATA_FACTOR_HPP

// Incomplete factors of a sequential matrix of PETSc.

#include <petscmat.h>

#include <Strata_Error.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_TriangularSolver.hpp>
#include <analysis/level_sets/GraphWithLevels.hpp>
#include <cstdio>
#include <memory>
#include <petsc_kokkos.hpp>
#include <stdexcept>
#include <string>

#include "Arrays.hpp"
#include "Pivots.hpp"

namespace PetscStrata {

/// The arrays of a SeqAIJ matrix, in memory of that type.
struct CsrArrays {
  PetscInt rows;
  const PetscInt *row_map, *entries;
  PetscScalar* values;
  PetscMemType memory;
};
/// Columns of a vector or dense matrix.
struct DenseArrays {
  PetscScalar* data;
  PetscInt columns, leading;
  PetscMemType memory;
};

/// What came of a factorisation.
struct Outcome {
  MatFactorError error = MAT_FACTOR_NOERROR;
  PetscInt row = -1;    ///< of the pivot at fault, -1 where it is not known
  PetscReal pivot = 0;  ///< its magnitude where it is known
  PetscReal shift = 0;  ///< what was added to the diagonal
  std::string reason;
};

/// Refused with PETSC_ERR_SUP.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a factored Mat holds, whatever space it runs in.
class FactorBase {
 public:
  Strata::TriangularPlanOptions options;
  bool is_cholesky = false;
  /// Of the matrix whose pattern was looked at: which it was, its state then,
  /// and its first row without entries, -1 where it has none.
  PetscObjectId matrix = 0;
  PetscObjectState pattern = -1;
  PetscInt empty_row = -1;
  /// Of the last factorisation.
  Outcome outcome;

  virtual ~FactorBase() = default;
  /// @param is_known  A has the pattern of the call before
  /// @throws Unsupported, and Strata::Error but for pivots and memory, which
  ///   are outcomes
  virtual Outcome factorise(const CsrArrays& A, const MatFactorInfo& info,
                            bool is_known) = 0;
  /// op is none or transpose.
  virtual void solve(const DenseArrays& b, const DenseArrays& x, PetscInt rows,
                     Strata::Op op) = 0;
  /// Where its arrays have to be.
  virtual bool on_host() const = 0;
  /// Of the solvers with L and U; null until there are factors.
  virtual const Strata::TriangularReport* report(Strata::Uplo uplo) const = 0;
  /// Of both factors, the ones of L left out.
  virtual PetscLogDouble entries() const = 0;
  virtual PetscLogDouble bytes() const = 0;

  PetscInt analyses() const { return analyses_; }
  PetscInt factorizations() const { return factorizations_; }

 protected:
  PetscInt analyses_ = 0, factorizations_ = 0;
};

template <class Exec>
class Factor : public FactorBase {
 public:
  bool on_host() const override { return runs_on_host<Exec>; }
  const Strata::TriangularReport* report(Strata::Uplo uplo) const override {
    if (!made_) return nullptr;
    return &(uplo == Strata::Uplo::lower ? lower_ : upper_).report();
  }
  PetscLogDouble entries() const override {
    return static_cast<PetscLogDouble>(L_.nnz()) +
           static_cast<PetscLogDouble>(U_.nnz()) -
           static_cast<PetscLogDouble>(U_.numRows());
  }
  PetscLogDouble bytes() const override {
    std::size_t sum = elimination_ ? elimination_->bytes() : 0;
    for (const auto* factor : {&L_, &U_})
      sum += factor->values.span() * sizeof(Scalar) +
             (factor->graph.entries.span() + factor->graph.row_map.span()) *
                 sizeof(PetscInt);
    sum += (prepared_.span() + between_.span()) * sizeof(Scalar);
    if (made_) sum += lower_.report().plan_bytes + upper_.report().plan_bytes;
    if (transposes_made_)
      sum += lower_transposed_.report().plan_bytes +
             upper_transposed_.report().plan_bytes;
    return static_cast<PetscLogDouble>(sum);
  }

  Outcome factorise(const CsrArrays& arrays, const MatFactorInfo& info,
                    bool is_known) override {
    const Exec exec = space();
    try {
      return factorise(exec, arrays, info, is_known);
    } catch (const Strata::MissingDiagonalError& error) {
      return failed(MAT_FACTOR_STRUCT_ZEROPIVOT, error.row(), error.what());
    } catch (const Strata::MemoryError& error) {
      return failed(MAT_FACTOR_OUTMEMORY, -1, error.what());
    } catch (const Strata::PlanMemoryError& error) {
      return failed(MAT_FACTOR_OUTMEMORY, -1, error.what());
    }
  }

  void solve(const DenseArrays& b, const DenseArrays& x, PetscInt rows,
             Strata::Op op) override {
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
    const auto vb =
        columns<Exec>(from.view().data(), rows, b.columns, b.leading);
    const auto vx = columns<Exec>(to.view().data(), rows, x.columns, x.leading);
    // A solve in place costs merged level sets another pass.
    const bool fits =
        static_cast<std::size_t>(x.columns) * rows <= between_.extent(0);
    const auto w =
        fits ? columns<Exec>(between_.data(), rows, x.columns, rows) : vx;
    // L D L^T is its own transpose.
    if (op == Strata::Op::none || is_cholesky) {
      lower_.solve(exec, vb, w);
      upper_.solve(exec, w, vx);
    } else {
      make_transposed(exec);
      upper_transposed_.solve(exec, vb, w);
      lower_transposed_.solve(exec, w, vx);
    }
    to.write(exec);
    if (from.is_copy()) exec.fence();
  }

 private:
  using Solver = Strata::TriangularSolver<Scalar, Exec>;
  using Elimination = Strata::Detail::IncompleteFactors<Scalar, Exec>;
  using Graph = Strata::Detail::GraphWithLevels<Exec>;
  using Values = Kokkos::View<Scalar*, typename Exec::memory_space>;
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<PetscInt>>;

  static Exec space() {
    if constexpr (std::is_same<Exec, Kokkos::DefaultExecutionSpace>::value)
      return PetscGetKokkosExecutionSpace();
    else
      return Exec();
  }
  static Outcome failed(MatFactorError error, std::int64_t row,
                        std::string reason) {
    Outcome outcome;
    outcome.error = error;
    outcome.row = static_cast<PetscInt>(row);
    outcome.reason = std::move(reason);
    return outcome;
  }
  static Values new_values(const std::string& label, std::size_t count) {
    return Values(Kokkos::view_alloc(Kokkos::WithoutInitializing, label),
                  count);
  }
  static Matrix<Exec> with_values(const Matrix<Exec>& A, const Values& values) {
    return Matrix<Exec>("Strata::petsc::A", A.numRows(), A.numCols(), A.nnz(),
                        values, A.graph.row_map, A.graph.entries);
  }

  Outcome factorise(const Exec& exec, const CsrArrays& arrays,
                    const MatFactorInfo& info, bool is_known) {
    const auto n = static_cast<std::size_t>(arrays.rows);
    const Array<PetscInt, Exec> row_map(const_cast<PetscInt*>(arrays.row_map),
                                        n + 1, arrays.memory);
    row_map.read(exec);
    PetscInt stored = 0;
    Kokkos::deep_copy(exec, stored, Kokkos::subview(row_map.view(), n));
    exec.fence();
    const auto count = static_cast<std::size_t>(stored);
    const Array<PetscInt, Exec> entries(const_cast<PetscInt*>(arrays.entries),
                                        count, arrays.memory);
    const Array<Scalar, Exec> values(reinterpret_cast<Scalar*>(arrays.values),
                                     count, arrays.memory);
    entries.read(exec);
    values.read(exec);
    const Matrix<Exec> A("Strata::petsc::A", arrays.rows, arrays.rows, stored,
                         values.view(), row_map.view(), entries.view());
    Graph graph_of_l;
    if (!is_known || !elimination_) analyse(exec, A, graph_of_l);

    PetscReal top = 0;
    if (info.shifttype == (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE) {
      Kokkos::parallel_reduce(
          "Strata::petsc::dominant_shift", Range(exec, 0, arrays.rows),
          FindDominantShift<Exec>{A}, Kokkos::Max<PetscReal>(top));
      top = PetscMax(top, info.zeropivot);
    }
    Shift shift(info, is_cholesky, top);
    const PivotRules rules = pivot_rules(info, is_cholesky);
    for (;;) {
      Outcome outcome =
          eliminate(exec, prepare(exec, A, shift.amount()), rules);
      outcome.shift = shift.amount();
      if (outcome.error == MAT_FACTOR_NOERROR) {
        if (shift.lower()) continue;
        give_values(exec, graph_of_l);
        return outcome;
      }
      // What is not finite, without a pivot that fails, stops PETSc's shifts.
      if (outcome.error != MAT_FACTOR_NUMERIC_ZEROPIVOT || !shift.raise())
        return outcome;
    }
  }

  /// Makes patterns of L and U, and the elimination of this pattern.
  void analyse(const Exec& exec, const Matrix<Exec>& A, Graph& graph_of_l) {
    auto arrays = Strata::Detail::crs_arrays(A);
    elimination_.reset();
    made_ = transposes_made_ = false;
    ++analyses_;
    Strata::Detail::NewCrsMatrix<Matrix<Exec>> L, U;
    const auto make = [&] {
      elimination_ = std::make_unique<Elimination>(
          exec, arrays, L, U, Strata::Detail::PivotReplacement(), &graph_of_l);
    };
    try {
      make();
    } catch (const Strata::ZeroDiagonalError&) {
      // Elimination may fill it, and the pattern alone counts here.
      const Values ones = new_values("Strata::petsc::ones", A.nnz());
      Kokkos::deep_copy(exec, ones, Scalar(1));
      arrays.values = ones.data();
      make();
    }
    L_ = L.matrix("Strata::petsc::L");
    U_ = U.matrix("Strata::petsc::U");
    prepared_ = Values();
    // Each lower entry has a mirror image where none lacks one: see prepare.
    if (is_cholesky && L_.nnz() != U_.nnz()) refuse_pattern();
  }

  [[noreturn]] void refuse_pattern() {
    elimination_.reset();
    throw Unsupported(
        "icc wants a matrix that stores the mirror image of each entry, though "
        "it reads the upper triangle alone, as PETSc's: use -pc_type ilu");
  }

  /// What is factorised: A with `amount` on its diagonal, and for incomplete
  /// Cholesky the upper triangle's values in the lower one.
  Matrix<Exec> prepare(const Exec& exec, const Matrix<Exec>& A,
                       PetscReal amount) {
    if (amount == 0 && !is_cholesky) return A;
    if (prepared_.extent(0) != A.values.extent(0))
      prepared_ = new_values("Strata::petsc::prepared", A.nnz());
    PetscInt unmatched = 0;
    Kokkos::parallel_reduce(
        "Strata::petsc::prepare", Range(exec, 0, A.numRows()),
        PrepareValues<Exec>{A, amount, is_cholesky, prepared_}, unmatched);
    if (unmatched > 0) refuse_pattern();
    return with_values(A, prepared_);
  }

  /// One try, into L_ and U_.
  Outcome eliminate(const Exec& exec, const Matrix<Exec>& A,
                    const PivotRules& rules) {
    ++factorizations_;
    Outcome outcome;
    try {
      elimination_->compute(exec, Strata::Detail::crs_arrays(A));
    } catch (const Strata::FactorizationError& error) {
      outcome = failed(MAT_FACTOR_OTHER, error.row(), error.what());
    }
    // Rows above that one are right, so the first pivot that fails is PETSc's.
    const PetscInt n = U_.numRows();
    PetscInt row = n;
    Kokkos::parallel_reduce("Strata::petsc::failed_pivot", Range(exec, 0, n),
                            FindFailedPivot<Exec>{L_, U_, rules},
                            Kokkos::Min<PetscInt>(row));
    if (row >= n) return outcome;
    PetscInt at = 0;
    Scalar pivot = 0;
    Kokkos::deep_copy(exec, at, Kokkos::subview(U_.graph.row_map, row));
    exec.fence();
    Kokkos::deep_copy(exec, pivot, Kokkos::subview(U_.values, at));
    exec.fence();
    char reason[160];
    std::snprintf(
        reason, sizeof(reason), "zero pivot in row %lld: %s %g, tolerance %g%s",
        static_cast<long long>(row), rules.positive ? "real part" : "value",
        static_cast<double>(rules.positive ? real_part(pivot)
                                           : magnitude(pivot)),
        static_cast<double>(rules.tolerance),
        rules.relative ? " times the sum of the row's other entries" : "");
    outcome = failed(MAT_FACTOR_NUMERIC_ZEROPIVOT, row, reason);
    outcome.pivot = magnitude(pivot);
    return outcome;
  }

  /// The solvers get the values of L_ and U_.
  void give_values(const Exec& exec, Graph& graph_of_l) {
    transposes_fresh_ = false;
    give(exec, lower_, made_, Strata::Uplo::lower, Strata::Op::none,
         &graph_of_l);
    graph_of_l = Graph();
    give(exec, upper_, made_, Strata::Uplo::upper, Strata::Op::none);
    if (!made_)
      between_ = new_values(
          "Strata::petsc::between",
          static_cast<std::size_t>(U_.numRows()) *
              static_cast<std::size_t>(options.max_right_hand_sides));
    exec.fence();
    made_ = true;
  }
  /// Solvers with the transposes are made at the first use: PETSc doesn't say
  /// beforehand that there will be one.
  void make_transposed(const Exec& exec) {
    if (transposes_fresh_) return;
    give(exec, lower_transposed_, transposes_made_, Strata::Uplo::lower,
         Strata::Op::transpose);
    give(exec, upper_transposed_, transposes_made_, Strata::Uplo::upper,
         Strata::Op::transpose);
    exec.fence();
    transposes_made_ = transposes_fresh_ = true;
  }
  void give(const Exec& exec, Solver& solver, bool is_made, Strata::Uplo uplo,
            Strata::Op op, const Graph* graph = nullptr) {
    const bool is_lower = uplo == Strata::Uplo::lower;
    const Matrix<Exec>& T = is_lower ? L_ : U_;
    if (is_made) {
      try {
        solver.update_values(exec, T.values);
        return;
      } catch (const Strata::ScalingError&) {
        // Another algorithm takes them.
      }
    }
    const auto diag = is_lower ? Strata::Diag::unit : Strata::Diag::non_unit;
    Strata::TriangularOptions how{options};
    how.op = op;
    Strata::Detail::Internals::analyse(
        solver, exec, Strata::Detail::crs_arrays(T), uplo, diag, how, graph);
  }

  /// Of the analysed pattern; null: none. It fills in L_ and U_.
  std::unique_ptr<const Elimination> elimination_;
  Matrix<Exec> L_, U_;
  Values prepared_;  // of A; empty: A itself is factorised
  Values between_;   // the triangles: vectors
  bool made_ = false, transposes_made_ = false, transposes_fresh_ = false;
  Solver lower_, upper_, lower_transposed_, upper_transposed_;
};

}  // namespace PetscStrata

#endif
