# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What every program of this tree is built with; no part of the library. Those with
# strata_header_only_program compile what they use of the library themselves.
foreach(gallery gallery gallery_header_only)
  set(program strata_program)
  if(gallery STREQUAL "gallery_header_only")
    set(program strata_header_only_program)
  endif()
  add_library(${program} INTERFACE)
  target_link_libraries(${program} INTERFACE Strata::${gallery})
  target_compile_options(${program} INTERFACE
    $<$<CXX_COMPILER_ID:GNU,Clang>:-Wall -Wextra>)
endforeach()

# Headers that programs with the flags of this folder share.
function(strata_precompile_for_programs owner)
  if(Strata_PRECOMPILES)
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${owner}.cpp CONTENT "")
    add_library(${owner} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${owner}.cpp)
    target_link_libraries(${owner} PRIVATE strata_program)
    strata_precompile(${owner} ${ARGN})
  endif()
endfunction()

# Registers `target` with CTest under `label`.
function(strata_add_test target label)
  add_test(NAME ${target} COMMAND ${target} ${ARGN})
  # Kokkos warns about an unset binding; threads bound by several programs at
  # once would share cores.
  set_tests_properties(${target} PROPERTIES
    LABELS ${label} TIMEOUT 600 ENVIRONMENT "OMP_PROC_BIND=false")
endfunction()
