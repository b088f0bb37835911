// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STRATA_UNIT_TEST_INSTANCE_HPP
#define STRATA_UNIT_TEST_INSTANCE_HPP

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>

/// An instance of an execution space that runs beside others where the backend
/// has such instances.
class Instance {
  using Space = Kokkos::DefaultExecutionSpace;

 public:
#if defined(KOKKOS_ENABLE_CUDA)
  Instance() {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
              cudaSuccess);
    space_ = Kokkos::Cuda(stream_);
  }
  ~Instance() {
    space_.fence();
    space_ = Kokkos::Cuda();
    cudaStreamDestroy(stream_);
  }
#else
  Instance() = default;
#endif
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  const Space& space() const { return space_; }

 private:
#if defined(KOKKOS_ENABLE_CUDA)
  cudaStream_t stream_ = nullptr;
#endif
  Space space_;
};

#endif
