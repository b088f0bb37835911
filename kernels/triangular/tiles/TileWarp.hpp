// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_TILE_WARP_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_TILE_WARP_HPP

#include <analysis/tiles/MakeTilePlan.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/triangular/sync_free/SyncFreeKernel.hpp>
#include <kernels/triangular/tiles/TileSizes.hpp>

namespace Strata {
namespace Detail {

/// What SolveTiles holds, and what a warp of it does with a group of tiles.
template <class Scalar, class ExecutionSpace, int block, bool has_runs>
struct TileWarp {
  using Memory = typename ExecutionSpace::memory_space;
  using Value = NotReady<Scalar>;
  static constexpr bool awaits_previous = true;
  static constexpr int width = lane_width<ExecutionSpace>;
  static_assert(width == 1 || width == most_tile_rows,
                "a lane for each row of a tile, or one for all");
  using Sizes = TileSizes<Scalar, ExecutionSpace>;
  static constexpr int team_size = Sizes::team_size, warps = Sizes::warps;
  static constexpr int teams_per_multiprocessor = 1;
  /// Entries that a lane keeps in registers together.
  static constexpr int batch = Sizes::batch / (block > 1 ? 2 : 1);
  /// Inner numbers of a row that a lane keeps, alone, and with a group that a
  /// team shares.
  static constexpr int most_columns = Sizes::most_columns;
  static constexpr int shared_columns = most_tile_rows / warps;
  static constexpr int eager_turns = 32;
  /// A row of a tile of a run has its numbers in registers, too.
  static constexpr int most_run_rows = most_run_tiles * most_columns;
  static_assert(!has_runs || block == 1, "one right-hand side");

  TilePlan<Memory> plan;
  Kokkos::View<const Scalar*, Memory> value, inner;
  Kokkos::View<const int*, Memory> inverted;
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  Scalar* buffers;    // 2 * num_rows for each column
  unsigned* counter;  // tickets drawn in two solves
  int columns;        // that there are buffers for: a multiple of block
  int solved;         // of these; the others' buffers are kept in step
  Kokkos::View<const Scalar*, Memory> weight = {};
  Kokkos::View<const double*, Memory> growth = {};  // see MakeWeights

  struct Batch {
    int dependency[batch];
    Scalar value[batch];
  };
  /// A number for each column of a block.
  static constexpr std::size_t block_bytes = block * sizeof(Scalar);
  struct alignas(block_bytes < 16 ? block_bytes : 16) Block {
    Scalar of[block];
    KOKKOS_INLINE_FUNCTION void clear() {
      STRATA_IMPL_UNROLL
      for (int c = 0; c < block; ++c) of[c] = Scalar(0);
    }
    KOKKOS_INLINE_FUNCTION void add(const Scalar& by, const Block& other) {
      STRATA_IMPL_UNROLL
      for (int c = 0; c < block; ++c) of[c] += by * other.of[c];
    }
    KOKKOS_INLINE_FUNCTION void add(const Block& other) {
      STRATA_IMPL_UNROLL
      for (int c = 0; c < block; ++c) of[c] += other.of[c];
    }
    KOKKOS_INLINE_FUNCTION bool is_not_ready() const {
      bool any = false;
      STRATA_IMPL_UNROLL
      for (int c = 0; c < block; ++c) any = any || Value::is_not_ready(of[c]);
      return any;
    }
    KOKKOS_INLINE_FUNCTION bool is_finite() const {
      bool all = true;
      STRATA_IMPL_UNROLL
      for (int c = 0; c < block; ++c) all = all && Detail::is_finite(of[c]);
      return all;
    }
  };
  /// Where a solve publishes, and what it makes not ready.
  struct Buffers {
    Scalar *current, *other;
    int column;  // the first of a block
  };
  /// What a team shares: parts of sums of a group that all warps share; and
  /// what is left of the right-hand sides of each warp's rows, with zeros after
  /// it.
  struct Shared {
    Block partial[2][has_runs ? 1 : warps][most_tile_rows];
    Block rest[warps][2 * most_tile_rows];
    /// Of each warp's run: what its rows are without the unknowns outside.
    Scalar ahead[has_runs ? warps : 1][has_runs ? most_run_rows : 1];
  };

  KOKKOS_INLINE_FUNCTION void load(Batch& entry, std::int64_t slot, int left,
                                   int step) const {
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      const bool in = u < left;
      entry.dependency[u] = in ? plan.dependency(slot) : -1;
      entry.value[u] = in ? value(slot) : Scalar(0);
      slot += step;
    }
  }
  KOKKOS_INLINE_FUNCTION static Block load(const Scalar* current, int place) {
    Block v;
    STRATA_IMPL_UNROLL
    for (int c = 0; c < block; ++c)
      v.of[c] = Value::load(current + std::int64_t{place} * block + c);
    return v;
  }
  KOKKOS_INLINE_FUNCTION static bool any_not_ready(const Block (&v)[batch]) {
    bool any = false;
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) any = any || v[u].is_not_ready();
    return any;
  }
  /// Waits for the unknowns of a batch and adds the products.
  /// @param polls_one  of what is missing the warp asks for the last one only,
  ///                   until that is there: it has more to do before it is due
  KOKKOS_INLINE_FUNCTION static void add(const Batch& entry,
                                         const Scalar* current, int lane,
                                         bool polls_one, Block& sum) {
    Block v[batch];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) {
      v[u].clear();
      if (entry.dependency[u] >= 0) v[u] = load(current, entry.dependency[u]);
    }
    for (int turn = 0; lane_any(any_not_ready(v)); ++turn) {
      if (polls_one && turn == 0) {
        int last = -1;
        STRATA_IMPL_UNROLL
        for (int u = 0; u < batch; ++u)
          if (v[u].is_not_ready() && entry.dependency[u] > last)
            last = entry.dependency[u];
        wait_for(current, lane_max(static_cast<unsigned>(last + 1)) - 1, lane);
      } else if (turn > eager_turns) {
        pause_while_waiting(turn);
      }
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (v[u].is_not_ready()) v[u] = load(current, entry.dependency[u]);
    }
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) sum.add(entry.value[u], v[u]);
  }
  KOKKOS_INLINE_FUNCTION static void wait_for(const Scalar* current, int place,
                                              int lane) {
    const Scalar* const at = current + std::int64_t{place} * block;
    for (int turn = 0;; ++turn) {
      const bool waits = lane == 0 && Value::is_not_ready(Value::load(at));
      if (!lane_any(waits)) break;
      if (turn > eager_turns) pause_while_waiting(turn);
    }
  }

  KOKKOS_INLINE_FUNCTION void publish(int place, std::int64_t row,
                                      const Block& result,
                                      const Buffers& to) const {
    STRATA_IMPL_UNROLL
    for (int c = 0; c < block; ++c)
      Value::publish(to.current + std::int64_t{place} * block + c,
                     result.of[c]);
    STRATA_IMPL_UNROLL
    for (int c = 0; c < block; ++c) {
      if (to.column + c < solved) x(row, to.column + c) = result.of[c];
      Value::reset(to.other + std::int64_t{place} * block + c);
    }
  }

  /// The unknown of a lane's row, by substitution within its tile.
  /// @param rest  what is left of the right-hand side
  KOKKOS_INLINE_FUNCTION Scalar substitute(const TileGroup& g, int lane,
                                           int place, unsigned ancestors,
                                           Scalar rest) const {
    const int row = lane < g.rows ? lane : 0;
    const auto number = [&](int j) {
      return inner(g.first_inner + std::int64_t{j} * g.rows + row);
    };
    Scalar result(0);
    for (int j = 0; j < g.width; ++j) {
      if (j == place) result = rest / number(j);
      const Scalar known =
          lane_read(result, (lane - place + j) % most_tile_rows);
      if (j < place && (ancestors >> j & 1u)) rest -= number(j) * known;
    }
    return result;
  }
  template <int count>
  KOKKOS_INLINE_FUNCTION static Block sum_of_parts(
      const Block (&parts)[count][most_tile_rows], int row) {
    Block sum;
    sum.clear();
    STRATA_IMPL_UNROLL
    for (int w = 0; w < count; ++w) sum.add(parts[w][row]);
    return sum;
  }
  /// A lane's part of the product of a tile's inverse with what is left of the
  /// right-hand sides.
  /// @param number  of the inverse, from column `first` on: 0 where the row
  ///                depends on nothing
  /// @param most    columns from 0 on that any tile of the group has
  /// @param mine    the warp's, for what is left
  template <int size>
  KOKKOS_INLINE_FUNCTION static Block times_inverse(
      const Scalar (&number)[size], int first, int most, int lane, int place,
      unsigned ancestors, const Block& rest, Block* mine) {
    constexpr int chunk = size < 8 ? size : 8, sums = 4 / block;
    mine[lane] = rest;
    lane_barrier();
    const Block* const known = mine + lane - place + first;
    // Several sums, as an addition waits for the one before.
    Block sum[sums];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < sums; ++u) sum[u].clear();
    STRATA_IMPL_UNROLL
    for (int begin = 0; begin < size; begin += chunk) {
      if (block > 1 && first + begin >= most) break;
      STRATA_IMPL_UNROLL
      for (int u = begin; u < begin + chunk; ++u)
        sum[u % sums].add(number[u], known[u]);
    }
    // As 0 times infinity is NaN. The vote is after the products, so that its
    // latency overlaps theirs.
    if (lane_any(!rest.is_finite())) {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < sums; ++u) sum[u].clear();
      STRATA_IMPL_UNROLL
      for (int u = 0; u < size; ++u)
        if (ancestors >> (first + u) & 1u) sum[0].add(number[u], known[u]);
    }
    STRATA_IMPL_UNROLL
    for (int u = 1; u < sums; ++u) sum[0].add(sum[u]);
    return sum[0];
  }

  /// Sums of a lane's outside entries, and of those of the lanes that share its
  /// row.
  /// @param entry  its first, at `slot`; of the others there are `left` - batch
  KOKKOS_INLINE_FUNCTION Block gather(const TileGroup& g, Batch entry,
                                      std::int64_t slot, int left, int step,
                                      int lane, const Buffers& to) const {
    Block sum;
    sum.clear();
    for (int done = batch; done < g.steps; done += batch) {
      Batch next;
      left -= batch;
      slot += std::int64_t{batch} * step;
      load(next, slot, left, step);
      add(entry, to.current, lane, true, sum);
      entry = next;
    }
    if (g.throttle >= 0) wait_for(to.current, g.throttle, lane);
    add(entry, to.current, lane, false, sum);
    if (g.log_lanes > 0) {
      STRATA_IMPL_UNROLL
      for (int c = 0; c < block; ++c)
        sum.of[c] = lane_group_sum(sum.of[c], 1 << g.log_lanes);
    }
    return sum;
  }
  /// A group of one warp, or the part of `warp` of a group that all share.
  /// @tparam size  columns of the inverse that it reads
  /// @param begin  to be called when the loads of the plan are under way,
  ///               before any other
  template <bool shared, int size, class Team, class Begin>
  KOKKOS_INLINE_FUNCTION void solve(const Team& team, const TileGroup& g, int k,
                                    int warp, int lane, const Buffers& to,
                                    const Begin& begin, Shared& scratch) const {
    const int lanes = 1 << g.log_lanes, in_use = g.rows << g.log_lanes;
    const int step = shared ? in_use * warps : in_use;
    const std::int64_t slot =
        g.first_slot + lane + (shared ? warp * in_use : 0);
    const int left = lane < in_use ? g.steps : 0;
    Batch entry;
    load(entry, slot, left, step);
    const bool has_row = lane < g.rows;
    const int p = g.first_row + lane;
    const int first_column = shared ? warp * size : 0;
    const int has_inverse = inverted(k);
    int place = 0;
    unsigned ancestors = 0;
    std::int64_t row = 0;
    Scalar number[size];
    if (has_row) {
      place = plan.place_in_tile(p);
      ancestors = plan.ancestors(p);
      row = plan.row(p);
    }
    STRATA_IMPL_UNROLL
    for (int u = 0; u < size; ++u) {
      const int j = first_column + u;
      number[u] = has_row && j < g.width
                      ? inner(g.first_inner + std::int64_t{j} * g.rows + lane)
                      : Scalar(0);
    }
    begin();
    Block rest;
    STRATA_IMPL_UNROLL
    for (int c = 0; c < block; ++c)
      rest.of[c] =
          has_row && to.column + c < solved ? b(row, to.column + c) : Scalar(0);
    Block sum = gather(g, entry, slot, left, step, lane, to);
    if constexpr (shared) {
      if (lane < in_use && (lane & (lanes - 1)) == 0)
        scratch.partial[0][warp][lane >> g.log_lanes] = sum;
      team.team_barrier();
      sum = sum_of_parts(scratch.partial[0], has_row ? lane : 0);
    } else if (g.log_lanes > 0) {
      STRATA_IMPL_UNROLL
      for (int c = 0; c < block; ++c)
        sum.of[c] =
            lane_read(sum.of[c], (lane << g.log_lanes) % most_tile_rows);
    }
    STRATA_IMPL_UNROLL
    for (int c = 0; c < block; ++c)
      rest.of[c] = has_row ? rest.of[c] - sum.of[c] : Scalar(0);
    Block result;
    if (has_inverse == 0) {
      if (shared && warp > 0) return;
      STRATA_IMPL_UNROLL
      for (int c = 0; c < block; ++c)
        result.of[c] = substitute(g, lane, place, ancestors, rest.of[c]);
    } else {
      result = times_inverse(number, first_column, g.width, lane, place,
                             ancestors, rest, scratch.rest[warp]);
      if (shared && g.width > size) {
        scratch.partial[1][warp][lane] = result;
        team.team_barrier();
        if (warp > 0) return;
        result = sum_of_parts(scratch.partial[1], lane);
      }
    }
    if (!has_row || (shared && warp > 0)) return;
    publish(p, row, result, to);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
