# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# libstrata: explicit instantiations of the library's templates, for the scalars of
# Strata_SCALARS and those execution spaces of Strata_SPACES that Kokkos has.
if(Strata_ENABLE_HEADER_ONLY)
  add_library(strata INTERFACE)
  add_library(Strata::strata ALIAS strata)
  target_link_libraries(strata INTERFACE strata_header_only)
  return()
endif()

set(Strata_ALL_SCALARS float double complex_float complex_double)
set(Strata_TYPE_float float)
set(Strata_TYPE_double double)
set(Strata_TYPE_complex_float "Kokkos::complex<float>")
set(Strata_TYPE_complex_double "Kokkos::complex<double>")
list(JOIN Strata_ALL_SCALARS ", " names)
if(NOT Strata_SCALARS)
  message(FATAL_ERROR "Strata_SCALARS is empty: name one or more of ${names}, "
    "separated by semicolons, or set Strata_ENABLE_HEADER_ONLY=ON")
endif()
foreach(scalar IN LISTS Strata_SCALARS)
  if(NOT scalar IN_LIST Strata_ALL_SCALARS)
    message(FATAL_ERROR "Strata_SCALARS has \"${scalar}\": name one or more of "
      "${names}, separated by semicolons")
  endif()
endforeach()

set(Strata_ALL_SPACES Serial OpenMP Threads Cuda HIP)
list(JOIN Strata_ALL_SPACES ", " names)
if(NOT Strata_SPACES)
  message(FATAL_ERROR "Strata_SPACES is empty: name one or more of ${names}, "
    "separated by semicolons")
endif()
foreach(space IN LISTS Strata_SPACES)
  if(NOT space IN_LIST Strata_ALL_SPACES)
    message(FATAL_ERROR "Strata_SPACES has \"${space}\": name one or more of "
      "${names}, separated by semicolons")
  endif()
endforeach()

# Those that Kokkos doesn't have are left out, but a library of none is a mistake.
string(TOUPPER "${Strata_SPACES}" spaces)
set(devices ${Strata_KOKKOS_DEVICES})
list(REMOVE_ITEM devices ${spaces})
if(Strata_KOKKOS_DEVICES AND devices STREQUAL "${Strata_KOKKOS_DEVICES}")
  message(FATAL_ERROR "Strata_SPACES is \"${Strata_SPACES}\", and this Kokkos has none of them, "
    "but ${Strata_KOKKOS_DEVICES}: name one of these, or use a Kokkos that has yours")
endif()

# strata_instances(RESULT FOLDER SCALARS SPACES): FOLDER/Name.cpp.in, with @scalar@ and
# @space@ or @space@ alone, becomes a source file for each of them, so that they compile side by side.
# Files of a space that Kokkos doesn't have turn out empty.
function(strata_instances result folder wanted_scalars spaces)
  file(GLOB templates CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp.in)
  set(sources)
  foreach(template IN LISTS templates)
    get_filename_component(name ${template} NAME_WE)
    file(READ ${template} text)
    foreach(space IN LISTS spaces)
      string(TOUPPER ${space} SPACE)
      set(scalars none)
      if(text MATCHES "@scalar@")
        set(scalars ${wanted_scalars})
      endif()
      foreach(of IN LISTS scalars)
        set(scalar "${Strata_TYPE_${of}}")
        string(REPLACE "_none" "" file "${name}_${space}_${of}")
        set(file ${PROJECT_BINARY_DIR}/${folder}/${file}.cpp)
        configure_file(${template} ${file} @ONLY)
        list(APPEND sources ${file})
      endforeach()
    endforeach()
  endforeach()
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

strata_instances(sources src "${Strata_SCALARS}" "${Strata_SPACES}")
add_library(strata ${sources})
strata_precompile(strata)
add_library(Strata::strata ALIAS strata)
target_link_libraries(strata PUBLIC strata_header_only)
foreach(scalar IN LISTS Strata_ALL_SCALARS)
  string(TOUPPER ${scalar} name)
  set(has 0)
  if(scalar IN_LIST Strata_SCALARS)
    set(has 1)
  endif()
  target_compile_definitions(strata PUBLIC STRATA_LIBRARY_${name}=${has})
endforeach()
foreach(space IN LISTS Strata_ALL_SPACES)
  if(NOT space IN_LIST Strata_SPACES)
    string(TOUPPER ${space} name)
    target_compile_definitions(strata PUBLIC STRATA_LIBRARY_WITHOUT_${name})
  endif()
endforeach()
target_compile_definitions(strata PUBLIC STRATA_LIBRARY=1)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(strata PRIVATE
    $<$<CXX_COMPILER_ID:GNU,Clang>:-Wall -Wextra>)
endif()
# Into shared libraries, too; and nothing of it is hidden where it is one.
set_target_properties(strata PROPERTIES
  POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET default
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
