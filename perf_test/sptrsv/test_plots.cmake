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

foreach(figure 6 7 8 9 10 overview)
  draw(figure_${figure} plot_sptrsv ${json} --figure ${figure})
endforeach()

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
