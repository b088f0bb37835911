// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_GAUSS_JORDAN_HPP
#define STRATA_GAUSS_JORDAN_HPP

#include <Strata_GaussJordanOptions.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Profiling.hpp>
#include <core/interface/Expectations.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/dense/DenseChecks.hpp>
#include <kernels/dense/DenseCopies.hpp>
#include <kernels/dense/Elimination.hpp>
#include <limits>
#include <memory>
#include <utility>

namespace Strata {

/// Gauss-Jordan elimination of dense matrices with partial pivoting: reduced
/// row echelon form, solution of linear systems, inverse.
///
/// After E. Eyvazov, "Gauss-Jordan Solver of Linear Equation Systems on GPU"
/// (Czech Technical University in Prague, 2021): stripes and tiles (II, IK, JI,
/// JK) of Carcenac's algorithm, a sweep down to the row echelon form and a
/// sweep up to the reduced one, with the pivoting that it leaves open.
/// docs/algorithms/gauss_jordan.md has design, costs and measurements.
///
/// An object keeps its workspace from call to call and enlarges it when
/// needed; one call at a time. Matrices are views of rank 2 of any layout; an
/// argument is written last, after all errors that there can be, so it may
/// also be an input.
///
/// @tparam Scalar float, double, Kokkos::complex of either
template <class Scalar, class ExecutionSpace = Kokkos::DefaultExecutionSpace>
class GaussJordan {
 public:
  using scalar_type = Scalar;
  using execution_space = ExecutionSpace;

  /// @throws OptionError
  explicit GaussJordan(const GaussJordanOptions& options = {})
      : options_(options) {
    Detail::check_gauss_jordan_options(options);
  }

  /// Brings A, m x n, to its reduced row echelon form, in place.
  ///
  /// Entries that elimination leaves at or below the tolerance in a column
  /// without pivot are taken to be zero. A pivot is the largest entry of its
  /// column in the rows that are left. In columns of right-hand sides
  /// (`pivot_columns`) the rows below the rank keep what elimination left: not
  /// zero where a system has no solution.
  ///
  /// @throws NotFiniteError, FactorizationError (an overflow on the way),
  ///   OptionError, IndexOverflowError, AliasError for strides that lead to one
  ///   element twice, MemoryError
  /// Cost, r being the rank: r^2 (n - r/3) + ... operations downwards, half a
  /// gemm of r x r by r x (n - r) upwards. Twice the first where a column
  /// before the r-th has no pivot, which is noticed underway. Workspace m x n,
  /// and r x n more in that case. Waits for exec.
  template <class Matrix>
  RowEchelonForm reduce(const ExecutionSpace& exec, const Matrix& A) {
    if constexpr (!Detail::ExpectWritableDense<Scalar, ExecutionSpace,
                                               Matrix>::value) {
      return RowEchelonForm();
    } else {
      return Detail::with_memory_errors("a reduction to row echelon form", [&] {
        return reduce_in_place(exec, A);
      });
    }
  }

  /// Solves A X = B.
  ///
  /// @param A n x n
  /// @param b n, or n x k: k right-hand sides
  /// @param x as b; may be b
  /// @throws NotSquareError, SizeMismatchError, AliasError, NotFiniteError,
  ///   SingularError (naming the column), FactorizationError, MemoryError
  /// Cost: 2/3 n^3 + 2 n^2 k operations, workspace n x (n + k). Waits for exec.
  template <class Matrix, class B, class X>
  void solve(const ExecutionSpace& exec, const Matrix& A, const B& b,
             const X& x) {
    if constexpr ((Detail::ExpectDense<Scalar, ExecutionSpace, Matrix>::value &&
                   Detail::ExpectVectors<Scalar, ExecutionSpace, B,
                                         X>::value)) {
      Detail::with_memory_errors("the solution of a dense system",
                                 [&] { solve_by_elimination(exec, A, b, x); });
    }
  }

  /// X = A^-1, n x n; X may be A.
  ///
  /// @throws NotSquareError, SizeMismatchError, AliasError, NotFiniteError,
  ///   SingularError (naming the column), FactorizationError, MemoryError
  /// Cost: 2 n^3 operations: the identity beside A comes into play stripe by
  /// stripe. Workspace n x 2n. Waits for exec.
  template <class Matrix, class Inverse>
  void invert(const ExecutionSpace& exec, const Matrix& A, const Inverse& X) {
    if constexpr ((Detail::ExpectDense<Scalar, ExecutionSpace, Matrix>::value &&
                   Detail::ExpectWritableDense<Scalar, ExecutionSpace,
                                               Inverse>::value)) {
      Detail::with_memory_errors("the inverse of a dense matrix",
                                 [&] { invert_by_elimination(exec, A, X); });
    }
  }

  /// Bytes of device memory that the object holds.
  std::size_t workspace_bytes() const {
    if (!elimination_) return 0;
    return (work_.extent(0) + spare_.extent(0)) * sizeof(Scalar) +
           elimination_->bytes();
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  using Elimination = Detail::Elimination<Scalar, ExecutionSpace>;
  using Ref = Detail::DenseRef<Scalar>;
  using Real = typename Detail::ScalarWords<Scalar>::Word;
  using Buffer = Kokkos::View<Scalar*, Memory>;

  /// A is rows x columns; `further` columns stand beside it.
  struct Sizes {
    std::int64_t rows, columns, further;
  };
  struct Nothing {};

  /// Columns begin at multiples of 128 bytes for all scalars.
  static std::int64_t leading_dimension(std::int64_t rows) {
    return (rows + 31) / 32 * 32;
  }
  Ref work_ref() const { return {work_.data(), ld_}; }

  template <class Matrix>
  RowEchelonForm reduce_in_place(const ExecutionSpace& exec, const Matrix& A) {
    Detail::check_dense_matrix(A, "A");
    Detail::require_distinct_elements("A", A);
    const Detail::ProfilingRegion region("Strata::GaussJordan::reduce");
    const Sizes size{static_cast<std::int64_t>(A.extent(0)),
                     static_cast<std::int64_t>(A.extent(1)), 0};
    const std::int64_t candidates =
        Detail::pivot_column_count(options_, size.columns);
    RowEchelonForm form;
    form.tolerance = std::max(options_.tolerance, 0.0);
    if (size.rows == 0 || size.columns == 0) return form;
    copy_in(exec, A, Nothing(), size);
    form.norm =
        Detail::largest_column_sum(exec, work_ref(), size.rows, candidates);
    // No tolerance can be told from a sum that overflows.
    if (options_.tolerance < 0 && form.norm - form.norm != 0)
      throw FactorizationError(
          "A", "has columns whose sums are beyond the range of numbers",
          "scale A, or set the option `tolerance`");
    if (options_.tolerance < 0)
      form.tolerance = static_cast<double>(std::max(size.rows, size.columns)) *
                       std::numeric_limits<Real>::epsilon() * form.norm;
    const std::int64_t further = size.columns - candidates;
    auto& elimination = *elimination_;
    elimination.sweep(exec, work_ref(), size.rows, candidates, further,
                      form.tolerance);
    Detail::Pivots pivots = elimination.pivots(exec);
    if (pivots.lacking != Detail::EliminationStatus::none) {
      copy_in(exec, A, Nothing(), size);
      const std::int64_t ld = leading_dimension(size.rows);
      reserve(exec, spare_, ld * Elimination::width);
      pivots = elimination.sweep_with_gaps(exec, work_ref(), size.rows,
                                           candidates, further, form.tolerance,
                                           Ref{spare_.data(), ld});
    }
    Detail::require_no_overflow(pivots.overflow);
    form.rank = static_cast<std::int64_t>(pivots.columns.size());
    form.pivot_columns = pivots.columns;
    finish_reduction(exec, A, size, candidates, pivots);
    return form;
  }

  template <class Matrix, class B, class X>
  void solve_by_elimination(const ExecutionSpace& exec, const Matrix& A,
                            const B& b, const X& x) {
    Detail::check_dense_matrix(A, "A");
    Detail::check_square(A);
    Detail::check_right_hand_sides(A, b, x);
    const Detail::ProfilingRegion region("Strata::GaussJordan::solve");
    const Sizes size{static_cast<std::int64_t>(A.extent(0)),
                     static_cast<std::int64_t>(A.extent(1)),
                     Detail::num_columns(x)};
    if (size.rows == 0 || size.further == 0) return;
    copy_in(exec, A, b, size);
    eliminate(exec, size, false);
    Detail::require_regular(elimination_->pivots(exec));
    const Ref solution = work_ref().from(0, size.columns);
    require_finite(exec, solution, size.rows, size.further);
    copy_out(exec, solution, Detail::multi_vector_ref(x), size, nullptr);
    exec.fence();
  }

  template <class Matrix, class Inverse>
  void invert_by_elimination(const ExecutionSpace& exec, const Matrix& A,
                             const Inverse& X) {
    Detail::check_dense_matrix(A, "A");
    Detail::check_dense_matrix(X, "X");
    Detail::check_square(A);
    Detail::check_same_extents(A, X);
    const Detail::ProfilingRegion region("Strata::GaussJordan::invert");
    const auto n = static_cast<std::int64_t>(A.extent(0));
    const Sizes size{n, n, n};
    if (n == 0) return;
    copy_in(exec, A, Nothing(), size);
    eliminate(exec, size, true);
    Detail::require_regular(elimination_->pivots(exec));
    const Ref inverse = work_ref().from(0, n);
    require_finite(exec, inverse, n, n);
    copy_out(exec, inverse, Detail::multi_vector_ref(X), size,
             elimination_->row_of().data());
    exec.fence();
  }

  static void reserve(const ExecutionSpace& exec, Buffer& buffer,
                      std::int64_t elements) {
    if (static_cast<std::int64_t>(buffer.extent(0)) >= elements) return;
    buffer = Buffer();  // first, so that both need not fit
    buffer = Detail::make_unfilled<Buffer>(exec, "Strata::GaussJordan::work",
                                           elements);
  }

  /// Columns of a stripe: wide enough for its product to be bound by
  /// arithmetic, and not so wide that its panels' own products, of `width`
  /// columns, weigh.
  int stripe_for(std::int64_t rows) const {
    if (options_.stripe > 0) return options_.stripe;
    if (!Detail::is_gpu<ExecutionSpace>) return 128;
    return rows <= 2048 ? 128 : 256;
  }

  static Detail::MultiVectorRef<const Scalar> source_of(const Nothing&) {
    return {};
  }
  template <class View>
  static Detail::MultiVectorRef<const Scalar> source_of(const View& v) {
    const auto ref = Detail::multi_vector_ref(v);
    return {ref.data, ref.row_stride, ref.column_stride};
  }

  /// Fills the workspace with [A | b] or [A | identity]. Waits.
  /// @throws NotFiniteError
  template <class Matrix, class B>
  void copy_in(const ExecutionSpace& exec, const Matrix& A, const B& b,
               const Sizes& size) {
    if (!elimination_) {
      // Of an object that was moved from, views and numbers mean nothing.
      work_ = spare_ = Buffer();
      max_rows_ = 0;
    }
    if (!elimination_ || size.rows > max_rows_ ||
        stripe_ != stripe_for(size.rows)) {
      // First, so that both need not fit; and without it there are no rows.
      elimination_.reset();
      const std::int64_t most =
          std::max(std::exchange(max_rows_, 0), size.rows);
      stripe_ = stripe_for(size.rows);
      elimination_ = std::make_unique<Elimination>(exec, most, stripe_);
      max_rows_ = most;
    }
    ld_ = leading_dimension(size.rows);
    const std::int64_t columns = size.columns + size.further;
    reserve(exec, work_, ld_ * columns);
    const auto from_a = source_of(A), from_b = source_of(b);
    Detail::DenseInspection found;
    Detail::with_index_type(size.rows * columns, [&](auto index) {
      using Index = decltype(index);
      Detail::CopyIn<Scalar, Index> copy;
      copy.a = from_a;
      copy.b = from_b;
      copy.to = work_ref();
      copy.rows = static_cast<Index>(size.rows);
      copy.a_columns = static_cast<Index>(size.columns);
      Kokkos::parallel_reduce(
          "Strata::GaussJordan::copy_in",
          Detail::index_range<Index>(exec, size.rows * columns), copy, found);
    });
    exec.fence();
    Detail::require_finite_input(found, size.rows, size.columns);
  }

  void eliminate(const ExecutionSpace& exec, const Sizes& size, bool identity) {
    elimination_->sweep(exec, work_ref(), size.rows, size.columns, size.further,
                        std::max(options_.tolerance, 0.0), identity);
    Detail::solve_triangle<Uplo::upper>(exec, work_ref(),
                                        work_ref().from(0, size.columns),
                                        size.rows, size.further);
  }

  void require_finite(const ExecutionSpace& exec, const Ref& a,
                      std::int64_t rows, std::int64_t columns) const {
    Detail::DenseInspection found;
    Detail::with_index_type(rows * columns, [&](auto index) {
      using Index = decltype(index);
      Detail::Inspect<Scalar, Index> look;
      look.a = a;
      look.rows = static_cast<Index>(rows);
      Kokkos::parallel_reduce("Strata::GaussJordan::inspect",
                              Detail::index_range<Index>(exec, rows * columns),
                              look, found);
    });
    exec.fence();
    Detail::require_finite_result(found, rows);
  }

  void copy_out(const ExecutionSpace& exec, const Ref& from,
                const Detail::MultiVectorRef<Scalar>& to, const Sizes& size,
                const int* column_of) const {
    Detail::with_index_type(size.rows * size.further, [&](auto index) {
      using Index = decltype(index);
      Kokkos::parallel_for(
          "Strata::GaussJordan::copy_out",
          Detail::index_range<Index>(exec, size.rows * size.further),
          Detail::CopyOut<Scalar, Index>{
              from, to, static_cast<Index>(size.rows), column_of});
    });
  }

  /// The sweep up, and the result into A.
  template <class Matrix>
  void finish_reduction(const ExecutionSpace& exec, const Matrix& A,
                        const Sizes& size, std::int64_t candidates,
                        const Detail::Pivots& pivots) {
    const auto rank = static_cast<std::int64_t>(pivots.columns.size());
    const std::int64_t others = size.columns - rank;
    Ref upper = work_ref(), rest = work_ref().from(0, rank);
    Kokkos::View<int*, Memory> number;
    if (!pivots.leading()) {
      // Pivot columns and others apart.
      std::vector<int> numbers(size.columns, -1),
          list(pivots.columns.begin(), pivots.columns.end());
      for (std::int64_t q = 0; q < rank; ++q)
        numbers[pivots.columns[q]] = static_cast<int>(q);
      for (std::int64_t j = 0; j < size.columns; ++j)
        if (numbers[j] < 0) {
          numbers[j] = -1 - static_cast<int>(list.size() - rank);
          list.push_back(static_cast<int>(j));
        }
      number =
          Detail::to_device<int, Memory>("Strata::Dense::numbers", numbers);
      const auto columns =
          Detail::to_device<int, Memory>("Strata::Dense::columns", list);
      const std::int64_t ld = leading_dimension(rank);
      reserve(exec, spare_, ld * size.columns);
      upper = Ref{spare_.data(), ld};
      rest = upper.from(0, rank);
      Kokkos::parallel_for(
          "Strata::GaussJordan::gather",
          Detail::index_range<std::int64_t>(exec, rank * size.columns),
          Detail::GatherColumns<Scalar>{work_ref(), upper, columns.data(),
                                        rank});
      exec.fence();
    }
    if (rank > 0 && others > 0) {
      Detail::solve_triangle<Uplo::upper>(exec, upper, rest, rank, others);
      require_finite(exec, rest, rank, others);
    }
    if (size.rows > rank && size.columns > candidates)
      require_finite(exec, work_ref().from(rank, candidates), size.rows - rank,
                     size.columns - candidates);
    const auto to = Detail::multi_vector_ref(A);
    Detail::with_index_type(size.rows * size.columns, [&](auto index) {
      using Index = decltype(index);
      Kokkos::parallel_for(
          "Strata::GaussJordan::write",
          Detail::index_range<Index>(exec, size.rows * size.columns),
          Detail::WriteEchelon<Scalar, Index>{
              rest, work_ref(), to, static_cast<Index>(size.rows),
              static_cast<Index>(rank), static_cast<Index>(candidates),
              number.data()});
    });
    exec.fence();
  }

  GaussJordanOptions options_;
  std::unique_ptr<Elimination> elimination_;
  std::int64_t max_rows_ = 0, ld_ = 0;
  int stripe_ = 0;
  Buffer work_, spare_;
};

/// GaussJordan::reduce with a workspace of its own.
template <class ExecutionSpace, class Matrix>
RowEchelonForm reduced_row_echelon_form(
    const ExecutionSpace& exec, const Matrix& A,
    const GaussJordanOptions& options = {}) {
  return GaussJordan<typename Detail::ScalarOf<Matrix>::type, ExecutionSpace>(
             options)
      .reduce(exec, A);
}

/// GaussJordan::solve with a workspace of its own.
template <class ExecutionSpace, class Matrix, class B, class X>
void gauss_jordan_solve(const ExecutionSpace& exec, const Matrix& A, const B& b,
                        const X& x, const GaussJordanOptions& options = {}) {
  GaussJordan<typename Detail::ScalarOf<Matrix>::type, ExecutionSpace>(options)
      .solve(exec, A, b, x);
}

/// GaussJordan::invert with a workspace of its own.
template <class ExecutionSpace, class Matrix, class Inverse>
void gauss_jordan_inverse(const ExecutionSpace& exec, const Matrix& A,
                          const Inverse& X,
                          const GaussJordanOptions& options = {}) {
  GaussJordan<typename Detail::ScalarOf<Matrix>::type, ExecutionSpace>(options)
      .invert(exec, A, X);
}

}  // namespace Strata

#endif
