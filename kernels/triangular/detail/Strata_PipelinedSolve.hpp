// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PIPELINED_SOLVE_HPP
#define STRATA_PIPELINED_SOLVE_HPP

#include <detail/Strata_LevelSetSolve.hpp>
#include <detail/Strata_PipelinedBlocks.hpp>
#include <memory>

namespace Strata {
namespace Detail {

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
  static constexpr int team_size = is_cuda<ExecutionSpace> ? 128 : 1;
  static constexpr int warps = team_size / width;
  /// A host thread takes many rows a ticket, a warp one chunk.
  static constexpr int chunks_per_warp = is_cuda<ExecutionSpace> ? 1 : 64;

  PipelinedAlgorithm(const ExecutionSpace& exec,
                     const TriangularAnalysis<ExecutionSpace>& analysis,
                     int max_right_hand_sides)
      : Base(exec, analysis, SourceNumbering::position) {
    const std::int64_t n = this->chunks_.num_rows;
    buffers_ = Kokkos::View<Scalar*, Memory>(
        Kokkos::view_alloc("Strata::Pipelined::buffers",
                           Kokkos::WithoutInitializing),
        2 * n);
    Kokkos::parallel_for("Strata::Pipelined::reset",
                         RangeOf<ExecutionSpace>(exec, 0, 2 * n),
                         ResetPending<Scalar, Memory>{buffers_});
    state_ = Kokkos::View<unsigned*, Memory>("Strata::Pipelined::state",
                                             PipelineState::size);
    if (max_right_hand_sides > 1)
      blocks_ = std::make_shared<PipelinedBlocks<Scalar, ExecutionSpace>>(
          exec, this->chunks_, max_right_hand_sides);
    exec.fence();
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    if (columns > 1 && blocks_) {
      blocks_->solve(exec, this->system(b, x), columns);
      return;
    }
    const int per_team = warps * chunks_per_warp;
    const int teams = (this->chunks_.num_chunks() + per_team - 1) / per_team;
    if (teams == 0) return;
    using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
    for (std::int64_t c = 0; c < columns; ++c)
      Kokkos::parallel_for("Strata::Triangular::solve::pipelined",
                           Policy(exec, teams, team_size),
                           PipelinedSolve<Scalar, ExecutionSpace>{
                               this->system(b.from(c), x.from(c)), buffers_,
                               state_, chunks_per_warp});
  }

 private:
  std::size_t entry_bytes() const override {
    return Base::entry_bytes() + buffers_.extent(0) * sizeof(Scalar) +
           (blocks_ ? blocks_->bytes() : 0);
  }

  Kokkos::View<Scalar*, Memory> buffers_;
  Kokkos::View<unsigned*, Memory> state_;
  std::shared_ptr<const PipelinedBlocks<Scalar, ExecutionSpace>> blocks_;
};

}  // namespace Detail
}  // namespace Strata

#endif
