// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_DENSE_COPIES_HPP
#define STRATA_KERNELS_DENSE_DENSE_COPIES_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <core/device/Backend.hpp>
#include <core/device/NotReady.hpp>
#include <core/lapack/Lapack.hpp>
#include <core/matrix/MultiVectorRef.hpp>
#include <cstdint>
#include <kernels/dense/DenseRef.hpp>
#include <type_traits>

namespace Strata {
namespace Detail {

/// What the check of a dense matrix finds.
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

/// Whether `count` elements that adjoin are finite: what is not finite less
/// itself is a NaN, and so is each sum with it. A host adds up several at once.
template <class Scalar>
bool are_finite(const Scalar* first, std::int64_t count) {
  using Real = RealOf<Scalar>;
  constexpr int at_once = 8;
  const Real* const part = reinterpret_cast<const Real*>(first);
  const std::int64_t parts =
      count * static_cast<std::int64_t>(sizeof(Scalar) / sizeof(Real));
  Real sum[at_once];
  for (int k = 0; k < at_once; ++k) sum[k] = 0;
  std::int64_t i = 0;
  for (; i + at_once <= parts; i += at_once)
    for (int k = 0; k < at_once; ++k) sum[k] += part[i + k] - part[i + k];
  for (; i < parts; ++i) sum[0] += part[i] - part[i];
  bool finite = true;
  for (int k = 0; k < at_once; ++k) finite = finite && sum[k] == Real(0);
  return finite;
}

/// Copies rows x columns by a host's thread: by columns where both sides store
/// these, else by rows, of as many columns as a cache line holds.
template <class From, class To>
void copy_columns(const MultiVectorRef<From>& from,
                  const MultiVectorRef<To>& to, std::int64_t rows,
                  std::int64_t columns) {
  if (from.row_stride == 1 && to.row_stride == 1) {
    for (std::int64_t j = 0; j < columns; ++j)
      std::copy(&from(0, j), &from(0, j) + rows, &to(0, j));
    return;
  }
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) to(i, j) = from(i, j);
}

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
  /// Columns begin to end - 1, by a host's thread; false where a value is not
  /// finite.
  bool columns(std::int64_t rows, std::int64_t begin, std::int64_t end) const {
    const std::int64_t middle =
        std::max(begin, std::min<std::int64_t>(end, a_columns));
    const auto place = [this](std::int64_t j) {
      return MultiVectorRef<Scalar>{&to(0, j), 1, to.ld};
    };
    copy_columns(a.from(begin), place(begin), rows, middle - begin);
    if (b.data) {
      copy_columns(b.from(middle - a_columns), place(middle), rows,
                   end - middle);
    } else {
      for (std::int64_t j = middle; j < end; ++j) {
        std::fill(&to(0, j), &to(0, j) + rows, Scalar(0));
        to(j - a_columns, j) = Scalar(1);
      }
    }
    bool finite = true;
    for (std::int64_t j = begin; j < end; ++j)
      finite = are_finite(&to(0, j), rows) && finite;
    return finite;
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
  /// As CopyIn::columns.
  bool columns(std::int64_t rows, std::int64_t begin, std::int64_t end) const {
    bool finite = true;
    for (std::int64_t j = begin; j < end; ++j)
      finite = are_finite(&a(0, j), rows) && finite;
    return finite;
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

/// Whether `Visit` has a function for columns, which a host calls for some at a
/// time.
template <class Visit, class = void>
struct TakesColumns : std::false_type {};
template <class Visit>
struct TakesColumns<Visit, std::void_t<decltype(&Visit::columns)>>
    : std::true_type {};

/// Calls visit(i, j) for the elements of a matrix, which are numbered by
/// columns: a device's threads have one each.
template <class Visit, class Index>
struct ByElements : JoinInspections {
  static constexpr bool by_columns = false;
  Visit visit;
  Index rows, columns;

  KOKKOS_INLINE_FUNCTION void operator()(Index k) const {
    const Index j = k / rows;
    visit(k - j * rows, j);
  }
  /// The first element for which `visit` is false.
  KOKKOS_INLINE_FUNCTION void operator()(Index k,
                                         DenseInspection& found) const {
    const Index j = k / rows;
    if (!visit(k - j * rows, j) &&
        static_cast<std::int64_t>(k) < found.not_finite)
      found.not_finite = static_cast<std::int64_t>(k);
  }
};

/// The same on a host, whose threads take some columns at once where there are
/// enough: those that share a cache line where rows adjoin.
template <class Visit, class Index>
struct ByColumns : JoinInspections {
  static constexpr bool by_columns = true;
  Visit visit;
  Index rows, columns, at_once = 1;

  void operator()(Index k) const {
    if constexpr (TakesColumns<Visit>::value) {
      visit.columns(rows, begin_of(k), end_of(k));
    } else {
      for (Index j = begin_of(k); j < end_of(k); ++j)
        for (Index i = 0; i < rows; ++i) visit(i, j);
    }
  }
  void operator()(Index k, DenseInspection& found) const {
    if (visit.columns(rows, begin_of(k), end_of(k))) return;
    for (Index j = begin_of(k); j < end_of(k); ++j)
      for (Index i = 0; i < rows; ++i)
        if (!visit(i, j))
          found.not_finite = std::min(found.not_finite,
                                      static_cast<std::int64_t>(i + j * rows));
  }

 private:
  Index begin_of(Index k) const { return k * at_once; }
  Index end_of(Index k) const {
    return std::min(columns, static_cast<Index>((k + 1) * at_once));
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
/// Waits for exec. @param beside_lapack see is_callers
template <class ExecutionSpace, class Visit>
DenseInspection inspect_elements(const char* label, const ExecutionSpace& exec,
                                 std::int64_t rows, std::int64_t columns,
                                 const Visit& visit,
                                 bool beside_lapack = false) {
  DenseInspection found;
  const bool by_caller =
      is_callers<ExecutionSpace>(rows, columns, beside_lapack);
  with_elements(exec, rows, columns, visit,
                [&](const auto& policy, const auto& functor) {
                  if (by_caller)
                    for (auto i = policy.begin(); i < policy.end(); ++i)
                      functor(i, found);
                  else
                    Kokkos::parallel_reduce(label, policy, functor, found);
                });
  exec.fence();
  return found;
}

}  // namespace Detail
}  // namespace Strata

#endif
