# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs strata_perf_krylov on small matrices by each method and checks exit code,
# JSON and table.   -D program= -D scalar= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../run_program.cmake)

# run(ARGUMENT...): see run_program.
macro(run)
  run_program(${ARGN} --scalar ${scalar} --runs 1)
endmacro()

# check_line(MATRIX ALGORITHM METHOD KIND VALUES ROWS NNZ STEPS LEAST): a benchmark
# with its counters and a line of the table with its times, and at least so many
# iterations.
function(check_line matrix algorithm method kind values rows nnz steps least)
  set(wanted "krylov/${matrix}/${algorithm}/${scalar}")
  set(found FALSE)
  foreach(index RANGE ${last})
    string(JSON name GET "${json}" benchmarks ${index} name)
    if(NOT name STREQUAL wanted)
      continue()
    endif()
    set(found TRUE)
    foreach(counter rows nnz steps)
      string(JSON value GET "${json}" benchmarks ${index} ${counter})
      if(NOT value EQUAL ${counter})
        message(SEND_ERROR "${name}: ${counter} is ${value}, not ${${counter}}")
      endif()
    endforeach()
    foreach(counter real_time ready_us numeric_us apply_us)
      string(JSON value GET "${json}" benchmarks ${index} ${counter})
      if(NOT value GREATER 0)
        message(SEND_ERROR "${name}: ${counter} is ${value}")
      endif()
    endforeach()
    string(JSON value GET "${json}" benchmarks ${index} relative_error)
    if(NOT value GREATER_EQUAL 0)
      message(SEND_ERROR "${name}: relative_error is ${value}")
    endif()
  endforeach()
  if(NOT found)
    message(SEND_ERROR "${wanted} is not in\n${json}")
  endif()
  set(number "[0-9.e+-]+")
  set(times "${number}")
  foreach(time RANGE 6)
    string(APPEND times ",${number}")
  endforeach()
  if(NOT csv MATCHES "\n${matrix},${algorithm},${scalar},${method},${kind},${values},${rows},${nnz},${steps},([0-9]+),[0-9]+,${times},${number},right,"
      OR CMAKE_MATCH_1 LESS least)
    message(SEND_ERROR "${matrix}, ${algorithm} is not in\n${csv}")
  endif()
endfunction()

# A step takes one iteration at least.
run(--gallery grid2d:12 --matrix ${work_dir}/small.mtx --steps 3)
foreach(algorithm strata kokkos_kernels)
  check_line(grid2d:12 ${algorithm} bicgstab ilu0 dominant 144 672 3 3)
endforeach()
check_line(small strata bicgstab ilu0 dominant 4 8 3 1)
if(NOT output MATCHES "geometric mean speedup of strata over kokkos_kernels: ")
  message(SEND_ERROR "no means in\n${output}")
endif()

run(--gallery circuit:300 --method gmres --restart 5 --steps 2)
foreach(algorithm strata kokkos_kernels)
  check_line(circuit:300 ${algorithm} gmres ilu0 dominant 300 1620 2 2)
endforeach()

# Hermitian values: both factorisations have one product, and so all take as many
# iterations, but for what rounding makes of the last one.
foreach(kind ilu0 ic0)
  run(--gallery grid2d:20 --method cg --factorisation ${kind} --values laplacian
    --steps 2)
  foreach(algorithm strata kokkos_kernels)
    check_line(grid2d:20 ${algorithm} cg ${kind} laplacian 400 1920 2 10)
    string(REGEX MATCH "\ngrid2d:20,${algorithm},[^\n]*,1920,2,([0-9]+)," line "${csv}")
    set(iterations_${algorithm} ${CMAKE_MATCH_1})
  endforeach()
  math(EXPR more "${iterations_strata} - ${iterations_kokkos_kernels}")
  if(more GREATER 2 OR more LESS -2)
    message(SEND_ERROR "iterations differ:\n${csv}")
  endif()
endforeach()
run(--gallery poisson:6 --method cg --factorisation ic0 --values as_is --steps 2
  --preconditioners strata)
check_line(poisson:6 strata cg ic0 as_is 216 1296 2 4)
