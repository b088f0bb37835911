// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_STREAM_CHECK_HPP
#define STRATA_TEST_STREAM_CHECK_HPP

#include <Strata_LevelSets.hpp>
#include <algorithm>
#include <analysis/packing/PackSubgraphs.hpp>
#include <core/memory/ToDevice.hpp>
#include <limits>
#include <set>

#include "PackedSubgraphsReplay.hpp"

namespace Strata {
namespace PackedSubgraphsTest {

using Detail::PackingShape;

/// Who is to consume a packed.
struct Team {
  int width, warps;
  std::size_t scalar_bytes;
  int row_lanes = 1;
};
inline PackingShape with_team(PackingShape shape, const Team& team) {
  shape.team[0] = {team.row_lanes, team.warps};
  return shape;
}

inline std::int64_t edges_into(const Graph& graph, int v) {
  return graph.row_map(v + 1) - graph.row_map(v);
}

/// A graph's level sets, and the level of each vertex on the device.
struct DeviceLevels {
  using Space = Kokkos::DefaultExecutionSpace;

  explicit DeviceLevels(const Graph& graph)
      : levels(find_level_sets(graph)),
        level(Detail::to_device<int, Space::memory_space>("level",
                                                          levels.level_of)) {}

  LevelSets levels;
  Kokkos::View<int*, Space::memory_space> level;
};

/// A builder with the level sets that it reads. (Its own Graph is a device's.)
struct GraphSubgraphPacker
    : DeviceLevels,
      Detail::SubgraphPacker<Kokkos::DefaultExecutionSpace> {
  GraphSubgraphPacker(const TestGraphs::Graph& graph, const PackingShape& shape,
                      int width, std::size_t scalar_bytes)
      : DeviceLevels(graph),
        SubgraphPacker(Space(), mirror_graph(Space(), graph), level.data(),
                       levels.num_levels, longest_row(graph), shape, width,
                       scalar_bytes) {}

 private:
  static std::int64_t longest_row(const TestGraphs::Graph& graph) {
    std::int64_t longest = 0;
    for (int v = 0; v < graph.num_vertices; ++v)
      longest = std::max(longest, edges_into(graph, v));
    return longest;
  }
};

/// A graph's packed held against what is promised of it.
class PackedSubgraphsCheck {
 public:
  /// @param critical_steps  on the longest path, as SubgraphPacker says
  PackedSubgraphsCheck(const Graph& graph, const HostPackedSubgraphs& packed,
                       int critical_steps, const PackingShape& shape,
                       const Team& team)
      : graph_(graph),
        packed_(packed),
        critical_steps_(critical_steps),
        shape_(shape),
        record_(team.scalar_bytes),
        entries_a_step_(record_.entries * team.row_lanes),
        vertex_at_(graph.num_vertices),
        permuted_row_of_(graph.num_vertices, -1),
        subgraph_of_(graph.num_vertices),
        export_of_(graph.num_vertices, -1) {}

  void run() {
    for (const auto check :
         {&PackedSubgraphsCheck::permuted_rows,
          &PackedSubgraphsCheck::subgraphs, &PackedSubgraphsCheck::exports,
          &PackedSubgraphsCheck::records, &PackedSubgraphsCheck::steps}) {
      (this->*check)();
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(replay(packed_, record_), substitute(graph_));
  }

 private:
  void permuted_rows() {
    ASSERT_EQ(packed_.num_rows, graph_.num_vertices);
    for (int p = 0; p < packed_.num_rows; ++p) {
      ASSERT_LT(packed_.row(p), unsigned(packed_.num_rows));
      const int v = graph_.row_of(int(packed_.row(p)));
      ASSERT_EQ(permuted_row_of_[v], -1) << "vertex " << v << " twice";
      permuted_row_of_[v] = p;
      vertex_at_[p] = v;
      ASSERT_EQ(packed_.diagonal_value_index(p),
                graph_.diagonal_value_index(v));
    }
  }

  /// Descriptors follow each other without gaps, within all limits.
  void subgraphs() {
    int permuted_row = 0, exports = 0, largest = 0, most_steps = 0;
    std::int64_t imports = 0, step = 0, records = 0;
    for (int g = 0; g < packed_.num_subgraphs(); ++g) {
      const PackedSubgraph& s = packed_.subgraph(g);
      ASSERT_EQ(s.first_permuted_row, permuted_row);
      ASSERT_EQ(s.first_export, exports);
      ASSERT_EQ(s.first_import, imports);
      ASSERT_EQ(s.first_step, step);
      ASSERT_GE(s.rows, 1);
      ASSERT_LE(s.rows, shape_.max_rows);
      ASSERT_LE(s.exports, s.rows);
      ASSERT_GE(s.lanes, 1);
      ASSERT_LE(s.lanes, packed_.width);
      ASSERT_EQ(s.lanes & (s.lanes - 1), 0);
      for (int i = 0; i < s.rows; ++i)
        subgraph_of_[vertex_at_[permuted_row + i]] = g;
      for (int e = 0; e < s.exports; ++e)
        export_of_[vertex_at_[permuted_row + e]] = exports + e;
      for (int k = 0; k < s.steps; ++k) {
        ASSERT_GE(packed_.step_warps(step + k), 1);
        ASSERT_LE(packed_.step_warps(step + k), packed_.warps);
      }
      for (int w = 0; w < max_solving_warps; ++w)
        records += std::int64_t(s.stages[w]) * s.lanes;
      largest = std::max(largest, 1 + s.imports + s.rows);
      most_steps = std::max(most_steps, s.steps);
      permuted_row += s.rows, exports += s.exports;
      imports += s.imports, step += s.steps;
    }
    EXPECT_EQ(permuted_row, packed_.num_rows);
    EXPECT_EQ(exports, packed_.num_exports);
    EXPECT_EQ(imports, std::int64_t(packed_.import.extent(0)));
    EXPECT_EQ(step, packed_.num_steps);
    EXPECT_EQ(records, packed_.num_records);
    EXPECT_EQ(records * record_.bytes, std::int64_t(packed_.bytes.extent(0)));
    EXPECT_EQ(largest, packed_.max_local);
    EXPECT_LE(largest, shape_.max_local);
    EXPECT_EQ(most_steps, packed_.max_steps);
  }

  /// Rows are exported where other sub-graphs need them, which come later; what
  /// a sub-graph imports is exported by earlier ones, and imported once.
  void exports() {
    std::vector<char> needed(graph_.num_vertices, 0);
    for (int v = 0; v < graph_.num_vertices; ++v)
      for (auto k = graph_.row_map(v); k < graph_.row_map(v + 1); ++k) {
        const int j = graph_.entries(k);
        ASSERT_LE(subgraph_of_[j], subgraph_of_[v]);
        if (subgraph_of_[j] < subgraph_of_[v]) needed[j] = 1;
      }
    for (int v = 0; v < graph_.num_vertices; ++v)
      EXPECT_EQ(export_of_[v] >= 0, needed[v] != 0) << "vertex " << v;
    for (int g = 0; g < packed_.num_subgraphs(); ++g) {
      const PackedSubgraph& s = packed_.subgraph(g);
      std::set<int> distinct;
      for (int i = 0; i < s.imports; ++i) {
        const int from = packed_.import(s.first_import + i);
        EXPECT_TRUE(distinct.insert(from).second);
        ASSERT_GE(from, 0);
        ASSERT_LT(from, s.first_export);
      }
    }
  }

  void records() {
    record_used_.assign(packed_.num_records, 0);
    edge_used_.assign(graph_.num_edges(), 0);
    records_of_.assign(graph_.num_vertices, 0);
    for (int g = 0; g < packed_.num_subgraphs(); ++g) {
      SCOPED_TRACE("sub-graph " + std::to_string(g));
      records_of_subgraph(g);
      if (testing::Test::HasFatalFailure()) return;
    }
    for (const auto& used : {record_used_, edge_used_})
      EXPECT_EQ(std::count(used.begin(), used.end(), 1),
                std::int64_t(used.size()));
    for (int v = 0; v < graph_.num_vertices; ++v)
      EXPECT_EQ(records_of_[v], fewest_records(v)) << "vertex " << v;
  }
  void records_of_subgraph(int g) {
    const PackedSubgraph& s = packed_.subgraph(g);
    const auto steps = decode(packed_, record_, g);
    ASSERT_EQ(int(steps.size()), s.steps);
    std::vector<int> written(1 + s.imports + s.rows, -1);  // the last step
    for (int k = 0; k < s.steps; ++k)
      for (const LaneWork& work : steps[k]) {
        if (work.idle) continue;
        ASSERT_GT(work.out, s.imports);
        ASSERT_LE(work.out, s.imports + s.rows);
        ASSERT_LT(written[work.out], k) << "written twice in a step";
        written[work.out] = k;
      }
    std::vector<int> first_need(s.imports, std::numeric_limits<int>::max());
    for (int k = 0; k < s.steps; ++k) {
      bool last_warp_works = false;
      for (std::size_t l = 0; l < steps[k].size(); ++l) {
        const LaneWork& work = steps[k][l];
        last_warp_works |= !work.idle && l + s.lanes >= steps[k].size();
        ASSERT_FALSE(record_used_[work.record]);
        record_used_[work.record] = 1;
        const int packed = packed_.record_lane(work.record);
        ASSERT_EQ(packed & 31, work.lane);
        ASSERT_EQ(1 << (packed >> 5), s.lanes);
        const int permuted_row = packed_.record_row(work.record);
        const LaneWork& owner = steps[k][l - l % packed_.row_lanes];
        if (work.idle) {
          // Nothing to do, or products for the first lane of several.
          ASSERT_FALSE(work.publishes);
          ASSERT_EQ(work.out, permuted_row < 0 ? 0 : owner.out);
          ASSERT_EQ(permuted_row, packed_.record_row(owner.record));
          ASSERT_EQ(permuted_row < 0, owner.idle);
        } else {
          ASSERT_EQ(&work, &owner);
          ASSERT_EQ(permuted_row,
                    s.first_permuted_row + work.out - 1 - s.imports);
          const int v = vertex_at_[permuted_row];
          ++records_of_[v];
          ASSERT_EQ(work.publishes,
                    written[work.out] == k && export_of_[v] >= 0);
        }
        entries_of_record(work, g, k, written, first_need);
        if (testing::Test::HasFatalFailure()) return;
      }
      ASSERT_TRUE(last_warp_works) << "step " << k;
    }
    // In the order of need, and each is needed.
    for (int i = 0; i < s.imports; ++i)
      ASSERT_LT(first_need[i], s.steps) << "import " << i;
    ASSERT_TRUE(std::is_sorted(first_need.begin(), first_need.end()));
  }
  void entries_of_record(const LaneWork& work, int g, int step,
                         const std::vector<int>& written,
                         std::vector<int>& first_need) {
    const PackedSubgraph& s = packed_.subgraph(g);
    for (int e = 0; e < record_.entries; ++e) {
      const auto origin =
          packed_.value_index(work.record * record_.entries + e);
      const int dependency = work.dependency[e];
      if (origin < 0) {
        ASSERT_EQ(origin, -1);
        ASSERT_EQ(dependency, 0);
        continue;
      }
      ASSERT_GE(packed_.record_row(work.record), 0);
      const int v = vertex_at_[packed_.record_row(work.record)];
      const std::int64_t edge = (origin - 1) / 3;  // see with_value_indices
      ASSERT_GE(edge, graph_.row_map(v));
      ASSERT_LT(edge, graph_.row_map(v + 1));
      ASSERT_EQ(graph_.value_index(edge), origin);
      ASSERT_FALSE(edge_used_[edge]);
      edge_used_[edge] = 1;
      const int j = graph_.entries(edge);
      if (subgraph_of_[j] == g) {
        ASSERT_EQ(dependency,
                  1 + s.imports + permuted_row_of_[j] - s.first_permuted_row);
        ASSERT_LT(written[dependency], step) << "read before it is final";
      } else {
        ASSERT_GE(dependency, 1);
        ASSERT_LE(dependency, s.imports);
        ASSERT_EQ(packed_.import(s.first_import + dependency - 1),
                  export_of_[j]);
        first_need[dependency - 1] = std::min(first_need[dependency - 1], step);
      }
    }
  }
  int fewest_records(int v) const {
    return std::max<int>(1, int((edges_into(graph_, v) + entries_a_step_ - 1) /
                                entries_a_step_));
  }

  /// A row's last record can't come sooner than its dependencies allow that are
  /// newest, next to newest and so on; one that waits for all dependencies
  /// before its first record comes no sooner than need be.
  void steps() {
    const int n = graph_.num_vertices;
    std::vector<int> least(n), most(n);
    for (int v = 0; v < n; ++v) {
      std::vector<int> known, known_late;
      for (auto k = graph_.row_map(v); k < graph_.row_map(v + 1); ++k) {
        const int j = graph_.entries(k);
        const int latency =
            subgraph_of_[j] == subgraph_of_[v] ? 0 : shape_.latency;
        known.push_back(least[j] + latency);
        known_late.push_back(most[j] + latency);
      }
      std::sort(known.rbegin(), known.rend());
      least[v] = 1;
      for (int r = 0; r < int(known.size()); r += entries_a_step_)
        least[v] = std::max(least[v], known[r] + 1 + r / entries_a_step_);
      const auto latest =
          std::max_element(known_late.begin(), known_late.end());
      most[v] = (latest == known_late.end() ? 0 : *latest) + fewest_records(v);
    }
    EXPECT_GE(critical_steps_, find_level_sets(graph_).num_levels);
    EXPECT_GE(critical_steps_, *std::max_element(least.begin(), least.end()));
    EXPECT_LE(critical_steps_, *std::max_element(most.begin(), most.end()));
  }

  const Graph& graph_;
  const HostPackedSubgraphs& packed_;
  const int critical_steps_;
  const PackingShape shape_;
  const PackedRecord record_;
  const int entries_a_step_;
  std::vector<int> vertex_at_, permuted_row_of_, subgraph_of_, export_of_;
  std::vector<int> records_of_;
  std::vector<char> record_used_, edge_used_;
};

}  // namespace PackedSubgraphsTest
}  // namespace Strata

#endif
