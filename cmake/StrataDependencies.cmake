# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Read by the build, by the installed StrataConfig.cmake and by
# scripts/get_dependencies, so that all three want the same versions.
set(Strata_KOKKOS_MINIMUM 3.4)
set(Strata_KOKKOS_BELOW 6)

macro(strata_find_in_range package title problem)
  if(NOT ${problem})
    find_package(${package} CONFIG QUIET)
    if(NOT ${package}_FOUND)
      set(${problem} "${title} was not found: version ${Strata_KOKKOS_MINIMUM} to 5.x is wanted.")
      if(${package}_CONSIDERED_CONFIGS)
        string(APPEND ${problem} " Looked at, and of no use: ${${package}_CONSIDERED_CONFIGS}.")
      endif()
    elseif(${package}_VERSION VERSION_LESS Strata_KOKKOS_MINIMUM
           OR NOT ${package}_VERSION VERSION_LESS Strata_KOKKOS_BELOW)
      set(${problem} "${title} ${${package}_VERSION} was found in ${${package}_DIR}: version ${Strata_KOKKOS_MINIMUM} to 5.x is wanted.")
    endif()
    if(${problem})
      string(APPEND ${problem} " Either name the prefix of a suitable one with -DCMAKE_PREFIX_PATH=..., or let `scripts/get_dependencies` of Strata's sources obtain and build one.")
    endif()
  endif()
endmacro()

# Finds everything the headers need. Leaves `problem` empty, or a sentence for
# the user. A macro, since find_package's variables belong to the caller.
macro(strata_find_dependencies problem)
  set(${problem} "")
  # An old CMake minimum of the packages themselves is none of our user's business.
  set(CMAKE_WARN_DEPRECATED OFF)
  strata_find_in_range(Kokkos "Kokkos" ${problem})
  strata_find_in_range(KokkosKernels "Kokkos Kernels" ${problem})
  if(NOT ${problem})
    find_package(ZLIB QUIET)
    if(NOT ZLIB_FOUND)
      set(${problem} "zlib was not found: any version is wanted, to read gzip'd files (Debian: apt-get install zlib1g-dev).")
    endif()
  endif()
  unset(CMAKE_WARN_DEPRECATED)
endmacro()
