// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_COLOURING_HPP
#define STRATA_COLOURING_HPP

#include <Strata_LevelPermutation.hpp>
#include <core/interface/Compiled.hpp>
#include <vector>

namespace Strata {

/// Rows of a matrix in colours: no entry off the diagonal lies in a row and a
/// column of one colour.
template <class MemorySpace>
struct Colouring {
  Kokkos::View<int*, MemorySpace> colour_of;  // row -> colour, from 0
  /// The rows of colour c, ascending, are the new rows colour_map[c] to
  /// colour_map[c + 1] - 1.
  Permutation<MemorySpace> permutation;
  std::vector<std::int64_t> colour_map{0};

  int num_colours() const { return static_cast<int>(colour_map.size()) - 1; }
};

namespace Detail {

/// For expect_compiled.
struct ColouredRows;

/// See colour_rows. In analysis/level_sets/ColouringImplementation.hpp.
template <class Scalar, class ExecutionSpace>
Colouring<typename ExecutionSpace::memory_space> make_colouring(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A);

}  // namespace Detail

/// Colours the rows of a square matrix with a symmetric pattern, first fit
/// (each row the smallest colour that is free) in the order of the rows, which
/// gives regular stencils few colours: 5- and 7-point ones two, 9-point ones
/// four, 27-point ones eight. Where that order has more than 10,000 level sets,
/// on a device, in an order drawn by hashing the row's number. The same each
/// time. Sources: Y. Saad, *Iterative Methods for Sparse Linear Systems*, 2003,
/// section 3.3.3; M. T. Jones, P. E. Plassmann, SIAM J. Sci. Comput. 14(3),
/// 1993.
///
/// @throws what level_permutation() and permute_symmetric() throw
/// Cost: on a device level sets of the lower triangle, a launch for each of
/// them, two sorts of the rows at most; on a host a pass over the entries by
/// one thread and a sort; a check of the pattern before that. Waits for `exec`.
template <class CrsMatrix>
Colouring<typename CrsMatrix::memory_space> colour_rows(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A) {
  Detail::expect_compiled<Detail::ColouredRows,
                          typename Detail::MatrixTypes<CrsMatrix>::Scalar,
                          typename CrsMatrix::execution_space>();
  return Detail::make_colouring(exec, Detail::crs_arrays(A));
}

}  // namespace Strata

#if !STRATA_LIBRARY
#include <analysis/level_sets/ColouringImplementation.hpp>
#endif

#endif
