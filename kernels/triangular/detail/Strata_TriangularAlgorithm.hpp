// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TRIANGULAR_ALGORITHM_HPP
#define STRATA_TRIANGULAR_ALGORITHM_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelSets.hpp>
#include <detail/Strata_MultiVectorRef.hpp>
#include <detail/Strata_PackValues.hpp>

namespace Strata {
namespace Detail {

/// What every algorithm is built from.
template <class ExecutionSpace>
struct TriangularAnalysis {
  DependencyGraph<typename ExecutionSpace::memory_space> graph;
  DependencyGraph<Kokkos::HostSpace> host_graph;
  LevelSets levels;
  std::int64_t num_values = 0;  // values the user's matrix stores
  bool conjugated = false;
};

/// One way to solve: a plan made from the pattern when it is constructed,
/// values packed in the plan's order, and a solve.
template <class Scalar, class ExecutionSpace>
class TriangularAlgorithm {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  virtual ~TriangularAlgorithm() = default;

  /// Packs new values; fences. @throws ZeroDiagonalError before any change.
  void set_values(const ExecutionSpace& exec, const Scalar* values) {
    divide_ = pack_diagonal(exec, diagonal_origin_, values, row_, diagonal_,
                            conjugated_);
    pack_entries(exec, values);
    exec.fence();
  }
  /// Enqueues the solve of `columns` right-hand sides on `exec`.
  virtual void solve(const ExecutionSpace& exec,
                     const MultiVectorRef<const Scalar>& b,
                     const MultiVectorRef<Scalar>& x,
                     std::int64_t columns) const = 0;
  /// Bytes of device memory held, plan, values and workspace.
  std::size_t bytes() const {
    return diagonal_.extent(0) * sizeof(Scalar) + row_.extent(0) * 4 +
           diagonal_origin_.bytes() + entry_bytes();
  }

 protected:
  /// `row` and `diagonal_origin` are in the algorithm's order of rows.
  void set_rows(const Kokkos::View<const unsigned*, Memory>& row,
                const OriginIndex<Memory>& diagonal_origin, bool conjugated) {
    row_ = row;
    diagonal_origin_ = diagonal_origin;
    conjugated_ = conjugated;
    diagonal_ = Kokkos::View<Scalar*, Memory>(
        Kokkos::view_alloc("Strata::Triangular::diagonal",
                           Kokkos::WithoutInitializing),
        row.extent(0));
  }
  virtual void pack_entries(const ExecutionSpace& exec,
                            const Scalar* values) = 0;
  virtual std::size_t entry_bytes() const = 0;

  static Kokkos::View<Scalar*, Memory> make_values(std::int64_t count) {
    return Kokkos::View<Scalar*, Memory>(
        Kokkos::view_alloc("Strata::Triangular::values",
                           Kokkos::WithoutInitializing),
        count);
  }

  Kokkos::View<const unsigned*, Memory> row_;  // top bit may be a mark
  OriginIndex<Memory> diagonal_origin_;
  Kokkos::View<Scalar*, Memory> diagonal_;
  bool divide_ = false, conjugated_ = false;
};

}  // namespace Detail
}  // namespace Strata

#endif
