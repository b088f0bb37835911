// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Band systems: sizes, methods, batches, layouts, scalars, new values.
#include "Driver.hpp"
#include "Units.hpp"

int main(int argc, char** argv) {
  using namespace Strata::Fuzz;
  Driver driver;
  driver.name = "strata_fuzz_band";
  driver.run = [](Context& context) {
    with_scalar_of_seed(
        context, [&](auto scalar) { check_band<decltype(scalar)>(context); });
  };
  driver.tamperings = {{"answer", {"backward error"}},
                       {"guard", {"memory beside x"}},
                       {"repeat", {"repeat bit for bit"}},
                       {"update back", {"bits after updates there and back"}}};
  return run_driver(argc, argv, driver);
}
