# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# strata_perf_band on small systems, and what it has to refuse.
#   -D program= -D work_dir= -D scalars=, those of the build
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../expect_refused.cmake)
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})

function(run code)
  execute_process(COMMAND ${program} ${ARGN}
    RESULT_VARIABLE found OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT found EQUAL code)
    message(SEND_ERROR "${ARGN}: exit code ${found}\n${output}\n${errors}")
  endif()
  set(output "${output}${errors}" PARENT_SCOPE)
endfunction()

run(0 --size 40,90 --bandwidth 1,10%,3/20 --rhs 1,9
  --algorithms strata,strata_pivoting,dgbsv --table ${work_dir}/table.csv)
file(STRINGS ${work_dir}/table.csv lines)
list(LENGTH lines count)
if(NOT count EQUAL 37)
  message(SEND_ERROR "the table has ${count} lines instead of 37")
endif()
if(output MATCHES "WRONG")
  message(SEND_ERROR "a wrong answer\n${output}")
endif()

# The other scalars, held against what rounding leaves in them.
set(others float complex_float complex_double)
set(letters s c z)
foreach(scalar letter IN ZIP_LISTS others letters)
  if(NOT scalar IN_LIST scalars)
    continue()
  endif()
  run(0 --size 90,200 --bandwidth 10% --rhs 1,9 --scalar ${scalar}
    --algorithms strata,strata_pivoting,${letter}gbsv
    --table ${work_dir}/${scalar}.csv)
  if(output MATCHES "WRONG|failed")
    message(SEND_ERROR "${scalar}: a wrong answer\n${output}")
  endif()
  file(STRINGS ${work_dir}/${scalar}.csv lines REGEX ",${scalar},1$")
  list(LENGTH lines count)
  if(NOT count EQUAL 12)
    message(SEND_ERROR "${scalar}: ${count} lines instead of 12\n${output}")
  endif()
endforeach()

# The reference, in its three forms; a batch it does not take.
run(0 --size 90 --bandwidth 9,3/20 --rhs 1,9
  --algorithms strata,row_by_row,row_by_row_rhs,row_by_row_parallel
  --table ${work_dir}/reference.csv)
file(STRINGS ${work_dir}/reference.csv lines
  REGEX ",row_by_row[a-z_]*,.*e-1[5-9],double,1$")
list(LENGTH lines count)
if(NOT count EQUAL 12)
  message(SEND_ERROR "row_by_row: ${count} right answers instead of 12\n${output}")
endif()
run(0 --size 60 --bandwidth 7 --batch 3 --algorithms strata,row_by_row)
if(NOT output MATCHES "row_by_row[^\n]*a batch")
  message(SEND_ERROR "row_by_row and a batch\n${output}")
endif()

# Batches, each system beside a call of LAPACK.
run(0 --size 60 --bandwidth 7 --rhs 1,9 --batch 13
  --algorithms strata,strata_pivoting,dgbsv,cusolver_dense
  --table ${work_dir}/batch.csv)
if(output MATCHES "WRONG|failed")
  message(SEND_ERROR "a batch: a wrong answer\n${output}")
endif()
file(STRINGS ${work_dir}/batch.csv lines REGEX "e-1[5-9],double,13$")
list(LENGTH lines ours)
if(ours LESS 4)
  message(SEND_ERROR "a batch: ${ours} right answers\n${output}")
endif()

# Too little time for LAPACK.
run(0 --size 300 --bandwidth 31 --rhs 1,10 --max-host-seconds 1e-5
  --algorithms strata,dgbsv)
if(output MATCHES "WRONG" OR NOT output MATCHES "dgbsv is left out: (too long|no LAPACK)")
  message(SEND_ERROR "dgbsv is not left out\n${output}")
endif()

expect_refused("no system" --rhs 3)
expect_refused("--bandwidth" --size 10 --bandwidth 21)
expect_refused("--bandwidth" --size 10 --bandwidth x)
expect_refused("--bandwidth" --size 10 --bandwidth 4)
expect_refused("--size" --size 0 --bandwidth 1)
expect_refused("--rhs" --size 10 --bandwidth 1 --rhs 1.5)
expect_refused("--scalar" --size 10 --bandwidth 1 --scalar half)
expect_refused("--batch" --size 10 --bandwidth 1 --batch 0)
expect_refused("dgbsv" --size 10 --bandwidth 1 --scalar float
  --algorithms dgbsv)
expect_refused("fastest" --size 10 --bandwidth 1 --algorithms fastest)
expect_refused("--no-such-flag" --no-such-flag 1)
expect_refused("nowhere.so" --size 10 --bandwidth 1 --lapack /nowhere.so)
expect_output_refused(--size 40 --bandwidth 3 --algorithms strata)
