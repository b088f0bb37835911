// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_STREAM_ALGORITHM_HPP
#define STRATA_STREAM_ALGORITHM_HPP

#include <algorithm>
#include <detail/Strata_MakeStream.hpp>
#include <detail/Strata_RowPolicy.hpp>
#include <detail/Strata_StreamKernel.hpp>
#include <detail/Strata_TriangularAlgorithm.hpp>

namespace Strata {
namespace Detail {

/// Sub-graphs in one launch: see StreamSolve.
///
/// Solves with one solver object share its workspace and must not overlap.
template <class Scalar, class ExecutionSpace>
class StreamAlgorithm : public TriangularAlgorithm<Scalar, ExecutionSpace> {
  using Base = TriangularAlgorithm<Scalar, ExecutionSpace>;

 public:
  using typename Base::Memory;
  template <int team, bool steps_in_scratch>
  using KernelFor = StreamSolve<Scalar, ExecutionSpace, team, steps_in_scratch>;
  template <int team>
  using Kernel = KernelFor<team, true>;
  static constexpr int num_teams = Kernel<1>::different ? 2 : 1;
  using Builder = StreamBuilder<ExecutionSpace>;

  /// Room for a sub-graph's steps that is kept in any case.
  static constexpr int usual_steps = 1024;

  /// Scalars that a sub-graph may keep in the scratch of `exec`'s device.
  template <int team>
  static int max_local(const ExecutionSpace& exec) {
    const std::size_t fixed = Kernel<team>::scratch_bytes(0, usual_steps);
    const std::size_t bytes = team_scratch_bytes(exec);
    return static_cast<int>(std::min<std::size_t>(
        bytes < fixed ? 0 : (bytes - fixed) / sizeof(Scalar), 65000));
  }
  /// Sub-graphs of that shape, and the steps on their longest path.
  static Builder make_builder(
      const ExecutionSpace& exec,
      const DependencyGraph<typename ExecutionSpace::memory_space>& graph,
      const int* level, int num_levels, std::int64_t longest_row,
      StreamShape shape) {
    shape.team[0] = {Kernel<0>::row_lanes, Kernel<0>::warps,
                     max_local<0>(exec)};
    shape.team[1] = {Kernel<1>::row_lanes, Kernel<1>::warps,
                     max_local<1>(exec)};
    if (num_teams == 1) shape.which_team = 0;
    return Builder(exec, graph, level, num_levels, longest_row, shape,
                   Kernel<0>::width, sizeof(Scalar));
  }

  StreamAlgorithm(const ExecutionSpace& exec,
                  const TriangularAnalysis<ExecutionSpace>& analysis,
                  Builder& builder, int max_right_hand_sides)
      : stream_(builder.finish(analysis.num_values)), team_(builder.team()) {
    this->set_rows(stream_.row, stream_.diagonal_origin, analysis.conjugated);
    // Room for more right-hand sides at once, up to the stream's own size.
    const std::size_t one =
        2 * sizeof(Scalar) * std::max<std::size_t>(1, stream_.num_exports);
    export_columns_ = static_cast<int>(std::min<std::size_t>(
        max_right_hand_sides,
        std::max<std::size_t>(1, stream_.bytes.extent(0) / one)));
    exports_ = Base::make_values(2ll * export_columns_ * stream_.num_exports);
    Kokkos::parallel_for(
        "Strata::Stream::reset",
        RangeOf<ExecutionSpace>(exec, 0,
                                static_cast<std::int64_t>(exports_.extent(0))),
        ResetPending<Scalar, Memory>{exports_});
    term_value_ = Base::make_values(stream_.collapsed.term_row.extent(0));
    state_ = Kokkos::View<unsigned*, Memory>(
        "Strata::Stream::state", PipelineState::size + export_columns_);
    steps_in_scratch_ =
        (team_ == 0
             ? Kernel<0>::scratch_bytes(stream_.max_local, stream_.max_steps)
             : Kernel<1>::scratch_bytes(stream_.max_local,
                                        stream_.max_steps)) <=
        team_scratch_bytes(exec);
    exec.fence();
  }
  /// Entries are divided by the diagonal beforehand: rows in which that leaves
  /// the range of normal numbers are not for this algorithm.
  std::int64_t unusable_row(const ExecutionSpace& exec,
                            const Scalar* values) const override {
    if (stream_.collapsed.exist()) return probe(exec, values);
    std::int64_t least = no_fault;
    Kokkos::parallel_reduce(
        "Strata::Stream::unusable_row",
        RangeOf<ExecutionSpace>(exec, 0, stream_.num_records),
        FindUnscalableRow<Scalar, Memory>{stream_, values},
        Kokkos::Min<std::int64_t>(least));
    return least < no_fault ? least : no_fault;
  }
  int num_subgraphs() const {
    return static_cast<int>(stream_.subgraph.extent(0));
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    for (std::int64_t first = 0; first < columns;) {
      const int now = static_cast<int>(std::min<std::int64_t>(
          {columns - first, export_columns_,
           std::max(1, (1 << 30) / std::max(1, num_subgraphs()))}));
      if (team_ == 0)
        launch<0>(exec, b.from(first), x.from(first), now);
      else if constexpr (num_teams > 1)
        launch<1>(exec, b.from(first), x.from(first), now);
      first += now;
    }
  }

 private:
  template <int team>
  void launch(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
              const MultiVectorRef<Scalar>& x, int columns) const {
    if (steps_in_scratch_)
      launch<team, true>(exec, b, x, columns);
    else
      launch<team, false>(exec, b, x, columns);
  }
  template <int team, bool steps_in_scratch>
  void launch(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
              const MultiVectorRef<Scalar>& x, int columns) const {
    using Solve = KernelFor<team, steps_in_scratch>;
    Kokkos::TeamPolicy<
        ExecutionSpace,
        Kokkos::LaunchBounds<Solve::team_size, Solve::teams_a_unit>>
        policy(exec, static_cast<int>(stream_.subgraph.extent(0)) * columns,
               Solve::team_size);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(static_cast<int>(Solve::scratch_bytes(
               stream_.max_local, steps_in_scratch ? stream_.max_steps : 0))));
    Kokkos::parallel_for(
        "Strata::Triangular::solve::pipelined_subgraphs", policy,
        Solve{
            stream_.bytes.data(), stream_.subgraph.data(),
            stream_.step_warps.data(), stream_.import.data(),
            stream_.row.data(), this->diagonal_.data(),
            stream_.collapsed.term_map.data(),
            stream_.collapsed.term_row.data(), term_value_.data(),
            exports_.data(),
            state_.data(), stream_.num_exports, columns, export_columns_,
            this->divide_, b, x});
  }
  MatrixNumbers<Scalar, Memory> numbers(const Scalar* values) const {
    const auto& rows = stream_.collapsed;
    return {values, rows.origin, rows.position, this->diagonal_.data(),
            this->conjugated_};
  }
  ListLengths lists() const {
    return {stream_.collapsed.max_terms, stream_.collapsed.max_sources};
  }
  double mean_length() const {
    return double(stream_.collapsed.entries.extent(0)) / stream_.num_rows;
  }
  /// Whether rewritten rows would lose more than half of the digits: the error
  /// of a solve is, at most, so many times that of substitution.
  std::int64_t probe(const ExecutionSpace& exec, const Scalar* values) const {
    const Kokkos::View<std::int64_t*, Memory> faults(
        Kokkos::view_alloc("Strata::Stream::faults",
                           Kokkos::WithoutInitializing),
        CollapseFaults::size);
    const auto host = Kokkos::create_mirror_view(faults);
    host(CollapseFaults::row) = no_fault;
    host(CollapseFaults::inverse) = host(CollapseFaults::block) = 0;
    Kokkos::deep_copy(exec, faults, host);
    eliminate_rows<ProbedNumbers<Scalar, Memory>>(
        "Strata::Stream::probe", exec, stream_.num_rows, mean_length(),
        ProbeCollapsed<Scalar, Memory>{
            KeptEdges<Memory>{stream_.collapsed},
            ProbedNumbers<Scalar, Memory>{numbers(values),
                                          stream_.diagonal_origin},
            faults.data()},
        lists());
    Kokkos::deep_copy(exec, host, faults);
    exec.fence();
    double factor[2];
    memcpy(factor, &host(CollapseFaults::inverse), sizeof(factor));
    condition_ = factor[0] * factor[1];
    constexpr double unit =
        sizeof(typename Pending<Scalar>::Word) == 4 ? 0x1p-24 : 0x1p-53;
    if (condition_ * condition_ * unit > 0.01) return 0;
    return host(CollapseFaults::row);
  }

  void pack_entries(const ExecutionSpace& exec, const Scalar* values) override {
    if (stream_.collapsed.exist()) {
      eliminate_rows<MatrixNumbers<Scalar, Memory>>(
          "Strata::Stream::pack", exec, stream_.num_rows, mean_length(),
          PackCollapsed<Scalar, Memory>{KeptEdges<Memory>{stream_.collapsed},
                                        numbers(values), stream_.bytes.data(),
                                        term_value_.data()},
          lists());
      return;
    }
    Kokkos::parallel_for(
        "Strata::Stream::pack",
        RangeOf<ExecutionSpace>(exec, 0, stream_.num_records),
        PackStream<Scalar, Memory>{stream_, values, this->diagonal_,
                                   this->conjugated_, this->divide_});
  }
  std::size_t entry_bytes() const override {
    return stream_.bytes.extent(0) +
           stream_.subgraph.extent(0) * sizeof(StreamSubgraph) +
           (stream_.import.extent(0) + stream_.record_row.extent(0)) *
               sizeof(int) +
           stream_.record_lane.extent(0) + stream_.step_warps.extent(0) +
           stream_.origin.bytes() + stream_.collapsed.bytes() +
           (exports_.extent(0) + term_value_.extent(0)) * sizeof(Scalar);
  }

  SubgraphStream<Memory> stream_;
  int team_ = 0, export_columns_ = 1;
  bool steps_in_scratch_ = true;
  mutable double condition_ = 0;
  Kokkos::View<Scalar*, Memory> exports_, term_value_;
  Kokkos::View<unsigned*, Memory> state_;
};

}  // namespace Detail
}  // namespace Strata

#endif
