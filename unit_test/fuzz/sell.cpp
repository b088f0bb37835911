// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of SellMatrix: patterns, shapes, layouts, several vectors, new
// values.
#include "Driver.hpp"
#include "Units.hpp"

int main(int argc, char** argv) {
  using namespace Strata::Fuzz;
  Driver driver;
  driver.name = "strata_fuzz_sell";
  driver.run = [](Context& context) {
    with_scalar_of_seed(
        context, [&](auto scalar) { check_sell<decltype(scalar)>(context); });
  };
  driver.tamperings = {{"answer", {"answer"}},
                       {"guard", {"memory beside y"}},
                       {"repeat", {"repeat bit for bit"}},
                       {"update back", {"bits after updates there and back"}}};
  return run_driver(argc, argv, driver);
}
