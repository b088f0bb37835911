// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_DENSE_DENSE_PRODUCT_HPP
#define STRATA_KERNELS_DENSE_DENSE_PRODUCT_HPP

// Some releases of Kokkos Kernels need this first.
#include <Kokkos_Core.hpp>

#include <KokkosBlas3_gemm.hpp>
#include <core/device/KokkosVersion.hpp>
#include <core/lapack/Lapack.hpp>
#include <kernels/dense/DenseRef.hpp>

namespace Strata {
namespace Detail {

/// C -= A B by square tiles of C in registers, for CUDA where Kokkos Kernels
/// was built without cuBLAS: its own gemm keeps C's tile in scratch, and its
/// accumulation goes through it. A team has a tile of 64 x 64, a thread 4 x 4
/// entries 16 apart, so that a warp reads scratch without conflicts.
template <class Scalar, class ExecutionSpace>
struct TiledProduct {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Member = typename Policy::member_type;
  static constexpr int tile = 64, depth = 8, threads = 256, each = 4;
  static constexpr int apart = tile / each;

  DenseRef<const Scalar> a, b;
  DenseRef<Scalar> c;
  std::int64_t rows, columns, inner;

  static constexpr int scratch_bytes() {
    return 2 * tile * depth * static_cast<int>(sizeof(Scalar));
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    Scalar* const as =
        static_cast<Scalar*>(team.team_shmem().get_shmem(scratch_bytes()));
    Scalar* const bs = as + tile * depth;
    const std::int64_t row_tiles = (rows + tile - 1) / tile;
    const std::int64_t row0 = team.league_rank() % row_tiles * tile;
    const std::int64_t column0 = team.league_rank() / row_tiles * tile;
    const int thread = team.team_rank();
    const int tr = thread % apart, tc = thread / apart;
    Scalar sum[each][each];
    STRATA_IMPL_UNROLL
    for (int i = 0; i < each; ++i) STRATA_IMPL_UNROLL
    for (int j = 0; j < each; ++j) sum[i][j] = Scalar(0);
    for (std::int64_t k0 = 0; k0 < inner; k0 += depth) {
      for (int t = thread; t < tile * depth; t += threads) {
        const std::int64_t i = row0 + t % tile, k = k0 + t / tile;
        as[t] = i < rows && k < inner ? a(i, k) : Scalar(0);
        const std::int64_t kb = k0 + t % depth, j = column0 + t / depth;
        bs[t % depth * tile + t / depth] =
            kb < inner && j < columns ? b(kb, j) : Scalar(0);
      }
      team.team_barrier();
      for (int k = 0; k < depth; ++k) {
        Scalar x[each], y[each];
        STRATA_IMPL_UNROLL
        for (int i = 0; i < each; ++i) x[i] = as[k * tile + tr + i * apart];
        STRATA_IMPL_UNROLL
        for (int j = 0; j < each; ++j) y[j] = bs[k * tile + tc + j * apart];
        STRATA_IMPL_UNROLL
        for (int i = 0; i < each; ++i) STRATA_IMPL_UNROLL
        for (int j = 0; j < each; ++j) sum[i][j] += x[i] * y[j];
      }
      team.team_barrier();
    }
    STRATA_IMPL_UNROLL
    for (int j = 0; j < each; ++j) STRATA_IMPL_UNROLL
    for (int i = 0; i < each; ++i) {
      const std::int64_t row = row0 + tr + i * apart;
      const std::int64_t column = column0 + tc + j * apart;
      if (row < rows && column < columns) c(row, column) -= sum[i][j];
    }
  }
};

// KokkosBlas::gemm on an execution space instance, where it takes one.
template <class ExecutionSpace, class A, class C, class Scalar>
auto gemm_on(const ExecutionSpace& exec, const Scalar& alpha, const A& a,
             const A& b, const Scalar& beta, const C& c, int)
    -> decltype(KokkosBlas::gemm(exec, "N", "N", alpha, a, b, beta, c)) {
  return KokkosBlas::gemm(exec, "N", "N", alpha, a, b, beta, c);
}
template <class ExecutionSpace, class A, class C, class Scalar>
void gemm_on(const ExecutionSpace& exec, const Scalar& alpha, const A& a,
             const A& b, const Scalar& beta, const C& c, long) {
  exec.fence();
  KokkosBlas::gemm("N", "N", alpha, a, b, beta, c);
  ExecutionSpace().fence();
}

/// C -= A B, with A rows x inner and B inner x columns; C apart from both.
/// On a host with `use_blas` by BLAS, else by KokkosBlas::gemm (on CUDA that is
/// cuBLAS), by TiledProduct on CUDA where Kokkos Kernels lacks cuBLAS.
/// Asynchronous.
template <class Scalar, class ExecutionSpace>
void subtract_product(const ExecutionSpace& exec, const DenseRef<Scalar>& a,
                      const DenseRef<Scalar>& b, const DenseRef<Scalar>& c,
                      std::int64_t rows, std::int64_t columns,
                      std::int64_t inner, bool use_blas) {
  if (rows == 0 || columns == 0 || inner == 0) return;
  if constexpr (has_lapack<ExecutionSpace>) {
    if (use_blas) {
      exec.fence();
      return Lapack<Scalar>::subtract_product(
          static_cast<int>(rows), static_cast<int>(columns),
          static_cast<int>(inner), a.data, static_cast<int>(a.ld), b.data,
          static_cast<int>(b.ld), c.data, static_cast<int>(c.ld));
    }
  }
  if constexpr (is_gpu<ExecutionSpace> && !kernels_have_cublas) {
    using Product = TiledProduct<Scalar, ExecutionSpace>;
    const std::int64_t teams = ((rows + Product::tile - 1) / Product::tile) *
                               ((columns + Product::tile - 1) / Product::tile);
    Kokkos::parallel_for(
        "Strata::Dense::TiledProduct",
        typename Product::Policy(exec, static_cast<int>(teams),
                                 Product::threads)
            .set_scratch_size(0, Kokkos::PerTeam(Product::scratch_bytes())),
        Product{{a.data, a.ld}, {b.data, b.ld}, c, rows, columns, inner});
  } else {
    using Device =
        Kokkos::Device<ExecutionSpace, typename ExecutionSpace::memory_space>;
    using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    using In =
        Kokkos::View<const Scalar**, Kokkos::LayoutLeft, Device, Unmanaged>;
    using Out = Kokkos::View<Scalar**, Kokkos::LayoutLeft, Device, Unmanaged>;
    const auto first = [](std::int64_t n) {
      return std::make_pair(std::size_t{0}, static_cast<std::size_t>(n));
    };
    const In left =
        Kokkos::subview(In(a.data, a.ld, inner), first(rows), Kokkos::ALL);
    const In right =
        Kokkos::subview(In(b.data, b.ld, columns), first(inner), Kokkos::ALL);
    const Out result =
        Kokkos::subview(Out(c.data, c.ld, columns), first(rows), Kokkos::ALL);
    gemm_on(exec, Scalar(-1), left, right, Scalar(1), result, 0);
  }
}

}  // namespace Detail
}  // namespace Strata

#endif
