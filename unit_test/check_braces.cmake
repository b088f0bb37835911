# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Every `if constexpr` has braces. nvcc 13.0 was seen to drop the second branch
# of `if constexpr (a) while (...) {} else if constexpr (b) while (...) {}`, in
# some translation units and not in others: kernels then did nothing.
#
#   cmake -D source_dir=DIR -P check_braces.cmake
file(GLOB_RECURSE files ${source_dir}/core/*.hpp ${source_dir}/analysis/*.hpp
     ${source_dir}/kernels/*.hpp ${source_dir}/gallery/*.hpp ${source_dir}/perf_test/*.?pp
     ${source_dir}/unit_test/*.?pp ${source_dir}/examples/*.cpp ${source_dir}/c/*.?pp)
list(LENGTH files num_files)
if(num_files LESS 50)
  message(FATAL_ERROR "${source_dir}: only ${num_files} files found")
endif()
set(without)
set(num_found 0)
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX MATCHALL "if constexpr" found "${text}")
  list(LENGTH found count)
  math(EXPR num_found "${num_found} + ${count}")
  # Conditions may hold parentheses: the innermost go first. What holds a
  # statement is a lambda's and stays.
  set(last)
  while(NOT text STREQUAL last)
    set(last "${text}")
    string(REGEX REPLACE "\\([^(){};]*\\)" "@" text "${text}")
  endwhile()
  string(REGEX MATCHALL "if constexpr *@[ \n]*{" found "${text}")
  list(LENGTH found with_braces)
  if(NOT with_braces EQUAL count)
    list(APPEND without ${file})
  endif()
endforeach()
if(num_found LESS 50)
  message(FATAL_ERROR "only ${num_found} uses of if constexpr were found")
endif()
if(without)
  list(JOIN without "\n  " without)
  message(FATAL_ERROR "if constexpr without braces in\n  ${without}")
endif()
message("${num_found} uses of if constexpr have braces")
