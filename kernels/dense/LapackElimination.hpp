// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_LAPACK_ELIMINATION_HPP
#define STRATA_KERNELS_DENSE_LAPACK_ELIMINATION_HPP

#include <algorithm>
#include <core/lapack/Lapack.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/dense/DenseCopies.hpp>
#include <kernels/dense/PanelState.hpp>

namespace Strata {
namespace Detail {

/// Does by a host's LAPACK what Elimination does where each column has a pivot.
/// The host waits in each call.
template <class Scalar, class MemorySpace>
class LapackElimination {
 public:
  using Ref = DenseRef<Scalar>;

  /// As Elimination::sweep, but that rows are in the order of their pivots in
  /// L, too.
  void sweep(const Ref& a, std::int64_t rows, std::int64_t columns,
             std::int64_t further, double tolerance) {
    const std::int64_t steps = std::min(rows, columns);
    reserve(exchange_, "Strata::Dense::exchange", steps);
    pivots_ = Pivots();
    pivots_.columns.resize(steps);
    for (std::int64_t q = 0; q < steps; ++q) pivots_.columns[q] = q;
    if (steps == 0) return;
    const int m = static_cast<int>(rows), k = static_cast<int>(steps);
    const int more = static_cast<int>(further), ld = static_cast<int>(a.ld);
    Lapack<Scalar>::getrf(m, static_cast<int>(columns), a.data, ld,
                          exchange_.data());
    look_at(a, rows, columns, tolerance);
    if (pivots_.lacking != EliminationStatus::none || further == 0) return;
    const Ref right = a.from(0, columns);
    Lapack<Scalar>::laswp(more, right.data, ld, k, exchange_.data());
    Lapack<Scalar>::trsm(false, k, more, a.data, ld, right.data, ld);
    if (rows > steps)
      Lapack<Scalar>::subtract_product(m - k, more, k, a.from(steps, 0).data,
                                       ld, right.data, ld,
                                       right.from(steps, 0).data, ld);
  }
  /// The pivots of the last sweep.
  const Pivots& pivots() const { return pivots_; }

  /// Writes the solutions of a regular system over its right-hand sides.
  void solve(const Ref& a, const Ref& b, std::int64_t rows,
             std::int64_t columns) const {
    Lapack<Scalar>::getrs(static_cast<int>(rows), static_cast<int>(columns),
                          a.data, static_cast<int>(a.ld), exchange_.data(),
                          b.data, static_cast<int>(b.ld));
  }

  /// Writes the inverse of a regular matrix into x: the solutions for the
  /// identity.
  void invert(const Ref& a, const Ref& x, std::int64_t rows) const {
    for (std::int64_t j = 0; j < rows; ++j) {
      std::fill(&x(0, j), &x(0, j) + rows, Scalar(0));
      x(j, j) = Scalar(1);
    }
    solve(a, x, rows, rows);
  }

  /// Whether all elements are finite. Where there are many, BLAS adds up each
  /// row: its threads are at work, and a sum of what is not finite is not. A
  /// sum may overflow, too, and then each element is looked at.
  bool is_finite(const Ref& a, std::int64_t rows, std::int64_t columns) {
    if (rows * columns > least_for_sums) {
      reserve(ones_, "Strata::Dense::ones", columns);
      reserve(sums_, "Strata::Dense::sums", rows);
      std::fill(ones_.data(), ones_.data() + columns, Scalar(1));
      std::fill(sums_.data(), sums_.data() + rows, Scalar(0));
      Lapack<Scalar>::add_product(
          static_cast<int>(rows), static_cast<int>(columns), a.data,
          static_cast<int>(a.ld), ones_.data(), sums_.data());
      if (are_finite(sums_.data(), rows)) return true;
    }
    for (std::int64_t j = 0; j < columns; ++j)
      if (!are_finite(&a(0, j), rows)) return false;
    return true;
  }

  std::size_t bytes() const {
    return exchange_.extent(0) * sizeof(int) +
           (ones_.extent(0) + sums_.extent(0)) * sizeof(Scalar);
  }

 private:
  template <class View>
  static void reserve(View& buffer, const char* label, std::int64_t elements) {
    if (static_cast<std::int64_t>(buffer.extent(0)) >= elements) return;
    buffer = View();
    make_unfilled(buffer, label, elements);
  }

  /// Elements from which on is_finite calls BLAS.
  static constexpr std::int64_t least_for_sums = 16384;

  /// Finds the first column whose pivot is too small, and the first that has
  /// left the range of numbers.
  void look_at(const Ref& a, std::int64_t rows, std::int64_t columns,
               double tolerance) {
    const bool finite = is_finite(a, rows, columns);
    for (std::int64_t j = 0; j < columns; ++j) {
      if (!finite && !are_finite(&a(0, j), rows)) {
        pivots_.overflow = static_cast<int>(j);
        return;
      }
      if (j < rows && !(one_norm(a(j, j)) > tolerance) &&
          pivots_.lacking == EliminationStatus::none)
        pivots_.lacking = static_cast<int>(j);
    }
  }

  Pivots pivots_;
  Kokkos::View<int*, MemorySpace> exchange_;
  Kokkos::View<Scalar*, MemorySpace> ones_, sums_;
};

}  // namespace Detail
}  // namespace Strata

#endif
