// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_GAUSS_JORDAN_IMPLEMENTATION_HPP
#define STRATA_KERNELS_DENSE_GAUSS_JORDAN_IMPLEMENTATION_HPP

// What GaussJordan does, compiled into libstrata (src/) for the scalars and
// spaces of a build. A program with others includes this file.

#include <Strata_GaussJordan.hpp>
#include <core/device/NotReady.hpp>
#include <core/device/Profiling.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/dense/DenseChecks.hpp>
#include <kernels/dense/DenseCopies.hpp>
#include <kernels/dense/Elimination.hpp>
#include <kernels/dense/LapackElimination.hpp>
#include <limits>
#include <utility>

namespace Strata {
namespace Detail {

template <class Scalar, class ExecutionSpace>
struct HasImplementation<GaussJordan<Scalar, ExecutionSpace>> : std::true_type {
};

/// The workspace of a GaussJordan.
template <class Scalar, class ExecutionSpace>
class GaussJordanState {
 public:
  explicit GaussJordanState(const GaussJordanOptions& options)
      : options_(options) {}

  RowEchelonForm reduce_in_place(const ExecutionSpace& exec,
                                 const StridedBlock& A) {
    check_dense_matrix(A, "A");
    require_distinct_elements("A", A);
    const ProfilingRegion region("Strata::GaussJordan::reduce");
    const Sizes size{A.extent[0], A.extent[1], 0};
    const std::int64_t candidates = pivot_column_count(options_, size.columns);
    RowEchelonForm form;
    form.tolerance = std::max(options_.tolerance, 0.0);
    if (size.rows == 0 || size.columns == 0) return form;
    copy_in(exec, A, nothing, size);
    form.norm = largest_column_sum(exec, work_ref(), size.rows, candidates);
    // A sum that overflows yields no tolerance.
    if (options_.tolerance < 0 && form.norm - form.norm != 0)
      throw FactorizationError(
          "A", "has columns whose sums are beyond the range of numbers",
          "scale A, or set the option `tolerance`");
    if (options_.tolerance < 0)
      form.tolerance = static_cast<double>(std::max(size.rows, size.columns)) *
                       std::numeric_limits<Real>::epsilon() * form.norm;
    const std::int64_t further = size.columns - candidates;
    sweep(exec, size.rows, candidates, further, form.tolerance);
    Pivots pivots = swept(exec);
    if (pivots.lacking != EliminationStatus::none) {
      copy_in(exec, A, nothing, size);
      const std::int64_t ld = leading_dimension(size.rows);
      reserve(exec, spare_, ld * Elimination::width);
      pivots = elimination_->sweep_with_gaps(
          exec, work_ref(), size.rows, candidates, further, form.tolerance,
          Ref{spare_.data(), ld});
    }
    require_no_overflow(pivots.overflow);
    form.rank = static_cast<std::int64_t>(pivots.columns.size());
    form.pivot_columns = pivots.columns;
    finish_reduction(exec, A, size, candidates, pivots);
    return form;
  }

  void solve_by_elimination(const ExecutionSpace& exec, const StridedBlock& A,
                            const StridedBlock& b, const StridedBlock& x) {
    check_dense_matrix(A, "A");
    check_square(A);
    check_right_hand_sides(A, b, x);
    const ProfilingRegion region("Strata::GaussJordan::solve");
    const Sizes size{A.extent[0], A.extent[1], x.extent[1]};
    if (size.rows == 0 || size.further == 0) return;
    copy_in(exec, A, multi_vector_ref<const Scalar>(b), size);
    const Ref solution = work_ref().from(0, size.columns);
    find_solution(exec, solution, size);
    require_finite(exec, solution, size.rows, size.further);
    copy_out(exec, solution, multi_vector_ref<Scalar>(x), size, nullptr);
    exec.fence();
  }

  void invert_by_elimination(const ExecutionSpace& exec, const StridedBlock& A,
                             const StridedBlock& X) {
    check_dense_matrix(A, "A");
    check_dense_matrix(X, "X");
    check_square(A);
    check_same_extents(A, X);
    const ProfilingRegion region("Strata::GaussJordan::invert");
    const auto n = A.extent[0];
    if (n == 0) return;
    if constexpr (has_lapack<ExecutionSpace>) {
      if (by_lapack()) {
        copy_in(exec, A, nothing, Sizes{n, n, 0}, n);
        sweep(exec, n, n, 0, least_pivot());
        require_regular(swept(exec));
        const Ref inverse = work_ref().from(0, n);
        {
          const ProfilingRegion lapack("Strata::Dense::lapack");
          lapack_.invert(work_ref(), inverse, n);
        }
        require_finite(exec, inverse, n, n);
        copy_out(exec, inverse, multi_vector_ref<Scalar>(X), Sizes{n, n, n},
                 nullptr);
        exec.fence();
        return;
      }
    }
    const Sizes size{n, n, n};
    copy_in(exec, A, nothing, size);
    elimination_->sweep(exec, work_ref(), n, n, n, least_pivot(), true);
    const Ref inverse = work_ref().from(0, n);
    solve_upper(exec, work_ref(), inverse, n, n);
    require_regular(elimination_->pivots(exec));
    require_finite(exec, inverse, n, n);
    copy_out(exec, inverse, multi_vector_ref<Scalar>(X), size,
             elimination_->row_of().data());
    exec.fence();
  }

  std::size_t bytes() const {
    if (!elimination_) return 0;
    return (work_.extent(0) + spare_.extent(0)) * sizeof(Scalar) +
           elimination_->bytes() + lapack_.bytes();
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  using Elimination = Detail::Elimination<Scalar, ExecutionSpace>;
  using Ref = DenseRef<Scalar>;
  using Real = RealOf<Scalar>;
  using Buffer = Kokkos::View<Scalar*, Memory>;

  /// A is rows x columns; `further` columns stand beside it.
  struct Sizes {
    std::int64_t rows, columns, further;
  };

  /// Stands for right-hand sides where there are none.
  static constexpr MultiVectorRef<const Scalar> nothing{};

  /// Columns begin at multiples of 128 bytes for all scalars; on hosts, not a
  /// multiple of 4 KiB apart, as caches then hold fewer of them at once.
  static std::int64_t leading_dimension(std::int64_t rows) {
    const std::int64_t ld = (rows + 31) / 32 * 32;
    constexpr std::int64_t bytes = sizeof(Scalar);
    return is_gpu<ExecutionSpace> || ld * bytes % 4096 != 0 ? ld
                                                            : ld + 128 / bytes;
  }
  Ref work_ref() const { return {work_.data(), ld_}; }

  static void reserve(const ExecutionSpace& exec, Buffer& buffer,
                      std::int64_t elements) {
    if (static_cast<std::int64_t>(buffer.extent(0)) >= elements) return;
    buffer = Buffer();  // freed first, as memory may not hold both
    buffer = make_unfilled<Buffer>(exec, "Strata::GaussJordan::work", elements);
  }

  /// Columns of a stripe: wide enough for its product to be bound by
  /// arithmetic, and not so wide that its panels' own products, of `width`
  /// columns, weigh.
  int stripe_for(std::int64_t rows) const {
    if (options_.stripe > 0) return options_.stripe;
    if (!is_gpu<ExecutionSpace>) return 128;
    return rows <= 2048 ? 128 : 256;
  }

  /// Fills the workspace with [A | b] or [A | identity]. Waits.
  /// @param room columns that there has to be room for beside these
  /// @throws NotFiniteError
  void copy_in(const ExecutionSpace& exec, const StridedBlock& A,
               const MultiVectorRef<const Scalar>& b, const Sizes& size,
               std::int64_t room = 0) {
    if (!elimination_ || size.rows > max_rows_ ||
        stripe_ != stripe_for(size.rows)) {
      // First, so that both need not fit; and without it there are no rows.
      elimination_.reset();
      const std::int64_t most =
          std::max(std::exchange(max_rows_, 0), size.rows);
      stripe_ = stripe_for(size.rows);
      elimination_ =
          std::make_unique<Elimination>(exec, most, stripe_, by_lapack());
      max_rows_ = most;
    }
    ld_ = leading_dimension(size.rows);
    const std::int64_t columns = size.columns + size.further;
    reserve(exec, work_, ld_ * (columns + room));
    const DenseInspection found = inspect_elements(
        "Strata::GaussJordan::copy_in", exec, size.rows, columns,
        CopyIn<Scalar>{multi_vector_ref<const Scalar>(A), b, work_ref(),
                       size.columns},
        by_lapack());
    require_finite_input(found, size.rows, size.columns);
  }

  /// Computes the solution, from the right-hand sides that stand in its place.
  void find_solution(const ExecutionSpace& exec, const Ref& solution,
                     const Sizes& size) {
    if constexpr (has_lapack<ExecutionSpace>) {
      if (by_lapack()) {
        sweep(exec, size.rows, size.columns, 0, least_pivot());
        require_regular(swept(exec));
        return lapack_.solve(work_ref(), solution, size.rows, size.further);
      }
    }
    sweep(exec, size.rows, size.columns, size.further, least_pivot());
    solve_upper(exec, work_ref(), solution, size.rows, size.further);
    require_regular(swept(exec));
  }

  bool by_lapack() const {
    return has_lapack<ExecutionSpace> && options_.use_lapack;
  }
  /// The tolerance of solutions and inverses.
  double least_pivot() const { return std::max(options_.tolerance, 0.0); }

  /// The sweep down of the workspace, as Elimination::sweep.
  void sweep(const ExecutionSpace& exec, std::int64_t rows,
             std::int64_t columns, std::int64_t further, double tolerance) {
    if constexpr (has_lapack<ExecutionSpace>) {
      if (by_lapack()) {
        const ProfilingRegion region("Strata::Dense::lapack");
        return lapack_.sweep(work_ref(), rows, columns, further, tolerance);
      }
    }
    elimination_->sweep(exec, work_ref(), rows, columns, further, tolerance);
  }
  /// The pivots that the sweep down has found. Waits for exec.
  Pivots swept(const ExecutionSpace& exec) const {
    return by_lapack() ? lapack_.pivots() : elimination_->pivots(exec);
  }
  /// B = U^-1 B.
  void solve_upper(const ExecutionSpace& exec, const Ref& u, const Ref& b,
                   std::int64_t rows, std::int64_t columns) const {
    solve_triangle<Uplo::upper>(exec, u, b, rows, columns, by_lapack());
  }

  void require_finite(const ExecutionSpace& exec, const Ref& a,
                      std::int64_t rows, std::int64_t columns) {
    if constexpr (has_lapack<ExecutionSpace>) {
      if (by_lapack() && lapack_.is_finite(a, rows, columns)) return;
    }
    const DenseInspection found =
        inspect_elements("Strata::GaussJordan::inspect", exec, rows, columns,
                         Inspect<Scalar>{a}, by_lapack());
    require_finite_result(found, rows);
  }

  void copy_out(const ExecutionSpace& exec, const Ref& from,
                const MultiVectorRef<Scalar>& to, const Sizes& size,
                const int* column_of) const {
    for_elements("Strata::GaussJordan::copy_out", exec, size.rows, size.further,
                 CopyOut<Scalar>{from, to, column_of}, by_lapack());
  }

  /// Sweeps up, and writes the result into A.
  void finish_reduction(const ExecutionSpace& exec, const StridedBlock& A,
                        const Sizes& size, std::int64_t candidates,
                        const Pivots& pivots) {
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
      number = to_device<int, Memory>("Strata::Dense::numbers", numbers);
      const auto columns =
          to_device<int, Memory>("Strata::Dense::columns", list);
      const std::int64_t ld = leading_dimension(rank);
      reserve(exec, spare_, ld * size.columns);
      upper = Ref{spare_.data(), ld};
      rest = upper.from(0, rank);
      for_each_index(
          "Strata::GaussJordan::gather", exec, rank * size.columns,
          GatherColumns<Scalar>{work_ref(), upper, columns.data(), rank});
      exec.fence();
    }
    if (rank > 0 && others > 0) {
      solve_upper(exec, upper, rest, rank, others);
      require_finite(exec, rest, rank, others);
    }
    if (size.rows > rank && size.columns > candidates)
      require_finite(exec, work_ref().from(rank, candidates), size.rows - rank,
                     size.columns - candidates);
    const auto to = multi_vector_ref<Scalar>(A);
    for_elements("Strata::GaussJordan::write", exec, size.rows, size.columns,
                 WriteEchelon<Scalar>{rest, work_ref(), to, rank, candidates,
                                      number.data()});
    exec.fence();
  }

  GaussJordanOptions options_;
  std::unique_ptr<Elimination> elimination_;
  LapackElimination<Scalar, Memory> lapack_;
  std::int64_t max_rows_ = 0, ld_ = 0;
  int stripe_ = 0;
  Buffer work_, spare_;
};

}  // namespace Detail

template <class Scalar, class ExecutionSpace>
void GaussJordan<Scalar, ExecutionSpace>::check_options() const {
  Detail::check_gauss_jordan_options(options_);
}

template <class Scalar, class ExecutionSpace>
Detail::GaussJordanState<Scalar, ExecutionSpace>&
GaussJordan<Scalar, ExecutionSpace>::workspace() {
  if (!state_)
    state_ = {new State(options_), [](State* state) { delete state; }};
  return *state_;
}

template <class Scalar, class ExecutionSpace>
RowEchelonForm GaussJordan<Scalar, ExecutionSpace>::reduce_strided(
    const ExecutionSpace& exec, const Detail::StridedBlock& A) {
  return Detail::with_memory_errors("a reduction to row echelon form", [&] {
    return workspace().reduce_in_place(exec, A);
  });
}

template <class Scalar, class ExecutionSpace>
void GaussJordan<Scalar, ExecutionSpace>::solve_strided(
    const ExecutionSpace& exec, const Detail::StridedBlock& A,
    const Detail::StridedBlock& b, const Detail::StridedBlock& x) {
  Detail::with_memory_errors("the solution of a dense system", [&] {
    workspace().solve_by_elimination(exec, A, b, x);
  });
}

template <class Scalar, class ExecutionSpace>
void GaussJordan<Scalar, ExecutionSpace>::invert_strided(
    const ExecutionSpace& exec, const Detail::StridedBlock& A,
    const Detail::StridedBlock& X) {
  Detail::with_memory_errors("the inverse of a dense matrix", [&] {
    workspace().invert_by_elimination(exec, A, X);
  });
}

template <class Scalar, class ExecutionSpace>
std::size_t GaussJordan<Scalar, ExecutionSpace>::workspace_bytes() const {
  return state_ ? state_->bytes() : 0;
}

}  // namespace Strata

#endif
