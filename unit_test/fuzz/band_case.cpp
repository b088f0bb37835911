// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Backends.hpp"
#include "BandRun.hpp"
#include "Units.hpp"

namespace Strata {
namespace Fuzz {

template <class Scalar>
void check_band(Context& context) {
  Random random(context.seed);
  const auto drawn = BandCase<Scalar>::draw(random);
  context.describe(drawn.description());
  context.count("scalar", ScalarTraits<Scalar>::name());
  for_each_backend(context, [&](auto space) {
    BandRun<Scalar, decltype(space)>(context, drawn, random).run();
  });
}

template void check_band<UnitScalar>(Context&);

}  // namespace Fuzz
}  // namespace Strata
