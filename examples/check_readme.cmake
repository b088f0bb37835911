# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The first listing of README.md is what stands between the marks of 01_solve.cpp.
#
#   cmake -D source_dir=DIR -P check_readme.cmake
cmake_minimum_required(VERSION 3.22)

# between(VARIABLE FILE FROM TO): the text between the first FROM and the next TO.
function(between variable file from to)
  file(READ ${source_dir}/${file} text)
  string(FIND "${text}" "${from}" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "${file} has no '${from}'")
  endif()
  string(LENGTH "${from}" length)
  math(EXPR begin "${begin} + ${length}")
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(FIND "${text}" "${to}" end)
  if(end EQUAL -1)
    message(FATAL_ERROR "${file} has no '${to}' after '${from}'")
  endif()
  string(SUBSTRING "${text}" 0 ${end} text)
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

between(listing README.md "```cpp\n" "```")
between(source examples/01_solve.cpp "  // [README\n" "  // README]")
# A body of main() stands two columns further right.
string(REPLACE "\n  " "\n" source "\n${source}")
if(NOT "\n${listing}" STREQUAL source)
  message(FATAL_ERROR "README.md has\n${listing}\nand examples/01_solve.cpp\n${source}")
endif()
