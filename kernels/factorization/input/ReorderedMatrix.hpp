// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INPUT_REORDERED_MATRIX_HPP
#define STRATA_KERNELS_FACTORIZATION_INPUT_REORDERED_MATRIX_HPP

#include <Strata_IncompleteFactorizationOptions.hpp>
#include <Strata_LevelPermutation.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/matrix/PermutePattern.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/input/HostOrder.hpp>
#include <kernels/factorization/input/ScaledValues.hpp>
#include <kernels/factorization/solve/FactorMaps.hpp>
#include <kernels/factorization/symbolic/NewFactor.hpp>

namespace Strata {
namespace Detail {

template <class Scalar>
struct InvertPlaces {
  VectorMap<Scalar> rows, columns;
  int *old_row, *old_column;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    old_row[rows(i)] = old_column[columns(i)] = static_cast<int>(i);
  }
};

/// The first row whose place or scaling is not that of its column.
template <class Scalar>
struct FindUnsymmetric {
  VectorMap<Scalar> rows, columns;
  bool conjugates;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i,
                                         std::int64_t& first) const {
    const Scalar r = rows.in(i, Scalar(1)), c = columns.in(i, Scalar(1));
    if (i < first &&
        (rows(i) != columns(i) || r != (conjugates ? conjugate(c) : c)))
      first = i;
  }
};

/// Pr Dr A Dc Pc of a matrix A: what is factorised if rows are permuted or
/// scaled. Its pattern is made once, with the place in A of each value.
template <class Scalar, class ExecutionSpace>
class ReorderedMatrix {
 public:
  using Matrix = CrsArrays<Scalar>;
  using Transformation = FactorTransformation<Scalar, ExecutionSpace>;
  using Maps = FactorMaps<Scalar, ExecutionSpace>;

  /// Permutes and scales A. Waits for `exec`.
  /// @param how      what the caller gives
  /// @param options  see is_reordered
  /// @throws what check_square_matrix, FactorMaps and find_transformation
  ///   throw, OptionError if the factors are symmetric, and `how` is not
  ReorderedMatrix(const ExecutionSpace& exec, const Matrix& A,
                  Factorization kind, Transformation how,
                  const IncompleteFactorizationOptions& options)
      : symmetric_(reads_upper(kind)), pattern_(A) {
    const Kokkos::Timer timer;
    check_square_matrix(exec, A);
    require_row_numbers(A.rows());
    find_transformation(A, options, how);
    if (options.scaling == FactorScaling::equilibration) {
      make_unfilled(exponents_, "Strata::ReorderedMatrix::exponents",
                    2 * A.rows());
      const auto ones = make_unfilled<Kokkos::View<Scalar*, Memory>>(
          "Strata::ReorderedMatrix::ones", A.rows());
      Kokkos::deep_copy(exec, ones, Scalar(1));
      how.row_scaling(ones).column_scaling(ones);
    }
    maps_ = Maps(exec, A.rows(), how);
    if (symmetric_)
      require_symmetric(exec, A.rows(), kind != Factorization::incomplete_ldlt);
    make_unfilled(old_, "Strata::ReorderedMatrix::old", 2 * A.rows());
    int* const old_column = old_.data() + A.rows();
    for_each_index("Strata::ReorderedMatrix::invert", exec, A.rows(),
                   InvertPlaces<Scalar>{maps_.rows(), maps_.columns(),
                                        old_.data(), old_column});
    const int* const place = maps_.columns().place;
    // Without an order, columns are their own inverse.
    source_ = permute_pattern(exec, A, old_.data(), place ? place : old_column,
                              pattern_);
    pattern_.make_values("Strata::ReorderedMatrix::values", source_.size());
    enqueue(exec, A.values);
    finish(exec, nullptr);
    exec.fence();
    state_facts(exec, A, options);
    facts_.order_us = timer.seconds() * 1e6;
  }

  /// With the values of the last enqueue().
  const Matrix& matrix() const { return pattern_.arrays(); }
  /// What a report says of the order.
  const IncompleteFactorizationReport& facts() const { return facts_; }
  const Maps& maps() const { return maps_; }

  /// The matrix with other values. The scalings in use stay until finish().
  /// Enqueues on `exec`.
  const Matrix& enqueue(const ExecutionSpace& exec,
                        const Scalar* values) const {
    const std::int64_t rows = matrix().rows(), entries = source_.size();
    const ScaledValues<Scalar, Memory> scaled{matrix(),
                                              source_,
                                              old_.data(),
                                              old_.data() + rows,
                                              maps_.rows().scale,
                                              maps_.columns().scale,
                                              exponents(),
                                              values,
                                              pattern_.new_values()};
    if (exponents_.extent(0) > 0) {
      for_each_index("Strata::ReorderedMatrix::reset", exec, rows,
                     ResetExponents<Scalar>{exponents()});
      for (const bool of_columns : {false, true})
        if (!(of_columns && symmetric_))
          for_each_row("Strata::ReorderedMatrix::equilibrate", exec, rows,
                       entries,
                       FindExponents<Scalar, Memory>{scaled, of_columns});
    }
    for_each_row("Strata::ReorderedMatrix::values", exec, rows, entries,
                 scaled);
    return matrix();
  }
  /// Puts new scalings to use if `status` (null: it does) says that factors
  /// are, and makes a row at fault one of A.
  void finish(const ExecutionSpace& exec, UpdateStatus* status) const {
    for_each_index(
        "Strata::ReorderedMatrix::finish", exec, matrix().rows(),
        FinishScaling<Scalar>{exponents(), status, old_.data(),
                              maps_.row_scales(), maps_.column_scales()});
  }

  /// Calls `work`, and makes rows that its exceptions name those of A.
  template <class Work>
  void with_rows_of(const Work& work) const {
    try {
      work();
    } catch (MatrixError& error) {
      // A given pattern has rows of its own.
      if (maps_.rows().place && error.row() >= 0 &&
          error.argument().rfind("pattern", 0) != 0) {
        const int row =
            fetch_element(old_, static_cast<std::size_t>(error.row()));
        error.restate(error.argument(),
                      error.problem() +
                          " of the permuted matrix, which is row " +
                          std::to_string(row) + " of A",
                      row);
      }
      throw;
    }
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  using Ints = Kokkos::View<int*, Memory>;

  /// Of rows and of columns, which are the same in a symmetric scaling.
  Exponents<Scalar> exponents() const {
    int* const of_rows = exponents_.data();
    const bool in_use = exponents_.extent(0) > 0;
    const bool both = in_use && !symmetric_;
    return {of_rows, both ? of_rows + matrix().rows() : of_rows, in_use,
            symmetric_};
  }
  void require_symmetric(const ExecutionSpace& exec, std::int64_t rows,
                         bool conjugates) const {
    const std::int64_t first = find_first(
        "Strata::ReorderedMatrix::symmetric", exec, 0, rows,
        FindUnsymmetric<Scalar>{maps_.rows(), maps_.columns(), conjugates});
    if (first < rows)
      throw OptionError(
          "transformation",
          "treats row " + std::to_string(first) +
              " and its column differently, and the factors are symmetric",
          conjugates ? "permute and scale both alike (complex scalings "
                       "conjugated), or use incomplete LU"
                     : "permute and scale both alike, or use incomplete LU");
  }
  void state_facts(const ExecutionSpace& exec, const Matrix& A,
                   const IncompleteFactorizationOptions& options) {
    if (is_permutation(options.order)) facts_.order = options.order;
    facts_.order_reason = options.order == FactorOrder::automatic
                              ? "the order with permutations or scalings"
                              : "asked for";
    const auto level_sets = [&](const Matrix& of) {
      return make_level_permutation(exec, of.row_map, of.entries,
                                    of.stored_values(), of.columns,
                                    LevelPattern::lower)
          .num_levels;
    };
    if (maps_.rows().place || maps_.columns().place) {
      facts_.level_sets_before = level_sets(A);
      facts_.level_sets_after = level_sets(matrix());
    }
    facts_.transformation_bytes =
        maps_.bytes() + source_.bytes() + pattern_.bytes() +
        sizeof(int) * (old_.extent(0) + exponents_.extent(0));
  }

  bool symmetric_;
  Maps maps_;
  NewFactor<Scalar, ExecutionSpace> pattern_;  // and values
  ValueIndex<Memory> source_;                  // in A's values
  Ints old_, exponents_;                       // of rows, then of columns
  IncompleteFactorizationReport facts_;
};

}  // namespace Detail
}  // namespace Strata

#endif
