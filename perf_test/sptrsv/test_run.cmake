# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs strata_perf_sptrsv on small matrices and checks exit code, JSON, table.
#   -D program= -D scalar= -D factor= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../run_program.cmake)
set(matrices grid2d:12 block_diagonal:4x60:0.1 small)
set(own automatic substitution level_sets subgraphs sync_free
  sync_free_subgraphs blocks)
set(peers serial_substitution kokkos_kernels_rp kokkos_kernels_tp1
  kokkos_kernels_tp1chain)
set(rhs 1)
set(reorder none)
set(updates)
if(scalar MATCHES "complex")
  set(rhs 3)
  set(reorder level)
  set(updates --enqueue-updates)
endif()
run_program(--gallery grid2d:12 --gallery=block_diagonal:4x60:0.1
  --matrix ${work_dir}/small.mtx --scalar ${scalar} --factor ${factor} --rhs ${rhs}
  --reorder ${reorder} --explain ${updates} --benchmark_min_time=0.001)

set(names)
foreach(index RANGE ${last})
  string(JSON name GET "${json}" benchmarks ${index} name)
  list(APPEND names "${name}")
  foreach(counter rows nnz levels analysis_us update_us relative_error)
    string(JSON value GET "${json}" benchmarks ${index} ${counter})
    if(NOT value GREATER_EQUAL 0)
      message(SEND_ERROR "${name}: ${counter} is ${value}")
    endif()
  endforeach()
  string(JSON wrong GET "${json}" benchmarks ${index} wrong)
  if(NOT wrong EQUAL 0)
    message(SEND_ERROR "${name} gave a wrong answer")
  endif()
  string(JSON time GET "${json}" benchmarks ${index} real_time)
  if(NOT time GREATER 0)
    message(SEND_ERROR "${name}: real_time is ${time}")
  endif()
  if(name MATCHES "^sptrsv/grid2d:12/")
    # The 5-point grid's triangle: its rows, and a level an anti-diagonal.
    foreach(expected rows=144 nnz=408 levels=23)
      string(REPLACE "=" ";" expected "${expected}")
      list(GET expected 0 counter)
      list(GET expected 1 number)
      string(JSON value GET "${json}" benchmarks ${index} ${counter})
      if(NOT value EQUAL number)
        message(SEND_ERROR "${name}: ${counter} is ${value}, not ${number}")
      endif()
    endforeach()
  endif()
  if(name MATCHES "/(automatic|subgraphs)/")
    foreach(counter subgraphs subgraph_levels external_share plan_bytes)
      string(JSON value GET "${json}" benchmarks ${index} ${counter})
    endforeach()
  endif()
endforeach()

foreach(matrix IN LISTS matrices)
  foreach(algorithm IN LISTS own peers)
    set(name "sptrsv/${matrix}/${algorithm}/rhs:${rhs}/${scalar}")
    if(NOT name IN_LIST names)
      message(SEND_ERROR "${name} is not among ${names}")
    endif()
    string(FIND "${csv}" "${matrix},${algorithm}," place)
    if(place LESS 0)
      message(SEND_ERROR "${matrix}, ${algorithm} is not in ${csv_file}")
    endif()
  endforeach()
endforeach()
if(csv MATCHES "sell|drop_in")
  message(SEND_ERROR "what needs its full name is among ${names}")
endif()
# Kokkos Kernels' handle with the parameters that are fastest here.
foreach(parameters "kokkos_kernels_tp1,[^\n]*,team (auto|[0-9]+),"
    "kokkos_kernels_tp1chain,[^\n]*,threshold [0-9]+ team (auto|[0-9]+) vector (auto|[0-9]+),")
  if(NOT csv MATCHES "${parameters}")
    message(SEND_ERROR "'${parameters}' is not in\n${csv}")
  endif()
endforeach()
foreach(text "pays after" "geometric mean speedup of automatic"
    "x serial" "x kokkos_kernels")
  string(FIND "${output}" "${text}" place)
  if(place LESS 0)
    message(SEND_ERROR "'${text}' is not in the output\n${output}")
  endif()
endforeach()

# The functions in the style of Kokkos Kernels, beside them.
execute_process(
  COMMAND ${program} --gallery grid2d:12 --scalar ${scalar} --factor ${factor} --rhs ${rhs}
    --algorithms sptrsv_drop_in,sptrsv_drop_in_fixed,kokkos_kernels_tp1
    --table ${csv_file} --benchmark_min_time=0.001
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
file(READ ${csv_file} csv)
set(chosen "(substitution|level_sets|subgraphs|sync_free|sync_free_subgraphs|blocks)")
foreach(name sptrsv_drop_in sptrsv_drop_in_fixed)
  if(NOT code EQUAL 0 OR NOT csv MATCHES
      "grid2d:12,${name},${chosen},${scalar},${rhs},144,408,[^\n]*,right,[0-9.e+-]+,")
    message(SEND_ERROR "${name}: exit code ${code}\n${csv}\n${errors}")
  endif()
endforeach()

# Sub-graphs of as many rows as asked for, and solves that are timed one by one with
# their copies. A grid has one starting vertex: its sub-graphs are a chain.
execute_process(
  COMMAND ${program} --gallery grid2d:12 --scalar ${scalar}
    --algorithms level_sets,subgraphs,serial --max-subgraph-rows 40
    --team-size 1 --solves 7 --transfers --table ${csv_file} --benchmark_min_time=0.001
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "--max-subgraph-rows: exit code ${code}\n${output}\n${errors}")
endif()
file(READ ${csv_file} csv)
if(NOT csv MATCHES "subgraphs,subgraphs,${scalar},1,144,408,23,4,4,[^\n]*,natural,40,1,7,")
  message(SEND_ERROR "four sub-graphs on four levels are not in the table\n${csv}")
endif()
foreach(text "natural" "means of 7" "copies of b and x")
  string(FIND "${output}" "${text}" place)
  if(place LESS 0)
    message(SEND_ERROR "'${text}' is not in the output\n${output}")
  endif()
endforeach()

# Solves with and without the copies after one analysis: as many as asked for,
# however short they are. The serial peer has no copies, and one time.
execute_process(
  COMMAND ${program} --gallery grid2d:12 --scalar ${scalar}
    --algorithms level_sets,serial --solves 7 --compare-transfers
    --table ${csv_file} --benchmark_min_time=0.05
    --benchmark_out=${json_file} --benchmark_out_format=json
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
if(NOT code EQUAL 0 OR NOT output MATCHES "copies of b and x")
  message(FATAL_ERROR
    "--compare-transfers: exit code ${code}\n${output}\n${errors}")
endif()
file(READ ${json_file} json)
string(JSON count LENGTH "${json}" benchmarks)
set(names)
foreach(index RANGE 3)
  string(JSON name GET "${json}" benchmarks ${index} name)
  string(JSON iterations GET "${json}" benchmarks ${index} iterations)
  list(APPEND names "${name}")
  if(NOT count EQUAL 4 OR NOT iterations EQUAL 7)
    message(SEND_ERROR "${name}: ${iterations} solves, ${count} benchmarks")
  endif()
endforeach()
file(READ ${csv_file} csv)
foreach(algorithm level_sets serial_substitution)
  set(name "sptrsv/grid2d:12/${algorithm}/rhs:1/${scalar}")
  if(NOT name IN_LIST names OR NOT
      "sptrsv/grid2d:12/${algorithm}/rhs:1,transfers/${scalar}" IN_LIST names)
    message(SEND_ERROR "${name} is not twice among ${names}")
  endif()
  foreach(transfers 1 0)
    if(NOT csv MATCHES "\ngrid2d:12,${algorithm},([^,\n]*,)[^,\n]*,1,144,408,23,[^,\n]*,[^,\n]*,[^,\n]*,[^,\n]*,([0-9.e+-]+),([0-9.e+-]+),([0-9.e+-]+),[^,\n]*,right,[^\n]*,${transfers},7,")
      message(SEND_ERROR "${algorithm}, transfers ${transfers}: not in\n${csv}")
    endif()
    list(APPEND analyses_${algorithm} ${CMAKE_MATCH_2})
    list(APPEND solves_${algorithm} ${CMAKE_MATCH_4})
  endforeach()
  list(REMOVE_DUPLICATES analyses_${algorithm})
  list(LENGTH analyses_${algorithm} analyses)
  if(NOT analyses EQUAL 1)
    message(SEND_ERROR "${algorithm} was analysed ${analyses} times\n${csv}")
  endif()
endforeach()
list(REMOVE_DUPLICATES solves_level_sets)
list(REMOVE_DUPLICATES solves_serial_substitution)
list(LENGTH solves_level_sets own_times)
list(LENGTH solves_serial_substitution serial_times)
if(NOT own_times EQUAL 2 OR NOT serial_times EQUAL 1)
  message(SEND_ERROR "times of ${own_times} and ${serial_times} ways\n${csv}")
endif()

# Pattern updates beside new analyses: of ours, and the answer is still right.
execute_process(
  COMMAND ${program} --gallery grid2d:12 --gallery block_diagonal:4x60:0.1
    --scalar ${scalar} --factor ${factor} --changed-entries 3
    --table ${csv_file} --benchmark_min_time=0.001
  RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
file(READ ${csv_file} csv)
if(NOT code EQUAL 0 OR NOT output MATCHES "update_pattern")
  message(SEND_ERROR "--changed-entries: exit code ${code}\n${output}\n${errors}")
endif()
foreach(algorithm IN LISTS own)
  if(NOT csv MATCHES "grid2d:12,${algorithm},[^\n]*,0,0,3,[0-9.e+]+,[0-9.e+]+,")
    message(SEND_ERROR "no pattern update of ${algorithm} in\n${csv}")
  endif()
endforeach()
