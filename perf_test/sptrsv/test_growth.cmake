# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs a small sweep of scripts/sweep_growth, draws it and other tables with
# scripts/plot_growth, checks the floors, and expects clear refusals.
#   -D program= -D python= -D scripts= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../plot_test.cmake)

function(expect_text text pattern)
  if(NOT text MATCHES "${pattern}")
    message(SEND_ERROR "'${pattern}' is not in\n${text}")
  endif()
endfunction()

# One smaller size tells that the second one is not worth serial's while.
set(sweep ${work_dir}/sweep.csv)
run(${python} ${scripts}/sweep_growth --binary ${program} --output ${sweep}
  --families grid3d,band --largest 500000 --peers serial --peer-limit 1e-9
  -- --benchmark_min_time=0.001)
expect_text("${errors}" "grid3d:50 without serial")
file(READ ${sweep} rows)
foreach(row grid3d:30,automatic grid3d:30,serial grid3d:50,automatic
    band:10000,automatic band:10000,serial)
  expect_text("${rows}" "\n${row}")
endforeach()
foreach(row grid3d:50,serial grid3d:100 band:100000)
  if(rows MATCHES "\n${row}")
    message(SEND_ERROR "${row} is in\n${rows}")
  endif()
endforeach()
string(REGEX MATCHALL "matrix,algorithm," headers "${rows}")
list(LENGTH headers count)
if(NOT count EQUAL 1)
  message(SEND_ERROR "${count} headers in\n${rows}")
endif()
draw(sweep plot_growth ${sweep})
expect_text("${printed}" "\n. grid3d:30 . 27,000 . 105,300 . 88 . ")

# A 5-point grid's triangle has 3 n^2 - 2 n entries and 2 n - 1 level sets. With
# a byte a microsecond the floors are 12 (3 n^2 - 2 n) + 20 n^2 and 2 (2 n - 1).
set(table ${work_dir}/grids.csv)
run(${program} --gallery grid2d:20 --gallery grid2d:10 --gallery chain:500
  --algorithms automatic,serial,kokkos_kernels_tp1 --table ${table}
  --benchmark_min_time=0.001)
draw(grids plot_growth ${table} --bandwidth 1e-6 --step 2)
expect_text("${printed}"
  "\n. grid2d:10 . 100 . 280 . 19 . 5360 . 38.0 .[^\n]*\n. grid2d:20 ")
if(printed MATCHES "chain:500")
  message(SEND_ERROR "chain:500 was not asked for\n${printed}")
endif()
draw(chain plot_growth ${table} --families chain,grid2d)
expect_text("${printed}" "\n. chain:500 . 500 . 999 . 500 .*grid2d:10 ")

# Tables of one's own: what is wrong is left out, what can't be drawn refused.
set(header
  "matrix,algorithm,chosen,scalar,rhs,rows,nnz,levels,solve_us,outcome\n")
set(good "band:10,automatic,sync_free,float,2,10,50,10,7,right\n")
function(write name)
  string(CONCAT content ${ARGN})
  file(WRITE ${work_dir}/${name}.csv "${content}")
endfunction()
write(some ${header} ${good} "band:10,cusparse_spsm,,float,2,10,50,10,9,wrong\n"
  "band:10,serial_substitution,,float,2,10,50,10,21,right\n")
draw(some plot_growth ${work_dir}/some.csv)
expect_text("${printed}" "left out: band:10, cusparse_spsm .wrong")
# 50 x 8 + 10 x (4 + 2 x 2 x 4) bytes take 0.0001 us.
expect_text("${printed}" ". 10 . 0.00 . 1.10 . sync_free . 7.00 . 21.0 . 3.00 .")

function(expect_bad culprit)
  write(bad ${ARGN})
  expect_refused("${culprit}" plot_growth ${work_dir}/bad.csv)
endfunction()
expect_refused("absent.csv" plot_growth ${work_dir}/absent.csv)
expect_refused("family 'grid4d'.*they have: band"
  plot_growth ${work_dir}/some.csv --families grid4d)
expect_refused("one program" plot_growth ${work_dir}/some.csv ${table})
expect_refused("--step" plot_growth ${table} --step 0)
expect_refused("--bandwidth" plot_growth ${table} --bandwidth fast)
expect_bad("has no rows" ${header})
expect_bad("no column levels.*strata_perf_sptrsv" "matrix,algorithm,chosen,"
  "scalar,rhs,rows,nnz,solve_us,outcome\nband:10,blocks,,double,1,10,50,7,right\n")
expect_bad("no matrix.*grid2d, grid3d, band" ${header}
  "chain:9,blocks,,double,1,9,17,9,7,right\n")
expect_bad("no right answer.*band" ${header}
  "band:10,blocks,,double,1,10,50,10,7,wrong\n")
expect_bad("band:10, blocks: column nnz is 'many'" ${header}
  "band:10,blocks,,double,1,10,many,10,7,right\n")
expect_bad("automatic is in the tables twice" ${header} ${good} ${good})
expect_bad("mixes scalars" ${header} ${good}
  "band:20,blocks,,double,2,20,90,20,7,right\n")
expect_bad("no scalar 'half'" ${header}
  "band:20,blocks,,half,2,20,90,20,7,right\n")
expect_bad("no algorithm 'fastest'" ${header}
  "band:20,fastest,,double,2,20,90,20,7,right\n")

expect_refused("no family 'chain'" sweep_growth --binary ${program}
  --families chain)
expect_refused("leave no matrix" sweep_growth --binary ${program} --largest 9)
expect_refused("nowhere" sweep_growth --binary ${work_dir}/nowhere)
expect_refused("--peer-limit" sweep_growth --binary ${program} --peer-limit -1)
