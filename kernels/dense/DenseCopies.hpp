// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_DENSE_COPIES_HPP
#define STRATA_KERNELS_DENSE_DENSE_COPIES_HPP

#include <Strata_Error.hpp>
#include <core/device/Backend.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <cstdint>
#include <kernels/dense/DenseRef.hpp>

namespace Strata {
namespace Detail {

/// What is to be known of a dense matrix before it is worked on.
struct DenseInspection {
  static constexpr std::int64_t nowhere = INT64_MAX;
  /// Place i + j * rows of the first value that is not finite.
  std::int64_t not_finite = nowhere;
};

struct JoinInspections {
  using value_type = DenseInspection;
  KOKKOS_INLINE_FUNCTION void init(DenseInspection& value) const {
    value = DenseInspection();
  }
  KOKKOS_INLINE_FUNCTION void join(DenseInspection& into,
                                   const DenseInspection& from) const {
    join_parts(into, from);
  }
  // Kokkos before 4.0 joins in shared memory.
  KOKKOS_INLINE_FUNCTION void join(volatile DenseInspection& into,
                                   const volatile DenseInspection& from) const {
    join_parts(into, from);
  }

 private:
  template <class Into, class From>
  KOKKOS_INLINE_FUNCTION static void join_parts(Into& into, From& from) {
    if (from.not_finite < into.not_finite) into.not_finite = from.not_finite;
  }
};

/// Copies [a | b], or [a | identity] where b has no memory, into `to` and looks
/// at all values on the way.
template <class Scalar, class Index>
struct CopyIn : JoinInspections {
  MultiVectorRef<const Scalar> a, b;
  DenseRef<Scalar> to;
  Index rows, a_columns;

  KOKKOS_INLINE_FUNCTION void operator()(Index k,
                                         DenseInspection& found) const {
    const Index j = k / rows, i = k - j * rows;
    const Scalar value = j < a_columns ? a(i, j)
                         : b.data      ? b(i, j - a_columns)
                                       : Scalar(i == j - a_columns ? 1 : 0);
    to(i, j) = value;
    if (!is_finite_value(value) &&
        static_cast<std::int64_t>(k) < found.not_finite)
      found.not_finite = static_cast<std::int64_t>(k);
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
        [&](int i, double& part) { part += magnitude(a(i, column)); }, sum);
    if (sum > largest) largest = sum;
  }
};

/// The norm that belongs to sums of columns. Waits for exec.
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

/// Looks at rows x (some columns) of a matrix.
template <class Scalar, class Index>
struct Inspect : JoinInspections {
  DenseRef<Scalar> a;
  Index rows;

  KOKKOS_INLINE_FUNCTION void operator()(Index k,
                                         DenseInspection& found) const {
    const Index j = k / rows, i = k - j * rows;
    if (!is_finite_value(a(i, j)) &&
        static_cast<std::int64_t>(k) < found.not_finite)
      found.not_finite = static_cast<std::int64_t>(k);
  }
};

/// Copies rows x columns, column j to column column_of[j] if there is such a
/// list.
template <class Scalar, class Index>
struct CopyOut {
  DenseRef<Scalar> from;
  MultiVectorRef<Scalar> to;
  Index rows;
  const int* column_of;

  KOKKOS_INLINE_FUNCTION void operator()(Index k) const {
    const Index j = k / rows, i = k - j * rows;
    to(i, column_of ? static_cast<Index>(column_of[j]) : j) = from(i, j);
  }
};

/// Writes the reduced row echelon form: unit columns where pivots are, and the
/// columns of `rest`, rank x (others), in between. Below the rank zeros, and
/// what elimination left in the columns of right-hand sides, `candidates` and
/// up. Number of a column: that of its pivot, or -1 less its place in `rest`;
/// without numbers, the pivots come first.
template <class Scalar, class Index>
struct WriteEchelon {
  DenseRef<Scalar> rest, eliminated;
  MultiVectorRef<Scalar> to;
  Index rows, rank, candidates;
  const int* number;

  KOKKOS_INLINE_FUNCTION void operator()(Index k) const {
    const Index j = k / rows, i = k - j * rows;
    const std::int64_t n = number     ? static_cast<std::int64_t>(number[j])
                           : j < rank ? static_cast<std::int64_t>(j)
                                      : static_cast<std::int64_t>(rank) - 1 -
                                            static_cast<std::int64_t>(j);
    Scalar value(0);
    if (n >= 0)
      value = Scalar(static_cast<std::int64_t>(i) == n ? 1 : 0);
    else if (i < rank)
      value = rest(i, -1 - n);
    else if (j >= candidates)
      value = eliminated(i, j);
    // No negative zeros.
    to(i, j) = value + Scalar(0);
  }
};

/// Calls work(Index()) with a type that holds `count`: dividing 32-bit numbers
/// is several times faster.
template <class Work>
void with_index_type(std::int64_t count, const Work& work) {
  if (count < INT32_MAX)
    work(std::uint32_t());
  else
    work(std::uint64_t());
}

template <class Index, class ExecutionSpace>
auto index_range(const ExecutionSpace& exec, std::int64_t count) {
  return Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(
      exec, Index(0), static_cast<Index>(count));
}

}  // namespace Detail
}  // namespace Strata

#endif
