// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_USE_LAPACK_HPP
#define STRATA_TEST_USE_LAPACK_HPP

#include <Strata_BandOptions.hpp>
#include <Strata_GaussJordanOptions.hpp>
#include <cstdlib>
#include <string>

namespace Strata {
namespace SolverTest {

/// Whether hosts' solvers may call LAPACK. CTest runs their tests with
/// STRATA_TEST_LAPACK=0 as well, for the kernels that devices have.
inline bool use_lapack() {
  const char* const said = std::getenv("STRATA_TEST_LAPACK");
  return said == nullptr || std::string(said) != "0";
}
inline BandOptions band_options() {
  BandOptions options;
  options.use_lapack = use_lapack();
  return options;
}
inline GaussJordanOptions dense_options() {
  GaussJordanOptions options;
  options.use_lapack = use_lapack();
  return options;
}

}  // namespace SolverTest
}  // namespace Strata

#endif
