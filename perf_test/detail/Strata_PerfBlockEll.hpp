// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BLOCK_ELL_HPP
#define STRATA_PERF_BLOCK_ELL_HPP

#include <Strata_TriangleGraph.hpp>
#include <analysis/blocks/DiagonalBlockOrder.hpp>
#include <analysis/packing/MakeRowChunks.hpp>
#include <core/matrix/PackValues.hpp>
#include <cstdint>
#include <limits>

namespace Strata {
namespace PerfTest {

/// Products y = T x of a triangle T with the ELL chunks of the algorithm
/// `blocks`: a thread for each row, which goes over the columns of its chunk
/// (Nibbeling 2016, section 3.3). One column of x after the other, side by side
/// in one launch where the thesis has a stream for each.
template <class Matrix>
class BlockEllProduct {
 public:
  using Scalar = typename Matrix::non_const_value_type;
  using Space = typename Matrix::execution_space;
  using Memory = typename Matrix::memory_space;
  using Vectors = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Memory>;
  static constexpr int width = Detail::lane_width<Space>;

  /// @param T sorted rows, with its diagonal
  BlockEllProduct(const Space& exec, const Matrix& T, Uplo uplo) {
    TriangleInput input;
    input.uplo = uplo;
    const auto graph = triangle_graph(exec, T.graph.row_map, T.graph.entries,
                                      T.values, T.numCols(), input);
    Detail::WorkPool<Space> pool(exec, 0);
    const auto order = Detail::order_by_diagonal_blocks(
        exec, graph, WithinLevel::longest_rows_first, pool);
    constexpr int one_lane = std::numeric_limits<int>::max();
    chunks_ = Detail::make_row_chunks(
        exec, graph, order, static_cast<std::int64_t>(T.nnz()), width, one_lane,
        DependencyNumbering::row, pool, [](auto&, auto&) {});
    value_ = decltype(value_)("values", chunks_.num_slots);
    diagonal_ = decltype(diagonal_)("diagonal", chunks_.num_rows);
    Detail::gather_values(exec, chunks_.value_index, T.values.data(), value_,
                          false);
    Detail::gather_values(exec, chunks_.diagonal_value_index, T.values.data(),
                          diagonal_, false);
    exec.fence();
  }

  int num_blocks() const { return chunks_.num_levels(); }
  /// Slots with the diagonal, padding included.
  std::int64_t num_slots() const {
    return chunks_.num_slots + chunks_.num_rows;
  }

  void multiply(const Space& exec, const Vectors& x, const Vectors& y) const {
    const std::int64_t lanes = std::int64_t{width} * chunks_.num_chunks();
    Kokkos::parallel_for(
        "block_ell::multiply",
        Detail::RangeOf<Space>(exec, 0,
                               lanes * static_cast<std::int64_t>(x.extent(1))),
        MultiplyRow{chunks_.chunk, chunks_.row, chunks_.dependency, value_,
                    diagonal_, x, y, lanes});
  }

  struct MultiplyRow {
    Kokkos::View<const RowChunk*, Memory> chunk;
    Kokkos::View<const unsigned*, Memory> row;
    Kokkos::View<const int*, Memory> dependency;
    Kokkos::View<const Scalar*, Memory> value, diagonal;
    Kokkos::View<const Scalar**, Kokkos::LayoutLeft, Memory> x;
    Vectors y;
    std::int64_t lanes;

    KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
      const std::int64_t c = place / lanes;
      const RowChunk mine = chunk(place % lanes / width);
      const int lane = static_cast<int>(place % width);
      if (lane >= mine.rows) return;
      const int p = mine.first_permuted_row + lane;
      Scalar sum = diagonal(p) * x(row(p), c);
      std::int64_t slot = mine.first_slot + lane;
      for (int s = 0; s < mine.steps; ++s, slot += mine.rows) {
        if (dependency(slot) < 0) break;
        sum += value(slot) * x(dependency(slot), c);
      }
      y(row(p), c) = sum;
    }
  };

 private:
  RowChunks<Memory> chunks_;
  Kokkos::View<Scalar*, Memory> value_, diagonal_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
