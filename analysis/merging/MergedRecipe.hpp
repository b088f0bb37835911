// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_MERGING_MERGED_RECIPE_HPP
#define STRATA_ANALYSIS_MERGING_MERGED_RECIPE_HPP

#include <Kokkos_Core.hpp>

namespace Strata {
namespace Detail {

/// The elimination recipe of a merged row: which numbers meet in it, so that
/// new values need no searching.
///
/// The row is
///
///     x_i = sum over t of y_t b_t - sum over dependencies k of c_k x_k
///
/// with a slot for each coefficient y_t of b and, after these, one for each
/// dependency; all begin as 0. A slot holds the factor of x_t or x_k so far: as
/// it is on the right-hand side for x_t, which y_t follows from, and with the
/// opposite sign for x_k. Rows are eliminated one after the other, first the
/// row itself and then the rows t, the newest first, so that the slot of t is
/// final when its turn comes. Then y_t is what the slot holds over the diagonal
/// l_tt, and y_t times each entry of row t is taken from the slot of a
/// coefficient or added to that of a dependency. The recipe is a byte for each
/// of these entries: its slot.
///
/// All is kept as l_ii times that, and solves divide: the row itself is
/// eliminated with y = 1 and has no slot. Coefficients and dependencies are
/// ascending, as chunks have them: so a recipe does not depend on where numbers
/// stand, and rows of the same shape share one.
struct MergedRecipe {
  const unsigned char* slots = nullptr;    // of the entries
  int coefficients = 0, dependencies = 0;  // slots of each kind

  /// Whether the row is merged.
  KOKKOS_FUNCTION bool exists() const { return slots != nullptr; }
};

}  // namespace Detail
}  // namespace Strata

#endif
