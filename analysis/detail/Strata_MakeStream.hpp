// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_MAKE_STREAM_HPP
#define STRATA_MAKE_STREAM_HPP

#include <algorithm>
#include <cmath>
#include <detail/Strata_Arena.hpp>
#include <detail/Strata_CollapseRows.hpp>
#include <detail/Strata_RowPolicy.hpp>
#include <detail/Strata_StreamPhases.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// How to cut a graph into sub-graphs.
struct StreamShape {
  /// Bands of this many consecutive level sets; 0: one band, so that chunks
  /// are of rows in the order of substitution.
  int band_levels = 0;
  /// Rows of a sub-graph at most.
  int max_rows = 1024;
  /// Rows, distinct outside sources and the scratch's zero together; a team may
  /// have less room.
  int max_local = 4096;
  /// Steps a value from another sub-graph is expected to take.
  int hop = 8;
  /// Level sets taken at a time, see CollapsedRows; 1: rows stay as they are,
  /// 0: as many as a sample of the rows says is best.
  int collapse = 1;
  /// Teams to choose from; with a second one where there is a choice, for rows
  /// of many entries. 0 or 1 for that team, -1: what the sample says is better.
  StreamTeam team[2] = {};
  int which_team = 0;
};
/// A step of the second team takes so much longer.
constexpr double second_team_cost = 1.35;
/// Level sets are taken several at a time in plans of so many times the bytes of
/// the matrix at most.
constexpr double max_collapsed_memory = 5;

/// A stream in the making: first where every row goes and when (which tells
/// what a solve will cost), then the stream itself.
///
/// Sub-graphs are numbered band by band and upward in a band. An edge leads
/// from a lower band, or from a smaller vertex of the same band, so never to a
/// smaller number: their order is a valid sequence.
template <class ExecutionSpace>
class StreamBuilder {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Graph = DependencyGraph<Memory>;

  /// @param level        level of each vertex, from 0; not read for one band of
  ///                     rows that stay as they are
  /// @param longest_row  most edges into a vertex: a row of many is dealt to
  ///                     many lanes
  /// @param width        lanes of a warp
  /// Cost: a few launches over rows and edges, two sorts, and the longest path
  /// of the graph at a few reads through memory a row. Fences `exec`.
  StreamBuilder(const ExecutionSpace& exec, const Graph& graph,
                const int* level, int num_levels, std::int64_t longest_row,
                const StreamShape& shape, int width, std::size_t scalar_bytes)
      : exec_(exec), longest_row_(longest_row) {
    phases_.graph = graph;
    phases_.record = StreamRecord(scalar_bytes);
    phases_.level = level;
    phases_.hop = shape.hop;
    phases_.stream.width = width;
    phases_.stream.entries = phases_.record.entries;
    shape_ = shape;
    team_ = shape.which_team;
    num_teams_ = shape.team[1].row_lanes > shape.team[0].row_lanes ? 2 : 1;
    phases_.stream.num_rows = graph.num_vertices;
    if (graph.num_edges() >= std::numeric_limits<int>::max() ||
        graph.num_vertices == 0)
      return;
    const auto max_local = [&] {
      return std::min({shape.max_local, shape.team[team_ > 0 ? 1 : 0].max_local,
                       static_cast<int>(65536 / scalar_bytes) - 1});
    };
    const int most_rows = std::min(shape.max_rows, max_local() - 1);
    int rows = most_rows;
    make_counts();
    const Graph given = graph;
    collapse_ = shape.collapse;
    bool again = false;
    do {
      if (rows < 1) return;
      again = false;
      phases_.graph = given;
      fits_ = partition(num_levels, shape.band_levels, rows, max_local);
      if (!fits_ && shape.which_team < 0 && team_ == 1 && rows < 512) {
        // The other team has more room.
        team_ = 0;
        collapse_ = shape.collapse;
        rows = most_rows;
        again = true;
        continue;
      }
      rows /= 2;
    } while (again || (!fits_ && rows >= 16));
    if (fits_) find_steps();
  }

  /// False where scratch can't hold the outside values of a few rows, or 32
  /// bits the edges: there is no stream then.
  bool possible() const { return fits_; }
  int num_subgraphs() const { return phases_.num_subgraphs; }
  std::int64_t num_imports() const { return phases_.num_uniques; }
  /// Steps on the longest path, a value from another sub-graph counted as
  /// `hop` steps more.
  int critical_steps() const { return critical_steps_; }
  int max_local() const { return max_local_; }
  /// Rows of a sub-graph at most: fewer than asked for where scratch can't hold
  /// the outside values of more.
  int max_rows() const { return phases_.max_rows; }
  /// Level sets taken at a time, and terms and sources of the rows then.
  int collapse() const { return collapse_; }
  int team() const { return team_; }
  /// Steps that all sub-graphs together have at least; how much longer than one
  /// of the first team such a step takes.
  double team_steps() const {
    return double(phases_.num_tasks) * phases_.stream.row_lanes /
           (phases_.stream.width * phases_.stream.warps);
  }
  double step_cost() const { return team_ == 0 ? 1. : second_team_cost; }
  std::int64_t num_terms() const { return num_terms_; }
  std::int64_t num_sources() const { return phases_.graph.num_edges(); }
  double external_share() const {
    const auto edges = phases_.graph.num_edges();
    return edges > 0 ? double(phases_.num_externals) / double(edges) : 0.;
  }

  /// The stream, without values. Cost: two sorts and a few launches over rows,
  /// edges and records; a row of m entries takes m^2 comparisons.
  SubgraphStream<Memory> finish(std::int64_t num_values) {
    auto& p = phases_;
    auto& stream = p.stream;
    using Kokkos::view_alloc;
    using Kokkos::WithoutInitializing;
    const std::int64_t n = p.graph.num_vertices;
    const std::string label = "Strata::SubgraphStream::";
    stream.num_exports = num_exports_;
    stream.num_imports = p.num_uniques;
    stream.max_local = max_local_;
    stream.critical_steps = critical_steps_;
    stream.row = Kokkos::View<unsigned*, Memory>(
        view_alloc(label + "row", WithoutInitializing), n);
    stream.diagonal_origin =
        OriginIndex<Memory>(label + "diagonal_origin", n, num_values);
    run<typename Phases::Positions>("positions", n);

    const auto tasks = make_arena<Memory>(
        "Strata::StreamBuilder::tasks", [&](Arena<Memory>& arena) {
          arena.take(p.task_key, p.num_tasks);
          arena.take(p.task, p.num_tasks);
          arena.take(p.task_row, p.num_tasks);
          arena.take(p.run_of, p.num_tasks);
          arena.take(p.run_first, p.num_tasks);
          arena.take(p.place_of, p.num_tasks);
          arena.take(p.step_records, p.num_tasks);
          arena.take(p.step_subgraph, p.num_tasks);
          arena.take(p.step_first, p.num_subgraphs + 1);
          arena.take(p.run_count, p.num_subgraphs);
          arena.take(p.lanes_of, p.num_subgraphs);
          arena.take(p.slot_of, p.graph.num_edges());
          arena.take(p.need_key, p.num_uniques);
          arena.take(p.need_unique, p.num_uniques);
          arena.take(p.unique_local, p.num_uniques);
        });
    run<typename Phases::TaskKeys>("task_keys", n);
    sort(p.task_key, p.task, p.num_tasks,
         p.time_bits + bits_for(p.num_subgraphs));
    run<typename Phases::ClearRuns>("clear_runs", p.num_subgraphs);
    scan<typename Phases::RunScan>("runs", p.num_tasks);
    run<typename Phases::ChooseLanes>("choose_lanes", p.num_subgraphs);
    scan<typename Phases::StepScan>("steps", p.num_tasks);
    p.num_steps = fetch_counts()[Phases::count_steps];
    stream.num_steps = p.num_steps;

    const auto steps = make_arena<Memory>(
        "Strata::StreamBuilder::steps", [&](Arena<Memory>& arena) {
          arena.take(p.record_of, p.num_steps * stream.warps + 1);
        });
    stream.subgraph = Kokkos::View<StreamSubgraph*, Memory>(
        view_alloc(label + "subgraph", WithoutInitializing), p.num_subgraphs);
    stream.step_warps = Kokkos::View<unsigned char*, Memory>(
        view_alloc(label + "step_warps", WithoutInitializing), p.num_steps);
    stream.import = Kokkos::View<int*, Memory>(
        view_alloc(label + "import", WithoutInitializing), p.num_uniques);
    scan<typename Phases::StageScan>("stages", p.num_steps * stream.warps);
    scan<typename Phases::ImportScan>("imports", p.num_subgraphs);
    run<typename Phases::DescribeSteps>("describe_steps", p.num_steps);
    run<typename Phases::DescribeSubgraphs>("describe_subgraphs",
                                            p.num_subgraphs);
    const std::int64_t records = fetch_counts()[Phases::count_records];
    stream.max_steps = static_cast<int>(counts_host_(Phases::count_most_steps));
    stream.num_records = records;
    stream.bytes = Kokkos::View<unsigned char*, Memory>(
        view_alloc(label + "bytes", WithoutInitializing),
        records * p.record.bytes);
    Arena<Memory> places;
    if (collapse_ > 1) {
      places = make_arena<Memory>(
          "Strata::StreamBuilder::places", [&](Arena<Memory>& arena) {
            arena.take(p.value_place, p.graph.num_edges());
            arena.take(p.value_rank, p.graph.num_edges());
            arena.take(p.task_place, p.num_tasks);
          });
    } else {
      stream.record_row = Kokkos::View<int*, Memory>(
          view_alloc(label + "record_row", WithoutInitializing), records);
      stream.record_lane = Kokkos::View<unsigned char*, Memory>(
          view_alloc(label + "record_lane", WithoutInitializing), records);
      stream.origin = OriginIndex<Memory>(
          label + "origin", records * p.record.entries, num_values);
      run<typename Phases::ClearOrigins>("clear_origins",
                                         records * p.record.entries);
    }
    run<typename Phases::ClearRecords>("clear", p.num_steps * stream.warps);
    run<typename Phases::ClearNeeds>("clear_needs", p.num_uniques);
    // Comparing all entries of a row with all: as if rows were longer.
    for_each_row("Strata::StreamBuilder::place_edges", exec_, n,
                 std::max(p.graph.num_edges(),
                          n * std::min<std::int64_t>(64, longest_row_ / 8)),
                 typename Phases::PlaceEdges{p});
    sort(p.need_key, p.need_unique, p.num_uniques, bits_for(p.num_steps));
    run<typename Phases::Imports>("list_imports", p.num_uniques);
    run<typename Phases::FillOuts>("fill_outs", p.num_tasks);
    for_each_row("Strata::StreamBuilder::fill_edges", exec_, n,
                 p.graph.num_edges(), typename Phases::FillEdges{p});
    if (collapse_ > 1) {
      run<typename Phases::TaskPlaces>("task_places", p.num_tasks);
      keep_collapsed(num_values);
    }
    exec_.fence();
    return stream;
  }

 private:
  using Phases = StreamPhases<Memory>;

  /// Sorts the values by their keys, and the keys.
  void sort(std::uint64_t* keys, int* values, std::int64_t count,
            int bits) const {
    sort_by_key(exec_, Kokkos::View<std::uint64_t*, Memory>(keys, count),
                Kokkos::View<int*, Memory>(values, count), bits);
  }
  template <class Tag>
  void run(const char* name, std::int64_t count) const {
    if (count > 0)
      Kokkos::parallel_for(
          std::string("Strata::StreamBuilder::") + name,
          Kokkos::RangePolicy<ExecutionSpace, Tag,
                              Kokkos::IndexType<std::int64_t>>(exec_, 0, count),
          phases_);
  }
  template <class Tag>
  void scan(const char* name, std::int64_t count) const {
    if (count > 0)
      Kokkos::parallel_scan(
          std::string("Strata::StreamBuilder::") + name,
          Kokkos::RangePolicy<ExecutionSpace, Tag,
                              Kokkos::IndexType<std::int64_t>>(exec_, 0, count),
          phases_);
  }
  void make_counts() {
    counts_ = Kokkos::View<std::int64_t*, Memory>(
        "Strata::StreamBuilder::counts", Phases::num_counts);
    counts_host_ = Kokkos::create_mirror_view(counts_);
    phases_.count = counts_.data();
  }
  /// Waits for the counts so far.
  const std::int64_t* fetch_counts() {
    Kokkos::deep_copy(exec_, counts_host_, counts_);
    exec_.fence();
    return counts_host_.data();
  }

  /// Sub-graphs of at most `rows` rows; false if their values don't fit.
  template <class MaxLocal>
  bool partition(int num_levels, int band_levels, int rows,
                 const MaxLocal& max_local) {
    auto& p = phases_;
    const std::int64_t n = p.graph.num_vertices;
    p.max_rows = rows;
    p.band_levels = band_levels;
    p.bands =
        band_levels > 0 ? (num_levels + band_levels - 1) / band_levels : 1;
    const std::int64_t most_subgraphs = n / rows + p.bands;
    vertices_ = make_arena<Memory>(
        "Strata::StreamBuilder::vertices", [&](Arena<Memory>& arena) {
          arena.take(p.band_key, n);
          arena.take(p.order, n);
          arena.take(p.subgraph_of, n);
          arena.take(p.export_before, n + 1);
          arena.take(p.position_of, n);
          arena.take(p.time, n);
          arena.take(p.first_task, n);
          arena.take(p.exported, n);
          arena.take(p.band_first, p.bands + 1);
          arena.take(p.band_chunk, p.bands + 1);
          arena.take(p.first_vertex, most_subgraphs + 1);
          arena.take(p.import_count, most_subgraphs);
          arena.take(ticket_, 1);
        });
    run<typename Phases::BandKeys>("band_keys", n);
    if (p.bands > 1) sort(p.band_key, p.order, n, bits_for(p.bands));
    run<typename Phases::BandStarts>("band_starts", n);
    scan<typename Phases::BandChunkScan>("band_chunks", p.bands);
    // One band's chunks need not be waited for.
    p.num_subgraphs = static_cast<int>(
        p.bands == 1 ? (n + rows - 1) / rows
                     : fetch_counts()[Phases::count_subgraphs]);
    run<typename Phases::AssignSubgraphs>("assign", n);
    if (collapse_ == 0 || team_ < 0) choose_shape(num_levels);
    // The rows alone may be too many for the team.
    if (1 + n / p.num_subgraphs > max_local()) return false;
    p.stream.row_lanes = shape_.team[team_].row_lanes;
    p.stream.warps = shape_.team[team_].warps;
    if (collapse_ > 1) collapse_rows();
    p.external_key = nullptr;
    scan<typename Phases::ExternalScan>("count_externals", n);
    p.num_externals = fetch_counts()[Phases::count_externals];
    externals_ = make_arena<Memory>(
        "Strata::StreamBuilder::externals", [&](Arena<Memory>& arena) {
          arena.take(p.unique_of, p.graph.num_edges());
          arena.take(p.external_key, p.num_externals);
          arena.take(p.external_edge, p.num_externals);
          arena.take(p.unique_source, p.num_externals);
          arena.take(p.unique_subgraph, p.num_externals);
        });
    scan<typename Phases::ExternalScan>("externals", n);
    sort(p.external_key, p.external_edge, p.num_externals,
         32 + bits_for(p.num_subgraphs));
    run<typename Phases::ClearSubgraphs>("clear_subgraphs", p.num_subgraphs);
    scan<typename Phases::UniqueScan>("uniques", p.num_externals);
    run<typename Phases::Capacity>("capacity", p.num_subgraphs);
    const auto counts = fetch_counts();
    p.num_uniques = counts[Phases::count_uniques];
    max_local_ = static_cast<int>(counts[Phases::count_local]);
    return counts[Phases::count_local] <= max_local();
  }

  GroupedEdges<Memory> grouped(const Graph& graph) const {
    return {graph, phases_.subgraph_of, phases_.level, collapse_};
  }
  static double mean_length(const Graph& graph) {
    return double(graph.num_edges()) / graph.num_vertices;
  }

  /// Puts the rewritten rows in the place of the graph.
  void collapse_rows() {
    auto& p = phases_;
    given_ = p.graph;
    const std::int64_t n = given_.num_vertices;
    // Terms are numbered with 31 bits.
    if (n > std::numeric_limits<int>::max() / max_terms ||
        p.max_rows > CollapsedRows<Memory>::max_subgraph_rows) {
      collapse_ = 1;
      return;
    }
    const auto edges = grouped(given_);
    int* sources = nullptr;
    std::int64_t* sums = nullptr;
    const Kokkos::View<int[3], Memory> longest(
        "Strata::StreamBuilder::longest");
    collapsed_ = make_arena<Memory>(
        "Strata::StreamBuilder::collapsed", [&](Arena<Memory>& arena) {
          arena.take(terms_, n);
          arena.take(sources, n);
          arena.take(words_, n);
          arena.take(sums, n + 1);
        });
    eliminate_rows("Strata::StreamBuilder::count_collapsed", exec_,
                              n, mean_length(given_),
                              CountCollapsed<Memory>{edges, terms_, sources,
                                                     words_, collapsed_shape(),
                                                     longest.data()});
    Graph rewritten;
    rewritten.num_vertices = given_.num_vertices;
    rewritten.reversed = given_.reversed;
    rewritten.diagonal_origin = given_.diagonal_origin;
    using Kokkos::view_alloc;
    using Kokkos::WithoutInitializing;
    rewritten.row_map = Kokkos::View<std::int64_t*, Memory>(
        view_alloc("Strata::StreamBuilder::row_map", WithoutInitializing),
        n + 1);
    const auto offsets = [&](const int* length, std::int64_t* map) {
      std::int64_t total = 0;
      Kokkos::parallel_scan(
          "Strata::StreamBuilder::offsets",
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
              exec_, 0, n),
          OffsetsOf{length, map, n}, total);
      return total;
    };
    num_terms_ = offsets(terms_, sums);
    num_words_ = offsets(words_, sums);
    const std::int64_t num_sources =
        offsets(sources, rewritten.row_map.data());
    // Records begin at multiples of 16 bytes, counted with 28 bits. Fewer than
    // two of three lanes are idle, see ChooseLanes.
    const std::int64_t most_records =
        num_sources + 3 * n * p.stream.row_lanes;
    if (most_records * p.record.units() >= 1 << 28 ||
        num_words_ > std::numeric_limits<int>::max()) {
      collapse_ = 1;
      return;
    }
    const auto longest_host = Kokkos::create_mirror_view(longest);
    Kokkos::deep_copy(exec_, longest_host, longest);
    exec_.fence();
    lists_ = {(longest_host(0) + 3) / 4 * 4, (longest_host(1) + 3) / 4 * 4};
    max_slots_ = longest_host(2);
    if (lists_.terms == 0) {
      collapse_ = 1;  // nothing to rewrite
      return;
    }
    rewritten.entries = Kokkos::View<int*, Memory>(
        view_alloc("Strata::StreamBuilder::entries", WithoutInitializing),
        num_sources);
    eliminate_rows(
        "Strata::StreamBuilder::fill_collapsed", exec_, n, mean_length(given_),
        FillCollapsed<Memory>{edges, terms_, rewritten.row_map.data(),
                              rewritten.entries.data()},
        lists_);
    p.graph = rewritten;
  }
  /// The number of level sets at a time, and the team, with which a sample of
  /// the rows takes the least time, counted in steps of the first team. In one
  /// band sub-graphs work one after the other: their steps full of work count
  /// beside those on the longest path. In several bands rows that stay as they
  /// are hold up others too much for many level sets at a time. A plan's bytes
  /// count beside its time: half as many are worth 1.4 times as long.
  void choose_shape(int num_levels) {
    auto& p = phases_;
    const bool two_teams = num_teams_ == 2 && p.bands == 1 &&
                           shape_.team[1].max_local >= 512;
    if (team_ < 0 && !two_teams) team_ = 0;
    if (collapse_ > 0 && team_ >= 0) return;
    CollapseCandidates candidates;
    if (collapse_ > 0) {
      candidates.levels[0] = collapse_;
      candidates.count = 1;
    } else if (p.bands > 1) {
      candidates.count = 4;
    }
    const std::int64_t n = p.graph.num_vertices;
    const std::int64_t samples = std::min<std::int64_t>(n, 2048);
    const Kokkos::View<std::int64_t*, Memory> sums(
        "Strata::StreamBuilder::sample",
        CollapseSample::size * candidates.count);
    eliminate_rows(
        "Strata::StreamBuilder::sample_collapsed", exec_,
        samples * candidates.count, mean_length(p.graph),
        SampleCollapsed<Memory>{grouped(p.graph), sums.data(), samples,
                                candidates, p.record.entries,
                                shape_.team[1].row_lanes * p.record.entries});
    const auto host = Kokkos::create_mirror_view(sums);
    Kokkos::deep_copy(exec_, host, sums);
    exec_.fence();
    // Bytes a row: of the matrix, and of a plan.
    const double length = mean_length(p.graph), scalar = p.record.scalar_bytes;
    const double crs = 4 + (scalar + 4) * (length + 1);
    const int team = team_;
    double best = 0;
    for (int c = 0; c < candidates.count; ++c) {
      const auto mean = [&](int what) {
        return double(host(c * CollapseSample::size + what)) / samples;
      };
      const int levels = candidates.levels[c];
      for (int t = 0; t < 2; ++t) {
        if (team >= 0 ? team != t : t == 1 && !two_teams) continue;
        const double late =
            mean(t == 0 ? CollapseSample::late : CollapseSample::late_wide);
        const double tasks =
            mean(t == 0 ? CollapseSample::tasks : CollapseSample::tasks_wide) *
            shape_.team[t].row_lanes;
        const double path =
            double(num_levels) / levels * late / CollapseSample::unit;
        const double work =
            p.bands > 1
                ? 0
                : n * tasks / (p.stream.width * shape_.team[t].warps);
        // The larger of both counts for more. A solve begins with a launch, a
        // band with values of the one before, and teams with their rows' sums
        // of terms.
        const double steps =
            std::pow(std::pow(path, 1.5) + std::pow(work, 1.5), 1 / 1.5);
        const double bands = p.bands > 1 ? 40. * p.bands : 0;
        const double begin = 68 + bands +
                             9 * (mean(CollapseSample::terms) - 1) *
                                      std::min<double>(n, 1024) / 1024;
        const double time = steps * (t == 0 ? 1 : second_team_cost) + begin;
        // A quarter of the lanes of the first team are idle.
        const double records =
            (t == 0 ? 1.25 : 1.06) * tasks * p.record.bytes;
        const double memory =
            levels == 1 ? 8 + scalar + 1.5 * records + 4 * length
                        : 20 + records + 4 * length +
                              (2 + scalar) * mean(CollapseSample::terms) +
                              4 * mean(CollapseSample::sources) +
                              mean(CollapseSample::operations);
        if (levels > 1 && best > 0 && memory > max_collapsed_memory * crs)
          continue;
        const double score = time * std::sqrt(memory);
        if (best == 0 || score < best) {
          best = score;
          collapse_ = levels;
          team_ = t;
        }
      }
    }
    if (collapse_ == 0) collapse_ = 1;
    if (team_ < 0) team_ = 0;
  }

  CollapsedRows<Memory> collapsed_shape() const {
    CollapsedRows<Memory> shape;
    shape.levels = collapse_;
    shape.scalar_bytes = phases_.record.scalar_bytes;
    shape.record_entries = phases_.record.entries;
    shape.row_lanes = phases_.stream.row_lanes;
    return shape;
  }
  /// What new values need, once the stream is laid out.
  void keep_collapsed(std::int64_t num_values) {
    auto& p = phases_;
    auto& kept = p.stream.collapsed;
    using Kokkos::view_alloc;
    using Kokkos::WithoutInitializing;
    const std::int64_t n = given_.num_vertices;
    const std::string label = "Strata::CollapsedRows::";
    const auto ints = [&](const char* name, std::int64_t count) {
      return Kokkos::View<int*, Memory>(
          view_alloc(label + name, WithoutInitializing), count);
    };
    kept = collapsed_shape();
    kept.max_terms = lists_.terms;
    kept.max_slots = max_slots_;
    kept.row_map = ints("row_map", n + 1);
    kept.origin =
        OriginIndex<Memory>(label + "origin", given_.num_edges(), num_values);
    kept.term_map = ints("term_map", n + 1);
    kept.term = Kokkos::View<std::int16_t*, Memory>(
        view_alloc(label + "term", WithoutInitializing), num_terms_);
    kept.word_map = ints("word_map", n + 1);
    kept.word = Kokkos::View<unsigned*, Memory>(
        view_alloc(label + "word", WithoutInitializing), num_words_);
    Kokkos::parallel_scan(
        "Strata::StreamBuilder::collapsed_maps",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
            exec_, 0, 3 * n),
        CollapsedMaps<Memory>{grouped(given_), p.stream.row, kept, terms_,
                              words_, given_.num_edges(), num_terms_});
    eliminate_rows("Strata::StreamBuilder::write_collapsed", exec_, n,
                   mean_length(given_),
                   WriteCollapsed<Memory>{
                       grouped(given_), kept, p.position_of,
                       p.graph.row_map.data(), p.value_rank, p.value_place,
                       p.first_task, p.task_place},
                   lists_);
  }

  void find_steps() {
    auto& p = phases_;
    const std::int64_t n = p.graph.num_vertices;
    scan<typename Phases::ExportScan>("exports", n);
    scan<typename Phases::TaskScan>("count_tasks", n);
    const Kokkos::View<unsigned, Memory,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        ticket(ticket_);
    Kokkos::deep_copy(exec_, ticket, 0u);
    // A warp a row where rows have many sources to look at.
    if (is_cuda<ExecutionSpace> && p.graph.num_edges() > 6 * n)
      find_steps_of_rows<true>();
    else
      find_steps_of_rows<false>();
    std::int64_t latest = 0;
    Kokkos::parallel_reduce(
        "Strata::StreamBuilder::latest_step",
        Kokkos::RangePolicy<ExecutionSpace, typename Phases::LatestStep,
                            Kokkos::IndexType<std::int64_t>>(exec_, 0, n),
        p, Kokkos::Max<std::int64_t>(latest));
    const auto counts = fetch_counts();
    p.num_tasks = counts[Phases::count_tasks];
    num_exports_ = static_cast<int>(counts[Phases::count_exports]);
    critical_steps_ = static_cast<int>(latest);
    p.time_bits = bits_for(latest);
    // A stage has a record at least, and at most as many as a warp has lanes.
    fits_ = p.num_tasks < std::numeric_limits<int>::max() / p.stream.width;
  }

  template <bool by_warp>
  void find_steps_of_rows() {
    using Steps = StreamSteps<ExecutionSpace, by_warp>;
    const int units = device_units(exec_);
    constexpr int team_size = is_cuda<ExecutionSpace> ? 128 : 1;
    Kokkos::TeamPolicy<ExecutionSpace> policy(
        exec_, is_cuda<ExecutionSpace> ? 12 * units : units, team_size);
    if (by_warp)
      policy.set_scratch_size(
          0, Kokkos::PerTeam(static_cast<int>(
                 team_size / Steps::width * Steps::warp_bins * sizeof(int))));
    Kokkos::parallel_for("Strata::StreamBuilder::steps_of_rows", policy,
                         Steps{phases_, ticket_});
  }

  ExecutionSpace exec_;
  std::int64_t longest_row_;
  Phases phases_;
  bool fits_ = false;
  int max_local_ = 0, critical_steps_ = 0, num_exports_ = 0;
  unsigned* ticket_ = nullptr;
  // Where rows are rewritten: the graph as given, terms by vertex.
  StreamShape shape_;
  int collapse_ = 1, team_ = 0, num_teams_ = 1;
  Graph given_;
  std::int64_t num_terms_ = 0;
  std::int64_t num_words_ = 0;
  ListLengths lists_{0, 0};
  int max_slots_ = 0;
  int *terms_ = nullptr, *words_ = nullptr;
  Arena<Memory> vertices_, externals_, collapsed_;
  Kokkos::View<std::int64_t*, Memory> counts_;
  typename Kokkos::View<std::int64_t*, Memory>::HostMirror counts_host_;
};

}  // namespace Detail
}  // namespace Strata

#endif
