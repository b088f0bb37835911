// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_LEVEL_SET_SOLVE_HPP
#define STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_LEVEL_SET_SOLVE_HPP

#include <analysis/merging/MergedRows.hpp>
#include <analysis/packing/MakeRowChunks.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Profiling.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/level_sets/RowKernels.hpp>
#include <kernels/triangular/subgraphs/SubgraphPlan.hpp>

namespace Strata {
namespace Detail {

/// Rows without entries beside the diagonal, a thread each.
template <class Scalar, class ExecutionSpace>
struct DiagonalSolve {
  static constexpr bool awaits_previous = true;
  RowSystem<Scalar, ExecutionSpace> system;
  int num_rows;
  ActivePlan active_plan;
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    if (ends_if_inactive(active_plan, team)) return;
    const std::int64_t p =
        static_cast<std::int64_t>(team.league_rank()) * team.team_size() +
        team.team_rank();
    std::int64_t row = 0;
    Scalar diagonal(1);
    if (p < num_rows) {
      row = system.row(p);
      diagonal = system.diagonal(p);
    }
    await_previous(team);
    release_next(team);
    if (p >= num_rows) return;
    const Scalar from = system.b(row, 0);
    system.x(row, 0) = system.divide ? from / diagonal : from * diagonal;
  }
};

/// Chunks of rows with their packed values: what `level_sets`, `blocks` and
/// `sync_free` have in common.
template <class Scalar, class ExecutionSpace>
class RowChunkAlgorithm : public TriangularAlgorithm<Scalar, ExecutionSpace> {
  using Base = TriangularAlgorithm<Scalar, ExecutionSpace>;

 public:
  using typename Base::Memory;
  static constexpr int width = lane_width<ExecutionSpace>;

  /// Has solves divide, or not, and returns what packs entries and diagonal for
  /// that, in a launch of the caller's.
  /// @param invalid_flag  see PackDiagonal
  PackTogether<Scalar, Memory> begin_packing(
      const Scalar* values, bool divide, const int* invalid_flag = nullptr) {
    this->divide_ = divide;
    return {{chunks_.value_index, values, value_, this->conjugated_},
            {this->diagonal_value_index_, values, this->diagonal_,
             this->conjugated_, divide, invalid_flag}};
  }

 protected:
  /// @param max_steps entries of a row that one lane fetches together: rows
  ///                  that are longer get more lanes
  /// @param buffers   scalars of workspace for each row; where there are any,
  ///                  a counter goes with them
  /// @param coefficients, rows  of merged rows. The plan also holds `rows`,
  ///                  once it is known how many bytes their recipes take
  RowChunkAlgorithm(const ExecutionSpace& exec,
                    const TriangularAnalysis<ExecutionSpace>& analysis,
                    const DependencyGraph<Memory>& graph,
                    const LevelOrder<Memory>& order,
                    DependencyNumbering numbering, int max_steps, int buffers,
                    const RowCoefficients<Memory>& coefficients = {},
                    const MergedRows<Memory>& rows = {}) {
    Kokkos::View<Scalar*, Memory> diagonal;
    chunks_ = make_row_chunks_with(
        exec, graph, order, analysis.num_values, width, max_steps, numbering,
        analysis.work(exec),
        [&](PlanStorage<Memory>& storage, const RowChunks<Memory>& plan) {
          // The arrays of merged rows; scalars of 16 bytes follow.
          const std::size_t bytes =
              coefficients.exist() ? rows.extent(plan.recipe_bytes) : 0;
          storage.take(merged_storage_,
                       static_cast<std::int64_t>((bytes + 15) / 16 * 2));
          storage.take(buffers_, std::int64_t{buffers} * plan.num_rows);
          storage.take(value_, plan.num_slots);
          storage.take(diagonal, plan.num_rows);
          storage.take(counter_, buffers > 0 ? 1 : 0);
        },
        coefficients);
    this->set_rows(chunks_.row, chunks_.diagonal_value_index,
                   analysis.conjugated, diagonal);
  }

  RowSystem<Scalar, ExecutionSpace> system(
      const MultiVectorRef<const Scalar>& b,
      const MultiVectorRef<Scalar>& x) const {
    return {chunks_.chunk,
            chunks_.row,
            chunks_.dependency,
            value_,
            this->diagonal_,
            this->divide_,
            b,
            x};
  }
  /// One right-hand side where the plan has no slots.
  void solve_diagonal(const ExecutionSpace& exec,
                      const MultiVectorRef<const Scalar>& b,
                      const MultiVectorRef<Scalar>& x) const {
    constexpr int threads = is_gpu<ExecutionSpace> ? 256 : 1;
    const auto n = static_cast<int>(chunks_.num_rows);
    run_teams<8, threads>("Strata::Triangular::solve::diagonal", exec,
                          (n - 1) / threads + 1,
                          DiagonalSolve<Scalar, ExecutionSpace>{
                              system(b, x), n, this->active_plan_});
  }
  void pack(const ExecutionSpace& exec, const Scalar* values,
            const int* invalid_flag) override {
    const auto all = begin_packing(values, this->divide_, invalid_flag);
    run_teams<8, all.threads>("Strata::PackValues::rows", exec, all.teams(),
                              all);
  }
  /// Of a copy: buffers and counter of its own, not initialized.
  void take_workspace(const ExecutionSpace& exec) {
    workspace_ = make_plan_storage<Memory>(
        exec, "Strata::Triangular::workspace",
        [&](PlanStorage<Memory>& storage) {
          storage.take(buffers_, static_cast<std::int64_t>(buffers_.extent(0)));
          storage.take(counter_, static_cast<std::int64_t>(counter_.extent(0)));
        });
  }
  std::size_t buffer_bytes() const {
    return buffers_.extent(0) * sizeof(Scalar) +
           counter_.extent(0) * sizeof(unsigned);
  }
  std::size_t entry_bytes() const override {
    return chunks_.chunk.extent(0) * sizeof(RowChunk) +
           chunks_.dependency.extent(0) * 4 + chunks_.value_index.bytes() +
           (value_.extent(0) + buffers_.extent(0)) * sizeof(Scalar);
  }

  RowChunks<Memory> chunks_;
  Kokkos::View<Scalar*, Memory> value_, buffers_;
  Kokkos::View<unsigned*, Memory> counter_;
  typename PlanStorage<Memory>::Block workspace_;  // null: in the plan's memory
  /// The arrays of MergedRows, where rows are merged.
  Kokkos::View<std::int64_t*, Memory> merged_storage_;
};

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
