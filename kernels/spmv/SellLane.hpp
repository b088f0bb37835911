// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_SPMV_SELL_LANE_HPP
#define STRATA_KERNELS_SPMV_SELL_LANE_HPP

#include <core/device/Atomics.hpp>
#include <kernels/spmv/SellStorage.hpp>
#include <type_traits>

namespace Strata {
namespace Detail {

/// Loads of slots that a kernel reads once, from global memory.
struct SlotsOnce {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T load(const T* p) {
    return load_once(p);
  }
};
/// Loads of slots that a kernel reads many times, from global memory or from a
/// team's scratch.
struct SlotsAnywhere {
  template <class T>
  KOKKOS_INLINE_FUNCTION static T load(const T* p) {
    return *p;
  }
};

/// Whether elements of x, of one column, are fetched in two steps: fetch(row)
/// begins their loads (none where row is -1), and value() works them out of
/// what these bring.
template <class Source, class = void>
struct IsFetched : std::false_type {
  template <class Scalar>
  using Item = Scalar;
};
template <class Source>
struct IsFetched<Source, std::void_t<typename Source::Item>> : std::true_type {
  template <class Scalar>
  using Item = typename Source::Item;
};

/// What a lane does with its slots of a chunk: sum += value * x for each of R
/// columns of x, with the loads of `batch` slots under way together.
template <class Scalar, int R, int batch, class Slots>
struct SellLane {
  /// `left` slots, `stride` apart, each with its column.
  template <class Source>
  KOKKOS_INLINE_FUNCTION static void add_columns(const Source& source,
                                                 const Scalar* value,
                                                 const int* column, int left,
                                                 std::int64_t stride,
                                                 Scalar (&sum)[R]) {
    for (; left > 0; left -= batch) {
      int col[batch];
      Scalar v[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        const bool used = u < left;
        col[u] = used ? Slots::load(column + u * stride) : -1;
        v[u] = used ? Slots::load(value + u * stride) : Scalar(0);
      }
      add_batch(source, col, v, sum);
      value += batch * stride;
      column += batch * stride;
    }
  }

  /// `left` slots, `stride` apart, of row `row`, number `lane` of its chunk,
  /// which is on diagonals.
  template <class Source>
  KOKKOS_INLINE_FUNCTION static void add_diagonals(
      const Source& source, const Scalar* value, const DiagonalStep* step,
      int left, std::int64_t stride, int lane, int row, Scalar (&sum)[R]) {
    for (; left > 0; left -= batch) {
      int col[batch];
      Scalar v[batch];
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u) {
        const bool used = u < left;
        DiagonalStep d{0, 0};
        if (used) d = step[u];
        v[u] = used ? Slots::load(value + u * stride) : Scalar(0);
        col[u] = (d.rows >> lane) & 1u ? row + d.offset : -1;
      }
      add_batch(source, col, v, sum);
      value += batch * stride;
      step += batch;
    }
  }

 private:
  /// Padding has a column of -1 and the value 0, and reads no x: what is not
  /// finite there must not spread.
  template <class Source>
  KOKKOS_INLINE_FUNCTION static void add_batch(const Source& source,
                                               const int (&col)[batch],
                                               const Scalar (&v)[batch],
                                               Scalar (&sum)[R]) {
    using Fetched = IsFetched<Source>;
    typename Fetched::template Item<Scalar> x[batch][R];
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) STRATA_IMPL_UNROLL
    for (int r = 0; r < R; ++r) {
      if constexpr (Fetched::value) {
        x[u][r] = source.fetch(col[u]);
      } else {
        x[u][r] = col[u] >= 0 ? source(col[u], r) : Scalar(0);
      }
    }
    STRATA_IMPL_UNROLL
    for (int u = 0; u < batch; ++u) STRATA_IMPL_UNROLL
    for (int r = 0; r < R; ++r) {
      if constexpr (Fetched::value) {
        sum[r] += v[u] * source.value(x[u][r]);
      } else {
        sum[r] += v[u] * x[u][r];
      }
    }
  }
};

}  // namespace Detail
}  // namespace Strata

#endif
