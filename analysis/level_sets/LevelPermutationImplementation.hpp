// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_LEVEL_SETS_LEVEL_PERMUTATION_IMPLEMENTATION_HPP
#define STRATA_ANALYSIS_LEVEL_SETS_LEVEL_PERMUTATION_IMPLEMENTATION_HPP

#include <Strata_LevelPermutation.hpp>
#include <Strata_TriangleGraph.hpp>
#include <analysis/level_sets/LevelOrder.hpp>
#include <core/matrix/PackValues.hpp>
#include <core/matrix/PatternCheck.hpp>
#include <core/matrix/PermutePattern.hpp>
#include <core/memory/MemoryErrors.hpp>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<LevelPermutations> : std::true_type {};

/// Both edges of a graph of lower triangles and one of transposed upper ones,
/// ascending; an edge of both is there twice, which levels do not mind.
template <class MemorySpace>
struct UniteGraphs {
  DependencyGraph<MemorySpace> a, b, both;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v) const {
    std::int64_t i = a.row_map(v), j = b.row_map(v), k = i + j;
    const std::int64_t i_end = a.row_map(v + 1), j_end = b.row_map(v + 1);
    both.row_map(v) = k;
    if (v + 1 == both.num_vertices) both.row_map(v + 1) = i_end + j_end;
    while (i < i_end || j < j_end) {
      const bool from_a =
          j >= j_end || (i < i_end && a.entries(i) <= b.entries(j));
      both.entries(k++) = from_a ? a.entries(i++) : b.entries(j++);
    }
  }
};

/// Rows of an upper triangle are ordered by the end of the solve, first level
/// last.
template <class MemorySpace>
struct RowsOfOrder {
  Kokkos::View<const int*, MemorySpace> vertex;
  bool reversed;
  Kokkos::View<int*, MemorySpace> old_row, new_row;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t p) const {
    const std::int64_t n = static_cast<std::int64_t>(vertex.extent(0));
    const std::int64_t row = reversed ? n - 1 - vertex(p) : vertex(p);
    const std::int64_t at = reversed ? n - 1 - p : p;
    old_row(at) = static_cast<int>(row);
    new_row(row) = static_cast<int>(at);
  }
};

/// Finds the first new row that is no old one, or whose old row does not lead
/// back to it.
template <class MemorySpace>
struct PermutationCheck {
  Kokkos::View<const int*, MemorySpace> old_row, new_row;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t row,
                                         std::int64_t& first) const {
    const std::int64_t old = old_row(row);
    const bool in_range =
        old >= 0 && old < static_cast<std::int64_t>(new_row.extent(0));
    if (!(in_range && new_row(old) == row) && row < first) first = row;
  }
};

template <class MemorySpace>
Permutation<MemorySpace> new_permutation(std::int64_t n) {
  Permutation<MemorySpace> made;
  make_unfilled(made.old_row, "Strata::Permutation::old_row", n);
  make_unfilled(made.new_row, "Strata::Permutation::new_row", n);
  return made;
}
/// See level_permutation.
template <class ExecutionSpace>
Permutation<typename ExecutionSpace::memory_space> make_level_permutation(
    const ExecutionSpace& exec, const IndexArray& row_map,
    const IndexArray& entries, const StoredValues& values, std::int64_t columns,
    LevelPattern pattern) {
  using Memory = typename ExecutionSpace::memory_space;
  return with_memory_errors("an order of rows by level sets", [&] {
    require_enumerator("pattern", pattern);
    const auto graph_of = [&](Uplo uplo, Op op) {
      TriangleInput input;
      input.uplo = uplo;
      input.diag = Diag::unit;
      input.op = op;
      input.take_triangle = true;
      return triangle_graph(exec, row_map, entries, values, columns, input);
    };
    DependencyGraph<Memory> graph = graph_of(
        pattern == LevelPattern::upper ? Uplo::upper : Uplo::lower, Op::none);
    const std::int64_t n = graph.num_vertices;
    if (pattern == LevelPattern::symmetric && n > 0) {
      const auto other = graph_of(Uplo::upper, Op::transpose);
      DependencyGraph<Memory> both;
      both.num_vertices = graph.num_vertices;
      make_unfilled(both.row_map, "Strata::LevelPermutation::row_map", n + 1);
      make_unfilled(both.entries, "Strata::LevelPermutation::entries",
                    graph.num_edges() + other.num_edges());
      for_each_index("Strata::LevelPermutation::unite", exec, n,
                     UniteGraphs<Memory>{graph, other, both});
      exec.fence();
      graph = both;
    }
    const auto order = order_by_level(exec, graph, WithinLevel::ascending);
    auto permutation = new_permutation<Memory>(n);
    permutation.num_levels = order.num_levels();
    if (n == 0) return permutation;
    for_each_index(
        "Strata::LevelPermutation::rows", exec, n,
        RowsOfOrder<Memory>{order.vertex, graph.reversed, permutation.old_row,
                            permutation.new_row});
    exec.fence();
    return permutation;
  });
}

template <class ExecutionSpace>
void check_permutation_of(
    const ExecutionSpace& exec,
    const Permutation<typename ExecutionSpace::memory_space>& permutation,
    std::int64_t rows) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  const auto check_size = [&](const char* name, std::size_t size) {
    if (static_cast<std::int64_t>(size) != rows)
      throw SizeMismatchError(name,
                              "is of " + std::to_string(size) +
                                  " rows, the matrix has " +
                                  std::to_string(rows),
                              "pass a permutation of the matrix's rows");
  };
  check_size("permutation.old_row", permutation.old_row.extent(0));
  check_size("permutation.new_row", permutation.new_row.extent(0));
  if (rows == 0) return;
  const std::int64_t first = find_first(
      "Strata::check_permutation", exec, 0, rows,
      PermutationCheck<MemorySpace>{permutation.old_row, permutation.new_row});
  if (first >= rows) return;
  const std::int64_t old = fetch_element(permutation.old_row, first);
  const std::string named =
      "new row " + std::to_string(first) + " is old row " + std::to_string(old);
  if (old < 0 || old >= rows)
    throw PermutationError(
        "permutation.old_row",
        named + ", outside [0, " + std::to_string(rows) + ")",
        "name each row once", first, std::to_string(old));
  const std::int64_t back = fetch_element(permutation.new_row, old);
  throw PermutationError(
      "permutation.new_row",
      named + ", which new_row makes row " + std::to_string(back),
      "name each row once, and make both orders each other's inverse", first,
      std::to_string(back));
}

/// See permute_symmetric.
template <class Scalar, class ExecutionSpace>
void make_permuted_matrix(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A,
    const Permutation<typename ExecutionSpace::memory_space>& permutation,
    NewMatrix<Scalar>& made) {
  with_memory_errors("a permuted matrix", [&] {
    using Memory = typename ExecutionSpace::memory_space;
    const std::int64_t rows = A.rows();
    check_square_matrix(exec, A);
    check_permutation_of(exec, permutation, rows);
    const auto source = permute_pattern(exec, A, permutation.old_row.data(),
                                        permutation.new_row.data(), made);
    Scalar* const values =
        made.make_values("Strata::Permuted::values", source.size());
    gather_values(exec, source, A.values,
                  Kokkos::View<Scalar*, Memory>(
                      values, static_cast<std::size_t>(source.size())),
                  false);
    exec.fence();
  });
}

}  // namespace Detail
}  // namespace Strata

#endif
