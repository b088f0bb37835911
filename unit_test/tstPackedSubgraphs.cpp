// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <random>
#include <set>

#include "PackedSubgraphsCheck.hpp"
#include "Pairwise.hpp"

namespace Strata {
namespace PackedSubgraphsTest {
namespace {

std::int64_t num_values(const Graph& graph) {
  return 3 * (graph.num_edges() + graph.num_vertices) + 1;
}
GraphSubgraphPacker make_builder(const Graph& graph, const PackingShape& shape,
                                 const Team& team) {
  return {graph, with_team(shape, team), team.width, team.scalar_bytes};
}

/// Builds, checks, and builds again. False where there is no packed.
bool expect_stream(const Graph& graph, const PackingShape& shape,
                   const Team& team) {
  auto builder = make_builder(graph, shape, team);
  if (!builder.possible()) return false;
  const auto packed = on_host(builder.finish(num_values(graph)));
  EXPECT_EQ(packed.num_subgraphs(), builder.num_subgraphs());
  EXPECT_EQ(packed.max_local, builder.max_local());
  EXPECT_EQ(packed.width, team.width);
  EXPECT_EQ(packed.warps, team.warps);
  EXPECT_EQ(packed.row_lanes, team.row_lanes);
  PackedSubgraphsCheck(graph, packed, builder.critical_steps(), shape, team)
      .run();
  auto again = make_builder(graph, shape, team);
  EXPECT_EQ(again.critical_steps(), builder.critical_steps());
  expect_same(packed, on_host(again.finish(num_values(graph))));
  return true;
}

const std::vector<Team>& teams() {
  static const std::vector<Team> all = [] {
    std::vector<Team> made;
    for (const std::size_t scalar : {4, 8, 16})
      for (const int width : {1, 4, 32})
        made.push_back({width, width == 1 ? 1 : 4, scalar});
    made.push_back({32, 8, 8, 4});
    made.push_back({8, 8, 4, 2});
    return made;
  }();
  return all;
}

std::vector<std::pair<std::string, Graph>> graphs() {
  std::vector<std::pair<std::string, Graph>> all;
  for (const auto& [name, graph] : TestGraphs::all_graphs())
    if (graph.num_vertices > 0) all.emplace_back(name, graph);
  all.emplace_back("star", TestGraphs::star_graph(300));
  // Rows longer than 128, and than 64 records of any scalar.
  all.emplace_back("comb", TestGraphs::comb_graph(350, 50));
  all.emplace_back("long arrow", TestGraphs::arrow_graph(700));
  all.emplace_back("wide, then long",
                   TestGraphs::wide_then_long_graph(300, 40));
  all.emplace_back("long random rows",
                   TestGraphs::random_graph(300, 140.0, 300, 5));
  bool reversed = false;
  for (auto& [name, graph] : all)
    graph = TestGraphs::with_value_indices(graph, reversed = !reversed);
  return all;
}

/// Every graph in every shape, every graph with every team, every shape with
/// every team.
TEST(PackedSubgraphs, HoldEveryGraphInEveryShapeForEveryTeam) {
  // Bands of level sets, rows and scalars of a sub-graph, latency.
  const struct {
    std::string name;
    PackingShape shape;
    bool little_scratch;
    int made = 0, tried = 0;
  } all_shapes[] = {
      {"one sub-graph", {0, 1024, 4096, 8}, false},
      {"in order of substitution", {0, 50, 4096, 8}, false},
      {"bands", {5, 64, 4096, 8}, false},
      {"one level set each", {1, 1024, 4096, 3}, false},
      {"seven rows", {0, 7, 4096, 0}, false},
      {"seven rows in bands", {2, 7, 4096, 20}, false},
      {"single rows", {0, 1, 4096, 8}, false},
      {"little scratch", {0, 128, 90, 8}, true},
      {"bands in little scratch", {4, 128, 120, 8}, true},
  };
  auto shapes = std::vector(std::begin(all_shapes), std::end(all_shapes));
  const auto all_graphs = graphs();
  for (const auto& one : pairwise_cases(
           {int(all_graphs.size()), int(teams().size()), int(shapes.size())})) {
    const auto& [name, graph] = all_graphs[one[0]];
    const Team& team = teams()[one[1]];
    auto& shape = shapes[one[2]];
    SCOPED_TRACE(name + ", " + shape.name + ", " + std::to_string(team.width) +
                 " lanes, scalar " + std::to_string(team.scalar_bytes));
    shape.made += expect_stream(graph, shape.shape, team);
    ++shape.tried;
    if (testing::Test::HasFatalFailure()) return;
  }
  for (const auto& shape : shapes) {
    EXPECT_GT(shape.made, shape.tried / 2) << shape.name;
    EXPECT_TRUE(shape.made == shape.tried || shape.little_scratch)
        << shape.name;
  }
}

TEST(PackedSubgraphs, CutsSmallerUntilScratchIsEnough) {
  // 100 rows, the one before them and the zero are one scalar too many.
  const auto graph =
      TestGraphs::with_value_indices(TestGraphs::chain_graph(300), false);
  for (const Team& team : teams()) {
    EXPECT_EQ(make_builder(graph, {0, 100, 102, 8}, team).num_subgraphs(), 3);
    auto builder = make_builder(graph, {0, 100, 101, 8}, team);
    ASSERT_TRUE(builder.possible());
    EXPECT_GT(builder.num_subgraphs(), 3);
    EXPECT_LE(builder.max_local(), 101);
    EXPECT_TRUE(expect_stream(graph, {0, 100, 101, 8}, team));
  }
}

/// Graphs with more edges than one launch lists and sorts: of one, nearly all
/// edges lead from sub-graph to sub-graph, of the other, few.
TEST(PackedSubgraphs, HaveManyEdges) {
  const Team team{32, 4, 8};
  const int n = 60000;
  for (const int window : {n, 40}) {
    const auto graph = TestGraphs::with_value_indices(
        TestGraphs::random_graph(n, 6.0, window, 31), false);
    ASSERT_GT(graph.num_edges(), 300000);
    for (const PackingShape& shape :
         {PackingShape{0, 1024, 8000, 8}, PackingShape{20, 1024, 8000, 8},
          PackingShape{20, 1024, 4000, 8},
          PackingShape{0, 1024, window == n ? 4000 : 1100, 8}}) {
      SCOPED_TRACE(window);
      SCOPED_TRACE(shape.max_local);
      EXPECT_TRUE(expect_stream(graph, shape, team));
      // The largest that there may be fit.
      if (shape.max_local == 8000 && shape.band_levels == 0) {
        EXPECT_EQ(make_builder(graph, shape, team).num_subgraphs(), 59);
      }
    }
  }
}

TEST(PackedSubgraphs, IsImpossibleWhereARowNeedsTooMuch) {
  // However it is cut, the last row needs itself, 59 others and the zero.
  const auto graph =
      TestGraphs::with_value_indices(TestGraphs::dense_graph(60), false);
  for (const int band_levels : {0, 1, 7})
    for (const Team& team : teams()) {
      const PackingShape least{band_levels, 60, 61, 8};
      const PackingShape too_small{band_levels, 60, 60, 8};
      EXPECT_TRUE(make_builder(graph, least, team).possible());
      EXPECT_FALSE(make_builder(graph, too_small, team).possible());
    }
}

TEST(PackedSubgraphs, IsImpossibleWithoutRowsOrRoom) {
  const Graph one =
      TestGraphs::with_value_indices(TestGraphs::make_graph({{}}), false);
  for (const Team& team : teams()) {
    EXPECT_FALSE(make_builder(Graph{}, {}, team).possible());
    EXPECT_FALSE(make_builder(TestGraphs::make_graph({}), {}, team).possible());
    EXPECT_TRUE(expect_stream(one, {0, 1, 2, 8}, team));
    for (const int max_local : {1, 0, -5})
      EXPECT_FALSE(make_builder(one, {0, 1, max_local, 8}, team).possible());
  }
}

/// Level sets that are one band are cut as one band is, whatever its height.
TEST(PackedSubgraphs, FewLevelSetsAreOneBand) {
  const Team team{32, 4, 8};
  for (const auto& [name, graph] : graphs()) {
    SCOPED_TRACE(name);
    const int levels = find_level_sets(graph).num_levels;
    const PackingShape one{0, 40, 4096, 8}, two{levels - 1, 40, 4096, 8};
    auto whole = make_builder(graph, one, team);
    EXPECT_EQ(one.num_bands(levels), 1);
    EXPECT_EQ(whole.num_bands(), 1);
    for (const int band_levels : {levels, levels + 1, 3 * levels}) {
      const PackingShape high{band_levels, 40, 4096, 8};
      EXPECT_EQ(high.num_bands(levels), 1);
      auto builder = make_builder(graph, high, team);
      EXPECT_EQ(builder.num_bands(), 1);
      ASSERT_EQ(builder.possible(), whole.possible());
      if (!whole.possible()) continue;
      auto again = make_builder(graph, one, team);
      expect_same(on_host(builder.finish(num_values(graph))),
                  on_host(again.finish(num_values(graph))));
    }
    if (levels == 1) continue;
    EXPECT_EQ(two.num_bands(levels), 2);
    EXPECT_EQ(make_builder(graph, two, team).num_bands(), 2);
  }
}

/// Steps of all rows by their definition, which is in StepsOfRows.
struct ExpectedSteps {
  std::vector<int> of_row;
  int latest = 0;
};
/// @param rounded  an age as it is counted: the least of those that are counted
///                 together
template <class Rounded>
ExpectedSteps expected_steps(const Graph& graph,
                             const std::vector<int>& subgraph_of, int latency,
                             int entries, const Rounded& rounded) {
  ExpectedSteps all;
  for (int v = 0; v < graph.num_vertices; ++v) {
    const int g = subgraph_of[v];
    std::vector<int> known;
    for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k) {
      const int j = graph.entries(k);
      known.push_back(all.of_row[j] + (subgraph_of[j] == g ? 0 : latency));
    }
    const int newest =
        known.empty() ? 0 : *std::max_element(known.begin(), known.end());
    std::vector<int> ages;
    for (const int of : known) ages.push_back(rounded(newest - of));
    std::sort(ages.begin(), ages.end());
    int late = 0;
    // Those before place k are as new as the last of them, or newer.
    for (int k = 1; k <= int(ages.size()) && int(ages.size()) > entries; ++k)
      late = std::max(late, (k + entries - 1) / entries - ages[k - 1] - 1);
    all.of_row.push_back(newest + 1 + late);
    all.latest = std::max(all.latest, all.of_row[v]);
  }
  return all;
}
/// The highest `bits` bits of an age, where it has more.
int leading_bits(int age, int bits) {
  int dropped = 0;
  while (age >> dropped >= 1 << bits) ++dropped;
  return age >> dropped << dropped;
}

/// The steps that FindSteps finds.
template <int short_row = 0>
void expect_steps(const Graph& graph, int num_subgraphs, int latency,
                  int row_lanes) {
  using Space = Kokkos::DefaultExecutionSpace;
  using Steps = Detail::FindSteps<Space, short_row>;
  using Stages = typename Steps::Stages;
  using Memory = Space::memory_space;
  const Space exec;
  const std::int64_t n = graph.num_vertices;
  std::vector<int> subgraph_of(n);
  for (std::int64_t v = 0; v < n; ++v)
    subgraph_of[v] = int(v * num_subgraphs / n);
  Stages stages;
  stages.graph = mirror_graph(exec, graph);
  stages.latency = latency;
  stages.num_subgraphs = num_subgraphs;
  stages.packed.row_lanes = row_lanes;
  const auto device = [](const std::vector<int>& values) {
    return Detail::to_device<int, Memory>("values", values);
  };
  const auto of_row = device(subgraph_of), time = device(std::vector(n, -1));
  const Kokkos::View<std::int64_t*, Memory> count("count", Stages::num_counts);
  const Kokkos::View<unsigned*, Memory> ticket("ticket", 1);
  stages.subgraph_of = of_row.data();
  stages.time = time.data();
  stages.count = count.data();
  const ExpectedSteps expected = expected_steps(
      graph, subgraph_of, latency, stages.entries_a_step(),
      [](int age) { return age < 64 ? age : leading_bits(age, 4); });
  constexpr int team_size = Detail::is_gpu<Space> ? 128 : 1;
  Detail::LargeFunctorTeams<Space> policy(exec, 2, team_size);
  policy.set_scratch_size(0, Kokkos::PerTeam(Steps::scratch_bytes(team_size)));
  Kokkos::parallel_for("steps", policy,
                       Steps{stages, nullptr, ticket.data(), 1 << 20});
  exec.fence();

  const auto host = [](const auto& view) {
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  };
  const auto found = host(time);
  const auto counts = host(count);
  for (int v = 0; v < n; ++v)
    ASSERT_EQ(found(v), expected.of_row[v])
        << "row " << v << " of " << edges_into(graph, v) << " entries";
  EXPECT_EQ(counts(Stages::count_time), expected.latest);
}

TEST(PackedSubgraphs, CountStepsOfLongRows) {
  std::vector<std::pair<std::string, Graph>> long_rows{
      {"comb", TestGraphs::comb_graph(900, 300)},
      {"arrow", TestGraphs::arrow_graph(1500)},
      {"chain, then long", TestGraphs::wide_then_long_graph(30, 2000)},
      {"no long rows", TestGraphs::random_graph(500, 3.0, 500, 1)}};
  for (const unsigned seed : {2, 3, 4})
    for (const double degree : {40., 200., 500.})
      long_rows.emplace_back(
          "random, " + std::to_string(int(degree)),
          TestGraphs::random_graph(900, degree, seed == 4 ? 700 : 900, seed));
  // Most dependencies of a row are known in the same step.
  std::mt19937 random(8);
  std::vector<std::set<int>> of_few(600);
  for (int v = 200; v < 600; ++v)
    for (int wanted = 1 + v % 24; int(of_few[v].size()) < wanted;)
      of_few[v].insert(std::uniform_int_distribution<int>(
          0, wanted % 5 == 0 ? v - 1 : 199)(random));
  long_rows.emplace_back("no long rows, few level sets",
                         TestGraphs::make_graph(of_few));
  std::int64_t longest = 0;
  for (const auto& [name, graph] : long_rows) {
    for (int v = 0; v < graph.num_vertices; ++v)
      longest = std::max(longest, edges_into(graph, v));
    for (const int subgraphs : {1, 7})
      for (const int latency : {0, 8, 100})
        for (const int row_lanes : {1, 4}) {
          SCOPED_TRACE(name + ", " + std::to_string(subgraphs) +
                       " sub-graphs, latency " + std::to_string(latency) +
                       ", " + std::to_string(row_lanes) + " lanes");
          expect_steps(graph, subgraphs, latency, row_lanes);
          if (name.find("no long rows") == 0)
            expect_steps<24>(graph, subgraphs, latency, row_lanes);
          if (testing::Test::HasFailure()) return;
        }
  }
  EXPECT_GT(longest, 500);
}

/// The largest sub-graphs are taken that fit: with one halving less, which are
/// the chunks of half as many cuts, some need too much.
TEST(PackedSubgraphs, AreTheLargestThatFit) {
  std::set<int> numbers;
  for (const unsigned seed : {1, 2}) {
    const auto graph = TestGraphs::with_value_indices(
        TestGraphs::random_graph(3000, 3.0, 2900, seed), false);
    const Team team{32, 4, 8};
    const auto expect_largest = [&](int max_rows, int room) {
      const auto made = make_builder(graph, {0, max_rows, room, 8}, team);
      if (!made.possible()) return;
      SCOPED_TRACE("room for " + std::to_string(room));
      EXPECT_LE(made.max_local(), room);
      numbers.insert(made.num_subgraphs());
      if (made.num_subgraphs() == (3000 + max_rows - 1) / max_rows) return;
      const int chunks = made.num_subgraphs() / 2;
      const auto larger =
          make_builder(graph, {0, (3000 + chunks - 1) / chunks, 4000, 8}, team);
      ASSERT_EQ(larger.num_subgraphs(), chunks);
      EXPECT_GT(larger.max_local(), room);
    };
    for (int room = 60; room < 2400; room += room / 12)
      expect_largest(48, room);
    for (int room = 1001; room < 3000; room += 60) expect_largest(1000, room);
  }
  EXPECT_GT(numbers.size(), 3u);
}

/// Places are bytes of scratch in 16 bits, whatever room is asked for.
TEST(PackedSubgraphs, PlacesAreWithin64KiB) {
  for (const Team& team : {Team{1, 1, 4}, Team{4, 4, 8}, Team{32, 4, 16}}) {
    const int most = static_cast<int>(65536 / team.scalar_bytes);
    const PackingShape shape{0, 1 << 20, 1 << 20, 8};
    for (const int rows : {most - 2, most - 1, most, 2 * most - 4}) {
      SCOPED_TRACE(std::to_string(rows) + " rows");
      for (const auto& graph :
           {TestGraphs::make_graph(std::vector<std::set<int>>(rows)),
            TestGraphs::chain_graph(rows)}) {
        const auto with_value_indices =
            TestGraphs::with_value_indices(graph, false);
        EXPECT_TRUE(expect_stream(with_value_indices, shape, team));
        EXPECT_LE(make_builder(with_value_indices, shape, team).max_local(),
                  most);
      }
    }
  }
}

/// Origins of four bytes and of eight name the same values.
TEST(PackedSubgraphs, NumberValuesInFourBytesOrEight) {
  const auto graph =
      TestGraphs::with_value_indices(TestGraphs::grid_graph(23, 17), true);
  const PackingShape shape{0, 50, 4096, 8};
  const Team team{4, 4, 8};
  auto builder = make_builder(graph, shape, team);
  const auto packed = on_host(builder.finish(std::int64_t{1} << 33));
  ASSERT_GT(packed.value_index.wide.extent(0), 0u);
  ASSERT_GT(packed.diagonal_value_index.wide.extent(0), 0u);
  PackedSubgraphsCheck(graph, packed, builder.critical_steps(), shape, team)
      .run();
}

}  // namespace
}  // namespace PackedSubgraphsTest
}  // namespace Strata
