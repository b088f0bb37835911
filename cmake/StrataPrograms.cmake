# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# What every program of this tree is built with; no part of the library.
add_library(strata_program INTERFACE)
target_link_libraries(strata_program INTERFACE Strata::strata)
target_compile_options(strata_program INTERFACE
  $<$<CXX_COMPILER_ID:GNU,Clang>:-Wall -Wextra>)

# Registers `target` with CTest under `label`.
function(strata_add_test target label)
  add_test(NAME ${target} COMMAND ${target} ${ARGN})
  # Kokkos warns about an unset binding; threads bound by several programs at
  # once would share cores.
  set_tests_properties(${target} PROPERTIES
    LABELS ${label} TIMEOUT 600 ENVIRONMENT "OMP_PROC_BIND=false")
endfunction()
