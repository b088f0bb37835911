// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_PACKING_CUT_SUBGRAPHS_HPP
#define STRATA_ANALYSIS_PACKING_CUT_SUBGRAPHS_HPP

#include <algorithm>
#include <analysis/merging/MergeSubgraphs.hpp>
#include <analysis/packing/FindSteps.hpp>
#include <analysis/packing/PackingShape.hpp>
#include <analysis/packing/PackingStages.hpp>
#include <analysis/stages/FusedStages.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Sort.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/memory/WorkPool.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <string>

namespace Strata {
namespace Detail {

/// Cuts a graph into sub-graphs, and finds in which step of its sub-graph each
/// row is done, which tells what a solve will cost. The first half of
/// SubgraphPacker.
///
/// The constructor does all of it, and `possible` says whether sub-graphs fit
/// in scratch. For each size of sub-graphs that is tried, `partition` assigns
/// rows to sub-graphs, chooses the number of merged level sets and the team if
/// the shape leaves them open, merges rows (from then on, `stages_.graph` is
/// the merged graph), and finds steps. choose_size begins the next try with the
/// given graph and gives the memory of the one before back.
///
/// Sub-graphs are numbered band by band and upward in a band. An edge leads
/// from a lower band, or from a smaller vertex of the same band, so never to a
/// smaller number: their order is a valid sequence.
template <class ExecutionSpace>
class SubgraphCutter {
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
  SubgraphCutter(const ExecutionSpace& exec, const Graph& graph,
                 const int* level, int num_levels, std::int64_t longest_row,
                 const PackingShape& shape, int width, std::size_t scalar_bytes,
                 typename WorkPool<ExecutionSpace>::Pointer pool = {},
                 const int* by_level = nullptr)
      : exec_(exec),
        merger_(exec),
        pool_(std::move(pool)),
        given_(graph),
        longest_row_(longest_row),
        by_level_(by_level),
        num_levels_(num_levels),
        scalar_bytes_(static_cast<int>(scalar_bytes)),
        shape_(shape) {
    stages_.graph = graph;
    stages_.record = PackedRecord(scalar_bytes);
    stages_.level = level;
    stages_.latency = shape.latency;
    stages_.packed.width = width;
    stages_.packed.entries = stages_.record.entries;
    team_ = shape.which_team;
    num_teams_ = shape.team[1].row_lanes > shape.team[0].row_lanes ? 2 : 1;
    stages_.packed.num_rows = graph.num_vertices;
    if (graph.num_edges() >= std::numeric_limits<int>::max() ||
        graph.num_vertices == 0)
      return;
    most_rows_ = std::min(shape.max_rows, most_local() - 1);
    if (most_rows_ < 1) return;
    owns_pool_ = !pool_;
    if (owns_pool_)
      pool_ = std::make_shared<WorkPool<ExecutionSpace>>(
          exec, workspace_bytes(graph.num_vertices, graph.num_edges()));
    sequence_.emplace(exec, *pool_);
    stages_.count = pool_->zeros(Stages::num_counts);
    stages_.band_levels = shape.band_levels;
    stages_.bands = shape.num_bands(num_levels);
    if (stages_.bands > 1) order_by_bands();
    start_ = pool_->mark();
    // A stage has a record at least, and at most as many as a warp has lanes.
    fits_ = cut() && stages_.num_tasks <
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
  /// Steps on the longest path, a value from another sub-graph counted as
  /// `latency` steps more.
  int critical_steps() const { return critical_steps_; }
  /// Scalars that a sub-graph needs in scratch at most.
  int max_local() const { return max_local_; }
  /// Rows of a sub-graph at most: fewer than asked for where scratch can't hold
  /// the outside values of more.
  int max_rows() const { return stages_.max_rows; }
  /// Level sets merged into one.
  int merged_levels() const { return merged_levels_; }
  int team() const { return team_; }
  double external_share() const {
    const auto edges = stages_.graph.num_edges();
    return edges > 0 ? double(stages_.num_externals) / double(edges) : 0.;
  }

 protected:
  using Stages = PackingStages<Memory>;

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
    const HostWords<ExecutionSpace> told(Stages::num_counts);
    run(name, stage...,
        ReportStage{std::int64_t{Stages::num_counts}, stages_.count,
                    told.data()});
    exec_.fence();
    std::copy(told.data(), told.data() + Stages::num_counts, counts_);
  }

  ExecutionSpace exec_;
  Stages stages_;
  SubgraphMerger<ExecutionSpace> merger_;
  typename WorkPool<ExecutionSpace>::Pointer pool_;
  bool owns_pool_ = false;
  std::optional<FusedStages<ExecutionSpace>> sequence_;
  int merged_levels_ = 1;  // 0: not chosen yet
  int max_local_ = 0;
  std::int64_t counts_[Stages::num_counts] = {};

 private:
  /// Cuts the graph for the team that was chosen and, where its room is too
  /// small, for the other one. False if no sub-graphs fit.
  bool cut() {
    // A group has no more level sets than there are.
    const int merged_levels =
        std::min(shape_.merged_levels, std::max(num_levels_, 1));
    merged_levels_ = merged_levels;
    for (bool first = true;; first = false) {
      bool fits = false;
      // Where the first try fails, others may, too.
      if (first || fit(0)) fits = partition(0);
      const bool other_team = shape_.which_team < 0 && team_ == 1;
      if (!fits) fits = cut_smaller(other_team);
      if (fits || !other_team) return fits;
      // The other team has more room.
      team_ = 0;
      merged_levels_ = merged_levels;
    }
  }
  /// The same with the fewest halvings of sub-graphs with which they fit: with
  /// more they do, too.
  /// @param other_team  whether another team can be tried
  bool cut_smaller(bool other_team) {
    const auto rows_after = [&](int halvings) {
      return ((most_rows_ - 1) >> halvings) + 1;
    };
    int last = 0;
    while (rows_after(last + 1) >= 16 &&
           !(other_team && rows_after(last) < 512))
      ++last;
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
    return high <= last && partition(high);
  }
  /// Whether the values of sub-graphs fit after so many halvings. Those that a
  /// sub-graph needs are the same for either team.
  bool fit(int halvings) {
    std::optional<std::int64_t>& needed = needed_[halvings];
    if (!needed) {
      choose_size(halvings);
      if (!rows_fit()) return false;
      needed = most_values();
    }
    return *needed <= most_local();
  }
  /// Scalars that the scratch of the team has room for.
  int most_local() const {
    return std::min({shape_.max_local, shape_.team[team_ > 0 ? 1 : 0].max_local,
                     65536 / scalar_bytes_ - 1});
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
  /// Begins again with the given graph, and sub-graphs of most_rows_ cut in
  /// halves; `assign` says which rows they have.
  void choose_size(int halvings) {
    pool_->give_back(start_);
    auto& p = stages_;
    p.graph = given_;
    const int rows = most_rows_;
    const std::int64_t n = p.graph.num_vertices;
    p.max_rows = ((rows - 1) >> halvings) + 1;
    p.whole_rows = rows;
    p.halvings = halvings;
    const std::int64_t most_subgraphs =
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
  bool rows_fit() const {
    const auto& p = stages_;
    return p.bands > 1 ||
           1 + p.graph.num_vertices / p.num_subgraphs <= most_local();
  }
  /// Cuts the rows into sub-graphs, and tells how many values one of them needs
  /// at most, with its own and the zero. Merged rows need no others from
  /// outside than their own sub-graph does without them, so that the graph as
  /// it was given tells.
  std::int64_t most_values() {
    assign();
    find_imports();
    fetch_counts();
    return counts_[Stages::count_local];
  }
  /// Waits for the counts so far.
  void fetch_counts() {
    copy_to_host(
        exec_,
        Kokkos::View<std::int64_t*, Memory>(stages_.count, Stages::num_counts),
        counts_);
  }

  /// Sub-graphs after so many halvings, and the steps of their rows; false if
  /// their values don't fit.
  bool partition(int halvings) {
    auto& p = stages_;
    choose_size(halvings);
    assign();
    if (merged_levels_ == 0 || team_ < 0) choose_shape();
    if (!rows_fit()) return false;
    p.packed.row_lanes = shape_.team[team_].row_lanes;
    p.packed.warps = shape_.team[team_].warps;
    if (merged_levels_ > 1) merge_subgraph_rows();
    return find_steps();
  }

  /// Lists the edges between sub-graphs, finds the values that these need from
  /// each other, and runs the stages `next`.
  template <class... Stage>
  void find_imports(const Stage&... next) {
    auto& p = stages_;
    p.num_externals = 0;
    p.dependency_bits = bits_for(p.graph.num_vertices - 1);
    if (p.bands > 1 || p.num_subgraphs > 1) find_externals();
    run("imports", EachStage<typename Stages::ClearSubgraphs>{p.num_subgraphs},
        SumStage<typename Stages::UniqueScan>{p.num_externals},
        EachStage<typename Stages::Capacity>{p.num_subgraphs}, next...);
  }
  /// Lists the edges between sub-graphs, sorted. Waits for their number.
  void find_externals() {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices, edges = p.graph.num_edges();
    pool_->take(p.external_at, n);
    run_and_fetch("count_externals",
                  EachStage<typename Stages::ClearExternals>{n},
                  RowsStage<typename Stages::CountExternals>{n, edges},
                  SumStage<typename Stages::PlaceExternals>{n});
    if (p.bands > 1)
      p.num_subgraphs = static_cast<int>(counts_[Stages::count_subgraphs]);
    p.num_externals = counts_[Stages::count_externals];
    pool_->take(p.external_key, p.num_externals);
    pool_->take(p.external_edge, p.num_externals);
    pool_->take(p.unique_of, edges);
    pool_->take(p.unique_dependency, p.num_externals);
    pool_->take(p.unique_subgraph, p.num_externals);
    if (p.num_externals > 0)
      run("externals", RowsStage<typename Stages::ListExternals>{n, edges});
    sort(p.external_key, p.external_edge, p.num_externals,
         p.dependency_bits + bits_for(p.num_subgraphs - 1));
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
  void choose_shape() {
    const auto& p = stages_;
    const PackingChoice chosen =
        ChoosePacking<ExecutionSpace>{groups_of(1),   shape_,  p.record,
                                      num_levels_,    p.bands, p.packed.width,
                                      num_teams_ == 2}(
            exec_, {merged_levels_, team_}, *pool_);
    merged_levels_ = chosen.merged_levels;
    team_ = chosen.team;
  }

  /// Values that sub-graphs need from each other, and the steps of all rows;
  /// false if the values don't fit.
  bool find_steps() {
    auto& p = stages_;
    const std::int64_t n = p.graph.num_vertices;
    find_imports(SumStage<typename Stages::ExportScan>{n},
                 SumStage<typename Stages::TaskScan>{n});
    // Where rows are long, the steps take time, and often the values don't fit.
    if (p.graph.num_edges() > 6 * n) {
      fetch_counts();
      if (counts_[Stages::count_local] > most_local()) return false;
    }
    const int levels = (num_levels_ + merged_levels_ - 1) / merged_levels_;
    const bool wide =
        is_gpu<ExecutionSpace> && by_level_ && n > 2000 * std::int64_t{levels};
    std::int64_t longest = longest_row_;
    if (merged_levels_ > 1)
      longest = std::max<std::int64_t>(longest, merger_.most_dependencies());
    if (wide && longest <= 8)
      find_steps_of_rows<8>();
    else if (wide && longest <= 24)
      find_steps_of_rows<24>();
    else
      find_steps_of_rows<0>();
    fetch_counts();
    p.num_uniques = counts_[Stages::count_uniques];
    max_local_ = static_cast<int>(counts_[Stages::count_local]);
    p.num_tasks = counts_[Stages::count_tasks];
    critical_steps_ = static_cast<int>(counts_[Stages::count_time]);
    p.time_bits = bits_for(counts_[Stages::count_time]);
    return max_local_ <= most_local();
  }

  /// Does nothing where a sub-graph has more values than fit.
  /// @tparam most_of_thread  see FindSteps: where level sets are wide
  template <int most_of_thread>
  void find_steps_of_rows() {
    using Steps = FindSteps<ExecutionSpace, most_of_thread>;
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
              most_local()});
  }

  Graph given_;  // stages_.graph may be the merged one
  std::int64_t longest_row_;
  const int* by_level_;
  int num_levels_, scalar_bytes_, most_rows_ = 0;
  PackingShape shape_;
  int team_ = 0;  // -1: not chosen yet
  int num_teams_ = 1;
  bool fits_ = false;
  int critical_steps_ = 0;
  typename WorkPool<ExecutionSpace>::Mark start_;
  /// By halvings: scalars that a sub-graph of the given graph needs at most.
  std::optional<std::int64_t> needed_[32];
};

}  // namespace Detail
}  // namespace Strata

#endif
