// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Backends.hpp"
#include "DenseRun.hpp"
#include "Units.hpp"

namespace Strata {
namespace Fuzz {

template <class Scalar>
void check_dense(Context& context) {
  Random random(context.seed);
  const auto drawn = DenseCase<Scalar>::draw(random);
  context.describe(drawn.description());
  context.count("scalar", ScalarTraits<Scalar>::name());
  for_each_backend(context, [&](auto space) {
    DenseRun<Scalar, decltype(space)>(context, drawn, random).run();
  });
}

template void check_dense<UnitScalar>(Context&);

}  // namespace Fuzz
}  // namespace Strata
