// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_COLOURS_TWO_COLOUR_BLOCKS_HPP
#define STRATA_KERNELS_FACTORIZATION_COLOURS_TWO_COLOUR_BLOCKS_HPP

#include <Strata_SellMatrix.hpp>
#include <algorithm>
#include <core/device/GridSum.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <cstdint>
#include <kernels/factorization/colours/TwoColourFactor.hpp>
#include <kernels/factorization/colours/TwoColourKernels.hpp>
#include <kernels/spmv/SellLaunch.hpp>
#include <utility>

namespace Strata {
namespace Detail {

/// The blocks F and G of a TwoColourFactor, and its diagonals: the
/// preconditioner M = L U, whose application is
///   z2 = D^-1 (r2 - G r1), z1 = D1^-1 (r1 - F z2),
/// two launches in which no row waits for another one, and A reduced to the
/// second colour, where A x = b is
///   S x2 = b2 - G b1 and x1 = D1^-1 (b1 - F x2) with S = D2 - G F.
/// The factors are exact but for the last block, which has the diagonal D of S.
/// So conjugate gradients on S with D as preconditioner take the steps of those
/// on A with M. A step reads each entry of A once, where a product and an
/// application read it twice, and its vectors have the rows of one colour.
/// Residuals are the same: that of x1 is zero. Source: Y. Saad, *Iterative
/// Methods for Sparse Linear Systems*, 2003, section 12.4.1.
template <class Scalar, class ExecutionSpace>
class TwoColourBlocks {
  using Memory = typename ExecutionSpace::memory_space;
  using Sell = SellMatrix<Scalar, ExecutionSpace>;

 public:
  /// Cost: both blocks as SellMatrix. Waits for `exec`.
  template <class CrsMatrix>
  TwoColourBlocks(const ExecutionSpace& exec,
                  const TwoColourFactor<CrsMatrix>& factor)
      : colouring_(factor.colouring),
        first_rows_(factor.first_rows()),
        rows_(colouring_.colour_map.back() - first_rows_) {
    const auto scalars = [&](const char* label, std::int64_t count) {
      return make_unfilled<Kokkos::View<Scalar*, Memory>>(label, count);
    };
    diagonal_ =
        scalars("Strata::TwoColourBlocks::diagonal", first_rows_ + rows_);
    inverse_diagonal_ =
        scalars("Strata::TwoColourBlocks::inverse_diagonal", first_rows_);
    make_unfilled(inverse_pivot_, "Strata::TwoColourBlocks::inverse_pivot",
                  rows_);
    second_ = scalars("Strata::TwoColourBlocks::second", rows_);
    if (first_rows_ == 0) return;
    take_diagonals(exec, factor);
    upper_ = Sell(exec, block(exec, factor, true));
    lower_ = Sell(exec, block(exec, factor, false));
    exec.fence();
  }

  /// Factors of new values on the same pattern. The old ones stay where there
  /// is no memory for these. Waits for `exec`.
  template <class CrsMatrix>
  void update_values(const ExecutionSpace& exec,
                     const TwoColourFactor<CrsMatrix>& factor) {
    if (first_rows_ == 0) return;
    // Whatever allocates comes first.
    const auto F = block(exec, factor, true), G = block(exec, factor, false);
    take_diagonals(exec, factor);
    upper_.update_values(exec, F.values);
    lower_.update_values(exec, G.values);
    exec.fence();
  }

  /// z = U^-1 L^-1 r for vectors of rank 1 in the given order; z may be r.
  /// Asynchronous on `exec`.
  void apply(const ExecutionSpace& exec, const StridedBlock& r,
             const StridedBlock& z) const {
    if (first_rows_ == 0) return;
    const auto from = multi_vector_ref<const Scalar>(r);
    const auto to = multi_vector_ref<Scalar>(z);
    if (rows_ > 0)
      run_sell("Strata::IncompleteFactorization::second_colour", exec, lower(),
               SolveSecondColour<Scalar>{
                   {{from, old_row()}, old_row() + first_rows_},
                   inverse_pivot_.data(),
                   to,
                   second_.data()});
    run_sell(
        "Strata::IncompleteFactorization::first_colour", exec, upper(),
        CompleteFirstColour<Scalar>{
            {second_.data()}, from, to, old_row(), inverse_diagonal_.data()});
  }

  const Colouring<Memory>& colouring() const { return colouring_; }
  int colours() const { return colouring_.num_colours(); }
  std::int64_t first_rows() const { return first_rows_; }
  /// Of S.
  std::int64_t rows() const { return rows_; }
  const auto& upper() const { return Internals::storage(upper_); }
  const auto& lower() const { return Internals::storage(lower_); }
  /// D2.
  const Scalar* diagonal() const { return diagonal_.data() + first_rows_; }
  /// Of the diagonal of S.
  const RealOf<Scalar>* inverse_pivot() const { return inverse_pivot_.data(); }

  /// Of the matrices in a product with S.
  std::size_t bytes_read() const {
    return upper_.report().bytes_read + lower_.report().bytes_read;
  }
  /// Of F and of G.
  std::int64_t upper_entries() const { return upper_.report().entries; }
  std::int64_t lower_entries() const { return lower_.report().entries; }
  /// Of both and of the vectors beside them.
  std::size_t bytes() const {
    return upper_.report().bytes + lower_.report().bytes +
           (diagonal_.extent(0) + inverse_diagonal_.extent(0) +
            second_.extent(0)) *
               sizeof(Scalar) +
           inverse_pivot_.extent(0) * sizeof(RealOf<Scalar>);
  }
  /// Parts of a sum that long rows take.
  std::int64_t extra_parts() const {
    return std::max(upper().num_long_rows(), lower().num_long_rows());
  }

  /// Whether `product` is A times the probe (FillProbe), but for roundings, in
  /// every row. Waits for `exec`.
  /// @param counts  two numbers to work with
  bool agrees(const ExecutionSpace& exec, const Scalar* product,
              const Kokkos::View<double*, Memory>& counts,
              const GridSum<Memory>& sum) const {
    const int* const first = old_row();
    const int* const second = first + first_rows_;
    run_sell(
        "Strata::TwoColourBlocks::compare", exec, upper(),
        CompareProducts<Scalar>{
            {second, nullptr}, first, diagonal_.data(), product, counts.data()},
        sum);
    run_sell("Strata::TwoColourBlocks::compare", exec, lower(),
             CompareProducts<Scalar>{{first, diagonal_.data()},
                                     second,
                                     diagonal(),
                                     product,
                                     counts.data() + 1},
             sum);
    double found[2];
    copy_to_host(exec, counts, found);
    return found[0] == 0 && found[1] == 0;
  }
  /// b2 - G b1 and x2. Asynchronous.
  void reduce(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
              const MultiVectorRef<const Scalar>& x, Scalar* reduced_b,
              Scalar* reduced_x) const {
    const int* const first = old_row();
    run_sell("Strata::TwoColourBlocks::reduce", exec, lower(),
             ReduceVectors<Scalar>{
                 {{b, first}, first + first_rows_}, x, reduced_b, reduced_x});
  }
  /// x of x2. Asynchronous.
  void complete(const ExecutionSpace& exec,
                const MultiVectorRef<const Scalar>& b, const Scalar* reduced_x,
                const MultiVectorRef<Scalar>& x) const {
    const int* const first = old_row();
    run_sell("Strata::TwoColourBlocks::complete", exec, upper(),
             CompleteFirstColour<Scalar>{
                 {reduced_x}, b, x, first, inverse_diagonal_.data()});
    for_each_index(
        "Strata::TwoColourBlocks::complete", exec, rows_,
        CompleteSecondColour<Scalar>{reduced_x, first + first_rows_, x});
  }

 private:
  template <class CrsMatrix>
  void take_diagonals(const ExecutionSpace& exec,
                      const TwoColourFactor<CrsMatrix>& factor) {
    for_each_index("Strata::TwoColourBlocks::diagonals", exec,
                   first_rows_ + rows_,
                   TakeReducedDiagonals<CrsMatrix>{
                       factor.A, factor.rows(), colouring_.permutation.old_row,
                       diagonal_, inverse_diagonal_, inverse_pivot_});
  }

  /// F (upper) or G.
  template <class CrsMatrix>
  auto block(const ExecutionSpace& exec,
             const TwoColourFactor<CrsMatrix>& factor, bool upper) const {
    using Matrix = typename TwoColourFactor<CrsMatrix>::Matrix;
    using Types = MatrixTypes<Matrix>;
    const std::int64_t first = upper ? 0 : first_rows_;
    const std::int64_t count = upper ? first_rows_ : rows_;
    const std::int64_t columns = upper ? rows_ : first_rows_;
    typename Types::Offset above[1];
    copy_to_host(exec,
                 Kokkos::subview(factor.LU.graph.row_map,
                                 std::make_pair(first_rows_, first_rows_ + 1)),
                 above);
    const auto of_upper = static_cast<std::int64_t>(above[0]);
    const std::int64_t stored =
        (upper ? of_upper
               : static_cast<std::int64_t>(factor.LU.nnz()) - of_upper) -
        count;
    TakeOffDiagonalBlock<Matrix> take{factor.LU,
                                      first,
                                      static_cast<int>(upper ? first_rows_ : 0),
                                      upper ? 1 : 0,
                                      {},
                                      {},
                                      {}};
    // No thread writes the map of a colour without rows.
    make_zeroed(take.row_map, "Strata::TwoColourBlocks::row_map", count + 1);
    make_unfilled(take.entries, "Strata::TwoColourBlocks::entries", stored);
    make_unfilled(take.values, "Strata::TwoColourBlocks::values", stored);
    for_each_index("Strata::TwoColourBlocks::take", exec, count, take);
    exec.fence();
    return Matrix("block", static_cast<int>(count), static_cast<int>(columns),
                  stored, take.values, take.row_map, take.entries);
  }

  const int* old_row() const { return colouring_.permutation.old_row.data(); }

  Colouring<Memory> colouring_;
  std::int64_t first_rows_, rows_;  // of either colour
  /// D1 and D2, D1^-1, and the reciprocals of D.
  Kokkos::View<Scalar*, Memory> diagonal_, inverse_diagonal_;
  Kokkos::View<RealOf<Scalar>*, Memory> inverse_pivot_;
  Sell upper_, lower_;                    // F and G
  Kokkos::View<Scalar*, Memory> second_;  // z2 of an application
};

}  // namespace Detail
}  // namespace Strata

#endif
