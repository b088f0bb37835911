// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: the entries must be a Kokkos::View of the handle's ordinal
// type
#include <Strata_Sptrsv.hpp>
#include <cstdint>

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Handle = Strata::Experimental::KokkosKernelsHandle<int, int, double,
                                                         Space, Memory, Memory>;

void misuse(Handle& handle, const Kokkos::View<int*, Space>& row_map,
            const Kokkos::View<std::int64_t*, Space>& entries,
            const Kokkos::View<double*, Space>& values,
            const Kokkos::View<double*, Space>& x) {
  Strata::sptrsv_symbolic(&handle, row_map, entries);
  Strata::sptrsv_solve(&handle, row_map, entries, values, x, x);
}
