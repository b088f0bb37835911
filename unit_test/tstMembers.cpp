// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Solvers as members: made empty, assigned, moved; empty ones are refused.

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Matrix = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Vector = Kokkos::View<double*, Device>;
using Band = Kokkos::View<double**, Kokkos::LayoutLeft, Device>;

struct Owner {
  Strata::TriangularSolver<double, Device> triangular;
  Strata::SellMatrix<double, Device> matrix;
  Strata::ConjugateGradient<double, Device> gradient;
  Strata::Gmres<double, Device> gmres;
  Strata::BiCgStab<double, Device> stabilised;
  Strata::BandSolver<double, Device> band;
  Strata::IncompleteFactorization<double, Device> incomplete;
  Strata::FactorSolver<double, Device> factors;
  Strata::JacobiPreconditioner<double, Device> jacobi;
  Strata::GaussJordan<double, Device> dense;
};
static_assert(std::is_default_constructible<Owner>::value, "all are members");
static_assert(std::is_move_assignable<Owner>::value, "all are moved");

/// That it is a HandleError which names the class and what makes one.
template <class Use>
void expect_empty(const std::string& name, const Use& use) {
  try {
    use();
    ADD_FAILURE() << name << " is used although it is empty";
  } catch (const Strata::HandleError& error) {
    EXPECT_EQ(error.argument(), name);
    EXPECT_NE(std::string(error.what()).find("object = " + name + "(exec, "),
              std::string::npos)
        << error.what();
  }
}

Matrix poisson() {
  // Diagonally dominant and symmetric, 400 rows.
  const int n = 20;
  std::vector<int> row_map(1, 0), entries;
  std::vector<double> values;
  for (int i = 0; i < n * n; ++i) {
    const auto add = [&](int j, bool there, double value) {
      if (!there) return;
      entries.push_back(j);
      values.push_back(value);
    };
    add(i - n, i >= n, -1);
    add(i - 1, i % n > 0, -1);
    add(i, true, 4.5);
    add(i + 1, i % n < n - 1, -1);
    add(i + n, i + n < n * n, -1);
    row_map.push_back(static_cast<int>(entries.size()));
  }
  return Matrix("A", n * n, n * n, values.size(), values.data(), row_map.data(),
                entries.data());
}

class Members : public testing::Test {
 protected:
  const Device exec_{};
  const Matrix A_ = poisson();
  const Vector b_{"b", 400}, x_{"x", 400};
  const Band ab_{"ab", 3, 400};

  void SetUp() override { Kokkos::deep_copy(b_, 1.0); }

  void expect_all_empty(Owner& owner) const {
    auto& t = owner.triangular;
    expect_empty("TriangularSolver", [&] { t.solve(exec_, b_, x_); });
    expect_empty("TriangularSolver", [&] { t.update_values(exec_, A_); });
    expect_empty("TriangularSolver",
                 [&] { t.update_values(exec_, A_.values); });
    expect_empty("TriangularSolver", [&] { t.report(); });
    auto& m = owner.matrix;
    expect_empty("SellMatrix", [&] { m.apply(exec_, b_, x_); });
    expect_empty("SellMatrix", [&] { m.update_values(exec_, A_); });
    expect_empty("SellMatrix", [&] { m.update_values(exec_, A_.values); });
    expect_empty("SellMatrix", [&] { m.report(); });
    expect_empty("SellMatrix", [&] { m.rows(); });
    auto& g = owner.gradient;
    const Strata::SellMatrix matrix(exec_, A_);
    expect_empty("ConjugateGradient", [&] { g.solve(exec_, matrix, b_, x_); });
    expect_empty("ConjugateGradient", [&] { g.rows(); });
    auto& k = owner.gmres;
    expect_empty("Gmres", [&] { k.solve(exec_, matrix, b_, x_); });
    expect_empty("Gmres", [&] { k.rows(); });
    auto& v = owner.stabilised;
    expect_empty("BiCgStab", [&] { v.solve(exec_, matrix, b_, x_); });
    expect_empty("BiCgStab", [&] { v.rows(); });
    auto& s = owner.band;
    expect_empty("BandSolver", [&] { s.solve(exec_, b_, x_); });
    expect_empty("BandSolver", [&] { s.update_values(exec_, ab_); });
    expect_empty("BandSolver", [&] { s.reserve(exec_, 1); });
    expect_empty("BandSolver", [&] { s.pivots(); });
    expect_empty("BandSolver", [&] { s.report(); });
    auto& i = owner.incomplete;
    expect_empty("IncompleteFactorization", [&] { i.apply(exec_, b_, x_); });
    expect_empty("IncompleteFactorization",
                 [&] { i.update_values(exec_, A_); });
    expect_empty("IncompleteFactorization", [&] { i.rows(); });
    expect_empty("IncompleteFactorization", [&] { i.options(); });
    expect_empty("IncompleteFactorization", [&] { i.report(); });
    expect_empty("IncompleteFactorization", [&] { i.share_plan(exec_); });
    expect_empty("IncompleteFactorization", [&] { i.lower(exec_); });
  }

  void fill(Owner& owner) const {
    owner.triangular = Strata::TriangularSolver(
        exec_, Strata::take_triangle(exec_, A_, Strata::Uplo::lower),
        Strata::Uplo::lower, Strata::Diag::non_unit);
    owner.matrix = Strata::SellMatrix(exec_, A_);
    owner.gradient = Strata::ConjugateGradient<double, Device>(exec_, 400);
    owner.gmres = Strata::Gmres<double, Device>(exec_, 400);
    owner.stabilised = Strata::BiCgStab<double, Device>(exec_, 400);
    const auto band = Strata::band_matrix(exec_, A_);
    owner.band = Strata::BandSolver(exec_, band.ab, band.kl, band.ku);
    owner.incomplete = Strata::IncompleteFactorization(
        exec_, A_, Strata::Factorization::incomplete_cholesky);
    owner.jacobi = Strata::JacobiPreconditioner(exec_, A_);
  }

  /// b - A x over b, by the matrix itself.
  double residual(const Vector& x) const {
    const Strata::SellMatrix matrix(exec_, A_);
    const Vector r("r", 400);
    Kokkos::deep_copy(r, b_);
    matrix.apply(exec_, -1, x, 1, r);
    exec_.fence();
    const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), r);
    double sum = 0;
    for (int i = 0; i < 400; ++i) sum += h(i) * h(i);
    return std::sqrt(sum / 400);
  }

  void expect_all_work(Owner& owner) const {
    owner.triangular.solve(exec_, b_, x_);
    EXPECT_EQ(owner.triangular.report().rows, 400);
    for (int preconditioned = 0; preconditioned < 3; ++preconditioned) {
      Kokkos::deep_copy(x_, 0.0);
      auto& g = owner.gradient;
      const auto result =
          preconditioned == 0 ? g.solve(exec_, owner.matrix, b_, x_)
          : preconditioned == 1
              ? g.solve(exec_, owner.matrix, owner.jacobi, b_, x_)
              : g.solve(exec_, owner.matrix, owner.incomplete, b_, x_);
      EXPECT_EQ(result.status, Strata::CgStatus::converged);
      EXPECT_LT(residual(x_), 1e-6);
    }
    Kokkos::deep_copy(x_, 0.0);
    EXPECT_TRUE(owner.gmres.solve(exec_, owner.matrix, b_, x_).converged());
    EXPECT_LT(residual(x_), 1e-6);
    Kokkos::deep_copy(x_, 0.0);
    EXPECT_TRUE(
        owner.stabilised.solve(exec_, owner.matrix, b_, x_).converged());
    EXPECT_LT(residual(x_), 1e-6);
    owner.band.solve(exec_, b_, x_);
    EXPECT_LT(residual(x_), 1e-13);
    const Band I("I", 40, 40), inverse("inverse", 40, 40);
    const auto host = Kokkos::create_mirror_view(I);
    for (int i = 0; i < 40; ++i) host(i, i) = 1;
    Kokkos::deep_copy(I, host);
    owner.dense.invert(exec_, I, inverse);
    Kokkos::deep_copy(host, inverse);
    EXPECT_EQ(host(39, 39), 1);
  }
};

TEST_F(Members, AreEmptyUntilTheyAreAssigned) {
  Owner owner;
  expect_all_empty(owner);
  EXPECT_EQ(owner.jacobi.rows(), 0);
  owner.jacobi.update_values(exec_, A_);
  EXPECT_EQ(owner.jacobi.rows(), 400);
  fill(owner);
  expect_all_work(owner);
}

TEST_F(Members, AreEmptyAgainWhenMovedFrom) {
  Owner first;
  fill(first);
  Owner second(std::move(first));
  expect_all_work(second);
  expect_all_empty(first);
  // Workspace of its own.
  const Band A("A", 30, 30), inverse("inverse", 30, 30);
  EXPECT_THROW(first.dense.invert(exec_, A, inverse), Strata::SingularError);
  first = std::move(second);
  expect_all_work(first);
  expect_all_empty(second);
  fill(second);
  expect_all_work(second);
}

TEST_F(Members, ACopySurvivesTheSolverItIsOf) {
  Owner owner;
  fill(owner);
  std::vector<Owner> kept(1);
  kept[0].triangular = owner.triangular;
  kept[0].band = owner.band;
  kept[0].matrix = owner.matrix;
  owner = Owner();
  expect_all_empty(owner);
  kept[0].band.solve(exec_, b_, x_);
  EXPECT_LT(residual(x_), 1e-13);
  kept[0].triangular.solve(exec_, b_, x_);
  kept[0].matrix.apply(exec_, b_, x_);
  exec_.fence();
}

}  // namespace
