# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Bad flags, values and files end strata_perf_krylov with exit code 1 and a message
# that names the culprit; solves that do not get there end it with 2.
#   -D program= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../expect_refused.cmake)
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})

set(good --gallery chain:20 --preconditioners strata --steps 2 --runs 1)
expect_refused("no matrix" --preconditioners strata)
expect_refused("no family 'nonsense'" ${good} --gallery nonsense:3)
expect_refused("--no-such-flag" ${good} --no-such-flag 1)
expect_refused("stray" ${good} stray)
expect_refused("--benchmark_no_such_flag" ${good} --benchmark_no_such_flag=1)
expect_refused("--scalar" ${good} --scalar int)
expect_refused("fastest" ${good} --preconditioners fastest)
expect_refused("''" ${good} --preconditioners strata,,kokkos_kernels)
foreach(flag method values factorisation)
  expect_refused("'nonsense' is none of its choices" ${good} --${flag} nonsense)
endforeach()
foreach(flag steps runs restart max-iterations)
  expect_refused("--${flag}" ${good} --${flag} 0)
  expect_refused("--${flag}" ${good} --${flag} 1.5)
endforeach()
foreach(bad -1 nan 1e9 x)
  expect_refused("--shift" ${good} --shift ${bad})
endforeach()
foreach(bad 0 1 nan -1e-8)
  expect_refused("--tolerance" ${good} --tolerance ${bad})
endforeach()
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
  if(NOT table MATCHES "\nchain:20,strata,double,[^\n]*,right,"
      OR NOT table MATCHES "\n${name},strata,double,[^\n]*,bad_input,")
    message(SEND_ERROR "table beside a bad matrix:\n${table}")
  endif()
endfunction()
expect_bad_matrix("cut.mtx" cut "3 3 3\n1 1 1\n2 2 1\n")
expect_bad_matrix("is not square" wide "2 3 2\n1 1 1\n2 2 1\n")
expect_bad_matrix("row 1 has no diagonal entry" hollow
  "2 2 2\n1 1 1\n2 1 1\n" --values as_is)

# expect_failure(TEXT ARGUMENT...): exit code 2, and the table has the message.
function(expect_failure text)
  execute_process(COMMAND ${program} --preconditioners strata --steps 2 --runs 1
      --table ${work_dir}/table.csv ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  file(READ ${work_dir}/table.csv table)
  if(NOT code EQUAL 2 OR NOT output MATCHES "${text}"
      OR NOT table MATCHES ",failed,[^\n]*${text}")
    message(SEND_ERROR "${ARGN}: exit code ${code}\n${output}\n${errors}\n${table}")
  endif()
endfunction()
expect_failure("the solver says max_iterations" --gallery grid2d:20
  --values laplacian --max-iterations 1)
file(WRITE ${work_dir}/negative.mtx "%%MatrixMarket matrix coordinate real general
2 2 2\n1 1 -1\n2 2 -2\n")
expect_failure("the solver says indefinite" --matrix ${work_dir}/negative.mtx
  --method cg --values as_is)
file(WRITE ${work_dir}/skew.mtx "%%MatrixMarket matrix coordinate real general
2 2 4\n1 1 1\n1 2 -1\n2 1 1\n2 2 1\n")
expect_failure("conjugate" --matrix ${work_dir}/skew.mtx --method cg
  --factorisation ic0 --values as_is)

execute_process(COMMAND ${program} --help
  RESULT_VARIABLE code OUTPUT_VARIABLE output)
if(NOT code EQUAL 0 OR NOT output MATCHES "--gallery SPEC")
  message(SEND_ERROR "--help: exit code ${code}\n${output}")
endif()

# Standard output is JSON and nothing else where JSON is asked for there.
execute_process(COMMAND ${program} ${good} --benchmark_format=json
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_QUIET)
string(JSON name ERROR_VARIABLE problem GET "${output}" benchmarks 0 name)
if(NOT code EQUAL 0 OR problem OR NOT name STREQUAL "krylov/chain:20/strata/double")
  message(SEND_ERROR "--benchmark_format=json: exit code ${code}\n${output}")
endif()
