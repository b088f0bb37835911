// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SOLVE_SINGLE_FACTORS_HPP
#define STRATA_KERNELS_FACTORIZATION_SOLVE_SINGLE_FACTORS_HPP

#include <Strata_Error.hpp>
#include <Strata_TriangularSolver.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/matrix/TriangleCheck.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/factorization/solve/FactorVectors.hpp>
#include <limits>
#include <sstream>
#include <string>

// Factors of double rounded to float.

namespace Strata {
namespace Detail {

template <class Scalar>
struct SinglePrecision {
  using type = float;
  static constexpr const char* name = "float";
};
template <class R>
struct SinglePrecision<Kokkos::complex<R>> {
  using type = Kokkos::complex<float>;
  static constexpr const char* name = "complex_float";
};
template <class Scalar>
using SingleOf = typename SinglePrecision<Scalar>::type;

/// Whether there are triangular solvers of single precision to be called: the
/// library has them, or the program has their implementation.
template <class Scalar, class ExecutionSpace>
inline constexpr bool has_single_factors =
    HasImplementation<
        TriangularSolver<SingleOf<Scalar>, ExecutionSpace>>::value ||
    (library_has_scalar<SingleOf<Scalar>> && library_has_space<ExecutionSpace>);

/// Which entries of a matrix are a factor's.
struct FactorShape {
  Uplo uplo;
  Diag diag;
  KOKKOS_INLINE_FUNCTION bool has(std::int64_t row, std::int64_t column) const {
    return row == column ? diag == Diag::non_unit
                         : (column < row) == (uplo == Uplo::lower);
  }
};

/// Finds the first row of a factor with an entry beyond the range of single
/// precision: one that is not finite there, or that is on the diagonal, not 0,
/// and no normal number. (Off the diagonal, what becomes of a small entry
/// differs from it by at most 2^-24 of the diagonal one.)
template <class Scalar>
struct SingleRangeCheck {
  CrsArrays<Scalar> A;
  FactorShape shape;

  KOKKOS_INLINE_FUNCTION bool is_out(std::int64_t row, std::int64_t column,
                                     const Scalar& value) const {
    if (!shape.has(row, column)) return false;
    const auto rounded = narrow<SingleOf<Scalar>>(value);
    if (!is_finite(rounded)) return true;
    if (column != row || value == Scalar(0)) return false;
    using Part = RealPart<SingleOf<Scalar>>;
    return !is_normal(Part::real(rounded)) &&
           !is_normal(Part::imaginary(rounded));
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    if (row >= first) return;
    const std::int64_t end = A.row_map(row + 1);
    for (std::int64_t k = A.row_map(row); k < end; ++k)
      if (is_out(row, A.entries(k), A.values[k])) {
        first = row;
        return;
      }
  }

 private:
  KOKKOS_INLINE_FUNCTION static bool is_normal(double part) {
    return part >= 0x1p-126 || part <= -0x1p-126;
  }
};

template <class Scalar, class Single = SingleOf<Scalar>>
struct RoundValues {
  const Scalar* from;
  Single* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    to[k] = narrow<Single>(from[k]);
  }
};

/// @param A  was checked by check_square_matrix
/// @throws PrecisionError
/// Cost: a pass over A, which the host waits for.
template <class Scalar, class ExecutionSpace>
void require_single_range(const ExecutionSpace& exec,
                          const CrsArrays<Scalar>& A,
                          const FactorShape& shape) {
  using Memory = typename ExecutionSpace::memory_space;
  const SingleRangeCheck<Scalar> check{A, shape};
  const std::int64_t row =
      find_first("Strata::SingleFactors::range", exec, 0, A.rows(), check);
  if (row == std::numeric_limits<std::int64_t>::max()) return;
  const auto begin = A.row_map.template fetch<Memory>(row),
             end = A.row_map.template fetch<Memory>(row + 1);
  const auto columns = A.entries.template fetch<Memory>(begin, end);
  const auto values = to_host<Memory>(A.values + begin, columns.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (!check.is_out(row, columns[k], values[k])) continue;
    std::ostringstream text;
    text << values[k];
    throw PrecisionError(
        "values",
        "the entry in row " + std::to_string(row) + " and column " +
            std::to_string(columns[k]) + " is " + text.str() +
            ", beyond the range of float",
        "scale the rows and columns, or take FactorPrecision::working", row,
        text.str());
  }
  raise_changed_matrix(row);
}

}  // namespace Detail
}  // namespace Strata

#endif
