// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_TILE_FACTORS_HPP
#define STRATA_KERNELS_BAND_TILE_FACTORS_HPP

#include <kernels/band/TileDissection.hpp>
#include <kernels/band/TileTask.hpp>

namespace Strata {
namespace Detail {

/// A block row of a substitution.
struct TileRow {
  std::int64_t block;
  int list;          ///< DissectedTiles: its first link
  int links;         ///< number of tiles that it needs
  int diagonal = 0;  ///< DissectedTiles: the task of its inverse
};

/// One of these tiles, and the block row of the vector that it multiplies.
template <class Scalar>
struct TileLink {
  const Scalar* tile;
  std::int64_t block;
};

/// Block LU factors of `batch` band matrices in B x B tiles: block row i holds
/// tiles i - below to i + above. A factorisation leaves in tile (i, j)
///   i > j: L_ij = (A_ij - sum_k L_ik U_kj) U_jj^-1,
///   i < j: U_ij = A_ij - sum_k L_ik U_kj,
///   i = j: the inverse of U_ii.
/// A tile is written once, when all of its sum is there, and no step but the
/// inverse divides. (Block LU: Demmel, Higham and Schreiber, Stability of block
/// LU factorization, 1995: stable for matrices that are well-conditioned and
/// diagonally dominant by rows or columns.)
template <class Scalar, int B>
struct LuTiles {
  Scalar* tiles = nullptr;
  std::int64_t blocks = 0;
  int below = 0, above = 0, batch = 1;

  /// @param storage  make_tiles(n) allocates n tiles; keep(list) copies a list
  ///                 to the device. Both stay as long as the factors do.
  template <class Storage>
  static LuTiles make(std::int64_t blocks, int below, int above, int batch,
                      const Storage& storage) {
    LuTiles t;
    t.blocks = blocks, t.below = below, t.above = above, t.batch = batch;
    t.tiles = storage.make_tiles(t.num_tiles());
    return t;
  }
  KOKKOS_INLINE_FUNCTION int tile_columns() const { return below + 1 + above; }
  std::int64_t num_tiles() const { return blocks * tile_columns() * batch; }
  /// Tasks that can be under way before the last of them has what it needs.
  std::int64_t useful() const {
    // Triangles have no products.
    if (std::min(below, above) == 0) return num_tiles();
    return batch * (std::int64_t{below} + above + 1) *
           (std::max(below, above) + 2);
  }

  KOKKOS_INLINE_FUNCTION std::int64_t place(int system, std::int64_t i,
                                            std::int64_t j) const {
    return (system * blocks + i) * tile_columns() + (j - i + below);
  }
  KOKKOS_INLINE_FUNCTION Scalar* at(std::int64_t place) const {
    return tiles + place * (B * B);
  }

  // The factorisation: step k has the tiles whose row or column is k and the
  // other not less, the ones next to the diagonal first.
  KOKKOS_INLINE_FUNCTION std::int64_t tasks() const {
    return blocks * tile_columns() * batch;
  }
  struct Where {
    std::int64_t i, j;
    int system;
  };
  KOKKOS_INLINE_FUNCTION Where where(std::int64_t ticket) const {
    const std::int64_t of_system = ticket / batch;
    const std::int64_t k = of_system / tile_columns();
    const int w = static_cast<int>(of_system % tile_columns());
    const int both = below < above ? below : above;
    Where at{k, k, static_cast<int>(ticket % batch)};
    if (w > 2 * both)
      (below > above ? at.i : at.j) += w - both;
    else if (w > 0)
      (w % 2 ? at.i : at.j) += (w + 1) / 2;
    return at;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t first_term(const Where& w) const {
    std::int64_t first = w.i - below;
    if (w.j - above > first) first = w.j - above;
    return first < 0 ? 0 : first;
  }
  KOKKOS_INLINE_FUNCTION TileTask<Scalar> task(const Where& w) const {
    TileTask<Scalar> task;
    if (w.i >= blocks || w.j >= blocks) return task;
    const std::int64_t step = w.i < w.j ? w.i : w.j;
    task.flag = place(w.system, w.i, w.j);
    task.out = at(task.flag);
    task.start = task.out;
    task.start_column_stride = B;
    task.valid_rows = task.valid_columns = B;
    task.terms = static_cast<int>(step - first_term(w));
    if (w.i == w.j) {
      task.finish = TileFinish::invert;
      task.pivots = (w.system * blocks + w.i) * B;
    } else if (w.i > w.j) {
      task.finish = TileFinish::multiply_right;
      task.factor_flag = place(w.system, step, step);
      task.factor = at(task.factor_flag);
    }
    return task;
  }
  KOKKOS_INLINE_FUNCTION TileTerm<Scalar> term(const Where& w, int t) const {
    const std::int64_t k = first_term(w) + t;
    const std::int64_t a = place(w.system, w.i, k), b = place(w.system, k, w.j);
    return {at(a), at(b), a, b};
  }

  /// The block row that is the step-th in the order of elimination.
  KOKKOS_INLINE_FUNCTION std::int64_t eliminated(std::int64_t step) const {
    return step;
  }

  // Substitution: y_i = b_i - sum_j L_ij y_j, then
  // x_i = U_ii^-1 (y_i - sum_j U_ij x_j), nearest j last.
  KOKKOS_INLINE_FUNCTION TileRow row(bool backward, std::int64_t step) const {
    if (backward)
      return {step, 0,
              static_cast<int>(blocks - 1 - step < above ? blocks - 1 - step
                                                         : above)};
    return {step, 0, static_cast<int>(step < below ? step : below)};
  }
  KOKKOS_INLINE_FUNCTION TileLink<Scalar> link(bool backward, int system,
                                               const TileRow& row,
                                               int t) const {
    const std::int64_t j =
        backward ? row.block + row.links - t : row.block - row.links + t;
    return {at(place(system, row.block, j)), j};
  }
  KOKKOS_INLINE_FUNCTION const Scalar* inverse(int system,
                                               const TileRow& row) const {
    return at(place(system, row.block, row.block));
  }
  /// Block rows in substitution that can be under way at once.
  std::int64_t useful_rows() const {
    const int widest = std::max(below, above);
    return widest == 0 ? blocks : widest + 2;
  }
};

/// Factors as those of LuTiles, of the block rows in the order of nested
/// dissection: where the band has as many tiles on either side, about twice the
/// tiles and 4 to 5 times the products, in log2(blocks / width) times `width`
/// dependent steps where `LuTiles` has `blocks`. Lists that the host makes say
/// which tiles a task needs (TileDissection).
template <class Scalar, int B>
struct DissectedTiles {
  Scalar* tiles = nullptr;
  std::int64_t blocks = 0, per_system = 0;
  int below = 0, above = 0, batch = 1;
  // Lists of a TileDissection, on the device.
  const TileDissection::Task* task_list = nullptr;
  const TileDissection::Pair *terms = nullptr, *links = nullptr;
  const int* band = nullptr;
  const TileDissection::Row *forward = nullptr, *backward = nullptr;

  template <class Storage>
  static DissectedTiles make(std::int64_t blocks, int below, int above,
                             int batch, const Storage& storage) {
    TileDissection lists(static_cast<int>(blocks), below, above);
    DissectedTiles t;
    t.blocks = blocks, t.below = below, t.above = above, t.batch = batch;
    t.per_system = lists.num_tiles();
    // First, as tiles without room need no lists.
    t.tiles = storage.make_tiles(t.num_tiles());
    lists.make();
    t.task_list = storage.keep(lists.tasks);
    t.terms = storage.keep(lists.terms);
    t.band = storage.keep(lists.band);
    t.forward = storage.keep(lists.forward);
    t.backward = storage.keep(lists.backward);
    t.links = storage.keep(lists.links);
    return t;
  }
  std::int64_t num_tiles() const { return per_system * batch; }
  std::int64_t useful() const { return tasks(); }
  std::int64_t useful_rows() const { return blocks; }

  KOKKOS_INLINE_FUNCTION Scalar* at(std::int64_t place) const {
    return tiles + place * (B * B);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t of_system(int system, int tile) const {
    return system * per_system + tile;
  }
  /// Of a tile that the band has.
  KOKKOS_INLINE_FUNCTION std::int64_t place(int system, std::int64_t i,
                                            std::int64_t j) const {
    return of_system(system, band[i * (below + 1 + above) + (j - i + below)]);
  }

  struct Where {
    int task, system;
    TileDissection::Task listed;
  };
  KOKKOS_INLINE_FUNCTION std::int64_t tasks() const {
    return per_system * batch;
  }
  KOKKOS_INLINE_FUNCTION Where where(std::int64_t ticket) const {
    const int task = static_cast<int>(ticket / batch);
    return {task, static_cast<int>(ticket % batch), task_list[task]};
  }
  KOKKOS_INLINE_FUNCTION TileTask<Scalar> task(const Where& w) const {
    TileTask<Scalar> task;
    task.flag = of_system(w.system, w.task);
    task.out = at(task.flag);
    if (w.listed.kind & TileDissection::in_band) task.start = task.out;
    task.start_column_stride = B;
    task.valid_rows = task.valid_columns = B;
    task.terms = w.listed.terms;
    const int kind = w.listed.kind & (TileDissection::in_band - 1);
    if (kind == TileDissection::diagonal) {
      task.finish = TileFinish::invert;
      task.pivots = (w.system * blocks + w.listed.other) * B;
    } else if (kind == TileDissection::lower) {
      task.finish = TileFinish::multiply_right;
      task.factor_flag = of_system(w.system, w.listed.other);
      task.factor = at(task.factor_flag);
    }
    return task;
  }
  KOKKOS_INLINE_FUNCTION TileTerm<Scalar> term(const Where& w, int t) const {
    const auto pair = terms[w.listed.first_term + t];
    const std::int64_t a = of_system(w.system, pair.first),
                       b = of_system(w.system, pair.second);
    return {at(a), at(b), a, b};
  }

  KOKKOS_INLINE_FUNCTION std::int64_t eliminated(std::int64_t step) const {
    return forward[step].block;
  }

  KOKKOS_INLINE_FUNCTION TileRow row(bool of_backward,
                                     std::int64_t step) const {
    const auto row = (of_backward ? backward : forward)[step];
    return {row.block, row.first_link, row.links, row.diagonal};
  }
  KOKKOS_INLINE_FUNCTION TileLink<Scalar> link(bool, int system,
                                               const TileRow& row,
                                               int t) const {
    const auto pair = links[row.list + t];
    return {at(of_system(system, pair.first)), pair.second};
  }
  KOKKOS_INLINE_FUNCTION const Scalar* inverse(int system,
                                               const TileRow& row) const {
    return at(of_system(system, row.diagonal));
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
