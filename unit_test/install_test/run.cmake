# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Installs the build to a prefix of its own, then configures, builds and runs
# the consumer there.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

file(REMOVE_RECURSE ${work_dir})
run(${CMAKE_COMMAND} --install ${build_dir} --prefix ${work_dir}/prefix --config ${config})
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work_dir}/build
    -G ${generator} -DCMAKE_MAKE_PROGRAM=${make_program}
    -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_BUILD_TYPE=${config}
    -DCMAKE_PREFIX_PATH=${work_dir}/prefix -DKokkos_DIR=${Kokkos_DIR}
    -DKokkosKernels_DIR=${KokkosKernels_DIR} -Dversion=${version}
    -Dheaders=${headers})
run(${CMAKE_COMMAND} --build ${work_dir}/build --config ${config})
run(${CMAKE_COMMAND} --build ${work_dir}/build --config ${config} --target run)
