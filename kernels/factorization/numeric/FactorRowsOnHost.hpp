// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_FACTOR_ROWS_ON_HOST_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_FACTOR_ROWS_ON_HOST_HPP

#include <core/device/Launch.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/numeric/SmallPivots.hpp>
#include <kernels/factorization/symbolic/FactorPatterns.hpp>

namespace Strata {
namespace Detail {

/// What FactorByRecipe does, by one thread of a host, which eliminates the rows
/// in their order and keeps the place of each column in its row.
///
/// Cost: a pass over row k of U for each entry k of the lower part of a row,
/// one for up to four neighbours k whose rows of U have the same columns right
/// of them, as in complete factors.
template <class Scalar>
struct FactorRowsOnHost {
  CrsArrays<Scalar> A;
  NewTriangle<Scalar> L, U;
  const int *a_columns, *u_columns;  // the entries of A and U once more
  std::int64_t num_rows;
  int* places;     // by column, -1 outside of the row
  int* continues;  // row of U has the columns of the one before, but the first
  Scalar* values;  // of the row, by place
  SmallPivots<Scalar> pivots;
  std::int64_t* fault;  // the first one, see FactorChecks

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team&) const {
    *fault = no_fault;
    for (std::int64_t i = 0; i < num_rows; ++i) eliminate(i);
  }

 private:
  KOKKOS_INLINE_FUNCTION void eliminate(std::int64_t i) const {
    const std::int64_t begin = A.row_map(i), end = A.row_map(i + 1);
    const std::int64_t own_l = L.arrays.row_map(i);
    const std::int64_t lower = L.arrays.row_map(i + 1) - own_l - 1;
    for (std::int64_t e = begin; e < end; ++e) {
      places[a_columns[e]] = static_cast<int>(e - begin);
      values[e - begin] = A.values[e];
    }
    bool finite = true;
    for (std::int64_t k = 0; k < lower;)
      for (int rows = subtract_rows(a_columns + begin + k, lower - k,
                                    values + k, L.values + own_l + k);
           rows > 0; --rows)
        finite &= is_finite(L.values[own_l + k++]);
    L.values[own_l + lower] = Scalar(1);
    if (pivots.least) values[lower] = pivots.replaced(i, values[lower]);
    Scalar* const own_u = U.values + U.arrays.row_map(i);
    for (std::int64_t e = lower; e < end - begin; ++e) {
      own_u[e - lower] = values[e];
      finite &= is_finite(values[e]);
    }
    for (std::int64_t e = begin; e < end; ++e) places[a_columns[e]] = -1;
    continues[i] = i > 0 && has_columns_before(i);
    if (*fault != no_fault) return;
    if (own_u[0] == Scalar(0))
      *fault = factor_fault(i, factor_zero_pivot);
    else if (!finite)
      *fault = factor_fault(i, factor_not_finite);
  }
  KOKKOS_INLINE_FUNCTION bool has_columns_before(std::int64_t i) const {
    std::int64_t own = U.arrays.row_map(i);
    const std::int64_t before = own - U.arrays.row_map(i - 1) - 1,
                       end = U.arrays.row_map(i + 1);
    if (own + before != end) return false;
    while (own < end && u_columns[own - before] == u_columns[own]) ++own;
    return own == end;
  }
  /// Subtracts the first rows of U that `columns` names, and returns how many.
  /// Sums have the same order as one by one.
  /// @param own, factors  values in these columns, and what they become
  KOKKOS_INLINE_FUNCTION int subtract_rows(const int* columns,
                                           std::int64_t count,
                                           const Scalar* own,
                                           Scalar* factors) const {
    int first = columns[0], rows = 0;
    do {
      Scalar left = own[rows];
      for (int r = 0; r < rows; ++r)
        left -= factors[r] * U.values[U.arrays.row_map(first + r) + rows - r];
      factors[rows] = left / U.values[U.arrays.row_map(first + rows)];
    } while (++rows < 4 && rows < count && columns[rows] == first + rows &&
             continues[first + rows]);
    if (rows == 1) subtract<1>(first, factors);
    if (rows == 2) subtract<2>(first, factors);
    if (rows == 3) subtract<3>(first, factors);
    if (rows == 4) subtract<4>(first, factors);
    return rows;
  }
  template <int rows>
  KOKKOS_INLINE_FUNCTION void subtract(int first, const Scalar* factors) const {
    Scalar factor[rows];
    const Scalar* from[rows];
    for (int r = 0; r < rows; ++r) {
      factor[r] = factors[r];
      from[r] = U.values + U.arrays.row_map(first + r) + rows - r;
    }
    const int* const columns = u_columns + (from[rows - 1] - U.values);
    const std::int64_t length =
        U.values + U.arrays.row_map(first + rows) - from[rows - 1];
    for (std::int64_t e = 0; e < length; ++e) {
      const int place = places[columns[e]];
      if (place < 0) continue;
      Scalar left = values[place];
      for (int r = 0; r < rows; ++r) left -= factor[r] * from[r][e];
      values[place] = left;
    }
  }
};

/// What FactorRowsOnHost needs beside the factors: 8 bytes for each row and the
/// values of the longest row.
template <class Scalar, class ExecutionSpace>
class HostEliminationWorkspace {
  using Memory = typename ExecutionSpace::memory_space;
  using Columns = Kokkos::View<int*, DeviceOf<ExecutionSpace>>;

 public:
  HostEliminationWorkspace() = default;
  /// Refers to the patterns' columns where these have 32 bits.
  HostEliminationWorkspace(const ExecutionSpace& exec,
                           const CrsArrays<Scalar>& A,
                           const FactorPatterns<Scalar>& patterns)
      : a_columns_(indices_as<int>(exec, A.entries)),
        u_columns_(indices_as<int>(exec, patterns.U.arrays.entries)) {
    make_unfilled(places_, "Strata::IncompleteLu::places", 2 * A.rows());
    make_unfilled(values_, "Strata::IncompleteLu::row", patterns.longest_row);
    Kokkos::deep_copy(exec, places_, -1);
  }

  /// Enqueues the elimination of an A with the pattern that this was made for,
  /// into the values of L and U.
  /// @param fault  gets the first one, as raise_factor_fault takes it
  void eliminate(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                 const NewTriangle<Scalar>& L, const NewTriangle<Scalar>& U,
                 const SmallPivots<Scalar>& pivots, std::int64_t* fault) const {
    run_alone("Strata::IncompleteLu::eliminate", exec,
              FactorRowsOnHost<Scalar>{
                  A, L, U, a_columns_.data(), u_columns_.data(), A.rows(),
                  places_.data(), places_.data() + A.rows(), values_.data(),
                  pivots, fault});
  }

  bool exists() const { return places_.extent(0) > 0; }
  std::size_t bytes() const {
    return bytes_of_copy(a_columns_) + bytes_of_copy(u_columns_) +
           places_.extent(0) * sizeof(int) + values_.extent(0) * sizeof(Scalar);
  }

 private:
  /// Nothing where the columns are those of a pattern.
  static std::size_t bytes_of_copy(const Columns& columns) {
    return columns.use_count() > 0 ? columns.span() * sizeof(int) : 0;
  }

  Columns a_columns_, u_columns_;
  Kokkos::View<int*, Memory> places_;
  Kokkos::View<Scalar*, Memory> values_;
};

}  // namespace Detail
}  // namespace Strata

#endif
