// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_LEVEL_ORDER_FACTORS_HPP
#define STRATA_KERNELS_KRYLOV_LEVEL_ORDER_FACTORS_HPP

#include <Strata_Error.hpp>
#include <Strata_IncompleteFactorization.hpp>
#include <Strata_LevelPermutation.hpp>
#include <core/matrix/FindColumn.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/matrix/TriangleCheck.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <kernels/factorization/FilledMatrix.hpp>
#include <kernels/factorization/HermitianMatrix.hpp>
#include <kernels/factorization/NewFactor.hpp>
#include <kernels/factorization/PositiveDiagonal.hpp>
#include <string>

namespace Strata {
namespace Detail {

/// Where the entries of A are in P A P^T, whose rows are sorted.
template <class Scalar, class MemorySpace>
struct FindPermutedEntries {
  CrsArrays<Scalar> from, permuted;
  Kokkos::View<const int*, MemorySpace> new_row;
  ValueIndex<MemorySpace> place;

  KOKKOS_INLINE_FUNCTION std::int64_t length(std::int64_t row) const {
    return from.row_map(row + 1) - from.row_map(row);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row, int lane,
                                         int lanes) const {
    const std::int64_t to = new_row(row), end = from.row_map(row + 1);
    for (std::int64_t k = from.row_map(row) + lane; k < end; k += lanes)
      place.set(k, first_entry_from(permuted, to, new_row(from.entries(k))));
  }
};

/// Incomplete factors without fill of P A P^T, where P puts rows in the order
/// of level sets, on vectors in the order of A.
///
/// They are those of A, permuted: P L P^T and P U P^T. Dependencies are the
/// entries of both triangles (LevelPattern::symmetric), so of two rows with an
/// entry (i, j) of the pattern, the one with the smaller number is in an
/// earlier level set, and comes first in the new order, too. So entries stay on
/// their side of the diagonal. Entry (i, j) of the factors is a_ij less all
/// l_ik u_kj with (i, k) left of the diagonal and (k, j) right of it, divided
/// by the pivot of column j for L: the same terms in both orders. Only
/// the order in which terms are subtracted differs, and so do roundings.
template <class Scalar, class ExecutionSpace>
class LevelOrderFactors {
 public:
  using Matrix = CrsArrays<Scalar>;

  /// @param A  has been checked, for incomplete Cholesky by require_hermitian,
  ///           too
  /// @throws what IncompleteFactorization throws of options, pivots and memory;
  ///   rows are those of A, the first one in the new order
  /// Cost: that of level_permutation() and permute_symmetric(), a search for
  /// each entry, and the factorisation. Memory: A permuted, four bytes for each
  /// entry (eight for 2^32 of them) and eight for each row. Waits for `exec`.
  LevelOrderFactors(const ExecutionSpace& exec, const Matrix& A,
                    const IncompleteFactorizationOptions& options)
      : permutation_(make_level_permutation(exec, A.row_map, A.entries,
                                            A.stored_values(), A.columns,
                                            LevelPattern::symmetric)),
        permuted_(A) {
    using ExpectOrder =
        ExpectCompiled<LevelPermutations, Scalar, ExecutionSpace>;
    static_assert(ExpectOrder::value, "");
    using ExpectFactors = ExpectCompiled<Factors, Scalar, ExecutionSpace>;
    static_assert(ExpectFactors::value, "");
    make_permuted_matrix<Scalar>(exec, A, permutation_, permuted_);
    // A may have more, which are of no row.
    const auto entries =
        static_cast<std::int64_t>(permuted_.arrays().num_values);
    place_ = {"Strata::LevelOrderFactors::place", entries, entries};
    for_each_row("Strata::LevelOrderFactors::find_entries", exec, A.rows(),
                 entries,
                 FindPermutedEntries<Scalar, Memory>{
                     A, permuted_.arrays(), permutation_.new_row, place_});
    name_given_rows([&] {
      Internals::analyse(factors_, exec, permuted_.arrays(), options);
    });
    fingerprint_ = pattern_fingerprint(exec, A.row_map, A.entries);
  }
  LevelOrderFactors(const LevelOrderFactors&) = delete;
  LevelOrderFactors& operator=(const LevelOrderFactors&) = delete;

  /// Other values on the same pattern. After an exception the old factors stay.
  /// Waits for `exec`. @throws as IncompleteFactorization::update_values
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    check_factor_input(exec, A);
    if (pattern_fingerprint(exec, A.row_map, A.entries) != fingerprint_)
      throw PatternMismatchError(
          "A", "does not have the pattern that was factorised",
          "make a new preconditioner");
    if (factors_.options().kind == Factorization::incomplete_cholesky)
      require_hermitian(
          exec, A,
          symmetry_tolerance<Scalar>(factors_.options().symmetry_tolerance));
    Kokkos::parallel_for(
        "Strata::LevelOrderFactors::permute_values",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
            exec, 0, place_.size()),
        ScatterValues<Scalar, Memory>{A.values, place_,
                                      permuted_.new_values()});
    name_given_rows(
        [&] { Internals::update(factors_, exec, permuted_.arrays()); });
  }

  /// z = P^T U^-1 L^-1 P r; z may be r. Asynchronous on `exec`.
  void apply(const ExecutionSpace& exec, const StridedBlock& r,
             const StridedBlock& z) const {
    Internals::solve(factors_, exec, r, z, Op::none,
                     static_cast<const int*>(permutation_.new_row.data()));
  }

  int num_levels() const { return permutation_.num_levels; }
  const IncompleteFactorizationReport& report() const {
    return factors_.report();
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  using Factors = IncompleteFactorization<Scalar, ExecutionSpace>;

  /// Errors of the permuted matrix's elimination name its rows: A's are meant.
  template <class Work>
  void name_given_rows(const Work& work) const {
    try {
      work();
    } catch (const IndefiniteError& error) {
      raise_bad_pivot(given_row(error.row()));
    } catch (const FactorizationError& error) {
      const std::string permuted = "row " + std::to_string(error.row());
      const std::int64_t row = given_row(error.row());
      std::string problem = error.problem();
      const auto at = problem.rfind(permuted);
      if (at != std::string::npos)
        problem.replace(at, permuted.size(), "row " + std::to_string(row));
      throw FactorizationError(error.argument(), problem, error.remedy(), row);
    }
  }
  std::int64_t given_row(std::int64_t row) const {
    return fetch_element(permutation_.old_row, row);
  }

  Permutation<Memory> permutation_;
  /// P A P^T, with the values that came last.
  NewFactor<Scalar, ExecutionSpace> permuted_;
  ValueIndex<Memory> place_;
  Factors factors_;
  std::uint64_t fingerprint_ = 0;  // of A
};

}  // namespace Detail
}  // namespace Strata

#endif
