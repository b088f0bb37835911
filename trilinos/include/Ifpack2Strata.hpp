// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef IFPACK2STRATA_HPP
#define IFPACK2STRATA_HPP

// Strata's solvers as preconditioners of Ifpack2. A program that includes this
// links Strata::strata and its own Ifpack2 and Tpetra.

#include <Ifpack2Strata_LocalMatrix.hpp>
#include <Ifpack2Strata_Preconditioner.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_TriangularSolver.hpp>

namespace Ifpack2Strata {

/// In the place of Ifpack2::LocalSparseTriangularSolver: apply() solves with
/// the triangle that each rank has in its own rows and columns. Which triangle
/// it is, and that rows have unit diagonals (none stores its diagonal entry),
/// is found in the pattern; on a rank whose rows are diagonal it is lower.
///
/// @tparam RowMatrix a Tpetra::RowMatrix
template <class RowMatrix = Tpetra::RowMatrix<>>
class LocalTriangularSolver : public Preconditioner<RowMatrix> {
  using Base = Preconditioner<RowMatrix>;

 public:
  using typename Base::Scalar;
  using typename Base::Space;
  using Solver = Strata::TriangularSolver<Scalar, Space>;

  LocalTriangularSolver() = default;
  /// @param A may be null: setMatrix() names it later
  explicit LocalTriangularSolver(const Teuchos::RCP<const RowMatrix>& A) {
    this->setMatrix(A);
  }

  /// What the next compute() after an initialize() uses.
  Strata::TriangularPlanOptions& options() { return options_; }
  /// Of this rank. @throws Strata::HandleError before compute()
  const Strata::TriangularReport& report() const { return solver_.report(); }

 private:
  using typename Base::Block;
  using typename Base::ConstBlock;
  using typename Base::Matrix;

  std::string name() const override { return "LocalTriangularSolver"; }
  bool set_parameter(const std::string& name,
                     const Teuchos::ParameterList& list) override {
    return this->set_plan_option(options_, name, list);
  }
  void forget() override { solver_ = transposed_ = conjugate_ = Solver(); }
  void look(const Matrix& pattern) override {
    const Detail::TriangleShape shape = find_shape<Space>(pattern);
    uplo_ = shape.uplo;
    diag_ = shape.diag;
  }
  void take_values(const Space& exec, const Matrix& T, bool is_known) override {
    take(exec, T, is_known, Strata::Op::none, solver_);
    if (!this->transpose()) return;
    take(exec, T, is_known, Strata::Op::transpose, transposed_);
    if (Kokkos::ArithTraits<Scalar>::is_complex)
      take(exec, T, is_known, Strata::Op::conjugate_transpose, conjugate_);
  }
  void take(const Space& exec, const Matrix& T, bool is_known, Strata::Op op,
            Solver& solver) const {
    if (is_known) {
      try {
        solver.update_values(exec, T.values);
        return;
      } catch (const Strata::ScalingError&) {
        // Another plan takes them.
      }
    }
    Strata::TriangularOptions options{options_};
    options.op = op;
    solver = Solver(exec, T, uplo_, diag_, options);
  }
  void solve(const Space& exec, const ConstBlock& b, const Block& x,
             Strata::Op op) const override {
    const bool is_conjugate = op == Strata::Op::conjugate_transpose &&
                              Kokkos::ArithTraits<Scalar>::is_complex;
    const Solver& solver = op == Strata::Op::none ? solver_
                           : is_conjugate         ? conjugate_
                                                  : transposed_;
    solver.solve(exec, b, x);
  }

  Strata::TriangularPlanOptions options_;
  Strata::Uplo uplo_ = Strata::Uplo::lower;
  Strata::Diag diag_ = Strata::Diag::non_unit;
  Solver solver_, transposed_, conjugate_;
};

/// In the place of Ifpack2::RILUK: ILU(k), or IC(k), of the matrix that each
/// rank has in its own rows and columns, so that on several ranks this is
/// additive Schwarz without overlap. As the inner preconditioner of
/// Ifpack2::AdditiveSchwarz it has overlap.
///
/// It eliminates as Ifpack2::RILUK does, and has its numbers of iterations. A
/// zero pivot, which RILUK replaces, is a Strata::FactorizationError unless the
/// option `small_pivot_threshold` is set.
///
/// @tparam RowMatrix a Tpetra::RowMatrix
template <class RowMatrix = Tpetra::RowMatrix<>>
class IncompleteFactorization : public Preconditioner<RowMatrix> {
  using Base = Preconditioner<RowMatrix>;

 public:
  using typename Base::Scalar;
  using typename Base::Space;
  using Factors = Strata::IncompleteFactorization<Scalar, Space>;

  IncompleteFactorization() = default;
  /// @param A may be null: setMatrix() names it later
  explicit IncompleteFactorization(const Teuchos::RCP<const RowMatrix>& A) {
    this->setMatrix(A);
  }

  /// What the next compute() after an initialize() uses. `transpose` is the
  /// parameter "strata: transpose".
  Strata::IncompleteFactorizationOptions& options() { return options_; }
  Strata::Factorization& kind() { return kind_; }
  /// Of this rank. @throws Strata::HandleError before compute()
  const Strata::IncompleteFactorizationReport& report() const {
    return factors_.report();
  }

 private:
  using typename Base::Block;
  using typename Base::ConstBlock;
  using typename Base::Matrix;

  std::string name() const override { return "IncompleteFactorization"; }
  bool set_parameter(const std::string& name,
                     const Teuchos::ParameterList& list) override {
    if (name == "fact: iluk level-of-fill")
      options_.fill_level = static_cast<int>(this->number(name, list));
    else if (name == "fact: absolute threshold")
      this->thresholds().absolute = this->number(name, list);
    else if (name == "fact: relative threshold")
      this->thresholds().relative = this->number(name, list);
    else if (name == "fact: relax value" && this->number(name, list) != 0)
      this->refuse(name, "Strata has no modified ILU: leave it at 0");
    else if (name == "strata: small pivot threshold")
      options_.small_pivot_threshold = this->number(name, list);
    else if (name == "strata: single precision")
      options_.precision = list.get<bool>(name)
                               ? Strata::FactorPrecision::single
                               : Strata::FactorPrecision::working;
    else if (name == "strata: cholesky")
      kind_ = list.get<bool>(name) ? Strata::Factorization::incomplete_cholesky
                                   : Strata::Factorization::incomplete_lu;
    else
      return this->set_plan_option(options_.triangular, name, list);
    return true;
  }
  void forget() override { factors_ = Factors(); }
  void take_values(const Space& exec, const Matrix& A, bool is_known) override {
    if (is_known) {
      factors_.update_values(exec, A);
      return;
    }
    options_.transpose = this->transpose();
    factors_ = Factors(exec, A, kind_, options_);
  }
  void solve(const Space& exec, const ConstBlock& b, const Block& x,
             Strata::Op op) const override {
    factors_.apply(exec, b, x, op);
  }

  Strata::IncompleteFactorizationOptions options_;
  Strata::Factorization kind_ = Strata::Factorization::incomplete_lu;
  Factors factors_;
};

}  // namespace Ifpack2Strata

#endif
