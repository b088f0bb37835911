// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_COMPLETE_HPP
#define PETSCSTRATA_COMPLETE_HPP

// The pattern of complete factors L and U, which PETSc finds on the host.

#include <petsc/private/matimpl.h>

#include <algorithm>

#include "FactorBase.hpp"

namespace PetscStrata {

/// The first row of the matrix in this order whose diagonal entry is missing,
/// -1 if there is none.
inline PetscInt find_missing_diagonal(const HostOrder& order) {
  for (PetscInt i = 0; i < order.count; ++i) {
    const PetscInt row = order.rows[i];
    if (!std::binary_search(order.entries + order.row_map[row],
                            order.entries + order.row_map[row + 1],
                            order.columns[i]))
      return i;
  }
  return -1;
}

/// Reads the pattern of L + U of a factor G of the types MATSEQAIJ and
/// MATSOLVERPETSC, by the format that src/mat/impls/aij/seq/aijfact.c
/// describes: the rows of L without its diagonal, one after the other; then
/// those of U, the last one first, each with its diagonal at the end.
inline PetscErrorCode read_pattern(Mat G, HostPattern* to) {
  const PetscInt *map, *entries, n = G->rmap->n;
  std::vector<PetscInt> upper;

  PetscFunctionBegin;
  // MatGetRowIJ is not for factors.
  PetscCall(MatSeqAIJGetCSRAndMemType(G, &map, &entries, NULL, NULL));
  // Where the rows of U begin, found from the last one on.
  PetscCallCXX(upper.resize(static_cast<std::size_t>(n)));
  PetscInt at = n > 0 ? map[n] : 0;
  for (PetscInt i = n - 1; i >= 0; --i, ++at) {
    upper[static_cast<std::size_t>(i)] = at;
    for (; entries[at] != i; ++at)
      PetscCheck(entries[at] > i && entries[at] < n, PETSC_COMM_SELF,
                 PETSC_ERR_PLIB,
                 "strata: column %" PetscInt_FMT " in row %" PetscInt_FMT
                 " of U: this PETSc stores factors in another format",
                 entries[at], i);
  }
  PetscCallCXX(to->row_map.assign(1, 0));
  PetscCallCXX(to->entries.reserve(static_cast<std::size_t>(at)));
  for (PetscInt i = 0; i < n; ++i) {
    to->entries.insert(to->entries.end(), entries + map[i],
                       entries + map[i + 1]);
    to->entries.push_back(i);
    for (at = upper[static_cast<std::size_t>(i)]; entries[at] != i; ++at)
      to->entries.push_back(entries[at]);
    PetscCallCXX(
        to->row_map.push_back(static_cast<PetscInt>(to->entries.size())));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace PetscStrata

#endif
