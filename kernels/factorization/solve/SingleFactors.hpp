// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SOLVE_SINGLE_FACTORS_HPP
#define STRATA_KERNELS_FACTORIZATION_SOLVE_SINGLE_FACTORS_HPP

#include <Strata_Error.hpp>
#include <Strata_TriangularSolver.hpp>
#include <core/matrix/CrsArrays.hpp>
#include <kernels/factorization/solve/FactorVectors.hpp>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

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
    const auto rounded = rounded_to<SingleOf<Scalar>>(value);
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

template <class Scalar>
struct RoundValues {
  const Scalar* from;
  SingleOf<Scalar>* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    to[k] = rounded_to<SingleOf<Scalar>>(from[k]);
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
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t row = none;
  const SingleRangeCheck<Scalar> check{A, shape};
  Kokkos::parallel_reduce(
      "Strata::SingleFactors::range",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, A.rows()),
      check, Kokkos::Min<std::int64_t>(row));
  exec.fence();
  if (row == none) return;
  const auto begin = A.row_map.template fetch<Memory>(row),
             end = A.row_map.template fetch<Memory>(row + 1);
  const auto columns = A.entries.template fetch<Memory>(begin, end);
  std::vector<Scalar> values(columns.size());
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  Kokkos::deep_copy(Kokkos::View<Scalar*, Kokkos::HostSpace, Unmanaged>(
                        values.data(), values.size()),
                    Kokkos::View<const Scalar*, Memory, Unmanaged>(
                        A.values + begin, values.size()));
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
  throw MatrixError(
      "matrix", "changed while it was checked in row " + std::to_string(row),
      "do not write to the matrix during a call", row);
}

}  // namespace Detail
}  // namespace Strata

#endif
