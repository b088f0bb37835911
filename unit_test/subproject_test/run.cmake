# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Strata as a part of other projects. Packages other than the one named by `strict`
# are stand-ins, for what is looked for is known before anything is compiled; so no
# library is, either. That of `strict` has a few sources for one scalar and one space,
# and is not optimised: what it computes is for the unit tests.
function(configure name)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${name} -B ${work_dir}/${name}
      -G ${generator} -DCMAKE_MAKE_PROGRAM=${make_program} -DCMAKE_CXX_COMPILER=${compiler}
      -DCMAKE_BUILD_TYPE=${config} -DCMAKE_INSTALL_PREFIX=${work_dir}/prefix
      -DCMAKE_INSTALL_MESSAGE=NEVER
      -Dstrata=${source_dir} ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " output "${output}")
  set(output "${output}" PARENT_SCOPE)
  set(result ${result} PARENT_SCOPE)
endfunction()
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()
macro(configure_and_build name)
  file(REMOVE_RECURSE ${work_dir}/${name})
  configure(${name} ${ARGN})
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${name} was refused: ${output}")
  endif()
  run(${CMAKE_COMMAND} --build ${work_dir}/${name} --config ${config})
endmacro()

file(REMOVE_RECURSE ${work_dir})
string(TOUPPER "${config}" of_config)

# No warning reaches the parent's flags, and nothing of Strata its prefix.
configure_and_build(strict -DKokkos_DIR=${Kokkos_DIR}
  -DKokkosKernels_DIR=${KokkosKernels_DIR} "-Dstrict_flags=${strict_flags}"
  -DStrata_SCALARS=double -DStrata_SPACES=${space} -DCMAKE_CXX_FLAGS_${of_config}=-O0)
run(${CMAKE_COMMAND} --install ${work_dir}/strict --config ${config})
file(GLOB_RECURSE installed RELATIVE ${work_dir}/prefix ${work_dir}/prefix/*)
if(NOT installed STREQUAL "share/parent.cpp")
  message(FATAL_ERROR "the parent's prefix has: ${installed}")
endif()
configure(strict -DStrata_INSTALL=ON -DKokkos_ARCH_HOPPER90=ON)
if(NOT output MATCHES "Kokkos_ARCH_HOPPER90: options of Kokkos, which do nothing here")
  message(FATAL_ERROR "an option of Kokkos beside an installed one: ${output}")
endif()
run(${CMAKE_COMMAND} --install ${work_dir}/strict --config ${config})
if(NOT EXISTS ${work_dir}/prefix/include/strata/core/Strata.hpp)
  message(FATAL_ERROR "Strata_INSTALL=ON installed no headers")
endif()

set(no_library -DStrata_ENABLE_HEADER_ONLY=ON)
configure_and_build(tree -Dkernels=Kokkos::kokkoskernels ${no_library})
configure_and_build(tree -Dkernels=KokkosKernels::all_libs ${no_library})

# Kokkos of the tree is asked for its backends and version.
function(configure_anew name)
  file(REMOVE_RECURSE ${work_dir}/${name})
  configure(${name} ${ARGN})
  set(output "${output}" PARENT_SCOPE)
  set(result ${result} PARENT_SCOPE)
endfunction()
foreach(devices SERIAL OPENMP SERIAL,OPENMP SERIAL,CUDA)
  configure_anew(tree -Ddevices=${devices} -DStrata_ENABLE_TESTS=ON
    -Dlauncher=kokkos_launch_compiler ${no_library})
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "tests with ${devices} in the tree: ${output}")
  endif()
endforeach()
if(compiler_id STREQUAL "GNU")
  configure_anew(tree -Ddevices=SERIAL,CUDA ${no_library})
  if(result EQUAL 0 OR NOT output MATCHES "has CUDA, and [^ ]+ can't compile CUDA")
    message(FATAL_ERROR "CUDA in the tree and no compiler for it (${result}): ${output}")
  endif()
endif()
configure_anew(tree -Ddevices=SERIAL,SYCL ${no_library})
if(result EQUAL 0 OR NOT output MATCHES "Kokkos has SYCL, for which")
  message(FATAL_ERROR "SYCL in the tree (${result}): ${output}")
endif()
foreach(number 30300 60000)
  configure_anew(tree -Dnumber=${number} ${no_library})
  if(result EQUAL 0 OR NOT output MATCHES "Kokkos [36]\\.[30]\\.0 was found in this project: version 3\\.4 to 5\\.x is wanted")
    message(FATAL_ERROR "Kokkos ${number} in the tree gave (${result}): ${output}")
  endif()
endforeach()
# The real ones, where there are sources: their targets have what is asked for.
if(kokkos)
  configure_anew(tree -Dkokkos=${kokkos} -Dkokkos_kernels=${kokkos_kernels}
    -Ddevices=SERIAL,OPENMP -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=ON
    -DKokkosKernels_ADD_DEFAULT_ETI=OFF -DStrata_ENABLE_TESTS=ON)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "Kokkos of ${kokkos} in the tree: ${output}")
  endif()
endif()

foreach(place ON OFF)
  configure_and_build(trilinos -Dprefix=${work_dir}/packages -Dnumber=40601
    -Dall_libs_has_folder=${place} ${no_library})
endforeach()
# Scalars that there are not are refused, and spaces none of which Kokkos has.
foreach(option "Strata_SCALARS=double;half" Strata_SPACES=HIP)
  file(REMOVE_RECURSE ${work_dir}/refused)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${source_dir} -B ${work_dir}/refused -G ${generator}
      -DCMAKE_MAKE_PROGRAM=${make_program} -DCMAKE_CXX_COMPILER=${compiler}
      -DKokkos_DIR=${Kokkos_DIR} -DKokkosKernels_DIR=${KokkosKernels_DIR} "-D${option}"
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(result EQUAL 0 OR NOT output MATCHES "Strata_(SCALARS has \"half\"|SPACES is \"HIP\")")
    message(FATAL_ERROR "${option} gave (${result}): ${output}")
  endif()
endforeach()
# The version is read, not taken for granted.
file(REMOVE_RECURSE ${work_dir}/trilinos)
configure(trilinos -Dprefix=${work_dir}/packages -Dnumber=30300 -Dall_libs_has_folder=ON
  ${no_library})
if(result EQUAL 0 OR NOT output MATCHES "Kokkos Kernels 3\\.3\\.0 was found in [^ ]+: version 3\\.4 to 5\\.x is wanted")
  message(FATAL_ERROR "Kokkos Kernels 3.3.0 gave (${result}): ${output}")
endif()
