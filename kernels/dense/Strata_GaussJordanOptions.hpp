// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GAUSS_JORDAN_OPTIONS_HPP
#define STRATA_GAUSS_JORDAN_OPTIONS_HPP

#include <cstdint>
#include <vector>

namespace Strata {

/// How to eliminate; the defaults suit any matrix.
struct GaussJordanOptions {
  /// An entry is a pivot if its magnitude (|x|; |Re x| + |Im x| of a complex
  /// one) is larger. Negative: max(m, n) * eps * |A|_1 for the reduced row
  /// echelon form, eps being the distance from 1 to the next number and |A|_1
  /// the largest sum of magnitudes of a column; 0 for solutions and inverses,
  /// which like LAPACK's give up at an exact zero only.
  double tolerance = -1;
  /// Pivots are looked for in that many columns at the front; the others are
  /// right-hand sides and only carried along. Negative: in all. Reduced row
  /// echelon form only.
  std::int64_t pivot_columns = -1;
  /// Columns of a stripe, a multiple of 32. 0: a number that suits.
  int stripe = 0;
  /// On a host, call the LAPACK that the library was built with, if any
  /// (Strata_ENABLE_LAPACK): getrf where each column has a pivot.
  bool use_lapack = true;
};

/// What is known of a matrix after its reduction.
struct RowEchelonForm {
  std::int64_t rank = 0;
  /// Column of the leading one of row 0, 1, ..., rank - 1.
  std::vector<std::int64_t> pivot_columns;
  /// The tolerance that was used, and the largest sum of magnitudes of a column
  /// that may have a pivot.
  double tolerance = 0, norm = 0;
};

}  // namespace Strata

#endif
