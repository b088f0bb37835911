// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SPILUK_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_SPILUK_IMPLEMENTATION_HPP

// What the functions of Strata_Spiluk.hpp do, compiled into libstrata (src/)
// for the scalars and spaces of a build. A program with others includes this
// file.

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_LevelPermutation.hpp>
#include <Strata_SpilukHandle.hpp>
#include <algorithm>
#include <core/device/Profiling.hpp>
#include <core/interface/Compiled.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/symbolic/FilledMatrix.hpp>
#include <kernels/factorization/symbolic/NewFactor.hpp>
#include <limits>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<Experimental::SPILUKHandle<Scalar, ExecutionSpace>>
    : std::true_type {};

inline constexpr const char* spiluk_factors = "factors of spiluk";

/// Whether two arrays of indices begin alike.
struct CountOtherIndices {
  IndexArray one, other;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k,
                                         std::int64_t& differ) const {
    if (one(k) != other(k)) ++differ;
  }
};

/// The analysis of ILU(k) for a pattern, and factors for it that a numeric
/// phase computes before the caller's are written.
template <class Scalar, class ExecutionSpace>
struct SpilukFactors {
  /// @param A      has passed check_factor_input
  /// @param limit  of the caller's memory for the factors
  SpilukFactors(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                int fill_level, const FillLimit& limit)
      : level(fill_level),
        fingerprint(pattern_fingerprint(exec, A.row_map, A.entries)),
        num_entries(A.num_values),
        filled(exec, A, level, limit),
        lower(filled.pattern(A)),
        upper(filled.pattern(A)),
        factors(exec, filled.pattern(A), lower, upper) {
    expect_compiled<IncompleteFactorsTag, Scalar, ExecutionSpace>();
  }
  SpilukFactors(const SpilukFactors&) = delete;
  SpilukFactors& operator=(const SpilukFactors&) = delete;

  int level;
  std::uint64_t fingerprint;  // of A
  std::size_t num_entries;    // of A
  FilledMatrix<Scalar, ExecutionSpace> filled;
  NewFactor<Scalar, ExecutionSpace> lower, upper;
  IncompleteFactors<Scalar, ExecutionSpace> factors;
};

/// @throws PatternMismatchError
template <class Scalar, class ExecutionSpace>
void require_spiluk_pattern(const ExecutionSpace& exec,
                            const SpilukOutput<Scalar>& given,
                            const CrsArrays<Scalar>& made) {
  const auto require = [&](const std::string& name, const IndexArray& one,
                           const IndexArray& other) {
    std::int64_t differ = 0;
    Kokkos::parallel_reduce(
        "Strata::Spiluk::check::pattern",
        RangeOf<ExecutionSpace>(exec, 0,
                                static_cast<std::int64_t>(other.extent(0))),
        CountOtherIndices{one, other}, differ);
    exec.fence();
    if (differ > 0)
      throw PatternMismatchError(
          name,
          std::to_string(differ) +
              " of its elements are not what spiluk_symbolic made",
          "pass what spiluk_symbolic has written");
  };
  if (made.rows() == 0) return;
  require(given.name + "_row_map", given.row_map, made.row_map);
  require(given.name + "_entries", given.entries, made.entries);
}

template <class Scalar, class ExecutionSpace>
void copy_spiluk_values(const ExecutionSpace& exec,
                        const SpilukOutput<Scalar>& to,
                        const CrsArrays<Scalar>& from) {
  using Memory = typename ExecutionSpace::memory_space;
  Kokkos::deep_copy(
      exec, UnmanagedView<Scalar, Memory>(to.values, from.num_values),
      UnmanagedView<const Scalar, Memory>(from.values, from.num_values));
}

}  // namespace Detail

namespace Experimental {

template <class Scalar, class ExecutionSpace>
std::size_t SPILUKHandle<Scalar, ExecutionSpace>::get_num_levels() const {
  const auto& lower = factors().lower.arrays();
  return Detail::with_memory_errors(Detail::spiluk_factors, [&] {
    return static_cast<std::size_t>(
        Detail::make_level_permutation(ExecutionSpace(), lower.row_map,
                                       lower.entries, lower.stored_values(),
                                       lower.columns, LevelPattern::lower)
            .num_levels);
  });
}

template <class Scalar, class ExecutionSpace>
std::size_t SPILUKHandle<Scalar, ExecutionSpace>::get_bytes() const {
  const Factors& made = factors();
  return made.factors.bytes() + made.lower.bytes() + made.upper.bytes() +
         made.filled.bytes();
}

template <class Scalar, class ExecutionSpace>
void SPILUKHandle<Scalar, ExecutionSpace>::analyse(
    const ExecutionSpace& exec, std::int64_t fill_level,
    const Detail::IndexArray& row_map, const Detail::IndexArray& entries,
    const Detail::SpilukPattern& L, const Detail::SpilukPattern& U) {
  reset_symbolic_complete();
  if (fill_level < 0)
    throw OptionError("fill_lev", std::to_string(fill_level) + " is negative",
                      "pass a level of fill of 0 or more");
  const auto check_offsets = [&](const std::string& name, std::size_t given) {
    if (given != nrows_ + 1)
      throw SizeMismatchError(
          name,
          "has " + std::to_string(given) +
              " offsets, the handle was created for " + std::to_string(nrows_) +
              " rows",
          "create the handle with the number of rows of the matrix, and pass "
          "one offset more than that");
  };
  if (nrows_ > 0 || row_map.extent(0) > 0)
    check_offsets("A_row_map", row_map.extent(0));
  check_offsets(L.name + "_row_map", L.row_map.extent(0));
  check_offsets(U.name + "_row_map", U.row_map.extent(0));
  const Detail::ProfilingRegion region("Strata::spiluk_symbolic");
  Detail::with_memory_errors(Detail::spiluk_factors, [&] {
    const auto check = [](const Detail::SpilukPattern& to, std::size_t stored) {
      if (static_cast<double>(stored) > to.largest_offset)
        throw IndexOverflowError(
            to.name + "_row_map",
            "its type does not count " + std::to_string(stored) + " entries",
            "use a handle with 64-bit offsets, or a lower level of fill");
      if (to.entries.extent(0) < stored)
        throw SizeMismatchError(
            to.name + "_entries",
            "has " + std::to_string(to.entries.extent(0)) +
                " elements, the factor " + std::to_string(stored),
            "allocate as many, and resize to get_nnzL() or get_nnzU() later");
    };
    // All are counted, so that the error says how many there are.
    Detail::FillLimit limit;
    limit.check = [&](const Detail::FillCount& counted) {
      check(L, static_cast<std::size_t>(counted.lower) + nrows_);
      check(U, static_cast<std::size_t>(counted.upper) + nrows_);
    };
    // The pattern phase copies values, and elimination refuses a zero diagonal.
    const auto ones =
        Detail::make_unfilled<Kokkos::View<Scalar*, memory_space>>(
            "Strata::Spiluk::ones",
            static_cast<std::int64_t>(entries.extent(0)));
    Kokkos::deep_copy(exec, ones, Scalar(1));
    Detail::CrsArrays<Scalar> A{row_map, entries, ones.data(),
                                entries.extent(0), 0};
    A.columns = A.rows();
    Detail::check_factor_input(exec, A);
    const auto made = std::make_shared<const Factors>(
        exec, A,
        static_cast<int>(std::min<std::int64_t>(
            fill_level, std::numeric_limits<int>::max())),
        limit);
    const auto &lower = made->lower.arrays(), &upper = made->upper.arrays();
    check(L, lower.num_values);
    check(U, upper.num_values);
    const auto store = [&](const Detail::SpilukPattern& to,
                           const Detail::CrsArrays<Scalar>& factor) {
      Detail::copy_indices(exec, factor.row_map, to.row_map);
      Detail::copy_indices(exec, factor.entries, to.entries);
    };
    store(L, lower);
    store(U, upper);
    exec.fence();
    nnz_l_ = lower.num_values;
    nnz_u_ = upper.num_values;
    factors_ = made;
  });
}

template <class Scalar, class ExecutionSpace>
void SPILUKHandle<Scalar, ExecutionSpace>::check(
    std::int64_t fill_level, const Detail::CrsArrays<Scalar>& A,
    const Detail::SpilukOutput<Scalar>& L,
    const Detail::SpilukOutput<Scalar>& U) const {
  const Factors& made = factors();
  if (std::min<std::int64_t>(fill_level, std::numeric_limits<int>::max()) !=
      made.level)
    throw OptionError("fill_lev",
                      "is " + std::to_string(fill_level) +
                          ", that of spiluk_symbolic was " +
                          std::to_string(made.level),
                      "pass the same level to both");
  const auto check_extent = [](const std::string& name, std::size_t given,
                               std::size_t analysed, bool or_more = false) {
    if (given != analysed && !(or_more && given > analysed))
      throw SizeMismatchError(name,
                              "has " + std::to_string(given) +
                                  " elements, not " + std::to_string(analysed),
                              "pass what belongs to the matrix given to "
                              "spiluk_symbolic");
  };
  if (nrows_ > 0 || A.row_map.extent(0) > 0)
    check_extent("A_row_map", A.row_map.extent(0), nrows_ + 1);
  check_extent("A_entries", A.entries.extent(0), made.num_entries);
  check_extent("A_values", A.num_values, made.num_entries);
  const auto check_factor = [&](const Detail::SpilukOutput<Scalar>& factor,
                                const Detail::CrsArrays<Scalar>& analysed) {
    check_extent(factor.name + "_row_map", factor.row_map.extent(0),
                 nrows_ + 1);
    check_extent(factor.name + "_entries", factor.entries.extent(0),
                 analysed.num_values, true);
    check_extent(factor.name + "_values", factor.num_values,
                 analysed.num_values, true);
  };
  check_factor(L, made.lower.arrays());
  check_factor(U, made.upper.arrays());
}

template <class Scalar, class ExecutionSpace>
void SPILUKHandle<Scalar, ExecutionSpace>::compute(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
    const Detail::SpilukOutput<Scalar>& L,
    const Detail::SpilukOutput<Scalar>& U) const {
  const Factors& made = factors();
  const Detail::ProfilingRegion region("Strata::spiluk_numeric");
  Detail::with_memory_errors(Detail::spiluk_factors, [&] {
    Detail::check_factor_input(exec, A);
    if (Detail::pattern_fingerprint(exec, A.row_map, A.entries) !=
        made.fingerprint)
      throw PatternMismatchError("A_entries",
                                 "do not have the pattern that was analysed",
                                 "call spiluk_symbolic for this pattern");
    const auto &lower = made.lower.arrays(), &upper = made.upper.arrays();
    Detail::require_spiluk_pattern(exec, L, lower);
    Detail::require_spiluk_pattern(exec, U, upper);
    made.factors.compute(exec, made.filled.with_fill(exec, A));
    Detail::copy_spiluk_values(exec, L, lower);
    Detail::copy_spiluk_values(exec, U, upper);
    exec.fence();
  });
}

}  // namespace Experimental
}  // namespace Strata

#endif
