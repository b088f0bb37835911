// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gauss-Jordan elimination: solutions, inverses, reduced row echelon forms.
#include "Driver.hpp"
#include "Units.hpp"

int main(int argc, char** argv) {
  using namespace Strata::Fuzz;
  Driver driver;
  driver.name = "strata_fuzz_dense";
  driver.run = [](Context& context) {
    with_scalar_of_seed(
        context, [&](auto scalar) { check_dense<decltype(scalar)>(context); });
  };
  driver.tamperings = {{"answer", {"backward error", "echelon form"}},
                       {"guard", {"memory beside the result"}},
                       {"repeat", {"repeat bit for bit"}}};
  return run_driver(argc, argv, driver);
}
