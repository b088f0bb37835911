// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_DENSE_COPIES_HPP
#define STRATA_KERNELS_DENSE_DENSE_COPIES_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <core/device/Backend.hpp>
#include <core/lapack/Lapack.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <cstdint>
#include <kernels/dense/DenseRef.hpp>
#include <limits>
#include <type_traits>

namespace Strata {
namespace Detail {

/// What inspect_elements finds if all elements are finite.
inline constexpr std::int64_t nowhere =
    std::numeric_limits<std::int64_t>::max();

/// Copies [a | b], or [a | identity] where b has no memory, into `to` and looks
/// at all values.
template <class Scalar>
struct CopyIn {
  MultiVectorRef<const Scalar> a, b;
  DenseRef<Scalar> to;
  std::int64_t a_columns;

  template <class Index>
  KOKKOS_INLINE_FUNCTION bool operator()(Index i, Index j) const {
    const Scalar value =
        static_cast<std::int64_t>(j) < a_columns ? a(i, j)
        : b.data                                 ? b(i, j - a_columns)
                 : Scalar(static_cast<std::int64_t>(i) + a_columns ==
                                  static_cast<std::int64_t>(j)
                              ? 1
                              : 0);
    to(i, j) = value;
    return is_finite(value);
  }
};

/// The largest sum of magnitudes of a column; a column a team, so that the sum
/// is the same from run to run.
template <class Scalar, class ExecutionSpace>
struct LargestColumnSum {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  DenseRef<Scalar> a;
  int rows;

  KOKKOS_FUNCTION void operator()(const Member& team, double& largest) const {
    const std::int64_t column = team.league_rank();
    double sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(team, rows),
        [&](int i, double& part) { part += one_norm(a(i, column)); }, sum);
    if (sum > largest) largest = sum;
  }
};

/// The largest sum of magnitudes of a column, the 1-norm. Waits for exec.
template <class Scalar, class ExecutionSpace>
double largest_column_sum(const ExecutionSpace& exec, const DenseRef<Scalar>& a,
                          std::int64_t rows, std::int64_t columns) {
  using Sum = LargestColumnSum<Scalar, ExecutionSpace>;
  double largest = 0;
  if (columns == 0) return largest;
  Kokkos::parallel_reduce(
      "Strata::Dense::LargestColumnSum",
      typename Sum::Policy(exec, static_cast<int>(columns),
                           is_gpu<ExecutionSpace> ? 128 : 1),
      Sum{a, static_cast<int>(rows)}, Kokkos::Max<double>(largest));
  exec.fence();
  return largest;
}

/// Whether an element of a matrix is finite.
template <class Scalar>
struct Inspect {
  DenseRef<Scalar> a;

  template <class Index>
  KOKKOS_INLINE_FUNCTION bool operator()(Index i, Index j) const {
    return is_finite(a(i, j));
  }
};

/// Copies rows x columns, column j to column column_of[j] if there is such a
/// list.
template <class Scalar>
struct CopyOut {
  DenseRef<Scalar> from;
  MultiVectorRef<Scalar> to;
  const int* column_of;

  template <class Index>
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    to(i, column_of ? static_cast<Index>(column_of[j]) : j) = from(i, j);
  }
};

/// Writes the reduced row echelon form: unit columns where pivots are, and the
/// columns of `rest`, rank x (others), in between. Below the rank zeros, and
/// what elimination left in the columns of right-hand sides, `candidates` and
/// up. Number of a column: that of its pivot, or -1 less its place in `rest`;
/// without numbers, the pivots come first.
template <class Scalar>
struct WriteEchelon {
  DenseRef<Scalar> rest, eliminated;
  MultiVectorRef<Scalar> to;
  std::int64_t rank, candidates;
  const int* number;

  template <class Index>
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    const std::int64_t n = number ? static_cast<std::int64_t>(number[j])
                           : static_cast<std::int64_t>(j) < rank
                               ? static_cast<std::int64_t>(j)
                               : rank - 1 - static_cast<std::int64_t>(j);
    Scalar value(0);
    if (n >= 0)
      value = Scalar(static_cast<std::int64_t>(i) == n ? 1 : 0);
    else if (static_cast<std::int64_t>(i) < rank)
      value = rest(i, -1 - n);
    else if (static_cast<std::int64_t>(j) >= candidates)
      value = eliminated(i, j);
    // No negative zeros.
    to(i, j) = value + Scalar(0);
  }
};

/// Calls visit(i, j) for the elements of a matrix, which are numbered by
/// columns: a device's threads have one each.
template <class Visit, class Index>
struct ByElements {
  static constexpr bool by_columns = false;
  Visit visit;
  Index rows, columns;

  KOKKOS_INLINE_FUNCTION void operator()(Index k) const {
    const Index j = k / rows;
    visit(k - j * rows, j);
  }
  /// The first element for which `visit` is false.
  KOKKOS_INLINE_FUNCTION void operator()(Index k, std::int64_t& found) const {
    const Index j = k / rows;
    if (!visit(k - j * rows, j) && static_cast<std::int64_t>(k) < found)
      found = static_cast<std::int64_t>(k);
  }
};

/// The same on a host, whose threads take some columns at once if there are
/// enough: those that share a cache line where rows adjoin.
template <class Visit, class Index>
struct ByColumns {
  static constexpr bool by_columns = true;
  Visit visit;
  Index rows, columns, at_once = 1;
  void operator()(Index k) const {
    each(k, [&](Index i, Index j) { visit(i, j); });
  }
  void operator()(Index k, std::int64_t& found) const {
    each(k, [&](Index i, Index j) {
      if (!visit(i, j))
        found = std::min(found, static_cast<std::int64_t>(i + j * rows));
    });
  }

 private:
  template <class Work>
  void each(Index k, const Work& work) const {
    const Index end = std::min(columns, static_cast<Index>((k + 1) * at_once));
    for (Index i = 0; i < rows; ++i)
      for (Index j = k * at_once; j < end; ++j) work(i, j);
  }
};

/// Calls run(policy, functor) for the elements of rows x columns, with indices
/// of 32 bits where they do: dividing these is several times faster.
template <class ExecutionSpace, class Visit, class Run>
void with_elements(const ExecutionSpace& exec, std::int64_t rows,
                   std::int64_t columns, const Visit& visit, const Run& run) {
  const auto with = [&](auto index) {
    using Index = decltype(index);
    using Functor =
        std::conditional_t<is_gpu<ExecutionSpace>, ByElements<Visit, Index>,
                           ByColumns<Visit, Index>>;
    Functor functor;
    functor.visit = visit;
    functor.rows = static_cast<Index>(rows);
    functor.columns = static_cast<Index>(columns);
    std::int64_t count = rows * columns;
    if constexpr (Functor::by_columns) {
      constexpr std::int64_t of_line = 8;
      if (columns >= of_line * exec.concurrency()) functor.at_once = of_line;
      count = (columns + functor.at_once - 1) / functor.at_once;
    }
    run(Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(
            exec, Index(0), static_cast<Index>(count)),
        functor);
  };
  if (rows * columns < INT32_MAX)
    with(std::uint32_t());
  else
    with(std::uint64_t());
}
/// Whether the calling thread loops over the elements of rows x columns.
template <class ExecutionSpace>
bool is_callers(std::int64_t rows, std::int64_t columns, bool beside_lapack) {
  return is_left_to_caller<ExecutionSpace>(rows * columns) ||
         (beside_lapack &&
          is_left_beside_lapack<ExecutionSpace>(rows * columns));
}
/// @param beside_lapack see is_left_beside_lapack
template <class ExecutionSpace, class Visit>
void for_elements(const char* label, const ExecutionSpace& exec,
                  std::int64_t rows, std::int64_t columns, const Visit& visit,
                  bool beside_lapack = false) {
  const bool by_caller =
      is_callers<ExecutionSpace>(rows, columns, beside_lapack);
  with_elements(exec, rows, columns, visit,
                [&](const auto& policy, const auto& functor) {
                  if (by_caller)
                    for (auto i = policy.begin(); i < policy.end(); ++i)
                      functor(i);
                  else
                    Kokkos::parallel_for(label, policy, functor);
                });
}
/// The place i + j * rows of the first element for which visit(i, j) is false,
/// or `nowhere`. Waits for exec. @param beside_lapack see is_callers
template <class ExecutionSpace, class Visit>
std::int64_t inspect_elements(const char* label, const ExecutionSpace& exec,
                              std::int64_t rows, std::int64_t columns,
                              const Visit& visit, bool beside_lapack = false) {
  std::int64_t found = nowhere;
  const bool by_caller =
      is_callers<ExecutionSpace>(rows, columns, beside_lapack);
  with_elements(exec, rows, columns, visit,
                [&](const auto& policy, const auto& functor) {
                  if (by_caller)
                    for (auto i = policy.begin(); i < policy.end(); ++i)
                      functor(i, found);
                  else
                    Kokkos::parallel_reduce(label, policy, functor,
                                            Kokkos::Min<std::int64_t>(found));
                });
  exec.fence();
  return found;
}

}  // namespace Detail
}  // namespace Strata

#endif
