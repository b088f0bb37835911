// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_INTERFACE_HANDLE_EXPECTATIONS_HPP
#define STRATA_CORE_INTERFACE_HANDLE_EXPECTATIONS_HPP

#include <core/interface/Expectations.hpp>
#include <type_traits>

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

}  // namespace Detail
}  // namespace Strata

#endif
