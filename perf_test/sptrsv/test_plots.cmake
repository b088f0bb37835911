# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Draws every figure from a short run, and expects clear refusals.
#   -D program= -D python= -D scripts= -D work_dir=
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})
set(json ${work_dir}/results.json)

execute_process(
  COMMAND ${program}
    --gallery block_diagonal:16x20:0.1 --gallery block_diagonal:16x40:0.1
    --gallery block_diagonal:1x6000:0.0001 --gallery block_diagonal:2x6000:0.0001
    --algorithms automatic,serial,kokkos_kernels_tp1
    --benchmark_min_time=0.001 --benchmark_out=${json}
    --benchmark_out_format=json
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "exit code ${code}\n${output}\n${errors}")
endif()
foreach(figure 6 7 8 9 10 overview)
  set(picture ${work_dir}/figure_${figure}.png)
  execute_process(
    COMMAND ${python} ${scripts}/plot_sptrsv ${json} --figure ${figure}
      --output ${picture}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    message(SEND_ERROR "figure ${figure}: ${output}\n${errors}")
  endif()
  file(READ ${picture} magic LIMIT 8 HEX)
  if(NOT magic STREQUAL "89504e470d0a1a0a")
    message(SEND_ERROR "${picture} is no PNG")
  endif()
endforeach()

function(expect_refused culprit)
  execute_process(
    COMMAND ${python} ${scripts}/plot_sptrsv ${ARGN}
      --output ${work_dir}/refused.png
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(code EQUAL 0 OR NOT errors MATCHES "${culprit}"
      OR errors MATCHES "Traceback")
    message(SEND_ERROR "${ARGN}: exit code ${code}\n${output}\n${errors}")
  endif()
endfunction()
expect_refused("absent.json" ${work_dir}/absent.json)
file(WRITE ${work_dir}/text.json "no JSON")
expect_refused("not JSON" ${work_dir}/text.json)
file(WRITE ${work_dir}/other.json "{\"benchmarks\": []}")
expect_refused("no finished benchmark" ${work_dir}/other.json)
expect_refused("cusparse" ${json} --figure 10 --peer cusparse)
