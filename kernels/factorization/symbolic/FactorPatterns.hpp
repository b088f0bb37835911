// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SYMBOLIC_FACTOR_PATTERNS_HPP
#define STRATA_KERNELS_FACTORIZATION_SYMBOLIC_FACTOR_PATTERNS_HPP

#include <core/matrix/RowPolicy.hpp>
#include <core/matrix/TriangleImplementation.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>

namespace Strata {
namespace Detail {

/// Deals the columns of a matrix to the patterns of its factors: L with its
/// diagonal last in each row, U with its own first.
template <class Scalar>
struct FillFactorPatterns {
  CrsArrays<Scalar> A;
  const std::int64_t* l_row_map;
  IndexOutput lower_row_map, lower_entries, upper_row_map, upper_entries;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return A.row_map(row + 1) - A.row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t begin = A.row_map(row), end = A.row_map(row + 1);
    const std::int64_t l = l_row_map[row], l_end = l_row_map[row + 1];
    // Rows before have a diagonal entry more in both factors.
    const std::int64_t u = begin - l + row;
    const std::int64_t diagonal = begin + (l_end - l - 1);
    if (lane == 0) {
      lower_row_map.set(row, l);
      upper_row_map.set(row, u);
      if (row + 1 == A.columns) {
        lower_row_map.set(row + 1, l_end);
        upper_row_map.set(row + 1, end - l_end + row + 1);
      }
    }
    for (std::int64_t k = begin + lane; k < end; k += lanes) {
      const std::int64_t column = A.entries(k);
      if (k <= diagonal) lower_entries.set(l + (k - begin), column);
      if (k >= diagonal) upper_entries.set(u + (k - diagonal), column);
    }
  }
};

/// Factors without values, and what was counted on the way.
template <class Scalar>
struct FactorPatterns {
  NewTriangle<Scalar> L, U;
  std::int64_t longest_row = 0;    // of A
  std::int64_t longest_upper = 0;  // of U
};

/// Checks a matrix and makes the patterns of its factors; their values are not
/// initialised. Waits for `exec`, and leaves work on it that uses `pool`.
/// @throws what check_factor_input throws, IndexOverflowError
/// Cost: two passes over the pattern, one over the diagonal.
template <class Scalar, class ExecutionSpace>
FactorPatterns<Scalar> make_factor_patterns(const ExecutionSpace& exec,
                                            const CrsArrays<Scalar>& A,
                                            ZeroDiagonal zero_diagonal,
                                            NewMatrix<Scalar>& new_l,
                                            NewMatrix<Scalar>& new_u,
                                            WorkPool<ExecutionSpace>& pool) {
  using Memory = typename ExecutionSpace::memory_space;
  using Stages = FactorInputStages<Scalar>;
  FactorPatterns<Scalar> made;
  check_square_sizes<Memory>(A);
  const std::int64_t rows = A.rows();
  require_row_numbers(rows);
  if (rows == 0) {
    made.L = triangle_of(exec, A, Uplo::lower, MissingDiagonal::leave, new_l);
    made.U = triangle_of(exec, A, Uplo::upper, MissingDiagonal::leave, new_u);
    return made;
  }
  const auto entries = static_cast<std::int64_t>(A.num_values);
  auto* const l_row_map = pool.template take<std::int64_t>(rows + 1);
  std::int64_t found[FactorInput::size];
  run_input_stages(exec, pool, Stages{A, zero_diagonal, l_row_map},
                   SumStage<typename Stages::Scan>{rows}, found);
  made.longest_row = found[FactorInput::longest_row];
  made.longest_upper = found[FactorInput::longest_upper];

  const auto make = [&](NewMatrix<Scalar>& factor, const std::string& label,
                        std::int64_t count, IndexOutput& row_map,
                        IndexOutput& columns) {
    row_map = factor.make_row_map(label, rows);
    columns = factor.make_entries(label, count);
    Scalar* const values = factor.make_values(label, count);
    return NewTriangle<Scalar>{
        {row_map, columns, values, static_cast<std::size_t>(count), rows},
        values};
  };
  FillFactorPatterns<Scalar> fill;
  fill.A = A;
  fill.l_row_map = l_row_map;
  made.L =
      make(new_l, "Strata::IncompleteLu::L", found[FactorInput::lower_entries],
           fill.lower_row_map, fill.lower_entries);
  made.U =
      make(new_u, "Strata::IncompleteLu::U", found[FactorInput::upper_entries],
           fill.upper_row_map, fill.upper_entries);
  for_each_row("Strata::IncompleteLu::fill::patterns", exec, rows, entries,
               fill);
  return made;
}

}  // namespace Detail
}  // namespace Strata

#endif
