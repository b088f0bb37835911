# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Bad flags and values, and outputs that can't be written, end strata_perf_cg
# with exit code 1 and a message that names the culprit.   -D program=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../expect_refused.cmake)

expect_refused("'0' is not a whole number" --sizes 8,0)
expect_refused("'0' is not a whole number" --max-iterations 0)
expect_refused("--launches" --launches 4)
expect_refused("is no right-hand side" --b zeros)
expect_refused("--chunk-rows" --chunk-rows -1)
expect_refused("--no-such-flag" --no-such-flag 1)
expect_output_refused(--sizes 5 --algorithms strata --benchmark_min_time=0.001)
