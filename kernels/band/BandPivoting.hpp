// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_BAND_PIVOTING_HPP
#define STRATA_KERNELS_BAND_BAND_PIVOTING_HPP

#include <core/device/DeviceInfo.hpp>
#include <core/memory/AllocateView.hpp>
#include <kernels/band/BandAlgorithm.hpp>
#include <kernels/band/BandPanel.hpp>

namespace Strata {
namespace Detail {

/// Copies bands into working storage, zero elsewhere.
template <class Scalar>
struct FillPivotedBand {
  BandRef<Scalar> A;
  PivotedStorage<Scalar> to;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t element) const {
    const std::int64_t line = element % to.lines;
    const std::int64_t c = element / to.lines % to.size;
    const int system = static_cast<int>(element / to.per_system());
    const std::int64_t r = line + c - to.above;
    to.data[element] = A.holds(r, c) ? A(system, r, c) : Scalar(0);
  }
};

/// Applies a panel to a strip of columns to the right of it: exchanges, U =
/// L11^-1 A, and A -= L21 U below, in groups of 32 rows.
template <class Scalar, class ExecutionSpace>
struct ApplyBandPanel {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int w = band_panel_width;
  /// Columns of a strip: 32, or fewer where scalars of 16 bytes leave no room.
  static constexpr int strip = sizeof(Scalar) <= 8      ? 32
                               : is_gpu<ExecutionSpace> ? 16
                                                        : 8;
  static constexpr int pitch = w + 1, u_pitch = strip + 1;
  static constexpr int team_size = is_gpu<ExecutionSpace> ? 256 : 1;
  static constexpr std::size_t scratch_bytes =
      (w * pitch + 2 * w * u_pitch) * sizeof(Scalar) + 32;
  static_assert(scratch_bytes <= sure_scratch_bytes<ExecutionSpace>,
                "more than Kokkos gives a team");

  PivotedStorage<Scalar> A;
  PanelExchanges<ExecutionSpace> exchanges;
  std::int64_t first;  // column of the panel
  int strips;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int system = team.league_rank() / strips;
    const std::int64_t column =
        first + w + team.league_rank() % strips * std::int64_t{strip};
    const int thread = team.team_rank(), threads = team.team_size();
    Scalar* const lower = aligned_scratch<Scalar>(team, scratch_bytes);
    Scalar* const u = lower + w * pitch;  // and as many rows of exchanges
    // No farther than the fill reaches: past it, storage has other columns.
    const std::int64_t reach = first + w + A.lower + A.upper;
    const std::int64_t left_over = (reach < A.size ? reach : A.size) - column;
    const int columns = static_cast<int>(left_over < strip ? left_over : strip);
    const PanelList list = exchanges.list(system, first / w);

    for (int e = thread; e < w * w; e += threads)
      lower[e % w * pitch + e / w] =
          *A.at(system, first + e % w, first + e / w);
    for (int e = thread; e < list.count * columns; e += threads) {
      const int t = e % list.count, c = e / list.count;
      u[t * u_pitch + c] = *A.at(system, list.row[list.from[t]], column + c);
    }
    team.team_barrier();
    for (int e = thread; e < (list.count - w) * columns; e += threads) {
      const int t = w + e % (list.count - w), c = e / (list.count - w);
      *A.at(system, list.row[t], column + c) = u[t * u_pitch + c];
    }
    for (int k = 0; k < w; ++k) {
      const int left = w - 1 - k;
      for (int e = thread; e < left * columns; e += threads) {
        const int r = k + 1 + e / columns, c = e % columns;
        u[r * u_pitch + c] -= lower[r * pitch + k] * u[k * u_pitch + c];
      }
      team.team_barrier();
    }
    for (int e = thread; e < w * columns; e += threads)
      *A.at(system, first + e % w, column + e / w) = u[e % w * u_pitch + e / w];

    const std::int64_t begin = first + w;
    const std::int64_t end =
        begin + A.lower < A.size ? begin + A.lower : A.size;
    for (std::int64_t row = begin; row < end; row += w) {
      const int rows = static_cast<int>(end - row < w ? end - row : w);
      team.team_barrier();
      for (int e = thread; e < w * rows; e += threads)
        lower[e % rows * pitch + e / rows] =
            *A.at(system, row + e % rows, first + e / rows);
      team.team_barrier();
      for (int e = thread; e < rows * columns; e += threads) {
        const int r = e % rows, c = e / rows;
        Scalar sum(0);
        for (int k = 0; k < w; ++k)
          sum += lower[r * pitch + k] * u[k * u_pitch + c];
        *A.at(system, row + r, column + c) -= sum;
      }
    }
  }
};

/// Forward and backward substitution for `width` right-hand sides of a system
/// by one team, panel after panel. x holds b first.
template <class Scalar, class ExecutionSpace, int width>
struct SubstitutePanels {
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr int w = band_panel_width;
  static constexpr int team_size = is_gpu<ExecutionSpace> ? 512 : 1;
  static constexpr std::size_t scratch_bytes =
      (w * (w + 1) + 2 * w * width) * sizeof(Scalar) + 32;
  static_assert(scratch_bytes <= sure_scratch_bytes<ExecutionSpace>,
                "more than Kokkos gives a team");

  PivotedStorage<Scalar> A;
  PanelExchanges<ExecutionSpace> exchanges;
  BatchVectorRef<const Scalar> b;
  BatchVectorRef<Scalar> x;
  int columns, groups;

  /// x(row..) -= tile of A * values, for rows begin to end - 1 and the columns
  /// `first` to first + n - 1 of A.
  KOKKOS_INLINE_FUNCTION void subtract(const Member& team, int system,
                                       std::int64_t begin, std::int64_t end,
                                       std::int64_t first, int n,
                                       const Scalar* values, int column,
                                       int here) const {
    for (std::int64_t r = begin + team.team_rank(); r < end;
         r += team.team_size()) {
      Scalar sum[width];
      for (int c = 0; c < width; ++c) sum[c] = Scalar(0);
      for (int k = 0; k < n; ++k) {
        const Scalar factor = *A.at(system, r, first + k);
        STRATA_IMPL_UNROLL
        for (int c = 0; c < width; ++c) sum[c] += factor * values[c * w + k];
      }
      STRATA_IMPL_UNROLL
      for (int c = 0; c < width; ++c)
        if (c < here) *x.at(r, column + c, system) -= sum[c];
    }
    team.team_barrier();
  }

  /// What a team works on, with its scratch.
  struct Work {
    int system, column, here;  // of the batch; first column and their number
    Scalar* block;             // of the diagonal
    Scalar* values;            // value k of column c: c w + k
    Scalar* others;            // of the rows that are exchanged with a panel's
  };
  static constexpr int pitch = w + 1;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const int column = team.league_rank() % groups * width;
    Scalar* const block = aligned_scratch<Scalar>(team, scratch_bytes);
    Scalar* const values = block + w * pitch;
    const Work work{team.league_rank() / groups,
                    column,
                    columns - column < width ? columns - column : width,
                    block,
                    values,
                    values + w * width};
    const int thread = team.team_rank(), threads = team.team_size();
    for (int c = 0; c < work.here; ++c)
      for (std::int64_t r = thread; r < A.size; r += threads)
        *x.at(r, column + c, work.system) = *b.at(r, column + c, work.system);
    for (int e = thread; e < 2 * w * width; e += threads) values[e] = Scalar(0);
    team.team_barrier();

    const std::int64_t panels = (A.size + w - 1) / w;
    for (std::int64_t p = 0; p < panels; ++p) forward(team, work, p);
    for (std::int64_t p = panels; p-- > 0;) backward(team, work, p);
  }

 private:
  KOKKOS_INLINE_FUNCTION int columns_of(std::int64_t first) const {
    return static_cast<int>(A.size - first < w ? A.size - first : w);
  }
  KOKKOS_INLINE_FUNCTION void load_block(const Member& team, const Work& work,
                                         std::int64_t first, int n) const {
    for (int e = team.team_rank(); e < n * n; e += team.team_size())
      work.block[e % n * pitch + e / n] =
          *A.at(work.system, first + e % n, first + e / n);
  }
  KOKKOS_INLINE_FUNCTION void store_values(const Member& team, const Work& work,
                                           std::int64_t first, int n) const {
    for (int e = team.team_rank(); e < n * work.here; e += team.team_size())
      *x.at(first + e % n, work.column + e / n, work.system) =
          work.values[e / n * w + e % n];
  }
  /// Exchanges the rows of panel p, solves with its block of L, and subtracts.
  KOKKOS_INLINE_FUNCTION void forward(const Member& team, const Work& work,
                                      std::int64_t p) const {
    const int thread = team.team_rank(), threads = team.team_size();
    const int system = work.system, column = work.column, here = work.here;
    Scalar *const block = work.block, *const values = work.values,
                  *const others = work.others;
    const std::int64_t first = p * w;
    const int n = columns_of(first);
    const PanelList list = exchanges.list(system, p);
    load_block(team, work, first, n);
    for (int e = thread; e < list.count * here; e += threads) {
      const int t = e % list.count, c = e / list.count;
      (t < w ? values[c * w + t] : others[c * w + t - w]) =
          *x.at(list.row[list.from[t]], column + c, system);
    }
    team.team_barrier();
    for (int e = thread; e < (list.count - n) * here; e += threads) {
      const int t = n + e % (list.count - n), c = e / (list.count - n);
      *x.at(list.row[t], column + c, system) =
          t < w ? values[c * w + t] : others[c * w + t - w];
    }
    for (int k = 0; k + 1 < n; ++k) {
      const int left = n - 1 - k;
      for (int e = thread; e < left * here; e += threads) {
        const int r = k + 1 + e % left, c = e / left;
        values[c * w + r] -= block[r * pitch + k] * values[c * w + k];
      }
      team.team_barrier();
    }
    store_values(team, work, first, n);
    const std::int64_t begin = first + n;
    subtract(team, system, begin,
             begin + A.lower < A.size ? begin + A.lower : A.size, first, n,
             values, column, here);
  }
  /// Solves with panel p's block of U, and subtracts.
  KOKKOS_INLINE_FUNCTION void backward(const Member& team, const Work& work,
                                       std::int64_t p) const {
    const int thread = team.team_rank(), threads = team.team_size();
    const int system = work.system, column = work.column, here = work.here;
    Scalar *const block = work.block, *const values = work.values;
    const std::int64_t first = p * w;
    const int n = columns_of(first);
    load_block(team, work, first, n);
    for (int e = thread; e < n * here; e += threads)
      values[e / n * w + e % n] = *x.at(first + e % n, column + e / n, system);
    team.team_barrier();
    for (int k = n - 1; k >= 0; --k) {
      for (int c = thread; c < here; c += threads)
        values[c * w + k] /= block[k * pitch + k];
      team.team_barrier();
      for (int e = thread; e < k * here; e += threads) {
        const int r = e % k, c = e / k;
        values[c * w + r] -= block[r * pitch + k] * values[c * w + k];
      }
      team.team_barrier();
    }
    store_values(team, work, first, n);
    const std::int64_t reach = A.lower + A.upper;
    subtract(team, system, first > reach ? first - reach : 0, first, first, n,
             values, column, here);
  }
};

/// Band LU with partial pivoting, as LAPACK's dgbtrf does it: the same pivots
/// but for ties and rounding. Panels of 32 columns, two launches each: the
/// panel by one team a system, and what is right of it by a team for each strip
/// of columns. The working storage has room for the fill of kl diagonals and
/// for what a panel's exchanges move, so that nothing is set aside and
/// restored.
template <class Scalar, class ExecutionSpace>
class PivotedBand : public BandAlgorithm<Scalar, ExecutionSpace> {
  using Base = BandAlgorithm<Scalar, ExecutionSpace>;
  using Memory = typename Base::Memory;
  using Real = typename Base::Real;

 public:
  PivotedBand(const ExecutionSpace&, std::int64_t size, std::int64_t lower,
              std::int64_t upper, int batch, int)
      : storage_(PivotedStorage<Scalar>::make(size, lower, upper, batch)),
        values_(make_unfilled<decltype(values_)>(
            "Strata::Band::pivoted", storage_.per_system() * batch)),
        exchanges_(size, batch),
        pivots_(make_zeroed<decltype(pivots_)>("Strata::Band::pivots",
                                               size * batch)) {
    storage_.data = values_.data();
  }

  void factor(const ExecutionSpace& exec, const BandRef<Scalar>& A,
              const typename Base::Scale&, const typename Base::Fault& fault,
              Real) override {
    for_each_index("Strata::Band::pack", exec, storage_.per_system() * A.batch,
                   FillPivotedBand<Scalar>{A, storage_});
    using Panel = FactorPanel<Scalar, ExecutionSpace>;
    using Apply = ApplyBandPanel<Scalar, ExecutionSpace>;
    const std::int64_t reach = A.lower + A.upper;
    for (std::int64_t first = 0; first < A.size; first += band_panel_width) {
      launch("Strata::Band::panel", exec, A.batch,
             Panel{storage_, exchanges_, pivots_, fault, first});
      const std::int64_t right =
          std::min(A.size - first - band_panel_width, reach);
      const auto strips =
          static_cast<int>((right + Apply::strip - 1) / Apply::strip);
      if (right > 0)
        launch("Strata::Band::apply_panel", exec, strips * A.batch,
               Apply{storage_, exchanges_, first, strips});
    }
  }

  void solve(const ExecutionSpace& exec, const BatchVectorRef<const Scalar>& b,
             const BatchVectorRef<Scalar>& x,
             std::int64_t columns) const override {
    if (columns == 1)
      substitute<1>(exec, b, x, 1);
    else
      substitute<8>(exec, b, x, static_cast<int>(columns));
  }
  std::size_t bytes() const override {
    return values_.extent(0) * sizeof(Scalar) + exchanges_.bytes() +
           pivots_.extent(0) * sizeof(std::int64_t);
  }
  Kokkos::View<const std::int64_t*, Memory> pivots() const override {
    return pivots_;
  }

 private:
  template <class Kernel>
  static void launch(const char* label, const ExecutionSpace& exec, int teams,
                     const Kernel& kernel) {
    Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<Kernel::team_size>>
        policy(exec, teams, Kernel::team_size);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes)));
    Kokkos::parallel_for(label, policy, kernel);
  }
  template <int width>
  void substitute(const ExecutionSpace& exec,
                  const BatchVectorRef<const Scalar>& b,
                  const BatchVectorRef<Scalar>& x, int columns) const {
    const int groups = (columns + width - 1) / width;
    launch("Strata::Band::substitute_panels", exec, groups * storage_.batch,
           SubstitutePanels<Scalar, ExecutionSpace, width>{
               storage_, exchanges_, b, x, columns, groups});
  }

  PivotedStorage<Scalar> storage_;
  Kokkos::View<Scalar*, Memory> values_;
  PanelExchanges<ExecutionSpace> exchanges_;
  Kokkos::View<std::int64_t*, Memory> pivots_;
};

}  // namespace Detail
}  // namespace Strata

#endif
