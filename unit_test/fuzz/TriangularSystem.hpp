// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_TRIANGULAR_SYSTEM_HPP
#define STRATA_FUZZ_TRIANGULAR_SYSTEM_HPP

#include <algorithm>
#include <vector>

#include "Scalar.hpp"

namespace Strata {
namespace Fuzz {

/// op(A) x = b with the rows in the order of substitution: a lower triangle,
/// whichever A is stored.
template <class Scalar>
struct TriangularSystem {
  struct Entry {
    int column;
    Scalar value;
  };
  std::vector<std::vector<Entry>> rows;
  std::vector<Scalar> diagonal;

  int size() const { return static_cast<int>(rows.size()); }
  /// Entries of the longest row, diagonal included.
  int longest_row() const {
    std::size_t longest = 0;
    for (const auto& row : rows) longest = std::max(longest, row.size());
    return static_cast<int>(longest) + 1;
  }
};

/// Plain substitution in the scalar type itself.
template <class Scalar>
struct Substitution {
  std::vector<Scalar> x;
  /// Rows in which nothing comes near overflow or underflow, whether entries
  /// are divided by the diagonal first or sums afterwards.
  std::vector<char> tame_rows;

  Substitution(const TriangularSystem<Scalar>& system, const Scalar* b)
      : x(system.rows.size()), tame_rows(system.rows.size()) {
    for (int i = 0; i < system.size(); ++i) {
      tame_ = true;
      const Scalar d = system.diagonal[i];
      Scalar sum = b[i];
      require(b[i]);
      require(d);
      require(Scalar(1) / d);
      require(b[i] / d);
      for (const auto& entry : system.rows[i]) {
        const Scalar product = entry.value * x[entry.column];
        sum -= product;
        require(entry.value);
        require(entry.value / d);
        require(product);
        require(entry.value / d * x[entry.column]);
      }
      require(sum);
      x[i] = sum / d;
      require(x[i]);
      tame_rows[i] = tame_;
    }
  }
  /// Whether all rows are tame that are not marked.
  bool tame_but_for(const std::vector<char>& marked) const {
    for (std::size_t i = 0; i < tame_rows.size(); ++i)
      if (!tame_rows[i] && (marked.empty() || !marked[i])) return false;
    return true;
  }
  bool tame() const { return tame_but_for({}); }

 private:
  void require(const Scalar& v) { tame_ = tame_ && Fuzz::tame(v); }

  bool tame_ = true;
};

/// b = L x, rounded once.
template <class Scalar>
void multiply(const TriangularSystem<Scalar>& system, const Scalar* x,
              Scalar* b) {
  for (int i = 0; i < system.size(); ++i) {
    auto sum = product(widen(system.diagonal[i]), widen(x[i]));
    for (const auto& entry : system.rows[i])
      sum += product(widen(entry.value), widen(x[entry.column]));
    b[i] = ScalarTraits<Scalar>::narrow(sum);
  }
}

/// Rows that one of the rows marked leads to, those included.
template <class Scalar>
std::vector<char> reached_from(const TriangularSystem<Scalar>& system,
                               std::vector<char> marked) {
  for (int i = 0; i < system.size(); ++i)
    for (const auto& entry : system.rows[i])
      if (marked[entry.column]) marked[i] = 1;
  return marked;
}

/// Rows with a diagonal or an entry that is not finite.
template <class Scalar>
std::vector<char> rows_not_finite(const TriangularSystem<Scalar>& system) {
  std::vector<char> found(system.rows.size(), 0);
  for (int i = 0; i < system.size(); ++i) {
    found[i] = !finite(system.diagonal[i]);
    for (const auto& entry : system.rows[i])
      if (!finite(entry.value)) found[i] = 1;
  }
  return found;
}

}  // namespace Fuzz
}  // namespace Strata

#endif
