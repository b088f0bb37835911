// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_HOST_TILES_HPP
#define STRATA_KERNELS_SPMV_SELL_HOST_TILES_HPP

#include <core/device/Backend.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/spmv/SellHostSums.hpp>
#include <kernels/spmv/SellStorage.hpp>
#include <type_traits>

namespace Strata {
namespace Detail {

/// Sums of R columns of x for the rows of a tile.
///
/// @tparam adjoin the columns of a row of x adjoin, too
template <class Scalar, int R, bool adjoin, bool by_parts>
struct SellHostBlock {
  /// To put more than a few places of `float` side by side takes longer than it
  /// gains.
  static constexpr bool together = adjoin || sizeof(Scalar) > 4 || R < 4;
  using Sums = SellHostSums<Scalar, R, together, by_parts>;
  using Sum = typename Sums::Sum;
  const Scalar* x;
  std::int64_t row_stride, column_stride;

  /// Adds `v` times a row of x.
  KOKKOS_INLINE_FUNCTION void add(const Scalar& v, std::int64_t from,
                                  Sum& sum) const {
    Sums::add(v, x + from * row_stride, adjoin ? 1 : column_stride, sum);
  }

  /// Rows that stand alone, `count` from permuted row `first` on, at most
  /// `most`.
  template <int most>
  KOKKOS_INLINE_FUNCTION void rows_alone(const SellRef<Scalar>& A,
                                         std::int64_t first, int count,
                                         const SellSums<Scalar>& sums) const {
    // Copies, which no store of a sum can change.
    const SellHostBlock own = *this;
    const Scalar* const value = A.value;
    const int* const column = A.column;
    std::int64_t k = A.row_first_at(first);
    Sums::template rows<most>(count, sums, [&](int u, Sum& sum) {
      const std::int64_t end = A.row_first_at(first + u + 1);
      if constexpr (!by_parts && sizeof(Sum) <= 32) {
        // Sums in one register or two wait for each addition; two by turns do
        // not. (Those by parts are two already.)
        constexpr int long_row = 16;
        if (end - k >= long_row) {
          constexpr int parts = sizeof(Sum) / sizeof(sum[0]);
          Sum other;
          for (int i = 0; i < parts; ++i) other[i] = 0;
          for (; k + 1 < end; k += 2) {
            own.add(value[k], column[k], sum);
            own.add(value[k + 1], column[k + 1], other);
          }
          for (int i = 0; i < parts; ++i) sum[i] += other[i];
        }
      }
      STRATA_IMPL_UNROLL_TWICE
      for (; k < end; ++k) own.add(value[k], column[k], sum);
    });
  }

  /// A chunk of `C` rows on diagonals, `count` of which there are, from row
  /// `first` on.
  template <int C>
  KOKKOS_INLINE_FUNCTION void diagonals(const SellRef<Scalar>& A,
                                        const SellChunk& chunk,
                                        std::int64_t first, int count,
                                        const SellSums<Scalar>& sums) const {
    const SellHostBlock own = *this;
    const DiagonalStep* const step = A.diagonal_steps(chunk);
    const int steps = chunk.steps;
    unsigned everywhere = ~0u;
    for (int s = 0; s < steps; ++s) everywhere &= step[s].rows;
    Sums::template rows<C>(count, sums, [&](int u, Sum& sum) {
      const Scalar* value = A.value + chunk.first_slot + u;
      if (everywhere >> u & 1u)
        for (int s = 0; s < steps; ++s, value += C)
          own.add(*value, first + u + step[s].offset, sum);
      else
        for (int s = 0; s < steps; ++s, value += C)
          if (step[s].rows >> u & 1u)
            own.add(*value, first + u + step[s].offset, sum);
    });
  }

  /// The same of a chunk with columns.
  template <int C>
  KOKKOS_INLINE_FUNCTION void columns(const SellRef<Scalar>& A,
                                      const SellChunk& chunk, int count,
                                      const SellSums<Scalar>& sums) const {
    const SellHostBlock own = *this;
    const int steps = chunk.steps;
    Sums::template rows<C>(count, sums, [&](int u, Sum& sum) {
      const Scalar* value = A.value + chunk.first_slot + u;
      const int* column = A.column + chunk.first_column + u;
      for (int s = 0; s < steps; ++s, value += C, column += C)
        if (*column >= 0) own.add(*value, *column, sum);
    });
  }
};

/// The same for chunks of C rows on diagonals, where the rows of a column of x
/// adjoin: compilers take several rows at once.
template <class Scalar, int R, int C>
struct SellHostLines {
  static constexpr unsigned all_rows = (1u << C) - 1u;
  const Scalar* x;
  std::int64_t column_stride;

  KOKKOS_INLINE_FUNCTION void diagonals(const SellRef<Scalar>& A,
                                        const SellChunk& chunk,
                                        std::int64_t first, int count,
                                        const SellSums<Scalar>& sums) const {
    const DiagonalStep* const step = A.diagonal_steps(chunk);
    const Scalar* const value = A.value + chunk.first_slot;
    bool whole = count == C;
    for (int s = 0; s < chunk.steps; ++s) whole &= step[s].rows == all_rows;
    if (whole) return whole_steps(value, step, chunk.steps, first, sums);
    // The factor comes last: it may be so large, or so small, that a product
    // with an entry of A alone leaves the range of numbers.
    const SellSums<Scalar> plain{sums.data, 1, sums.column_stride, Scalar(1)};
    if (count == C)
      whole_steps(value, step, chunk.steps, first, plain);
    else
      for (int r = 0; r < R; ++r)
        for (int u = 0; u < count; ++u)
          sums.data[r * sums.column_stride + u] = Scalar(0);
    other_steps(value, step, chunk.steps, first, count, sums);
  }

 private:
  /// The sums of the steps that all rows have an entry in.
  KOKKOS_INLINE_FUNCTION void whole_steps(const Scalar* value,
                                          const DiagonalStep* step, int steps,
                                          std::int64_t first,
                                          const SellSums<Scalar>& sums) const {
    const std::int64_t stride = column_stride;
    const Scalar* const start = x + first;
    // An array of one rank: of two, compilers take odd parts together.
    Scalar sum[R * C];
    for (int i = 0; i < R * C; ++i) sum[i] = Scalar(0);
    for (int s = 0; s < steps; ++s, value += C) {
      if (step[s].rows != all_rows) continue;
      const Scalar* const at = start + step[s].offset;
      for (int r = 0; r < R; ++r)
        for (int u = 0; u < C; ++u)
          sum[r * C + u] += value[u] * at[r * stride + u];
    }
    const SellSums<Scalar> to = sums;
    for (int r = 0; r < R; ++r)
      for (int u = 0; u < C; ++u)
        to.data[r * to.column_stride + u] = to.factor * sum[r * C + u];
  }

  /// Adds those of the others, and multiplies by the factor.
  KOKKOS_INLINE_FUNCTION void other_steps(const Scalar* value,
                                          const DiagonalStep* step, int steps,
                                          std::int64_t first, int count,
                                          const SellSums<Scalar>& sums) const {
    for (int s = 0; s < steps; ++s, value += C) {
      const DiagonalStep d = step[s];
      if (d.rows == all_rows) continue;
      const Scalar* const at = x + first + d.offset;
      for (int u = 0; u < C; ++u)
        if (d.rows >> u & 1u)
          for (int r = 0; r < R; ++r)
            sums.data[r * sums.column_stride + u] +=
                value[u] * at[r * column_stride + u];
    }
    for (int r = 0; r < R; ++r)
      for (int u = 0; u < count; ++u) {
        Scalar& sum = sums.data[r * sums.column_stride + u];
        sum = sums.factor * sum;
      }
  }
};

/// y = alpha A x + beta y with several columns on a host, where the rows of A
/// stand alone or lie in chunks of eight, in their order. It goes tile by tile,
/// and in a tile block by block of columns, so that all blocks of a pass find
/// the tile's entries in the first-level cache.
template <class Scalar>
struct SellHostTiles {
  /// Rows of a tile where rows stand alone, and chunks of a tile. Measured.
  static constexpr int tile_rows = 32, tile_chunks = 8;
  /// Rows of a chunk.
  static constexpr int chunk_rows = 8;
  /// Columns of a block: of those that adjoin, and of others, each of which
  /// takes an address.
  static constexpr int most_adjoining = 16, most_apart = 8;
  /// Of complex numbers whose parts have sums of their own, which take twice
  /// the registers.
  static constexpr int most_by_parts = 4;
  static constexpr bool is_complex =
      !std::is_same<RealOf<Scalar>, Scalar>::value;
  /// Columns whose sums for a chunk registers hold.
  static constexpr int columns_of_lines =
      is_complex ? 1 : 16 / static_cast<int>(sizeof(Scalar));

  const SellRef<Scalar>& A;
  MultiVectorRef<const Scalar> x;
  MultiVectorRef<Scalar> y;
  int num_columns;
  Scalar alpha, beta;
  bool overwrite;

  /// Whether a matrix has such a form.
  KOKKOS_INLINE_FUNCTION static bool serves(const SellRef<Scalar>& A) {
    return A.row_first || (A.chunk_rows == chunk_rows && !A.order);
  }

  /// Whether a loop for exactly two, four or eight columns is better, which
  /// does the pieces of long rows, too.
  static bool leaves_to_others(const SellRef<Scalar>& A) {
    return !serves(A) || (A.row_first && A.num_pieces > 0);
  }
  /// Whether one column is the work of this loop, too: of chunks on diagonals,
  /// and of complex<double>.
  static bool takes_one(const SellRef<Scalar>& A) {
    const bool faster = is_complex ? sizeof(Scalar) == 16 : !A.row_first;
    return faster && serves(A) && A.num_pieces == 0;
  }
  /// Columns that the next pass over a matrix of `x_rows` columns takes. Of
  /// matrices in other forms, as many as there are exact loops for.
  static int columns_of_pass(const SellRef<Scalar>& A, std::int64_t entries,
                             std::int64_t x_rows,
                             const MultiVectorRef<const Scalar>& x,
                             std::int64_t left) {
    constexpr std::int64_t bytes = sizeof(Scalar), line = 64, way = 4096,
                           second_level_cache = std::int64_t{1} << 20;
    constexpr std::int64_t long_row = 16, most = 65536;
    const bool one_pass = x.column_stride == 1 || in_lines(A, x);
    if (!serves(A)) {
      if (x.column_stride == 1 && left >= sell_max_block) return sell_max_block;
      return left >= 4 ? 4 : left >= 2 ? 2 : 1;
    }
    if (A.num_pieces > 0)
      return static_cast<int>(left < sell_max_block ? left : sell_max_block);
    if (one_pass) return static_cast<int>(left < most ? left : most);
    // Eight places of x a multiple of 4 KiB apart evict each other from the
    // first-level cache, and eight long columns from the second. Where rows
    // have many entries, fewer passes are faster than columns that stay in that
    // one.
    const std::int64_t apart = bytes * x.column_stride;
    const bool evicting =
        apart >= way - line && (apart + line) % way <= 2 * line;
    const bool few =
        evicting || (most_apart * x_rows * bytes > second_level_cache &&
                     entries < long_row * A.rows);
    if (few) return left <= 5 ? static_cast<int>(left) : 4;
    if (is_complex)
      return static_cast<int>(left < most_apart ? left : most_apart);
    return columns_of_block(static_cast<int>(left < most ? left : most),
                            most_apart);
  }

  /// The chunks (rows, where they stand alone) `first` to `end` - 1.
  KOKKOS_INLINE_FUNCTION void chunks(std::int64_t first,
                                     std::int64_t end) const {
    const int step = A.row_first ? tile_rows : tile_chunks;
    for (; first < end; first += step)
      tile(first, first + step < end ? first + step : end);
  }

 private:
  /// Whether chunks on diagonals take several rows at once. Complex numbers are
  /// faster by parts.
  KOKKOS_INLINE_FUNCTION static bool in_lines(
      const SellRef<Scalar>& A, const MultiVectorRef<const Scalar>& x) {
    return !is_complex && x.row_stride == 1 && !A.row_first;
  }
  /// Columns of the next block of at most `most`, so that all have about as
  /// many.
  KOKKOS_INLINE_FUNCTION static int columns_of_block(int left, int most) {
    const int blocks = (left + most - 1) / most;
    return (left + blocks - 1) / blocks;
  }
  KOKKOS_INLINE_FUNCTION void tile(std::int64_t first, std::int64_t end) const {
    if (x.column_stride == 1)
      columns<true>(first, end);
    else if (in_lines(A, x))
      lines(first, end);
    else
      columns<false>(first, end);
  }
  template <bool adjoin>
  KOKKOS_INLINE_FUNCTION void columns(std::int64_t first,
                                      std::int64_t end) const {
    if constexpr (is_complex) {
      // Chunks read x in its order, which several blocks of a tile disturb:
      // where that takes longer than products by parts gain.
      constexpr int most_of_chunks = 10;
      if (!adjoin || sizeof(Scalar) < 16 || A.row_first ||
          num_columns <= most_of_chunks)
        return blocks_by_parts<most_by_parts, adjoin>(first, end, 0);
    }
    if constexpr (adjoin || !is_complex) {
      blocks<adjoin ? most_adjoining : most_apart, adjoin>(first, end);
    }
  }
  /// Blocks of R columns, as many as there are, then of half as many, and so
  /// on.
  template <int R, bool adjoin>
  KOKKOS_INLINE_FUNCTION void blocks_by_parts(std::int64_t first,
                                              std::int64_t end, int c) const {
    for (; num_columns - c >= R; c += R) block<R, adjoin, true>(first, end, c);
    if constexpr (R > 1) {
      // Three of float leave half a register.
      if (R == 4 && sizeof(Scalar) == 16 && num_columns - c == 3)
        block<3, adjoin, true>(first, end, c);
      else
        blocks_by_parts<R / 2, adjoin>(first, end, c);
    }
  }
  /// Blocks of at most R columns.
  template <int R, bool adjoin>
  KOKKOS_INLINE_FUNCTION void blocks(std::int64_t first,
                                     std::int64_t end) const {
    for (int c = 0; c < num_columns;) {
      const int count = columns_of_block(num_columns - c, R);
      block_of<R, adjoin>(count, first, end, c);
      c += count;
    }
  }
  /// A block of `count` columns, at most R.
  template <int R, bool adjoin>
  KOKKOS_INLINE_FUNCTION void block_of(int count, std::int64_t first,
                                       std::int64_t end, int c) const {
    if constexpr (R > 1) {
      if (count < R) return block_of<R - 1, adjoin>(count, first, end, c);
    }
    block<R, adjoin, false>(first, end, c);
  }
  KOKKOS_INLINE_FUNCTION void lines(std::int64_t first,
                                    std::int64_t end) const {
    constexpr int most = columns_of_lines;
    int c = 0;
    for (; num_columns - c >= most; c += most) line_block<most>(first, end, c);
    for (; c < num_columns; ++c) line_block<1>(first, end, c);
  }

  template <int R, bool adjoin, bool by_parts>
  KOKKOS_INLINE_FUNCTION SellHostBlock<Scalar, R, adjoin, by_parts> source(
      int c) const {
    return {x.data + c * x.column_stride, x.row_stride, x.column_stride};
  }

  template <int R, bool adjoin, bool by_parts>
  KOKKOS_INLINE_FUNCTION void block(std::int64_t first, std::int64_t end,
                                    int c) const {
    Scalar kept[tile_rows * R];
    constexpr bool together =
        SellHostBlock<Scalar, R, adjoin, by_parts>::together;
    constexpr int kept_row = together ? R : 1,
                  kept_column = together ? 1 : tile_rows;
    const bool direct = overwrite && y.column_stride == 1 && !A.order;
    const auto from = source<R, adjoin, by_parts>(c);
    const auto sums = [&](std::int64_t row) {
      return direct ? SellSums<Scalar>{&y(row, c), y.row_stride, 1, alpha}
                    : SellSums<Scalar>{kept, kept_row, kept_column, alpha};
    };
    if (A.row_first) {
      const int count = static_cast<int>(end - first);
      from.template rows_alone<tile_rows>(A, first, count, sums(first));
      if (!direct) write<R>(kept, kept_row, kept_column, first, count, c);
    } else {
      for (; first < end; ++first) {
        const std::int64_t row = first * chunk_rows;
        const int count = rows_of(first);
        const SellChunk chunk = A.chunk[first];
        if (chunk.on_diagonals)
          from.template diagonals<chunk_rows>(A, chunk, row, count, sums(row));
        else
          from.template columns<chunk_rows>(A, chunk, count, sums(row));
        if (!direct) write<R>(kept, kept_row, kept_column, row, count, c);
      }
    }
  }
  template <int R>
  KOKKOS_INLINE_FUNCTION void line_block(std::int64_t first, std::int64_t end,
                                         int c) const {
    Scalar kept[chunk_rows * R];
    const bool direct = overwrite && y.row_stride == 1;
    const SellHostLines<Scalar, R, chunk_rows> from{
        x.data + c * x.column_stride, x.column_stride};
    for (; first < end; ++first) {
      const std::int64_t row = first * chunk_rows;
      const int count = rows_of(first);
      const SellChunk chunk = A.chunk[first];
      if (chunk.on_diagonals) {
        from.diagonals(
            A, chunk, row, count,
            direct ? SellSums<Scalar>{&y(row, c), 1, y.column_stride, alpha}
                   : SellSums<Scalar>{kept, 1, chunk_rows, alpha});
        if (!direct) write<R>(kept, 1, chunk_rows, row, count, c);
      } else {
        source<R, false, is_complex>(c).template columns<chunk_rows>(
            A, chunk, count, SellSums<Scalar>{kept, R, 1, alpha});
        write<R>(kept, R, 1, row, count, c);
      }
    }
  }
  /// Rows of a chunk: the last may have fewer.
  KOKKOS_INLINE_FUNCTION int rows_of(std::int64_t chunk) const {
    const std::int64_t left = A.rows - chunk * chunk_rows;
    return static_cast<int>(left < chunk_rows ? left : chunk_rows);
  }

  /// Writes kept sums to y.
  template <int R>
  KOKKOS_INLINE_FUNCTION void write(const Scalar* kept, int kept_row,
                                    int kept_column, std::int64_t first,
                                    int count, int c) const {
    if (A.order || !overwrite) {
      for (int u = 0; u < count; ++u) {
        const int row = A.row_at(first + u);
        if (row < 0) continue;
        for (int r = 0; r < R; ++r) {
          Scalar& to = y(row, c + r);
          const Scalar& sum = kept[u * kept_row + r * kept_column];
          to = overwrite ? sum : sum + beta * to;
        }
      }
      return;
    }
    Scalar* to = &y(first, c);
    const std::int64_t stride = y.column_stride;
    int u = 0;
    // Several rows of a column at once, so that a line of it is written once
    // even where those of all columns evict each other.
    constexpr int rows = 4;
    if (y.row_stride == 1)
      for (; u + rows <= count; u += rows, to += rows, kept += rows * kept_row)
        for (int r = 0; r < R; ++r)
          for (int i = 0; i < rows; ++i)
            to[r * stride + i] = kept[i * kept_row + r * kept_column];
    for (; u < count; ++u, to += y.row_stride, kept += kept_row)
      for (int r = 0; r < R; ++r) to[r * stride] = kept[r * kept_column];
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
