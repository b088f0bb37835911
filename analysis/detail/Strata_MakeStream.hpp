// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_MAKE_STREAM_HPP
#define STRATA_MAKE_STREAM_HPP

#include <algorithm>
#include <detail/Strata_Arena.hpp>
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
  /// Rows, distinct outside sources and the scratch's zero together.
  int max_local = 4096;
  /// Steps a value from another sub-graph is expected to take.
  int hop = 8;
};

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

  /// @param level        level of each vertex, from 0; not read for one band
  /// @param longest_row  most edges into a vertex: a row of many is dealt to
  ///                     many lanes
  /// @param width, warps lanes that work in step, and how many such groups
  /// Cost: a few launches over rows and edges, two sorts, and the longest path
  /// of the graph at a few reads through memory a row. Fences `exec`.
  StreamBuilder(const ExecutionSpace& exec, const Graph& graph,
                const int* level, int num_levels, std::int64_t longest_row,
                const StreamShape& shape, int width, int warps,
                std::size_t scalar_bytes)
      : exec_(exec), longest_row_(longest_row) {
    phases_.graph = graph;
    phases_.record = StreamRecord(scalar_bytes);
    phases_.level = level;
    phases_.hop = shape.hop;
    phases_.stream.width = width;
    phases_.stream.warps = warps;
    phases_.stream.entries = phases_.record.entries;
    phases_.stream.num_rows = graph.num_vertices;
    if (graph.num_edges() >= std::numeric_limits<int>::max() ||
        graph.num_vertices == 0)
      return;
    const int max_local =
        std::min(shape.max_local, static_cast<int>(65536 / scalar_bytes) - 1);
    int rows = std::min(shape.max_rows, max_local - 1);
    make_counts();
    do {
      if (rows < 1) return;
      fits_ = partition(num_levels, shape.band_levels, rows, max_local);
      rows /= 2;
    } while (!fits_ && rows >= 16);
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
    stream.record_row = Kokkos::View<int*, Memory>(
        view_alloc(label + "record_row", WithoutInitializing), records);
    stream.record_lane = Kokkos::View<unsigned char*, Memory>(
        view_alloc(label + "record_lane", WithoutInitializing), records);
    stream.origin = OriginIndex<Memory>(label + "origin",
                                        records * p.record.entries, num_values);
    run<typename Phases::ClearRecords>("clear", p.num_steps * stream.warps);
    run<typename Phases::ClearOrigins>("clear_origins",
                                       records * p.record.entries);
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
  bool partition(int num_levels, int band_levels, int rows, int max_local) {
    auto& p = phases_;
    const std::int64_t n = p.graph.num_vertices, m = p.graph.num_edges();
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
          arena.take(p.unique_of, m);
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
    p.external_key = nullptr;
    scan<typename Phases::ExternalScan>("count_externals", n);
    p.num_externals = fetch_counts()[Phases::count_externals];
    externals_ = make_arena<Memory>(
        "Strata::StreamBuilder::externals", [&](Arena<Memory>& arena) {
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
    return counts[Phases::count_local] <= max_local;
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
    const int units = device_units(exec_);
    Kokkos::parallel_for(
        "Strata::StreamBuilder::steps_of_rows",
        Kokkos::TeamPolicy<ExecutionSpace>(
            exec_, is_cuda<ExecutionSpace> ? 12 * units : units,
            is_cuda<ExecutionSpace> ? 128 : 1),
        StreamSteps<ExecutionSpace, by_warp>{phases_, ticket_});
  }

  ExecutionSpace exec_;
  std::int64_t longest_row_;
  Phases phases_;
  bool fits_ = false;
  int max_local_ = 0, critical_steps_ = 0, num_exports_ = 0;
  unsigned* ticket_ = nullptr;
  Arena<Memory> vertices_, externals_;
  Kokkos::View<std::int64_t*, Memory> counts_;
  typename Kokkos::View<std::int64_t*, Memory>::HostMirror counts_host_;
};

}  // namespace Detail
}  // namespace Strata

#endif
