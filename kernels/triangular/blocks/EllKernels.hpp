// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_ELL_KERNELS_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_ELL_KERNELS_HPP

#include <analysis/blocks/EllLayout.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/MultiVectorRef.hpp>

namespace Strata {
namespace Detail {

/// Everything the kernels read. Rows of b and x are in the order of
/// substitution: for a backward one, their stride is negative.
template <class Scalar>
struct EllSystem {
  const EllBlock* block;
  const int* dependency;
  const Scalar* value;
  const Scalar* diagonal;
  const std::int64_t* long_first;
  const int* long_count;
  bool divide;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;

  KOKKOS_INLINE_FUNCTION Scalar finish(const Scalar& rest,
                                       const Scalar& d) const {
    return divide ? rest / d : rest * d;
  }
};

/// A host: rows one by one.
template <class Scalar>
struct EllRow {
  EllSystem<Scalar> system;

  KOKKOS_INLINE_FUNCTION void solve(const EllBlock& block, int r,
                                    std::int64_t column) const {
    const std::int64_t v = std::int64_t{block.first_row} + r;
    std::int64_t slot = block.first_slot + r;
    Scalar sum(0);
    if (block.steps() > 0 && system.dependency[slot] == ell_long_row) {
      slot = system.long_first[v];
      for (int e = 0; e < system.long_count[v]; ++e, ++slot)
        sum += system.value[slot] * system.x(system.dependency[slot], column);
    } else {
      for (int s = 0; s < block.steps(); ++s, slot += block.stride) {
        const int j = system.dependency[slot];
        if (j < 0) break;
        sum += system.value[slot] * system.x(j, column);
      }
    }
    system.x(v, column) =
        system.finish(system.b(v, column) - sum, system.diagonal[v]);
  }
};
/// Consecutive blocks by one thread a right-hand side.
template <class Scalar>
struct EllRun {
  EllRow<Scalar> row;
  int first_block, last_block;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t column) const {
    for (int b = first_block; b < last_block; ++b) {
      const EllBlock block = row.system.block[b];
      for (int r = 0; r < block.rows; ++r) row.solve(block, r, column);
    }
  }
};
/// One block by all threads.
template <class Scalar>
struct EllRows {
  EllRow<Scalar> row;
  int number, rows;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    row.solve(row.system.block[number], static_cast<int>(i % rows), i / rows);
  }
};

/// A run of single-team blocks by one team for each right-hand side, with a
/// barrier after each block.
///
/// What does not depend on x is fetched `depth` blocks ahead into registers, as
/// far as a block has no more lanes than the team. The latest x are kept in
/// scratch as well. Then a step takes what its instructions do, one after the
/// other: so there are no others here, blocks with rows stored apart or of more
/// than `batch` steps are not for this kernel.
template <class Scalar, class ExecutionSpace, int threads, int depth>
struct SingleTeamBlocks {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int team_size = threads;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int batch = EllShape::max_steps;
  /// Values of x in scratch: row v is at v % window.
  static constexpr int window = 1024;
  static_assert(window >= EllLimits().lanes,
                "rows of a single-team block have places of their own");
  static constexpr unsigned scratch_bytes =
      window * unsigned(sizeof(Scalar)) + 16;

  EllSystem<Scalar> system;
  int first_block, last_block;

  struct Team {
    const Scalar* b;
    Scalar* x;
    Scalar* recent;
    int rank;
    int first_recent;  // row from which on x is in scratch
  };
  /// A lane's row, or its share of one.
  struct Lane {
    int dependency[batch];
    Scalar value[batch], right_hand_side, diagonal;
  };
  struct Stage {
    EllBlock block, next;
    Lane lane;
  };

  KOKKOS_INLINE_FUNCTION static bool leads(const EllBlock& block, int lane) {
    return lane < block.lanes() && (lane & ((1 << block.log_lanes()) - 1)) == 0;
  }
  KOKKOS_INLINE_FUNCTION void load(Lane& into, const EllBlock& block, int lane,
                                   const Team& team) const {
    const int steps = lane < block.lanes() ? block.steps() : 0;
    std::int64_t slot = block.first_slot + lane;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      const bool in = u < steps;
      into.dependency[u] = in ? system.dependency[slot] : ell_padding;
      into.value[u] = in ? system.value[slot] : Scalar(0);
      slot += block.stride;
    }
    if (leads(block, lane)) {
      const int v = block.first_row + (lane >> block.log_lanes());
      into.right_hand_side = team.b[v * system.b.row_stride];
      into.diagonal = system.diagonal[v];
    }
  }
  /// Has the stage fetch what block `number` needs, and learn of block
  /// `number + depth`.
  KOKKOS_INLINE_FUNCTION void fetch(Stage& stage, int number,
                                    const Team& team) const {
    stage.block = stage.next;
    if (number >= last_block) return;
    if (number + depth < last_block) stage.next = system.block[number + depth];
    if (team.rank / width * width < stage.block.lanes())
      load(stage.lane, stage.block, team.rank, team);
  }
  KOKKOS_INLINE_FUNCTION Scalar add(const Team& team, int first_recent,
                                    const int (&dependency)[batch],
                                    const Scalar (&value)[batch]) const {
    Scalar x[batch];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      x[u] = dependency[u] >= first_recent
                 ? team.recent[dependency[u] & (window - 1)]
                 : Scalar(0);
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u)
      if (dependency[u] >= 0 && dependency[u] < first_recent)
        x[u] = team.x[dependency[u] * system.x.row_stride];
    // Padding has a value of 0, and an x of 0 by now.
    Scalar sum(0);
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) sum += value[u] * x[u];
    return sum;
  }
  /// Ends the row of a lane whose sum is known.
  KOKKOS_INLINE_FUNCTION void finish(const EllBlock& block, int lane,
                                     const Lane& entries, const Scalar& sum,
                                     const Team& team) const {
    if (!leads(block, lane)) return;
    const int v = block.first_row + (lane >> block.log_lanes());
    const Scalar result =
        system.finish(entries.right_hand_side - sum, entries.diagonal);
    team.recent[v & (window - 1)] = result;
    team.x[v * system.x.row_stride] = result;
  }
  KOKKOS_INLINE_FUNCTION void solve(const EllBlock& block, int lane,
                                    int first_recent, const Lane& entries,
                                    const Team& team) const {
    Scalar sum = add(team, first_recent, entries.dependency, entries.value);
    if (block.log_lanes() > 0) {
      lane_barrier();
      sum = lane_group_sum(sum, 1 << block.log_lanes());
    }
    finish(block, lane, entries, sum, team);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    Team team;
    team.rank = member.team_rank();
    team.b = system.b.data + member.league_rank() * system.b.column_stride;
    team.x = system.x.data + member.league_rank() * system.x.column_stride;
    team.recent = static_cast<Scalar*>(
        member.team_scratch(0).get_shmem_aligned(scratch_bytes - 16, 16));
    team.first_recent = system.block[first_block].first_row;
    Stage stage[depth];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < depth; ++u)
      if (first_block + u < last_block)
        stage[u].next = system.block[first_block + u];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < depth; ++u) fetch(stage[u], first_block + u, team);
    for (int b = first_block; b < last_block; b += depth) {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < depth; ++u) {
        if (b + u < last_block) {
          const EllBlock block = stage[u].block;
          // Rows that this block writes overwrite older ones.
          const int oldest = block.first_row + block.rows - window;
          const int first_recent =
              oldest > team.first_recent ? oldest : team.first_recent;
          const int lanes = block.lanes();
          int lane = team.rank;
          if (lane / width * width < lanes)
            solve(block, lane, first_recent, stage[u].lane, team);
          for (lane += threads; lane / width * width < lanes; lane += threads) {
            Lane later;
            load(later, block, lane, team);
            solve(block, lane, first_recent, later, team);
          }
          fetch(stage[u], b + u + depth, team);
          member.team_barrier();
        }
      }
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
