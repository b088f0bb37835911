// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_BAND_TILE_TEAM_HPP
#define STRATA_KERNELS_BAND_TILE_TEAM_HPP

#include <core/device/Arithmetic.hpp>
#include <core/device/Scratch.hpp>
#include <core/scalar/Modulus.hpp>
#include <core/scalar/RealPart.hpp>
#include <type_traits>

namespace Strata {
namespace Detail {

/// One product a b of tiles, and the flags that say that they are final; -1
/// stands for a tile that always is.
template <class Scalar>
struct TileTerm {
  const Scalar *a, *b;
  std::int64_t flag_a, flag_b;
};

/// A team that holds a B x B tile in registers (on a host: one thread and an
/// array), and what it can do to it. Tiles in memory are stored column by
/// column without gaps, aligned to 16 bytes.
///
/// Products read their factors through scratch in two stages of `depth`
/// columns of a and rows of b. Doubles are multiplied in the tensor units;
/// other scalars by 4 x (B / 16) elements a thread, whose operands of one step
/// come in (4 + B / 16) reads for B / 4 multiply-adds.
template <class Scalar, class ExecutionSpace, int B>
class TileTeam {
  static constexpr int depth = sizeof(Scalar) > 8 ? 8 : 16;
  // Strides that keep 16-byte copies aligned, and the lanes that read at once
  // in different banks.
  static constexpr int pad = sizeof(Scalar) > 8 ? 1 : 4;
  static constexpr int a_stride = B + pad, b_stride = depth + pad;
  static constexpr int stage_size = depth * a_stride + B * b_stride;
  /// Pivots that an inversion takes in one step; rows and columns of two steps
  /// lie in scratch, then all pivots.
  static constexpr int at_once = 4;
  static constexpr int pivots_begin = 4 * at_once * B;
  static_assert(pivots_begin + B <= 2 * stage_size, "an inversion must fit");

 public:
  static constexpr bool on_device = is_gpu<ExecutionSpace>;
  static constexpr int lanes = lane_width<ExecutionSpace>;
  static constexpr bool tensor =
      lanes == 32 && std::is_same<Scalar, double>::value;
  static constexpr int team_size = on_device ? 4 * B : 1;
  /// Rows and columns of the tile that one thread holds.
  static constexpr int rows = on_device ? (tensor ? 2 : 4) : B;
  static constexpr int columns = B * B / team_size / rows;
  static constexpr std::size_t scratch_bytes =
      (on_device ? 2 * stage_size : pivots_begin + B) * sizeof(Scalar);

  using Real = RealOf<Scalar>;
  using Elements = Scalar[columns][rows];

  /// @param scratch scratch_bytes, aligned to 16
  KOKKOS_INLINE_FUNCTION TileTeam(int thread, void* scratch)
      : scratch_(static_cast<Scalar*>(scratch)),
        bytes_(scratch),
        thread_(thread) {
    if constexpr (tensor) {
      const int warp = thread / lanes, lane = thread % lanes;
      constexpr int down = B / 16;
      first_row_ = 16 * (warp % down) + lane / 4;
      first_column_ = 4 * columns * (warp / down) + 2 * (lane % 4);
    } else if constexpr (on_device) {
      first_row_ = 4 * (thread % (B / 4));
      first_column_ = thread / (B / 4);
    } else {
      first_row_ = first_column_ = 0;
    }
  }

  KOKKOS_INLINE_FUNCTION int row(int m) const {
    return first_row_ + (tensor ? 8 * m : m);
  }
  KOKKOS_INLINE_FUNCTION int column(int n) const {
    if constexpr (tensor) {
      return first_column_ + 8 * (n / 2) + n % 2;
    }
    return first_column_ + (on_device ? 16 * n : n);
  }

  /// f(element, row, column) for every element of this thread.
  template <class F>
  KOKKOS_INLINE_FUNCTION void for_each(Elements& c, const F& f) const {
    STRATA_IMPL_UNROLL
    for (int n = 0; n < columns; ++n) {
      STRATA_IMPL_UNROLL
      for (int m = 0; m < rows; ++m) f(c[n][m], row(m), column(n));
    }
  }

  /// c += the sum of a b over terms 0 to terms - 1. All threads must call it
  /// with the same arguments, and find scratch free afterwards.
  ///
  /// @param term term(t): the tiles a and b; called for a term that a wait has
  ///             found to be final, after the last such wait
  /// @param wait wait(t): waits until term t is final and returns how many of
  ///             the first terms are; all threads call it together, with the
  ///             first term that is not known to be final
  template <class Team, class Term, class Wait>
  KOKKOS_INLINE_FUNCTION void add_products(const Team& team, Elements& c,
                                           int terms, const Term& term,
                                           const Wait& wait) const {
    if (terms < 1) return;
    if constexpr (!on_device) {
      int ready = 0;
      for (int t = 0; t < terms; ++t) {
        if (t >= ready) ready = wait(t);
        const auto now = term(t);
        for (int n = 0; n < B; ++n)
          for (int k = 0; k < B; ++k) {
            const Scalar factor = now.b[n * B + k];
            for (int m = 0; m < B; ++m) c[n][m] += now.a[k * B + m] * factor;
          }
      }
    } else {
      constexpr int chunks = B / depth;
      const int total = terms * chunks;
      int ready = wait(0), staged = 0;
      for (int q = 0; q < total; ++q) {
        // Two chunks are on their way where they are known to be final.
        while (staged < total && staged < q + 2) {
          const int t = staged / chunks;
          if (t >= ready) {
            if (staged > q) break;
            ready = wait(t);
          }
          stage(term(t), staged % chunks, staged & 1);
          ++staged;
        }
        if (staged == q + 2)
          copy_async_wait<1>();
        else
          copy_async_wait<0>();
        team.team_barrier();
        multiply(scratch_ + (q & 1) * stage_size, c);
        team.team_barrier();
      }
    }
  }

  /// c = c^-1 by Gauss-Jordan elimination without exchanges, four pivots in a
  /// step: B / 4 steps of one barrier. Every thread inverts the 4 x 4 block W
  /// of the pivots K by itself, and then
  ///   c_ij = base_ij - sum over q of F_iq E_qj,
  /// base = 0 and F = -W in the rows of K, F = c_iK W elsewhere; base = 0 and
  /// E = 1 in the columns of K, E = c_Kj elsewhere.
  /// The pivots stay in scratch: see for_each_pivot.
  template <class Team>
  KOKKOS_INLINE_FUNCTION void invert(const Team& team, Elements& c) const {
    publish_pivots(c, 0);
    team.team_barrier();
    for (int k = 0; k < B; k += at_once) {
      const Scalar* const e = scratch_ + (k / at_once & 1) * 2 * at_once * B;
      const Scalar* const left = e + at_once * B;
      Scalar w[at_once][at_once];
      STRATA_IMPL_UNROLL
      for (int i = 0; i < at_once; ++i) {
        STRATA_IMPL_UNROLL
        for (int q = 0; q < at_once; ++q) w[i][q] = left[(k + i) * at_once + q];
      }
      STRATA_IMPL_UNROLL
      for (int p = 0; p < at_once; ++p) {
        if (thread_ == 0) scratch_[pivots_begin + k + p] = w[p][p];
        const Scalar inverse = reciprocal(w[p][p]);
        STRATA_IMPL_UNROLL
        for (int q = 0; q < at_once; ++q)
          if (q != p) w[p][q] *= inverse;
        STRATA_IMPL_UNROLL
        for (int i = 0; i < at_once; ++i) {
          if (i == p) continue;
          STRATA_IMPL_UNROLL
          for (int q = 0; q < at_once; ++q)
            if (q != p) w[i][q] -= w[i][p] * w[p][q];
          w[i][p] *= -inverse;
        }
        w[p][p] = inverse;
      }
      eliminate(c, w, k, e, left);
      if (k + at_once < B) publish_pivots(c, k + at_once);
      team.team_barrier();
    }
  }
  /// f(k, value) for the pivots of the latest inversion, each by one thread.
  template <class F>
  KOKKOS_INLINE_FUNCTION void for_each_pivot(const F& f) const {
    for (int k = thread_; k < B; k += team_size)
      f(k, scratch_[pivots_begin + k]);
  }

 private:
  /// Begins the copy of one chunk of a term.
  template <class Term>
  KOKKOS_INLINE_FUNCTION void stage(const Term& term, int chunk,
                                    int slot) const {
    constexpr int packet = 16 / sizeof(Scalar);
    constexpr int a_packets = B / packet, b_packets = depth / packet;
    constexpr int size = sizeof(Scalar);
    const Scalar* const a = term.a + chunk * depth * B;
    const Scalar* const b = term.b + chunk * depth;
    const unsigned to = slot * stage_size * size;
    STRATA_IMPL_UNROLL
    for (int i = thread_; i < depth * a_packets; i += team_size) {
      const int k = i / a_packets, m = i % a_packets * packet;
      bytes_.copy_async_16(to + (k * a_stride + m) * size, a + k * B + m);
    }
    STRATA_IMPL_UNROLL
    for (int i = thread_; i < B * b_packets; i += team_size) {
      const int n = i / b_packets, k = i % b_packets * packet;
      bytes_.copy_async_16(to + (depth * a_stride + n * b_stride + k) * size,
                           b + n * B + k);
    }
    copy_async_commit();
  }

  KOKKOS_INLINE_FUNCTION void multiply(const Scalar* a, Elements& c) const {
    const Scalar* const b = a + depth * a_stride;
    if constexpr (tensor) {
      // Lane 4 g + t reads rows g and g + 8 of a, columns g of b.
      const int t = thread_ % lanes % 4, g = thread_ % lanes / 4;
      const double* const a_row = a + first_row_;
      const double* const b_column = b + (first_column_ - 2 * t + g) * b_stride;
      STRATA_IMPL_UNROLL
      for (int s = 0; s < depth; s += 8) {
        const int k = s + t;
        const double left[4] = {a_row[k * a_stride], a_row[k * a_stride + 8],
                                a_row[(k + 4) * a_stride],
                                a_row[(k + 4) * a_stride + 8]};
        STRATA_IMPL_UNROLL
        for (int n = 0; n < columns; n += 2) {
          const double right[2] = {b_column[4 * n * b_stride + k],
                                   b_column[4 * n * b_stride + k + 4]};
          warp_multiply_add(c[n][0], c[n + 1][0], c[n][1], c[n + 1][1], left,
                            right);
        }
      }
    } else {
      STRATA_IMPL_UNROLL
      for (int k = 0; k < depth; ++k) {
        Scalar left[rows];
        STRATA_IMPL_UNROLL
        for (int m = 0; m < rows; ++m) left[m] = a[k * a_stride + row(m)];
        STRATA_IMPL_UNROLL
        for (int n = 0; n < columns; ++n) {
          const Scalar right = b[column(n) * b_stride + k];
          STRATA_IMPL_UNROLL
          for (int m = 0; m < rows; ++m) c[n][m] += left[m] * right;
        }
      }
    }
  }

  KOKKOS_INLINE_FUNCTION static bool among(int index, int k) {
    return static_cast<unsigned>(index - k) < static_cast<unsigned>(at_once);
  }

  /// Puts what the step of pivots k to k + 3 needs where all can read it: E as
  /// [column][q], and the columns of K as [row][q]. Clears them in c.
  KOKKOS_INLINE_FUNCTION void publish_pivots(Elements& c, int k) const {
    Scalar* const e = scratch_ + (k / at_once & 1) * 2 * at_once * B;
    Scalar* const left = e + at_once * B;
    STRATA_IMPL_UNROLL
    for (int n = 0; n < columns; ++n)
      if (among(column(n), k)) {
        STRATA_IMPL_UNROLL
        for (int m = 0; m < rows; ++m) {
          left[row(m) * at_once + column(n) - k] = c[n][m];
          if (!among(row(m), k)) c[n][m] = Scalar(0);
        }
      }
    STRATA_IMPL_UNROLL
    for (int m = 0; m < rows; ++m)
      if (among(row(m), k)) {
        STRATA_IMPL_UNROLL
        for (int n = 0; n < columns; ++n) {
          e[column(n) * at_once + row(m) - k] =
              among(column(n), k) ? Scalar(column(n) == row(m) ? 1 : 0)
                                  : c[n][m];
          c[n][m] = Scalar(0);
        }
      }
  }

  KOKKOS_INLINE_FUNCTION void eliminate(Elements& c,
                                        const Scalar (&w)[at_once][at_once],
                                        int k, const Scalar* e,
                                        const Scalar* left) const {
    const auto left_of = [&](int i, int q) {
      return among(i, k) ? Scalar(i - k == q ? -1 : 0) : left[i * at_once + q];
    };
    if constexpr (tensor) {
      const int t = thread_ % lanes % 4, g = thread_ % lanes / 4;
      double of_t[at_once];
      STRATA_IMPL_UNROLL
      for (int q = 0; q < at_once; ++q)
        of_t[q] =
            t < 2 ? (t == 0 ? w[q][0] : w[q][1]) : (t == 2 ? w[q][2] : w[q][3]);
      double f[4] = {0, 0, 0, 0};
      STRATA_IMPL_UNROLL
      for (int m = 0; m < rows; ++m) {
        STRATA_IMPL_UNROLL
        for (int q = 0; q < at_once; ++q) f[m] -= left_of(row(m), q) * of_t[q];
      }
      STRATA_IMPL_UNROLL
      for (int n = 0; n < columns; n += 2) {
        const double right[2] = {
            e[(first_column_ - 2 * t + 4 * n + g) * at_once + t], 0};
        warp_multiply_add(c[n][0], c[n + 1][0], c[n][1], c[n + 1][1], f, right);
      }
    } else {
      Scalar f[at_once][rows];
      STRATA_IMPL_UNROLL
      for (int m = 0; m < rows; ++m) {
        STRATA_IMPL_UNROLL
        for (int p = 0; p < at_once; ++p) {
          f[p][m] = left_of(row(m), 0) * w[0][p];
          STRATA_IMPL_UNROLL
          for (int q = 1; q < at_once; ++q)
            f[p][m] += left_of(row(m), q) * w[q][p];
        }
      }
      STRATA_IMPL_UNROLL
      for (int n = 0; n < columns; ++n) {
        const Scalar* const right = e + column(n) * at_once;
        STRATA_IMPL_UNROLL
        for (int m = 0; m < rows; ++m)
          c[n][m] -= f[0][m] * right[0] + f[1][m] * right[1] +
                     f[2][m] * right[2] + f[3][m] * right[3];
      }
    }
  }

  Scalar* scratch_;
  ScratchBytes bytes_;
  int thread_, first_row_, first_column_;
};

}  // namespace Detail
}  // namespace Strata

#endif
