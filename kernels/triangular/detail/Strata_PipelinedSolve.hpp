// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_PIPELINED_SOLVE_HPP
#define STRATA_PIPELINED_SOLVE_HPP

#include <detail/Strata_LevelSetSolve.hpp>
#include <detail/Strata_PipelinedBlocks.hpp>
#include <detail/Strata_PipelinedKernel.hpp>
#include <detail/Strata_RewrittenValues.hpp>
#include <detail/Strata_SplitRows.hpp>
#include <memory>

namespace Strata {
namespace Detail {

template <class Scalar, class MemorySpace>
struct ResetPipeline {
  ResetPending<Scalar, MemorySpace> pending;
  Kokkos::View<unsigned*, MemorySpace> counter;  // one
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i == 0) counter(0) = 0;
    if (i < static_cast<std::int64_t>(pending.buffer.extent(0))) pending(i);
  }
};

template <class Scalar>
struct CopyColumn {
  MultiVectorRef<const Scalar> from;
  Scalar* to;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    to[i] = from(i, 0);
  }
};

/// Level sets without launches between them: see PipelinedSolve and, for
/// several right-hand sides, PipelinedBlocks for how rows wait and why that
/// ends. With `max_right_hand_sides` 1, each has a launch of its own, and there
/// is no workspace for more.
///
/// Solves with one solver object share its workspace and must not overlap.
template <class Scalar, class ExecutionSpace>
class PipelinedAlgorithm : public RowChunkAlgorithm<Scalar, ExecutionSpace> {
  using Base = RowChunkAlgorithm<Scalar, ExecutionSpace>;

 public:
  using Base::width;
  using typename Base::Memory;

  PipelinedAlgorithm(const ExecutionSpace& exec,
                     const TriangularAnalysis<ExecutionSpace>& analysis,
                     int max_right_hand_sides)
      : Base(exec, analysis, SourceNumbering::position, Solve<false>::batch,
             2) {
    make_workspace(exec, analysis, max_right_hand_sides);
  }
  /// Level sets taken several at a time, for one right-hand side a launch.
  PipelinedAlgorithm(const ExecutionSpace& exec,
                     const TriangularAnalysis<ExecutionSpace>& analysis,
                     const CollapsedLevels<Memory>& levels)
      : Base(exec, analysis, levels.graph, levels.order,
             SourceNumbering::position, Solve<false>::batch, 3,
             RowTerms<Memory>{levels.term_map, levels.term}) {
    using Kokkos::make_pair;
    const std::int64_t n = this->chunks_.num_rows;
    copy_ = Kokkos::subview(this->buffers_, make_pair(2 * n, 3 * n));
    this->buffers_ =
        Kokkos::subview(this->buffers_, make_pair(std::int64_t{0}, 2 * n));
    make_workspace(exec, analysis, 1);
    rewritten_ = std::make_shared<RewrittenValues<Scalar, ExecutionSpace>>(
        exec, levels, this->chunks_, analysis.num_values, analysis.conjugated);
    exec.fence();
  }

  std::int64_t* probe(const ExecutionSpace& exec,
                      const Scalar* values) const override {
    return rewritten_ ? rewritten_->probe(exec, this->diagonal_origin_, values,
                                          this->row_, copy_)
                      : nullptr;
  }
  UnsuitableValues unsuitable(const ValuesInspection& values) const override {
    return rewritten_ ? why_unsuitable<Scalar>(values) : UnsuitableValues{};
  }

  void solve(const ExecutionSpace& exec, const MultiVectorRef<const Scalar>& b,
             const MultiVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    if (columns > 1 && blocks_) {
      blocks_->solve(exec, this->system(b, x), columns);
      return;
    }
    if (tickets_ == 0) return;
    for (std::int64_t c = 0; c < columns; ++c)
      if (this->chunks_.num_slots == 0)
        this->solve_diagonal(exec, b.from(c), x.from(c));
      else if (rewritten_)
        solve_rewritten(exec, b.from(c), x.from(c));
      else if (this->divide_)
        launch_one<true, false>(exec, b.from(c), x.from(c));
      else
        launch_one<false, false>(exec, b.from(c), x.from(c));
  }

 private:
  template <bool divide, bool terms = false>
  using Solve = PipelinedSolve<Scalar, ExecutionSpace, divide, terms>;

  void make_workspace(const ExecutionSpace& exec,
                      const TriangularAnalysis<ExecutionSpace>& analysis,
                      int max_right_hand_sides) {
    rows_.chunk = this->chunks_.chunk;
    // A host's thread would have to take all pieces of a row itself.
    if (width > 1) {
      const auto& longest = analysis.order.sizes.longest_row;
      if (!longest.empty())
        rows_ =
            split_long_rows(exec, this->chunks_, width,
                            *std::max_element(longest.begin(), longest.end()));
    }
    const std::int64_t n =
        std::int64_t{this->chunks_.num_rows} + rows_.num_sums;
    // Sums of pieces follow the rows.
    if (rows_.num_sums > 0) this->buffers_ = Base::make_values(2 * n);
    Kokkos::parallel_for(
        "Strata::Pipelined::reset",
        RangeOf<ExecutionSpace>(exec, 0, std::max<std::int64_t>(2 * n, 1)),
        ResetPipeline<Scalar, Memory>{{this->buffers_}, this->counter_});
    constexpr int per_ticket = Solve<false>::chunks_per_ticket;
    tickets_ = static_cast<int>(
        (static_cast<std::int64_t>(rows_.chunk.extent(0)) + per_ticket - 1) /
        per_ticket);
    teams_ = std::min(tickets_, teams_per_unit() * device_units(exec));
    if (max_right_hand_sides > 1)
      blocks_ = std::make_shared<PipelinedBlocks<Scalar, ExecutionSpace>>(
          exec, this->chunks_, max_right_hand_sides);
  }

  /// Rows read elements of b that are other rows': b is copied where x is to
  /// overwrite it.
  void solve_rewritten(const ExecutionSpace& exec,
                       const MultiVectorRef<const Scalar>& b,
                       const MultiVectorRef<Scalar>& x) const {
    MultiVectorRef<const Scalar> from = b;
    if (b.data == x.data) {
      Kokkos::parallel_for(
          "Strata::Pipelined::copy",
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>,
                              Kokkos::LaunchBounds<256>>(
              exec, 0, this->chunks_.num_rows),
          CopyColumn<Scalar>{b, copy_.data()});
      from.data = copy_.data();
      from.row_stride = 1;
    }
    if (this->divide_)
      launch_one<true, true>(exec, from, x);
    else
      launch_one<false, true>(exec, from, x);
  }
  void pack_entries(const ExecutionSpace& exec, const Scalar* values) override {
    if (rewritten_)
      rewritten_->pack(exec, this->diagonal_origin_, values, this->chunks_,
                       this->value_);
    else
      Base::pack_entries(exec, values);
  }

  /// Few where level sets are narrow: what is far from the rows being solved
  /// would only wait. More where level sets take all of them several times.
  int teams_per_unit() const {
    constexpr int few = 3, wide_chunks = 350;
    return this->chunks_.num_chunks() <
                   std::int64_t{wide_chunks} * this->chunks_.num_levels()
               ? few
               : Solve<false>::most_teams_per_unit;
  }

  /// Tickets a team up to which solves overlap. Blocks that begin early begin
  /// where there is room, several on one multiprocessor: a long solve loses
  /// more by that than the one or two microseconds that are to be gained.
  static constexpr int few_tickets = 4;

  template <bool divide, bool terms>
  void launch_one(const ExecutionSpace& exec,
                  const MultiVectorRef<const Scalar>& b,
                  const MultiVectorRef<Scalar>& x) const {
    using One = Solve<divide, terms>;
    auto system = this->system(b, x);
    system.chunk = rows_.chunk;
    run_blocks<One::most_teams_per_unit, One::team_size>(
        "Strata::Triangular::solve::pipelined", exec, teams_,
        One{system, this->buffers_.data(), this->counter_.data(),
            this->chunks_.num_rows,
            static_cast<int>(this->buffers_.extent(0) / 2), tickets_},
        0, tickets_ <= few_tickets * teams_);
  }
  std::size_t entry_bytes() const override {
    // Where rows are split, the plan's own buffers lie idle.
    return Base::entry_bytes() +
           (rows_.num_sums > 0
                ? rows_.chunk.extent(0) * sizeof(RowChunk) +
                      2 * std::size_t(this->chunks_.num_rows) * sizeof(Scalar)
                : 0) +
           copy_.extent(0) * sizeof(Scalar) + (blocks_ ? blocks_->bytes() : 0) +
           (rewritten_ ? rewritten_->bytes() : 0);
  }

  SplitRows<Memory> rows_;
  int tickets_ = 0, teams_ = 0;
  std::shared_ptr<const PipelinedBlocks<Scalar, ExecutionSpace>> blocks_;
  std::shared_ptr<const RewrittenValues<Scalar, ExecutionSpace>> rewritten_;
  Kokkos::View<Scalar*, Memory> copy_;  // a right-hand side of rewritten rows
};

}  // namespace Detail
}  // namespace Strata

#endif
