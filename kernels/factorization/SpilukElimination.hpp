// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_SPILUK_ELIMINATION_HPP
#define STRATA_KERNELS_FACTORIZATION_SPILUK_ELIMINATION_HPP

#include <algorithm>
#include <core/matrix/FindColumn.hpp>
#include <core/matrix/IndicesAs.hpp>
#include <core/matrix/SpilukCompat.hpp>
#include <core/matrix/TriangleImplementation.hpp>
#include <core/scalar/Modulus.hpp>
#include <limits>
#include <vector>

namespace Strata {
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
template <class RowMap, class Entries>
auto elimination_steps(const RowMap& row_map_of_l, const Entries& entries_of_l,
                       std::int64_t rows_at_once) {
  using Ordinal = typename Entries::non_const_value_type;
  const auto row_map =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), row_map_of_l);
  const auto entries =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), entries_of_l);
  const std::size_t rows = row_map.extent(0) - 1;
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

/// Has Kokkos Kernels fill in the values of L and U, whose patterns are those
/// of A's triangles, with indices that can count all entries. Works on the
/// default instance.
///
/// spiluk_symbolic is not called: with no fill, L and U have the pattern of A,
/// and it would have the numeric phase hold (rows of the largest level set) x
/// (rows) integers. Instead the levels are cut into steps for which that array
/// stays within `work_bytes`, or one row, if that exceeds it. Each step is a
/// kernel.
template <class Index, class Scalar, class ExecutionSpace>
void run_spiluk(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                const NewTriangle<Scalar>& new_l,
                const NewTriangle<Scalar>& new_u, std::int64_t work_bytes) {
  using Memory = typename ExecutionSpace::memory_space;
  using Handle = KokkosKernels::Experimental::KokkosKernelsHandle<
      Index, Index, Scalar, ExecutionSpace, Memory, Memory>;
  using Device = DeviceOf<ExecutionSpace>;
  using Offsets = Kokkos::View<const Index*, Device>;
  using Columns = Kokkos::View<Index*, Device>;
  using Values = Kokkos::View<Scalar*, Device>;
  const std::int64_t rows = A.rows();
  const CrsArrays<Scalar>&L = new_l.arrays, &U = new_u.arrays;
  const auto longest =
      static_cast<std::int64_t>(std::max(L.num_values, U.num_values));
  Offsets a_rows = indices_as<Index>(exec, A.row_map),
          l_rows = indices_as<Index>(exec, L.row_map),
          u_rows = indices_as<Index>(exec, U.row_map);
  Columns a_columns = indices_as<Index>(exec, A.entries),
          l_columns = indices_as<Index>(exec, L.entries),
          u_columns = indices_as<Index>(exec, U.entries);
  Kokkos::View<const Scalar*, Device> a_values(A.values, A.num_values);
  Values l_values(new_l.values, L.num_values),
      u_values(new_u.values, U.num_values);

  const auto steps = elimination_steps(
      l_rows, l_columns,
      std::max<std::int64_t>(
          1, work_bytes / (rows * static_cast<std::int64_t>(sizeof(Index)))));
  const auto num_steps = static_cast<std::int64_t>(steps.step_start.size()) - 1;

  Handle handle;
  handle.create_spiluk_handle(
      KokkosSparse::Experimental::SPILUKAlgorithm::SEQLVLSCHD_TP1,
      static_cast<Index>(rows), static_cast<Index>(L.num_values),
      static_cast<Index>(U.num_values));
  auto& spiluk = *handle.get_spiluk_handle();
  copy_to_front(spiluk.get_level_idx(), steps.order);
  copy_to_front(spiluk.get_level_ptr(), steps.step_start);
  spiluk.set_num_levels(num_steps);
  spiluk.set_level_maxrows(steps.longest_step);
  // Teams of the usual size would idle on the short rows of most matrices.
  spiluk.set_team_size(!is_gpu<ExecutionSpace> ? 1
                       : longest > 64 * rows   ? 128
                                               : 32);
  fill_later_spiluk_parts(spiluk, num_steps, steps.longest_step, rows, 0);
  spiluk.set_symbolic_complete();

  exec.fence();
  run_spiluk_numeric(handle, a_rows, a_columns, a_values, l_rows, l_columns,
                     l_values, u_rows, u_columns, u_values);
  ExecutionSpace().fence();
  handle.destroy_spiluk_handle();
}

/// Whether spiluk stored its number for a lost pivot, 1e6, in a row of U: the
/// pivot is worked out again where U has that number on its diagonal. Makes
/// such pivots zero.
template <class Scalar>
struct RestoreLostPivots {
  CrsArrays<Scalar> A, L, U;
  Scalar* u_values;

  KOKKOS_INLINE_FUNCTION Scalar entry(const CrsArrays<Scalar>& matrix,
                                      std::int64_t row,
                                      std::int64_t column) const {
    const std::int64_t k = first_entry_from(matrix, row, column);
    return k < matrix.row_map(row + 1) && matrix.entries(k) == column
               ? matrix.values[k]
               : Scalar(0);
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row) const {
    const Scalar stand_in(1e6);
    if (!(U.values[U.row_map(row)] == stand_in)) return;
    Scalar pivot = entry(A, row, row);
    const std::int64_t end = L.row_map(row + 1);
    for (std::int64_t k = L.row_map(row); k + 1 < end; ++k)
      pivot -= L.values[k] * entry(U, L.entries(k), row);
    // Rounding moves a pivot of zero, but not half of the way to 1e6.
    if (modulus(pivot - stand_in) > 0.5e6) u_values[U.row_map(row)] = Scalar(0);
  }
};

template <class Scalar, class ExecutionSpace>
void eliminate_by_spiluk(const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
                         const NewTriangle<Scalar>& L,
                         const NewTriangle<Scalar>& U,
                         std::int64_t work_bytes) {
  constexpr std::size_t largest_int = std::numeric_limits<int>::max();
  if (A.num_values > largest_int ||
      A.entries.bytes_of_one() == sizeof(std::int64_t))
    run_spiluk<std::int64_t>(exec, A, L, U, work_bytes);
  else
    run_spiluk<int>(exec, A, L, U, work_bytes);
  Kokkos::parallel_for(
      "Strata::IncompleteLu::pivots",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, A.rows()),
      RestoreLostPivots<Scalar>{A, L.arrays, U.arrays, U.values});
  exec.fence();
}

}  // namespace Detail
}  // namespace Strata

#endif
