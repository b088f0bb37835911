// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_SPTRSV_IMPLEMENTATION_HPP
#define STRATA_KERNELS_TRIANGULAR_SPTRSV_IMPLEMENTATION_HPP

#include <Strata_SptrsvHandle.hpp>
#include <core/matrix/VectorChecks.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/triangular/TriangularSolverImplementation.hpp>

namespace Strata {
namespace Experimental {

template <class Scalar, class ExecutionSpace>
void SPTRSVHandle<Scalar, ExecutionSpace>::check(
    std::size_t offsets, std::size_t entries, const Detail::StridedBlock& b,
    const Detail::StridedBlock& x) const {
  solver();
  const auto check_extent = [](const char* name, std::size_t given,
                               std::size_t analysed) {
    if (given != analysed)
      throw SizeMismatchError(name,
                              "has " + std::to_string(given) +
                                  " elements, the analysed matrix " +
                                  std::to_string(analysed),
                              "pass the matrix given to sptrsv_symbolic");
  };
  if (nrows_ > 0 || offsets > 0) check_extent("row_map", offsets, nrows_ + 1);
  check_extent("entries", entries, num_entries_);
  Detail::check_vectors(static_cast<std::int64_t>(nrows_), b, x);
}

template <class Scalar, class ExecutionSpace>
Kokkos::View<Scalar*, typename ExecutionSpace::memory_space>
SPTRSVHandle<Scalar, ExecutionSpace>::ones(const ExecutionSpace& exec,
                                           std::size_t count) {
  using View = Kokkos::View<Scalar*, memory_space>;
  const auto made = Detail::with_memory_errors("sptrsv_symbolic", [&] {
    return Detail::make_unfilled<View>("Strata::Sptrsv::ones",
                                       static_cast<std::int64_t>(count));
  });
  Kokkos::deep_copy(exec, made, Scalar(1));
  return made;
}

}  // namespace Experimental
}  // namespace Strata

#endif
