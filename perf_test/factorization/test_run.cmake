# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs strata_perf_factorization on small matrices and checks exit code, JSON
# and table.   -D program= -D scalar= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../run_program.cmake)

# run(ARGUMENT...): see run_program.
macro(run)
  run_program(${ARGN} --scalar ${scalar} --benchmark_min_time=0.001)
endmacro()

# check_benchmarks(MATRIX ALGORITHMS ROWS NNZ LEVELS): each algorithm has a
# benchmark with its counters and a line of the table with its times.
function(check_benchmarks matrix algorithms rows nnz levels)
  foreach(algorithm IN LISTS algorithms)
    set(wanted "factorization/${matrix}/${algorithm}/${scalar}")
    set(found FALSE)
    foreach(index RANGE ${last})
      string(JSON name GET "${json}" benchmarks ${index} name)
      if(NOT name STREQUAL wanted)
        continue()
      endif()
      set(found TRUE)
      foreach(counter analysis_us apply_us relative_error)
        string(JSON value GET "${json}" benchmarks ${index} ${counter})
        if(NOT value GREATER_EQUAL 0)
          message(SEND_ERROR "${name}: ${counter} is ${value}")
        endif()
      endforeach()
      foreach(counter rows nnz levels)
        string(JSON value GET "${json}" benchmarks ${index} ${counter})
        if(NOT value EQUAL ${counter})
          message(SEND_ERROR "${name}: ${counter} is ${value}, not ${${counter}}")
        endif()
      endforeach()
      string(JSON value GET "${json}" benchmarks ${index} wrong)
      if(NOT value EQUAL 0)
        message(SEND_ERROR "${name} gave wrong factors\n${output}")
      endif()
      string(JSON value GET "${json}" benchmarks ${index} real_time)
      if(NOT value GREATER 0)
        message(SEND_ERROR "${name}: real_time is ${value}")
      endif()
    endforeach()
    if(NOT found)
      message(SEND_ERROR "${wanted} is not in\n${json}")
    endif()
    set(number "[0-9.e+-]+")
    if(NOT csv MATCHES "\n${matrix},${algorithm},${scalar},${rows},${nnz},${levels},${number},${number},[0-9.e+-]*,${number},${number},${number},${number},right,")
      message(SEND_ERROR "${matrix}, ${algorithm} is not in\n${csv}")
    endif()
  endforeach()
endfunction()

# The 5-point grid has a level for each anti-diagonal; the diagonal of the small
# matrix is completed.
run(--gallery grid2d:12 --gallery=circuit:300 --matrix ${work_dir}/small.mtx)
check_benchmarks(grid2d:12 "strata;serial" 144 672 23)
check_benchmarks(small "strata;serial" 4 8 3)
foreach(what numeric analysis ready "new values" apply)
  string(FIND "${output}" "geometric mean speedup of strata, ${what}: " place)
  if(place LESS 0)
    message(SEND_ERROR "no means of '${what}' in\n${output}")
  endif()
endforeach()
# What a peer's release makes of the matrices is its own affair, but is told:
# Strata has a speedup over it where it is right, and peers have none.
foreach(matrix grid2d:12 circuit:300 small)
  if(NOT csv MATCHES "\n${matrix},kokkos_kernels_spiluk,[^\n]*,(right|wrong|failed),")
    message(SEND_ERROR "${matrix}: no kokkos_kernels_spiluk in\n${csv}")
  endif()
  set(speedup "")
  if(CMAKE_MATCH_1 STREQUAL "right")
    set(speedup "[0-9.e+-]+")
  endif()
  if(NOT csv MATCHES "\n${matrix},strata,[^\n]*,right,[^,\n]*,${speedup},\n"
      OR NOT csv MATCHES "\n${matrix},serial,[^\n]*,right,,,\n")
    message(SEND_ERROR "${matrix}: speedups\n${csv}")
  endif()
endforeach()

# The matrix as it is, where that has factors.
run(--gallery grid2d:12 --diagonal as_is --algorithms strata)
check_benchmarks(grid2d:12 strata 144 672 23)

# Incomplete Cholesky. Levels of the cube are its diagonal planes.
run(--gallery poisson:6 --matrix ${work_dir}/small.mtx --factorisation ic0)
check_benchmarks(poisson:6 "strata;serial" 216 1296 16)
check_benchmarks(small "strata;serial" 4 8 3)
