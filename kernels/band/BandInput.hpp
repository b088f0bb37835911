// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_BAND_INPUT_HPP
#define STRATA_KERNELS_BAND_BAND_INPUT_HPP

#include <Strata_Error.hpp>
#include <algorithm>
#include <core/device/Backend.hpp>
#include <kernels/band/TileTask.hpp>
#include <limits>

namespace Strata {
namespace Detail {

/// Band matrices in LAPACK's storage as a pointer and strides: entry (i, j) of
/// a system is at row upper + i - j of column j.
template <class Scalar>
struct BandRef {
  const Scalar* data = nullptr;
  std::int64_t row_stride = 1, column_stride = 0, system_stride = 0;
  std::int64_t size = 0;
  std::int64_t lower = 0, upper = 0;  ///< kl and ku
  int batch = 1;

  KOKKOS_INLINE_FUNCTION bool holds(std::int64_t i, std::int64_t j) const {
    return i >= 0 && j >= 0 && i < size && j < size && i - j <= lower &&
           j - i <= upper;
  }
  KOKKOS_INLINE_FUNCTION const Scalar& operator()(int system, std::int64_t i,
                                                  std::int64_t j) const {
    return data[(upper + i - j) * row_stride + j * column_stride +
                system * system_stride];
  }
};

/// What a factorisation finds, one word each in device memory: numbers of rows
/// (system * size + row), or `none`. Of `pivot` and `overflow` these are
/// numbers in the algorithm's order of elimination
/// (BandAlgorithm::place_of_pivot).
struct BandFaults {
  enum : int { not_finite, pivot, overflow, row, column };
  static constexpr unsigned long long none = ~0ull;
  /// Faults of dominance are kept for each system.
  KOKKOS_INLINE_FUNCTION static int place(int what, int system) {
    return what + 2 * system;
  }
  static std::size_t size(int batch) { return 3 + 2 * std::size_t(batch); }
};

/// Row or column sums of the moduli off the diagonal, for blocks of 32 rows or
/// columns: 8 threads share one. Notes the first that has more than its
/// diagonal, the first value that is not finite, and the largest modulus of
/// each row (then the smaller of row and column).
template <class Scalar, class ExecutionSpace, bool by_rows>
struct CheckBand {
  using Memory = typename ExecutionSpace::memory_space;
  using Real = RealOf<Scalar>;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  static constexpr bool on_device = is_gpu<ExecutionSpace>;
  static constexpr int lines = 32, shares = on_device ? 8 : 1;
  static constexpr int team_size = on_device ? lines * shares : 1;
  static constexpr Real roundoff = std::numeric_limits<Real>::epsilon();
  static constexpr std::size_t scratch_bytes =
      2 * lines * shares * sizeof(Real) + 32;

  BandRef<Scalar> A;
  Kokkos::View<Real*, Memory> scale;
  Kokkos::View<unsigned long long*, Memory> fault;

  /// Adds share `share` of line i to sum, and raises largest.
  KOKKOS_INLINE_FUNCTION void add(int system, std::int64_t i, int share,
                                  Real& sum, Real& largest) const {
    const std::int64_t before = by_rows ? A.lower : A.upper;
    const std::int64_t width = A.lower + A.upper + 1;
    for (std::int64_t d = share; d < width; d += shares) {
      const std::int64_t j = i - before + d;
      if (i >= A.size || j < 0 || j >= A.size) continue;
      const Real value = modulus(by_rows ? A(system, i, j) : A(system, j, i));
      if (j != i) sum += value;
      // A NaN comes in and stays.
      if (value > largest || value != value) largest = value;
    }
  }
  KOKKOS_INLINE_FUNCTION void note(int what, std::int64_t number) const {
    Kokkos::atomic_fetch_min(&fault(what),
                             static_cast<unsigned long long>(number));
  }
  KOKKOS_INLINE_FUNCTION void finish(int system, std::int64_t i, Real sum,
                                     Real largest) const {
    if (i >= A.size) return;
    const std::int64_t number = system * A.size + i;
    const Real diagonal = modulus(A(system, i, i));
    // An infinity less itself is a NaN, and a NaN equals nothing. Rows find
    // all of them.
    if (by_rows && !(largest - largest == Real(0)))
      note(BandFaults::not_finite, number);
    // The sum has as many roundings as terms.
    const Real slack = static_cast<Real>(A.lower + A.upper + 1) * roundoff;
    if (!(sum <= diagonal * (Real(1) + slack)))
      note(BandFaults::place(by_rows ? BandFaults::row : BandFaults::column,
                             system),
           number);
    if (by_rows || largest < scale(number)) scale(number) = largest;
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& team) const {
    const std::int64_t blocks = (A.size + lines - 1) / lines;
    const int system = static_cast<int>(team.league_rank() / blocks);
    const std::int64_t first = team.league_rank() % blocks * lines;
    if constexpr (on_device) {
      Real* const sums = aligned_scratch<Real>(team, scratch_bytes);
      Real* const maxima = sums + lines * shares;
      // Neighbouring threads read neighbouring numbers: of a diagonal where
      // lines are rows, of a column else.
      const int thread = team.team_rank();
      const int line = by_rows ? thread % lines : thread / shares;
      const int share = by_rows ? thread / lines : thread % shares;
      Real sum(0), largest(0);
      add(system, first + line, share, sum, largest);
      sums[share * lines + line] = sum;
      maxima[share * lines + line] = largest;
      team.team_barrier();
      if (thread >= lines) return;
      sum = sums[thread], largest = maxima[thread];
      for (int s = 1; s < shares; ++s) {
        sum += sums[s * lines + thread];
        const Real other = maxima[s * lines + thread];
        if (other > largest || other != other) largest = other;
      }
      finish(system, first + thread, sum, largest);
    } else {
      lines_of_host(system, first);
    }
  }
  /// A host's: the lines of a team, by its one thread.
  KOKKOS_INLINE_FUNCTION void lines_of_host(int system,
                                            std::int64_t first) const {
    const std::int64_t end = sooner(first + lines, A.size);
    if constexpr (by_rows) {
      rows_of_host(system, first, end);
    } else {
      for (std::int64_t j = first; j < end; ++j) column_of_host(system, j);
    }
  }

 private:
  static KOKKOS_INLINE_FUNCTION std::int64_t later(std::int64_t a,
                                                   std::int64_t b) {
    return a > b ? a : b;
  }
  static KOKKOS_INLINE_FUNCTION std::int64_t sooner(std::int64_t a,
                                                    std::int64_t b) {
    return a < b ? a : b;
  }

  /// Rows first to end - 1, column after column, as they are stored.
  KOKKOS_INLINE_FUNCTION void rows_of_host(int system, std::int64_t first,
                                           std::int64_t end) const {
    Real sum[lines], largest[lines];
    for (int line = 0; line < lines; ++line) sum[line] = largest[line] = 0;
    const std::int64_t stop = sooner(end + A.upper, A.size);
    for (std::int64_t j = later(first - A.lower, 0); j < stop; ++j) {
      const auto take = [&](std::int64_t from, std::int64_t to) {
        if (from >= to) return;
        const Scalar* const value = &A(system, from, j);
        const int line = static_cast<int>(from - first);
        const int count = static_cast<int>(to - from);
        if (A.row_stride == 1)  // vector instructions
          add_column(value, 1, count, sum + line, largest + line);
        else
          add_column(value, A.row_stride, count, sum + line, largest + line);
      };
      const std::int64_t top = later(j - A.upper, first),
                         bottom = sooner(j + A.lower + 1, end);
      take(top, sooner(bottom, j));
      take(later(top, j + 1), bottom);
    }
    for (std::int64_t i = first; i < end; ++i)
      finish_of_host(system, i, sum[i - first], largest[i - first]);
  }

  static KOKKOS_INLINE_FUNCTION void add_column(const Scalar* value,
                                                std::int64_t stride, int count,
                                                Real* sum, Real* largest) {
    for (int k = 0; k < count; ++k) {
      const Real size = modulus(value[k * stride]);
      sum[k] += size;
      largest[k] = size > largest[k] ? size : largest[k];
    }
  }

  KOKKOS_INLINE_FUNCTION void column_of_host(int system, std::int64_t j) const {
    // Several sums, because an addition waits for the one before it.
    constexpr int parts = 4;
    Real sum[parts] = {0, 0, 0, 0}, largest[parts] = {0, 0, 0, 0};
    const auto take = [&](std::int64_t from, std::int64_t to) {
      if (from >= to) return;
      const Scalar* const value = &A(system, from, j);
      for (std::int64_t k = 0; k < to - from; k += parts)
        for (int p = 0; p < parts; ++p) {
          if (k + p >= to - from) break;
          const Real size = modulus(value[(k + p) * A.row_stride]);
          sum[p] += size;
          if (size > largest[p]) largest[p] = size;
        }
    };
    take(later(j - A.upper, 0), j);
    take(j + 1, sooner(j + A.lower + 1, A.size));
    for (int p = 1; p < parts; ++p) {
      sum[0] += sum[p];
      if (largest[p] > largest[0]) largest[0] = largest[p];
    }
    finish_of_host(system, j, sum[0], largest[0]);
  }

  /// From the sum and the largest of what stands beside the diagonal, NaN left
  /// out of the latter.
  KOKKOS_INLINE_FUNCTION void finish_of_host(int system, std::int64_t i,
                                             Real sum, Real largest) const {
    const Real diagonal = modulus(A(system, i, i));
    const Real total = sum + diagonal;
    if (!(total - total == Real(0))) {
      // Not finite, or a sum that overflows: one value after the other.
      sum = largest = 0;
      add(system, i, 0, sum, largest);
    } else if (diagonal > largest) {
      largest = diagonal;
    }
    finish(system, i, sum, largest);
  }
};

/// Fills `fault` and `scale`. Enqueued on `exec`.
template <class ExecutionSpace, class Scalar, class Scale, class Fault>
void check_band(const ExecutionSpace& exec, const BandRef<Scalar>& A,
                const Scale& scale, const Fault& fault) {
  const bool by_caller = is_left_to_caller<ExecutionSpace>(
      (A.lower + A.upper + 1) * A.size * A.batch);
  if (by_caller)
    std::fill(fault.data(), fault.data() + fault.extent(0), BandFaults::none);
  else
    Kokkos::deep_copy(exec, fault, BandFaults::none);
  const auto launch = [&](auto check) {
    using Check = decltype(check);
    if constexpr (!is_gpu<ExecutionSpace>) {
      if (by_caller) {
        for (int system = 0; system < A.batch; ++system)
          for (std::int64_t first = 0; first < A.size; first += Check::lines)
            check.lines_of_host(system, first);
        return;
      }
    }
    Kokkos::TeamPolicy<ExecutionSpace> policy(
        exec,
        static_cast<int>((A.size + Check::lines - 1) / Check::lines * A.batch),
        Check::team_size);
    policy.set_scratch_size(
        0, Kokkos::PerTeam(static_cast<int>(Check::scratch_bytes)));
    Kokkos::parallel_for("Strata::Band::check", policy, check);
  };
  launch(CheckBand<Scalar, ExecutionSpace, true>{A, scale, fault});
  launch(CheckBand<Scalar, ExecutionSpace, false>{A, scale, fault});
}

/// Copies the band into tiles, zero outside of it and with ones on the diagonal
/// past the last row. One team of threads a tile.
template <class Scalar, class ExecutionSpace, int B, class Factors>
struct PackTiles {
  BandRef<Scalar> A;
  Factors factors;
  int below, above;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t element) const {
    const int row = static_cast<int>(element % B);
    element /= B;
    const int column = static_cast<int>(element % B);
    element /= B;
    const int width = below + 1 + above;
    const int w = static_cast<int>(element % width);
    element /= width;
    const std::int64_t i = element % factors.blocks;
    const int system = static_cast<int>(element / factors.blocks);
    const std::int64_t j = i - below + w;
    if (j < 0 || j >= factors.blocks) return;
    const std::int64_t r = i * B + row, c = j * B + column;
    Scalar value(r == c && r >= A.size ? 1 : 0);
    if (A.holds(r, c)) value = A(system, r, c);
    factors.at(factors.place(system, i, j))[column * B + row] = value;
  }
};

/// Notes the first pivot, in the order of elimination, that is next to nothing
/// beside the largest elements of its row and column in the matrix, and the
/// first that is not finite or has no finite reciprocal. What follows from such
/// a pivot comes later in that order.
template <class Scalar, class ExecutionSpace, int B, class Factors>
struct NotePivots {
  using Memory = typename ExecutionSpace::memory_space;
  using Real = RealOf<Scalar>;
  Kokkos::View<const Real*, Memory> scale;
  Kokkos::View<unsigned long long*, Memory> fault;
  Real small;
  std::int64_t size;
  Factors factors;

  /// system * size + row, or -1 past the last row.
  KOKKOS_INLINE_FUNCTION std::int64_t place(std::int64_t pivot) const {
    const std::int64_t step = pivot / B;
    const std::int64_t row =
        factors.eliminated(step % factors.blocks) * B + pivot % B;
    return row < size ? step / factors.blocks * size + row : -1;
  }
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t pivot,
                                         const Scalar& value) const {
    const std::int64_t at = place(pivot);
    if (at < 0) return;
    const auto is_finite = [](Real number) {
      return number - number == Real(0);
    };
    const Real p = modulus(value);
    const bool is_small = is_finite(p) && !(p > small * scale(at));
    if (!is_small && is_finite(p) && is_finite(Real(1) / p)) return;
    Kokkos::atomic_fetch_min(
        &fault(is_small ? BandFaults::pivot : BandFaults::overflow),
        static_cast<unsigned long long>(pivot));
  }
};

/// For a reduction over one pivot, as its place is known where the factors are.
template <class Pivots>
struct FindPlaceOfPivot {
  Pivots pivots;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t pivot,
                                         std::int64_t& place) const {
    place = pivots.place(pivot);
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
