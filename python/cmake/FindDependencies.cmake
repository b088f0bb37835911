# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Leads CMAKE_PREFIX_PATH to a Kokkos and a Kokkos Kernels: those that CMake finds, or
# those that scripts/get_dependencies builds into dependencies/ of the checkout.
macro(strata_python_find_kokkos)
  find_package(Kokkos CONFIG QUIET)
  find_package(KokkosKernels CONFIG QUIET)
  if(NOT Kokkos_FOUND OR NOT KokkosKernels_FOUND)
    message(STATUS "No Kokkos is installed: scripts/get_dependencies obtains and builds "
      "one, which takes some minutes the first time")
    execute_process(
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/../scripts/get_dependencies
              --backend ${Strata_PYTHON_BACKEND} --library-only
      OUTPUT_VARIABLE Strata_prefix OUTPUT_STRIP_TRAILING_WHITESPACE
      RESULT_VARIABLE Strata_status)
    if(NOT Strata_status EQUAL 0)
      message(FATAL_ERROR "Kokkos could not be built; the lines above say why. Or name "
        "the prefix of an installed one: "
        "CMAKE_PREFIX_PATH=/where/kokkos/is pip install ./python")
    endif()
    # Where both were installed in default places there is no prefix to add.
    string(REPLACE ":" ";" Strata_prefix "${Strata_prefix}")
    list(PREPEND CMAKE_PREFIX_PATH ${Strata_prefix})
    unset(Kokkos_DIR CACHE)
    unset(KokkosKernels_DIR CACHE)
  endif()
endmacro()
