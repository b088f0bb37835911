// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PIPELINED_SOLVE_HPP
#define STRATA_PIPELINED_SOLVE_HPP

#include <detail/Strata_LevelSetSolve.hpp>
#include <detail/Strata_PipelinedBlocks.hpp>
#include <memory>

namespace Strata {
namespace Detail {

template <class Scalar, class MemorySpace>
struct ResetPipeline {
  ResetPending<Scalar, MemorySpace> pending;
  Kokkos::View<unsigned*, MemorySpace> words;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < static_cast<std::int64_t>(pending.buffer.extent(0))) pending(i);
    if (i < static_cast<std::int64_t>(words.extent(0))) words(i) = 0;
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
  static constexpr int team_size = is_cuda<ExecutionSpace> ? 128 : 1;
  static constexpr int warps = team_size / width;
  /// A host thread takes many rows a ticket, a warp one chunk.
  static constexpr int chunks_per_warp = is_cuda<ExecutionSpace> ? 1 : 64;
  /// Teams a multiprocessor that one right-hand side is given. Few, so that
  /// only rows near those being solved poll for their sources.
  static constexpr int teams_per_unit = 2;
  /// Up to so many level sets, rows do not wait long and the whole device
  /// takes part.
  static constexpr int few_levels = 32, most_teams_per_unit = 16;

  PipelinedAlgorithm(const ExecutionSpace& exec,
                     const TriangularAnalysis<ExecutionSpace>& analysis,
                     int max_right_hand_sides)
      : Base(exec, analysis, SourceNumbering::position,
             PipelinedSolve<Scalar, ExecutionSpace, false>::batch),
        device_units_(device_units(exec)) {
    const std::int64_t n = this->chunks_.num_rows;
    buffers_ = Kokkos::View<Scalar*, Memory>(
        Kokkos::view_alloc(exec, "Strata::Pipelined::buffers",
                           Kokkos::WithoutInitializing),
        2 * n);
    state_ = Kokkos::View<unsigned*, Memory>(
        Kokkos::view_alloc(exec, "Strata::Pipelined::state",
                           Kokkos::WithoutInitializing),
        PipelineState::size);
    Kokkos::parallel_for(
        "Strata::Pipelined::reset",
        RangeOf<ExecutionSpace>(
            exec, 0, std::max<std::int64_t>(2 * n, PipelineState::size)),
        ResetPipeline<Scalar, Memory>{{buffers_}, state_});
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
    const int per_team = warps * chunks_per_warp;
    const int teams = (this->chunks_.num_chunks() + per_team - 1) / per_team;
    if (teams == 0) return;
    for (std::int64_t c = 0; c < columns; ++c)
      if (this->divide_)
        launch_one<true>(exec, b.from(c), x.from(c), teams);
      else
        launch_one<false>(exec, b.from(c), x.from(c), teams);
  }

 private:
  template <bool divide>
  void launch_one(const ExecutionSpace& exec,
                  const MultiVectorRef<const Scalar>& b,
                  const MultiVectorRef<Scalar>& x, int enough) const {
    const int per_unit = this->chunks_.num_levels() <= few_levels
                             ? most_teams_per_unit
                             : teams_per_unit;
    const int teams = std::min(enough, per_unit * device_units_);
    using Kernel = PipelinedSolve<Scalar, ExecutionSpace, divide>;
    Kokkos::parallel_for(
        "Strata::Triangular::solve::pipelined",
        Kokkos::TeamPolicy<ExecutionSpace>(exec, teams, team_size),
        Kernel{this->system(b, x), buffers_, state_, chunks_per_warp});
  }
  std::size_t entry_bytes() const override {
    return Base::entry_bytes() + buffers_.extent(0) * sizeof(Scalar) +
           (blocks_ ? blocks_->bytes() : 0);
  }

  int device_units_;
  Kokkos::View<Scalar*, Memory> buffers_;
  Kokkos::View<unsigned*, Memory> state_;
  std::shared_ptr<const PipelinedBlocks<Scalar, ExecutionSpace>> blocks_;
};

}  // namespace Detail
}  // namespace Strata

#endif
