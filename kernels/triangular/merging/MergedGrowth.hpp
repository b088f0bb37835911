// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_GROWTH_HPP
#define STRATA_KERNELS_TRIANGULAR_MERGING_MERGED_GROWTH_HPP

#include <analysis/merging/MergeGroups.hpp>
#include <analysis/merging/MergedRows.hpp>
#include <analysis/packing/RowChunk.hpp>
#include <core/device/Atomics.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/InspectValues.hpp>
#include <core/matrix/RowPolicy.hpp>
#include <core/memory/AllocateView.hpp>
#include <core/memory/ToDevice.hpp>
#include <cstring>
#include <kernels/triangular/merging/MergedNumbers.hpp>

namespace Strata {
namespace Detail {

/// Merged rows for CheckGrowth, chunk by chunk. Spreads are numbered by the
/// user's rows.
template <class Scalar, class MemorySpace>
struct RowsToCheck {
  MergedRows<MemorySpace> rows;
  Kokkos::View<const RowChunk*, MemorySpace> chunk;
  Kokkos::View<const unsigned*, MemorySpace> row_at;
  Kokkos::View<const int*, MemorySpace> dependency;
  GivenValues<Scalar> values;

  KOKKOS_INLINE_FUNCTION std::int64_t num_chunks() const {
    return static_cast<std::int64_t>(chunk.extent(0));
  }
  struct Row {
    int lanes;         // that share the row, the same for all of a chunk
    int coefficients;  // slots of coefficients; 0: there is no row, or it is
                       // not merged
    int entries;       // of the row itself, which its recipe begins with
    const unsigned char* slots;  // of the recipe
    RowChunk chunk;
    int r, user;
    typename MergedRows<MemorySpace>::Row own;
  };
  /// Of `lane_width` threads for a chunk.
  KOKKOS_INLINE_FUNCTION Row find(std::int64_t c, int thread) const {
    const RowChunk found = chunk(c);
    const int r = thread >> found.log_lanes;
    Row row{};
    row.lanes = 1 << found.log_lanes;
    if (r >= found.rows) return row;
    const int p = found.first_permuted_row + r;
    const unsigned char* const recipe = rows.recipe_at(p);
    if (!recipe) return row;
    row.chunk = found;
    row.r = r;
    row.user = user_row_at(row_at, p);
    row.coefficients = recipe[0];
    row.slots = recipe + MergedRows<MemorySpace>::head + row.coefficients;
    row.own = rows.row(row.user);
    const bool follows = !rows.values_in_order && p + 1 < rows.num_vertices();
    row.entries =
        rows.end(row.user, follows ? user_row_at(row_at, p + 1) : -1) -
        row.own.first;
    return row;
  }
  /// Of entry q beside the diagonal.
  KOKKOS_INLINE_FUNCTION Scalar value(const Row& row, int q) const {
    return values(rows(row.own.first + q));
  }
  KOKKOS_INLINE_FUNCTION Scalar diagonal(const Row& row) const {
    return values.or_one(row.own.diagonal < 0 ? -1 : rows(row.own.diagonal));
  }
  /// The user's row that a coefficient belongs to.
  KOKKOS_INLINE_FUNCTION int row_of_coefficient(const Row& row,
                                                int slot) const {
    return row.chunk.coefficient_of(
        row.chunk.stored(dependency.data(),
                         row.chunk.place_of_coefficient(row.r, slot)),
        row.user);
  }
};

/// How much the rounding errors of merged rows may grow, in units of the
/// scalar's eps times the longest row: the factor of Accuracy::rowwise.
constexpr double rowwise_growth = 100;

/// Whether the growth of rows, of which the largest spread is known as bits_of
/// it, may be over rowwise_growth: without a look at the rows.
KOKKOS_INLINE_FUNCTION bool may_grow_too_much(std::int64_t spread_bits,
                                              double longest_row) {
  double spread;
  memcpy(&spread, &spread_bits, sizeof(spread));
  return !(spread / longest_row <= rowwise_growth);
}

/// How much larger than eps times the longest row the rounding errors of merged
/// rows may be, row by row, and which rows are over the limit, rowwise_growth.
///
/// The residual of row i is -sum over j of l_ij e_j, where e_j is the error of
/// those x_j that row i replaces, and of x_i itself: at most spread_j eps
/// ||x||_inf. The row's growth is that sum over its own row sum and the longest
/// row of the matrix,
///
///     growth_i = (sum_j |l_ij| spread_j) / (longest_row rowsum_i),
///
/// which does not change when rows are scaled. Then |r_i| <= growth_i
/// longest_row eps (rowsum_i ||x||_inf + |b_i|). As it is a mean of spreads, no
/// growth is larger than the largest spread over the longest row.
template <class Scalar, class ExecutionSpace>
struct CheckGrowth {
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int team_size = width == 1 ? 1 : 256;
  /// Chunks that a team takes.
  static constexpr int team_chunks = width == 1 ? 256 : team_size / width;
  using Rows = RowsToCheck<Scalar, typename ExecutionSpace::memory_space>;

  Rows rows;
  const float* spread;
  float* growth;
  double longest_row;
  /// The largest growth, as bits_of, the number of rows over the limit, and the
  /// first of these in the user's order, as row_mark.
  std::int64_t* found;
  /// Null: rows are checked. Else rows over the limit are to stay as they are:
  /// by vertex, and counted. `first_only`: those that replace no other such
  /// row, as that row's staying may be enough.
  int* unmerged;
  bool first_only;
  /// Bits of the largest spread: where it is a bound that is good enough,
  /// nothing is looked at. Null: no bound.
  const std::int64_t* spread_bits = nullptr;

  int teams() const {
    return static_cast<int>((rows.num_chunks() + team_chunks - 1) /
                            team_chunks);
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    take(team, team.league_rank());
  }
  /// Part `part` of what there are teams() of.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void take(const Team& team, std::int64_t part) const {
    if (spread_bits && !may_grow_too_much(*spread_bits, longest_row)) return;
    const std::int64_t first = part * team_chunks;
    if constexpr (width == 1) {
      for (int c = 0; c < team_chunks; ++c) run(first + c, 0);
    } else {
      run(first + team.team_rank() / width, team.team_rank() % width);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION void run(std::int64_t chunk, int thread) const {
    if (chunk >= rows.num_chunks()) return;
    const typename Rows::Row row = rows.find(chunk, thread);
    const int lanes = row.lanes, lane = thread % lanes;
    const int entries = row.coefficients > 0 ? row.entries : 0;
    double sum = 0, size = 0;
    int given = 0, after_another = 0, unusable = 0;
    for (int q = lane; q < entries; q += lanes) {
      const double entry = one_norm(rows.value(row, q));
      size += entry;
      if (!(entry - entry == 0)) given = 1;
      const int slot = row.slots[q];
      if (slot >= row.coefficients) continue;
      const int other = rows.row_of_coefficient(row, slot);
      sum += entry * double(spread[other]);
      if (spread[other] >= most_spread && entry > 0) unusable = 1;
      if (first_only && double(growth[other]) > rowwise_growth)
        after_another = 1;
    }
    sum = lane_group_sum(sum, lanes);
    size = lane_group_sum(size, lanes);
    given = lane_group_sum(given, lanes);
    unusable = lane_group_sum(unusable, lanes);
    after_another = lane_group_sum(after_another, lanes);
    if (row.coefficients == 0 || lane != 0) return;
    if (unmerged) {
      if (after_another > 0 || !(double(growth[row.user]) > rowwise_growth))
        return;
      unmerged[rows.rows.vertex(row.user)] = RowStatus::stays;
      Kokkos::atomic_fetch_add(found + 1, std::int64_t{1});
      return;
    }
    const float own = spread[row.user];
    const double diagonal = one_norm(rows.diagonal(row));
    double mean =
        (sum + diagonal * double(own)) / (longest_row * (size + diagonal));
    if (own == special_spread || given > 0)
      mean = 0;
    else if (unusable > 0 || own >= most_spread || !(mean < most_growth))
      mean = most_growth;
    const float kept = kept_spread(mean);
    growth[row.user] = kept;
    const std::int64_t bits = bits_of(mean);
    // Few find a larger number than there is.
    if (bits > load_relaxed(found)) Kokkos::atomic_fetch_max(found, bits);
    if (!(double(kept) > rowwise_growth)) return;
    Kokkos::atomic_fetch_add(found + 1, std::int64_t{1});
    Kokkos::atomic_fetch_max(found + 2, row_mark(row.user));
  }

 public:
  /// The larger, the earlier the row; 0 stands for none.
  KOKKOS_INLINE_FUNCTION static std::int64_t row_mark(std::int64_t row) {
    return (std::int64_t{1} << 62) - row;
  }
};

/// What CheckGrowth finds, growth and spread of rows, one after the other: in
/// memory of an analysis, or in its own.
template <class MemorySpace>
class GrowthWorkspace {
 public:
  static constexpr int found_size = 3;

  GrowthWorkspace() = default;
  explicit GrowthWorkspace(std::int64_t rows) : rows_(rows) {}
  /// Memory of an analysis, which ends with that.
  template <class Pool>
  void borrow(Pool& pool) {
    found_ = pool.template take<std::int64_t>(words());
  }
  /// Memory of its own, unless it has that.
  void reserve() {
    if (own_.extent(0) == 0)
      make_unfilled(own_, "Strata::MergedGrowth::workspace", words());
    found_ = own_.data();
  }
  std::size_t own_bytes() const {
    return own_.extent(0) * sizeof(std::int64_t);
  }
  std::int64_t* found() const { return found_; }
  float* growth() const {
    return reinterpret_cast<float*>(found_ + found_size);
  }
  float* spread() const { return growth() + rows_; }
  /// Enqueued on `exec`.
  /// @param and_growth  not only what is found
  template <class ExecutionSpace>
  void clear(const ExecutionSpace& exec, bool and_growth) const {
    using Bytes = UnmanagedView<unsigned char, MemorySpace>;
    const auto* const end =
        reinterpret_cast<unsigned char*>(and_growth ? spread() : growth());
    auto* const begin = reinterpret_cast<unsigned char*>(found_);
    Kokkos::deep_copy(exec, Bytes(begin, static_cast<std::size_t>(end - begin)),
                      static_cast<unsigned char>(0));
  }

 private:
  /// A row has two floats, as many bytes as a word.
  std::int64_t words() const {
    static_assert(2 * sizeof(float) == sizeof(std::int64_t), "");
    return found_size + rows_;
  }

  std::int64_t rows_ = 0;
  Kokkos::View<std::int64_t*, MemorySpace> own_;
  std::int64_t* found_ = nullptr;
};

/// What CheckGrowth has found.
struct MergedGrowth {
  double largest = 0;
  std::int64_t rows_over = 0;
  std::int64_t first_row = 0;  // over the limit, of the user's
};

/// Checks merged rows whose spreads are in `workspace`, which their growth is
/// left in; or, once that is done, marks rows over the limit in `unmerged` and
/// counts these. The host waits.
template <class Scalar, class ExecutionSpace>
MergedGrowth check_growth(
    const ExecutionSpace& exec,
    const RowsToCheck<Scalar, typename ExecutionSpace::memory_space>& rows,
    double longest_row,
    const GrowthWorkspace<typename ExecutionSpace::memory_space>& workspace,
    int* unmerged, bool first_only) {
  using Memory = typename ExecutionSpace::memory_space;
  using Check = CheckGrowth<Scalar, ExecutionSpace>;
  // Rows that are not merged do not grow.
  workspace.clear(exec, !unmerged);
  const Check check{rows,        workspace.spread(), workspace.growth(),
                    longest_row, workspace.found(),  unmerged,
                    first_only};
  run_native_teams<4, Check::team_size>("Strata::MergedGrowth::check", exec,
                                        check.teams(), check);
  constexpr int size = GrowthWorkspace<Memory>::found_size;
  std::int64_t words[size];
  copy_to_host(exec,
               Kokkos::View<std::int64_t*, Memory>(workspace.found(), size),
               words);
  MergedGrowth result;
  std::memcpy(&result.largest, words, sizeof(double));
  result.rows_over = words[1];
  if (words[2] != 0) result.first_row = Check::row_mark(words[2]);
  return result;
}

}  // namespace Detail
}  // namespace Strata

#endif
