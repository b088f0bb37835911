// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled for each scalar by its number in Scalars, STRATA_FUZZ_SCALAR, and
// for some pairs of index types, STRATA_FUZZ_ORDINAL and STRATA_FUZZ_OFFSET.
#include "Backends.hpp"
#include "TriangularRun.hpp"
#include "Units.hpp"

namespace Strata {
namespace Fuzz {

template <class Scalar, class Ordinal, class Offset>
void check_triangular(Context& context) {
  Random random(context.seed);
  const auto drawn = TriangularCaseMaker<Scalar>(random).make();
  context.describe(drawn.description());
  context.count("scalar", ScalarTraits<Scalar>::name());
  for_each_backend(context, [&](auto space) {
    using Space = decltype(space);
    TriangularRun<Scalar, Space, Ordinal, Offset>(context, drawn, random).run();
  });
}

template void
check_triangular<UnitScalar, STRATA_FUZZ_ORDINAL, STRATA_FUZZ_OFFSET>(Context&);

}  // namespace Fuzz
}  // namespace Strata
