# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles `source`. It must not compile where its second line is "// must say:
# SENTENCE": the first error must then be that sentence, and little may follow it.
#
#   cmake -D compiler=.. -D flags=FILE -D source=FILE -D object=FILE -D count_lines=ON|OFF
#         -P check.cmake
#
# count_lines: whether the compiler is one whose lines are counted.
set(most_lines 15)
set(most_errors 2)
file(STRINGS ${flags} arguments)
execute_process(COMMAND ${compiler} ${arguments} -c ${source} -o ${object}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
file(STRINGS ${source} sentence REGEX "^// must say: ")
if(NOT sentence)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${source} does not compile:\n${output}")
  endif()
  return()
endif()
string(REPLACE "// must say: " "" sentence "${sentence}")
if(result EQUAL 0)
  message(FATAL_ERROR "${source} compiles, and should say: ${sentence}")
endif()
# A list would break lines at their semicolons.
string(REPLACE ";" "," output "${output}")
string(REGEX MATCHALL "[^\n]+" lines "${output}")
list(LENGTH lines num_lines)
list(FILTER lines INCLUDE REGEX "error")
list(LENGTH lines num_errors)
list(GET lines 0 first)
string(FIND "${first}" "${sentence}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "The first error is not \"${sentence}\":\n${output}")
endif()
if(count_lines AND (num_lines GREATER most_lines OR num_errors GREATER most_errors))
  message(FATAL_ERROR
    "${num_lines} lines with ${num_errors} errors, where ${most_lines} with ${most_errors} are allowed:\n${output}")
endif()
message("${num_lines} lines, ${num_errors} errors")
