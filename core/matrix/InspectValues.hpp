// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_INSPECT_VALUES_HPP
#define STRATA_CORE_MATRIX_INSPECT_VALUES_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <core/device/Atomics.hpp>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/PatternFingerprint.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/memory/MemoryPool.hpp>
#include <core/scalar/RealPart.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// True if multiplying by `r` can stand for dividing by its reciprocal: no
/// part overflowed or fell below the normal numbers.
KOKKOS_INLINE_FUNCTION bool usable_reciprocal(double r) {
  const double a = r < 0 ? -r : r;
  return a >= 2.2250738585072014e-308 && a <= 1.7976931348623157e308;
}
KOKKOS_INLINE_FUNCTION bool usable_reciprocal(float r) {
  const float a = r < 0 ? -r : r;
  return a >= 1.17549435e-38f && a <= 3.40282347e38f;
}
template <class R>
KOKKOS_INLINE_FUNCTION bool usable_reciprocal(const Kokkos::complex<R>& r) {
  // A part may vanish, but not both.
  const R re = r.real(), im = r.imag();
  return (usable_reciprocal(re) && (im == R(0) || usable_reciprocal(im))) ||
         (re == R(0) && usable_reciprocal(im));
}

/// Where the diagonal stands in the user's values, in an algorithm's order of
/// rows. The top bit of `row` is not part of it; without elements, rows are in
/// their own order.
template <class MemorySpace>
struct DiagonalPlaces {
  ValueIndex<MemorySpace> value_index;
  Kokkos::View<const unsigned*, MemorySpace> row;

  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    return value_index.size();
  }
  /// -1: it is one.
  KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t i) const {
    return value_index(i);
  }
  KOKKOS_INLINE_FUNCTION std::int64_t row_at(std::int64_t i) const {
    return row.extent(0) ? row(i) & 0x7fffffffu : i;
  }
};

/// Entries that an algorithm divides by their row's diagonal beforehand, in
/// records of one row: record r has `entries` of them, at r * entries and up of
/// `value_index` (-1: none), and its row stands at record_row(r) on the
/// diagonal
/// (-1: there is none).
template <class MemorySpace>
struct ScaledEntries {
  Kokkos::View<const int*, MemorySpace> record_row;
  ValueIndex<MemorySpace> value_index;
  int entries = 0;
};

/// What merging of level sets would do to accuracy, as words in device memory:
/// the first row that can't be scaled, and the largest spread of a row (see
/// kernels/triangular/merging/MergedGrowth.hpp) as the bits of a double, which
/// compare as the numbers do. Where the same look is at the diagonal, zero_row
/// and divide of ValuesInspection, too.
struct MergeFaults {
  enum : int { row, spread, zero, divide, size };
};

/// Numbers that are not negative compare as these do; 0 for what is no number.
KOKKOS_INLINE_FUNCTION std::int64_t bits_of(double value) {
  std::int64_t bits = 0;
  if (value - value == 0) memcpy(&bits, &value, sizeof(bits));
  return bits;
}
/// Makes a word of MergeFaults the largest of what it is and of `bits` of all
/// lanes of a warp, which all have to call it.
/// @param leads  one lane of the warp
template <int width>
KOKKOS_INLINE_FUNCTION void raise_word(std::int64_t* word, bool leads,
                                       std::int64_t bits) {
  for (int mask = width / 2; mask > 0; mask /= 2) {
    const std::int64_t other = lane_xor(bits, mask);
    bits = other > bits ? other : bits;
  }
  // Few find a larger number than there is.
  if (leads && bits > load_relaxed(word)) Kokkos::atomic_fetch_max(word, bits);
}

/// What a check finds out about a matrix before anything is overwritten.
struct ValuesInspection {
  static constexpr std::int64_t no_row =
      std::numeric_limits<std::int64_t>::max();
  /// First row with a zero on the diagonal.
  std::int64_t zero_row = no_row;
  /// First row with an entry that, divided by the diagonal, leaves the range of
  /// normal numbers although both are within.
  std::int64_t unscalable_row = no_row;
  /// Sums of FingerprintTerm over row map and entries.
  std::uint64_t row_map = 0, entries = 0;
  /// 1 if some diagonal value, or its reciprocal, is not a normal number.
  std::int64_t divide = 0;
  /// MergeFaults.
  std::int64_t lost_row = no_row, spread_bits = 0;

  /// Largest spread of a row, merged or not; 0 where no rows are merged.
  double spread() const {
    double value;
    memcpy(&value, &spread_bits, sizeof(value));
    return value;
  }

  std::uint64_t fingerprint() const {
    return combine_fingerprints(row_map, entries);
  }
};

struct ClearMergeFaults {
  std::int64_t* faults;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t) const {
    faults[MergeFaults::row] = faults[MergeFaults::zero] =
        ValuesInspection::no_row;
    faults[MergeFaults::spread] = faults[MergeFaults::divide] = 0;
  }
};

/// Looks at the diagonal, at entries to be scaled and at the pattern in one
/// pass. Index i stands for a place on the diagonal, a record, an offset and an
/// entry, as far as there are so many.
/// @tparam Diagonal  DiagonalPlaces, or what has the same members
template <class Scalar, class MemorySpace,
          class Diagonal = DiagonalPlaces<MemorySpace>>
struct InspectValues {
  using value_type = ValuesInspection;
  Diagonal diagonal;
  ScaledEntries<MemorySpace> scaled;
  const Scalar* values;
  FingerprintTerm row_map, entries;
  /// MergeFaults, taken along and cleared; null: there are none.
  std::int64_t* merge_faults = nullptr;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i,
                                         ValuesInspection& found) const {
    if (i == 0) take_merge_faults(found);
    if (i < diagonal.size()) inspect_diagonals<1>(i, 1, found);
    if (i < num_records()) inspect_record(i, found);
    if (i < row_map.size()) row_map.add<1>(i, 1, found.row_map);
    if (i < entries.size()) entries.add<1>(i, 1, found.entries);
  }
  /// All indices `first` + k * `stride` of every kind, several side by side.
  KOKKOS_INLINE_FUNCTION void take(std::int64_t first, std::int64_t stride,
                                   ValuesInspection& found) const {
    constexpr int few = 4, many = 8;
    for (std::int64_t i = first; i < row_map.size(); i += few * stride)
      row_map.add<few>(i, stride, found.row_map);
    for (std::int64_t i = first; i < entries.size(); i += many * stride)
      entries.add<many>(i, stride, found.entries);
    for (std::int64_t i = first; i < diagonal.size(); i += few * stride)
      inspect_diagonals<few>(i, stride, found);
    for (std::int64_t i = first; i < num_records(); i += stride)
      inspect_record(i, found);
  }
  /// MergeFaults, by one thread.
  KOKKOS_INLINE_FUNCTION void take_merge_faults(ValuesInspection& found) const {
    if (!merge_faults) return;
    found.lost_row = merge_faults[MergeFaults::row];
    found.spread_bits = merge_faults[MergeFaults::spread];
    const std::int64_t zero = merge_faults[MergeFaults::zero];
    found.zero_row = zero < found.zero_row ? zero : found.zero_row;
    if (merge_faults[MergeFaults::divide] > 0) found.divide = 1;
    ClearMergeFaults{merge_faults}(0);
  }
  KOKKOS_INLINE_FUNCTION void init(ValuesInspection& value) const {
    value = ValuesInspection();
  }
  KOKKOS_INLINE_FUNCTION void join(ValuesInspection& into,
                                   const ValuesInspection& from) const {
    join_parts(into, from);
  }
  // Kokkos before 4.0 joins in shared memory.
  KOKKOS_INLINE_FUNCTION void join(
      volatile ValuesInspection& into,
      const volatile ValuesInspection& from) const {
    join_parts(into, from);
  }

 private:
  KOKKOS_INLINE_FUNCTION std::int64_t num_records() const {
    return static_cast<std::int64_t>(scaled.record_row.extent(0));
  }
  /// Places `first` + u * `stride` with u < count, all read before any is
  /// looked at.
  template <int count>
  KOKKOS_INLINE_FUNCTION void inspect_diagonals(std::int64_t first,
                                                std::int64_t stride,
                                                ValuesInspection& found) const {
    std::int64_t value_index[count];
    Scalar number[count];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < count; ++u) {
      const std::int64_t i = first + u * stride;
      value_index[u] = i < diagonal.size() ? diagonal.place(i) : -1;
    }
    STRATA_IMPL_UNROLL
    for (int u = 0; u < count; ++u)
      number[u] = value_index[u] < 0 ? Scalar(1) : values[value_index[u]];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < count; ++u) {
      const Scalar d = number[u];
      if (d == Scalar(0)) {
        const std::int64_t row = diagonal.row_at(first + u * stride);
        found.zero_row = row < found.zero_row ? row : found.zero_row;
      } else if (!usable_reciprocal(d) || !usable_reciprocal(Scalar(1) / d)) {
        found.divide = 1;
      }
    }
  }
  KOKKOS_INLINE_FUNCTION void inspect_record(std::int64_t record,
                                             ValuesInspection& found) const {
    const int permuted_row = scaled.record_row(record);
    if (permuted_row < 0) return;
    const std::int64_t at = diagonal.place(permuted_row);
    const Scalar by = at < 0 ? Scalar(1) : values[at];
    if (!is_finite(by)) return;
    for (int e = 0; e < scaled.entries; ++e) {
      const std::int64_t k = scaled.value_index(record * scaled.entries + e);
      if (k < 0) continue;
      const Scalar v = values[k];
      if (v == Scalar(0) || !is_finite(v)) continue;
      if (usable_reciprocal(v) && !usable_reciprocal(v / by)) {
        const std::int64_t row = diagonal.row_at(permuted_row);
        if (row < found.unscalable_row) found.unscalable_row = row;
      }
    }
  }

 public:
  template <class Into, class From>
  KOKKOS_INLINE_FUNCTION static void join_parts(Into& into, From& from) {
    if (from.zero_row < into.zero_row) into.zero_row = from.zero_row;
    if (from.unscalable_row < into.unscalable_row)
      into.unscalable_row = from.unscalable_row;
    into.row_map = into.row_map + from.row_map;
    into.entries = into.entries + from.entries;
    if (from.divide > into.divide) into.divide = from.divide;
    if (from.lost_row < into.lost_row) into.lost_row = from.lost_row;
    if (from.spread_bits > into.spread_bits)
      into.spread_bits = from.spread_bits;
  }
};

/// The same by blocks, each of which leaves what it has found in memory that
/// the host can read.
template <class Look>
struct InspectByBlocks {
  static constexpr bool awaits_previous = true;
  static constexpr int threads = 256, width = 32;
  static constexpr int blocks_at_once = 4, items_of_a_thread = 8;
  Look look;
  ValuesInspection* found;  // by block

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    constexpr int words = sizeof(ValuesInspection) / sizeof(std::int64_t);
    STRATA_IMPL_TEAM_SHARED std::int64_t of_warp[threads / width * words];
    await_previous(team);
    ValuesInspection mine;
    look.take(
        std::int64_t{team.league_rank()} * team.team_size() + team.team_rank(),
        std::int64_t{team.league_size()} * team.team_size(), mine);
    // A host's block is one thread.
    for (int mask = team.team_size() < width ? 0 : width / 2; mask > 0;
         mask /= 2) {
      const ValuesInspection other = lane_xor(mine, mask);
      Look::join_parts(mine, other);
    }
    if (team.team_rank() % width == 0)
      memcpy(of_warp + team.team_rank() / width * words, &mine, sizeof(mine));
    team.team_barrier();
    if (team.team_rank() != 0) return;
    for (int warp = 1; warp < team.team_size() / width; ++warp) {
      ValuesInspection other;
      memcpy(static_cast<void*>(&other), of_warp + warp * words, sizeof(other));
      Look::join_parts(mine, other);
    }
    if (team.league_rank() == 0) look.take_merge_faults(mine);
    found[team.league_rank()] = mine;
  }
};

/// Inspects diagonal, entries to be scaled and pattern in one launch, into
/// `result`: host memory, for which the host waits, or a view in device memory.
/// `merge_faults`, if any, are MergeFaults that earlier work on `exec` has
/// found. Views without elements are left out; there must be something to look
/// at.
template <class Scalar, class ExecutionSpace, class Diagonal, class Result>
void inspect_values_into(
    const ExecutionSpace& exec, const Diagonal& diagonal,
    const ScaledEntries<typename ExecutionSpace::memory_space>& scaled,
    const Scalar* values, const IndexArray& row_map, const IndexArray& entries,
    Result&& result, std::int64_t* merge_faults = nullptr) {
  using Memory = typename ExecutionSpace::memory_space;
  const std::size_t work =
      std::max({static_cast<std::size_t>(diagonal.size()),
                scaled.record_row.extent(0), row_map.extent(0),
                entries.extent(0), std::size_t{merge_faults != nullptr}});
  Kokkos::parallel_reduce(
      "Strata::InspectValues",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<std::int64_t>>(
          exec, 0, static_cast<std::int64_t>(work)),
      InspectValues<Scalar, Memory, Diagonal>{
          diagonal, scaled, values, row_map_term(row_map),
          entries_term(entries), merge_faults},
      result);
}

/// The same into host memory, which it waits for. On CUDA the device writes
/// there itself: a reduction of Kokkos' takes some 10 us more, and six times as
/// long for large patterns.
template <class Scalar, class ExecutionSpace, class Diagonal>
ValuesInspection inspect_values(
    const ExecutionSpace& exec, const Diagonal& diagonal,
    const ScaledEntries<typename ExecutionSpace::memory_space>& scaled,
    const Scalar* values, const IndexArray& row_map, const IndexArray& entries,
    std::int64_t* merge_faults = nullptr) {
  ValuesInspection found;
  const std::size_t work = std::max({static_cast<std::size_t>(diagonal.size()),
                                     scaled.record_row.extent(0),
                                     row_map.extent(0), entries.extent(0)});
  if (work == 0 && !merge_faults) return found;
  if constexpr (is_gpu<ExecutionSpace>) {
    using Look =
        InspectValues<Scalar, typename ExecutionSpace::memory_space, Diagonal>;
    using Run = InspectByBlocks<Look>;
    constexpr std::size_t share = Run::threads * Run::items_of_a_thread;
    const std::size_t blocks = std::min<std::size_t>(
        std::max<std::size_t>(1, (work + share - 1) / share),
        std::size_t(Run::blocks_at_once) * num_multiprocessors(exec));
    const auto memory = MemoryPool<HostVisibleSpace<ExecutionSpace>>::take(
        "Strata::InspectValues", blocks * sizeof(ValuesInspection));
    auto* const parts = reinterpret_cast<ValuesInspection*>(memory->data());
    run_teams<Run::blocks_at_once, Run::threads>(
        "Strata::InspectValues", exec, static_cast<int>(blocks),
        Run{Look{diagonal, scaled, values, row_map_term(row_map),
                 entries_term(entries), merge_faults},
            parts});
    exec.fence();
    for (std::size_t b = 0; b < blocks; ++b) Look::join_parts(found, parts[b]);
  } else {
    inspect_values_into<Scalar>(exec, diagonal, scaled, values, row_map,
                                entries, found, merge_faults);
  }
  return found;
}

/// @throws ZeroDiagonalError where the inspection found a zero.
inline void require_nonzero_diagonal(const ValuesInspection& found) {
  if (found.zero_row == ValuesInspection::no_row) return;
  throw ZeroDiagonalError(
      "values",
      "the diagonal entry in row " + std::to_string(found.zero_row) +
          " is zero",
      "the system is singular: change the matrix, or pass Diag::unit if the "
      "diagonal is meant to be one",
      found.zero_row, "0");
}

}  // namespace Detail
}  // namespace Strata

#endif
