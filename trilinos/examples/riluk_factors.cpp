// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ifpack2::RILUK computes factors L D U, and Strata solves with both triangles.

#include <BelosPseudoBlockGmresSolMgr.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Ifpack2Strata.hpp>
#include <Ifpack2_RILUK.hpp>
#include <Tpetra_Core.hpp>
#include <cstdio>

using Teuchos::RCP;
using Teuchos::rcp;
using Matrix = Tpetra::CrsMatrix<double>;
using RowMatrix = Tpetra::RowMatrix<double>;
using Vectors = Tpetra::MultiVector<double>;
using Operator = Tpetra::Operator<double>;
using Map = Tpetra::Map<>;
using Riluk = Ifpack2::RILUK<RowMatrix>;

/// y = U^-1 D L^-1 x with RILUK's factors: L and U have unit diagonals, which
/// are not stored, and its D is the inverse of the pivots.
class RilukFactors : public Operator {
 public:
  explicit RilukFactors(const RCP<const Riluk>& factors)
      : factors_(factors),
        lower_(Teuchos::rcpFromRef(factors->getL())),
        upper_(Teuchos::rcpFromRef(factors->getU())) {
    lower_.compute();
    upper_.compute();
  }
  void apply(const Vectors& x, Vectors& y, Teuchos::ETransp, double alpha,
             double beta) const override {
    Vectors z(y.getMap(), y.getNumVectors(), false);
    lower_.apply(x, z);
    z.elementWiseMultiply(1.0, factors_->getD(), z, 0.0);
    upper_.apply(z, y, Teuchos::NO_TRANS, alpha, beta);
  }
  RCP<const Map> getDomainMap() const override {
    return factors_->getDomainMap();
  }
  RCP<const Map> getRangeMap() const override {
    return factors_->getRangeMap();
  }

 private:
  RCP<const Riluk> factors_;
  Ifpack2Strata::LocalTriangularSolver<RowMatrix> lower_, upper_;
};

// 5-point Poisson on n^2 points.
RCP<const Matrix> make_poisson(int n) {
  const RCP<const Map> map = rcp(new Map(n * n, 0, Tpetra::getDefaultComm()));
  const RCP<Matrix> A = rcp(new Matrix(map, 5));
  const auto rows = map->getMyGlobalIndices();
  for (std::size_t k = 0; k < rows.extent(0); ++k) {
    using Global = Map::global_ordinal_type;
    const Global i = rows(k), x = i % n, y = i / n;
    const auto insert = [&](Global column, double value) {
      A->insertGlobalValues(i, 1, &value, &column);
    };
    insert(i, 4.0);
    if (x > 0) insert(i - 1, -1.0);
    if (x < n - 1) insert(i + 1, -1.0);
    if (y > 0) insert(i - n, -1.0);
    if (y < n - 1) insert(i + n, -1.0);
  }
  A->fillComplete();
  return A;
}

// Iterations of GMRES until the residual is 1e-8 of b; -1: no convergence.
int iterations(const RCP<const Matrix>& A, const RCP<const Operator>& M) {
  const RCP<Vectors> x = rcp(new Vectors(A->getDomainMap(), 1));
  const RCP<Vectors> b = rcp(new Vectors(A->getRangeMap(), 1));
  b->putScalar(1.0);
  using Problem = Belos::LinearProblem<double, Vectors, Operator>;
  const RCP<Problem> problem = rcp(new Problem(A, x, b));
  problem->setRightPrec(M);
  problem->setProblem();
  const RCP<Teuchos::ParameterList> list = rcp(new Teuchos::ParameterList);
  list->set("Convergence Tolerance", 1e-8);
  list->set("Num Blocks", 100);
  Belos::PseudoBlockGmresSolMgr<double, Vectors, Operator> gmres(problem, list);
  return gmres.solve() == Belos::Converged ? gmres.getNumIters() : -1;
}

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  const RCP<const Matrix> A = make_poisson(40);

  // Ifpack2 factorises, with one level of fill.
  const RCP<Riluk> riluk = rcp(new Riluk(RCP<const RowMatrix>(A)));
  Teuchos::ParameterList list;
  list.set("fact: iluk level-of-fill", 1);
  riluk->setParameters(list);
  riluk->initialize();
  riluk->compute();

  // Strata factorises and solves.
  const RCP<Ifpack2Strata::IncompleteFactorization<RowMatrix>> strata =
      rcp(new Ifpack2Strata::IncompleteFactorization<RowMatrix>(A));
  strata->setParameters(list);
  strata->compute();

  const int ifpack2 = iterations(A, riluk);
  const int factors = iterations(A, rcp(new RilukFactors(riluk)));
  const int all = iterations(A, strata);
  if (A->getComm()->getRank() == 0)
    std::printf(
        "GMRES: %d iterations with RILUK, %d with Strata's solves with its "
        "factors,\n%d with Strata's own factors\n",
        ifpack2, factors, all);
  return ifpack2 > 0 && factors == ifpack2 && all == ifpack2 ? 0 : 1;
}
