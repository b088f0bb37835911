# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Bad flags, values and files end strata_perf_sptrsv with exit code 1 and a
# message that names the culprit.   -D program= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../expect_refused.cmake)
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})

set(good --gallery chain:20 --algorithms serial --benchmark_min_time=0.001)
expect_refused("no matrix" --algorithms serial)
expect_refused("--no-such-flag" ${good} --no-such-flag)
expect_refused("stray" ${good} stray)
expect_refused("--benchmark_no_such_flag" ${good} --benchmark_no_such_flag=1)
expect_refused("--rhs" ${good} --rhs 0)
expect_refused("--rhs" ${good} --rhs 2x)
expect_refused("--rhs" ${good} --rhs)
expect_refused("--max-plan-bytes" ${good} --max-plan-bytes 1.5)
expect_refused("--max-plan-bytes" ${good} --max-plan-bytes -3)
expect_refused("--max-plan-ratio" ${good} --max-plan-ratio twice)
expect_refused("--max-plan-ratio" ${good} --max-plan-ratio nan)
expect_refused("--scalar" ${good} --scalar int)
expect_refused("--factor" ${good} --factor lu)
expect_refused("--reorder" ${good} --reorder colour)
expect_refused("fastest" ${good} --algorithms fastest)
expect_refused("''" ${good} --algorithms automatic,,serial)
expect_refused("--max-subgraph-rows" ${good} --max-subgraph-rows -1)
expect_refused("--max-subgraph-rows" ${good} --max-subgraph-rows 48kB)
expect_refused("--team-size" ${good} --team-size 2000)
expect_refused("--solves" ${good} --solves 0)
expect_refused("--transfers" ${good} --transfers=yes)
expect_refused("--compare-transfers" ${good} --compare-transfers=no)
expect_refused("--changed-entries" ${good} --changed-entries 0)
expect_refused("--changed-entries" ${good} --changed-entries 101)
expect_refused("no_such_family:3" ${good} --gallery no_such_family:3)
expect_refused("absent.mtx" ${good} --matrix ${work_dir}/absent.mtx)
expect_output_refused(${good})

# Found out only when its turn comes; the other matrix is still measured.
file(WRITE ${work_dir}/cut.mtx
  "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 1\n")
expect_refused("cut.mtx" ${good} --matrix ${work_dir}/cut.mtx)

# A plan that may not be made fails the run of one of our own algorithms.
execute_process(COMMAND ${program} --gallery chain:200 --algorithms sync_free
    --benchmark_min_time=0.001 --max-plan-ratio 0.5
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 2 OR NOT "${output}${errors}" MATCHES "max_plan_ratio")
  message(SEND_ERROR "--max-plan-ratio: exit code ${code}\n${output}\n${errors}")
endif()

execute_process(COMMAND ${program} --help
  RESULT_VARIABLE code OUTPUT_VARIABLE output)
if(NOT code EQUAL 0 OR NOT output MATCHES "--gallery SPEC")
  message(SEND_ERROR "--help: exit code ${code}\n${output}")
endif()

# Standard output is JSON and nothing else where JSON is asked for there.
execute_process(COMMAND ${program} ${good} --benchmark_format=json
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_QUIET)
string(JSON name ERROR_VARIABLE problem GET "${output}" benchmarks 0 name)
if(NOT code EQUAL 0 OR problem OR
    NOT name STREQUAL "sptrsv/chain:20/serial_substitution/rhs:1/double")
  message(SEND_ERROR "--benchmark_format=json: exit code ${code}\n${output}")
endif()
