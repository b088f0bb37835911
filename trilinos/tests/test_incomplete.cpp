// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IncompleteFactorization beside Ifpack2::RILUK: the same factors, and as many
// iterations of Belos' methods, alone and inside Ifpack2::AdditiveSchwarz.

#include <BelosPseudoBlockCGSolMgr.hpp>
#include <BelosPseudoBlockGmresSolMgr.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Ifpack2Strata.hpp>
#include <Ifpack2_AdditiveSchwarz.hpp>
#include <Ifpack2_RILUK.hpp>

#include "Systems.hpp"

namespace {

using Ilu = Ifpack2Strata::IncompleteFactorization<Row>;
using Peer = Ifpack2::RILUK<Row>;
using Schwarz = Ifpack2::AdditiveSchwarz<Row>;
using Operator = Tpetra::Operator<Scalar>;
using Problem = Belos::LinearProblem<Scalar, Vectors, Operator>;

constexpr double tolerance = 1e-12;

Teuchos::ParameterList of_level(int level) {
  Teuchos::ParameterList list;
  list.set("fact: iluk level-of-fill", level);
  list.set("strata: transpose", true);
  return list;
}

/// Iterations of CG or GMRES(50) until the residual is 1e-9 of the first.
int iterations(const RCP<Crs>& A, const RCP<const Operator>& M, bool use_cg) {
  const RCP<Vectors> x = rcp(new Vectors(A->getDomainMap(), 1));
  const RCP<Vectors> b = rcp(new Vectors(A->getRangeMap(), 1));
  const auto rows = A->getRowMap()->getMyGlobalIndices();
  for (std::size_t i = 0; i < rows.extent(0); ++i)
    b->replaceLocalValue(Local(i), 0, std::sin(double(1 + rows(i))));
  const RCP<Problem> problem = rcp(new Problem(A, x, b));
  if (use_cg)
    problem->setLeftPrec(M);
  else
    problem->setRightPrec(M);
  CHECK(problem->setProblem(), "Belos refuses the problem");
  const RCP<Teuchos::ParameterList> list = rcp(new Teuchos::ParameterList);
  list->set("Convergence Tolerance", 1e-9);
  list->set("Maximum Iterations", 500);
  if (!use_cg) list->set("Num Blocks", 50);
  Belos::ReturnType result;
  int count = 0;
  if (use_cg) {
    Belos::PseudoBlockCGSolMgr<Scalar, Vectors, Operator> solver(problem, list);
    result = solver.solve();
    count = solver.getNumIters();
  } else {
    Belos::PseudoBlockGmresSolMgr<Scalar, Vectors, Operator> solver(problem,
                                                                    list);
    result = solver.solve();
    count = solver.getNumIters();
  }
  CHECK(result == Belos::Converged, "no convergence after %d", count);
  Vectors r(A->getRangeMap(), 1);
  A->apply(*x, r);
  CHECK(difference(r, *b) < 1e-8, "residual %g", difference(r, *b));
  return count;
}

void compare(const Ilu& ilu, const Peer& peer, const RCP<const Map>& map) {
  Vectors b(map, 2), x(map, 2), y(map, 2);
  b.randomize();
  for (const auto mode : {Teuchos::NO_TRANS, Teuchos::TRANS}) {
    ilu.apply(b, x, mode);
    peer.apply(b, y, mode);
    CHECK(difference(x, y) < tolerance, "mode %d: %g", int(mode),
          difference(x, y));
  }
}

void test_against_ifpack2(const RCP<const Map>& map, Global n) {
  const bool is_root = map->getComm()->getRank() == 0;
  for (const double wind : {0.0, 0.4})
    for (const int level : {0, 1, 2}) {
      const auto A = make_grid(map, n, wind);
      const RCP<Ilu> ilu = rcp(new Ilu(A));
      const RCP<Peer> peer = rcp(new Peer(RCP<const Row>(A)));
      ilu->setParameters(of_level(level));
      peer->setParameters(of_level(level));
      ilu->compute();
      peer->initialize();
      peer->compute();
      compare(*ilu, *peer, map);
      const bool use_cg = wind == 0;
      const int mine = iterations(A, ilu, use_cg);
      const int theirs = iterations(A, peer, use_cg);
      CHECK(mine == theirs, "%d and %d iterations", mine, theirs);
      if (is_root)
        std::printf("%s, level %d: %d iterations\n", use_cg ? "CG" : "GMRES",
                    level, mine);
    }
}

void test_schwarz(const RCP<const Map>& map, Global n) {
  const auto A = make_grid(map, n, 0.4);
  for (const int overlap : {0, 1, 2}) {
    int counts[2];
    for (const bool with_strata : {true, false}) {
      const RCP<Schwarz> schwarz = rcp(new Schwarz(A));
      Teuchos::ParameterList list;
      list.set("schwarz: overlap level", overlap);
      list.set("schwarz: combine mode", "Zero");
      schwarz->setParameters(list);
      RCP<Ifpack2::Preconditioner<Scalar>> inner;
      if (with_strata)
        inner = rcp(new Ilu);
      else
        inner = rcp(new Peer(Teuchos::RCP<const Row>(Teuchos::null)));
      inner->setParameters(of_level(1));
      schwarz->setInnerPreconditioner(inner);
      schwarz->initialize();
      schwarz->compute();
      counts[with_strata] = iterations(A, schwarz, false);
    }
    CHECK(counts[0] == counts[1], "overlap %d: %d and %d iterations", overlap,
          counts[1], counts[0]);
    if (map->getComm()->getRank() == 0)
      std::printf("overlap %d: %d iterations\n", overlap, counts[1]);
  }
}

// Perturbed diagonals, new values, another matrix with another map.
void test_changes(const RCP<const Map>& map, const RCP<const Map>& other,
                  Global n) {
  auto list = of_level(1);
  list.set("fact: absolute threshold", 0.3);
  list.set("fact: relative threshold", 1.1);
  const auto A = make_grid(map, n, 0.4);
  const auto B = make_grid(other, n + 1, 0.1);
  Ilu ilu;
  Peer peer{RCP<const Row>(A)};
  peer.setParameters(list);
  ilu.setParameters(list);
  ilu.setMatrix(A);
  for (const bool again : {false, true}) {
    if (again) {
      A->resumeFill();
      A->scale(-2.5);
      A->fillComplete();
    }
    ilu.compute();
    peer.initialize();
    peer.compute();
    compare(ilu, peer, map);
  }
  CHECK(ilu.getNumInitialize() == 1, "%d analyses", ilu.getNumInitialize());
  ilu.setMatrix(B);
  CHECK(!ilu.isComputed(), "still computed");
  ilu.compute();
  peer.setMatrix(B);
  peer.initialize();
  peer.compute();
  compare(ilu, peer, other);
}

// IC(0) has the iterations of ILU(0) on a symmetric matrix.
void test_cholesky(const RCP<const Map>& map, Global n) {
  const auto A = make_grid(map, n, 0.0);
  const RCP<Ilu> ilu = rcp(new Ilu(A)), ic = rcp(new Ilu(A));
  Teuchos::ParameterList list;
  list.set("strata: cholesky", true);
  ic->setParameters(list);
  ilu->compute();
  ic->compute();
  const int mine = iterations(A, ic, true), theirs = iterations(A, ilu, true);
  CHECK(mine == theirs, "%d and %d iterations", mine, theirs);
}

void test_refusals(const RCP<const Map>& map) {
  const auto A = make_grid(map, 4, 0.0);
  Ilu ilu(A);
  Teuchos::ParameterList list;
  list.set("fact: relax value", 0.5);
  check_throws<std::invalid_argument>([&] { ilu.setParameters(list); },
                                      "modified ILU");
  A->resumeFill();
  A->setAllToScalar(0.0);
  A->fillComplete();
  if (map->getMyGlobalIndices().extent(0) > 0)
    check_throws<Strata::MatrixError>([&] { ilu.compute(); }, "zero");
  CHECK(!ilu.isComputed(), "computed with a zero matrix");
}

}  // namespace

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  const auto comm = Tpetra::getDefaultComm();
  constexpr Global n = 9;
  for (const Rows how : all_rows) {
    const auto map = make_map(how, n * n * n, comm);
    test_against_ifpack2(map, n);
    test_schwarz(map, n);
    for (const Rows then : all_rows)
      test_changes(map, make_map(then, (n + 1) * (n + 1) * (n + 1), comm), n);
    test_cholesky(map, n);
    test_refusals(make_map(how, 64, comm));
  }
  if (comm->getRank() == 0) std::printf("all passed\n");
}
