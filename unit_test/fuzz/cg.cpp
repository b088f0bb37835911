// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conjugate gradients: matrices, preconditioners, tolerances, what is not
// positive definite or not finite; of two scalars.
#include "Driver.hpp"
#include "Units.hpp"

int main(int argc, char** argv) {
  using namespace Strata::Fuzz;
  Driver driver;
  driver.name = "strata_fuzz_cg";
  driver.run = [](Context& context) {
    if (Random(context.seed, 1).chance(0.5))
      check_cg<double>(context);
    else
#ifdef STRATA_FUZZ_ALL_UNITS
      check_cg<Kokkos::complex<float>>(context);
#else
      leave_out(context);
#endif
  };
  driver.tamperings = {{"answer", {"residual", "status"}},
                       {"guard", {"memory beside x"}},
                       {"repeat", {"repeat bit for bit"}}};
  return run_driver(argc, argv, driver);
}
