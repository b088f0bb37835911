// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_PACK_SUBGRAPHS_HPP
#define STRATA_ANALYSIS_PACKING_PACK_SUBGRAPHS_HPP

#include <algorithm>
#include <analysis/merging/MergeSubgraphRows.hpp>
#include <analysis/packing/PackingStages.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <cmath>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Sort.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/Arena.hpp>
#include <core/memory/PlanStorage.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace Strata {
namespace Detail {

/// How to cut a graph into sub-graphs.
struct PackingShape {
  /// Bands of this many consecutive level sets; 0: one band, so that chunks
  /// are of rows in the order of substitution.
  int band_levels = 0;
  /// Rows of a sub-graph at most.
  int max_rows = 1024;
  /// Rows, distinct outside sources and the scratch's zero together; a team may
  /// have less room.
  int max_local = 4096;
  /// Steps a value from another sub-graph is expected to take.
  int latency = 8;
  /// Level sets taken at a time, see MergedSubgraphRows; 1: rows stay as they
  /// are, 0: as many as a sample of the rows says is best.
  int merged_levels = 1;
  /// Teams to choose from; with a second one where there is a choice, for rows
  /// of many entries. 0 or 1 for that team, -1: what the sample says is better.
  PackedTeam team[2] = {};
  int which_team = 0;
  /// By vertex, RowStatus::stays: the row is not merged with others, and others
  /// wait for it. Null: no row has to.
  const int* unmerged = nullptr;
};
/// A step of the second team takes so much longer.
constexpr double second_team_cost = 1.35;
/// Level sets are taken several at a time in plans of so many times the bytes
/// of the matrix at most.
constexpr double max_merged_memory = 5.3;

/// A packed in the making: first where every row goes and when (which tells
/// what a solve will cost), then the packed itself.
///
/// Sub-graphs are numbered band by band and upward in a band. An edge leads
/// from a lower band, or from a smaller vertex of the same band, so never to a
/// smaller number: their order is a valid sequence.
template <class ExecutionSpace>
class SubgraphPacker {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Graph = DependencyGraph<Memory>;

  /// @param level        level of each vertex, from 0; not read for one band of
  ///                     rows that stay as they are
  /// @param longest_row  most edges into a vertex: a row of many is dealt to
  ///                     many lanes
  /// @param width        lanes of a warp
  /// @param pool         for arrays, if there is one: it has to live until
  ///                     `exec` has been waited for
  /// @param by_level     the vertices in the order of their levels, if known
  /// Cost: a few launches over rows and edges, two sorts, and the longest path
  /// of the graph at a few reads through memory a row. Fences `exec`.
  SubgraphPacker(const ExecutionSpace& exec, const Graph& graph,
                 const int* level, int num_levels, std::int64_t longest_row,
                 const PackingShape& shape, int width, std::size_t scalar_bytes,
                 typename WorkPool<ExecutionSpace>::Pointer pool = {},
                 const int* by_level = nullptr)
      : exec_(exec),
        longest_row_(longest_row),
        by_level_(by_level),
        num_levels_(num_levels),
        pool_(std::move(pool)) {
    stages_.graph = graph;
    stages_.record = PackedRecord(scalar_bytes);
    stages_.level = level;
    stages_.latency = shape.latency;
    stages_.packed.width = width;
    stages_.packed.entries = stages_.record.entries;
    shape_ = shape;
    team_ = shape.which_team;
    num_teams_ = shape.team[1].row_lanes > shape.team[0].row_lanes ? 2 : 1;
    stages_.packed.num_rows = graph.num_vertices;
    if (graph.num_edges() >= std::numeric_limits<int>::max() ||
        graph.num_vertices == 0)
      return;
    const auto max_local = [&] {
      return std::min({shape.max_local, shape.team[team_ > 0 ? 1 : 0].max_local,
                       static_cast<int>(65536 / scalar_bytes) - 1});
    };
    const int most_rows = std::min(shape.max_rows, max_local() - 1);
    int rows = most_rows;
    owns_pool_ = !pool_;
    if (owns_pool_)
      pool_ = std::make_shared<WorkPool<ExecutionSpace>>(
          exec, workspace_bytes(graph.num_vertices, graph.num_edges()));
    sequence_.emplace(exec, *pool_);
    stages_.count = pool_->zeros(Stages::num_counts);
    const Graph given = graph;
    // A group has no more level sets than there are.
    const int merged_levels =
        std::min(shape.merged_levels, std::max(num_levels, 1));
    merged_levels_ = merged_levels;
    bool again = false;
    do {
      if (rows < 1) return;
      again = false;
      stages_.graph = given;
      fits_ = partition(num_levels, shape.band_levels, rows, max_local);
      if (!fits_ && shape.which_team < 0 && team_ == 1 && rows < 512) {
        // The other team has more room.
        team_ = 0;
        merged_levels_ = merged_levels;
        rows = most_rows;
        again = true;
        continue;
      }
      rows /= 2;
    } while (again || (!fits_ && rows >= 16));
    // A stage has a record at least, and at most as many as a warp has lanes.
    fits_ = fits_ && stages_.num_tasks <
                         std::numeric_limits<int>::max() / stages_.packed.width;
  }
  /// Bytes that the builder's arrays take, about.
  static std::size_t workspace_bytes(std::int64_t rows, std::int64_t edges) {
    return std::size_t(rows) * 200 + std::size_t(edges) * 80;
  }

  /// False where scratch can't hold the outside values of a few rows, or 32
  /// bits the edges: there is no packed then.
  bool possible() const { return fits_; }
  int num_subgraphs() const { return stages_.num_subgraphs; }
  std::int64_t num_imports() const { return stages_.num_uniques; }
  /// Steps on the longest path, a value from another sub-graph counted as
  /// `latency` steps more.
  int critical_steps() const { return critical_steps_; }
  int max_local() const { return max_local_; }
  /// Rows of a sub-graph at most: fewer than asked for where scratch can't hold
  /// the outside values of more.
  int max_rows() const { return stages_.max_rows; }
  /// Level sets taken at a time, and terms and sources of the rows then.
  int merged_levels() const { return merged_levels_; }
  int team() const { return team_; }
  /// Steps that all sub-graphs together have at least; how much longer than one
  /// of the first team such a step takes.
  double team_steps() const {
    return double(stages_.num_tasks) * stages_.packed.row_lanes /
           (stages_.packed.width * stages_.packed.warps);
  }
  double step_cost() const { return team_ == 0 ? 1. : second_team_cost; }
  std::int64_t num_terms() const { return num_terms_; }
  std::int64_t num_sources() const { return stages_.graph.num_edges(); }
  double external_share() const {
    const auto edges = stages_.graph.num_edges();
    return edges > 0 ? double(stages_.num_externals) / double(edges) : 0.;
  }

  /// The packed, without values. Cost: two sorts and a few launches over rows,
  /// edges and records, and a wait of the host.
  PackedSubgraphs<Memory> finish(std::int64_t num_values) {
    auto& p = stages_;
    auto& packed = p.packed;
    const std::int64_t n = p.graph.num_vertices, edges = p.graph.num_edges();
    packed.num_exports = num_exports_;
    packed.num_imports = p.num_uniques;
    packed.max_local = max_local_;
    packed.critical_steps = critical_steps_;

    const std::int64_t tasks = p.num_tasks;
    pool_->take(p.task_key, tasks);
    pool_->take(p.task, tasks);
    pool_->take(p.task_row, tasks);
    pool_->take(p.run_of, tasks);
    pool_->take(p.run_first, tasks);
    pool_->take(p.place_of, tasks);
    // There are no more steps than tasks.
    pool_->take(p.step_records, tasks);
    pool_->take(p.step_subgraph, tasks);
    pool_->take(p.record_of, tasks * packed.warps + 1);
    pool_->take(p.step_first, p.num_subgraphs + 1);
    pool_->take(p.run_count, p.num_subgraphs);
    pool_->take(p.lanes_of, p.num_subgraphs);
    pool_->take(p.subgraph, p.num_subgraphs);
    pool_->take(p.slot_of, edges);
    pool_->take(p.need_key, p.num_uniques);
    pool_->take(p.need_unique, p.num_uniques);
    pool_->take(p.unique_local, p.num_uniques);
    run("prepare_tasks", EachStage<typename Stages::PrepareTasks>{n});
    sort(p.task_key, p.task, tasks, p.time_bits + bits_for(p.num_subgraphs));
    run("steps", SumStage<typename Stages::RunScan>{tasks},
        EachStage<typename Stages::ChooseLanes>{p.num_subgraphs},
        SumStage<typename Stages::StepScan>{tasks},
        SumStage<typename Stages::StageScan>{
            {tasks * packed.warps, p.count + Stages::count_stages}},
        SumStage<typename Stages::ImportScan>{p.num_subgraphs},
        EachStage<typename Stages::DescribeSubgraphs>{p.num_subgraphs});
    fetch_counts();
    p.num_steps = packed.num_steps = counts_[Stages::count_steps];
    packed.max_steps = static_cast<int>(counts_[Stages::count_most_steps]);
    packed.num_records = counts_[Stages::count_records];

    if (merged_levels_ > 1) {
      pool_->take(p.value_place, edges);
      pool_->take(p.value_rank, edges);
      pool_->take(p.task_place, tasks);
    }
    allocate_stream(num_values);
    run("begin", EachStage<typename Stages::BeginPacking>{
                     std::max({n, p.num_steps * packed.warps,
                               packed.value_index.size(), p.num_uniques})});
    rank_edges();
    sort(p.need_key, p.need_unique, p.num_uniques, bits_for(p.num_steps));
    run("fill_rows",
        EachStage<typename Stages::FillRows>{std::max(p.num_uniques, tasks)});
    for_each_row("Strata::SubgraphPacker::fill_edges", exec_, n, edges,
                 typename Stages::FillEdges{p});
    if (merged_levels_ > 1) {
      run("task_places", EachStage<typename Stages::TaskPlaces>{tasks});
      keep_merged(num_values);
    }
    // Whoever gave the pool waits before it ends.
    if (owns_pool_) exec_.fence();
    return packed;
  }

 private:
  using Stages = PackingStages<Memory>;

  /// The arrays of the packed, in one allocation.
  void allocate_stream(std::int64_t num_values) {
    auto& p = stages_;
    auto& packed = p.packed;
    const std::int64_t n = p.graph.num_vertices, records = packed.num_records;
    packed.storage = make_plan_storage<Memory>(
        exec_, "Strata::PackedSubgraphs", [&](PlanStorage<Memory>& storage) {
          const bool value_indices = merged_levels_ <= 1;
          storage.take(packed.bytes, records * p.record.bytes);
          storage.take(packed.subgraph, p.num_subgraphs);
          if (value_indices)
            storage.take(packed.value_index, records * p.record.entries,
                         num_values);
          storage.take(packed.diagonal_value_index, n, num_values);
          storage.take(packed.row, n);
          storage.take(packed.import, p.num_uniques);
          if (value_indices) {
            storage.take(packed.record_row, records);
            storage.take(packed.record_lane, records);
          }
          storage.take(packed.step_warps, p.num_steps);
        });
  }

  /// Sorts the values by their keys, and the keys: new arrays.
  void sort(std::uint64_t*& keys, int*& values, std::int64_t count,
            int bits) const {
    if (count > 1)
      sort_by_key_within(exec_, keys, values, count, bits,
                         pool_->template take<char>(static_cast<std::int64_t>(
                             sort_by_key_bytes(exec_, count))));
  }
  template <class... Stage>
  void run(const char* name, const Stage&... phase) {
    sequence_->run((std::string("Strata::SubgraphPacker::") + name).c_str(),
                   stages_, phase...);
  }
  /// Waits for the counts so far.
  void fetch_counts() {
    copy_to_host(
        exec_,
        Kokkos::View<std::int64_t*, Memory>(stages_.count, Stages::num_counts),
        counts_);
  }

  /// Sub-graphs of at most `rows` rows, and the steps of their rows; false if
  /// their values don't fit.
  template <class MaxLocal>
  bool partition(int num_levels, int band_levels, int rows,
                 const MaxLocal& max_local) {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices;
    p.max_rows = rows;
    p.band_levels = band_levels;
    p.bands =
        band_levels > 0 ? (num_levels + band_levels - 1) / band_levels : 1;
    const std::int64_t most_subgraphs = n / rows + p.bands;
    pool_->take(p.order, n);
    pool_->take(p.subgraph_of, n);
    pool_->take(p.export_before, n + 1);
    pool_->take(p.position_of, n);
    pool_->take(p.time, n);
    pool_->take(p.first_task, n);
    pool_->take(p.exported, n);
    pool_->take(p.first_vertex, most_subgraphs + 1);
    pool_->take(p.import_count, most_subgraphs);
    if (p.bands == 1) {
      p.num_subgraphs = static_cast<int>((n + rows - 1) / rows);
      run("assign", EachStage<typename Stages::AssignOneBand>{n});
    } else {
      pool_->take(p.band_key, n);
      pool_->take(p.band_first, p.bands + 1);
      pool_->take(p.band_chunk, p.bands + 1);
      run("band_keys", EachStage<typename Stages::BandKeys>{n});
      sort(p.band_key, p.order, n, bits_for(p.bands));
      run("assign", EachStage<typename Stages::BandStarts>{n},
          SumStage<typename Stages::BandChunkScan>{p.bands},
          EachStage<typename Stages::AssignSubgraphs>{n});
    }
    if (merged_levels_ == 0 || team_ < 0) choose_shape(num_levels);
    // The rows alone may be too many for the team.
    if (p.bands == 1 && 1 + n / p.num_subgraphs > max_local()) return false;
    p.packed.row_lanes = shape_.team[team_].row_lanes;
    p.packed.warps = shape_.team[team_].warps;
    if (merged_levels_ > 1) merge_subgraph_rows();
    find_externals();
    return find_steps(max_local);
  }

  /// Lists the edges between sub-graphs.
  void find_externals() {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices, edges = p.graph.num_edges();
    p.num_externals = 0;
    p.external_key = nullptr;
    if (p.bands == 1 && p.num_subgraphs == 1) return;
    p.source_bits = bits_for(n - 1);
    // Of few edges all might be, which saves a device a launch.
    const auto take = [&](std::int64_t most) {
      pool_->take(p.external_key, most);
      pool_->take(p.external_edge, most);
    };
    const bool few = is_gpu<ExecutionSpace> && edges <= 1 << 22;
    if (few) take(edges);
    run("count_externals", SumStage<typename Stages::ExternalScan>{n});
    fetch_counts();
    if (p.bands > 1)
      p.num_subgraphs = static_cast<int>(counts_[Stages::count_subgraphs]);
    p.num_externals = counts_[Stages::count_externals];
    if (!few) {
      take(p.num_externals);
      run("externals", SumStage<typename Stages::ExternalScan>{n});
    }
    pool_->take(p.unique_of, edges);
    pool_->take(p.unique_source, p.num_externals);
    pool_->take(p.unique_subgraph, p.num_externals);
    sort(p.external_key, p.external_edge, p.num_externals,
         p.source_bits + bits_for(p.num_subgraphs - 1));
  }

  GroupedEdges<Memory> grouped(const Graph& graph,
                               const int* row_status) const {
    return {graph, stages_.subgraph_of, stages_.level, merged_levels_,
            row_status};
  }
  static double mean_length(const Graph& graph) {
    return double(graph.num_edges()) / graph.num_vertices;
  }

  /// Lengths of the merged rows: of all depths in the groups at once, then,
  /// from the first row on that stays, of one depth after the other. The host
  /// waits. @param longest  see CountMergedInSubgraph
  void count_merged_in_subgraph(int* sources, int (&longest)[4]) {
    const Kokkos::View<int[4], Memory> found("Strata::SubgraphPacker::longest");
    const auto count = [&](int depth, const int* row_status) {
      eliminate_rows(
          "Strata::SubgraphPacker::count_merged_in_subgraph", exec_,
          given_.num_vertices, mean_length(given_),
          CountMergedInSubgraph<Memory>{
              grouped(given_, row_status), depth, shape_.unmerged, row_status_,
              terms_, sources, words_, merged_shape(), found.data()});
    };
    const auto fetch = [&] {
      const auto host = Kokkos::create_mirror_view(found);
      Kokkos::deep_copy(exec_, host, found);
      exec_.fence();
      for (int i = 0; i < 4; ++i) longest[i] = host(i);
    };
    count(CountMergedInSubgraph<Memory>::all_depths, shape_.unmerged);
    fetch();
    if (longest[3] < 2) return;
    for (int depth = merged_levels_ - longest[3] + 1; depth < merged_levels_;
         ++depth)
      count(depth, row_status_);
    fetch();
  }
  /// Puts the merged rows in the place of the graph.
  void merge_subgraph_rows() {
    auto& p = stages_;
    given_ = p.graph;
    const std::int64_t n = given_.num_vertices;
    // Terms are numbered with 31 bits.
    if (n > std::numeric_limits<int>::max() / max_terms ||
        p.max_rows > MergedSubgraphRows<Memory>::max_subgraph_rows) {
      merged_levels_ = 1;
      return;
    }
    int* sources = nullptr;
    std::int64_t* sums = nullptr;
    merged_ = make_arena<Memory>("Strata::SubgraphPacker::merged",
                                 [&](Arena<Memory>& arena) {
                                   arena.take(row_status_, n);
                                   arena.take(terms_, n);
                                   arena.take(sources, n);
                                   arena.take(words_, n);
                                   arena.take(sums, n + 1);
                                 });
    int longest[4];
    count_merged_in_subgraph(sources, longest);
    Graph merged;
    merged.num_vertices = given_.num_vertices;
    merged.reversed = given_.reversed;
    merged.diagonal_value_index = given_.diagonal_value_index;
    merged.row_map = make_unfilled<Kokkos::View<std::int64_t*, Memory>>(
        "Strata::SubgraphPacker::row_map", n + 1);
    const auto offsets = [&](const int* length, std::int64_t* map) {
      std::int64_t total = 0;
      Kokkos::parallel_scan(
          "Strata::SubgraphPacker::offsets",
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
              exec_, 0, n),
          OffsetsOf{length, map, n}, total);
      return total;
    };
    num_terms_ = offsets(terms_, sums);
    num_words_ = offsets(words_, sums);
    const std::int64_t num_sources = offsets(sources, merged.row_map.data());
    // Records begin at multiples of 16 bytes, counted with 28 bits. Fewer than
    // two of three lanes are idle, see ChooseLanes.
    const std::int64_t most_records = num_sources + 3 * n * p.packed.row_lanes;
    if (most_records * p.record.units() >= 1 << 28 ||
        num_words_ > std::numeric_limits<int>::max()) {
      merged_levels_ = 1;
      return;
    }
    lists_ = {(longest[0] + 3) / 4 * 4, (longest[1] + 3) / 4 * 4};
    max_slots_ = longest[2];
    if (lists_.terms == 0) {
      merged_levels_ = 1;  // nothing to rewrite
      return;
    }
    merged.entries = make_unfilled<Kokkos::View<int*, Memory>>(
        "Strata::SubgraphPacker::entries", num_sources);
    eliminate_rows("Strata::SubgraphPacker::fill_merged_in_subgraph", exec_, n,
                   mean_length(given_),
                   FillMergedInSubgraph<Memory>{grouped(given_, row_status_),
                                                terms_, merged.row_map.data(),
                                                merged.entries.data()},
                   lists_);
    p.graph = merged;
  }
  /// The number of level sets at a time, and the team, with which a sample of
  /// the rows takes the least time, counted in steps of the first team. In one
  /// band sub-graphs work one after the other: their steps full of work count
  /// beside those on the longest path. In several bands rows that stay as they
  /// are hold up others too much for many level sets at a time. A plan's bytes
  /// count beside its time: half as many are worth 1.2 times as long.
  void choose_shape(int num_levels) {
    auto& p = stages_;
    const bool two_teams =
        num_teams_ == 2 && p.bands == 1 && shape_.team[1].max_local >= 512;
    if (team_ < 0 && !two_teams) team_ = 0;
    if (merged_levels_ > 0 && team_ >= 0) return;
    MergeCandidates candidates;
    if (merged_levels_ > 0) {
      candidates.levels[0] = merged_levels_;
      candidates.count = 1;
    } else {
      // So many that the longest path would hardly have steps left gain
      // nothing.
      const int most = std::min(num_levels / 32, p.bands > 1 ? 4 : 16);
      while (candidates.count > 1 &&
             candidates.levels[candidates.count - 1] > most)
        --candidates.count;
      if (candidates.count == 1 && team_ >= 0) {
        merged_levels_ = 1;
        return;
      }
    }
    const std::int64_t n = p.graph.num_vertices;
    const std::int64_t samples = std::min<std::int64_t>(n, 1024);
    const int size = MergeSample::size * candidates.count;
    const Kokkos::View<std::int64_t*, Memory> sums(pool_->zeros(size), size);
    eliminate_rows(
        "Strata::SubgraphPacker::sample_merged_in_subgraph", exec_,
        samples * candidates.count, mean_length(p.graph),
        SampleMergedInSubgraph<Memory>{
            grouped(p.graph, nullptr), sums.data(), samples, candidates,
            p.record.entries, shape_.team[1].row_lanes * p.record.entries});
    std::vector<std::int64_t> host(size);
    copy_to_host(exec_, sums, host.data());
    // Bytes a row: of the matrix, and of a plan.
    const double length = mean_length(p.graph), scalar = p.record.scalar_bytes;
    const double crs = 4 + (scalar + 4) * (length + 1);
    const int team = team_;
    double best = 0;
    for (int c = 0; c < candidates.count; ++c) {
      const auto mean = [&](int what) {
        return double(host[c * MergeSample::size + what]) / samples;
      };
      const int levels = candidates.levels[c];
      for (int t = 0; t < 2; ++t) {
        if (team >= 0 ? team != t : t == 1 && !two_teams) continue;
        const double late =
            mean(t == 0 ? MergeSample::late : MergeSample::late_wide);
        const double tasks =
            mean(t == 0 ? MergeSample::tasks : MergeSample::tasks_wide) *
            shape_.team[t].row_lanes;
        const double path =
            double(num_levels) / levels * late / MergeSample::unit;
        const double work =
            p.bands > 1 ? 0
                        : n * tasks / (p.packed.width * shape_.team[t].warps);
        // The larger of both counts for more. A solve begins with a launch, a
        // band with values of the one before, and teams with their rows' sums
        // of terms.
        const double steps =
            std::pow(std::pow(path, 1.5) + std::pow(work, 1.5), 1 / 1.5);
        const double bands = p.bands > 1 ? 40. * p.bands : 0;
        const double begin = 68 + bands +
                             9 * (mean(MergeSample::terms) - 1) *
                                 std::min<double>(n, 1024) / 1024;
        const double time = steps * (t == 0 ? 1 : second_team_cost) + begin;
        // A quarter of the lanes of the first team are idle.
        const double records = (t == 0 ? 1.25 : 1.06) * tasks * p.record.bytes;
        const double memory =
            levels == 1 ? 8 + scalar + 1.5 * records + 4 * length
                        : 20 + records + 4 * length +
                              (2 + scalar) * mean(MergeSample::terms) +
                              4 * mean(MergeSample::sources) +
                              mean(MergeSample::operations);
        if (levels > 1 && best > 0 && memory > max_merged_memory * crs)
          continue;
        const double score = time * std::pow(memory, 0.25);
        if (best == 0 || score < best) {
          best = score;
          merged_levels_ = levels;
          team_ = t;
        }
      }
    }
    if (merged_levels_ == 0) merged_levels_ = 1;
    if (team_ < 0) team_ = 0;
  }

  MergedSubgraphRows<Memory> merged_shape() const {
    MergedSubgraphRows<Memory> shape;
    shape.levels = merged_levels_;
    shape.scalar_bytes = stages_.record.scalar_bytes;
    shape.record_entries = stages_.record.entries;
    shape.row_lanes = stages_.packed.row_lanes;
    return shape;
  }
  /// What new values need, once the packed is laid out.
  void keep_merged(std::int64_t num_values) {
    auto& p = stages_;
    auto& kept = p.packed.merged;
    const std::int64_t n = given_.num_vertices;
    kept = merged_shape();
    kept.max_terms = lists_.terms;
    kept.max_slots = max_slots_;
    kept.num_entries = given_.num_edges();
    kept.reversed = given_.reversed;
    // A diagonal that is one stands nowhere.
    kept.has_value_indices =
        !given_.values_in_order || num_values == given_.num_edges();
    kept.storage = make_plan_storage<Memory>(
        exec_, "Strata::MergedSubgraphRows", [&](PlanStorage<Memory>& storage) {
          storage.take(kept.value_index,
                       kept.has_value_indices ? kept.num_entries : 0,
                       num_values);
          storage.take(kept.row_map, n + 1);
          storage.take(kept.term_map, n + 1);
          storage.take(kept.word_map, n + 1);
          storage.take(kept.word, num_words_);
          storage.take(kept.term, num_terms_);
        });
    Kokkos::parallel_scan(
        "Strata::SubgraphPacker::merged_maps",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
            exec_, 0, 3 * n),
        MergedMaps<Memory>{grouped(given_, row_status_), p.packed.row, kept,
                           terms_, words_, given_.num_edges(), num_terms_});
    eliminate_rows("Strata::SubgraphPacker::write_merged_in_subgraph", exec_, n,
                   mean_length(given_),
                   WriteMergedInSubgraph<Memory>{
                       grouped(given_, row_status_), kept, p.position_of,
                       p.graph.row_map.data(), p.value_rank, p.value_place,
                       p.first_task, p.task_place},
                   lists_);
  }

  /// Values that sub-graphs need from each other, and the steps of all rows;
  /// false if the values don't fit.
  template <class MaxLocal>
  bool find_steps(const MaxLocal& max_local) {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices;
    run("imports", EachStage<typename Stages::ClearSubgraphs>{p.num_subgraphs},
        SumStage<typename Stages::UniqueScan>{p.num_externals},
        EachStage<typename Stages::Capacity>{p.num_subgraphs},
        SumStage<typename Stages::ExportScan>{n},
        SumStage<typename Stages::TaskScan>{n});
    // Where rows are long, the steps take time, and often the values don't fit.
    if (p.graph.num_edges() > 6 * n) {
      fetch_counts();
      if (counts_[Stages::count_local] > max_local()) return false;
    }
    // A warp a row where rows have many sources to look at.
    if (is_gpu<ExecutionSpace> &&
        (p.graph.num_edges() > 6 * n || longest_row_ > 64))
      find_steps_of_rows<true>();
    else
      find_steps_of_rows<false>();
    fetch_counts();
    p.num_uniques = counts_[Stages::count_uniques];
    max_local_ = static_cast<int>(counts_[Stages::count_local]);
    p.num_tasks = counts_[Stages::count_tasks];
    num_exports_ = static_cast<int>(counts_[Stages::count_exports]);
    critical_steps_ = static_cast<int>(counts_[Stages::count_time]);
    p.time_bits = bits_for(counts_[Stages::count_time]);
    return max_local_ <= max_local();
  }

  void rank_edges() {
    using Rank = RankEdges<ExecutionSpace>;
    const std::int64_t n = stages_.graph.num_vertices;
    Rank rank{stages_, 1};
    while (rank.lanes < Rank::width &&
           stages_.graph.num_edges() > 4 * n * rank.lanes)
      rank.lanes *= 2;
    LargeFunctorTeams<ExecutionSpace> policy(
        exec_,
        static_cast<int>((n + rank.rows_per_team() - 1) / rank.rows_per_team()),
        Rank::team_size);
    policy.set_scratch_size(0, Kokkos::PerTeam(Rank::scratch_bytes));
    Kokkos::parallel_for("Strata::SubgraphPacker::place_edges", policy, rank);
  }

  template <bool by_warp>
  void find_steps_of_rows() {
    using Steps = PackedSteps<ExecutionSpace, by_warp>;
    const int units = num_multiprocessors(exec_);
    constexpr int team_size = is_gpu<ExecutionSpace> ? 128 : 1;
    // Few teams: the rows under way are neighbours, and those far ahead would
    // only look at sources that are far from being known.
    const std::int64_t rows_per_team = team_size / (by_warp ? Steps::width : 1);
    const std::int64_t n = stages_.graph.num_vertices;
    std::int64_t teams = std::min<std::int64_t>(
        (n + rows_per_team - 1) / rows_per_team,
        std::int64_t{is_gpu<ExecutionSpace> ? 4 : 1} * units);
    // Some level sets at a time.
    if (by_level_)
      teams = std::min(teams, std::max<std::int64_t>(
                                  units, 16 * n / num_levels_ / rows_per_team));
    LargeFunctorTeams<ExecutionSpace> policy(exec_, static_cast<int>(teams),
                                             team_size);
    if (by_warp)
      policy.set_scratch_size(
          0, Kokkos::PerTeam(static_cast<int>(team_size / Steps::width *
                                              Steps::warp_bins * sizeof(int))));
    Kokkos::parallel_for("Strata::SubgraphPacker::steps_of_rows", policy,
                         Steps{stages_, by_level_,
                               reinterpret_cast<unsigned*>(pool_->zeros(1))});
  }

  ExecutionSpace exec_;
  std::int64_t longest_row_;
  const int* by_level_;
  int num_levels_;
  Stages stages_;
  bool fits_ = false;
  int max_local_ = 0, critical_steps_ = 0, num_exports_ = 0;
  // Where rows are merged: the graph as given, terms by vertex.
  PackingShape shape_;
  int merged_levels_ = 1, team_ = 0, num_teams_ = 1;
  Graph given_;
  std::int64_t num_terms_ = 0;
  std::int64_t num_words_ = 0;
  ListLengths lists_{0, 0};
  int max_slots_ = 0;
  int *row_status_ = nullptr, *terms_ = nullptr, *words_ = nullptr;
  Arena<Memory> merged_;
  typename WorkPool<ExecutionSpace>::Pointer pool_;
  bool owns_pool_ = false;
  std::optional<FusedStages<ExecutionSpace>> sequence_;
  std::int64_t counts_[Stages::num_counts] = {};
};

}  // namespace Detail
}  // namespace Strata

#endif
