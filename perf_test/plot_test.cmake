# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Included by the tests of scripts that read tables.
#   -D python= -D scripts= -D work_dir=, which is emptied
file(REMOVE_RECURSE ${work_dir})
file(MAKE_DIRECTORY ${work_dir})

# Sets `output` and `errors` to what the command printed.
macro(run)
  execute_process(COMMAND ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}: exit code ${code}\n${output}\n${errors}")
  endif()
endmacro()

# expect_text(TEXT...): the last run printed them.
function(expect_text)
  foreach(text IN LISTS ARGN)
    string(FIND "${output}" "${text}" place)
    if(place EQUAL -1)
      message(SEND_ERROR "'${text}' is not in\n${output}")
    endif()
  endforeach()
endfunction()

# expect_complaint(REGEX COMMAND...): exit code 1 and a message for users.
function(expect_complaint culprit)
  execute_process(COMMAND ${ARGN}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT code EQUAL 1 OR NOT errors MATCHES "${culprit}" OR errors MATCHES "Traceback")
    message(SEND_ERROR "${ARGN}: exit code ${code}\n${output}\n${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# draw(NAME SCRIPT ARGUMENT...): NAME.png in work_dir; sets `printed`.
function(draw name script)
  set(picture ${work_dir}/${name}.png)
  run(${python} ${scripts}/${script} ${ARGN} --output ${picture})
  file(READ ${picture} magic LIMIT 8 HEX)
  if(NOT magic STREQUAL "89504e470d0a1a0a")
    message(SEND_ERROR "${picture} is no PNG")
  endif()
  set(printed "${output}${errors}" PARENT_SCOPE)
endfunction()

# expect_refused(REGEX SCRIPT ARGUMENT...): no picture, and a message for users.
function(expect_refused culprit script)
  set(picture ${work_dir}/refused.png)
  execute_process(
    COMMAND ${python} ${scripts}/${script} ${ARGN} --output ${picture}
    RESULT_VARIABLE code OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(code EQUAL 0 OR NOT errors MATCHES "${culprit}"
      OR errors MATCHES "Traceback" OR EXISTS ${picture})
    message(SEND_ERROR
      "${script} ${ARGN}: exit code ${code}\n${output}\n${errors}")
    file(REMOVE ${picture})
  endif()
endfunction()
