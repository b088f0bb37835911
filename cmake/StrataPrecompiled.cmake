# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Most of the time that a source file of Strata takes to compile goes into headers of
# Kokkos. With this option they are parsed once for each set of flags. Compiler caches
# such as ccache do without unless they are told to be sloppy.
option(Strata_ENABLE_PRECOMPILED_HEADERS
  "Precompile Kokkos' headers for Strata's own sources (GNU and Clang, hosts)" OFF)
mark_as_advanced(Strata_ENABLE_PRECOMPILED_HEADERS)

set(Strata_PRECOMPILES OFF)
if(Strata_ENABLE_PRECOMPILED_HEADERS AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang"
   AND NOT "CUDA" IN_LIST Strata_KOKKOS_DEVICES)
  set(Strata_PRECOMPILES ON)
endif()

# strata_precompile(TARGET [HEADER...]): Kokkos' headers, then those named.
function(strata_precompile target)
  if(Strata_PRECOMPILES)
    target_precompile_headers(${target} PRIVATE
      <Kokkos_Core.hpp> <KokkosSparse_CrsMatrix.hpp> ${ARGN})
  endif()
endfunction()

# Takes those of another target, which has the same flags.
function(strata_precompiled_of target owner)
  if(Strata_PRECOMPILES)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()
