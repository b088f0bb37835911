// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_SPARSE_CASES_HPP
#define STRATA_FUZZ_SPARSE_CASES_HPP

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "Scalar.hpp"

namespace Strata {
namespace Fuzz {

/// A sparse matrix of any shape on the host.
template <class Scalar>
struct SparseMatrix {
  std::int64_t columns = 0;
  std::vector<std::int64_t> row_map{0}, entries;
  std::vector<Scalar> values;

  std::int64_t rows() const {
    return static_cast<std::int64_t>(row_map.size()) - 1;
  }
  void add(std::int64_t column, const Scalar& value) {
    entries.push_back(column);
    values.push_back(value);
  }
  void end_row() {
    row_map.push_back(static_cast<std::int64_t>(entries.size()));
  }
};

/// A row of |A x|, and what its terms come to.
template <class Scalar>
struct RowProduct {
  WideOf<Scalar> sum{0};
  long double size = 0;
  std::int64_t length = 0;
  /// A term is not finite.
  bool special = false;

  RowProduct(const SparseMatrix<Scalar>& A, std::int64_t i, const Scalar* x) {
    for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
      const Scalar& factor = x[A.entries[k]];
      special = special || !finite(A.values[k]) || !finite(factor);
      const auto term = product(widen(A.values[k]), widen(factor));
      sum += term;
      size += magnitude(term);
      ++length;
    }
  }
};

/// Kinds of matrices for products.
template <class Scalar>
class SparseCases {
 public:
  SparseMatrix<Scalar> matrix;
  std::string name;

  explicit SparseCases(Random& random) : random_(random) {
    rows_ = random.chance(0.1)   ? random.whole(0, 3)
            : random.chance(0.1) ? random.whole(500, 4000)
                                 : random.whole(1, 500);
    matrix.columns = random.chance(0.5) ? rows_ : random.whole(1, 600);
    switch (random.whole(0, 4)) {
      case 0:
        name = "stencil";
        make_stencil();
        break;
      case 1:
        name = "sparse";
        make_rows([&](int) { return random_.poisson(4); });
        break;
      case 2:
        name = "power law";
        make_rows([&](int) {
          return static_cast<int>(0.8 / (random_.real(0, 1) + 0.002));
        });
        break;
      case 3:
        name = "one long row";
        make_rows([&](int i) { return i == rows_ / 2 ? 1500 : 2; });
        break;
      default:
        name = "mostly empty";
        make_rows([&](int i) { return i % 7 == 0 ? random_.whole(0, 9) : 0; });
    }
    name += ", " + std::to_string(rows_) + " x " +
            std::to_string(matrix.columns) + ", " +
            std::to_string(matrix.entries.size()) + " entries";
  }

 private:
  /// Columns in any order, some named more than once.
  template <class Length>
  void make_rows(const Length& length) {
    const int columns = static_cast<int>(matrix.columns);
    for (int i = 0; i < rows_; ++i) {
      for (int k = columns == 0 ? 0 : length(i); k > 0; --k)
        matrix.add(random_.whole(0, columns - 1),
                   random_scalar<Scalar>(random_));
      matrix.end_row();
    }
  }
  void make_stencil() {
    std::vector<int> offsets;
    for (int k = random_.whole(1, 9); k > 0; --k)
      offsets.push_back(random_.whole(-40, 40));
    const double density = random_.pick({1.0, 1.0, 0.8});
    for (int i = 0; i < rows_; ++i) {
      for (const int offset : offsets)
        if (i + offset >= 0 && i + offset < matrix.columns &&
            random_.chance(density))
          matrix.add(i + offset, random_scalar<Scalar>(random_));
      matrix.end_row();
    }
  }

  Random& random_;
  int rows_;
};

/// A Hermitian matrix with sorted rows whose diagonal is `dominance` times the
/// magnitudes of its row.
template <class Scalar>
SparseMatrix<Scalar> hermitian_matrix(Random& random, int n, double dominance,
                                      double scale) {
  using Traits = ScalarTraits<Scalar>;
  std::vector<std::map<int, Scalar>> rows(n);
  const int kind = random.whole(0, 2), side = random.whole(2, 20);
  const bool laplacian = random.chance(0.4);
  const auto join = [&](int i, int j) {
    if (j < 0 || j >= i) return;
    const Scalar value = laplacian ? Traits::make(-scale, 0)
                                   : random_scalar<Scalar>(random, scale);
    rows[i][j] = value;
    rows[j][i] = Traits::conjugate(value);
  };
  for (int i = 1; i < n; ++i) {
    if (kind == 0 || (kind == 1 && i % side != 0)) join(i, i - 1);
    if (kind == 1) join(i, i - side);
    if (kind == 2)
      for (int k = random.poisson(2); k > 0; --k)
        join(i, random.whole(0, i - 1));
  }
  SparseMatrix<Scalar> A;
  A.columns = n;
  for (int i = 0; i < n; ++i) {
    long double sum = 0.1L * scale;
    for (const auto& entry : rows[i]) sum += magnitude(widen(entry.second));
    rows[i][i] = Traits::make(dominance * static_cast<double>(sum), 0);
    for (const auto& entry : rows[i]) A.add(entry.first, entry.second);
    A.end_row();
  }
  return A;
}

}  // namespace Fuzz
}  // namespace Strata

#endif
