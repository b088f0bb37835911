// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_SYSTEM_MATRIX_HPP
#define STRATA_FUZZ_SYSTEM_MATRIX_HPP

#include <Strata_Types.hpp>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "TriangularSystem.hpp"

namespace Strata {
namespace Fuzz {

/// Which entries of a unit diagonal are stored, as garbage.
enum class StoredDiagonal { all, some, none };

/// How a system is written as a CRS matrix.
struct MatrixForm {
  Uplo uplo = Uplo::lower;
  Diag diag = Diag::non_unit;
  StoredDiagonal stored_diagonal = StoredDiagonal::all;
  /// Rows are in no order.
  bool shuffled = false;
  /// Entries of the other triangle stand among those of this one.
  bool other_triangle = false;

  std::string text() const {
    return std::string(to_string(uplo)) + " " + to_string(diag) +
           (stored_diagonal == StoredDiagonal::none ? " not stored" : "") +
           (shuffled ? " shuffled" : "") + (other_triangle ? " full" : "");
  }
};

/// Whether op(A) is a lower triangle.
inline bool is_forward(const MatrixForm& form, Op op) {
  return (form.uplo == Uplo::lower) == (op == Op::none);
}
/// A with op(A) a given system, in CRS form on the host.
template <class Scalar>
struct SystemMatrix {
  std::vector<std::int64_t> row_map{0}, entries;
  std::vector<Scalar> values;

  SystemMatrix() = default;
  SystemMatrix(const TriangularSystem<Scalar>& system, const MatrixForm& form,
               Op op, Random& random) {
    const int n = system.size();
    const bool forward = is_forward(form, op), lower = form.uplo == Uplo::lower;
    std::vector<std::vector<Entry>> rows(n);
    const auto place = [&](int i) { return forward ? i : n - 1 - i; };
    const auto add = [&](int i, int j, const Scalar& value) {
      if (op == Op::none)
        rows[place(i)].push_back({place(j), value});
      else
        rows[place(j)].push_back(
            {place(i), op == Op::transpose
                           ? value
                           : ScalarTraits<Scalar>::conjugate(value)});
    };
    for (int i = 0; i < n; ++i) {
      for (const auto& entry : system.rows[i])
        add(i, entry.column, entry.value);
      if (form.diag == Diag::non_unit)
        add(i, i, system.diagonal[i]);
      else if (form.stored_diagonal == StoredDiagonal::all ||
               (form.stored_diagonal == StoredDiagonal::some &&
                random.chance(0.5)))
        add(i, i, garbage(random));
    }
    if (form.other_triangle)
      for (int i = 0; i < n; ++i)
        if (random.chance(0.3))
          rows[i].push_back(
              {lower ? random.whole(i, n - 1) : random.whole(0, i),
               garbage(random)});
    for (auto& row : rows) store(row, form.shuffled, random);
  }

 private:
  struct Entry {
    int column;
    Scalar value;
  };

  static Scalar garbage(Random& random) {
    return random.pick({Scalar(0), random_nan<Scalar>(random), Scalar(-1e30f)});
  }
  void store(std::vector<Entry>& row, bool shuffled, Random& random) {
    // What stands for the other triangle may have hit the diagonal.
    std::stable_sort(
        row.begin(), row.end(),
        [](const Entry& a, const Entry& b) { return a.column < b.column; });
    const auto same = [](const Entry& a, const Entry& b) {
      return a.column == b.column;
    };
    row.erase(std::unique(row.begin(), row.end(), same), row.end());
    if (shuffled) random.shuffle(row);
    for (const Entry& entry : row) {
      entries.push_back(entry.column);
      values.push_back(entry.value);
    }
    row_map.push_back(static_cast<std::int64_t>(entries.size()));
  }
};

}  // namespace Fuzz
}  // namespace Strata

#endif
