// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_NUMERIC_ENQUEUED_FACTORS_HPP
#define STRATA_KERNELS_FACTORIZATION_NUMERIC_ENQUEUED_FACTORS_HPP

#include <Strata_UpdateStatus.hpp>
#include <algorithm>
#include <core/device/Launch.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/symbolic/NewFactor.hpp>
#include <optional>

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
    zero_diagonal = not_hermitian = elimination = not_positive = no_fault;
  }
};

struct ResetFactorization {
  FactorizationFaults* faults;
  UpdateStatus* status;  // null: it stays
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const {
    faults->clear();
    if (status) *status = {UpdateFault::none, 0, -1};
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
        elimination == no_fault ? no_fault : elimination / num_factor_faults;
    UpdateStatus decided{UpdateFault::none, 0, -1};
    if (found.zero_diagonal != no_fault)
      decided = {UpdateFault::zero_diagonal, 0, found.zero_diagonal};
    else if (found.not_hermitian != no_fault)
      decided = {UpdateFault::not_hermitian, 0, found.not_hermitian};
    else if (found.not_positive != no_fault &&
             found.not_positive <= row_of_elimination)
      // What comes of such a pivot is in that row, or in later ones.
      decided = {UpdateFault::not_positive, 0, found.not_positive};
    else if (elimination != no_fault)
      decided = {elimination % num_factor_faults == factor_zero_pivot
                     ? UpdateFault::zero_pivot
                     : UpdateFault::not_finite,
                 0, row_of_elimination};
    *status = decided;
  }
};

/// Good values become those in use, and the status says whether some solver
/// takes the path without merged level sets.
template <class Scalar>
struct KeepGoodFactors {
  UpdateStatus* status;
  Kokkos::Array<const UpdateStatus*, 4> of_solver;  // null: there is none
  const Scalar* values;                             // of both factors
  Scalar* good;
  std::int64_t entries;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t k) const {
    // Index 0 writes another word.
    if (status->fault != UpdateFault::none) return;
    if (k < entries) good[k] = values[k];
    if (k > 0) return;
    int unmerged = 0;
    for (int i = 0; i < 4; ++i)
      if (of_solver[i] && of_solver[i]->unmerged != 0) unmerged = 1;
    status->unmerged = unmerged;
  }
};

/// What factorisations need that the host does not wait for: memory, and what
/// is wrong, noted on the device.
template <class Scalar, class ExecutionSpace>
class EnqueuedFactors {
  using Memory = typename ExecutionSpace::memory_space;
  using Values = Kokkos::View<Scalar*, Memory>;
  using Matrix = CrsArrays<Scalar>;

 public:
  using StatusView = Kokkos::View<const UpdateStatus, Memory>;

  /// The status is good. Enqueues on `exec`.
  explicit EnqueuedFactors(const ExecutionSpace& exec)
      : faults_(make_unfilled<decltype(faults_)>(
            "Strata::EnqueuedFactors::faults", 1)),
        status_("Strata::EnqueuedFactors::status") {
    accept(exec);
  }
  /// Copies A's pattern, which the caller may free. Enqueues on `exec`.
  void copy_pattern(const ExecutionSpace& exec, const Matrix& A) {
    const std::string label = "Strata::EnqueuedFactors::pattern";
    pattern_.emplace(A);
    copy_indices(exec, A.row_map, pattern_->make_row_map(label, A.rows()));
    copy_indices(
        exec, A.entries,
        pattern_->make_entries(label, static_cast<std::int64_t>(A.num_values)));
  }
  Matrix with_values(const Scalar* values) const {
    return pattern_->arrays(values);
  }
  /// Room for A's values with a shift.
  void make_shifted(std::size_t entries) {
    make_unfilled(shifted_, "Strata::EnqueuedFactors::values",
                  static_cast<std::int64_t>(entries));
  }
  const Values& shifted() const { return shifted_; }

  /// Where a factorisation that begins notes what is wrong.
  FactorizationFaults* begin(const ExecutionSpace& exec) {
    if (dirty_) reset(exec, nullptr);
    dirty_ = true;
    return faults_.data();
  }
  /// Sets the status.
  /// @param of_elimination  see IncompleteFactors::enqueue
  void decide(const ExecutionSpace& exec, const std::int64_t* of_elimination) {
    FactorizationFaults* const faults = faults_.data();
    run_teams<1, 32>(
        "Strata::EnqueuedFactors::decide", exec, 1,
        DecideFactorization{
            faults, of_elimination ? of_elimination : &faults->elimination,
            status_.data()});
    dirty_ = false;
  }

  /// The factors have been computed by other means, and are good.
  void accept(const ExecutionSpace& exec) const { reset(exec, status_.data()); }
  /// After solvers have been given values, see KeepGoodFactors.
  void keep(const ExecutionSpace& exec, const Scalar* values, Scalar* good,
            std::int64_t entries,
            const Kokkos::Array<const UpdateStatus*, 4>& of_solver) const {
    for_each_index("Strata::EnqueuedFactors::keep", exec,
                   std::max<std::int64_t>(entries, 1),
                   KeepGoodFactors<Scalar>{status_.data(), of_solver, values,
                                           good, entries});
  }

  StatusView status() const { return status_; }
  UpdateStatus* status_data() const { return status_.data(); }
  std::size_t bytes() const {
    return (pattern_ ? pattern_->bytes() : 0) +
           shifted_.extent(0) * sizeof(Scalar) + sizeof(FactorizationFaults) +
           sizeof(UpdateStatus);
  }

 private:
  void reset(const ExecutionSpace& exec, UpdateStatus* status) const {
    for_each_index("Strata::EnqueuedFactors::reset", exec, 1,
                   ResetFactorization{faults_.data(), status});
  }

  std::optional<NewFactor<Scalar, ExecutionSpace>> pattern_;
  Values shifted_;
  Kokkos::View<FactorizationFaults*, Memory> faults_;  // one
  Kokkos::View<UpdateStatus, Memory> status_;
  /// An exception has kept faults from being cleared.
  bool dirty_ = false;
};

}  // namespace Detail
}  // namespace Strata

#endif
