// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_ENQUEUED_FACTORS_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_ENQUEUED_FACTORS_HPP

#include <Strata_IncompleteLu.hpp>
#include <Strata_UpdateStatus.hpp>
#include <algorithm>
#include <array>
#include <core/device/Launch.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/input/HermitianMatrix.hpp>
#include <kernels/factorization/input/PositiveDiagonal.hpp>
#include <kernels/factorization/symbolic/FilledMatrix.hpp>
#include <kernels/factorization/symbolic/NewFactor.hpp>

namespace Strata {
namespace Detail {

/// A's values with those of the diagonal multiplied by `factor`.
template <class Scalar>
struct ShiftDiagonal {
  CrsArrays<Scalar> A;
  RealOf<Scalar> factor;
  Scalar* values;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const std::int64_t end = A.row_map(row + 1);
    for (std::int64_t k = A.row_map(row); k < end; ++k) {
      const Scalar value = A.values[k];
      values[k] = A.entries(k) == row ? value * factor : value;
    }
  }
};

/// The first faults that kernels of a factorisation have found: rows, but
/// `elimination`, which is as raise_factor_fault takes it. What decides clears
/// them.
struct FactorizationFaults {
  std::int64_t zero_diagonal, not_hermitian, elimination, not_positive;
  KOKKOS_INLINE_FUNCTION void clear() {
    zero_diagonal = not_hermitian = elimination = not_positive =
        no_factor_fault;
  }
};
static_assert(no_factor_fault == no_fault, "one number stands for none");

struct ClearFactorizationFaults {
  FactorizationFaults* faults;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const {
    faults->clear();
  }
};

/// Rows with a zero on the diagonal, of a matrix that has one in every row.
template <class Scalar>
struct FindZeroDiagonal {
  CrsArrays<Scalar> A;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    const std::int64_t at = first_entry_from(A, row, row);
    if (A.values[at] == Scalar(0) && row < first) first = row;
  }
};

/// Decides by the faults that were found which one update_values would raise,
/// by one thread.
struct DecideFactorization {
  FactorizationFaults* faults;
  const std::int64_t* of_elimination;
  UpdateStatus* status;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    if (team.team_rank() != 0) return;
    const FactorizationFaults found = *faults;
    const std::int64_t elimination = *of_elimination;
    faults->clear();
    const std::int64_t row_of_elimination =
        elimination == no_factor_fault ? no_factor_fault
                                       : elimination / num_factor_faults;
    UpdateStatus decided{UpdateFault::none, 0, -1};
    if (found.zero_diagonal != no_factor_fault)
      decided = {UpdateFault::zero_diagonal, 0, found.zero_diagonal};
    else if (found.not_hermitian != no_factor_fault)
      decided = {UpdateFault::not_hermitian, 0, found.not_hermitian};
    else if (found.not_positive != no_factor_fault &&
             found.not_positive <= row_of_elimination)
      // What comes of such a pivot is in that row, or in later ones.
      decided = {UpdateFault::not_positive, 0, found.not_positive};
    else if (elimination != no_factor_fault)
      decided = {elimination % num_factor_faults == factor_zero_pivot
                     ? UpdateFault::zero_pivot
                     : UpdateFault::not_finite,
                 0, row_of_elimination};
    *status = decided;
  }
};

struct AcceptFactors {
  UpdateStatus* status;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const {
    *status = {UpdateFault::none, 0, -1};
  }
};

/// Good values become those in use, and the status says whether some solver
/// takes the path without merged level sets.
template <class Scalar>
struct KeepGoodFactors {
  static constexpr int most_solvers = 4;
  UpdateStatus* status;
  const UpdateStatus* of_solver[most_solvers];  // null: there is none
  const Scalar *lower, *upper;
  Scalar *good_lower, *good_upper;
  std::int64_t lower_entries, upper_entries;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    // Index 0 writes another word.
    if (status->fault != UpdateFault::none) return;
    if (k < lower_entries) good_lower[k] = lower[k];
    if (k < upper_entries) good_upper[k] = upper[k];
    if (k > 0) return;
    int unmerged = 0;
    for (const UpdateStatus* solver : of_solver)
      if (solver && solver->unmerged != 0) unmerged = 1;
    status->unmerged = unmerged;
  }
};

/// Factorises values without a wait of the host, for an IncompleteFactorization
/// that was made so: all memory is held, and what is wrong is noted in device
/// memory.
///
/// Memory: A's pattern, and with a shift and for incomplete Cholesky the values
/// that are factorised.
template <class Scalar, class ExecutionSpace>
class EnqueuedFactors {
  using Memory = typename ExecutionSpace::memory_space;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;
  using Factors = IncompleteFactors<Scalar, ExecutionSpace>;
  using Hermitian = HermitianMatrix<Scalar, ExecutionSpace>;
  using Filled = FilledMatrix<Scalar, ExecutionSpace>;
  using Matrix = CrsArrays<Scalar>;

 public:
  using StatusView = Kokkos::View<const UpdateStatus, Memory>;

  /// @param A        has been factorised
  /// @param hermitian  which is factorised in A's place, or null; lives as
  ///                 long as this
  /// @param filled   lives as long as this
  /// @param factors  which keep what they need
  /// @param takes_zeros  a diagonal entry may be zero
  /// @param positive  all pivots have to be, as those of incomplete Cholesky
  /// @param diagonal_factor  1 plus the shift
  EnqueuedFactors(const ExecutionSpace& exec, const Matrix& A,
                  Hermitian* hermitian, const Filled& filled,
                  const Factors& factors, bool takes_zeros, bool positive,
                  RealOf<Scalar> diagonal_factor)
      : hermitian_(hermitian),
        filled_(filled),
        factors_(factors),
        takes_zeros_(takes_zeros),
        positive_(positive),
        diagonal_factor_(diagonal_factor),
        faults_(make_unfilled<Kokkos::View<FactorizationFaults*, Memory>>(
            "Strata::EnqueuedFactors::faults", 1)),
        status_("Strata::EnqueuedFactors::status") {
    const std::string label = "Strata::EnqueuedFactors::pattern";
    const auto entries = static_cast<std::int64_t>(A.num_values);
    const bool wide = entries > std::numeric_limits<int>::max();
    const auto row_map = row_map_.make(
        label, static_cast<std::int64_t>(A.row_map.extent(0)), wide);
    // Rows have numbers of 32 bits: see require_row_numbers.
    const auto columns = columns_.make(label, entries, false);
    copy_indices(exec, A.row_map, row_map);
    copy_indices(exec, A.entries, columns);
    pattern_.row_map = row_map;
    pattern_.entries = columns;
    pattern_.columns = A.columns;
    pattern_.num_values = A.num_values;
    if (hermitian_) hermitian_->hold(pattern_);
    const Matrix whole =
        filled_.pattern(hermitian_ ? hermitian_->pattern(pattern_) : pattern_);
    if (diagonal_factor_ != RealOf<Scalar>(1))
      shifted_ = make_unfilled<Kokkos::View<Scalar*, Memory>>(
          "Strata::EnqueuedFactors::values",
          static_cast<std::int64_t>(whole.num_values));
    factors_.prepare_enqueue(exec, whole);
    clear(exec);
    accept(exec);
    exec.fence();
  }

  /// Enqueues a factorisation: the values of both factors, and the status.
  /// @param lower, upper  those that are computed
  /// @param U  the upper factor with these
  void compute(const ExecutionSpace& exec, const Scalar* values, Scalar* lower,
               Scalar* upper, const Matrix& U) {
    if (dirty_) clear(exec);
    dirty_ = true;
    const std::int64_t rows = pattern_.rows();
    FactorizationFaults* const faults = faults_.data();
    Matrix A = pattern_;
    A.values = values;
    if (!takes_zeros_)
      check("Strata::IncompleteFactorization::check::input", exec,
            FindZeroDiagonal<Scalar>{A}, &faults->zero_diagonal);
    if (hermitian_) {
      if (is_finite(hermitian_->tolerance()))
        check("Strata::require_hermitian", exec,
              FindNotHermitian<Scalar>{A, hermitian_->tolerance(), false,
                                       hermitian_->conjugates()},
              &faults->not_hermitian);
      A = hermitian_->mirrored(exec, A);
    }
    A = filled_.with_fill(exec, A);
    if (shifted_.extent(0) > 0) {
      Kokkos::parallel_for(
          "Strata::IncompleteFactorization::shift", Range(exec, 0, rows),
          ShiftDiagonal<Scalar>{A, diagonal_factor_, shifted_.data()});
      A.values = shifted_.data();
    }
    const std::int64_t* of_elimination =
        factors_.enqueue(exec, A, lower, upper);
    if (!of_elimination) of_elimination = &faults->elimination;
    if (positive_)
      check("Strata::require_positive_pivots", exec,
            FindBadPivot<Scalar>{U, pivot_tolerance<Scalar>},
            &faults->not_positive);
    run_teams<1, 32>(
        "Strata::EnqueuedFactors::decide", exec, 1,
        DecideFactorization{faults, of_elimination, status_.data()});
    dirty_ = false;
  }

  /// The factors have been computed by other means, and are good.
  void accept(const ExecutionSpace& exec) const {
    Kokkos::parallel_for("Strata::EnqueuedFactors::accept", Range(exec, 0, 1),
                         AcceptFactors{status_.data()});
  }
  /// After solvers have been given the values, see KeepGoodFactors.
  void keep(const ExecutionSpace& exec, const Matrix& L, const Matrix& U,
            Scalar* good_lower, Scalar* good_upper,
            const std::array<const UpdateStatus*, 4>& of_solver) const {
    const auto l = static_cast<std::int64_t>(L.num_values),
               u = static_cast<std::int64_t>(U.num_values);
    Kokkos::parallel_for("Strata::EnqueuedFactors::keep",
                         Range(exec, 0, std::max<std::int64_t>({l, u, 1})),
                         KeepGoodFactors<Scalar>{status_.data(),
                                                 {of_solver[0], of_solver[1],
                                                  of_solver[2], of_solver[3]},
                                                 L.values,
                                                 U.values,
                                                 good_lower,
                                                 good_upper,
                                                 l,
                                                 u});
  }

  StatusView status() const { return status_; }
  std::size_t bytes() const {
    const auto indices = [](const IndexArray& array) {
      return array.extent(0) * static_cast<std::size_t>(array.bytes_of_one());
    };
    return indices(pattern_.row_map) + indices(pattern_.entries) +
           shifted_.extent(0) * sizeof(Scalar) + sizeof(FactorizationFaults) +
           sizeof(UpdateStatus);
  }

 private:
  void clear(const ExecutionSpace& exec) const {
    Kokkos::parallel_for("Strata::EnqueuedFactors::clear",
                         Kokkos::RangePolicy<ExecutionSpace>(exec, 0, 1),
                         ClearFactorizationFaults{faults_.data()});
  }
  template <class Check>
  void check(const char* label, const ExecutionSpace& exec, const Check& what,
             std::int64_t* first) const {
    Kokkos::parallel_for(label, Range(exec, 0, pattern_.rows()),
                         CheckInto<Check>{what, first});
  }

  Hermitian* hermitian_;  // null: of incomplete LU
  const Filled& filled_;
  Factors factors_;
  bool takes_zeros_, positive_;
  RealOf<Scalar> diagonal_factor_;
  NewIndices<Memory> row_map_, columns_;
  Matrix pattern_;
  Kokkos::View<Scalar*, Memory> shifted_;
  Kokkos::View<FactorizationFaults*, Memory> faults_;  // one
  Kokkos::View<UpdateStatus, Memory> status_;
  /// An exception has kept faults from being cleared.
  bool dirty_ = false;
};

}  // namespace Detail
}  // namespace Strata

#endif
