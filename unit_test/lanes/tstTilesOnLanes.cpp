// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of `tiles` for GPUs, lane by lane on a host.
#include <gtest/gtest.h>

#include <EmulatedDevice.hpp>
#include <kernels/triangular/tiles/TilesAlgorithm.hpp>

#include <limits>
#include <random>

#include "../TestGraphs.hpp"

namespace Strata {
namespace SolverTest {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Memory = Kokkos::HostSpace;
using TestGraphs::Graph;

double size_of(double value) { return std::abs(value); }
double size_of(float value) { return std::abs(value); }
template <class Real>
double size_of(const Kokkos::complex<Real>& value) {
  return std::hypot(double(value.real()), double(value.imag()));
}

/// A lower triangle, and solves of it.
template <class Scalar>
class System {
 public:
  System(const Graph& pattern, unsigned seed, double size)
      : random_(seed), graph_(pattern) {
    const int n = graph_.num_vertices;
    graph_.value_index =
        decltype(graph_.value_index)("value", graph_.num_edges());
    graph_.diagonal_value_index =
        decltype(graph_.diagonal_value_index)("diagonal", n);
    for (int v = 0; v < n; ++v) {
      const auto length = graph_.row_map(v + 1) - graph_.row_map(v);
      longest_ = std::max<double>(longest_, double(length + 1));
      for (auto k = graph_.row_map(v); k < graph_.row_map(v + 1); ++k)
        graph_.value_index(k) = add(Scalar(size / double(length)) * number());
      graph_.diagonal_value_index(v) = add(Scalar(1) + Scalar(0.3) * number());
    }
  }

  /// Solves with `columns` right-hand sides three times and compares; in the
  /// last ones an infinity stands in some row.
  /// @tparam block  see SolveTiles
  /// @param tiles_of_run  see TileTeams
  template <int block = 1, bool has_runs = false>
  void check(int columns, bool may_invert, int tiles_of_run = 1) {
    using Solve =
        Detail::SolveTiles<Scalar, Emulation::Device, block, has_runs>;
    using Invert = Detail::InvertTiles<Scalar, Memory>;
    const Host exec;
    const int n = graph_.num_vertices;
    Kokkos::View<Scalar*, Memory> value, inner, weight;
    const Detail::TileTeams teams{Solve::warps, Solve::batch,
                                  Solve::most_columns, tiles_of_run};
    Detail::WorkPool<Host> pool(exec, 0);
    const auto partition = Detail::partition_tiles(exec, graph_, teams);
    const auto plan = Detail::make_tile_plan(
        exec, graph_, partition, std::int64_t(values_.size()), teams, pool,
        [&](auto& storage, const auto& of) {
          storage.take(value, of.num_slots);
          storage.take(inner, of.num_inner);
          storage.take(weight, of.num_weights);
        });
    if (has_runs && plan.num_runs == 0) return;
    Detail::gather_values(exec, plan.value_index,
                          static_cast<const Scalar*>(values_.data()), value,
                          false);
    const Kokkos::View<double*, Memory> growth("growth", plan.num_runs),
        sum("sum", n);
    using Weights = Detail::MakeWeights<Scalar, Memory>;
    const Weights weights{plan,     value,  {values_.data(), false},
                          weight,   sum,    growth,
                          longest_, nullptr};
    for (int r = 0; r < plan.num_runs; ++r)
      Emulation::Team::run(
          Weights::threads,
          [&](int rank) {
            weights(Emulation::TeamOfDevice{rank, Weights::threads, r});
          },
          unsigned(random_()));
    for (int r = 0; r < plan.num_runs; ++r)
      ++(growth(r) > 0 ? runs_with_weights : runs_without);
    const Kokkos::View<int*, Memory> inverted("inverted", plan.group.extent(0));
    Detail::run_teams<4, Invert::threads>("Strata::Test::invert", exec,
                                          int(plan.group.extent(0)),
                                          Invert{plan,
                                                 inner,
                                                 inverted,
                                                 {values_.data(), false},
                                                 !may_invert,
                                                 longest_,
                                                 growth,
                                                 nullptr},
                                          Invert::scratch_bytes);
    const int in_buffers = (columns + block - 1) / block * block;
    const Kokkos::View<Scalar*, Memory> buffers("buffers", 2 * n * in_buffers);
    for (std::size_t i = 0; i < buffers.extent(0); ++i)
      Detail::NotReady<Scalar>::reset(&buffers(i));
    const Kokkos::View<unsigned*, Memory> counter("counter", 1);
    for (int time = 0; time < 3; ++time) {
      const auto known = time < 2 ? std::vector<char>(n, 1) : choose_known();
      std::vector<Scalar> b(std::size_t(n) * columns), x(b.size());
      for (std::size_t i = 0; i < b.size(); ++i)
        b[i] = int(i % n) == infinite_
                   ? Scalar(std::numeric_limits<double>::infinity())
                   : number();
      const Solve solve{plan,
                        value,
                        inner,
                        inverted,
                        {b.data(), 1, n},
                        {x.data(), 1, n},
                        buffers.data(),
                        counter.data(),
                        in_buffers,
                        columns,
                        weight,
                        growth};
      Emulation::Team::run(
          Solve::team_size,
          [&](int rank) {
            solve(Emulation::TeamOfDevice{rank, Solve::team_size});
          },
          unsigned(random_()));
      for (int c = 0; c < columns; ++c)
        compare(&b[std::size_t(n) * c], &x[std::size_t(n) * c], known);
    }
    infinite_ = -1;
  }
  int runs_with_weights = 0, runs_without = 0;

 private:
  using Real = Detail::RealOf<Scalar>;
  Real part() { return std::uniform_real_distribution<Real>(-1, 1)(random_); }
  Scalar number() {
    if constexpr (std::is_same_v<Scalar, Real>) {
      return part();
    } else {
      return Scalar(part(), part());
    }
  }
  std::int64_t add(const Scalar& value) {
    values_.push_back(value);
    return std::int64_t(values_.size()) - 1;
  }
  /// Chooses the row with an infinity. @returns rows that don't depend on it
  std::vector<char> choose_known() {
    const int n = graph_.num_vertices;
    infinite_ = int(random_() % n);
    std::vector<char> known(n, 1);
    for (int v = infinite_; v < n; ++v) {
      known[v] = v != infinite_;
      for (auto k = graph_.row_map(v); k < graph_.row_map(v + 1); ++k)
        known[v] = known[v] && known[graph_.entries(k)];
    }
    return known;
  }
  /// By the contract of docs/accuracy.md for Accuracy::rowwise.
  void compare(const Scalar* b, const Scalar* x,
               const std::vector<char>& known) const {
    const int n = graph_.num_vertices;
    double largest = 0;
    for (int v = 0; v < n; ++v)
      if (known[v]) largest = std::max(largest, size_of(x[v]));
    for (int v = 0; v < n; ++v) {
      if (!known[v]) continue;
      const Scalar diagonal = values_[graph_.diagonal_value_index(v)];
      Scalar residual = diagonal * x[v] - b[v];
      double sum = size_of(diagonal);
      for (auto k = graph_.row_map(v); k < graph_.row_map(v + 1); ++k) {
        const Scalar value = values_[graph_.value_index(k)];
        residual += value * x[graph_.entries(k)];
        sum += size_of(value);
      }
      const double eps = std::numeric_limits<Real>::epsilon();
      ASSERT_LE(size_of(residual),
                100 * longest_ * eps * (sum * largest + size_of(b[v])))
          << "row " << v;
    }
  }

  std::mt19937 random_;
  Graph graph_;
  std::vector<Scalar> values_;
  double longest_ = 1;
  int infinite_ = -1;
};

/// Every kind of tile and group: narrow bands, rows with many entries, which a
/// team shares, tiles of few rows, rows without entries.
std::vector<std::pair<std::string, Graph>> graphs(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::set<int>> path(300), full(100), mixed(250);
  for (int v = 1; v < 300; ++v) path[v].insert(v - 1);
  for (int v = 0; v < 100; ++v)
    for (int u = 0; u < v; ++u) full[v].insert(u);
  for (int v = 1; v < 250; ++v) {
    if (v % 50 < 15) continue;
    for (int some = int(random() % 4); some > 0; --some)
      mixed[v].insert(int(random() % v));
    if (v % 50 == 0)
      for (int u = 0; u < v; u += 2) mixed[v].insert(u);
  }
  return {{"path", TestGraphs::make_graph(path)},
          {"full", TestGraphs::make_graph(full)},
          {"mixed", TestGraphs::make_graph(mixed)},
          {"band", TestGraphs::random_graph(200, 6.0, 30, seed)},
          {"far", TestGraphs::random_graph(150, 3.0, 150, seed)}};
}

template <class Scalar>
class TilesOnLanes : public testing::Test {};
using Scalars = testing::Types<float, double, Kokkos::complex<float>,
                               Kokkos::complex<double>>;
TYPED_TEST_SUITE(TilesOnLanes, Scalars);

TYPED_TEST(TilesOnLanes, SolvesAsSubstitutionDoes) {
  for (const auto& [name, graph] : graphs(1))
    for (const bool may_invert : {true, false}) {
      SCOPED_TRACE(name + (may_invert ? "" : ", row by row"));
      System<TypeParam> system(graph, 1, 0.7);
      system.check(1, may_invert);
      system.check(2, may_invert);
    }
}

TYPED_TEST(TilesOnLanes, SolvesBlocksOfRightHandSides) {
  constexpr int block = sizeof(TypeParam) > 8 ? 2 : 4;
  for (const auto& [name, graph] : graphs(3)) {
    SCOPED_TRACE(name);
    System<TypeParam> system(graph, 3, 0.7);
    system.template check<block>(2 * block, true);
    system.template check<block>(2 * block - 1, false);
  }
}

/// With weights, without, and where numbers leave no choice.
TYPED_TEST(TilesOnLanes, SolvesRuns) {
  constexpr bool is_complex =
      !std::is_same_v<TypeParam, Detail::RealOf<TypeParam>>;
  int with = 0, without = 0;
  for (const auto& [name, graph] : graphs(5))
    for (const double size : {0.4, 1.2, is_complex ? 1.8 : 3.0}) {
      SCOPED_TRACE(name + ", size " + std::to_string(size));
      System<TypeParam> system(graph, 5, size);
      system.template check<1, true>(1, true, 3);
      system.template check<1, true>(2, true, 5);
      with += system.runs_with_weights;
      without += system.runs_without;
    }
  EXPECT_GT(with, 0);
  EXPECT_GT(without, 0);
}

/// Values that grow, so that some tiles are inverted and others are not.
TYPED_TEST(TilesOnLanes, SolvesWhereNumbersGrow) {
  for (const auto& [name, graph] : graphs(4)) {
    SCOPED_TRACE(name);
    System<TypeParam>(graph, 4, 1.5).check(1, true);
  }
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
