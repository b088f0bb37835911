// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INPUT_HOST_ORDER_HPP
#define STRATA_KERNELS_FACTORIZATION_INPUT_HOST_ORDER_HPP

#include <Strata_FactorTransformation.hpp>
#include <analysis/orders/FindOrder.hpp>
#include <analysis/orders/MaximumProduct.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/factorization/FactorizationOptionChecks.hpp>

namespace Strata {
namespace Detail {

inline std::vector<int> order_of(const HostGraph& graph, FactorOrder order) {
  switch (order) {
    case FactorOrder::rcm:
      return cuthill_mckee(graph);
    case FactorOrder::amd:
      return amd_order_of(graph);
    case FactorOrder::nested_dissection:
      return dissection_order_of(graph);
    case FactorOrder::level_sets:
      return level_set_order(graph);
    default:
      return colour_order(graph);
  }
}

template <class Memory, class Scalar>
std::vector<double> host_moduli(const CrsArrays<Scalar>& A, std::size_t count) {
  std::vector<double> moduli;
  for (const Scalar& v : to_host<Memory>(A.values, count))
    moduli.push_back(std::hypot(double(RealPart<Scalar>::real(v)),
                                double(RealPart<Scalar>::imaginary(v))));
  return moduli;
}

/// Sets the order of rows and the matching that options ask for, found by one
/// thread of the host from a copy of A's pattern, for a matching also of its
/// values.
/// @param A  has passed check_square_matrix
/// @throws OptionError, IndexOverflowError, NotFiniteError, SingularError
template <class Scalar, class ExecutionSpace>
void find_transformation(const CrsArrays<Scalar>& A,
                         const IncompleteFactorizationOptions& options,
                         FactorTransformation<Scalar, ExecutionSpace>& found) {
  using Memory = typename ExecutionSpace::memory_space;
  const bool matches = options.scaling == FactorScaling::matching,
             orders = is_permutation(options.order);
  if (A.rows() == 0 || !(matches || orders)) return;
  const auto on_device = [](const auto& from) {
    return to_device<typename std::decay_t<decltype(from)>::value_type, Memory>(
        "Strata::FactorOrder", from);
  };
  HostGraph graph{A.row_map.template fetch<Memory>(0, A.rows() + 1), {}};
  graph.entries = A.entries.template fetch<Memory>(0, graph.row_map.back());
  std::vector<int> place;  // of rows; empty: as they are
  if (matches) {
    const MaximumProduct best(graph,
                              host_moduli<Memory>(A, graph.entries.size()));
    using Real = std::vector<RealOf<Scalar>>;
    place = best.column_of;
    found
        .row_scaling(
            on_device(Real(best.row_scale.begin(), best.row_scale.end())))
        .column_scaling(on_device(
            Real(best.column_scale.begin(), best.column_scale.end())));
  }
  if (orders) {
    const auto old = order_of(symmetric_graph(graph, place), options.order);
    std::vector<int> new_row(old.size());
    for (std::size_t row = 0; row < old.size(); ++row)
      new_row[old[row]] = static_cast<int>(row);
    for (int& row : place) row = new_row[row];
    if (!matches) place = new_row;
    found.column_permutation(on_device(new_row));
  }
  found.row_permutation(on_device(place));
}

}  // namespace Detail
}  // namespace Strata

#endif
