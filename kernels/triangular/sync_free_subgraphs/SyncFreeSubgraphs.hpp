// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_SYNC_FREE_SUBGRAPHS_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SUBGRAPHS_SYNC_FREE_SUBGRAPHS_HPP

#include <algorithm>
#include <analysis/packing/PackSubgraphs.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/memory/PlanStorage.hpp>
#include <cstring>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/merging/GrowthOfMergedRows.hpp>
#include <kernels/triangular/merging/MergedSubgraphValues.hpp>
#include <kernels/triangular/sync_free_subgraphs/PackSubgraphValues.hpp>
#include <kernels/triangular/sync_free_subgraphs/SyncFreeSubgraphKernel.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// Sub-graphs in one launch: see SyncFreeSubgraphKernel.
///
/// Solves with one solver object share its workspace and must not overlap.
template <class Scalar, class ExecutionSpace>
class SyncFreeSubgraphs
    : public TriangularAlgorithm<Scalar, ExecutionSpace>,
      private MergedUpdateOf<Scalar, ExecutionSpace, GrowthOfSubgraphRows> {
  using Base = TriangularAlgorithm<Scalar, ExecutionSpace>;
  using Merging = MergedUpdate<Scalar, ExecutionSpace>;

 public:
  using typename Base::Memory;
  template <int team, bool steps_in_scratch>
  using KernelFor =
      SyncFreeSubgraphKernel<Scalar, ExecutionSpace, team, steps_in_scratch>;
  template <int team>
  using Kernel = KernelFor<team, true>;
  static constexpr int num_teams = Kernel<1>::different ? 2 : 1;
  using Packer = SubgraphPacker<ExecutionSpace>;

  /// For the values that other sub-graphs need, of several right-hand sides.
  static constexpr std::size_t max_workspace_bytes = std::size_t{512} << 20;
  /// Steps of a sub-graph that scratch always has room for.
  static constexpr int usual_steps = 1024;

  /// Scalars that a sub-graph may keep in the scratch of `exec`'s device.
  template <int team>
  static int max_local(const ExecutionSpace& exec) {
    const std::size_t fixed = Kernel<team>::scratch_bytes(0, usual_steps);
    const std::size_t bytes = team_scratch_bytes(exec);
    return static_cast<int>(std::min<std::size_t>(
        bytes < fixed ? 0 : (bytes - fixed) / sizeof(Scalar), 65000));
  }
  /// Sub-graphs of that shape, and the steps on their longest path.
  static Packer make_packer(
      const ExecutionSpace& exec,
      const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
      const int* level, int num_levels, std::int64_t longest_row,
      PackingShape shape, typename WorkPool<ExecutionSpace>::Pointer pool = {},
      const int* by_level = nullptr) {
    shape.team[0] = {Kernel<0>::row_lanes, Kernel<0>::warps,
                     max_local<0>(exec)};
    shape.team[1] = {Kernel<1>::row_lanes, Kernel<1>::warps,
                     max_local<1>(exec)};
    if (num_teams == 1) shape.which_team = 0;
    return Packer(exec, graph, level, num_levels, longest_row, shape,
                  Kernel<0>::width, sizeof(Scalar), std::move(pool), by_level);
  }

  /// @param max_bytes of the plan with the workspace of more than one
  ///                  right-hand side
  SyncFreeSubgraphs(
      const ExecutionSpace& exec,
      const TriangularAnalysis<ExecutionSpace>& analysis, Packer& packer,
      int max_right_hand_sides,
      std::size_t max_bytes = std::numeric_limits<std::size_t>::max())
      : packed_(packer.finish(analysis.num_values)),
        team_(packer.team()),
        reversed_(analysis.graph.reversed) {
    const std::size_t one =
        2 * sizeof(Scalar) * std::max<std::size_t>(1, packed_.num_exports) +
        sizeof(unsigned);
    // Merged rows have the diagonal in their coefficients.
    const std::int64_t diagonals =
        packed_.merged.exist() ? 0 : packed_.num_rows;
    const auto coefficients =
        static_cast<std::int64_t>(packed_.merged.coefficient.extent(0));
    const int num_findings = packed_.merged.exist() ? 1 : 0;
    const std::size_t own =
        this->bytes() + packed_.diagonal_value_index.bytes() +
        packed_.row.extent(0) * 4 + SyncFreeState::size * 4 +
        static_cast<std::size_t>(diagonals + coefficients) * sizeof(Scalar) +
        num_findings * sizeof(ValuesInspection);
    const std::size_t room =
        std::min(max_workspace_bytes, max_bytes - std::min(own, max_bytes));
    export_columns_ = static_cast<int>(std::min<std::size_t>(
        max_right_hand_sides, std::max<std::size_t>(1, room / one)));
    Kokkos::View<Scalar*, Memory> diagonal;
    Kokkos::View<ValuesInspection*, Memory> findings;
    storage_ = make_plan_storage<Memory>(
        exec, "Strata::SyncFreeSubgraphs", [&](PlanStorage<Memory>& storage) {
          storage.take(exports_, 2ll * export_columns_ * packed_.num_exports);
          storage.take(diagonal, diagonals);
          storage.take(coefficient_value_, coefficients);
          storage.take(findings, num_findings);
          storage.take(state_, SyncFreeState::size + export_columns_);
        });
    this->set_rows(packed_.row, packed_.diagonal_value_index,
                   analysis.conjugated, diagonal);
    this->scaled_ = {packed_.record_row, packed_.value_index, packed_.entries};
    reset(exec, findings);
    steps_in_scratch_ =
        (team_ == 0
             ? Kernel<0>::scratch_bytes(packed_.max_local, packed_.max_steps)
             : Kernel<1>::scratch_bytes(packed_.max_local,
                                        packed_.max_steps)) <=
        team_scratch_bytes(exec);
    reserve_team(exec, 1, launch_scratch());
    if (packed_.merged.exist()) {
      this->findings_ = UpdateFindings(findings.data());
      this->longest_row_ = double(analysis.longest_row());
      this->growth_ = GrowthWorkspace<Memory>(packed_.num_rows);
      this->growth_.borrow(analysis.work(exec));
    }
  }
  Merging* merging() override {
    return packed_.merged.exist() ? this : nullptr;
  }
  bool reads_active_plan() const override { return true; }
  std::shared_ptr<const Base> with_workspace(
      const ExecutionSpace& exec) const override {
    const auto made = std::make_shared<SyncFreeSubgraphs>(*this);
    made->workspace_ = make_plan_storage<Memory>(
        exec, "Strata::SyncFreeSubgraphs::workspace",
        [&](PlanStorage<Memory>& storage) {
          storage.take(made->exports_,
                       static_cast<std::int64_t>(exports_.extent(0)));
          storage.take(made->state_,
                       static_cast<std::int64_t>(state_.extent(0)));
        });
    made->reset(exec, {});
    reserve_team(exec, 1, launch_scratch());
    return made;
  }
  std::size_t workspace_bytes() const override {
    return exports_.extent(0) * sizeof(Scalar) +
           state_.extent(0) * sizeof(unsigned);
  }
  int num_subgraphs() const {
    return static_cast<int>(packed_.subgraph.extent(0));
  }
  /// Right-hand sides of one launch.
  int capacity() const { return export_columns_; }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    const std::int64_t most = std::min(
        export_columns_, std::max(1, (1 << 30) / std::max(1, num_subgraphs())));
    // Launches of about as many each.
    std::int64_t launches = (columns + most - 1) / most;
    for (std::int64_t first = 0; first < columns; --launches) {
      const int now =
          static_cast<int>((columns - first + launches - 1) / launches);
      if (team_ == 0)
        launch<0>(exec, b.from(first), x.from(first), now);
      else if constexpr (num_teams > 1) {
        launch<1>(exec, b.from(first), x.from(first), now);
      }
      first += now;
    }
  }

 private:
  /// The workspace as if there had been no solve, and findings cleared.
  void reset(const ExecutionSpace& exec,
             const Kokkos::View<ValuesInspection*, Memory>& findings) const {
    Kokkos::parallel_for(
        "Strata::SyncFreeSubgraphs::reset",
        RangeOf<ExecutionSpace>(exec, 0,
                                static_cast<std::int64_t>(std::max(
                                    exports_.extent(0), state_.extent(0)))),
        ResetWorkspace<Scalar, Memory>{{exports_}, state_, findings});
  }
  /// Bytes of scratch that a team asks for.
  std::size_t launch_scratch() const {
    const int steps = steps_in_scratch_ ? packed_.max_steps : 0;
    return team_ == 0 ? Kernel<0>::scratch_bytes(packed_.max_local, steps)
                      : Kernel<1>::scratch_bytes(packed_.max_local, steps);
  }
  template <int team>
  void launch(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
              const MultiVectorRef<Scalar>& x, int columns) const {
    if (steps_in_scratch_)
      launch<team, true>(exec, b, x, columns);
    else
      launch<team, false>(exec, b, x, columns);
  }
  template <int team, bool steps_in_scratch>
  void launch(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
              const MultiVectorRef<Scalar>& x, int columns) const {
    using Solve = KernelFor<team, steps_in_scratch>;
    const char* const label = "Strata::Triangular::solve::sync_free_subgraphs";
    const int teams = num_subgraphs() * columns;
    const Solve functor{packed_.bytes.data(),
                        packed_.subgraph.data(),
                        packed_.step_warps.data(),
                        packed_.import.data(),
                        packed_.row.data(),
                        this->diagonal_.data(),
                        packed_.merged.coefficient_map.data(),
                        packed_.merged.coefficient.data(),
                        coefficient_value_.data(),
                        exports_.data(),
                        state_.data(),
                        packed_.num_exports,
                        columns,
                        export_columns_,
                        this->divide_,
                        static_cast<int>(launch_scratch()),
                        b,
                        x,
                        this->active_plan_};
    run_teams<Solve::teams_a_multiprocessor, Solve::team_size>(
        label, exec, teams, functor, launch_scratch());
  }
  /// See MergedSubgraphValues.
  template <bool packs>
  void run_recipes(const char* label, const ExecutionSpace& exec,
                   const Scalar* values) const {
    const int n = packed_.num_rows;
    const double mean_length = double(packed_.merged.num_entries) / n;
    const int row_bytes =
        packed_.merged.max_slots * static_cast<int>(sizeof(Scalar));
    with_lanes_for_values(exec, n, mean_length, row_bytes, [&](auto shared) {
      using Run = MergedSubgraphValues<Scalar, ExecutionSpace,
                                       decltype(shared)::value, packs>;
      // Kokkos hands a functor and its policy to a CUDA kernel through constant
      // memory if they have more than 512 bytes together, which takes 15 us.
      static_assert(sizeof(Run) <= 352, "new values take a third longer");
      const Run run{packed_.merged,
                    {values, this->conjugated_},
                    packed_.diagonal_value_index,
                    n,
                    packed_.bytes.data(),
                    coefficient_value_.data(),
                    this->row_.data(),
                    this->findings_.place(),
                    this->growth_.spread()};
      Kokkos::TeamPolicy<ExecutionSpace> policy(
          exec, (n + Run::team_rows - 1) / Run::team_rows, Run::threads);
      policy.set_scratch_size(0, Kokkos::PerTeam(run.scratch_bytes()));
      Kokkos::parallel_for(label, policy, run);
    });
  }
  GrowthOfSubgraphRows<Scalar, Memory> merged_rows(
      const Scalar* values) const override {
    constexpr int width = lane_width<ExecutionSpace>;
    const int lanes =
        lanes_for_rows(packed_.num_rows, packed_.merged.num_entries, width);
    return {packed_.merged,
            {values, this->conjugated_},
            packed_.diagonal_value_index,
            this->row_,
            reversed_,
            packed_.num_rows,
            width / lanes,
            lanes};
  }
  void enqueue_look(const ExecutionSpace& exec, const Scalar* values,
                    bool) override {
    // The analysis is over.
    if (this->has_values()) this->reserve();
    run_recipes<false>("Strata::SyncFreeSubgraphs::look", exec, values);
  }

  void pack(const ExecutionSpace& exec, const Scalar* values,
            const int* invalid_flag) override {
    if (packed_.merged.exist()) {
      run_recipes<true>("Strata::SyncFreeSubgraphs::pack", exec, values);
      return;
    }
    this->pack_diagonal_values(exec, values, invalid_flag);
    Kokkos::parallel_for(
        "Strata::SyncFreeSubgraphs::pack",
        LargeFunctorRange<ExecutionSpace>(exec, 0, packed_.num_records),
        PackSubgraphValues<Scalar, Memory>{packed_, values, this->diagonal_,
                                           this->conjugated_, this->divide_});
  }
  std::size_t entry_bytes() const override {
    return packed_.bytes.extent(0) +
           packed_.subgraph.extent(0) * sizeof(PackedSubgraph) +
           (packed_.import.extent(0) + packed_.record_row.extent(0)) *
               sizeof(int) +
           packed_.record_lane.extent(0) + packed_.step_warps.extent(0) +
           packed_.value_index.bytes() + packed_.merged.bytes() +
           (exports_.extent(0) + coefficient_value_.extent(0)) *
               sizeof(Scalar) +
           (packed_.merged.exist() ? sizeof(ValuesInspection) : 0) +
           this->growth_.own_bytes() + state_.extent(0) * sizeof(unsigned);
  }

  PackedSubgraphs<Memory> packed_;
  /// The second where a copy has a workspace of its own.
  typename PlanStorage<Memory>::Block storage_, workspace_;
  int team_ = 0, export_columns_ = 1;
  bool steps_in_scratch_ = true, reversed_;
  Kokkos::View<Scalar*, Memory> exports_, coefficient_value_;
  Kokkos::View<unsigned*, Memory> state_;
};

}  // namespace Detail
}  // namespace Strata

#endif
