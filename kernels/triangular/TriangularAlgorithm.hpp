// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TRIANGULAR_ALGORITHM_HPP
#define STRATA_KERNELS_TRIANGULAR_TRIANGULAR_ALGORITHM_HPP

#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/device/Gate.hpp>
#include <core/device/Launch.hpp>
#include <core/device/NotReady.hpp>
#include <core/matrix/InspectValues.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/AllocateView.hpp>
#include <cstring>
#include <iomanip>
#include <kernels/triangular/UpdateDecision.hpp>
#include <kernels/triangular/merging/MergedGrowth.hpp>
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
  GraphLevels<Memory> levels;   // where they came with the graph
  LevelOrder<Memory> order;     // of the graph's vertices
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
  GrowthLimit limit_of_growth() const {
    const auto& longest = order.sizes.longest_row;
    return {rowwise_growth,
            1. + double(longest.empty() ? 0
                                        : *std::max_element(longest.begin(),
                                                            longest.end()))};
  }

  /// Within a level set, a warp's lanes want rows of equal length; a host's
  /// thread wants neighbours.
  static constexpr WithinLevel within_level =
      lane_width<ExecutionSpace> > 1 ? WithinLevel::longest_rows_first
                                     : WithinLevel::ascending;
  void find_order(const ExecutionSpace& exec) {
    order = make_level_order(exec, graph, within_level, work(exec), levels);
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

/// Whether entries over the diagonal leave the range of normal numbers.
inline UnsuitableValues why_unsuitable(const ValuesInspection& values) {
  UnsuitableValues found;
  if (values.lost_row == ValuesInspection::no_row) return found;
  found.any = true;
  found.row = values.lost_row;
  found.why = "numbers of row " + std::to_string(found.row) +
              " leave the range of normal ones where level sets are merged";
  return found;
}
/// Whether merged rows break the contract of accuracy.
inline UnsuitableValues why_unsuitable(const MergedGrowth& growth,
                                       double limit) {
  UnsuitableValues found;
  if (growth.rows_over == 0) return found;
  found.any = found.too_inaccurate = true;
  found.row = growth.first_row;
  std::ostringstream why;
  why << "with merged level sets, rounding errors grow by up to "
      << std::setprecision(3) << growth.largest << " in " << growth.rows_over
      << (growth.rows_over == 1 ? " row" : " rows") << " (the first is row "
      << growth.first_row << "), where " << limit << " is allowed";
  found.why = why.str();
  return found;
}

/// An algorithm: a plan made from the pattern when it is constructed,
/// values packed in the plan's order, and a solve.
///
/// A copy has the plan, the values and the flags of the original, and does
/// nothing but solve: see with_workspace.
template <class Scalar, class ExecutionSpace>
class TriangularAlgorithm {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  virtual ~TriangularAlgorithm() = default;

  /// The places that hold a diagonal value, for inspect_values.
  DiagonalPlaces<Memory> diagonal_places() const {
    return {diagonal_value_index_, row_};
  }
  /// Whether `pack_on_trial` looks at the diagonal, too.
  bool looks_at_diagonal() const { return diagonal_along_; }
  /// The entries that this algorithm divides by the diagonal, for
  /// inspect_values: none, unless it says otherwise.
  virtual ScaledEntries<Memory> scaled_entries() const { return {}; }
  /// `pack_on_trial`. Where an exception has kept the faults of the last one
  /// from being looked at, they are cleared first.
  std::int64_t* begin_trial_packing(const ExecutionSpace& exec,
                                    const Scalar* values) {
    if (faults_left_) {
      std::int64_t* const faults = merge_faults();
      Kokkos::parallel_for("Strata::ClearMergeFaults",
                           Kokkos::RangePolicy<ExecutionSpace>(exec, 0, 1),
                           ClearMergeFaults{faults});
      exec.fence();
      faults_left_ = false;
    }
    // Before it enqueues: what throws after that has enqueued.
    faults_left_ = merge_faults() != nullptr;
    return pack_on_trial(exec, values);
  }
  /// What `begin_trial_packing` returned has been looked at, which has cleared
  /// it.
  void faults_were_taken() { faults_left_ = false; }
  /// MergeFaults of `pack_on_trial`, null: there are none.
  virtual std::int64_t* merge_faults() const { return nullptr; }
  /// Where rows are merged: enqueues that with these values, which leaves
  /// the solver's as they are, if it has any, and returns what inspect_values
  /// is to take along. Else null. What it enqueues last lets no later kernel
  /// begin before all of its threads have waited for what is before it.
  virtual std::int64_t* pack_on_trial(const ExecutionSpace&, const Scalar*) {
    return nullptr;
  }
  /// Whether the host has waited for a `pack_on_trial` of first values which
  /// has left them where solves read them, so that nothing is to be enqueued.
  virtual bool trial_is_packing(bool divide) {
    (void)divide;
    return false;
  }
  /// Whether that has left something, and letting go of it, once all work with
  /// it is done.
  virtual bool holds_trial_packing() const { return false; }
  virtual void forget_trial_packing() {}
  /// Marks merged rows that are too inaccurate with the values of the last
  /// `pack_on_trial`, or the first ones of each group, for the next plan to
  /// leave them as they are: by vertex, with RowStatus::stays. The host waits.
  /// @returns how many there are
  virtual int mark_unmerged(const ExecutionSpace&, const Scalar*, int*,
                            bool first_only) {
    (void)first_only;
    return 0;
  }
  /// How much rounding errors of merged rows may grow; rows that are not
  /// merged need no check.
  virtual GrowthLimit growth_limit() const { return {}; }
  /// The growth of merged rows with the values of the last `pack_on_trial`. The
  /// host waits.
  virtual MergedGrowth check_growth(const ExecutionSpace&, const Scalar*) {
    return {};
  }
  /// Enqueues the decision on the values of the last `begin_in_place`, which
  /// packs the plan beside this one where that is to solve, with the same look
  /// where growth_limit() has one.
  virtual void enqueue_decision(
      const ExecutionSpace& exec, const Scalar*,
      const UpdateDecision<Scalar, Memory>& decision) const {
    decision.enqueue(exec);
  }
  /// Why this algorithm can't take values of which inspect_values, with
  /// `pack_on_trial`, has found this.
  virtual UnsuitableValues unsuitable(const ValuesInspection&) const {
    return {};
  }
  /// Enqueues the packing of new values on `exec`: the caller waits for it
  /// before it frees or changes them, or forgets what `pack_on_trial` has made
  /// of them.
  /// @param divide as inspect_values says: some diagonal value has no usable
  ///               reciprocal
  /// @returns whether anything is enqueued
  bool set_values(const ExecutionSpace& exec, const Scalar* values,
                  bool divide) {
    if (trial_is_packing(divide)) {
      begin_packing(divide);
      end_packing();
      return false;
    }
    enqueue_values(exec, values, divide);
    // Solves may read their values before they wait for what is before them;
    // the caller waits for all before it forgets a trial packing.
    if (!holds_trial_packing()) publish_writes(exec);
    return true;
  }
  /// The same without publish_writes, which has to follow.
  /// @param spoils where it is not 0, in device memory, solves are to give NaN;
  ///               null: never
  void enqueue_values(const ExecutionSpace& exec, const Scalar* values,
                      bool divide, const int* spoils = nullptr) {
    has_values_ = false;
    divide_ = divide;
    pack(exec, values, spoils);
    has_values_ = true;
  }
  /// enqueue_values by a launch of the caller's, which takes the packing along:
  /// this before, end_packing once it is enqueued.
  void begin_packing(bool divide) {
    has_values_ = false;
    divide_ = divide;
  }
  void end_packing() { has_values_ = true; }

  // For values that are enqueued, see EnqueuedUpdates.

  /// Allocates what looks at new values need for the time of a look, for good.
  virtual void keep_update_memory() {}
  /// `begin_trial_packing` for values that are taken in any case, in place of
  /// those that the solver has, which are lost.
  std::int64_t* begin_in_place(const ExecutionSpace& exec,
                               const Scalar* values) {
    has_values_ = false;
    // An exception has kept a trial's from being cleared.
    if (faults_left_)
      Kokkos::parallel_for("Strata::ClearMergeFaults",
                           Kokkos::RangePolicy<ExecutionSpace>(exec, 0, 1),
                           ClearMergeFaults{merge_faults()});
    faults_left_ = merge_faults() != nullptr;
    return look_in_place(exec, values);
  }
  virtual std::int64_t* look_in_place(const ExecutionSpace& exec,
                                      const Scalar* values) {
    return pack_on_trial(exec, values);
  }
  /// Whether kernels of solves end where the gate is closed. An algorithm that
  /// can't take all values needs that, if it is to take values that are
  /// enqueued.
  virtual bool reads_gate() const { return false; }
  void set_gate(const Gate& gate) { gate_ = gate; }
  /// Whether all of the last values are enqueued: since set_values or
  /// `begin_in_place` was last called, enqueue_values has returned, or
  /// end_packing since begin_packing.
  bool has_values() const { return has_values_; }
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
  /// All values.
  /// @param spoils  see PackDiagonal
  virtual void pack(const ExecutionSpace& exec, const Scalar* values,
                    const int* spoils) {
    if (!diagonal_along_)
      pack_diagonal(exec, diagonal_value_index_, values, diagonal_, conjugated_,
                    divide_, spoils);
    pack_entries(exec, values);
  }
  /// The diagonal along with them, if that is so (`diagonal_along_`);
  /// `pack_on_trial` looks at it then.
  virtual void pack_entries(const ExecutionSpace& exec,
                            const Scalar* values) = 0;
  virtual std::size_t entry_bytes() const = 0;

  static Kokkos::View<Scalar*, Memory> make_values(std::int64_t count) {
    return make_unfilled<Kokkos::View<Scalar*, Memory>>(
        "Strata::Triangular::values", count);
  }

  Kokkos::View<const unsigned*, Memory> row_;  // top bit may be a mark
  ValueIndex<Memory> diagonal_value_index_;
  Kokkos::View<Scalar*, Memory> diagonal_;
  bool conjugated_ = false, diagonal_along_ = false;

 private:
  std::shared_ptr<bool> division_ = std::make_shared<bool>(false);

 protected:
  /// Of all copies: new values may change it.
  bool& divide_ = *division_;
  Gate gate_;  ///< always open, unless set

 private:
  bool has_values_ = false, faults_left_ = false;
};

template <class Scalar, class ExecutionSpace>
using AlgorithmPointer =
    std::shared_ptr<TriangularAlgorithm<Scalar, ExecutionSpace>>;

}  // namespace Detail
}  // namespace Strata

#endif
