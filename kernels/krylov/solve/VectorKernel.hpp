// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_KERNELS_KRYLOV_SOLVE_VECTOR_KERNEL_HPP
#define STRATA_KERNELS_KRYLOV_SOLVE_VECTOR_KERNEL_HPP

#include <algorithm>
#include <core/device/GridSum.hpp>
#include <core/device/Launch.hpp>
#include <core/scalar/RealPart.hpp>
#include <kernels/spmv/SellLaunch.hpp>

namespace Strata {
namespace Detail {

/// Whether a solve with a b of this squared norm may over- or underflow, or the
/// norm is not finite: products with it have to be normal numbers of double,
/// and residuals those of the scalar.
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool out_of_range(double squared_b) {
  constexpr double most =
      sizeof(RealOf<Scalar>) < sizeof(double) ? 1e40 : 1e200;
  return !(squared_b == 0 || (squared_b >= 1 / most && squared_b <= most));
}

/// The same of the squared norm of a product with A M^-1, in the first
/// iteration. A product that is 0 is in range: A may be singular.
/// @param dot  of the product and another vector: the square alone may be 0
template <class W>
KOKKOS_INLINE_FUNCTION bool product_out_of_range(double squared, const W& dot) {
  constexpr double most = 1e250;
  return !(squared >= 1 / most && squared <= most) &&
         !(squared == 0 && dot == W(0));
}

/// |v|^2 in double, but more than 0 for a v that is not 0: what is not zero
/// shows, however small its square.
template <class Scalar>
KOKKOS_INLINE_FUNCTION double nonzero_square(const Scalar& v) {
  constexpr double least = 1e-300;
  const double square = real_product(v, v);
  return square > least || v == Scalar(0) ? square : least;
}

/// A kernel over the elements of vectors. read() fetches the scalars it needs
/// into its own copy and says whether there is anything to do: left in memory,
/// each store would have them fetched again. Its sums are handed to finish(),
/// or, where it is `late`, left for a later launch to add up.
template <class ExecutionSpace, class Kernel>
struct VectorRun {
  /// Elements whose loads a thread has under way together: one where four would
  /// not fit its registers.
  static constexpr int batch =
      is_gpu<ExecutionSpace> && sizeof(typename Kernel::Item) <= 80 ? 4 : 1;
  static constexpr int blocks_at_once = 4;
  Kernel kernel;
  GridSumRef grid_sum;
  std::int64_t n;

  template <class Team>
  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    Kernel own = kernel;
    constexpr int sums = Kernel::sums > 0 ? Kernel::sums : 1;
    double sum[sums] = {};
    const int size = team.team_size();
    // A device's blocks take neighbouring runs in turn, a host's thread has
    // one.
    std::int64_t begin, end, stride;
    if (is_gpu<ExecutionSpace>) {
      begin = static_cast<std::int64_t>(team.league_rank()) * size * batch +
              team.team_rank();
      end = n;
      stride = static_cast<std::int64_t>(team.league_size()) * size * batch;
    } else {
      const std::int64_t share =
          (n + team.league_size() - 1) / team.league_size();
      begin = team.league_rank() * share;
      end = begin + share < n ? begin + share : n;
      stride = 1;
    }
    typename Kernel::Item item[batch];
    const auto load = [&](std::int64_t i) {
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (i + u * size < end) own.load(i + u * size, item[u]);
    };
    // The first elements are under way while the scalars are fetched.
    load(begin);
    if (!own.read(team)) return;
    for (std::int64_t i = begin; i < end; i += stride) {
      if (i != begin) load(i);
      STRATA_IMPL_UNROLL
      for (int u = 0; u < batch; ++u)
        if (i + u * size < end) own.store(i + u * size, item[u], sum);
    }
    if constexpr (Kernel::late) {
      grid_sum.leave(team, sum);
    } else if constexpr (Kernel::sums > 0) {
      if (grid_sum(team, sum, 0) && team.team_rank() == 0) own.finish(sum);
    }
    (void)sum;
  }
};

/// Returns what a `late` kernel leaves to be added up.
template <class ExecutionSpace, class Kernel>
LateSums run_vector_kernel(
    const char* label, const ExecutionSpace& exec, std::int64_t n,
    const Kernel& kernel,
    const GridSum<typename ExecutionSpace::memory_space>& grid_sum) {
  using Run = VectorRun<ExecutionSpace, Kernel>;
  const std::int64_t of_block = is_gpu<ExecutionSpace> ? 256 * Run::batch : 1;
  int blocks = static_cast<int>(std::max<std::int64_t>(
      1, std::min<std::int64_t>((n + of_block - 1) / of_block,
                                resident_blocks(exec, Run::blocks_at_once))));
  // The sums may have been made for an instance with fewer threads.
  if (Kernel::sums > 0)
    blocks = std::max(1, std::min(blocks, grid_sum.max_blocks));
  run_native_teams<Run::blocks_at_once>(label, exec, blocks,
                                        Run{kernel, GridSumRef(grid_sum), n});
  return {GridSumRef(grid_sum), blocks, 0};
}

}  // namespace Detail
}  // namespace Strata

#endif
