// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PERMUTE_ROWS_HPP
#define STRATA_PERMUTE_ROWS_HPP

#include <Strata_LevelPermutation.hpp>
#include <core/interface/Compiled.hpp>
#include <core/interface/Expectations.hpp>
#include <core/matrix/SharedElements.hpp>

namespace Strata {
namespace Detail {

/// For expect_compiled.
struct PermutedVectors;

/// In kernels/triangular/PermuteRowsImplementation.hpp.
/// @throws SizeMismatchError, AliasError
template <class Scalar, class ExecutionSpace>
void permute_vectors(
    const char* label, const ExecutionSpace& exec,
    const Kokkos::View<int*, typename ExecutionSpace::memory_space>& old_row,
    const StridedBlock& from, const StridedBlock& to, bool scatters);

template <class ExecutionSpace, class MemorySpace, class From, class To>
void permute_views(const char* label, const ExecutionSpace& exec,
                   const Permutation<MemorySpace>& permutation,
                   const From& from, const To& to, bool scatters) {
  using Scalar = typename From::non_const_value_type;
  expect_compiled<PermutedVectors, Scalar, ExecutionSpace>();
  permute_vectors<Scalar>(label, exec,
                          permutation_for<ExecutionSpace>(permutation).old_row,
                          strided_block(from), strided_block(to), scatters);
}

}  // namespace Detail

/// The rows of `from` in the new order: to(i, c) = from(old_row(i), c). For the
/// right-hand sides of a system that permute_symmetric() has reordered.
///
/// Asynchronous on `exec`: one launch, no allocation, no transfer, no wait;
/// reads and writes each element once. So it does not look at the numbers in
/// `permutation`: those of level_permutation() and colour_rows() are one,
/// check_permutation() tells of others.
///
/// @param from, to permutation.size() rows, rank 1 or 2, any layout, the same
///   number of columns; `to` apart from `from`
/// @throws SizeMismatchError, AliasError before anything is enqueued
template <class ExecutionSpace, class MemorySpace, class From, class To>
void permute_rows(const ExecutionSpace& exec,
                  const Permutation<MemorySpace>& permutation, const From& from,
                  const To& to) {
  if constexpr (Detail::ExpectMove<ExecutionSpace, From, To>::value) {
    Detail::permute_views("Strata::permute_rows", exec, permutation, from, to,
                          false);
  }
}

/// The way back: to(old_row(i), c) = from(i, c). For the solution of the
/// reordered system. All else as for permute_rows().
template <class ExecutionSpace, class MemorySpace, class From, class To>
void inverse_permute_rows(const ExecutionSpace& exec,
                          const Permutation<MemorySpace>& permutation,
                          const From& from, const To& to) {
  if constexpr (Detail::ExpectMove<ExecutionSpace, From, To>::value) {
    Detail::permute_views("Strata::inverse_permute_rows", exec, permutation,
                          from, to, true);
  }
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <kernels/triangular/PermuteRowsImplementation.hpp>
#endif

#endif
