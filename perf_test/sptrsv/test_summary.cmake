# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What scripts/summarise sptrsv says of a table whose numbers are known, and of one that was
# measured.   -D program= -D python= -D scripts= -D work_dir=
cmake_minimum_required(VERSION 3.22)
include(${CMAKE_CURRENT_LIST_DIR}/../plot_test.cmake)
set(summary ${python} ${scripts}/summarise sptrsv)
set(header
  "matrix,algorithm,chosen,scalar,rhs,rows,levels,solve_us,outcome,parameters,message\n")

# The fastest of a peer's right answers counts; matrices without ours do not.
file(WRITE ${work_dir}/known.csv "${header}"
  "a,automatic,sync_free,double,1,9,3,2,right,,\n"
  "a,sptrsv_drop_in,sync_free,double,1,9,3,6,right,,\n"
  "a,sptrsv_drop_in_fixed,sync_free,double,1,9,3,3,right,,\n"
  "a,kokkos_kernels_rp,,double,1,9,3,1,wrong,,\n"
  "a,kokkos_kernels_tp1,,double,1,9,3,24,right,team 32,\n"
  "a,kokkos_kernels_tp1chain,,double,1,9,3,12,right,threshold 64 team 64 vector 4,\n"
  "a,cusparse_spsv,,double,1,9,3,4,right,,\n"
  "b,automatic,blocks,double,1,9,3,10,right,,\n"
  "b,kokkos_kernels_rp,,double,1,9,3,240,right,,\n"
  "b,cusparse_spsv,,double,1,9,3,80,right,,\n"
  "b,cusparse_spsv_sell,,double,1,9,3,,failed,,too much padding for sliced ELL\n"
  "c,automatic,blocks,double,1,9,3,1,wrong,,\n"
  "c,cusparse_spsv,,double,1,9,3,80,right,,\n")
run(${summary} ${work_dir}/known.csv)
expect_text(
  "| matrix | rows | level sets | chosen | Strata | cuSPARSE | x cuSPARSE | KK | KK with | x KK | drop-in | values fixed |"
  "| a | 9 | 3 | sync_free | 2 | 4 | 2 | 12 | tp1chain threshold 64 team 64 vector 4 | 6 | 6 | 3 |"
  "| b | 9 | 3 | blocks | 10 | 80 | 8 | 240 | rp | 24 | - | - |"
  "cuSPARSE's time over Strata's: 4 in the geometric mean of 2 matrices, least 2"
  "KK's time over Strata's: 12 in the geometric mean of 2 matrices, least 6"
  "KK's time over that of drop-in: 2 in the geometric mean of 1 matrices, least 2"
  "KK's time over that of values fixed: 4 in the geometric mean of 1 matrices, least 4")
if(output MATCHES "\n\\| c ")
  message(SEND_ERROR "a wrong answer is in\n${output}")
endif()

expect_complaint("absent.csv" ${summary} ${work_dir}/absent.csv)
file(WRITE ${work_dir}/mixed.csv "${header}"
  "a,automatic,blocks,double,1,9,3,1,right,,\na,automatic,blocks,float,1,9,3,1,right,,\n")
expect_complaint("mixes scalars" ${summary} ${work_dir}/mixed.csv)
file(WRITE ${work_dir}/peers.csv "${header}" "a,cusparse_spsv,,double,1,9,3,1,right,,\n")
expect_complaint("no right answer of 'automatic'" ${summary} ${work_dir}/peers.csv)

run(${program} --gallery grid2d:12 --gallery circuit:300 --benchmark_min_time=0.001
  --algorithms automatic,kokkos_kernels,sptrsv_drop_in,sptrsv_drop_in_fixed
  --table ${work_dir}/measured.csv)
run(${summary} ${work_dir}/measured.csv)
expect_text("| circuit:300 | 300 | "
  "KK's time over that of values fixed: " "in the geometric mean of 2 matrices")
