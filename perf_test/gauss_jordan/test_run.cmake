# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs strata_perf_gauss_jordan on small matrices and checks exit codes, JSON
# and table.   -D program= -D scalar= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../expect_refused.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/../run_program.cmake)
run_program(--sizes 1,40 --matrices=random,positive --scalar ${scalar}
  --benchmark_min_time=0.001)

set(names)
foreach(index RANGE ${last})
  string(JSON name GET "${json}" benchmarks ${index} name)
  list(APPEND names "${name}")
  string(JSON wrong GET "${json}" benchmarks ${index} wrong)
  if(NOT wrong EQUAL 0)
    message(SEND_ERROR "${name} gave a wrong answer")
  endif()
  foreach(counter real_time "Gflop/s")
    string(JSON value GET "${json}" benchmarks ${index} ${counter})
    if(NOT value GREATER 0)
      message(SEND_ERROR "${name}: ${counter} is ${value}")
    endif()
  endforeach()
endforeach()
foreach(matrix random positive)
  foreach(n 1 40)
    foreach(task solve inverse reduce)
      foreach(algorithm strata textbook)
        set(name "gauss_jordan/${matrix}/${algorithm}/${n}/${task}/${scalar}")
        if(NOT name IN_LIST names)
          message(SEND_ERROR "${name} is not among ${names}")
        endif()
        string(FIND "${csv}" "${matrix},${n},${task},${algorithm}," place)
        if(place LESS 0)
          message(SEND_ERROR "${name} is not in ${csv_file}")
        endif()
      endforeach()
    endforeach()
  endforeach()
endforeach()

# Backward errors alone, of every kind of matrix.
execute_process(
  COMMAND ${program} --sizes 50 --tasks solve --once --scalar ${scalar}
    --matrices random,positive,graded,nearly_singular
    --algorithms strata,textbook --table ${csv_file}
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 0)
  message(SEND_ERROR "--once: exit code ${code}\n${output}\n${errors}")
endif()
file(STRINGS ${csv_file} lines)
list(LENGTH lines count)
if(NOT count EQUAL 9 OR output MATCHES "WRONG|medians")
  message(SEND_ERROR "--once: ${count} lines instead of 9\n${output}")
endif()

# The kernels of Eyvazov's thesis, in sizes about that of a tile. A wrong answer of
# theirs ends the program with 2; reduced forms are checked as a whole.
execute_process(
  COMMAND ${program} --sizes 1,31,32,33,70 --tasks solve,augmented --once
    --matrices dominant --algorithms strata,eyvazov_2021 --scalar ${scalar}
    --table ${csv_file}
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 0)
  message(SEND_ERROR "eyvazov_2021: exit code ${code}\n${output}\n${errors}")
endif()
file(STRINGS ${csv_file} lines REGEX "^dominant,.*,eyvazov_2021,")
list(LENGTH lines count)
if(NOT count EQUAL 10 OR output MATCHES "WRONG")
  message(SEND_ERROR "eyvazov_2021: ${count} lines instead of 10\n${output}")
endif()

expect_refused("--sizes" --tasks solve)
expect_refused("12x" --sizes 12x)
expect_refused("--no-such-flag" --sizes 4 --no-such-flag)
expect_refused("no_such_matrix" --sizes 4 --matrices no_such_matrix)
expect_refused("no_such_peer" --sizes 4 --algorithms no_such_peer)
expect_refused("transpose" --sizes 4 --tasks solve,transpose)
expect_refused("int" --sizes 4 --scalar int)
expect_refused("--stripe" --sizes 4 --stripe 33 --benchmark_min_time=0.001)
expect_output_refused(--sizes 8 --tasks solve --algorithms strata
  --benchmark_min_time=0.001)
