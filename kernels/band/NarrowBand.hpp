// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_NARROW_BAND_HPP
#define STRATA_KERNELS_BAND_NARROW_BAND_HPP

#include <algorithm>
#include <core/scalar/QuickModulus.hpp>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace Strata {
namespace Detail {

/// Some adjoining scalars in registers, in a form that compilers make vector
/// instructions of.
template <class Scalar, int count>
class ScalarGroup {
 public:
  explicit ScalarGroup(const Scalar* from) {
    for (int k = 0; k < count; ++k) held_[k] = from[k];
  }
  /// Subtracts value y.
  void subtract(const Scalar value, const Scalar* y) {
    for (int k = 0; k < count; ++k) held_[k] -= value * y[k];
  }
  void store(Scalar* to) const {
    for (int k = 0; k < count; ++k) to[k] = held_[k];
  }

 private:
  Scalar held_[count];
};
template <class Real, int count>
class ScalarGroup<Kokkos::complex<Real>, count> {
  using Scalar = Kokkos::complex<Real>;

 public:
  explicit ScalarGroup(const Scalar* from) {
    const Real* const part = reinterpret_cast<const Real*>(from);
    for (int k = 0; k < 2 * count; ++k) held_[k] = part[k];
  }
  void subtract(const Scalar value, const Scalar* y) {
    const Real* const part = reinterpret_cast<const Real*>(y);
    // The same operations for real and imaginary parts.
    const Real same = value.real(), other[2] = {-value.imag(), value.imag()};
    Real product[2 * count];
    for (int k = 0; k < 2 * count; ++k)
      product[k] = same * part[k] + other[k % 2] * part[k ^ 1];
    for (int k = 0; k < 2 * count; ++k) held_[k] -= product[k];
  }
  void store(Scalar* to) const {
    Real* const part = reinterpret_cast<Real*>(to);
    for (int k = 0; k < 2 * count; ++k) part[k] = held_[k];
  }

 private:
  Real held_[2 * count];
};

/// LU with row exchanges of a narrow band on a host, column by column: what
/// LAPACK's gbtrf computes, in its storage. gbtrf calls a function of BLAS for
/// each step of a column, which takes longer than the step where there are few
/// diagonals.
template <class Scalar>
class NarrowBand {
 public:
  /// @param band   columns of 2 lower + upper + 1 rows
  /// @param pivots gbtrf's ipiv
  /// @param multipliers room for lower + 1
  NarrowBand(Scalar* band, int* pivots, Scalar* multipliers, int size,
             int lower, int upper)
      : band_(band),
        pivots_(pivots),
        first_(multipliers),
        size_(size),
        lower_(lower),
        upper_(upper),
        lines_(2 * lower + upper + 1) {}

  /// Where the diagonal of column j is.
  Scalar* diagonal(std::int64_t j) const {
    return band_ + j * lines_ + lower_ + upper_;
  }

  /// Writes zeros above the diagonals of the matrix in column j, which row
  /// exchanges fill.
  void clear_fill(std::int64_t j) const {
    Scalar* const column = band_ + j * lines_;
    std::fill(column, column + lower_, Scalar(0));
  }

  /// Eliminates column `first` and maybe the next one, those before being
  /// eliminated: chooses the pivots, and applies them to the columns that they
  /// reach: those before column reach(first), which have to be there.
  /// @returns the column to go on with; -1 where no pivot is left
  int eliminate(int first) {
    switch (lower_) {
      case 0:
        return eliminate_one<0>(first);
      case 1:
        return eliminate_one<1>(first);
      case 2:
        return eliminate_one<2>(first);
      case 3:
        return eliminate_one<3>(first);
      case 4:
        return eliminate_one<4>(first);
      case 5:
        return eliminate_one<5>(first);
      case 6:
        return eliminate_one<6>(first);
      case 7:
        return eliminate_one<7>(first);
      case 8:
        return eliminate_one<8>(first);
      default:
        return eliminate_two(first);
    }
  }
  /// One past the last column that eliminate(first) may write.
  int reach(int first) const {
    return std::min(size_, first + 2 + lower_ + upper_);
  }

 private:
  /// Rows below the diagonal: as many as the compiler knows, or any number.
  template <int known>
  struct Known {
    static constexpr int value = known;
  };
  struct Count {
    int value;
  };

  template <int known>
  int eliminate_one(int j) {
    if (j + known < size_) return eliminate_one(j, Known<known>());
    return eliminate_one(j, Count{size_ - 1 - j});
  }
  template <class Rows>
  int eliminate_one(int j, const Rows& rows) {
    const int pivot = choose_pivot(j, rows);
    if (pivot < 0) return -1;
    if (rows.value > 0)
      for (int q = j + 1; q <= last_; ++q) apply(j, pivot, q, rows);
    return j + 1;
  }

  /// Two columns at a time, so that the others are read and written once for
  /// both.
  int eliminate_two(int j) {
    const Count rows{std::min(lower_, size_ - 1 - j)};
    if (j + 1 + lower_ >= size_) return eliminate_one(j, rows);
    const int pivot = choose_pivot(j, rows);
    if (pivot < 0) return -1;
    const int last = last_;
    if (last > j) apply(j, pivot, j + 1, rows);
    const int next_pivot = choose_pivot(j + 1, rows);
    if (next_pivot < 0) return -1;
    // The first multipliers, whose rows the second exchange moves, too.
    const Scalar* const column = diagonal(j);
    std::copy(column + 1, column + 1 + rows.value, first_);
    first_[rows.value] = Scalar(0);
    std::swap(first_[0], first_[next_pivot]);
    const Scalar* const second = diagonal(j + 1) + 1;
    for (int q = j + 2; q <= last; ++q) {
      Scalar* const row = diagonal(q) - (q - j);
      std::swap(row[0], row[pivot]);
      std::swap(row[1], row[1 + next_pivot]);
      row[1] -= row[0] * first_[0];
      subtract(row + 2, row[0], first_ + 1, row[1], second, rows.value);
    }
    for (int q = std::max(last + 1, j + 2); q <= last_; ++q)
      apply(j + 1, next_pivot, q, rows);
    return j + 2;
  }

  /// Exchanges the largest of column j to the diagonal and divides by it.
  /// @returns how far below the diagonal it was; -1 where all are zero
  template <class Rows>
  int choose_pivot(int j, const Rows& rows) {
    Scalar* const column = diagonal(j);
    int pivot = 0;
    auto largest = sum_of_parts(column[0]);
    for (int i = 1; i <= rows.value; ++i) {
      const auto size = sum_of_parts(column[i]);
      if (size > largest) {
        largest = size;
        pivot = i;
      }
    }
    pivots_[j] = j + pivot + 1;
    last_ = std::max(last_, std::min(j + upper_ + pivot, size_ - 1));
    if (column[pivot] == Scalar(0)) return -1;
    if (pivot > 0) std::swap(column[0], column[pivot]);
    const Scalar reciprocal = quick_reciprocal(column[0]);
    for (int i = 1; i <= rows.value; ++i) column[i] *= reciprocal;
    return pivot;
  }

  /// Exchange and elimination of step j in column q.
  template <class Rows>
  void apply(int j, int pivot, int q, const Rows& rows) const {
    Scalar* const row = diagonal(q) - (q - j);
    const Scalar value = row[pivot];
    row[pivot] = row[0];
    row[0] = value;
    subtract(row + 1, value, diagonal(j) + 1, rows);
  }

  /// Elements that are loaded before the first of them is stored: a compiler
  /// does not know that memory is apart.
  static constexpr int at_once = sizeof(Scalar) > 8 ? 2 : 4;

  /// x -= value y.
  template <class Rows>
  static void subtract(Scalar* x, const Scalar value, const Scalar* y,
                       const Rows& rows) {
    int i = 0;
    // Loads of two parts at once wait long for multipliers that were stored one
    // by one a moment before.
    constexpr bool by_parts = sizeof(Scalar) > sizeof(sum_of_parts(Scalar()));
    constexpr bool few = std::is_empty<Rows>::value;
    for (; !(by_parts && few) && i + at_once <= rows.value; i += at_once) {
      ScalarGroup<Scalar, at_once> group(x + i);
      group.subtract(value, y + i);
      group.store(x + i);
    }
    for (; i < rows.value; ++i) x[i] -= value * y[i];
  }
  /// x = (x - u y) - v z.
  static void subtract(Scalar* x, const Scalar u, const Scalar* y,
                       const Scalar v, const Scalar* z, int rows) {
    int i = 0;
    for (; i + at_once <= rows; i += at_once) {
      ScalarGroup<Scalar, at_once> group(x + i);
      group.subtract(u, y + i);
      group.subtract(v, z + i);
      group.store(x + i);
    }
    for (; i < rows; ++i) {
      x[i] -= u * y[i];
      x[i] -= v * z[i];
    }
  }

  Scalar* band_;
  int* pivots_;
  Scalar* first_;  ///< multipliers of the first of two columns
  int size_, lower_, upper_;
  int last_ = 0;  ///< column that the rows of chosen pivots reach
  std::int64_t lines_;
};

}  // namespace Detail
}  // namespace Strata

#endif
