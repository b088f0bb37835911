# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Draws every figure of scripts/plot from short runs, and expects clear refusals.
#   -D program= -D python= -D scripts= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../plot_test.cmake)
run(${program} --gallery grid2d:9 --gallery circuit:300 --table ${work_dir}/runs.csv
  --algorithms automatic,level_sets,serial --benchmark_min_time=0.001)
foreach(figure peers algorithms speedup)
  draw(${figure} plot ${figure} ${work_dir}/runs.csv)
endforeach()
if(NOT printed MATCHES "times as fast as serial substitution on 2 triangles")
  message(SEND_ERROR "${printed}")
endif()
file(WRITE ${work_dir}/known.csv
  "matrix,algorithm,rhs,scalar,rows,nnz,analysis_us,solve_us,outcome
a,automatic,1,double,9,9,1,2,right
a,blocks,1,double,9,9,1,5,right
a,subgraphs,1,double,9,9,1,1,wrong
a,serial_substitution,1,double,9,9,1,4,right
a,kokkos_kernels_rp,1,double,9,9,1,8,right
a,kokkos_kernels_tp1,1,double,9,9,1,6,right
")
# texts(VARIABLE ARGUMENT...): what stands in the figure.
function(texts variable)
  run(${python} ${scripts}/plot ${ARGN} --output ${work_dir}/texts.svg)
  file(READ ${work_dir}/texts.svg ${variable})
  set(${variable} "${${variable}}" PARENT_SCOPE)
  set(printed "${output}" PARENT_SCOPE)
endfunction()
function(expect_texts figure)
  texts(svg ${figure} ${work_dir}/known.csv)
  foreach(text IN LISTS ARGN)
    string(FIND "${svg}" ">${text}<" place)
    if(place EQUAL -1)
      message(SEND_ERROR "'${text}' is not in figure ${figure}")
    endif()
  endforeach()
endfunction()
expect_texts(peers "2 µs" "4 µs, 2.0 ×" "6 µs, 3.0 ×")
expect_texts(algorithms "2 µs" "5 µs, 2.5 ×")
expect_texts(speedup "3.0 × (2 µs, 6 µs)" "geometric mean 3.0 ×")

# What scripts/demo says of such a table.
file(COPY_FILE ${work_dir}/known.csv ${work_dir}/sptrsv.csv)
run(${python} ${scripts}/summarise demo ${work_dir} --on-host)
foreach(text "automatic +2 us\n" "subgraphs +wrong\n" "peer: kokkos_kernels_tp1 +6 us\n"
    "fastest peer / automatic +2.00\n" "on 1 of 1 triangle" "reference backend")
  if(NOT output MATCHES "${text}")
    message(SEND_ERROR "'${text}' is not in\n${output}")
  endif()
endforeach()

# The figure and the numbers of README.md are those of the table beside them.
set(readme_table ${scripts}/../docs/tables/sptrsv_h200.csv)
texts(now speedup ${readme_table} --peer cusparse)
if(NOT printed MATCHES
    "geometric mean ([0-9.]+), from ([0-9.]+) to ([0-9.]+) times.* on ([0-9]+) triangles")
  message(FATAL_ERROR "${printed}")
endif()
set(num_triangles ${CMAKE_MATCH_4})
string(CONCAT sentence "The figure shows ${num_triangles} triangles of at most 216,000 rows "
  "that the library was tuned on: a solve is ${CMAKE_MATCH_1} times as fast as cuSPARSE's in "
  "the geometric mean, and from ${CMAKE_MATCH_2} to ${CMAKE_MATCH_3} times on each")
file(READ ${scripts}/../README.md readme)
string(REGEX REPLACE "[ \n]+" " " readme "${readme}")
string(FIND "${readme}" "${sentence}" place)
if(place EQUAL -1)
  message(SEND_ERROR "README.md does not say '${sentence}'")
endif()
file(READ ${scripts}/../docs/sptrsv_h200.svg committed)
foreach(figure now committed)
  string(REGEX MATCHALL ">[0-9.]+ × .[^<]*<" labels_${figure} "${${figure}}")
endforeach()
list(LENGTH labels_now count)
if(NOT count EQUAL num_triangles OR NOT labels_now STREQUAL labels_committed)
  message(SEND_ERROR "docs/sptrsv_h200.svg is not of ${readme_table}: draw it anew as "
    "docs/tables/README.md says")
endif()

expect_refused("absent.csv" plot speedup ${work_dir}/absent.csv)
file(WRITE ${work_dir}/empty.csv "matrix,algorithm\n")
expect_refused("has no rows" plot speedup ${work_dir}/empty.csv)
file(WRITE ${work_dir}/other.csv "rows,kl\n1,2\n")
expect_refused("no column matrix.*strata_perf_sptrsv" plot speedup ${work_dir}/other.csv)
expect_refused("other columns" plot speedup ${work_dir}/known.csv ${work_dir}/runs.csv)
expect_refused("cusparse" plot speedup ${work_dir}/known.csv --peer cusparse)
file(READ ${work_dir}/known.csv known)
file(WRITE ${work_dir}/mixed.csv "${known}a,automatic,1,float,9,9,1,2,right\n")
expect_refused("mixes scalars" plot peers ${work_dir}/mixed.csv)

# Errors beside their bound, where there are merged level sets.
set(merged ${work_dir}/merged.csv)
run(${program} --gallery grid2d:20 --gallery random:500x3 --algorithms sync_free
  --merged-levels 4 --table ${merged} --benchmark_min_time=0.001)
draw(accuracy plot accuracy ${merged})
if(NOT printed MATCHES "2 systems, 2 within their bound")
  message(SEND_ERROR "${printed}")
endif()
set(plain ${work_dir}/plain.csv)
run(${program} --gallery grid2d:20 --algorithms sync_free
  --accuracy componentwise --table ${plain} --benchmark_min_time=0.001)
expect_refused("no plan in the tables merges" plot accuracy ${plain})
