# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A room is a folder whose headers are included by their path below it.
file(GLOB Strata_ROOMS LIST_DIRECTORIES true CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/analysis
     ${PROJECT_SOURCE_DIR}/kernels/*)

add_library(strata INTERFACE)
add_library(Strata::strata ALIAS strata)
target_compile_features(strata INTERFACE cxx_std_17)
target_compile_definitions(strata INTERFACE
  STRATA_ENABLE_CUDA_NATIVE=$<BOOL:${Strata_ENABLE_CUDA_NATIVE}>)
target_link_libraries(strata INTERFACE Kokkos::kokkos Kokkos::kokkoskernels ZLIB::ZLIB)

# A project around this one compiles with flags of its own, whose warnings are not for
# its developers to mend here.
set(as_system)
if(NOT PROJECT_IS_TOP_LEVEL)
  set(as_system SYSTEM)
endif()

# The rooms become one flat folder when installed: no two headers may claim
# one name there.
set(Strata_HEADERS)
foreach(room IN LISTS Strata_ROOMS)
  target_include_directories(strata ${as_system} INTERFACE $<BUILD_INTERFACE:${room}>)
  file(GLOB_RECURSE headers RELATIVE ${room} CONFIGURE_DEPENDS ${room}/*.hpp)
  foreach(header IN LISTS headers)
    if(header IN_LIST Strata_HEADERS)
      message(FATAL_ERROR "Two rooms have a header ${header}; the second is ${room}/${header}")
    endif()
    list(APPEND Strata_HEADERS ${header})
  endforeach()
endforeach()
# Those that are no detail.
set(Strata_PUBLIC_HEADERS ${Strata_HEADERS})
list(FILTER Strata_PUBLIC_HEADERS EXCLUDE REGEX /)
target_include_directories(strata INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/strata>)

if(NOT Strata_INSTALL)
  return()
endif()
foreach(room IN LISTS Strata_ROOMS)
  install(DIRECTORY ${room}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/strata
          FILES_MATCHING PATTERN "*.hpp")
endforeach()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Strata)
install(TARGETS strata EXPORT StrataTargets)
install(EXPORT StrataTargets NAMESPACE Strata:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/StrataConfig.cmake.in
  ${PROJECT_BINARY_DIR}/StrataConfig.cmake INSTALL_DESTINATION ${package_dir})
# While 0.x, a minor release may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/StrataConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES
  ${PROJECT_BINARY_DIR}/StrataConfig.cmake
  ${PROJECT_BINARY_DIR}/StrataConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/StrataDependencies.cmake
  DESTINATION ${package_dir})
