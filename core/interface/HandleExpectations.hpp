// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_HANDLE_EXPECTATIONS_HPP
#define STRATA_CORE_INTERFACE_HANDLE_EXPECTATIONS_HPP

#include <Strata_Error.hpp>
#include <core/interface/Expectations.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace Strata {
namespace Detail {

/// What a matrix has to be for a handle by the names of Kokkos Kernels.
template <class ExecutionSpace, class KernelHandle, class RowMap, class Entries>
struct ExpectForHandle {
  static constexpr bool space =
      std::is_same<ExecutionSpace,
                   typename KernelHandle::HandleExecSpace>::value;
  static_assert(space,
                "Strata: the execution space instance must be of the handle's "
                "type");
  static constexpr bool offsets =
      ViewFacts<RowMap>::template is_of<typename KernelHandle::size_type>;
  static_assert(!space || offsets,
                "Strata: the row map must be a Kokkos::View of the handle's "
                "size type");
  static constexpr bool ordinals =
      ViewFacts<Entries>::template is_of<typename KernelHandle::nnz_lno_t>;
  static_assert(!space || !offsets || ordinals,
                "Strata: the entries must be a Kokkos::View of the handle's "
                "ordinal type");
  static constexpr bool value = space && offsets && ordinals;
};
template <class ExecutionSpace, class KernelHandle, class RowMap, class Entries,
          class Values>
constexpr bool suits_handle = std::conditional_t<
    ExpectForHandle<ExecutionSpace, KernelHandle, RowMap, Entries>::value,
    ExpectMatrixViews<typename KernelHandle::nnz_scalar_t, ExecutionSpace,
                      RowMap, Entries, Values>,
    std::false_type>::value;

/// Views that are written.
template <class... Views>
struct ExpectOutputs {
  static constexpr bool value = (ViewFacts<Views>::is_writable && ...);
  static_assert(value,
                "Strata: row maps, entries and values of the factors are "
                "written: their elements must not be const");
};

// What functions for several execution space instances at once ask of their
// vectors, one element of which belongs to each instance.

/// @throws SizeMismatchError
inline void require_as_many_as_spaces(const char* name, std::size_t given,
                                      std::size_t count) {
  if (given != count)
    throw SizeMismatchError(name,
                            "has " + std::to_string(given) +
                                " elements, execspace_v " +
                                std::to_string(count),
                            "give one for each execution space instance");
}

/// @throws AliasError
template <class Handle>
void require_handles_differ(const std::vector<Handle*>& handle_v) {
  for (std::size_t i = 0; i < handle_v.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (handle_v[i] == handle_v[j])
        throw AliasError("handle_v",
                         "has one handle at " + std::to_string(j) + " and " +
                             std::to_string(i),
                         "give each execution space instance a handle of its "
                         "own");
}

}  // namespace Detail
}  // namespace Strata

#endif
