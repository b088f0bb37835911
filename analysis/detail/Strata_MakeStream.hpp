// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_MAKE_STREAM_HPP
#define STRATA_MAKE_STREAM_HPP

#include <Strata_DependencyGraph.hpp>
#include <Strata_LevelSets.hpp>
#include <Strata_SubgraphStream.hpp>
#include <algorithm>
#include <cstring>
#include <detail/Strata_ToDevice.hpp>
#include <numeric>

namespace Strata {
namespace Detail {

/// Lays the sub-graphs of a partition out as a stream, pattern only: values
/// and diagonals are filled in later.
class StreamBuilder {
 public:
  using Graph = DependencyGraph<Kokkos::HostSpace>;

  /// @param chunk_of     sub-graph of each vertex, in a valid sequence
  /// @param width        lanes that work together
  /// @param warps        groups of lanes that solve a sub-graph together
  /// @param scalar_bytes size of a value
  /// @param max_row_externals as in ChunkShape
  StreamBuilder(const Graph& graph, const LevelSets& levels,
                const std::vector<int>& chunk_of, int width, int warps,
                std::size_t scalar_bytes, int max_row_externals)
      : graph_(graph),
        levels_(levels),
        chunk_of_(chunk_of),
        width_(width),
        warps_(warps),
        steps_(pass_steps(scalar_bytes)),
        scalar_bytes_(scalar_bytes),
        max_row_externals_(max_row_externals) {
    mark_exports();
    order_rows();
    for (int p = 0; p < graph.num_vertices; ++p)
      if (int& number = export_of_[vertex_at_[p]]; number == 0)
        number = num_exports_++;
    local_of_.assign(graph.num_vertices, 0);
    external_for_.assign(graph.num_vertices, -1);
    for (std::size_t g = 0; g + 1 < first_position_.size(); ++g)
      add_subgraph(static_cast<int>(g));
  }

  /// Copies the stream to `MemorySpace`. Cost: its bytes.
  template <class MemorySpace>
  SubgraphStream<MemorySpace> finish(std::int64_t num_values) const {
    SubgraphStream<MemorySpace> stream;
    const int n = graph_.num_vertices;
    stream.num_rows = n;
    stream.num_exports = num_exports_;
    stream.max_local = max_local_;
    stream.warps = warps_;
    std::vector<unsigned> row(n);
    std::vector<std::int64_t> diagonal(n);
    for (int p = 0; p < n; ++p) {
      row[p] = static_cast<unsigned>(graph_.row_of(vertex_at_[p]));
      diagonal[p] = graph_.diagonal_origin(vertex_at_[p]);
    }
    const std::string label = "Strata::SubgraphStream::";
    stream.bytes =
        to_device<unsigned char, MemorySpace>(label + "bytes", bytes_);
    stream.subgraph =
        to_device<StreamSubgraph, MemorySpace>(label + "subgraph", subgraphs_);
    stream.external =
        to_device<int, MemorySpace>(label + "external", externals_);
    stream.pass = to_device<PassOrigin, MemorySpace>(label + "pass", passes_);
    stream.row = to_device<unsigned, MemorySpace>(label + "row", row);
    stream.diagonal_origin = OriginIndex<MemorySpace>(label + "diagonal_origin",
                                                      diagonal, num_values);
    stream.origin =
        OriginIndex<MemorySpace>(label + "origin", origins_, num_values);
    return stream;
  }

 private:
  std::int64_t length(int v) const {
    return graph_.row_map(v + 1) - graph_.row_map(v);
  }

  /// Rows of one level set that share passes.
  struct Group {
    int first_position, rows, log_lanes;
  };

  /// Positions: sub-graph by sub-graph, in each by level set, long rows first;
  /// cut into groups, in each of which exported rows come first.
  void order_rows() {
    const int n = graph_.num_vertices;
    int count = 0;
    for (int v = 0; v < n; ++v) count = std::max(count, chunk_of_[v] + 1);
    first_position_.assign(count + 1, 0);
    for (int v = 0; v < n; ++v) ++first_position_[chunk_of_[v] + 1];
    for (int g = 0; g < count; ++g)
      first_position_[g + 1] += first_position_[g];
    vertex_at_.resize(n);
    std::vector<int> next(first_position_);
    for (const int v : levels_.vertices) vertex_at_[next[chunk_of_[v]]++] = v;
    group_map_.assign(1, 0);
    for (int g = 0; g < count; ++g) {
      const int end = first_position_[g + 1];
      for (int p = first_position_[g]; p < end;) {
        const int level = levels_.level_of[vertex_at_[p]];
        int last = p;
        while (last < end && levels_.level_of[vertex_at_[last]] == level)
          ++last;
        std::stable_sort(vertex_at_.begin() + p, vertex_at_.begin() + last,
                         [&](int a, int b) { return length(a) > length(b); });
        while (p < last) p += add_group(p, last);
      }
      group_map_.push_back(static_cast<int>(groups_.size()));
    }
  }
  int add_group(int p, int last) {
    const std::int64_t longest = length(vertex_at_[p]);
    int log_lanes = 0;
    // Groups of 1, 4 or 16 lanes: see lane_group_sum_by_four.
    while ((4 << log_lanes) <= width_ && longest > std::int64_t{steps_}
                                                       << log_lanes)
      log_lanes += 2;
    const int rows = std::min(last - p, width_ >> log_lanes);
    std::stable_partition(vertex_at_.begin() + p, vertex_at_.begin() + p + rows,
                          [&](int v) { return export_of_[v] >= 0; });
    groups_.push_back({p, rows, log_lanes});
    return rows;
  }

  /// 0 for the vertices that other sub-graphs need, -1 for the rest.
  void mark_exports() {
    const int n = graph_.num_vertices;
    export_of_.assign(n, -1);
    for (int i = 0; i < n; ++i)
      for (auto k = graph_.row_map(i); k < graph_.row_map(i + 1); ++k) {
        const int j = graph_.entries(k);
        if (chunk_of_[j] != chunk_of_[i]) export_of_[j] = 0;
      }
  }

  struct Entry {
    int source;  // place in scratch, or export
    std::int64_t origin;
  };

  void add_subgraph(int g) {
    const int begin = first_position_[g], end = first_position_[g + 1];
    StreamSubgraph subgraph{};
    subgraph.first_position = begin;
    subgraph.rows = end - begin;
    subgraph.first_external = static_cast<std::int64_t>(externals_.size());
    // Exports are numbered by position.
    subgraph.first_export = exports_before_;
    for (int p = begin; p < end; ++p) local_of_[vertex_at_[p]] = 1 + p - begin;
    const std::size_t first_pass = passes_.size();
    exports_so_far_ = 0;
    for (Part& part : parts_) part = Part{};
    int level = -1, warp = 0;
    for (int k = group_map_[g]; k < group_map_[g + 1]; ++k) {
      const Group& group = groups_[k];
      const int its_level = levels_.level_of[vertex_at_[group.first_position]];
      if (its_level != level) ++subgraph.levels;
      level = its_level;
      add_rows(subgraph, group, parts_[warp]);
      warp = warp + 1 == warps_ ? 0 : warp + 1;
    }
    append_parts(subgraph, first_pass);
    subgraph.externals = static_cast<int>(
        static_cast<std::int64_t>(externals_.size()) - subgraph.first_external);
    subgraph.exports = exports_so_far_;
    exports_before_ += exports_so_far_;
    max_local_ = std::max(max_local_, 1 + subgraph.rows + subgraph.externals);
    subgraphs_.push_back(subgraph);
  }

  /// One warp's part of a sub-graph while it is made.
  struct Part {
    std::vector<unsigned char> bytes;
    std::size_t last_pass = 0;
    int room = stage_units;  // units left in the current stage
    int levels = 1;          // of the sub-graph, up to its last pass
  };

  /// Puts the warps' parts one after the other and tells the passes from
  /// `first_pass` on, which count from the start of their part, where they are.
  void append_parts(StreamSubgraph& subgraph, std::size_t first_pass) {
    for (int w = 0; w < warps_; ++w) {
      Part& part = parts_[w];
      if (!part.bytes.empty()) end_stage(part);
      subgraph.first_unit[w] = static_cast<std::int64_t>(bytes_.size() / 16);
      subgraph.units[w] = static_cast<int>(part.bytes.size() / 16);
      bytes_.insert(bytes_.end(), part.bytes.begin(), part.bytes.end());
    }
    for (std::size_t k = first_pass; k < passes_.size(); ++k)
      passes_[k].first_unit += subgraph.first_unit[pass_warp_[k - first_pass]];
    pass_warp_.clear();
  }

  /// All passes of a group of rows.
  void add_rows(const StreamSubgraph& subgraph, const Group& group,
                Part& part) {
    const int p = group.first_position, rows = group.rows;
    const int log_lanes = group.log_lanes;
    const int g = chunk_of_[vertex_at_[p]];
    std::vector<std::vector<Entry>>& near = near_;
    std::vector<std::vector<Entry>>& far = far_;
    near.resize(std::max<std::size_t>(near.size(), rows));
    far.resize(std::max<std::size_t>(far.size(), rows));
    for (int r = 0; r < rows; ++r) {
      near[r].clear();
      far[r].clear();
      const int v = vertex_at_[p + r];
      int outside = 0;
      for (auto k = graph_.row_map(v); k < graph_.row_map(v + 1); ++k)
        outside += chunk_of_[graph_.entries(k)] != g;
      const bool direct = outside > max_row_externals_;
      for (auto k = graph_.row_map(v); k < graph_.row_map(v + 1); ++k) {
        const int j = graph_.entries(k);
        if (chunk_of_[j] == g) {
          near[r].push_back({local_of_[j], graph_.origin(k)});
        } else if (direct) {
          far[r].push_back({export_of_[j], graph_.origin(k)});
        } else {
          // local_of_ of a vertex of an earlier sub-graph is free to hold its
          // place here; `external_for_` tells for which sub-graph it does.
          if (external_for_[j] != g) {
            external_for_[j] = g;
            local_of_[j] =
                1 + subgraph.rows +
                static_cast<int>(static_cast<std::int64_t>(externals_.size()) -
                                 subgraph.first_external);
            externals_.push_back(export_of_[j]);
          }
          near[r].push_back({local_of_[j], graph_.origin(k)});
        }
      }
    }
    const auto steps = [&](const std::vector<std::vector<Entry>>& lists) {
      std::size_t longest = 0;
      for (int r = 0; r < rows; ++r)
        longest = std::max(longest, lists[r].size());
      return static_cast<int>((longest + (1u << log_lanes) - 1) >> log_lanes);
    };
    const int near_steps = steps(near), far_steps = steps(far);

    // A row without entries still needs one pass to finish.
    for (int s = 0; s < std::max(near_steps, far_steps ? 0 : 1); s += steps_)
      add_pass(subgraph, part, p, rows, log_lanes, near, s,
               std::min(steps_, near_steps - s), false,
               s + steps_ >= near_steps && far_steps == 0);
    for (int s = 0; s < far_steps; s += steps_)
      add_pass(subgraph, part, p, rows, log_lanes, far, s,
               std::min(steps_, far_steps - s), true, s + steps_ >= far_steps);
  }

  void add_pass(const StreamSubgraph& subgraph, Part& part, int p, int rows,
                int log_lanes, const std::vector<std::vector<Entry>>& lists,
                int first_step, int steps, bool direct, bool finishes) {
    const int per_row = 1 << log_lanes, active = rows * per_row;
    const std::size_t values = std::size_t(steps) * active;
    const auto aligned = [&](std::size_t bytes) {
      return (bytes + scalar_bytes_ - 1) / scalar_bytes_ * scalar_bytes_;
    };
    const std::size_t source_offset =
        sizeof(StreamPass) + values * scalar_bytes_;
    const std::size_t diagonal_offset =
        aligned(source_offset + values * (direct ? 4 : 2));
    const int size =
        static_cast<int>((diagonal_offset + rows * scalar_bytes_ + 15) / 16);
    int exported = 0;
    if (finishes)
      while (exported < rows && export_of_[vertex_at_[p + exported]] >= 0)
        ++exported;
    const auto halves = [](std::size_t low, std::size_t high) {
      return static_cast<std::uint32_t>(low | high << 16);
    };
    StreamPass header;
    header.first_row_need = halves(1 + p - subgraph.first_position,
                                   externals_.size() - subgraph.first_external);
    header.offsets = halves(source_offset, diagonal_offset);
    header.first_export_size =
        halves(exports_so_far_, size | (subgraph.levels - part.levels) << 12);
    part.levels = subgraph.levels;
    header.shape = static_cast<std::uint32_t>(active | log_lanes << 8 |
                                              steps << 12 | exported << 16) |
                   (finishes ? pass_finishes : 0u) |
                   (direct ? pass_reads_exports : 0u);
    exports_so_far_ += exported;

    if (size > part.room) {
      end_stage(part);
      part.bytes.resize(part.bytes.size() + 16 * std::size_t(part.room), 0);
      part.room = stage_units;
    }
    part.room -= size;
    const std::size_t at = part.bytes.size();
    part.last_pass = at;
    part.bytes.resize(at + 16 * std::size_t(size), 0);
    std::memcpy(part.bytes.data() + at, &header, sizeof header);
    passes_.push_back({static_cast<std::int64_t>(at / 16),
                       static_cast<std::int64_t>(origins_.size()), p});
    pass_warp_.push_back(static_cast<int>(&part - parts_));
    unsigned char* const index = part.bytes.data() + at + source_offset;
    for (int s = 0; s < steps; ++s)
      for (int l = 0; l < active; ++l) {
        const auto& list = lists[l >> log_lanes];
        const std::size_t e =
            std::size_t(first_step + s) * per_row + l % per_row;
        // Padding multiplies zero by the scratch's zero; where exports are
        // read, it has no number.
        const bool used = e < list.size();
        origins_.push_back(used ? list[e].origin : -1);
        const std::size_t slot = std::size_t(s) * active + l;
        if (direct) {
          const std::int32_t source = used ? list[e].source : -1;
          std::memcpy(index + 4 * slot, &source, 4);
        } else {
          const std::uint16_t source =
              static_cast<std::uint16_t>(used ? list[e].source : 0);
          std::memcpy(index + 2 * slot, &source, 2);
        }
      }
  }

  /// Tells the pass that was added last that its stage ends with it.
  static void end_stage(Part& part) {
    unsigned char* const at = part.bytes.data() + part.last_pass;
    StreamPass header;
    std::memcpy(&header, at, sizeof header);
    header.shape |= pass_ends_stage;
    std::memcpy(at, &header, sizeof header);
  }

  const Graph& graph_;
  const LevelSets& levels_;
  const std::vector<int>& chunk_of_;
  int width_, warps_, steps_;
  std::size_t scalar_bytes_;
  int max_row_externals_;

  std::vector<int> first_position_, vertex_at_, export_of_, local_of_;
  std::vector<int> external_for_, group_map_;
  std::vector<Group> groups_;
  int num_exports_ = 0, max_local_ = 1, exports_so_far_ = 0,
      exports_before_ = 0;
  std::vector<unsigned char> bytes_;
  std::vector<StreamSubgraph> subgraphs_;
  std::vector<int> externals_;
  std::vector<PassOrigin> passes_;
  std::vector<std::int64_t> origins_;
  std::vector<std::vector<Entry>> near_, far_;
  Part parts_[max_solving_warps];
  std::vector<int> pass_warp_;
};

}  // namespace Detail
}  // namespace Strata

#endif
