// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_LAPACK_INVERSE_HPP
#define STRATA_KERNELS_DENSE_LAPACK_INVERSE_HPP

#include <algorithm>
#include <core/device/NotReady.hpp>
#include <core/lapack/Lapack.hpp>
#include <kernels/dense/DenseRef.hpp>

namespace Strata {
namespace Detail {

/// U^-1 L^-1 from the factors of LAPACK's getrf, in 4/3 n^3 operations where
/// getrs takes 2 n^3 for the identity: what stands above the diagonal of L^-1
/// is zero, and is not computed.
///
/// Each column of L^-1 comes of forward substitution for a column of the
/// identity, and each of the result of backward substitution for one of L^-1,
/// as by getrs. Only the order of the operations differs, on which the bounds
/// of substitution do not depend. So the residual A X - I has getrs's bound.
///
/// Rows are worked on in blocks. Nearly all operations are products, which BLAS
/// does by several threads and faster than triangles. Many threads, though,
/// take longer to meet in a product of small blocks than to solve with a
/// triangle that they share by its right-hand sides.
template <class Scalar>
class LapackInverse {
 public:
  using Ref = DenseRef<Scalar>;

  /// @param threads that BLAS has, as far as is known
  explicit LapackInverse(int threads)
      : most_rows_(threads < many_threads ? least_block : shared_block) {}

  /// @param lu the factors, n x n
  /// @param x gets the result; apart from lu
  void compute(const Ref& lu, const Ref& x, int n) const {
    invert_lower(lu, x, n);
    solve_upper(lu, x, n);
  }

 private:
  /// Rows of a block of L and of U. Larger blocks of L mean more operations
  /// with zeros.
  static constexpr int lower_block = 128, upper_block = 256;
  /// Rows of the triangles that no product takes part in.
  static constexpr int least_block = 24;
  /// Columns of right-hand sides that these are solved for at once.
  static constexpr int at_once = 4;
  /// Columns up to which these are no work for several threads.
  static constexpr int few_columns = 512;
  /// Rows of the triangles that many threads share, and columns that these have
  /// at least. Measured on 16 cores with up to 500 columns; by one thread and
  /// by two, halves won.
  static constexpr int many_threads = 4, shared_block = 128,
                       least_shared_columns = 48;

  /// x = L^-1, block by block of its rows; above the diagonal blocks nothing is
  /// written.
  void invert_lower(const Ref& l, const Ref& x, int n) const {
    for (int k = 0; k < n; k += lower_block) {
      const int width = std::min(lower_block, n - k), below = n - k - width;
      const Ref triangle = l.from(k, k), inverse = x.from(k, k);
      for (int j = 0; j < width; ++j) {
        std::fill(&inverse(0, j), &inverse(0, j) + width, Scalar(0));
        inverse(j, j) = Scalar(1);
      }
      if (k > 0) solve(false, triangle, x.from(k, 0), width, k);
      invert_block(triangle, inverse, width);
      if (below == 0) continue;
      const Ref multipliers = l.from(k + width, k);
      if (k > 0)
        subtract(multipliers, x.from(k, 0), x.from(k + width, 0), below, k,
                 width);
      // The trailing part of new columns holds nothing yet.
      subtract(multipliers, inverse, x.from(k + width, k), below, width, width,
               true);
    }
  }

  /// A diagonal block of x, which holds the identity, becomes L^-1 of that of
  /// L.
  void invert_block(const Ref& l, const Ref& x, int n) const {
    for (int k = 0; k < n; k += least_block) {
      const int width = std::min(least_block, n - k), next = k + width;
      if (k > 0) solve(false, l.from(k, k), x.from(k, 0), width, k);
      for (int j = k; j < next; j += at_once)
        substitute<false>(l.from(j, j), x.from(j, j), next - j,
                          std::min(at_once, next - j));
      if (next < n)
        subtract(l.from(next, k), x.from(k, 0), x.from(next, 0), n - next, next,
                 width);
    }
  }

  /// x = U^-1 x, for an x of which what stands above the diagonal blocks of L
  /// is not written yet.
  void solve_upper(const Ref& u, const Ref& x, int n) const {
    for (int k = (n - 1) / upper_block * upper_block; k >= 0;
         k -= upper_block) {
      const int width = std::min(upper_block, n - k), next = k + width;
      for (int j = k + lower_block; j < next; ++j)
        std::fill(&x(k, j), &x(j / lower_block * lower_block, j), Scalar(0));
      if (next < n) {
        const Ref right = u.from(k, next);
        subtract(right, x.from(next, 0), x.from(k, 0), width, next, n - next);
        subtract(right, x.from(next, next), x.from(k, next), width, n - next,
                 n - next, true);
      }
      solve(true, u.from(k, k), x.from(k, 0), width, n);
    }
  }

  /// b = T^-1 b for T upper or unit lower triangular, by halves.
  void solve(bool upper, const Ref& t, const Ref& b, int rows,
             int columns) const {
    if (rows <= least_block && columns <= few_columns)
      return upper ? substitute<true>(t, b, rows, columns)
                   : substitute<false>(t, b, rows, columns);
    const bool shared =
        columns >= least_shared_columns && columns <= few_columns;
    if (rows <= (shared ? most_rows_ : least_block)) {
      Lapack<Scalar>::trsm(upper, rows, columns, t.data, static_cast<int>(t.ld),
                           b.data, static_cast<int>(b.ld));
      return;
    }
    const int half = (rows / 2 + least_block - 1) / least_block * least_block;
    const Ref of_second = t.from(half, half), second = b.from(half, 0);
    if (upper) {
      solve(upper, of_second, second, rows - half, columns);
      subtract(t.from(0, half), second, b, half, columns, rows - half);
      solve(upper, t, b, half, columns);
    } else {
      solve(upper, t, b, half, columns);
      subtract(t.from(half, 0), b, second, rows - half, columns, half);
      solve(upper, of_second, second, rows - half, columns);
    }
  }

  /// The same for up to least_block rows, by the caller.
  template <bool upper>
  static void substitute(const Ref& t, const Ref& b, int rows, int columns) {
    Scalar reciprocal[least_block];
    for (int q = 0; q < rows; ++q)
      reciprocal[q] = upper ? Scalar(1) / t(q, q) : Scalar(1);
    int j = 0;
    for (; j + at_once <= columns; j += at_once)
      substitute<upper, at_once>(t, reciprocal, b.from(0, j), rows);
    for (; j < columns; ++j)
      substitute<upper, 1>(t, reciprocal, b.from(0, j), rows);
  }
  /// In arrays of real numbers that a compiler knows to be apart, so that it
  /// makes vector instructions of the loops over rows.
  template <bool upper, int columns>
  static void substitute(const Ref& t, const Scalar* reciprocal, const Ref& b,
                         int rows) {
    using Words = ScalarWords<Scalar>;
    using Real = typename Words::Word;
    constexpr int parts = Words::count;
    Real x[columns][parts][least_block], factor[parts][least_block];
    const auto part_of = [](Scalar& value, int part) -> Real& {
      return reinterpret_cast<Real*>(&value)[part];
    };
    for (int c = 0; c < columns; ++c)
      for (int i = 0; i < rows; ++i)
        for (int p = 0; p < parts; ++p) x[c][p][i] = part_of(b(i, c), p);
    for (int k = 0; k < rows; ++k) {
      const int q = upper ? rows - 1 - k : k;
      const int begin = upper ? 0 : q + 1, end = upper ? q : rows;
      for (int p = 0; p < parts; ++p)
        for (int i = begin; i < end; ++i) factor[p][i] = part_of(t(i, q), p);
      Real re[columns], im[columns];
      for (int c = 0; c < columns; ++c) {
        Scalar value;
        for (int p = 0; p < parts; ++p) part_of(value, p) = x[c][p][q];
        if (upper) value *= reciprocal[q];
        for (int p = 0; p < parts; ++p) x[c][p][q] = part_of(value, p);
        re[c] = part_of(value, 0);
        im[c] = part_of(value, parts - 1);
      }
      for (int i = begin; i < end; ++i)
        for (int c = 0; c < columns; ++c) {
          if constexpr (parts == 1) {
            x[c][0][i] -= factor[0][i] * re[c];
          } else {
            x[c][0][i] -= factor[0][i] * re[c] - factor[1][i] * im[c];
            x[c][1][i] -= factor[0][i] * im[c] + factor[1][i] * re[c];
          }
        }
    }
    for (int c = 0; c < columns; ++c)
      for (int i = 0; i < rows; ++i)
        for (int p = 0; p < parts; ++p) part_of(b(i, c), p) = x[c][p][i];
  }

  /// c -= a b, a: rows x inner; with `fresh`, c = -a b.
  static void subtract(const Ref& a, const Ref& b, const Ref& c, int rows,
                       int columns, int inner, bool fresh = false) {
    Lapack<Scalar>::subtract_product(
        rows, columns, inner, a.data, static_cast<int>(a.ld), b.data,
        static_cast<int>(b.ld), c.data, static_cast<int>(c.ld), fresh);
  }

  int most_rows_;  ///< of triangles that BLAS solves with
};

}  // namespace Detail
}  // namespace Strata

#endif
