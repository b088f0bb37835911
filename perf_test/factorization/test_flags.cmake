# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Bad flags, values and files end strata_perf_factorization with exit code 1 and
# a message that names the culprit.   -D program= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../expect_refused.cmake)
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})

set(good --gallery chain:20 --algorithms strata --benchmark_min_time=0.001)
set(good_matrix chain:20)
expect_refused("no matrix" --algorithms strata)
expect_refused("no family 'nonsense'" ${good} --gallery nonsense:3)
expect_refused("--no-such-flag" ${good} --no-such-flag 1)
expect_refused("stray" ${good} stray)
expect_refused("--benchmark_no_such_flag" ${good} --benchmark_no_such_flag=1)
expect_refused("--scalar" ${good} --scalar int)
expect_refused("--scalar" ${good} --scalar)
expect_refused("fastest" ${good} --algorithms fastest)
expect_refused("''" ${good} --algorithms strata,,serial)
expect_refused("'lu' is not a factorisation" ${good} --factorisation lu)
expect_refused("kokkos_kernels_spiluk" --gallery chain:20 --factorisation ic0
  --algorithms kokkos_kernels_spiluk)
expect_refused("'large' is not a diagonal" ${good} --diagonal large)
expect_refused("absent.mtx" ${good} --matrix ${work_dir}/absent.mtx)
expect_output_refused(${good})

# expect_bad_matrix(TEXT NAME BODY ARGUMENT...): found out only when its turn
# comes; the other matrix is still measured.
function(expect_bad_matrix text name body)
  file(WRITE ${work_dir}/${name}.mtx
    "%%MatrixMarket matrix coordinate real general\n${body}")
  expect_refused("${text}" ${good} --matrix ${work_dir}/${name}.mtx
    --table ${work_dir}/table.csv ${ARGN})
  file(READ ${work_dir}/table.csv table)
  if(NOT table MATCHES "\n${good_matrix},strata,double,[0-9]+,[^\n]*,right,"
      OR NOT table MATCHES "\n${name},strata,double,[^\n]*,bad_input,")
    message(SEND_ERROR "table beside a bad matrix:\n${table}")
  endif()
endfunction()
expect_bad_matrix("cut.mtx" cut "3 3 3\n1 1 1\n2 2 1\n")
expect_bad_matrix("is not square" wide "2 3 2\n1 1 1\n2 2 1\n")
expect_bad_matrix("row 1 has no diagonal entry" hollow
  "2 2 2\n1 1 1\n2 1 1\n" --diagonal as_is)
expect_bad_matrix("elimination fails in row 1" singular
  "2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n" --diagonal as_is)
# Of the gallery's matrices the Poisson cube alone is Hermitian.
set(good --gallery poisson:3 --algorithms strata --benchmark_min_time=0.001
  --factorisation ic0)
set(good_matrix poisson:3)
expect_bad_matrix("is not Hermitian in row 1" lopsided
  "2 2 3\n1 1 1\n2 1 1\n2 2 1\n")
expect_bad_matrix("is not Hermitian in row 0" skew
  "2 2 4\n1 1 1\n1 2 -1\n2 1 1\n2 2 1\n")
expect_bad_matrix("elimination fails in row 1" indefinite
  "2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 1\n" --diagonal as_is)

execute_process(COMMAND ${program} --help
  RESULT_VARIABLE code OUTPUT_VARIABLE output)
if(NOT code EQUAL 0 OR NOT output MATCHES "--gallery SPEC")
  message(SEND_ERROR "--help: exit code ${code}\n${output}")
endif()

# Standard output is JSON and nothing else where JSON is asked for there.
execute_process(COMMAND ${program} --gallery chain:20 --algorithms strata
    --benchmark_format=json --benchmark_min_time=0.001
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_QUIET)
string(JSON name ERROR_VARIABLE problem GET "${output}" benchmarks 0 name)
if(NOT code EQUAL 0 OR problem OR
    NOT name STREQUAL "factorization/chain:20/strata/double")
  message(SEND_ERROR "--benchmark_format=json: exit code ${code}\n${output}")
endif()
