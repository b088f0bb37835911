// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TriangularSolverCases.hpp"
#include "VectorBlock.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Solver = TriangularSolver<double, Space>;
using Block = VectorBlock<double, Space>;

constexpr Storage storages[] = {Storage::left, Storage::right, Storage::strided,
                                Storage::strided_by_rows};

struct Prepared {
  HostMatrix<double> A;
  Solver solver;
};

Prepared prepare(const Variant& variant, int n = 203) {
  auto A = make_triangle<double>(random_pattern(n, 3.0, 40, 3), Uplo::lower);
  Solver solver(Space(), A.to_device<SolverMatrix<double, Space>>(),
                Uplo::lower, Diag::non_unit, variant.options);
  return {std::move(A), solver};
}

void solve_blocks(const Solver& solver, const Block& b, const Block& x) {
  b.with_view([&](const auto& b_view) {
    x.with_view(
        [&](const auto& x_view) { solver.solve(Space(), b_view, x_view); });
  });
}

void expect_columns(const HostMatrix<double>& A, const std::vector<double>& b,
                    const std::vector<double>& x) {
  const HostSystem<double> system{A, Uplo::lower, Diag::non_unit};
  for (std::size_t at = 0; at < b.size(); at += A.rows) {
    system.expect_solution(b.data() + at, x.data() + at);
    if (testing::Test::HasFatalFailure()) return;
  }
}

/// b and x apart, and x over b, at several alignments; nothing but x changes.
void expect_blocks(const Prepared& p, Storage of_b, Storage of_x,
                   std::int64_t k) {
  const auto b = random_values<double>(p.A.rows * k, 5);
  for (const std::int64_t shift : {0, 1, 3}) {
    const Block b_block(of_b, p.A.rows, k, shift);
    const Block x_block(of_x, p.A.rows, k, 2 * shift);
    b_block.set(b);
    x_block.set(std::vector<double>(b.size(), std::nan("")));
    solve_blocks(p.solver, b_block, x_block);
    expect_columns(p.A, b, x_block.get());
    EXPECT_TRUE(same_bits(b, b_block.get()));
    EXPECT_TRUE(b_block.surroundings_intact());
    EXPECT_TRUE(x_block.surroundings_intact());

    solve_blocks(p.solver, b_block, b_block);
    EXPECT_TRUE(same_bits(b_block.get(), x_block.get())) << "in place";
    EXPECT_TRUE(b_block.surroundings_intact());
    if (testing::Test::HasFailure()) return;
  }
}

TEST(TriangularSolver, SolvesAnyNumberOfRightHandSides) {
  for (const auto& variant : variants()) {
    const auto p = prepare(variant);
    for (const auto storage : storages)
      for (const int k : {1, 2, 7, 8, 9, 33}) {
        SCOPED_TRACE(variant.name + ", storage " +
                     std::to_string(static_cast<int>(storage)) + ", " +
                     std::to_string(k) + " right-hand sides");
        expect_blocks(p, storage, storage, k);
        if (HasFailure()) return;
      }
  }
}

TEST(TriangularSolver, SolvesInEveryPairOfStorages) {
  for (const auto& variant : algorithms()) {
    const auto p = prepare(variant);
    SCOPED_TRACE(variant.name);
    for (const auto of_b : storages)
      for (const auto of_x : storages) expect_blocks(p, of_b, of_x, 3);
    constexpr Storage one_column[] = {Storage::rank1, Storage::rank1_strided,
                                      Storage::left, Storage::right};
    for (const auto of_b : one_column)
      for (const auto of_x : one_column) expect_blocks(p, of_b, of_x, 1);
  }
}

TEST(TriangularSolver, SolvesManyRightHandSidesOfAShortSystem) {
  for (const auto& variant : variants()) {
    SCOPED_TRACE(variant.name);
    for (const int n : {1, 3}) {
      const auto p = prepare(variant, n);
      expect_blocks(p, Storage::left, Storage::right, 300);
    }
  }
}

/// A device moves so many numbers of b and x in whole lines, by way of its
/// buffers. It does so where rows are neighbours in memory.
TEST(TriangularSolver, SolvesMoreRightHandSidesThanCachesHold) {
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free;
  options.max_right_hand_sides = 217;
  const int n = 40003, k = 217;
  const auto A =
      make_triangle<double>(random_pattern(n, 1.5, n, 29), Uplo::lower);
  const Prepared p{A,
                   Solver(Space(), A.to_device<SolverMatrix<double, Space>>(),
                          Uplo::lower, Diag::non_unit, options)};
  const auto b = random_values<double>(std::size_t(n) * k, 5);
  const auto expect_some = [&](const Block& x_block) {
    const auto x = x_block.get();
    for (const int column : {0, 1, 31, 32, 130, 216})
      HostSystem<double>{A, Uplo::lower, Diag::non_unit}.expect_solution(
          b.data() + std::size_t(n) * column,
          x.data() + std::size_t(n) * column);
    EXPECT_TRUE(x_block.surroundings_intact());
  };
  const Block b_block(Storage::left, n, k, 0), x_block(Storage::left, n, k, 1),
      by_rows(Storage::right, n, k, 0);
  b_block.set(b);
  for (const Block* const to : {&x_block, &by_rows, &b_block}) {
    solve_blocks(p.solver, b_block, *to);
    expect_some(*to);
  }
  EXPECT_TRUE(same_bits(x_block.get(), b_block.get())) << "in place";
  EXPECT_TRUE(same_bits(x_block.get(), by_rows.get()));
}

TEST(TriangularSolver, ColumnsOfOneMatrixAreApart) {
  for (const auto& variant : algorithms()) {
    SCOPED_TRACE(variant.name);
    const auto p = prepare(variant);
    const auto n = p.A.rows;
    const auto b = random_values<double>(2 * n, 5);
    // Columns 0, 1 are right-hand sides, 3, 4 solutions.
    const Kokkos::View<double**, Kokkos::LayoutRight, Memory> all("all", n, 5);
    const auto host = Kokkos::create_mirror_view(all);
    Kokkos::deep_copy(host, 1.0);
    for (int c = 0; c < 2; ++c)
      for (int i = 0; i < n; ++i) host(i, c) = b[c * n + i];
    Kokkos::deep_copy(all, host);
    const auto columns = [&](int first, int last) {
      return Kokkos::subview(all, Kokkos::ALL(),
                             Kokkos::make_pair(first, last));
    };
    p.solver.solve(Space(), columns(0, 2), columns(3, 5));
    Kokkos::fence();
    Kokkos::deep_copy(host, all);
    std::vector<double> x;
    for (int c = 3; c < 5; ++c)
      for (int i = 0; i < n; ++i) x.push_back(host(i, c));
    expect_columns(p.A, b, x);
    for (int i = 0; i < n; ++i) {
      ASSERT_EQ(host(i, 0), b[i]);
      ASSERT_EQ(host(i, 1), b[n + i]);
      ASSERT_EQ(host(i, 2), 1.0);
    }
  }
}

TEST(TriangularSolver, AcceptsNothingToSolve) {
  for (const auto& variant : algorithms()) {
    SCOPED_TRACE(variant.name);
    const auto p = prepare(variant);
    const Columns<double, Space> none("none", p.A.rows, 0);
    p.solver.solve(Space(), none, none);
    const auto empty = prepare(variant, 0);
    const Columns<double, Space> no_rows("no rows", 0, 4);
    empty.solver.solve(Space(), no_rows, no_rows);
    EXPECT_EQ(empty.solver.report().rows, 0);
    EXPECT_EQ(empty.solver.report().entries, 0);
    EXPECT_EQ(empty.solver.report().levels, 0);
  }
  // No rows may also mean no row map.
  const Kokkos::View<int*, Memory> none;
  const Kokkos::View<double*, Memory> no_values;
  const Solver solver(Space(), none, none, no_values, Uplo::upper,
                      Diag::non_unit);
  solver.solve(Space(), no_values, no_values);
  EXPECT_EQ(solver.report().rows, 0);
}

TEST(TriangularSolver, ManySolvesInARowHaveTheSameBits) {
  constexpr int repeats = 50;
  for (const auto& variant : variants())
    for (const std::int64_t k : {1, 9}) {
      SCOPED_TRACE(variant.name + ", " + std::to_string(k) + " columns");
      const auto p = prepare(variant);
      const auto n = p.A.rows;
      const auto first = random_values<double>(n * k, 6);
      const auto second = random_values<double>(n * k, 7);
      const auto expected_first = solve(p.solver, first, k);
      const auto expected_second = solve(p.solver, second, k);
      const auto b_first = to_columns<double, Space>(first, n, k);
      const auto b_second = to_columns<double, Space>(second, n, k);
      std::vector<Columns<double, Space>> x;
      for (int i = 0; i < repeats; ++i) x.emplace_back("x", n, k);
      Kokkos::fence();
      const Space exec;
      for (int i = 0; i < repeats; ++i)
        p.solver.solve(exec, i % 2 ? b_second : b_first, x[i]);
      for (int i = 0; i < repeats; ++i)
        ASSERT_TRUE(same_bits(to_vector(x[i]),
                              i % 2 ? expected_second : expected_first))
            << "solve " << i;
    }
}

TEST(TriangularSolver, OneAndManyRightHandSidesAlternate) {
  for (const auto& variant : variants()) {
    SCOPED_TRACE(variant.name);
    const auto p = prepare(variant);
    const auto n = p.A.rows;
    const auto b = random_values<double>(n * 9, 8);
    const std::vector<double> one(b.begin(), b.begin() + n);
    const auto x_one = solve(p.solver, one);
    const auto x_many = solve(p.solver, b, 9);
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(same_bits(solve(p.solver, one), x_one));
      ASSERT_TRUE(same_bits(solve(p.solver, b, 9), x_many));
    }
  }
}

TEST(TriangularSolver, TwoSolversAlternateAndCopiesShare) {
  for (const auto& variant : variants()) {
    SCOPED_TRACE(variant.name);
    const auto p = prepare(variant), q = prepare(variant, 150);
    const auto copy = p.solver;
    const auto b = random_values<double>(203, 9);
    const std::vector<double> short_b(b.begin(), b.begin() + 150);
    const auto x = solve(p.solver, b), y = solve(q.solver, short_b);
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(same_bits(solve(p.solver, b), x));
      ASSERT_TRUE(same_bits(solve(q.solver, short_b), y));
      ASSERT_TRUE(same_bits(solve(copy, b), x));
    }
  }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
