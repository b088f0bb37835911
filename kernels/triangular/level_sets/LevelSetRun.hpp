// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_LEVEL_SET_RUN_HPP
#define STRATA_KERNELS_TRIANGULAR_LEVEL_SETS_LEVEL_SET_RUN_HPP

#include <core/device/Warp.hpp>
#include <kernels/triangular/row_chunks/RowSystem.hpp>

namespace Strata {
namespace Detail {

/// Sum over the entries of one lane of l_ij x_j for `columns` right-hand
/// sides, with `read(dependency, column)` supplying x_j.
///
/// Entries are taken in fours: their columns and values are loaded
/// together, then the four dependencies, so that a step costs one latency
/// instead of four.
template <int R, class System, class Read, class Scalar>
KOKKOS_INLINE_FUNCTION void accumulate_chunk(const System& system,
                                             const RowChunk& chunk, int lane,
                                             const Read& read, Scalar* sum) {
  const int active = chunk.rows << chunk.log_lanes;
  if (lane >= active) return;
  constexpr int batch = 4;
  std::int64_t slot = chunk.first_slot + lane;
  for (int s = 0; s < chunk.steps; s += batch) {
    int dependency[batch];
    Scalar value[batch];
    for (int u = 0; u < batch; ++u) {
      const bool in = s + u < chunk.steps;
      dependency[u] = in ? system.dependency(slot) : -1;
      value[u] = in ? system.value(slot) : Scalar(0);
      slot += active;
    }
    read.template add<R>(dependency, value, sum);
  }
}

/// Reads finished values of x: every dependency was written by an earlier
/// launch or before a barrier of this team.
template <class Scalar>
struct ReadFinished {
  MultiVectorRef<Scalar> x;
  template <int R, int batch>
  KOKKOS_INLINE_FUNCTION void add(const int (&dependency)[batch],
                                  const Scalar (&value)[batch],
                                  Scalar* sum) const {
    Scalar loaded[batch][R] = {};
    for (int u = 0; u < batch; ++u)
      if (dependency[u] >= 0)
        for (int r = 0; r < R; ++r) loaded[u][r] = x(dependency[u], r);
    for (int u = 0; u < batch; ++u)
      if (dependency[u] >= 0)
        for (int r = 0; r < R; ++r) sum[r] += value[u] * loaded[u][r];
  }
};

/// Solves the chunks of the level sets [first_level, last_level), or of the
/// diagonal blocks that stand in their place: one spread over many teams, or
/// several narrow ones by one team with a barrier after each.
template <class Scalar, class ExecutionSpace, int R>
struct LevelSetRun {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int width = lane_width<ExecutionSpace>;

  RowSystem<Scalar, ExecutionSpace> system;
  Kokkos::View<const int*, Memory> level_chunk_map;
  int first_level, last_level;
  int teams;        // teams that share a tile of right-hand sides
  int num_columns;  // right-hand sides

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int warps = team.team_size() / width;
    const int warp = team.team_rank() / width, lane = team.team_rank() % width;
    const int first_column = team.league_rank() / teams * R;
    const int rank = team.league_rank() % teams;
    const int stride = teams * warps;
    for (int level = first_level; level < last_level; ++level) {
      const int begin = level_chunk_map(level);
      const int end = level_chunk_map(level + 1);
      for (int c = begin + rank * warps + warp; c < end; c += stride)
        solve(system.chunk(c), lane, first_column);
      if (level + 1 < last_level) team.team_barrier();
    }
  }

  KOKKOS_INLINE_FUNCTION void solve(const RowChunk& chunk, int lane,
                                    int first_column) const {
    MultiVectorRef<Scalar> x = system.x;
    x.data += first_column * x.column_stride;
    Scalar sum[R];
    for (int r = 0; r < R; ++r) sum[r] = Scalar(0);
    const int columns =
        num_columns - first_column < R ? num_columns - first_column : R;
    if (columns == R)
      accumulate_chunk<R>(system, chunk, lane, ReadFinished<Scalar>{x}, sum);
    else
      for (int r = 0; r < columns; ++r) {
        MultiVectorRef<Scalar> one = x;
        one.data += r * x.column_stride;
        accumulate_chunk<1>(system, chunk, lane, ReadFinished<Scalar>{one},
                            sum + r);
      }
    const int r0 = lane >> chunk.log_lanes;
    const bool leader = r0 < chunk.rows && lane == (r0 << chunk.log_lanes);
    const int permuted_row = chunk.first_permuted_row + r0;
    const std::int64_t row = leader ? system.row(permuted_row) : 0;
    for (int r = 0; r < columns; ++r) {
      const Scalar total = lane_group_sum(sum[r], 1 << chunk.log_lanes);
      if (leader)
        x(row, r) = system.finish(system.b(row, first_column + r) - total,
                                  permuted_row);
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
