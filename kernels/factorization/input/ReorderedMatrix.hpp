// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INPUT_REORDERED_MATRIX_HPP
#define STRATA_KERNELS_FACTORIZATION_INPUT_REORDERED_MATRIX_HPP

#include <Strata_IncompleteFactorizationOptions.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_UpdateStatus.hpp>
#include <core/device/SortRows.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/factorization/input/EquilibrationKernels.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/input/HostOrder.hpp>
#include <kernels/factorization/solve/FactorMaps.hpp>

namespace Strata {
namespace Detail {

/// What a report says of an order.
struct FactorOrderFacts {
  FactorOrder order = FactorOrder::natural;
  std::string reason;
  double order_us = 0;
  int level_sets_before = 0, level_sets_after = 0;
  std::size_t bytes = 0;
};

struct InvertPlaces {
  const int *row_place, *column_place;  // null: natural
  int *old_row, *old_column;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    old_row[row_place ? row_place[i] : i] = static_cast<int>(i);
    old_column[column_place ? column_place[i] : i] = static_cast<int>(i);
  }
};

struct ReorderedLength {
  IndexArray row_map;
  const int* old_row;
  KOKKOS_INLINE_FUNCTION std::int64_t operator()(std::int64_t row) const {
    return row_map(old_row[row] + 1) - row_map(old_row[row]);
  }
};

/// Columns in the new order, and where their values are in A.
template <class MemorySpace>
struct MoveEntries {
  IndexArray row_map, entries;
  const int *old_row, *column_place;
  const std::int64_t* new_row_map;
  int* columns;
  ValueIndex<MemorySpace> source;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return new_row_map[row + 1] - new_row_map[row];
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t begin = row_map(old_row[row]), to = new_row_map[row];
    for (std::int64_t k = lane; k < length(row); k += lanes) {
      const std::int64_t column = entries(begin + k);
      columns[to + k] =
          column_place ? column_place[column] : static_cast<int>(column);
      source.set(to + k, begin + k);
    }
  }
};

/// The first row whose place or scaling is not that of its column (conjugated).
template <class Scalar>
struct FindUnsymmetric {
  VectorMap<Scalar> rows, columns;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i,
                                         std::int64_t& first) const {
    const Scalar r = rows.in(i, Scalar(1)), c = columns.in(i, Scalar(1));
    if (i < first && (rows(i) != columns(i) || r != conjugate(c))) first = i;
  }
};

/// Pr Dr A Dc Pc of a matrix A: what is factorised if rows are permuted or
/// scaled. Its pattern is made once, with the place in A of each value.
template <class Scalar, class ExecutionSpace>
class ReorderedMatrix {
 public:
  using Matrix = CrsArrays<Scalar>;
  using Given = FactorTransformation<Scalar, ExecutionSpace>;
  using Options = IncompleteFactorizationOptions;

  /// Permutes and scales A.
  /// @param given     permutations and scalings of the caller
  /// @param options   have passed check_transformation
  /// @throws what check_square_matrix, FactorMaps, HostOrder throw, and
  ///   OptionError for a `symmetric` one that isn't. Waits for `exec`.
  ReorderedMatrix(const ExecutionSpace& exec, const Matrix& A, bool symmetric,
                  Given given, const Options& options)
      : equilibrates_(options.scaling == FactorScaling::equilibration),
        symmetric_(symmetric) {
    Kokkos::Timer timer;
    check_square_matrix(exec, A);
    require_row_numbers(A.rows());
    fingerprint_ = pattern_fingerprint(exec, A.row_map, A.entries);
    HostOrder<Scalar, ExecutionSpace>(A, options).add_to(given);
    if (equilibrates_) {
      exponents_ = make_unfilled<Ints>("Strata::ReorderedMatrix::exponents",
                                       2 * A.rows());
      const auto ones = make_unfilled<Kokkos::View<Scalar*, Memory>>(
          "Strata::ReorderedMatrix::ones", A.rows());
      Kokkos::deep_copy(exec, ones, Scalar(1));
      given.row_scaling(ones).column_scaling(ones);
    }
    maps_ = {exec, A.rows(), given};
    require_symmetric(exec, A.rows());
    make_pattern(exec, A);
    enqueue(exec, A.values);
    finish(exec, nullptr);
    if (is_permutation(options.order)) facts_.order = options.order;
    facts_.reason = options.order == FactorOrder::automatic
                        ? "the order with permutations or scalings"
                        : "asked for";
    if (maps_.rows().place || maps_.columns().place) {
      facts_.level_sets_before = level_sets(exec, A);
      facts_.level_sets_after = level_sets(exec, matrix_);
    }
    facts_.bytes = maps_.bytes() + source_.bytes() +
                   sizeof(int) * (entries_.extent(0) + old_.extent(0) +
                                  exponents_.extent(0)) +
                   sizeof(std::int64_t) * row_map_.extent(0) +
                   sizeof(Scalar) * values_.extent(0);
    facts_.order_us = timer.seconds() * 1e6;
  }

  /// With the values of the last take() or enqueue().
  const Matrix& matrix() const { return matrix_; }
  const FactorOrderFacts& facts() const { return facts_; }
  /// Of vectors, and of what a caller is told.
  const FactorMaps<Scalar, ExecutionSpace>& maps() const { return maps_; }

  /// Other values. The scalings in use stay until finish().
  /// @throws PatternMismatchError, and what check_square_matrix throws. Waits.
  const Matrix& take(const ExecutionSpace& exec, const Matrix& A) {
    if (A.rows() != matrix_.rows() || A.num_values != matrix_.num_values ||
        pattern_fingerprint(exec, A.row_map, A.entries) != fingerprint_) {
      check_square_matrix(exec, A);
      throw PatternMismatchError(
          "A", "does not have the pattern that was factorised",
          "make a new factorisation");
    }
    enqueue(exec, A.values);
    exec.fence();
    return matrix_;
  }
  /// The same without a check or a wait.
  void enqueue(const ExecutionSpace& exec, const Scalar* values) const {
    const std::int64_t rows = matrix_.rows();
    const auto entries = static_cast<std::int64_t>(matrix_.num_values);
    ScaledValues<Scalar, Memory> scaled{matrix_,
                                        source_,
                                        old_row(),
                                        old_column(),
                                        maps_.rows().scale,
                                        maps_.columns().scale,
                                        exponents(),
                                        values,
                                        values_.data()};
    if (equilibrates_) {
      Kokkos::parallel_for("Strata::equilibrate::reset", Range(exec, 0, rows),
                           ResetExponents{exponents()});
      for_each_row("Strata::equilibrate::rows", exec, rows, entries,
                   FindExponents<Scalar, Memory>{scaled, false});
      if (!symmetric_)
        for_each_row("Strata::equilibrate::columns", exec, rows, entries,
                     FindExponents<Scalar, Memory>{scaled, true});
    }
    for_each_row("Strata::ReorderedMatrix::values", exec, rows, entries,
                 scaled);
  }
  /// Puts new scalings to use, where `status` (null: good) says that factors
  /// are, and makes a row at fault one of A.
  void finish(const ExecutionSpace& exec, UpdateStatus* status) const {
    Kokkos::parallel_for(
        "Strata::ReorderedMatrix::finish",
        Range(exec, 0, std::max<std::int64_t>(matrix_.rows(), 1)),
        FinishScaling<Scalar>{matrix_.rows(), exponents(), status, old_row(),
                              maps_.row_scales(), maps_.column_scales()});
  }

  /// Calls `work`, and makes rows that its exceptions name those of A.
  template <class Work>
  auto with_rows_of(const Work& work) const {
    try {
      return work();
    } catch (const MatrixError& error) {
      if (maps_.rows().place && error.row() >= 0)
        rename<DuplicateEntryError, MissingDiagonalError, ZeroDiagonalError,
               FactorizationError, NotHermitianError, IndefiniteError,
               PrecisionError>(error);
      throw;
    }
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  using Ints = Kokkos::View<int*, Memory>;

  const int* old_row() const { return old_.data(); }
  const int* old_column() const { return old_.data() + matrix_.rows(); }
  /// Of rows and of columns, which are the same in a symmetric scaling.
  Exponents<Scalar> exponents() const {
    int* const of_rows = exponents_.data();
    return {of_rows,
            of_rows && !symmetric_ ? of_rows + matrix_.rows() : of_rows,
            symmetric_};
  }

  void require_symmetric(const ExecutionSpace& exec, std::int64_t rows) const {
    if (!symmetric_) return;
    std::int64_t first = rows;
    Kokkos::parallel_reduce(
        "Strata::ReorderedMatrix::symmetric", Range(exec, 0, rows),
        FindUnsymmetric<Scalar>{maps_.rows(), maps_.columns()},
        Kokkos::Min<std::int64_t>(first));
    exec.fence();
    if (first < rows)
      throw OptionError(
          "transformation",
          "treats row " + std::to_string(first) +
              " and its column differently, and incomplete Cholesky "
              "factorises Hermitian matrices",
          "permute and scale both alike (complex scalings conjugated), or use "
          "incomplete LU");
  }
  void make_pattern(const ExecutionSpace& exec, const Matrix& A) {
    const std::int64_t rows = A.rows();
    const std::string label = "Strata::ReorderedMatrix::pattern";
    row_map_ = make_unfilled<decltype(row_map_)>(label, rows + 1);
    old_ = make_unfilled<Ints>(label, 2 * rows);
    const auto stored = static_cast<std::int64_t>(A.num_values);
    // A may have more entries, which are of no row.
    entries_ = make_zeroed<Ints>(label, stored);
    values_ = make_zeroed<decltype(values_)>(label, stored);
    source_ = {label, stored, stored};
    matrix_ = {row_map_, entries_, values_.data(), A.num_values, A.columns};
    Kokkos::parallel_for("Strata::ReorderedMatrix::invert",
                         Range(exec, 0, rows),
                         InvertPlaces{maps_.rows().place, maps_.columns().place,
                                      old_.data(), old_.data() + rows});
    scan_row_lengths("Strata::ReorderedMatrix::scan", exec, rows,
                     ReorderedLength{A.row_map, old_row()}, row_map_);
    for_each_row("Strata::ReorderedMatrix::move", exec, rows, stored,
                 MoveEntries<Memory>{A.row_map, A.entries, old_row(),
                                     maps_.columns().place, row_map_.data(),
                                     entries_.data(), source_});
    if (source_.wide.extent(0) > 0)
      sort_crs_rows(exec, row_map_, entries_, source_.wide);
    else
      sort_crs_rows(exec, row_map_, entries_, source_.narrow);
  }
  static int level_sets(const ExecutionSpace& exec, const Matrix& A) {
    return make_level_permutation(exec, A.row_map, A.entries, A.stored_values(),
                                  A.columns, LevelPattern::lower)
        .num_levels;
  }

  template <class... Errors>
  void rename(const MatrixError& error) const {
    const auto row = static_cast<std::int64_t>(
        fetch_element(old_, static_cast<std::size_t>(error.row())));
    (rethrow_as<Errors>(error, row), ...);
  }
  template <class Error>
  static void rethrow_as(const MatrixError& error, std::int64_t row) {
    if (dynamic_cast<const Error*>(&error))
      throw Error(error.argument(),
                  error.problem() + " of the permuted matrix, which is row " +
                      std::to_string(row) + " of A",
                  error.remedy(), row, error.value());
  }

  bool equilibrates_, symmetric_;
  std::uint64_t fingerprint_ = 0;  // of A
  FactorMaps<Scalar, ExecutionSpace> maps_;
  Kokkos::View<std::int64_t*, Memory> row_map_;
  Ints entries_, old_, exponents_;  // old rows, then old columns
  ValueIndex<Memory> source_;       // in A's values
  Kokkos::View<Scalar*, Memory> values_;
  Matrix matrix_;
  FactorOrderFacts facts_;
};

}  // namespace Detail
}  // namespace Strata

#endif
