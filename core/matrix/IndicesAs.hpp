// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_INDICES_AS_HPP
#define STRATA_CORE_MATRIX_INDICES_AS_HPP

#include <core/matrix/IndexArray.hpp>
#include <core/memory/AllocateView.hpp>

namespace Strata {
namespace Detail {

struct CopyIndices {
  IndexArray from;
  IndexOutput to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    to.set(k, from(k));
  }
};

/// The array itself where it has the type that is wanted, else a copy. Waits
/// for `exec` where it copies.
template <class Index, class ExecutionSpace>
Kokkos::View<Index*, typename ExecutionSpace::memory_space> indices_as(
    const ExecutionSpace& exec, const IndexArray& from) {
  using View = Kokkos::View<Index*, typename ExecutionSpace::memory_space>;
  const auto extent = static_cast<std::int64_t>(from.extent(0));
  // Nothing is written through it.
  if (is_array_of<Index>(from))
    return View(const_cast<Index*>(static_cast<const Index*>(from.data())),
                from.extent(0));
  const auto to = make_unfilled<View>("Strata::indices", extent);
  Kokkos::parallel_for(
      "Strata::indices",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, extent),
      CopyIndices{from, to});
  exec.fence();
  return to;
}

}  // namespace Detail
}  // namespace Strata

#endif
