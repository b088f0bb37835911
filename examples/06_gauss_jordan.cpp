// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dense matrices: reduced row echelon form with rank and pivot columns, a
// linear system, an inverse.
#include <Strata_GaussJordan.hpp>
#include <cmath>
#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  using Space = Kokkos::DefaultExecutionSpace;
  using Matrix = Kokkos::View<double**, Space>;
  const Space exec;

  // Chemical equation a H2 + b O2 -> c H2O: the kernel of its balance.
  const Matrix balance("balance", 2, 3);
  const auto rows = Kokkos::create_mirror_view(balance);
  rows(0, 0) = 2;  // hydrogen
  rows(0, 2) = -2;
  rows(1, 1) = 2;  // oxygen
  rows(1, 2) = -1;
  Kokkos::deep_copy(balance, rows);
  const auto form = Strata::reduced_row_echelon_form(exec, balance);
  Kokkos::deep_copy(rows, balance);
  std::printf("rank %d; for one H2O: %g H2 and %g O2\n",
              static_cast<int>(form.rank), -rows(0, 2), -rows(1, 2));

  // A system and an inverse; the object keeps its workspace between calls.
  const int n = 300;
  const Matrix A("A", n, n), b("b", n, 1), x("x", n, 1), inverse("X", n, n);
  const auto host = Kokkos::create_mirror_view(A);
  const auto right = Kokkos::create_mirror_view(b);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) host(i, j) = 1.0 / (1 + std::abs(i - j));
    right(i, 0) = 1;
  }
  Kokkos::deep_copy(A, host);
  Kokkos::deep_copy(b, right);
  Strata::GaussJordan<double, Space> elimination;
  elimination.solve(exec, A, b, x);
  elimination.invert(exec, A, inverse);

  // b is ones: x has to be the row sums of the inverse.
  const auto solution =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
  const auto inverted =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), inverse);
  double difference = 0;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += inverted(i, j);
    difference = std::fmax(difference, std::abs(sum - solution(i, 0)));
  }
  std::printf("x_0 = %.6f, difference to the inverse %.1e\n", solution(0, 0),
              difference);

  // A singular matrix is refused, by the column that depends on others.
  const Matrix ones("ones", 3, 3);
  Kokkos::deep_copy(ones, 1.0);
  try {
    Strata::gauss_jordan_inverse(exec, ones, ones);
    return 1;
  } catch (const Strata::SingularError& error) {
    std::printf("%s\n", error.what());
  }
  return form.rank == 2 && rows(0, 2) == -1 && rows(1, 2) == -0.5 &&
                 difference < 1e-12
             ? 0
             : 1;
}
