# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Bad flags, values and files end strata_perf_spmv with exit code 1 and a
# message that names the culprit.   -D program= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../expect_refused.cmake)
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})

set(good --gallery chain:20 --algorithms strata --benchmark_min_time=0.001)
expect_refused("no matrix" --algorithms strata)
expect_refused("no family 'nonsense'" ${good} --gallery nonsense:3)
expect_refused("--no-such-flag" ${good} --no-such-flag 1)
expect_refused("--vectors" ${good} --vectors 0)
expect_refused("--vectors" ${good} --vectors 1,,2)
expect_refused("--scalar" ${good} --scalar int)
expect_refused("fastest" ${good} --algorithms fastest)
expect_refused("absent.mtx" ${good} --matrix ${work_dir}/absent.mtx)
expect_refused("strata_blocks is for triangles"
  --gallery chain:20 --algorithms strata_blocks)
expect_refused("--reorder" ${good} --reorder level)
expect_refused("--factor" ${good} --factor middle)
expect_refused("does not go with poisson" --gallery poisson:4 --factor lower)
expect_refused("--sigma" ${good} --sigma -1)
expect_refused("lanes_per_row" ${good} --lanes 3)
expect_output_refused(${good})

# Found out only when its turn comes; the other matrix is still measured.
file(WRITE ${work_dir}/cut.mtx
  "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 1\n")
expect_refused("cut.mtx" ${good} --matrix ${work_dir}/cut.mtx
  --table ${work_dir}/table.csv)
file(READ ${work_dir}/table.csv table)
if(NOT table MATCHES "chain:20,strata,double,20,[0-9]+,1,"
    OR NOT table MATCHES "\ncut,[^\n]*,bad_input,")
  message(SEND_ERROR "table beside a bad matrix:\n${table}")
endif()

# Several numbers of vectors, each a line of the table.
execute_process(COMMAND ${program} ${good} --vectors 2,5
    --table ${work_dir}/table.csv
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
file(READ ${work_dir}/table.csv table)
if(NOT code EQUAL 0 OR NOT table MATCHES "chain:20,strata,double,20,[0-9]+,2,"
    OR NOT table MATCHES "chain:20,strata,double,20,[0-9]+,5,")
  message(SEND_ERROR "--vectors 2,5: exit code ${code}\n${table}${errors}")
endif()

# C and sigma are those of the flags, and a triangle's blocks multiply, too.
execute_process(COMMAND ${program} --gallery grid2d:9 --factor ilu0-u
    --reorder level --algorithms strata_columns,strata_blocks,crs --vectors 1,3
    --chunk-rows 32 --sigma 1 --lanes 1 --benchmark_min_time=0.001
    --table ${work_dir}/table.csv
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
file(READ ${work_dir}/table.csv table)
foreach(vectors 1 3)
  if(NOT code EQUAL 0
      OR NOT table MATCHES "grid2d:9,strata_columns,double,81,[0-9]+,${vectors},[^\n]*,32,1,1,[^,\n]*,right,,1\n"
      OR NOT table MATCHES "grid2d:9,strata_blocks,double,81,[0-9]+,${vectors},[^\n]*,1\n"
      OR NOT table MATCHES "grid2d:9,crs,double,81,[0-9]+,${vectors},[^\n]*,1\n")
    message(SEND_ERROR "SELL-32-1 of a factor: exit code ${code}\n${table}${errors}")
  endif()
endforeach()
