// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Our algorithms for one scalar type, STRATA_PERF_SCALAR.
#include <Kokkos_Core.hpp>
#include <detail/Strata_PerfAlgorithm.hpp>
#include <detail/Strata_PerfDropIn.hpp>
#include <detail/Strata_PerfOwn.hpp>

namespace Strata {
namespace PerfTest {

template <class Scalar>
std::unique_ptr<Algorithm<Scalar>> make_own(const std::string& name,
                                            const Problem<Scalar>& problem,
                                            const PlanWishes& wishes) {
  TriangularOptions options;
  const bool drops_in = name == drop_in || name == drop_in_fixed;
  options.algorithm =
      drops_in ? Strata::Algorithm::automatic : algorithm_from_string(name);
  options.max_subgraph_rows = wishes.max_subgraph_rows;
  // The drop-in functions get one after the other.
  options.max_right_hand_sides = drops_in ? 1 : problem.rhs();
  options.max_plan_bytes = wishes.bytes;
  options.accuracy = accuracy_from_string(wishes.accuracy);
  options.merged_levels = wishes.merged_levels;
  if (drops_in)
    return std::make_unique<DropIn<Scalar>>(problem, options,
                                            name == drop_in_fixed);
  return std::make_unique<OwnSolver<Scalar>>(problem, options);
}

template std::unique_ptr<Algorithm<STRATA_PERF_SCALAR>> make_own(
    const std::string&, const Problem<STRATA_PERF_SCALAR>&, const PlanWishes&);

}  // namespace PerfTest
}  // namespace Strata
