// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_TILES_ALGORITHM_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_TILES_ALGORITHM_HPP

#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/tiles/MakeWeights.hpp>
#include <kernels/triangular/tiles/SolveTiles.hpp>
#include <memory>

namespace Strata {
namespace Detail {

/// Counts the groups that are solved by inverses.
template <class MemorySpace>
struct CountInverted {
  Kokkos::View<const int*, MemorySpace> inverted;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t g, int& count) const {
    count += inverted(g);
  }
};

/// Tiles of up to 32 rows in one launch: see Tiles and SolveTiles.
///
/// Solves with one solver object share its workspace and must not overlap.
template <class Scalar, class ExecutionSpace>
class TilesAlgorithm : public TriangularAlgorithm<Scalar, ExecutionSpace> {
  using Base = TriangularAlgorithm<Scalar, ExecutionSpace>;
  using Solve = SolveTiles<Scalar, ExecutionSpace>;
  /// Right-hand sides that a warp solves together.
  static constexpr int block = !is_gpu<ExecutionSpace> ? 1
                               : sizeof(Scalar) > 8    ? 2
                                                       : 4;

 public:
  using typename Base::Memory;

  /// Solves need make_workspace first.
  /// @param partition  of the analysed graph, made for TileSizes::teams
  TilesAlgorithm(const ExecutionSpace& exec,
                 const TriangularAnalysis<ExecutionSpace>& analysis,
                 const TilePartition<ExecutionSpace>& partition,
                 std::int64_t longest_row, bool may_invert)
      : longest_row_(double(longest_row)),
        may_invert_(may_invert),
        most_teams_(Solve::teams_per_multiprocessor *
                    num_multiprocessors(exec)) {
    plan_ = make_tile_plan(
        exec, analysis.graph, partition, analysis.num_values,
        TileSizes<Scalar, ExecutionSpace>::teams(may_invert),
        analysis.work(exec),
        [&](PlanStorage<Memory>& storage, const TilePlan<Memory>& plan) {
          storage.take(value_, plan.num_slots);
          storage.take(inner_, plan.num_inner);
          storage.take(weight_, plan.num_weights);
          storage.take(growth_, plan.num_runs);
          storage.take(weight_sum_, plan.num_runs > 0 ? plan.num_rows : 0);
        });
    make_unfilled(inverted_, "Strata::Tiles::inverted",
                  static_cast<std::int64_t>(plan_.group.extent(0)));
    this->set_rows(plan_.row, plan_.diagonal_value_index, analysis.conjugated,
                   Kokkos::View<Scalar*, Memory>());
    one_.columns = 1;
  }

  /// Makes the workspaces for one right-hand side, and for up to `wanted` that
  /// share a launch: as many as the plan leaves room for within `bytes`.
  /// @returns how many share a launch
  int make_workspace(const ExecutionSpace& exec, int wanted,
                     std::size_t bytes) {
    constexpr int most = 32, most_alone = 8;
    constexpr std::int64_t most_tickets = std::int64_t{1} << 30;
    constexpr std::size_t most_bytes = std::size_t{512} << 20;
    const std::size_t own = this->bytes();
    const std::size_t left = std::min(most_bytes, bytes - std::min(bytes, own));
    const auto fits = [&](int columns) {
      return buffer_bytes(columns) <= left &&
             std::int64_t{columns} * plan_.num_rows <= most_tickets;
    };
    int columns = is_gpu<ExecutionSpace> ? std::min(wanted, most) : 1;
    while (columns > 1 && !fits(columns)) columns /= 2;
    some_.columns = columns > 1 ? columns : 0;
    many_.columns = 0;
    // A block reads less, but its chain takes twice as long as that of one
    // right-hand side: that pays if the chain isn't what takes the time, and
    // not where tiles go row by row.
    const bool is_busy = 4 * num_tickets() * columns >=
                         std::int64_t{3} * most_teams_ * plan_.chain;
    const int in_blocks = (columns + block - 1) / block * block;
    const int alone = in_blocks > most_alone ? most_alone : block;
    if (may_invert_ && !has_runs() && is_busy && in_blocks > alone &&
        fits(alone + in_blocks)) {
      some_.columns = alone;
      many_.columns = in_blocks;
    }
    take_workspace(exec);
    return columns;
  }
  /// Right-hand sides that a warp solves together, of as many as share a
  /// launch.
  int columns_per_warp() const { return many_.columns > 0 ? block : 1; }

  bool has_runs() const { return plan_.num_runs > 0; }
  /// Of the groups that are solved row by row.
  double slow_share(const ExecutionSpace& exec) const override {
    const auto groups = static_cast<std::int64_t>(inverted_.extent(0));
    if (!may_invert_ || groups == 0) return 0;
    int inverted = 0;
    Kokkos::parallel_reduce("Strata::Tiles::inverted",
                            RangeOf<ExecutionSpace>(exec, 0, groups),
                            CountInverted<Memory>{inverted_}, inverted);
    exec.fence();
    return 1 - double(inverted) / double(groups);
  }
  int num_tiles() const { return plan_.num_tiles; }
  int chain() const { return plan_.chain; }
  /// For each group of tiles, 1 if solves use its inverses with the values set.
  const Kokkos::View<int*, Memory>& inverted() const { return inverted_; }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    if (plan_.num_rows == 0) return;
    for (std::int64_t c = 0; c < columns;) {
      const std::int64_t left = columns - c;
      const bool is_many = many_.columns > 0 && left > some_.columns;
      const Workspace& work = is_many                         ? many_
                              : left > 1 && some_.columns > 1 ? some_
                                                              : one_;
      const auto solved =
          static_cast<int>(std::min<std::int64_t>(work.columns, left));
      if (is_many)
        launch<block>(exec, work, solved, b.from(c), x.from(c));
      else if (has_runs())
        launch<1, is_gpu<ExecutionSpace>>(exec, work, solved, b.from(c),
                                          x.from(c));
      else
        launch<1>(exec, work, solved, b.from(c), x.from(c));
      c += solved;
    }
  }

  std::shared_ptr<const Base> with_workspace(
      const ExecutionSpace& exec) const override {
    const auto made = std::make_shared<TilesAlgorithm>(*this);
    made->take_workspace(exec);
    return made;
  }
  std::size_t workspace_bytes() const override {
    return buffer_bytes(one_.columns + some_.columns + many_.columns) +
           3 * sizeof(unsigned);
  }

 private:
  std::size_t buffer_bytes(int columns) const {
    return 2 * static_cast<std::size_t>(plan_.num_rows) * columns *
           sizeof(Scalar);
  }
  /// Of solves with one right-hand side, with some, and with many, of which a
  /// warp solves a block: each counts its own.
  struct Workspace {
    Kokkos::View<Scalar*, Memory> buffers;
    Kokkos::View<unsigned*, Memory> counter;
    int columns = 0;
  };
  std::int64_t num_tickets() const {
    return static_cast<std::int64_t>(plan_.ticket.extent(0)) - 1;
  }
  template <int of_warp, bool by_runs = false>
  void launch(const ExecutionSpace& exec, const Workspace& work, int solved,
              const MultiVectorRef<const Scalar>& b,
              const MultiVectorRef<Scalar>& x) const {
    using Launched = SolveTiles<Scalar, ExecutionSpace, of_warp, by_runs>;
    const auto teams = static_cast<int>(std::min<std::int64_t>(
        num_tickets() * (work.columns / of_warp), most_teams_));
    run_native_teams<Launched::teams_per_multiprocessor, Launched::team_size>(
        "Strata::Triangular::solve::tiles", exec, teams,
        Launched{plan_, value_, inner_, inverted_, b, x, work.buffers.data(),
                 work.counter.data(), work.columns, solved, weight_, growth_});
  }
  /// As if there had been no solve.
  void take_workspace(const ExecutionSpace& exec) {
    workspace_ = make_plan_storage<Memory>(
        exec, "Strata::Tiles::workspace", [&](PlanStorage<Memory>& storage) {
          for (Workspace* work : {&one_, &some_, &many_})
            storage.take(work->buffers,
                         std::int64_t{2} * plan_.num_rows * work->columns);
          for (Workspace* work : {&one_, &some_, &many_})
            storage.take(work->counter, 1);
        });
    for (const Workspace* work : {&one_, &some_, &many_})
      for_each_index(
          "Strata::Tiles::reset", exec,
          std::max<std::size_t>(1, work->buffers.extent(0)),
          ResetWorkspace<Scalar, Memory>{{work->buffers}, work->counter});
  }
  void pack(const ExecutionSpace& exec, const Scalar* values,
            const int* invalid_flag) override {
    using Invert = InvertTiles<Scalar, Memory>;
    gather_values(exec, plan_.value_index, values, value_, this->conjugated_);
    if constexpr (is_gpu<ExecutionSpace>) {
      using Weights = MakeWeights<Scalar, Memory>;
      run_native_teams<4, Weights::threads>("Strata::Tiles::weights", exec,
                                            plan_.num_runs,
                                            Weights{plan_,
                                                    value_,
                                                    {values, this->conjugated_},
                                                    weight_,
                                                    weight_sum_,
                                                    growth_,
                                                    longest_row_,
                                                    invalid_flag});
    }
    run_native_teams<4, Invert::threads>(
        "Strata::Tiles::invert", exec, static_cast<int>(plan_.group.extent(0)),
        Invert{plan_,
               inner_,
               inverted_,
               {values, this->conjugated_},
               !may_invert_,
               longest_row_,
               growth_,
               invalid_flag},
        Invert::scratch_bytes);
  }
  std::size_t entry_bytes() const override {
    return plan_.bytes() + inverted_.extent(0) * sizeof(int) +
           (value_.extent(0) + inner_.extent(0) + weight_.extent(0)) *
               sizeof(Scalar) +
           (growth_.extent(0) + weight_sum_.extent(0)) * sizeof(double) +
           workspace_bytes();
  }

  TilePlan<Memory> plan_;
  // Of outside entries, by slot; diagonal blocks, or their inverses
  // (InvertTiles); W of runs (MakeWeights).
  Kokkos::View<Scalar*, Memory> value_, inner_, weight_;
  // Of each run, 0 if solves do not use W; of each row. See MakeWeights.
  Kokkos::View<double*, Memory> growth_, weight_sum_;
  Kokkos::View<int*, Memory> inverted_;  // of each group, 1: inverses
  Workspace one_, some_, many_;
  typename PlanStorage<Memory>::Block workspace_;
  double longest_row_;
  bool may_invert_;
  int most_teams_;  // the same in every solve: see draws_of_solve
};

}  // namespace Detail
}  // namespace Strata

#endif
