// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_LEVEL_SET_SOLVE_HPP
#define STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_LEVEL_SET_SOLVE_HPP

#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/triangular/level_sets/LevelSetRun.hpp>
#include <kernels/triangular/row_chunks/RowChunkAlgorithm.hpp>
#include <memory>
#include <vector>

namespace Strata {
namespace Detail {

/// A launch for each level set, except that neighbouring narrow ones are run by
/// one team in one launch; on a host by the calling thread.
template <class Scalar, class ExecutionSpace>
class LevelSetSolve : public RowChunkAlgorithm<Scalar, ExecutionSpace> {
  using Base = RowChunkAlgorithm<Scalar, ExecutionSpace>;

 public:
  using Base::width;
  using typename Base::Memory;
  static constexpr bool on_device = is_gpu<ExecutionSpace>;
  static constexpr int team_size = on_device ? 256 : 1;
  static constexpr int warps = team_size / width;

  /// @param order  of the graph's vertices, by level sets or by other sets,
  ///               whose vertices only need those of earlier ones
  /// @param label  of the launches of a solve, for Kokkos' tools
  LevelSetSolve(const ExecutionSpace& exec,
                const TriangularAnalysis<ExecutionSpace>& analysis,
                const LevelOrder<Memory>& order, const char* label)
      : Base(exec, analysis, analysis.graph, order, DependencyNumbering::row, 4,
             0),
        label_(label) {
    const auto& map = this->chunks_.level_chunk_map;
    level_chunk_map_ =
        to_device<int, Memory>("Strata::LevelSets::level_chunk_map", map);
    runs_ = make_runs(map, num_multiprocessors(exec));
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    if (this->chunks_.num_slots == 0 && this->chunks_.num_rows > 0 &&
        columns == 1)
      return this->solve_diagonal(exec, b, x);
    if (columns == 1)
      launch<1>(exec, b, x, 1);
    else
      launch<8>(exec, b, x, static_cast<int>(columns));
  }

  /// The rows of earlier launches are in x, and nowhere else.
  std::shared_ptr<const TriangularAlgorithm<Scalar, ExecutionSpace>>
  with_workspace(const ExecutionSpace&) const override {
    return nullptr;
  }

  int num_launches() const { return static_cast<int>(runs_.size()); }
  const RowChunks<Memory>& chunks() const { return this->chunks_; }

  /// Consecutive level sets of one launch.
  struct Run {
    int first_level, last_level, teams;
  };
  /// Chunks up to which a level set is left to one team: what costs that team
  /// about as long as a launch costs. (On a host, a chunk is a row.)
  static constexpr int narrow_chunks = on_device ? 4 * warps : 1024;

  static std::vector<Run> make_runs(const std::vector<int>& level_chunk_map,
                                    int multiprocessors) {
    std::vector<Run> runs;
    const int levels = static_cast<int>(level_chunk_map.size()) - 1;
    bool open = false;
    for (int level = 0; level < levels; ++level) {
      const int chunks = level_chunk_map[level + 1] - level_chunk_map[level];
      if (chunks <= narrow_chunks) {
        if (open)
          runs.back().last_level = level + 1;
        else
          runs.push_back({level, level + 1, 1});
        open = true;
      } else {
        runs.push_back(
            {level, level + 1,
             std::min((chunks + warps - 1) / warps, 16 * multiprocessors)});
        open = false;
      }
    }
    return runs;
  }

 private:
  template <int R>
  void launch(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
              const MultiVectorRef<Scalar>& x, int columns) const {
    const int blocks = (columns + R - 1) / R;
    for (const Run& run : runs_) {
      const LevelSetRun<Scalar, ExecutionSpace, R> kernel{
          this->system(b, x), level_chunk_map_, run.first_level,
          run.last_level,     run.teams,        columns};
      if constexpr (on_device) {
        Kokkos::parallel_for(label_,
                             Kokkos::TeamPolicy<ExecutionSpace>(
                                 exec, run.teams * blocks, team_size),
                             kernel);
      } else {
        launch_on_host(exec, run, SolveLevelChunk<R>{kernel});
      }
    }
  }
  /// One chunk by a host's thread.
  template <int R>
  struct SolveLevelChunk {
    LevelSetRun<Scalar, ExecutionSpace, R> kernel;
    void operator()(int chunk) const {
      for (int first = 0; first < kernel.num_columns; first += R)
        kernel.solve(kernel.system.chunk(chunk), 0, first);
    }
  };
  template <int R>
  void launch_on_host(const ExecutionSpace& exec, const Run& run,
                      const SolveLevelChunk<R>& solve) const {
    const auto& map = this->chunks_.level_chunk_map;
    const int first = map[run.first_level], last = map[run.last_level];
    if (run.teams == 1)
      run_alone(label_, exec, [=](const auto&) {
        for (int chunk = first; chunk < last; ++chunk) solve(chunk);
      });
    else
      Kokkos::parallel_for(
          label_,
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<int>,
                              Kokkos::Schedule<Kokkos::Static>>(exec, first,
                                                                last),
          solve);
  }
  std::size_t entry_bytes() const override {
    return Base::entry_bytes() + level_chunk_map_.extent(0) * sizeof(int);
  }

  Kokkos::View<int*, Memory> level_chunk_map_;
  std::vector<Run> runs_;
  const char* label_;
};

}  // namespace Detail
}  // namespace Strata

#endif
