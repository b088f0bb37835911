// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Backends.hpp"
#include "CgRun.hpp"
#include "Units.hpp"

namespace Strata {
namespace Fuzz {

template <class Scalar>
void check_cg(Context& context) {
  Random random(context.seed);
  const auto drawn = CgCase<Scalar>::draw(random);
  context.describe(drawn.description());
  context.count("scalar", ScalarTraits<Scalar>::name());
  for_each_backend(context, [&](auto space) {
    CgRun<Scalar, decltype(space)>(context, drawn, random).run();
  });
}

template void check_cg<UnitScalar>(Context&);

}  // namespace Fuzz
}  // namespace Strata
