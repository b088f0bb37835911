// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_INCOMPLETE_LU_HPP
#define STRATA_INCOMPLETE_LU_HPP

#include <KokkosSparse_CrsMatrix.hpp>
#include <Strata_Triangle.hpp>
#include <algorithm>
#include <core/interface/Expectations.hpp>
#include <core/matrix/KernelsCompat.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/FactorChecks.hpp>
#include <vector>

namespace Strata {

/// Factors of a zero-fill incomplete factorisation: (L U)_ij = a_ij wherever A
/// stores an entry. L has the ones of its diagonal stored, as the last entry of
/// each row; U has its diagonal as the first. Rows are sorted.
template <class CrsMatrix>
struct IncompleteLu {
  CrsMatrix L, U;
};

namespace Detail {

/// Rows in an order in which they can be eliminated, in steps of rows that do
/// not depend on each other.
template <class Ordinal>
struct EliminationSteps {
  std::vector<Ordinal> order, step_start;
  std::int64_t longest_step = 0;
};

/// Level sets of L, each cut into steps of at most `rows_at_once` rows. Works
/// on the host, as Kokkos Kernels' symbolic phase does. Cost: one pass over the
/// entries.
template <class CrsMatrix>
auto elimination_steps(const CrsMatrix& L, std::int64_t rows_at_once) {
  using Ordinal = typename MatrixTypes<CrsMatrix>::Ordinal;
  const auto row_map =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), L.graph.row_map);
  const auto entries =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), L.graph.entries);
  const auto rows = static_cast<std::size_t>(L.numRows());
  std::vector<Ordinal> level(rows), level_start(1, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    Ordinal deepest = 0;
    for (auto k = row_map(row); k + 1 < row_map(row + 1); ++k)
      deepest = std::max<Ordinal>(deepest, level[entries(k)] + 1);
    level[row] = deepest;
    if (static_cast<std::size_t>(deepest) + 1 == level_start.size())
      level_start.push_back(0);
    ++level_start[deepest + 1];
  }
  for (std::size_t l = 1; l < level_start.size(); ++l)
    level_start[l] += level_start[l - 1];

  EliminationSteps<Ordinal> steps;
  for (std::size_t l = 0; l + 1 < level_start.size(); ++l)
    for (std::int64_t row = level_start[l]; row < level_start[l + 1];
         row += rows_at_once)
      steps.step_start.push_back(static_cast<Ordinal>(row));
  steps.step_start.push_back(static_cast<Ordinal>(rows));
  for (std::size_t s = 1; s < steps.step_start.size(); ++s)
    steps.longest_step = std::max<std::int64_t>(
        steps.longest_step, steps.step_start[s] - steps.step_start[s - 1]);
  steps.order.resize(rows);
  for (std::size_t row = 0; row < rows; ++row)
    steps.order[level_start[level[row]]++] = static_cast<Ordinal>(row);
  return steps;
}

/// Copies a host vector to the beginning of a view.
template <class View, class T>
void copy_to_front(const View& view, const std::vector<T>& from) {
  Kokkos::deep_copy(
      Kokkos::subview(view, Kokkos::make_pair(std::size_t{0}, from.size())),
      Kokkos::View<const T*, Kokkos::HostSpace,
                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>(from.data(),
                                                            from.size()));
}

/// See incomplete_lu.
template <class CrsMatrix>
IncompleteLu<OwningCrsMatrix<CrsMatrix>> factor_incompletely(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    std::int64_t work_bytes) {
  using Types = MatrixTypes<CrsMatrix>;
  using Ordinal = typename Types::Ordinal;
  using Memory = typename Types::MemorySpace;
  using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<
      typename Types::Offset, Ordinal, typename Types::Scalar,
      typename Types::ExecutionSpace, Memory, Memory>;
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible;

  const auto rows = static_cast<std::int64_t>(A.numRows());
  check_square_matrix(exec, A);
  raise_factor_faults<CrsMatrix>(
      "Strata::IncompleteLu::check::input", exec, rows,
      FactorInputCheck<CrsMatrix>{A.graph.row_map, A.graph.entries, A.values});
  using Factor = OwningCrsMatrix<CrsMatrix>;
  IncompleteLu<Factor> factors{triangle_of(exec, A, Uplo::lower),
                               triangle_of(exec, A, Uplo::upper)};
  if (rows == 0) return factors;
  Factor &L = factors.L, &U = factors.U;
  const auto longest = static_cast<std::int64_t>(std::max(L.nnz(), U.nnz()));
  if (longest > static_cast<std::int64_t>(std::numeric_limits<Ordinal>::max()))
    throw IndexOverflowError(
        "A",
        std::to_string(longest) +
            " entries of a factor do not fit the ordinal type of the matrix",
        "use a wider ordinal type");

  if (work_bytes == 0) work_bytes = std::int64_t{on_host ? 1 : 4} << 30;
  const auto steps = elimination_steps(
      L, std::max<std::int64_t>(
             on_host ? typename CrsMatrix::execution_space().concurrency() : 1,
             work_bytes / (rows * static_cast<std::int64_t>(sizeof(Ordinal)))));
  const auto num_steps = static_cast<std::int64_t>(steps.step_start.size()) - 1;

  Handle handle;
  handle.create_spiluk_handle(
      KokkosSparse::Experimental::SPILUKAlgorithm::SEQLVLSCHD_TP1, rows,
      L.nnz(), U.nnz());
  auto& spiluk = *handle.get_spiluk_handle();
  copy_to_front(spiluk.get_level_idx(), steps.order);
  copy_to_front(spiluk.get_level_ptr(), steps.step_start);
  spiluk.set_num_levels(num_steps);
  spiluk.set_level_maxrows(steps.longest_step);
  // Teams of the usual size would idle on the short rows of most matrices.
  spiluk.set_team_size(on_host ? 1 : longest > 64 * rows ? 128 : 32);
  fill_later_spiluk_parts(spiluk, num_steps, steps.longest_step, rows, 0);
  spiluk.set_symbolic_complete();

  exec.fence();
  run_spiluk_numeric(handle, A.graph.row_map, A.graph.entries, A.values,
                     L.graph.row_map, L.graph.entries, L.values,
                     U.graph.row_map, U.graph.entries, U.values);
  typename Types::ExecutionSpace().fence();
  handle.destroy_spiluk_handle();

  raise_factor_faults<CrsMatrix>("Strata::IncompleteLu::check::factors", exec,
                                 rows, FactorOutputCheck<CrsMatrix>{A, L, U});
  return factors;
}

}  // namespace Detail

/// Zero-fill incomplete LU of a square matrix with sorted rows and a complete,
/// non-zero diagonal, through Kokkos Kernels' spiluk_numeric.
///
/// spiluk_symbolic is not called: with no fill, L and U have the pattern of A,
/// and it would have the numeric phase hold (rows of the largest level set) x
/// (rows) integers, 30 GB for a 7-point grid of 100^3 points. Instead the
/// levels are cut into steps for which that array stays within `work_bytes` (0:
/// 1 GiB on a host, 4 GiB on a device), or a row a thread, or one row, if those
/// exceed it. Each step is a kernel.
///
/// Waits for `exec`, works on the default instance of its space, and returns
/// when both factors are complete. A is not changed; it may be const-valued or
/// unmanaged, and the factors have memory of their own.
/// Raises NotSquareError, SizeMismatchError, RowMapError, ColumnRangeError,
/// UnsortedRowError, DuplicateEntryError, MissingDiagonalError,
/// ZeroDiagonalError, IndexOverflowError where the ordinal type can't number
/// the entries of a factor, FactorizationError for a pivot that becomes zero or
/// a value that is not finite, and MemoryError.
template <class CrsMatrix>
IncompleteLu<OwningCrsMatrix<CrsMatrix>> incomplete_lu(
    const typename CrsMatrix::execution_space& exec, const CrsMatrix& A,
    std::int64_t work_bytes = 0) {
  if constexpr (!Detail::ExpectScalar<
                    typename Detail::MatrixTypes<CrsMatrix>::Scalar>::value) {
    return {};
  } else {
    return Detail::with_memory_errors("incomplete factors", [&] {
      return Detail::factor_incompletely(exec, A, work_bytes);
    });
  }
}

}  // namespace Strata

#endif
