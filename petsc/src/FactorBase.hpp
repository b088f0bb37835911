// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef PETSCSTRATA_FACTOR_BASE_HPP
#define PETSCSTRATA_FACTOR_BASE_HPP

// What a factored Mat holds, whatever space its factors are in.

#include <petscmat.h>

#include <Strata_FactorPrecision.hpp>
#include <Strata_TriangularOptions.hpp>
#include <Strata_TriangularReport.hpp>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace PetscStrata {

/// Of a factor.
struct FactorOptions {
  Strata::TriangularPlanOptions plan;
  Strata::FactorPrecision precision = Strata::FactorPrecision::working;
  /// See IncompleteFactorizationOptions; 0: no pivot is replaced.
  double small_pivot_threshold = 0;
};

/// The arrays of a SeqAIJ matrix, in memory of that type.
struct CsrArrays {
  PetscInt rows;
  const PetscInt *row_map, *entries;
  PetscScalar* values;
  PetscMemType memory;
};
/// Columns of a vector or dense matrix.
struct DenseArrays {
  PetscScalar* data;
  PetscInt columns, leading;
  PetscMemType memory;
};
/// An order as PETSc's index sets tell it, and the pattern that it is for, all
/// in host memory: row i of the factor is row rows[i] of the matrix.
struct HostOrder {
  PetscInt count;
  const PetscInt *rows, *columns;
  const PetscInt *row_map, *entries;
};
/// Of both factors together, in their order, with sorted rows.
struct HostPattern {
  std::vector<PetscInt> row_map, entries;
};

/// What came of a factorisation.
struct Outcome {
  MatFactorError error = MAT_FACTOR_NOERROR;
  PetscInt row = -1;    ///< of the pivot at fault, -1 where it is not known
  PetscReal pivot = 0;  ///< its magnitude where it is known
  PetscReal shift = 0;  ///< what was added to the diagonal
  PetscInt shifted_pivots = 0;  ///< one by one
  std::int64_t replaced_pivots = 0;
  double largest_change = 0;  ///< of a replaced pivot
  std::string reason;
};
inline Outcome failed(MatFactorError error, std::int64_t row,
                      std::string reason) {
  Outcome outcome;
  outcome.error = error;
  outcome.row = static_cast<PetscInt>(row);
  outcome.reason = std::move(reason);
  return outcome;
}

/// Refused with PETSC_ERR_SUP.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What a solve does with the factors L and U. `transpose` is of both.
enum class Step { both, transpose, forward, backward };

/// Calls of analyse, eliminate and plan, in this order, make factors; of the
/// last two, factors of other values. Their faults of pivots, values and memory
/// are outcomes.
class FactorBase {
 public:
  FactorOptions options;
  bool is_cholesky = false;
  PetscInt levels = 0;
  /// References, null for the order of the matrix.
  IS rows = NULL, columns = NULL;
  /// Of the matrix whose pattern was looked at: which it was, its state then,
  /// and its first row without entries, -1 where it has none.
  PetscObjectId matrix = 0;
  PetscObjectState pattern = -1;
  PetscInt empty_row = -1;
  /// Its entries.
  PetscLogDouble stored = 0;
  /// Of the values that the symbolic phase has factorised, with this, for the
  /// numeric one that comes next; -1 afterwards.
  PetscObjectState values = -1;
  MatFactorInfo info = {};
  /// Of the last factorisation.
  Outcome outcome;

  virtual ~FactorBase() = default;
  /// @param order    null: that of the matrix
  /// @param pattern  has all entries of A; null: that of `levels`
  /// @throws Unsupported, Strata::Error
  virtual Outcome analyse(const CsrArrays& A, const HostOrder* order,
                          const HostPattern* pattern) = 0;
  /// @param A  has the pattern of analyse
  virtual Outcome eliminate(const CsrArrays& A, const MatFactorInfo& info) = 0;
  /// The solvers get the factors, the first time with an analysis of both.
  virtual Outcome plan() = 0;
  virtual bool is_planned() const = 0;
  virtual void solve(const DenseArrays& b, const DenseArrays& x, PetscInt rows,
                     Step step) = 0;
  /// Where its arrays have to be.
  virtual bool on_host() const = 0;
  /// Of the solvers with L and U; null until there are factors.
  virtual const Strata::TriangularReport* report(Strata::Uplo uplo) const = 0;
  /// Of both factors, the ones of L left out.
  virtual PetscLogDouble entries() const = 0;
  virtual PetscLogDouble bytes() const = 0;

  PetscInt analyses() const { return analyses_; }
  PetscInt factorizations() const { return factorizations_; }

 protected:
  PetscInt analyses_ = 0, factorizations_ = 0;
};

/// In Kokkos' default space, and in its default one on the host.
std::unique_ptr<FactorBase> make_device_factor();
std::unique_ptr<FactorBase> make_host_factor();

}  // namespace PetscStrata

#endif
