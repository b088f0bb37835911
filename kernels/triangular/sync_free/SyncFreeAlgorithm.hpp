// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SYNC_FREE_ALGORITHM_HPP
#define STRATA_KERNELS_TRIANGULAR_SYNC_FREE_SYNC_FREE_ALGORITHM_HPP

#include <analysis/merging/MergedLevels.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/matrix/MatrixTypes.hpp>
#include <kernels/triangular/merging/MergedValues.hpp>
#include <kernels/triangular/row_chunks/RowChunkAlgorithm.hpp>
#include <kernels/triangular/sync_free/SplitRows.hpp>
#include <kernels/triangular/sync_free/SyncFreeKernel.hpp>
#include <kernels/triangular/sync_free/SyncFreeTiles.hpp>
#include <memory>

namespace Strata {
namespace Detail {

/// Copies the results of a solve that wrote none out of the value buffer that
/// it published into, see SyncFreeKernel.
template <class Scalar, class MemorySpace>
struct TakeResults {
  const Scalar* buffers;
  const unsigned* counter;
  unsigned draws;  // of a solve
  int num_values;
  Kokkos::View<const unsigned*, MemorySpace> row;
  MultiVectorRef<Scalar> x;
  ActivePlan active_plan = {};
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    if (active_plan.is_another()) return;
    // The counter starts again after two solves.
    const bool odd = *counter < draws;
    x(row(p), 0) = buffers[(odd ? num_values : 0) + p];
  }
};

/// Level sets without launches between them: see SyncFreeKernel and, for
/// several right-hand sides, SyncFreeTiles for how rows wait and why that
/// ends. With `max_right_hand_sides` 1, and on a host, each has a launch of its
/// own, and there is no workspace for more.
///
/// Solves with one solver object share its workspace and must not overlap.
template <class Scalar, class ExecutionSpace>
class SyncFreeAlgorithm : public RowChunkAlgorithm<Scalar, ExecutionSpace> {
  using Base = RowChunkAlgorithm<Scalar, ExecutionSpace>;

 public:
  using Base::width;
  using typename Base::Memory;
  /// Whether right-hand sides share launches. On a host, a launch solves one.
  static constexpr bool has_tiles = is_gpu<ExecutionSpace>;
  /// Steps that a row takes before it gets more lanes.
  static constexpr int max_steps =
      SyncFreeKernel<Scalar, ExecutionSpace, false>::batch;
  static_assert(max_steps <= ListsRank::most_steps, "of a short list");

  SyncFreeAlgorithm(const ExecutionSpace& exec,
                    const TriangularAnalysis<ExecutionSpace>& analysis,
                    int max_right_hand_sides)
      : Base(exec, analysis, analysis.graph, analysis.order,
             DependencyNumbering::permuted_row, max_steps, 2) {
    make_workspace(exec, analysis, max_right_hand_sides);
    reset_workspace(exec);
  }
  /// With merged level sets, for one right-hand side a launch.
  SyncFreeAlgorithm(const ExecutionSpace& exec,
                    const TriangularAnalysis<ExecutionSpace>& analysis,
                    const MergedLevels<Memory>& levels)
      : Base(exec, analysis, levels.graph, levels.order,
             DependencyNumbering::permuted_row, max_steps, 2,
             RowCoefficients<Memory>{levels.coefficient_map, levels.coefficient,
                                     levels.recipe_bytes},
             levels.rows) {
    make_workspace(exec, analysis, 1);
    merged_ = std::make_shared<Merged>(
        exec, analysis, keep_and_reset(exec, levels.rows, analysis.num_values),
        this->chunks_, typename Merged::Buffer{this->value_, this->diagonal_},
        max_steps);
  }

  MergedValues<Scalar, ExecutionSpace>* merging() override {
    return merged_.get();
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    if constexpr (has_tiles) {
      if (columns > 1 && tiles_)
        return tiles_->solve(exec, this->system(b, x), columns,
                             this->active_plan_);
    }
    if (tickets_ == 0) return;
    for (std::int64_t c = 0; c < columns; ++c)
      if (this->chunks_.num_slots == 0)
        this->solve_diagonal(exec, b.from(c), x.from(c));
      else if (merged_)
        solve_merged(exec, b.from(c), x.from(c));
      else if (this->divide_)
        launch_one<true, false>(exec, b.from(c), x.from(c));
      else
        launch_one<false, false>(exec, b.from(c), x.from(c));
  }

  std::shared_ptr<const TriangularAlgorithm<Scalar, ExecutionSpace>>
  with_workspace(const ExecutionSpace& exec) const override {
    const auto made = std::make_shared<SyncFreeAlgorithm>(*this);
    made->take_workspace(exec);
    made->reset_workspace(exec);
    if constexpr (has_tiles) {
      if (tiles_) {
        const auto tiles =
            std::make_shared<SyncFreeTiles<Scalar, ExecutionSpace>>(*tiles_);
        tiles->take_workspace(exec);
        made->tiles_ = tiles;
      }
    }
    return made;
  }
  std::size_t workspace_bytes() const override {
    return this->buffer_bytes() + (tiles_ ? tiles_->workspace_bytes() : 0);
  }

 private:
  using Merged = MergedValues<Scalar, ExecutionSpace>;
  template <bool divide, bool coefficients = false>
  using Solve = SyncFreeKernel<Scalar, ExecutionSpace, divide, coefficients>;

  /// The rows in the plan's memory, and reset_workspace in the same launch.
  MergedRows<Memory> keep_and_reset(const ExecutionSpace& exec,
                                    const MergedRows<Memory>& rows,
                                    std::int64_t num_values) const {
    auto* const to =
        reinterpret_cast<unsigned char*>(this->merged_storage_.data());
    const std::int64_t recipes = this->chunks_.recipe_bytes;
    // Recipes are whole words, as are the arrays before them.
    using Word = unsigned;
    const auto words =
        static_cast<std::int64_t>(rows.extent(recipes) / sizeof(Word));
    for_each_index("Strata::SyncFree::reset", exec,
                   std::max(words, scalars_to_reset()),
                   ResetWorkspace<Scalar, Memory>{
                       {this->buffers_},
                       this->counter_,
                       reinterpret_cast<const Word*>(rows.first(recipes)),
                       reinterpret_cast<Word*>(to),
                       words});
    MergedRows<Memory> kept = rows;
    PlanStorage<Memory> storage(to);
    kept.take_again(storage, recipes, num_values);
    return kept;
  }

  /// As if there had been no solve.
  void reset_workspace(const ExecutionSpace& exec) const {
    for_each_index(
        "Strata::SyncFree::reset", exec, scalars_to_reset(),
        ResetWorkspace<Scalar, Memory>{{this->buffers_}, this->counter_});
  }
  std::int64_t scalars_to_reset() const {
    return std::max<std::int64_t>(
        static_cast<std::int64_t>(this->buffers_.extent(0)), 1);
  }
  /// To be reset.
  void make_workspace(const ExecutionSpace& exec,
                      const TriangularAnalysis<ExecutionSpace>& analysis,
                      int max_right_hand_sides) {
    rows_.chunk = this->chunks_.chunk;
    // A host's thread would have to take all pieces of a row itself.
    if constexpr (width > 1) {
      if (this->chunks_.num_rows > 0)
        rows_ = split_long_rows(exec, this->chunks_, width,
                                analysis.order.sizes.longest_row_of_all());
    }
    const std::int64_t n =
        std::int64_t{this->chunks_.num_rows} + rows_.num_sums;
    // Sums of pieces follow the rows.
    if (rows_.num_sums > 0) this->buffers_ = Base::make_values(2 * n);
    constexpr int per_ticket = Solve<false>::chunks_per_ticket;
    tickets_ = static_cast<int>(
        (static_cast<std::int64_t>(rows_.chunk.extent(0)) + per_ticket - 1) /
        per_ticket);
    teams_ = std::min(tickets_,
                      teams_per_multiprocessor() * num_multiprocessors(exec));
    if constexpr (has_tiles) {
      if (max_right_hand_sides > 1)
        tiles_ = std::make_shared<SyncFreeTiles<Scalar, ExecutionSpace>>(
            exec, this->chunks_, max_right_hand_sides);
    }
  }

  /// Rows read elements of b that are other rows': where x is to overwrite it,
  /// that has to wait until all are solved.
  void solve_merged(const ExecutionSpace& exec,
                    const MultiVectorRef<const Scalar>& b,
                    const MultiVectorRef<Scalar>& x) const {
    MultiVectorRef<Scalar> to = x;
    if (b.data == x.data) to.data = nullptr;
    if (this->divide_)
      launch_one<true, true>(exec, b, to);
    else
      launch_one<false, true>(exec, b, to);
    if (to.data) return;
    const auto num_values = static_cast<int>(this->buffers_.extent(0) / 2);
    Kokkos::parallel_for(
        "Strata::SyncFree::take_results",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>,
                            Kokkos::LaunchBounds<256>>(exec, 0,
                                                       this->chunks_.num_rows),
        TakeResults<Scalar, Memory>{
            this->buffers_.data(), this->counter_.data(),
            draws_of_solve(tickets_, teams_), num_values, this->chunks_.row, x,
            this->active_plan_});
  }
  void pack(const ExecutionSpace& exec, const Scalar* values,
            const int* invalid_flag) override {
    if (merged_)
      merged_->make_with_diagonal(exec, values);
    else
      Base::pack(exec, values, invalid_flag);
  }

  /// Few where level sets are narrow: what is far from the rows being solved
  /// would only wait. More where level sets take all of them several times.
  int teams_per_multiprocessor() const {
    constexpr int few = 3, wide_chunks = 350;
    return this->chunks_.num_chunks() <
                   std::int64_t{wide_chunks} * this->chunks_.num_levels()
               ? few
               : Solve<false>::most_teams_per_multiprocessor;
  }

  /// Tickets a team up to which solves overlap. Blocks that begin early begin
  /// where there is room, several on one multiprocessor: a long solve loses
  /// more by that than the one or two microseconds that are to be gained.
  static constexpr int few_tickets = 4;

  template <bool divide, bool coefficients>
  void launch_one(const ExecutionSpace& exec,
                  const MultiVectorRef<const Scalar>& b,
                  const MultiVectorRef<Scalar>& x) const {
    using One = Solve<divide, coefficients>;
    auto system = this->system(b, x);
    system.chunk = rows_.chunk;
    if constexpr (coefficients) {
      system.value = merged_->current().value;
      system.diagonal = merged_->current().diagonal;
    }
    run_native_teams<One::most_teams_per_multiprocessor, One::team_size>(
        "Strata::Triangular::solve::sync_free", exec, teams_,
        One{system, this->buffers_.data(), this->counter_.data(),
            this->chunks_.num_rows,
            static_cast<int>(this->buffers_.extent(0) / 2), tickets_,
            this->active_plan_},
        0, tickets_ <= few_tickets * teams_);
  }
  std::size_t entry_bytes() const override {
    // Where rows are split, the plan's own buffers lie idle.
    return Base::entry_bytes() +
           (rows_.num_sums > 0
                ? rows_.chunk.extent(0) * sizeof(RowChunk) +
                      2 * std::size_t(this->chunks_.num_rows) * sizeof(Scalar)
                : 0) +
           (tiles_ ? tiles_->bytes() : 0) + (merged_ ? merged_->bytes() : 0);
  }

  SplitRows<Memory> rows_;  // chunks for one right-hand side
  int tickets_ = 0, teams_ = 0;
  std::shared_ptr<const SyncFreeTiles<Scalar, ExecutionSpace>> tiles_;
  std::shared_ptr<Merged> merged_;
};

}  // namespace Detail
}  // namespace Strata

#endif
