# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# A Kokkos with CUDA needs a C++ compiler that understands CUDA: nvcc_wrapper,
# Clang, or Kokkos's own launcher (which Kokkos sets up itself when it was
# built that way).
function(strata_check_device_compiler)
  if(NOT "CUDA" IN_LIST Strata_KOKKOS_DEVICES OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  get_property(launcher GLOBAL PROPERTY RULE_LAUNCH_COMPILE)
  if(launcher MATCHES "kokkos_launch_compiler")
    return()
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} --version
                  OUTPUT_VARIABLE version ERROR_VARIABLE version)
  if(NOT version MATCHES "nvcc")
    set(prefix ${Kokkos_SOURCE_DIR})
    if(Kokkos_DIR)
      get_filename_component(prefix "${Kokkos_DIR}/../../.." ABSOLUTE)
    endif()
    message(FATAL_ERROR
      "Kokkos in ${prefix} has CUDA, and ${CMAKE_CXX_COMPILER} can't compile "
      "CUDA: configure a fresh build folder with "
      "-DCMAKE_CXX_COMPILER=${prefix}/bin/nvcc_wrapper")
  endif()
endfunction()
