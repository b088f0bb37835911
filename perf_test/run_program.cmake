# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Included by tests that run an executable and look at its reports.
#   -D program= -D work_dir=
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})
set(json_file ${work_dir}/results.json)
set(csv_file ${work_dir}/table.csv)
# Two rows have no diagonal entry.
file(WRITE ${work_dir}/small.mtx "%%MatrixMarket matrix coordinate real symmetric
4 4 4
3 3 4
4 4 4
3 1 -1
4 3 1.5
")

# run_program(ARGUMENT...): exit code 0. The caller then has output, the reports json
# and csv, and the index of the last benchmark in json.
macro(run_program)
  execute_process(
    COMMAND ${program} ${ARGN} --table ${csv_file} --benchmark_out=${json_file}
      --benchmark_out_format=json
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: exit code ${code}\n${output}\n${errors}")
  endif()
  file(READ ${json_file} json)
  file(READ ${csv_file} csv)
  string(JSON count LENGTH "${json}" benchmarks)
  math(EXPR last "${count} - 1")
endmacro()
