// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_REPLACED_ROW_HPP
#define STRATA_TEST_REPLACED_ROW_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "HostMatrix.hpp"

namespace Strata {

/// A row with entries right of the diagonal which, if `levels` level sets of
/// the upper triangle are merged, another row replaces, that with the largest
/// terms; -1: there is none.
template <class Scalar>
std::int64_t replaced_row(const HostMatrix<Scalar>& A, int levels) {
  using std::abs;  // or that of Kokkos, for complex numbers
  std::vector<int> level(A.rows);
  std::vector<double> size(A.rows);  // of what is right of the diagonal
  for (std::int64_t i = A.rows - 1; i >= 0; --i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      if (A.entries[k] > i) {
        level[i] = std::max(level[i], level[A.entries[k]] + 1);
        size[i] += abs(A.values[k]);
      }
  std::int64_t found = -1;
  double largest = 0;
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const std::int64_t j = A.entries[k];
      if (j <= i || level[j] == 0 || level[j] / levels != level[i] / levels)
        continue;
      const double terms = abs(A.values[k]) * size[j];
      if (terms <= largest) continue;
      largest = terms;
      found = j;
    }
  return found;
}

/// The same row far larger right of the diagonal: merged rows that replace it
/// are too inaccurate. What is below the diagonal, if anything, is as much
/// smaller, so that other rows of factors stay as they are.
template <class Scalar>
HostMatrix<Scalar> with_large_row(HostMatrix<Scalar> A, int levels) {
  const std::int64_t row = replaced_row(A, levels);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      if (i == row && A.entries[k] > row) A.values[k] *= 1e6f;
      if (i > row && A.entries[k] == row) A.values[k] *= 1e-6f;
    }
  return A;
}

}  // namespace Strata

#endif
