// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_BAND_PANEL_HPP
#define STRATA_KERNELS_BAND_BAND_PANEL_HPP

#include <core/device/Warp.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/band/BandInput.hpp>

namespace Strata {
namespace Detail {

/// Columns of a panel.
constexpr int band_panel_width = 32;

/// Working storage of a factorisation with exchanges: columns of the band with
/// room for kl diagonals of fill above, and a panel's width more on both ends:
/// any window of the matrix that a panel touches is a dense matrix in it, with
/// leading dimension lines - 1.
template <class Scalar>
struct PivotedStorage {
  Scalar* data = nullptr;
  std::int64_t size = 0, lower = 0, upper = 0;  ///< of the matrix
  std::int64_t lines = 0, above = 0;            ///< of the storage
  int batch = 1;

  static PivotedStorage make(std::int64_t size, std::int64_t lower,
                             std::int64_t upper, int batch) {
    PivotedStorage s;
    s.size = size, s.lower = lower, s.upper = upper, s.batch = batch;
    s.above = lower + upper + band_panel_width;
    s.lines = s.above + 1 + lower + band_panel_width;
    return s;
  }
  KOKKOS_INLINE_FUNCTION std::int64_t per_system() const {
    return lines * size;
  }
  KOKKOS_INLINE_FUNCTION Scalar* at(int system, std::int64_t r,
                                    std::int64_t c) const {
    return data + system * per_system() + above + r + c * (lines - 1);
  }
};

/// What a panel's exchanges come to: row[t] gets what was in row[from[t]]. The
/// panel's own rows come first.
struct PanelList {
  const int *row, *from;
  int count;
};

template <class ExecutionSpace>
struct PanelExchanges {
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr int room = 2 * band_panel_width;

  PanelExchanges(std::int64_t size, int batch)
      : panels((size + band_panel_width - 1) / band_panel_width),
        row(make_zeroed<decltype(row)>("Strata::Band::exchanged_row",
                                       panels * batch * room)),
        from(make_zeroed<decltype(from)>("Strata::Band::exchanged_from",
                                         panels * batch * room)),
        count(make_zeroed<decltype(count)>("Strata::Band::exchanged_count",
                                           panels * batch)) {}
  std::size_t bytes() const {
    return (row.extent(0) + from.extent(0) + count.extent(0)) * sizeof(int);
  }
  KOKKOS_INLINE_FUNCTION PanelList list(int system, std::int64_t panel) const {
    const std::int64_t place = system * panels + panel;
    return {row.data() + place * room, from.data() + place * room,
            count(place)};
  }

  std::int64_t panels;
  Kokkos::View<int*, Memory> row, from, count;
};

/// LAPACK's measure of a pivot: |re| + |im|.
template <class Real>
KOKKOS_INLINE_FUNCTION Real pivot_size(const Real& value) {
  return modulus(value);
}
template <class Real>
KOKKOS_INLINE_FUNCTION Real pivot_size(const Kokkos::complex<Real>& value) {
  return modulus(value.real()) + modulus(value.imag());
}

/// LU with partial pivoting of the 32 columns from `first` on, by one team.
/// The update of a column also finds the pivot of the next one.
template <class Scalar, class ExecutionSpace>
struct FactorPanel {
  using Memory = typename ExecutionSpace::memory_space;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int w = band_panel_width;
  static constexpr int width = lane_width<ExecutionSpace>;
  static constexpr int team_size = is_gpu<ExecutionSpace> ? 512 : 1;
  static constexpr int warps = team_size / width;
  static constexpr int batch = 8;  // columns that are read at once

  /// The first of the largest.
  struct Best {
    double size;
    int row, unused;
    KOKKOS_INLINE_FUNCTION void join(const Best& other) {
      if (other.size > size || (other.size == size && other.row < row))
        *this = other;
    }
  };
  static constexpr std::size_t scratch_bytes =
      warps * sizeof(Best) + w * sizeof(Scalar) +
      (2 * PanelExchanges<ExecutionSpace>::room + 4) * sizeof(int) + 32;

  PivotedStorage<Scalar> A;
  PanelExchanges<ExecutionSpace> exchanges;
  Kokkos::View<std::int64_t*, Memory> pivots;
  Kokkos::View<unsigned long long*, Memory> fault;
  std::int64_t first;

  KOKKOS_INLINE_FUNCTION static Best none() { return {-1.0, 1 << 30, 0}; }

  /// The best of the team; scratch is free after the next barrier.
  KOKKOS_INLINE_FUNCTION static Best best_of(const Member& team, Best mine,
                                             Best* shared) {
    for (int mask = width / 2; mask > 0; mask /= 2)
      mine.join(lane_xor(mine, mask));
    if (team.team_rank() % width == 0) shared[team.team_rank() / width] = mine;
    team.team_barrier();
    Best best = shared[0];
    for (int i = 1; i < warps; ++i) best.join(shared[i]);
    return best;
  }

  /// The list of exchanges in scratch: after all of them, row `row[t]` is to
  /// contain what was in row `row[from[t]]`. Every thread has the same count.
  struct Exchanges {
    int *row, *from, *found;
    int count;

    KOKKOS_INLINE_FUNCTION void begin(const Member& team, std::int64_t first,
                                      int n) {
      count = n;
      for (int t = team.team_rank(); t < n; t += team.team_size())
        row[t] = static_cast<int>(first) + t, from[t] = t;
    }
    /// Exchanges row k of the panel of n rows with matrix row p.
    KOKKOS_INLINE_FUNCTION void exchange(const Member& team, int k,
                                         std::int64_t first, std::int64_t p,
                                         int n) {
      const int thread = team.team_rank();
      int place = static_cast<int>(p - first);
      if (place >= n) {
        if (thread == 0) *found = count;
        team.team_barrier();
        for (int t = n + thread; t < count; t += team.team_size())
          if (row[t] == p) *found = t;
        team.team_barrier();
        place = *found;
        if (place == count) {
          if (thread == 0)
            row[count] = static_cast<int>(p), from[count] = count;
          ++count;
        }
      }
      if (thread != 0) return;
      const int other = from[place];
      from[place] = from[k];
      from[k] = other;
    }
  };

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int system = team.league_rank();
    const int thread = team.team_rank(), threads = team.team_size();
    const int n = static_cast<int>(A.size - first < w ? A.size - first : w);
    char* const scratch = aligned_scratch<char>(team, scratch_bytes);
    Best* const shared = reinterpret_cast<Best*>(scratch);
    Scalar* const pivot_row = reinterpret_cast<Scalar*>(shared + warps);
    int* const row = reinterpret_cast<int*>(pivot_row + w);
    int* const from = row + PanelExchanges<ExecutionSpace>::room;
    Exchanges list{row, from, from + PanelExchanges<ExecutionSpace>::room, 0};
    list.begin(team, first, n);

    Best mine = none();
    for (std::int64_t r = first + thread; r <= last_row(first); r += threads)
      mine.join({static_cast<double>(pivot_size(*A.at(system, r, first))),
                 static_cast<int>(r), 0});
    for (int k = 0; k < n; ++k) {
      const std::int64_t c = first + k;
      const Best best = best_of(team, mine, shared);
      // A column of NaN has no best; the check of the input reports it.
      const std::int64_t p = best.size < 0 ? c : best.row;
      const bool usable = check_pivot(best, system, c, thread == 0);
      list.exchange(team, k, first, p, n);
      if (thread == 0) pivots(system * A.size + c) = p;
      for (int t = thread; t < n; t += threads) {
        Scalar* const upper = A.at(system, c, first + t);
        const Scalar value = *A.at(system, p, first + t);
        if (p != c) {
          *A.at(system, p, first + t) = *upper;
          *upper = value;
        }
        pivot_row[t] = value;
      }
      team.team_barrier();
      // As LAPACK, leave a column without a pivot alone.
      mine = eliminate(team, system, k, n, pivot_row,
                       usable ? Scalar(1) / pivot_row[k] : Scalar(1));
      team.team_barrier();
    }
    const PanelList to = exchanges.list(system, first / w);
    for (int t = thread; t < list.count; t += threads) {
      const_cast<int*>(to.row)[t] = row[t];
      const_cast<int*>(to.from)[t] = from[t];
    }
    if (thread == 0)
      exchanges.count(system * exchanges.panels + first / w) = list.count;
  }

  /// Whether the pivot of column c can divide; otherwise one thread reports it.
  KOKKOS_INLINE_FUNCTION bool check_pivot(const Best& best, int system,
                                          std::int64_t c, bool reports) const {
    const bool singular = !(best.size > 0);
    // A pivot of Inf comes of overflow, and the smallest numbers have no
    // reciprocal.
    using PivotReal = decltype(pivot_size(Scalar()));
    const auto size = static_cast<PivotReal>(best.size);
    const PivotReal back = PivotReal(1) / size;
    const bool overflow = !singular && (size - size != PivotReal(0) ||
                                        back - back != PivotReal(0));
    if (reports && (singular || overflow))
      Kokkos::atomic_fetch_min(
          &fault(overflow ? BandFaults::overflow : BandFaults::pivot),
          static_cast<unsigned long long>(system * A.size + c));
    return !singular && !overflow;
  }
  /// The step of column k of the panel's n. Returns the thread's best pivot of
  /// the next column.
  KOKKOS_INLINE_FUNCTION Best eliminate(const Member& team, int system, int k,
                                        int n, const Scalar* pivot_row,
                                        Scalar inverse) const {
    Best mine = none();
    const std::int64_t c = first + k, end = last_row(c);
    const std::int64_t next_end = k + 1 < n ? last_row(c + 1) : c;
    const std::int64_t all = end > next_end ? end : next_end;
    for (std::int64_t r = c + 1 + team.team_rank(); r <= all;
         r += team.team_size()) {
      Scalar factor(0);
      if (r <= end) {
        factor = *A.at(system, r, c) * inverse;
        *A.at(system, r, c) = factor;
      }
      for (int t = k + 1; t < n; t += batch) {
        Scalar value[batch];
        STRATA_IMPL_UNROLL
        for (int u = 0; u < batch; ++u)
          value[u] = t + u < n ? *A.at(system, r, first + t + u) : Scalar(0);
        STRATA_IMPL_UNROLL
        for (int u = 0; u < batch; ++u) {
          if (t + u >= n) continue;
          value[u] -= factor * pivot_row[t + u];
          *A.at(system, r, first + t + u) = value[u];
        }
        if (t == k + 1 && r <= next_end)
          mine.join({static_cast<double>(pivot_size(value[0])),
                     static_cast<int>(r), 0});
      }
    }
    return mine;
  }

  /// Last row that column c reaches before the elimination.
  KOKKOS_INLINE_FUNCTION std::int64_t last_row(std::int64_t c) const {
    return c + A.lower < A.size - 1 ? c + A.lower : A.size - 1;
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
