# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Strata::header_only is all headers, from which a program compiles what it uses.
# Strata::strata has the same in libstrata, compiled once; StrataInstances.cmake.
add_library(strata_header_only INTERFACE)
add_library(Strata::header_only ALIAS strata_header_only)
set_target_properties(strata_header_only PROPERTIES EXPORT_NAME header_only)
target_compile_features(strata_header_only INTERFACE cxx_std_17)
target_compile_definitions(strata_header_only INTERFACE
  STRATA_ENABLE_CUDA_NATIVE=$<BOOL:${Strata_ENABLE_CUDA_NATIVE}>
  STRATA_ENABLE_LAPACK=$<BOOL:${Strata_HAS_LAPACK}>
  STRATA_ENABLE_AMD=$<BOOL:${Strata_HAS_AMD}>
  STRATA_ENABLE_METIS=$<BOOL:${Strata_HAS_METIS}>)
target_link_libraries(strata_header_only INTERFACE
  Kokkos::kokkos Kokkos::kokkoskernels)
option(Strata_HALF_WARPS "Give GPU kernels warps of 16 lanes, for tests on CUDA" OFF)
mark_as_advanced(Strata_HALF_WARPS)
if(Strata_HALF_WARPS)
  if(NOT "CUDA" IN_LIST Strata_KOKKOS_DEVICES)
    message(FATAL_ERROR "Strata_HALF_WARPS is for tests on CUDA, which Kokkos has not")
  endif()
  target_compile_definitions(strata_header_only INTERFACE
    $<BUILD_INTERFACE:STRATA_IMPL_HALF_WARPS>)
  target_include_directories(strata_header_only BEFORE INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/unit_test/half_warps>)
endif()
if(Strata_HAS_LAPACK)
  target_link_libraries(strata_header_only INTERFACE LAPACK::LAPACK)
endif()
foreach(library IN ITEMS AMD METIS)
  if(Strata_HAS_${library})
    target_link_libraries(strata_header_only INTERFACE Strata::${library})
  endif()
endforeach()

# A project around this one compiles with flags of its own, whose warnings are not for
# its developers to mend here.
set(as_system)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(as_system SYSTEM)
endif()

# Public headers are called Strata_*.hpp and included by that name, wherever they
# are; the others by their path from here.
set(Strata_HEADERS)
set(Strata_PUBLIC_HEADERS)
set(Strata_FOLDERS .)
foreach(room core analysis kernels)
  file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
       ${PROJECT_SOURCE_DIR}/${room}/*.hpp)
  foreach(header IN LISTS headers)
    get_filename_component(name ${header} NAME)
    get_filename_component(folder ${header} DIRECTORY)
    if(NOT name MATCHES "^Strata(_.*)?\\.hpp$")
      list(APPEND Strata_HEADERS ${header})
      continue()
    endif()
    if(name IN_LIST Strata_PUBLIC_HEADERS)
      message(FATAL_ERROR "Two public headers are called ${name}; the second is ${header}")
    endif()
    list(APPEND Strata_PUBLIC_HEADERS ${name})
    list(APPEND Strata_FOLDERS ${folder})
  endforeach()
endforeach()
list(APPEND Strata_HEADERS ${Strata_PUBLIC_HEADERS})
list(REMOVE_DUPLICATES Strata_FOLDERS)
foreach(folder IN LISTS Strata_FOLDERS)
  target_include_directories(strata_header_only ${as_system} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${folder}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/strata/${folder}>)
endforeach()

include(${CMAKE_CURRENT_LIST_DIR}/StrataInstances.cmake)

if(NOT Strata_INSTALL)
  return()
endif()
foreach(room core analysis kernels)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strata
          FILES_MATCHING PATTERN "*.hpp")
endforeach()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Strata)
install(TARGETS strata strata_header_only EXPORT StrataTargets)
install(EXPORT StrataTargets NAMESPACE Strata:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/StrataConfig.cmake.in
  ${PROJECT_BINARY_DIR}/StrataConfig.cmake INSTALL_DESTINATION ${package_dir}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
# While 0.x, a minor release may change the interface.
set(independent)
if(Strata_ENABLE_HEADER_ONLY)
  set(independent ARCH_INDEPENDENT)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/StrataConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ${independent})
install(FILES
  ${PROJECT_BINARY_DIR}/StrataConfig.cmake
  ${PROJECT_BINARY_DIR}/StrataConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/StrataDependencies.cmake
  DESTINATION ${package_dir})
