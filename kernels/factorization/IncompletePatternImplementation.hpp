// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_FACTORIZATION_INCOMPLETE_PATTERN_IMPLEMENTATION_HPP
#define STRATA_KERNELS_FACTORIZATION_INCOMPLETE_PATTERN_IMPLEMENTATION_HPP

#include <Strata_IncompletePattern.hpp>
#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/MemoryErrors.hpp>
#include <kernels/factorization/input/FactorChecks.hpp>
#include <kernels/factorization/symbolic/FillSearch.hpp>
#include <string>
#include <type_traits>
#include <vector>

namespace Strata {
namespace Detail {

template <>
struct HasImplementation<PatternOfFactors> : std::true_type {};

/// Searches all rows of a pattern that has been checked: with tables in scratch
/// first; rows whose search does not fit these, with tables in memory that are
/// eight times as large, and so on, up to tables with a slot for each vertex.
/// What fails costs little beside what succeeds, as tables that are too small
/// end a search early.
template <class ExecutionSpace>
class FillRounds {
  using Memory = typename ExecutionSpace::memory_space;

 public:
  /// Slots of a table in scratch. On a GPU a multiprocessor has room for as
  /// many tables as it has for warps.
  static constexpr int usual_slots = is_gpu<ExecutionSpace> ? 512 : 1024;

  FillRounds(const ExecutionSpace& exec, const IndexArray& row_map,
             const IndexArray& entries, std::int64_t rows, int level,
             std::int64_t slots)
      : exec_(exec),
        row_map_(row_map),
        entries_(entries),
        rows_(rows),
        most_edges_(static_cast<int>(std::min<std::int64_t>(level, rows - 1)) +
                    1),
        slots_(slots),
        state_(make_unfilled<Kokkos::View<FillState*, Memory>>(
            "Strata::IncompletePattern::state", 1)) {}

  /// The entries of each row, unless these are more than `most` or
  /// `most_in_all` beside the diagonal. Waits for `exec`.
  /// @param counted  gets how many they are, or a number above the limit
  Kokkos::View<int*, Memory> count(const FillCount& most,
                                   std::int64_t most_in_all,
                                   FillCount& counted) {
    const auto length = make_unfilled<Kokkos::View<int*, Memory>>(
        "Strata::IncompletePattern::length", rows_);
    Round round{{}, rows_, FillTableShape::of(slots_, rows_)};
    for (std::int64_t slots = slots_;;) {
      rounds_.push_back(round);
      Kokkos::View<int*, Memory> failed;
      if (!round.shape.holds_all())
        make_unfilled(failed, "Strata::IncompletePattern::failed",
                      round.num_rows);
      run("Strata::IncompletePattern::count", rounds_.size() == 1, round,
          CountFill<ExecutionSpace>{row_map_, entries_, length.data(),
                                    failed.data(), state_.data(), most,
                                    most_in_all});
      Kokkos::deep_copy(exec_, here(), state_);
      exec_.fence();
      counted = last_.counted;
      if (last_.failed == 0 || counted.lower > most.lower ||
          counted.upper > most.upper || counted.sum() > most_in_all)
        return length;
      slots *= 8;
      round = {failed, last_.failed, FillTableShape::of(slots, rows_)};
    }
  }

  /// Stores all rows, after count(). Waits for `exec`.
  template <class Scalar>
  void store(const StoreFill<Scalar, ExecutionSpace>& result) {
    bool first = true;
    for (const Round& round : rounds_) {
      run("Strata::IncompletePattern::store", first, round, result);
      first = false;
    }
  }

 private:
  struct Round {
    Kokkos::View<int*, Memory> rows;  // none: all
    std::int64_t num_rows;
    FillTableShape shape;
  };
  /// Of all tables in memory together, unless one is larger.
  static constexpr std::int64_t most_table_bytes = std::int64_t{128} << 20;

  template <class Result>
  void run(const char* label, bool in_scratch, const Round& round,
           const Result& result) {
    using Search = FillSearch<ExecutionSpace, Result>;
    const std::size_t bytes = Search::scratch_bytes(round.shape);
    std::int64_t teams = num_multiprocessors(exec_);
    if constexpr (is_gpu<ExecutionSpace>) {
      teams *= Search::most_teams_per_multiprocessor;
    }
    FillSearchRows rows;
    rows.row = round.rows.data();
    rows.num_rows = round.num_rows;
    rows.rows_of_draw = static_cast<int>(
        std::clamp<std::int64_t>(round.num_rows / (8 * teams), 1, 64));
    rows.drawn = &state_.data()->drawn;
    rows.shape = round.shape;
    teams = std::min(teams, (round.num_rows - 1) / rows.rows_of_draw + 1);
    Kokkos::View<int*, Memory> tables;
    if (!in_scratch) {
      teams = std::min(
          teams, std::max<std::int64_t>(
                     1, most_table_bytes / static_cast<std::int64_t>(bytes)));
      make_unfilled(tables, "Strata::IncompletePattern::tables",
                    teams * round.shape.words());
      rows.tables = tables.data();
    }
    last_.drawn = last_.failed = 0;
    Kokkos::deep_copy(exec_, state_, here());
    const int lanes = lanes_for_rows(
        rows_, static_cast<std::int64_t>(entries_.extent(0)), Search::width);
    // Kokkos refuses teams whose scratch a multiprocessor has no room for.
    run_native_teams<has_native_launches<ExecutionSpace>
                         ? Search::most_teams_per_multiprocessor
                         : 1,
                     Search::width>(
        label, exec_, static_cast<int>(teams),
        Search{row_map_, entries_, most_edges_, lanes, rows, result},
        in_scratch ? bytes : 0, false);
    exec_.fence();
  }

  auto here() { return UnmanagedView<FillState, Kokkos::HostSpace>(&last_, 1); }

  ExecutionSpace exec_;
  IndexArray row_map_, entries_;
  std::int64_t rows_;
  int most_edges_;
  std::int64_t slots_;
  Kokkos::View<FillState*, Memory> state_;  // one
  FillState last_;                          // after the last count
  std::vector<Round> rounds_;
};

/// Refuses more entries than the offsets of a new matrix count, or than its
/// device has `bytes` for.
/// @param counted  of as many entries as have been counted, with the diagonal
/// @throws IndexOverflowError, MemoryError
template <class MemorySpace>
void require_room_for_fill(int level, std::int64_t counted,
                           std::int64_t largest_offset, std::size_t bytes,
                           std::size_t entry_bytes) {
  const std::string so_far = "the fill of level " + std::to_string(level) +
                             " has at least " + std::to_string(counted) +
                             " entries, and counting ended there: ";
  if (counted > largest_offset)
    throw IndexOverflowError(
        "A",
        so_far + "the offset type of the matrix counts " +
            std::to_string(largest_offset),
        "use a wider offset type, or a lower level of fill");
  const std::size_t needed = static_cast<std::size_t>(counted) * entry_bytes;
  if (bytes == 0 || needed <= bytes) return;
  throw MemoryError(
      "memory",
      so_far + "they take " + std::to_string(needed) + " bytes, and " +
          MemorySpace::name() + " has " + std::to_string(bytes),
      "choose a lower level of fill, or order rows with many entries last",
      needed, memory_info<MemorySpace>().free, bytes);
}

template <class Scalar, class ExecutionSpace>
void IncompletePattern<Scalar, ExecutionSpace>::make(
    const ExecutionSpace& exec, const CrsArrays<Scalar>& A, int level,
    NewMatrix<Scalar>& made, const FillLimit& limit, int scratch_slots) {
  if (level < 0)
    throw OptionError("level", std::to_string(level) + " is negative",
                      "pass a level of fill of 0 or more");
  with_memory_errors("an incomplete pattern", [&] {
    check_factor_input(exec, A, ZeroDiagonal::take);
    const std::int64_t rows = A.rows();
    require_row_numbers(rows);
    using Rounds = FillRounds<ExecutionSpace>;
    Rounds rounds(exec, A.row_map, A.entries, rows, level,
                  scratch_slots > 0 ? scratch_slots : Rounds::usual_slots);
    using Memory = typename ExecutionSpace::memory_space;
    const std::size_t bytes = memory_bytes<Memory>(),
                      entry_bytes = std::max(limit.entry_bytes,
                                             sizeof(Scalar) + sizeof(int));
    std::int64_t most = made.largest_offset;
    if (bytes > 0)
      most = std::min(most, static_cast<std::int64_t>(bytes / entry_bytes));
    Kokkos::View<int*, Memory> length;
    FillCount counted;
    if (rows > 0) length = rounds.count(limit.most, most - rows, counted);
    require_room_for_fill<Memory>(level, counted.sum() + rows,
                                  made.largest_offset, bytes, entry_bytes);
    if (limit.check) limit.check(counted);
    const IndexOutput row_map =
        made.make_row_map("Strata::IncompletePattern::row_map", rows);
    const std::int64_t stored =
        scan_row_lengths("Strata::IncompletePattern::scan", exec, rows,
                         StoredLength{length.data()}, row_map);
    require_index_types_hold("A", made, static_cast<double>(rows),
                             static_cast<double>(stored));
    length = {};
    const IndexOutput entries =
        made.make_entries("Strata::IncompletePattern::entries", stored);
    Scalar* const values =
        made.make_values("Strata::IncompletePattern::values", stored);
    if (rows > 0)
      rounds.store(
          StoreFill<Scalar, ExecutionSpace>{A, row_map, entries, values});
  });
}

}  // namespace Detail
}  // namespace Strata

#endif
