# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Draws every figure of scripts/plot_cg from short runs, and expects a clear
# refusal of a table of another program.
#   -D cg= -D spmv= -D python= -D scripts= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../plot_test.cmake)
set(solves ${work_dir}/cg.csv)
set(products ${work_dir}/spmv.csv)
run(${cg} --sizes 5,9 --algorithms strata,kokkos_kernels
  --table ${solves} --benchmark_min_time=0.001)
run(${spmv} --gallery poisson:5 --gallery poisson:9
  --table ${products} --benchmark_min_time=0.001)

foreach(figure 3 5 6 7)
  draw(figure_${figure} plot_cg ${solves} --figure ${figure})
endforeach()
draw(figure_4 plot_cg ${products} --figure 4)
expect_refused("has no column solve_us.*strata_perf_cg"
  plot_cg ${products} --figure 7)
expect_refused("has no column gbytes_per_second.*strata_perf_spmv"
  plot_cg ${solves} --figure 4)

# A cap on iterations, which a solve keeps and tells of; SELL-32-1.
run(${cg} --sizes 14 --algorithms strata,strata_columns,kokkos_kernels --b ones
  --max-iterations 4 --solves 1 --chunk-rows 32 --sigma 1 --lanes 1
  --table ${work_dir}/cap.csv --benchmark_min_time=0.001)
file(STRINGS ${work_dir}/cap.csv lines
  REGEX "^14,[a-z_]+,double,max_iterations,2744,4,.*,1$")
list(LENGTH lines count)
if(NOT count EQUAL 3)
  message(SEND_ERROR "--max-iterations 4: ${count} solves instead of 3\n${output}")
endif()
