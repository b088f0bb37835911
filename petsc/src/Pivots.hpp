// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_PIVOTS_HPP
#define PETSCSTRATA_PIVOTS_HPP

// Which pivots PETSc takes for zero, and what it adds to the diagonal then:
// the rules that its manual page of PCFactorSetShiftType states.

#include <petscmat.h>

#include <cmath>
#include <limits>
#include <vector>

#include "Arrays.hpp"

namespace PetscStrata {

KOKKOS_INLINE_FUNCTION PetscReal magnitude(const Scalar& a) {
#if defined(PETSC_USE_COMPLEX)
  return Kokkos::abs(a);
#else
  return a < 0 ? -a : a;
#endif
}
KOKKOS_INLINE_FUNCTION PetscReal real_part(const Scalar& a) {
#if defined(PETSC_USE_COMPLEX)
  return a.real();
#else
  return a;
#endif
}

/// Of a factorisation: the rules for its pivots.
struct PivotRules {
  /// A pivot fails if its magnitude (its real part, if `positive`) is not above
  /// this, which is multiplied by the sum of the magnitudes of the other
  /// entries of the row's factors, if `relative`.
  PetscReal tolerance;
  bool relative, positive;
  /// The factors' rows are those of U alone: D L^T of incomplete Cholesky.
  bool upper_alone;
};

inline PivotRules pivot_rules(const MatFactorInfo& info, bool is_cholesky) {
  const bool nonzero = info.shifttype == (PetscReal)MAT_SHIFT_NONZERO;
  const bool definite =
      info.shifttype == (PetscReal)MAT_SHIFT_POSITIVE_DEFINITE;
  return {info.zeropivot, nonzero || definite, definite, is_cholesky};
}

/// The first row whose pivot fails.
template <class Exec>
struct FindFailedPivot {
  using value_type = PetscInt;
  Matrix<Exec> L, U;
  PivotRules rules;

  KOKKOS_INLINE_FUNCTION PetscReal others(const Matrix<Exec>& factor,
                                          PetscInt row) const {
    PetscReal sum = 0;
    const PetscInt end = factor.graph.row_map(row + 1);
    for (PetscInt k = factor.graph.row_map(row); k < end; ++k)
      if (factor.graph.entries(k) != row) sum += magnitude(factor.values(k));
    return sum;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const PetscInt row,
                                         PetscInt& first) const {
    // U's diagonal is the first entry of a row.
    const Scalar pivot = U.values(U.graph.row_map(row));
    PetscReal limit = rules.tolerance;
    if (rules.relative)
      limit *= (rules.upper_alone ? 0 : others(L, row)) + others(U, row);
    const PetscReal size = rules.positive ? real_part(pivot) : magnitude(pivot);
    // A pivot that is not a number doesn't fail: PETSc's don't, either.
    if (size <= limit && row < first) first = row;
  }
};

/// The largest of sum_j |a_ij| - |a_ii| - Re a_ii over the rows: what has to
/// be added to the diagonal to make A diagonally dominant, with positive
/// diagonal.
template <class Exec>
struct FindDominantShift {
  using value_type = PetscReal;
  Matrix<Exec> A;
  KOKKOS_INLINE_FUNCTION void operator()(const PetscInt row,
                                         PetscReal& largest) const {
    PetscReal sum = 0, diagonal = 0;
    const PetscInt end = A.graph.row_map(row + 1);
    for (PetscInt k = A.graph.row_map(row); k < end; ++k) {
      const Scalar value = A.values(k);
      sum += magnitude(value);
      if (A.graph.entries(k) == row)
        diagonal = magnitude(value) + real_part(value);
    }
    if (sum - diagonal > largest) largest = sum - diagonal;
  }
};

/// Values of A with an amount added to the diagonal; with `mirror`, those of
/// the lower triangle are those of the upper one. The result is the number of
/// lower entries without a mirror image. Rows are sorted.
template <class Exec>
struct PrepareValues {
  using value_type = PetscInt;
  Matrix<Exec> A;
  PetscReal amount;
  bool mirror;
  Kokkos::View<Scalar*, typename Exec::memory_space> values;

  /// The place of an entry, -1 where there is none.
  KOKKOS_INLINE_FUNCTION PetscInt find(PetscInt row, PetscInt column) const {
    PetscInt first = A.graph.row_map(row), last = A.graph.row_map(row + 1);
    const PetscInt end = last;
    while (first < last) {
      const PetscInt middle = first + (last - first) / 2;
      if (A.graph.entries(middle) < column)
        first = middle + 1;
      else
        last = middle;
    }
    return first < end && A.graph.entries(first) == column ? first : -1;
  }
  KOKKOS_INLINE_FUNCTION void operator()(const PetscInt row,
                                         PetscInt& unmatched) const {
    const PetscInt end = A.graph.row_map(row + 1);
    for (PetscInt k = A.graph.row_map(row); k < end; ++k) {
      const PetscInt column = A.graph.entries(k);
      const PetscInt at = mirror && column < row ? find(column, row) : k;
      if (at < 0)
        ++unmatched;
      else
        values(k) = column == row ? A.values(at) + amount : A.values(at);
    }
  }
};

/// Adds an amount to the diagonal entry of a row. Rows are sorted.
template <class Exec>
struct ShiftPivot {
  Matrix<Exec> A;
  PetscReal amount;
  Kokkos::View<Scalar*, typename Exec::memory_space> values;
  KOKKOS_INLINE_FUNCTION void operator()(const PetscInt row) const {
    const PetscInt end = A.graph.row_map(row + 1);
    for (PetscInt k = A.graph.row_map(row); k < end; ++k)
      if (A.graph.entries(k) == row) values(k) += amount;
  }
};

/// Square roots of U's diagonal. The result is the first row whose entry is not
/// real and positive.
template <class Exec>
struct TakeRoots {
  using value_type = PetscInt;
  Matrix<Exec> U;
  Kokkos::View<PetscReal*, typename Exec::memory_space> roots;
  KOKKOS_INLINE_FUNCTION void operator()(const PetscInt row,
                                         PetscInt& bad) const {
    const Scalar pivot = U.values(U.graph.row_map(row));
    const PetscReal real = real_part(pivot);
    // As PETSc's: an imaginary part is refused, not rounded away.
    if (!(real > 0) || pivot != Scalar(real)) {
      if (row < bad) bad = row;
      return;
    }
    roots(row) = std::sqrt(real);
  }
};

/// What is added to the diagonal in each try, PETSc's rules: nothing first.
class Shift {
 public:
  /// @param top  FindDominantShift's result
  Shift(const MatFactorInfo& info, bool is_cholesky, PetscReal top)
      : type_(
            static_cast<MatFactorShiftType>(static_cast<int>(info.shifttype))),
        first_(info.shiftamount),
        top_(PetscReal(1.1) * top),
        refines_(!is_cholesky) {}

  PetscReal amount() const { return amount_; }
  PetscInt tries() const { return tries_; }
  /// Rows with a shift of their own (MAT_SHIFT_INBLOCKS), ascending, and it.
  const std::vector<PetscInt>& pivots() const { return pivots_; }
  PetscReal of_pivot() const { return first_; }

  /// After a try in which the pivot of that row failed. False: give up.
  bool raise(PetscInt row) {
    if (type_ == MAT_SHIFT_INBLOCKS) {
      // PETSc doesn't look at a pivot again, and rows below it see it shifted.
      if (first_ == 0 || pivots_.size() == most_pivots) return false;
      pivots_.push_back(row);
      ++tries_;
      return true;
    }
    if (type_ == MAT_SHIFT_NONZERO) {
      amount_ = tries_ == 0 ? first_ : 2 * amount_;
      ++tries_;
      return amount_ > 0 && amount_ < std::numeric_limits<PetscReal>::max() / 4;
    }
    if (type_ != MAT_SHIFT_POSITIVE_DEFINITE) return false;
    // With all of it A is diagonally dominant: a pivot that still fails, or a
    // sum that is no number, fails with any other.
    if (fraction_ >= high_ || !(top_ < std::numeric_limits<PetscReal>::max()))
      return false;
    if (tries_ == most_tries) {
      fraction_ = high_;
    } else {
      low_ = fraction_;
      fraction_ = (high_ + low_) / 2;
    }
    amount_ = fraction_ * top_;
    ++tries_;
    return tries_ <= 2 * most_tries;
  }
  /// After a try in which none failed. True: a smaller amount is to be tried.
  bool lower() {
    if (type_ != MAT_SHIFT_POSITIVE_DEFINITE || !refines_ || fraction_ <= 0 ||
        tries_ >= most_tries)
      return false;
    high_ = fraction_;
    fraction_ = (high_ + low_) / 2;
    amount_ = fraction_ * top_;
    ++tries_;
    return true;
  }

 private:
  static constexpr PetscInt most_tries = 5;
  static constexpr std::size_t most_pivots = 64;
  MatFactorShiftType type_;
  PetscReal first_, top_;
  bool refines_;
  PetscReal amount_ = 0, fraction_ = 0, low_ = 0, high_ = 1;
  PetscInt tries_ = 0;
  std::vector<PetscInt> pivots_;
};

}  // namespace PetscStrata

#endif
