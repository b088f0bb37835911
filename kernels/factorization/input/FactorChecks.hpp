// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INPUT_FACTOR_CHECKS_HPP
#define STRATA_KERNELS_FACTORIZATION_INPUT_FACTOR_CHECKS_HPP

#include <Strata_Error.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/device/Atomics.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// What is wrong with a row of a matrix to factorise, or of its factors.
enum FactorFault : int {
  factor_duplicate,
  factor_unsorted,
  factor_no_diagonal,
  factor_zero_diagonal,
  factor_zero_pivot,
  factor_not_finite,
  num_factor_faults
};

constexpr std::int64_t factor_fault(std::int64_t row, FactorFault fault) {
  return row * num_factor_faults + fault;
}

/// What a check of a matrix makes of a diagonal entry that is zero; `absent`
/// takes one that is not stored, too.
enum class ZeroDiagonal { refuse, take, absent };

/// What FactorInputStages find, as words in device memory.
struct FactorInput {
  enum : int {
    pattern_fault,  ///< see PatternCheck
    fault,          ///< of the first row that can't be factorised
    longest_row,    ///< its entries
    longest_upper,  ///< the most entries of a row on and right of its diagonal
    lower_entries,  ///< of L, with its diagonal
    upper_entries,  ///< of U: a matrix may have entries that are of no row
    size
  };
};

/// Checks of a matrix to factorise, and the row map of its lower triangle. Of a
/// row with several faults, the first in the order of FactorFault counts. A row
/// is read once its own offsets have been looked at, so that all is found in
/// one pass; what is wrong with the pattern counts before all else.
template <class Scalar>
struct FactorInputStages {
  CrsArrays<Scalar> A;
  ZeroDiagonal zero_diagonal;
  std::int64_t* l_row_map = nullptr;  // for Scan
  std::int64_t* found = nullptr;      // FactorInput
  /// By row: entries left of the diagonal, -1: it has no entry.
  int* lower = nullptr;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return A.row_map(row + 1) - A.row_map(row);
  }
  struct Reset {};
  KOKKOS_INLINE_FUNCTION void operator()(Reset, std::int64_t row) const {
    lower[row] = -1;
    if (row > 0) return;
    found[FactorInput::pattern_fault] = no_fault;
    found[FactorInput::fault] = no_fault;
    found[FactorInput::longest_row] = found[FactorInput::longest_upper] = 0;
    found[FactorInput::lower_entries] = found[FactorInput::upper_entries] = 0;
  }
  struct Check {};
  KOKKOS_INLINE_FUNCTION void operator()(Check, std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t begin = A.row_map(row), end = A.row_map(row + 1);
    if (!is_crs_row(row, begin, end, static_cast<std::int64_t>(A.num_values))) {
      if (lane == 0)
        note(FactorInput::pattern_fault, row_fault(row, row_map_fault));
      return;
    }
    if (lane == 0) raise(FactorInput::longest_row, end - begin);
    for (std::int64_t k = begin + lane; k < end; k += lanes) {
      const std::int64_t column = A.entries(k);
      if (column < 0 || column >= A.columns)
        note(FactorInput::pattern_fault, row_fault(row, column_fault));
      if (k > begin && column <= A.entries(k - 1))
        note(FactorInput::fault,
             factor_fault(row, column == A.entries(k - 1) ? factor_duplicate
                                                          : factor_unsorted));
      if (column != row) continue;
      lower[row] = static_cast<int>(k - begin);
      if (zero_diagonal == ZeroDiagonal::refuse && A.values[k] == Scalar(0))
        note(FactorInput::fault, factor_fault(row, factor_zero_diagonal));
    }
  }
  struct Presence {};
  KOKKOS_INLINE_FUNCTION void operator()(Presence, std::int64_t row) const {
    if (lower[row] < 0 && zero_diagonal != ZeroDiagonal::absent)
      note(FactorInput::fault, factor_fault(row, factor_no_diagonal));
  }
  /// Presence, and the row map: L has its diagonal.
  struct Scan {};
  KOKKOS_INLINE_FUNCTION void operator()(Scan, std::int64_t row,
                                         std::int64_t& sum, bool final) const {
    const std::int64_t left = lower[row];
    sum += left + 1;
    if (!final) return;
    (*this)(Presence(), row);
    if (row == 0) l_row_map[0] = 0;
    l_row_map[row + 1] = sum;
    raise(FactorInput::longest_upper, length(row) - left);
    if (row + 1 < A.columns) return;
    found[FactorInput::lower_entries] = sum;
    found[FactorInput::upper_entries] = A.row_map(row + 1) - sum + A.columns;
  }

 private:
  KOKKOS_INLINE_FUNCTION void note(int word, std::int64_t fault) const {
    Kokkos::atomic_fetch_min(found + word, fault);
  }
  /// Few find more than there is.
  KOKKOS_INLINE_FUNCTION void raise(int word, std::int64_t count) const {
    if (count > load_relaxed(found + word))
      Kokkos::atomic_fetch_max(found + word, count);
  }
};

/// Raises the first fault that was found, as row * num_factor_faults + fault.
inline void raise_factor_fault(std::int64_t first) {
  if (first == no_fault) return;
  const std::int64_t row = first / num_factor_faults;
  const std::string in_row = " in row " + std::to_string(row);
  switch (static_cast<FactorFault>(first % num_factor_faults)) {
    case factor_duplicate:
      throw DuplicateEntryError("A", "a column is named twice" + in_row,
                                "add the entries up", row);
    case factor_unsorted:
      throw UnsortedRowError("A", "columns do not increase" + in_row,
                             "sort the rows", row);
    case factor_no_diagonal:
      throw MissingDiagonalError("A", "no diagonal entry" + in_row,
                                 "store a diagonal entry in every row", row);
    case factor_zero_diagonal:
      throw ZeroDiagonalError("A", "the diagonal entry is zero" + in_row,
                              "reorder the rows or shift the diagonal", row);
    case factor_zero_pivot:
      throw FactorizationError("A", "elimination makes the pivot zero" + in_row,
                               "reorder the rows or shift the diagonal", row);
    default:
      throw FactorizationError(
          "A", "elimination makes a value that is not finite" + in_row,
          "look for values that are not finite, scale the rows, or shift the "
          "diagonal",
          row);
  }
}

/// A check whose minimum goes to a word in device memory: few rows have a
/// fault.
template <class Check>
struct CheckInto {
  Check check;
  std::int64_t* first;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    std::int64_t found = no_fault;
    check(row, found);
    if (found != no_fault) Kokkos::atomic_fetch_min(first, found);
  }
};
template <class ExecutionSpace, class Check>
void check_into(const char* label, const ExecutionSpace& exec,
                std::int64_t rows, const Check& check, std::int64_t* first) {
  for_each_index(label, exec, rows, CheckInto<Check>{check, first});
}

/// Runs the stages up to `last`, and raises what they find. Waits for `exec`.
template <class Scalar, class ExecutionSpace, class Last>
void run_input_stages(const ExecutionSpace& exec,
                      WorkPool<ExecutionSpace>& pool,
                      FactorInputStages<Scalar> stages, const Last& last,
                      std::int64_t (&found)[FactorInput::size]) {
  using Stages = FactorInputStages<Scalar>;
  const CrsArrays<Scalar>& A = stages.A;
  const auto words = pool.template view<std::int64_t>(FactorInput::size);
  stages.found = words.data();
  stages.lower = pool.template take<int>(A.rows());
  FusedStages<ExecutionSpace>(exec, pool)
      .run("Strata::IncompleteLu::check::input", stages,
           EachStage<typename Stages::Reset>{A.rows()},
           RowsStage<typename Stages::Check>{
               A.rows(), static_cast<std::int64_t>(A.num_values)},
           last);
  copy_to_host(exec, words, found);
  if (found[FactorInput::pattern_fault] != no_fault)
    raise_row_fault<typename ExecutionSpace::memory_space>(
        found[FactorInput::pattern_fault], A.row_map, A.entries, A.columns);
  raise_factor_fault(found[FactorInput::fault]);
}

/// What incomplete_lu raises of a matrix that it can't factorise, before any
/// elimination. One pass over the matrix, which the host waits for.
/// @param zero_diagonal  `take` where the pattern alone counts
template <class Scalar, class ExecutionSpace>
void check_factor_input(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                        ZeroDiagonal zero_diagonal = ZeroDiagonal::refuse) {
  check_square_sizes<typename ExecutionSpace::memory_space>(A);
  const std::int64_t rows = A.rows();
  if (rows == 0) return;
  WorkPool<ExecutionSpace> pool(exec, static_cast<std::size_t>(rows) * 4);
  using Stages = FactorInputStages<Scalar>;
  std::int64_t found[FactorInput::size];
  run_input_stages(exec, pool, Stages{A, zero_diagonal},
                   EachStage<typename Stages::Presence>{rows}, found);
}

/// New values have to come with as many rows as were factorised.
/// @throws PatternMismatchError
template <class Scalar>
void require_same_rows(const CrsArrays<Scalar>& A, std::int64_t rows) {
  if (A.rows() == rows) return;
  throw PatternMismatchError(
      "A",
      "has " + std::to_string(A.rows()) + " rows, not " + std::to_string(rows),
      "make a new factorisation");
}
[[noreturn]] inline void raise_other_pattern() {
  throw PatternMismatchError("A",
                             "does not have the pattern that was factorised",
                             "make a new factorisation");
}

/// @throws IndexOverflowError
inline void require_row_numbers(std::int64_t rows) {
  if (rows > std::numeric_limits<int>::max() - 1)
    throw IndexOverflowError(
        "A", std::to_string(rows) + " rows do not fit 32-bit row numbers",
        "split the system into blocks of at most 2147483646 rows");
}

}  // namespace Detail
}  // namespace Strata

#endif
