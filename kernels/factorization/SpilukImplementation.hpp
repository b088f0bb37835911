// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SPILUK_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_SPILUK_IMPLEMENTATION_HPP

// What the functions of Strata_Spiluk.hpp do, compiled into libstrata (src/)
// for the scalars and spaces of a build. A program with others includes this
// file.

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_SpilukHandle.hpp>
#include <Strata_TriangleGraph.hpp>
#include <algorithm>
#include <analysis/level_sets/LevelOrder.hpp>
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
#include <optional>

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
class SpilukFactors {
  using Memory = typename ExecutionSpace::memory_space;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  using Values = Kokkos::View<Scalar*, Memory>;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

 public:
  /// @param limit  of the caller's memory for the factors
  SpilukFactors(const ExecutionSpace& exec, const IndexArray& row_map,
                const IndexArray& entries, int level, const FillLimit& limit)
      : level_(level) {
    using Expect = ExpectCompiled<IncompleteFactorsTag, Scalar, ExecutionSpace>;
    static_assert(Expect::value, "");
    CrsArrays<Scalar> A{row_map, entries, nullptr, entries.extent(0), 0};
    A.columns = A.rows();
    // The pattern phase copies values, and elimination refuses a zero diagonal.
    const auto ones = make_unfilled<Values>(
        "Strata::Spiluk::ones", static_cast<std::int64_t>(A.num_values));
    Kokkos::deep_copy(exec, ones, Scalar(1));
    A.values = ones.data();
    check_factor_input(exec, A);
    fingerprint_ = pattern_fingerprint(exec, row_map, entries);
    num_entries_ = A.num_values;
    filled_.emplace(exec, A, level, limit);
    const CrsArrays<Scalar> filled = filled_->pattern(A);
    lower_.emplace(filled);
    upper_.emplace(filled);
    factors_.emplace(exec, filled, *lower_, *upper_);
  }
  SpilukFactors(const SpilukFactors&) = delete;
  SpilukFactors& operator=(const SpilukFactors&) = delete;

  int level() const { return level_; }
  std::size_t num_entries() const { return num_entries_; }
  const CrsArrays<Scalar>& lower() const { return lower_->arrays(); }
  const CrsArrays<Scalar>& upper() const { return upper_->arrays(); }

  /// The caller's factors get values. Waits for `exec`.
  /// @param A, L, U have passed SPILUKHandle::check
  void compute(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
               const SpilukOutput<Scalar>& L,
               const SpilukOutput<Scalar>& U) const {
    check_factor_input(exec, A);
    if (pattern_fingerprint(exec, A.row_map, A.entries) != fingerprint_)
      throw PatternMismatchError("A_entries",
                                 "do not have the pattern that was analysed",
                                 "call spiluk_symbolic for this pattern");
    require_pattern(exec, L, lower());
    require_pattern(exec, U, upper());
    factors_->compute(exec, filled_->with_fill(exec, A));
    copy_values(exec, L, lower());
    copy_values(exec, U, upper());
    exec.fence();
  }

  std::int64_t num_levels(const ExecutionSpace& exec) const {
    if (lower().rows() == 0) return 0;
    TriangleInput input;
    input.diag = Diag::unit;
    return order_by_level(
               exec,
               triangle_graph(exec, lower().row_map, lower().entries,
                              lower().stored_values(), lower().rows(), input),
               WithinLevel::ascending)
        .num_levels();
  }

  std::size_t bytes() const {
    return factors_->bytes() + bytes_of(lower()) + bytes_of(upper()) +
           filled_->bytes();
  }

 private:
  /// @throws PatternMismatchError
  static void require_pattern(const ExecutionSpace& exec,
                              const SpilukOutput<Scalar>& given,
                              const CrsArrays<Scalar>& made) {
    const auto require = [&](const char* name, const IndexArray& one,
                             const IndexArray& other) {
      std::int64_t differ = 0;
      Kokkos::parallel_reduce(
          "Strata::Spiluk::check::pattern",
          Range(exec, 0, static_cast<std::int64_t>(other.extent(0))),
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
    require(given.row_map_name, given.row_map, made.row_map);
    require(given.entries_name, given.entries, made.entries);
  }

  static void copy_values(const ExecutionSpace& exec,
                          const SpilukOutput<Scalar>& to,
                          const CrsArrays<Scalar>& from) {
    Kokkos::deep_copy(
        exec,
        Kokkos::View<Scalar*, Memory, Unmanaged>(to.values, from.num_values),
        Kokkos::View<const Scalar*, Memory, Unmanaged>(from.values,
                                                       from.num_values));
  }

  static std::size_t bytes_of(const CrsArrays<Scalar>& matrix) {
    const auto indices = [](const IndexArray& array) {
      return array.extent(0) * static_cast<std::size_t>(array.bytes_of_one());
    };
    return indices(matrix.row_map) + indices(matrix.entries) +
           matrix.num_values * sizeof(Scalar);
  }

  int level_;
  std::uint64_t fingerprint_ = 0;  // of A
  std::size_t num_entries_ = 0;    // of A
  std::optional<FilledMatrix<Scalar, ExecutionSpace>> filled_;
  std::optional<NewFactor<Scalar, ExecutionSpace>> lower_, upper_;
  std::optional<IncompleteFactors<Scalar, ExecutionSpace>> factors_;
};

}  // namespace Detail

namespace Experimental {

template <class Scalar, class ExecutionSpace>
std::size_t SPILUKHandle<Scalar, ExecutionSpace>::get_num_levels() const {
  const Factors& made = factors();
  return Detail::with_memory_errors(Detail::spiluk_factors, [&] {
    return static_cast<std::size_t>(made.num_levels(ExecutionSpace()));
  });
}

template <class Scalar, class ExecutionSpace>
std::size_t SPILUKHandle<Scalar, ExecutionSpace>::get_bytes() const {
  return factors().bytes();
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
  const auto check_offsets = [&](const char* name, std::size_t given) {
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
  check_offsets(L.row_map_name, L.row_map.extent(0));
  check_offsets(U.row_map_name, U.row_map.extent(0));
  const Detail::ProfilingRegion region("Strata::spiluk_symbolic");
  Detail::with_memory_errors(Detail::spiluk_factors, [&] {
    const auto check = [](const Detail::SpilukPattern& to, std::size_t stored) {
      if (static_cast<double>(stored) > to.largest_offset)
        throw IndexOverflowError(
            to.row_map_name,
            "its type does not count " + std::to_string(stored) + " entries",
            "use a handle with 64-bit offsets, or a lower level of fill");
      if (to.entries.extent(0) < stored)
        throw SizeMismatchError(
            to.entries_name,
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
    const auto made = std::make_shared<const Factors>(
        exec, row_map, entries,
        static_cast<int>(std::min<std::int64_t>(
            fill_level, std::numeric_limits<int>::max())),
        limit);
    check(L, made->lower().num_values);
    check(U, made->upper().num_values);
    const auto store = [&](const Detail::SpilukPattern& to,
                           const Detail::CrsArrays<Scalar>& factor) {
      Detail::copy_indices(exec, factor.row_map, to.row_map);
      Detail::copy_indices(exec, factor.entries, to.entries);
    };
    store(L, made->lower());
    store(U, made->upper());
    exec.fence();
    nnz_l_ = made->lower().num_values;
    nnz_u_ = made->upper().num_values;
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
      made.level())
    throw OptionError("fill_lev",
                      "is " + std::to_string(fill_level) +
                          ", that of spiluk_symbolic was " +
                          std::to_string(made.level()),
                      "pass the same level to both");
  const auto check_extent = [](const char* name, std::size_t given,
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
  check_extent("A_entries", A.entries.extent(0), made.num_entries());
  check_extent("A_values", A.num_values, made.num_entries());
  const auto check_factor = [&](const Detail::SpilukOutput<Scalar>& factor,
                                const Detail::CrsArrays<Scalar>& analysed) {
    check_extent(factor.row_map_name, factor.row_map.extent(0), nrows_ + 1);
    check_extent(factor.entries_name, factor.entries.extent(0),
                 analysed.num_values, true);
    check_extent(factor.values_name, factor.num_values, analysed.num_values,
                 true);
  };
  check_factor(L, made.lower());
  check_factor(U, made.upper());
}

template <class Scalar, class ExecutionSpace>
void SPILUKHandle<Scalar, ExecutionSpace>::compute(
    const ExecutionSpace& exec, const Detail::CrsArrays<Scalar>& A,
    const Detail::SpilukOutput<Scalar>& L,
    const Detail::SpilukOutput<Scalar>& U) const {
  const Factors& made = factors();
  const Detail::ProfilingRegion region("Strata::spiluk_numeric");
  Detail::with_memory_errors(Detail::spiluk_factors,
                             [&] { made.compute(exec, A, L, U); });
}

}  // namespace Experimental
}  // namespace Strata

#endif
