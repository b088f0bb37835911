// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_BLOCKS_BLOCK_SUBSTITUTION_HPP
#define STRATA_KERNELS_TRIANGULAR_BLOCKS_BLOCK_SUBSTITUTION_HPP

#include <Strata_TriangularReport.hpp>
#include <analysis/blocks/EllAnalysis.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Profiling.hpp>
#include <kernels/triangular/TriangularAlgorithm.hpp>
#include <kernels/triangular/blocks/MultiTeamBlocks.hpp>

namespace Strata {
namespace Detail {

/// Consecutive blocks that one launch solves.
struct BlockRun {
  int first_block, last_block;
  bool wide;  // multi-team blocks
  int rows;
  int most_lanes;  // of a multi-team run's blocks

  int blocks() const { return last_block - first_block; }
  int mean_rows() const { return rows / blocks(); }
};

/// Cuts the blocks into runs of single-team and of multi-team blocks (`wide`).
/// Up to `gap` single-team blocks between multi-team ones go with those: two
/// launches would cost more. Where single-team blocks are `irregular`, all
/// blocks go as multi-team ones.
inline std::vector<BlockRun> make_block_runs(const std::vector<WideBlock>& wide,
                                             int blocks, int rows,
                                             bool irregular, int gap = 3) {
  std::vector<BlockRun> runs;
  if (irregular) {
    int lanes = EllLimits().lanes;
    for (const WideBlock& w : wide) lanes = std::max(lanes, w.lanes);
    runs.push_back({0, blocks, true, rows, lanes});
    return runs;
  }
  int next_block = 0, next_row = 0;
  const auto add_single_team = [&](int block, int row) {
    if (block > next_block)
      runs.push_back({next_block, block, false, row - next_row, 0});
  };
  for (const WideBlock& w : wide) {
    if (!runs.empty() && runs.back().wide && w.block - next_block <= gap) {
      runs.back().last_block = w.block + 1;
      runs.back().most_lanes = std::max(runs.back().most_lanes, w.lanes);
      runs.back().rows += w.first_row + w.rows - next_row;
    } else {
      add_single_team(w.block, w.first_row);
      runs.push_back({w.block, w.block + 1, true, w.rows, w.lanes});
    }
    next_block = w.block + 1;
    next_row = w.first_row + w.rows;
  }
  add_single_team(blocks, rows);
  return runs;
}

/// Block substitution: diagonal blocks whose rows do not need each other, one
/// after the other (Nibbeling 2016, Algorithm 2), in ELL storage. See
/// docs/algorithms/blocks.md.
///
/// Solves with one solver object share its counters and must not overlap.
template <class Scalar, class ExecutionSpace>
class BlockSubstitution : public TriangularAlgorithm<Scalar, ExecutionSpace> {
  using Base = TriangularAlgorithm<Scalar, ExecutionSpace>;

 public:
  using typename Base::Memory;

  /// From what size on a block is a multi-team one. On CUDA, one team takes
  /// longer then than all do to wait for each other; on a host, threads are
  /// woken for it.
  static EllLimits limits() {
    EllLimits limits;
    if (!is_gpu<ExecutionSpace>) limits.lanes = 2048;
    return limits;
  }

  /// Whether some single-team blocks are not for SingleTeamBlocks.
  static bool is_irregular(const EllAnalysis<ExecutionSpace>& analysis) {
    return is_gpu<ExecutionSpace> && analysis.found(EllHead::num_irregular) > 0;
  }
  /// For a matrix without rows.
  BlockSubstitution() = default;
  /// `analysis` has been fetched and is sound; it must live until `exec` has
  /// been waited for. `num_values` as the user's matrix stores.
  BlockSubstitution(const ExecutionSpace& exec,
                    const EllAnalysis<ExecutionSpace>& analysis,
                    const DiagonalSource& diagonal, std::int64_t num_values,
                    bool conjugated)
      : num_rows_(analysis.num_rows()),
        num_blocks_(analysis.num_blocks()),
        num_slots_(analysis.found(EllHead::num_slots)),
        has_long_rows_(analysis.found(EllHead::num_long) > 0),
        reversed_(diagonal.reversed),
        multiprocessors_(num_multiprocessors(exec)),
        runs_(make_block_runs(analysis.wide(), num_blocks_, num_rows_,
                              is_irregular(analysis))) {
    for (const BlockRun& run : runs_)
      if (run.wide && run.blocks() > 1)
        num_counters_ =
            std::max(num_counters_, MultiTeamState::done + run.blocks());
    const std::int64_t n = num_rows_;
    const bool narrow = ValueIndex<Memory>::is_narrow(num_values);
    Scalar *packed, *packed_diagonal;
    std::uint32_t *value_index32, *diagonal32;
    std::int64_t *value_index64, *diagonal64;
    arena_ = make_arena<Memory>("Strata::BlockSubstitution", [&](auto& a) {
      a.take(plan_.block, num_blocks_);
      a.take(plan_.row, n);
      a.take(plan_.dependency, num_slots_);
      a.take(packed, num_slots_);
      a.take(packed_diagonal, n);
      a.take(value_index32, narrow ? num_slots_ : 0);
      a.take(diagonal32, narrow ? n : 0);
      a.take(value_index64, narrow ? 0 : num_slots_);
      a.take(diagonal64, narrow ? 0 : n);
      a.take(plan_.long_first, has_long_rows_ ? n : 0);
      a.take(plan_.long_count, has_long_rows_ ? n : 0);
      a.take(state_, num_counters_);
    });
    const auto index = [&](std::uint32_t* at32, std::int64_t* at64,
                           std::int64_t count) {
      ValueIndex<Memory> made;
      if (narrow)
        made.narrow = Kokkos::View<std::uint32_t*, Memory>(at32, count);
      else
        made.wide = Kokkos::View<std::int64_t*, Memory>(at64, count);
      return made;
    };
    plan_.value_index = index(value_index32, value_index64, num_slots_);
    plan_.diagonal_value_index = index(diagonal32, diagonal64, n);
    value_ = Kokkos::View<Scalar*, Memory>(packed, num_slots_);
    reset_counters(exec);
    analysis.fill(exec, plan_, diagonal);
    this->set_rows(Kokkos::View<const unsigned*, Memory>(plan_.row, n),
                   plan_.diagonal_value_index, conjugated,
                   Kokkos::View<Scalar*, Memory>(packed_diagonal, n));
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    // Tickets are counted in 32 bits.
    constexpr std::int64_t most = 1024;
    for (std::int64_t first = 0; first < columns; first += most) {
      const EllSystem<Scalar> system{
          plan_.block,
          plan_.dependency,
          value_.data(),
          this->diagonal_.data(),
          plan_.long_first,
          has_long_rows_ ? plan_.long_count : nullptr,
          this->divide_,
          in_order(b.from(first)),
          in_order(x.from(first))};
      const int now = static_cast<int>(std::min(most, columns - first));
      for (const BlockRun& run : runs_)
        if constexpr (is_gpu<ExecutionSpace>) {
          launch(exec, system, run, now);
        } else {
          launch_on_host(exec, system, run, now);
        }
    }
  }

  /// The counters of multi-team blocks, which a host does without.
  std::shared_ptr<const Base> with_workspace(
      const ExecutionSpace& exec) const override {
    if (workspace_bytes() == 0) return nullptr;
    const auto made = std::make_shared<BlockSubstitution>(*this);
    made->counters_ = make_unfilled<decltype(counters_)>(
        "Strata::BlockSubstitution::workspace", num_counters_);
    made->state_ = made->counters_.data();
    made->reset_counters(exec);
    return made;
  }
  std::size_t workspace_bytes() const override {
    return is_gpu<ExecutionSpace>
               ? static_cast<std::size_t>(num_counters_) * sizeof(unsigned)
               : 0;
  }

  int num_blocks() const { return num_blocks_; }
  const std::vector<BlockRun>& runs() const { return runs_; }
  std::int64_t num_slots() const { return num_slots_; }
  void describe(TriangularReport& report) const {
    report.blocks = num_blocks_;
    report.block_runs = static_cast<int>(runs_.size());
    report.block_slots = num_slots_;
  }

 private:
  void reset_counters(const ExecutionSpace& exec) const {
    if (num_counters_ > 0)
      Kokkos::deep_copy(
          exec, Kokkos::View<unsigned*, Memory>(state_, num_counters_), 0u);
  }
  /// Rows from the last on where the substitution goes backward.
  template <class T>
  MultiVectorRef<T> in_order(MultiVectorRef<T> v) const {
    if (!reversed_) return v;
    v.data += std::int64_t{num_rows_ - 1} * v.row_stride;
    v.row_stride = -v.row_stride;
    return v;
  }

  void launch(const ExecutionSpace& exec, const EllSystem<Scalar>& system,
              const BlockRun& run, int columns) const {
    if (run.wide) {
      if (columns == 1)
        launch_multi_team<1>(exec, system, run, 1);
      else
        launch_multi_team<8>(exec, system, run, columns);
    } else if (run.mean_rows() <= few_rows) {
      launch_single_team<SingleTeamBlocks<Scalar, ExecutionSpace, 128, 4>>(
          exec, system, run, columns);
    } else {
      launch_single_team<SingleTeamBlocks<Scalar, ExecutionSpace, 512, 2>>(
          exec, system, run, columns);
    }
  }
  template <class Kernel>
  static void launch_single_team(const ExecutionSpace& exec,
                                 const EllSystem<Scalar>& system,
                                 const BlockRun& run, int columns) {
    Kokkos::TeamPolicy<ExecutionSpace,
                       Kokkos::LaunchBounds<Kernel::team_size, 1>>
        policy(exec, columns, Kernel::team_size);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes)));
    Kokkos::parallel_for("Strata::Triangular::solve::single_team_blocks",
                         policy,
                         Kernel{system, run.first_block, run.last_block});
  }
  template <int R>
  void launch_multi_team(const ExecutionSpace& exec,
                         const EllSystem<Scalar>& system, const BlockRun& run,
                         int columns) const {
    using Kernel = MultiTeamBlocks<Scalar, ExecutionSpace, R>;
    const int groups = (columns + R - 1) / R;
    const std::int64_t tickets =
        (std::int64_t{run.most_lanes} + Kernel::team_size - 1) /
        Kernel::team_size * groups;
    const bool alone = run.blocks() == 1;
    // Teams of the next block fetch what it needs meanwhile; more would only
    // wait.
    const std::int64_t teams =
        alone ? std::min<std::int64_t>(tickets, 16 * multiprocessors_)
              : std::min<std::int64_t>(
                    2 * tickets,
                    std::int64_t{teams_per_multiprocessor} * multiprocessors_);
    Kokkos::TeamPolicy<
        ExecutionSpace,
        Kokkos::LaunchBounds<Kernel::team_size,
                             R == 1 ? teams_per_multiprocessor : 2>>
        policy(exec, static_cast<int>(teams), Kernel::team_size);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes)));
    Kokkos::parallel_for("Strata::Triangular::solve::multi_team_blocks", policy,
                         Kernel{system, state_, run.first_block, run.last_block,
                                columns, groups});
  }
  void launch_on_host(const ExecutionSpace& exec,
                      const EllSystem<Scalar>& system, const BlockRun& run,
                      int columns) const {
    if (run.wide) {
      for (int b = run.first_block; b < run.last_block; ++b) {
        const int rows = plan_.block[b].rows;
        Kokkos::parallel_for(
            "Strata::Triangular::solve::multi_team_blocks",
            RangeOf<ExecutionSpace>(exec, 0, std::int64_t{rows} * columns),
            EllRows<Scalar>{{system}, b, rows});
      }
      return;
    }
    const EllRun<Scalar> kernel{{system}, run.first_block, run.last_block};
    const char* const label = "Strata::Triangular::solve::single_team_blocks";
    // Everything enqueued on `exec` is done where it runs at once, and waking
    // threads for one right-hand side would cost more than most runs.
    if (runs_at_once<ExecutionSpace> && columns == 1) {
      const ProfilingRegion region(label);
      kernel(0);
    } else {
      Kokkos::parallel_for(label, RangeOf<ExecutionSpace>(exec, 0, columns),
                           kernel);
    }
  }

  void pack_entries(const ExecutionSpace& exec, const Scalar* values) override {
    if (num_slots_ > 0)
      gather_values(exec, plan_.value_index, values, value_, this->conjugated_);
  }
  std::size_t entry_bytes() const override {
    // All there is, alignment included, less what is counted elsewhere.
    return arena_.held() -
           static_cast<std::size_t>(num_rows_) *
               (sizeof(unsigned) + sizeof(Scalar)) -
           plan_.diagonal_value_index.bytes();
  }

  static constexpr int teams_per_multiprocessor = 4;
  /// Mean rows of a block up to which a small team is faster.
  static constexpr int few_rows = 32;
  int num_rows_ = 0, num_blocks_ = 0;
  std::int64_t num_slots_ = 0;
  bool has_long_rows_ = false, reversed_ = false;
  int multiprocessors_ = 1, num_counters_ = 0;
  std::vector<BlockRun> runs_;
  Arena<Memory> arena_;
  EllPlan<Memory> plan_;
  Kokkos::View<Scalar*, Memory> value_;
  unsigned* state_ = nullptr;
  /// Of a copy that has counters of its own; else they are in the arena.
  Kokkos::View<unsigned*, Memory> counters_;
};

}  // namespace Detail
}  // namespace Strata

#endif
