// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_FACTOR_HPP
#define PETSCSTRATA_FACTOR_HPP

// Incomplete factors of a sequential matrix of PETSc.

#include <petscmat.h>

#include <Strata_Error.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_TriangularSolver.hpp>
#include <memory>
#include <petsc_kokkos.hpp>
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

/// What a factored Mat holds, whatever space it runs in.
class FactorBase {
 public:
  Strata::TriangularOptions options;
  bool is_cholesky = false;
  /// Of the matrix whose pattern was looked at: which it was, its state then,
  /// and its first row without entries, -1 where it has none.
  PetscObjectId matrix = 0;
  PetscObjectState pattern = -1;
  PetscInt empty_row = -1;

  virtual ~FactorBase() = default;
  /// @throws Strata::Error but for pivots and memory, which are outcomes
  virtual Outcome factorise(const CsrArrays& A, const MatFactorInfo& info) = 0;
  /// op is none or transpose.
  virtual void solve(const DenseArrays& b, const DenseArrays& x, PetscInt rows,
                     Strata::Op op) = 0;
  /// Where its arrays have to be.
  virtual bool on_host() const = 0;
  /// Null until the first factorisation.
  virtual const Strata::IncompleteFactorizationReport* report() const = 0;

  PetscInt analyses() const { return analyses_; }
  PetscInt factorizations() const { return factorizations_; }

 protected:
  PetscInt analyses_ = 0, factorizations_ = 0;
};

template <class Exec>
class Factor : public FactorBase {
 public:
  bool on_host() const override { return runs_on_host<Exec>; }
  const Strata::IncompleteFactorizationReport* report() const override {
    return made_ ? &factors_.report() : nullptr;
  }

  Outcome factorise(const CsrArrays& arrays,
                    const MatFactorInfo& info) override {
    const Exec exec = space();
    Outcome outcome;
    try {
      outcome = factorise(exec, arrays, info);
    } catch (const Strata::MissingDiagonalError& error) {
      outcome = failed(MAT_FACTOR_STRUCT_ZEROPIVOT, error.row(), error.what());
    } catch (const Strata::NotFiniteError& error) {
      outcome = failed(MAT_FACTOR_OTHER, error.row(), error.what());
    } catch (const Strata::MemoryError& error) {
      outcome = failed(MAT_FACTOR_OUTMEMORY, -1, error.what());
    } catch (const Strata::PlanMemoryError& error) {
      outcome = failed(MAT_FACTOR_OUTMEMORY, -1, error.what());
    }
    return outcome;
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
    // Real L D L^T is its own transpose.
    if (op == Strata::Op::none || is_cholesky) {
      factors_.apply(exec, vb, vx);
    } else {
      make_transposed(exec);
      upper_transposed_.solve(exec, vb, vx);
      lower_transposed_.solve(exec, vx, vx);
    }
    to.write(exec);
    if (from.is_copy()) exec.fence();
  }

 private:
  using Solver = Strata::TriangularSolver<Scalar, Exec>;

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

  Outcome factorise(const Exec& exec, const CsrArrays& arrays,
                    const MatFactorInfo& info) {
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

    using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<PetscInt>>;
    PetscReal top = 0;
    if (info.shifttype == (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE) {
      Kokkos::parallel_reduce(
          "Strata::petsc::dominant_shift", Range(exec, 0, arrays.rows),
          FindDominantShift<Exec>{A}, Kokkos::Max<PetscReal>(top));
      top = PetscMax(top, info.zeropivot);
    }
    Shift shift(info, is_cholesky, top);
    const PivotRules rules = pivot_rules(info, is_cholesky);
    transposes_fresh_ = false;
    Matrix<Exec> shifted;
    for (;;) {
      if (shift.amount() > 0) {
        if (shifted.numRows() == 0)
          shifted = Matrix<Exec>(
              "Strata::petsc::shifted", arrays.rows, arrays.rows, stored,
              typename Array<Scalar, Exec>::View(
                  Kokkos::view_alloc(Kokkos::WithoutInitializing,
                                     "Strata::petsc::shifted"),
                  count),
              row_map.view(), entries.view());
        Kokkos::parallel_for(
            "Strata::petsc::shift", Range(exec, 0, arrays.rows),
            AddToDiagonal<Exec>{A, shift.amount(), shifted.values});
      }
      Outcome outcome = once(exec, shift.amount() > 0 ? shifted : A, rules);
      outcome.shift = shift.amount();
      if (outcome.error == MAT_FACTOR_NOERROR ? !shift.lower() : !shift.raise())
        return outcome;
    }
  }

  /// One try. Errors that a shift can't mend are thrown.
  Outcome once(const Exec& exec, const Matrix<Exec>& A,
               const PivotRules& rules) {
    ++factorizations_;
    try {
      compute(exec, A);
    } catch (const Strata::ZeroDiagonalError& error) {
      return failed(MAT_FACTOR_NUMERIC_ZEROPIVOT, error.row(), error.what());
    } catch (const Strata::FactorizationError& error) {
      return failed(MAT_FACTOR_NUMERIC_ZEROPIVOT, error.row(), error.what());
    } catch (const Strata::IndefiniteError& error) {
      return failed(MAT_FACTOR_NUMERIC_ZEROPIVOT, error.row(), error.what());
    }
    const auto U = factors_.template upper<Matrix<Exec>>(exec);
    Matrix<Exec> L;
    if (rules.relative && !rules.upper_alone)
      L = factors_.template lower<Matrix<Exec>>(exec);
    const PetscInt n = U.numRows();
    PetscInt row = n;
    Kokkos::parallel_reduce(
        "Strata::petsc::failed_pivot",
        Kokkos::RangePolicy<Exec, Kokkos::IndexType<PetscInt>>(exec, 0, n),
        FindFailedPivot<Exec>{L, U, rules}, Kokkos::Min<PetscInt>(row));
    if (row >= n) return Outcome();
    PetscInt at = 0;
    Scalar pivot = 0;
    Kokkos::deep_copy(exec, at, Kokkos::subview(U.graph.row_map, row));
    exec.fence();
    Kokkos::deep_copy(exec, pivot, Kokkos::subview(U.values, at));
    exec.fence();
    Outcome outcome =
        failed(MAT_FACTOR_NUMERIC_ZEROPIVOT, row,
               "the pivot of row " + std::to_string(row) +
                   " is not above the tolerance of -pc_factor_zeropivot");
    outcome.pivot = magnitude(pivot);
    return outcome;
  }

  void compute(const Exec& exec, const Matrix<Exec>& A) {
    if (made_) {
      try {
        factors_.update_values(exec, A);
        return;
      } catch (const Strata::PatternMismatchError&) {
        made_ = false;
        lower_transposed_ = Solver();
        upper_transposed_ = Solver();
        transposes_made_ = false;
      }
    }
    ++analyses_;
    Strata::IncompleteFactorizationOptions how;
    how.kind = is_cholesky ? Strata::Factorization::incomplete_cholesky
                           : Strata::Factorization::incomplete_lu;
    how.triangular = options;
    factors_ = Strata::IncompleteFactorization<Scalar, Exec>(exec, A, how);
    made_ = true;
  }

  /// Solvers with the transposes are made at the first use: PETSc doesn't say
  /// beforehand that there will be one.
  void make_transposed(const Exec& exec) {
    if (transposes_fresh_) return;
    const auto L = factors_.template lower<Matrix<Exec>>(exec);
    const auto U = factors_.template upper<Matrix<Exec>>(exec);
    renew(exec, lower_transposed_, L, Strata::Uplo::lower, Strata::Diag::unit);
    renew(exec, upper_transposed_, U, Strata::Uplo::upper,
          Strata::Diag::non_unit);
    // L and U are freed here.
    exec.fence();
    transposes_made_ = transposes_fresh_ = true;
  }
  void renew(const Exec& exec, Solver& solver, const Matrix<Exec>& T,
             Strata::Uplo uplo, Strata::Diag diag) {
    if (transposes_made_) {
      try {
        solver.update_values(exec, T);
        return;
      } catch (const Strata::ScalingError&) {
        // Another algorithm takes them.
      }
    }
    Strata::TriangularOptions how = options;
    how.op = Strata::Op::transpose;
    solver = Solver(exec, T, uplo, diag, how);
  }

  bool made_ = false, transposes_made_ = false, transposes_fresh_ = false;
  Strata::IncompleteFactorization<Scalar, Exec> factors_;
  Solver lower_transposed_, upper_transposed_;
};

}  // namespace PetscStrata

#endif
