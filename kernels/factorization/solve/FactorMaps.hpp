// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_MAPS_HPP
#define STRATA_KERNELS_FACTORIZATION_SOLVE_FACTOR_MAPS_HPP

#include <Strata_FactorTransformation.hpp>
#include <core/matrix/TriangleCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/factorization/solve/FactorVectors.hpp>
#include <limits>
#include <string>

// Permutations and scalings of a FactorSolver, checked and copied.

namespace Strata {
namespace Detail {

/// Copies a permutation, or `rows` for what is no row, and notes the first
/// place that names each row.
template <class MemorySpace>
struct TakePermutation {
  IndexArray from;
  std::int64_t rows;
  Kokkos::View<int*, MemorySpace> place, first;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = from(i);
    const bool is_row = row >= 0 && row < rows;
    place(i) = static_cast<int>(is_row ? row : rows);
    if (is_row) Kokkos::atomic_fetch_min(&first(row), static_cast<int>(i));
  }
};
/// The first place that names no row, or one that an earlier place names.
template <class MemorySpace>
struct FindBadPlace {
  std::int64_t rows;
  Kokkos::View<const int*, MemorySpace> place, first;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i,
                                         std::int64_t& bad) const {
    if (i < bad && (place(i) == rows || first(place(i)) != i)) bad = i;
  }
};

/// Copies a scaling; the minimum is the first factor that is 0 or not finite.
template <class Scalar, class MemorySpace>
struct TakeScaling {
  ScalingArray from;
  Kokkos::View<Scalar*, MemorySpace> to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i,
                                         std::int64_t& bad) const {
    const Scalar factor = from.template get<Scalar>(i);
    to(i) = factor;
    if (i < bad && (factor == Scalar(0) || !is_finite(factor))) bad = i;
  }
};

/// Maps between the vectors of a system and those of its factors.
template <class Scalar, class ExecutionSpace>
class FactorMaps {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Given = FactorTransformation<Scalar, ExecutionSpace>;

  /// Of vectors that stay as they are.
  FactorMaps() = default;
  /// @throws SizeMismatchError, PermutationError, NotFiniteError,
  ///   ZeroDiagonalError
  /// Cost: two passes over a permutation, one over a scaling. Waits for `exec`.
  FactorMaps(const ExecutionSpace& exec, std::int64_t rows, const Given& given)
      : row_place_(permutation(exec, rows, "row_permutation",
                               given.row_permutation())),
        column_place_(permutation(exec, rows, "column_permutation",
                                  given.column_permutation())),
        row_scale_(
            scaling(exec, rows, "row_scaling", "Dr", given.row_scaling())),
        column_scale_(scaling(exec, rows, "column_scaling", "Dc",
                              given.column_scaling())) {}

  VectorMap<Scalar> rows() const {
    return {row_place_.data(), row_scale_.data()};
  }
  VectorMap<Scalar> columns() const {
    return {column_place_.data(), column_scale_.data()};
  }
  /// To be changed by an equilibration.
  Scalar* row_scales() const { return row_scale_.data(); }
  Scalar* column_scales() const { return column_scale_.data(); }
  /// With these arrays.
  Given transformation() const {
    Given made;
    if (row_place_.extent(0)) made.row_permutation(row_place_);
    if (column_place_.extent(0)) made.column_permutation(column_place_);
    if (row_scale_.extent(0)) made.row_scaling(row_scale_);
    if (column_scale_.extent(0)) made.column_scaling(column_scale_);
    return made;
  }
  std::size_t bytes() const {
    return (row_place_.extent(0) + column_place_.extent(0)) * sizeof(int) +
           (row_scale_.extent(0) + column_scale_.extent(0)) * sizeof(Scalar);
  }

 private:
  using Places = Kokkos::View<int*, Memory>;
  using Scales = Kokkos::View<Scalar*, Memory>;

  static void require_size(const char* name, std::size_t size,
                           std::int64_t rows) {
    if (static_cast<std::int64_t>(size) != rows)
      throw SizeMismatchError(name,
                              "has " + std::to_string(size) +
                                  " elements, the factors have " +
                                  std::to_string(rows) + " rows",
                              "give one for every row");
  }
  static Places permutation(const ExecutionSpace& exec, std::int64_t rows,
                            const char* name, const OptionalIndices& given) {
    if (!given.is_set) return {};
    require_size(name, given.array.extent(0), rows);
    if (rows == 0) return {};
    const auto made = make_unfilled<Places>(
        std::string("Strata::FactorSolver::") + name, rows);
    const auto first =
        make_unfilled<Places>("Strata::FactorSolver::first_place", rows);
    Kokkos::deep_copy(exec, first, std::numeric_limits<int>::max());
    for_each_index("Strata::FactorSolver::take_permutation", exec, rows,
                   TakePermutation<Memory>{given.array, rows, made, first});
    const std::int64_t bad =
        find_first("Strata::FactorSolver::check_permutation", exec, 0, rows,
                   FindBadPlace<Memory>{rows, made, first});
    if (bad >= rows) return made;
    const std::string row =
        given.array.text(given.array.template fetch<Memory>(bad));
    const std::string names =
        "place " + std::to_string(bad) + " names row " + row;
    if (fetch_element(made, bad) == rows)
      throw PermutationError(
          name, names + ", outside [0, " + std::to_string(rows) + ")",
          "name each row once, counted from 0", bad, row);
    throw PermutationError(
        name,
        names + ", as place " +
            std::to_string(fetch_element(
                first, static_cast<std::size_t>(fetch_element(made, bad)))) +
            " does",
        "name each row once", bad, row);
  }
  static Scales scaling(const ExecutionSpace& exec, std::int64_t rows,
                        const char* name, const char* symbol,
                        const ScalingArray& given) {
    if (!given.is_set) return {};
    require_size(name, given.extent, rows);
    if (rows == 0) return {};
    const auto made = make_unfilled<Scales>(
        std::string("Strata::FactorSolver::") + name, rows);
    const std::int64_t bad =
        find_first("Strata::FactorSolver::take_scaling", exec, 0, rows,
                   TakeScaling<Scalar, Memory>{given, made});
    if (bad >= rows) return made;
    const Scalar factor = fetch_element(made, bad);
    const std::string problem = "the factor of " + std::string(symbol) +
                                " in row " + std::to_string(bad) + " is ";
    if (factor == Scalar(0))
      throw ZeroDiagonalError(name, problem + "0", "pass factors other than 0",
                              bad, "0");
    throw NotFiniteError(name, problem + "not finite", "pass finite factors",
                         bad);
  }

  Places row_place_, column_place_;
  Scales row_scale_, column_scale_;
};

}  // namespace Detail
}  // namespace Strata

#endif
