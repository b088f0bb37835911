// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Strata_TriangleGraph.hpp>
#include <kernels/triangular/sync_free/SyncFreeAlgorithm.hpp>

#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Detail::SplitRow;
constexpr int width = Detail::lane_width<Space>;

/// Random rows, of which four are long: two in level sets of their own, and two
/// that do not need each other, one of them just too short to be split.
Pattern long_rows() {
  const int above = SplitRow::split_above * width;
  const int n = 3 * above + 40;
  Pattern p = random_pattern(n, 2.0, n, 3);
  const auto fill = [&](int row, int entries) {
    p.rows[row].clear();
    for (int j = 0; j < entries; ++j) p.rows[row].push_back(j);
  };
  fill(above + 7, above + 1);
  fill(2 * above, 2 * above);
  fill(n - 2, above);
  fill(n - 1, n - 2);
  return p;
}

/// Solves with the chunks of long rows split, on any backend.
template <class Scalar>
class InPieces : public Detail::SyncFreeAlgorithm<Scalar, Space> {
  using Base = Detail::SyncFreeAlgorithm<Scalar, Space>;

 public:
  explicit InPieces(const Detail::TriangularAnalysis<Space>& analysis)
      : Base(Space(), analysis, 1) {
    split = Detail::split_long_rows(Space(), this->chunks_, width,
                                    analysis.order.sizes.longest_row_of_all());
    const std::int64_t values = std::int64_t{whole().num_rows} + split.num_sums;
    buffers_ = Kokkos::View<Scalar*, Memory>("buffers", 2 * values);
    counter_ = Kokkos::View<unsigned*, Memory>("counter", 1);
    Kokkos::parallel_for(
        Detail::RangeOf<Space>(Space(), 0, 2 * values),
        Detail::ResetWorkspace<Scalar, Memory>{{buffers_}, counter_});
  }
  const RowChunks<Memory>& whole() const { return this->chunks_; }

  std::vector<Scalar> solve_in_pieces(const std::vector<Scalar>& b, int teams) {
    using Solve = Detail::SyncFreeKernel<Scalar, Space, false>;
    const std::int64_t n = whole().num_rows;
    const auto b_view = to_columns<Scalar, Space>(b, n, 1);
    const Columns<Scalar, Space> x_view("x", n, 1);
    auto system = this->system({b_view.data(), 1, n}, {x_view.data(), 1, n});
    system.chunk = split.chunk;
    const int tickets = (static_cast<int>(split.chunk.extent(0)) +
                         Solve::chunks_per_ticket - 1) /
                        Solve::chunks_per_ticket;
    Detail::run_teams<Solve::most_teams_per_multiprocessor, Solve::team_size>(
        "SolverTest::solve_in_pieces", Space(), std::min(teams, tickets),
        Solve{system, buffers_.data(), counter_.data(), whole().num_rows,
              static_cast<int>(buffers_.extent(0) / 2), tickets});
    return to_vector(x_view);
  }

  Detail::SplitRows<Memory> split;

 private:
  Kokkos::View<Scalar*, Memory> buffers_;
  Kokkos::View<unsigned*, Memory> counter_;
};

template <class Scalar>
InPieces<Scalar> make(const HostMatrix<Scalar>& A) {
  const auto matrix = A.template to_device<SolverMatrix<Scalar, Space>>();
  Detail::TriangularAnalysis<Space> analysis;
  TriangleInput input;
  input.uplo = Uplo::lower;
  input.diag = Diag::non_unit;
  analysis.graph =
      triangle_graph(Space(), matrix.graph.row_map, matrix.graph.entries,
                     matrix.values, matrix.numCols(), input);
  analysis.num_values = matrix.nnz();
  analysis.find_order(Space());
  InPieces<Scalar> solver(analysis);
  solver.set_values(Space(), matrix.values.data(), false);
  Kokkos::fence();
  return solver;
}

TEST(SplitRows, PiecesHaveTheSlotsOfTheRow) {
  const auto A = make_triangle<double>(long_rows(), Uplo::lower);
  const auto solver = make(A);
  const auto whole = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                         solver.whole().chunk);
  const auto split = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(),
                                                         solver.split.chunk);
  std::size_t at = 0;
  int sums = 0, split_rows = 0;
  for (std::size_t c = 0; c < whole.extent(0); ++c) {
    const RowChunk& row = whole(c);
    ASSERT_EQ(row.part, RowChunk::whole_rows);
    if (row.steps <= SplitRow::split_above) {
      ASSERT_LT(at, split.extent(0));
      EXPECT_EQ(split(at).part, RowChunk::whole_rows);
      EXPECT_EQ(split(at).first_slot, row.first_slot);
      EXPECT_EQ(split(at).first_permuted_row, row.first_permuted_row);
      EXPECT_EQ(split(at).rows, row.rows);
      EXPECT_EQ(split(at++).steps, row.steps);
      continue;
    }
    ++split_rows;
    const int first_sum = sums;
    std::int64_t slot = row.first_slot;
    int steps = 0;
    for (; steps < row.steps; ++at, ++sums) {
      ASSERT_LT(at, split.extent(0));
      const RowChunk& piece = split(at);
      ASSERT_EQ(piece.part, sums);
      EXPECT_EQ(piece.first_slot, slot);
      EXPECT_EQ(piece.first_permuted_row, row.first_permuted_row);
      EXPECT_EQ(piece.rows, 1);
      EXPECT_EQ(piece.log_lanes, row.log_lanes);
      EXPECT_EQ(piece.throttle, row.throttle);
      ASSERT_GT(piece.steps, 0);
      EXPECT_LE(piece.steps, SplitRow::piece_steps);
      slot += std::int64_t{piece.steps} << piece.log_lanes;
      steps += piece.steps;
    }
    EXPECT_EQ(steps, row.steps);
    const RowChunk& adds = split(at++);
    EXPECT_EQ(adds.part, RowChunk::adds_pieces);
    EXPECT_EQ(adds.first_permuted_row, row.first_permuted_row);
    EXPECT_EQ(adds.first_slot, first_sum);
    EXPECT_EQ(adds.steps, sums - first_sum);
  }
  EXPECT_EQ(split_rows, 3);
  EXPECT_EQ(at, split.extent(0));
  EXPECT_EQ(sums, solver.split.num_sums);
}

TEST(SplitRows, NothingChangesWithoutLongRows) {
  const auto A =
      make_triangle<double>(random_pattern(500, 4.0, 500, 2), Uplo::lower);
  const auto solver = make(A);
  EXPECT_EQ(solver.split.num_sums, 0);
  EXPECT_EQ(solver.split.chunk.data(), solver.whole().chunk.data());
}

template <class Scalar>
void expect_solutions() {
  const auto A = make_triangle<Scalar>(long_rows(), Uplo::lower);
  auto solver = make(A);
  const HostSystem<Scalar> system{A, Uplo::lower, Diag::non_unit};
  const auto b = random_values<Scalar>(A.rows, 23);
  const auto other = random_values<Scalar>(A.rows, 24);
  const auto x = solver.solve_in_pieces(b, 2);
  system.expect_solution(b.data(), x.data());
  // The sums of a solve are none of the next one's, and their order is fixed.
  for (int repeat = 0; repeat < 4; ++repeat) {
    const auto x_other = solver.solve_in_pieces(other, 2);
    system.expect_solution(other.data(), x_other.data());
    ASSERT_TRUE(same_bits(solver.solve_in_pieces(b, 2), x));
  }
  // One team takes all the tickets of a row in turn.
  auto alone = make(A);
  EXPECT_TRUE(same_bits(alone.solve_in_pieces(b, 1), x));
}

TEST(SplitRows, SolutionsAreRightAndTheSameBits) {
  expect_solutions<double>();
  expect_solutions<float>();
  expect_solutions<Kokkos::complex<float>>();
  expect_solutions<Kokkos::complex<double>>();
}

TEST(SplitRows, SpecialNumbersSpreadAsInSubstitution) {
  const auto A = make_triangle<double>(long_rows(), Uplo::lower);
  auto solver = make(A);
  const HostSystem<double> system{A, Uplo::lower, Diag::non_unit};
  const auto ordinary = random_values<double>(A.rows, 25);
  const auto expected = solver.solve_in_pieces(ordinary, 2);
  double not_ready;
  const auto bits = Detail::NotReady<double>::Traits::not_ready;
  std::memcpy(&not_ready, &bits, sizeof not_ready);
  const int above = SplitRow::split_above * width;
  for (const double special :
       {std::nan(""), std::numeric_limits<double>::infinity(), not_ready})
    // A dependency of pieces, a row in pieces itself, and one after them.
    for (const int row : {3, 2 * above, static_cast<int>(A.rows) - 1}) {
      auto b = ordinary;
      b[row] = special;
      const auto x = solver.solve_in_pieces(b, 2);
      const auto reference = system.solve(b.data());
      for (std::int64_t i = 0; i < A.rows; ++i)
        ASSERT_EQ(std::isfinite(x[i]), std::isfinite(reference[i]))
            << "row " << i << ", b[" << row << "] = " << special;
      ASSERT_TRUE(same_bits(solver.solve_in_pieces(ordinary, 2), expected));
    }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
