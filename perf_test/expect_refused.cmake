# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Included by tests of executables.   -D program=

# expect_refused(CULPRIT ARGUMENT...): exit code 1, and a message that names it.
function(expect_refused culprit)
  execute_process(COMMAND ${program} ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 1)
    message(SEND_ERROR "${ARGN}: exit code ${code}\n${output}\n${errors}")
  endif()
  string(FIND "${output}${errors}" "${culprit}" place)
  if(place LESS 0)
    message(SEND_ERROR
      "${ARGN}: '${culprit}' is not named\n${output}\n${errors}")
  endif()
endfunction()

# expect_output_refused(ARGUMENT...): a table, a file of Google Benchmark and a
# standard output that can't be written are told in a sentence with exit code 1,
# before anything is measured.
function(expect_output_refused)
  if(NOT EXISTS /dev/full)
    return()
  endif()
  foreach(bad "--table;/dev/full" "--table;/nowhere/table.csv"
      "--benchmark_out=/dev/full"
      "--benchmark_out=/dev/full;--benchmark_out_format=console"
      "--benchmark_out=/nowhere/results.json" "standard output" "--help")
    set(arguments ${ARGN} ${bad})
    set(command ${program} ${arguments})
    list(GET bad -1 culprit)
    string(REGEX REPLACE "^--benchmark_out=|^--benchmark_out_.*" "" culprit
      "${culprit}")
    if(bad MATCHES "standard output|--help")
      if(bad STREQUAL "standard output")
        set(arguments ${ARGN})
      endif()
      set(culprit "standard output")
      set(command sh -c "exec \"$0\" \"$@\" > /dev/full" ${program}
        ${arguments})
    endif()
    execute_process(COMMAND ${command}
      RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
    string(FIND "${errors}" "${culprit}" place)
    if(NOT code EQUAL 1 OR place LESS 0)
      message(SEND_ERROR "${bad}: exit code ${code}\n${output}\n${errors}")
    endif()
    # A benchmark's line has its time.
    if(output MATCHES "[0-9] [mun]s ")
      message(SEND_ERROR "${bad} is told after measuring\n${output}")
    endif()
    if(errors MATCHES "strata_perf_[a-z_]*: Strata: .*\n.*strata_perf_[a-z_]*: ")
      message(SEND_ERROR "${bad} is told twice\n${errors}")
    endif()
  endforeach()
endfunction()
