// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values in the packed, and solves of streams of every shape: those that the
// solver itself chooses are in tstTriangularSolver*.
#include <Strata_TriangleGraph.hpp>
#include <kernels/triangular/sync_free_subgraphs/SyncFreeSubgraphs.hpp>

#include "PackedSubgraphsReplay.hpp"
#include "TriangularSolverCases.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Space = Kokkos::DefaultExecutionSpace;
using Memory = Space::memory_space;
using Complex = Kokkos::complex<double>;
using ComplexFloat = Kokkos::complex<float>;
using Detail::NotReady;
using Detail::PackingShape;

/// The scalar whose every word has these bits.
template <class Scalar>
Scalar from_bits(typename NotReady<Scalar>::Bits bits) {
  typename NotReady<Scalar>::Bits words[NotReady<Scalar>::words];
  for (auto& w : words) w = bits;
  Scalar value;
  std::memcpy(static_cast<void*>(&value), words, sizeof(Scalar));
  return value;
}
/// The number that means "not computed yet", itself and such as arithmetic
/// might turn into it: with the other sign, and as a signalling NaN.
template <class Scalar>
std::vector<Scalar> like_not_ready() {
  using Bits = typename NotReady<Scalar>::Bits;
  using Word = typename NotReady<Scalar>::Word;
  const Bits not_ready = NotReady<Scalar>::Traits::not_ready;
  const Bits sign = Bits(1) << (8 * sizeof(Bits) - 1);
  const Bits quiet = Bits(1) << (std::numeric_limits<Word>::digits - 2);
  return {from_bits<Scalar>(not_ready), from_bits<Scalar>(not_ready ^ sign),
          from_bits<Scalar>(not_ready ^ quiet),
          from_bits<Scalar>(not_ready ^ sign ^ quiet)};
}

template <class T>
class SyncFreeSubgraphsTest : public testing::Test {};
using Scalars = testing::Types<float, double, ComplexFloat, Complex>;
TYPED_TEST_SUITE(SyncFreeSubgraphsTest, Scalars);

/// Packs numbers, every 17th of them like a not ready one, and reads each entry
/// of the packed from where the layout has it.
template <class Scalar>
void expect_packed(int width, int warps, int row_lanes, bool conjugated,
                   bool divide) {
  const Space exec;
  const auto host = TestGraphs::with_value_indices(
      TestGraphs::random_graph(300, 5.0, 300, 4), false);
  const std::int64_t n = host.num_vertices;
  const std::int64_t num_values = 3 * (host.num_edges() + n) + 1;
  PackingShape shape{0, 70, 4096, 8};
  shape.team[0] = {width >= 4 ? row_lanes : 1, warps};
  Detail::SubgraphPacker<Space> builder(exec, mirror_graph(exec, host), nullptr,
                                        1, n, shape, width, sizeof(Scalar));
  ASSERT_TRUE(builder.possible());
  const auto on_device = builder.finish(num_values);

  auto values = random_values<Scalar>(num_values, 1);
  auto diagonal = random_values<Scalar>(n, 2);
  for (auto& d : diagonal) d += Scalar(3);
  const auto special = like_not_ready<Scalar>();
  for (std::int64_t k = 0; k < num_values; k += 17)
    values[k] = special[k % special.size()];
  const Kokkos::View<Scalar*, Memory> values_view("values", num_values);
  const Kokkos::View<Scalar*, Memory> diagonal_view("diagonal", n);
  const auto fill = [](const auto& view, const std::vector<Scalar>& from) {
    const auto mirror = Kokkos::create_mirror_view(view);
    std::copy(from.begin(), from.end(), mirror.data());
    Kokkos::deep_copy(view, mirror);
  };
  fill(values_view, values);
  fill(diagonal_view, diagonal);
  Kokkos::parallel_for(
      "pack", Kokkos::RangePolicy<Space>(exec, 0, on_device.num_records),
      Detail::PackSubgraphValues<Scalar, Memory>{
          on_device, values_view.data(), diagonal_view, conjugated, divide});
  exec.fence();

  const auto packed = PackedSubgraphsTest::on_host(on_device);
  const PackedRecord record(sizeof(Scalar));
  const double eps =
      std::numeric_limits<typename ScalarParts<Scalar>::Real>::epsilon();
  for (int g = 0; g < packed.num_subgraphs(); ++g)
    for (const auto& step : PackedSubgraphsTest::decode(packed, record, g))
      for (const auto& work : step)
        for (int e = 0; e < record.entries; ++e) {
          const auto from =
              packed.value_index(work.record * record.entries + e);
          Scalar found;
          std::memcpy(
              static_cast<void*>(&found),
              &packed.bytes(PackedSubgraphsTest::byte_in_stage(
                  record, work.record - work.lane, packed.subgraph(g).lanes,
                  work.lane, record.value_at(e))),
              sizeof(Scalar));
          ASSERT_FALSE(NotReady<Scalar>::is_not_ready(found));
          if (from < 0) {
            ASSERT_EQ(found, Scalar(0)) << "an unused entry";
            continue;
          }
          if (!ScalarParts<Scalar>::finite(values[from])) {
            ASSERT_TRUE(NotReady<Scalar>::is_nan(found));
            continue;
          }
          const auto by = widen(diagonal[packed.record_row(work.record)]);
          auto expected = widen(values[from]);
          if (conjugated) expected = SolverTest::conjugated(expected);
          expected = divide ? expected / by : expected * by;
          ASSERT_LE(magnitude(widen(found) - expected),
                    8 * eps * magnitude(expected))
              << "value " << from;
        }
}

TYPED_TEST(SyncFreeSubgraphsTest, HoldsValuesScaledByTheirRowsDiagonals) {
  for (const bool conjugated : {false, true})
    for (const bool divide : {false, true})
      for (const int width : {1, 4, 32})
        for (const int row_lanes : {1, 4})
          expect_packed<TypeParam>(width, width == 1 ? 1 : 4, row_lanes,
                                   conjugated, divide);
}

/// A solver of these.
template <class Scalar>
class SyncFreeSubgraphSolver {
 public:
  using Algorithm = Detail::SyncFreeSubgraphs<Scalar, Space>;

  SyncFreeSubgraphSolver(const HostMatrix<Scalar>& A, Uplo uplo,
                         const PackingShape& shape, int max_right_hand_sides)
      : rows_(A.rows),
        matrix_(A.template to_device<SolverMatrix<Scalar, Space>>()) {
    TriangleInput input;
    input.uplo = uplo;
    analysis_.graph =
        triangle_graph(exec_, matrix_.graph.row_map, matrix_.graph.entries,
                       matrix_.values, A.columns, input);
    analysis_.num_values = std::int64_t(A.values.size());
    analysis_.find_order(exec_);
    std::int64_t longest = 0;
    for (std::int64_t i = 0; i < A.rows; ++i)
      longest = std::max(longest, A.row_map[i + 1] - A.row_map[i]);
    auto builder = Algorithm::make_packer(
        exec_, analysis_.graph, analysis_.order.level_of.data(),
        analysis_.order.num_levels(), longest, shape);
    if (!builder.possible()) return;
    algorithm_ = std::make_unique<Algorithm>(exec_, analysis_, builder,
                                             max_right_hand_sides);
    algorithm_->set_values(exec_, matrix_.values.data(), false);
  }
  bool possible() const { return algorithm_ != nullptr; }
  int num_subgraphs() const { return algorithm_->num_subgraphs(); }
  std::vector<Scalar> solve(const std::vector<Scalar>& b, int columns) const {
    const auto x = to_columns<Scalar, Space>(b, rows_, columns);
    const auto ref = Detail::multi_vector_ref(x);
    algorithm_->solve(exec_, {ref.data, ref.row_stride, ref.column_stride}, ref,
                      columns);
    return to_vector(x);
  }

 private:
  Space exec_;
  std::int64_t rows_;
  SolverMatrix<Scalar, Space> matrix_;
  Detail::TriangularAnalysis<Space> analysis_;
  std::unique_ptr<Algorithm> algorithm_;
};

/// Numbers of right-hand sides in turn, so that some columns' buffers change
/// sides more often than others.
template <class Scalar>
void expect_solutions(const SyncFreeSubgraphSolver<Scalar>& solver,
                      const HostSystem<Scalar>& system) {
  const std::int64_t n = system.A.rows;
  for (const int columns : {1, 5, 2}) {
    const auto b = random_values<Scalar>(n * columns, columns);
    const auto x = solver.solve(b, columns);
    for (int c = 0; c < columns; ++c)
      system.expect_solution(&b[c * n], &x[c * n]);
    EXPECT_TRUE(same_bits(x, solver.solve(b, columns)));
    if (testing::Test::HasFailure()) return;
  }
}

TYPED_TEST(SyncFreeSubgraphsTest, SolvesInEveryShape) {
  const std::vector<PackingShape> shapes{
      {0, 7, 4096, 8},         {2, 7, 4096, 0}, {0, 1, 4096, 8},
      {5, 64, 4096, 20},       {1, 9, 4096, 8}, {0, 200, 260, 8},
      {0, 1 << 20, 1 << 20, 8}};
  int next = 0;
  for (const auto& pattern :
       {random_pattern(400, 3.0, 400, 1), random_pattern(400, 4.0, 9, 2),
        dense_row_pattern(250), dense_pattern(100), chains_pattern(5, 80),
        power_law_pattern(300), chain_pattern(150)})
    for (const PackingShape& shape : shapes) {
      SCOPED_TRACE(pattern.name + " in bands of " +
                   std::to_string(shape.band_levels) + " and " +
                   std::to_string(shape.max_rows) + " rows");
      const auto uplo = ++next % 2 ? Uplo::lower : Uplo::upper;
      const auto A = make_triangle<TypeParam>(pattern, uplo);
      const SyncFreeSubgraphSolver<TypeParam> solver(A, uplo, shape,
                                                     1 + next % 3 * 2);
      ASSERT_TRUE(solver.possible() || shape.max_local < 4096);
      if (!solver.possible()) continue;
      expect_solutions(solver, HostSystem<TypeParam>{A, uplo, Diag::non_unit});
      if (testing::Test::HasFailure()) return;
    }
}

/// As many rows and steps in a sub-graph as there is room for: a device then
/// reads the steps from memory.
TYPED_TEST(SyncFreeSubgraphsTest, SolvesWhereSubgraphsHaveThousandsOfSteps) {
  for (const auto& pattern :
       {chain_pattern(25000), random_pattern(25000, 2.0, 3, 7)}) {
    const auto A = make_triangle<TypeParam>(pattern, Uplo::lower);
    const SyncFreeSubgraphSolver<TypeParam> solver(A, Uplo::lower,
                                                   {0, 1 << 20, 1 << 20, 8}, 3);
    ASSERT_TRUE(solver.possible());
    expect_solutions(solver,
                     HostSystem<TypeParam>{A, Uplo::lower, Diag::non_unit});
  }
}

/// A number that looks as if it was not computed yet, or might come to, in b
/// and in the matrix: it reaches all later rows of a chain, none before, and
/// nobody waits for ever.
TYPED_TEST(SyncFreeSubgraphsTest, NumbersLikeNotReadyOnesEndNoSolve) {
  for (const auto& special : like_not_ready<TypeParam>())
    for (const bool in_matrix : {false, true}) {
      auto A = make_triangle<TypeParam>(chain_pattern(97), Uplo::lower);
      auto b = random_values<TypeParam>(97, 3);
      // Row 30's entries are its off-diagonal one and its diagonal.
      (in_matrix ? A.values[A.row_map[30]] : b[30]) = special;
      const SyncFreeSubgraphSolver<TypeParam> solver(A, Uplo::lower,
                                                     {0, 7, 4096, 8}, 1);
      ASSERT_TRUE(solver.possible());
      const auto x = solver.solve(b, 1);
      for (int i = 0; i < 97; ++i) {
        EXPECT_EQ(NotReady<TypeParam>::is_nan(x[i]), i >= 30) << "row " << i;
        EXPECT_FALSE(NotReady<TypeParam>::is_not_ready(x[i])) << "row " << i;
      }
    }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
