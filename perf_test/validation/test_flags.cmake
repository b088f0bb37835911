# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The set is as large as it is said to be, shares make up the whole, and bad flags end
# strata_perf_validation with exit code 1 and a message that names the culprit.
#   -D program= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../expect_refused.cmake)
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})

# systems(VARIABLE ARGUMENT...): lines of --list, sorted.
function(systems variable)
  execute_process(COMMAND ${program} --list ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "--list ${ARGN}: exit code ${code}\n${output}\n${errors}")
  endif()
  string(REGEX MATCHALL "[a-z0-9_]+ [^ \n]+ [0-9]+\n" lines "${output}")
  list(SORT lines)
  set(${variable} "${lines}" PARENT_SCOPE)
endfunction()

systems(all)
list(LENGTH all count)
set(names ${all})
list(TRANSFORM names REPLACE "^[^ ]+ ([^ ]+) .*" "\\1")
list(REMOVE_DUPLICATES names)
list(LENGTH names unique)
set(families ${all})
list(TRANSFORM families REPLACE " .*" "")
list(REMOVE_DUPLICATES families)
list(LENGTH families num_families)
if(count LESS 300 OR num_families LESS 15 OR NOT unique EQUAL count)
  message(SEND_ERROR
    "${count} systems, ${unique} of them with different names, in ${num_families} families")
endif()

set(shares)
foreach(part RANGE 1 3)
  systems(share --part ${part}/3)
  list(APPEND shares ${share})
endforeach()
list(SORT shares)
if(NOT shares STREQUAL all)
  message(SEND_ERROR "three shares are not the whole")
endif()
systems(some --families deep,gene --per-family 2)
list(LENGTH some count)
if(NOT count EQUAL 4 OR NOT some MATCHES "gene gene:900 900")
  message(SEND_ERROR "--per-family: ${some}")
endif()

# Other sizes: other systems, of all families and each of them once. Scaled names are of
# systems that are not in the set.
foreach(scale 0.5 0.83 1.17 2)
  systems(other --scale ${scale})
  list(LENGTH other count)
  set(names ${other})
  list(TRANSFORM names REPLACE "^[^ ]+ ([^ ]+) .*" "\\1")
  list(REMOVE_DUPLICATES names)
  list(LENGTH names unique)
  set(others ${other})
  list(TRANSFORM others REPLACE " .*" "")
  list(REMOVE_DUPLICATES others)
  list(SORT others)
  list(SORT families)
  if(count LESS 400 OR NOT unique EQUAL count OR NOT others STREQUAL families)
    message(SEND_ERROR
      "--scale ${scale}: ${count} systems, ${unique} of them with different names, in ${others}")
  endif()
endforeach()
foreach(expected "0.83 gene:900 gene gene:747 747" "1.17 grid2d:45/rcm grid2d grid2d:53/rcm 2809"
    "1.17 grid2d:450/colours grid2d grid2d:526/colours 276676"
    "1.17 box:100 anisotropic box:117x100x11 128700" "0.83 deep:3120 deep deep:2590x3:300x1:60 2590"
    "1.17 shuffled:11x elements shuffled:13x12x13:3 6084"
    "2 cubed_sphere:8/rcm mesh cubed_sphere:9/rcm 5242880"
    "0.83 block_diagonal:24x block_diagonal block_diagonal:20x20000:0.0004 400000")
  string(REGEX MATCH "^([^ ]+) ([^ ]+) (.*)" line "${expected}")
  set(line "${CMAKE_MATCH_3}\n")
  systems(other --scale ${CMAKE_MATCH_1})
  if(NOT line IN_LIST other)
    message(SEND_ERROR "--scale ${CMAKE_MATCH_1}: ${CMAKE_MATCH_2} does not become ${line}")
  endif()
endforeach()
systems(other --scale 1 --seed 1)
if(NOT other STREQUAL all)
  message(SEND_ERROR "--scale 1 --seed 1 is not the set")
endif()
# Sizes do not depend on seeds.
systems(other --seed 2)
if(NOT other STREQUAL all)
  message(SEND_ERROR "--seed 2 has other names")
endif()

set(good --systems gene:900 --milliseconds 1)
expect_refused("--no-such-flag" ${good} --no-such-flag)
expect_refused("stray" ${good} stray)
expect_refused("there is no family 'chain'" ${good} --families deep,chain)
expect_refused("leave no system" --systems nowhere)
expect_refused("--per-family" ${good} --per-family 0)
expect_refused("--part" ${good} --part 2)
expect_refused("--part" ${good} --part 0/2)
expect_refused("--part" ${good} --part 3/2)
foreach(scale 0 -1 0.49 2.1 nan half)
  expect_refused("--scale" ${good} --scale ${scale})
endforeach()
expect_refused("--seed" ${good} --seed 0)
expect_refused("--seed" ${good} --seed 1.5)
expect_refused("--milliseconds" ${good} --milliseconds 0)
expect_refused("relaxed" ${good} --accuracy relaxed)
expect_refused("exact" ${good} --accuracy exact)
expect_refused("--scalar" ${good} --scalar int)
if(EXISTS /dev/full)
  expect_refused("/dev/full" ${good} --table /dev/full)
  expect_refused("/nowhere/table.csv" ${good} --table /nowhere/table.csv)
endif()

execute_process(COMMAND ${program} --help
  RESULT_VARIABLE code OUTPUT_VARIABLE output)
if(NOT code EQUAL 0 OR NOT output MATCHES "--part I/N" OR
    NOT output MATCHES "--scale FACTOR" OR NOT output MATCHES "--seed N" OR
    NOT output MATCHES "long_rows")
  message(SEND_ERROR "--help: exit code ${code}\n${output}")
endif()
