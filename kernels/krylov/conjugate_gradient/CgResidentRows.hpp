// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_RESIDENT_ROWS_HPP
#define STRATA_KERNELS_KRYLOV_CONJUGATE_GRADIENT_CG_RESIDENT_ROWS_HPP

// Rows of a matrix and elements of vectors that a team keeps in scratch.

#include <core/device/Warp.hpp>
#include <core/scalar/RealPart.hpp>
#include <cstdint>
#include <kernels/spmv/SellLane.hpp>
#include <kernels/spmv/SellStorage.hpp>

namespace Strata {
namespace Detail {

/// Where a chunk of a team is: in the matrix, or in scratch.
template <class Scalar>
struct ResidentChunk {
  const Scalar* value;
  const int* column;
  int steps, on_diagonals;
};

/// Shares of the teams of a launch in a matrix whose chunks fill a warp, and
/// where they are in scratch.
struct ResidentShare {
  int chunks_of_team = 0;
  unsigned chunks_at = 0;
  /// For values and columns of as many chunks as there is room for: values from
  /// the beginning on, columns from the end back.
  unsigned room_at = 0, room = 0;
};

/// The chunks of one team.
template <class Scalar>
class ResidentRows {
 public:
  static constexpr int width = 32;

  KOKKOS_INLINE_FUNCTION ResidentRows(const SellRef<Scalar>& A,
                                      const ResidentShare& share,
                                      unsigned char* scratch, int team)
      : A_(A),
        chunk_(reinterpret_cast<ResidentChunk<Scalar>*>(scratch +
                                                        share.chunks_at)),
        first_(std::int64_t{team} * share.chunks_of_team) {
    const std::int64_t left = A.num_chunks - first_;
    count_ =
        static_cast<int>(left < share.chunks_of_team ? (left > 0 ? left : 0)
                                                     : share.chunks_of_team);
  }
  KOKKOS_INLINE_FUNCTION int chunks() const { return count_; }
  /// Rows, those past the end of the matrix included.
  KOKKOS_INLINE_FUNCTION int rows() const { return count_ * A_.chunk_rows; }
  /// Row number i of the team, -1 past the end.
  KOKKOS_INLINE_FUNCTION int row(int i) const {
    return A_.row_at(first_ * A_.chunk_rows + i);
  }

  /// The first row, and how many follow each other from there on: none where
  /// rows are permuted.
  KOKKOS_INLINE_FUNCTION unsigned first_row() const {
    return static_cast<unsigned>(first_ * A_.chunk_rows);
  }
  KOKKOS_INLINE_FUNCTION unsigned rows_in_order() const {
    return A_.order ? 0u : static_cast<unsigned>(rows());
  }

  /// Copies chunks to scratch, as many as fit. Each warp copies the chunks that
  /// it multiplies with: those whose number is its own modulo `warps`.
  KOKKOS_INLINE_FUNCTION void fetch(const ResidentShare& share,
                                    unsigned char* scratch, int warp, int warps,
                                    int lane) const {
    if (count_ == 0) return;
    const SellChunk begin = A_.chunk_at(first_);
    for (int c = warp; c < count_; c += warps) {
      const SellChunk from = A_.chunk_at(first_ + c);
      const std::int64_t slots = std::int64_t{from.steps} * width;
      const std::int64_t columns = from.on_diagonals ? 2 * from.steps : slots;
      const std::int64_t values_at =
          (from.first_slot - begin.first_slot) * sizeof(Scalar);
      const std::int64_t columns_end =
          (from.first_column - begin.first_column +
           sell_columns(slots, from.steps, from.on_diagonals)) *
          sizeof(int);
      ResidentChunk<Scalar> to{A_.value + from.first_slot,
                               A_.column + from.first_column, from.steps,
                               from.on_diagonals};
      if (values_at + slots * static_cast<std::int64_t>(sizeof(Scalar)) +
              columns_end <=
          static_cast<std::int64_t>(share.room)) {
        auto* const value =
            reinterpret_cast<Scalar*>(scratch + share.room_at + values_at);
        auto* const column = reinterpret_cast<int*>(scratch + share.room_at +
                                                    share.room - columns_end);
        for (std::int64_t i = lane; i < slots; i += width)
          value[i] = load_once(to.value + i);
        for (std::int64_t i = lane; i < columns; i += width)
          column[i] = to.column[i];
        to.value = value;
        to.column = column;
      }
      if (lane == 0) chunk_[c] = to;
    }
    lane_barrier();
  }

  /// For each of the warp's chunks: finish(i, row, product) by the first lane
  /// of each row, number i of the team.
  template <class Source, class Finish>
  KOKKOS_INLINE_FUNCTION void multiply(const Source& source, int warp,
                                       int warps, int lane,
                                       const Finish& finish) const {
    // The loads of as many slots under way as registers have room for.
    using Lane =
        SellLane<Scalar, 1, sizeof(Scalar) < 16 ? 8 : 4, SlotsAnywhere>;
    const int lanes = 1 << A_.log_lanes;
    for (int c = warp; c < count_; c += warps) {
      const ResidentChunk<Scalar> chunk = chunk_[c];
      const int i = c * A_.chunk_rows + (lane >> A_.log_lanes);
      const int row = this->row(i);
      Scalar sum[1] = {Scalar(0)};
      if (chunk.on_diagonals)
        Lane::add_diagonals(source, chunk.value + lane,
                            reinterpret_cast<const DiagonalStep*>(chunk.column),
                            chunk.steps, width, lane, row, sum);
      else
        Lane::add_columns(source, chunk.value + lane, chunk.column + lane,
                          chunk.steps, width, sum);
      if (lanes > 1) sum[0] = lane_group_sum(sum[0], lanes);
      if (row >= 0 && (lane & (lanes - 1)) == 0) finish(i, row, sum[0]);
    }
  }

 private:
  const SellRef<Scalar>& A_;
  ResidentChunk<Scalar>* chunk_;
  std::int64_t first_;
  int count_;
};

/// Elements of a vector of which a team has its own rows in scratch.
template <class Scalar>
struct ResidentSource {
  using Item = Scalar;
  const Scalar* own;
  unsigned first_row, rows;
  const Scalar* all;
  KOKKOS_INLINE_FUNCTION Item fetch(int row) const {
    const unsigned i = static_cast<unsigned>(row) - first_row;
    const Scalar* const at = i < rows ? own + i : all + row;
    return row >= 0 ? *at : Scalar(0);
  }
  KOKKOS_INLINE_FUNCTION Scalar value(const Item& item) const { return item; }
};
/// The same of p = z + beta p, of which there are z and the old p: both are
/// fetched before either is used, for several elements together.
template <class Scalar>
struct ResidentDirection {
  struct Item {
    Scalar first, old_p;
    bool own;
  };
  const Scalar* own;
  unsigned first_row, rows;
  const Scalar *z, *old_p;
  RealOf<Scalar> beta;
  KOKKOS_INLINE_FUNCTION Item fetch(int row) const {
    const unsigned i = static_cast<unsigned>(row) - first_row;
    const bool is_own = row < 0 || i < rows;
    const Scalar* const at = i < rows ? own + i : z + row;
    return {row >= 0 ? *at : Scalar(0), is_own ? Scalar(0) : old_p[row],
            is_own};
  }
  KOKKOS_INLINE_FUNCTION Scalar value(const Item& item) const {
    const Scalar made = next(item.first, beta, item.old_p);
    return item.own ? item.first : made;
  }
  /// The same bits wherever it is worked out.
  KOKKOS_INLINE_FUNCTION static Scalar next(const Scalar& z,
                                            RealOf<Scalar> beta,
                                            const Scalar& old_p) {
    return z + beta * old_p;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
