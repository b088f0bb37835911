// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_TriangleGraph.hpp>

#include "TriangularPatterns.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Graph = DependencyGraph<Kokkos::HostSpace>;

struct Edge {
  int source;
  std::int64_t value_index;
};

/// Edges into each vertex by the definition, and where diagonals stand.
struct Expected {
  std::vector<std::vector<Edge>> into;
  std::vector<std::int64_t> diagonal;

  Expected(const HostMatrix<double>& A, const TriangleInput& input)
      : into(A.rows), diagonal(A.rows, -1) {
    const bool lower = input.uplo == Uplo::lower;
    const bool transposed = input.op != Op::none;
    const auto n = A.rows;
    const auto vertex = [&](std::int64_t row) {
      return static_cast<int>(lower != transposed ? row : n - 1 - row);
    };
    for (std::int64_t i = 0; i < n; ++i)
      for (auto k = A.row_map[i]; k < A.row_map[i + 1]; ++k) {
        const auto j = A.entries[k];
        if (i == j) {
          if (input.diag == Diag::non_unit) diagonal[vertex(i)] = k;
        } else if (lower == (j < i)) {
          into[vertex(transposed ? j : i)].push_back(
              {vertex(transposed ? i : j), k});
        }
      }
    for (auto& edges : into)
      std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) {
        return a.source < b.source;
      });
  }
};

template <class Matrix>
void expect_graph(const HostMatrix<double>& A, const TriangleInput& input) {
  SCOPED_TRACE(std::string(to_string(input.uplo)) + " " +
               to_string(input.diag) + " " + to_string(input.op) + " of " +
               std::to_string(A.rows) + " rows");
  const auto matrix = A.template to_device<Matrix>();
  const Graph graph = mirror_graph(
      Kokkos::HostSpace(),
      triangle_graph(Space(), matrix.graph.row_map, matrix.graph.entries,
                     matrix.values, A.columns, input));
  const Expected expected(A, input);
  ASSERT_EQ(graph.num_vertices, A.rows);
  EXPECT_EQ(graph.reversed,
            (input.uplo == Uplo::lower) == (input.op != Op::none));
  ASSERT_EQ(graph.row_map.extent(0), static_cast<std::size_t>(A.rows) + 1);
  ASSERT_EQ(graph.diagonal_value_index.extent(0),
            static_cast<std::size_t>(A.rows));
  EXPECT_EQ(graph.row_map(0), 0);
  EXPECT_EQ(graph.row_map(A.rows), graph.num_edges());
  for (int v = 0; v < graph.num_vertices; ++v) {
    ASSERT_EQ(graph.row_map(v + 1) - graph.row_map(v),
              static_cast<std::int64_t>(expected.into[v].size()))
        << "vertex " << v;
    std::int64_t k = graph.row_map(v);
    for (const Edge& edge : expected.into[v]) {
      ASSERT_LT(edge.source, v);
      ASSERT_EQ(graph.entries(k), edge.source) << "vertex " << v;
      ASSERT_EQ(graph.value_index(k), edge.value_index) << "vertex " << v;
      ++k;
    }
    ASSERT_EQ(graph.diagonal_value_index(v), expected.diagonal[v])
        << "vertex " << v;
  }
}

std::vector<TriangleInput> inputs() {
  std::vector<TriangleInput> all;
  for (const auto uplo : {Uplo::lower, Uplo::upper})
    for (const auto diag : {Diag::non_unit, Diag::unit})
      for (const auto op : {Op::none, Op::transpose, Op::conjugate_transpose}) {
        TriangleInput input;
        input.uplo = uplo;
        input.diag = diag;
        input.op = op;
        all.push_back(input);
      }
  return all;
}

/// Every row in random order, values along.
HostMatrix<double> shuffled(HostMatrix<double> A, unsigned seed) {
  std::mt19937 random(seed);
  for (std::int64_t i = 0; i < A.rows; ++i)
    for (auto k = A.row_map[i] + 1; k < A.row_map[i + 1]; ++k) {
      const auto other =
          std::uniform_int_distribution<std::int64_t>(A.row_map[i], k)(random);
      std::swap(A.entries[k], A.entries[other]);
      std::swap(A.values[k], A.values[other]);
    }
  return A;
}

template <class Matrix>
void expect_graphs(const std::vector<Pattern>& patterns) {
  for (const auto& pattern : patterns)
    for (const auto& input : inputs()) {
      SCOPED_TRACE(pattern.name);
      auto A = make_triangle<double>(pattern, input.uplo);
      expect_graph<Matrix>(A, input);
      expect_graph<Matrix>(shuffled(A, 5), input);
      if (input.diag == Diag::unit)
        expect_graph<Matrix>(
            make_triangle<double>(pattern, input.uplo, StoredDiagonal::none),
            input);
      if (testing::Test::HasFailure()) return;
    }
}

TEST(TriangleGraph, IsThatOfTheDefinition) {
  expect_graphs<KokkosSparse::CrsMatrix<double, int, Space, void, int>>(
      small_patterns());
}

TEST(TriangleGraph, IsThatOfTheDefinitionForWideIndices) {
  expect_graphs<
      KokkosSparse::CrsMatrix<double, std::int64_t, Space, void, std::size_t>>(
      {random_pattern(300, 4.0, 300, 5), dense_row_pattern(200),
       random_pattern(0, 1.0, 1, 1)});
}

/// A row of hundreds of entries among short ones is shared by several lanes.
TEST(TriangleGraph, IsThatOfTheDefinitionForLongRows) {
  expect_graphs<KokkosSparse::CrsMatrix<double, int, Space, void, int>>(
      {dense_row_pattern(2500), dense_column_pattern(2500),
       power_law_pattern(1500), dense_pattern(150)});
}

TEST(TriangleGraph, TakesOneTriangleOfAFullMatrix) {
  std::mt19937 random(9);
  const int n = 120;
  std::vector<double> dense(n * n, 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (i == j || random() % 20 == 0) dense[i * n + j] = 1 + i + j;
  const HostMatrix<double> A(n, n, dense);
  for (auto input : inputs()) {
    input.take_triangle = true;
    using Matrix = KokkosSparse::CrsMatrix<double, int, Space, void, int>;
    expect_graph<Matrix>(A, input);
    expect_graph<Matrix>(shuffled(A, 6), input);
    input.take_triangle = false;
    const auto matrix = A.to_device<Matrix>();
    EXPECT_THROW(triangle_graph(Space(), matrix.graph.row_map,
                                matrix.graph.entries, matrix.values, n, input),
                 WrongTriangleError);
  }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
