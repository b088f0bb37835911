// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Strata_BandSolver.hpp>

#include "BandMatrix.hpp"
#include "RandomSeed.hpp"

namespace Strata {
namespace BandTest {
namespace {

/// Takes what memory the device has, except for `left` bytes.
class TakenMemory {
 public:
  explicit TakenMemory(std::size_t left) {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    if (free > left) {
      EXPECT_EQ(cudaMalloc(&block_, free - left), cudaSuccess);
    }
  }
  ~TakenMemory() { cudaFree(block_); }
  TakenMemory(const TakenMemory&) = delete;
  TakenMemory& operator=(const TakenMemory&) = delete;

 private:
  void* block_ = nullptr;
};

/// A dissection has twice the tiles: 86 MiB here, and the tiles of the band 43.
/// The first solve of 100 right-hand sides takes 40 MiB more.
TEST(BandSolver, ADissectionThatDoesNotFitGivesWayToTiles) {
  using Band = HostBand<double>;
  std::mt19937 random(random_seed());
  const Kokkos::Cuda exec;
  const int n = 20000, side = 100;
  const auto A = Band::random(n, side, side, Band::Dominance::rows, random);
  const auto ab = to_band_view<double, Kokkos::Cuda>(A);
  const auto numbers = random_vector<double>(n, random);
  const Kokkos::View<double*, Kokkos::CudaSpace> x("x", n);
  const auto host = Kokkos::create_mirror_view(x);
  const auto solve = [&](const auto& solver) {
    for (int i = 0; i < n; ++i) host(i) = numbers[i];
    Kokkos::deep_copy(x, host);
    solver.solve(exec, x, x);
    Kokkos::deep_copy(host, x);
    EXPECT_LE(A.backward_error(
                  std::vector<double>(host.data(), host.data() + n), numbers),
              tolerance<double>());
  };
  const BandOptions options;
  std::size_t bytes = 0;
  {
    const BandSolver solver(exec, ab, side, side, options);
    EXPECT_EQ(solver.report().method, BandMethod::nested_dissection);
    bytes = solver.report().bytes;
    solve(solver);
  }
  BandOptions of_dissection;
  of_dissection.method = BandMethod::nested_dissection;
  for (const std::size_t left : {70, 100}) {
    SCOPED_TRACE(left);
    const TakenMemory taken(left << 20);
    const BandSolver solver(exec, ab, side, side, options);
    EXPECT_EQ(solver.report().method, BandMethod::tiles);
    EXPECT_EQ(solver.report().tile, 32);
    EXPECT_LT(solver.report().bytes, bytes);
    solve(solver);
  }
  const TakenMemory taken(std::size_t{70} << 20);
  EXPECT_THROW(BandSolver(exec, ab, side, side, of_dissection), MemoryError);
}

}  // namespace
}  // namespace BandTest
}  // namespace Strata
