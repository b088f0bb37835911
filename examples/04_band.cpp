// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Time steps of the heat equation in a rod: (I + dt K) u' = u with one band
// matrix, factorised once, and a block of initial temperatures. Prints how far
// each step is from keeping the heat, which the insulated ends do.
#include <Strata_BandSolver.hpp>
#include <cmath>
#include <cstdio>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  using Space = Kokkos::DefaultExecutionSpace;
  using View = Kokkos::View<double**, Kokkos::LayoutLeft, Space>;
  const int n = 10000, rods = 20, steps = 50;
  const double k = 0.4;  // dt / h^2
  const Space exec;

  // Three diagonals in LAPACK's band storage: A(i, j) is ab(1 + i - j, j).
  const View ab("ab", 3, n);
  const auto host = Kokkos::create_mirror_view(ab);
  for (int j = 0; j < n; ++j) {
    const int neighbours = (j > 0) + (j + 1 < n);
    host(0, j) = host(2, j) = -k;
    host(1, j) = 1 + neighbours * k;
  }
  Kokkos::deep_copy(ab, host);

  const Strata::BandSolver solver(exec, ab, 1, 1);
  solver.reserve(exec, rods);  // or the first solve would allocate
  std::printf("%s", to_string(solver.report()).c_str());

  const View u("u", n, rods);
  const auto initial = Kokkos::create_mirror_view(u);
  for (int r = 0; r < rods; ++r)
    for (int i = 0; i < n; ++i) initial(i, r) = i < n / 2 ? r + 1.0 : 0.0;
  Kokkos::deep_copy(u, initial);
  for (int step = 0; step < steps; ++step) solver.solve(exec, u, u);

  const auto last = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), u);
  double worst = 0;
  for (int r = 0; r < rods; ++r) {
    double heat = 0;
    for (int i = 0; i < n; ++i) heat += last(i, r);
    worst = std::fmax(worst, std::fabs(heat / ((r + 1.0) * (n / 2)) - 1));
  }
  std::printf("heat lost or gained, relative: %.1e\n", worst);
  return worst < 1e-12 ? 0 : 1;
}
