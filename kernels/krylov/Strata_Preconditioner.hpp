// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PRECONDITIONER_HPP
#define STRATA_PRECONDITIONER_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_IncompleteLu.hpp>
#include <Strata_TriangularSolver.hpp>
#include <core/device/Backend.hpp>
#include <core/interface/Expectations.hpp>
#include <core/interface/Made.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/krylov/ColouredSolves.hpp>
#include <kernels/krylov/ColouredSweeps.hpp>
#include <kernels/krylov/PositiveDiagonal.hpp>
#include <kernels/triangular/OptionChecks.hpp>
#include <memory>

namespace Strata {

/// M = I.
struct NoPreconditioner {};

/// M = the diagonal of A.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class JacobiPreconditioner {
 public:
  using memory_space = typename ExecutionSpace::memory_space;

  /// For no rows, until update_values() or an assignment gives it some.
  JacobiPreconditioner() = default;
  // To move is to copy: a view that was moved from would name freed memory.
  JacobiPreconditioner(const JacobiPreconditioner&) = default;
  JacobiPreconditioner& operator=(const JacobiPreconditioner&) = default;
  ~JacobiPreconditioner() = default;

  /// From a square KokkosSparse::CrsMatrix; entries named twice add up.
  /// @throws NotSquareError, RowMapError, ColumnRangeError,
  ///   MissingDiagonalError, MemoryError, and IndefiniteError where the
  ///   diagonal is not real and positive, or its reciprocal not finite
  /// Cost: one pass over the matrix. Waits for `exec`.
  template <class Matrix>
  JacobiPreconditioner(const ExecutionSpace& exec, const Matrix& A) {
    update_values(exec, A);
  }
  /// The same again for other values (or another matrix): an exception leaves
  /// the old ones.
  template <class Matrix>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (Detail::ExpectMatrix<Scalar, ExecutionSpace, Matrix>::value) {
      Detail::with_memory_errors("a diagonal preconditioner", [&] {
        inverse_diagonal_ = Detail::positive_diagonal_inverse<Scalar>(exec, A);
      });
    }
  }

  std::int64_t rows() const {
    return static_cast<std::int64_t>(inverse_diagonal_.extent(0));
  }
  const Kokkos::View<Detail::RealOf<Scalar>*, memory_space>& inverse_diagonal()
      const {
    return inverse_diagonal_;
  }

 private:
  Kokkos::View<Detail::RealOf<Scalar>*, memory_space> inverse_diagonal_;
};

template <class ExecutionSpace, class Matrix>
JacobiPreconditioner(const ExecutionSpace&, const Matrix&)
    -> JacobiPreconditioner<typename Detail::ScalarOf<Matrix>::type,
                            ExecutionSpace>;

/// Which factorisation IncompletePreconditioner makes.
enum class Factorization {
  /// A must be Hermitian and all pivots positive, or the constructor throws.
  incomplete_cholesky,
  /// Any matrix that incomplete_lu takes. On a Hermitian matrix the product of
  /// the factors is that of incomplete Cholesky; whether it is positive
  /// definite shows in the solve.
  incomplete_lu
};

namespace Detail {
template <>
struct EnumeratorNames<Factorization> {
  static constexpr const char* list[] = {"incomplete_cholesky",
                                         "incomplete_lu"};
};
}  // namespace Detail

/// Order of rows in which IncompletePreconditioner factorises.
enum class FactorOrder {
  /// coloured for incomplete Cholesky on a device, where no row of the matrix
  /// has more than 1,024 entries and the options of triangular solvers are left
  /// at their defaults; else natural.
  automatic,
  /// The order given: fewest iterations, and triangular solves whose chains of
  /// dependencies cost their length whatever the bandwidth.
  natural,
  /// Colour by colour (colour_rows): more iterations than natural, but a solve
  /// with both factors is two launches, whose chains are as long as there are
  /// colours. A must be Hermitian.
  coloured
};

namespace Detail {
template <>
struct EnumeratorNames<FactorOrder> {
  static constexpr const char* list[] = {"automatic", "natural", "coloured"};
};
}  // namespace Detail

inline const char* to_string(FactorOrder order) {
  return Detail::enumerator_name(order);
}

/// M = L U, incomplete factors of A without fill. On a Hermitian matrix
/// U = D L^H, which makes L U the incomplete Cholesky factorisation L D L^H.
/// Natural order: by incomplete_lu() and TriangularSolver. Coloured: by a
/// factorisation of its own and, with two colours, sweeps over them, with more,
/// TriangularSolver; vectors stay in the order given.
///
/// Times and iterations of both orders: docs/algorithms/sell_and_cg.md.
///
/// One made without arguments is empty, as one that was moved from: for
/// members, which are assigned one that is made. Every other use is a
/// HandleError.
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class IncompletePreconditioner {
 public:
  /// An empty one.
  IncompletePreconditioner() = default;

  /// From a square KokkosSparse::CrsMatrix with sorted rows.
  /// @param options of the triangular solvers of the natural order: others than
  ///   the defaults ask for that order
  /// @throws OptionError for a `kind`, an order and options that there are not,
  ///   for an `op` other than none, and for options other than the defaults
  ///   with the coloured order, whose solves have none;
  ///   what incomplete_lu() throws; for incomplete_cholesky and the
  ///   coloured order, NotHermitianError (entries and their mirror images
  ///   differ by more than 64 roundings); for incomplete_cholesky,
  ///   IndefiniteError (a pivot is not real and positive); MemoryError
  /// Cost: natural, incomplete_lu() and the analysis of two triangles;
  /// coloured, colour_rows(), some copies of the matrix, a launch for each
  /// colour. Waits for `exec`.
  template <class Matrix>
  IncompletePreconditioner(
      const ExecutionSpace& exec, const Matrix& A,
      Factorization kind = Factorization::incomplete_cholesky,
      const TriangularOptions& options = {},
      FactorOrder order = FactorOrder::automatic)
      : kind_(kind), order_(order) {
    if constexpr (Detail::ExpectMatrix<Scalar, ExecutionSpace, Matrix>::value) {
      rows_ = static_cast<std::int64_t>(A.numRows());
      check_options(options);
      Detail::with_memory_errors(task, [&] { make(exec, A, options); });
    }
  }
  /// New values on the same pattern: factorises again, without analysis unless
  /// the natural order's solvers can't take the values as they are planned.
  /// @throws as the constructor, PatternMismatchError and HandleError. The old
  ///   values stay, or, where an exception leaves but one factor with new ones,
  ///   `apply` and solves with it throw HandleError until an update succeeds
  template <class Matrix>
  void update_values(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (Detail::ExpectMatrix<Scalar, ExecutionSpace, Matrix>::value) {
      require_made();
      if (static_cast<std::int64_t>(A.numRows()) != rows_)
        throw PatternMismatchError("A",
                                   "has " + std::to_string(A.numRows()) +
                                       " rows, not " + std::to_string(rows_),
                                   "make a new preconditioner");
      Detail::with_memory_errors(task, [&] { take_values(exec, A); });
    }
  }

  /// z = U^-1 L^-1 r for vectors of rank 1, which may be the same. Asynchronous
  /// on `exec`. @throws HandleError
  template <class R, class Z>
  void apply(const ExecutionSpace& exec, const R& r, const Z& z) const {
    require_made();
    Detail::with_memory_errors(task, [&] {
      if (sweeps_) return sweeps_->apply(exec, r, z);
      if (solves_) return solves_->apply(exec, r, z);
      Detail::require_both_factors(*whole_);
      lower_->solve(exec, r, z);
      upper_->solve(exec, z, z);
    });
  }

  /// These three: @throws HandleError
  std::int64_t rows() const {
    require_made();
    return rows_;
  }
  /// natural or coloured.
  FactorOrder order() const {
    require_made();
    return order_;
  }
  /// Colours of the coloured order; 0 in the natural one.
  int colours() const {
    require_made();
    return sweeps_ ? sweeps_->colours() : solves_ ? solves_->colours() : 0;
  }
  /// Of the natural order alone. @throws Error in the other one, HandleError
  const TriangularReport& lower_report() const {
    require_made();
    return natural(lower_)->report();
  }
  const TriangularReport& upper_report() const {
    require_made();
    return natural(upper_)->report();
  }

 private:
  using Solver = TriangularSolver<Scalar, ExecutionSpace>;
  using Sweeps = Detail::ColouredSweeps<Scalar, ExecutionSpace>;
  using Solves = Detail::ColouredSolves<Scalar, ExecutionSpace>;

  friend struct Detail::Internals;
  const Sweeps* sweeps() const { return sweeps_.get(); }
  const Solves* solves() const { return solves_.get(); }
  void require_made() const {
    Detail::require_made(lower_ || sweeps_ || solves_,
                         "IncompletePreconditioner", "exec, A");
  }

  static constexpr const char* task = "an incomplete factorisation";

  template <class Matrix>
  void make(const ExecutionSpace& exec, const Matrix& A,
            const TriangularOptions& options) {
    if (order_ == FactorOrder::coloured || may_colour(exec, A, options)) {
      check(exec, A);
      const auto colours = colour_rows(exec, A);
      order_ = FactorOrder::coloured;
      const auto factor = colour_factor(exec, A, colours);
      if (colours.num_colours() > most_swept_colours)
        solves_ = std::make_shared<Solves>(exec, factor);
      else
        sweeps_ = std::make_shared<Sweeps>(exec, factor);
      fingerprint_ =
          Detail::pattern_fingerprint(exec, A.graph.row_map, A.graph.entries);
      return;
    }
    order_ = FactorOrder::natural;
    options_ = options;
    const auto factors = factorise(exec, A);
    analyse(exec, factors);
    fingerprint_ =
        Detail::pattern_fingerprint(exec, A.graph.row_map, A.graph.entries);
  }
  template <class Matrix>
  void take_values(const ExecutionSpace& exec, const Matrix& A) {
    const auto check_pattern = [&] {
      if (Detail::pattern_fingerprint(exec, A.graph.row_map, A.graph.entries) !=
          fingerprint_)
        throw PatternMismatchError(
            "A", "does not have the pattern that was factorised",
            "make a new preconditioner");
    };
    if (sweeps_ || solves_) {
      check(exec, A);
      check_pattern();
      if (solves_)
        solves_->update_values(exec,
                               colour_factor(exec, A, solves_->colouring()));
      else
        sweeps_->update_values(exec,
                               colour_factor(exec, A, sweeps_->colouring()));
      return;
    }
    const auto factors = factorise(exec, A);
    check_pattern();
    try {
      lower_->update_values(exec, factors.L);
      *whole_ = false;
      upper_->update_values(exec, factors.U);
      *whole_ = true;
    } catch (const ScalingError&) {
      // Other algorithms take them.
      exec.fence();
      analyse(exec, factors);
    }
    // The factors are freed here.
    exec.fence();
  }

  /// Both triangles, or neither.
  template <class Factors>
  void analyse(const ExecutionSpace& exec, const Factors& factors) {
    auto lower = std::make_shared<Solver>(exec, factors.L, Uplo::lower,
                                          Diag::unit, options_);
    auto upper = std::make_shared<Solver>(exec, factors.U, Uplo::upper,
                                          Diag::non_unit, options_);
    // Of copies of this one, which keep the solvers there were, too.
    whole_ = std::make_shared<bool>(true);
    lower_ = std::move(lower);
    upper_ = std::move(upper);
  }

  static const std::shared_ptr<Solver>& natural(
      const std::shared_ptr<Solver>& solver) {
    if (!solver)
      throw Error("order", "is coloured: there are no triangular solvers",
                  "ask for FactorOrder::natural");
    return solver;
  }

  void check_options(const TriangularOptions& options) const {
    Detail::require_enumerator("kind", kind_);
    Detail::require_enumerator("order", order_);
    Detail::check_options(options);
    if (options.op != Op::none)
      throw OptionError("op", "is not none",
                        "leave it: both factors are solved as they are");
    if (order_ == FactorOrder::coloured && options != TriangularOptions())
      throw OptionError("options",
                        "are of the natural order's triangular solvers, which "
                        "the coloured order does not have",
                        "leave them at their defaults, or ask for "
                        "FactorOrder::natural");
  }

  /// Up to this many, a launch for each colour but one, twice; from there on a
  /// launch for each triangle, in which rows wait.
  static constexpr int most_swept_colours = 2;

  /// A launch of sweeps has a lane a row, or a few: very long rows would hold
  /// all others up.
  template <class Matrix>
  bool may_colour(const ExecutionSpace& exec, const Matrix& A,
                  const TriangularOptions& options) const {
    if (!Detail::is_gpu<ExecutionSpace> || order_ != FactorOrder::automatic ||
        kind_ != Factorization::incomplete_cholesky ||
        options != TriangularOptions())
      return false;
    const auto row_map = A.graph.row_map;
    std::int64_t longest = 0;
    Kokkos::parallel_reduce(
        "Strata::IncompletePreconditioner::longest",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
            exec, 0, A.numRows()),
        Detail::LongestRow<decltype(row_map)>{row_map},
        Kokkos::Max<std::int64_t>(longest));
    exec.fence();
    return longest <= 1024;
  }
  template <class Matrix>
  void check(const ExecutionSpace& exec, const Matrix& A) const {
    Detail::check_square_matrix(exec, A);
    Detail::raise_factor_faults<Matrix>(
        "Strata::IncompletePreconditioner::check", exec, rows_,
        Detail::FactorInputCheck<Matrix>{A.graph.row_map, A.graph.entries,
                                         A.values});
    Detail::require_hermitian(exec, A);
  }
  template <class Matrix, class Colours>
  Detail::ColouredFactor<Matrix> colour_factor(const ExecutionSpace& exec,
                                               const Matrix& A,
                                               const Colours& colours) const {
    return Detail::ColouredFactor<Matrix>(
        exec, A, colours, kind_ == Factorization::incomplete_cholesky);
  }
  template <class Matrix>
  auto factorise(const ExecutionSpace& exec, const Matrix& A) const {
    // Checks the pattern first.
    auto factors = incomplete_lu(exec, A);
    if (kind_ == Factorization::incomplete_cholesky) {
      Detail::require_hermitian(exec, A);
      Detail::require_positive_pivots(exec, factors.U);
    }
    return factors;
  }

  Factorization kind_ = Factorization::incomplete_cholesky;
  FactorOrder order_ = FactorOrder::automatic;
  std::int64_t rows_ = 0;
  std::shared_ptr<Solver> lower_, upper_;
  /// Whether both are of the same values.
  std::shared_ptr<bool> whole_;
  std::shared_ptr<Sweeps> sweeps_;
  std::shared_ptr<Solves> solves_;
  TriangularOptions options_;  // of the natural order
  std::uint64_t fingerprint_ = 0;
};

template <class ExecutionSpace, class Matrix>
IncompletePreconditioner(const ExecutionSpace&, const Matrix&,
                         Factorization = Factorization::incomplete_cholesky,
                         const TriangularOptions& = {},
                         FactorOrder = FactorOrder::automatic)
    -> IncompletePreconditioner<typename Detail::ScalarOf<Matrix>::type,
                                ExecutionSpace>;

}  // namespace Strata

#endif
