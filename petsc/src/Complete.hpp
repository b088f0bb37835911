// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_COMPLETE_HPP
#define PETSCSTRATA_COMPLETE_HPP

// Complete factors L U, which PETSc computes on the host.

#include <petsc/private/matimpl.h>

#include <cstddef>
#include <limits>

#include "FactorBase.hpp"

namespace PetscStrata {

/// Reads a factor G of the types MATSEQAIJ and MATSOLVERPETSC, by the format
/// that src/mat/impls/aij/seq/aijfact.c describes: the rows of L without its
/// diagonal, one after the other; then those of U, the last one first, each
/// with its diagonal at the end, inverted.
class CompleteReader {
 public:
  explicit CompleteReader(Mat G) : G_(G) {}

  PetscErrorCode pattern(HostFactors* to) {
    const PetscInt *map, *entries, n = G_->rmap->n;

    PetscFunctionBegin;
    // MatGetRowIJ is not for factors.
    PetscCall(MatSeqAIJGetCSRAndMemType(G_, &map, &entries, NULL, NULL));
    const bool too_many =
        n > 0 && map[n] > std::numeric_limits<PetscInt>::max() - n;
    PetscCheck(!too_many, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
               "strata: the factor L has more entries than a PetscInt counts: "
               "configure PETSc with --with-64-bit-indices");
    PetscCallCXX(take_lower(map, entries, to));
    // Where the rows of U begin and end, found from the last one on.
    PetscCallCXX(begin_.assign(static_cast<std::size_t>(n) + 1, 0));
    begin_[static_cast<std::size_t>(n)] = n > 0 ? map[n] : 0;
    for (PetscInt i = n - 1; i >= 0; --i) {
      PetscInt at = begin_[static_cast<std::size_t>(i) + 1];
      while (entries[at] != i) {
        PetscCheck(entries[at] > i && entries[at] < n, PETSC_COMM_SELF,
                   PETSC_ERR_PLIB,
                   "strata: column %" PetscInt_FMT " in row %" PetscInt_FMT
                   " of U: this PETSc stores factors in another format",
                   entries[at], i);
        ++at;
      }
      begin_[static_cast<std::size_t>(i)] = at + 1;
    }
    PetscCallCXX(take_upper(entries, to));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// After pattern().
  PetscErrorCode values(HostFactors* to) {
    const PetscScalar* from;
    const auto n = static_cast<PetscInt>(to->lower_map.size() - 1);

    PetscFunctionBegin;
    PetscCallCXX(to->lower.resize(to->lower_entries.size()));
    PetscCallCXX(to->upper.resize(to->upper_entries.size()));
    PetscCall(MatSeqAIJGetArrayRead(G_, &from));
    const PetscScalar* of_lower = from;
    std::size_t lower = 0, upper = 0;
    for (PetscInt i = 0; i < n; ++i) {
      const PetscInt length = to->lower_map[i + 1] - to->lower_map[i] - 1;
      for (PetscInt k = 0; k < length; ++k) to->lower[lower++] = *of_lower++;
      to->lower[lower++] = 1.0;
      to->upper[upper++] = PetscScalar(1) / from[last(i)];
      for (PetscInt k = first(i); k < last(i); ++k)
        to->upper[upper++] = from[k];
    }
    PetscCall(MatSeqAIJRestoreArrayRead(G_, &from));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Values of such a pattern that any plan takes, for an analysis before there
  /// are others.
  static void stand_ins(HostFactors* to) {
    to->lower.assign(to->lower_entries.size(), 0.0);
    to->upper.assign(to->upper_entries.size(), 0.0);
    for (std::size_t i = 0; i + 1 < to->lower_map.size(); ++i) {
      to->lower[to->lower_map[i + 1] - 1] = 1.0;
      to->upper[to->upper_map[i]] = 1.0;
      const PetscReal length = to->lower_map[i + 1] - to->lower_map[i] +
                               to->upper_map[i + 1] - to->upper_map[i];
      for (PetscInt k = to->lower_map[i]; k < to->lower_map[i + 1] - 1; ++k)
        to->lower[k] = -0.5 / length;
      for (PetscInt k = to->upper_map[i] + 1; k < to->upper_map[i + 1]; ++k)
        to->upper[k] = -0.5 / length;
    }
  }

 private:
  void take_lower(const PetscInt* map, const PetscInt* entries,
                  HostFactors* to) const {
    const PetscInt n = G_->rmap->n;
    to->lower_map.assign(1, 0);
    to->lower_entries.clear();
    for (PetscInt i = 0; i < n; ++i) {
      to->lower_entries.insert(to->lower_entries.end(), entries + map[i],
                               entries + map[i + 1]);
      to->lower_entries.push_back(i);
      to->lower_map.push_back(static_cast<PetscInt>(to->lower_entries.size()));
    }
  }
  void take_upper(const PetscInt* entries, HostFactors* to) const {
    const PetscInt n = G_->rmap->n;
    to->upper_map.assign(1, 0);
    to->upper_entries.clear();
    for (PetscInt i = 0; i < n; ++i) {
      to->upper_entries.push_back(i);
      to->upper_entries.insert(to->upper_entries.end(), entries + first(i),
                               entries + last(i));
      to->upper_map.push_back(static_cast<PetscInt>(to->upper_entries.size()));
    }
  }
  /// Of row i of U: its first entry, and its diagonal.
  PetscInt first(PetscInt i) const {
    return begin_[static_cast<std::size_t>(i) + 1];
  }
  PetscInt last(PetscInt i) const {
    return begin_[static_cast<std::size_t>(i)] - 1;
  }

  Mat G_;
  std::vector<PetscInt> begin_;
};

}  // namespace PetscStrata

#endif
