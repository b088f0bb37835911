// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_INDICES_AS_HPP
#define STRATA_CORE_MATRIX_INDICES_AS_HPP

#include <core/matrix/IndexArray.hpp>
#include <core/memory/AllocateView.hpp>

namespace Strata {
namespace Detail {

/// What the views that Kokkos Kernels is given have to name.
template <class ExecutionSpace>
using DeviceOf =
    Kokkos::Device<ExecutionSpace, typename ExecutionSpace::memory_space>;

struct CopyIndices {
  IndexArray from;
  IndexOutput to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    to.set(k, from(k));
  }
};
/// Enqueues a copy of as many as there are in `from`.
template <class ExecutionSpace>
void copy_indices(const ExecutionSpace& exec, const IndexArray& from,
                  const IndexOutput& to) {
  for_each_index("Strata::copy_indices", exec, from.extent(0),
                 CopyIndices{from, to});
}

/// The array itself where it has the size of the type that is wanted, else a
/// copy, for functions of Kokkos Kernels, which want views. The copy is
/// enqueued on `exec`. Numbers are such that either sign has them.
template <class Index, class ExecutionSpace>
Kokkos::View<Index*, DeviceOf<ExecutionSpace>> indices_as(
    const ExecutionSpace& exec, const IndexArray& from) {
  using View = Kokkos::View<Index*, DeviceOf<ExecutionSpace>>;
  if (from.bytes_of_one() == sizeof(Index) && from.is_contiguous())
    return View(const_cast<Index*>(static_cast<const Index*>(from.data())),
                from.extent(0));
  const auto to = make_unfilled<View>(
      "Strata::indices", static_cast<std::int64_t>(from.extent(0)));
  copy_indices(exec, from, to);
  return to;
}

}  // namespace Detail
}  // namespace Strata

#endif
