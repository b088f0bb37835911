# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Draws every figure of scripts/plot_tables from short runs, and expects clear
# refusals.   -D band= -D dense= -D python= -D scripts= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/plot_test.cmake)
set(sizes ${work_dir}/sizes.csv)
set(vectors ${work_dir}/vectors.csv)
set(matrices ${work_dir}/matrices.csv)
run(${band} --size 100,200 --bandwidth 10%,50% --algorithms strata,dgbsv
  --table ${sizes})
run(${band} --size 100 --bandwidth 11 --rhs 1,10 --table ${vectors}
  --algorithms strata,strata_pivoting)
run(${dense} --sizes 20,40 --tasks solve,inverse --benchmark_min_time=0.001
  --table ${matrices})

foreach(figure 6 growth)
  draw(figure_${figure} plot_tables ${sizes} --figure ${figure})
endforeach()
foreach(figure 7 10)
  draw(figure_${figure} plot_tables ${vectors} --figure ${figure})
endforeach()
foreach(figure 8 9 10 11 dense)
  draw(dense_${figure} plot_tables ${matrices} --figure ${figure}
    --task inverse)
endforeach()

file(WRITE ${work_dir}/refused.csv "rows,kl\n")
expect_refused("absent.csv" plot_tables ${work_dir}/absent.csv --figure 6)
expect_refused("has no rows" plot_tables ${work_dir}/refused.csv --figure 6)
expect_refused("figure 8" plot_tables ${sizes} --figure 8)
expect_refused("one program" plot_tables ${sizes} ${matrices} --figure 6)
expect_refused("no right answer"
  plot_tables ${matrices} --figure 8 --matrix graded)
