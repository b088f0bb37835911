// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SPILUK_HPP
#define STRATA_SPILUK_HPP

#include <Strata_SptrsvHandle.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/HandleExpectations.hpp>
#include <core/matrix/SharedElements.hpp>
#include <limits>
#include <string>
#include <vector>

// Incomplete LU with levels of fill, ILU(k), by the names and argument orders
// of Kokkos Kernels. The functions are in Strata and in Strata::Experimental,
// as they are in KokkosSparse (from release 4) and in
// KokkosSparse::Experimental; handle and algorithms are in
// Strata::Experimental.

namespace Strata {
namespace Detail {

/// The handle in `handle`.
template <class KernelHandle>
typename KernelHandle::SPILUKHandleType& spiluk_handle(KernelHandle* handle) {
  if (!handle || !handle->get_spiluk_handle())
    throw HandleError("handle", "has no spiluk handle",
                      "call create_spiluk_handle first");
  return *handle->get_spiluk_handle();
}

template <class KernelHandle>
constexpr bool spiluk_is_compiled =
    expect_compiled<typename KernelHandle::SPILUKHandleType,
                    typename KernelHandle::nnz_scalar_t,
                    typename KernelHandle::HandleExecSpace>();

/// Whether views are those of a pattern that suits a handle.
template <class ExecutionSpace, class KernelHandle, class RowMap, class Entries>
constexpr bool suits_spiluk_pattern =
    suits_handle<ExecutionSpace, KernelHandle, RowMap, Entries,
                 Kokkos::View<typename KernelHandle::nnz_scalar_t*,
                              typename ExecutionSpace::memory_space>>;

template <class RowMap, class Entries>
SpilukPattern spiluk_pattern(const char* name, const RowMap& row_map,
                             const Entries& entries) {
  using Offset = typename RowMap::non_const_value_type;
  return {name, row_map, entries,
          static_cast<double>(std::numeric_limits<Offset>::max())};
}

template <class RowMap, class Entries, class Values>
SpilukOutput<typename Values::non_const_value_type> spiluk_output(
    const char* name, const RowMap& row_map, const Entries& entries,
    const Values& values) {
  return {name, row_map, entries, values.data(), values.extent(0)};
}

}  // namespace Detail

/// Analyses the pattern of A for the handle and makes the patterns of both
/// factors of ILU(fill_lev): those of incomplete_lu() of
/// incomplete_pattern(A, fill_lev). Rows are sorted; L has its diagonal as the
/// last entry of each row, U as the first.
///
/// The handle's get_nnzL() and get_nnzU() then say what the factors have: the
/// caller resizes the entries to that, and allocates as many values.
///
/// @param fill_lev level of fill, from 0 on
/// @param A_row_map nrows + 1 offsets; @param A_entries zero-based columns, in
///   sorted rows, the diagonal among them
/// @param L_row_map, U_row_map nrows + 1 offsets, written
/// @param L_entries, U_entries written from the front; what is longer stays
/// @throws HandleError, OptionError for a negative level, SizeMismatchError,
///   also for entries that are too short, RowMapError, ColumnRangeError,
///   UnsortedRowError, DuplicateEntryError, MissingDiagonalError,
///   IndexOverflowError and MemoryError: the handle then has no analysis,
///   whatever it had, and nothing is written
/// Cost: incomplete_pattern(), where there is a level, and the analysis of
/// incomplete_lu(). The handle keeps that analysis and factors of its own, and
/// where there is fill, the filled matrix and 8 bytes for each entry of A.
/// Waits for `exec`.
template <class ExecutionSpace, class KernelHandle, class ARowMap,
          class AEntries, class LRowMap, class LEntries, class URowMap,
          class UEntries>
void spiluk_symbolic(const ExecutionSpace& exec, KernelHandle* handle,
                     typename KernelHandle::const_nnz_lno_t fill_lev,
                     const ARowMap& A_row_map, const AEntries& A_entries,
                     const LRowMap& L_row_map, const LEntries& L_entries,
                     const URowMap& U_row_map, const UEntries& U_entries) {
  using namespace Detail;
  if constexpr (suits_spiluk_pattern<ExecutionSpace, KernelHandle, ARowMap,
                                     AEntries> &&
                suits_spiluk_pattern<ExecutionSpace, KernelHandle, LRowMap,
                                     LEntries> &&
                suits_spiluk_pattern<ExecutionSpace, KernelHandle, URowMap,
                                     UEntries>) {
    if constexpr (ExpectOutputs<LRowMap, LEntries, URowMap, UEntries>::value &&
                  spiluk_is_compiled<KernelHandle>) {
      spiluk_handle(handle).analyse(exec, static_cast<std::int64_t>(fill_lev),
                                    A_row_map, A_entries,
                                    spiluk_pattern("L", L_row_map, L_entries),
                                    spiluk_pattern("U", U_row_map, U_entries));
    }
  }
}

/// The same on the default instance of the handle's execution space.
/// @param nstreams accepted, and of no effect: no memory is divided up
template <class KernelHandle, class ARowMap, class AEntries, class LRowMap,
          class LEntries, class URowMap, class UEntries>
void spiluk_symbolic(KernelHandle* handle,
                     typename KernelHandle::const_nnz_lno_t fill_lev,
                     const ARowMap& A_row_map, const AEntries& A_entries,
                     const LRowMap& L_row_map, const LEntries& L_entries,
                     const URowMap& U_row_map, const UEntries& U_entries,
                     int nstreams = 1) {
  (void)nstreams;
  spiluk_symbolic(typename KernelHandle::HandleExecSpace(), handle, fill_lev,
                  A_row_map, A_entries, L_row_map, L_entries, U_row_map,
                  U_entries);
}

/// Computes the values of both factors: (L U)_ij = a_ij wherever the factors
/// store an entry, the ones of L's diagonal among its values. Elimination,
/// error bound and repeatable bits are those of incomplete_lu().
///
/// @param fill_lev that of spiluk_symbolic
/// @param A_row_map, A_entries the pattern given to spiluk_symbolic
/// @param A_values one for each entry; any, as often as you like
/// @param L_row_map, L_entries, U_row_map, U_entries as spiluk_symbolic made
///   them, at that length or longer
/// @param L_values, U_values written, get_nnzL() and get_nnzU() of them
/// @throws HandleError, OptionError for another level, SizeMismatchError,
///   AliasError where L_values and U_values share memory, what
///   spiluk_symbolic throws of a pattern, PatternMismatchError,
///   ZeroDiagonalError, FactorizationError for a pivot that becomes zero or a
///   value that is not finite, and MemoryError: nothing is written then
/// Cost: five passes over A and the factors' patterns for the checks, the
/// elimination, and a copy of the factors' values. Waits for `exec`.
template <class ExecutionSpace, class KernelHandle, class ARowMap,
          class AEntries, class AValues, class LRowMap, class LEntries,
          class LValues, class URowMap, class UEntries, class UValues>
void spiluk_numeric(const ExecutionSpace& exec, KernelHandle* handle,
                    typename KernelHandle::const_nnz_lno_t fill_lev,
                    const ARowMap& A_row_map, const AEntries& A_entries,
                    const AValues& A_values, const LRowMap& L_row_map,
                    const LEntries& L_entries, const LValues& L_values,
                    const URowMap& U_row_map, const UEntries& U_entries,
                    const UValues& U_values) {
  using namespace Detail;
  if constexpr (suits_handle<ExecutionSpace, KernelHandle, ARowMap, AEntries,
                             AValues> &&
                suits_handle<ExecutionSpace, KernelHandle, LRowMap, LEntries,
                             LValues> &&
                suits_handle<ExecutionSpace, KernelHandle, URowMap, UEntries,
                             UValues>) {
    if constexpr (ExpectOutputs<LValues, UValues>::value &&
                  spiluk_is_compiled<KernelHandle>) {
      const auto A = crs_arrays(A_row_map, A_entries, A_values);
      const auto L = spiluk_output("L", L_row_map, L_entries, L_values);
      const auto U = spiluk_output("U", U_row_map, U_entries, U_values);
      auto& factors = spiluk_handle(handle);
      factors.check(static_cast<std::int64_t>(fill_lev), A, L, U);
      if (share_elements(L_values, U_values))
        throw AliasError("U_values", "shares memory with L_values",
                         "give each factor memory of its own");
      factors.compute(exec, A, L, U);
    }
  }
}

/// The same on the default instance of the handle's execution space.
template <class KernelHandle, class ARowMap, class AEntries, class AValues,
          class LRowMap, class LEntries, class LValues, class URowMap,
          class UEntries, class UValues>
void spiluk_numeric(KernelHandle* handle,
                    typename KernelHandle::const_nnz_lno_t fill_lev,
                    const ARowMap& A_row_map, const AEntries& A_entries,
                    const AValues& A_values, const LRowMap& L_row_map,
                    const LEntries& L_entries, const LValues& L_values,
                    const URowMap& U_row_map, const UEntries& U_entries,
                    const UValues& U_values) {
  spiluk_numeric(typename KernelHandle::HandleExecSpace(), handle, fill_lev,
                 A_row_map, A_entries, A_values, L_row_map, L_entries, L_values,
                 U_row_map, U_entries, U_values);
}

/// Factorises one matrix on each of several execution space instances: element
/// i of every vector belongs to matrix i. The handles differ, as each has
/// factors of its own.
///
/// @throws SizeMismatchError where the vectors' lengths differ, AliasError
///   where a handle comes twice or values of one factor share memory with those
///   of another, and what spiluk_numeric throws. What spiluk_numeric finds
///   before it looks at elements is found before anything is written; a fault
///   in the elements of matrix i leaves the factors before it complete and
///   those from i on untouched
/// Cost: that of spiluk_numeric for each, one after the other, as each waits
/// for a look at its pivots.
template <class ExecutionSpace, class KernelHandle, class ARowMap,
          class AEntries, class AValues, class LRowMap, class LEntries,
          class LValues, class URowMap, class UEntries, class UValues>
void spiluk_numeric_streams(const std::vector<ExecutionSpace>& execspace_v,
                            const std::vector<KernelHandle*>& handle_v,
                            typename KernelHandle::const_nnz_lno_t fill_lev,
                            const std::vector<ARowMap>& A_row_map_v,
                            const std::vector<AEntries>& A_entries_v,
                            const std::vector<AValues>& A_values_v,
                            const std::vector<LRowMap>& L_row_map_v,
                            const std::vector<LEntries>& L_entries_v,
                            const std::vector<LValues>& L_values_v,
                            const std::vector<URowMap>& U_row_map_v,
                            const std::vector<UEntries>& U_entries_v,
                            const std::vector<UValues>& U_values_v) {
  using namespace Detail;
  if constexpr (suits_handle<ExecutionSpace, KernelHandle, ARowMap, AEntries,
                             AValues> &&
                suits_handle<ExecutionSpace, KernelHandle, LRowMap, LEntries,
                             LValues> &&
                suits_handle<ExecutionSpace, KernelHandle, URowMap, UEntries,
                             UValues>) {
    if constexpr (ExpectOutputs<LValues, UValues>::value &&
                  spiluk_is_compiled<KernelHandle>) {
      const std::size_t count = execspace_v.size();
      const auto check_count = [&](const char* name, std::size_t given) {
        require_as_many_as_spaces(name, given, count);
      };
      check_count("handle_v", handle_v.size());
      check_count("A_row_map_v", A_row_map_v.size());
      check_count("A_entries_v", A_entries_v.size());
      check_count("A_values_v", A_values_v.size());
      check_count("L_row_map_v", L_row_map_v.size());
      check_count("L_entries_v", L_entries_v.size());
      check_count("L_values_v", L_values_v.size());
      check_count("U_row_map_v", U_row_map_v.size());
      check_count("U_entries_v", U_entries_v.size());
      check_count("U_values_v", U_values_v.size());
      require_handles_differ(handle_v);
      const auto with = [&](std::size_t i, const auto& work) {
        work(spiluk_handle(handle_v[i]),
             crs_arrays(A_row_map_v[i], A_entries_v[i], A_values_v[i]),
             spiluk_output("L", L_row_map_v[i], L_entries_v[i], L_values_v[i]),
             spiluk_output("U", U_row_map_v[i], U_entries_v[i], U_values_v[i]));
      };
      for (std::size_t i = 0; i < count; ++i)
        with(i, [&](const auto& factors, const auto&... arrays) {
          factors.check(static_cast<std::int64_t>(fill_lev), arrays...);
        });
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = 0; j <= i; ++j) {
          const bool shared =
              share_elements(U_values_v[i], L_values_v[j]) ||
              (j < i && (share_elements(L_values_v[i], U_values_v[j]) ||
                         share_elements(L_values_v[i], L_values_v[j]) ||
                         share_elements(U_values_v[i], U_values_v[j])));
          if (shared)
            throw AliasError("U_values_v",
                             "factors " + std::to_string(j) + " and " +
                                 std::to_string(i) + " share memory",
                             "give each factor memory of its own");
        }
      for (std::size_t i = 0; i < count; ++i)
        with(i, [&](const auto& factors, const auto&... arrays) {
          factors.compute(execspace_v[i], arrays...);
        });
    }
  }
}

namespace Experimental {
using Strata::spiluk_numeric;
using Strata::spiluk_numeric_streams;
using Strata::spiluk_symbolic;
}  // namespace Experimental

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/factorization/SpilukImplementation.hpp>
#endif

#endif
