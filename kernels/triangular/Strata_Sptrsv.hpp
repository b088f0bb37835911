// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SPTRSV_HPP
#define STRATA_SPTRSV_HPP

#include <Strata_SptrsvHandle.hpp>

// Triangular solves by the names and argument orders of Kokkos Kernels. The
// functions are in Strata and in Strata::Experimental, as they are in
// KokkosSparse (from release 4) and in KokkosSparse::Experimental; handle and
// algorithms are in Strata::Experimental.

namespace Strata {
namespace Detail {

/// The handle in `handle`, its types held against those of the matrix.
template <class RowMap, class Entries, class KernelHandle>
typename KernelHandle::SPTRSVHandleType& sptrsv_handle(KernelHandle* handle) {
  static_assert(std::is_same<typename RowMap::non_const_value_type,
                             typename KernelHandle::size_type>::value,
                "Strata: the row map must have the handle's size type");
  static_assert(std::is_same<typename Entries::non_const_value_type,
                             typename KernelHandle::nnz_lno_t>::value,
                "Strata: the entries must have the handle's ordinal type");
  if (!handle || !handle->get_sptrsv_handle())
    throw HandleError("handle", "has no sptrsv handle",
                      "call create_sptrsv_handle first");
  return *handle->get_sptrsv_handle();
}

}  // namespace Detail

/// Analyses the triangle that `handle` was created for.
///
/// @param row_map nrows + 1 offsets; @param entries zero-based columns, the
///   diagonal among them; @param values one for each entry: zeros on the
///   diagonal are noticed here, and memory for as many scalars is saved
/// @throws HandleError, SizeMismatchError and what TriangularSolver's
///   constructor throws
/// Cost: that of TriangularSolver's constructor. Waits for `exec`.
template <class ExecutionSpace, class KernelHandle, class RowMap, class Entries,
          class Values>
void sptrsv_symbolic(const ExecutionSpace& exec, KernelHandle* handle,
                     const RowMap& row_map, const Entries& entries,
                     const Values& values) {
  Detail::sptrsv_handle<RowMap, Entries>(handle).analyse(exec, row_map, entries,
                                                         values);
}

/// The same from the pattern alone.
template <class ExecutionSpace, class KernelHandle, class RowMap, class Entries>
void sptrsv_symbolic(const ExecutionSpace& exec, KernelHandle* handle,
                     const RowMap& row_map, const Entries& entries) {
  using Scalar = typename KernelHandle::nnz_scalar_t;
  // The solver packs values when it is made: ones stand in for what comes with
  // the first solve.
  Kokkos::View<Scalar*, typename ExecutionSpace::memory_space> ones(
      Kokkos::view_alloc("Strata::Sptrsv::ones", Kokkos::WithoutInitializing),
      entries.extent(0));
  Kokkos::deep_copy(exec, ones, Scalar(1));
  sptrsv_symbolic(exec, handle, row_map, entries, ones);
}

/// Both on the default instance of the handle's execution space.
template <class KernelHandle, class RowMap, class Entries>
void sptrsv_symbolic(KernelHandle* handle, const RowMap& row_map,
                     const Entries& entries) {
  sptrsv_symbolic(typename KernelHandle::HandleExecSpace(), handle, row_map,
                  entries);
}
template <class KernelHandle, class RowMap, class Entries, class Values>
void sptrsv_symbolic(KernelHandle* handle, const RowMap& row_map,
                     const Entries& entries, const Values& values) {
  sptrsv_symbolic(typename KernelHandle::HandleExecSpace(), handle, row_map,
                  entries, values);
}

/// Solves A x = b, with A's pattern that of sptrsv_symbolic and the values
/// given here.
///
/// @param b, x of rank 1 or 2, see TriangularSolver::solve
/// @throws HandleError, SizeMismatchError, AliasError, ZeroDiagonalError,
///   ScalingError;
///   nothing is written to x then
/// Cost: the values may have changed in place, so every solve packs them
/// again, which reads them once, writes them once and waits for a look at
/// them: more than the solve itself on many matrices. A caller whose values stay
/// says so by set_values_fixed(true) of the handle, after which only the first
/// solve packs, or uses TriangularSolver, whose solves never do. Only the
/// extents of row map and entries are held against the analysed ones.
template <class ExecutionSpace, class KernelHandle, class RowMap, class Entries,
          class Values, class B, class X>
void sptrsv_solve(const ExecutionSpace& exec, KernelHandle* handle,
                  const RowMap& row_map, const Entries& entries,
                  const Values& values, const B& b, const X& x) {
  Detail::sptrsv_handle<RowMap, Entries>(handle).solve(exec, row_map, entries,
                                                       values, b, x);
}

/// The same on the default instance of the handle's execution space.
template <class KernelHandle, class RowMap, class Entries, class Values,
          class B, class X>
void sptrsv_solve(KernelHandle* handle, const RowMap& row_map,
                  const Entries& entries, const Values& values, const B& b,
                  const X& x) {
  sptrsv_solve(typename KernelHandle::HandleExecSpace(), handle, row_map,
               entries, values, b, x);
}

namespace Experimental {
using Strata::sptrsv_solve;
using Strata::sptrsv_symbolic;
}  // namespace Experimental

}  // namespace Strata

#endif
