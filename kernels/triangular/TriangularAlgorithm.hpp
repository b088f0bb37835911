// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TRIANGULAR_ALGORITHM_HPP
#define STRATA_KERNELS_TRIANGULAR_TRIANGULAR_ALGORITHM_HPP

#include <Strata_DependencyGraph.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/device/ActivePlan.hpp>
#include <core/device/Launch.hpp>
#include <core/device/NotReady.hpp>
#include <core/matrix/InspectValues.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/AllocateView.hpp>
#include <iomanip>
#include <kernels/triangular/merging/MergedValues.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace Strata {
namespace Detail {

/// The pattern in host memory, for what is decided there.
struct HostAnalysis {
  DependencyGraph<Kokkos::HostSpace> graph;
  LevelSets levels;
};

/// A partition that another pattern's analysis may keep.
struct KeptPartition {
  /// Sub-graph of each row of the matrix, -1 for a row without edges; empty
  /// where there is none.
  std::vector<int> subgraph_of_row;
  int num_levels = 0;  ///< sub-graph levels that it has had
};

/// What every algorithm is built from.
template <class ExecutionSpace>
struct TriangularAnalysis {
  using Memory = typename ExecutionSpace::memory_space;

  /// Memory of what follows, and of whatever is made from it but the plan.
  mutable typename WorkPool<ExecutionSpace>::Pointer pool;
  DependencyGraph<Memory> graph;
  GraphLevels<Memory> levels;   // not `known`: find_order finds them
  LevelOrder<Memory> order;     // empty: the algorithm needs none
  std::int64_t num_values = 0;  // values the user's matrix stores
  bool conjugated = false;
  /// Of the pattern before, where this analysis is for one that differs a
  /// little.
  KeptPartition kept_partition;
  /// Rows that must not be merged, by vertex: RowStatus::stays. Empty: none.
  Kokkos::View<int*, Memory> unmerged;
  const int* unmerged_rows() const {
    return unmerged.extent(0) > 0 ? unmerged.data() : nullptr;
  }
  /// Entries of the longest row, the diagonal included, once there is an order.
  std::int64_t longest_row() const {
    return 1 + order.sizes.longest_row_of_all();
  }

  /// Within a level set, a warp's lanes want rows of equal length; a host's
  /// thread wants neighbours.
  static constexpr WithinLevel within_level =
      lane_width<ExecutionSpace> > 1 ? WithinLevel::longest_rows_first
                                     : WithinLevel::ascending;
  void find_order(const ExecutionSpace& exec) {
    order = make_level_order(exec, graph, within_level, work(exec), levels);
  }
  /// The same for an algorithm that takes the place of one that needs no order.
  /// @returns whether it is new
  bool require_order(const ExecutionSpace& exec) {
    if (graph.num_vertices == 0 || order.num_vertices() > 0) return false;
    find_order(exec);
    return true;
  }
  WorkPool<ExecutionSpace>& work(const ExecutionSpace& exec) const {
    if (!pool)
      pool = std::make_shared<WorkPool<ExecutionSpace>>(
          exec, expected_bytes(graph.num_vertices, graph.num_edges()));
    return *pool;
  }
  /// What an analysis takes of a pool at first.
  static std::size_t expected_bytes(std::int64_t rows, std::int64_t entries) {
    return std::size_t(rows) * 100 + std::size_t(entries) * 12;
  }
  /// The graph and its level sets on the host, made when first asked for.
  /// Cost then: a copy of the graph and a pass over its edges by one thread.
  const HostAnalysis& host() const {
    if (!host_) {
      auto made = std::make_shared<HostAnalysis>();
      made->graph = mirror_graph(Kokkos::HostSpace(), graph);
      made->levels = find_level_sets(made->graph);
      host_ = made;
    }
    return *host_;
  }

 private:
  mutable std::shared_ptr<const HostAnalysis> host_;
};

/// Values that a plan can't be used with.
struct UnsuitableValues {
  bool any = false;
  /// Merged rows are too inaccurate: there are rows that a plan may leave
  /// unmerged.
  bool too_inaccurate = false;
  std::int64_t row = 0;
  std::string why;
};

/// Whether merged rows break the contract of accuracy.
inline UnsuitableValues why_unsuitable(const MergedGrowth& growth) {
  UnsuitableValues found;
  if (growth.rows_over == 0) return found;
  found.any = found.too_inaccurate = true;
  found.row = growth.first_row;
  std::ostringstream why;
  why << "with merged level sets, rounding errors grow by up to "
      << std::setprecision(3) << growth.largest << " in " << growth.rows_over
      << (growth.rows_over == 1 ? " row" : " rows") << " (the first is row "
      << growth.first_row << "), where " << rowwise_growth << " is allowed";
  found.why = why.str();
  return found;
}

/// An algorithm: a plan made from the pattern when it is constructed,
/// values packed in the plan's order, and a solve.
///
///                       set_values                     set_values
///       [no values] ------------------> [has values] --------------+
///            ^                           |  ^    ^                 |
///            |  set_values throws        |  |    +-----------------+
///            +---------------------------+  | a look, and a refusal
///                                        +--+
///
/// A look at new values comes before set_values, and changes nothing that
/// solves read: inspect_values, after MergedValues::look if rows are merged.
/// The host waits for it, and refuses the values or calls set_values. That
/// packs them over the old ones. Only merged rows of `sync_free` have been made
/// by the look, in another buffer, which set_values has solves read from then
/// on.
///
/// EnqueuedUpdates takes the same steps without a wait: it looks in place, a
/// kernel decides, and enqueue_values follows in any case. Solves with values
/// that are refused give NaN, or the fallback plan solves.
///
/// A copy has the plan and the values of the original, and does nothing but
/// solve: see with_workspace.
template <class Scalar, class ExecutionSpace>
class TriangularAlgorithm {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  virtual ~TriangularAlgorithm() = default;

  /// The places that hold a diagonal value, for inspect_values.
  DiagonalPlaces<Memory> diagonal_places() const {
    return {diagonal_value_index_, row_};
  }
  /// If rows are merged: what new values need. Else null.
  virtual MergedValues<Scalar, ExecutionSpace>* merging() { return nullptr; }
  /// Why this algorithm can't use values of which inspect_values has found
  /// this.
  virtual UnsuitableValues unsuitable(const ValuesInspection&) const {
    return {};
  }
  /// Share of the plan for which solves with the present values take a way that
  /// is several times as long, for the sake of accuracy. Waits for `exec`.
  virtual double slow_share(const ExecutionSpace&) const { return 0; }
  /// Has solves use new values, at which inspect_values and, with merged rows,
  /// MergedValues::look have looked. If this enqueues anything on `exec`, the
  /// caller waits for that before it frees or changes the values.
  /// @param divide some diagonal value has no usable reciprocal, as
  ///               inspect_values says
  /// @returns whether anything is enqueued
  bool set_values(const ExecutionSpace& exec, const Scalar* values,
                  bool divide) {
    const bool enqueued = enqueue_values(exec, values, divide);
    if (!enqueued) return false;
    // A solve may overlap the kernel before it, and reads packed values before
    // it calls await_previous: publish_writes completes the packing first.
    has_values_ = false;
    publish_writes(exec);
    has_values_ = true;
    return true;
  }
  /// The same without publish_writes, which has to follow.
  /// @param invalid_flag  if it is not 0, in device memory, solves are to give
  ///                      NaN; null: never
  bool enqueue_values(const ExecutionSpace& exec, const Scalar* values,
                      bool divide, const int* invalid_flag = nullptr) {
    has_values_ = false;
    divide_ = divide;
    const bool made = merging() && merging()->accept(divide);
    if (!made) pack(exec, values, invalid_flag);
    has_values_ = true;
    return !made;
  }
  /// Whether solves have values: not before the first ones, nor after an
  /// exception in set_values.
  bool has_values() const { return has_values_; }

  /// For an algorithm that merges rows: its kernels end if another plan is
  /// active.
  void set_active_plan(const ActivePlan& active_plan) {
    active_plan_ = active_plan;
  }
  /// What an analysis of another pattern may keep. The host waits.
  virtual KeptPartition kept_partition() const { return {}; }
  /// Enqueues the solve of `columns` right-hand sides on `exec`.
  virtual void solve(const ExecutionSpace& exec,
                     const MultiVectorRef<const Scalar>& b,
                     const MultiVectorRef<Scalar>& x,
                     std::int64_t columns) const = 0;
  /// A copy for solves that overlap in time with those of this object: it
  /// shares plan and values, sees what set_values packs here, and has a
  /// workspace of its own, made by work that is enqueued on `exec`. The
  /// workspace is all that solves write to beside x. Null: solves write to
  /// nothing else, and may overlap as they are. On hosts, what Kokkos allocates
  /// in the first solve on `exec` is allocated here.
  virtual std::shared_ptr<const TriangularAlgorithm> with_workspace(
      const ExecutionSpace& exec) const = 0;
  /// Bytes of device memory that with_workspace allocates.
  virtual std::size_t workspace_bytes() const { return 0; }
  /// Bytes of device memory held, plan, values and workspace.
  std::size_t bytes() const {
    return diagonal_.extent(0) * sizeof(Scalar) + row_.extent(0) * 4 +
           diagonal_value_index_.bytes() + entry_bytes();
  }

 protected:
  /// `row` and `diagonal_value_index` are in the algorithm's order of rows.
  void set_rows(const Kokkos::View<const unsigned*, Memory>& row,
                const ValueIndex<Memory>& diagonal_value_index,
                bool conjugated) {
    set_rows(row, diagonal_value_index, conjugated,
             make_unfilled<Kokkos::View<Scalar*, Memory>>(
                 "Strata::Triangular::diagonal", row.extent(0)));
  }
  /// The same with the memory for the diagonal.
  void set_rows(const Kokkos::View<const unsigned*, Memory>& row,
                const ValueIndex<Memory>& diagonal_value_index, bool conjugated,
                const Kokkos::View<Scalar*, Memory>& diagonal) {
    row_ = row;
    diagonal_value_index_ = diagonal_value_index;
    conjugated_ = conjugated;
    diagonal_ = diagonal;
  }
  /// Enqueues the packing of all values: entries, and pack_diagonal_values.
  /// @param invalid_flag  see PackDiagonal
  virtual void pack(const ExecutionSpace& exec, const Scalar* values,
                    const int* invalid_flag) = 0;
  void pack_diagonal_values(const ExecutionSpace& exec, const Scalar* values,
                            const int* invalid_flag) const {
    pack_diagonal(exec, diagonal_value_index_, values, diagonal_, conjugated_,
                  divide_, invalid_flag);
  }
  /// Bytes of device memory but those of set_rows.
  virtual std::size_t entry_bytes() const = 0;

  static Kokkos::View<Scalar*, Memory> make_values(std::int64_t count) {
    return make_unfilled<Kokkos::View<Scalar*, Memory>>(
        "Strata::Triangular::values", count);
  }

  /// User's row at each permuted row; `subgraphs` marks rows in the top bit.
  Kokkos::View<const unsigned*, Memory> row_;
  ValueIndex<Memory> diagonal_value_index_;
  Kokkos::View<Scalar*, Memory> diagonal_;
  bool conjugated_ = false;

 private:
  std::shared_ptr<bool> division_ = std::make_shared<bool>(false);

 protected:
  /// Of all copies: new values may change it.
  bool& divide_ = *division_;
  ActivePlan active_plan_;  ///< this one, unless set

 private:
  bool has_values_ = false;
};

/// Makes a workspace as if there had been no solve, and copies words.
template <class Scalar, class MemorySpace>
struct ResetWorkspace {
  ResetNotReady<Scalar, MemorySpace> values;
  Kokkos::View<unsigned*, MemorySpace> counters;
  const unsigned* from = nullptr;
  unsigned* to = nullptr;
  std::int64_t words = 0;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < static_cast<std::int64_t>(counters.extent(0))) counters(i) = 0;
    if (i < static_cast<std::int64_t>(values.buffer.extent(0))) values(i);
    if (i < words) to[i] = from[i];
  }
};

template <class Scalar, class ExecutionSpace>
using AlgorithmPointer =
    std::shared_ptr<TriangularAlgorithm<Scalar, ExecutionSpace>>;

}  // namespace Detail
}  // namespace Strata

#endif
