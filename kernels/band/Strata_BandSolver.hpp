// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_BAND_SOLVER_HPP
#define STRATA_BAND_SOLVER_HPP

#include <Strata_BandOptions.hpp>
#include <core/device/Profiling.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/band/BandChecks.hpp>
#include <kernels/band/BandPivoting.hpp>
#include <memory>

namespace Strata {

/// Solves A x = b for one band matrix A, or a batch of equal-sized ones, and
/// many right-hand sides.
///
/// A has kl diagonals below and ku above the main one and comes in LAPACK's
/// general band storage: A(i, j) is ab(ku + i - j, j), zero-based, with
/// kl + ku + 1 rows; or ab(kl + ku + i - j, j) with 2 kl + ku + 1 rows, the
/// first kl of them ignored, as for dgbtrf. The factors are the solver's own.
///
/// Without pivoting (the default) A has to be diagonally dominant, which is
/// checked; `BandMethod::partial_pivoting` takes any matrix. Copies of a solver
/// share factors and workspace, and solves that share them must not overlap in
/// time. A solver made without arguments is empty, as one that was moved from:
/// for members, which are assigned one that is made. Every other use of an
/// empty solver is a HandleError.
///
/// Source: E. Biondo, Diagonally Dominant Banded Systems Solving with CUDA,
/// 2013, for the problem; docs/algorithms/banded_lu.md for the methods.
///
/// @tparam Scalar float, double, Kokkos::complex of either
/// @tparam ExecutionSpace where A, b and x are accessible and solves run
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class BandSolver {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;
  using memory_space = typename ExecutionSpace::memory_space;

  /// An empty solver.
  BandSolver() = default;

  /// Checks and factorises A.
  ///
  /// @param ab the band: (kl + ku + 1) x n, or x n x batch for a batch; any
  ///           layout
  /// @param kl, ku diagonals below and above the main one, each < n (or 0)
  /// @throws BandwidthError, SizeMismatchError, OptionError,
  ///   IndexOverflowError, MemoryError; DominanceError, FactorizationError with
  ///   the row
  /// Cost: about 2 n kl ku operations without pivoting, 2 n kl (kl + ku) with
  /// it. Waits for `exec` once, at the end.
  template <class Band>
  BandSolver(const ExecutionSpace& exec, const Band& ab, std::int64_t kl,
             std::int64_t ku, const BandOptions& options = {})
      : options_(options) {
    if constexpr (Detail::ExpectBand<Scalar, ExecutionSpace, Band>::value) {
      Detail::with_memory_errors("the factors of a band",
                                 [&] { make_all(exec, ab, kl, ku); });
    }
  }

  /// Takes a matrix of the same sizes with other values.
  /// @throws as the constructor; after a DominanceError, FactorizationError or
  ///   MemoryError the solver has no factors, and solves throw HandleError
  ///   until an update succeeds
  template <class Band>
  void update_values(const ExecutionSpace& exec, const Band& ab) {
    if constexpr (Detail::ExpectBand<Scalar, ExecutionSpace, Band>::value) {
      require_made();
      const Detail::BandRef<Scalar> A =
          Detail::checked_band<Scalar>(ab, report_->lower, report_->upper);
      if (A.size != report_->rows || A.batch != report_->systems)
        throw SizeMismatchError(
            "ab",
            "holds " + std::to_string(A.batch) + " systems of " +
                std::to_string(A.size) + " rows, the solver " +
                std::to_string(report_->systems) + " of " +
                std::to_string(report_->rows),
            "pass bands of the solver's size, or make a new solver");
      Detail::with_memory_errors("the factors of a band",
                                 [&] { factor(exec, A); });
    }
  }

  /// x = A^-1 b. Asynchronous on `exec`: no allocation, no transfer and no
  /// wait. The exception, with `max_right_hand_sides` 0, are more right-hand
  /// sides than ever before, for which workspace is made as by reserve(): see
  /// there for recorded solves.
  ///
  /// @param b n, or n x k: k right-hand sides; for a batch n x k x batch; any
  ///          layout
  /// @param x as b; may be b itself, or lie between b's elements
  /// @throws SizeMismatchError, AliasError, HandleError before anything is
  ///   enqueued
  /// Cost: 2 n (kl + ku + 1) k operations, 2 n (2 kl + ku + 1) k with pivoting;
  /// one launch for each max_right_hand_sides, or 1024.
  template <class B, class X>
  void solve(const ExecutionSpace& exec, const B& b, const X& x) const {
    if constexpr (Detail::ExpectVectors<Scalar, ExecutionSpace, B, X,
                                        3>::value) {
      require_made();
      Detail::check_band_vectors(*report_, b, x);
      if (!*factored_)
        throw HandleError("solver",
                          "has no factors: the last matrix was refused",
                          "call update_values with a matrix that can be "
                          "factorised");
      const std::int64_t columns = Detail::num_band_columns(x);
      if (!algorithm_ || columns == 0) return;
      const Detail::ProfilingRegion region("Strata::BandSolver::solve");
      reserve(exec, columns);
      const auto from = Detail::batch_vector_ref(b);
      Detail::with_memory_errors("a band solve", [&] {
        algorithm_->solve(exec,
                          Detail::BatchVectorRef<const Scalar>{
                              from.data, from.row_stride, from.column_stride,
                              from.system_stride},
                          Detail::batch_vector_ref(x), columns);
      });
    }
  }

  /// Makes the workspace of solves of up to `columns` right-hand sides, so that
  /// none of them allocates or waits: ahead of measurements, or of a capture
  /// into a CUDA graph. Nothing to do where it is there, was sized by
  /// `max_right_hand_sides`, or the method needs none (partial pivoting).
  /// Otherwise waits for all of the device's work, and a CUDA graph that has
  /// recorded a solve before must be recorded again.
  ///
  /// Bytes: for n rows and k right-hand sides, k up to 128 (64 of 16-byte
  /// scalars), 4 n k scalars; beyond, 2 n min(k, 1024) on top of those of 128.
  /// @throws SizeMismatchError for a negative number, HandleError, MemoryError:
  ///   solves of as many right-hand sides as are in the workspace that is left
  ///   go on
  void reserve(const ExecutionSpace& exec, std::int64_t columns) const {
    require_made();
    if (columns < 0)
      throw SizeMismatchError("columns", "is " + std::to_string(columns),
                              "pass a number of right-hand sides");
    Detail::with_memory_errors("right-hand sides of a band solver", [&] {
      if (algorithm_ && algorithm_->reserve(exec, columns))
        report_->bytes = bytes();
    });
  }

  /// With partial pivoting, the row that each row was exchanged with, from 0 on
  /// (LAPACK's ipiv less one), system after system; else empty.
  /// @throws HandleError
  Kokkos::View<const std::int64_t*, memory_space> pivots() const {
    require_made();
    return algorithm_ ? algorithm_->pivots()
                      : Kokkos::View<const std::int64_t*, memory_space>();
  }

  /// @throws HandleError
  const BandReport& report() const {
    require_made();
    return *report_;
  }

 private:
  void require_made() const {
    Detail::require_made(report_, "BandSolver", "exec, ab, kl, ku");
  }
  template <class Band>
  void make_all(const ExecutionSpace& exec, const Band& ab, std::int64_t kl,
                std::int64_t ku) {
    const Detail::BandRef<Scalar> A = Detail::checked_band<Scalar>(ab, kl, ku);
    Detail::check_band_options(options_, A);
    auto report = std::make_shared<BandReport>();
    report->rows = A.size;
    report->lower = kl;
    report->upper = ku;
    report->systems = A.batch;
    report->band_bytes = static_cast<std::size_t>(kl + ku + 1) * A.size *
                         A.batch * sizeof(Scalar);
    Detail::choose_band_method(exec, options_, A, *report);
    factored_ = std::make_shared<bool>(false);
    scale_ = Detail::make_zeroed<decltype(scale_)>("Strata::Band::scale",
                                                   A.size * A.batch);
    fault_ = Detail::make_zeroed<decltype(fault_)>(
        "Strata::Band::fault", Detail::BandFaults::size(A.batch));
    if (A.size > 0 && A.batch > 0) algorithm_ = make(exec, A, *report);
    report->bytes = bytes();
    report_ = report;
    factor(exec, A);
  }

  using Algorithm = Detail::BandAlgorithm<Scalar, ExecutionSpace>;
  using Real = typename Algorithm::Real;

  std::shared_ptr<Algorithm> make(const ExecutionSpace& exec,
                                  const Detail::BandRef<Scalar>& A,
                                  const BandReport& report) const {
    const int columns = options_.max_right_hand_sides;
    const auto made = [&](auto type) -> std::shared_ptr<Algorithm> {
      return std::make_shared<typename decltype(type)::type>(
          exec, A.size, A.lower, A.upper, A.batch, columns);
    };
    using Detail::CyclicTiles;
    using Detail::LuTiles;
    using Detail::TileAlgorithm;
    using Detail::TypeOf;
    if (report.method == BandMethod::partial_pivoting)
      return made(TypeOf<Detail::PivotedBand<Scalar, ExecutionSpace>>());
    if (report.method == BandMethod::cyclic_reduction) {
      if (report.tile == 32)
        return made(
            TypeOf<TileAlgorithm<Scalar, ExecutionSpace, 32, CyclicTiles>>());
      return made(
          TypeOf<TileAlgorithm<Scalar, ExecutionSpace, 64, CyclicTiles>>());
    }
    if (report.tile == 32)
      return made(TypeOf<TileAlgorithm<Scalar, ExecutionSpace, 32, LuTiles>>());
    return made(TypeOf<TileAlgorithm<Scalar, ExecutionSpace, 64, LuTiles>>());
  }

  std::size_t bytes() const {
    return (algorithm_ ? algorithm_->bytes() : 0) +
           scale_.extent(0) * sizeof(Real);
  }

  void factor(const ExecutionSpace& exec, const Detail::BandRef<Scalar>& A) {
    const Detail::ProfilingRegion region("Strata::BandSolver::factor");
    *factored_ = false;
    if (algorithm_) {
      const bool pivoting = report_->method == BandMethod::partial_pivoting;
      Detail::check_band(exec, A, scale_, fault_);
      const double smallest = options_.smallest_pivot;
      algorithm_->factor(exec, A, scale_, fault_,
                         smallest > 0 ? static_cast<Real>(smallest)
                                      : std::numeric_limits<Real>::epsilon());
      Detail::raise_band_faults(exec, fault_, A.size, A.batch, pivoting,
                                options_.require_dominance);
    }
    *factored_ = true;
  }

  BandOptions options_;
  std::shared_ptr<BandReport> report_;
  std::shared_ptr<Algorithm> algorithm_;
  std::shared_ptr<bool> factored_;  // of all copies
  Kokkos::View<Real*, memory_space> scale_;
  Kokkos::View<unsigned long long*, memory_space> fault_;
};

template <class ExecutionSpace, class Band>
BandSolver(const ExecutionSpace&, const Band&, std::int64_t, std::int64_t,
           const BandOptions& = {})
    -> BandSolver<typename Detail::ScalarOf<Band>::type, ExecutionSpace>;

}  // namespace Strata

#endif
