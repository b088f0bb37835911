// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_ANALYSIS_BLOCKS_ELL_ANALYSIS_HPP
#define STRATA_ANALYSIS_BLOCKS_ELL_ANALYSIS_HPP

#include <Strata_DependencyGraph.hpp>
#include <algorithm>
#include <analysis/blocks/EllLayout.hpp>
#include <core/device/Backend.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/matrix/TriangleCheck.hpp>
#include <core/memory/Arena.hpp>
#include <core/memory/MemoryPool.hpp>
#include <core/memory/ToDevice.hpp>
#include <vector>

namespace Strata {
namespace Detail {

/// Clears what the analysis adds up and, given a row map, locates the strict
/// entries of sorted rows whose number TriangleCheck has counted; rows of a
/// non-unit triangle are seen to have a diagonal on the way.
template <class MemorySpace>
struct LocateRows {
  std::int64_t* entries;
  int* longest;
  IndexArray row_map;  // empty: the rows are known
  Kokkos::View<const int*, MemorySpace> strict;
  DiagonalPresence<MemorySpace> presence;
  std::int64_t* begin;
  int* count;
  std::int64_t n;
  bool lower, check_presence;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t v) const {
    entries[v] = 0;
    longest[v] = 0;
    if (row_map.extent(0) == 0) return;
    const std::int64_t row = lower ? v : n - 1 - v;
    const int mine = strict(row);
    begin[v] = lower ? row_map(row) : row_map(row + 1) - mine;
    count[v] = mine;
    if (check_presence) presence(row);
  }
};

template <class MemorySpace>
struct ResetEll {
  Kokkos::View<int*, MemorySpace> strict;             // may be empty
  Kokkos::View<std::int64_t*, MemorySpace> diagonal;  // may be empty
  std::int64_t* head;
  std::int64_t words;  // of the head, with the multi-team blocks
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < static_cast<std::int64_t>(strict.extent(0))) {
      strict(i) = 0;
      diagonal(i) = -1;
    }
    if (i < words) head[i] = i <= EllHead::unsorted ? no_fault : 0;
  }
};

/// From a triangle's pattern to ELL blocks: makes the temporary arrays, finds
/// and measures the blocks, and fills the plan once the solver has room for it.
/// The host waits once, in `fetch`. Whatever was enqueued must be done before
/// this object ends.
template <class ExecutionSpace>
class EllAnalysis {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using Counts = Kokkos::View<std::int64_t*, Memory>;
  using Range =
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>;

  /// @param n rows, at least 1
  /// @param entries stored, at least as many as strict ones
  /// @param from_matrix whether rows are still to be checked and counted
  /// Takes about 60 bytes a row, which are kept for the next one.
  /// @param lanes a power of two: what one row may get
  EllAnalysis(const ExecutionSpace& exec, int n, std::int64_t entries,
              bool from_matrix, const EllLimits& limits,
              int lanes = lane_width<ExecutionSpace>)
      : n_(n), entries_(entries) {
    work_.limits = limits;
    work_.lanes_at_most = lanes;
    // Lanes are at most entries + 8 n: see EllShape.
    work_.wide_capacity = static_cast<int>(
        (entries + 8 * std::int64_t{n}) / std::max(1, limits.lanes) +
        entries / std::max(1, limits.entries) + 1);
    std::int64_t* diagonal = nullptr;
    int* strict = nullptr;
    const auto request = [&](auto& a) {
      a.take(work_.head, head_words());
      a.take(work_.nearest, n);
      a.take(work_.tile_nearest, n / tile_rows + 1);
      a.take(work_.start, std::int64_t{n} + 1);
      a.take(work_.block_of, n);
      a.take(work_.entries, n);
      a.take(work_.longest, n);
      a.take(work_.row_slot, n);
      if (!from_matrix) return;
      a.take(begin_, n);
      a.take(count_, n);
      a.take(diagonal, n);
      a.take(strict, n);
    };
    request(arena_);
    work_block_ =
        MemoryPool<Memory>::take("Strata::EllAnalysis", arena_.bytes());
    arena_.use(*work_block_);
    request(arena_);
    work_.wide = reinterpret_cast<WideBlock*>(work_.head + EllHead::size);
    work_.rows.num_vertices = n;
    if (from_matrix) {
      strict_ = Kokkos::View<int*, Memory>(strict, n);
      diagonal_ = Counts(diagonal, n);
    }
    Kokkos::parallel_for(
        "Strata::EllAnalysis::reset",
        Range(exec, 0, std::max<std::int64_t>(strict_.extent(0), head_words())),
        ResetEll<Memory>{strict_, diagonal_, work_.head, head_words()});
  }

  /// For TriangleCheck: strict entries and the diagonal's place, by row.
  const Kokkos::View<int*, Memory>& strict() const { return strict_; }
  const Counts& diagonal() const { return diagonal_; }
  /// The first words of the head are TriangleCheck's status.
  Counts status() const { return Counts(work_.head, 3); }
  std::int64_t* head(int word) const { return work_.head + word; }

  /// Enqueues the search for blocks in a matrix that TriangleCheck has seen.
  void enqueue(const ExecutionSpace& exec, const IndexArray& row_map,
               const IndexArray& entries, bool lower, bool unit) {
    work_.rows.begin = begin_;
    work_.rows.count = count_;
    work_.rows.entries = entries;
    work_.rows.mirrored = !lower;
    enqueue_rows(exec, LocateRows<Memory>{work_.entries,
                                          work_.longest,
                                          row_map,
                                          strict_,
                                          {diagonal_, status()},
                                          begin_,
                                          count_,
                                          n_,
                                          lower,
                                          !unit});
  }
  /// The same for a graph.
  void enqueue(const ExecutionSpace& exec,
               const DependencyGraph<Memory>& graph) {
    work_.rows.begin = graph.row_map.data();
    work_.rows.entries = graph.entries;
    work_.rows.value_index = graph.value_index.data();
    enqueue_rows(exec, LocateRows<Memory>{work_.entries,
                                          work_.longest,
                                          {},
                                          {},
                                          {},
                                          nullptr,
                                          nullptr,
                                          n_,
                                          true,
                                          false});
  }
  /// Waits for what was found. Without a fault, the plan can be filled.
  void fetch(const ExecutionSpace& exec) {
    std::vector<std::int64_t> all(head_words());
    copy_to_host(exec, Counts(work_.head, all.size()), all.data());
    std::copy(all.begin(), all.begin() + EllHead::size, found_);
    const auto wide =
        reinterpret_cast<const WideBlock*>(all.data() + EllHead::size);
    // A faulty matrix may count more than there can be.
    wide_.assign(wide, wide + std::min<std::int64_t>(found_[EllHead::num_wide],
                                                     work_.wide_capacity));
    std::sort(wide_.begin(), wide_.end(),
              [](const WideBlock& a, const WideBlock& b) {
                return a.block < b.block;
              });
  }
  std::int64_t found(int word) const { return found_[word]; }
  const std::int64_t* inspection() const {
    return found_ + EllHead::inspection;
  }
  bool sound() const {
    return found_[EllHead::fault] == no_fault &&
           found_[EllHead::unsorted] == no_fault;
  }
  int num_rows() const { return n_; }
  int num_blocks() const {
    return static_cast<int>(found_[EllHead::num_blocks]);
  }
  /// Multi-team blocks in their order.
  const std::vector<WideBlock>& wide() const { return wide_; }

  /// Enqueues the filling of `plan`; this object has to live until it is done.
  void fill(const ExecutionSpace& exec, const EllPlan<Memory>& plan,
            const DiagonalSource& diagonal) const {
    for_each_row("Strata::EllAnalysis::fill", exec, n_,
                 std::max(entries_, found_[EllHead::num_slots]),
                 FillEllBlocks<Memory>{work_, plan, diagonal});
  }

 private:
  std::int64_t head_words() const {
    return EllHead::size + std::int64_t{2} * work_.wide_capacity;
  }
  void enqueue_rows(const ExecutionSpace& exec,
                    const LocateRows<Memory>& locate) {
    enqueue_find_blocks(exec, work_.rows, locate, work_.nearest,
                        work_.tile_nearest, work_.start,
                        work_.head + EllHead::num_blocks);
    for_each_tile("Strata::EllAnalysis::measure", exec, n_,
                  MeasureBlocks<ExecutionSpace>{work_});
    Kokkos::parallel_scan("Strata::EllAnalysis::place", Range(exec, 0, n_),
                          PlaceBlocks{work_});
  }

  int n_;
  std::int64_t entries_;
  typename MemoryPool<Memory>::Pointer work_block_;
  Arena<Memory> arena_;
  EllWork work_{};
  std::int64_t* begin_ = nullptr;
  int* count_ = nullptr;
  Kokkos::View<int*, Memory> strict_;
  Counts diagonal_;
  std::int64_t found_[EllHead::size] = {};
  std::vector<WideBlock> wide_;
};

}  // namespace Detail
}  // namespace Strata

#endif
