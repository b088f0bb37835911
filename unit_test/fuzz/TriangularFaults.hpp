// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_FUZZ_TRIANGULAR_FAULTS_HPP
#define STRATA_FUZZ_TRIANGULAR_FAULTS_HPP

#include <Strata_TriangularSolver.hpp>
#include <string>
#include <utility>

#include "Context.hpp"
#include "DeviceMatrix.hpp"
#include "TriangularCase.hpp"

namespace Strata {
namespace Fuzz {

/// Spoils a valid matrix in one place: the constructor has to name what is
/// wrong.
template <class Scalar>
class TriangularFaults {
 public:
  TriangularFaults(Context& context, const TriangularCase<Scalar>& c)
      : context_(context), case_(c) {}

  template <class Space, class Ordinal, class Offset>
  void check(SystemMatrix<Scalar> A, Random& random) {
    const int n = case_.size();
    const auto attempt = [&] {
      const DeviceMatrix<Scalar, Space, Ordinal, Offset> given(A);
      const TriangularSolver<Scalar, Space> solver(
          Space(), given.row_map, given.entries, given.values, case_.form.uplo,
          case_.form.diag, case_.options);
    };
    const int row = n == 0 ? 0 : random.whole(0, n - 1);
    switch (random.whole(0, 4)) {
      case 0:
        if (!zero_diagonal(A, row)) return;
        return expect_error<ZeroDiagonalError>("zero on the diagonal", attempt);
      case 1:
        if (!move_diagonal(A, row)) return;
        return expect_error<MatrixError>("no diagonal in a row", attempt);
      case 2:
        if (A.entries.empty()) return;
        A.entries[random.bits() % A.entries.size()] = random.pick({-1, n});
        return expect_error<ColumnRangeError>("column out of range", attempt);
      case 3:
        if (!double_entry(A, row)) return;
        return expect_error<MatrixError>("entry named twice", attempt);
      default:
        if (n == 0 || A.entries.empty()) return;
        A.row_map[row + 1] = static_cast<std::int64_t>(A.entries.size()) + 1;
        return expect_error<RowMapError>("row map beyond the entries", attempt);
    }
  }

 private:
  template <class Expected, class F>
  void expect_error(const char* what, const F& f) {
    if (context_.tampers("fault")) return context_.fail("fault accepted", what);
    try {
      f();
      context_.fail("fault accepted", what);
    } catch (const Expected&) {
      context_.count("faults refused", what);
    } catch (const Error& error) {
      context_.fail("another error", std::string(what) + ": " + error.what());
    }
  }

  bool non_unit() const { return case_.form.diag == Diag::non_unit; }
  /// Where a row's diagonal is stored, -1 where it is not.
  std::int64_t place_of_diagonal(const SystemMatrix<Scalar>& A, int row) const {
    if (row >= case_.size()) return -1;
    for (auto k = A.row_map[row]; k < A.row_map[row + 1]; ++k)
      if (A.entries[k] == row) return k;
    return -1;
  }
  bool zero_diagonal(SystemMatrix<Scalar>& A, int row) const {
    const auto at = place_of_diagonal(A, row);
    if (!non_unit() || at < 0) return false;
    A.values[at] = Scalar(0);
    return true;
  }
  /// A row without other entries loses its diagonal to the first column (or the
  /// last), unless it stands there.
  bool move_diagonal(SystemMatrix<Scalar>& A, int row) const {
    const auto at = place_of_diagonal(A, row);
    const int other = case_.form.uplo == Uplo::lower ? 0 : case_.size() - 1;
    if (!non_unit() || at < 0 || row == other ||
        A.row_map[row + 1] - A.row_map[row] > 1)
      return false;
    A.entries[at] = other;
    return true;
  }
  bool double_entry(SystemMatrix<Scalar>& A, int row) const {
    if (row >= case_.size() || A.row_map[row + 1] - A.row_map[row] < 2)
      return false;
    const auto first = A.row_map[row];
    // Only what counts: others may be named as often as one likes.
    if (case_.form.other_triangle || case_.options.take_triangle) return false;
    A.entries[first + 1] = A.entries[first];
    return true;
  }

  Context& context_;
  const TriangularCase<Scalar>& case_;
};

}  // namespace Fuzz
}  // namespace Strata

#endif
