// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;

template <class T>
Kokkos::View<T*, Memory> to_view(const std::string& label, std::size_t size,
                                 const std::int64_t* from) {
  Kokkos::View<T*, Memory> view(label, size);
  const auto host = Kokkos::create_mirror_view(view);
  for (std::size_t k = 0; k < size; ++k) host(k) = static_cast<T>(from[k]);
  Kokkos::deep_copy(view, host);
  return view;
}

/// From three views, rows sorted and shuffled.
template <class Ordinal, class Offset>
void expect_index_types() {
  for (const auto& operation :
       {Operation{Uplo::lower, Diag::non_unit, Op::none, StoredDiagonal::value},
        Operation{Uplo::upper, Diag::unit, Op::none, StoredDiagonal::garbage},
        Operation{Uplo::lower, Diag::unit, Op::transpose, StoredDiagonal::none},
        Operation{Uplo::upper, Diag::non_unit, Op::transpose,
                  StoredDiagonal::value}})
    for (const bool shuffled : {false, true}) {
      auto A = make_triangle<double>(random_pattern(300, 4.0, 300, 31),
                                     operation.uplo, operation.stored);
      const auto sorted = A;
      if (shuffled)
        for (std::int64_t i = 0; i < A.rows; ++i) {
          std::reverse(A.entries.begin() + A.row_map[i],
                       A.entries.begin() + A.row_map[i + 1]);
          std::reverse(A.values.begin() + A.row_map[i],
                       A.values.begin() + A.row_map[i + 1]);
        }
      const auto row_map =
          to_view<Offset>("row_map", A.row_map.size(), A.row_map.data());
      const auto entries =
          to_view<Ordinal>("entries", A.entries.size(), A.entries.data());
      const auto values = Kokkos::subview(
          to_columns<double, Space>(A.values, A.values.size(), 1),
          Kokkos::ALL(), 0);
      for (const auto& variant : algorithms()) {
        SCOPED_TRACE(operation.name() + (shuffled ? " shuffled, " : ", ") +
                     variant.name);
        auto options = variant.options;
        options.op = operation.op;
        const TriangularSolver<double, Space> solver(Space(), row_map, entries,
                                                     values, operation.uplo,
                                                     operation.diag, options);
        expect_solver(solver, HostSystem<double>{sorted, operation.uplo,
                                                 operation.diag, operation.op});
      }
    }
}

TEST(TriangularSolver, SolvesWithOrdinalIntOffsetInt) {
  expect_index_types<int, int>();
}
TEST(TriangularSolver, SolvesWithOrdinalIntOffsetInt64) {
  expect_index_types<int, std::int64_t>();
}
TEST(TriangularSolver, SolvesWithOrdinalInt64OffsetInt) {
  expect_index_types<std::int64_t, int>();
}
TEST(TriangularSolver, SolvesWithOrdinalInt64OffsetSize) {
  expect_index_types<std::int64_t, std::size_t>();
}
TEST(TriangularSolver, SolvesWithOrdinalIntOffsetSize) {
  expect_index_types<int, std::size_t>();
}

TEST(TriangularSolver, TemplateArgumentsAreDeduced) {
  const auto A =
      make_triangle<double>(random_pattern(50, 3.0, 50, 1), Uplo::lower);
  const auto matrix = A.to_device<SolverMatrix<double, Space>>();
  const TriangularSolver of_matrix(Space(), matrix, Uplo::lower,
                                   Diag::non_unit);
  const TriangularSolver of_views(Space(), matrix.graph.row_map,
                                  matrix.graph.entries, matrix.values,
                                  Uplo::lower, Diag::non_unit);
  static_assert(std::is_same<decltype(of_matrix),
                             const TriangularSolver<double, Space>>::value,
                "scalar and space are the matrix's");
  const HostSystem<double> system{A, Uplo::lower, Diag::non_unit};
  expect_solver(of_matrix, system);
  expect_solver(of_views, system);
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
