// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_TILES_ALGORITHM_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_TILES_ALGORITHM_HPP

#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/tiles/InvertTiles.hpp>
#include <kernels/triangular/tiles/SolveTiles.hpp>
#include <memory>

namespace Strata {
namespace Detail {

/// Tiles of up to 32 rows in one launch: see Tiles and SolveTiles.
///
/// Solves with one solver object share its workspace and must not overlap.
template <class Scalar, class ExecutionSpace>
class TilesAlgorithm : public TriangularAlgorithm<Scalar, ExecutionSpace> {
  using Base = TriangularAlgorithm<Scalar, ExecutionSpace>;
  using Solve = SolveTiles<Scalar, ExecutionSpace>;

 public:
  using typename Base::Memory;

  /// @param may_invert  rounding errors may grow as Accuracy::rowwise allows
  TilesAlgorithm(const ExecutionSpace& exec,
                 const TriangularAnalysis<ExecutionSpace>& analysis,
                 std::int64_t longest_row, bool may_invert)
      : longest_row_(double(longest_row)), may_invert_(may_invert) {
    plan_ = make_tile_plan(
        exec, analysis.graph, analysis.num_values, Solve::warps, Solve::batch,
        Solve::most_columns,
        [&](PlanStorage<Memory>& storage, const TilePlan<Memory>& plan) {
          storage.take(buffers_, std::int64_t{2} * plan.num_rows);
          storage.take(value_, plan.num_slots);
          storage.take(inner_, plan.num_inner);
        });
    inverted_ = make_unfilled<decltype(inverted_)>(
        "Strata::Tiles::inverted",
        static_cast<std::int64_t>(plan_.group.extent(0)));
    counter_ = make_unfilled<decltype(counter_)>("Strata::Tiles::counter", 1);
    tickets_ = static_cast<int>(plan_.ticket.extent(0)) - 1;
    this->set_rows(plan_.row, plan_.diagonal_value_index, analysis.conjugated,
                   Kokkos::View<Scalar*, Memory>());
    reset_workspace(exec);
  }

  int num_tiles() const { return plan_.num_tiles; }
  int chain() const { return plan_.chain; }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    if (tickets_ == 0) return;
    const int teams = std::min(
        tickets_, Solve::teams_per_multiprocessor * num_multiprocessors(exec));
    for (std::int64_t c = 0; c < columns; ++c)
      run_teams<Solve::teams_per_multiprocessor, Solve::team_size>(
          "Strata::Triangular::solve::tiles", exec, teams,
          Solve{plan_, value_, inner_, inverted_, b.from(c), x.from(c),
                buffers_.data(), counter_.data(), tickets_});
  }

  std::shared_ptr<const Base> with_workspace(
      const ExecutionSpace& exec) const override {
    const auto made = std::make_shared<TilesAlgorithm>(*this);
    made->buffers_ = make_unfilled<decltype(buffers_)>(
        exec, "Strata::Tiles::buffers", std::int64_t{2} * plan_.num_rows);
    made->counter_ = make_unfilled<decltype(counter_)>(
        exec, "Strata::Tiles::counter", 1);
    made->reset_workspace(exec);
    return made;
  }
  std::size_t workspace_bytes() const override {
    return buffers_.extent(0) * sizeof(Scalar) + sizeof(unsigned);
  }

 private:
  /// As if there had been no solve.
  void reset_workspace(const ExecutionSpace& exec) const {
    Kokkos::parallel_for(
        "Strata::Tiles::reset",
        RangeOf<ExecutionSpace>(
            exec, 0,
            std::max<std::int64_t>(
                1, static_cast<std::int64_t>(buffers_.extent(0)))),
        ResetWorkspace<Scalar, Memory>{{buffers_}, counter_});
  }
  void pack(const ExecutionSpace& exec, const Scalar* values,
            const int* invalid_flag) override {
    using Invert = InvertTiles<Scalar, Memory>;
    gather_values(exec, plan_.value_index, values, value_, this->conjugated_);
    run_teams<4, Invert::threads>(
        "Strata::Tiles::invert", exec, static_cast<int>(plan_.group.extent(0)),
        Invert{plan_, inner_, inverted_, values, this->conjugated_,
               !may_invert_ || this->divide_, longest_row_, invalid_flag},
        Invert::scratch_bytes);
  }
  std::size_t entry_bytes() const override {
    return plan_.bytes() + (inverted_.extent(0) + counter_.extent(0)) * 4 +
           (buffers_.extent(0) + value_.extent(0) + inner_.extent(0)) *
               sizeof(Scalar);
  }

  TilePlan<Memory> plan_;
  Kokkos::View<Scalar*, Memory> buffers_, value_, inner_;
  Kokkos::View<int*, Memory> inverted_;
  Kokkos::View<unsigned*, Memory> counter_;
  int tickets_ = 0;
  double longest_row_;
  bool may_invert_;
};

}  // namespace Detail
}  // namespace Strata

#endif
