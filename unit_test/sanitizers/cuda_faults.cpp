// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program with a fault for each tool of compute-sanitizer: scripts/check sanitize
// expects that the tool finds it.
//
//   strata_cuda_faults none|memcheck|racecheck|synccheck|initcheck
#include <Kokkos_Core.hpp>
#include <cstdio>
#include <string>

namespace {

using Space = Kokkos::Cuda;
using Values = Kokkos::View<int*, Kokkos::CudaSpace>;
constexpr int threads = 64;

enum class Fault { none, memcheck, racecheck, synccheck, initcheck };

/// Each thread hands a number to its neighbour through shared memory.
__global__ void rotate(int* in, int* out, Fault fault) {
  __shared__ int shared[threads];
  const int i = static_cast<int>(threadIdx.x);
  shared[i] = in[i];
  if (fault == Fault::synccheck) {
    // Half of a warp waits at a barrier, the other half never comes.
    if (i % 32 < 16) __syncthreads();
    out[i] = shared[i];
    return;
  }
  if (fault != Fault::racecheck) __syncthreads();
  out[fault == Fault::memcheck ? i + 1000000 : i] = shared[(i + 33) % threads];
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const char* const names[] = {"none", "memcheck", "racecheck", "synccheck",
                               "initcheck"};
  int fault = 0;
  while (fault < 5 && name != names[fault]) ++fault;
  if (fault == 5) {
    std::fprintf(stderr, "one of none, memcheck, racecheck, ... is wanted\n");
    return 2;
  }
  Kokkos::ScopeGuard kokkos;
  const Values in(Kokkos::view_alloc("in", Kokkos::WithoutInitializing),
                  threads);
  const Values out("out", threads);
  if (name != "initcheck") Kokkos::deep_copy(in, 7);
  rotate<<<1, threads, 0, Space().cuda_stream()>>>(in.data(), out.data(),
                                                   static_cast<Fault>(fault));
  cudaStreamSynchronize(Space().cuda_stream());
  return 0;
}
