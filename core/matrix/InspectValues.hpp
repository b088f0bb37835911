// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_CORE_MATRIX_INSPECT_VALUES_HPP
#define STRATA_CORE_MATRIX_INSPECT_VALUES_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <core/device/DeviceInfo.hpp>
#include <core/device/Launch.hpp>
#include <core/device/Warp.hpp>
#include <core/matrix/PatternFingerprint.hpp>
#include <core/matrix/ValueIndex.hpp>
#include <core/memory/ToDevice.hpp>
#include <core/scalar/RealPart.hpp>
#include <cstring>
#include <limits>
#include <string>

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

/// What a look at new values finds, before anything is overwritten: on the
/// host, or in device memory for a later kernel.
struct ValuesInspection {
  static constexpr std::int64_t no_row =
      std::numeric_limits<std::int64_t>::max();
  /// First row with a zero on the diagonal.
  std::int64_t zero_row = no_row;
  /// 1 if some diagonal value, or its reciprocal, is not a normal number.
  std::int64_t divide = 0;
  /// If rows are merged: the largest spread of a row, merged or not (see
  /// MergedGrowth.hpp), as the bits of a double, which compare as the numbers
  /// do.
  std::int64_t spread_bits = 0;
  /// Sums of FingerprintTerm over row map and entries.
  std::uint64_t row_map = 0, entries = 0;

  double spread() const {
    double value;
    memcpy(&value, &spread_bits, sizeof(value));
    return value;
  }
  std::uint64_t fingerprint() const {
    return combine_fingerprints(row_map, entries);
  }
  KOKKOS_INLINE_FUNCTION void join(const ValuesInspection& other) {
    if (other.zero_row < zero_row) zero_row = other.zero_row;
    if (other.divide > divide) divide = other.divide;
    if (other.spread_bits > spread_bits) spread_bits = other.spread_bits;
    row_map += other.row_map;
    entries += other.entries;
  }
};

/// Looks at the diagonal and at the pattern in one launch. Views without
/// elements are left out.
///
/// @tparam Diagonal  DiagonalPlaces, or what has the same members
/// @tparam Leave     leave(team, found): called by all threads of a team, the
///                   first of which has what the team has found
template <class Scalar, class Diagonal, class Leave>
struct InspectValues {
  static constexpr int threads = 256, width = gpu_lane_width;
  static constexpr int teams_at_once = 4, items_of_a_thread = 8;
  Diagonal diagonal;
  const Scalar* values;
  FingerprintTerm row_map, entries;
  Leave leave;

  /// Places on the diagonal, offsets or entries, whichever are most.
  KOKKOS_INLINE_FUNCTION std::int64_t size() const {
    const std::int64_t sizes[] = {diagonal.size(), row_map.size(),
                                  entries.size()};
    std::int64_t most = 0;
    for (const std::int64_t n : sizes) most = n > most ? n : most;
    return most;
  }
  int teams(int multiprocessors) const {
    constexpr std::int64_t share = threads * items_of_a_thread;
    return static_cast<int>(std::clamp<std::int64_t>(
        (size() + share - 1) / share, 1,
        std::int64_t{teams_at_once} * multiprocessors));
  }
  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    ValuesInspection found;
    const std::int64_t rank = team.league_rank(), league = team.league_size();
    if (team.team_size() > 1) {
      inspect(rank * team.team_size() + team.team_rank(),
              league * team.team_size(), size(), found);
      join_team(team, found);
    } else {
      // A host's thread looks at neighbours, in whole groups.
      const std::int64_t groups = (size() + most_read - 1) / most_read;
      const std::int64_t share = (groups + league - 1) / league * most_read;
      inspect(rank * share, 1, (rank + 1) * share, found);
    }
    leave(team, found);
  }

 private:
  /// Elements that are read side by side, at most.
  static constexpr int most_read = 8;

  /// All indices `first` + k * `stride` below `end`, as far as there are such
  /// places, offsets and entries.
  KOKKOS_INLINE_FUNCTION void inspect(std::int64_t first, std::int64_t stride,
                                      std::int64_t end,
                                      ValuesInspection& found) const {
    constexpr int few = 4, many = most_read;
    const auto up_to = [end](std::int64_t size) {
      return size < end ? size : end;
    };
    for (std::int64_t i = first; i < up_to(row_map.size()); i += few * stride)
      row_map.add<few>(i, stride, found.row_map);
    for (std::int64_t i = first; i < up_to(entries.size()); i += many * stride)
      entries.add<many>(i, stride, found.entries);
    for (std::int64_t i = first; i < up_to(diagonal.size()); i += few * stride)
      inspect_diagonals<few>(i, stride, found);
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
  /// Leaves what the team has found to its first thread.
  template <class Team>
  KOKKOS_INLINE_FUNCTION static void join_team(const Team& team,
                                               ValuesInspection& found) {
    constexpr int words = sizeof(ValuesInspection) / sizeof(std::int64_t);
    STRATA_IMPL_TEAM_SHARED std::int64_t of_warp[threads / width * words];
    for (int mask = width / 2; mask > 0; mask /= 2)
      found.join(lane_xor(found, mask));
    if (team.team_rank() % width == 0)
      memcpy(of_warp + team.team_rank() / width * words, &found, sizeof(found));
    team.team_barrier();
    if (team.team_rank() != 0) return;
    for (int warp = 1; warp < team.team_size() / width; ++warp) {
      ValuesInspection other;
      memcpy(static_cast<void*>(&other), of_warp + warp * words, sizeof(other));
      found.join(other);
    }
  }
};

/// Leaves what teams have found in memory that the host can read.
struct LeaveToHost {
  ValuesInspection* of_team;
  ValuesInspection* earlier;  // see inspect_values

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team,
                                         ValuesInspection& found) const {
    if (team.team_rank() != 0) return;
    if (team.league_rank() == 0 && earlier) {
      found.join(*earlier);
      *earlier = {};
    }
    of_team[team.league_rank()] = found;
  }
};

/// Inspects diagonal and pattern in one launch, for which the host waits. On
/// CUDA the device writes to the host's memory itself: a reduction of Kokkos'
/// takes some 10 us more, and six times as long for large patterns.
/// @param earlier  in device memory, what earlier kernels on `exec` have found:
///                 taken along and cleared; null: nothing
template <class Scalar, class ExecutionSpace, class Diagonal>
ValuesInspection inspect_values(const ExecutionSpace& exec,
                                const Diagonal& diagonal, const Scalar* values,
                                const IndexArray& row_map,
                                const IndexArray& entries,
                                ValuesInspection* earlier = nullptr) {
  using Run = InspectValues<Scalar, Diagonal, LeaveToHost>;
  Run run{diagonal,
          values,
          row_map_term(row_map),
          entries_term(entries),
          {nullptr, earlier}};
  ValuesInspection found;
  if (run.size() == 0 && !earlier) return found;
  const int teams = run.teams(num_multiprocessors(exec));
  constexpr int words = sizeof(ValuesInspection) / sizeof(std::int64_t);
  const HostWords<ExecutionSpace> memory(std::int64_t{teams} * words);
  run.leave.of_team = reinterpret_cast<ValuesInspection*>(memory.data());
  run_native_teams<Run::teams_at_once, Run::threads>("Strata::InspectValues",
                                                     exec, teams, run);
  exec.fence();
  for (int t = 0; t < teams; ++t) found.join(run.leave.of_team[t]);
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
