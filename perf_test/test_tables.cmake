# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Draws every figure of scripts/plot_tables from short runs, and expects clear
# refusals.   -D band= -D dense= -D python= -D scripts= -D work_dir=
cmake_minimum_required(VERSION 3.22)
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})
function(run)
  execute_process(COMMAND ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: exit code ${code}\n${output}\n${errors}")
  endif()
endfunction()
set(sizes ${work_dir}/sizes.csv)
set(vectors ${work_dir}/vectors.csv)
set(matrices ${work_dir}/matrices.csv)
run(${band} --size 100,200 --bandwidth 10%,50% --algorithms strata,dgbsv
  --table ${sizes})
run(${band} --size 100 --bandwidth 11 --rhs 1,10 --table ${vectors}
  --algorithms strata,strata_pivoting)
run(${dense} --sizes 20,40 --tasks solve,inverse --benchmark_min_time=0.001
  --table ${matrices})

function(draw figure table)
  set(picture ${work_dir}/figure_${figure}.png)
  run(${python} ${scripts}/plot_tables ${table} --figure ${figure}
    --output ${picture} ${ARGN})
  file(READ ${picture} magic LIMIT 8 HEX)
  if(NOT magic STREQUAL "89504e470d0a1a0a")
    message(SEND_ERROR "${picture} is no PNG")
  endif()
endfunction()
draw(6 ${sizes})
draw(growth ${sizes})
draw(7 ${vectors})
draw(10 ${vectors})
foreach(figure 8 9 10 11 dense)
  draw(${figure} ${matrices} --task inverse)
endforeach()

function(expect_refused culprit)
  execute_process(
    COMMAND ${python} ${scripts}/plot_tables ${ARGN}
      --output ${work_dir}/refused.png
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(code EQUAL 0 OR NOT errors MATCHES "${culprit}"
      OR errors MATCHES "Traceback")
    message(SEND_ERROR "${ARGN}: exit code ${code}\n${output}\n${errors}")
  endif()
endfunction()
file(WRITE ${work_dir}/refused.csv "rows,kl\n")
expect_refused("absent.csv" ${work_dir}/absent.csv --figure 6)
expect_refused("has no rows" ${work_dir}/refused.csv --figure 6)
expect_refused("figure 8" ${sizes} --figure 8)
expect_refused("one program" ${sizes} ${matrices} --figure 6)
expect_refused("no right answer" ${matrices} --figure 8 --matrix graded)
