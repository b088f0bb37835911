// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_ELIMINATION_HPP
#define STRATA_KERNELS_DENSE_ELIMINATION_HPP

#include <algorithm>
#include <core/device/Atomics.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Profiling.hpp>
#include <core/device/ResidentLaunch.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <kernels/dense/PanelByColumns.hpp>
#include <kernels/dense/PanelState.hpp>
#include <kernels/dense/ResidentPanel.hpp>
#include <kernels/dense/StripeKernels.hpp>

namespace Strata {
namespace Detail {

/// Begins an elimination: rows are where they were, nothing is counted yet.
struct BeginElimination {
  int* original_row;
  int* row_of;
  int* counts;
  std::int64_t rows, num_counts;
  EliminationStatus* status;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    if (i < rows) original_row[i] = row_of[i] = static_cast<int>(i);
    if (i < num_counts) counts[i] = 0;
    if (i == 0) status->lacking = status->overflow = EliminationStatus::none;
  }
};

/// The downward sweep: stripes of columns, in panels, with partial pivoting.
/// Owns the small arrays that it needs; matrices are the caller's.
///
/// A stripe of w columns: its panels find pivots and multipliers (tiles II and
/// JI), the rows right of it are exchanged and solved with the unit lower
/// triangle (IK), and one product updates all that is left (JK).
template <class Scalar, class ExecutionSpace>
class Elimination {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr int width = panel_width<Scalar>;
  using Ref = DenseRef<Scalar>;
  using Panel = ResidentPanel<Scalar, ExecutionSpace>;
  /// Of one team. Registers suffice for more threads where a row takes few.
  using LonePanel =
      ResidentPanel<Scalar, ExecutionSpace, sizeof(Scalar) <= 4 ? 1024 : 512>;

  /// For matrices of up to max_rows rows; `stripe` columns a stripe, a
  /// multiple of `width`. @param use_blas for products and triangles of a host
  Elimination(const ExecutionSpace& exec, std::int64_t max_rows, int stripe,
              bool use_blas)
      : stripe_(stripe), use_blas_(use_blas) {
    const auto ints = [&](const char* label, std::int64_t count) {
      return make_unfilled<Kokkos::View<int*, Memory>>(exec, label, count);
    };
    original_row_ = ints("Strata::Dense::original_row", max_rows);
    row_of_ = ints("Strata::Dense::row_of", max_rows);
    // Only the part with pivots is copied to the host.
    make_zeroed(info_, "Strata::Dense::info", PanelInfo::size(width));
    moves_ = ints("Strata::Dense::moves",
                  2 * max_stripe_moves(stripe) + max_rows / stripe + 1);
    make_zeroed(tile_, "Strata::Dense::tile", width * width);
    make_zeroed(status_, "Strata::Dense::status", 1);
    make_zeroed(state_, "Strata::Dense::state", 1);
    max_teams_ = max_resident_teams<Panel>(
        exec, team_size, Panel::scratch_bytes(num_multiprocessors(exec)));
    const std::int64_t teams = std::min<std::int64_t>(
        max_teams_, (max_rows + team_size - 1) / team_size);
    if (teams > 1 && max_rows > LonePanel::max_team_size) {
      keys_ = make_unfilled<Kokkos::View<Packet*, Memory>>(
          exec, "Strata::Dense::keys", 2 * teams * width);
      values_ = make_unfilled<Kokkos::View<Scalar*, Memory>>(
          exec, "Strata::Dense::values",
          2 * teams * width * PanelMessages<Scalar>::length);
    }
    messages_ = {keys_.data(), values_.data(), static_cast<int>(teams)};
  }

  /// Bytes held.
  std::size_t bytes() const {
    return sizeof(int) * (original_row_.extent(0) + row_of_.extent(0) +
                          info_.extent(0) + moves_.extent(0)) +
           sizeof(Packet) * keys_.extent(0) +
           sizeof(Scalar) * (values_.extent(0) + tile_.extent(0));
  }

  /// Numbers of the rows that were brought to rows 0, 1, ... by `sweep`.
  Kokkos::View<const int*, Memory> row_of() const { return row_of_; }

  /// Sweeps over `columns` columns of a, rows x (columns + further), in the
  /// expectation that the first min(rows, columns) of them have a pivot each,
  /// and carries everything to the right of them. Enqueues only. Afterwards a
  /// holds L and U of the columns as LAPACK's getrf leaves them but for the
  /// order of L's rows, which only suits the stripe itself. Where a's leading
  /// dimension is larger than `rows`, a row behind the last one is written,
  /// too.
  ///
  /// With `identity`, `further` is `columns` = rows and the further columns
  /// hold the identity, of which a stripe's part comes into play only with the
  /// stripe: they become the inverse of L, whose column q belongs to row
  /// row_of()(q) of a.
  ///
  /// Where the expectation fails, pivots() says so, and all else is worthless.
  void sweep(const ExecutionSpace& exec, const Ref& a, std::int64_t rows,
             std::int64_t columns, std::int64_t further, double tolerance,
             bool identity = false) {
    begin(exec, rows);
    const std::int64_t steps = std::min(rows, columns);
    int* const source = moves_.data();
    int* const target = source + max_stripe_moves(stripe_);
    int* count = target + max_stripe_moves(stripe_);
    for (std::int64_t c = 0; c < steps; c += stripe_, ++count) {
      const std::int64_t end = std::min<std::int64_t>(c + stripe_, steps);
      factorize_stripe(exec, a, rows, c, end, tolerance);
      const std::int64_t last = columns + (identity ? end : further);
      if (end == last) continue;
      Kokkos::parallel_for(
          "Strata::Dense::ListStripeMoves",
          Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<int>>(
              exec, static_cast<int>(c), static_cast<int>(rows)),
          ListStripeMoves{original_row_.data(), count, source, target});
      // The identity's columns of this stripe have their pivots in place.
      const std::int64_t moved = columns + (identity ? c : further) - end;
      move_rows<Scalar>(exec, a.from(0, end), moved, max_stripe_moves(stripe_),
                        count, source, target, row_of_.data());
      solve_triangle<Uplo::lower>(exec, a.from(c, c), a.from(c, end), end - c,
                                  last - end, use_blas_);
      subtract_product(exec, a.from(end, c), a.from(c, end), a.from(end, end),
                       rows_of_product(a, end, rows), last - end, end - c,
                       use_blas_);
    }
    expected_ = steps;
  }

  /// The same where columns may lack a pivot: stripes are panels, and the host
  /// waits for each to know how many it has. `multipliers` has room for rows x
  /// width.
  Pivots sweep_with_gaps(const ExecutionSpace& exec, const Ref& a,
                         std::int64_t rows, std::int64_t columns,
                         std::int64_t further, double tolerance,
                         const Ref& multipliers) {
    begin(exec, rows);
    Pivots result;
    std::int64_t row = 0;
    for (std::int64_t c = 0; c < columns && row < rows; c += width) {
      const int count =
          static_cast<int>(std::min<std::int64_t>(width, columns - c));
      const PanelInfo info =
          eliminate_panel(exec, a, row, rows, c, count, tolerance);
      int host[2 + width];
      copy_to_host(exec, Kokkos::subview(info_, std::make_pair(0, 2 + width)),
                   host);
      const int found = host[0];
      if (found == 0) continue;
      for (int q = 0; q < found; ++q) result.columns.push_back(c + host[2 + q]);
      const std::int64_t next = c + count, end = columns + further;
      apply_panel(exec, a, row, c, c, next, end, info);
      const std::int64_t below = rows - row - found;
      Ref l = a.from(row + found, c);
      if (found < count && below > 0) {
        Kokkos::parallel_for(
            "Strata::Dense::GatherMultipliers", entries(exec, below * found),
            GatherColumns<Scalar>{l, multipliers, &info.column(0), below});
        l = multipliers;
      }
      subtract_product(exec, l, a.from(row, next), a.from(row + found, next),
                       below, end - next, found, use_blas_);
      row += found;
    }
    const auto status = host_status(exec);
    result.overflow = status.overflow;
    return result;
  }

  /// The pivots of the last `sweep`. Waits for exec.
  Pivots pivots(const ExecutionSpace& exec) const {
    Pivots result;
    const auto status = host_status(exec);
    result.lacking = status.lacking;
    result.overflow = status.overflow;
    result.columns.resize(expected_);
    for (std::int64_t q = 0; q < expected_; ++q) result.columns[q] = q;
    return result;
  }

 private:
  static constexpr int team_size = Panel::max_team_size;

  static RangeOf<ExecutionSpace> entries(const ExecutionSpace& exec,
                                         std::int64_t count) {
    return {exec, 0, count};
  }

  /// How many of a's `rows` rows products from row `begin` on work on: an even
  /// number where `begin` is even and a's columns have room behind the last
  /// row, as cuBLAS takes 1.25 times as long otherwise. That row holds
  /// anything, and no other one depends on it.
  static std::int64_t rows_of_product(const Ref& a, std::int64_t begin,
                                      std::int64_t rows) {
    const bool one_more =
        is_gpu<ExecutionSpace> && begin < rows && rows < a.ld && rows % 2 == 1;
    return rows - begin + one_more;
  }

  EliminationStatus host_status(const ExecutionSpace& exec) const {
    EliminationStatus status;
    copy_to_host(exec, status_, &status);
    return status;
  }

  void begin(const ExecutionSpace& exec, std::int64_t rows) {
    expected_ = 0;
    set_ = 0;
    const auto num_counts = static_cast<std::int64_t>(moves_.extent(0));
    Kokkos::parallel_for(
        "Strata::Dense::BeginElimination",
        entries(exec, std::max(rows, num_counts)),
        BeginElimination{original_row_.data(), row_of_.data(), moves_.data(),
                         rows, num_counts, status_.data()});
    if (values_.extent(0) > 0)
      Kokkos::parallel_for(
          "Strata::Dense::ResetMessages",
          entries(exec, static_cast<std::int64_t>(values_.extent(0))),
          ResetMessages<Scalar>{messages_});
  }

  /// Pivots and multipliers of columns first to end, rows exchanged in all of
  /// them; the rows above `first` are done.
  void factorize_stripe(const ExecutionSpace& exec, const Ref& a,
                        std::int64_t rows, std::int64_t first, std::int64_t end,
                        double tolerance) {
    for (std::int64_t p = first; p < end; p += width) {
      const int count =
          static_cast<int>(std::min<std::int64_t>(width, end - p));
      const std::int64_t next = p + count;
      const PanelInfo info =
          eliminate_panel(exec, a, p, rows, p, count, tolerance);
      apply_panel(exec, a, p, first, p, next, end, info);
      subtract_product(exec, a.from(next, p), a.from(p, next),
                       a.from(next, next), rows_of_product(a, next, rows),
                       end - next, count, use_blas_);
    }
  }

  PanelInfo eliminate_panel(const ExecutionSpace& exec, const Ref& a,
                            std::int64_t row, std::int64_t rows,
                            std::int64_t column, int count, double tolerance) {
    const PanelInfo info{info_.data(), width};
    const PanelTask<Scalar> task{a.from(row, column),
                                 static_cast<int>(rows - row),
                                 count,
                                 static_cast<int>(column),
                                 tolerance,
                                 info,
                                 Ref{tile_.data(), width},
                                 status_.data()};
    if constexpr (has_resident_teams<ExecutionSpace>) {
      const int teams = task.rows <= LonePanel::max_team_size
                            ? 1
                            : (task.rows + team_size - 1) / team_size;
      if (teams <= max_teams_) {
        if (teams > 1)
          run_panel(exec, Panel{task, messages_, set_}, teams, team_size);
        else
          run_panel(
              exec, LonePanel{task, messages_, set_}, 1,
              (task.rows + Panel::lanes - 1) / Panel::lanes * Panel::lanes);
        set_ = 1 - set_;
        exchanged_ = false;
        return info;
      }
    }
    eliminate_by_columns(exec, task, state_);
    exchanged_ = true;
    return info;
  }

  template <class Resident>
  static void run_panel(const ExecutionSpace& exec, const Resident& panel,
                        int teams, int threads) {
    const char* const label = "Strata::Dense::ResidentPanel";
    const ProfilingRegion region(label);
    run_resident_teams(label, exec, panel, teams, threads,
                       Resident::scratch_bytes(teams));
  }

  /// Exchanges the panel's rows in columns first to end, and eliminates in
  /// those from `next` on. The panel is columns `panel` to `next`, from row
  /// `row` on.
  void apply_panel(const ExecutionSpace& exec, const Ref& a, std::int64_t row,
                   std::int64_t first, std::int64_t panel, std::int64_t next,
                   std::int64_t end, const PanelInfo& info) {
    using Apply = ApplyPanel<Scalar, ExecutionSpace>;
    const std::int64_t left = (exchanged_ ? panel : next) - first;
    Kokkos::parallel_for(
        "Strata::Dense::ApplyPanel",
        column_teams<typename Apply::Policy>(exec, left + end - next + 1,
                                             Apply::scratch_bytes()),
        Apply{Ref{tile_.data(), width}, a.from(row, first), a.from(row, next),
              left, end - next, original_row_.data() + row, info});
  }

  int stripe_, max_teams_ = 0, set_ = 0;
  bool use_blas_;
  std::int64_t expected_ = 0;
  /// Whether the latest panel's rows have changed places in the panel itself.
  bool exchanged_ = false;
  /// original_row: which row, as counted when the current stripe began, is here
  /// now. moves: sources and targets of a stripe's exchanges, and their number
  /// for every stripe.
  Kokkos::View<int*, Memory> original_row_, row_of_, info_, moves_;
  Kokkos::View<EliminationStatus*, Memory> status_;
  Kokkos::View<ColumnPanelState*, Memory> state_;
  Kokkos::View<Packet*, Memory> keys_;
  Kokkos::View<Scalar*, Memory> values_, tile_;
  PanelMessages<Scalar> messages_;
};

}  // namespace Detail
}  // namespace Strata

#endif
