// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// must say: Strata: b and x must be in memory that the execution space can
// access: copy them there (Kokkos::deep_copy)
#include <Strata_TriangularSolver.hpp>

using Space = Kokkos::DefaultExecutionSpace;

#ifdef KOKKOS_ENABLE_CUDA
using FarSpace = Kokkos::HostSpace;
#else
// Every memory of a host is accessible: one that is not, by its types alone.
struct FarSpace {
  using memory_space = FarSpace;
  using execution_space = Space;
  using device_type = Kokkos::Device<execution_space, memory_space>;
  using size_type = std::size_t;
};
#endif
using Vector = Kokkos::View<double*, Kokkos::Device<Space, FarSpace>>;

void misuse(const Strata::TriangularSolver<double, Space>& solver,
            const Vector& b) {
  solver.solve(Space(), b, b);
}
