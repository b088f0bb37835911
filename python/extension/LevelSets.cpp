// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <nanobind/stl/vector.h>

#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_TriangleGraph.hpp>
#include <vector>

#include "Arrays.hpp"
#include "Bindings.hpp"
#include "Options.hpp"
#include "Runtime.hpp"

namespace StrataPython {

namespace {

/// Rows of each level set of a triangle on the host.
template <class Scalar>
std::vector<int> level_set_sizes(const Indices<Host>& row_map,
                                 const Indices<Host>& entries,
                                 const Values<Scalar, Host>& values, bool lower,
                                 bool unit_diagonal, const std::string& op,
                                 bool take_triangle) {
  Strata::TriangleInput input;
  input.uplo = lower ? Strata::Uplo::lower : Strata::Uplo::upper;
  input.diag = unit_diagonal ? Strata::Diag::unit : Strata::Diag::non_unit;
  input.op = enumerator<Strata::Op>("op", op);
  input.take_triangle = take_triangle;
  const Work work;
  return with_indices<Host>(row_map, entries, [&](auto offsets, auto columns) {
    const auto graph = Strata::triangle_graph(Host(), offsets, columns,
                                              view_of<Scalar, Host>(values),
                                              rows_of(offsets), input);
    const auto sets = Strata::find_level_sets(
        Strata::mirror_graph(Kokkos::HostSpace(), graph));
    std::vector<int> sizes;
    for (int level = 0; level < sets.num_levels; ++level)
      sizes.push_back(sets.level_map[level + 1] - sets.level_map[level]);
    return sizes;
  });
}

}  // namespace

void bind_level_sets(nb::module_& module) {
  for_each_scalar([&](auto scalar) {
    using Scalar = decltype(scalar);
    module.def(class_name<Scalar, Host>("level_set_sizes").c_str(),
               &level_set_sizes<Scalar>, nb::arg("indptr").noconvert(),
               nb::arg("indices").noconvert(), nb::arg("data").noconvert(),
               nb::arg("lower"), nb::arg("unit_diagonal"), nb::arg("op"),
               nb::arg("take_triangle"));
  });
}

}  // namespace StrataPython
