// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_Gallery.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_TriangularSolver.hpp>
#include <algorithm>
#include <cmath>
#include <limits>

#include "HostMatrix.hpp"

namespace {

using Device = Kokkos::DefaultExecutionSpace;
using Crs = KokkosSparse::CrsMatrix<double, int, Device, void, int>;
using Solver = Strata::TriangularSolver<double, Device>;
using Vector = Kokkos::View<double*, Device>;

/// Largest |b - T x| of a row over the sum of the sizes of its terms.
double residual(const HostMatrix<double>& T, const std::vector<double>& b,
                const std::vector<double>& x) {
  double largest = 0;
  for (std::int64_t i = 0; i < T.rows; ++i) {
    double rest = b[i], size = std::abs(b[i]);
    for (auto k = T.row_map[i]; k < T.row_map[i + 1]; ++k) {
      rest -= T.values[k] * x[T.entries[k]];
      size += std::abs(T.values[k] * x[T.entries[k]]);
    }
    const double ratio = std::abs(rest) / size;
    if (std::isnan(ratio)) return ratio;
    largest = std::max(largest, ratio);
  }
  return largest;
}

/// Largest difference over the largest value.
double difference(const std::vector<double>& x, const std::vector<double>& y) {
  double largest = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i] - y[i])) return x[i] - y[i];
    largest = std::max(largest, std::abs(x[i] - y[i]));
    size = std::max(size, std::abs(y[i]));
  }
  return largest / size;
}

std::vector<double> to_host(const Vector& x) {
  const auto copy = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  return {copy.data(), copy.data() + copy.extent(0)};
}

/// What a preconditioner does: both factors in turn, the second in place, again
/// and again in one stream.
void expect_applications(const std::string& spec, Strata::Algorithm algorithm) {
  SCOPED_TRACE(spec + ", " + Strata::to_string(algorithm));
  const Device exec;
  const auto A = Strata::gallery<Crs>(exec, spec);
  const auto factors = Strata::incomplete_lu(exec, A);
  const HostMatrix<double> l(factors.L), u(factors.U);
  Strata::TriangularOptions options;
  options.algorithm = algorithm;
  const Solver lower(exec, factors.L, Strata::Uplo::lower,
                     Strata::Diag::non_unit, options);
  const Solver upper(exec, factors.U, Strata::Uplo::upper,
                     Strata::Diag::non_unit, options);
  const auto n = static_cast<std::size_t>(A.numRows());
  const Vector b("b", n), between("between", n), x("x", n);
  const auto b_host = Kokkos::create_mirror_view(b);
  for (std::size_t i = 0; i < n; ++i) b_host(i) = 1 + double(i % 7) / 7;
  Kokkos::deep_copy(b, b_host);
  lower.solve(exec, b, between);
  exec.fence();
  const auto right = to_host(b), middle = to_host(between);
  EXPECT_LE(residual(l, right, middle), 1e-12);
  std::vector<double> first;
  for (int turn = 0; turn < 30; ++turn) {
    lower.solve(exec, b, x);
    upper.solve(exec, x, x);
    if (turn % 10 != 9) continue;
    exec.fence();
    const auto found = to_host(x);
    if (first.empty()) {
      EXPECT_LE(residual(u, middle, found), 1e-12);
      first = found;
    }
    EXPECT_EQ(found, first);
  }
  // The very same steps.
  Strata::IncompleteFactorizationOptions of_both;
  of_both.triangular = Strata::TriangularPlanOptions(options);
  const Strata::IncompleteFactorization<double, Device> both(
      exec, A, Strata::Factorization::incomplete_lu, of_both);
  both.apply(exec, b, x);
  exec.fence();
  EXPECT_LE(difference(to_host(x), first), 1e-12);
}

TEST(TriangularSolverFactors, AreAppliedInTurnAndInPlace) {
  for (const auto* spec : {"grid3d27:14", "band:3000", "grid2d9:60",
                           "triangulated:60x41", "gene:600"}) {
    expect_applications(spec, Strata::Algorithm::automatic);
    expect_applications(spec, Strata::Algorithm::sync_free);
    expect_applications(spec, Strata::Algorithm::tiles);
  }
}

}  // namespace
