// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_BAND_SOLVER_IMPLEMENTATION_HPP
#define STRATA_KERNELS_BAND_BAND_SOLVER_IMPLEMENTATION_HPP

// What BandSolver does, compiled into libstrata (src/) for the scalars and
// spaces of a build. A program with others includes this file.

#include <Strata_BandSolver.hpp>
#include <core/device/Profiling.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/band/BandChecks.hpp>
#include <kernels/band/BandPivoting.hpp>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<BandSolver<Scalar, ExecutionSpace>> : std::true_type {
};

/// What copies of a BandSolver share.
template <class Scalar, class ExecutionSpace>
class BandSolverState {
 public:
  using Memory = typename ExecutionSpace::memory_space;

  /// Without factors yet.
  /// @param kl, ku  of the storage
  BandSolverState(const ExecutionSpace& exec, const BandRef<Scalar>& A,
                  std::int64_t kl, std::int64_t ku, const BandOptions& options)
      : kl_(kl), ku_(ku), options_(options) {
    check_band_options(options_, A);
    report_.rows = A.size;
    report_.lower = A.lower;
    report_.upper = A.upper;
    report_.systems = A.batch;
    report_.band_bytes = static_cast<std::size_t>(A.lower + A.upper + 1) *
                         A.size * A.batch * sizeof(Scalar);
    choose_band_method(exec, options_, A, report_);
    make_zeroed(scale_, "Strata::Band::scale", A.size * A.batch);
    make_zeroed(fault_, "Strata::Band::fault", BandFaults::size(A.batch));
    if (A.size > 0 && A.batch > 0) {
      if (options_.method == BandMethod::automatic &&
          report_.method == BandMethod::nested_dissection)
        first_that_fits(
            [&] {
              algorithm_ = make(exec, A);
              algorithm_->require_room(exec, expected_columns(options_));
            },
            [&] {
              algorithm_.reset();
              BandOptions of_tiles = options_;
              of_tiles.method = BandMethod::tiles;
              choose_band_method(exec, of_tiles, A, report_);
              algorithm_ = make(exec, A);
            });
      else
        algorithm_ = make(exec, A);
    }
    report_.bytes = bytes();
  }

  const BandReport& report() const { return report_; }
  /// Other bands in the same storage. @throws SizeMismatchError
  BandRef<Scalar> checked(const StridedBlock& ab) const {
    const auto A = checked_band<Scalar>(ab, kl_, ku_);
    if (A.size != report_.rows || A.batch != report_.systems)
      throw SizeMismatchError(
          "ab",
          "holds " + std::to_string(A.batch) + " systems of " +
              std::to_string(A.size) + " rows, the solver " +
              std::to_string(report_.systems) + " of " +
              std::to_string(report_.rows),
          "pass bands of the solver's size, or make a new solver");
    return A;
  }

  void factor(const ExecutionSpace& exec, const BandRef<Scalar>& A) {
    const ProfilingRegion region("Strata::BandSolver::factor");
    factored_ = false;
    if (algorithm_) {
      const bool pivoting = options_.method == BandMethod::partial_pivoting;
      const double smallest = options_.smallest_pivot;
      const Real small = smallest > 0 ? static_cast<Real>(smallest)
                                      : std::numeric_limits<Real>::epsilon();
      if (!algorithm_->factor_checked(exec, A, scale_, small)) {
        check_band(exec, A, scale_, fault_);
        algorithm_->factor(exec, A, scale_, fault_, small);
        raise_band_faults(exec, fault_, A.size, A.batch, pivoting,
                          options_.require_dominance, [&](std::int64_t pivot) {
                            return algorithm_->place_of_pivot(exec, pivot);
                          });
      }
    }
    factored_ = true;
  }

  void solve(const ExecutionSpace& exec, int rank, const StridedBlock& b,
             const StridedBlock& x) {
    check_band_vectors(report_, rank, b, x);
    if (!factored_)
      throw HandleError("solver", "has no factors: the last matrix was refused",
                        "call update_values with a matrix that can be "
                        "factorised");
    const std::int64_t columns = x.extent[1];
    if (!algorithm_ || columns == 0) return;
    const ProfilingRegion region("Strata::BandSolver::solve");
    reserve(exec, columns);
    with_memory_errors("a band solve", [&] {
      algorithm_->solve(exec, batch_vector_ref<const Scalar>(b),
                        batch_vector_ref<Scalar>(x), columns);
    });
  }

  void reserve(const ExecutionSpace& exec, std::int64_t columns) {
    if (columns < 0)
      throw SizeMismatchError("columns", "is " + std::to_string(columns),
                              "pass a number of right-hand sides");
    with_memory_errors("right-hand sides of a band solver", [&] {
      if (algorithm_ && algorithm_->reserve(exec, columns))
        report_.bytes = bytes();
    });
  }

  Kokkos::View<const std::int64_t*, Memory> pivots() const {
    return algorithm_ ? algorithm_->pivots()
                      : Kokkos::View<const std::int64_t*, Memory>();
  }

 private:
  using Algorithm = BandAlgorithm<Scalar, ExecutionSpace>;
  using Real = typename Algorithm::Real;

  std::unique_ptr<Algorithm> make(const ExecutionSpace& exec,
                                  const BandRef<Scalar>& A) const {
    const int columns = options_.max_right_hand_sides;
    const auto made = [&](auto type) -> std::unique_ptr<Algorithm> {
      return std::make_unique<typename decltype(type)::type>(
          exec, A.size, A.lower, A.upper, A.batch, columns);
    };
    if constexpr (has_lapack<ExecutionSpace>) {
      if (report_.lapack)
        return std::make_unique<LapackBand<Scalar, ExecutionSpace>>(
            exec, A, options_.method != BandMethod::partial_pivoting, columns);
    }
    if (report_.method == BandMethod::partial_pivoting)
      return made(TypeOf<PivotedBand<Scalar, ExecutionSpace>>());
    if (report_.method == BandMethod::nested_dissection) {
      if (report_.tile == 32)
        return made(
            TypeOf<
                TileAlgorithm<Scalar, ExecutionSpace, 32, DissectedTiles>>());
      return made(
          TypeOf<TileAlgorithm<Scalar, ExecutionSpace, 64, DissectedTiles>>());
    }
    if (report_.tile == 32)
      return made(TypeOf<TileAlgorithm<Scalar, ExecutionSpace, 32, LuTiles>>());
    return made(TypeOf<TileAlgorithm<Scalar, ExecutionSpace, 64, LuTiles>>());
  }

  std::size_t bytes() const {
    return (algorithm_ ? algorithm_->bytes() : 0) +
           scale_.extent(0) * sizeof(Real);
  }

  std::int64_t kl_, ku_;
  BandOptions options_;
  BandReport report_;
  std::unique_ptr<Algorithm> algorithm_;
  bool factored_ = false;
  Kokkos::View<Real*, Memory> scale_;
  Kokkos::View<unsigned long long*, Memory> fault_;
};

}  // namespace Detail

template <class Scalar, class ExecutionSpace>
Detail::BandSolverState<Scalar, ExecutionSpace>&
BandSolver<Scalar, ExecutionSpace>::made_state() const {
  Detail::require_made(state_, "BandSolver", "exec, ab, kl, ku");
  return *state_;
}

template <class Scalar, class ExecutionSpace>
void BandSolver<Scalar, ExecutionSpace>::make(const ExecutionSpace& exec,
                                              const Detail::StridedBlock& ab,
                                              std::int64_t kl, std::int64_t ku,
                                              const BandOptions& options) {
  Detail::with_memory_errors("the factors of a band", [&] {
    const auto A = Detail::checked_band<Scalar>(ab, kl, ku);
    auto made = std::make_shared<State>(exec, A, kl, ku, options);
    made->factor(exec, A);
    state_ = std::move(made);
  });
}

template <class Scalar, class ExecutionSpace>
void BandSolver<Scalar, ExecutionSpace>::update(
    const ExecutionSpace& exec, const Detail::StridedBlock& ab) {
  State& state = made_state();
  const auto A = state.checked(ab);
  Detail::with_memory_errors("the factors of a band",
                             [&] { state.factor(exec, A); });
}

template <class Scalar, class ExecutionSpace>
void BandSolver<Scalar, ExecutionSpace>::solve_strided(
    const ExecutionSpace& exec, int rank, const Detail::StridedBlock& b,
    const Detail::StridedBlock& x) const {
  made_state().solve(exec, rank, b, x);
}

template <class Scalar, class ExecutionSpace>
void BandSolver<Scalar, ExecutionSpace>::reserve(const ExecutionSpace& exec,
                                                 std::int64_t columns) const {
  made_state().reserve(exec, columns);
}

template <class Scalar, class ExecutionSpace>
Kokkos::View<const std::int64_t*, typename ExecutionSpace::memory_space>
BandSolver<Scalar, ExecutionSpace>::pivots() const {
  return made_state().pivots();
}

template <class Scalar, class ExecutionSpace>
const BandReport& BandSolver<Scalar, ExecutionSpace>::report() const {
  return made_state().report();
}

}  // namespace Strata

#endif
