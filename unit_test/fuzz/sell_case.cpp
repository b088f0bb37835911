// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Backends.hpp"
#include "SellRun.hpp"
#include "Units.hpp"

namespace Strata {
namespace Fuzz {

template <class Scalar>
void check_sell(Context& context) {
  Random random(context.seed);
  const auto drawn = SellCase<Scalar>::draw(random);
  context.describe(drawn.description());
  context.count("scalar", ScalarTraits<Scalar>::name());
  for_each_backend(context, [&](auto space) {
    SellRun<Scalar, decltype(space)>(context, drawn, random).run();
  });
}

template void check_sell<UnitScalar>(Context&);

}  // namespace Fuzz
}  // namespace Strata
