// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_PermuteRows.hpp>
#include <Strata_Triangle.hpp>
#include <Strata_TriangularSolver.hpp>
#include <algorithm>
#include <numeric>

#include "HermitianMatrix.hpp"

namespace {

using namespace Strata;
using Memory = Device::memory_space;
using Order = Permutation<Memory>;

Kokkos::View<int*, Memory> to_device(const std::vector<int>& from) {
  const Kokkos::View<int*, Memory> view("order", from.size());
  const auto host = Kokkos::create_mirror_view(view);
  std::copy(from.begin(), from.end(), host.data());
  Kokkos::deep_copy(view, host);
  return view;
}
Order order_of(const std::vector<int>& old_row,
               const std::vector<int>& new_row) {
  return {to_device(old_row), to_device(new_row), 0};
}
std::vector<int> random_order(int n) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), generator());
  return order;
}
std::vector<int> inverse(const std::vector<int>& order) {
  std::vector<int> back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    back[order[i]] = static_cast<int>(i);
  return back;
}

template <class View>
using ValueOf = typename View::non_const_value_type;
/// Element (i, c) of a view of rank 1 or 2 in plain memory, column by column.
template <class View>
std::vector<ValueOf<View>> columns_of(const View& view) {
  const std::size_t n = view.extent(0);
  std::vector<ValueOf<View>> all;
  for (std::size_t c = 0; c < (View::rank == 1 ? 1 : view.extent(1)); ++c) {
    std::vector<ValueOf<View>> column;
    if constexpr (View::rank == 1) {
      column = on_host(view);
    } else {
      column = on_host(Kokkos::subview(view, Kokkos::ALL(), c));
    }
    all.insert(all.end(), column.begin(), column.begin() + n);
  }
  return all;
}
template <class View>
void draw(const View& view) {
  for (std::size_t c = 0; c < (View::rank == 1 ? 1 : view.extent(1)); ++c) {
    const auto column = random_vector<ValueOf<View>>(view.extent(0));
    if constexpr (View::rank == 1) {
      Kokkos::deep_copy(view, column);
    } else {
      Kokkos::deep_copy(Kokkos::subview(view, Kokkos::ALL(), c), column);
    }
  }
}

template <class From, class To>
void expect_moves(const char* what, const From& from, const To& to) {
  SCOPED_TRACE(what);
  const Device exec;
  const int n = static_cast<int>(from.extent(0));
  const auto old_row = random_order(n);
  const auto order = order_of(old_row, inverse(old_row));
  draw(from);
  const auto before = columns_of(from);
  draw(to);
  permute_rows(exec, order, from, to);
  exec.fence();
  const auto moved = columns_of(to);
  for (std::size_t k = 0; k < before.size(); ++k)
    ASSERT_EQ(moved[k], before[k - k % n + old_row[k % n]]) << k;
  EXPECT_EQ(columns_of(from), before);
  // And back, into what held something else.
  draw(from);
  inverse_permute_rows(exec, order, to, from);
  exec.fence();
  EXPECT_EQ(columns_of(from), before);
}

template <class Scalar>
class PermuteRows : public testing::Test {};
TYPED_TEST_SUITE(PermuteRows, Scalars);

TYPED_TEST(PermuteRows, MovesEveryLayoutAndBack) {
  using Scalar = TypeParam;
  using Left = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device>;
  using Right = Kokkos::View<Scalar**, Kokkos::LayoutRight, Device>;
  for (const int n : {1, 2, 33, 1000}) {
    expect_moves("vectors", Vector<Scalar>("from", n), Vector<Scalar>("to", n));
    expect_moves("left", Left("from", n, 5), Left("to", n, 5));
    expect_moves("right", Right("from", n, 3), Right("to", n, 3));
    expect_moves("mixed", Left("from", n, 4), Right("to", n, 4));
    expect_moves("other way", Right("from", n, 4), Left("to", n, 4));
    // Columns of one array, by rows and by columns.
    const Right rows("block", n, 4);
    expect_moves("columns by rows", Kokkos::subview(rows, Kokkos::ALL(), 0),
                 Kokkos::subview(rows, Kokkos::ALL(), 2));
    const Left block("block", n, 4);
    expect_moves("columns", Kokkos::subview(block, Kokkos::ALL(), 1),
                 Kokkos::subview(block, Kokkos::ALL(), 3));
  }
}

TEST(PermuteRowsArguments, MayBeEmpty) {
  const Device exec;
  const Order none;
  permute_rows(exec, none, Vector<double>(), Vector<double>());
  const auto order = order_of({1, 0}, {1, 0});
  using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Device>;
  inverse_permute_rows(exec, order, Block("from", 2, 0), Block("to", 2, 0));
  exec.fence();
  check_permutation(exec, none, 0);
}

TEST(PermuteRowsArguments, AreRefusedBeforeAnythingIsWritten) {
  const Device exec;
  const auto old_row = random_order(50);
  const auto order = order_of(old_row, inverse(old_row));
  using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Device>;
  const Block from("from", 50, 3), to("to", 50, 3);
  draw(to);
  const auto before = columns_of(to);
  const auto refused = [&](const auto& a, const auto& b, const char* argument) {
    for (const bool back : {false, true}) {
      try {
        back ? inverse_permute_rows(exec, order, a, b)
             : permute_rows(exec, order, a, b);
        ADD_FAILURE() << argument;
      } catch (const SizeMismatchError& error) {
        EXPECT_EQ(error.argument(), argument);
      }
    }
  };
  refused(Block("short", 49, 3), to, "from");
  refused(from, Block("long", 51, 3), "to");
  refused(Block("wide", 50, 4), to, "to");
  refused(Vector<double>("one", 50), to, "to");
  EXPECT_THROW(permute_rows(exec, order, to, to), AliasError);
  using Strided = Kokkos::View<double*, Kokkos::LayoutStride, Device>;
  const Strided one(to.data(), Kokkos::LayoutStride(50, 0));
  EXPECT_THROW(permute_rows(exec, order, Vector<double>("from", 50), one),
               AliasError);
  EXPECT_THROW(
      inverse_permute_rows(exec, order, Vector<double>("from", 50), one),
      AliasError);
  const auto all = Kokkos::ALL();
  EXPECT_THROW(inverse_permute_rows(
                   exec, order, Kokkos::subview(to, all, std::make_pair(0, 2)),
                   Kokkos::subview(to, all, std::make_pair(1, 3))),
               AliasError);
  const Vector<double> longer("longer", 60);
  EXPECT_THROW(
      permute_rows(exec, order, Kokkos::subview(longer, std::make_pair(0, 50)),
                   Kokkos::subview(longer, std::make_pair(10, 60))),
      AliasError);
  exec.fence();
  EXPECT_EQ(columns_of(to), before);
}

template <class Error>
void expect_fault(const Order& order, const Crs<double>& A,
                  const std::string& argument, std::int64_t row,
                  const std::string& value) {
  try {
    permute_symmetric(Device(), A, order);
    ADD_FAILURE() << argument;
  } catch (const Error& error) {
    EXPECT_EQ(error.argument(), argument);
    EXPECT_EQ(error.row(), row);
    EXPECT_EQ(error.value(), value);
  }
}

TEST(PermuteSymmetric, ChecksThePermutation) {
  const Device exec;
  const int n = 400;
  const auto A =
      hermitian<double>("grid2d:20").template to_device<Crs<double>>();
  const auto old_row = random_order(n);
  const auto new_row = inverse(old_row);
  permute_symmetric(exec, A, order_of(old_row, new_row));
  for (const int bad : {-1, n, 2000000000}) {
    auto wrong = old_row;
    wrong[123] = wrong[300] = bad;
    expect_fault<PermutationError>(order_of(wrong, new_row), A,
                                   "permutation.old_row", 123,
                                   std::to_string(bad));
  }
  {
    // Twice the same row.
    auto wrong = old_row;
    wrong[77] = old_row[5];
    expect_fault<PermutationError>(order_of(wrong, new_row), A,
                                   "permutation.new_row", 77, "5");
  }
  {
    auto wrong = new_row;
    std::swap(wrong[old_row[8]], wrong[old_row[9]]);
    expect_fault<PermutationError>(order_of(old_row, wrong), A,
                                   "permutation.new_row", 8, "9");
  }
  auto shorter = new_row;
  shorter.pop_back();
  EXPECT_THROW(permute_symmetric(exec, A, order_of(old_row, shorter)),
               SizeMismatchError);
}

TEST(PermuteSymmetric, ChecksThePattern) {
  const auto good = hermitian<double>("grid2d:20");
  const auto old_row = random_order(400);
  const auto order = order_of(old_row, inverse(old_row));
  for (const int bad : {-3, 400}) {
    auto wrong = good;
    wrong.entries[wrong.row_map[217]] = bad;
    expect_fault<ColumnRangeError>(order, wrong.to_device<Crs<double>>(),
                                   "entries", 217, std::to_string(bad));
  }
  auto wrong = good;
  wrong.row_map[100] = wrong.row_map[101] + 1;
  expect_fault<RowMapError>(order, wrong.to_device<Crs<double>>(), "row_map",
                            100, std::to_string(wrong.row_map[101]));
}

/// What the functions are for: a system solved in the order of level sets.
TEST(PermutedRows, SolveTheSameSystem) {
  const Device exec;
  using Block = Kokkos::View<double**, Kokkos::LayoutLeft, Device>;
  TriangularOptions options;
  options.algorithm = Algorithm::blocks;
  options.max_right_hand_sides = 3;
  for (const auto* spec : {"triangulated:40x23", "circuit:2000", "grid3d:9"})
    for (const auto uplo : {Uplo::lower, Uplo::upper}) {
      SCOPED_TRACE(spec);
      const auto A =
          hermitian<double>(spec, 1.1).template to_device<Crs<double>>();
      const auto order = level_permutation(exec, A);
      const auto T =
          take_triangle(exec, permute_symmetric(exec, A, order), uplo);
      const TriangularSolver solver(exec, T, uplo, Diag::non_unit, options);
      const std::int64_t n = A.numRows();
      const Block b("b", n, 3), x("x", n, 3), pb("pb", n, 3), px("px", n, 3);
      draw(b);
      permute_rows(exec, order, b, pb);
      solver.solve(exec, pb, px);
      inverse_permute_rows(exec, order, px, x);
      exec.fence();
      const HostMatrix<double> back(permute_symmetric(
          exec, T, {order.new_row, order.old_row, order.num_levels}));
      for (int c = 0; c < 3; ++c)
        EXPECT_LE(relative_residual(
                      back, on_host(Kokkos::subview(b, Kokkos::ALL(), c)),
                      on_host(Kokkos::subview(x, Kokkos::ALL(), c))),
                  1e-13);
    }
}

}  // namespace
