// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory of a device that runs out, in truth, in every allocation.
#include "MemoryErrorCases.hpp"
#include "MemoryErrorCasesOfOtherSolvers.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

namespace Strata {
namespace SolverTest {
namespace {

/// Takes all the memory that the device has left before the k-th allocation of
/// it, with cudaMalloc itself. One at a time.
class ExhaustedDevice {
 public:
  static constexpr const char* unit = "bytes of Kokkos's";

  /// Tells of allocations from here on. A ballast leaves less to be taken for
  /// each k.
  ExhaustedDevice() : before_(Kokkos::Tools::Experimental::get_callbacks()) {
    namespace Tools = Kokkos::Tools::Experimental;
    Tools::EventSet none{};
    Tools::set_callbacks(none);
    Tools::set_allocate_data_callback(
        [](const Kokkos_Profiling_SpaceHandle where, const char*, const void*,
           const uint64_t size) {
          if (size == 0) return;
          live_ += static_cast<std::int64_t>(size);
          if (std::strcmp(where.name, "Cuda") != 0) return;
          if (++seen_ + 1 == first_) take_all();
        });
    Tools::set_deallocate_data_callback(
        [](const Kokkos_Profiling_SpaceHandle, const char*, const void*,
           const uint64_t size) { live_ -= static_cast<std::int64_t>(size); });
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    const std::size_t left = std::size_t{512} << 20;
    if (free > left) take(ballast(), free - left);
  }
  ~ExhaustedDevice() {
    give_back(ballast());
    Kokkos::Tools::Experimental::set_callbacks(before_);
  }
  ExhaustedDevice(const ExhaustedDevice&) = delete;
  ExhaustedDevice& operator=(const ExhaustedDevice&) = delete;

  static void arm(int k) {
    seen_ = 0;
    first_ = k;
    if (k == 1) take_all();
  }
  /// Of allocations that fail Kokkos does not tell: what was taken lets one
  /// fail, unless there was none after it.
  static bool disarm() {
    const bool reached = seen_ + 1 >= first_ && first_ > 0;
    first_ = 0;
    give_back(taken());
    return reached;
  }
  static std::int64_t live() { return live_; }

 private:
  static std::vector<void*>& taken() {
    static std::vector<void*> blocks;
    return blocks;
  }
  static std::vector<void*>& ballast() {
    static std::vector<void*> blocks;
    return blocks;
  }
  static bool take(std::vector<void*>& blocks, std::size_t bytes) {
    void* block = nullptr;
    if (cudaMalloc(&block, bytes) != cudaSuccess) {
      (void)cudaGetLastError();  // nobody else's
      return false;
    }
    blocks.push_back(block);
    return true;
  }
  static void take_all() {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    for (std::size_t size = std::max<std::size_t>(free, 256); size >= 256;)
      if (!take(taken(), size)) size /= 2;
  }
  static void give_back(std::vector<void*>& blocks) {
    for (void* block : blocks) EXPECT_EQ(cudaFree(block), cudaSuccess);
    blocks.clear();
  }

  inline static std::atomic<int> first_{0}, seen_{0};
  inline static std::atomic<std::int64_t> live_{0};
  Kokkos::Tools::Experimental::EventSet before_;
};

using Space = Kokkos::Cuda;
using Errors = MemoryErrors<ExhaustedDevice, Space>;

TEST(MemoryErrorsCuda, AreThrownByTriangularSolvers) {
  const ExhaustedDevice device;
  Errors errors;
  expect_memory_errors_of_solvers(
      make_triangle<double>(random_pattern(3000, 3.0, 400, 5), Uplo::lower),
      variants(), "random", errors);
}

/// The analysis that is made again, with fewer rows merged.
TEST(MemoryErrorsCuda, AreThrownByAnalysesMadeAgain) {
  const ExhaustedDevice device;
  Errors errors;
  std::vector<Variant> merging;
  TriangularOptions options;
  options.algorithm = Algorithm::sync_free;
  options.merged_levels = 4;
  merging.push_back({"sync_free", options});
  expect_memory_errors_of_solvers(chain_with_small_pivot(1500), merging,
                                  "small pivot", errors);
}

TEST(MemoryErrorsCuda, AreThrownByComplexSolvers) {
  const ExhaustedDevice device;
  Errors errors;
  std::vector<Variant> some;
  for (const auto& variant : variants())
    if (variant.name == "automatic" || variant.name == "sync_free, 2 merged" ||
        variant.name == "tiles")
      some.push_back(variant);
  ASSERT_EQ(some.size(), 3u);
  expect_memory_errors_of_solvers(
      make_triangle<Kokkos::complex<float>>(random_pattern(600, 3.0, 40, 5),
                                            Uplo::lower),
      some, "complex", errors);
}

TEST(MemoryErrorsCuda, AreThrownByHandles) {
  const ExhaustedDevice device;
  Errors errors;
  expect_memory_errors_of_handles(errors);
}
TEST(MemoryErrorsCuda, AreThrownBySellMatrices) {
  const ExhaustedDevice device;
  Errors errors;
  expect_memory_errors_of_sell_matrices(errors);
}
TEST(MemoryErrorsCuda, AreThrownByFactorisations) {
  const ExhaustedDevice device;
  Errors errors;
  expect_memory_errors_of_factorisations(errors);
}
TEST(MemoryErrorsCuda, AreThrownByFactorSolvers) {
  const ExhaustedDevice device;
  Errors errors;
  expect_memory_errors_of_factor_solvers(errors);
}
TEST(MemoryErrorsCuda, AreThrownByConjugateGradients) {
  const ExhaustedDevice device;
  Errors errors;
  expect_memory_errors_of_conjugate_gradients(errors);
}
TEST(MemoryErrorsCuda, AreThrownByKrylovSolvers) {
  const ExhaustedDevice device;
  Errors errors;
  expect_memory_errors_of_krylov_solvers(errors);
}
TEST(MemoryErrorsCuda, AreThrownByBandSolvers) {
  const ExhaustedDevice device;
  Errors errors;
  expect_memory_errors_of_band_solvers(errors);
}
TEST(MemoryErrorsCuda, AreThrownByDenseSolvers) {
  const ExhaustedDevice device;
  Errors errors;
  expect_memory_errors_of_dense_systems(errors);
}
TEST(MemoryErrorsCuda, AreThrownByFunctions) {
  const ExhaustedDevice device;
  Errors errors;
  expect_memory_errors_of_functions(errors);
}

}  // namespace
}  // namespace SolverTest
}  // namespace Strata
