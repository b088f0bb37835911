// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PIPELINED_SOLVE_HPP
#define STRATA_PIPELINED_SOLVE_HPP

#include <detail/Strata_LevelSetSolve.hpp>

namespace Strata {
namespace Detail {

/// Level sets without launches between them: see PipelinedSolve and
/// PipelinedBlockSolve for how rows wait and why that ends.
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
  static constexpr int block = 8;

  PipelinedAlgorithm(const ExecutionSpace& exec,
                     const TriangularAnalysis<ExecutionSpace>& analysis,
                     int max_right_hand_sides)
      : Base(exec, analysis, SourceNumbering::position),
        capacity_((std::min(max_right_hand_sides, 1024) + block - 1) / block) {
    const std::int64_t n = this->chunks_.num_rows;
    buffers_ = Kokkos::View<Scalar*, Memory>(
        Kokkos::view_alloc("Strata::Pipelined::buffers",
                           Kokkos::WithoutInitializing),
        2 * n);
    Kokkos::parallel_for("Strata::Pipelined::reset",
                         RangeOf<ExecutionSpace>(exec, 0, 2 * n),
                         ResetPending<Scalar, Memory>{buffers_});
    flag_ = Kokkos::View<unsigned*, Memory>("Strata::Pipelined::flag",
                                            n * capacity_);
    state_ = Kokkos::View<unsigned*, Memory>("Strata::Pipelined::state",
                                             PipelineState::size);
    block_state_ = Kokkos::View<unsigned*, Memory>(
        "Strata::Pipelined::block_state", PipelineState::size);
    exec.fence();
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    const int per_team = warps * chunks_per_warp;
    const int teams = (this->chunks_.num_chunks() + per_team - 1) / per_team;
    if (teams == 0) return;
    using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
    if (columns == 1) {
      Kokkos::parallel_for(
          "Strata::Triangular::solve::pipelined",
          Policy(exec, teams, team_size),
          PipelinedSolve<Scalar, ExecutionSpace>{this->system(b, x), buffers_,
                                                 state_, chunks_per_warp});
      return;
    }
    for (std::int64_t first = 0; first < columns;) {
      const int now = static_cast<int>(std::min<std::int64_t>(
          {columns - first, std::int64_t{capacity_} * block,
           std::int64_t{std::max(1, (1 << 30) / teams)} * block}));
      const int blocks = (now + block - 1) / block;
      Kokkos::parallel_for(
          "Strata::Triangular::solve::pipelined_block",
          Policy(exec, teams * blocks, team_size),
          PipelinedBlockSolve<Scalar, ExecutionSpace, block>{
              this->system(b.from(first), x.from(first)), flag_, block_state_,
              capacity_, now, chunks_per_warp});
      first += now;
    }
  }

 private:
  std::size_t entry_bytes() const override {
    return Base::entry_bytes() + buffers_.extent(0) * sizeof(Scalar) +
           flag_.extent(0) * sizeof(unsigned);
  }

  int capacity_;
  Kokkos::View<Scalar*, Memory> buffers_;
  Kokkos::View<unsigned*, Memory> flag_, state_, block_state_;
};

}  // namespace Detail
}  // namespace Strata

#endif
