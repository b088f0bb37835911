// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INPUT_HOST_ORDER_HPP
#define STRATA_KERNELS_FACTORIZATION_INPUT_HOST_ORDER_HPP

#include <Strata_FactorTransformation.hpp>
#include <Strata_IncompleteFactorizationOptions.hpp>
#include <analysis/orders/FindOrder.hpp>
#include <analysis/orders/MaximumProduct.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/factorization/FactorizationOptionChecks.hpp>

namespace Strata {
namespace Detail {

/// The order of rows and the matching that options ask for, found by one thread
/// of the host from a copy of A's pattern, for a matching also of its values.
template <class Scalar, class ExecutionSpace>
class HostOrder {
 public:
  /// @param A  has passed check_square_matrix
  /// @throws OptionError, IndexOverflowError, NotFiniteError, SingularError
  HostOrder(const CrsArrays<Scalar>& A,
            const IncompleteFactorizationOptions& options) {
    const bool matches = options.scaling == FactorScaling::matching;
    if ((!matches && !is_permutation(options.order)) || A.rows() == 0) return;
    HostGraph graph{A.row_map.template fetch<Memory>(0, A.rows() + 1), {}};
    graph.entries = A.entries.template fetch<Memory>(0, graph.row_map.back());
    if (matches) {
      MaximumProduct best(graph, moduli(A.values, graph.entries.size()));
      row_place_ = std::move(best.column_of);
      row_scale_.assign(best.row_scale.begin(), best.row_scale.end());
      column_scale_.assign(best.column_scale.begin(), best.column_scale.end());
    }
    if (is_permutation(options.order))
      permute(order_of(symmetric_graph(graph, row_place_), options.order));
  }

  /// Sets what was found.
  template <class Transformation>
  void add_to(Transformation& made) const {
    if (!row_place_.empty()) made.row_permutation(on_device(row_place_));
    if (!column_place_.empty())
      made.column_permutation(on_device(column_place_));
    if (row_scale_.empty()) return;
    made.row_scaling(on_device(row_scale_));
    made.column_scaling(on_device(column_scale_));
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;

  template <class T>
  static Kokkos::View<T*, Memory> on_device(const std::vector<T>& from) {
    return to_device<T, Memory>("Strata::HostOrder", from);
  }
  static std::vector<double> moduli(const Scalar* values, std::size_t count) {
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    std::vector<Scalar> here(count);
    Kokkos::deep_copy(
        Kokkos::View<Scalar*, Kokkos::HostSpace, Unmanaged>(here.data(), count),
        Kokkos::View<const Scalar*, Memory, Unmanaged>(values, count));
    std::vector<double> made;
    for (const Scalar& v : here)
      made.push_back(std::hypot(double(RealPart<Scalar>::real(v)),
                                double(RealPart<Scalar>::imaginary(v))));
    return made;
  }
  static std::vector<int> order_of(const HostGraph& graph, FactorOrder order) {
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
  /// Rows and columns alike.
  void permute(const std::vector<int>& old_row) {
    column_place_.resize(old_row.size());
    for (std::size_t row = 0; row < old_row.size(); ++row)
      column_place_[old_row[row]] = static_cast<int>(row);
    if (row_place_.empty()) {
      row_place_ = column_place_;
      return;
    }
    for (int& place : row_place_) place = column_place_[place];
  }

  std::vector<int> row_place_, column_place_;  // empty: as they are
  std::vector<RealOf<Scalar>> row_scale_, column_scale_;
};

}  // namespace Detail
}  // namespace Strata

#endif
