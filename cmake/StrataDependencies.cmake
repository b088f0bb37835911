# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Read by the build, by the installed StrataConfig.cmake and by
# scripts/get_dependencies, so that all three want the same versions.
set(Strata_KOKKOS_MINIMUM 3.4)
set(Strata_KOKKOS_BELOW 6)

# Trilinos installs Kokkos Kernels with neither a version nor the usual target, and
# names its library KokkosKernels::all_libs: this makes up for both.
macro(strata_mend_kernels)
  if(TARGET KokkosKernels::all_libs AND NOT TARGET Kokkos::kokkoskernels)
    add_library(Kokkos::kokkoskernels INTERFACE IMPORTED)
    target_link_libraries(Kokkos::kokkoskernels INTERFACE KokkosKernels::all_libs)
    # The folders are its own or those of the library that it stands for.
    set(Strata_folders)
    get_target_property(Strata_libraries KokkosKernels::all_libs INTERFACE_LINK_LIBRARIES)
    foreach(Strata_library KokkosKernels::all_libs ${Strata_libraries})
      if(TARGET ${Strata_library})
        get_target_property(Strata_folder ${Strata_library} INTERFACE_INCLUDE_DIRECTORIES)
        if(Strata_folder)
          list(APPEND Strata_folders ${Strata_folder})
        endif()
      endif()
    endforeach()
    unset(Strata_header)
    find_file(Strata_header KokkosKernels_config.h PATHS ${Strata_folders}
              NO_DEFAULT_PATH NO_CACHE)
    if(NOT KokkosKernels_VERSION AND Strata_header)
      file(STRINGS ${Strata_header} Strata_line REGEX "^#define KOKKOSKERNELS_VERSION [0-9]+")
      if(Strata_line MATCHES "([0-9]+)([0-9][0-9])([0-9][0-9])$")
        math(EXPR Strata_minor "1${CMAKE_MATCH_2} - 100")
        math(EXPR Strata_patch "1${CMAKE_MATCH_3} - 100")
        set(KokkosKernels_VERSION ${CMAKE_MATCH_1}.${Strata_minor}.${Strata_patch})
      endif()
    endif()
  endif()
endmacro()

# `target` is what the package has to define. A project around this one may have
# defined it already, and its choice is taken then.
macro(strata_find_in_range package target title problem)
  strata_mend_kernels()
  if(NOT ${problem} AND NOT TARGET ${target})
    find_package(${package} CONFIG QUIET)
    strata_mend_kernels()
    if(NOT ${package}_FOUND)
      set(${problem} "${title} was not found: version ${Strata_KOKKOS_MINIMUM} to 5.x is wanted.")
      if(${package}_CONSIDERED_CONFIGS)
        string(APPEND ${problem} " Looked at, and of no use: ${${package}_CONSIDERED_CONFIGS}.")
      endif()
    elseif(NOT TARGET ${target})
      set(${problem} "${title} was found in ${${package}_DIR}, and does not define ${target}.")
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
  strata_find_in_range(Kokkos Kokkos::kokkos "Kokkos" ${problem})
  strata_find_in_range(KokkosKernels Kokkos::kokkoskernels "Kokkos Kernels" ${problem})
  if(NOT ${problem})
    find_package(ZLIB QUIET)
    if(NOT ZLIB_FOUND)
      set(${problem} "zlib was not found: any version is wanted, to read gzip'd files (Debian: apt-get install zlib1g-dev).")
    endif()
  endif()
  unset(CMAKE_WARN_DEPRECATED)
endmacro()
