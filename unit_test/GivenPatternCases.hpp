// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_GIVEN_PATTERN_CASES_HPP
#define STRATA_TEST_GIVEN_PATTERN_CASES_HPP

// Random matrices, and symbolic and dense elimination to compare with.
#include <Strata_IncompleteFactorization.hpp>
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "HermitianMatrix.hpp"

using Strata::Factorization;
using Wide = std::complex<double>;
using Rows = std::vector<std::set<std::int64_t>>;

template <class Scalar>
Rows rows_of(const HostMatrix<Scalar>& A) {
  Rows rows(A.rows);
  for (std::int64_t i = 0; i < A.rows; ++i)
    rows[i].insert(A.entries.begin() + A.row_map[i],
                   A.entries.begin() + A.row_map[i + 1]);
  return rows;
}
/// A matrix with these entries, all of which are 0.
template <class Scalar>
HostMatrix<Scalar> pattern_of(const Rows& rows) {
  HostMatrix<Scalar> made;
  made.rows = made.columns = static_cast<std::int64_t>(rows.size());
  for (const auto& row : rows) {
    made.entries.insert(made.entries.end(), row.begin(), row.end());
    made.row_map.push_back(static_cast<std::int64_t>(made.entries.size()));
  }
  made.values.assign(made.entries.size(), Scalar(0));
  return made;
}
/// Elimination of sets: the pattern of L + U without row exchanges.
template <class Scalar>
HostMatrix<Scalar> symbolic(const HostMatrix<Scalar>& A) {
  Rows rows = rows_of(A);
  for (std::int64_t i = 0; i < A.rows; ++i) {
    rows[i].insert(i);
    // Columns that are inserted come later.
    for (auto k = rows[i].begin(); *k < i; ++k)
      rows[i].insert(rows[*k].upper_bound(*k), rows[*k].end());
  }
  return pattern_of<Scalar>(rows);
}

/// `per_row` random entries a row. The diagonal dominates, or is of the size of
/// the other entries.
template <class Scalar>
HostMatrix<Scalar> random_matrix(std::int64_t n, int per_row, bool dominant) {
  std::uniform_int_distribution<std::int64_t> column(0, n - 1);
  Rows rows(n);
  for (std::int64_t i = 0; i < n; ++i) {
    rows[i].insert(i);
    for (int k = 0; k < per_row; ++k) rows[i].insert(column(generator()));
  }
  auto A = pattern_of<Scalar>(rows);
  for (auto& v : A.values) v = random_number<Scalar>();
  for (std::int64_t i = 0; i < n; ++i)
    A.at(i, i) += Scalar(dominant ? 2 * per_row : 1);
  return A;
}

/// A row from `first` on becomes zeros up to its diagonal, and ones after it,
/// of which there is one at least. @returns the row
template <class Scalar>
std::int64_t clear_lower_part(HostMatrix<Scalar>& A, std::int64_t first) {
  while (A.entries[A.row_map[first + 1] - 1] == first) ++first;
  for (auto k = A.row_map[first]; k < A.row_map[first + 1]; ++k)
    A.values[k] = Scalar(A.entries[k] > first);
  return first;
}

template <class Scalar>
std::vector<Wide> dense(const HostMatrix<Scalar>& A) {
  std::vector<Wide> made(A.rows * A.columns);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k)
      made[i * A.columns + A.entries[k]] = wide(A.values[k]);
  return made;
}
/// L and U in one, by elimination without row exchanges.
inline std::vector<Wide> dense_lu(std::vector<Wide> A, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < i; ++k) {
      const Wide l = A[i * n + k] /= A[k * n + k];
      for (std::int64_t j = k + 1; j < n; ++j) A[i * n + j] -= l * A[k * n + j];
    }
  return A;
}

/// (L U)_ij = a_ij wherever `on` stores an entry, up to rounding.
template <class Scalar, class Factors>
void expect_product(const HostMatrix<Scalar>& A, const HostMatrix<Scalar>& on,
                    const Factors& factors) {
  const auto n = A.rows;
  const HostMatrix<Scalar> stored_l(factors.lower(Device())),
      stored_u(factors.upper(Device()));
  const auto L = dense(stored_l), U = dense(stored_u), a = dense(A);
  for (std::int64_t i = 0; i < n; ++i)
    for (auto k = on.row_map[i]; k < on.row_map[i + 1]; ++k) {
      const auto j = on.entries[k];
      Wide sum = 0;
      double size = 0;
      for (std::int64_t m = 0; m <= std::min(i, j); ++m) {
        sum += L[i * n + m] * U[m * n + j];
        size += std::abs(L[i * n + m]) * std::abs(U[m * n + j]);
      }
      ASSERT_LE(std::abs(sum - a[i * n + j]),
                20 * double(n) * epsilon_of<Scalar> * size)
          << i << ", " << j;
    }
}

#endif
