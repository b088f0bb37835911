# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Read by the build, by the installed StrataConfig.cmake and by
# scripts/get_dependencies, so that all three want the same versions.
set(Strata_KOKKOS_MINIMUM 3.4)
set(Strata_KOKKOS_BELOW 6)

# Trilinos installs Kokkos Kernels without the usual target, and names its library
# KokkosKernels::all_libs. Trilinos 13 tells its libraries, the folder of the headers and
# the version in variables, those of Kokkos for both.
macro(strata_mend_kernels)
  set(Strata_imported OFF)
  if(Kokkos_INCLUDE_DIRS AND TARGET Kokkos::kokkos AND NOT TARGET Kokkos::all_libs)
    get_target_property(Strata_imported Kokkos::kokkos IMPORTED)
  endif()
  if(Strata_imported)
    set_target_properties(Kokkos::kokkos PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
  endif()
  foreach(Strata_library KokkosKernels::all_libs ${KokkosKernels_LIBRARIES})
    if(TARGET ${Strata_library} AND NOT TARGET Kokkos::kokkoskernels)
      add_library(Kokkos::kokkoskernels INTERFACE IMPORTED)
      target_link_libraries(Kokkos::kokkoskernels INTERFACE ${Strata_library})
      if(KokkosKernels_INCLUDE_DIRS AND NOT KokkosKernels_VERSION)
        set(KokkosKernels_VERSION ${Kokkos_VERSION})
      endif()
    endif()
  endforeach()
endmacro()

# strata_find_header(RESULT TARGET NAME): the path of a header in the include folders of
# the target or of those that it links, installed ones or of this build; else empty.
function(strata_find_header result target name)
  set(queue ${target})
  set(seen)
  set(header)
  while(queue AND NOT header)
    list(POP_FRONT queue library)
    if(TARGET "${library}" AND NOT library IN_LIST seen)
      list(APPEND seen ${library})
      get_target_property(folders ${library} INTERFACE_INCLUDE_DIRECTORIES)
      string(REGEX REPLACE "\\$<BUILD_INTERFACE:([^>]*)>" "\\1" folders "${folders}")
      unset(header)
      find_file(header ${name} PATHS ${folders} NO_DEFAULT_PATH NO_CACHE)
      get_target_property(libraries ${library} INTERFACE_LINK_LIBRARIES)
      list(APPEND queue ${libraries})
    endif()
  endwhile()
  if(NOT header)
    set(header)
  endif()
  set(${result} "${header}" PARENT_SCOPE)
endfunction()

# strata_read_devices(DEVICES): the backends of Kokkos::kokkos in capitals, such as
# SERIAL;OPENMP;CUDA, from the header that tells a compiler. Kokkos_DEVICES has them only
# if find_package has found Kokkos.
function(strata_read_devices devices)
  strata_find_header(header Kokkos::kokkos KokkosCore_config.h)
  if(NOT header)
    message(WARNING "Strata: Kokkos::kokkos has no include folder with KokkosCore_config.h, "
      "so its backends are unknown: tests and benchmarks of Serial and CUDA are left out")
    set(${devices} "" PARENT_SCOPE)
    return()
  endif()
  file(STRINGS ${header} lines
       REGEX "^#define KOKKOS_ENABLE_(SERIAL|THREADS|OPENMP|CUDA|HIP|SYCL|OPENMPTARGET|OPENACC)[ \t]*$")
  string(REGEX REPLACE "#define KOKKOS_ENABLE_([A-Z]+)[ \t]*" "\\1" lines "${lines}")
  set(${devices} "${lines}" PARENT_SCOPE)
endfunction()

# Sets PACKAGE_VERSION from the header if no configuration file has: of a project in this
# build, and of Trilinos' Kokkos Kernels.
macro(strata_read_version package target name)
  if(NOT ${package}_VERSION)
    strata_find_header(Strata_header ${target} ${name})
    if(Strata_header)
      file(STRINGS ${Strata_header} Strata_line REGEX "^#define KOKKOS(KERNELS)?_VERSION [0-9]+")
      if(Strata_line MATCHES "([0-9]+)([0-9][0-9])([0-9][0-9])$")
        math(EXPR Strata_minor "1${CMAKE_MATCH_2} - 100")
        math(EXPR Strata_patch "1${CMAKE_MATCH_3} - 100")
        set(${package}_VERSION ${CMAKE_MATCH_1}.${Strata_minor}.${Strata_patch})
      endif()
    endif()
  endif()
endmacro()

# `target` is what the package has to define, and `header` tells its version. If a project
# around this one has defined the target, that one is used. Kokkos Kernels 3.4 has no
# version in its header: as a part of this build it passes.
macro(strata_find_in_range package target title header problem)
  strata_mend_kernels()
  if(NOT ${problem})
    set(Strata_in_tree ON)
    set(Strata_place "this project")
    set(Strata_remedy "Use such a version there.")
    if(NOT TARGET ${target})
      set(Strata_in_tree OFF)
      find_package(${package} CONFIG QUIET)
      strata_mend_kernels()
      set(Strata_place "${${package}_DIR}")
      set(Strata_remedy "Either name the prefix of a suitable one with -DCMAKE_PREFIX_PATH=..., or let `scripts/get_dependencies` of Strata's sources obtain and build one.")
    endif()
    if(TARGET ${target})
      strata_read_version(${package} ${target} ${header})
      if(${package}_VERSION VERSION_LESS Strata_KOKKOS_MINIMUM
         OR NOT ${package}_VERSION VERSION_LESS Strata_KOKKOS_BELOW)
        if(${package}_VERSION OR NOT Strata_in_tree)
          set(${problem} "${title} ${${package}_VERSION} was found in ${Strata_place}: version ${Strata_KOKKOS_MINIMUM} to 5.x is wanted.")
        endif()
      endif()
    elseif(${package}_FOUND)
      set(${problem} "${title} was found in ${Strata_place}, and does not define ${target}.")
    else()
      set(${problem} "${title} was not found: version ${Strata_KOKKOS_MINIMUM} to 5.x is wanted.")
      if(${package}_CONSIDERED_CONFIGS)
        string(APPEND ${problem} " Looked at, and of no use: ${${package}_CONSIDERED_CONFIGS}.")
      endif()
    endif()
    if(${problem})
      string(APPEND ${problem} " ${Strata_remedy}")
    endif()
  endif()
endmacro()

# strata_find_orders(LIBRARY...): the imported targets Strata::AMD and Strata::METIS, of
# those that are named, for libraries of C that have no CMake package. What is not found
# has no target.
function(strata_find_orders)
  set(header_AMD amd.h)
  set(function_AMD amd_l_order)
  set(libraries_AMD amd suitesparseconfig)
  set(header_METIS metis.h)
  set(function_METIS METIS_SetDefaultOptions)
  set(libraries_METIS metis)
  foreach(name IN LISTS ARGN)
    find_path(Strata_${name}_INCLUDE_DIR ${header_${name}} PATH_SUFFIXES suitesparse)
    mark_as_advanced(Strata_${name}_INCLUDE_DIR)
    set(files)
    foreach(library IN LISTS libraries_${name})
      find_library(Strata_${library}_LIBRARY ${library})
      mark_as_advanced(Strata_${library}_LIBRARY)
      list(APPEND files ${Strata_${library}_LIBRARY})
    endforeach()
    if(TARGET Strata::${name} OR NOT Strata_${name}_INCLUDE_DIR OR files MATCHES "NOTFOUND")
      continue()
    endif()
    # Others and older ones have a header of that name, too.
    file(STRINGS ${Strata_${name}_INCLUDE_DIR}/${header_${name}} lines
         REGEX "${function_${name}}")
    if(lines)
      add_library(Strata::${name} INTERFACE IMPORTED GLOBAL)
      set_target_properties(Strata::${name} PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${Strata_${name}_INCLUDE_DIR}"
        INTERFACE_LINK_LIBRARIES "${files}")
    endif()
  endforeach()
endfunction()

# Finds everything the headers need, and sets Strata_KOKKOS_DEVICES, the backends of
# Kokkos. Leaves `problem` empty, or a sentence for the user. A macro, since
# find_package's variables belong to the caller.
macro(strata_find_dependencies problem)
  set(${problem} "")
  # An old CMake minimum of the packages themselves is none of our user's business.
  set(CMAKE_WARN_DEPRECATED OFF)
  strata_find_in_range(Kokkos Kokkos::kokkos "Kokkos" KokkosCore_config.h ${problem})
  strata_find_in_range(KokkosKernels Kokkos::kokkoskernels "Kokkos Kernels"
                       KokkosKernels_config.h ${problem})
  if(NOT ${problem})
    strata_read_devices(Strata_KOKKOS_DEVICES)
    foreach(device SYCL OPENMPTARGET OPENACC)
      if(device IN_LIST Strata_KOKKOS_DEVICES)
        set(${problem} "Kokkos has ${device}, for which Strata has no backend: the operations of a warp, and the loads and stores by which threads pass values on, are missing (docs/developer/add_a_backend.md). Use a Kokkos without it.")
      endif()
    endforeach()
    find_package(ZLIB QUIET)
    if(NOT ZLIB_FOUND)
      set(${problem} "zlib was not found: any version is wanted, to read gzip'd files (Debian: apt-get install zlib1g-dev).")
    endif()
  endif()
  unset(CMAKE_WARN_DEPRECATED)
endmacro()
