// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LocalTriangularSolver beside Ifpack2::LocalSparseTriangularSolver: the same
// answers on every map, and what it refuses.

#include <Ifpack2Strata.hpp>
#include <Ifpack2_LocalSparseTriangularSolver.hpp>
#include <limits>

#include "Systems.hpp"

namespace {

using Solver = Ifpack2Strata::LocalTriangularSolver<Row>;
using Peer = Ifpack2::LocalSparseTriangularSolver<Row>;

constexpr double tolerance = 1e-13;

Teuchos::ParameterList with_transposes() {
  Teuchos::ParameterList list;
  list.set("strata: transpose", true);
  list.set("trisolver: type", "Internal");  // Ifpack2's, which is ignored
  return list;
}

template <class A, class B>
void compare(const A& solver, const B& peer, const RCP<const Map>& map,
             std::size_t columns) {
  Vectors b(map, columns), start(map, columns);
  b.randomize();
  start.randomize();
  for (const auto mode :
       {Teuchos::NO_TRANS, Teuchos::TRANS, Teuchos::CONJ_TRANS})
    for (const double alpha : {1.0, -0.5, 0.0})
      for (const double beta : {0.0, 2.0}) {
        Vectors x(start, Teuchos::Copy), y(start, Teuchos::Copy);
        solver.apply(b, x, mode, alpha, beta);
        peer.apply(b, y, mode, alpha, beta);
        if (alpha == 0 && beta == 0) {
          CHECK(x.getVector(0)->norm2() == 0, "alpha = beta = 0 leave %g",
                x.getVector(0)->norm2());
          continue;
        }
        CHECK(difference(x, y) < tolerance, "mode %d, %g, %g: %g", int(mode),
              alpha, beta, difference(x, y));
      }
}

void test_against_ifpack2(const RCP<const Map>& map) {
  for (const bool is_lower : {true, false})
    for (const bool is_unit : {false, true}) {
      const auto T = make_triangle(map, is_lower, is_unit, false, 1);
      Solver solver(T);
      solver.setParameters(with_transposes());
      Peer peer(T);
      solver.compute();
      peer.initialize();
      peer.compute();
      for (const std::size_t columns : {1, 3})
        compare(solver, peer, map, columns);
      const std::int64_t rows = solver.report().rows;
      CHECK(rows == std::int64_t(map->getMyGlobalIndices().extent(0)),
            "report of %lld rows", static_cast<long long>(rows));
    }
}

// Entries in the columns of other ranks are left out: the same bits as without
// them.
void test_ghosts(const RCP<const Map>& map) {
  // The seeds agree, and the ghosts' numbers come after all others of a row:
  // so the matrices are compared as applied.
  const auto T = make_triangle(map, true, false, true, 2);
  Solver solver(T);
  solver.compute();
  Vectors b(map, 2), x(map, 2), r(map, 2);
  b.randomize();
  solver.apply(b, x);
  // T x by rows, of the rank's own columns.
  const auto& columns = *T->getColMap();
  for (std::size_t k = 0; k < 2; ++k) {
    const auto bk = b.getVector(k)->get1dView();
    const auto xk = x.getVector(k)->get1dView();
    typename Row::nonconst_local_inds_host_view_type where("", 16);
    typename Row::nonconst_values_host_view_type values("", 16);
    for (Local i = 0; i < Local(map->getMyGlobalIndices().extent(0)); ++i) {
      std::size_t count = 0;
      T->getLocalRowCopy(i, where, values, count);
      double sum = 0, size = std::abs(bk[i]);
      for (std::size_t j = 0; j < count; ++j) {
        const Local mine =
            map->getLocalElement(columns.getGlobalElement(where(j)));
        if (mine == Teuchos::OrdinalTraits<Local>::invalid()) continue;
        sum += values(j) * xk[mine];
        size += std::abs(values(j) * xk[mine]);
      }
      CHECK(std::abs(sum - bk[i]) <= tolerance * size, "row %d: %g and %g",
            int(i), sum, bk[i]);
    }
  }
}

// x in the place of b, vectors that are no neighbours, NaN where Y is written.
void test_vectors(const RCP<const Map>& map) {
  const auto T = make_triangle(map, true, false, false, 3);
  Solver solver(T);
  solver.compute();
  Vectors b(map, 5), x(map, 5), y(map, 5);
  b.randomize();
  solver.apply(b, x);
  y.putScalar(std::numeric_limits<double>::quiet_NaN());
  const std::vector<std::size_t> which{4, 0, 2};
  const Teuchos::ArrayView<const std::size_t> some(which.data(), which.size());
  const auto b_some = b.subView(some);
  const auto y_some = y.subViewNonConst(some);
  CHECK(!y_some->isConstantStride(), "columns 4, 0, 2 have a stride");
  solver.apply(*b_some, *y_some);
  CHECK(difference(*y_some, *x.subView(some)) == 0, "other bits by columns");
  solver.apply(*b_some, *y_some, Teuchos::NO_TRANS, 2.0, 1.0);
  Vectors three(*x.subView(some), Teuchos::Copy);
  three.scale(3.0);
  CHECK(difference(*y_some, three) < tolerance, "alpha 2, beta 1");
  solver.apply(b, b);
  CHECK(difference(b, x) == 0, "other bits in place");
}

// New values and matrices in an object that has others.
void test_changes(const RCP<const Map>& map, const RCP<const Map>& other) {
  const auto T = make_triangle(map, true, false, false, 4);
  Solver solver;
  CHECK(solver.getMatrix().is_null() && !solver.isComputed(), "not empty");
  solver.setMatrix(T);
  solver.setParameters(with_transposes());
  solver.compute();
  T->resumeFill();
  T->scale(4.0);
  T->fillComplete();
  solver.compute();
  CHECK(solver.getNumInitialize() == 1 && solver.getNumCompute() == 2,
        "%d analyses", solver.getNumInitialize());
  Peer peer(T);
  peer.compute();
  compare(solver, peer, map, 2);
  const auto U = make_triangle(other, false, true, false, 5);
  solver.setMatrix(U);
  CHECK(!solver.isInitialized() && !solver.isComputed(), "old state");
  solver.initialize();
  solver.compute();
  peer.setMatrix(U);
  peer.compute();
  compare(solver, peer, other, 2);
  CHECK(solver.getDomainMap()->isSameAs(*other), "another map");
  CHECK(solver.getNumApply() > 0 && solver.getApplyTime() > 0, "no counts");
}

void test_refusals(const RCP<const Map>& map) {
  Solver solver;
  check_throws<std::runtime_error>([&] { solver.compute(); }, "setMatrix");
  const auto T = make_triangle(map, true, false, false, 6);
  solver.setMatrix(T);
  Vectors b(map, 2), x(map, 2), y(map, 3);
  check_throws<std::runtime_error>([&] { solver.apply(b, x); }, "compute()");
  solver.compute();
  check_throws<std::invalid_argument>([&] { solver.apply(b, y); }, "x 3");
  check_throws<std::invalid_argument>(
      [&] { solver.apply(b, x, Teuchos::TRANS); }, "strata: transpose");
  CHECK(!solver.hasTransposeApply(), "has transposes");
  Teuchos::ParameterList list;
  list.set("strata: algorithmus", "sync_free");
  check_throws<std::invalid_argument>([&] { solver.setParameters(list); },
                                      "strata: algorithmus");
  Teuchos::ParameterList name;
  name.set("strata: algorithm", "fastest");
  check_throws<Strata::OptionError>([&] { solver.setParameters(name); },
                                    "sync_free");
  const auto A = make_grid(map, 4, 0.0);
  if (map->getComm()->getSize() == 1) {
    Solver of_grid(A);
    check_throws<std::invalid_argument>([&] { of_grid.compute(); },
                                        "not triangular");
  }
  A->resumeFill();
  Solver open(A);
  check_throws<std::runtime_error>([&] { open.compute(); }, "fillComplete");
}

}  // namespace

int main(int argc, char** argv) {
  Tpetra::ScopeGuard scope(&argc, &argv);
  const auto comm = Tpetra::getDefaultComm();
  for (const Rows how : all_rows) {
    const auto map = make_map(how, 211, comm);
    test_against_ifpack2(map);
    test_ghosts(map);
    test_vectors(map);
    for (const Rows then : all_rows)
      test_changes(map, make_map(then, 150, comm));
  }
  test_refusals(make_map(Rows::equal, 64, comm));
  if (comm->getRank() == 0) std::printf("all passed\n");
}
