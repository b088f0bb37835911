// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_INCOMPLETE_FACTORIZATION_OPTIONS_HPP
#define STRATA_INCOMPLETE_FACTORIZATION_OPTIONS_HPP

#include <Strata_FactorPrecision.hpp>
#include <Strata_TriangularOptions.hpp>
#include <Strata_TriangularReport.hpp>
#include <core/interface/Enumerators.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>

namespace Strata {

/// Which incomplete factorisation is made.
enum class Factorization {
  /// The upper triangle of A is read, and all pivots must be positive. A must
  /// be Hermitian up to `symmetry_tolerance`.
  incomplete_cholesky,
  /// Any matrix that incomplete_lu takes. On a Hermitian matrix the product of
  /// the factors is that of incomplete Cholesky; whether it is positive
  /// definite shows in the solve.
  incomplete_lu,
  /// L D L^H of a Hermitian matrix that need not be definite; L D L^T if it is
  /// real. Reads the upper triangle, as incomplete_cholesky does. Rows are not
  /// exchanged, D is diagonal, and its signs are the report's inertia. A stored
  /// diagonal entry may be zero if elimination makes its pivot another number.
  incomplete_ldlh,
  /// L D L^T of a complex symmetric matrix: the same without conjugates.
  incomplete_ldlt
};

namespace Detail {
template <>
struct EnumeratorNames<Factorization> {
  static constexpr const char* list[] = {"incomplete_cholesky", "incomplete_lu",
                                         "incomplete_ldlh", "incomplete_ldlt"};
};
}  // namespace Detail

/// Order of rows in which an IncompleteFactorization eliminates. Vectors stay
/// in the order given. docs/choosing.md compares level sets, fill and
/// iterations; docs/algorithms/sell_and_cg.md, times of `natural` and
/// `coloured`.
///
/// From `rcm` on, rows and columns of A are permuted alike, by an order of the
/// graph of A + A^T that one thread of the host finds once, from a copy of the
/// pattern. For a 7-point grid of a million rows that takes, on a busy core, 3
/// s (level_sets, multicoloured), 4 s (rcm), 6 s (amd) or 16 s
/// (nested_dissection). All options are supported. A solve takes two passes
/// more over its vectors, and an update one over the values.
enum class FactorOrder {
  /// coloured on a device, for incomplete Cholesky with the defaults of all
  /// options but `symmetry_tolerance`, if colour_rows() gives the rows two
  /// colours and none has more than 1,024 entries; else natural.
  /// IncompleteFactorizationReport says why.
  automatic,
  /// The order given: fewest iterations, and triangular solves whose chains of
  /// dependencies cost their length whatever the bandwidth.
  natural,
  /// The order of two colours, known as red-black: more iterations than
  /// natural, but a solve with both factors is two launches, in which no row
  /// waits for another one, and conjugate gradients take their steps in the
  /// Schur complement of one colour. A must be Hermitian, and colour_rows()
  /// must find two colours, as it does for 5- and 7-point stencils. There are
  /// no other options than `symmetry_tolerance`.
  coloured,
  /// Reverse Cuthill-McKee: a small bandwidth.
  rcm,
  /// Approximate minimum degree, by SuiteSparse's AMD: little fill.
  amd,
  /// Nested dissection by METIS: little fill, few level sets.
  nested_dissection,
  /// By level set of the lower triangle: without fill the factors of natural,
  /// with the rows of a level set side by side.
  level_sets,
  /// By colour, of any number of colours, first fit: as many level sets as
  /// colours without fill, and more iterations. It is not `coloured`, whose
  /// Schur complement and products exist for two colours alone, and which
  /// therefore has no triangular solvers, no lower() and none of their options.
  multicoloured
};

namespace Detail {
template <>
struct EnumeratorNames<FactorOrder> {
  static constexpr const char* list[] = {
      "automatic", "natural",           "coloured",   "rcm",
      "amd",       "nested_dissection", "level_sets", "multicoloured"};
};
}  // namespace Detail

/// How an IncompleteFactorization scales rows and columns before it eliminates.
enum class FactorScaling {
  none,
  /// By powers of two, as LAPACK's geequb, so that nothing is rounded
  /// unless it underflows: the
  /// largest part of every row is from 1 to 2, then that of every column. For
  /// incomplete Cholesky, symmetrically: every diagonal entry is from 1 to 4.
  /// Rows without a non-zero entry keep their scale. It changes which pivots
  /// are small and what fits FactorPrecision::single, and no other factor: L U
  /// is scaled as A is. An update computes it anew: three passes over values.
  equilibration,
  /// A permutation of rows that makes the product of the diagonal's moduli
  /// largest, and scalings with which these are 1 and all other entries at most
  /// 1, as HSL's MC64 (job 5): for matrices with zero or small entries on the
  /// diagonal, which then may lack some. By one thread of the host, from a copy
  /// of the first matrix; updates keep it. Incomplete LU alone.
  matching
};

namespace Detail {
template <>
struct EnumeratorNames<FactorScaling> {
  static constexpr const char* list[] = {"none", "equilibration", "matching"};
};
}  // namespace Detail

/// Of IncompleteFactorization.
struct IncompleteFactorizationOptions {
  FactorOrder order = FactorOrder::natural;
  FactorScaling scaling = FactorScaling::none;
  /// Of the triangular solvers: among them the right-hand sides that memory is
  /// taken for (max_right_hand_sides). Limits of memory hold for each solver by
  /// itself; a factor whose entries alone exceed them is refused before
  /// elimination.
  NestedPlanOptions triangular;
  /// Whether apply takes Op::transpose and Op::conjugate_transpose, too. That
  /// costs the analyses and plans of two more triangular solvers.
  bool transpose = false;
  /// The matrix that is factorised has a_ii (1 + shift) on its diagonal, which
  /// is computed in the precision of its scalar. Finite, and not negative.
  double shift = 0;
  /// Factorisations to try, from 1 to 64. After one that raises
  /// FactorizationError or IndefiniteError, the shift is doubled, or 0.001 if
  /// it was 0 (Manteuffel 1980; Lin and More 1999). The last one's exception
  /// is raised. The report says which shift succeeded; each update begins with
  /// `shift` again. Each try costs an elimination and a wait of the host, so
  /// this is refused with `enqueue_updates`. A zero on the diagonal stays zero.
  int shift_tries = 1;
  /// That of the triangular solvers; A is factorised in its own.
  FactorPrecision precision = FactorPrecision::working;
  /// Whether enqueue_update_values may be called: all memory that an update
  /// needs is then held, A's pattern included. Refused with
  /// FactorPrecision::single.
  bool enqueue_updates = false;
  /// Above 0, small pivots are replaced ("static pivoting", as SuperLU_DIST's
  /// ReplaceTinyPivot; PETSc's MAT_SHIFT_INBLOCKS). The least size of a pivot
  /// is this threshold times the largest modulus in its row of the matrix that
  /// is factorised. A pivot of incomplete LU whose modulus is smaller gets the
  /// least size and keeps its sign or phase; a zero becomes the least size. A
  /// pivot of incomplete Cholesky whose real part is less than the least size
  /// becomes the least size; others lose their imaginary parts, which are
  /// rounding errors. A stored diagonal entry may then be zero. From 0 to 1,
  /// and nothing that the real type rounds to 0. The square root of its machine
  /// epsilon is usual. docs/accuracy.md has the error bound.
  double small_pivot_threshold = 0;
  /// The k of ILU(k) or IC(k), from 0 on: the factors have the fill entries
  /// that incomplete_pattern() adds to the matrix. Counting ends, with
  /// PlanMemoryError or MemoryError, once a factor has more than
  /// `max_plan_bytes` or the device's memory allow.
  int fill_level = 0;
  /// Of incomplete Cholesky, L D L^H and the coloured order: a_ij and
  /// conj(a_ji) may differ by this times the largest of |a_ij|, |a_ji| and
  /// sqrt(|a_ii a_jj|), where the modulus is that of the larger part; the
  /// constructor throws NotHermitianError otherwise. An entry that is not
  /// stored is 0. Infinity: there is no check, so the lower triangle may hold
  /// anything or nothing, but for the diagonal, and rows may not be permuted,
  /// as that moves entries to the other triangle. At least 0. Without a value
  /// it is the square root of the machine epsilon, which rounding errors of an
  /// assembly do not reach. For L D L^T, a_ij and a_ji are compared.
  std::optional<double> symmetry_tolerance;

  friend bool operator==(const IncompleteFactorizationOptions& a,
                         const IncompleteFactorizationOptions& b) {
    return a.order == b.order && a.scaling == b.scaling &&
           a.triangular == b.triangular && a.transpose == b.transpose &&
           a.shift == b.shift && a.shift_tries == b.shift_tries &&
           a.precision == b.precision &&
           a.enqueue_updates == b.enqueue_updates &&
           a.small_pivot_threshold == b.small_pivot_threshold &&
           a.fill_level == b.fill_level &&
           a.symmetry_tolerance == b.symmetry_tolerance;
  }
  friend bool operator!=(const IncompleteFactorizationOptions& a,
                         const IncompleteFactorizationOptions& b) {
    return !(a == b);
  }
};

/// What the constructor or the last update_values has found. (An enqueued
/// update does not tell the host.)
struct FactorizationFindings {
  /// Pivots that were replaced, and the largest modulus of the difference
  /// between one of these and what it was: 0 without the option.
  std::int64_t replaced_pivots = 0;
  double largest_pivot_change = 0;
  /// The shift of the factors, and how many were tried (see `shift_tries`).
  double shift = 0;
  int shift_tries = 1;
  /// Inertia: pivots of L D L^H, or of a real L D L^T, by the sign of their
  /// real part. For complete factors, and without a shift or replaced pivots,
  /// that is the inertia of A (Sylvester). Else 0.
  std::int64_t positive_pivots = 0, negative_pivots = 0;
  /// With a given pattern, else 0: the largest |l_ij|, the largest |u_ij| over
  /// the largest |a_ij|, and the smallest ratio of a pivot's modulus to the
  /// largest one in its row of A. Elimination without row exchanges is accurate
  /// if the first two are not large.
  double largest_multiplier = 0, growth = 0, smallest_pivot = 0;
};

/// What an IncompleteFactorization consists of.
struct IncompleteFactorizationReport : FactorizationFindings,
                                       FactorTriangleReports {
  Factorization kind = Factorization::incomplete_lu;
  /// Not automatic; and why: "asked for", or what FactorOrder::automatic has
  /// found.
  FactorOrder order = FactorOrder::natural;
  std::string order_reason;
  /// Time in which rows were permuted and scaled, microseconds: the order, the
  /// matching and the pattern of the permuted matrix; 0 if they stay.
  double order_us = 0;
  /// Level sets of A's lower triangle, and of that of the permuted matrix, both
  /// without fill; 0 if nothing is permuted.
  int level_sets_before = 0, level_sets_after = 0;
  /// Bytes of permutations, scalings and the permuted matrix.
  std::size_t transformation_bytes = 0;
  /// Of the coloured order; else 0.
  int colours = 0;
  std::int64_t rows = 0;
  /// Entries of A, and of each factor with its diagonal.
  std::int64_t entries = 0, lower_entries = 0, upper_entries = 0;
  /// Entries that `fill_level` or a given pattern adds to A's.
  std::int64_t fill_entries = 0;
  /// Bytes of the factors. In the coloured order, those of the blocks beside
  /// both diagonals and of vectors. In the natural order, their patterns, the
  /// values that apply uses, on a host or with `enqueue_updates` those that an
  /// update computes beside them, and with FactorPrecision::single both
  /// factors' values in float.
  std::size_t factor_bytes = 0;
  /// Bytes that the elimination keeps for other values: on a GPU the order of
  /// rows and the recipe; with `enqueue_updates`, A's pattern unless A is
  /// permuted or scaled, with a shift A's values, on a GPU a value for each
  /// entry of U, and on a host the workspace; with replaced pivots, a real
  /// number a row; with fill, the filled matrix and where A's values go in it;
  /// for incomplete Cholesky A's values, if updates are enqueued or triangles
  /// have differed, and a pattern if A's is not symmetric.
  std::size_t elimination_bytes = 0;
};

/// The report as lines of text, `name: value` each, and below them the reports
/// of the triangular solvers. Numbers that the factors do not have are left
/// out.
inline std::string to_string(const IncompleteFactorizationReport& report) {
  std::ostringstream out;
  out << "kind: " << to_string(report.kind) << '\n'
      << "order: " << to_string(report.order) << ", " << report.order_reason
      << '\n';
  if (report.level_sets_before > 0)
    out << "level sets: " << report.level_sets_after << " after "
        << report.level_sets_before << ", permuted in " << report.order_us
        << " us, " << report.transformation_bytes << " bytes\n";
  out << "rows: " << report.rows << '\n'
      << "entries: " << report.entries << ", L " << report.lower_entries
      << ", U " << report.upper_entries << ", fill " << report.fill_entries
      << '\n';
  if (report.replaced_pivots > 0)
    out << "replaced pivots: " << report.replaced_pivots << ", largest change "
        << report.largest_pivot_change << '\n';
  if (report.shift_tries > 1)
    out << "shift: " << report.shift << ", the last of " << report.shift_tries
        << " tries\n";
  if (report.positive_pivots + report.negative_pivots > 0)
    out << "pivots: " << report.positive_pivots << " positive, "
        << report.negative_pivots << " negative\n";
  out << "memory: " << report.factor_bytes << " bytes of factors, "
      << report.elimination_bytes << " of elimination, " << report.plan_bytes
      << " of plans, " << report.workspace_bytes << " of workspace\n"
      << to_string(static_cast<const FactorTriangleReports&>(report));
  return out.str();
}

}  // namespace Strata

#endif
