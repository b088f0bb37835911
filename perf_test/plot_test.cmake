# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Included by the tests of scripts that draw figures from short runs.
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
