// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Triangular solves: patterns, values, options, layouts, operations, scalars,
// special numbers, new values; see docs/developer/testing.md.
#include <cstdint>

#include "Driver.hpp"
#include "Units.hpp"

namespace {

using namespace Strata::Fuzz;

template <class Scalar, class Ordinal, class Offset>
void check(Context& context) {
  if constexpr (has_unit<Scalar, Ordinal, Offset>) {
    check_triangular<Scalar, Ordinal, Offset>(context);
  } else {
    leave_out(context);
  }
}

/// The scalar and the index types are the seed's, too. Others than int and int
/// are tried with double alone.
void run(Context& context) {
  using Kokkos::complex;
  switch (Random(context.seed, 1).whole(0, 9)) {
    case 0:
    case 1:
      return check<float, int, int>(context);
    case 2:
    case 3:
      return check<complex<float>, int, int>(context);
    case 4:
    case 5:
      return check<complex<double>, int, int>(context);
    case 6:
      return check<double, std::int64_t, std::size_t>(context);
    case 7:
      return check<double, int, std::int64_t>(context);
    default:
      return check<double, int, int>(context);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Driver driver;
  driver.name = "strata_fuzz_triangular";
  driver.run = run;
  driver.tamperings = {
      {"answer", {"componentwise error", "rowwise error", "not finite"}},
      {"special number", {"special numbers"}},
      {"guard", {"memory beside x"}},
      {"repeat", {"repeat bit for bit"}},
      {"update back", {"bits after updates there and back"}},
      {"refused update", {"bits after a refused update"}},
      {"matrix", {"matrix untouched"}},
      {"fault", {"fault accepted"}}};
  return run_driver(argc, argv, driver);
}
