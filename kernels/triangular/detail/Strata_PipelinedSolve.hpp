// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PIPELINED_SOLVE_HPP
#define STRATA_PIPELINED_SOLVE_HPP

#include <detail/Strata_LevelSetSolve.hpp>
#include <detail/Strata_PipelinedBlocks.hpp>
#include <detail/Strata_PipelinedKernel.hpp>
#include <memory>

namespace Strata {
namespace Detail {

template <class Scalar, class MemorySpace>
struct ResetPipeline {
  ResetPending<Scalar, MemorySpace> pending;
  Kokkos::View<unsigned*, MemorySpace> counter;  // one
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i == 0) counter(0) = 0;
    if (i < static_cast<std::int64_t>(pending.buffer.extent(0))) pending(i);
  }
};

/// Level sets without launches between them: see PipelinedSolve and, for
/// several right-hand sides, PipelinedBlocks for how rows wait and why that
/// ends. With `max_right_hand_sides` 1, each has a launch of its own, and there
/// is no workspace for more.
///
/// Solves with one solver object share its workspace and must not overlap.
template <class Scalar, class ExecutionSpace>
class PipelinedAlgorithm : public RowChunkAlgorithm<Scalar, ExecutionSpace> {
  using Base = RowChunkAlgorithm<Scalar, ExecutionSpace>;

 public:
  using Base::width;
  using typename Base::Memory;

  PipelinedAlgorithm(const ExecutionSpace& exec,
                     const TriangularAnalysis<ExecutionSpace>& analysis,
                     int max_right_hand_sides)
      : Base(exec, analysis, SourceNumbering::position, Solve<false>::batch,
             2) {
    const std::int64_t n = this->chunks_.num_rows;
    Kokkos::parallel_for(
        "Strata::Pipelined::reset",
        RangeOf<ExecutionSpace>(exec, 0, std::max<std::int64_t>(2 * n, 1)),
        ResetPipeline<Scalar, Memory>{{this->buffers_},
                                              this->counter_});
    constexpr int per_ticket = Solve<false>::chunks_per_ticket;
    tickets_ = (this->chunks_.num_chunks() + per_ticket - 1) / per_ticket;
    teams_ = std::min(tickets_, teams_per_unit() * device_units(exec));
    if (max_right_hand_sides > 1)
      blocks_ = std::make_shared<PipelinedBlocks<Scalar, ExecutionSpace>>(
          exec, this->chunks_, max_right_hand_sides);
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    if (columns > 1 && blocks_) {
      blocks_->solve(exec, this->system(b, x), columns);
      return;
    }
    if (tickets_ == 0) return;
    for (std::int64_t c = 0; c < columns; ++c)
      if (this->chunks_.num_slots == 0)
        this->solve_diagonal(exec, b.from(c), x.from(c));
      else if (this->divide_)
        launch_one<true>(exec, b.from(c), x.from(c));
      else
        launch_one<false>(exec, b.from(c), x.from(c));
  }

 private:
  template <bool divide>
  using Solve = PipelinedSolve<Scalar, ExecutionSpace, divide>;

  /// Few where level sets are narrow: what is far from the rows being solved
  /// would only wait. More where level sets take all of them several times.
  int teams_per_unit() const {
    constexpr int few = 3, wide_chunks = 350;
    return this->chunks_.num_chunks() <
                   std::int64_t{wide_chunks} * this->chunks_.num_levels()
               ? few
               : Solve<false>::most_teams_per_unit;
  }

  template <bool divide>
  void launch_one(const ExecutionSpace& exec,
                  const MultiVectorRef<const Scalar>& b,
                  const MultiVectorRef<Scalar>& x) const {
    Kokkos::TeamPolicy<ExecutionSpace,
                       Kokkos::LaunchBounds<Solve<divide>::team_size,
                                            Solve<divide>::most_teams_per_unit>>
        policy(exec, teams_, Solve<divide>::team_size);
    policy.set_scratch_size(0, Kokkos::PerTeam(Solve<divide>::scratch_bytes));
    Kokkos::parallel_for(
        "Strata::Triangular::solve::pipelined", policy,
        Solve<divide>{this->system(b, x), this->buffers_.data(),
                      this->counter_.data(),
                      this->chunks_.num_rows, tickets_});
  }
  std::size_t entry_bytes() const override {
    return Base::entry_bytes() + (blocks_ ? blocks_->bytes() : 0);
  }

  int tickets_ = 0, teams_ = 0;
  std::shared_ptr<const PipelinedBlocks<Scalar, ExecutionSpace>> blocks_;
};

}  // namespace Detail
}  // namespace Strata

#endif
