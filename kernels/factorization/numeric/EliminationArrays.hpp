// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_ELIMINATION_ARRAYS_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_ELIMINATION_ARRAYS_HPP

#include <core/device/NotReady.hpp>
#include <core/matrix/CrsArrays.hpp>

namespace Strata {
namespace Detail {

/// The arrays of a matrix and of its factors, which have the patterns of its
/// triangles: L with its ones last in each row, U with its diagonal first.
template <class Scalar>
struct EliminationArrays {
  CrsArrays<Scalar> A;
  IndexArray l_row_map, u_row_map, u_entries;
  Scalar *l_values, *u_values;
};

/// Makes values not ready, of which there is at least one, and takes the
/// tickets back.
template <class Scalar>
struct ResetElimination {
  Scalar* values;
  unsigned* drawn;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    NotReady<Scalar>::reset(values + i);
    if (i == 0) *drawn = 0;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
