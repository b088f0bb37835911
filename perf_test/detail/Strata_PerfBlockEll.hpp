// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERF_BLOCK_ELL_HPP
#define STRATA_PERF_BLOCK_ELL_HPP

#include <Strata_TriangleGraph.hpp>
#include <analysis/blocks/EllAnalysis.hpp>
#include <core/matrix/PackValues.hpp>
#include <cstdint>

namespace Strata {
namespace PerfTest {

/// Products y = T x of a triangle T with the ELL blocks of the algorithm
/// `blocks`: a thread for each row, which goes over the columns of its block
/// (Nibbeling 2016, section 3.3). One column of x after the other, side by side
/// in one launch where the thesis has a stream for each.
template <class Matrix>
class BlockEllProduct {
 public:
  using Scalar = typename Matrix::non_const_value_type;
  using Space = typename Matrix::execution_space;
  using Memory = typename Matrix::memory_space;
  using Vectors = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Memory>;

  /// @param T sorted rows, with its diagonal
  BlockEllProduct(const Space& exec, const Matrix& T, Uplo uplo)
      : rows_(T.numRows()), reversed_(uplo == Uplo::upper) {
    TriangleInput input;
    input.uplo = uplo;
    const auto graph = triangle_graph(exec, T.graph.row_map, T.graph.entries,
                                      T.values, T.numCols(), input);
    constexpr int one_lane = 1;  // the thesis's kernel has a thread a row
    Detail::EllAnalysis<Space> analysis(exec, graph.num_vertices,
                                        graph.num_edges(), false,
                                        Detail::EllLimits(), one_lane);
    analysis.enqueue(exec, graph);
    analysis.fetch(exec);
    blocks_ = analysis.num_blocks();
    slots_ = analysis.found(Detail::EllHead::num_slots);
    const auto stored = static_cast<std::int64_t>(T.nnz());
    block_ = decltype(block_)("blocks", blocks_);
    row_ = decltype(row_)("rows", rows_);
    dependency_ = decltype(dependency_)("dependencies", slots_);
    long_first_ = decltype(long_first_)("long_first", rows_);
    long_count_ = decltype(long_count_)("long_count", rows_);
    const Detail::ValueIndex<Memory> entry("entries", slots_, stored),
        diagonal("diagonal", rows_, stored);
    Detail::EllPlan<Memory> plan;
    plan.block = block_.data();
    plan.row = row_.data();
    plan.dependency = dependency_.data();
    plan.value_index = entry;
    plan.diagonal_value_index = diagonal;
    plan.long_first = long_first_.data();
    plan.long_count = long_count_.data();
    analysis.fill(exec, plan,
                  {graph.diagonal_value_index.data(), false, false, reversed_});
    value_ = decltype(value_)("values", slots_);
    diagonal_ = decltype(diagonal_)("diagonal", rows_);
    Detail::gather_values(exec, entry, T.values.data(), value_, false);
    Detail::gather_values(exec, diagonal, T.values.data(), diagonal_, false);
    block_of_ = decltype(block_of_)("block_of", rows_);
    Kokkos::parallel_for("block_ell::block_of",
                         Detail::RangeOf<Space>(exec, 0, blocks_),
                         NumberBlocks{block_, block_of_});
    exec.fence();
  }

  int num_blocks() const { return blocks_; }
  /// Slots with the diagonal, padding included.
  std::int64_t num_slots() const { return slots_ + rows_; }

  void multiply(const Space& exec, const Vectors& x, const Vectors& y) const {
    Kokkos::parallel_for(
        "block_ell::multiply",
        Detail::RangeOf<Space>(exec, 0,
                               rows_ * static_cast<std::int64_t>(x.extent(1))),
        MultiplyRow{block_, block_of_, dependency_, value_, diagonal_,
                    long_first_, long_count_, x, y, rows_, reversed_});
  }

  struct NumberBlocks {
    Kokkos::View<Detail::EllBlock*, Memory> block;
    Kokkos::View<int*, Memory> block_of;
    KOKKOS_INLINE_FUNCTION void operator()(std::int64_t number) const {
      for (int r = 0; r < block(number).rows; ++r)
        block_of(block(number).first_row + r) = static_cast<int>(number);
    }
  };
  struct MultiplyRow {
    Kokkos::View<const Detail::EllBlock*, Memory> block;
    Kokkos::View<const int*, Memory> block_of, dependency;
    Kokkos::View<const Scalar*, Memory> value, diagonal;
    Kokkos::View<const std::int64_t*, Memory> long_first;
    Kokkos::View<const int*, Memory> long_count;
    Kokkos::View<const Scalar**, Kokkos::LayoutLeft, Memory> x;
    Vectors y;
    std::int64_t rows;
    bool reversed;

    /// Of vertex v: a backward substitution counts from the last row.
    KOKKOS_INLINE_FUNCTION std::int64_t row_of(std::int64_t v) const {
      return reversed ? rows - 1 - v : v;
    }
    KOKKOS_INLINE_FUNCTION void operator()(std::int64_t place) const {
      const std::int64_t v = place % rows, c = place / rows;
      const Detail::EllBlock mine = block(block_of(v));
      std::int64_t slot = mine.first_slot + v - mine.first_row;
      Scalar sum = diagonal(v) * x(row_of(v), c);
      if (mine.steps() > 0 && dependency(slot) == Detail::ell_long_row) {
        slot = long_first(v);
        for (int e = 0; e < long_count(v); ++e, ++slot)
          sum += value(slot) * x(row_of(dependency(slot)), c);
      } else {
        for (int s = 0; s < mine.steps(); ++s, slot += mine.stride) {
          if (dependency(slot) < 0) break;
          sum += value(slot) * x(row_of(dependency(slot)), c);
        }
      }
      y(row_of(v), c) = sum;
    }
  };

 private:
  std::int64_t rows_, slots_ = 0;
  int blocks_ = 0;
  bool reversed_;
  Kokkos::View<Detail::EllBlock*, Memory> block_;
  Kokkos::View<unsigned*, Memory> row_;
  Kokkos::View<int*, Memory> dependency_, block_of_, long_count_;
  Kokkos::View<std::int64_t*, Memory> long_first_;
  Kokkos::View<Scalar*, Memory> value_, diagonal_;
};

}  // namespace PerfTest
}  // namespace Strata

#endif
