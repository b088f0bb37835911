// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_PACK_SUBGRAPHS_HPP
#define STRATA_ANALYSIS_PACKING_PACK_SUBGRAPHS_HPP

#include <algorithm>
#include <analysis/merging/MergeSubgraphs.hpp>
#include <analysis/packing/PackedSteps.hpp>
#include <analysis/packing/PackingShape.hpp>
#include <analysis/packing/PackingStages.hpp>
#include <analysis/packing/RankEdges.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Sort.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/PlanStorage.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <limits>
#include <optional>
#include <vector>

namespace Strata {
namespace Detail {

/// Makes packed sub-graphs: first it finds where every row goes and when (which
/// tells what a solve will cost), then it writes the records.
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
  /// @param longest_row  edges into a vertex: none has more
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
        merger_(exec),
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
    if (most_rows < 1) return;
    owns_pool_ = !pool_;
    if (owns_pool_)
      pool_ = std::make_shared<WorkPool<ExecutionSpace>>(
          exec, workspace_bytes(graph.num_vertices, graph.num_edges()));
    sequence_.emplace(exec, *pool_);
    stages_.count = pool_->zeros(Stages::num_counts);
    stages_.band_levels = shape.band_levels;
    stages_.bands = shape.num_bands(num_levels);
    if (stages_.bands > 1) order_by_bands();
    const Graph given = graph;
    // A group has no more level sets than there are.
    const int merged_levels =
        std::min(shape.merged_levels, std::max(num_levels, 1));
    merged_levels_ = merged_levels;
    const auto mark = pool_->mark();
    const auto rows_after = [&](int times) {
      return ((most_rows - 1) >> times) + 1;
    };
    // Of the graph as it was given, for either team: what a sub-graph needs at
    // most, once known.
    std::int64_t needed[32];
    std::fill(std::begin(needed), std::end(needed), -1);
    const auto begin_again = [&] {
      pool_->give_back(mark);
      stages_.graph = given;
    };
    const auto fit = [&](int times) {
      if (needed[times] < 0) {
        begin_again();
        choose_size(most_rows, times);
        if (!rows_fit(max_local)) return false;
        needed[times] = most_values();
      }
      return needed[times] <= max_local();
    };
    for (bool first = true;; first = false) {
      // Where the first try fails, others may, too.
      if (first || fit(0)) {
        begin_again();
        fits_ = partition(num_levels, most_rows, 0, max_local);
      }
      const bool other_team = shape.which_team < 0 && team_ == 1;
      if (!fits_) {
        int last = 0;
        while (rows_after(last + 1) >= 16 &&
               !(other_team && rows_after(last) < 512))
          ++last;
        // The fewest halvings with which they fit: with more they do, too.
        int low = 1, high = last + 1;
        while (low < high) {
          // Most often, few are enough.
          const int middle = low <= 2 || high - low == 1 ? low
                             : low == 3                  ? 4
                                                         : (low + high) / 2;
          if (fit(middle))
            high = middle;
          else
            low = middle + 1;
        }
        if (high <= last) {
          begin_again();
          fits_ = partition(num_levels, most_rows, high, max_local);
        }
      }
      if (fits_ || !other_team) break;
      // The other team has more room.
      team_ = 0;
      merged_levels_ = merged_levels;
    }
    // A stage has a record at least, and at most as many as a warp has lanes.
    fits_ = fits_ && stages_.num_tasks <
                         std::numeric_limits<int>::max() / stages_.packed.width;
  }
  /// Bytes that the builder's arrays take, about.
  static std::size_t workspace_bytes(std::int64_t rows, std::int64_t edges) {
    return std::size_t(rows) * 200 + std::size_t(edges) * 80;
  }

  /// False where scratch can't hold the outside values of a few rows, or 32
  /// bits the edges: there are no packed sub-graphs then.
  bool possible() const { return fits_; }
  int num_subgraphs() const { return stages_.num_subgraphs; }
  /// Bands of level sets that the sub-graphs are in, see PackingShape.
  int num_bands() const { return stages_.bands; }
  std::int64_t num_imports() const { return stages_.num_uniques; }
  /// Steps on the longest path, a value from another sub-graph counted as
  /// `latency` steps more.
  int critical_steps() const { return critical_steps_; }
  int max_local() const { return max_local_; }
  /// Rows of a sub-graph at most: fewer than asked for where scratch can't hold
  /// the outside values of more.
  int max_rows() const { return stages_.max_rows; }
  /// Level sets merged into one, and coefficients and dependencies of the rows
  /// then.
  int merged_levels() const { return merged_levels_; }
  int team() const { return team_; }
  std::int64_t num_dependencies() const { return stages_.graph.num_edges(); }
  double external_share() const {
    const auto edges = stages_.graph.num_edges();
    return edges > 0 ? double(stages_.num_externals) / double(edges) : 0.;
  }

  /// The packed sub-graphs, without values. Cost: two sorts and a few launches
  /// over rows, edges and records, and a wait of the host.
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
    find_places();
    p.num_steps = packed.num_steps = counts_[Stages::count_steps];
    packed.max_steps = static_cast<int>(counts_[Stages::count_most_steps]);
    packed.num_records = counts_[Stages::count_records];

    if (merged_levels_ > 1) {
      pool_->take(p.value_place, edges);
      pool_->take(p.value_rank, edges);
      pool_->take(p.task_place, tasks);
    }
    allocate_packed(num_values);
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
      packed.merged = merger_.keep(num_values, packed.row,
                                   {{},
                                    {},
                                    p.permuted_row_of,
                                    p.graph.row_map.data(),
                                    p.value_rank,
                                    p.value_place,
                                    p.first_task,
                                    p.task_place});
    }
    // A caller that gave the pool waits before the pool ends.
    if (owns_pool_) exec_.fence();
    return packed;
  }

 private:
  using Stages = PackingStages<Memory>;

  /// Sorts the tasks by sub-graph and step and finds a place for each: in one
  /// launch where there are few. The host waits for the counts.
  void find_places() {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices, tasks = p.num_tasks;
    const int key_bits = p.time_bits + bits_for(p.num_subgraphs);
    const Told told(Stages::num_counts);
    const EachStage<typename Stages::PrepareTasks> prepare{n};
    const auto with_the_rest = [&](const auto& call) {
      return call(
          SumStage<typename Stages::RunScan>{tasks},
          EachStage<typename Stages::ChooseLanes>{p.num_subgraphs},
          SumStage<typename Stages::StepScan>{tasks},
          SumStage<typename Stages::StageScan>{
              {tasks * p.packed.warps, p.count + Stages::count_stages}},
          SumStage<typename Stages::ImportScan>{p.num_subgraphs},
          EachStage<typename Stages::DescribeSubgraphs>{p.num_subgraphs},
          counts_for(told));
    };
    bool found = false;
    if constexpr (has_resident_teams<ExecutionSpace>) {
      auto& job = p.task_sort;
      job.first_bit = bits_for(tasks);
      job.bits = key_bits;
      if (tasks <= sequence_->most_sorted() && job.first_bit + key_bits <= 64) {
        job.take(*pool_, tasks);
        found = with_the_rest([&](const auto&... rest) {
          return sequence_->run_in_one(
              "Strata::SubgraphPacker::places", p, prepare,
              EachStage<typename Stages::TaskWords>{tasks},
              SortStage<typename Stages::SortTasks>{tasks},
              EachStage<typename Stages::TakeTasks>{tasks}, rest...);
        });
      }
    }
    if (!found) {
      run("prepare_tasks", prepare);
      sort(p.task_key, p.task, tasks, key_bits);
      with_the_rest([&](const auto&... rest) { run("places", rest...); });
    }
    take_counts(told);
  }

  /// The arrays of the packed sub-graphs, in one allocation.
  void allocate_packed(std::int64_t num_values) {
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
  void run(const char* name, const Stage&... stage) {
    sequence_->run((std::string("Strata::SubgraphPacker::") + name).c_str(),
                   stages_, stage...);
  }
  /// The same, and waits for the counts so far.
  template <class... Stage>
  void run_and_fetch(const char* name, const Stage&... stage) {
    const Told told(Stages::num_counts);
    run(name, stage..., counts_for(told));
    take_counts(told);
  }
  using Told = HostWords<ExecutionSpace>;
  /// Tells the host the counts so far, which take_counts waits for.
  ReportStage counts_for(const Told& told) const {
    return {std::int64_t{Stages::num_counts}, stages_.count, told.data()};
  }
  void take_counts(const Told& told) {
    exec_.fence();
    std::copy(told.data(), told.data() + Stages::num_counts, counts_);
  }
  /// Waits for the counts so far.
  void fetch_counts() {
    copy_to_host(
        exec_,
        Kokkos::View<std::int64_t*, Memory>(stages_.count, Stages::num_counts),
        counts_);
  }

  /// The order of the rows in bands, which all tries have in common.
  void order_by_bands() {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices;
    pool_->take(p.order, n);
    pool_->take(p.band_key, n);
    pool_->take(p.band_first, p.bands + 1);
    run("band_keys", EachStage<typename Stages::BandKeys>{n});
    sort(p.band_key, p.order, n, bits_for(p.bands));
    run("band_starts", EachStage<typename Stages::BandStarts>{n});
  }
  /// Has sub-graphs of at most `rows` rows, cut in halves, with arrays for
  /// them; `assign` or `most_values` says which rows they have.
  void choose_size(int rows, int halvings) {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices;
    p.max_rows = ((rows - 1) >> halvings) + 1;
    p.whole_rows = rows;
    p.halvings = halvings;
    const std::int64_t most_subgraphs = most_subgraphs_ =
        std::min(n, (n / rows + p.bands) << halvings);
    pool_->take(p.subgraph_of, n);
    pool_->take(p.export_before, n + 1);
    pool_->take(p.permuted_row_of, n);
    pool_->take(p.time, n);
    pool_->take(p.first_task, n);
    pool_->take(p.exported, n);
    pool_->take(p.first_vertex, most_subgraphs + 1);
    pool_->take(p.import_count, most_subgraphs);
    if (p.bands == 1) {
      pool_->take(p.order, n);
      p.num_subgraphs = static_cast<int>(p.chunks_of(n));
    } else {
      pool_->take(p.band_chunk, p.bands + 1);
    }
  }
  /// Cuts the rows into sub-graphs.
  void assign() {
    const std::int64_t n = stages_.graph.num_vertices;
    if (stages_.bands == 1)
      run("assign", EachStage<typename Stages::AssignOneBand>{n});
    else
      run("assign", SumStage<typename Stages::BandChunkScan>{stages_.bands},
          EachStage<typename Stages::AssignSubgraphs>{n});
  }
  /// Whether the rows alone are too many for a team.
  template <class MaxLocal>
  bool rows_fit(const MaxLocal& max_local) const {
    const auto& p = stages_;
    return p.bands > 1 ||
           1 + p.graph.num_vertices / p.num_subgraphs <= max_local();
  }
  /// Cuts the rows into sub-graphs, and tells how many values one of them needs
  /// at most, with its own and the zero. Merged rows need no others from
  /// outside than their own sub-graph does without them, so that the graph as
  /// it was given tells.
  std::int64_t most_values() {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices, edges = p.graph.num_edges();
    if (p.bands == 1 && edges <= edges_of_table) {
      // A table needs no sort, as a list of these edges does.
      p.dependency_bits = bits_for(n - 1);
      p.table_size = 1024;
      while (p.table_size < 2 * edges) p.table_size *= 2;
      pool_->take(p.external_key, p.table_size);
      run_and_fetch("capacity", EachStage<typename Stages::AssignOneBand>{n},
                    EachStage<typename Stages::ClearTable>{p.table_size},
                    EachStage<typename Stages::ClearSubgraphs>{p.num_subgraphs},
                    RowsStage<typename Stages::CountImports>{n, edges},
                    EachStage<typename Stages::Capacity>{p.num_subgraphs});
    } else {
      assign();
      do {
        find_imports();
        fetch_counts();
      } while (were_too_many());
    }
    return counts_[Stages::count_local];
  }

  /// Sub-graphs of at most `rows` rows, cut in halves, and the steps of their
  /// rows; false if their values don't fit.
  template <class MaxLocal>
  bool partition(int num_levels, int rows, int halvings,
                 const MaxLocal& max_local) {
    auto& p = stages_;
    choose_size(rows, halvings);
    assign();
    if (merged_levels_ == 0 || team_ < 0) choose_shape(num_levels);
    if (!rows_fit(max_local)) return false;
    p.packed.row_lanes = shape_.team[team_].row_lanes;
    p.packed.warps = shape_.team[team_].warps;
    if (merged_levels_ > 1) merge_subgraph_rows();
    return find_steps(max_local);
  }

  /// Edges of which a table is made rather than a list.
  static constexpr std::int64_t edges_of_table = std::int64_t{1} << 21;
  /// Edges between sub-graphs that one launch lists and sorts, and edges of
  /// which those between sub-graphs may be so few.
  static constexpr std::int64_t few_externals = std::int64_t{1} << 18,
                                most_edges_in_one = std::int64_t{1} << 21;

  bool all_in_one() const {
    return stages_.bands == 1 && stages_.num_subgraphs == 1;
  }
  /// Lists the edges between sub-graphs, finds the values that these need from
  /// each other, and runs the stages `next`: in one launch, with room for few
  /// such edges (see were_too_many), as long as they may be few.
  template <class... Stage>
  void find_imports(const Stage&... next) {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices, edges = p.graph.num_edges();
    p.num_externals = 0;
    p.external_key = nullptr;
    p.edge_bits = 0;
    p.dependency_bits = bits_for(n - 1);
    if constexpr (has_resident_teams<ExecutionSpace>) {
      const int key_bits = p.dependency_bits + bits_for(most_subgraphs_ - 1);
      const int edge_bits = bits_for(edges);
      if (!all_in_one() && !many_externals_ && edges <= most_edges_in_one &&
          key_bits + edge_bits <= 64) {
        const auto mark = pool_->mark();
        p.edge_bits = edge_bits;
        p.most_externals =
            std::min({edges, few_externals, sequence_->most_sorted()});
        auto& sort = p.external_sort;
        sort.first_bit = edge_bits;
        sort.bits = key_bits;
        sort.take(*pool_, p.most_externals);
        p.external_key = sort.words;
        p.external_sorted = sort.sorted();
        take_imports(p.most_externals);
        const StageCount found(p.most_externals,
                               p.count + Stages::count_externals);
        const StageCount subgraphs =
            p.bands > 1
                ? StageCount(most_subgraphs_, p.count + Stages::count_subgraphs)
                : StageCount(p.num_subgraphs);
        if (sequence_->run_in_one(
                "Strata::SubgraphPacker::imports", stages_,
                EachStage<typename Stages::ClearExternals>{n},
                RowsStage<typename Stages::CountExternals>{n, edges},
                SumStage<typename Stages::PlaceExternals>{n},
                RowsStage<typename Stages::ListExternals>{n, edges},
                SortStage<typename Stages::SortExternals>{found},
                EachStage<typename Stages::ClearSubgraphs>{subgraphs},
                SumStage<typename Stages::UniqueScan>{found},
                EachStage<typename Stages::Capacity>{subgraphs}, next...))
          return;
        p.edge_bits = 0;
        pool_->give_back(mark);
      }
    }
    p.most_externals = std::numeric_limits<std::int64_t>::max();
    find_externals();
    run("imports", EachStage<typename Stages::ClearSubgraphs>{p.num_subgraphs},
        SumStage<typename Stages::UniqueScan>{p.num_externals},
        EachStage<typename Stages::Capacity>{p.num_subgraphs}, next...);
  }
  /// Whether, by the counts, find_imports had no room for the edges between
  /// sub-graphs. Then it is to be called again, and will have room.
  bool were_too_many() {
    const bool too_many = counts_[Stages::count_unlisted] != 0;
    many_externals_ = many_externals_ || too_many;
    return too_many;
  }
  /// Arrays of that many edges between sub-graphs, at most.
  void take_imports(std::int64_t externals) {
    auto& p = stages_;
    pool_->take(p.external_at, p.graph.num_vertices);
    pool_->take(p.unique_of, p.graph.num_edges());
    pool_->take(p.unique_dependency, externals);
    pool_->take(p.unique_subgraph, externals);
  }

  /// Lists the edges between sub-graphs.
  void find_externals() {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices, edges = p.graph.num_edges();
    if (all_in_one()) return;
    // Of few edges all might be, which saves a device a launch.
    const auto take = [&](std::int64_t most) {
      pool_->take(p.external_key, most);
      pool_->take(p.external_edge, most);
    };
    const bool few = is_gpu<ExecutionSpace> && edges <= 1 << 22;
    if (few) take(edges);
    pool_->take(p.external_at, n);
    const EachStage<typename Stages::ClearExternals> clear{n};
    const RowsStage<typename Stages::CountExternals> look{n, edges};
    const SumStage<typename Stages::PlaceExternals> place{n};
    const RowsStage<typename Stages::ListExternals> list{n, edges};
    if (few)
      run_and_fetch("externals", clear, look, place, list);
    else
      run_and_fetch("count_externals", clear, look, place);
    if (p.bands > 1)
      p.num_subgraphs = static_cast<int>(counts_[Stages::count_subgraphs]);
    p.num_externals = counts_[Stages::count_externals];
    if (!few) {
      take(p.num_externals);
      run("externals", list);
    }
    pool_->take(p.unique_of, edges);
    pool_->take(p.unique_dependency, p.num_externals);
    pool_->take(p.unique_subgraph, p.num_externals);
    sort(p.external_key, p.external_edge, p.num_externals,
         p.dependency_bits + bits_for(p.num_subgraphs - 1));
    p.external_sorted = p.external_key;
  }

  SubgraphGroups<Memory> groups_of(int levels) const {
    return {stages_.graph, stages_.level, levels, nullptr, stages_.subgraph_of};
  }
  /// Puts the merged rows in the place of the graph.
  void merge_subgraph_rows() {
    auto& p = stages_;
    MergedSubgraphRows<Memory> shape;
    shape.levels = merged_levels_;
    shape.scalar_bytes = p.record.scalar_bytes;
    shape.record_entries = p.record.entries;
    shape.row_lanes = p.packed.row_lanes;
    if (!merger_.merge(groups_of(merged_levels_), shape_.unmerged, shape,
                       p.record.packets(), p.max_rows, p.graph, *pool_))
      merged_levels_ = 1;
  }
  void choose_shape(int num_levels) {
    const auto& p = stages_;
    const PackingChoice chosen =
        ChoosePacking<ExecutionSpace>{groups_of(1),   shape_,  p.record,
                                      num_levels,     p.bands, p.packed.width,
                                      num_teams_ == 2}(
            exec_, {merged_levels_, team_}, *pool_);
    merged_levels_ = chosen.merged_levels;
    team_ = chosen.team;
  }

  /// Enqueues what finds the values that sub-graphs need from each other and
  /// the steps of all rows, and waits for the counts; false if the values don't
  /// fit and the steps were left out.
  template <class MaxLocal>
  bool try_steps(const MaxLocal& max_local) {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices;
    find_imports(SumStage<typename Stages::ExportScan>{n},
                 SumStage<typename Stages::TaskScan>{n});
    // Where rows are long, the steps take time, and often the values don't fit.
    if (p.graph.num_edges() > 6 * n) {
      fetch_counts();
      if (counts_[Stages::count_local] > max_local()) return false;
    }
    const int levels = (num_levels_ + merged_levels_ - 1) / merged_levels_;
    const bool wide =
        is_gpu<ExecutionSpace> && by_level_ && n > 2000 * std::int64_t{levels};
    std::int64_t longest = longest_row_;
    if (merged_levels_ > 1)
      longest = std::max<std::int64_t>(longest, merger_.most_dependencies());
    if (wide && longest <= 8)
      find_steps_of_rows<8>(max_local());
    else if (wide && longest <= 24)
      find_steps_of_rows<24>(max_local());
    else
      find_steps_of_rows<0>(max_local());
    fetch_counts();
    return true;
  }
  /// Values that sub-graphs need from each other, and the steps of all rows;
  /// false if the values don't fit.
  template <class MaxLocal>
  bool find_steps(const MaxLocal& max_local) {
    auto& p = stages_;
    bool tried;
    do {
      tried = try_steps(max_local);
    } while (were_too_many());
    if (!tried) return false;
    if (p.bands > 1)
      p.num_subgraphs = static_cast<int>(counts_[Stages::count_subgraphs]);
    if (!all_in_one()) p.num_externals = counts_[Stages::count_externals];
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

  /// Does nothing where a sub-graph has more than `most_local` values.
  /// @tparam most_of_thread  see PackedSteps: where level sets are wide
  template <int most_of_thread>
  void find_steps_of_rows(int most_local) {
    using Steps = PackedSteps<ExecutionSpace, most_of_thread>;
    const int multiprocessors = num_multiprocessors(exec_);
    constexpr int team_size = is_gpu<ExecutionSpace> ? 128 : 1;
    // Few teams: the rows under way are neighbours, and those far ahead would
    // only look at dependencies that are far from being known.
    const std::int64_t rows_per_team =
        most_of_thread > 0 ? team_size : team_size / Steps::width;
    const std::int64_t n = stages_.graph.num_vertices;
    std::int64_t teams = std::min<std::int64_t>(
        (n + rows_per_team - 1) / rows_per_team,
        std::int64_t{is_gpu<ExecutionSpace> ? 4 : 1} * multiprocessors);
    // Enough teams for some level sets.
    if (by_level_)
      teams = std::min(
          teams, std::max<std::int64_t>(multiprocessors,
                                        16 * n / num_levels_ / rows_per_team));
    LargeFunctorTeams<ExecutionSpace> policy(exec_, static_cast<int>(teams),
                                             team_size);
    policy.set_scratch_size(0,
                            Kokkos::PerTeam(Steps::scratch_bytes(team_size)));
    Kokkos::parallel_for(
        "Strata::SubgraphPacker::steps_of_rows", policy,
        Steps{stages_, by_level_, reinterpret_cast<unsigned*>(pool_->zeros(1)),
              most_local});
  }

  ExecutionSpace exec_;
  std::int64_t longest_row_;
  const int* by_level_;
  int num_levels_;
  Stages stages_;
  bool fits_ = false;
  int max_local_ = 0, critical_steps_ = 0, num_exports_ = 0;
  PackingShape shape_;
  int merged_levels_ = 1, team_ = 0, num_teams_ = 1;
  SubgraphMerger<ExecutionSpace> merger_;
  typename WorkPool<ExecutionSpace>::Pointer pool_;
  bool owns_pool_ = false, many_externals_ = false;
  std::optional<FusedStages<ExecutionSpace>> sequence_;
  std::int64_t most_subgraphs_ = 0;
  std::int64_t counts_[Stages::num_counts] = {};
};

}  // namespace Detail
}  // namespace Strata

#endif
