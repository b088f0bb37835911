# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# No file of the library but those of core/device, and the sources of its
# instances, names a backend of a GPU or calls it.
#
#   cmake -D source_dir=DIR -P check_backends.cmake
file(GLOB_RECURSE files ${source_dir}/core/*.hpp ${source_dir}/analysis/*.hpp
     ${source_dir}/kernels/*.hpp ${source_dir}/gallery/*.hpp)
set(name "Kokkos::(Cuda|HIP)[^A-Za-z]|KOKKOS_ENABLE_(CUDA|HIP)|__CUDA|__HIP|[^A-Za-z_](cuda|hip)[A-Z]")
set(num_device 0)
set(wrong)
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  if(NOT text MATCHES "${name}")
    continue()
  elseif(file MATCHES "/core/device/")
    math(EXPR num_device "${num_device} + 1")
  else()
    string(STRIP "${CMAKE_MATCH_0}" found)
    list(APPEND wrong "${file}: ${found}")
  endif()
endforeach()
if(num_device LESS 5)
  message(FATAL_ERROR "only ${num_device} files of core/device name a backend: is the pattern right?")
endif()
if(wrong)
  list(JOIN wrong "\n  " wrong)
  message(FATAL_ERROR "a backend is named outside of core/device in\n  ${wrong}")
endif()
