// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_TEST_STREAM_REPLAY_HPP
#define STRATA_TEST_STREAM_REPLAY_HPP

#include <gtest/gtest.h>

#include <algorithm>
#include <analysis/packing/PackedSubgraphs.hpp>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "TestGraphs.hpp"

namespace Strata {
namespace PackedSubgraphsTest {

using TestGraphs::Graph;
using HostPackedSubgraphs = PackedSubgraphs<Kokkos::HostSpace>;

template <class View>
auto on_host(const View& view) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
}
template <class Memory>
Detail::ValueIndex<Kokkos::HostSpace> on_host(
    const Detail::ValueIndex<Memory>& index) {
  Detail::ValueIndex<Kokkos::HostSpace> host;
  host.narrow = on_host(index.narrow);
  host.wide = on_host(index.wide);
  return host;
}
template <class Memory>
HostPackedSubgraphs on_host(const PackedSubgraphs<Memory>& s) {
  HostPackedSubgraphs host;
  host.num_rows = s.num_rows, host.num_exports = s.num_exports;
  host.width = s.width, host.warps = s.warps, host.entries = s.entries;
  host.row_lanes = s.row_lanes;
  host.max_local = s.max_local, host.max_steps = s.max_steps;
  host.num_steps = s.num_steps, host.num_records = s.num_records;
  host.bytes = on_host(s.bytes);
  host.subgraph = on_host(s.subgraph);
  host.import = on_host(s.import);
  host.record_row = on_host(s.record_row);
  host.record_lane = on_host(s.record_lane);
  host.step_warps = on_host(s.step_warps);
  host.row = on_host(s.row);
  host.diagonal_value_index = on_host(s.diagonal_value_index);
  host.value_index = on_host(s.value_index);
  return host;
}

/// All that a solve or the packing of values reads. (Descriptors have room
/// between members.)
inline void expect_same(const HostPackedSubgraphs& a,
                        const HostPackedSubgraphs& b) {
  const auto same = [](const auto& x, const auto& y, std::size_t count) {
    return x.extent(0) == y.extent(0) &&
           std::equal(x.data(), x.data() + count, y.data());
  };
  EXPECT_TRUE(same(a.bytes, b.bytes, a.bytes.extent(0)));
  EXPECT_TRUE(same(a.import, b.import, a.import.extent(0)));
  EXPECT_TRUE(same(a.record_row, b.record_row, a.record_row.extent(0)));
  EXPECT_TRUE(same(a.record_lane, b.record_lane, a.record_lane.extent(0)));
  EXPECT_TRUE(same(a.step_warps, b.step_warps, a.num_steps));
  EXPECT_TRUE(same(a.row, b.row, a.row.extent(0)));
  EXPECT_TRUE(
      same(a.value_index.narrow, b.value_index.narrow, a.value_index.size()));
  ASSERT_EQ(a.num_subgraphs(), b.num_subgraphs());
  for (int g = 0; g < a.num_subgraphs(); ++g) {
    const auto members = [](const PackedSubgraph& s) {
      std::vector<std::int64_t> all{
          s.lanes, s.first_import, s.first_step, s.steps,  s.first_permuted_row,
          s.rows,  s.first_export, s.exports,    s.imports};
      all.insert(all.end(), s.first_record, s.first_record + max_solving_warps);
      all.insert(all.end(), s.stages, s.stages + max_solving_warps);
      return all;
    };
    EXPECT_EQ(members(a.subgraph(g)), members(b.subgraph(g)));
  }
}

/// What a lane does in a step, places counted in scalars.
struct LaneWork {
  std::int64_t record;
  int lane;
  bool idle, publishes;
  int out;
  std::array<int, 5> dependency;
};
using StepWork = std::vector<LaneWork>;

/// Byte of the packed that holds byte `byte` of a lane's record, in a stage
/// that begins with record `first`.
inline std::int64_t byte_in_stage(const PackedRecord& shape, std::int64_t first,
                                  int lanes, int lane, int byte) {
  return first * shape.bytes + (byte / 16 * lanes + lane) * 16 + byte % 16;
}

/// The steps of sub-graph g, as the layout in
/// analysis/packing/PackedSubgraphs.hpp has them. A failure where that leads
/// out of the packed or leaves stages over.
inline std::vector<StepWork> decode(const HostPackedSubgraphs& packed,
                                    const PackedRecord& shape, int g) {
  const PackedSubgraph& mine = packed.subgraph(g);
  std::vector<StepWork> steps(mine.steps);
  int stage[max_solving_warps] = {};
  for (int k = 0; k < mine.steps; ++k)
    for (int w = 0; w < packed.step_warps(mine.first_step + k); ++w) {
      const std::int64_t first =
          mine.first_record[w] + std::int64_t(stage[w]++) * mine.lanes;
      if (first < 0 || first + mine.lanes > packed.num_records) {
        ADD_FAILURE() << "stage beyond the packed, step " << k;
        return {};
      }
      for (int lane = 0; lane < mine.lanes; ++lane) {
        const auto half = [&](int byte) {
          std::uint16_t value;
          const auto at = byte_in_stage(shape, first, mine.lanes, lane, byte);
          std::memcpy(&value, &packed.bytes(at), sizeof(value));
          return value;
        };
        LaneWork work{first + lane, lane, false, false, 0, {}};
        const unsigned out = half(shape.out_at());
        work.publishes = out & record_publishes;
        work.idle = out & record_idle;
        const int bytes = int(out & ~3u);
        EXPECT_EQ(bytes % shape.scalar_bytes, 0);
        work.out = bytes / shape.scalar_bytes;
        for (int e = 0; e < shape.entries; ++e) {
          EXPECT_EQ(half(shape.dependency_at(e)) % shape.scalar_bytes, 0);
          work.dependency[e] =
              half(shape.dependency_at(e)) / shape.scalar_bytes;
        }
        steps[k].push_back(work);
      }
    }
  for (int w = 0; w < max_solving_warps; ++w)
    EXPECT_EQ(stage[w], mine.stages[w]) << "warp " << w;
  return steps;
}

/// A number for everything that has one: the value at place k of the user's
/// values, or of row -1 - k of b.
inline std::uint64_t number(std::int64_t k) {
  std::uint64_t z = static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15u + 1;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  return z ^ (z >> 27);
}

/// x of the system with a unit diagonal and those numbers, by substitution
/// modulo 2^64: exact, whatever the order of the sums.
inline std::vector<std::uint64_t> substitute(const Graph& graph) {
  std::vector<std::uint64_t> x(graph.num_vertices);
  for (int v = 0; v < graph.num_vertices; ++v) {
    auto& mine = x[graph.row_of(v)];
    mine = number(-1 - graph.row_of(v));
    for (auto k = graph.row_map(v); k < graph.row_map(v + 1); ++k)
      mine -= number(graph.value_index(k)) * x[graph.row_of(graph.entries(k))];
  }
  return x;
}

/// The same from the packed alone, sub-graph after sub-graph and step after
/// step: within a step all lanes read before any of them writes.
inline std::vector<std::uint64_t> replay(const HostPackedSubgraphs& packed,
                                         const PackedRecord& shape) {
  std::vector<std::uint64_t> x(packed.num_rows), exported(packed.num_exports);
  std::vector<char> known(packed.num_exports, 0);
  for (int g = 0; g < packed.num_subgraphs(); ++g) {
    const PackedSubgraph& mine = packed.subgraph(g);
    std::vector<std::uint64_t> scratch(1 + mine.imports + mine.rows, 0);
    for (int i = 0; i < mine.imports; ++i) {
      const int from = packed.import(mine.first_import + i);
      EXPECT_TRUE(known.at(from)) << "import " << i << " of sub-graph " << g;
      scratch[1 + i] = exported[from];
    }
    const int first_row = 1 + mine.imports;
    for (int i = 0; i < mine.rows; ++i)
      scratch[first_row + i] =
          number(-1 - std::int64_t(packed.row(mine.first_permuted_row + i)));
    for (const StepWork& step : decode(packed, shape, g)) {
      std::vector<std::uint64_t> result;
      for (std::size_t l = 0; l < step.size(); ++l) {
        // The sum over all lanes that share the row.
        const std::size_t first = l - l % packed.row_lanes;
        result.push_back(scratch.at(step[l].out));
        for (int other = 0; other < packed.row_lanes; ++other) {
          const LaneWork& lane = step.at(first + other);
          for (int e = 0; e < shape.entries; ++e) {
            const auto origin =
                packed.value_index(lane.record * shape.entries + e);
            if (origin >= 0)
              result.back() -= number(origin) * scratch.at(lane.dependency[e]);
          }
        }
      }
      for (std::size_t l = 0; l < step.size(); ++l) {
        if (!step[l].idle) scratch[step[l].out] = result[l];
        if (!step[l].publishes) continue;
        const int to = mine.first_export + step[l].out - first_row;
        EXPECT_FALSE(known.at(to)) << "published twice";
        known[to] = 1;
        exported[to] = result[l];
      }
    }
    for (int i = 0; i < mine.rows; ++i)
      x[packed.row(mine.first_permuted_row + i)] = scratch[first_row + i];
  }
  return x;
}

}  // namespace PackedSubgraphsTest
}  // namespace Strata

#endif
