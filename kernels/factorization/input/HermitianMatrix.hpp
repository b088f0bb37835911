// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INPUT_HERMITIAN_MATRIX_HPP
#define STRATA_KERNELS_FACTORIZATION_INPUT_HERMITIAN_MATRIX_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <cmath>
#include <core/device/SortRows.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/FindColumn.hpp>
#include <core/matrix/MatrixTypes.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <limits>
#include <optional>
#include <sstream>

namespace Strata {
namespace Detail {

/// The option `symmetry_tolerance`, or its default. @throws OptionError
template <class Scalar>
double symmetry_tolerance(const std::optional<double>& given) {
  if (!given)
    return std::sqrt(double(std::numeric_limits<RealOf<Scalar>>::epsilon()));
  if (!(*given >= 0))
    throw OptionError("symmetry_tolerance", "is " + std::to_string(*given),
                      "pass 0 or a positive number; infinity for no check");
  return *given;
}

/// Looks for entries that are not the conjugates of their mirror images. Rows
/// are sorted and store their diagonals. Both entries of a pair have the same
/// answer.
template <class Scalar>
struct FindNotHermitian {
  CrsArrays<Scalar> A;
  double tolerance;  // see IncompleteFactorizationOptions; finite
  /// Whether an entry without a mirror image counts, whatever its value. If
  /// not, the image is 0.
  bool both_stored = false;
  bool conjugates = true;  // of Hermitian matrices, not of symmetric ones

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    const std::int64_t end = A.row_map(row + 1);
    for (std::int64_t k = A.row_map(row); k < end && row < first; ++k)
      if (differs(row, k)) first = row;
  }
  KOKKOS_INLINE_FUNCTION bool differs(std::int64_t row, std::int64_t k) const {
    using Part = RealPart<Scalar>;
    const std::int64_t column = A.entries(k);
    const std::int64_t at = first_entry_from(A, column, row);
    const bool stored = at < A.row_map(column + 1) && A.entries(at) == row;
    if (!stored && both_stored) return true;
    const Scalar a = A.values[k], mirror = stored ? A.values[at] : Scalar(0);
    const double real = Part::real(a) - Part::real(mirror),
                 of_mirror = Part::imaginary(mirror),
                 imaginary =
                     Part::imaginary(a) + (conjugates ? of_mirror : -of_mirror);
    const double size_of_a = larger_part(a),
                 size_of_mirror = larger_part(mirror);
    const double larger =
        size_of_a > size_of_mirror ? size_of_a : size_of_mirror;
    if (within(real, imaginary, larger)) return false;
    // No entry of a positive definite matrix is larger than this.
    return !within(real, imaginary,
                   sqrt(diagonal_size(row)) * sqrt(diagonal_size(column)));
  }

 private:
  /// False for not-a-number.
  KOKKOS_INLINE_FUNCTION bool within(double real, double imaginary,
                                     double size) const {
    const double limit = tolerance * size;
    return real <= limit && -real <= limit && imaginary <= limit &&
           -imaginary <= limit;
  }
  KOKKOS_INLINE_FUNCTION double diagonal_size(std::int64_t row) const {
    return larger_part(A.values[first_entry_from(A, row, row)]);
  }
};

/// Looks through one row, for the first entry.
template <class Scalar>
struct FindNotHermitianEntry {
  FindNotHermitian<Scalar> in;
  std::int64_t row;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k,
                                         std::int64_t& first) const {
    if (k < first && in.differs(row, k)) first = k;
  }
};

/// @param row  the first that `check` has found
template <class Scalar, class ExecutionSpace>
[[noreturn]] void raise_not_hermitian(const ExecutionSpace& exec,
                                      const FindNotHermitian<Scalar>& check,
                                      std::int64_t row) {
  using Memory = typename ExecutionSpace::memory_space;
  const CrsArrays<Scalar>& A = check.A;
  const auto range = A.row_map.template fetch<Memory>(row, row + 2);
  const std::int64_t k =
      find_first("Strata::require_hermitian::entry", exec, range[0], range[1],
                 FindNotHermitianEntry<Scalar>{check, row});
  const std::int64_t column = A.entries.template fetch<Memory>(k);
  const auto of = A.row_map.template fetch<Memory>(column, column + 2);
  const auto columns = A.entries.template fetch<Memory>(of[0], of[1]);
  const auto mirror = std::lower_bound(columns.begin(), columns.end(), row);
  const auto value = [&](std::int64_t at) {
    std::ostringstream text;
    text.precision(std::numeric_limits<RealOf<Scalar>>::max_digits10);
    text << to_host<Memory>(A.values + at, 1)[0];
    return text.str();
  };
  const auto name = [](std::int64_t i, std::int64_t j) {
    return "entry (" + std::to_string(i) + ", " + std::to_string(j) + ")";
  };
  std::string problem;
  if (row == column) {
    problem = name(row, row) + " is " + value(k) + ", not a real number";
  } else {
    const bool stored = mirror != columns.end() && *mirror == row;
    problem =
        name(row, column) + " is " + value(k) + " and " + name(column, row) +
        " is " +
        (stored ? value(of[0] + (mirror - columns.begin())) : "not stored") +
        (check.conjugates ? ": the one is not the other's conjugate"
                          : ": they differ");
  }
  throw NotHermitianError(
      "A", problem,
      std::string("store both triangles of a ") +
          (check.conjugates ? "Hermitian" : "symmetric") +
          " matrix, raise symmetry_tolerance (with infinity the upper triangle "
          "alone is read), or use incomplete LU in the natural order",
      row);
}

/// Counts entries of the Hermitian matrix whose upper triangle is A's.
template <class Scalar>
struct CountMirrored {
  CrsArrays<Scalar> A;
  int* length;  // by row, 0 at the start
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t begin = first_entry_from(A, row, row),
                       end = A.row_map(row + 1);
    Kokkos::atomic_add(length + row, static_cast<int>(end - begin));
    for (std::int64_t k = begin + 1; k < end; ++k)
      Kokkos::atomic_add(length + A.entries(k), 1);
  }
};
/// Stores them: rows are sorted from the diagonal on.
template <class Scalar>
struct StoreMirrored {
  CrsArrays<Scalar> A;
  const std::int64_t* row_map;
  int* stored;  // left of the diagonal, by row; 0 at the start
  int* entries;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t begin = first_entry_from(A, row, row),
                       end = A.row_map(row + 1);
    for (std::int64_t k = begin; k < end; ++k) {
      const auto column = static_cast<int>(A.entries(k));
      entries[row_map[row + 1] - (end - k)] = column;
      if (k > begin)
        entries[row_map[column] +
                Kokkos::atomic_fetch_add(stored + column, 1)] =
            static_cast<int>(row);
    }
  }
};

/// Values of the Hermitian (or symmetric) matrix whose upper triangle is A's,
/// in a pattern that is symmetric.
template <class Scalar>
struct MirrorValues {
  CrsArrays<Scalar> A;
  IndexArray row_map, entries;
  Scalar* values;
  bool conjugates;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t end = row_map(row + 1), end_of_a = A.row_map(row + 1);
    for (std::int64_t k = row_map(row); k < end; ++k) {
      const std::int64_t column = entries(k);
      // Both have the same entries from the diagonal on.
      const Scalar v = column < row ? A.values[first_entry_from(A, column, row)]
                                    : A.values[end_of_a - (end - k)];
      values[k] =
          !conjugates    ? v
          : column < row ? conjugate(v)
          : column == row
              ? Scalar(static_cast<RealOf<Scalar>>(RealPart<Scalar>::real(v)))
              : v;
    }
  }
};

/// What incomplete Cholesky and L D L^H factorise: the Hermitian matrix, for
/// L D L^T the symmetric one, whose upper triangle is that of a given one,
/// whose lower one has to agree with it up to a tolerance.
template <class Scalar, class ExecutionSpace>
class HermitianMatrix {
 public:
  using Matrix = CrsArrays<Scalar>;

  /// @throws OptionError
  explicit HermitianMatrix(const std::optional<double>& tolerance,
                           bool conjugates = true)
      : tolerance_(symmetry_tolerance<Scalar>(tolerance)),
        conjugates_(conjugates) {}

  /// A itself if both triangles agree exactly; otherwise one with values of its
  /// own, until the next call.
  /// @param A  has passed check_factor_input, and has the pattern of the first
  ///   call, which decides on the pattern
  /// @throws NotHermitianError, IndexOverflowError. Waits for `exec`.
  /// Cost: a pass over A with a binary search for each entry, up to four of
  /// them if the triangles do not agree exactly. Memory: then A's values, and
  /// a pattern if A's is not symmetric.
  Matrix take(const ExecutionSpace& exec, const Matrix& A) {
    const auto finds_any = [&](double tolerance) {
      return find_first("Strata::HermitianMatrix::compare", exec, 0, A.rows(),
                        FindNotHermitian<Scalar>{A, tolerance, true,
                                                 conjugates_}) != no_fault;
    };
    const bool may_be_symmetric = row_map_.extent(0) == 0;
    if (may_be_symmetric && !finds_any(0)) return A;
    if (is_finite(tolerance_)) {
      const std::int64_t row =
          find_first("Strata::require_hermitian", exec, 0, A.rows(), check(A));
      if (row != no_fault) raise_not_hermitian(exec, check(A), row);
    }
    if (may_be_symmetric && finds_any(std::numeric_limits<double>::max()))
      make_pattern(exec, A);
    hold(A);
    const Matrix made = mirrored(exec, A);
    exec.fence();
    return made;
  }

  /// Allocates what mirrored() fills in, unless it is there.
  void hold(const Matrix& A) {
    const std::size_t count = pattern(A).num_values;
    if (values_.extent(0) < count)
      make_unfilled(values_, "Strata::HermitianMatrix::values", count);
  }
  /// The same whether the triangles agree or not, after hold(). Enqueues on
  /// `exec`.
  Matrix mirrored(const ExecutionSpace& exec, const Matrix& A) const {
    Matrix made = pattern(A);
    made.values = values_.data();
    for_each_index("Strata::HermitianMatrix::mirror", exec, A.rows(),
                   MirrorValues<Scalar>{A, made.row_map, made.entries,
                                        values_.data(), conjugates_});
    return made;
  }

  /// Without a look at the values, after a first take().
  Matrix pattern(const Matrix& A) const {
    if (row_map_.extent(0) == 0) return A;
    return {row_map_, entries_, nullptr, entries_.extent(0), A.columns};
  }
  double tolerance() const { return tolerance_; }
  /// Finds entries that differ by more than the tolerance.
  FindNotHermitian<Scalar> check(const Matrix& A) const {
    return {A, tolerance_, false, conjugates_};
  }
  std::size_t bytes() const {
    return row_map_.extent(0) * sizeof(std::int64_t) +
           entries_.extent(0) * sizeof(int) +
           values_.extent(0) * sizeof(Scalar);
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  using Counts = Kokkos::View<int*, Memory>;

  void make_pattern(const ExecutionSpace& exec, const Matrix& A) {
    const std::int64_t rows = A.rows();
    require_row_numbers(rows);
    Counts counts =
        make_zeroed<Counts>("Strata::HermitianMatrix::counts", rows);
    for_each_index("Strata::HermitianMatrix::count", exec, rows,
                   CountMirrored<Scalar>{A, counts.data()});
    const auto row_map = make_unfilled<decltype(row_map_)>(
        "Strata::HermitianMatrix::row_map", rows + 1);
    const std::int64_t stored =
        scan_row_lengths("Strata::HermitianMatrix::scan", exec, rows,
                         StoredLength{counts.data()}, row_map);
    make_unfilled(entries_, "Strata::HermitianMatrix::entries", stored);
    Kokkos::deep_copy(exec, counts, 0);
    for_each_index("Strata::HermitianMatrix::store", exec, rows,
                   StoreMirrored<Scalar>{A, row_map.data(), counts.data(),
                                         entries_.data()});
    sort_crs_entries(exec, row_map, entries_);
    row_map_ = row_map;
  }

  double tolerance_;
  bool conjugates_;
  /// Empty: A's pattern is symmetric.
  Kokkos::View<std::int64_t*, Memory> row_map_;
  Counts entries_;
  Kokkos::View<Scalar*, Memory> values_;  // empty: not needed so far
};

}  // namespace Detail
}  // namespace Strata

#endif
