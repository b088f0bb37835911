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
