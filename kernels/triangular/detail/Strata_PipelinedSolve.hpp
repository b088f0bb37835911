// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PIPELINED_SOLVE_HPP
#define STRATA_PIPELINED_SOLVE_HPP

#include <detail/Strata_LevelSetSolve.hpp>

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
        capacity_((std::min(max_right_hand_sides, 1024) + block - 1) / block),
        device_units_(device_units(exec)) {
    const std::int64_t n = this->chunks_.num_rows;
    buffers_ = Kokkos::View<Scalar*, Memory>(
        Kokkos::view_alloc(exec, "Strata::Pipelined::buffers",
                           Kokkos::WithoutInitializing),
        2 * n);
    // Flags, then the counters of both kernels.
    const std::int64_t flags = n * capacity_;
    const Kokkos::View<unsigned*, Memory> words(
        Kokkos::view_alloc(exec, "Strata::Pipelined::flag",
                           Kokkos::WithoutInitializing),
        flags + 2 * PipelineState::size);
    const auto part = [&words](std::int64_t first, std::int64_t count) {
      return Kokkos::subview(words, Kokkos::make_pair(first, first + count));
    };
    flag_ = part(0, flags);
    state_ = part(flags, PipelineState::size);
    block_state_ = part(flags + PipelineState::size, PipelineState::size);
    const auto all = static_cast<std::int64_t>(
        std::max(buffers_.extent(0), words.extent(0)));
    Kokkos::parallel_for("Strata::Pipelined::reset",
                         RangeOf<ExecutionSpace>(exec, 0, all),
                         ResetPipeline<Scalar, Memory>{{buffers_}, words});
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    const int per_team = warps * chunks_per_warp;
    const int teams = (this->chunks_.num_chunks() + per_team - 1) / per_team;
    if (teams == 0) return;
    using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
    if (columns == 1) {
      if (this->divide_)
        launch_one<true>(exec, b, x, teams);
      else
        launch_one<false>(exec, b, x, teams);
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
           flag_.extent(0) * sizeof(unsigned);
  }

  int capacity_, device_units_;
  Kokkos::View<Scalar*, Memory> buffers_;
  Kokkos::View<unsigned*, Memory> flag_, state_, block_state_;
};

}  // namespace Detail
}  // namespace Strata

#endif
