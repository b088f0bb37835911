// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_TILES_TILE_SIZES_HPP
#define STRATA_KERNELS_TRIANGULAR_TILES_TILE_SIZES_HPP

#include <analysis/tiles/PartitionTiles.hpp>
#include <core/device/Backend.hpp>

namespace Strata {
namespace Detail {

/// Of solves by tiles, what partitions depend on.
template <class Scalar, class ExecutionSpace>
struct TileSizes {
  static constexpr int warps = is_gpu<ExecutionSpace> ? 8 : 1;
  static constexpr int team_size = warps * lane_width<ExecutionSpace>;
  /// Of one right-hand side, entries that a lane keeps in registers together.
  static constexpr int batch = sizeof(Scalar) > 8 ? 4 : 8;
  /// Inner numbers of a row that a lane keeps alone.
  static constexpr int most_columns = sizeof(Scalar) > 8 ? 16 : most_tile_rows;

  /// @param may_invert    rounding errors may grow as Accuracy::rowwise allows
  /// @param tiles_of_run  see TileTeams
  static TileTeams teams(bool may_invert, int tiles_of_run = 0) {
    return {warps, batch, most_columns,
            is_gpu<ExecutionSpace> && may_invert ? tiles_of_run : 1};
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
