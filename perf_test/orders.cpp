// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// strata_perf_orders: what orders of incomplete factors do to level sets, fill
// and iterations, as a table in Markdown. --help tells the arguments.
#include <Kokkos_Core.hpp>
#include <Strata_ConjugateGradient.hpp>
#include <Strata_Gallery.hpp>
#include <Strata_Gmres.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_SellMatrix.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <detail/Strata_PerfTriangle.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace Strata {
namespace PerfTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Matrix =
    KokkosSparse::CrsMatrix<double, int, Space::device_type, void, int>;
using Vector = Kokkos::View<double*, Space>;
using Factors = IncompleteFactorization<double, Space>;

std::string usage() {
  return R"(strata_perf_orders [--upwind] [--random] [SPEC|FILE]...: for each system and each
order of this build, level sets of L, entries of L and U per entry of A, iterations to
1e-8 and milliseconds of a second solve, with ILU(0) / ILU(1), or IC.

  SPEC        a made matrix (see below), FILE a Matrix Market file
  --upwind    convection and diffusion, with ILU and GMRES(30): -1.9 left of the
              diagonal and -0.1 right of it, on it the number of these entries; without
              it -1 on both sides, with IC and conjugate gradients
  --random    rows of A in random order

Diagonal entries are 1.001 times that number. b is ones. Exit code: 0; 1 on a bad
argument; 2 if a solve has not converged in 3,000 iterations.

)" + gallery_help() +
         "\n";
}

/// On A's pattern.
Matrix system_on(const Matrix& A, bool upwind) {
  return with_values(complete_diagonal(A, NewDiagonal::everywhere),
                     [&](int row, int column, double, int length) {
                       return column == row  ? 1.001 * std::max(length - 1, 1)
                              : !upwind      ? -1
                              : column < row ? -1.9
                                             : -0.1;
                     });
}

struct Solved {
  int iterations;  // -1: not converged
  double milliseconds;
};
/// The second of two solves.
Solved solve(const Matrix& A, const Factors& M, bool upwind) {
  const Space exec;
  const Vector b("b", A.numRows()), x("x", A.numRows());
  const SellMatrix<double, Space> matrix(exec, A);
  Kokkos::deep_copy(b, 1.);
  const auto solved = [&](auto options, auto make) {
    options.relative_tolerance = 1e-8;
    options.max_iterations = 3000;
    auto method = make(options);
    method.solve(exec, matrix, M, b, x);
    Kokkos::deep_copy(x, 0.);
    exec.fence();
    const Kokkos::Timer timer;
    const auto result = method.solve(exec, matrix, M, b, x);
    return Solved{result.converged() ? static_cast<int>(result.iterations) : -1,
                  timer.seconds() * 1e3};
  };
  if (upwind)
    return solved(GmresOptions(), [&](const GmresOptions& options) {
      return Gmres<double, Space>(exec, A.numRows(), options);
    });
  return solved(CgOptions(), [&](const CgOptions& options) {
    return ConjugateGradient<double, Space>(exec, A.numRows(), options);
  });
}

/// One row of the table. @return whether all solves have converged
bool print_row(const std::string& name, const Matrix& A, FactorOrder order,
               bool upwind) {
  std::string levels, fill, steps, times;
  bool converged = true;
  for (const int level : {0, 1}) {
    IncompleteFactorizationOptions options;
    options.order = order;
    options.fill_level = level;
    const Factors M(Space(), A,
                    upwind ? Factorization::incomplete_lu
                           : Factorization::incomplete_cholesky,
                    options);
    const auto L = M.lower<Matrix>(Space());
    const auto& report = M.report();
    const Solved found = solve(A, M, upwind);
    converged = converged && found.iterations >= 0;
    const char* const between = level == 0 ? "" : " / ";
    char density[16], time[24];
    std::snprintf(time, sizeof(time), "%.3g", found.milliseconds);
    std::snprintf(density, sizeof(density), "%.2f",
                  1 + static_cast<double>(report.fill_entries) /
                          static_cast<double>(report.entries));
    levels += between + std::to_string(count_levels(L, TriangleInput()));
    fill += between + std::string(density);
    steps += between +
             (found.iterations < 0 ? "none" : std::to_string(found.iterations));
    times += between + std::string(time);
  }
  std::cout << "| " << name << " | " << to_string(order) << " | " << levels
            << " | " << fill << " | " << steps << " | " << times << " |"
            << std::endl;
  return converged;
}

int run(int argc, char** argv) {
  bool upwind = false, random = false, converged = true;
  std::vector<std::string> specs;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    if (argument == "--help") {
      std::cout << usage();
      return EXIT_SUCCESS;
    }
    if (argument == "--upwind")
      upwind = true;
    else if (argument == "--random")
      random = true;
    else
      specs.push_back(argument);
  }
  if (specs.empty())
    throw OptionError("SPEC", "is missing", "name a system; see --help");
  std::cout << "| system | order | level sets | entries | iterations | ms |\n"
               "|---|---|---|---|---|---|\n";
  for (const auto& spec : specs) {
    const bool is_file = spec.find(".mtx") != std::string::npos;
    const Matrix A = system_on(
        reordered(Space(),
                  load_whole_matrix<Matrix>(Space(), {is_file, spec, spec}),
                  random ? GalleryOrder::random : GalleryOrder::natural),
        upwind);
    for (const auto order :
         {FactorOrder::natural, FactorOrder::rcm, FactorOrder::amd,
          FactorOrder::nested_dissection, FactorOrder::level_sets,
          FactorOrder::multicoloured}) {
      try {
        converged = print_row(spec, A, order, upwind) && converged;
      } catch (const OptionError& error) {
        std::cerr << error.what() << '\n';  // no AMD, or no METIS
      }
    }
  }
  return converged ? EXIT_SUCCESS : 2;
}

}  // namespace
}  // namespace PerfTest
}  // namespace Strata

int main(int argc, char** argv) {
  try {
    Kokkos::ScopeGuard guard(argc, argv);
    return Strata::PerfTest::run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "strata_perf_orders: " << error.what() << '\n';
    return EXIT_FAILURE;
  }
}
