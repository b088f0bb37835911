# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Draws every figure of scripts/plot_cg from short runs, and expects a clear
# refusal of a table of another program.
#   -D cg= -D spmv= -D python= -D scripts= -D work_dir=
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})

function(run_or_fail)
  execute_process(COMMAND ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: exit code ${code}\n${output}\n${errors}")
  endif()
endfunction()
run_or_fail(${cg} --sizes 5,9 --algorithms strata,kokkos_kernels
  --table ${work_dir}/cg.csv --benchmark_min_time=0.001)
run_or_fail(${spmv} --gallery poisson:5 --gallery poisson:9
  --table ${work_dir}/spmv.csv --benchmark_min_time=0.001)

foreach(figure 3 4 5 6 7)
  set(table cg)
  if(figure EQUAL 4)
    set(table spmv)
  endif()
  set(picture ${work_dir}/figure_${figure}.png)
  run_or_fail(${python} ${scripts}/plot_cg ${work_dir}/${table}.csv
    --figure ${figure} --output ${picture})
  file(READ ${picture} magic LIMIT 8 HEX)
  if(NOT magic STREQUAL "89504e470d0a1a0a")
    message(SEND_ERROR "${picture} is no PNG")
  endif()
endforeach()
execute_process(
  COMMAND ${python} ${scripts}/plot_cg ${work_dir}/spmv.csv --figure 7
    --output ${work_dir}/refused.png
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(code EQUAL 0 OR NOT errors MATCHES "has no column solve_us")
  message(SEND_ERROR "not refused: ${output}\n${errors}")
endif()
