# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Draws every figure of scripts/plot_sptrsv from a short run, and expects clear
# refusals.   -D program= -D python= -D scripts= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../plot_test.cmake)
set(json ${work_dir}/results.json)
run(${program}
  --gallery block_diagonal:16x20:0.1 --gallery block_diagonal:16x40:0.1
  --gallery block_diagonal:1x6000:0.0001 --gallery block_diagonal:2x6000:0.0001
  --algorithms automatic,serial,kokkos_kernels_tp1 --benchmark_min_time=0.001
  --benchmark_out=${json} --benchmark_out_format=json)

foreach(figure 6 7 8 9 10 overview peers algorithms speedup)
  draw(figure_${figure} plot_sptrsv ${json} --figure ${figure})
endforeach()

# The table has the same runs as the JSON.
run(${program} --gallery grid2d:9 --gallery circuit:300 --table ${work_dir}/runs.csv
  --algorithms automatic,level_sets,serial --benchmark_min_time=0.001)
foreach(figure 10 peers algorithms speedup)
  draw(table_${figure} plot_sptrsv ${work_dir}/runs.csv --figure ${figure})
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
  run(${python} ${scripts}/plot_sptrsv ${ARGN} --output ${work_dir}/texts.svg)
  file(READ ${work_dir}/texts.svg ${variable})
  set(${variable} "${${variable}}" PARENT_SCOPE)
  set(printed "${output}" PARENT_SCOPE)
endfunction()
function(expect_texts figure)
  texts(svg ${work_dir}/known.csv --figure ${figure})
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
run(${python} ${scripts}/detail/summary triangles ${work_dir} --on-host)
foreach(text "automatic +2 us\n" "subgraphs +wrong\n" "peer: kokkos_kernels_tp1 +6 us\n"
    "fastest peer / automatic +2.00\n" "on 1 of 1 triangle" "reference backend")
  if(NOT output MATCHES "${text}")
    message(SEND_ERROR "'${text}' is not in\n${output}")
  endif()
endforeach()

# The figure and the numbers of README.md are those of the table beside them.
set(readme_table ${scripts}/../docs/tables/sptrsv_h200.csv)
texts(now ${readme_table} --figure speedup --peer cusparse)
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

expect_refused("absent.json" plot_sptrsv ${work_dir}/absent.json)
file(WRITE ${work_dir}/text.json "no JSON")
expect_refused("not JSON" plot_sptrsv ${work_dir}/text.json)
file(WRITE ${work_dir}/other.json "{\"benchmarks\": []}")
expect_refused("no finished benchmark" plot_sptrsv ${work_dir}/other.json)
expect_refused("cusparse" plot_sptrsv ${json} --figure 10 --peer cusparse)

# Errors beside their bound, where there are merged level sets.
set(merged ${work_dir}/merged.csv)
run(${program} --gallery grid2d:20 --gallery random:500x3 --algorithms sync_free
  --merged-levels 4 --table ${merged} --benchmark_min_time=0.001)
draw(accuracy plot_accuracy ${merged})
if(NOT printed MATCHES "2 systems, 2 within their bound")
  message(SEND_ERROR "${printed}")
endif()
set(plain ${work_dir}/plain.csv)
run(${program} --gallery grid2d:20 --algorithms sync_free
  --accuracy componentwise --table ${plain} --benchmark_min_time=0.001)
expect_refused("no plan in the tables merges" plot_accuracy ${plain})

# A matrix by the name of one of Nibbeling's stands beside the thesis's times, and the
# others are named.
file(WRITE ${work_dir}/matrices/1138_bus.mtx
  "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\n1 1 4\n2 1 1\n2 2 4\n3 2 1\n3 3 4\n4 4 4\n")
run(${python} ${scripts}/totals_sptrsv --binary ${program}
  --matrices ${work_dir}/matrices --peers serial,kokkos_kernels_tp1 --vectors 1,5)
foreach(times "0.3900 \\| 2.950" "0.7640 \\| 3.090")
  if(NOT output MATCHES "\\| 1138_bus \\| 4 \\| [^\n]* \\| ${times} \\|")
    message(SEND_ERROR "totals_sptrsv has no ${times}:\n${output}")
  endif()
endforeach()
if(NOT errors MATCHES "bcsstm39 is not in .*https://sparse.tamu.edu/Boeing/bcsstm39")
  message(SEND_ERROR "totals_sptrsv names no missing matrix:\n${errors}")
endif()
run(${python} ${scripts}/totals_sptrsv --binary ${program} --peers serial
  --vectors 1 -- --gallery grid2d:9)
if(NOT output MATCHES "\\| grid2d:9 \\| 81 \\|")
  message(SEND_ERROR "totals_sptrsv of a made matrix:\n${output}")
endif()
