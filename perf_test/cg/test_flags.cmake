# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Bad flags and values, and outputs that can't be written, end strata_perf_cg
# with exit code 1 and a message that names the culprit.   -D program= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../expect_refused.cmake)

expect_refused("'0' is not a whole number" --sizes 8,0)
expect_refused("'0' is not a whole number" --max-iterations 0)
expect_refused("--launches" --launches 4)
expect_refused("is no right-hand side" --b zeros)
expect_refused("--chunk-rows" --chunk-rows -1)
expect_refused("--no-such-flag" --no-such-flag 1)
expect_output_refused(--sizes 5 --algorithms strata --benchmark_min_time=0.001)

# A cap on iterations, which a solve keeps and tells of; SELL-32-1.
include(${CMAKE_CURRENT_LIST_DIR}/../run_program.cmake)
run_program(--sizes 14 --algorithms strata,strata_columns,kokkos_kernels --b ones
  --max-iterations 4 --solves 1 --chunk-rows 32 --sigma 1 --lanes 1 --benchmark_min_time=0.001)
string(REGEX MATCHALL "\n14,[a-z_]+,double,max_iterations,2744,4,[^\n]*,1" lines "${csv}")
list(LENGTH lines count)
if(NOT count EQUAL 3)
  message(SEND_ERROR "--max-iterations 4: ${count} solves instead of 3\n${csv}")
endif()
