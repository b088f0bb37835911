// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_SUBGRAPH_SOLVE_HPP
#define STRATA_KERNELS_TRIANGULAR_SUBGRAPHS_SUBGRAPH_SOLVE_HPP

#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/subgraphs/SubgraphKernel.hpp>

namespace Strata {
namespace Detail {

/// Algorithm 1 of Picciau et al.: a launch for each sub-graph level.
template <class Scalar, class ExecutionSpace>
class SubgraphSolve : public TriangularAlgorithm<Scalar, ExecutionSpace> {
  using Base = TriangularAlgorithm<Scalar, ExecutionSpace>;

 public:
  using typename Base::Memory;
  using Kernel = SubgraphLevelSolve<Scalar, ExecutionSpace>;
  using Teams = SubgraphTeams<Scalar, ExecutionSpace>;

  /// Rows of a sub-graph that fit the team scratch of `exec`'s device: Picciau
  /// et al.'s n_max.
  static int max_rows(const ExecutionSpace& exec) {
    return rows_in(team_scratch_bytes(exec));
  }
  /// Rows that fit all the scratch that the chip has for a team, which it gives
  /// where it is asked for.
  static int most_rows(const ExecutionSpace& exec) {
    return rows_in(native_scratch_bytes(exec));
  }
  /// Threads of a team with more scratch than Kokkos grants.
  static constexpr int native_team_size = 256;

  SubgraphSolve(const ExecutionSpace& exec,
                const TriangularAnalysis<ExecutionSpace>& analysis,
                const Subgraphs& subgraphs, const Schedule& schedule,
                int team_size)
      : level_map_(subgraphs.level_map),
        isolated_(static_cast<int>(subgraphs.isolated.size())),
        scratch_(Kernel::scratch_bytes(subgraphs.largest())),
        team_size_(team_size),
        native_(subgraphs.largest() > max_rows(exec)) {
    check_team_size(exec);
    reserve_team(exec);
    plan_ = make_subgraph_plan<Memory>(analysis.host().graph, subgraphs,
                                       schedule, analysis.num_values);
    external_value_ = Base::make_values(plan_.external.value_index.size());
    internal_value_ = Base::make_values(plan_.internal.value_index.size());
    this->set_rows(plan_.row, plan_.diagonal_value_index, analysis.conjugated);
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    const int first_isolated =
        static_cast<int>(this->diagonal_.extent(0)) - isolated_;
    if (isolated_ > 0)
      for_each_index("Strata::Triangular::solve::isolated", exec, isolated_,
                     IsolatedRows<Scalar, ExecutionSpace>{
                         plan_.row, this->diagonal_, this->divide_, b, x,
                         first_isolated, static_cast<int>(columns)});
    for (std::size_t level = 0; level + 1 < level_map_.size(); ++level) {
      const int first = level_map_[level];
      const int count = level_map_[level + 1] - first;
      const std::int64_t at_once = std::max(1, (1 << 30) / count);
      for (std::int64_t done = 0; done < columns; done += at_once) {
        const int now =
            static_cast<int>(std::min<std::int64_t>(columns - done, at_once));
        const Kernel level{Kernel::make_edges(plan_.external, external_value_),
                           Kernel::make_edges(plan_.internal, internal_value_),
                           plan_.order.data(),
                           plan_.vertex_map.data(),
                           plan_.row.data(),
                           this->diagonal_.data(),
                           this->divide_,
                           b.from(done),
                           x.from(done),
                           first,
                           count};
        launch(exec, count * now, level);
      }
    }
  }

  /// What sub-graphs hand over is in x, the rest in a team's scratch.
  std::shared_ptr<const Base> with_workspace(
      const ExecutionSpace& exec) const override {
    reserve_team(exec);
    return nullptr;
  }

  KeptPartition kept_partition() const override {
    const Kokkos::HostSpace host;
    const auto row = Kokkos::create_mirror_view_and_copy(host, plan_.row);
    const auto map =
        Kokkos::create_mirror_view_and_copy(host, plan_.vertex_map);
    KeptPartition kept;
    kept.num_levels = static_cast<int>(level_map_.size()) - 1;
    kept.subgraph_of_row.assign(row.extent(0), -1);
    for (std::size_t g = 0; g + 1 < map.extent(0); ++g)
      for (int p = map(g); p < map(g + 1); ++p)
        kept.subgraph_of_row[row(p) & ~SubgraphPlan<Memory>::root_mark] =
            static_cast<int>(g);
    return kept;
  }

 private:
  static constexpr const char* label = "Strata::Triangular::solve::subgraphs";

  static int rows_in(std::size_t scratch_bytes) {
    return static_cast<int>(scratch_bytes / sizeof(Scalar)) - 1;
  }
  /// Has a host's Kokkos allocate what it would else allocate in the first
  /// launch with so much scratch. It keeps what it has.
  void reserve_team(const ExecutionSpace& exec) const {
    if constexpr (!is_gpu<ExecutionSpace>) {
      using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
      Policy policy(exec, 1, 1);
      policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch_)));
      Kokkos::parallel_for("Strata::reserve_team", policy,
                           [](const typename Policy::member_type&) {});
    }
  }
  /// @throws OptionError
  void check_team_size(const ExecutionSpace& exec) const {
    int largest = native_team_size;
    if (!native_) {
      Kokkos::TeamPolicy<ExecutionSpace> policy(exec, 1, 1);
      policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch_)));
      largest = policy.team_size_max(Teams{}, Kokkos::ParallelForTag());
    }
    if (team_size_ > largest || (native_ && team_size_ != native_team_size))
      throw OptionError(
          "experimental.team_size",
          "is " + std::to_string(team_size_) +
              (native_ ? ", teams with so many rows have "
                       : ", this device runs at most ") +
              std::to_string(largest),
          native_ ? "pass 0, or fewer rows in experimental.max_subgraph_rows"
                  : "pass a smaller number, or 0 for a size that suits");
  }
  void launch(const ExecutionSpace& exec, int teams,
              const Kernel& level) const {
    if constexpr (has_native_launches<ExecutionSpace>) {
      // The kernel before it may be one of Kokkos': no overlap.
      if (native_)
        return run_native_teams<1, native_team_size>(label, exec, teams, level,
                                                     scratch_, false);
    }
    Kokkos::TeamPolicy<ExecutionSpace> policy(exec, teams, team_size_);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch_)));
    Kokkos::parallel_for(label, policy, Teams{level});
  }

  void pack(const ExecutionSpace& exec, const Scalar* values,
            const int* invalid_flag) override {
    this->pack_diagonal_values(exec, values, invalid_flag);
    gather_values(exec, plan_.external.value_index, values, external_value_,
                  this->conjugated_);
    gather_values(exec, plan_.internal.value_index, values, internal_value_,
                  this->conjugated_);
  }
  std::size_t entry_bytes() const override {
    // The base counts rows and their diagonal's value_index.
    return plan_.bytes() - plan_.row.extent(0) * 4 -
           plan_.diagonal_value_index.bytes() +
           (external_value_.extent(0) + internal_value_.extent(0)) *
               sizeof(Scalar);
  }

  SubgraphPlan<Memory> plan_;
  Kokkos::View<Scalar*, Memory> external_value_, internal_value_;
  std::vector<int> level_map_;
  int isolated_;
  std::size_t scratch_;
  int team_size_;
  bool native_;  ///< more scratch than Kokkos grants
};

}  // namespace Detail
}  // namespace Strata

#endif
