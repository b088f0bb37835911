// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_SPTRSV_HPP
#define STRATA_SPTRSV_HPP

#include <Strata_SptrsvHandle.hpp>
#include <core/interface/HandleExpectations.hpp>
#include <string>
#include <vector>

// Triangular solves by the names and argument orders of Kokkos Kernels. The
// functions are in Strata and in Strata::Experimental, as they are in
// KokkosSparse (from release 4) and in KokkosSparse::Experimental; handle and
// algorithms are in Strata::Experimental.

namespace Strata {
namespace Detail {

/// The handle in `handle`.
template <class KernelHandle>
typename KernelHandle::SPTRSVHandleType& sptrsv_handle(KernelHandle* handle) {
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
///   constructor throws: the handle then has no analysis, whatever it had
/// Cost: that of TriangularSolver's constructor. Waits for `exec`.
template <class ExecutionSpace, class KernelHandle, class RowMap, class Entries,
          class Values>
void sptrsv_symbolic(const ExecutionSpace& exec, KernelHandle* handle,
                     const RowMap& row_map, const Entries& entries,
                     const Values& values) {
  if constexpr (Detail::suits_handle<ExecutionSpace, KernelHandle, RowMap,
                                     Entries, Values>) {
    Detail::sptrsv_handle(handle).analyse(exec, row_map, entries, values);
  }
}

/// The same from the pattern alone.
template <class ExecutionSpace, class KernelHandle, class RowMap, class Entries>
void sptrsv_symbolic(const ExecutionSpace& exec, KernelHandle* handle,
                     const RowMap& row_map, const Entries& entries) {
  if constexpr (Detail::ExpectForHandle<ExecutionSpace, KernelHandle, RowMap,
                                        Entries>::value) {
    // The solver packs values when it is made: ones stand in for what comes
    // with the first solve.
    using Handle = typename KernelHandle::SPTRSVHandleType;
    sptrsv_symbolic(exec, handle, row_map, entries,
                    Handle::ones(exec, entries.extent(0)));
  }
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
/// @throws HandleError, SizeMismatchError, AliasError, ZeroDiagonalError, and
///   what sptrsv_symbolic throws where the matrix is analysed once more;
///   nothing is written to x then
/// Cost: the values may have changed in place, so every solve packs them
/// again, which reads them once, writes them once and waits for a look at
/// them: more than the solve itself on many matrices. A caller whose values
/// stay says so by set_values_fixed(true) of the handle, after which only the
/// first solve packs, or uses TriangularSolver, whose solves never do. Values
/// with which the plan would be too inaccurate cost another analysis. Only the
/// extents of row map and entries are held against the analysed ones.
template <class ExecutionSpace, class KernelHandle, class RowMap, class Entries,
          class Values, class B, class X>
void sptrsv_solve(const ExecutionSpace& exec, KernelHandle* handle,
                  const RowMap& row_map, const Entries& entries,
                  const Values& values, const B& b, const X& x) {
  if constexpr (Detail::suits_handle<ExecutionSpace, KernelHandle, RowMap,
                                     Entries, Values> &&
                Detail::ExpectVectors<typename KernelHandle::nnz_scalar_t,
                                      ExecutionSpace, B, X>::value) {
    auto& system = Detail::sptrsv_handle(handle);
    system.check(row_map.extent(0), entries.extent(0), Detail::strided_block(b),
                 Detail::strided_block(x));
    system.take_values(exec, row_map, entries, values);
    system.solve(exec, b, x);
  }
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

/// Solves one system on each of several execution space instances, which work
/// side by side as far as the device can: element i of every vector belongs to
/// system i. The handles differ, as solves of one share its workspace.
///
/// @throws SizeMismatchError where the vectors' lengths differ, AliasError
///   where a handle comes twice or a system's x has an element of another's x
///   or b, and what sptrsv_solve throws; nothing is written to any x then
/// Cost: as sptrsv_solve. Values that may have changed are waited for, one
/// system after the other, before the first solve is enqueued.
template <class ExecutionSpace, class KernelHandle, class RowMap, class Entries,
          class Values, class B, class X>
void sptrsv_solve_streams(const std::vector<ExecutionSpace>& execspace_v,
                          const std::vector<KernelHandle*>& handle_v,
                          const std::vector<RowMap>& rowmap_v,
                          const std::vector<Entries>& entries_v,
                          const std::vector<Values>& values_v,
                          const std::vector<B>& b_v,
                          const std::vector<X>& x_v) {
  if constexpr (Detail::suits_handle<ExecutionSpace, KernelHandle, RowMap,
                                     Entries, Values> &&
                Detail::ExpectVectors<typename KernelHandle::nnz_scalar_t,
                                      ExecutionSpace, B, X>::value) {
    const std::size_t count = execspace_v.size();
    const auto check_count = [&](const char* name, std::size_t given) {
      Detail::require_as_many_as_spaces(name, given, count);
    };
    check_count("handle_v", handle_v.size());
    check_count("rowmap_v", rowmap_v.size());
    check_count("entries_v", entries_v.size());
    check_count("values_v", values_v.size());
    check_count("b_v", b_v.size());
    check_count("x_v", x_v.size());
    Detail::require_handles_differ(handle_v);
    for (std::size_t i = 0; i < count; ++i)
      Detail::sptrsv_handle(handle_v[i])
          .check(rowmap_v[i].extent(0), entries_v[i].extent(0),
                 Detail::strided_block(b_v[i]), Detail::strided_block(x_v[i]));
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j) {
        const auto refuse = [&](const char* name) {
          throw AliasError("x_v",
                           "element " + std::to_string(i) +
                               " shares memory with element " +
                               std::to_string(j) + " of " + name,
                           "give each system a solution vector of its own");
        };
        if (j < i && Detail::share_elements(x_v[i], x_v[j])) refuse("x_v");
        if (j != i && Detail::share_elements(x_v[i], b_v[j])) refuse("b_v");
      }
    for (std::size_t i = 0; i < count; ++i)
      handle_v[i]->get_sptrsv_handle()->take_values(execspace_v[i], rowmap_v[i],
                                                    entries_v[i], values_v[i]);
    for (std::size_t i = 0; i < count; ++i)
      handle_v[i]->get_sptrsv_handle()->solve(execspace_v[i], b_v[i], x_v[i]);
  }
}

namespace Experimental {
using Strata::sptrsv_solve;
using Strata::sptrsv_solve_streams;
using Strata::sptrsv_symbolic;
}  // namespace Experimental

}  // namespace Strata

#endif
