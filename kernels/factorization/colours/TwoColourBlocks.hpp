// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_COLOURS_TWO_COLOUR_BLOCKS_HPP
#define STRATA_KERNELS_FACTORIZATION_COLOURS_TWO_COLOUR_BLOCKS_HPP

#include <Strata_SellMatrix.hpp>
#include <algorithm>
#include <core/device/GridSum.hpp>
#include <core/matrix/FindColumn.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/scalar/CounterRandom.hpp>
#include <core/scalar/Modulus.hpp>
#include <core/scalar/RealPart.hpp>
#include <cstdint>
#include <kernels/factorization/colours/TwoColourFactor.hpp>
#include <kernels/spmv/SellLaunch.hpp>
#include <limits>
#include <utility>

namespace Strata {
namespace Detail {

/// The entries beside the diagonal of some rows of a TwoColourFactor: F, the
/// columns of the second colour in rows of the first one, or G, the columns of
/// the first in rows of the second.
template <class Matrix>
struct TakeOffDiagonalBlock {
  using Types = MatrixTypes<Matrix>;
  Matrix LU;
  /// The rows' first one, and what its columns are counted from.
  std::int64_t first_row;
  int first_column;
  /// 1 where the diagonal comes before the other entries, else 0.
  int skipped;
  typename Types::RowMap row_map;
  typename Types::Entries entries;
  typename Types::Values values;

  /// Each row before has an entry less than in LU.
  KOKKOS_INLINE_FUNCTION std::int64_t begin(std::int64_t row) const {
    return static_cast<std::int64_t>(LU.graph.row_map(first_row + row)) -
           static_cast<std::int64_t>(LU.graph.row_map(first_row)) - row;
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t to = begin(row), count = begin(row + 1) - to;
    const std::int64_t from =
        static_cast<std::int64_t>(LU.graph.row_map(first_row + row)) + skipped;
    row_map(row) = to;
    if (row + 1 == static_cast<std::int64_t>(row_map.extent(0)) - 1)
      row_map(row + 1) = to + count;
    for (std::int64_t k = 0; k < count; ++k) {
      entries(to + k) = LU.graph.entries(from + k) - first_column;
      values(to + k) = LU.values(from + k);
    }
  }
};

/// The diagonal of A in the order of colours, and reciprocals of pivots.
template <class CrsMatrix>
struct TakeReducedDiagonals {
  using Types = MatrixTypes<CrsMatrix>;
  using Scalar = typename Types::Scalar;
  using Memory = typename Types::MemorySpace;
  CrsMatrix A;
  TwoColourRows<typename Types::Matrix> rows;
  Kokkos::View<const int*, Memory> old_row;
  Kokkos::View<Scalar*, Memory> diagonal, inverse_diagonal;
  Kokkos::View<RealOf<Scalar>*, Memory> inverse_pivot;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const int old = old_row(row);
    diagonal(row) = A.values(first_entry_from(A.graph, old, old));
    if (row < rows.first_rows)
      inverse_diagonal(row) = Scalar(1) / diagonal(row);
    else
      inverse_pivot(row - rows.first_rows) = static_cast<RealOf<Scalar>>(
          1 / RealPart<Scalar>::real(rows.LU.values(rows.diagonal(row))));
  }
};

/// Element `row` of a vector to multiply with, which looks random: in
/// [0.5, 1.5) or its negative, and exact in all scalars.
KOKKOS_INLINE_FUNCTION double probe_element(std::int64_t row) {
  const std::uint64_t bits =
      random_bits(1, static_cast<std::uint64_t>(row), 0, 0);
  const double size = 0.5 + static_cast<double>(bits >> 42) / 4194304;
  return bits & 1 ? -size : size;
}
template <class Scalar>
struct FillProbe {
  Scalar* v;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    v[row] = Scalar(static_cast<RealOf<Scalar>>(probe_element(row)));
  }
};

/// The probe, or the first colour's part of it times the diagonal, in the order
/// of colours.
template <class Scalar>
struct ProbeSource {
  const int* old_row;
  const Scalar* factor;  // null: 1
  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t row, int) const {
    const Scalar v(static_cast<RealOf<Scalar>>(probe_element(old_row[row])));
    return factor ? factor[row] * v : v;
  }
};
/// Counts the rows of a colour in which two products with the probe differ by
/// more than roundings.
template <class Scalar>
struct CompareProducts {
  static constexpr int block = 1;
  static constexpr bool reduces = true, late = false, heavy = true;
  ProbeSource<Scalar> source;
  const int* old_row;
  const Scalar *diagonal, *wanted;
  double* count;
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    constexpr double roundings =
        256 * std::numeric_limits<RealOf<Scalar>>::epsilon();
    const int old = old_row[row];
    const Scalar own =
        diagonal[row] * Scalar(static_cast<RealOf<Scalar>>(probe_element(old)));
    const Scalar product = wanted[old];
    const double size = static_cast<double>(modulus(own)) +
                        static_cast<double>(modulus(product));
    const auto difference =
        static_cast<double>(modulus(own + sum[0] - product));
    // Not so of a NaN either.
    return difference <= roundings * size ? 0.0 : 1.0;
  }
  KOKKOS_INLINE_FUNCTION void finish(double found) const { *count = found; }
};

/// The first colour's part of a vector in the given order.
template <class Scalar>
struct FirstColourSource {
  MultiVectorRef<const Scalar> v;
  const int* old_row;
  KOKKOS_INLINE_FUNCTION Scalar operator()(std::int64_t row, int) const {
    return v(old_row[row], 0);
  }
};

/// v2 - G v1 of a vector in the given order: a product with G for kernels that
/// store what they make of it.
template <class Scalar>
struct EliminatedVector {
  static constexpr int block = 1;
  static constexpr bool reduces = false, late = false, heavy = true;
  FirstColourSource<Scalar> source;  // v1
  const int* old_row;                // of the second colour
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION Scalar element(std::int64_t row,
                                        const Scalar (&sum)[1]) const {
    return source.v(old_row[row], 0) - sum[0];
  }
};

/// z2 = D^-1 (r2 - G r1), in the given order and, for the first colour's rows
/// to read, in the order of colours. z may be r.
template <class Scalar>
struct SolveSecondColour : EliminatedVector<Scalar> {
  const RealOf<Scalar>* inverse_pivot;
  MultiVectorRef<Scalar> z;
  Scalar* by_colour;
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    const Scalar value = inverse_pivot[row] * this->element(row, sum);
    by_colour[row] = value;
    z(this->old_row[row], 0) = value;
    return 0;
  }
};

/// b2 - G b1 and x2, of vectors in the given order.
template <class Scalar>
struct ReduceVectors : EliminatedVector<Scalar> {
  MultiVectorRef<const Scalar> x;
  Scalar *reduced_b, *reduced_x;
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    reduced_b[row] = this->element(row, sum);
    reduced_x[row] = x(this->old_row[row], 0);
    return 0;
  }
};

/// x1 = D1^-1 (b1 - F x2), in the given order.
template <class Scalar>
struct CompleteFirstColour {
  static constexpr int block = 1;
  static constexpr bool reduces = false, late = false, heavy = false;
  ContiguousSource<Scalar> source;  // x2
  MultiVectorRef<const Scalar> b;
  MultiVectorRef<Scalar> x;
  const int* old_row;
  const Scalar* inverse_diagonal;
  template <class Team>
  KOKKOS_INLINE_FUNCTION bool read(const Team&) {
    return true;
  }
  KOKKOS_INLINE_FUNCTION double row(std::int64_t row,
                                    const Scalar (&sum)[1]) const {
    const int old = old_row[row];
    x(old, 0) = inverse_diagonal[row] * (b(old, 0) - sum[0]);
    return 0;
  }
};
template <class Scalar>
struct CompleteSecondColour {
  const Scalar* reduced_x;
  const int* old_row;
  MultiVectorRef<Scalar> x;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    x(old_row[row], 0) = reduced_x[row];
  }
};

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
  using Range = RangeOf<ExecutionSpace>;

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
    inverse_pivot_ = make_unfilled<decltype(inverse_pivot_)>(
        "Strata::TwoColourBlocks::inverse_pivot", rows_);
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
    Kokkos::parallel_for(
        "Strata::TwoColourBlocks::complete", Range(exec, 0, rows_),
        CompleteSecondColour<Scalar>{reduced_x, first + first_rows_, x});
  }

 private:
  template <class CrsMatrix>
  void take_diagonals(const ExecutionSpace& exec,
                      const TwoColourFactor<CrsMatrix>& factor) {
    Kokkos::parallel_for(
        "Strata::TwoColourBlocks::diagonals",
        Range(exec, 0, first_rows_ + rows_),
        TakeReducedDiagonals<CrsMatrix>{
            factor.A, factor.rows(), colouring_.permutation.old_row, diagonal_,
            inverse_diagonal_, inverse_pivot_});
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
    take.row_map = make_zeroed<typename Types::RowMap>(
        "Strata::TwoColourBlocks::row_map", count + 1);
    take.entries = make_unfilled<typename Types::Entries>(
        "Strata::TwoColourBlocks::entries", stored);
    take.values = make_unfilled<typename Types::Values>(
        "Strata::TwoColourBlocks::values", stored);
    Kokkos::parallel_for("Strata::TwoColourBlocks::take", Range(exec, 0, count),
                         take);
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
